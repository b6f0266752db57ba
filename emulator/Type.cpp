// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and sizes of PTX types.
#include "emulator/Type.h"

#include <iterator>

namespace fovea::emulator {

namespace {
struct Description {
  const char *name;
  uint8_t bits;
  char kind; // 'p' predicate, 'b' bits, 'u', 's', 'f'
};

constexpr Description descriptions[] = {
    {"pred", 1, 'p'},    {"b8", 8, 'b'},      {"b16", 16, 'b'},   {"b32", 32, 'b'},
    {"b64", 64, 'b'},    {"b128", 128, 'b'},  {"u8", 8, 'u'},     {"u16", 16, 'u'},
    {"u32", 32, 'u'},    {"u64", 64, 'u'},    {"s8", 8, 's'},     {"s16", 16, 's'},
    {"s32", 32, 's'},    {"s64", 64, 's'},    {"f16", 16, 'f'},   {"f16x2", 32, 'f'},
    {"bf16", 16, 'f'},   {"bf16x2", 32, 'f'}, {"tf32", 32, 'f'},  {"f32", 32, 'f'},
    {"f64", 64, 'f'},    {"e4m3", 8, 'f'},    {"e5m2", 8, 'f'},   {"e4m3x2", 16, 'f'},
    {"e5m2x2", 16, 'f'}, {"f32x2", 64, 'f'},  {"u16x2", 32, 'u'}, {"s16x2", 32, 's'},
};

const Description &describe(Type type) { return descriptions[static_cast<unsigned>(type)]; }
} // namespace

unsigned bitsOf(Type type) { return describe(type).bits; }
bool isSigned(Type type) { return describe(type).kind == 's'; }
bool isInteger(Type type) {
  char kind = describe(type).kind;
  return kind == 's' || kind == 'u' || kind == 'b';
}
bool isFloat(Type type) { return describe(type).kind == 'f'; }
std::string_view nameOf(Type type) { return describe(type).name; }

std::optional<Type> typeNamed(std::string_view name) {
  for (size_t i = 0; i < std::size(descriptions); ++i)
    if (name == descriptions[i].name)
      return static_cast<Type>(i);
  return std::nullopt;
}

std::string_view nameOf(Space space) {
  constexpr const char *names[] = {"generic", "global", "shared", "local", "param", "const"};
  return names[static_cast<unsigned>(space)];
}

} // namespace fovea::emulator
