// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic, logic, comparison and plain conversion of 32 lanes at a time. The same source
// (AluLanes.inc) is compiled for the baseline processor and for one with AVX2 and FMA; both give
// the same bits.
#ifndef FOVEA_EMULATOR_ALU_H
#define FOVEA_EMULATOR_ALU_H

#include "emulator/Kernel.h"

namespace fovea::emulator {

enum class Alu : uint8_t {
  Mov,
  Add,
  Sub,
  MulLo,
  MulHi,
  MulWide,
  MadLo,
  MadHi,
  MadWide,
  Div,
  Rem,
  Abs,
  Neg,
  Min,
  Max,
  And,
  Or,
  Xor,
  Not,
  Cnot,
  Shl,
  Shr,
  Bfe,
  Bfi,
  Prmt,
  Lop3,
  Popc,
  Clz,
  Brev,
  Bfind,
  Sad,
  Shf,
  Dp4a,
  Fma,
  Rcp,
  Sqrt,
  Rsqrt,
  Ex2,
  Lg2,
  Sin,
  Cos,
  Tanh,
  Copysign,
  Testp,
  Selp,
  Slct,
  Setp,
  AddSat,
  SubSat,
  AddCarry,
  SubCarry,
  // conversions: destination and source type are Instruction's `type` and `source`
  CvtRn,
  CvtTf32,  ///< of f32, ties away from zero
  CvtTrunc, ///< of f32 or f64 to a whole number of 32 or 64 bits
  CvtPack,
};

/// Comparisons; those with U hold too if an operand is NaN.
enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

struct AluForm {
  Alu op;
  Type type;
  Type source = Type::B32; ///< of a conversion
  Compare compare = Compare::Eq;
  bool ftz = false, sat = false, nan = false, shiftAmount = false, wrap = false, left = false,
       relu = false;
  uint8_t mode = 0; ///< of prmt and testp
};

/// The handler of a form; null if there is none. Operands: d, a, b, c; the fourth is in
/// `immediate`. setp: `count` 0 none, 1 and, 2 or, 3 xor with the predicate at `c`, negated if
/// `flags` is 1; the second result goes to `immediate`, if not zero.
Handler findAlu(const AluForm &form);

/// What mma and wgmma compute: acc[m][n] += sum over k of a[m][k] * b[n][k], all row-major f32,
/// products exact, sums in f32 in the order of k. n is a multiple of 8.
using MultiplyF32 = void (*)(float *acc, const float *a, const float *b, unsigned m, unsigned n,
                             unsigned k);
MultiplyF32 findMultiply();

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_ALU_H
