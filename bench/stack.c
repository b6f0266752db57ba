// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves denormals where the next call's frames will lie. Compiled and called by compare.py.
#include <stdint.h>

enum { kWords = 1 << 18 }; // 1 MiB, more than a kernel's scratch

__attribute__((noinline)) void plant_denormals(void) {
  volatile uint32_t words[kWords];
  for (int i = 0; i < kWords; ++i)
    words[i] = 1;
}
