// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all plain kernels are written with: loops, loads that widen, stores that narrow, scalar
// arithmetic.
#ifndef FOVEA_LOWERING_KERNELS_KERNELBUILDER_H
#define FOVEA_LOWERING_KERNELS_KERNELBUILDER_H

#include "dialects/ElementTypes.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <functional>
#include <optional>

namespace mlir::fovea {

/// A cache in memory: `[batch, heads, capacity, size]`, of which the first `length` positions are
/// there.
struct CacheBuffer {
  Value memory, length;
};

/// What a group becomes: launches that run in order, and the memory between them.
struct KernelPhases {
  struct Phase {
    std::string name; ///< without its number
    func::FuncOp function;
    /// What each of the function's arguments but the last two is: an operand of the group's launch
    /// (its inputs, then its outputs), or after these a temporary.
    SmallVector<unsigned> operands;
    Attribute schedule; ///< that it was built by
    /// Whether it runs in a call, an i1 of its function as a temporary's sizes are; null: always.
    Value runs;
  };
  struct Temporary {
    MemRefType type;
    /// The sizes that the type leaves open; values of a phase's function that are computed from
    /// sizes of its arguments, its index arguments and constants.
    SmallVector<Value> sizes;
  };
  SmallVector<Phase> phases;
  SmallVector<Temporary> temporaries;
  /// The phases that do the work which the group's cost counts, of which one runs; the others count
  /// as free.
  SmallVector<unsigned> main = {0};
};

/// Emits the body of one kernel. Values of the group's region are looked up by `buffer`, `cache`
/// and `scalar`.
///
/// A group whose parts must wait for each other becomes several launches, its phases. A builder
/// that wants them emits the first phase and calls `nextPhase`, and so on; the last phase is what
/// stands when it returns. The last does the group's work, unless `finishingPhase` began it. Phases
/// hand on what they computed in temporaries:
///
///     unsigned sums = k.addTemporary(MemRefType::get({dynamic}, f32), {rows});
///     ... code that stores to k.temporary(sums) ...
///     k.nextPhase("row_sums");
///     ... code that loads from k.temporary(sums) and stores to k.outputs ...
///
/// `nextPhase` moves the builder into another function, so every value made before it is stale;
/// `buffer`, `cache`, `values`, `outputs` and `temporary` give those of the new function.
class KernelBuilder : public ImplicitLocOpBuilder {
public:
  KernelBuilder(Location loc, OpBuilder builder, int64_t parallelLoops = 0)
      : ImplicitLocOpBuilder(loc, builder), parallelLoops(parallelLoops) {}

  //===-- Phases ----------------------------------------------------------------------------===//

  /// Memory from the arena that lives as long as the group runs. `sizes` are those that `type`
  /// leaves open, each computed (before any loop) from sizes of buffers, index values of the group
  /// and constants: the call's plan computes them again.
  unsigned addTemporary(MemRefType type, ValueRange sizes);
  /// The buffer of a temporary in this phase.
  Value temporary(unsigned number) const;
  /// Ends a phase, whose kernel is called `name`, and starts the next, which does the group's work.
  void nextPhase(StringRef name);
  /// Ends the phase that does the group's work, and starts one, whose kernel is called `name`, that
  /// makes an end of it.
  void finishingPhase(StringRef name);
  /// Begins the phases of another schedule, of which other calls take this one.
  void nextVariant();
  /// Ends the last phase; its kernel has no blocks of work in calls that do not take it.
  void finish();

  /// Where phases are kept, and what binds the group's values to a function's arguments: set by who
  /// makes the functions.
  KernelPhases *phases = nullptr;
  std::function<void(func::FuncOp)> bind;
  /// Whether a call takes the schedule that is built by, computed where the builder stands; null:
  /// all do. The most rows that such a call has, if that is bounded.
  std::function<Value()> isChosen;
  std::optional<int64_t> mostRows;
  /// Constants that are read as whole tensors, and where they lie; each phase finds them anew.
  SmallVector<std::pair<Value, memref::GlobalOp>> constants;

  /// The group's region to the kernel: tensors to buffers, caches to memory and length, index
  /// values to themselves.
  llvm::MapVector<Value, Value> buffers; ///< in the order of the arguments: code is written by it
  llvm::DenseMap<Value, CacheBuffer> caches;
  IRMapping values;
  /// Where each result goes, in order; no entry for a cache.
  SmallVector<Value> outputs;

  Value buffer(Value tensor) const { return tensor ? buffers.lookup(tensor) : Value(); }
  CacheBuffer cache(Value value) const { return caches.lookup(value); }

  /// Clones a pure op and what it is computed from out of the group's region, tensors being read
  /// through `bufferization.to_tensor`.
  Value cloneIn(Value value);

  //===-- Loops -----------------------------------------------------------------------------===//

