/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Code by hand for an artifact with a device, as the compiler would emit it (abi/Abi.h): for
 * each entry the plan, the CPU's steps and the host's description of launches. One object serves as
 * both. The kernels are DeviceCode.ptx.
 */
#include "abi/Abi.h"

#define EXPORT __attribute__((visibility("default")))
enum { threads = 64 };

static void describe(fovea_launch *launch, int64_t blocks, int64_t count, const int64_t *words) {
  int64_t i;
  launch->blocks = blocks;
  launch->fault = 0;
  launch->count = count;
  launch->map_count = 0;
  for (i = 0; i < count; ++i)
    launch->words[i] = words[i];
}
#define DESCRIBE(blocks, ...)                                                                      \
  do {                                                                                             \
    const int64_t words[] = {__VA_ARGS__};                                                         \
    describe(launch, blocks, sizeof(words) / 8, words);                                            \
  } while (0)

/* scale(x [n], w the weight of 4) -> y [n]: x * w[i % 4] into the arena, then plus one. */
EXPORT void fovea_scale_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 4 * dims[0];
  locals[1] = dims[0];
  locals[2] = 8 * dims[0];
}
EXPORT void fovea_scale_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  const float *x = frame->buffers[0], *w = frame->weights[0];
  float *y = frame->buffers[1], *arena = frame->arena;
  int64_t n = frame->locals[1], i;
  for (i = n * part / parts; i < n * (part + 1) / parts; ++i)
    if (step == 0)
      arena[i] = x[i] * w[i % 4];
    else
      y[i] = arena[i] + 1;
}
EXPORT void fovea_scale_launch(const fovea_frame *frame, int64_t step, fovea_launch *launch) {
  int64_t n = frame->locals[1], blocks = (n + threads - 1) / threads;
  if (step == 0)
    DESCRIBE(blocks, (int64_t)frame->buffers[0], n, (int64_t)frame->weights[0],
             (int64_t)frame->arena);
  else
    DESCRIBE(blocks, (int64_t)frame->arena, n, (int64_t)frame->buffers[1]);
}

/* grow(x [batch], cache) -> sum [batch]: appends x to each row, then sums the rows. */
EXPORT void fovea_grow_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = dims[0];
  locals[2] = dims[3] + 1;
  locals[3] = dims[2];
}
EXPORT void fovea_grow_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  const float *x = frame->buffers[0];
  float *cache = frame->buffers[1], *sum = frame->buffers[2];
  int64_t batch = frame->locals[1], length = frame->locals[2], capacity = frame->locals[3], b, i;
  for (b = batch * part / parts; b < batch * (part + 1) / parts; ++b)
    if (step == 0) {
      cache[b * capacity + length - 1] = x[b];
    } else {
      sum[b] = 0;
      for (i = 0; i < length; ++i)
        sum[b] += cache[b * capacity + i];
    }
}
EXPORT void fovea_grow_launch(const fovea_frame *frame, int64_t step, fovea_launch *launch) {
  int64_t batch = frame->locals[1], length = frame->locals[2], capacity = frame->locals[3];
  int64_t blocks = (batch + threads - 1) / threads;
  DESCRIBE(blocks, (int64_t)frame->buffers[step == 0 ? 0 : 2], batch, (int64_t)frame->buffers[1],
           capacity, length);
}

/* check(ids [n]) -> out [n] i64: ids over 9 are a fault of the kernel; 13 of them one of the host
   in the second of two equal steps, 11 a description that no compiler makes; of 7 the last is left
   unwritten; of 5 a byte outside is read. */
EXPORT void fovea_check_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = dims[0];
}
EXPORT void fovea_check_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  (void)frame, (void)step, (void)part, (void)parts;
}
EXPORT void fovea_check_launch(const fovea_frame *frame, int64_t step, fovea_launch *launch) {
  int64_t n = frame->locals[1];
  DESCRIBE(n == 0 ? 0 : 1, (int64_t)frame->buffers[0],
           n == 5   ? 6
           : n == 7 ? 6
                    : n,
           (int64_t)frame->buffers[1], (int64_t)frame->fault, 1 + step);
  launch->fault = n == 13 && step == 1 ? 1 + step : 0;
  launch->map_count = n == 11 ? FOVEA_MAX_LAUNCH_MAPS + 1 : 0;
}

/* prefill, decode(input_ids [1, n]) -> logits [1, 8], next_token [1]: the token behind the last
   one, whose logit is 1 and the others' 0; that of token 6 is no number, and -1 in its place. */
static void follow_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = locals[3] = 1;
  locals[2] = 8;
  locals[4] = dims[1];
}
static void follow_step(const fovea_frame *frame, int64_t part) {
  const int64_t *ids = frame->buffers[0];
  float *logits = frame->buffers[1];
  int64_t next = (ids[frame->locals[4] - 1] + 1) % 8, i;
  if (part != 0)
    return;
  for (i = 0; i < 8; ++i)
    logits[i] = i == next ? (i == 6 ? __builtin_nanf("") : 1) : 0;
  *(int64_t *)frame->buffers[2] = next == 6 ? -1 : next;
}
static void follow_launch(const fovea_frame *frame, fovea_launch *launch) {
  DESCRIBE(1, (int64_t)frame->buffers[0], frame->locals[4], (int64_t)frame->buffers[1],
           (int64_t)frame->buffers[2]);
}
#define FOLLOW(name)                                                                               \
  EXPORT void fovea_##name##_plan(const int64_t *dims, int64_t *locals) {                          \
    follow_plan(dims, locals);                                                                     \
  }                                                                                                \
  EXPORT void fovea_##name##_step(const fovea_frame *frame, int64_t step, int64_t part,            \
                                  int64_t parts) {                                                 \
    (void)step, (void)parts;                                                                       \
    follow_step(frame, part);                                                                      \
  }                                                                                                \
  EXPORT void fovea_##name##_launch(const fovea_frame *frame, int64_t step,                        \
                                    fovea_launch *launch) {                                        \
    (void)step;                                                                                    \
    follow_launch(frame, launch);                                                                  \
  }
FOLLOW(prefill)
FOLLOW(decode)
