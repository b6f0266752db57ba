// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `generate`: continues a prompt; the text goes to standard output as it comes.
#include "tools/verbs/Common.h"
#include "tools/verbs/Numbers.h"
#include "tools/verbs/Trace.h"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <unistd.h>

namespace fovea::verbs {

namespace {

struct GenerateOptions : Common {
  std::string prompt, promptFile, trace;
  std::vector<int64_t> promptIds;
  CLI::Option *promptOption = nullptr, *fileOption = nullptr, *idsOption = nullptr;
  CLI::Option *seedOption = nullptr;
  int64_t count = 128;
  float temperature = 0.8f, topP = 1, minP = 0, penalty = 1;
  int topK = 0;
  uint64_t seed = 0;
  int64_t chunk = 512;
  bool ignoreEnd = false;
};

/// What the callbacks need.
struct Stream {
  bool json = false, progress = false, shown = false;
  std::string text;
  std::vector<int64_t> tokens;
  int failure = 0;
};

int onPiece(void *user, int64_t token, const char *text, size_t size) {
  Stream &stream = *static_cast<Stream *>(user);
  if (token >= 0)
    stream.tokens.push_back(token);
  if (stream.json) {
    stream.text.append(text, size);
    return 0;
  }
  // A C callback must not throw: the failure is told after the call.
  if (std::fwrite(text, 1, size, stdout) != size || std::fflush(stdout) != 0) {
    stream.failure = errno;
    return 1;
  }
  return 0;
}

int onPrompt(void *user, size_t done, size_t total) {
  Stream &stream = *static_cast<Stream *>(user);
  if (stream.progress && (done < total || stream.shown)) {
    stream.shown = true;
    std::cerr << "\rreading the prompt: " << done << " of " << total << " tokens"
              << (done == total ? "\r\x1b[K" : "") << std::flush;
  }
  return 0;
}

void generate(GenerateOptions &options) {
  int given =
      !options.promptOption->empty() + !options.fileOption->empty() + !options.idsOption->empty();
  if (given != 1)
    throw Failure{2, "expects exactly one of --prompt, --prompt-file and --prompt-ids"};
  ModulePtr module = options.open();
  ContextPtr context = options.makeContext(module, /*profile=*/false, !options.trace.empty());
  if (options.seedOption->empty()) {
    std::random_device device;
    options.seed = device();
  }
  std::string text = options.fileOption->empty() ? options.prompt : readText(options.promptFile);
  Stream stream;
  stream.json = options.json;
  stream.progress = terminalOnStandardError() && !options.quiet;
  fovea_generate_options request = FOVEA_GENERATE_OPTIONS_INIT;
  if (!options.idsOption->empty()) {
    request.prompt_ids = options.promptIds.data();
    request.prompt_id_count = options.promptIds.size();
  } else {
    request.prompt = text.data();
    request.prompt_size = text.size();
  }
  request.max_tokens = options.count;
  request.temperature = options.temperature;
  request.top_k = options.topK;
  request.top_p = options.topP;
  request.min_p = options.minP;
  request.repetition_penalty = options.penalty;
  request.seed = options.seed;
  request.prompt_chunk = options.chunk;
  request.ignore_end = options.ignoreEnd;
  request.user = &stream;
  request.on_piece = onPiece;
  request.on_prompt = onPrompt;
  fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
  check(fovea_generate(context.get(), &request, &result));
  if (stream.failure)
    throw Failure{1,
                  std::string("cannot write to standard output: ") + std::strerror(stream.failure)};

  if (!options.trace.empty())
    writeTrace(module, context, options.trace);
  static const char *const stops[] = {"count", "end", "context", "callback"};
  if (options.json) {
    nlohmann::ordered_json record;
    record["text"] = stream.text;
    record["tokens"] = stream.tokens;
    record["stop"] = stops[result.stop];
    record["seed"] = options.seed;
    record["prompt_tokens"] = result.prompt_tokens;
    record["prompt_seconds"] = result.prompt_seconds;
    record["new_tokens"] = result.new_tokens;
    record["new_seconds"] = result.new_seconds;
    print(record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (::isatty(STDOUT_FILENO)) {
    print("\n");
  }
  flush();
  if (options.quiet)
    return;
  if (result.stop == FOVEA_STOP_CONTEXT) {
    fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
    check(fovea_context_get_info(context.get(), &info));
    note(*options.host, "stopped: the context of " + std::to_string(info.capacity) + " is full");
  }
  note(*options.host,
       "prompt " + rate(result.prompt_tokens, result.prompt_seconds) + ", text " +
           rate(result.new_tokens, result.new_seconds) +
           (options.temperature > 0 ? ", --seed=" + std::to_string(options.seed) : ""));
}

} // namespace

void addGenerate(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App *verb =
      addVerb(app, "generate", "Continue a text with a language model",
              "Examples:\n\n"
              "  PROGRAM generate model.fovea --prompt 'Once upon a time' -n 50\n"
              "  PROGRAM generate model.fovea --prompt-file - --temp 0 < question.txt\n"
              "  PROGRAM generate model.fovea --prompt 'A list:' --top-p 0.9 --seed 7\n\n"
              "With --temp 0 the likeliest token is taken each time. Otherwise the order is:\n"
              "repetition penalty, temperature, top-k, top-p, min-p. The same seed gives the\n"
              "same text with any number of threads.\n",
              options, host, code, [options] { generate(*options); });
  options->promptOption = verb->add_option("--prompt", options->prompt, "text to continue");
  options->fileOption = verb->add_option("--prompt-file", options->promptFile,
                                         "file with the text; - is standard input");
  options->idsOption =
      addIntegers(*verb, "--prompt-ids", &options->promptIds, "token ids instead of text: 1,2,3");
  addNumber(*verb, "-n,--count", options->count, "new tokens at most", 0, 1 << 30);
  addNumber(*verb, "--temp", options->temperature, "temperature; 0 is greedy", 0, 1000);
  addNumber(*verb, "--top-k", options->topK, "choose among the K likeliest; 0: all", 0, 1 << 30);
  addNumber(*verb, "--top-p", options->topP, "choose among the likeliest that reach P together",
            1e-6, 1);
  addNumber(*verb, "--min-p", options->minP,
            "choose among those with P times the likeliest's probability", 0, 1);
  addNumber(*verb, "--repeat-penalty", options->penalty, "weaken tokens seen before; 1: do not",
            1e-3, 1000);
  options->seedOption =
      verb->add_option("--seed", options->seed, "seed; without it a new one, which is printed");
  addNumber(*verb, "--prompt-chunk,--chunk", options->chunk, "tokens of the prompt to read at once",
            1);
  verb->add_flag("--ignore-end", options->ignoreEnd, "go on after an end token");
  addTraceOption(*verb, options->trace);
}

} // namespace fovea::verbs
