// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of fovea-tile-to-threads: one kernel's tile program, written anew as one thread's code.
// Structure is in TileToThreads.cpp, the other ops by family in Thread*.cpp.
#ifndef FOVEA_LOWERING_GPU_THREADLOWERING_H
#define FOVEA_LOWERING_GPU_THREADLOWERING_H

#include "lowering/GPU/GPU.h"
#include "lowering/GPU/GridOrder.h"
#include "lowering/GPU/Registers.h"
#include "lowering/GPU/Vectors.h"
#include "lowering/Tile/Emitter.h"
#include "lowering/Tile/TileMemory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include <functional>
#include <map>

namespace mlir::fovea {

/// Indices within a kernel are 64 bits wide, what is said of threads 32.
class ThreadLowering {
public:
  /// `shared` is the global of the block's shared memory.
  ThreadLowering(func::FuncOp function, Block *entry, LLVM::GlobalOp shared);
  /// Writes all ops of the function into the block. Fails after an error.
  LogicalResult run();

  bool hasKernel = false;
  int64_t sharedBytes = 0;

private:
  friend class TensorProduct;
  friend class WarpgroupProduct;

  //===-- Structure -----------------------------------------------------------------------===//

  /// All ops but the terminators of loops, branches and kernels.
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation *op);
  LogicalResult lower(tile::KernelOp op);
  LogicalResult lower(scf::ParallelOp op);
  LogicalResult lower(scf::ForOp op);
  LogicalResult lower(scf::IfOp op);
  /// The indices of iteration `number` of a nest.
  SmallVector<Value> getIndices(Value number, ValueRange extents, const GridOrder &order);
  /// Runs `body` with the indices of iteration `number` of a nest with these extents, if there is
  /// such a one.
  LogicalResult withIndices(Value number, ValueRange extents, const GridOrder &order,
                            function_ref<LogicalResult(ValueRange)> body);

  //===-- Transfers -----------------------------------------------------------------------===//

  LogicalResult lower(tile::ViewOp op) { return lowerView(op); }
  LogicalResult lower(tile::PackedOp op) { return lowerView(op); }
  LogicalResult lowerView(Operation *op);
  LogicalResult lower(tile::LoadOp op);
  LogicalResult lower(tile::GatherOp op);
  LogicalResult lower(tile::StoreOp op);
  LogicalResult lower(tile::SharedOp op);
  LogicalResult lower(tile::CopyOp op);
  class TileCopy;
  LogicalResult lower(tile::LocalStoreOp op);
  LogicalResult lower(tile::LocalLoadOp op);
  LogicalResult lower(tile::BarrierOp op);
  LogicalResult lower(tile::StageOp op);
  LogicalResult lower(tile::AsyncCommitOp op);
  LogicalResult lower(tile::AsyncWaitOp op);

  //===-- Roles ---------------------------------------------------------------------------===//

  LogicalResult lower(tile::ProducerAcquireOp op);
  LogicalResult lower(tile::ProducerCommitOp op);
  LogicalResult lower(tile::ConsumerWaitOp op);
  LogicalResult lower(tile::ConsumerReleaseOp op);
  /// By the memory's engine, a panel at a time.
  LogicalResult copyBoxes(tile::CopyOp op);
  /// Makes the mbarriers of a kernel's guarded rings, which all threads see behind it.
  void makeGuards(tile::KernelOp kernel);
  /// A kernel of roles, whose blocks do several points of the grid.
  LogicalResult lowerRoles(tile::KernelOp kernel, tile::WarpSpecializeOp roles, ValueRange extents);
  LogicalResult lowerRole(tile::KernelOp kernel, Region &role, ValueRange extents);
  /// The slot of a round of a guarded ring, and the address of one of its mbarriers: whether it is
  /// full, or whether it is free.
  Value slotOf(Value ring, Value round);
  Value guardOf(Value ring, Value round, bool isFree);
  /// A slot of a round, waited for: until it is free, or until it is full.
  Value takeSlot(Value ring, Value round, bool isFree);
  /// Waits for the phase of an mbarrier that so many whole turns around the ring came before.
  void waitFor(Value guard, Value ring, Value round, int64_t more);

  //===-- Elements ------------------------------------------------------------------------===//

  LogicalResult lower(tile::MapOp op);
  LogicalResult lower(tile::ReduceOp op);
  LogicalResult lower(tile::BroadcastOp op);
  LogicalResult lower(tile::ExtractOp op);
  LogicalResult lower(tile::SplatOp op);
  LogicalResult lower(tile::IotaOp op);
  LogicalResult lower(tile::CastOp op);
  Value shuffle(Value value, int64_t distance);
  Value join(tile::ReduceKind kind, Value l, Value r);
  /// Makes of each of a thread's parts what it and those of other threads are together: all write
  /// theirs to `scratch`, and each joins those of `holders`, threads by number, in their order.
  LogicalResult meet(Operation *op, MutableArrayRef<Value> parts,
                     TypedValue<tile::SharedType> scratch, ArrayRef<Value> holders,
                     tile::ReduceKind kind);

