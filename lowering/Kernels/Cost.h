// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a group cannot do without, for reports: operations and bytes; and its description in one
// line.
#ifndef FOVEA_LOWERING_KERNELS_COST_H
#define FOVEA_LOWERING_KERNELS_COST_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

/// Builds, as index arithmetic on sizes, the floating-point operations of a group's products
/// (a multiplication and an addition are two) and the bytes of memory that it reads and writes,
/// each once. Attention counts the pairs of queries and keys that causal masks and windows leave,
/// if positions are places; masks that depend on data (lengths, segments) count as absent.
/// Gives two values, or none if a size cannot be known before the call.
SmallVector<Value> buildCost(OpBuilder &builder, GroupOp group);

/// "linear [576, 192] bf16 + rope + cache_append": the ops that compute, in order.
std::string describeComputation(GroupOp group);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_COST_H
