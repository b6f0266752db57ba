/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs models that `fovea compile` made. C11; a complete program:
 *
 *   #include <fovea/runtime.h>
 *   #include <stdio.h>
 *
 *   static int failed(fovea_status *status) {
 *     if (!status)
 *       return 0;
 *     fprintf(stderr, "error: %s\n", fovea_status_message(status));
 *     fovea_status_free(status);
 *     return 1;
 *   }
 *
 *   int main(int argc, char **argv) {
 *     fovea_module *module = NULL;
 *     fovea_context *context = NULL;
 *     fovea_call *call = NULL;
 *     int64_t ids[] = {1, 2, 3}, shape[] = {1, 3};
 *     fovea_tensor input = {.data = ids, .device = {FOVEA_CPU, 0}, .ndim = 2,
 *                           .dtype = {FOVEA_INT, 64, 1}, .shape = shape};
 *     const fovea_tensor *logits = NULL;
 *     int bad = argc != 2;
 *     if (bad)
 *       fprintf(stderr, "usage: %s FILE.fovea\n", argv[0]);
 *     bad = bad || failed(fovea_module_open(argv[1], &module)) ||
 *           failed(fovea_context_create(module, NULL, &context)) ||
 *           failed(fovea_call_create(context, "forward", &call)) ||
 *           failed(fovea_call_set_argument(call, "input_ids", &input)) ||
 *           failed(fovea_call_run(call)) ||
 *           failed(fovea_call_get_result(call, "logits", &logits));
 *     if (!bad) {
 *       int64_t words = logits->shape[2], best = 0;
 *       const float *last = (const float *)logits->data + 2 * words;
 *       for (int64_t i = 1; i < words; ++i)
 *         if (last[i] > last[best])
 *           best = i;
 *       printf("after the third token, %lld is the most likely of %lld\n",
 *              (long long)best, (long long)words);
 *     }
 *     fovea_call_free(call);
 *     fovea_context_free(context);
 *     fovea_module_free(module);
 *     return bad;
 *   }
 *
 * Three nouns. A *module* is an opened artifact: immutable, shared by any number
 * of threads. A *context* holds what a use of it needs: threads, arena, key/value
 * caches; one thread at a time uses it. A *call* is one entry with its arguments
 * and results, in a context. Freeing NULL is allowed, and a module may be freed
 * while its contexts live (they keep it); a context outlives its calls.
 *
 * After fork() the child has the parent's modules, but not its threads or devices:
 * calls in a context of several threads, or on a device, are refused there, and what
 * is freed is. Make contexts in the process that uses them.
 *
 * Nothing here prints, exits, or reads the environment. Structures that later
 * versions may add fields to begin with `struct_size`, set by their _INIT macro,
 * whether the caller fills them or the library does:
 *
 *   fovea_entry_info info = FOVEA_ENTRY_INFO_INIT;
 *   status = fovea_module_get_entry(module, 0, &info);
 *
 * No byte behind that size is read or written; a size that no version had, as 0, is
 * refused. All pointers handed out are owned by the library unless fovea_free is named.
 *
 * An artifact is code: open only what you would run as a program.
 */
#ifndef FOVEA_RUNTIME_H
#define FOVEA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FOVEA_API __attribute__((visibility("default")))
#else
#define FOVEA_API
#endif

/* Status ------------------------------------------------------------------ */

/* NULL is success. Else the caller owns it and frees it. */
typedef struct fovea_status fovea_status;

typedef enum fovea_code {
  FOVEA_OK = 0,
  /* File, argument or text is at fault; the message says where and why. */
  FOVEA_INVALID = 1,
  /* This machine cannot: a CPU feature is missing. */
  FOVEA_UNSUPPORTED = 2,
  FOVEA_OUT_OF_MEMORY = 3,
  /* Compiled code or this library is at fault. */
  FOVEA_INTERNAL = 70
} fovea_code;

/* FOVEA_OK for NULL. */
FOVEA_API fovea_code fovea_status_code(const fovea_status *status);
/* One line without a line end; "" for NULL. */
FOVEA_API const char *fovea_status_message(const fovea_status *status);
FOVEA_API void fovea_status_free(fovea_status *status);

/* Frees what a function said is to be freed with this. */
FOVEA_API void fovea_free(void *memory);

/* "0.1.0" */
FOVEA_API const char *fovea_version(void);

/* Tensors ----------------------------------------------------------------- */

/*
 * Laid out as DLPack's DLDevice, DLDataType and DLTensor (DLPack 1.x), so that a
 * pointer to one may be cast to a pointer to the other; named apart so that both
 * headers may be included.
 *
 * Where data is: FOVEA_CPU, whatever the id; FOVEA_CUDA (kDLCUDA), the id being CUDA's
 * number of the device; FOVEA_EMULATOR (kDLExtDev, for no other program can read it),
 * where each context has a device of its own, with an id that comes once in a process.
 * fovea_context_get_info tells a context's. Pinned and managed memory of CUDA are not
 * known as such: what the CPU or the device may read may be called its memory.
 */
