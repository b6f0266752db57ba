// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that lowers tile programs to vectors: loops, branches and the grid. Its text says what
// it refuses.
#include "lowering/CPU/Passes.h"
#include "lowering/CPU/TileLowering.h"
#include "lowering/Tile/Emitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_TILETOVECTORSPASS
#include "lowering/CPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

//===-- Control ------------------------------------------------------------------------------===//

LogicalResult TileLowering::lowerLoop(scf::ForOp loop) {
  SmallVector<std::pair<unsigned, Scratch>> carried;
  for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
    if (!isa<TileType>(init.getType()))
      continue;
    TileLayout layout = layoutOf(init);
    b.setInsertionPoint(loop);
    std::optional<Scratch> donor;
    if (!isLazy(init))
      donor = findDonor(init, loop, typeOf(init));
    Scratch scratch =
        donor ? *donor : Scratch{allocate(typeOf(init).getElementType(), layout), layout};
    if (!donor)
      copy(init, scratch);
    buffers.try_emplace({loop.getRegionIterArg(i), layout.axis}, scratch);
    buffers.try_emplace({loop.getResult(i), layout.axis}, scratch);
    carried.push_back({static_cast<unsigned>(i), scratch});
  }
  if (failed(lowerBlock(*loop.getBody())))
    return failure();
  // What is yielded goes to the loop's buffers. All is computed before anything is overwritten.
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  b.setInsertionPoint(yield);
  SmallVector<std::pair<Value, Scratch>> copies;
  for (auto [i, scratch] : carried) {
    Value next = yield.getOperand(i);
    auto found = buffers.find({next, scratch.layout.axis});
    if (found != buffers.end() && found->second.memory == scratch.memory)
      continue;
    Value memory = materialize(next).memory;
    if (llvm::any_of(carried, [&](const auto &slot) { return slot.second.memory == memory; })) {
      // Another argument's buffer, its own or lent to it, which may be overwritten first.
      Scratch saved{allocate(typeOf(next).getElementType(), scratch.layout), scratch.layout};
      copy(next, saved);
      copies.push_back({Value(), saved});
    } else {
      copies.push_back({next, scratch});
    }
  }
  b.setInsertionPoint(yield);
  unsigned at = 0;
  for (auto [i, scratch] : carried) {
    Value next = yield.getOperand(i);
    fillRest(loop.getResult(i), next, scratch);
    auto found = buffers.find({next, scratch.layout.axis});
    if (found != buffers.end() && found->second.memory == scratch.memory)
      continue;
    auto [value, saved] = copies[at++];
    if (value) {
      copy(value, scratch);
      continue;
    }
    forEachVector(scratch.layout, endAlong(next, 1 - scratch.layout.axis),
                  [&, saved = saved, scratch = scratch](Value outer, Value inner) {
                    Value place = b.add(b.mul(outer, saved.layout.pitch), inner);
                    Value vector = b.load(cast<MemRefType>(saved.memory.getType()).getElementType(),
                                          saved.memory, place, lanes);
                    b.store(vector, scratch.memory, place);
                  });
  }
  return success();
}

LogicalResult TileLowering::lowerBranch(scf::IfOp branch) {
  SmallVector<std::pair<unsigned, Scratch>> results;
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    if (!isa<TileType>(result.getType()))
      continue;
    TileLayout layout = layoutOf(result);
    Scratch scratch{allocate(typeOf(result).getElementType(), layout), layout};
    buffers.try_emplace({result, layout.axis}, scratch);
    results.push_back({static_cast<unsigned>(i), scratch});
  }
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    if (failed(lowerBlock(region.front())))
      return failure();
    auto yield = cast<scf::YieldOp>(region.front().getTerminator());
    b.setInsertionPoint(yield);
    for (auto [i, scratch] : results) {
      copy(yield.getOperand(i), scratch);
      fillRest(branch.getResult(i), yield.getOperand(i), scratch);
    }
  }
  return success();
}

