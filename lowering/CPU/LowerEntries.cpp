// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that splits entries into plan and steps, the functions that runtime/Abi.h describes.
#include "lowering/CPU/EntryPlan.h"
#include "lowering/Lowering.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "runtime/Abi.h"
#include "llvm/ADT/StringSet.h"
#include <cstddef>

namespace mlir::fovea {
#define GEN_PASS_DEF_LOWERENTRIESPASS
#include "lowering/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

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

class EntryLowering {
public:
  EntryLowering(func::FuncOp entry, const EntryPlan &plan, const llvm::StringMap<int64_t> &weights,
                const llvm::StringSet<> &faulting)
      : entry(entry), plan(plan), weights(weights), faulting(faulting),
        converter(entry.getContext()) {}
  void emitPlan();
  void emitStep();

private:
  func::FuncOp createFunction(StringRef suffix, ArrayRef<Type> inputs);
  void emitLaunch(PointerBuilder &b, LaunchOp launch, int64_t step, ValueRange arguments);
  Value materialize(PointerBuilder &b, Value value, Value frame, Value locals, IRMapping &mapping);
  Value describe(PointerBuilder &b, MemRefType type, Value pointer,
                 function_ref<Value(int64_t)> size);

  func::FuncOp entry;
  const EntryPlan &plan;
  const llvm::StringMap<int64_t> &weights;
  const llvm::StringSet<> &faulting;
  LLVMTypeConverter converter;
};

} // namespace

func::FuncOp EntryLowering::createFunction(StringRef suffix, ArrayRef<Type> inputs) {
  OpBuilder builder(entry);
  auto function =
      func::FuncOp::create(builder, entry.getLoc(), ("fovea_" + entry.getName() + suffix).str(),
                           builder.getFunctionType(inputs, {}));
  function.addEntryBlock();
  return function;
}

void EntryLowering::emitPlan() {
  Type pointer = LLVM::LLVMPointerType::get(entry.getContext());
  func::FuncOp function = createFunction("_plan", {pointer, pointer});
  PointerBuilder b(entry.getLoc(), OpBuilder::atBlockBegin(&function.getBody().front()));
  Value dims = function.getArgument(0), locals = function.getArgument(1);
  IRMapping mapping;
  SmallVector<SmallVector<Value>> sizes;
  for (auto [argument, places] : llvm::zip(entry.getArguments(), plan.argumentDims)) {
    SmallVector<Value> &loaded = sizes.emplace_back();
    for (int64_t place : places)
      loaded.push_back(place < 0 ? Value() : b.loadIndex(dims, place));
    if (argument.getType().isIndex())
      mapping.map(argument, loaded.front());
  }
  for (Operation &op : entry.getBody().front()) {
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      auto argument = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> axis = dim.getConstantIndex();
      if (argument && axis && sizes[argument.getArgNumber()][*axis])
        mapping.map(dim.getResult(), sizes[argument.getArgNumber()][*axis]);
    } else if (isa<arith::ArithDialect>(op.getDialect())) {
      b.clone(op, mapping);
    }
  }
  b.storeIndex(mapping.lookup(ArenaOp(plan.arena).getBytes()), locals, 0);
  for (auto [i, size] : llvm::enumerate(plan.results))
    b.storeIndex(mapping.lookup(size), locals, 1 + i);
  for (auto [value, place] : plan.places)
    b.storeIndex(mapping.lookup(value), locals, place);
  for (auto [loaded, places, dimPlaces] :
       llvm::zip(sizes, plan.argumentPlaces, plan.argumentDims)) {
    for (auto [size, place] : llvm::zip(loaded, places))
      if (size && place >= 0)
        b.storeIndex(size, locals, place);
  }
  func::ReturnOp::create(b);
}

