// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes of a GGUF file in turn, and the values made of them.
#ifndef FOVEA_FRONTEND_GGUF_VALUES_H
#define FOVEA_FRONTEND_GGUF_VALUES_H

#include "frontend/GGUF/GgufFile.h"

#include <cstring>

namespace fovea {

/// Takes what is there, and never what is not.
struct GgufCursor {
  const uint8_t *at, *end;
  uint64_t elements = 0; ///< Of the arrays that were skipped.

  uint64_t left() const { return static_cast<uint64_t>(end - at); }
  template <typename T> std::optional<T> take() {
    if (left() < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }
  bool skip(uint64_t bytes) {
    if (bytes > left())
      return false;
    at += bytes;
    return true;
  }
};

/// Moves behind a value. What is wrong with it otherwise: a message.
std::string skipGgufValue(GgufCursor &cursor, GgufType type);

/// A value that has been walked through once.
JsonValue readGgufValue(GgufCursor &cursor, GgufType type);

} // namespace fovea

#endif // FOVEA_FRONTEND_GGUF_VALUES_H
