// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that turns entries on tensors into lists of launches on buffers; its text says what it
// refuses.
#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/Arena.h"
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/Elements.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/Scalars.h"
#include "lowering/Kernels/SizeChecks.h"
#include "lowering/Lowering.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <deque>

namespace mlir::fovea {
#define GEN_PASS_DEF_FORMLAUNCHESPASS
#include "lowering/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

//===-- Kernels ------------------------------------------------------------------------------===//

/// All kernels of a module; equal groups on equal buffers get the same one.
class KernelTable {
public:
  explicit KernelTable(ModuleOp module) : module(module), symbols(module) {}

  /// The kernel that computes `group`, whose operands and results have become values of `types`.
  FailureOr<const KernelPhases *> get(GroupOp group, ArrayRef<Type> types);
  /// The kernel that copies between buffers of these types.
  func::FuncOp getCopy(Location loc, MemRefType source, MemRefType target);
  /// A constant as a buffer.
  memref::GlobalOp getConstant(Location loc, DenseElementsAttr value);

  unsigned getCount() const { return count; }

private:
  func::FuncOp insert(func::FuncOp function, StringRef name);
  void replaceTensorReads(func::FuncOp kernel);

  struct Kernel {
    GroupOp group; ///< null for a copy
    SmallVector<Type> types;
    KernelPhases phases;
    Attribute schedule; ///< the group's, or plain loops where its tiles do not fit the buffers
  };
  LogicalResult build(GroupOp group, ArrayRef<Type> types, Kernel &kernel);
  LogicalResult buildSingle(KernelBuilder &k, GroupOp group);

  ModuleOp module;
  SymbolTable symbols;
  std::deque<Kernel> kernels;
  llvm::DenseMap<Attribute, memref::GlobalOp> constants;
  llvm::StringMap<unsigned> names;
  unsigned count = 0;
};

/// A kernel's function, in no module yet.
static func::FuncOp createFunction(Location loc, ArrayRef<Type> types) {
  Builder builder(loc.getContext());
  SmallVector<Type> inputs(types);
  inputs.append(2, builder.getIndexType());
  auto function = func::FuncOp::create(loc, "kernel", builder.getFunctionType(inputs, {}));
  function.addEntryBlock();
  return function;
}

func::FuncOp KernelTable::insert(func::FuncOp function, StringRef name) {
  function.setName((name + "_" + Twine(names[name]++)).str());
  function.setPrivate();
  symbols.insert(function);
  ++count;
  return function;
}

/// Whether a cache is grown by the group rather than read.
static bool isAppended(BlockArgument cache) {
  return llvm::any_of(cache.getUsers(), llvm::IsaPred<CacheAppendOp>);
}

/// The op of a group that computes; masks, constants and index arithmetic only feed it.
static FailureOr<Operation *> getComputingOp(GroupOp group) {
  Operation *found = nullptr;
  for (Value value : group.getBody().front().getTerminator()->getOperands()) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return group.emitOpError("yields an argument as it is, which no kernel needs to compute"),
             failure();
    if (found && found != op)
      return group.emitOpError("expects one computing op, got '")
                 << found->getName() << "' and '" << op->getName() << "'",
             failure();
    found = op;
  }
  if (!found)
    return group.emitOpError("yields nothing"), failure();
  return found;
}

/// Makes the arguments of `function` the buffers and scalars of the group's values.
static void bindArguments(KernelBuilder &k, GroupOp group, func::FuncOp function) {
  Block &block = function.getBody().front();
  unsigned next = 0;
  // Inputs first, in order; memory that grows stands among the outputs.
  SmallVector<BlockArgument> appended;
  for (BlockArgument argument : group.getBody().getArguments()) {
    if (isa<RankedTensorType>(argument.getType())) {
      k.buffers[argument] = block.getArgument(next++);
    } else if (isa<CacheType>(argument.getType())) {
      if (isAppended(argument)) {
        k.caches[argument].length = block.getArgument(next++);
        appended.push_back(argument);
      } else {
        k.caches[argument] = {block.getArgument(next), block.getArgument(next + 1)};
        next += 2;
      }
    } else {
      k.values.map(argument, block.getArgument(next++));
    }
  }
  for (BlockArgument cache : appended)
    k.caches[cache].memory = block.getArgument(next++);
  k.outputs.clear();
  for (Type type : group.getResultTypes())
    if (isa<RankedTensorType>(type))
      k.outputs.push_back(block.getArgument(next++));
}

/// Arguments that no code of a phase uses need not be handed to it.
static void eraseUnusedArguments(KernelPhases::Phase &phase) {
  llvm::BitVector unused(phase.function.getNumArguments());
  for (unsigned i = 0, e = phase.operands.size(); i < e; ++i)
    unused[i] = phase.function.getArgument(i).use_empty();
  for (int i = unused.size() - 1; i >= 0; --i)
    if (unused[i])
      phase.operands.erase(phase.operands.begin() + i);
  (void)phase.function.eraseArguments(unused);
}

/// The op that a kernel is called after: of several, the one that costs most.
static std::string nameGroup(GroupOp group) {
  Operation *found = nullptr;
  for (Operation &op : group.getBody().front()) {
    if (isa<LinearOp, AttentionOp>(op))
      return getKernelName(&op);
    if (isa<LayerNormOp, RmsNormOp, L2NormOp>(op) ||
        (!found && llvm::is_contained(op.getUsers(), group.getBody().front().getTerminator())))
      found = &op;
  }
  return found ? getKernelName(found) : "kernel";
}

/// Whether the group is a pooling that tiles are to compute.
static bool isPooling(GroupOp group) {
  return isa<RowScheduleAttr>(group.getScheduleAttr()) &&
         llvm::any_of(group.getBody().front().getOps<PoolOp>(), isTilePool);
}