enum { FOVEA_CPU = 1, FOVEA_CUDA = 2, FOVEA_EMULATOR = 12 };
enum { FOVEA_INT = 0, FOVEA_UINT = 1, FOVEA_FLOAT = 2, FOVEA_BFLOAT = 4, FOVEA_BOOL = 6 };

typedef struct fovea_device {
  int32_t type;
  int32_t id;
} fovea_device;

typedef struct fovea_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes; /* 1 */
} fovea_dtype;

typedef struct fovea_tensor {
  void *data;
  fovea_device device;
  int32_t ndim;
  fovea_dtype dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL is row-major */
  uint64_t byte_offset;
} fovea_tensor;

/* Module ------------------------------------------------------------------ */

typedef struct fovea_module fovea_module;

typedef struct fovea_module_options {
  size_t struct_size;
  /* Not 0: read the whole file into memory, and check all of it by its hashes (else weights are
     checked up to 256 MiB). Then the file may change as soon as the module is open; processes no
     longer share the weights' memory, and opening reads all of them. */
  int copy;
} fovea_module_options;
#define FOVEA_MODULE_OPTIONS_INIT {sizeof(fovea_module_options), 0}

/* Opens and checks an artifact, and loads its code. The file is mapped: as long as the module or
   one of its contexts lives, it may be renamed, removed, or replaced by renaming another over it,
   but not written to. `cp` writes to it; a file that is cut so ends the process by SIGBUS. */
FOVEA_API fovea_status *fovea_module_open(const char *path, fovea_module **module);
/* The same; `options` may be NULL. */
FOVEA_API fovea_status *fovea_module_open_with(const char *path,
                                               const fovea_module_options *options,
                                               fovea_module **module);
FOVEA_API void fovea_module_free(fovea_module *module);

/* The path of the file that a module has mapped at `address`; NULL if none has. For a handler of
   SIGBUS (with si_code BUS_ADRERR, si_addr is the address), which may call it at any moment: this
   library installs no handlers of its own. */
FOVEA_API const char *fovea_find_mapped_file(const void *address);

typedef enum fovea_model_kind {
  FOVEA_GENERIC = 0,
  FOVEA_DECODER = 1,        /* fovea_generate */
  FOVEA_ENCODER = 2,        /* fovea_embed, where there is an entry of its kind */
  FOVEA_ENCODER_DECODER = 3 /* fovea_translate */
} fovea_model_kind;

/* What makes probabilities of a classifier's scores. */
typedef enum fovea_score_function {
  FOVEA_SOFTMAX = 0, /* over all labels: one of them is true */
  FOVEA_SIGMOID = 1, /* of each by itself: any of them may be true */
  FOVEA_SCORES = 2   /* nothing: the scores are the result */
} fovea_score_function;

typedef struct fovea_module_info {
  size_t struct_size;
  const char *name;
  const char *architecture;
  const char *compiler;
  fovea_model_kind kind;
  int64_t begin_token; /* -1: none */
  const int64_t *end_tokens;
  size_t end_token_count;
  int64_t vocabulary_size; /* 0: not known */
  int64_t max_positions;   /* 0: not known */
  int64_t max_text_tokens; /* texts are cut to this by fovea_embed; 0: max_positions */
  int has_tokenizer;
  size_t entry_count;
  uint64_t weight_bytes;
  size_t label_count; /* of a classifier's scores; 0: no classifier, or they have no names */
  fovea_score_function score_function;
  size_t prompt_count;   /* of tokens between the begin token and a text; see below */
  int64_t sampling_rate; /* of the sound that fovea_translate reads; 0: it reads texts */
} fovea_module_info;
#define FOVEA_MODULE_INFO_INIT                                                                     \
  {sizeof(fovea_module_info),                                                                      \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   FOVEA_GENERIC,                                                                                  \
   0,                                                                                              \
   NULL,                                                                                           \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   FOVEA_SOFTMAX,                                                                                  \
   0,                                                                                              \
   0}

/* Strings live as long as the module; so do those of the functions below. */
FOVEA_API fovea_status *fovea_module_get_info(const fovea_module *module, fovea_module_info *info);
/* The name of one of the labels, numbered from 0. */
FOVEA_API fovea_status *fovea_module_get_label(const fovea_module *module, size_t label,
                                               const char **name);

typedef enum fovea_image_filter {
  FOVEA_NEAREST = 0,
  FOVEA_LANCZOS = 1,
  FOVEA_BILINEAR = 2,
  FOVEA_BICUBIC = 3,
  FOVEA_BOX = 4,
  FOVEA_HAMMING = 5
} fovea_image_filter;

/* What a picture becomes before it is an argument [batch, channels, height, width] in f32: resized,
   cropped around its centre, and of each channel (pixel * scale - mean) / deviation with pixels
   from 0 to 255. Sizes are pixels; those that are 0 do not apply. */
