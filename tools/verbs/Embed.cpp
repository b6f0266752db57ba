// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `embed`: one vector a text, one line a vector.
#include "tools/verbs/Common.h"

#include <nlohmann/json.hpp>

namespace fovea::verbs {

namespace {

struct EmbedOptions : Common {
  std::vector<std::string> texts;
  std::string textFile;
  CLI::Option *textOption = nullptr, *fileOption = nullptr;
};

void embed(const EmbedOptions &options) {
  if (options.textOption->empty() && options.fileOption->empty())
    throw Failure{2, "expects --text or --text-file"};
  ModulePtr module = options.open();
  ContextPtr context = options.makeContext(module);
  std::vector<std::string> texts = options.texts;
  if (!options.fileOption->empty())
    for (std::string &line : readLines(options.textFile))
      texts.push_back(std::move(line));
  std::vector<fovea_text> views;
  for (const std::string &text : texts)
    views.push_back({text.data(), text.size()});
  float *vectors = nullptr;
  size_t width = 0, cut = 0;
  check(fovea_embed(context.get(), views.data(), views.size(), &vectors, &width, &cut));
  std::unique_ptr<float, void (*)(void *)> owner(vectors, fovea_free);
  if (cut > 0 && !options.quiet)
    note(*options.host, std::to_string(cut) + " of " + std::to_string(texts.size()) +
                            " texts were longer than the model takes and were cut");
  nlohmann::ordered_json record;
  record["width"] = width;
  record["cut"] = cut;
  record["embeddings"] = nlohmann::json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    if (options.json) {
      record["embeddings"].push_back(
          std::vector<float>(vectors + i * width, vectors + (i + 1) * width));
      continue;
    }
    std::string line;
    for (size_t j = 0; j < width; ++j)
      line += (j ? " " : "") + number(vectors[i * width + j], 9);
    print(line + "\n");
  }
  if (options.json)
    print(record.dump() + "\n");
}

} // namespace

void addEmbed(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<EmbedOptions>();
  CLI::App *verb = addVerb(app, "embed", "Turn texts into vectors",
                           "Prints one vector a line, numbers between spaces. Examples:\n\n"
                           "  PROGRAM embed model.fovea --text 'a cat' --text 'a dog'\n"
                           "  PROGRAM embed model.fovea --text-file - < sentences.txt\n",
                           options, host, code, [options] { embed(*options); });
  options->textOption = verb->add_option("--text", options->texts, "a text; may be given again")
                            ->type_size(1)
                            ->allow_extra_args(false);
  options->fileOption = verb->add_option("--text-file", options->textFile,
                                         "file with a text on each line; - is standard input");
}

} // namespace fovea::verbs