/// Plain loops for the group's only computing op, or an attention's tiles.
LogicalResult KernelTable::buildSingle(KernelBuilder &k, GroupOp group) {
  FailureOr<Operation *> op = getComputingOp(group);
  if (failed(op))
    return failure();
  k.setLoc((*op)->getLoc());
  // Constants that the op reads as whole tensors lie in memory too. Upstream ops take elements of
  // theirs.
  if (!readsElements(*op))
    for (Value operand : (*op)->getOperands()) {
      auto constant = operand.getDefiningOp<arith::ConstantOp>();
      if (!constant || !isa<RankedTensorType>(operand.getType()))
        continue;
      auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!value)
        return constant.emitOpError("expects a tensor that is written out, got ")
               << constant.getValue();
      memref::GlobalOp global = getConstant(constant.getLoc(), value);
      k.buffers[operand] =
          memref::GetGlobalOp::create(k, constant.getLoc(), global.getType(), global.getName());
    }
  if (isPooling(group))
    return buildTilePool(k, cast<PoolOp>(*op), cast<RowScheduleAttr>(group.getScheduleAttr()));
  auto tiles = dyn_cast<AttentionScheduleAttr>(group.getScheduleAttr());
  if (!tiles)
    return buildKernel(k, *op);
  auto attention = dyn_cast<AttentionOp>(*op);
  if (!attention)
    return (*op)->emitOpError("has the schedule of an attention");
  return buildTileAttention(k, attention, tiles);
}

LogicalResult KernelTable::build(GroupOp group, ArrayRef<Type> types, Kernel &kernel) {
  Attribute schedule = group.getScheduleAttr();
  if (!isa_and_nonnull<LoopScheduleAttr, AttentionScheduleAttr, ContractionScheduleAttr,
                       RowScheduleAttr, ElementScheduleAttr>(schedule)) {
    InFlightDiagnostic error =
        group.emitOpError("expects a schedule that a kernel builder knows, got ");
    return schedule ? error << schedule : error << "none";
  }
  auto loops = dyn_cast<LoopScheduleAttr>(schedule);
  func::FuncOp function = createFunction(group.getLoc(), types);
  kernel.phases.phases.push_back(
      {nameGroup(group), function, llvm::to_vector(llvm::seq<unsigned>(types.size()))});
  KernelBuilder k(group.getLoc(), OpBuilder::atBlockBegin(&function.getBody().front()),
                  loops ? loops.getParallel() : 1);
  k.phases = &kernel.phases;
  k.bind = [&](func::FuncOp next) { bindArguments(k, group, next); };
  k.bind(function);
  kernel.schedule = schedule;
  if (isa<LoopScheduleAttr, AttentionScheduleAttr>(schedule) || isPooling(group)) {
    if (failed(buildSingle(k, group)))
      return failure();
  } else if (!buildTiles(k, group)) {
    kernel.schedule = LoopScheduleAttr::get(group.getContext(), 1);
    if (failed(buildSingle(k, group)))
      return failure();
  }
  k.setInsertionPointToEnd(&kernel.phases.phases.back().function.getBody().front());
  func::ReturnOp::create(k);
  return success();
}

FailureOr<const KernelPhases *> KernelTable::get(GroupOp group, ArrayRef<Type> types) {
  for (Kernel &kernel : kernels)
    if (kernel.group && ArrayRef<Type>(kernel.types) == types &&
        kernel.group.getScheduleAttr() == group.getScheduleAttr() &&
        kernel.group->getResultTypes() == group->getResultTypes() &&
        OperationEquivalence::isRegionEquivalentTo(&kernel.group.getBody(), &group.getBody(),
                                                   OperationEquivalence::IgnoreLocations))
      return &kernel.phases;

  Kernel kernel{group, SmallVector<Type>(types), {}, {}};
  LogicalResult result = build(group, types, kernel);
  KernelPhases &phases = kernel.phases;
  for (KernelPhases::Phase &phase : phases.phases) {
    if (failed(result)) {
      phase.function.erase();
      continue;
    }
    replaceTensorReads(phase.function);
    if (phases.phases.size() > 1)
      eraseUnusedArguments(phase);
    phase.function->setAttr(FoveaDialect::kComputesAttr,
                            StringAttr::get(group.getContext(), describeComputation(group)));
    phase.function->setAttr(FoveaDialect::kScheduleAttr, kernel.schedule);
    insert(phase.function, phase.name);
  }
  if (failed(result))
    return failure();
  kernels.push_back(std::move(kernel));
  return &kernels.back().phases;
}

func::FuncOp KernelTable::getCopy(Location loc, MemRefType source, MemRefType target) {
  SmallVector<Type> types{source, target};
  for (Kernel &kernel : kernels)
    if (!kernel.group && kernel.types == types)
      return kernel.phases.phases.front().function;
  func::FuncOp function = createFunction(loc, types);
  Block &block = function.getBody().front();
  KernelBuilder k(loc, OpBuilder::atBlockBegin(&block), target.getRank());
  emitCopy(k, block.getArgument(0), block.getArgument(1));
  k.setInsertionPointToEnd(&block);
  func::ReturnOp::create(k);
  insert(function, "copy");
  kernels.push_back({GroupOp(), types, {{{"copy", function, {0, 1}}}, {}}, {}});
  return function;
}

memref::GlobalOp KernelTable::getConstant(Location loc, DenseElementsAttr value) {
  memref::GlobalOp &global = constants[value];
  if (global)
    return global;
  auto type = MemRefType::get(value.getType().getShape(), value.getElementType());
  OpBuilder builder(module.getContext());
  global = memref::GlobalOp::create(builder, loc, ("constant_" + Twine(constants.size() - 1)).str(),
                                    builder.getStringAttr("private"), type, value,
                                    /*constant=*/true, /*alignment=*/builder.getI64IntegerAttr(64));
  symbols.insert(global, module.getBody()->begin());
  return global;
}