typedef struct fovea_image_info {
  size_t struct_size;
  int is_known; /* 0: the model reads no images, or its source does not say; the rest is 0 then */
  int32_t resize_height, resize_width;
  int32_t shortest_edge; /* in place of both: the shorter side, the other in proportion */
  int32_t crop_height, crop_width;
  fovea_image_filter filter; /* Pillow's, which widens with the scale */
  double scale;
  double mean[4], deviation[4]; /* a deviation of 0: there is no such channel */
} fovea_image_info;
#define FOVEA_IMAGE_INFO_INIT                                                                      \
  {sizeof(fovea_image_info), 0, 0, 0, 0, 0, 0, FOVEA_NEAREST, 0, {0}, {0}}
FOVEA_API fovea_status *fovea_module_get_image_info(const fovea_module *module,
                                                    fovea_image_info *info);

/* A token that an encoder-decoder's texts stand behind: their language, or what is to be done. */
typedef struct fovea_prompt_info {
  size_t struct_size;
  const char *name;   /* what is chosen by it: "language"; "" if nothing is */
  int64_t token;      /* where nobody chooses; -1: the likeliest of the values' */
  size_t value_count; /* see fovea_module_get_prompt_value */
} fovea_prompt_info;
#define FOVEA_PROMPT_INFO_INIT {sizeof(fovea_prompt_info), NULL, 0, 0}

/* The token of that place, numbered from 0. */
FOVEA_API fovea_status *fovea_module_get_prompt(const fovea_module *module, size_t place,
                                                fovea_prompt_info *info);
/* One of the values that may be chosen there ("de"), numbered from 0, and its token. */
FOVEA_API fovea_status *fovea_module_get_prompt_value(const fovea_module *module, size_t place,
                                                      size_t value, const char **name,
                                                      int64_t *token);

/* What an entry does for those who run a model, whatever it is called; of each kind but the first
   there is one at most. */
typedef enum fovea_entry_kind {
  FOVEA_ENTRY_GENERIC = 0,
  FOVEA_ENTRY_FORWARD = 1, /* whole rows at once, without caches */
  FOVEA_ENTRY_PREFILL = 2, /* tokens of any number behind those in the caches */
  FOVEA_ENTRY_DECODE = 3,  /* the same of one token */
  FOVEA_ENTRY_EMBED = 4,   /* texts to vectors */
  FOVEA_ENTRY_ENCODE = 5   /* a source text to the keys and values that the last two attend to */
} fovea_entry_kind;

typedef struct fovea_entry_info {
  size_t struct_size;
  const char *name;
  size_t argument_count;
  size_t result_count;
  size_t step_count;
  int64_t max_positions; /* 0: no bound */
  fovea_entry_kind kind;
} fovea_entry_info;
#define FOVEA_ENTRY_INFO_INIT {sizeof(fovea_entry_info), NULL, 0, 0, 0, 0, FOVEA_ENTRY_GENERIC}

FOVEA_API fovea_status *fovea_module_get_entry(const fovea_module *module, size_t entry,
                                               fovea_entry_info *info);
/* The number of the entry called `name`; an error that lists the names if there is none. */
FOVEA_API fovea_status *fovea_module_find_entry(const fovea_module *module, const char *name,
                                                size_t *entry);

/* What an argument or a result is to the caller, whatever it is called. */
typedef enum fovea_role {
  FOVEA_ROLE_NONE = 0,
  FOVEA_ROLE_TOKEN_IDS = 1,
  FOVEA_ROLE_ATTENTION_MASK = 2, /* 1 where a row holds a token, 0 where it is filled */
  FOVEA_ROLE_TOKEN_TYPES = 3,    /* which of several texts in a row a token is of */
  FOVEA_ROLE_POSITIONS = 4,
  FOVEA_ROLE_LOGITS = 5,
  FOVEA_ROLE_NEXT_TOKEN = 6,   /* the place of the greatest logit; -1 if one of them is NaN */
  FOVEA_ROLE_HIDDEN_STATE = 7, /* a vector for each token */
  FOVEA_ROLE_EMBEDDING = 8     /* a vector for each text */
} fovea_role;

typedef struct fovea_value_info {
  size_t struct_size;
  const char *name;
  int is_cache; /* owned by the context; no shape */
  fovea_dtype dtype;
  int32_t ndim;
  const int64_t *shape;          /* -1: known at the call */
  const char *const *dimensions; /* a name for each, "" without; equal names, equal sizes */
  int64_t heads;                 /* cache: [batch, heads, capacity, size] */
  int64_t size;
  fovea_role role;
} fovea_value_info;
#define FOVEA_VALUE_INFO_INIT                                                                      \
  {sizeof(fovea_value_info), NULL, 0, {0, 0, 0}, 0, NULL, NULL, 0, 0, FOVEA_ROLE_NONE}

FOVEA_API fovea_status *fovea_module_get_argument(const fovea_module *module, size_t entry,
                                                  size_t argument, fovea_value_info *info);