/// Whether functions are called for each element.
static bool computes(MapOp map) {
  return map.getBody()
      .walk([](Operation *op) {
        return isa<math::MathDialect>(op->getDialect()) ? WalkResult::interrupt()
                                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult TileLowering::lowerBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    b.setInsertionPoint(&op);
    b.setLoc(op.getLoc());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(lowerLoop(loop)))
        return failure();
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (failed(lowerBranch(branch)))
        return failure();
    } else if (isa<TileDialect>(op.getDialect())) {
      tileOps.push_back(&op);
      if (auto dot = dyn_cast<DotOp>(op)) {
        if (failed(lowerDot(dot)))
          return failure();
      } else if (auto dequantize = dyn_cast<DequantizeOp>(op)) {
        if (failed(lowerDequantize(dequantize)))
          return failure();
      } else if (auto store = dyn_cast<StoreOp>(op)) {
        if (failed(lowerStore(store)))
          return failure();
      } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
        lowerReduce(reduce);
      } else if (auto gather = dyn_cast<GatherOp>(op)) {
        lowerGather(gather);
      } else if (auto cast = dyn_cast<CastOp>(op)) {
        lowerCast(cast);
      } else if (auto extract = dyn_cast<ExtractOp>(op)) {
        LaneValue element =
            read(extract.getTile(), layoutOf(extract.getTile()).axis, b.index(0), b.index(0));
        extract.getElement().replaceAllUsesWith(element.scalar);
      } else if (auto map = dyn_cast<MapOp>(op)) {
        if (isLazy(map))
          continue;
        std::optional<Scratch> donor;
        for (Value input : map.getInputs())
          if (!donor)
            donor = findDonor(input, map, map.getResult().getType());
        TileLayout layout = layoutOf(map);
        // Not known to `read` before it is complete.
        Scratch result =
            donor ? *donor
                  : Scratch{allocate(map.getResult().getType().getElementType(), layout), layout};
        Value end = endAlong(map, 1 - layout.axis);
        b.setInsertionPoint(&op);
        forEachVector(
            layout, end,
            [&](Value outer, Value inner) {
              SmallVector<LaneValue> arguments;
              for (Value input : map.getInputs())
                arguments.push_back(read(input, layout.axis, outer, inner));
              LaneValue element = emitRegion(b, map.getBody(), arguments, lanes);
              write(result, outer, inner, getVector(b, element, lanes));
            },
            computes(map) ? (lanes == 16 ? 2 : 1) : 4);
        buffers.try_emplace({map.getResult(), layout.axis}, result);
      }
    } else if (op.getNumRegions() != 0 && llvm::any_of(op.getRegions(), [](Region &region) {
                 return region
                     .walk([](Operation *inner) {
                       return isa<TileDialect>(inner->getDialect()) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
                     })
                     .wasInterrupted();
               })) {
      return op.emitOpError("holds tiles, and is neither scf.for nor scf.if");
    }
  }
  return success();
}

//===-- The whole ----------------------------------------------------------------------------===//