/// Masks and score regions read tensors; in a kernel these reads become loads from the buffers
/// behind.
void KernelTable::replaceTensorReads(func::FuncOp kernel) {
  kernel.walk([](RelativeBiasOp op) {
    OpBuilder builder(op);
    op.replaceAllUsesWith(emitRelativeBias(builder, op));
    op.erase();
  });
  auto bufferOf = [&](OpBuilder &builder, Value tensor) -> Value {
    if (auto read = tensor.getDefiningOp<bufferization::ToTensorOp>())
      return read.getBuffer();
    auto constant = tensor.getDefiningOp<arith::ConstantOp>();
    if (!constant)
      return {};
    memref::GlobalOp global =
        getConstant(constant.getLoc(), cast<DenseElementsAttr>(constant.getValue()));
    return memref::GetGlobalOp::create(builder, constant.getLoc(), global.getType(),
                                       global.getName());
  };
  kernel.walk([&](Operation *op) {
    OpBuilder builder(op);
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      if (Value buffer = bufferOf(builder, extract.getTensor())) {
        Value load = memref::LoadOp::create(builder, op->getLoc(), buffer, extract.getIndices());
        extract.replaceAllUsesWith(load);
        op->erase();
      }
    } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      if (Value buffer = bufferOf(builder, dim.getSource())) {
        Value size = memref::DimOp::create(builder, op->getLoc(), buffer, dim.getIndex());
        dim.replaceAllUsesWith(size);
        op->erase();
      }
    }
  });
  // What is left of masks, and the tensors that they read, has no users now; users stand after what
  // they use.
  SmallVector<Operation *> dead;
  kernel.walk([&](Operation *op) {
    if (isa<MaskOpInterface, bufferization::ToTensorOp>(op) ||
        (isa<arith::ConstantOp>(op) && isa<RankedTensorType>(op->getResult(0).getType())))
      dead.push_back(op);
  });
  for (Operation *op : llvm::reverse(dead))
    if (op->use_empty())
      op->erase();
}

//===-- One entry ----------------------------------------------------------------------------===//

/// A tensor as memory, with its sizes as values of the new entry.
struct Buffer {
  Value memory;
  SmallVector<OpFoldResult> sizes;
};

class EntryConversion {
public:
  EntryConversion(func::FuncOp entry, KernelTable &kernels)
      : entry(entry), kernels(kernels), math(entry), body(entry), checks(math) {}
  LogicalResult run();
  unsigned launches = 0;
  unsigned getSlotCount() const { return arena.getSlotCount(); }

private:
  LogicalResult createFunction();
  void findLifetimes();
  LogicalResult convert(Operation *op);
  LogicalResult convertGroup(GroupOp group);
  LogicalResult launch(GroupOp group, ValueRange inputs, ValueRange outputs, ValueRange cost);
  Value computeAgain(Value value, const KernelPhases &phases, ValueRange operands,
                     IRMapping &known);
  OpFoldResult getSize(Value operand, int64_t axis);
  FailureOr<CacheBuffer> getCache(GroupOp group, Value operand, BlockArgument argument);
  LogicalResult convertReturn(func::ReturnOp op);
  LogicalResult convertView(Operation *op);
  OpFoldResult multiply(Location loc, ArrayRef<OpFoldResult> sizes, ArrayRef<int64_t> axes);
  Value copyDense(Operation *view, const Buffer &source);
  Value reshapeDense(Location loc, Value memory, ArrayRef<int64_t> shape,
                     ArrayRef<OpFoldResult> sizes);
  Value rootOf(Value value) const { return roots.lookup_or(value, value); }
  LogicalResult convertIndexOp(Operation *op);

  Value allocate(Location loc, MemRefType type, ArrayRef<OpFoldResult> sizes, int64_t first,
                 int64_t last);
  OpFoldResult map(OpFoldResult size);
  SmallVector<OpFoldResult> map(ArrayRef<OpFoldResult> sizes);
  Value toValue(Location loc, OpFoldResult size);

  func::FuncOp entry, fresh;
  KernelTable &kernels;
  OpBuilder math, body;
  SizeChecks checks;
  ArenaPlan arena;
  Value arenaMemory;
  llvm::DenseMap<Value, Buffer> buffers;
  llvm::DenseMap<Value, SmallVector<OpFoldResult>> memorySizes; ///< of memory that is no argument
  llvm::DenseMap<Value, CacheBuffer> caches;
  llvm::DenseMap<Value, int64_t> cacheArgument; ///< which argument a cache value grows from
  llvm::DenseMap<Value, Operation *> appendedBy;
  IRMapping scalars;
  llvm::DenseMap<Value, unsigned>
      resultOf; ///< group results that go straight to the caller's buffers
  llvm::DenseMap<Value, int64_t> lastUse;
  llvm::DenseMap<Operation *, int64_t> order;
  llvm::DenseMap<Value, Value> roots; ///< what a view looks at, a grown cache's first value
  SmallVector<Value> resultBuffers;   ///< by result; null for caches
  /// Sizes by the names that `fovea.dims` gives them.
  llvm::StringMap<Value> namedSizes;
};

/// A memref of a cache: [batch, heads, capacity, size].
static MemRefType getCacheMemory(CacheType type) {
  int64_t open = ShapedType::kDynamic;
  return MemRefType::get({open, type.getHeads(), open, type.getSize()}, type.getElementType());
}

static std::string getPortName(func::FuncOp entry, unsigned i, bool result) {
  auto name = result ? entry.getResultAttrOfType<StringAttr>(i, FoveaDialect::kNameAttr)
                     : entry.getArgAttrOfType<StringAttr>(i, FoveaDialect::kNameAttr);
  if (name)
    return name.str();
  return ((result ? "result" : "argument") + Twine(i)).str();
}

