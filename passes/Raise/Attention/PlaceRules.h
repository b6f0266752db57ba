// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a table of booleans at rows i and columns j says, as conditions on i and j. Nothing here
// knows IR; a table that no such formula gives in every place has none.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_PLACERULES_H
#define FOVEA_PASSES_RAISE_ATTENTION_PLACERULES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::fovea::raise {

/// A predicate at each place of a matrix.
struct PlaceTable {
  int64_t rows, columns;
  std::vector<char> allowed;

  bool at(int64_t i, int64_t j) const { return allowed[i * columns + j]; }
};

/// Places where all of these conditions hold; those that are not set hold everywhere.
struct PlaceRule {
  std::optional<int64_t> firstRow, rows;       ///< firstRow <= i < rows
  std::optional<int64_t> firstColumn, columns; ///< firstColumn <= j < columns
  std::optional<int64_t> least, most;          ///< least <= j - i <= most
  std::optional<int64_t> block;                ///< i / block == j / block
  std::optional<int64_t> period;               ///< (j - i) mod period == phase
  int64_t phase = 0;                           ///< in [0, period)

  bool holds(int64_t i, int64_t j) const {
    return (!firstRow || i >= *firstRow) && (!rows || i < *rows) &&
           (!firstColumn || j >= *firstColumn) && (!columns || j < *columns) &&
           (!least || j - i >= *least) && (!most || j - i <= *most) &&
           (!block || i / *block == j / *block) && (!period || (j - i - phase) % *period == 0);
  }
};

/// Places of `outer` at which some of `terms` holds, if there are any.
struct PlaceFormula {
  PlaceRule outer;
  SmallVector<PlaceRule, 3> terms;

  bool holds(int64_t i, int64_t j) const {
    return outer.holds(i, j) && (terms.empty() || llvm::any_of(terms, [&](const PlaceRule &term) {
                                   return term.holds(i, j);
                                 }));
  }
};

/// A formula that says what the table says at each place, with no condition that it could do
/// without. Without `hasRows` the table is one row for all i.
std::optional<PlaceFormula> findFormula(const PlaceTable &table, bool hasRows);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTION_PLACERULES_H
