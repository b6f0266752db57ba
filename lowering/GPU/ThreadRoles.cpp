// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles of warpgroups, and the mbarriers by which a guarded ring's slots change hands (PTX ISA 9.0,
// "mbarrier", "setmaxnreg").
#include "lowering/GPU/ThreadLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// An address in shared memory as instructions take it.
static Value toAddress(Emitter &b, Value pointer) {
  return LLVM::PtrToIntOp::create(b, b.getI32Type(), pointer);
}

/// A full slot is one to which each thread of the producer has copied, or the engine all bytes that
/// one thread has announced; a free one is released by each warp of the consumers.
void ThreadLowering::makeGuards(KernelOp kernel) {
  Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, int32(0));
  when(first, [&] {
    kernel.walk([&](SharedOp op) {
      if (!op.getGuarded())
        return;
      Value base = toAddress(b, get(op.getMemory()));
      for (int64_t slot = 0; slot < static_cast<int64_t>(*op.getStages()); ++slot)
        for (auto [offset, arrivals] :
             {std::pair(int64_t(0), isBulk ? 1 : kWarpgroup),
              std::pair(kMemoryBarrierBytes, (threads - kWarpgroup) / kWarp)}) {
          Value address = add32(base, int32(op.getGuards() + slot * kGuardBytes + offset));
          emitAssembly(b, "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,",
                       {address, int32(arrivals)}, /*count=*/0);
        }
    });
    if (isBulk) // the engine sees them too
      emitAssembly(b, "fence.mbarrier_init.release.cluster;", "", {}, /*count=*/0);
  });
  NVVM::BarrierOp::create(b);
}

static void emitRegisters(Emitter &b, StringRef change, int64_t registers) {
  emitAssembly(b, ("setmaxnreg." + change + ".sync.aligned.u32 " + Twine(registers) + ";").str(),
               "", {}, /*count=*/0);
}

/// The same number, of which LLVM knows nothing: what each point computes of it stays there, and no
/// registers hold it meanwhile.
static Value hide(Emitter &b, Value number) {
  auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  return LLVM::InlineAsmOp::create(b, number.getType(), number, "mov.b32 $0, $1;", "=r,r",
                                   /*has_side_effects=*/true, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, dialect,
                                   /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

/// Points of the grid in turns, each time one for each block; of two turns one forwards and one
/// backwards, so that where points take ever less (`GridOrder`), blocks have about the same to do.
/// They are counted in 32 bits, for 64 are divided by a call.
LogicalResult ThreadLowering::lowerRole(KernelOp kernel, Region &role, ValueRange extents) {
  Value block = NVVM::BlockIdXOp::create(b, b.getI32Type());
  Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  SmallVector<Value> narrow;
  Value total = int32(1);
  for (Value extent : extents) {
    narrow.push_back(b.createOrFold<arith::IndexCastOp>(b.getI32Type(), extent));
    total = b.createOrFold<arith::MulIOp>(total, narrow.back());
  }
  SmallVector<Value> inits(role.getNumArguments(), b.index(0));
  inits.push_back(block);
  auto loop = scf::ForOp::create(b, int32(0), total, blocks, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  ValueRange rounds = loop.getRegionIterArgs().drop_back();
  Value place = loop.getRegionIterArgs().back();
  Value number = add32(loop.getInductionVar(), place);
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, total);
  auto branch = scf::IfOp::create(b, rounds.getTypes(), isInside, /*withElseRegion=*/true);
  SmallVector<Value> yields(branch.getResults());
  Value last = arith::SubIOp::create(b, blocks, int32(1));
  yields.push_back(arith::SubIOp::create(b, last, place));
  scf::YieldOp::create(b, yields);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, rounds);
  b.setInsertionPointToStart(branch.thenBlock());
  for (auto [argument, index] :
       llvm::zip(kernel.getBody().getArguments(), getIndices(number, narrow, GridOrder(kernel))))
    mapping.map(argument, toIndex(index));
  mapping.map(role.getArguments(), rounds);
  // Digits too are each point's own.
  llvm::SaveAndRestore mine(thread, hide(b, thread));
  threadAtEntry = thread;
  lastAtEntry = thread.getDefiningOp();
  digits.clear();
  parts.clear();
  if (failed(lowerBlock(role.front())))
    return failure();
  scf::YieldOp::create(b, flatten(role.front().getTerminator()->getOperands()));
  return success();
}

LogicalResult ThreadLowering::lowerRoles(KernelOp kernel, WarpSpecializeOp op, ValueRange extents) {
  int64_t consumers = threads - kWarpgroup;
  if (consumers <= 0 || threads % kWarpgroup != 0)
    return op.emitOpError("expects whole warpgroups, one of them the producer, got ")
           << threads << " threads";
  for (Operation &other : kernel.getBody().front().without_terminator()) {
    if (&other == op)
      continue;
    if (!isa<SharedOp>(other))
      return other.emitOpError("expects to stand in a role: beside them a kernel has shared "
                               "memory alone");
    if (failed(lowerOp(&other)))
      return failure();
  }
  op.getProducer().walk([&](CopyOp copy) { isBulk |= copy.getMap().has_value(); });
  makeGuards(kernel);
  Value isProducer = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, thread, int32(consumers));
  auto branch = scf::IfOp::create(b, isProducer, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  llvm::SaveAndRestore all(threads);
  llvm::SaveAndRestore part(isPart, true);
  b.setInsertionPointToStart(branch.thenBlock());
  emitRegisters(b, "dec", op.getProducerRegisters());
  {
    llvm::SaveAndRestore mine(thread, b.createOrFold<arith::SubIOp>(thread, int32(consumers)));
    threads = kWarpgroup;
    Value isOne;
    if (isBulk)
      isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, thread, int32(0));
    LogicalResult result = success();
    when(isOne, [&] { result = lowerRole(kernel, op.getProducer(), extents); });
    if (failed(result))
      return failure();
  }
  threads = consumers;
  b.setInsertionPointToStart(branch.elseBlock());
  emitRegisters(b, "inc", op.getConsumerRegisters());
  return lowerRole(kernel, op.getConsumer(), extents);
}

