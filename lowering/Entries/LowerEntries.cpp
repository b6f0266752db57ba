// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that splits entries into plan and steps or launches, the functions that abi/Abi.h
// describes.
#include "abi/Abi.h"
#include "lowering/Entries/Entries.h"
#include "lowering/Entries/EntryPlan.h"
#include "lowering/Entries/LaunchSite.h"
#include "lowering/Entries/Passes.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"
#include <map>

namespace mlir::fovea {
#define GEN_PASS_DEF_LOWERENTRIESPASS
#include "lowering/Entries/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// How a launch builds its operands, apart from the numbers in which equal launches of different
/// layers differ: places in the plan, weights, buffers. Launches of one form share code.
struct LaunchForm {
  SmallVector<const void *> key;
  SmallVector<int64_t> numbers;
};

class EntryLowering {
public:
  EntryLowering(func::FuncOp entry, const EntryPlan &plan, const llvm::StringMap<int64_t> &weights,
                const llvm::StringSet<> &faulting);
  void emitPlan();
  /// The functions that run a launch, or, for a device, say what it is. Fails after a diagnostic.
  LogicalResult emitStep();
  LogicalResult emitLaunch();

private:
  /// Builds one launch in a function's block; the arguments are the function's.
  using SiteEmitter = function_ref<LogicalResult(PointerBuilder &, LaunchOp, ValueRange operands,
                                                 ValueRange arguments)>;
  LogicalResult emitSites(StringRef suffix, ArrayRef<Type> inputs, SiteEmitter emit);
  SmallVector<Value> materializeOperands(PointerBuilder &b, LaunchOp launch, Value row,
                                         Value frame);
  func::FuncOp createFunction(StringRef suffix, ArrayRef<Type> inputs);
  LaunchForm getForm(LaunchOp launch) const;
  void addForm(Value value, LaunchForm &form, llvm::DenseMap<Value, size_t> &seen) const;
  LLVM::GlobalOp createTable(ArrayRef<LaunchForm> forms, ArrayRef<int64_t> sites, int64_t width);
  Value materialize(PointerBuilder &b, Value value, Value frame, Value locals, IRMapping &mapping,
                    function_ref<Value()> nextNumber);
  Value describe(PointerBuilder &b, MemRefType type, Value pointer,
                 function_ref<Value(int64_t)> size);

  func::FuncOp entry;
  const EntryPlan &plan;
  const llvm::StringMap<int64_t> &weights;
  const llvm::StringSet<> &faulting;
  LLVMTypeConverter converter;
  /// For each argument that is a buffer, its place in the frame.
  SmallVector<int64_t> bufferNumbers;
};

} // namespace

EntryLowering::EntryLowering(func::FuncOp entry, const EntryPlan &plan,
                             const llvm::StringMap<int64_t> &weights,
                             const llvm::StringSet<> &faulting)
    : entry(entry), plan(plan), weights(weights), faulting(faulting),
      converter(entry.getContext()) {
  // The frame has one place for each argument and each result; a cache's length has none, and a
  // cache result's is empty. See abi/Abi.h.
  auto signature = entry->getAttrOfType<SignatureAttr>(FoveaDialect::kSignatureAttr);
  int64_t next = 0;
  for (PortAttr port : signature.getArguments()) {
    bufferNumbers.push_back(next++);
    if (isa<CacheType>(port.getType()))
      bufferNumbers.push_back(-1);
  }
  for (PortAttr port : signature.getResults()) {
    if (!isa<CacheType>(port.getType()))
      bufferNumbers.push_back(next);
    ++next;
  }
}