FOVEA_API fovea_status *fovea_module_get_result(const fovea_module *module, size_t entry,
                                                size_t result, fovea_value_info *info);

typedef struct fovea_step_info {
  size_t struct_size;
  const char *kernel;
  const char *description;
  const char *location; /* where the source model names it */
  int is_fallback;      /* plain loops: no kernel builder covers it */
  const char *schedule; /* how the kernel is built, as the compiler writes it; "" if it has none */
} fovea_step_info;
#define FOVEA_STEP_INFO_INIT {sizeof(fovea_step_info), NULL, NULL, NULL, 0, NULL}

FOVEA_API fovea_status *fovea_module_get_step(const fovea_module *module, size_t entry, size_t step,
                                              fovea_step_info *info);

/* Text to token ids with the artifact's tokenizer. `special`: add what the model
   wants around a text (begin token, [CLS], ...). `ids` is freed with fovea_free. */
FOVEA_API fovea_status *fovea_module_encode(const fovea_module *module, const char *text,
                                            size_t size, int special, int64_t **ids, size_t *count);
/* The id of one token by its text in the vocabulary ("[MASK]"); -1 if there is none. */
FOVEA_API fovea_status *fovea_module_find_token(const fovea_module *module, const char *text,
                                                size_t size, int64_t *id);

typedef struct fovea_text {
  const char *data;
  size_t size;
} fovea_text;

/* A row of tokens: three numbers for each. */
typedef struct fovea_encoding {
  size_t struct_size;
  int64_t *ids;         /* one block with what follows, freed with fovea_free */
  const int64_t *types; /* for the argument of role FOVEA_ROLE_TOKEN_TYPES */
  const int64_t *texts; /* which text it is of; -1: added by the tokenizer */
  size_t count;
  int cut; /* a text was longer than there was room for */
} fovea_encoding;
#define FOVEA_ENCODING_INIT {sizeof(fovea_encoding), NULL, NULL, NULL, 0, 0}

/* One or two texts with what the model wants around them, as one row of at most `max_tokens` tokens
   (0: any number): the longer of two is cut first, at its end. */
FOVEA_API fovea_status *fovea_module_encode_texts(const fovea_module *module,
                                                  const fovea_text *texts, size_t count,
                                                  size_t max_tokens, fovea_encoding *encoding);
/* Token ids to UTF-8, with a zero byte after it; special tokens are left out.
   `text` is freed with fovea_free. */
FOVEA_API fovea_status *fovea_module_decode(const fovea_module *module, const int64_t *ids,
                                            size_t count, char **text, size_t *size);

/* A conversation as the text that the model continues, by the checkpoint's own chat template, as
   transformers' apply_chat_template gives it. `variables` is a JSON object with what the template
   sees: "messages", a list of objects with "role" and "content", perhaps "add_generation_prompt",
   "tools", "documents" and whatever else it knows; the tokenizer's special tokens ("bos_token") it
   sees too. `name` is one of several templates; NULL: "tool_use" if there is one and `variables`
   has tools, else "default". What the template raises is an error with its words. The text holds
   the special tokens: encode it with `special` 0. `text`, with a zero byte after it, is freed with
   fovea_free; `text_size` may be NULL. */
FOVEA_API fovea_status *fovea_module_render_chat(const fovea_module *module, const char *name,
                                                 const char *variables, size_t size, char **text,
                                                 size_t *text_size);

/* Context ----------------------------------------------------------------- */

typedef struct fovea_context fovea_context;

typedef void (*fovea_body)(void *data, int32_t index);

/*
 * Threads of the host program. Set one of the two functions.
 *
 * parallel_region runs body(data, i) for every i from 0 to count - 1, all at the
 * same time for best speed, and returns when all have returned: bodies claim
 * parts of kernels until the call's work is done, and wait for kernels that others
 * have not finished. parallel_for runs the same in any order, on any number of
 * threads; each kernel is then started on its own, in `threads` equal parts. Both
 * are called from the thread that calls fovea_call_run, and results are equal to
 * the bit with either. Threads of a parallel_region may be moved to another core as
 * those of the own pool (fovea_context_options).
 */
typedef struct fovea_threading {
  size_t struct_size;
  int32_t threads; /* what `count` will be; at least 1 */
  void *user;
  void (*parallel_region)(void *user, int32_t count, fovea_body body, void *data);
  void (*parallel_for)(void *user, int32_t count, fovea_body body, void *data);
} fovea_threading;
#define FOVEA_THREADING_INIT {sizeof(fovea_threading), 1, NULL, NULL, NULL}

