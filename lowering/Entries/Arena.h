// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plan of an entry's arena: which results share memory, and where each lies, as index
// expressions.
#ifndef FOVEA_LOWERING_ENTRIES_ARENA_H
#define FOVEA_LOWERING_ENTRIES_ARENA_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include <tuple>

namespace mlir::fovea {

/// Hands out slots along a flat list of launches. A slot's size is the maximum over the buffers
/// that live in it one after the other; offsets are sums of slot sizes, known when the whole list
/// has been seen (`finish`).
class ArenaPlan {
public:
  /// Bytes of a buffer of these sizes, rounded up to 64; equal sizes give the same value. `math` is
  /// where index arithmetic goes.
  Value getBytes(OpBuilder &math, Location loc, ArrayRef<OpFoldResult> sizes, Type elementType);

  /// A slot for a buffer that is written by launch `first` and read until launch `last`.
  unsigned allocate(int64_t first, int64_t last, Value bytes);

  /// The place of `slot`'s offset in `user`, filled in by `finish`.
  void addUse(unsigned slot, OpOperand &offset) { uses.emplace_back(slot, &offset); }

  /// Computes all offsets; returns the arena's size in bytes.
  Value finish(OpBuilder &math, Location loc);

  unsigned getSlotCount() const { return slots.size(); }

private:
  struct Slot {
    SmallVector<Value> bytes; ///< of its buffers, without repetition
    int64_t busyUntil;
  };
  SmallVector<Slot> slots;
  SmallVector<std::pair<unsigned, OpOperand *>> uses;
  /// By static factor and dynamic sizes, in the order of first use of each pair.
  SmallVector<std::tuple<int64_t, SmallVector<Value>, Value>> known;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_ENTRIES_ARENA_H
