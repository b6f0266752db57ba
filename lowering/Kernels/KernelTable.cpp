// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One kernel for a group: its arguments, the constants that it reads from memory, and the builder
// that its schedule asks for.
#include "lowering/Kernels/KernelTable.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/Elements.h"
#include "lowering/Kernels/KernelInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Analysis/TileForm.h"

using namespace mlir;
using namespace mlir::fovea;

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

bool mlir::fovea::isAppended(BlockArgument cache) {
  return llvm::any_of(cache.getUsers(), [](Operation *user) {
    return user->getNumResults() > 0 && isa<CacheType>(user->getResult(0).getType());
  });
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

/// The kernel's name without its number, from the op that it is called after: "attention",
/// "linear", ...
static std::string nameGroup(GroupOp group) {
  Operation *found = nullptr;
  unsigned rank = 0;
  Operation *yield = group.getBody().front().getTerminator();
  for (Operation &op : group.getBody().front()) {
    auto kernel = dyn_cast<KernelOpInterface>(op);
    unsigned own = kernel ? kernel.getNameRank() : 0;
    // Of several norms the last; of other ops the first that is a result.
    if (own > rank || (own == 1 && rank == 1) ||
        (!found && llvm::is_contained(op.getUsers(), yield))) {
      found = &op;
      rank = own;
    }
    if (rank == 2)
      break;
  }
  return found ? found->getName().stripDialect().str() : "kernel";
}

/// The op of a group that has a tile program of its own.
static KernelOpInterface getOwnTiles(GroupOp group) {
  for (Operation &op : group.getBody().front())
    if (auto kernel = dyn_cast<KernelOpInterface>(op); kernel && kernel.hasOwnTiles())
      return kernel;
  return {};
}

/// Finds the constants that ops with kernels of their own read as whole tensors: they lie in memory
/// too. What is elementwise has their elements in its code.
LogicalResult KernelTable::addConstants(KernelBuilder &k, GroupOp group) {
  for (Operation &op : group.getBody().front()) {
    if (!isa<KernelOpInterface>(op) || readsElements(&op) || isElementwiseOp(&op))
      continue;
    for (Value operand : op.getOperands()) {
      auto constant = operand.getDefiningOp<arith::ConstantOp>();
      if (!constant || !isa<RankedTensorType>(operand.getType()))
        continue;
      auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!value)
        return constant.emitOpError("expects a tensor that is written out, got ")
               << constant.getValue();
      k.constants.emplace_back(operand, getConstant(constant.getLoc(), value));
    }
  }
  return success();
}

/// Plain loops for the group's only computing op, or its own tiles.
LogicalResult KernelTable::buildSingle(KernelBuilder &k, GroupOp group, Attribute schedule) {
  FailureOr<Operation *> op = getComputingOp(group);
  if (failed(op))
    return failure();
  k.setLoc((*op)->getLoc());
  if (isa<LoopScheduleAttr>(schedule))
    return emitLoops(k, *op);
  auto kernel = dyn_cast<KernelOpInterface>(*op);
  if (!kernel)
    return (*op)->emitOpError("has no tile program of its own, which its schedule asks for");
  return kernel.emitOwnTiles(k, schedule);
}

namespace {
/// One of a group's schedules, and of which numbers of rows it is.
struct Variant {
  Attribute schedule;
  int64_t moreThan;
  std::optional<int64_t> most;
};
} // namespace

static SmallVector<Variant> getVariants(Attribute schedule) {
  SmallVector<Variant> variants;
  int64_t moreThan = 0;
  while (auto choice = dyn_cast_or_null<ByRowsScheduleAttr>(schedule)) {
    variants.push_back({choice.getFew(), moreThan, choice.getMost()});
    moreThan = choice.getMost();
    schedule = choice.getMany();
  }
  variants.push_back({schedule, moreThan, std::nullopt});
  return variants;
}

/// What `#fovea.by_rows` counts.
static Value countRows(KernelBuilder &k, GroupOp group) {
  if (KernelOpInterface own = getOwnTiles(group))
    if (Value rows = own.countRows(k))
      return rows;
  TileForm form = getTileForm(group);
  Value memory = form.rowOperands.empty() ? k.outputs.front() : k.buffer(form.rowOperands.front());
  Value rows = k.size(memory, 0);
  for (unsigned axis = 1; axis < form.rowAxes; ++axis)
    rows = k.mul(rows, k.size(memory, axis));
  return rows;
}