LogicalResult EntryConversion::createFunction() {
  MLIRContext *context = entry.getContext();
  if (!entry.getBody().hasOneBlock())
    return entry.emitOpError("expects an entry of one block");
  SmallVector<Type> inputs, outputs;
  SmallVector<PortAttr> argumentPorts, resultPorts;
  Type index = IndexType::get(context);
  auto port = [&](unsigned i, Type type, bool result) {
    auto dims = result ? entry.getResultAttrOfType<ArrayAttr>(i, FoveaDialect::kDimsAttr)
                       : entry.getArgAttrOfType<ArrayAttr>(i, FoveaDialect::kDimsAttr);
    return PortAttr::get(context, getPortName(entry, i, result), type, dims, -1);
  };
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes())) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      inputs.push_back(getBufferType(tensor));
    else if (auto cache = dyn_cast<CacheType>(type))
      inputs.append({getCacheMemory(cache), index});
    else
      return entry.emitOpError("expects tensors and caches as arguments of an entry, got ") << type;
    argumentPorts.push_back(port(i, type, false));
  }
  for (auto [i, type] : llvm::enumerate(entry.getResultTypes())) {
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      inputs.push_back(getBufferType(tensor));
      outputs.append(tensor.getRank(), index);
    } else if (isa<CacheType>(type)) {
      outputs.push_back(index);
    } else {
      return entry.emitOpError("expects tensors and caches as results of an entry, got ") << type;
    }
    resultPorts.push_back(port(i, type, true));
  }
  // The caches that are returned say which argument they grow from.
  auto ret = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(ret.getOperands())) {
    if (!isa<CacheType>(value.getType()))
      continue;
    auto found = cacheArgument.find(value);
    if (found == cacheArgument.end())
      return entry.emitOpError("returns a cache that comes from none of its arguments, as result ")
             << i;
    PortAttr old = resultPorts[i];
    resultPorts[i] =
        PortAttr::get(context, old.getName(), old.getType(), old.getDims(), found->second);
  }

  OpBuilder builder(entry);
  fresh = func::FuncOp::create(builder, entry.getLoc(), entry.getName(),
                               builder.getFunctionType(inputs, outputs));
  fresh->setAttr(FoveaDialect::kEntryAttr, builder.getUnitAttr());
  fresh->setAttr(FoveaDialect::kSignatureAttr,
                 SignatureAttr::get(context, argumentPorts, resultPorts));
  if (Attribute most = entry->getAttr(FoveaDialect::kMaxPositionsAttr))
    fresh->setAttr(FoveaDialect::kMaxPositionsAttr, most);
  Block *block = fresh.addEntryBlock();
  // Buffers keep the names that callers know.
  auto rename = [&](unsigned i, StringRef name) {
    block->getArgument(i).setLoc(NameLoc::get(builder.getStringAttr(name), entry.getLoc()));
  };
  unsigned named = 0;
  for (PortAttr argument : argumentPorts) {
    rename(named++, argument.getName());
    if (isa<CacheType>(argument.getType()))
      rename(named++, ("length_of_" + argument.getName()).str());
  }
  for (PortAttr result : resultPorts)
    if (!isa<CacheType>(result.getType()))
      rename(named++, result.getName());

  // Index arithmetic goes before the arena, buffers and launches behind it.
  Location loc = entry.getLoc();
  math.setInsertionPointToStart(block);
  Value zero = arith::ConstantIndexOp::create(math, loc, 0);
  auto arenaOp =
      ArenaOp::create(math, loc, MemRefType::get({ShapedType::kDynamic}, math.getI8Type()), zero);
  math.setInsertionPoint(arenaOp);
  body.setInsertionPointToEnd(block);
  arenaMemory = arenaOp.getMemory();

  unsigned next = 0;
  for (auto [i, argument] : llvm::enumerate(entry.getArguments())) {
    Value memory = block->getArgument(next++);
    auto dims = entry.getArgAttrOfType<ArrayAttr>(i, FoveaDialect::kDimsAttr);
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<OpFoldResult> sizes;
    unsigned open = 0;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis)) {
        sizes.push_back(math.getIndexAttr(type.getDimSize(axis)));
        continue;
      }
      StringRef name = dims ? cast<StringAttr>(dims[open]).getValue() : "";
      ++open;
      Value known = name.empty() ? Value() : namedSizes.lookup(name);
      if (!known) {
        known = memref::DimOp::create(math, loc, memory, axis);
        if (!name.empty())
          namedSizes[name] = known;
      }
      sizes.push_back(known);
    }
    if (isa<CacheType>(argument.getType()))
      caches[argument] = {memory, block->getArgument(next++)};
    else
      buffers[argument] = {memory, sizes};
  }
  for (Type type : entry.getResultTypes())
    resultBuffers.push_back(isa<CacheType>(type) ? Value() : Value(block->getArgument(next++)));
  return success();
}

/// Numbers the ops, follows views to the values they look at, and finds each value's last reader.
void EntryConversion::findLifetimes() {
  Block &block = entry.getBody().front();
  int64_t next = 0;
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    if (isa<CacheType>(argument.getType()))
      cacheArgument[argument] = i;
  for (Operation &op : block) {
    order[&op] = ++next;
    if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
            op))
      roots[op.getResult(0)] = rootOf(op.getOperand(0));
    for (Value operand : op.getOperands())
      if (isa<RankedTensorType, CacheType>(operand.getType()))
        lastUse[rootOf(operand)] = next;
    auto group = dyn_cast<GroupOp>(op);
    if (!group)
      continue;
    for (auto [result, yielded] :
         llvm::zip(group.getResults(), group.getBody().front().getTerminator()->getOperands())) {
      auto append = yielded.getDefiningOp<CacheAppendOp>();
      auto cache = append ? dyn_cast<BlockArgument>(append.getCache()) : BlockArgument();
      if (!cache)
        continue;
      Value from = group.getInputs()[cache.getArgNumber()];
      // Each append to an empty cache has memory of its own: see getCache.
      if (!from.getDefiningOp<CacheCreateOp>())
        roots[result] = rootOf(from);
      if (auto found = cacheArgument.find(from); found != cacheArgument.end())
        cacheArgument[result] = found->second;
    }
  }
  // A value's last use is its root's; a returned group result needs no slot.
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (value.getDefiningOp<GroupOp>() && isa<RankedTensorType>(value.getType()))
      resultOf.try_emplace(value, i);
}

OpFoldResult EntryConversion::map(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    if (Value mapped = scalars.lookupOrNull(value)) {
      if (std::optional<int64_t> constant = getConstantIntValue(mapped))
        return math.getIndexAttr(*constant);
      return mapped;
    }
  return size;
}

SmallVector<OpFoldResult> EntryConversion::map(ArrayRef<OpFoldResult> sizes) {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) { return map(size); });
}

Value EntryConversion::toValue(Location loc, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(math, loc, size);
}

