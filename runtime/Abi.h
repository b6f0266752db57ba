// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What generated code and the runtime agree on. A change here raises
// FOVEA_ABI_VERSION; an artifact of another version is refused when opened.
#ifndef FOVEA_RUNTIME_ABI_H
#define FOVEA_RUNTIME_ABI_H

#include <stdint.h>

#define FOVEA_ABI_VERSION 1

/// One call of one entry, as its steps see it. Filled by the runtime after
/// `plan` has run; constant while the steps run, apart from `fault`.
typedef struct fovea_frame {
  /// At least locals[0] bytes, aligned to 64.
  void *arena;
  /// Base address of each weight, in the manifest's order, aligned to 64.
  const void *const *weights;
  /// Data of each argument, then of each result, in the manifest's order.
  /// A cache argument is its memory [batch, heads, capacity, size]; a cache
  /// result has no slot of its own here (NULL): it is written in place.
  void *const *buffers;
  /// What `plan` computed.
  const int64_t *locals;
  /// 0, or 1 + the step in which an index was out of bounds. Written by any
  /// thread without order: any of the faulting steps may be named.
  int64_t *fault;
} fovea_frame;

/// `fovea_<entry>_plan`. `dims`: each argument's sizes in order, a tensor of
/// rank r giving r numbers, a cache giving batch, capacity and length.
/// `locals`: [0] bytes of arena, or -1 if the sizes do not fit each other; then each result's sizes
/// in order (rank numbers for a tensor, the new length for a cache), then the code's own.
typedef void (*fovea_plan_fn)(const int64_t *dims, int64_t *locals);

/// `fovea_<entry>_step`: part `part` of `parts` of launch number `step`.
typedef void (*fovea_step_fn)(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts);

#endif // FOVEA_RUNTIME_ABI_H
