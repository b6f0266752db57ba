// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that replaces a kernel's buffers by the words that a launch passes; its text says what
// it refuses.
#include "lowering/Entries/Entries.h"
#include "lowering/Entries/LaunchSite.h"
#include "lowering/GPU/GPU.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_LOWERDEVICEKERNELSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// Rebuilds a buffer from the words that `next` gives, one after the other.
static Value buildBuffer(ImplicitLocOpBuilder &b, const LLVMTypeConverter &converter,
                         MemRefType type, function_ref<Value()> next) {
  Location loc = b.getLoc();
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, b.getI64IntegerAttr(value));
  };
  BufferParameters parameters(type);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  (void)type.getStridesAndOffset(strides, offset);
  // Through a pointer to global memory, so that LLVM knows where the buffer is.
  Value global = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1), next());
  Value address =
      LLVM::AddrSpaceCastOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), global);
  MemRefDescriptor descriptor = MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, address);
  descriptor.setAlignedPtr(b, loc, address);
  SmallVector<Value> sizes(type.getRank());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    sizes[axis] = type.isDynamicDim(axis) ? next() : constant(type.getDimSize(axis));
    descriptor.setSize(b, loc, axis, sizes[axis]);
  }
  descriptor.setOffset(b, loc, parameters.offset ? next() : constant(offset));
  Value inner = constant(1);
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    if (type.getLayout().isIdentity())
      descriptor.setStride(b, loc, axis, inner);
    if (axis > 0)
      inner = LLVM::MulOp::create(b, inner, sizes[axis]);
  }
  for (int64_t axis = 0; axis < type.getRank() && !type.getLayout().isIdentity(); ++axis)
    descriptor.setStride(b, loc, axis,
                         ShapedType::isDynamic(strides[axis]) ? next() : constant(strides[axis]));
  return UnrealizedConversionCastOp::create(b, type, Value(descriptor)).getResult(0);
}

/// As the driver encodes one.
static constexpr int64_t kTensorMapBytes = 128;

static LogicalResult lowerKernel(func::FuncOp kernel) {
  unsigned maps = 0;
  for (; maps < kernel.getNumArguments() &&
         isa<LLVM::LLVMPointerType>(kernel.getArgumentTypes().drop_back(maps).back());)
    ++maps;
  unsigned count = kernel.getNumArguments() - maps;
  if (kernel.getNumResults() != 0)
    return kernel.emitOpError("expects a kernel to give nothing, got ")
           << kernel.getNumResults() << " results";
  for (Type type : kernel.getArgumentTypes().drop_back(maps)) {
    auto buffer = dyn_cast<MemRefType>(type);
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type.isIndex() && (!buffer || failed(buffer.getStridesAndOffset(strides, offset))))
      return kernel.emitOpError("expects arguments that are numbers or strided buffers, got ")
             << type;
  }
  if (count < 2 || !kernel.getArgumentTypes()[count - 1].isIndex() ||
      !kernel.getArgumentTypes()[count - 2].isIndex())
    return kernel.emitOpError("expects the last two arguments to be the part and the parts");

  Block *entry = &kernel.getBody().front();
  ImplicitLocOpBuilder b(kernel.getLoc(), OpBuilder::atBlockBegin(entry));
  LLVMTypeConverter converter(kernel.getContext());
  auto next = [&]() -> Value { return entry->addArgument(b.getI64Type(), kernel.getLoc()); };
  SmallVector<Value> arguments(entry->getArguments());
  for (auto [i, argument] : llvm::enumerate(MutableArrayRef(arguments).take_front(count))) {
    Value value;
    if (i + 2 >= count) // the part and the parts: the first of one
      value = arith::ConstantIndexOp::create(b, i + 2 - count);
    else if (argument.getType().isIndex())
      value = arith::IndexCastOp::create(b, b.getIndexType(), next());
    else
      value = buildBuffer(b, converter, cast<MemRefType>(argument.getType()), next);
    argument.replaceAllUsesWith(value);
  }
  SmallVector<FaultOp> faults;
  kernel.walk([&](FaultOp fault) { faults.push_back(fault); });
  if (!faults.empty()) {
    Value global =
        LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), 1), next());
    lowerFaults(kernel, global, next());
  }
  for (Value map : MutableArrayRef(arguments).drop_front(count))
    map.replaceAllUsesWith(entry->addArgument(map.getType(), kernel.getLoc()));
  entry->eraseArguments(0, count + maps);

  // A function of the LLVM dialect at once, since only such a one may be a kernel.
  b.setInsertionPoint(kernel);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(kernel.getContext()),
                                          SmallVector<Type>(entry->getArgumentTypes()));
  auto lowered = LLVM::LLVMFuncOp::create(b, kernel.getName(), type);
  setLaunchShape(lowered, getLaunchShape(kernel));
  for (unsigned i = lowered.getNumArguments() - maps; i < lowered.getNumArguments(); ++i) {
    lowered.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                       TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), kTensorMapBytes)));
    lowered.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
    lowered.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }
  lowered->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  lowered->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                   b.getDenseI32ArrayAttr({static_cast<int32_t>(getThreads(kernel))}));
  // Else ptxas has a number of blocks of its own in mind and rather spills than uses more
  // registers.
  lowered->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  lowered.getBody().takeBody(kernel.getBody());
  Operation *end = lowered.getBody().front().getTerminator();
  b.setInsertionPoint(end);
  LLVM::ReturnOp::create(b, ValueRange());
  end->erase();
  kernel.erase();
  return success();
}

namespace {
struct LowerDeviceKernelsPass : fovea::impl::LowerDeviceKernelsPassBase<LowerDeviceKernelsPass> {
  using LowerDeviceKernelsPassBase::LowerDeviceKernelsPassBase;

  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!kernel.isExternal() && failed(lowerKernel(kernel)))
        return signalPassFailure();
  }
};
} // namespace