Value EntryLowering::describe(PointerBuilder &b, MemRefType type, Value pointer,
                              function_ref<Value(int64_t)> size) {
  Location loc = b.getLoc();
  MemRefDescriptor descriptor = MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, pointer);
  descriptor.setAlignedPtr(b, loc, pointer);
  descriptor.setConstantOffset(b, loc, 0);
  Value stride = LLVM::ConstantOp::create(b, b.getI64IntegerAttr(1));
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    Value extent = type.isDynamicDim(axis)
                       ? size(axis)
                       : LLVM::ConstantOp::create(b, b.getI64IntegerAttr(type.getDimSize(axis)));
    descriptor.setSize(b, loc, axis, extent);
    descriptor.setStride(b, loc, axis, stride);
    if (axis > 0)
      stride = LLVM::MulOp::create(b, stride, extent);
  }
  return UnrealizedConversionCastOp::create(b, type, Value(descriptor)).getResult(0);
}

Value EntryLowering::materialize(PointerBuilder &b, Value value, Value frame, Value locals,
                                 IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Value result;
  Type i64 = b.getI64Type();
  Operation *op = value.getDefiningOp();
  if (auto place = plan.places.find(value); place != plan.places.end()) {
    result = b.loadIndex(locals, place->second);
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    // Buffers stand in the frame without the lengths that follow caches here.
    int64_t number = 0;
    for (BlockArgument before : entry.getArguments().take_front(argument.getArgNumber()))
      number += isa<MemRefType>(before.getType());
    // Cache results have a (null) place of their own among the results; see runtime/Abi.h.
    auto signature = entry->getAttrOfType<SignatureAttr>(FoveaDialect::kSignatureAttr);
    int64_t arguments = signature.getArguments().size();
    if (number >= arguments) {
      int64_t tensorResult = number - arguments, port = 0;
      for (;; ++port)
        if (!isa<CacheType>(signature.getResults()[port].getType()) && tensorResult-- == 0)
          break;
      number = arguments + port;
    }
    Value buffers = b.frameField(frame, offsetof(fovea_frame, buffers));
    Value pointer = b.loadElement(buffers, b.pointer(), number);
    ArrayRef<int64_t> places = plan.argumentPlaces[argument.getArgNumber()];
    // Memory of a cache is described by its batch and capacity alone.
    result = describe(b, cast<MemRefType>(value.getType()), pointer,
                      [&](int64_t axis) { return b.loadElement(locals, i64, places[axis]); });
  } else if (isa<ArenaOp>(op)) {
    Value pointer = b.frameField(frame, offsetof(fovea_frame, arena));
    result = describe(b, cast<MemRefType>(value.getType()), pointer,
                      [&](int64_t) { return b.loadElement(locals, i64, 0); });
  } else if (auto weight = dyn_cast<WeightRefOp>(op)) {
    Value all = b.frameField(frame, offsetof(fovea_frame, weights));
    Value pointer = b.loadElement(all, b.pointer(), weights.lookup(weight.getWeight()));
    result = describe(b, cast<MemRefType>(value.getType()), pointer, nullptr);
  } else {
    for (Value operand : op->getOperands())
      materialize(b, operand, frame, locals, mapping);
    b.clone(*op, mapping);
    return mapping.lookup(value);
  }
  mapping.map(value, result);
  return result;
}

void EntryLowering::emitLaunch(PointerBuilder &b, LaunchOp launch, int64_t step,
                               ValueRange arguments) {
  Value frame = arguments[0];
  Value locals = b.frameField(frame, offsetof(fovea_frame, locals));
  IRMapping mapping;
  SmallVector<Value> operands;
  for (Value operand : launch->getOperands())
    operands.push_back(materialize(b, operand, frame, locals, mapping));
  for (Value part : arguments.take_back(2))
    operands.push_back(arith::IndexCastOp::create(b, b.getIndexType(), part));
  if (faulting.contains(launch.getKernel())) {
    operands.push_back(b.frameField(frame, offsetof(fovea_frame, fault)));
    operands.push_back(LLVM::ConstantOp::create(b, b.getI64IntegerAttr(1 + step)));
  }
  func::CallOp::create(b, launch.getKernelAttr(), TypeRange(), operands);
}

