// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warpgroup that only copies (warp specialization). The pass's text says what it leaves as it is.
#include "abi/Abi.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/Entries/Entries.h"
#include "lowering/GPU/GPU.h"
#include "lowering/GPU/Registers.h"
#include "lowering/GPU/RingCopies.h"
#include "lowering/GPU/SharedPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// What a thread of each role may have, by the number of warpgroups that compute and by whether one
/// thread hands the copies to the memory's engine: all of a multiprocessor's 64 Ki registers.
struct RoleRegisters {
  int64_t consumers;
  bool bulk;
  int64_t producer, consumer;
};
static constexpr RoleRegisters kRegisters[] = {
    {2, true, 40, 232}, {2, false, 56, 224}, {3, true, 32, 160}, {3, false, 56, 152}};

/// A ring has no use of more slots: the copies of so many rounds keep memory busy.
static constexpr int64_t kMostStages = 4;

namespace {

/// What a region computes for some of its ops, and the results of loops and branches that this
/// needs.
class Slice {
public:
  explicit Slice(Region &region) : region(region) {}
  void add(Operation *op);
  /// Whether nothing of it is of tiles, or has an effect that `add` did not ask for.
  bool isScalar() const;
  /// Its copy.
  void clone(Block &from, OpBuilder &b, IRMapping &mapping) const;

private:
  void addOp(Operation *op);
  void addValue(Value value);
  /// What a loop carries, or a branch gives.
  void addResult(Operation *op, unsigned number);
  SmallVector<unsigned> getLive(Operation *op) const;

  Region &region;
  llvm::SmallDenseSet<Operation *> asked;
  llvm::SmallDenseSet<Operation *> ops;
  llvm::SmallDenseSet<std::pair<Operation *, unsigned>> results;
};

/// One kernel's loops, whose copies go to rings.
class Roles {
public:
  explicit Roles(KernelOp kernel) : kernel(kernel) {}
  /// Whether there are loops whose copies another warpgroup can make.
  bool find();
  /// With the registers for so many warpgroups that compute. False if what the producer needs is
  /// not its own to compute.
  bool rewrite(int64_t stages, int64_t consumers);
  /// Of the kernel; none if copies are made by all of the producer's threads.
  ArrayRef<Attribute> getTensorMaps() const { return maps.getArrayRef(); }

private:
  /// Loops that copy matrices of the same types share rings: what one of them leaves, the next goes
  /// on with.
  struct Group {
    SmallVector<Type> types;
    SmallVector<SharedOp> rings;
  };
  struct Loop {
    SmallVector<RingCopy> copies;
    SmallVector<TensorMapAttr> maps; ///< of the copies; null for one without
    size_t group;
  };
  /// Makes the block's copies go through rings; `rounds` are those that each group has done before,
  /// and becomes those behind it.
  void thread(Block &block, SmallVectorImpl<Value> &rounds);
  void thread(scf::ForOp loop, Loop &found, SmallVectorImpl<Value> &rounds);
  void thread(scf::ForOp loop, SmallVectorImpl<Value> &rounds);
  void thread(scf::IfOp branch, SmallVectorImpl<Value> &rounds);

  KernelOp kernel;
  llvm::SmallDenseMap<Operation *, Loop> loops;
  llvm::SmallDenseSet<Operation *> holders; ///< ops in the kernel that are such loops or hold one
  bool bulk = true;                         ///< every copy has a tensor map
  llvm::SetVector<Attribute> maps;
  SmallVector<Group> groups;
};

} // namespace

//===-- Slices -------------------------------------------------------------------------------===//

void Slice::add(Operation *op) {
  asked.insert(op);
  addOp(op);
}

void Slice::addOp(Operation *op) {
  if (!region.isAncestor(op->getParentRegion()) || !ops.insert(op).second)
    return;
  // Of a loop its bounds and step; what it carries is asked for by number.
  auto needed = isa<scf::ForOp>(op) ? op->getOperands().take_front(3) : op->getOperands();
  for (Value operand : needed)
    addValue(operand);
  addOp(op->getParentOp());
}

void Slice::addValue(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument != loop.getInductionVar())
      addResult(loop, argument.getArgNumber() - loop.getNumInductionVars());
    return;
  }
  Operation *op = value.getDefiningOp();
  if (isa<scf::ForOp, scf::IfOp>(op) && region.isAncestor(op->getParentRegion()))
    return addResult(op, cast<OpResult>(value).getResultNumber());
  addOp(op);
}

void Slice::addResult(Operation *op, unsigned number) {
  if (!results.insert({op, number}).second)
    return;
  addOp(op);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    addValue(loop.getInitArgs()[number]);
  for (Region &inner : op->getRegions())
    addValue(inner.front().getTerminator()->getOperand(number));
}