Value EntryConversion::allocate(Location loc, MemRefType type, ArrayRef<OpFoldResult> sizes,
                                int64_t first, int64_t last) {
  for (OpFoldResult size : sizes)
    checks.requireNotNegative(loc, size);
  Value bytes = arena.getBytes(math, loc, sizes, type.getElementType());
  unsigned slot = arena.allocate(first, last, bytes);
  SmallVector<Value> dynamic;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (type.isDynamicDim(axis))
      dynamic.push_back(toValue(loc, size));
  // The offset is filled in when all slots are known.
  auto view = memref::ViewOp::create(body, loc, type, arenaMemory, bytes, dynamic);
  arena.addUse(slot, view.getByteShiftMutable());
  memorySizes[view] = SmallVector<OpFoldResult>(sizes);
  return view;
}

LogicalResult EntryConversion::convertIndexOp(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    auto found = buffers.find(dim.getSource());
    if (!axis || found == buffers.end())
      return op->emitOpError("expects a constant axis of a tensor of this entry");
    scalars.map(dim.getResult(), toValue(op->getLoc(), found->second.sizes[*axis]));
    return success();
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!scalars.contains(operand))
      return op->emitOpError("expects operands that are sizes and constants");
    operands.push_back(scalars.lookup(operand));
  }
  if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op)) {
    AffineMap map = isa<affine::AffineApplyOp>(op) ? cast<affine::AffineApplyOp>(op).getMap()
                    : isa<affine::AffineMinOp>(op) ? cast<affine::AffineMinOp>(op).getMap()
                                                   : cast<affine::AffineMaxOp>(op).getMap();
    Value found;
    SmallVector<Value, 8> values = *affine::expandAffineMap(math, op->getLoc(), map, operands);
    for (Value value : values)
      found = !found ? value
              : isa<affine::AffineMinOp>(op)
                  ? Value(arith::MinSIOp::create(math, op->getLoc(), found, value))
                  : Value(arith::MaxSIOp::create(math, op->getLoc(), found, value));
    scalars.map(op->getResult(0), found);
    return success();
  }
  ImplicitLocOpBuilder divide(op->getLoc(), math);
  if (Value quotient = emitSizeDivision(divide, op, operands))
    scalars.map(op->getResult(0), quotient);
  else
    math.clone(*op, scalars);
  return success();
}

/// The product of some sizes: a number, or a value of the plan.
OpFoldResult EntryConversion::multiply(Location loc, ArrayRef<OpFoldResult> sizes,
                                       ArrayRef<int64_t> axes) {
  int64_t known = 1;
  Value product;
  for (int64_t axis : axes) {
    if (std::optional<int64_t> size = getConstantIntValue(sizes[axis])) {
      known *= *size;
      continue;
    }
    Value size = cast<Value>(sizes[axis]);
    product = product ? Value(arith::MulIOp::create(math, loc, product, size)) : size;
  }
  if (!product)
    return math.getIndexAttr(known);
  if (known == 1)
    return product;
  return arith::MulIOp::create(math, loc, product, toValue(loc, math.getIndexAttr(known)))
      .getResult();
}

/// The operand of a view, of another layout in memory, as a copy without gaps.
Value EntryConversion::copyDense(Operation *view, const Buffer &source) {
  auto type = cast<MemRefType>(source.memory.getType());
  auto last = lastUse.find(rootOf(view->getResult(0)));
  int64_t now = order[view];
  Value copy = allocate(view->getLoc(), MemRefType::get(type.getShape(), type.getElementType()),
                        source.sizes, now, last == lastUse.end() ? now : last->second);
  func::FuncOp kernel = kernels.getCopy(view->getLoc(), type, cast<MemRefType>(copy.getType()));
  LaunchOp::create(body, view->getLoc(), kernel.getSymName(), source.memory, copy, ValueRange());
  ++launches;
  return copy;
}

/// Whether a group of axes has more than one open size. Upstream's lowering of reshapes knows none
/// with such groups.
static bool isOpen(ArrayRef<int64_t> shape, ArrayRef<ReassociationIndices> groups) {
  return llvm::any_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t axis) { return ShapedType::isDynamic(shape[axis]); }) >
           1;
  });
}

/// Memory without gaps under another shape.
Value EntryConversion::reshapeDense(Location loc, Value memory, ArrayRef<int64_t> shape,
                                    ArrayRef<OpFoldResult> sizes) {
  auto type = MemRefType::get(shape, cast<MemRefType>(memory.getType()).getElementType());
  SmallVector<OpFoldResult> extents(sizes), strides(sizes.size(), math.getIndexAttr(1));
  SmallVector<int64_t> inner;
  for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
    bool isKnown = llvm::none_of(ArrayRef(shape).drop_front(axis + 1), ShapedType::isDynamic);
    strides[axis] = multiply(loc, sizes, inner);
    if (!isKnown)
      strides[axis] = toValue(loc, strides[axis]);
    inner.push_back(axis);
    if (ShapedType::isDynamic(shape[axis]))
      extents[axis] = toValue(loc, extents[axis]);
  }
  return memref::ReinterpretCastOp::create(body, loc, type, memory, math.getIndexAttr(0), extents,
                                           strides);
}

