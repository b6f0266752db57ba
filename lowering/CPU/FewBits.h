// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of two to eight bits, as words of panels have them, on their way to products: parts of
// bytes for products of these, or one integer after the other. Refuses nothing: who calls it has
// seen that there are whole units (TileLowering::readsPanels, ByteAtom).
#ifndef FOVEA_LOWERING_CPU_FEWBITS_H
#define FOVEA_LOWERING_CPU_FEWBITS_H

#include "dialects/PackedIntegers.h"
#include "lowering/Tile/Emitter.h"
#include <functional>

namespace mlir::fovea {

inline int64_t getLanes(Value vector) {
  return cast<VectorType>(vector.getType()).getNumElements();
}

/// Vectors of i32 as four times as many bytes, and back.
Value asBytes(Emitter &b, Value words);
Value asWords(Emitter &b, Value bytes);

/// Word `i` of a unit, for each output of a vector.
using LoadWord = std::function<Value(int64_t i)>;

/// The words of a unit, each of which is loaded once, when it is asked for first.
class UnitWords {
public:
  explicit UnitWords(LoadWord first) : first(std::move(first)) {}
  Value load(int64_t i) {
    if (!loaded.contains(i))
      loaded[i] = first(i);
    return loaded[i];
  }

private:
  LoadWord first;
  llvm::SmallDenseMap<int64_t, Value> loaded;
};

/// What integers in panels are: two's complement of so many bits, or numbers of a table's entries.
struct FewBits {
  PackedIntegers packed = {8};
  ArrayRef<int8_t> table = {};

  /// Whether parts are bytes as they lie.
  bool areBytes() const { return packed.bits == 8; }
  /// Whether an integer is found in a unit's only word by its shift alone.
  bool areShiftsOfWord() const { return table.empty() && !lieInUnits(packed.bits); }
  /// How many k have parts that are read together, those of even k and those of odd ones; of bytes
  /// there is one part. A unit has at least so many.
  int64_t piece() const { return areBytes() ? 4 : 8; }
  /// By how many bits bytes are shifted up, where they are: they are multiples then.
  int64_t shift() const { return table.empty() ? 8 - packed.bits : 0; }
  /// What turning over the sign adds to integers that are not.
  uint8_t zeroPoint() const { return static_cast<uint8_t>(1 << (packed.bits - 1)); }

  /// A part of less than bytes as signed bytes, shifted up or as such; a table's entries as such.
  Value unpackSigned(Emitter &b, int64_t part, UnitWords &words, bool isShifted = true) const;
  /// The same as unsigned bytes, to which this is added: to a table's entries anything, the zero
  /// point of bytes to what is shifted up, and `zeroPoint()` to what is not.
  Value unpackUnsigned(Emitter &b, int64_t part, UnitWords &words, uint8_t added) const;

private:
  /// A part in the highest bits of bytes, or in the lowest, the sign turned over or as it is.
  Value unpackHigh(Emitter &b, int64_t part, UnitWords &words, bool flipsSign) const;
  Value unpackLow(Emitter &b, int64_t part, UnitWords &words, bool flipsSign) const;
  /// The table's entry of each number, to which this is added.
  Value lookUp(Emitter &b, Value numbers, uint8_t added) const;
};

/// The integers of a unit one by one, as vectors of i32.
class UnitIntegers {
public:
  UnitIntegers(Emitter &b, const FewBits &form, UnitWords words);
  /// Of neighbour k.
  Value get(Emitter &b, int64_t k) const;

private:
  const FewBits *form;
  SmallVector<Value> parts; ///< or the word
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CPU_FEWBITS_H