bool Slice::isScalar() const {
  return llvm::all_of(ops, [&](Operation *op) {
    if (asked.contains(op) || isa<scf::ForOp, scf::IfOp>(op))
      return true;
    return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
           llvm::none_of(op->getOperandTypes(), llvm::IsaPred<TileType>);
  });
}

SmallVector<unsigned> Slice::getLive(Operation *op) const {
  SmallVector<unsigned> live;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (results.contains({op, i}))
      live.push_back(i);
  return live;
}

void Slice::clone(Block &from, OpBuilder &b, IRMapping &mapping) const {
  for (Operation &op : from.without_terminator()) {
    if (!ops.contains(&op))
      continue;
    if (!isa<scf::ForOp, scf::IfOp>(op)) {
      b.clone(op, mapping);
      continue;
    }
    SmallVector<unsigned> live = getLive(&op);
    auto choose = [&](auto values) {
      return llvm::map_to_vector(live, [&](unsigned i) { return values[i]; });
    };
    auto cloneBody = [&](Region &inner, Block *to) {
      OpBuilder::InsertionGuard guard(b);
      if (!to->empty())
        to->back().erase();
      b.setInsertionPointToEnd(to);
      clone(inner.front(), b, mapping);
      SmallVector<Value> yields;
      for (Value value : choose(inner.front().getTerminator()->getOperands()))
        yields.push_back(mapping.lookupOrDefault(value));
      scf::YieldOp::create(b, op.getLoc(), yields);
    };
    Operation *made;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      SmallVector<Value> inits = llvm::map_to_vector(
          choose(loop.getInitArgs()), [&](Value init) { return mapping.lookupOrDefault(init); });
      auto copy = scf::ForOp::create(b, op.getLoc(), mapping.lookupOrDefault(loop.getLowerBound()),
                                     mapping.lookupOrDefault(loop.getUpperBound()),
                                     mapping.lookupOrDefault(loop.getStep()), inits);
      mapping.map(loop.getInductionVar(), copy.getInductionVar());
      mapping.map(choose(loop.getRegionIterArgs()), copy.getRegionIterArgs());
      cloneBody(loop.getRegion(), copy.getBody());
      made = copy;
    } else {
      auto branch = cast<scf::IfOp>(op);
      bool otherwise = !branch.getElseRegion().empty();
      auto copy =
          scf::IfOp::create(b, op.getLoc(),
                            llvm::map_to_vector(choose(op.getResults()),
                                                [](Value result) { return result.getType(); }),
                            mapping.lookupOrDefault(branch.getCondition()), otherwise);
      cloneBody(branch.getThenRegion(), copy.thenBlock());
      if (otherwise)
        cloneBody(branch.getElseRegion(), copy.elseBlock());
      made = copy;
    }
    mapping.map(choose(op.getResults()), made->getResults());
  }
}

//===-- Tensor maps --------------------------------------------------------------------------===//

/// Of a copy whose view is of one of the kernel's operands, dense, and with rows at multiples of 16
/// bytes; null for others.
static TensorMapAttr findTensorMap(CopyOp copy) {
  auto view = copy.getView().getDefiningOp<ViewOp>();
  SharedType type = copy.getMemory().getType();
  auto operand = view ? dyn_cast<BlockArgument>(view.getMemory()) : BlockArgument();
  auto isOperand = [](BlockArgument argument) {
    return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  };
  if (!isOperand(operand) || !type.getSwizzle() || type.getFastAxis() != 1)
    return {};
  auto memory = cast<MemRefType>(operand.getType());
  ArrayRef<int64_t> axes = view.getAxes();
  int64_t last = memory.getRank() - 1, length = -1;
  if (!memory.getLayout().isIdentity() || last > 4 || axes.size() != 2 || axes[1] != last)
    return {};
  int64_t bytes = type.getElementBytes();
  for (int64_t axis = last; axis > 0; --axis) {
    bytes *= memory.isDynamicDim(axis) ? 1 : memory.getDimSize(axis);
    if (bytes % 16 != 0)
      return {};
  }
  if (Value given = view.getLength()) {
    auto argument = dyn_cast<BlockArgument>(given);
    if (!isOperand(argument))
      return {};
    length = argument.getArgNumber();
  }
  constexpr int64_t kMostOfBox = 256;
  // The last panel may reach beyond the operand's rows, where zeros are, but not into more of them.
  if (type.getRows() > kMostOfBox ||
      (type.getColumns() % type.getPanel() != 0 && type.getColumns() != memory.getDimSize(last)))
    return {};
  return TensorMapAttr::get(copy.getContext(), operand.getArgNumber(), axes[0], type.getRows(),
                            type.getPanel(), type.getSwizzle(), length);
}

//===-- Roles --------------------------------------------------------------------------------===//

