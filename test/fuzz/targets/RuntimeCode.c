/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The code section of the artifacts of Runtime.cpp: entries that do what that target says. The
 * program that loads it exports the two functions.
 */
#include "abi/Abi.h"

void fovea_fuzz_plan(const char *entry, const int64_t *dims, int64_t *locals);
void fovea_fuzz_step(const char *entry, const fovea_frame *frame, int64_t step, int64_t part);

#define ENTRY(name)                                                                                \
  __attribute__((visibility("default"))) void fovea_##name##_plan(const int64_t *dims,             \
                                                                  int64_t *locals) {               \
    fovea_fuzz_plan(#name, dims, locals);                                                          \
  }                                                                                                \
  __attribute__((visibility("default"))) void fovea_##name##_step(                                 \
      const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {                       \
    fovea_fuzz_step(#name, frame, step, part);                                                     \
  }

ENTRY(forward)
ENTRY(prefill)
ENTRY(decode)
ENTRY(embed)