LogicalResult EntryConversion::convertView(Operation *op) {
  Location loc = op->getLoc();
  auto found = buffers.find(op->getOperand(0));
  if (found == buffers.end())
    return op->emitOpError("expects a tensor of this entry");
  Buffer source = found->second, result;
  auto sourceType = cast<MemRefType>(source.memory.getType());
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    SmallVector<OpFoldResult> offsets = map(slice.getMixedOffsets()),
                              sizes = map(slice.getMixedSizes()),
                              strides = map(slice.getMixedStrides());
    for (auto [axis, size] : llvm::enumerate(sizes))
      checks.requireInside(loc, offsets[axis], size, strides[axis], source.sizes[axis]);
    // The type follows the tensor's: a size that happens to be constant may be dynamic there.
    auto type = memref::SubViewOp::inferRankReducedResultType(
        resultType.getShape(), sourceType, slice.getMixedOffsets(), slice.getMixedSizes(),
        slice.getMixedStrides());
    auto keepDynamic = [&](SmallVector<OpFoldResult> values, ArrayRef<int64_t> statics) {
      for (auto [value, fixed] : llvm::zip(values, statics))
        if (ShapedType::isDynamic(fixed))
          value = toValue(loc, value);
      return values;
    };
    result.memory = memref::SubViewOp::create(body, loc, cast<MemRefType>(type), source.memory,
                                              keepDynamic(offsets, slice.getStaticOffsets()),
                                              keepDynamic(sizes, slice.getStaticSizes()),
                                              keepDynamic(strides, slice.getStaticStrides()));
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [axis, size] : llvm::enumerate(sizes))
      if (!dropped.test(axis))
        result.sizes.push_back(size);
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<OpFoldResult> shape = map(
        getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), body.getContext()));
    result.sizes = shape;
    for (auto [axis, group] : llvm::enumerate(expand.getReassociationIndices()))
      checks.requireEqual(loc, multiply(loc, ArrayRef(shape), group), source.sizes[axis]);
    for (auto [size, fixed] : llvm::zip(shape, expand.getStaticOutputShape()))
      if (ShapedType::isDynamic(fixed))
        size = toValue(loc, size);
    if (isOpen(resultType.getShape(), expand.getReassociationIndices())) {
      if (!sourceType.getLayout().isIdentity())
        source.memory = copyDense(op, source);
      result.memory = reshapeDense(loc, source.memory, resultType.getShape(), result.sizes);
      buffers[op->getResult(0)] = result;
      return success();
    }
    FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
        sourceType, resultType.getShape(), expand.getReassociationIndices());
    if (failed(type))
      return op->emitOpError("cannot split the axes of ") << sourceType;
    result.memory = memref::ExpandShapeOp::create(body, loc, *type, source.memory,
                                                  expand.getReassociationIndices(), shape);
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
    bool open = isOpen(sourceType.getShape(), groups);
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(sourceType, groups) ||
        (open && !sourceType.getLayout().isIdentity()))
      source.memory = copyDense(op, source);
    for (auto [axis, group] : llvm::enumerate(groups))
      result.sizes.push_back(resultType.isDynamicDim(axis)
                                 ? multiply(loc, source.sizes, group)
                                 : OpFoldResult(math.getIndexAttr(resultType.getDimSize(axis))));
    result.memory =
        open ? reshapeDense(loc, source.memory, resultType.getShape(), result.sizes)
             : memref::CollapseShapeOp::create(body, loc, source.memory, groups).getResult();
  } else {
    auto type =
        MemRefType::get(resultType.getShape(), resultType.getElementType(), sourceType.getLayout());
    result.memory = memref::CastOp::create(body, loc, type, source.memory);
    result.sizes = source.sizes;
    for (auto [axis, size] : llvm::enumerate(result.sizes))
      if (!resultType.isDynamicDim(axis)) {
        OpFoldResult fixed = math.getIndexAttr(resultType.getDimSize(axis));
        checks.requireEqual(loc, size, fixed);
        size = fixed;
      }
  }
  buffers[op->getResult(0)] = result;
  return success();
}

/// The memory and length of a cache that a group reads or, as `argument`, grows. An empty cache
/// that was made in this entry gets memory here, as long as what grows from it is used.
FailureOr<CacheBuffer> EntryConversion::getCache(GroupOp group, Value operand,
                                                 BlockArgument argument) {
  CacheBuffer cache = caches.lookup(operand);
  auto create = operand.getDefiningOp<CacheCreateOp>();
  if (!create)
    return cache;
  CacheType type = create.getType();
  Value batch = scalars.lookupOrNull(create.getBatch());
  Value capacity = scalars.lookupOrNull(create.getCapacity());
  if (!batch || !capacity)
    return create.emitOpError("expects sizes that are computed from sizes"), failure();
  SmallVector<OpFoldResult> sizes{batch, math.getIndexAttr(type.getHeads()), capacity,
                                  math.getIndexAttr(type.getSize())};
  int64_t now = order[group], last = now;
  for (auto [result, yielded] :
       llvm::zip(group.getResults(), group.getBody().front().getTerminator()->getOperands()))
    if (auto append = yielded.getDefiningOp<CacheAppendOp>();
        append && append.getCache() == argument)
      if (auto found = lastUse.find(result); found != lastUse.end())
        last = std::max(last, found->second);
  cache.memory = allocate(create.getLoc(), getCacheMemory(type), sizes, now, last);
  return cache;
}

