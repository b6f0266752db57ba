/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Code by hand, as the compiler would emit it (abi/Abi.h), small enough to
 * know every result. TestArtifact.cpp has the manifest for it.
 *
 * The "language model" has 32 words. Its cache holds each token as a number; the
 * next word is decided by the sum over all that it holds, so whatever goes wrong
 * with caches, positions or order changes the text.
 */
#include "abi/Abi.h"

#define EXPORT __attribute__((visibility("default")))
enum { words = 32 };

static void range(int64_t count, int64_t part, int64_t parts, int64_t *first, int64_t *end) {
  *first = count * part / parts;
  *end = count * (part + 1) / parts;
}

/* add(a [rows,3], b [rows,3]) -> sum [rows,3]; one step, whose cost is told. */
EXPORT void fovea_add_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = dims[0];
  locals[2] = 3;
  locals[3] = dims[0] * 3;
  locals[4] = dims[0] * 36;
}
EXPORT void fovea_add_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  const float *a = frame->buffers[0], *b = frame->buffers[1];
  float *sum = frame->buffers[2];
  int64_t i, end;
  for (range(frame->locals[1] * 3, part, parts, &i, &end); i < end; ++i)
    sum[i] = a[i] + b[i];
}

/* wave(x [n]) -> y [n]: 40 steps over the arena, each reading what other threads
   wrote in the step before; scaled by the weight. */
EXPORT void fovea_wave_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 2 * dims[0] * 4;
  locals[1] = dims[0];
}
EXPORT void fovea_wave_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  int64_t n = frame->locals[1], i, end;
  float *even = frame->arena, *odd = even + n;
  const float *from = step == 0 ? frame->buffers[0] : step % 2 ? odd : even;
  float *to = step == 39 ? frame->buffers[1] : step % 2 ? even : odd;
  const float *weight = frame->weights[0];
  for (range(n, part, parts, &i, &end); i < end; ++i)
    to[i] = weight[step % 4] * from[i] + 0.5f * from[(i * 7 + 1) % n] - 0.25f * from[n - 1 - i];
}

/* fault(ids [n]) -> out [n] i64: ids outside 0..9 are a fault of step 1. */
EXPORT void fovea_fault_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = dims[0];
}
EXPORT void fovea_fault_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  const int64_t *ids = frame->buffers[0];
  int64_t *out = frame->buffers[1];
  int64_t i, end;
  for (range(frame->locals[1], part, parts, &i, &end); i < end; ++i) {
    out[i] = ids[i];
    if (step == 1 && (ids[i] < 0 || ids[i] >= 10))
      __atomic_store_n(frame->fault, 1 + step, __ATOMIC_RELAXED);
  }
}

static int64_t nextWord(float sum, int64_t length) {
  return ((int64_t)sum * 7 + length * 3) % words;
}
static void logitsFor(float *logits, float sum, int64_t length) {
  int64_t next = nextWord(sum, length), v;
  for (v = 0; v < words; ++v) {
    int64_t distance = (v - next + words) % words;
    logits[v] = 4.0f - 0.5f * (float)distance;
  }
}

/* prefill, decode(input_ids [batch,sequence] i64, key_cache.0 [1 head, size 1])
   -> logits [batch,32], key_cache.0. Step 0 appends, step 1 reads. With
   FOVEA_TEST_TOKENS also next_token [batch] i64 in the last place: it is one more
   than the likeliest, so that whoever uses it is seen to. */
