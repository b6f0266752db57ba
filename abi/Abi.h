// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What generated code and the runtime agree on. A change here raises
// FOVEA_ABI_VERSION; an artifact of another version is refused when opened.
#ifndef FOVEA_ABI_ABI_H
#define FOVEA_ABI_ABI_H

#include <stdint.h>

#define FOVEA_ABI_VERSION 3

/// One call of one entry, as its steps see it. Filled by the runtime after
/// `plan` has run; constant while the steps run, apart from `fault`.
typedef struct fovea_frame {
  /// At least locals[0] bytes, aligned to 64.
  void *arena;
  /// Base address of each weight, in the manifest's order, aligned to 64; on a
  /// device laid out as Device.layouts says.
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

/// 64-bit parameters that a kernel on a device may have.
#define FOVEA_MAX_LAUNCH_WORDS 256

/// Tensor maps that a kernel on a device may have.
#define FOVEA_MAX_LAUNCH_MAPS 8

/// Elements of a tensor map.
enum { FOVEA_MAP_I8 = 1, FOVEA_MAP_F16 = 2, FOVEA_MAP_BF16 = 3, FOVEA_MAP_F32 = 4 };

/// A tensor in a device's memory and the box that one asynchronous copy (TMA) takes of it; axis 0
/// is the innermost, its elements lie side by side. What of a box is outside of the tensor is read
/// as zero and not written. Refused, as the hardware would: a stride that is no multiple of 16, an
/// address that is none, a tensor without elements, a box of more than 256 elements along an axis,
/// rows of a box (box[0] elements) that are no multiple of 16 bytes or longer than the swizzle.
typedef struct fovea_tensor_map {
  int64_t address;    ///< of the first element, the device's
  int64_t rank;       ///< 1 to 5
  int64_t element;    ///< FOVEA_MAP_...
  int64_t sizes[5];   ///< elements along each axis
  int64_t strides[4]; ///< bytes between neighbours along axis 1 and up
  int64_t box[5];     ///< elements of the box along each axis
  int64_t swizzle;    ///< bytes in which a box's rows are permuted: 0, 32, 64 or 128
} fovea_tensor_map;

/// One launch on a device, as `launch` fills it in.
typedef struct fovea_launch {
  /// Blocks of the grid; with 0 there is nothing to launch.
  int64_t blocks;
  /// 0, or 1 + the step if the sizes of its operands do not fit each other; `blocks` is then 0.
  int64_t fault;
  /// The kernel's parameters, `count` of them. For each operand in order: a number is itself; a
  /// buffer is its address, then each size that its type leaves open, then, unless it is dense, its
  /// offset and its strides where its type leaves them open. A kernel that may fault has two more:
  /// the address of the fault word, and 1 + the step to write there.
  int64_t count;
  int64_t words[FOVEA_MAX_LAUNCH_WORDS];
  /// Behind the words, `map_count` parameters of 128 bytes each, aligned to 64
  /// (`.param .align 64 .b8 NAME[128]`): what the device makes of these.
  int64_t map_count;
  fovea_tensor_map maps[FOVEA_MAX_LAUNCH_MAPS];
} fovea_launch;

/// `fovea_<entry>_launch`, in a device's host code in place of the steps. The frame's pointers are
/// the device's, except for `locals`.
typedef void (*fovea_launch_fn)(const fovea_frame *frame, int64_t step, fovea_launch *launch);

/// `fovea_<entry>_step`: part `part` of `parts` of launch number `step`.
typedef void (*fovea_step_fn)(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts);

#endif // FOVEA_ABI_ABI_H