func::FuncOp EntryLowering::createFunction(StringRef suffix, ArrayRef<Type> inputs) {
  OpBuilder builder(entry);
  auto function =
      func::FuncOp::create(builder, entry.getLoc(), ("fovea_" + entry.getName() + suffix).str(),
                           builder.getFunctionType(inputs, {}));
  // Addresses and sizes, as many as the model has steps, each computed once: not worth an
  // optimiser's time.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", "optnone"}));
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
  for (const auto *places : {&plan.places, &plan.costPlaces})
    for (auto [value, place] : *places)
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

//===-- Launch forms -------------------------------------------------------------------------===//

void EntryLowering::addForm(Value value, LaunchForm &form,
                            llvm::DenseMap<Value, size_t> &seen) const {
  auto [known, isNew] = seen.try_emplace(value, seen.size());
  form.key.push_back(reinterpret_cast<const void *>(known->second));
  if (!isNew)
    return;
  form.key.push_back(value.getType().getAsOpaquePointer());
  Operation *op = value.getDefiningOp();
  if (auto place = plan.places.find(value); place != plan.places.end()) {
    form.numbers.push_back(place->second);
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    form.numbers.push_back(bufferNumbers[argument.getArgNumber()]);
    for (int64_t place : plan.argumentPlaces[argument.getArgNumber()])
      if (place >= 0)
        form.numbers.push_back(place);
  } else if (auto weight = dyn_cast<WeightRefOp>(op)) {
    form.key.push_back(op->getName().getAsOpaquePointer());
    form.numbers.push_back(weights.lookup(weight.getWeight()));
  } else {
    form.key.push_back(op->getName().getAsOpaquePointer());
    if (isa<ArenaOp>(op))
      return;
    form.key.push_back(op->getAttrDictionary().getAsOpaquePointer());
    for (Value operand : op->getOperands())
      addForm(operand, form, seen);
  }
}

LaunchForm EntryLowering::getForm(LaunchOp launch) const {
  LaunchForm form;
  llvm::DenseMap<Value, size_t> seen;
  form.key.push_back(launch.getKernelAttr().getAsOpaquePointer());
  for (Value operand : launch.getBuffers())
    addForm(operand, form, seen);
  return form;
}

/// Builds in this function what `value` is in the entry. Takes its numbers in the order in which
/// `addForm` gives them.
Value EntryLowering::materialize(PointerBuilder &b, Value value, Value frame, Value locals,
                                 IRMapping &mapping, function_ref<Value()> nextNumber) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Value result;
  Type i64 = b.getI64Type();
  Operation *op = value.getDefiningOp();
  auto local = [&](Value place) -> Value {
    Value at = LLVM::GEPOp::create(b, b.pointer(), i64, locals, ArrayRef<LLVM::GEPArg>{place});
    return LLVM::LoadOp::create(b, i64, at);
  };
  auto pointer = [&](size_t field, Value number) -> Value {
    Value base = b.frameField(frame, field);
    Value at =
        LLVM::GEPOp::create(b, b.pointer(), b.pointer(), base, ArrayRef<LLVM::GEPArg>{number});
    return LLVM::LoadOp::create(b, b.pointer(), at);
  };
  if (plan.places.contains(value)) {
    result = arith::IndexCastOp::create(b, b.getIndexType(), local(nextNumber()));
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    Value data = pointer(offsetof(fovea_frame, buffers), nextNumber());
    auto type = cast<MemRefType>(value.getType());
    SmallVector<Value> sizes(type.getRank());
    for (auto [axis, place] : llvm::enumerate(plan.argumentPlaces[argument.getArgNumber()]))
      if (place >= 0)
        sizes[axis] = local(nextNumber());
    result = describe(b, type, data, [&](int64_t axis) { return sizes[axis]; });
  } else if (isa<ArenaOp>(op)) {
    Value data = b.frameField(frame, offsetof(fovea_frame, arena));
    result = describe(b, cast<MemRefType>(value.getType()), data,
                      [&](int64_t) { return b.loadElement(locals, i64, 0); });
  } else if (isa<WeightRefOp>(op)) {
    Value data = pointer(offsetof(fovea_frame, weights), nextNumber());
    result = describe(b, cast<MemRefType>(value.getType()), data, nullptr);
  } else {
    for (Value operand : op->getOperands())
      materialize(b, operand, frame, locals, mapping, nextNumber);
    b.clone(*op, mapping);
    return mapping.lookup(value);
  }
  mapping.map(value, result);
  return result;
}

SmallVector<Value> EntryLowering::materializeOperands(PointerBuilder &b, LaunchOp launch, Value row,
                                                      Value frame) {
  Value locals = b.frameField(frame, offsetof(fovea_frame, locals));
  IRMapping mapping;
  SmallVector<Value> operands;
  int64_t next = 0;
  auto nextNumber = [&]() -> Value { return b.loadElement(row, b.getI64Type(), ++next); };
  for (Value operand : launch.getBuffers())
    operands.push_back(materialize(b, operand, frame, locals, mapping, nextNumber));
  return operands;
}

