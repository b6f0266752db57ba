// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fragments of matrices in the registers of a warp, for mma and wgmma. With g = lane / 4 and
// t = lane % 4, a register of E elements holds (PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16
// with floating point type" and its neighbours for the other shapes):
//
//   A (16 x K), register r, element e:  row g + 8 (r % 2), column 4 E (r / 2) + E t + e
//   B (K x 8),  register r, element e:  row 4 E r + E t + e, column g
//   C, D (16 x 8) of 32 bits, register r:  row g + 8 (r / 2), column 2 t + r % 2
//   C, D (16 x 8) of 16 bits, register r, element e:  row g + 8 r, column 2 t + e
#ifndef FOVEA_EMULATOR_MATRIX_H
#define FOVEA_EMULATOR_MATRIX_H

#include "emulator/Decode.h"
#include "emulator/Warp.h"

namespace fovea::emulator {

/// Bits of a multiplicand's element in a register: 32 for tf32, 16, or 8.
unsigned elementBits(Type type);
/// Whether tensor cores multiply this type, and with it in the other operand.
bool isMultiplicand(Type type);
/// An integer of eight bits.
bool isByte(Type type);
/// Whether a and b may be multiplied: of one type, or of one kind of eight bits.
bool fitsMultiplicands(Type a, Type b);

/// `count` elements as f32, from packed memory or a register.
void widen(Type type, const uint8_t *from, float *to, unsigned count);

/// A of 16 x k elements into `a`, row-major f32. `registers` are offsets.
void readFragmentA(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned k,
                   float *a);
void readFragmentA(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned k,
                   int32_t *a);

/// C or D of 16 x n elements of f16 or f32, from and to row-major f32.
void readAccumulators(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned n,
                      float *acc);
void writeAccumulators(Warp &warp, const std::vector<uint32_t> &registers, Type type, unsigned n,
                       float *acc);

/// Takes the modifier that names the shape; false if there is none.
bool takeShape(Decoder &d, unsigned &m, unsigned &n, unsigned &k);
/// A vector of `count` registers of 32 bits; `written` says how they are used.
std::vector<uint32_t> registerList(Decoder &d, const Operand &operand, size_t count, bool written);
/// Refuses a warp that is not whole: all lanes alive and here.
void requireWholeWarp(Warp &warp, const Instruction &in, uint32_t mask);

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_MATRIX_H