//===-- Rings --------------------------------------------------------------------------------===//

static int64_t getStages(Value ring) { return *ring.getDefiningOp<SharedOp>().getStages(); }

Value ThreadLowering::slotOf(Value ring, Value round) {
  Value narrow = b.createOrFold<arith::IndexCastOp>(b.getI32Type(), get(round));
  return b.createOrFold<arith::RemUIOp>(narrow, int32(::getStages(ring)));
}

Value ThreadLowering::guardOf(Value ring, Value round, bool isFree) {
  int64_t first = ring.getDefiningOp<SharedOp>().getGuards() + (isFree ? kMemoryBarrierBytes : 0);
  Value at = add32(mul32(slotOf(ring, round), kGuardBytes), int32(first));
  return add32(toAddress(b, get(ring)), at);
}

void ThreadLowering::waitFor(Value guard, Value ring, Value round, int64_t more) {
  Value narrow = b.createOrFold<arith::IndexCastOp>(b.getI32Type(), get(round));
  Value turn = b.createOrFold<arith::DivUIOp>(narrow, int32(::getStages(ring)));
  Value parity = b.createOrFold<arith::AndIOp>(add32(turn, int32(more)), int32(1));
  emitAssembly(b,
               "{\n\t.reg .pred done;\nagain:\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n\t@!done bra again;\n\t}",
               "r,r,", {guard, parity}, /*count=*/0);
}

Value ThreadLowering::takeSlot(Value ring, Value round, bool isFree) {
  waitFor(guardOf(ring, round, isFree), ring, round, /*more=*/isFree ? 1 : 0);
  Value number = b.createOrFold<arith::ExtUIOp>(b.getI64Type(), slotOf(ring, round));
  return slotPointer(ring, number);
}

/// Of a new mbarrier the phase before the first is over, and so all slots are free.
LogicalResult ThreadLowering::lower(ProducerAcquireOp op) {
  mapping.map(op.getMemory(), takeSlot(op.getRing(), op.getRound(), /*isFree=*/true));
  return success();
}

static int64_t countPanels(SharedType type) {
  return llvm::divideCeil(type.getColumns(), type.getPanel());
}
/// Of all boxes of a slot.
static int64_t getBoxBytes(SharedType type) {
  return countPanels(type) * type.getRows() * type.getPanel() * type.getElementBytes();
}

/// Whether the producer's threads write to the ring themselves.
static bool isConverted(Value ring) {
  return llvm::any_of(ring.getUsers(), [](Operation *user) {
    return isa<ProducerAcquireOp>(user) && llvm::any_of(user->getUsers(), [](Operation *writer) {
             auto copy = dyn_cast<CopyOp>(writer);
             return copy && copy.converts();
           });
  });
}