/// A row for each step: its site, then its numbers.
LLVM::GlobalOp EntryLowering::createTable(ArrayRef<LaunchForm> forms, ArrayRef<int64_t> sites,
                                          int64_t width) {
  SmallVector<int64_t> numbers;
  for (auto [form, site] : llvm::zip(forms, sites)) {
    numbers.push_back(site);
    llvm::append_range(numbers, form.numbers);
    numbers.resize(llvm::alignTo(numbers.size(), width));
  }
  OpBuilder builder(entry);
  int64_t count = numbers.size();
  auto values =
      DenseElementsAttr::get(RankedTensorType::get(count, builder.getI64Type()), ArrayRef(numbers));
  return LLVM::GlobalOp::create(builder, entry.getLoc(),
                                LLVM::LLVMArrayType::get(builder.getI64Type(), count),
                                /*isConstant=*/true, LLVM::Linkage::Internal,
                                ("fovea_" + entry.getName() + "_steps").str(), values);
}

LogicalResult EntryLowering::emitStep() {
  Type pointer = LLVM::LLVMPointerType::get(entry.getContext());
  Type i64 = IntegerType::get(entry.getContext(), 64);
  return emitSites("_step", {pointer, i64, i64, i64},
                   [&](PointerBuilder &b, LaunchOp launch, ValueRange operands,
                       ValueRange arguments) -> LogicalResult {
                     SmallVector<Value> all(operands);
                     for (Value part : arguments.take_back(2))
                       all.push_back(arith::IndexCastOp::create(b, b.getIndexType(), part));
                     if (faulting.contains(launch.getKernel())) {
                       all.push_back(b.frameField(arguments[0], offsetof(fovea_frame, fault)));
                       Value one = LLVM::ConstantOp::create(b, b.getI64IntegerAttr(1));
                       all.push_back(LLVM::AddOp::create(b, arguments[1], one));
                     }
                     func::CallOp::create(b, launch.getKernelAttr(), TypeRange(), all);
                     return success();
                   });
}

LogicalResult EntryLowering::emitLaunch() {
  Type pointer = LLVM::LLVMPointerType::get(entry.getContext());
  Type i64 = IntegerType::get(entry.getContext(), 64);
  auto module = entry->getParentOfType<ModuleOp>();
  return emitSites(
      "_launch", {pointer, i64, pointer},
      [&](PointerBuilder &b, LaunchOp launch, ValueRange operands, ValueRange arguments) {
        auto kernel = module.lookupSymbol<func::FuncOp>(launch.getKernel());
        LaunchSite site{kernel, arguments[0], arguments[1], arguments[2],
                        faulting.contains(launch.getKernel())};
        return emitLaunchSite(b, site, operands);
      });
}

LogicalResult EntryLowering::emitSites(StringRef suffix, ArrayRef<Type> inputs, SiteEmitter emit) {
  Type pointer = LLVM::LLVMPointerType::get(entry.getContext());
  Type i64 = IntegerType::get(entry.getContext(), 64);
  func::FuncOp function = createFunction(suffix, inputs);
  Block *start = &function.getBody().front();
  if (plan.launches.empty()) {
    PointerBuilder b(entry.getLoc(), OpBuilder::atBlockBegin(start));
    func::ReturnOp::create(b);
    return success();
  }
  SmallVector<LaunchForm> forms;
  SmallVector<int64_t> sites;
  SmallVector<LaunchOp> examples;
  std::map<ArrayRef<const void *>, int64_t,
           bool (*)(ArrayRef<const void *>, ArrayRef<const void *>)>
      known([](ArrayRef<const void *> l, ArrayRef<const void *> r) {
        return std::lexicographical_compare(l.begin(), l.end(), r.begin(), r.end(),
                                            std::less<const void *>());
      });
  forms.reserve(plan.launches.size());
  size_t width = 1;
  for (LaunchOp launch : plan.launches) {
    forms.push_back(getForm(launch));
    width = std::max(width, 1 + forms.back().numbers.size());
    auto [site, isNew] = known.try_emplace(forms.back().key, examples.size());
    if (isNew)
      examples.push_back(launch);
    sites.push_back(site->second);
  }
  LLVM::GlobalOp table = createTable(forms, sites, width);

  PointerBuilder b(entry.getLoc(), OpBuilder::atBlockBegin(start));
  Value step = start->getArgument(1);
  Value base = LLVM::AddressOfOp::create(b, table);
  Value offset =
      LLVM::MulOp::create(b, step, LLVM::ConstantOp::create(b, b.getI64IntegerAttr(width)));
  Value row = LLVM::GEPOp::create(b, pointer, i64, base, ArrayRef<LLVM::GEPArg>{offset});
  Value site = LLVM::LoadOp::create(b, i64, row);
  Block *end = new Block;
  SmallVector<Block *> blocks;
  SmallVector<APInt> numbers;
  for (auto [number, launch] : llvm::enumerate(examples)) {
    Block *block = new Block;
    function.getBody().push_back(block);
    PointerBuilder inner(launch.getLoc(), OpBuilder::atBlockBegin(block));
    SmallVector<Value> operands = materializeOperands(inner, launch, row, start->getArgument(0));
    if (failed(emit(inner, launch, operands, start->getArguments())))
      return failure();
    cf::BranchOp::create(inner, end);
    blocks.push_back(block);
    numbers.push_back(APInt(64, number));
  }
  function.getBody().push_back(end);
  SmallVector<ValueRange> none(blocks.size());
  cf::SwitchOp::create(b, site, end, ValueRange(), ArrayRef<APInt>(numbers), BlockRange(blocks),
                       none);
  b.setInsertionPointToEnd(end);
  func::ReturnOp::create(b);
  return success();
}