typedef struct fovea_context_options {
  size_t struct_size;
  /* Threads of the context's own pool, and the one that calls; 0: one for each core that this
     process may use. If another program takes the core of one, a thread that waits for it gives it
     its own (sched_setaffinity); the cores on which each may run stay what they were. */
  int32_t threads;
  /* Positions that the caches hold; 0: the model's longest, at most 4096. */
  int64_t capacity;
  /* Host threads in place of the own pool; NULL: own pool. Copied. */
  const fovea_threading *threading;
  /* Not 0: measure each step (fovea_call_get_step_time, fovea_call_get_step_cost). */
  int profile;
  /* Not 0: record when each thread runs which step (fovea_context_get_trace). Costs two readings
     of the clock a step and thread, and 48 bytes of memory. */
  int trace;
  /* Where to run; NULL: "cpu". An artifact holds code for a GPU if it was made with --gpu. Weights
     are copied to the device when the context is made, caches stay there; arguments and results may
     be in CPU memory all the same, and are copied by fovea_call_run then.

     - "cpu": the threads above.

     - "cuda", "cuda:1": an NVIDIA GPU, the first or the one of that number; needs its driver and
       nothing else.

     - "emulator": a GPU in software. Slow, checks every access; needs libfovea-emulator.so beside
       this library, and `threads`.

     - "emulator:early", "emulator:late": the same, and when it does asynchronous work: at once,
       which is the default, or as late as the code allows. */
  const char *device;
} fovea_context_options;
#define FOVEA_CONTEXT_OPTIONS_INIT {sizeof(fovea_context_options), 0, 0, NULL, 0, 0, NULL}

/* `options` may be NULL. */
FOVEA_API fovea_status *fovea_context_create(fovea_module *module,
                                             const fovea_context_options *options,
                                             fovea_context **context);
FOVEA_API void fovea_context_free(fovea_context *context);

/* Empties the caches. */
FOVEA_API fovea_status *fovea_context_reset(fovea_context *context);

/* What the caches hold, as bytes: keys and values of all positions, and the tokens that they are of
   if fovea_generate has read them. `write` gets them piece by piece; another result than 0 ends
   that with a failure. */
FOVEA_API fovea_status *fovea_context_save(const fovea_context *context,
                                           int (*write)(void *user, const void *data, size_t size),
                                           void *user);
/* Puts into the caches what fovea_context_save gave, of a context of the same artifact on whatever
   device and with whatever capacity that has room; fovea_generate with keep_caches then goes on
   from there. `read` puts up to `size` bytes at `data` and gives how many: fewer at the end alone.
   Bytes of another artifact, of another version of this format, changed, or cut are refused; the
   caches are empty then. */
FOVEA_API fovea_status *fovea_context_load(fovea_context *context,
                                           size_t (*read)(void *user, void *data, size_t size),
                                           void *user);

typedef struct fovea_context_info {
  size_t struct_size;
  int32_t threads;
  int64_t capacity;
  int64_t length; /* positions held by the longest cache */
  /* Arguments may be in its memory beside the CPU's, and results stay there. */
  fovea_device device;
} fovea_context_info;
#define FOVEA_CONTEXT_INFO_INIT {sizeof(fovea_context_info), 0, 0, 0, {0, 0}}
FOVEA_API fovea_status *fovea_context_get_info(const fovea_context *context,
                                               fovea_context_info *info);

/* The device in words: "the CPU", "the emulator", "CUDA device 0 (NVIDIA H200)". Lives as long as
   the context. */
FOVEA_API fovea_status *fovea_context_get_device(const fovea_context *context, const char **name);
/* What the device's memory does: seconds of copying `bytes` bytes (at least 1) from one part of it
   to another, the mean of `runs` (at least 1) copies. Each byte is read and written. An error on
   the CPU. */
FOVEA_API fovea_status *fovea_context_measure_copy(fovea_context *context, uint64_t bytes,
                                                   int64_t runs, double *seconds);

/* Memory of the context's device, for callers who have no other way to it: the emulator's, or
   CUDA's without CUDA's libraries. It begins at a multiple of 256 and holds nothing yet; it goes by
   fovea_context_release, else with the context. An error on the CPU. */
FOVEA_API fovea_status *fovea_context_allocate(fovea_context *context, uint64_t bytes,
                                               void **memory);
/* NULL is allowed; another address than one of fovea_context_allocate is refused. */
FOVEA_API fovea_status *fovea_context_release(fovea_context *context, void *memory);
/* Copies `bytes` bytes from the CPU's memory to the device's, or back, behind what the context has
   been asked for so far, and returns when that is done. Whose the device's memory is does not
   matter: a result that stayed there, or what CUDA gave the caller. */
FOVEA_API fovea_status *fovea_context_copy_in(fovea_context *context, void *to, const void *from,
                                              uint64_t bytes);
FOVEA_API fovea_status *fovea_context_copy_out(fovea_context *context, void *to, const void *from,
                                               uint64_t bytes);

/* The steps of an entry as the context's device runs them: other kernels than the CPU's, which
   fovea_module_get_step tells of, and perhaps more or fewer. */
FOVEA_API fovea_status *fovea_context_get_step_count(const fovea_context *context, size_t entry,
                                                     size_t *count);
FOVEA_API fovea_status *fovea_context_get_step(const fovea_context *context, size_t entry,
                                               size_t step, fovea_step_info *info);