LogicalResult ThreadLowering::lower(ProducerCommitOp op) {
  Value guard = guardOf(op.getRing(), op.getRound(), /*isFree=*/false);
  if (isBulk)
    emitAssembly(b, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,",
                 {guard, int32(getBoxBytes(op.getRing().getType()))}, /*count=*/0);
  else if (isConverted(op.getRing()))
    emitAssembly(b, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,", {guard}, /*count=*/0);
  else
    emitAssembly(b, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r,", {guard},
                 /*count=*/0);
  return success();
}

/// The slot's mbarrier hears of the bytes. PTX 8.0 knows shared memory as a target by the cluster's
/// name only; a block alone is one.
LogicalResult ThreadLowering::copyBoxes(CopyOp op) {
  auto slot = op.getMemory().getDefiningOp<ProducerAcquireOp>();
  auto view = op.getView().getDefiningOp<ViewOp>();
  size_t number = *op.getMap();
  if (!slot || !view || number >= maps.size())
    return op.emitOpError("expects one of the kernel's ")
           << maps.size() << " tensor maps and a slot of a guarded ring, got map " << number;
  auto narrow = [&](Value index) {
    return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), index);
  };
  SharedType type = op.getMemory().getType();
  int64_t rank = cast<MemRefType>(view.getMemory().getType()).getRank(), next = 0;
  SmallVector<Value> place; // the last axis first, as the engine counts
  for (int64_t axis = 0; axis < rank; ++axis) {
    bool isRows = axis == view.getAxes()[0], isColumns = axis == view.getAxes()[1];
    place.insert(place.begin(), narrow(get(isRows      ? op.getRow()
                                           : isColumns ? op.getColumn()
                                                       : view.getAt()[next++])));
  }
  Value guard = guardOf(slot.getRing(), slot.getRound(), /*isFree=*/false);
  // Not by the slot's pointer, whose 64 bits would be counted on from round to round.
  int64_t slotBytes = slot.getRing().getDefiningOp<SharedOp>().getSlotBytes();
  Value first = add32(toAddress(b, get(slot.getRing())),
                      mul32(slotOf(slot.getRing(), slot.getRound()), slotBytes));
  std::string text = "cp.async.bulk.tensor." + std::to_string(rank) +
                     "d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {";
  std::string constraints = "r,l,r,";
  for (int64_t axis = 0; axis < rank; ++axis) {
    text += (axis ? ", $" : "$") + std::to_string(3 + axis);
    constraints += "r,";
  }
  text += "}], [$2];";
  for (int64_t panel = 0; panel < countPanels(type); ++panel) {
    int64_t bytes = panel * type.getPanelStride() * type.getElementBytes();
    SmallVector<Value> operands{add32(first, int32(bytes)), maps[number], guard};
    llvm::append_range(operands, place);
    operands[3] = b.createOrFold<arith::AddIOp>(place[0], int32(panel * type.getPanel()));
    emitAssembly(b, text, constraints, operands, /*count=*/0);
  }
  return success();
}

/// cp.async and threads write alike: wgmma needs the fence.
LogicalResult ThreadLowering::lower(ConsumerWaitOp op) {
  mapping.map(op.getMemory(), takeSlot(op.getRing(), op.getRound(), /*isFree=*/false));
  if (hasWarpgroups && !isBulk)
    emitProxyFence();
  return success();
}

/// wgmma reads for all of a warp; what its threads read themselves, all of them must have.
static bool isReadByThreads(Value ring) {
  return llvm::any_of(ring.getUsers(), [](Operation *user) {
    return isa<ConsumerWaitOp>(user) && llvm::any_of(user->getUsers(), [](Operation *reader) {
             auto product = dyn_cast<MmaOp>(reader);
             return !product || product.getAtom() != Atom::M64K16;
           });
  });
}

LogicalResult ThreadLowering::lower(ConsumerReleaseOp op) {
  if (isReadByThreads(op.getRing()))
    NVVM::SyncWarpOp::create(b, int32(-1));
  Value lane = b.createOrFold<arith::AndIOp>(thread, int32(kWarp - 1));
  Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, int32(0));
  Value guard = guardOf(op.getRing(), op.getRound(), /*isFree=*/true);
  when(first, [&] {
    emitAssembly(b, "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,", {guard}, /*count=*/0);
  });
  return success();
}
