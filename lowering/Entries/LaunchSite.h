// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch on a device, as the host sees it: the number of blocks and the kernel's parameters,
// written to a fovea_launch (abi/Abi.h). Loads and stores through raw pointers serve the steps
// of the CPU too.
#ifndef FOVEA_LOWERING_ENTRIES_LAUNCHSITE_H
#define FOVEA_LOWERING_ENTRIES_LAUNCHSITE_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <cstddef>

namespace mlir::fovea {

/// Loads and stores through raw pointers.
struct PointerBuilder : ImplicitLocOpBuilder {
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  Type pointer() { return LLVM::LLVMPointerType::get(getContext()); }
  Value element(Value base, Type type, int64_t i) {
    return LLVM::GEPOp::create(*this, pointer(), type, base,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
  }
  Value loadElement(Value base, Type type, int64_t i) {
    return LLVM::LoadOp::create(*this, type, element(base, type, i));
  }
  Value loadIndex(Value base, int64_t i) {
    return arith::IndexCastOp::create(*this, getIndexType(), loadElement(base, getI64Type(), i));
  }
  void storeIndex(Value value, Value base, int64_t i) {
    Value wide = arith::IndexCastOp::create(*this, getI64Type(), value);
    LLVM::StoreOp::create(*this, wide, element(base, getI64Type(), i));
  }
  /// A pointer that the frame holds at `offset` bytes.
  Value frameField(Value frame, size_t offset) {
    return LLVM::LoadOp::create(*this, pointer(), element(frame, getI8Type(), offset));
  }
};

/// What passes of the device decided of a kernel for its launches, and gives it to another form of
/// the kernel.
DictionaryAttr getLaunchShape(Operation *kernel);
void setLaunchShape(Operation *kernel, DictionaryAttr shape);

/// Where a launch is built: in the function `fovea_NAME_launch(frame, step, launch)`.
struct LaunchSite {
  func::FuncOp kernel;
  Value frame, step, out;
  bool mayFault; ///< the kernel has the two parameters of faults
};

/// Fills in `out`: blocks, fault, words and the kernel's tensor maps, from what the kernel computes
/// before its grid. Refuses, at the kernel, a number of blocks that depends on memory, and more
/// words than the interface has.
LogicalResult emitLaunchSite(PointerBuilder &b, const LaunchSite &site, ValueRange operands);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_ENTRIES_LAUNCHSITE_H