FailureOr<bool> KernelTable::build(GroupOp group, ArrayRef<Type> types, Kernel &kernel) {
  SmallVector<Variant> variants = getVariants(group.getScheduleAttr());
  for (const Variant &variant : variants)
    if (!isa_and_nonnull<LoopScheduleAttr, AttentionScheduleAttr, ContractionScheduleAttr,
                         RowScheduleAttr, ElementScheduleAttr>(variant.schedule)) {
      InFlightDiagnostic error =
          group.emitOpError("expects a schedule that a kernel builder knows, got ");
      return variant.schedule ? error << variant.schedule : error << "none";
    }
  auto loops = dyn_cast<LoopScheduleAttr>(variants.front().schedule);
  func::FuncOp function = createFunction(group.getLoc(), types);
  kernel.phases.phases.push_back(
      {nameGroup(group), function, llvm::to_vector(llvm::seq<unsigned>(types.size())), {}, {}});
  KernelBuilder k(group.getLoc(), OpBuilder::atBlockBegin(&function.getBody().front()),
                  loops ? loops.getParallel() : 1);
  k.phases = &kernel.phases;
  k.bind = [&](func::FuncOp next) {
    bindArguments(k, group, next);
    OpBuilder begin = OpBuilder::atBlockBegin(&next.getBody().front());
    for (auto [value, global] : k.constants)
      k.buffers[value] =
          memref::GetGlobalOp::create(begin, value.getLoc(), global.getType(), global.getName());
  };
  if (failed(addConstants(k, group)))
    return failure();
  k.bind(function);
  for (const Variant &variant : variants) {
    if (&variant != &variants.front())
      k.nextVariant();
    size_t first = kernel.phases.phases.size() - 1;
    if (variants.size() > 1) {
      k.mostRows = variant.most;
      k.isChosen = [&k, group, variant] {
        // No rows are nobody's.
        Value rows = countRows(k, group), chosen = k.less(k.index(variant.moreThan), rows);
        if (!variant.most)
          return chosen;
        Value fits = k.less(rows, k.index(*variant.most + 1));
        return Value(arith::AndIOp::create(k, chosen, fits));
      };
    }
    Attribute schedule = variant.schedule;
    FailureOr<bool> fits = true;
    if (isa<LoopScheduleAttr, AttentionScheduleAttr>(schedule) || getOwnTiles(group)) {
      if (failed(buildSingle(k, group, schedule)))
        return failure();
    } else if (fits = buildTiles(k, group, schedule); failed(fits) || !*fits) {
      return fits;
    }
    for (KernelPhases::Phase &phase : llvm::drop_begin(kernel.phases.phases, first))
      phase.schedule = schedule;
  }
  k.finish();
  return true;
}

FailureOr<const KernelPhases *> KernelTable::get(GroupOp group, ArrayRef<Type> types) {
  for (Kernel &kernel : kernels)
    if (kernel.group && ArrayRef<Type>(kernel.types) == types &&
        kernel.group.getScheduleAttr() == group.getScheduleAttr() &&
        kernel.group->getResultTypes() == group->getResultTypes() &&
        OperationEquivalence::isRegionEquivalentTo(&kernel.group.getBody(), &group.getBody(),
                                                   OperationEquivalence::IgnoreLocations))
      return &kernel.phases;

  Kernel kernel{group, SmallVector<Type>(types), {}};
  FailureOr<bool> fits = build(group, types, kernel);
  bool isBuilt = succeeded(fits) && *fits;
  KernelPhases &phases = kernel.phases;
  for (KernelPhases::Phase &phase : phases.phases) {
    if (!isBuilt) {
      phase.function.erase();
      continue;
    }
    replaceTensorReads(phase.function);
    if (phases.phases.size() > 1)
      eraseUnusedArguments(phase);
    phase.function->setAttr(FoveaDialect::kComputesAttr,
                            StringAttr::get(group.getContext(), describeComputation(group)));
    phase.function->setAttr(FoveaDialect::kScheduleAttr, phase.schedule);
    insert(phase.function, phase.name);
  }
  if (failed(fits))
    return failure();
  if (!*fits)
    return nullptr;
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
  kernels.push_back({GroupOp(), types, {{{"copy", function, {0, 1}, {}, {}}}, {}}});
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
  auto bufferOf = [&](Value tensor) -> Value {
    if (auto read = tensor.getDefiningOp<bufferization::ToTensorOp>())
      return read.getBuffer();
    auto constant = tensor.getDefiningOp<arith::ConstantOp>();
    if (!constant)
      return {};
    memref::GlobalOp global =
        getConstant(constant.getLoc(), cast<DenseElementsAttr>(constant.getValue()));
    // Not in the body of a `tile.map`, whose values become vectors.
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel.front());
    return memref::GetGlobalOp::create(builder, constant.getLoc(), global.getType(),
                                       global.getName());
  };
  kernel.walk([&](Operation *op) {
    OpBuilder builder(op);
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      if (Value buffer = bufferOf(extract.getTensor())) {
        Value load = memref::LoadOp::create(builder, op->getLoc(), buffer, extract.getIndices());
        extract.replaceAllUsesWith(load);
        op->erase();
      }
    } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      if (Value buffer = bufferOf(dim.getSource())) {
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