  /// A loop nest over `extents`: the schedule's number of loops in parallel, the others in order.
  void parallelNest(ValueRange extents, function_ref<void(ValueRange)> body);
  void loop(Value begin, Value end, function_ref<void(Value)> body);
  /// `for i in [begin, end): carried = body(i, carried)`.
  SmallVector<Value> loopCarried(Value begin, Value end, ValueRange init,
                                 function_ref<SmallVector<Value>(Value, ValueRange)> body);
  /// `condition ? then() : otherwise()`.
  SmallVector<Value> branch(Value condition, TypeRange types,
                            function_ref<SmallVector<Value>()> then,
                            function_ref<SmallVector<Value>()> otherwise);

  //===-- Memory ----------------------------------------------------------------------------===//

  Value size(Value buffer, int64_t axis);
  SmallVector<Value> sizes(Value buffer, int64_t dropLast = 0);
  /// Those of a buffer's sizes that `shape`, of its first axes, leaves open.
  SmallVector<Value> openSizes(Value buffer, ArrayRef<int64_t> shape);
  Value load(Value buffer, ValueRange indices);
  /// A load converted to the floating-point type `type`.
  Value loadAs(Type type, Value buffer, ValueRange indices);
  /// A store converted to the buffer's element type.
  void storeTo(Value buffer, ValueRange indices, Value value);

  //===-- Scalars ---------------------------------------------------------------------------===//

  Value index(int64_t value);
  Value real(Type type, double value);
  Value integer(Type type, int64_t value);
  Value convert(Value value, Type floatType);
  Value toIndex(Value integer);
  Value toI32(Value index);
  Value add(Value l, Value r);
  Value sub(Value l, Value r);
  Value mul(Value l, Value r);
  Value div(Value l, Value r);
  Value maximum(Value l, Value r);
  Value less(Value l, Value r); ///< floats (ordered) or signed integers
  Value select(Value condition, Value then, Value otherwise);

private:
  void startPhase(StringRef name);

  int64_t parallelLoops;
};

/// Indices with one more behind them.
inline SmallVector<Value> append(ValueRange at, Value last) {
  SmallVector<Value> result(at);
  result.push_back(last);
  return result;
}

/// The type of a buffer's elements.
inline Type elementOf(Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); }

/// Whether `fovea.argmax` prefers `l` to an `r` before it: it is greater, and nothing is than NaN.
Value isGreater(KernelBuilder &k, Value l, Value r);

/// Position `i` of batch row `b`: from the tensor's buffer if there is one, else the index itself.
/// An i32.
Value loadPosition(KernelBuilder &k, Value positions, Value b, Value i);

/// What one of attention's regions makes of a number at a place. `loaded` has elements of operands
/// that are known already, by the region's arguments; `adjust` gets each op that is copied.
Value emitElementRegion(KernelBuilder &k, const ElementRegion &of, Value number,
                        const MaskPoint &point, const llvm::DenseMap<Value, Value> &loaded,
                        function_ref<void(Operation *)> adjust);

/// Emits the tile program that computes `group` by its schedule. False, and nothing is emitted, if
/// its buffers are no matrices. Fails with an error at the group if the schedule is not its form's.
FailureOr<bool> buildTiles(KernelBuilder &k, GroupOp group, Attribute schedule);

/// Emits loops of scalars that compute `op`, the only computing op of a group: its model's, or
/// those of upstream's ops. Fails with an error at the op.
LogicalResult emitLoops(KernelBuilder &k, Operation *op);
/// How many axes of the first result threads share in these loops.
int64_t getParallelLoops(Operation *op);
/// Upstream ops, each element of the result by itself: arith and math on tensors, `tensor` ops.
LogicalResult buildElements(KernelBuilder &k, Operation *op);
/// Structured linalg ops.
LogicalResult buildStructured(KernelBuilder &k, Operation *op);
/// The loop of a tensor's last axis of more than one element, by its map; none if that is no loop.
std::optional<unsigned> getLastLoop(AffineMap map, Value tensor);

/// Reductions that give a cumulative sum or product, in one pass.
bool isPrefixSum(Operation *op);
LogicalResult buildPrefixSum(KernelBuilder &k, Operation *op);

/// The row of a T5 bias's table for two positions, an index.
Value emitRelativeBucket(KernelBuilder &k, RelativeBiasOp op, Value query, Value key);
/// The scalar arithmetic of a T5 bias; `op`'s operands are read through `k.values`.
Value emitRelativeBias(OpBuilder &builder, RelativeBiasOp op);

/// The activation `kind` of a scalar.
Value activate(KernelBuilder &k, ActivationKind kind, Value x);

/// A constant table in the kernel: a stack array that is filled once a call.
Value emitTable(KernelBuilder &k, ArrayRef<double> numbers);

/// Copies `source` to `target`, of one shape.
void emitCopy(KernelBuilder &k, Value source, Value target);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_KERNELBUILDER_H