static void modelPlan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = dims[0];           /* logits: batch */
  locals[2] = words;             /* logits: words */
  locals[3] = dims[4] + dims[1]; /* cache: new length */
  locals[4] = dims[0];           /* next_token: batch */
  locals[5] = dims[1];           /* sequence */
  locals[6] = dims[3];           /* capacity */
}
static void modelStep(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  const int64_t *ids = frame->buffers[0];
  float *cache = frame->buffers[1], *logits = frame->buffers[2];
  int64_t sequence = frame->locals[5], capacity = frame->locals[6], length = frame->locals[3];
  int64_t b, end, i;
  for (range(frame->locals[1], part, parts, &b, &end); b < end; ++b) {
    float *row = cache + b * capacity, sum = 0;
    if (step == 0) {
      for (i = 0; i < sequence; ++i) {
        int64_t id = ids[b * sequence + i];
        if (id < 0 || id >= words)
          __atomic_store_n(frame->fault, 1 + step, __ATOMIC_RELAXED), id = 0;
        row[length - sequence + i] = (float)id;
      }
    } else {
      for (i = 0; i < length; ++i)
        sum += row[i];
      logitsFor(logits + b * words, sum, length);
#ifdef FOVEA_TEST_TOKENS
      ((int64_t *)frame->buffers[4])[b] = nextWord(sum, length) + 1;
#endif
    }
  }
}
EXPORT void fovea_prefill_plan(const int64_t *dims, int64_t *locals) { modelPlan(dims, locals); }
EXPORT void fovea_decode_plan(const int64_t *dims, int64_t *locals) { modelPlan(dims, locals); }
EXPORT void fovea_prefill_step(const fovea_frame *frame, int64_t step, int64_t part,
                               int64_t parts) {
  modelStep(frame, step, part, parts);
}
EXPORT void fovea_decode_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  modelStep(frame, step, part, parts);
}

/* verify: as prefill, with the logits of all positions [batch,sequence,32]. */
EXPORT void fovea_verify_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = dims[0];
  locals[2] = dims[1];
  locals[3] = words;
  locals[4] = dims[4] + dims[1]; /* cache: new length */
  locals[5] = dims[3];           /* capacity */
}
EXPORT void fovea_verify_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  const int64_t *ids = frame->buffers[0];
  float *cache = frame->buffers[1], *logits = frame->buffers[2];
  int64_t sequence = frame->locals[2], length = frame->locals[4], capacity = frame->locals[5];
  int64_t b, end, i;
  for (range(frame->locals[1], part, parts, &b, &end); b < end; ++b) {
    float *row = cache + b * capacity, sum = 0;
    for (i = 0; i < length; ++i) {
      int64_t at = i - (length - sequence);
      if (step == 0 && at >= 0)
        row[i] = (float)ids[b * sequence + at];
      sum += row[i];
      if (step == 1 && at >= 0)
        logitsFor(logits + (b * sequence + at) * words, sum, i + 1);
    }
  }
}

/* forward(input_ids [batch,sequence] i64) -> logits [batch,sequence,32]. */
EXPORT void fovea_forward_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = dims[0];
  locals[2] = dims[1];
  locals[3] = words;
}
EXPORT void fovea_forward_step(const fovea_frame *frame, int64_t step, int64_t part,
                               int64_t parts) {
  const int64_t *ids = frame->buffers[0];
  float *logits = frame->buffers[1];
  int64_t sequence = frame->locals[2], b, end, i;
  for (range(frame->locals[1], part, parts, &b, &end); b < end; ++b) {
    float sum = 0;
    for (i = 0; i < sequence; ++i) {
      sum += (float)ids[b * sequence + i];
      logitsFor(logits + (b * sequence + i) * words, sum, i + 1);
    }
  }
}

/* embed(input_ids, attention_mask, token_type_ids [batch,sequence] i64)
   -> embedding [batch,2]: sum and number of the tokens that the mask keeps. */
EXPORT void fovea_embed_plan(const int64_t *dims, int64_t *locals) {
  locals[0] = 0;
  locals[1] = dims[0];
  locals[2] = 2;
  locals[3] = dims[1];
}
EXPORT void fovea_embed_step(const fovea_frame *frame, int64_t step, int64_t part, int64_t parts) {
  const int64_t *ids = frame->buffers[0], *mask = frame->buffers[1];
  float *out = frame->buffers[3];
  int64_t sequence = frame->locals[3], b, end, i;
  for (range(frame->locals[1], part, parts, &b, &end); b < end; ++b) {
    float sum = 0, count = 0;
    for (i = 0; i < sequence; ++i)
      if (mask[b * sequence + i])
        sum += (float)ids[b * sequence + i], count += 1;
    out[b * 2] = sum;
    out[b * 2 + 1] = count;
  }
}
