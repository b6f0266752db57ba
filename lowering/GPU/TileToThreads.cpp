// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that writes a tile program as the code of one thread, and the program's structure: grid,
// loops, branches. Its text says what it refuses.
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Tile/ContainsTiles.h"
#include "lowering/Entries/Entries.h"
#include "lowering/GPU/ThreadLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_TILETOTHREADSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

static constexpr llvm::StringLiteral kSharedName = "shared";

ThreadLowering::ThreadLowering(func::FuncOp function, Block *entry, LLVM::GlobalOp shared)
    : function(function), b(function.getLoc(), OpBuilder::atBlockEnd(entry)), entry(entry),
      threads(getThreads(function)), shared(shared) {
  unsigned count = function.getNumArguments();
  mapping.map(function.getArguments(), entry->getArguments().take_front(count));
  llvm::append_range(maps, entry->getArguments().drop_front(count));
  threadAtEntry = atEntry([&]() -> Value { return NVVM::ThreadIdXOp::create(b, b.getI32Type()); });
  thread = threadAtEntry;
}

LogicalResult ThreadLowering::run() {
  if (threads <= 0 || threads % kWarp != 0 || threads > 1024)
    return function.emitOpError("expects whole warps of up to 1024 threads, got ") << threads;
  function.walk([&](MmaOp op) { hasWarpgroups |= op.getAtom() == Atom::M64K16; });
  if (failed(lowerBlock(function.getBody().front())))
    return failure();
  for (Operation *view : copiedViews)
    view->erase();
  return success();
}

