// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that leaves of a module what runs on a GPU.
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/GPU/GPU.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_OUTLINEDEVICEPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct OutlineDevicePass : fovea::impl::OutlineDevicePassBase<OutlineDevicePass> {
  using OutlineDevicePassBase::OutlineDevicePassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Operation *> kept;
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      auto function = dyn_cast<func::FuncOp>(op);
      bool isKernel =
          function && !function.isExternal() && !function->hasAttr(FoveaDialect::kEntryAttr);
      if (isKernel || isa<memref::GlobalOp>(op)) // tables that kernels read
        kept.push_back(&op);
      else
        op.erase();
    }
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    auto device = gpu::GPUModuleOp::create(builder, module.getLoc(), "gpu");
    for (Operation *op : kept)
      op->moveBefore(device.getBody(), device.getBody()->end());
  }
};
} // namespace
