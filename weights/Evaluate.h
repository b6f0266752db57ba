// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of weights, by their recipes. A recipe is evaluated in slices of its outermost axis, so
// that no weight is ever held twice in memory.
#ifndef FOVEA_WEIGHTS_EVALUATE_H
#define FOVEA_WEIGHTS_EVALUATE_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

/// Where recipes read stored tensors from.
class RecipeSource {
public:
  virtual ~RecipeSource() = default;
  /// The bytes of a stored tensor, row-major, exactly as many as its type says, or failure after a
  /// diagnostic. Stays valid as long as this object.
  virtual FailureOr<ArrayRef<char>> read(StoredAttr tensor) = 0;
  /// The bytes are not needed for now: what can be had again need not stay in memory. They are
  /// still valid, and other threads may be reading them.
  virtual void release(StoredAttr) {}
};

/// Writes rows [first, first + count) of the outermost axis in memory to `out`, which holds exactly
/// that many bytes, without gaps. A row of panels is a panel (`getStorageShape`). The recipe must
/// be verified. Failure follows a diagnostic.
LogicalResult evaluateRows(RecipeAttrInterface recipe, RecipeSource &source, int64_t first,
                           int64_t count, char *out);

/// The tensors that a recipe reads, each once.
SmallVector<StoredAttr> getStoredTensors(Attribute recipe);

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_EVALUATE_H