/* One thread's parts of one step, or a whole call. A thread that was busy elsewhere has none. No
 * version adds to it: it stands in an array. */
typedef struct fovea_trace_event {
  const char *entry; /* lives as long as the module */
  size_t entry_index;
  int64_t step;   /* -1: the whole call, on the thread that made it */
  int32_t thread; /* 0 is the thread that calls fovea_call_run */
  /* Nanoseconds of a clock that only goes forward. A part ends before its thread waits for others.
   */
  int64_t begin, end;
} fovea_trace_event;

/* What has been recorded since the context was made, thread by thread and in order of time on each;
   for a context with `trace`. Valid until the next fovea_call_run in this context. */
FOVEA_API fovea_status *fovea_context_get_trace(fovea_context *context,
                                                const fovea_trace_event **events, size_t *count);

/* Call -------------------------------------------------------------------- */

typedef struct fovea_call fovea_call;

/* A call may be run many times; doing so again with sizes seen before allocates nothing. */
FOVEA_API fovea_status *fovea_call_create(fovea_context *context, const char *entry,
                                          fovea_call **call);
FOVEA_API void fovea_call_free(fovea_call *call);

/* Checks type, rank, fixed sizes and that the elements are row-major without gaps,
   and copies the description. The data is read by fovea_call_run and not copied.
   Caches are not arguments to be set: the context has them.

   The data is in CPU memory, or in that of the context's device. There kernels read it where
   it is, if it begins at a multiple of 64 bytes; else, and if it is a result of this very
   call, each run copies it within the device first. A tensor of another device is refused
   here, an address that is not in the device's memory by the run: CUDA's driver is asked
   about the address, though not whether all of the data is there; the emulator about both. */
FOVEA_API fovea_status *fovea_call_set_argument(fovea_call *call, const char *name,
                                                const fovea_tensor *tensor);

/* Runs the entry. If it fails, caches are as before it; a call that would exceed
   the context's capacity or the entry's max_positions fails before it begins. Arguments in
   a device's memory must be complete when this is called, and it returns when all is done. */
FOVEA_API fovea_status *fovea_call_run(fovea_call *call);

typedef struct fovea_run_options {
  size_t struct_size;
  /* Not 0: results stay in the memory of the context's device, and none is copied;
     fovea_call_get_result then gives an address there. On the CPU they are there anyway. */
  int results_on_device;
  /* A CUstream (cudaStream_t) of the context's device, in its primary context, for the work of this
     run; NULL: one of the context's own, which waits for no other. CUDA's default streams are 1
     (legacy) and 2 (of each thread), as in DLPack. The run comes behind what the stream has been
     asked for before, so that arguments may still be under way there, and what it is asked for
     afterwards comes behind the run; all that the context does is in order besides, whatever the
     stream. The stream is used until this returns and may be destroyed then. One that is being
     captured is refused, and so is any for the emulator, which has no streams, and on the CPU. */
  void *stream;
} fovea_run_options;
#define FOVEA_RUN_OPTIONS_INIT {sizeof(fovea_run_options), 0, NULL}

/* The same; `options` may be NULL.

   With a stream, with results that stay on the device, and with all arguments there, this does not
   wait for the device, unless memory has to grow, or the context profiles or traces. It then
   returns when the run is asked for: arguments must not change, nor be freed, and results are not
   complete, before the stream is there. An index out of bounds, which a run that waits would fail
   with, is then told by fovea_call_wait, or by the next run of this call that waits; results are
   of no use then, and caches hold the run's positions (fovea_context_reset begins anew).
   In all other cases the run is done when this returns. */
FOVEA_API fovea_status *fovea_call_run_with(fovea_call *call, const fovea_run_options *options);

/* Waits until the runs of this call are done that fovea_call_run_with has not waited for, and fails
   as they did. */
FOVEA_API fovea_status *fovea_call_wait(fovea_call *call);

/* Runs the entry as fovea_call_run does, but its steps `runs` times (at least once), each on the
   same arguments and caches, and gives the seconds that one took: from the first's begin to the
   last's end, divided by `runs`, by the device's clock where there is a device. Neither planning
   nor copies of arguments and results count, and a profile does not count these runs. */
FOVEA_API fovea_status *fovea_call_measure(fovea_call *call, int64_t runs, double *seconds);

/* Valid until the call is run again or freed; so is a device's memory that `data` points to after a
   run with results_on_device, in the order of the run's stream if that did not wait. */
FOVEA_API fovea_status *fovea_call_get_result(fovea_call *call, const char *name,
                                              const fovea_tensor **tensor);

/* Sum over all runs of the call, for a context with `profile`. */
FOVEA_API fovea_status *fovea_call_get_step_time(const fovea_call *call, size_t step,
                                                 double *seconds);
/* Likewise summed over all runs: the floating-point operations of a step's products (a
   multiplication and an addition are two; exact masks are counted, masks that are data are not) and
   the bytes that it reads and writes, each once. -1 where the compiler did not know. */
