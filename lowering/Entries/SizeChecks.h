// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an entry's plan must find of a call's sizes before a kernel may run: slices inside of their
// tensors, reshapes of as many elements, sizes that are no less than zero.
#ifndef FOVEA_LOWERING_ENTRIES_SIZECHECKS_H
#define FOVEA_LOWERING_ENTRIES_SIZECHECKS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::fovea {

/// Builds the comparisons among the plan's arithmetic. What is plain from constants and equal
/// values costs nothing.
class SizeChecks {
public:
  explicit SizeChecks(OpBuilder &math) : math(math) {}

  void requireNotNegative(Location loc, OpFoldResult size);
  void requireEqual(Location loc, OpFoldResult size, OpFoldResult expected);
  /// `size` is `expected`, or one.
  void requireEqualOrOne(Location loc, OpFoldResult size, OpFoldResult expected);
  /// `count` places from `offset` on, `stride` apart, lie inside of an axis of `extent`.
  void requireInside(Location loc, OpFoldResult offset, OpFoldResult count, OpFoldResult stride,
                     OpFoldResult extent);
  /// The bytes that the plan tells the runtime: -1, which refuses the call, if a check fails.
  Value finish(Location loc, Value bytes);

private:
  Value toValue(Location loc, OpFoldResult size);
  void refuse(Location loc, Value condition);

  OpBuilder &math;
  Value refused; ///< null if nothing was asked for
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_ENTRIES_SIZECHECKS_H
