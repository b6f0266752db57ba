// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that turns entries on tensors into lists of launches on buffers; its text says what it
// refuses.
#include "dialects/Tile/TileDialect.h"
#include "lowering/Entries/EntryConversion.h"
#include "lowering/Entries/Passes.h"
#include "lowering/Kernels/KernelInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_FORMLAUNCHESPASS
#include "lowering/Entries/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

struct FormLaunchesPass : fovea::impl::FormLaunchesPassBase<FormLaunchesPass> {
  using FormLaunchesPassBase::FormLaunchesPassBase;

  /// Ops bring their kernels as interfaces.
  void getDependentDialects(DialectRegistry &registry) const override {
    FormLaunchesPassBase::getDependentDialects(registry);
    registerKernelInterfaces(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    KernelTable table(module);
    SmallVector<func::FuncOp> old;
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(FoveaDialect::kEntryAttr))
        old.push_back(function);
    for (func::FuncOp entry : old) {
      EntryConversion conversion(entry, table);
      if (failed(conversion.run()))
        return signalPassFailure();
      launches += conversion.launches;
      slots += conversion.getSlotCount();
    }
    kernels += table.getCount();
    for (func::FuncOp entry : old)
      entry.erase();
  }
};

} // namespace
