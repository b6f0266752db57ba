// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a tensor's size comes from, so that two sizes can be shown to be the same without building
// IR. What it cannot follow is an origin of its own, so "the same" is never said wrongly.
#ifndef FOVEA_PASSES_ANALYSIS_SIZEORIGIN_H
#define FOVEA_PASSES_ANALYSIS_SIZEORIGIN_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

/// A number, a name from an entry's `fovea.dims`, one axis of a tensor, or an index value.
struct SizeOrigin {
  Attribute known; ///< An IntegerAttr (index) or a StringAttr; null if the size is a value's.
  Value value;
  int64_t axis = -1; ///< Of the tensor `value`; -1 if `value` is an index.

  bool operator==(const SizeOrigin &other) const {
    return known == other.known && value == other.value && axis == other.axis;
  }
};

/// The operand that the tensor or index `argument` of a group's region stands for; null if that is
/// no group's.
Value getGroupOperand(BlockArgument argument);

/// Follows an axis of a ranked tensor through ops that keep it, and out of groups.
SizeOrigin getSizeOrigin(Value tensor, int64_t axis);

/// The same for a size that is given as a value or number.
SizeOrigin getSizeOrigin(OpFoldResult size);

/// Whether two tensors of one rank have the same sizes, whatever the call.
bool haveSameSizes(Value a, Value b);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_ANALYSIS_SIZEORIGIN_H
