// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the models of KernelOpInterface are attached, by the dialects whose ops they are of.
#include "lowering/Kernels/KernelInterface.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::fovea;

#include "lowering/Kernels/KernelInterface.cpp.inc"

int64_t mlir::fovea::getResultAxes(Operation *op) {
  Type type = op->getResult(0).getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getRank();
  return isa<CacheType>(type) ? 4 : 0;
}

void mlir::fovea::registerKernelInterfaces(DialectRegistry &registry) {
  // The dialect depends on those of all upstream ops that have a model.
  registry.addExtension(+[](MLIRContext *context, FoveaDialect *) {
    attachActivationKernels(*context);
    attachArgmaxKernel(*context);
    attachAttentionKernel(*context);
    attachCacheKernels(*context);
    attachContractionKernel(*context);
    attachExpertKernels(*context);
    attachLinearKernel(*context);
    attachMapKernels(*context);
    attachMaskKernel(*context);
    attachNormKernels(*context);
    attachPoolKernel(*context);
    attachPositionKernels(*context);
    attachRopeKernel(*context);
    attachSoftmaxKernel(*context);
    attachTableKernels(*context);
    attachViewKernels(*context);
  });
}