  //===-- Products ------------------------------------------------------------------------===//

  LogicalResult lower(tile::DequantizeOp op);
  /// What integers stand for: `values[i] * 2^-shifts[i]`, of f32.
  struct Numbers {
    SmallVector<Value> values;
    SmallVector<int64_t> shifts;
  };
  /// Integers of 4 or 8 bits, one or a vector.
  Numbers toNumbers(Value integers);
  SmallVector<Value> toFloats(Numbers numbers);
  /// Elements at places from (row, column) on, each times the scale of its group along its row.
  SmallVector<Value> scale(Numbers numbers, ArrayRef<std::array<int64_t, 2>> places,
                           const ViewMemory &scales, int64_t group, Value row, Value column);
  LogicalResult lower(tile::MmaOp op);
  LogicalResult lowerByWarps(tile::MmaOp op);
  LogicalResult lowerByWarpgroups(tile::MmaOp op);
  LogicalResult lower(tile::MmaWaitOp op);
  /// The elements of an operand at depths `k` to `k + count - 1`, each of them all that a thread's
  /// registers along an axis of the result need: `axis` is the operand's own one that is not depth.
  /// `k` is a multiple of `count`.
  struct DepthReader {
    std::function<SmallVector<SmallVector<Value>>(Value k, int64_t count)> read;
    /// How many depths one instruction reads if it may.
    int64_t width = 1;
  };
  using DepthFunction = std::function<SmallVector<SmallVector<Value>>(Value k, int64_t count)>;
  DepthReader readInRuns(DepthFunction read, int64_t width, Type sum);
  /// Of a product with this result, from shared memory; `outer` is the operand's axis that is not
  /// depth.
  DepthReader readShared(tile::TileType result, Value operand, int64_t axis, int64_t outer);
  struct MemoryOperand;
  FailureOr<MemoryOperand> findOperand(Value operand, int64_t outer);
  SmallVector<Value> readRun(const MemoryOperand &from, int64_t outer, Value at, Value along,
                             Value k, int64_t width);
  FailureOr<DepthReader> readMemory(tile::TileType result, Value operand, int64_t axis,
                                    int64_t outer, Value &depth);
  FailureOr<DepthReader> readOperand(tile::MmaOp op, Value operand, int64_t axis, Value &depth);

  //===-- Values --------------------------------------------------------------------------===//

  /// What stands for a value that is no tile.
  Value get(Value old) { return mapping.lookup(old); }
  ValueRange getTile(Value old) { return tiles.find(old)->second; }
  void define(Value old, SmallVector<Value> registers) { tiles[old] = std::move(registers); }
  /// What stands for values in their order where they are carried: a tile's registers, halves two
  /// by two as a register of 32 bits holds them, or the one value of what is no tile.
  SmallVector<Value> flatten(ValueRange values);
  SmallVector<Type> flatten(TypeRange types);
  /// Makes `values` stand for `flat`, in that order.
  void unflatten(ValueRange values, ValueRange flat);
  FailureOr<const ViewMemory *> getView(Operation *op, Value view);
  /// Fails with an error at `op` for a tile without a layout or with one of more threads.
  LogicalResult checkLayout(Operation *op, tile::TileType type);

  //===-- Threads -------------------------------------------------------------------------===//

  /// Emits at the function's beginning, once.
  Value atEntry(function_ref<Value()> make);
  /// Digit of this thread's number, as i32.
  Value digit(tile::LayoutAttr::Digit digit);
  /// What this thread adds to places along the axis, as i32 or index.
  Value part32(tile::LayoutAttr layout, int64_t axis);
  Value part(tile::LayoutAttr layout, int64_t axis);
  /// Whether this is the first of the threads that hold the same elements by these digits. Null if
  /// there are no others.
  Value isFirst(ArrayRef<tile::LayoutAttr::Digit> digits);
  Value isOwner(tile::LayoutAttr layout);
  /// Whether a register's place is the tile's; null if surely.
  Value isInside(tile::TileType type, const TileRegisters &registers, int64_t axis, int64_t number);
  Value isInside(tile::TileType type, const TileRegisters &registers, int64_t index);
  /// What was written to shared memory before it, all threads see behind it, and wgmma does.
  void emitBarrier();
  /// What is seen of shared memory, wgmma sees.
  void emitProxyFence();

  //===-- Conditions ----------------------------------------------------------------------===//