LogicalResult ThreadLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    if (isa<tile::YieldOp, scf::YieldOp, scf::ReduceOp>(op))
      continue;
    b.setLoc(op.getLoc());
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult ThreadLowering::lowerOp(Operation *op) {
  if (isa<TileDialect>(op->getDialect()))
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<KernelOp, ViewOp, PackedOp, LoadOp, GatherOp, StoreOp, SharedOp, CopyOp, LocalStoreOp,
              LocalLoadOp, BarrierOp, StageOp, AsyncCommitOp, AsyncWaitOp, ProducerAcquireOp,
              ProducerCommitOp, ConsumerWaitOp, ConsumerReleaseOp, MapOp, ReduceOp, BroadcastOp,
              ExtractOp, SplatOp, IotaOp, CastOp, DequantizeOp, MmaOp, MmaWaitOp>(
            [&](auto tile) { return lower(tile); })
        .Default([](Operation *other) {
          return other->emitOpError("is not known to fovea-tile-to-threads");
        });
  if (auto nest = dyn_cast<scf::ParallelOp>(op); nest && op->getParentOp() == function)
    return lower(nest);
  if (!containsTiles(op)) {
    b.clone(*op, mapping);
    return success();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return lower(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return lower(branch);
  return op->emitOpError("has to do with tiles, expects scf.for, scf.if or a tile op");
}

//===-- Grids --------------------------------------------------------------------------------===//

/// The index that is as far from the last one as `index` from the first.
static Value fromTheEnd(Emitter &b, Value index, Value extent) {
  Value one = arith::ConstantOp::create(b, b.getIntegerAttr(index.getType(), 1));
  Value last = b.createOrFold<arith::SubIOp>(extent, one);
  return b.createOrFold<arith::SubIOp>(last, index);
}

SmallVector<Value> ThreadLowering::getIndices(Value number, ValueRange extents,
                                              const GridOrder &order) {
  SmallVector<Value> indices(extents.size());
  Value rest = number;
  for (unsigned axis : llvm::reverse(order.axes)) {
    bool isSlowest = axis == order.axes.front();
    Value index = isSlowest ? rest : b.createOrFold<arith::RemUIOp>(rest, extents[axis]);
    if (!isSlowest)
      rest = b.createOrFold<arith::DivUIOp>(rest, extents[axis]);
    if (order.isBackwards[axis])
      index = fromTheEnd(b, index, extents[axis]);
    indices[axis] = index;
  }
  return indices;
}

LogicalResult ThreadLowering::withIndices(Value number, ValueRange extents, const GridOrder &order,
                                          function_ref<LogicalResult(ValueRange)> body) {
  Value total = b.index(1);
  for (Value extent : extents)
    total = b.mul(total, extent);
  auto guard = scf::IfOp::create(b, isBelow(number, total), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard restore(b);
  b.setInsertionPoint(guard.thenBlock()->getTerminator());
  return body(getIndices(number, extents, order));
}

LogicalResult ThreadLowering::lower(KernelOp op) {
  if (op->getParentOp() != function)
    return op.emitOpError("expects to stand in the function itself, not in ")
           << op->getParentOp()->getName();
  if (std::exchange(hasKernel, true))
    return op.emitOpError("expects to be the function's only grid");
  SmallVector<Value> extents =
      llvm::map_to_vector(op.getExtents(), [&](Value extent) { return get(extent); });
  for (auto roles : op.getBody().front().getOps<WarpSpecializeOp>())
    return lowerRoles(op, roles, extents);
  Value block = toIndex(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  return withIndices(block, extents, GridOrder(op), [&](ValueRange indices) {
    mapping.map(op.getBody().getArguments(), indices);
    return lowerBlock(op.getBody().front());
  });
}

/// Plain loops: one iteration a thread.
LogicalResult ThreadLowering::lower(scf::ParallelOp op) {
  if (std::exchange(hasKernel, true))
    return op.emitOpError("expects to be the function's only grid");
  if (!op.getInitVals().empty() || containsTiles(op))
    return op.emitOpError("expects a nest of plain loops, without tiles and results");
  for (auto [begin, step] : llvm::zip(op.getLowerBound(), op.getStep()))
    if (getConstant(begin) != 0 || getConstant(step) != 1)
      return op.emitOpError("expects loops from zero in steps of one");
  SmallVector<Value> extents =
      llvm::map_to_vector(op.getUpperBound(), [&](Value extent) { return get(extent); });
  Value block = toIndex(NVVM::BlockIdXOp::create(b, b.getI32Type()));
  Value number = b.add(b.mul(block, threads), toIndex(thread));
  return withIndices(number, extents, GridOrder(extents.size()), [&](ValueRange indices) {
    mapping.map(op.getInductionVars(), indices);
    return lowerBlock(*op.getBody());
  });
}

//===-- Loops and branches -------------------------------------------------------------------===//

/// How many registers of a tile are carried as one value.
static int64_t getCarriedWidth(TileType type, int64_t count) {
  Type element = type.getElementType();
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 16 && count % 2 == 0 ? 2 : 1;
}

SmallVector<Value> ThreadLowering::flatten(ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values) {
    auto type = dyn_cast<TileType>(value.getType());
    if (!type) {
      flat.push_back(get(value));
      continue;
    }
    ValueRange registers = getTile(value);
    size_t width = getCarriedWidth(type, registers.size());
    for (size_t i = 0; i < registers.size(); i += width)
      flat.push_back(toVector(SmallVector<Value>(registers.slice(i, width))));
  }
  return flat;
}

SmallVector<Type> ThreadLowering::flatten(TypeRange types) {
  SmallVector<Type> flat;
  for (Type type : types) {
    auto tile = dyn_cast<TileType>(type);
    if (!tile) {
      flat.push_back(type);
      continue;
    }
    int64_t count = TileRegisters(tile).count(), width = getCarriedWidth(tile, count);
    Type element = tile.getElementType();
    flat.append(count / width, width == 1 ? element : VectorType::get(width, element));
  }
  return flat;
}

void ThreadLowering::unflatten(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    auto type = dyn_cast<TileType>(value.getType());
    if (!type) {
      mapping.map(value, flat.front());
      flat = flat.drop_front();
      continue;
    }
    int64_t count = TileRegisters(type).count(), carried = count / getCarriedWidth(type, count);
    SmallVector<Value> registers;
    for (Value part : flat.take_front(carried))
      llvm::append_range(registers, toElements(part));
    define(value, std::move(registers));
    flat = flat.drop_front(carried);
  }
}

/// A carried tile is as many carried values as a thread has registers of it.
LogicalResult ThreadLowering::lower(scf::ForOp op) {
  for (Type type : op.getInitArgs().getTypes())
    if (isa<ViewType, SharedType>(type))
      return op.emitOpError("expects to carry no view and no memory, got ") << type;
  SmallVector<Value> inits = flatten(op.getInitArgs());
  auto loop = scf::ForOp::create(b, get(op.getLowerBound()), get(op.getUpperBound()),
                                 get(op.getStep()), inits, nullptr, op.getUnsignedCmp());
  mapping.map(op.getInductionVar(), loop.getInductionVar());
  {
    OpBuilder::InsertionGuard guard(b);
    // A loop that carries nothing has its terminator already.
    b.setInsertionPointToStart(loop.getBody());
    unflatten(op.getRegionIterArgs(), loop.getRegionIterArgs());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    SmallVector<Value> yields = flatten(op.getBody()->getTerminator()->getOperands());
    if (!yields.empty())
      scf::YieldOp::create(b, yields);
  }
  unflatten(op.getResults(), loop.getResults());
  return success();
}

LogicalResult ThreadLowering::lower(scf::IfOp op) {
  for (Type type : op.getResultTypes()) {
    if (isa<ViewType, SharedType>(type))
      return op.emitOpError("expects to give no view and no memory, got ") << type;
    if (auto tile = dyn_cast<TileType>(type); tile && failed(checkLayout(op, tile)))
      return failure();
  }
  bool withElse = !op.getElseRegion().empty();
  auto branch =
      scf::IfOp::create(b, flatten(op.getResultTypes()), get(op.getCondition()), withElse);
  auto lowerSide = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(to);
    if (failed(lowerBlock(*from)))
      return failure();
    SmallVector<Value> yields = flatten(from->getTerminator()->getOperands());
    if (!yields.empty())
      scf::YieldOp::create(b, yields);
    return success();
  };
  if (failed(lowerSide(op.thenBlock(), branch.thenBlock())) ||
      (withElse && failed(lowerSide(op.elseBlock(), branch.elseBlock()))))
    return failure();
  unflatten(op.getResults(), branch.getResults());
  return success();
}

//===-- The pass -----------------------------------------------------------------------------===//

namespace {
struct TileToThreadsPass : fovea::impl::TileToThreadsPassBase<TileToThreadsPass> {
  using TileToThreadsPassBase::TileToThreadsPassBase;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    LLVM::GlobalOp shared = module.lookupSymbol<LLVM::GlobalOp>(kSharedName);
    bool needsShared =
        module.walk([](SharedOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (needsShared && !shared) {
      OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
      shared = LLVM::GlobalOp::create(
          builder, module.getLoc(), LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
          /*isConstant=*/false, LLVM::Linkage::External, kSharedName, Attribute(),
          /*alignment=*/1024, /*addrSpace=*/3);
    }
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (!function.getBody().hasOneBlock() ||
          llvm::any_of(function.getArgumentTypes(), isTileType) ||
          llvm::any_of(function.getResultTypes(), isTileType)) {
        function.emitOpError("expects tiles in a function of one block, and none in its type");
        return signalPassFailure();
      }
      Region fresh(function);
      Block *entry = &fresh.emplaceBlock();
      for (BlockArgument argument : function.getArguments())
        entry->addArgument(argument.getType(), argument.getLoc());
      if (auto maps = function->getAttrOfType<ArrayAttr>(FoveaDialect::kTensorMapsAttr))
        for (size_t i = 0; i < maps.size(); ++i)
          entry->addArgument(LLVM::LLVMPointerType::get(&getContext()), function.getLoc());
      ThreadLowering lowering(function, entry, shared);
      if (failed(lowering.run()))
        return signalPassFailure();
      function.getBody().takeBody(fresh);
      function.setType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(), {}));
      Builder builder(&getContext());
      function->setAttr(FoveaDialect::kThreadsAttr,
                        builder.getI32IntegerAttr(getThreads(function)));
      function->setAttr(
          FoveaDialect::kSharedBytesAttr,
          builder.getI64IntegerAttr(std::max(lowering.sharedBytes, getSharedBytes(function))));
      ++kernels;
    }
  }
};
} // namespace
