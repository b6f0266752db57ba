// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `generate`: continues a prompt; the text goes to standard output as it comes.
#include "tools/verbs/Common.h"
#include "tools/verbs/Continuation.h"
#include "tools/verbs/Numbers.h"
#include "tools/verbs/Trace.h"

#include <unistd.h>

namespace fovea::verbs {

namespace {

struct GenerateOptions : Common {
  std::string prompt, promptFile, trace;
  std::vector<int64_t> promptIds;
  CLI::Option *promptOption = nullptr, *fileOption = nullptr, *idsOption = nullptr;
  Choosing choosing;
};

void generate(GenerateOptions &options) {
  int given =
      !options.promptOption->empty() + !options.fileOption->empty() + !options.idsOption->empty();
  if (given != 1)
    throw Failure{2, "expects exactly one of --prompt, --prompt-file and --prompt-ids"};
  options.choosing.settle(options);
  ModulePtr module = options.open();
  ContextPtr context = options.makeContext(module, /*profile=*/false, !options.trace.empty());
  std::string text = options.fileOption->empty() ? options.prompt : readText(options.promptFile);
  fovea_generate_options request = FOVEA_GENERATE_OPTIONS_INIT;
  if (!options.idsOption->empty()) {
    request.prompt_ids = options.promptIds.data();
    request.prompt_id_count = options.promptIds.size();
  } else {
    request.prompt = text.data();
    request.prompt_size = text.size();
  }
  options.choosing.cache.load(context);
  Continuation continuation(module, options);
  fovea_generate_result result = continuation.run(context, request, options.choosing);
  if (!options.trace.empty())
    writeTrace(module, context, options.trace);
  if (options.json)
    printJson(continuation.record(result, options.choosing));
  else if (::isatty(STDOUT_FILENO))
    print("\n");
  flush();
  options.choosing.cache.save(context);
  if (options.quiet)
    return;
  noteFullContext(options, context, result);
  note(*options.host,
       "prompt " + rate(result.prompt_tokens - result.cached_tokens, result.prompt_seconds) +
           ", text " + rate(result.new_tokens, result.new_seconds) +
           (options.choosing.temperature > 0 ? ", --seed=" + std::to_string(options.choosing.seed)
                                             : ""));
}

} // namespace

void addGenerate(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App *verb =
      addVerb(app, "generate", "Continue a text with a language model",
              "Examples:\n\n"
              "  PROGRAM generate model.fovea --prompt 'Once upon a time' -n 50\n"
              "  PROGRAM generate model.fovea --prompt-file - --temp 0 < question.txt\n"
              "  PROGRAM generate model.fovea --prompt 'A list:' --top-p 0.9 --seed 7\n"
              "  PROGRAM generate model.fovea --prompt-file long.txt --prompt-cache long.kv\n\n"
              "With --temp 0 the likeliest token is taken each time. Otherwise the order is:\n"
              "repetition penalty, temperature, top-k, top-p, min-p. The same seed gives the\n"
              "same text with any number of threads.\n",
              options, host, code, [options] { generate(*options); });
  options->promptOption = verb->add_option("--prompt", options->prompt, "text to continue");
  options->fileOption = verb->add_option("--prompt-file", options->promptFile,
                                         "file with the text; - is standard input");
  options->idsOption =
      addIntegers(*verb, "--prompt-ids", &options->promptIds, "token ids instead of text: 1,2,3");
  options->choosing.addTo(*verb);
  addTraceOption(*verb, options->trace);
}

} // namespace fovea::verbs
