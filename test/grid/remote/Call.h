// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the grid calls code, in its own process or in the one that runs another family's: with words,
// over a stack that holds what nobody has written.
#ifndef FOVEA_TEST_GRID_REMOTE_CALL_H
#define FOVEA_TEST_GRID_REMOTE_CALL_H

#include <cstdint>

namespace fovea::remote {

constexpr int kWords = 10;

/// Fills the stack below the caller, more of it than a kernel has buffers.
inline __attribute__((noinline)) void plantOnStack(uint32_t word) {
  uint32_t words[1 << 19];
  for (uint32_t &each : words)
    each = word;
  asm volatile("" ::"r"(words) : "memory"); // somebody reads them
}

/// `words`: kWords of them; those that the function does not have are not looked at.
inline void callOverPlanted(void *function, const uint64_t *words, uint32_t planted) {
  using W = uint64_t;
  plantOnStack(planted);
  reinterpret_cast<void (*)(W, W, W, W, W, W, W, W, W, W)>(function)(
      words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8],
      words[9]);
}

} // namespace fovea::remote

#endif // FOVEA_TEST_GRID_REMOTE_CALL_H
