/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Continues a text with a compiled language model:
 *
 *   fovea compile examples/models/shakespeare-llama -o shakespeare.fovea
 *   cc write.c $(pkg-config --cflags --libs fovea) -o write     # or by CMake, see CMakeLists.txt
 *   ./write shakespeare.fovea 'ROMEO:' 40
 */
#include <fovea/runtime.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(fovea_status *status) {
  if (!status)
    return 0;
  fprintf(stderr, "error: %s\n", fovea_status_message(status));
  fovea_status_free(status);
  return 1;
}

/* Whole characters, as soon as the model has chosen them. */
static int print_piece(void *user, int64_t token, const char *text, size_t size) {
  (void)user, (void)token;
  fwrite(text, 1, size, stdout);
  return fflush(stdout) != 0; /* not 0 ends the text */
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s FILE.fovea PROMPT TOKENS\n", argv[0]);
    return 2;
  }
  fovea_module *module = NULL;
  fovea_context *context = NULL;
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  options.prompt = argv[2];
  options.prompt_size = strlen(argv[2]);
  options.max_tokens = atoll(argv[3]);
  options.temperature = 0;
  options.on_piece = print_piece;
  int bad = failed(fovea_module_open(argv[1], &module)) ||
            failed(fovea_context_create(module, NULL, &context)) ||
            failed(fovea_generate(context, &options, NULL));
  if (!bad)
    printf("\n");
  fovea_context_free(context);
  fovea_module_free(module);
  return bad;
}