FOVEA_API fovea_status *fovea_call_get_step_cost(const fovea_call *call, size_t step, double *flops,
                                                 double *bytes);

/* Text -------------------------------------------------------------------- */

/* A token and the natural logarithm of its probability. No version adds to it: it stands in an
 * array. */
typedef struct fovea_logprob {
  int64_t token;
  float logprob;
} fovea_logprob;

typedef struct fovea_generate_options {
  size_t struct_size;
  /* Either text (with the special tokens of the tokenizer added) or token ids, as they are. */
  const char *prompt;
  size_t prompt_size;
  const int64_t *prompt_ids;
  size_t prompt_id_count;
  /* Stops after so many tokens; -1: when the context is full. */
  int64_t max_tokens;
  /* 0: always the likeliest token, the smaller id of equal ones. */
  float temperature;
  int32_t top_k; /* of the k likeliest; 0: all */
  float top_p;   /* of the likeliest that together reach p; 1: all */
  float min_p;   /* of those with at least min_p times the likeliest's probability; 0: all */
  float repetition_penalty; /* of tokens in prompt or text; 1: none (Keskar et al. 2019) */
  uint64_t seed;
  /* Tokens of the prompt that are read in one call; 0: 512. */
  int64_t prompt_chunk;
  /* Not 0: end tokens do not end the text. */
  int ignore_end;
  void *user;
  /* A piece of text, whole UTF-8 characters, often empty, and the token that gave
     it (-1 with the last piece). Without a tokenizer always empty. Another result
     than 0 ends the text. May be NULL. */
  int (*on_piece)(void *user, int64_t token, const char *text, size_t size);
  /* `done` of `total` tokens of the prompt are read. Another result than 0 ends. May be NULL. */
  int (*on_prompt)(void *user, size_t done, size_t total);
  /* The first of these that the text comes to hold ends it, and is not given out. Text that may
     begin one is given out when it has not. */
  const fovea_text *stop_texts;
  size_t stop_text_count;
  /* Not 0: of the prompt, the tokens at its front that earlier calls with this context left in its
     caches are not read again, and the caches are cut behind them. Any other run of a call in the
     context, and fovea_context_reset, end that. */
  int keep_caches;
  /* Called for each new token before on_piece, with the logarithm of the probability that the
     model gives to it, before penalty, temperature and what else chooses, and the `top_logprobs`
     likeliest tokens, the likeliest first. Another result than 0 ends. May be NULL. */
  int32_t top_logprobs;
  int (*on_logprobs)(void *user, int64_t token, float logprob, const fovea_logprob *top,
                     size_t count);
  /* Speculative decoding (Leviathan et al. 2023): up to `draft_tokens` next tokens, 1 to 7, are
     guessed, and one step of the model checks them. The text is the same to the last token as
     without, whatever chooses it. Guesses come from another context, of a decoder with the same
     tokens, which is used by this call alone meanwhile; or, if that is NULL and `draft_lookup` is
     not 0, from the text itself: what followed where its last tokens stood before (Saxena 2023).
     On the CPU, for artifacts with an entry that gives the logits of all positions ('verify'). */
  fovea_context *draft;
  int draft_lookup;
  int32_t draft_tokens;
} fovea_generate_options;
#define FOVEA_GENERATE_OPTIONS_INIT                                                                \
  {sizeof(fovea_generate_options),                                                                 \
   NULL,                                                                                           \
   0,                                                                                              \
   NULL,                                                                                           \
   0,                                                                                              \
   -1,                                                                                             \
   0.8f,                                                                                           \
   0,                                                                                              \
   1.0f,                                                                                           \
   0.0f,                                                                                           \
   1.0f,                                                                                           \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   NULL,                                                                                           \
   0,                                                                                              \
   0,                                                                                              \
   0,                                                                                              \
   NULL,                                                                                           \
   NULL,                                                                                           \
   0,                                                                                              \
   4}

typedef enum fovea_stop {
  FOVEA_STOP_COUNT = 0,   /* max_tokens */
  FOVEA_STOP_END = 1,     /* an end token */
  FOVEA_STOP_CONTEXT = 2, /* the context is full */
  FOVEA_STOP_CALLBACK = 3,
  FOVEA_STOP_TEXT = 4 /* one of stop_texts */
} fovea_stop;

typedef struct fovea_generate_result {
  size_t struct_size;
  size_t prompt_tokens;
  size_t new_tokens; /* an end token is not counted */
  double prompt_seconds;
  double new_seconds; /* from the first new token's choice to the end */
  fovea_stop stop;
  size_t cached_tokens;   /* of the prompt, that the caches held; see keep_caches */
  size_t draft_tokens;    /* that were guessed and checked */
  size_t accepted_tokens; /* of these, that the text has */
} fovea_generate_result;
#define FOVEA_GENERATE_RESULT_INIT                                                                 \
  {sizeof(fovea_generate_result), 0, 0, 0, 0, FOVEA_STOP_COUNT, 0, 0, 0}