  /// Both; a null condition is surely true.
  Value both(Value l, Value r);
  /// `body` where the condition holds, else zeros.
  SmallVector<Value> where(Value condition, TypeRange types,
                           function_ref<SmallVector<Value>()> body,
                           function_ref<SmallVector<Value>()> otherwise = nullptr);
  void when(Value condition, function_ref<void()> body);
  /// `0 <= index < bound`.
  Value isBelow(Value index, Value bound);

  //===-- Memory --------------------------------------------------------------------------===//

  /// Whether that many rows and columns from the place on are in the view; null: surely.
  Value isAllInside(const ViewMemory &view, Value row, Value column, int64_t rows, int64_t columns);
  /// For each register whether its element is inside of the view, where its part of the tile
  /// begins at (row, column).
  std::function<Value(int64_t)> insideOf(const ViewMemory &view, const TileRegisters &registers,
                                         Value row, Value column);
  /// Element (row + constants) of a view as an index into its memory.
  Value address(const ViewMemory &view, Value row, Value column, int64_t moreRows,
                int64_t moreColumns);
  Value loadAt(const ViewMemory &view, Value at);
  /// The registers of a tile that move at once between it and a view, where the thread's part of
  /// the tile begins at (row, column) of the view.
  RegisterRuns findRuns(tile::TileType type, const ViewMemory &view, Value row, Value column);
  /// Those that move at once between it and shared memory.
  RegisterRuns findRuns(tile::TileType type, tile::SharedType shared);
  /// Whether a view that begins with a run's first element has the whole run, or nothing of it.
  static bool endsWithRuns(const RegisterRuns &runs, const ViewMemory &view, Value row,
                           Value column);
  /// `width` neighbours in a view's memory: one element, or a vector.
  Value loadRun(const ViewMemory &view, Value at, int64_t width);
  void storeRun(Value value, const ViewMemory &view, Value at);
  /// A tile's registers, a run at a time: `load` gives that of a register and `width` from it on,
  /// one or a vector; what is surely past the tile is zero.
  SmallVector<Value> loadRuns(tile::TileType type, const RegisterRuns &runs,
                              function_ref<Value(int64_t index, int64_t width)> load);
  /// Hands each run of registers that may be the tile's to `store`, with its first number.
  void storeRuns(tile::TileType type, ArrayRef<Value> values, const RegisterRuns &runs,
                 function_ref<void(int64_t index, function_ref<Value()> value)> store);
  /// One element as it is, several as a vector; and the other way round.
  Value toVector(ArrayRef<Value> values);
  SmallVector<Value> toElements(Value value);
  /// The address of a ring's slot; its number as i64.
  Value slotPointer(Value ring, Value number);
  /// The address of an element of shared memory; `at` in elements, as i32.
  Value sharedPointer(Value memory, tile::SharedType type, Value at);
  Value loadShared(Value memory, tile::SharedType type, Value at, int64_t width = 1);
  /// An element, or a vector of neighbours.
  void storeShared(Value value, Value memory, tile::SharedType type, Value at);
  /// Begins to copy `width` neighbours, zeros where `inside` does not hold.
  void beginCopy(const ViewMemory &view, Value from, Value memory, tile::SharedType type, Value to,
                 int64_t width, Value inside);
  /// Where an element lies in shared memory, in elements, as i32.
  Value sharedPlace(tile::SharedType type, Value row, Value column);
  /// Where a register's element does.
  Value sharedPlace(tile::SharedType type, tile::LayoutAttr layout, const TileRegisters &registers,
                    int64_t index);

  Value int32(int64_t value);
  /// Of places, which are small and not negative.
  Value add32(Value l, Value r);
  Value mul32(Value l, int64_t r);
  Value toIndex(Value narrow);

  func::FuncOp function;
  Emitter b;
  Block *entry;
  int64_t threads;
  bool hasWarpgroups = false; ///< products by wgmma
  bool isPart = false;        ///< the threads are some of the block's, which has roles
  bool isBulk = false;        ///< one thread of the producer hands its copies to the engine
  SmallVector<Value> maps;    ///< addresses of the kernel's tensor maps
  LLVM::GlobalOp shared;
  IRMapping mapping; ///< of what is no tile; shared memory maps to its address
  llvm::DenseMap<Value, SmallVector<Value>> tiles;
  llvm::DenseMap<Value, ViewMemory> views;
  SmallVector<Operation *> copiedViews;
  Operation *lastAtEntry = nullptr;
  Value threadAtEntry; ///< this one's number, as i32, at the function's beginning
  Value thread;        ///< among those that run the code here
  std::map<std::pair<int64_t, int64_t>, Value> digits;
  llvm::DenseMap<std::pair<Attribute, int64_t>, Value> parts;
};

/// Inline assembly with side effects, which gives `count` numbers of f32.
SmallVector<Value> emitAssembly(Emitter &b, StringRef text, StringRef constraints,
                                ValueRange operands, int64_t count);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_GPU_THREADLOWERING_H
