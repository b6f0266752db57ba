// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `classify`: the label of a text, of two texts together, or of an image, one line each.
#include "tools/verbs/Images.h"
#include "tools/verbs/Numbers.h"
#include "tools/verbs/Texts.h"

#include <cmath>

namespace fovea::verbs {

namespace {

struct ClassifyOptions : Common {
  TextOptions texts;
  std::vector<std::string> seconds, images, labels;
  std::string pattern = "{}";
  int64_t top = 1;
};

std::vector<double> probabilities(const std::vector<double> &scores,
                                  fovea_score_function function) {
  if (function == FOVEA_SOFTMAX)
    return softmax(scores.data(), scores.size());
  std::vector<double> result = scores;
  if (function == FOVEA_SIGMOID)
    for (double &value : result)
      value = 1 / (1 + std::exp(-value));
  return result;
}

/// Of one text or image: prints its best labels, or appends all of them to `record`.
void report(const ClassifyOptions &options, const std::vector<double> &scores,
            const std::vector<std::string> &labels, const char *kind, const std::string &what,
            Json &record) {
  if (scores.size() != labels.size())
    throw Failure{1, what + ": expects " + std::to_string(labels.size()) + " scores, got " +
                         std::to_string(scores.size())};
  Json found = Json::array();
  std::string line;
  bool all = options.top == 0 || options.json;
  for (const Scored &one : best(scores, all ? scores.size() : static_cast<size_t>(options.top))) {
    found.push_back({{"label", labels[one.index]}, {"score", one.score}});
    line += (line.empty() ? "" : "  ") + plain(labels[one.index]) + " " + probability(one.score);
  }
  record.push_back({{kind, what}, {"scores", found}});
  if (!options.json)
    print(line + "\n");
}

void classifyTexts(const ClassifyOptions &options) {
  std::vector<std::string> texts = options.texts.all();
  if (!options.seconds.empty() && options.seconds.size() != texts.size())
    throw Failure{2, "expects a --pair for each text, " + std::to_string(texts.size()) + ", got " +
                         std::to_string(options.seconds.size())};
  TextModel model(options, "classify");
  model.require("logits", 2, "a model that classifies texts");
  std::vector<std::string> labels = model.requireLabels();
  Json record = Json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::string> pair = {texts[i]};
    if (!options.seconds.empty())
      pair.push_back(options.seconds[i]);
    model.run(model.encode(pair));
    report(options, probabilities(model.result("logits"), model.scoreFunction()), labels, "text",
           texts[i], record);
  }
  if (options.json)
    printJson({{"texts", record}});
}

void classifyImages(const ClassifyOptions &options) {
  ImageModel model(options, "classify images", ImageEntry::Forward);
  model.require("logits", 2, "a model that classifies images");
  std::vector<std::string> labels = model.requireLabels();
  Json record = Json::array();
  for (const std::string &path : options.images)
    for (const std::vector<float> &image : model.read(path)) {
      model.run(image);
      report(options, probabilities(model.result("logits"), model.scoreFunction()), labels, "image",
             path, record);
    }
  if (options.json)
    printJson({{"images", record}});
}

/// The labels in the place of {} in the pattern.
std::vector<TokenRow> encodeLabels(const ClassifyOptions &options, const ImageModel &model) {
  const size_t at = options.pattern.find("{}");
  if (at == std::string::npos)
    throw Failure{2, "expects a --template with {} where the label stands, got " + options.pattern};
  std::vector<TokenRow> rows;
  for (const std::string &label : options.labels) {
    std::string text = options.pattern;
    rows.push_back(model.encode({text.replace(at, 2, label)}));
  }
  return rows;
}

/// Which of the texts that are given an image is nearest to (Radford et al. 2021, section 3.1).
void compareWithLabels(const ClassifyOptions &options) {
  ImageModel model(options, "compare images with labels", ImageEntry::WithTexts);
  model.require("logits_per_image", 2, "a model that compares images with texts");
  const std::vector<TokenRow> rows = encodeLabels(options, model);
  Json record = Json::array();
  for (const std::string &path : options.images)
    for (const std::vector<double> &scores : model.compare(path, rows))
      report(options, probabilities(scores, model.scoreFunction()), options.labels, "image", path,
             record);
  if (options.json)
    printJson({{"images", record}});
}

void classify(const ClassifyOptions &options) {
  if (options.images.empty() && !options.labels.empty())
    throw Failure{2, "expects images beside --label"};
  if (options.images.empty())
    return classifyTexts(options);
  if (!options.texts.empty() || !options.seconds.empty())
    throw Failure{2, "expects texts or images, got both"};
  if (options.labels.empty())
    classifyImages(options);
  else
    compareWithLabels(options);
}

} // namespace

void addClassify(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<ClassifyOptions>();
  CLI::App *verb =
      addVerb(app, "classify", "Say which label a text or an image has",
              "Prints one line a text or image: its likeliest label with the probability. "
              "Examples:\n\n"
              "  PROGRAM classify model.fovea --text 'I liked it.' --text 'Never again.'\n"
              "  PROGRAM classify nli.fovea --text 'A cat sleeps.' --pair 'It is awake.'\n"
              "  PROGRAM classify vit.fovea photo.png holiday.jpg --top 5\n"
              "  PROGRAM classify clip.fovea photo.png --label 'a cat' --label 'a dog'\n",
              options, host, code, [options] { classify(*options); });
  addImages(*verb, options->images);
  options->texts.addTo(*verb);
  verb->add_option("--pair", options->seconds,
                   "the second of two texts that are classified together; one for each text")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->add_option("--label", options->labels,
                   "what may be on an image, for models that compare images with texts; may be "
                   "given again")
      ->type_size(1)
      ->allow_extra_args(false);
  verb->add_option("--template", options->pattern, "the text in which a label stands, as {}")
      ->capture_default_str();
  verb->add_option("--top", options->top, "how many labels; 0: all, as --json has them always")
      ->check(from(0))
      ->capture_default_str();
}

} // namespace fovea::verbs