/* Continues a prompt. Empties the context's caches first, but for keep_caches. `result` may be
   NULL. Same seed, same text, whatever the number of threads and the chunks. */
FOVEA_API fovea_status *fovea_generate(fovea_context *context,
                                       const fovea_generate_options *options,
                                       fovea_generate_result *result);

/* Continues several prompts, each as fovea_generate does and by its own options and callbacks, with
   up to `most` texts as rows of one step. All rows of caches have one length, so a text joins the
   others when they have become as long as its prompt: prompts of like lengths are best. `options`
   are `count` pointers, and so are `results`, each of which may be NULL; so may be `results`.
   Among several no keep_caches. Empties the context's caches. */
FOVEA_API fovea_status *fovea_generate_texts(fovea_context *context,
                                             const fovea_generate_options *const *options,
                                             size_t count, int32_t most,
                                             fovea_generate_result *const *results);

/* When beam search ends, as `early_stopping` of the Python package transformers. */
typedef enum fovea_early_stopping {
  FOVEA_EARLY_STOPPING_NO = 0,  /* the best beam is, at its length, worse than all finished texts */
  FOVEA_EARLY_STOPPING_YES = 1, /* there are as many finished texts as beams */
  FOVEA_EARLY_STOPPING_NEVER = 2 /* no beam can become better than the finished texts */
} fovea_early_stopping;

typedef struct fovea_translation {
  size_t struct_size;
  const char *text; /* UTF-8; empty without a tokenizer */
  size_t text_size;
  const int64_t *ids; /* without the tokens that begin and end it */
  size_t id_count;
  double score; /* sum of log-probabilities / length ^ length_penalty, the end token counted */
  int ended;    /* by an end token, not by max_tokens or a full context */
  const int64_t *prompt_ids; /* what the model's prompt was; as many as it has places */
} fovea_translation;
#define FOVEA_TRANSLATION_INIT {sizeof(fovea_translation), NULL, 0, NULL, 0, 0, 0, NULL}

typedef struct fovea_translate_options {
  size_t struct_size;
  /* Either text (with the special tokens of the tokenizer added) or token ids, as they are. */
  const char *source;
  size_t source_size;
  const int64_t *source_ids;
  size_t source_id_count;
  /* Ends a text after so many tokens; -1: when the context is full. */
  int64_t max_tokens;
  int32_t beams; /* 1: greedy */
  int32_t count; /* of the best texts that are given, at most `beams` */
  double length_penalty;
  fovea_early_stopping early_stopping;
  void *user;
  /* One of the texts, the best (rank 0) first. May be NULL. */
  void (*on_text)(void *user, size_t rank, const fovea_translation *translation);
  /* So many tokens are written. Another result than 0 ends the search with the texts that are
     finished. May be NULL. */
  int (*on_token)(void *user, size_t done);
  /* What texts must be; -1: as the model says. */
  int64_t min_tokens;         /* before an end token, at least */
  int64_t no_repeat_ngram;    /* so many tokens in a row are not written twice; 0: they may be */
  int64_t forced_begin_token; /* the first token of a text */
  /* Of a model that reads sound, in place of `source`: samples at its rate, -1 to 1, at most a
     clip's; what is missing of a clip is silence. */
  const float *source_samples;
  size_t source_sample_count;
  /* A token for each place of the model's prompt; -1: as the model says. NULL: all as it says. */
  const int64_t *prompt_ids;
  size_t prompt_id_count;
} fovea_translate_options;
#define FOVEA_TRANSLATE_OPTIONS_INIT                                                               \
  {sizeof(fovea_translate_options), NULL, 0,    NULL, 0,  -1, 1,  1,    1.0, /* penalty */         \
   FOVEA_EARLY_STOPPING_NO,         NULL, NULL, NULL, -1, -1, -1, NULL, 0,   NULL, 0}

typedef struct fovea_translate_result {
  size_t struct_size;
  size_t source_tokens;
  size_t new_tokens; /* of the best text, without its end token */
  double source_seconds;
  double new_seconds;
} fovea_translate_result;
#define FOVEA_TRANSLATE_RESULT_INIT {sizeof(fovea_translate_result), 0, 0, 0, 0}

/* What an encoder-decoder makes of a source: a translation, a summary, an answer. Empties the
   context's caches first. `result` may be NULL. */
FOVEA_API fovea_status *fovea_translate(fovea_context *context,
                                        const fovea_translate_options *options,
                                        fovea_translate_result *result);

/* One vector for each text, by the entry of kind FOVEA_ENTRY_EMBED: `vectors` is [count, width],
   freed with fovea_free. Texts longer than the model takes are cut; `cut`, if
   not NULL, receives how many were. */
FOVEA_API fovea_status *fovea_embed(fovea_context *context, const fovea_text *texts, size_t count,
                                    float **vectors, size_t *width, size_t *cut);

#ifdef __cplusplus
}
#endif

#endif /* FOVEA_RUNTIME_H */