bool Roles::find() {
  kernel.walk([&](scf::ForOp loop) {
    SmallVector<RingCopy> copies = findRingCopies(loop);
    bool isInner = true, isReached = true;
    for (Operation *parent = loop->getParentOp(); parent != kernel; parent = parent->getParentOp())
      isReached &= isa<scf::ForOp, scf::IfOp>(parent);
    loop.getBody()->walk([&](scf::ForOp inner) { isInner &= !loops.contains(inner); });
    if (copies.empty() || !isInner || !isReached)
      return;
    SmallVector<Type> types = llvm::map_to_vector(
        copies, [](RingCopy &copy) -> Type { return copy.memory.getMemory().getType(); });
    size_t group =
        llvm::find_if(groups, [&](Group &one) { return one.types == types; }) - groups.begin();
    if (group == groups.size())
      groups.push_back({types, {}});
    SmallVector<TensorMapAttr> own =
        llvm::map_to_vector(copies, [](RingCopy &copy) { return findTensorMap(copy.copy); });
    for (TensorMapAttr map : own) {
      bulk &= map && (maps.contains(map) || maps.size() < FOVEA_MAX_LAUNCH_MAPS);
      if (bulk)
        maps.insert(map);
    }
    loops.try_emplace(loop, Loop{std::move(copies), std::move(own), group});
    for (Operation *op = loop; op != kernel; op = op->getParentOp())
      holders.insert(op);
  });
  if (loops.empty())
    return false;
  if (!bulk)
    maps.clear();
  // What the producer is ahead of must not write what it reads.
  Operation *last = nullptr;
  for (Operation &op : kernel.getBody().front())
    if (holders.contains(&op))
      last = &op;
  return llvm::all_of(kernel.getBody().front(), [&](Operation &op) {
    return last->isBeforeInBlock(&op) || writesNothing(&op);
  });
}

void Roles::thread(scf::ForOp loop, Loop &found, SmallVectorImpl<Value> &rounds) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  Value one = arith::ConstantIndexOp::create(rewriter, loop.getLoc(), 1);
  Value &round = rounds[found.group];
  auto makeYields = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> number) {
    return SmallVector<Value>{arith::AddIOp::create(b, loc, number.front(), one)};
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, round, /*replaceInitOperandUsesInLoop=*/false, makeYields));
  round = loop.getResults().back();
  Value number = loop.getRegionIterArgs().back();
  for (auto [copy, map, op] : llvm::zip(found.copies, found.maps, groups[found.group].rings)) {
    Value ring = op.getMemory();
    ImplicitLocOpBuilder b(copy.copy.getLoc(), copy.copy);
    Value slot = ProducerAcquireOp::create(b, ring.getType(), ring, number);
    auto made = CopyOp::create(b, copy.copy.getView(), copy.copy.getRow(), copy.copy.getColumn(),
                               slot, copy.copy.getScales(), /*async=*/true);
    if (bulk)
      made.setMap(llvm::find(maps, map) - maps.begin());
    ProducerCommitOp::create(b, ring, number);
    copy.copy.erase();
    Operation *first = nullptr, *last = nullptr;
    for (Operation *user : copy.memory->getUsers()) {
      Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
      first = !first || inBody->isBeforeInBlock(first) ? inBody : first;
      last = !last || last->isBeforeInBlock(inBody) ? inBody : last;
    }
    if (first) {
      b.setInsertionPoint(first);
      Value full = ConsumerWaitOp::create(b, ring.getType(), ring, number);
      copy.memory.getMemory().replaceAllUsesWith(full);
      b.setInsertionPointAfter(last);
    }
    ConsumerReleaseOp::create(b, ring, number);
    copy.memory.erase();
  }
}

void Roles::thread(scf::ForOp loop, SmallVectorImpl<Value> &rounds) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  size_t carried = loop.getNumResults();
  auto makeYields = [&](OpBuilder &, Location, ArrayRef<BlockArgument> numbers) {
    return SmallVector<Value>(numbers);
  };
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, rounds, /*replaceInitOperandUsesInLoop=*/false, makeYields));
  SmallVector<Value> inside(loop.getRegionIterArgs().drop_front(carried));
  thread(*loop.getBody(), inside);
  loop.getBody()->getTerminator()->setOperands(carried, inside.size(), inside);
  rounds.assign(loop.result_begin() + carried, loop.result_end());
}

