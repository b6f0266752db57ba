// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `embed`: one vector a text or image, one line a vector.
#include "tools/verbs/Images.h"
#include "tools/verbs/Texts.h"

namespace fovea::verbs {

namespace {

struct EmbedOptions : Common {
  TextOptions texts;
  std::vector<std::string> images;
};

/// A vector as a line, or at the end of `record`.
void give(const EmbedOptions &options, const float *vector, size_t width, Json &record) {
  if (options.json) {
    record["embeddings"].push_back(std::vector<float>(vector, vector + width));
    return;
  }
  std::string line;
  for (size_t j = 0; j < width; ++j)
    line += (j ? " " : "") + number(vector[j], 9);
  print(line + "\n");
}

void embedImages(const EmbedOptions &options) {
  ImageModel model(options, "embed images", ImageEntry::Embedding);
  Json record;
  record["width"] = model.width(model.embedding());
  record["embeddings"] = Json::array();
  for (const std::string &path : options.images)
    for (const std::vector<float> &image : model.read(path)) {
      model.run(image);
      std::vector<double> numbers = model.result(model.embedding());
      std::vector<float> vector(numbers.begin(), numbers.end());
      give(options, vector.data(), vector.size(), record);
    }
  if (options.json)
    print(record.dump() + "\n");
}

void embedTexts(const EmbedOptions &options) {
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
  for (size_t i = 0; i < texts.size(); ++i)
    give(options, vectors + i * width, width, record);
  if (options.json)
    print(record.dump() + "\n");
}

void embed(const EmbedOptions &options) {
  if (options.images.empty())
    return embedTexts(options);
  if (!options.texts.empty())
    throw Failure{2, "expects texts or images, got both"};
  embedImages(options);
}

} // namespace

void addEmbed(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<EmbedOptions>();
  CLI::App *verb = addVerb(app, "embed", "Turn texts or images into vectors",
                           "Prints one vector a line, numbers between spaces. Examples:\n\n"
                           "  PROGRAM embed model.fovea --text 'a cat' --text 'a dog'\n"
                           "  PROGRAM embed model.fovea --text-file - < sentences.txt\n"
                           "  PROGRAM embed clip.fovea photo.png holiday.jpg\n",
                           options, host, code, [options] { embed(*options); });
  addImages(*verb, options->images);
  options->texts.addTo(*verb);
}

} // namespace fovea::verbs
