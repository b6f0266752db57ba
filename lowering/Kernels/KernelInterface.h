// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// KernelOpInterface, and where its models are attached.
#ifndef FOVEA_LOWERING_KERNELS_KERNELINTERFACE_H
#define FOVEA_LOWERING_KERNELS_KERNELINTERFACE_H

#include "dialects/Fovea/FoveaDialect.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::fovea {

class CostBuilder;
class KernelBuilder;
class TileBuilder;
struct Level;

/// Columns [base + offset, base + offset + width) of a value as a matrix.
struct TileColumns {
  Value base; ///< index
  int64_t offset, width;

  TileColumns shifted(int64_t by) const { return {base, offset + by, width}; }
};

/// Emits one element of a value, given the elements of the tiles that its map reads.
using TileElement = std::function<Value(ValueRange)>;
/// The tiles that a map reads, in order.
using TileLeaves = SmallVectorImpl<Value>;

/// Axes of the op's first result; a cache has those of `[B, S, heads, size]`.
int64_t getResultAxes(Operation *op);

/// Gives all ops with kernels their models, in contexts of this registry.
void registerKernelInterfaces(DialectRegistry &registry);

// One for each source of a family of ops; called by `registerKernelInterfaces`.
void attachActivationKernels(MLIRContext &context);
void attachArgmaxKernel(MLIRContext &context);
void attachAttentionKernel(MLIRContext &context);
void attachCacheKernels(MLIRContext &context);
void attachContractionKernel(MLIRContext &context);
void attachExpertKernels(MLIRContext &context);
void attachLinearKernel(MLIRContext &context);
void attachMapKernels(MLIRContext &context);
void attachMaskKernel(MLIRContext &context);
void attachNormKernels(MLIRContext &context);
void attachPoolKernel(MLIRContext &context);
void attachPositionKernels(MLIRContext &context);
void attachRopeKernel(MLIRContext &context);
void attachSoftmaxKernel(MLIRContext &context);
void attachTableKernels(MLIRContext &context);
void attachViewKernels(MLIRContext &context);

} // namespace mlir::fovea

#include "lowering/Kernels/KernelInterface.h.inc"

#endif // FOVEA_LOWERING_KERNELS_KERNELINTERFACE_H