/// A loop or branch without the tiles that it carried.
static void dropTiles(Operation *op) {
  // What another loop carried is already gone.
  auto isTile = [](Value value) { return !value || isa<TileType>(value.getType()); };
  if (llvm::none_of(op->getResults(), isTile))
    return;
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Operation *yield = region.front().getTerminator();
    SmallVector<Value> kept;
    llvm::copy_if(yield->getOperands(), std::back_inserter(kept),
                  [&](Value value) { return !isTile(value); });
    yield->setOperands(kept);
  }
  OpBuilder builder(op);
  SmallVector<Type> types;
  for (Value result : op->getResults())
    if (!isTile(result))
      types.push_back(result.getType());
  Operation *fresh;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    SmallVector<Value> inits;
    llvm::copy_if(loop.getInitArgs(), std::back_inserter(inits),
                  [&](Value value) { return !isTile(value); });
    auto next = scf::ForOp::create(builder, op->getLoc(), loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), inits);
    Block *body = loop.getBody();
    for (unsigned i = body->getNumArguments(); i-- > 0;) {
      BlockArgument argument = body->getArgument(i);
      if (isTile(argument)) {
        argument.dropAllUses();
        body->eraseArgument(i);
      }
    }
    next.getRegion().takeBody(loop.getRegion());
    fresh = next;
  } else {
    auto branch = cast<scf::IfOp>(op);
    auto next = scf::IfOp::create(builder, op->getLoc(), types, branch.getCondition(),
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
    next.getThenRegion().takeBody(branch.getThenRegion());
    next.getElseRegion().takeBody(branch.getElseRegion());
    fresh = next;
  }
  unsigned i = 0;
  for (OpResult result : op->getResults()) {
    if (isTile(result))
      result.dropAllUses();
    else
      result.replaceAllUsesWith(fresh->getResult(i++));
  }
  op->erase();
}

void TileLowering::eraseTiles() {
  SmallVector<Operation *> control;
  function.walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp>(op))
      control.push_back(op);
  });
  llvm::for_each(control, dropTiles); // inner ones first
  for (Operation *op : tileOps) {
    op->dropAllUses();
    op->erase();
  }
  SmallVector<Operation *> views;
  function.walk([&](Operation *op) {
    if (isa<ViewOp, PackedOp>(op))
      views.push_back(op);
  });
  for (Operation *op : views) {
    op->dropAllUses();
    op->erase();
  }
}

void TileLowering::lowerKernel(KernelOp kernel) {
  b.setInsertionPoint(kernel);
  b.setLoc(kernel.getLoc());
  SmallVector<Value> lower(kernel.getExtents().size(), b.index(0)),
      step(kernel.getExtents().size(), b.index(1));
  auto parallel = scf::ParallelOp::create(b, lower, kernel.getExtents(), step);
  Block &body = kernel.getBody().front(), *target = parallel.getBody();
  body.getTerminator()->erase();
  for (auto [from, to] : llvm::zip(body.getArguments(), target->getArguments()))
    from.replaceAllUsesWith(to);
  target->getOperations().splice(Block::iterator(target->getTerminator()), body.getOperations());
  kernel.erase();
}

Value TileLowering::prepareMatrices() {
  if (!matrixState) {
    OpBuilder::InsertionGuard guard(b);
    Block &body = function.getBody().front();
    b.setInsertionPoint(body.getTerminator());
    matrixAtom->end(b);
    b.setInsertionPointToStart(&body);
    matrixState = matrixAtom->begin(b);
  }
  return matrixState;
}

LogicalResult TileLowering::run() {
  SmallVector<KernelOp> kernels(function.getOps<KernelOp>());
  for (KernelOp kernel : kernels)
    lowerKernel(kernel);
  for (auto parallel : function.getOps<scf::ParallelOp>())
    if (failed(lowerBlock(*parallel.getBody())))
      return failure();
  eraseTiles();
  return success();
}

namespace {
struct TileToVectorsPass : fovea::impl::TileToVectorsPassBase<TileToVectorsPass> {
  using TileToVectorsPassBase::TileToVectorsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.getOps<KernelOp>().empty())
      return;
    std::string level = getVectorLevel(function, target);
    const Level *found = findProcessorLevel(level);
    if (!found) {
      function.emitError("expects a target of vectors, one of ")
          << listProcessorLevels() << ", as an option or as the module's fovea.target, got '"
          << level << "'";
      return signalPassFailure();
    }
    TileLowering lowering(function, found->lanes, getDotAtoms(*found), getMatrixAtom(level),
                          getProductInstructions(*found));
    if (failed(lowering.run()))
      return signalPassFailure();
    ++numKernels;
  }
};
} // namespace