void EntryLowering::emitStep() {
  Type pointer = LLVM::LLVMPointerType::get(entry.getContext());
  Type i64 = IntegerType::get(entry.getContext(), 64);
  func::FuncOp function = createFunction("_step", {pointer, i64, i64, i64});
  Block *start = &function.getBody().front(), *end = new Block;
  SmallVector<Block *> blocks;
  SmallVector<APInt> numbers;
  for (auto [step, constLaunch] : llvm::enumerate(plan.launches)) {
    LaunchOp launch = constLaunch;
    Block *block = new Block;
    function.getBody().push_back(block);
    PointerBuilder b(launch.getLoc(), OpBuilder::atBlockBegin(block));
    emitLaunch(b, launch, step, start->getArguments());
    cf::BranchOp::create(b, end);
    blocks.push_back(block);
    numbers.push_back(APInt(64, step));
  }
  function.getBody().push_back(end);
  ImplicitLocOpBuilder b(entry.getLoc(), OpBuilder::atBlockBegin(end));
  func::ReturnOp::create(b);
  b.setInsertionPointToEnd(start);
  SmallVector<ValueRange> none(blocks.size());
  cf::SwitchOp::create(b, start->getArgument(1), end, ValueRange(), ArrayRef<APInt>(numbers),
                       BlockRange(blocks), none);
}

/// Gives kernels that can fault two more arguments, where to write and what; other kernels lose
/// nothing.
static void lowerFaults(func::FuncOp kernel) {
  OpBuilder builder(kernel.getContext());
  unsigned next = kernel.getNumArguments();
  Type pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  (void)kernel.insertArgument(next, pointer, {}, kernel.getLoc());
  (void)kernel.insertArgument(next + 1, builder.getI64Type(), {}, kernel.getLoc());
  kernel.walk([&](FaultOp fault) {
    OpBuilder inner(fault);
    auto branch =
        scf::IfOp::create(inner, fault.getLoc(), fault.getCondition(), /*withElseRegion=*/false);
    inner.setInsertionPoint(branch.thenBlock()->getTerminator());
    LLVM::StoreOp::create(inner, fault.getLoc(), kernel.getArgument(next + 1),
                          kernel.getArgument(next));
    fault.erase();
  });
}

namespace {
struct LowerEntriesPass : fovea::impl::LowerEntriesPassBase<LowerEntriesPass> {
  using LowerEntriesPassBase::LowerEntriesPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<int64_t> weights;
    for (auto weight : module.getOps<WeightOp>())
      weights.try_emplace(weight.getSymName(), weights.size());
    llvm::StringSet<> faulting;
    SmallVector<func::FuncOp> entries;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function->hasAttr(FoveaDialect::kEntryAttr)) {
        entries.push_back(function);
        continue;
      }
      if (function.walk([](FaultOp) { return WalkResult::interrupt(); }).wasInterrupted()) {
        faulting.insert(function.getName());
        lowerFaults(function);
      }
      // Only steps call kernels, and a step that calls is shorter than one that holds its kernel.
      function->setAttr("llvm.linkage",
                        LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
      function->setAttr("passthrough", Builder(&getContext()).getStrArrayAttr({"noinline"}));
    }
    for (func::FuncOp entry : entries) {
      FailureOr<EntryPlan> plan = EntryPlan::get(entry);
      if (failed(plan))
        return signalPassFailure();
      EntryLowering lowering(entry, *plan, weights, faulting);
      lowering.emitPlan();
      lowering.emitStep();
      OpBuilder builder(entry);
      SmallVector<StringRef> kernels;
      SmallVector<std::string> places;
      for (LaunchOp launch : plan->launches) {
        kernels.push_back(launch.getKernel());
        places.push_back(describeLocation(launch.getLoc()));
      }
      auto most = entry->getAttrOfType<IntegerAttr>(FoveaDialect::kMaxPositionsAttr);
      ProgramOp::create(
          builder, entry.getLoc(), entry.getName(),
          entry->getAttrOfType<SignatureAttr>(FoveaDialect::kSignatureAttr), plan->count,
          most ? most.getInt() : 0, builder.getStrArrayAttr(kernels),
          builder.getStrArrayAttr(SmallVector<StringRef>(places.begin(), places.end())));
      entry.erase();
    }
  }
};
} // namespace