void mlir::fovea::lowerFaults(func::FuncOp kernel, Value address, Value word) {
  kernel.walk([&](FaultOp fault) {
    OpBuilder inner(fault);
    auto branch =
        scf::IfOp::create(inner, fault.getLoc(), fault.getCondition(), /*withElseRegion=*/false);
    inner.setInsertionPoint(branch.thenBlock()->getTerminator());
    LLVM::StoreOp::create(inner, fault.getLoc(), word, address);
    fault.erase();
  });
}

/// Gives kernels that can fault two more arguments, where to write and what; other kernels lose
/// nothing.
static void addFaultArguments(func::FuncOp kernel) {
  unsigned next = kernel.getNumArguments();
  Type pointer = LLVM::LLVMPointerType::get(kernel.getContext());
  if (kernel.isExternal()) {
    SmallVector<Type> inputs(kernel.getArgumentTypes());
    inputs.append({pointer, IntegerType::get(kernel.getContext(), 64)});
    kernel.setFunctionType(FunctionType::get(kernel.getContext(), inputs, {}));
    if (ArrayAttr attributes = kernel.getArgAttrsAttr()) {
      SmallVector<Attribute> all(attributes.getValue());
      all.resize(inputs.size(), DictionaryAttr::get(kernel.getContext()));
      kernel.setArgAttrsAttr(ArrayAttr::get(kernel.getContext(), all));
    }
    return;
  }
  (void)kernel.insertArgument(next, pointer, {}, kernel.getLoc());
  (void)kernel.insertArgument(next + 1, IntegerType::get(kernel.getContext(), 64), {},
                              kernel.getLoc());
  lowerFaults(kernel, kernel.getArgument(next), kernel.getArgument(next + 1));
}

bool mlir::fovea::mayFault(func::FuncOp kernel) {
  return kernel->hasAttr(FoveaDialect::kFaultsAttr) ||
         kernel.walk([](FaultOp) { return WalkResult::interrupt(); }).wasInterrupted();
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
    SmallVector<func::FuncOp> entries, kernels;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function->hasAttr(FoveaDialect::kEntryAttr)) {
        entries.push_back(function);
        continue;
      }
      kernels.push_back(function);
      if (mayFault(function)) {
        faulting.insert(function.getName());
        if (!launches)
          addFaultArguments(function);
      }
      function->removeAttr(FoveaDialect::kFaultsAttr);
      if (function.isExternal())
        continue;
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
      if (failed(launches ? lowering.emitLaunch() : lowering.emitStep()))
        return signalPassFailure();
      OpBuilder builder(entry);
      SmallVector<StringRef> names;
      SmallVector<std::string> places;
      SmallVector<int64_t> costs;
      for (auto [launch, cost] : llvm::zip(plan->launches, plan->costs)) {
        names.push_back(launch.getKernel());
        places.push_back(describeLocation(launch.getLoc()));
        llvm::append_range(costs, cost);
      }
      if (plan->costPlaces.empty())
        costs.clear();
      auto most = entry->getAttrOfType<IntegerAttr>(FoveaDialect::kMaxPositionsAttr);
      ProgramOp::create(
          builder, entry.getLoc(), entry.getName(),
          entry->getAttrOfType<SignatureAttr>(FoveaDialect::kSignatureAttr), plan->count,
          most ? most.getInt() : 0, builder.getStrArrayAttr(names),
          builder.getStrArrayAttr(SmallVector<StringRef>(places.begin(), places.end())), costs);
      entry.erase();
    }
    // On a device, kernels are another module's.
    for (func::FuncOp kernel : kernels)
      if (launches)
        kernel.erase();
  }
};
} // namespace
