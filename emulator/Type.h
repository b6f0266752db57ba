// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fundamental types of PTX (PTX ISA 9.0, "Types") as the emulator names them.
#ifndef FOVEA_EMULATOR_TYPE_H
#define FOVEA_EMULATOR_TYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace fovea::emulator {

enum class Type : uint8_t {
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  TF32,
  F32,
  F64,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  F32x2,
  U16x2,
  S16x2,
};

/// Size in bits; 1 for a predicate.
unsigned bitsOf(Type type);
inline unsigned bytesOf(Type type) { return (bitsOf(type) + 7) / 8; }
/// Whether the type is a signed integer, an integer (signed, unsigned or untyped bits), a float.
bool isSigned(Type type);
bool isInteger(Type type);
bool isFloat(Type type);
/// The name without its point: "f16x2".
std::string_view nameOf(Type type);
/// The type called `name` (without point), if there is one.
std::optional<Type> typeNamed(std::string_view name);

/// State spaces; `Generic` is what an instruction without one uses.
enum class Space : uint8_t { Generic, Global, Shared, Local, Param, Const };
std::string_view nameOf(Space space);

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_TYPE_H
