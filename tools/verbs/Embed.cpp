// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `embed`: one vector a text, one line a vector.
#include "tools/verbs/Texts.h"

namespace fovea::verbs {

namespace {

struct EmbedOptions : Common {
  TextOptions texts;
};

void embed(const EmbedOptions &options) {
  std::vector<std::string> texts = options.texts.all();
  ModulePtr module = options.open();
  ContextPtr context = options.makeContext(module);
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
  Json record;
  record["width"] = width;
  record["cut"] = cut;
  record["embeddings"] = Json::array();
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
  options->texts.addTo(*verb);
}

} // namespace fovea::verbs
