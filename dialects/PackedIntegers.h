// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How integers of a few bits lie in words of panels.
#ifndef FOVEA_DIALECTS_PACKEDINTEGERS_H
#define FOVEA_DIALECTS_PACKEDINTEGERS_H

#include <cstdint>

namespace mlir::fovea {

/// Neighbours in k of one output that fill whole words of four bytes are a unit. The four that an
/// instruction multiplies together, k, k + 2, k + 4 and k + 6 of eight, are a part: it has the same
/// bits of each of a word's four bytes. Of 4 bits a word has two parts, of even and of odd k among
/// eight; of 2 bits four, of sixteen. Of 5 and 6 bits the low four lie so, and behind them, in a
/// word of its own, what is left of each:
///
///     2 bits, unit of 16: [k 0..15]
///     4 bits, unit of 8:  [k 0..7]
///     5 bits, unit of 32: [low 4 of k 0..7] ... [low 4 of k 24..31] [high 1 of k 0..31]
///     6 bits, unit of 16: [low 4 of k 0..7] [low 4 of k 8..15] [high 2 of k 0..15]
///     8 bits, unit of 4:  [k 0..3]
struct PackedIntegers {
  int64_t bits;

  constexpr int64_t lowBits() const { return bits < 4 ? 2 : bits < 8 ? 4 : 8; }
  constexpr int64_t highBits() const { return bits - lowBits(); }
  constexpr int64_t parts() const { return 8 / (highBits() > 0 ? highBits() : lowBits()); }
  constexpr int64_t unit() const { return 4 * parts(); }
  constexpr int64_t words() const { return unit() * bits / 32; }

  /// Of neighbour k of a unit.
  constexpr int64_t part(int64_t k) const { return bits == 8 ? 0 : k / 8 * 2 + k % 2; }
  constexpr int64_t byte(int64_t k) const { return bits == 8 ? k : k % 8 / 2; }
  /// Where the bytes of a part have its bits, from the lowest on.
  constexpr int64_t lowWord(int64_t part) const { return part * lowBits() / 8; }
  constexpr int64_t lowShift(int64_t part) const { return part * lowBits() % 8; }
  constexpr int64_t highWord() const { return words() - 1; }
  constexpr int64_t highShift(int64_t part) const { return part * highBits(); }
  /// The first part that has bits in a word.
  constexpr int64_t firstPart(int64_t word) const {
    return highBits() > 0 && word == highWord() ? 0 : word * 8 / lowBits();
  }
};

/// Those that only units tell where they are: neither bytes nor halves of them.
inline constexpr bool lieInUnits(int64_t bits) { return bits == 2 || bits == 5 || bits == 6; }

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_PACKEDINTEGERS_H