void Roles::thread(scf::IfOp branch, SmallVectorImpl<Value> &rounds) {
  ImplicitLocOpBuilder b(branch.getLoc(), branch);
  size_t given = branch.getNumResults();
  SmallVector<Type> types(branch.getResultTypes());
  llvm::append_range(types, TypeRange(rounds));
  auto made = scf::IfOp::create(b, types, branch.getCondition(), /*withElseRegion=*/true);
  for (auto [from, to] : llvm::zip(branch->getRegions(), made->getRegions())) {
    SmallVector<Value> inside(rounds.begin(), rounds.end());
    if (!from.empty()) {
      to.takeBody(from);
      thread(to.front(), inside);
      Operation *yield = to.front().getTerminator();
      yield->insertOperands(given, inside);
    } else {
      b.setInsertionPointToEnd(&to.front());
      scf::YieldOp::create(b, inside);
    }
  }
  branch->replaceAllUsesWith(made->getResults().take_front(given));
  branch.erase();
  rounds.assign(made->result_begin() + given, made->result_end());
}

void Roles::thread(Block &block, SmallVectorImpl<Value> &rounds) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!holders.contains(&op))
      continue;
    auto found = loops.find(&op);
    if (found != loops.end()) {
      thread(cast<scf::ForOp>(op), found->second, rounds);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      thread(loop, rounds);
    } else {
      thread(cast<scf::IfOp>(op), rounds);
    }
  }
}

bool Roles::rewrite(int64_t stages, int64_t consumers) {
  const RoleRegisters *registers = llvm::find_if(kRegisters, [&](const RoleRegisters &one) {
    return one.consumers == consumers && one.bulk == bulk;
  });
  if (registers == std::end(kRegisters))
    return false;
  Block &body = kernel.getBody().front();
  ImplicitLocOpBuilder b(kernel.getLoc(), OpBuilder::atBlockBegin(&body));
  for (Group &group : groups)
    for (Type type : group.types)
      group.rings.push_back(SharedOp::create(b, cast<SharedType>(type), IntegerAttr(),
                                             b.getI64IntegerAttr(stages), IntegerAttr(),
                                             b.getUnitAttr()));
  auto roles = WarpSpecializeOp::create(b, registers->producer, registers->consumer);
  SmallVector<Type> types(groups.size(), b.getIndexType());
  SmallVector<Location> locations(groups.size(), kernel.getLoc());
  Block *producer = b.createBlock(&roles.getProducer(), {}, types, locations);
  Block *consumer = b.createBlock(&roles.getConsumer(), {}, types, locations);
  for (Operation &op : llvm::make_early_inc_range(
           llvm::make_range(std::next(roles->getIterator()), body.getTerminator()->getIterator())))
    if (isa<SharedOp>(op))
      op.moveBefore(roles);
    else
      op.moveBefore(consumer, consumer->end());
  SmallVector<Value> rounds(consumer->getArguments());
  thread(*consumer, rounds);
  b.setInsertionPointToEnd(consumer);
  auto yield = tile::YieldOp::create(b, rounds);

  Slice slice(roles.getConsumer());
  SmallVector<Operation *> copies;
  roles.getConsumer().walk([&](Operation *op) {
    auto copy = dyn_cast<CopyOp>(op);
    if (isa<ProducerAcquireOp, ProducerCommitOp>(op) ||
        (copy && copy.getMemory().getDefiningOp<ProducerAcquireOp>()))
      copies.push_back(op);
  });
  for (Operation *op : copies)
    slice.add(op);
  slice.add(yield);
  if (!slice.isScalar())
    return false;
  IRMapping mapping;
  mapping.map(consumer->getArguments(), producer->getArguments());
  b.setInsertionPointToEnd(producer);
  slice.clone(*consumer, b, mapping);
  b.clone(*yield, mapping);
  for (Operation *op : llvm::reverse(copies))
    op->erase();
  return true;
}

namespace {
struct SpecializeWarpsPass : fovea::impl::SpecializeWarpsPassBase<SpecializeWarpsPass> {
  using SpecializeWarpsPassBase::SpecializeWarpsPassBase;

  /// With the most stages that fit. Whether it has roles.
  bool runOn(KernelOp kernel) {
    func::FuncOp function = getOperation();
    int64_t threads = getThreads(function);
    for (int64_t stages = kMostStages; stages >= 2; --stages) {
      OpBuilder builder(kernel);
      auto copy = cast<KernelOp>(builder.clone(*kernel));
      Roles roles(copy);
      bool made = roles.find() && roles.rewrite(stages, threads / kWarpgroup);
      if (made && SharedPlan(copy).bytes <= limit) {
        kernel.erase();
        function->setAttr(FoveaDialect::kThreadsAttr,
                          builder.getI32IntegerAttr(threads + kWarpgroup));
        function->setAttr(FoveaDialect::kPersistentAttr, builder.getUnitAttr());
        if (!roles.getTensorMaps().empty())
          function->setAttr(FoveaDialect::kTensorMapsAttr,
                            builder.getArrayAttr(roles.getTensorMaps()));
        return true;
      }
      copy.erase();
      if (!made)
        return false;
    }
    return false;
  }

  void runOnOperation() override {
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>()))
      if (runOn(kernel))
        ++kernels;
  }
};
} // namespace