LogicalResult EntryConversion::convertGroup(GroupOp group) {
  Location loc = group.getLoc();
  // The results' sizes, as ops before the group, converted like all others.
  Operation *before = group->getPrevNode();
  OpBuilder asking(group);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(group.reifyResultShapes(asking, shapes)))
    return group.emitOpError("has results whose sizes cannot be computed beforehand");
  SmallVector<Value> cost = buildCost(asking, group);
  Operation *yield = group.getBody().front().getTerminator();
  GroupSizes groupSizes(group);
  llvm::DenseMap<Value, OpFoldResult> added; ///< positions, by the append that adds them
  for (Value value : yield->getOperands())
    if (auto append = value.getDefiningOp<CacheAppendOp>()) {
      FailureOr<OpFoldResult> count = groupSizes.get(asking, append.getInput(), 1);
      if (failed(count))
        return append.emitOpError("adds positions whose number cannot be computed beforehand");
      added[value] = *count;
    }
  for (Operation *op = before ? before->getNextNode() : &group->getBlock()->front(); op != group;
       op = op->getNextNode())
    if (failed(convert(op)))
      return failure();
  for (Value &value : cost)
    value = scalars.lookup(value);

  SmallVector<Value> inputs, outputs;
  llvm::DenseMap<Value, CacheBuffer> grown; ///< by the region's argument
  for (auto [operand, argument] : llvm::zip(group.getInputs(), group.getBody().getArguments())) {
    if (isa<RankedTensorType>(operand.getType())) {
      auto found = buffers.find(operand);
      if (found == buffers.end())
        return group.emitOpError("reads a tensor that no buffer holds");
      memorySizes[found->second.memory] = found->second.sizes;
      inputs.push_back(found->second.memory);
    } else if (isa<CacheType>(operand.getType())) {
      FailureOr<CacheBuffer> found = getCache(group, operand, argument);
      if (failed(found))
        return failure();
      CacheBuffer cache = *found;
      if (!isAppended(argument))
        inputs.push_back(cache.memory);
      inputs.push_back(cache.length);
      if (!isAppended(argument))
        continue;
      grown[argument] = cache;
      outputs.push_back(cache.memory);
      if (operand.getDefiningOp<CacheCreateOp>())
        continue;
      auto [first, isFirst] = appendedBy.try_emplace(operand, group);
      if (!isFirst) {
        InFlightDiagnostic error =
            group.emitOpError("appends to a cache value that was appended to before");
        error.attachNote(first->second->getLoc())
            << "here; memory grows in place, so a value can grow once";
        return error;
      }
    } else {
      Value value = scalars.lookupOrNull(operand);
      if (!value)
        return group.emitOpError("reads an index value that is not computed from sizes");
      inputs.push_back(value);
    }
  }
  for (auto [i, result] : llvm::enumerate(group.getResults())) {
    if (isa<CacheType>(result.getType())) {
      auto append = yield->getOperand(i).getDefiningOp<CacheAppendOp>();
      auto cache = append ? dyn_cast<BlockArgument>(append.getCache()) : BlockArgument();
      if (!cache)
        return group.emitOpError("expects a cache result to be an append to one of its arguments");
      CacheBuffer old = grown[cache];
      Value count = toValue(loc, map(added.lookup(yield->getOperand(i))));
      caches[result] = {old.memory, arith::AddIOp::create(math, loc, old.length, count)};
      continue;
    }
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> sizes = map(shapes[i]);
    for (OpFoldResult size : sizes)
      checks.requireNotNegative(loc, size);
    auto direct = resultOf.find(result);
    int64_t now = order[group];
    auto last = lastUse.find(result);
    Value memory = direct != resultOf.end() ? resultBuffers[direct->second]
                                            : allocate(loc, getBufferType(type), sizes, now,
                                                       last == lastUse.end() ? now : last->second);
    buffers[result] = {memory, sizes};
    memorySizes[memory] = sizes;
    outputs.push_back(memory);
  }
  return launch(group, inputs, outputs, cost);
}

/// The size of a launch's operand, as the plan computes it.
OpFoldResult EntryConversion::getSize(Value operand, int64_t axis) {
  auto type = cast<MemRefType>(operand.getType());
  if (!type.isDynamicDim(axis))
    return math.getIndexAttr(type.getDimSize(axis));
  auto known = memorySizes.find(operand);
  if (known != memorySizes.end())
    return known->second[axis];
  return memref::DimOp::create(math, operand.getLoc(), operand, axis).getResult();
}

/// A size of a temporary, which a kernel's code computes from its arguments, as a value of the
/// plan. `operands` are those of the group's launch.
Value EntryConversion::computeAgain(Value value, const KernelPhases &phases, ValueRange operands,
                                    IRMapping &known) {
  if (Value done = known.lookupOrNull(value))
    return done;
  auto operandOf = [&](BlockArgument argument) {
    for (const KernelPhases::Phase &phase : phases.phases)
      if (phase.function == argument.getOwner()->getParentOp())
        return operands[phase.operands[argument.getArgNumber()]];
    llvm_unreachable("sizes are computed in a phase");
  };
  Value result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    result = operandOf(argument);
  } else if (auto dim = value.getDefiningOp<memref::DimOp>()) {
    OpFoldResult size =
        getSize(operandOf(cast<BlockArgument>(dim.getSource())), *dim.getConstantIndex());
    result = toValue(value.getLoc(), size);
  } else {
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      computeAgain(operand, phases, operands, known);
    math.clone(*op, known);
    return known.lookup(value);
  }
  known.map(value, result);
  return result;
}

LogicalResult EntryConversion::launch(GroupOp group, ValueRange inputs, ValueRange outputs,
                                      ValueRange cost) {
  Location loc = group.getLoc();
  SmallVector<Value> operands(inputs);
  llvm::append_range(operands, outputs);
  FailureOr<const KernelPhases *> kernel =
      kernels.get(group, SmallVector<Type>(ValueRange(operands).getTypes()));
  if (failed(kernel))
    return failure();
  IRMapping known;
  SmallVector<Value> temporaries;
  int64_t now = order[group];
  for (const KernelPhases::Temporary &temporary : (*kernel)->temporaries) {
    SmallVector<OpFoldResult> sizes;
    unsigned open = 0;
    for (int64_t size : temporary.type.getShape())
      if (ShapedType::isDynamic(size))
        sizes.push_back(computeAgain(temporary.sizes[open++], **kernel, operands, known));
      else
        sizes.push_back(math.getIndexAttr(size));
    temporaries.push_back(allocate(loc, temporary.type, sizes, now, now));
  }
  llvm::append_range(operands, temporaries);
  for (const KernelPhases::Phase &phase : (*kernel)->phases) {
    // What a phase reads of the temporaries stands among its outputs too: they are ours alone.
    SmallVector<Value> in, out;
    for (unsigned operand : phase.operands)
      (operand < inputs.size() ? in : out).push_back(operands[operand]);
    func::FuncOp function = phase.function;
    SmallVector<Value> share(cost);
    if (&phase != &(*kernel)->phases[(*kernel)->main])
      share.assign(cost.size(), arith::ConstantIndexOp::create(math, loc, 0));
    LaunchOp::create(body, loc, function.getSymName(), in, out, share);
    ++launches;
  }
  return success();
}

