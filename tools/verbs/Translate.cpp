// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `translate`: what an encoder-decoder makes of each text, one line a text.
#include "tools/verbs/Numbers.h"
#include "tools/verbs/Search.h"
#include "tools/verbs/Texts.h"

#include <iostream>

namespace fovea::verbs {

namespace {

struct TranslateOptions : Common {
  TextOptions texts;
  SearchOptions search;
  int32_t best = 1;
  int64_t first = -1;
};

/// What the callback collects of one text.
struct Written {
  std::vector<std::string> texts;
  Json records = Json::array();
};

void onText(void *user, size_t /*rank*/, const fovea_translation *translation) {
  Written &written = *static_cast<Written *>(user);
  written.texts.emplace_back(translation->text, translation->text_size);
  Json record;
  record["text"] = written.texts.back();
  record["tokens"] =
      std::vector<int64_t>(translation->ids, translation->ids + translation->id_count);
  record["score"] = translation->score;
  record["ended"] = translation->ended != 0;
  written.records.push_back(std::move(record));
}

void translate(const TranslateOptions &options) {
  if (options.best > options.search.beams)
    throw Failure{2, "--n-best expects at most as many texts as --beams, " +
                         std::to_string(options.search.beams) + ", got " +
                         std::to_string(options.best)};
  std::vector<std::string> texts = options.texts.all();
  ModulePtr module = options.open();
  ContextPtr context = options.makeContext(module);
  bool shows = terminalOnStandardError() && !options.quiet && texts.size() > 1;
  size_t tokens = 0;
  double seconds = 0;
  Json record = Json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    Written written;
    fovea_translate_options request = FOVEA_TRANSLATE_OPTIONS_INIT;
    request.source = texts[i].data();
    request.source_size = texts[i].size();
    options.search.fill(request);
    request.count = options.best;
    request.forced_begin_token = options.first;
    request.user = &written;
    request.on_text = onText;
    fovea_translate_result result = FOVEA_TRANSLATE_RESULT_INIT;
    check(fovea_translate(context.get(), &request, &result));
    tokens += result.new_tokens;
    seconds += result.source_seconds + result.new_seconds;
    if (options.json)
      record.push_back({{"source", texts[i]},
                        {"source_tokens", result.source_tokens},
                        {"seconds", result.source_seconds + result.new_seconds},
                        {"texts", std::move(written.records)}});
    else
      for (const std::string &text : written.texts)
        print(text + "\n");
    if (shows)
      std::cerr << "\r" << i + 1 << " of " << texts.size() << " texts"
                << (i + 1 == texts.size() ? "\r\x1b[K" : "") << std::flush;
  }
  if (options.json)
    printJson(record);
  flush();
  if (!options.quiet)
    note(*options.host, std::to_string(texts.size()) +
                            (texts.size() == 1 ? " text, " : " texts, ") + rate(tokens, seconds));
}

} // namespace

void addTranslate(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<TranslateOptions>();
  CLI::App *verb =
      addVerb(app, "translate", "Turn texts into others by an encoder-decoder",
              "Prints what the model makes of each text, one line each (with --n-best N lines). "
              "Examples:\n\n"
              "  PROGRAM translate model.fovea --text 'Ein Hund rennt.'\n"
              "  PROGRAM translate model.fovea --beams 4 --text-file - < sentences.txt\n",
              options, host, code, [options] { translate(*options); });
  options->texts.addTo(*verb);
  options->search.addTo(*verb, "a text");
  addNumber(*verb, "--n-best", options->best, "so many of the best texts, the best first", 1, 1024);
  addNumber(*verb, "--first-token", options->first,
            "the id of each text's first token, a language's for example; -1: as the model says",
            -1, 1 << 30);
}

} // namespace fovea::verbs
