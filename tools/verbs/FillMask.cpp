// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fill-mask`: the tokens that a masked language model expects, one after the other for each mask.
#include "tools/verbs/Numbers.h"
#include "tools/verbs/Texts.h"

namespace fovea::verbs {

namespace {

struct FillOptions : Common {
  TextOptions texts;
  std::string mask;
  int64_t top = 5;
};

/// The id of the token that stands for another: as --mask says, or as BERT and RoBERTa call it.
int64_t findMask(const TextModel &model, const FillOptions &options) {
  std::vector<std::string> names = {"[MASK]", "<mask>"};
  if (!options.mask.empty())
    names = {options.mask};
  for (const std::string &name : names)
    if (int64_t id = model.findToken(name); id >= 0)
      return id;
  throw Failure{1, options.mask.empty()
                       ? "the model's tokenizer has neither [MASK] nor <mask>: expects --mask"
                       : "the model's tokenizer has no token '" + options.mask + "'"};
}

void fillMask(const FillOptions &options) {
  std::vector<std::string> texts = options.texts.all();
  TextModel model(options, "fill masks");
  model.require("logits", 3, "a masked language model");
  auto vocabulary = static_cast<size_t>(model.width("logits"));
  if (model.width("logits") < 0 || model.width("logits") != model.vocabulary())
    throw Failure{1, options.file + ": cannot fill masks: its scores are not the vocabulary's"};
  const int64_t mask = findMask(model, options);
  Json record = Json::array();
  for (const std::string &text : texts) {
    TokenRow row = model.encode({text});
    model.run(row);
    std::vector<double> logits = model.result("logits");
    Json masks = Json::array();
    for (size_t i = 0; i < row.ids.size(); ++i) {
      if (row.ids[i] != mask)
        continue;
      Json candidates = Json::array();
      std::string lines = masks.empty() ? "" : "\n";
      for (const Scored &one : best(softmax(logits.data() + i * vocabulary, vocabulary),
                                    static_cast<size_t>(options.top))) {
        TokenRow filled = row;
        filled.ids[i] = static_cast<int64_t>(one.index);
        std::string token = model.decode({filled.ids[i]});
        candidates.push_back({{"token", token},
                              {"id", one.index},
                              {"probability", one.score},
                              {"text", model.decode(filled.ids)}});
        lines += probability(one.score) + " " + plain(token) + "\n";
      }
      masks.push_back(candidates);
      if (!options.json)
        print(lines);
    }
    if (masks.empty())
      throw Failure{1, "expects a mask in the text, got none: " + text};
    record.push_back({{"text", text}, {"masks", masks}});
  }
  if (options.json)
    printJson({{"texts", record}});
}

} // namespace

void addFillMask(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<FillOptions>();
  CLI::App *verb =
      addVerb(app, "fill-mask", "Say which tokens a masked language model expects",
              "Prints the likeliest tokens for each mask with their probabilities. "
              "Example:\n\n"
              "  PROGRAM fill-mask bert.fovea --text 'Paris is the [MASK] of France.'\n",
              options, host, code, [options] { fillMask(*options); });
  options->texts.addTo(*verb);
  verb->add_option("--mask", options->mask, "the mask's token; without it [MASK] or <mask>");
  verb->add_option("--top", options->top, "how many tokens for each mask")
      ->check(from(1))
      ->capture_default_str();
}

} // namespace fovea::verbs
