// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a group cannot do without, for reports: operations and bytes; and its description in one
// line.
#ifndef FOVEA_LOWERING_KERNELS_COST_H
#define FOVEA_LOWERING_KERNELS_COST_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fovea {

/// Builds, as index arithmetic on sizes, the floating-point operations of a group's products
/// (a multiplication and an addition are two) and the bytes of memory that it reads and writes,
/// each once. Attention counts the pairs of queries and keys that causal masks and windows leave,
/// if positions are places; masks that depend on data (lengths, segments) count as absent.
/// Gives two values, or none if a size cannot be known before the call.
SmallVector<Value> buildCost(OpBuilder &builder, GroupOp group);

/// "linear [576, 192] bf16 + rope + cache_append": the ops that compute, in order.
std::string describeComputation(GroupOp group);

/// Counts for the models of KernelOpInterface. Values inside the group are asked for by sizes of
/// what stands outside of it.
class CostBuilder {
public:
  CostBuilder(OpBuilder &builder, GroupOp group)
      : b(group.getLoc(), builder), group(group), sizes(group) {}

  Value constant(int64_t value);
  Value mul(Value l, Value r);
  Value sum(Value l, Value r);
  /// If the size cannot be known beforehand, no cost is.
  Value size(Value inside, int64_t axis);
  /// The product of a tensor's sizes, without the last axes.
  Value elements(Value inside, int64_t dropLast = 0);
  /// Positions that a cache or tensor of keys holds.
  Value keyLength(Value keys);

  /// Operations and bytes.
  SmallVector<Value> build();

  ImplicitLocOpBuilder b;

private:
  Value countFlops(Operation *op);
  void addBytes(Type element, Value count);
  void addArgument(BlockArgument argument);

  GroupOp group;
  GroupSizes sizes;
  bool known = true;
  Value bytes;
};

/// Pairs of queries and keys that a mask, which may be absent, leaves as far as that does not
/// depend on data. `haveQueryPositions`: queries come after keys of a cache.
Value countPairs(CostBuilder &cost, Value mask, bool haveQueryPositions, Value queries, Value keys);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_COST_H
