// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Biases of T5: a learned table whose row is the bucket of the distance from query to key.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_RELATIVEBIAS_H
#define FOVEA_PASSES_RAISE_ATTENTION_RELATIVEBIAS_H

#include "passes/Elements/Expression.h"

namespace mlir::fovea::raise {

/// What `fovea.relative_bias` says of its buckets.
struct Buckets {
  bool bidirectional;
  int64_t count, maxDistance;
};

/// An element of a table: `table[row, column]`.
struct TableElement {
  Value table;
  Expr row, column;
};

/// An element as one of a table of two axes: what it is, or seen through `fovea.embedding`.
std::optional<TableElement> getTableElement(Expressions &e, Expr element);

/// The buckets of T5, `rows` of them, that `bucket` is of `distance`, which is a key's place
/// (dim `key`) less a query's (dim `query`) and sizes. Nothing if it is another function, or one of
/// more than the distance.
std::optional<Buckets> matchBuckets(Expressions &e, Expr bucket, AffineExpr distance,
                                    unsigned query, unsigned key, int64_t rows);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTION_RELATIVEBIAS_H