LogicalResult EntryConversion::convertReturn(func::ReturnOp op) {
  SmallVector<Value> sizes;
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    if (isa<CacheType>(value.getType())) {
      sizes.push_back(caches.lookup(value).length);
      continue;
    }
    auto found = buffers.find(value);
    if (found == buffers.end())
      return op.emitOpError("returns a tensor that no buffer holds");
    for (OpFoldResult size : found->second.sizes)
      sizes.push_back(toValue(op.getLoc(), size));
    auto direct = resultOf.find(value);
    if (direct != resultOf.end() && direct->second == i)
      continue;
    // An argument, a view, or a value that is returned twice.
    Value source = found->second.memory, target = resultBuffers[i];
    func::FuncOp copy = kernels.getCopy(op.getLoc(), cast<MemRefType>(source.getType()),
                                        cast<MemRefType>(target.getType()));
    LaunchOp::create(body, op.getLoc(), copy.getSymName(), source, target, ValueRange());
    ++launches;
  }
  func::ReturnOp::create(body, op.getLoc(), sizes);
  return success();
}

LogicalResult EntryConversion::convert(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](GroupOp group) { return convertGroup(group); })
      .Case([&](func::ReturnOp ret) { return convertReturn(ret); })
      .Case<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
          [&](Operation *view) { return convertView(view); })
      .Case([&](WeightRefOp ref) {
        auto type = cast<RankedTensorType>(ref.getResult().getType());
        Buffer buffer;
        buffer.memory =
            WeightRefOp::create(body, ref.getLoc(), getBufferType(type), ref.getWeightAttr());
        for (int64_t size : type.getShape())
          buffer.sizes.push_back(math.getIndexAttr(size));
        buffers[ref.getResult()] = buffer;
        return success();
      })
      .Case([&](CacheLengthOp length) {
        scalars.map(length.getLength(), caches.lookup(length.getCache()).length);
        return success();
      })
      .Case([&](CacheCreateOp create) {
        // Memory is given to what is appended to it; equal empty caches may be one value by now.
        caches[create.getResult()] = {Value(),
                                      arith::ConstantIndexOp::create(math, create.getLoc(), 0)};
        return success();
      })
      .Case([&](tensor::EmptyOp empty) {
        SmallVector<OpFoldResult> sizes = map(empty.getMixedSizes());
        auto last = lastUse.find(empty.getResult());
        int64_t now = order[empty];
        buffers[empty.getResult()] = {allocate(empty.getLoc(), getBufferType(empty.getType()),
                                               sizes, now,
                                               last == lastUse.end() ? now : last->second),
                                      sizes};
        return success();
      })
      .Default([&](Operation *other) -> LogicalResult {
        if (auto constant = dyn_cast<arith::ConstantOp>(other))
          if (auto value = dyn_cast<DenseElementsAttr>(constant.getValue())) {
            memref::GlobalOp global = kernels.getConstant(constant.getLoc(), value);
            Buffer buffer;
            buffer.memory = memref::GetGlobalOp::create(body, constant.getLoc(), global.getType(),
                                                        global.getName());
            for (int64_t size : value.getType().getShape())
              buffer.sizes.push_back(math.getIndexAttr(size));
            buffers[constant.getResult()] = buffer;
            return success();
          }
        if (isa<arith::ArithDialect, affine::AffineDialect>(other->getDialect()) ||
            isa<tensor::DimOp>(other))
          return convertIndexOp(other);
        if (isa<MaskOpInterface>(other) && other->use_empty())
          return success();
        return other->emitOpError("is neither in a group, nor a view, nor index arithmetic");
      });
}

/// Panels are known to weights and to ops that read them in any layout, and to nothing else; other
/// encodings to nothing.
static LogicalResult verifyPanels(Operation *op) {
  if (!isa<WeightRefOp>(op))
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getEncoding())
        return op->emitOpError("expects only weights to have an encoding, got a result of type ")
               << tensor;
  if (isa<GroupOp>(op)) // its ops are looked at one by one
    return success();
  for (OpOperand &use : op->getOpOperands()) {
    auto tensor = dyn_cast<RankedTensorType>(use.get().getType());
    if (tensor && tensor.getEncoding() && !readsAnyLayout(use))
      return op->emitOpError("expects a row-major tensor as operand ")
             << use.getOperandNumber() << ", got " << tensor;
  }
  return success();
}

/// No memory holds 2^48 bytes; up to there sizes and offsets of what is static cannot wrap.
static LogicalResult verifyStaticSize(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return success();
  if (!tensor.getElementType().isIntOrIndexOrFloat())
    return op->emitOpError("expects elements that are floats, integers or indices, got ") << tensor;
  constexpr int64_t kMost = int64_t(1) << 48;
  int64_t bytes = getStorageBytes(tensor.getElementType(), 1);
  for (int64_t size : getStorageShape(tensor))
    if (!ShapedType::isDynamic(size) && (llvm::MulOverflow(bytes, size, bytes) || bytes > kMost))
      return op->emitOpError("expects static sizes below 2^48 bytes, got ") << tensor;
  return success();
}

LogicalResult EntryConversion::run() {
  for (Type type : llvm::concat<const Type>(entry.getArgumentTypes(), entry.getResultTypes())) {
    if (failed(verifyStaticSize(entry, type)))
      return failure();
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && tensor.getEncoding())
      return entry.emitOpError("expects row-major tensors as arguments and results, got ")
             << tensor;
  }
  WalkResult panels = entry.walk([](Operation *op) {
    return failed(verifyPanels(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (panels.wasInterrupted())
    return failure();
  for (Operation &op : entry.getBody().front())
    for (Type type : op.getResultTypes())
      if (failed(verifyStaticSize(&op, type)))
        return failure();
  findLifetimes();
  if (failed(createFunction()))
    return failure();
  for (Operation &op : llvm::make_early_inc_range(entry.getBody().front()))
    if (failed(convert(&op)))
      return failure();
  auto arenaOp = arenaMemory.getDefiningOp<ArenaOp>();
  Location loc = entry.getLoc();
  arenaOp.getBytesMutable().assign(checks.finish(loc, arena.finish(math, loc)));
  return success();
}

//===-- The pass -----------------------------------------------------------------------------===//

struct FormLaunchesPass : fovea::impl::FormLaunchesPassBase<FormLaunchesPass> {
  using FormLaunchesPassBase::FormLaunchesPassBase;

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
