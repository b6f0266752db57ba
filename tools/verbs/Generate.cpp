// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `generate`: continues a prompt; the text goes to standard output as it comes. Several prompts are
// continued together, and their texts printed when all are there.
#include "tools/verbs/Common.h"
#include "tools/verbs/Continuation.h"
#include "tools/verbs/Numbers.h"
#include "tools/verbs/Trace.h"

#include <chrono>
#include <unistd.h>

namespace fovea::verbs {

namespace {

struct GenerateOptions : Common {
  std::vector<std::string> prompts;
  std::string promptFile, promptsFile, trace;
  std::vector<int64_t> promptIds;
  CLI::Option *promptOption = nullptr, *fileOption = nullptr, *idsOption = nullptr;
  CLI::Option *linesOption = nullptr;
  int32_t batch = 8;
  Choosing choosing;

  bool areSeveral() const { return prompts.size() > 1 || !linesOption->empty(); }
};

std::string seedNote(const Choosing &choosing) {
  return choosing.temperature > 0 ? ", --seed=" + std::to_string(choosing.seed) : "";
}

std::string draftNote(const GenerateOptions &options, const fovea_generate_result &result) {
  return options.choosing.drafting.isGiven()
             ? ", " + std::to_string(result.accepted_tokens) + " of " +
                   std::to_string(result.draft_tokens) + " drafted tokens accepted"
             : "";
}

/// Each text on a line of its own, or all in one array.
void generateSeveral(GenerateOptions &options) {
  for (auto [isGiven, name] : {std::pair(options.choosing.cache.isGiven(), "--prompt-cache"),
                               {options.choosing.drafting.isGiven(), "--draft"}})
    if (isGiven)
      throw Failure{2, std::string(name) + " expects one prompt"};
  std::vector<std::string> prompts = options.prompts;
  if (!options.linesOption->empty())
    prompts = readLines(options.promptsFile);
  if (prompts.empty())
    throw Failure{1, options.promptsFile + ": expects a prompt on each line, got no line"};
  ModulePtr module = options.open();
  ContextPtr context = options.makeContext(module, /*profile=*/false, !options.trace.empty());
  std::vector<Continuation> texts;
  texts.reserve(prompts.size());
  std::vector<fovea_generate_options> requests(prompts.size(), FOVEA_GENERATE_OPTIONS_INIT);
  std::vector<fovea_generate_result> results(prompts.size(), FOVEA_GENERATE_RESULT_INIT);
  std::vector<const fovea_generate_options *> requestOf;
  std::vector<fovea_generate_result *> resultOf;
  for (size_t i = 0; i < prompts.size(); ++i) {
    requests[i].prompt = prompts[i].data();
    requests[i].prompt_size = prompts[i].size();
    texts.emplace_back(module, options, /*isOneOfSeveral=*/true)
        .fill(requests[i], options.choosing);
    requestOf.push_back(&requests[i]);
    resultOf.push_back(&results[i]);
  }
  auto begin = std::chrono::steady_clock::now();
  check(fovea_generate_texts(context.get(), requestOf.data(), prompts.size(), options.batch,
                             resultOf.data()));
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!options.trace.empty())
    writeTrace(module, context, options.trace);
  size_t tokens = 0;
  Json record = Json::array();
  for (size_t i = 0; i < prompts.size(); ++i) {
    texts[i].requireWhole();
    tokens += results[i].new_tokens;
    if (options.json)
      record.push_back(texts[i].record(results[i], options.choosing));
    else
      print(texts[i].text() + "\n");
  }
  if (options.json)
    printJson(record);
  flush();
  if (!options.quiet)
    note(*options.host, std::to_string(prompts.size()) +
                            (prompts.size() == 1 ? " text, " : " texts, ") + rate(tokens, seconds) +
                            seedNote(options.choosing));
}

void generate(GenerateOptions &options) {
  int given = !options.promptOption->empty() + !options.fileOption->empty() +
              !options.idsOption->empty() + !options.linesOption->empty();
  if (given != 1)
    throw Failure{2, "expects exactly one of --prompt, --prompts, --prompt-file and --prompt-ids"};
  options.choosing.settle(options);
  if (options.areSeveral())
    return generateSeveral(options);
  ModulePtr module = options.open();
  ContextPtr context = options.makeContext(module, /*profile=*/false, !options.trace.empty());
  std::string text;
  if (!options.fileOption->empty())
    text = readText(options.promptFile);
  else if (!options.prompts.empty())
    text = options.prompts.front();
  fovea_generate_options request = FOVEA_GENERATE_OPTIONS_INIT;
  if (!options.idsOption->empty()) {
    request.prompt_ids = options.promptIds.data();
    request.prompt_id_count = options.promptIds.size();
  } else {
    request.prompt = text.data();
    request.prompt_size = text.size();
  }
  options.choosing.drafting.open(options);
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
  note(*options.host, "prompt " +
                          rate(result.prompt_tokens - result.cached_tokens, result.prompt_seconds) +
                          ", text " + rate(result.new_tokens, result.new_seconds) +
                          draftNote(options, result) + seedNote(options.choosing));
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
              "  PROGRAM generate model.fovea --prompt-file long.txt --prompt-cache long.kv\n"
              "  PROGRAM generate model.fovea --prompts lines.txt --batch 16 --json\n\n"
              "With --temp 0 the likeliest token is taken each time. Otherwise the order is:\n"
              "repetition penalty, temperature, top-k, top-p, min-p. The same seed gives the\n"
              "same text with any number of threads.\n",
              options, host, code, [options] { generate(*options); });
  options->promptOption =
      verb->add_option("--prompt", options->prompts, "text to continue; may be given again")
          ->type_size(1)
          ->allow_extra_args(false);
  options->linesOption =
      verb->add_option("--prompts", options->promptsFile,
                       "file with a text to continue on each line; - is standard input");
  options->fileOption = verb->add_option("--prompt-file", options->promptFile,
                                         "file with the text; - is standard input");
  options->idsOption =
      addIntegers(*verb, "--prompt-ids", &options->promptIds, "token ids instead of text: 1,2,3");
  addNumber(*verb, "--batch", options->batch, "of several texts, so many at once", 1, 1024);
  options->choosing.addTo(*verb);
  addTraceOption(*verb, options->trace);
}

} // namespace fovea::verbs
