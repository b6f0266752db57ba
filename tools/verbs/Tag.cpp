// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tag`: the label of each token, one line a token, or of what tokens with one label make up.
#include "tools/verbs/Texts.h"

namespace fovea::verbs {

namespace {

struct TagOptions : Common {
  TextOptions texts;
  bool join = false;
};

/// Neighbouring tokens with one label, which begins with B- where another of its kind begins.
struct Span {
  std::string label;
  std::vector<int64_t> ids;
  double sum = 0;
};

/// "PER" of "B-PER" and "I-PER".
std::string kindOf(const std::string &label) {
  bool marked = label.size() > 2 && label[1] == '-' && (label[0] == 'B' || label[0] == 'I');
  return marked ? label.substr(2) : label;
}

void tag(const TagOptions &options) {
  std::vector<std::string> texts = options.texts.all();
  TextModel model(options, "tag");
  model.require("logits", 3, "a model that classifies tokens");
  std::vector<std::string> labels = model.requireLabels();
  Json record = Json::array();
  for (size_t number = 0; number < texts.size(); ++number) {
    TokenRow row = model.encode({texts[number]});
    model.run(row);
    std::vector<double> logits = model.result("logits");
    std::vector<Span> spans;
    for (size_t i = 0; i < row.ids.size(); ++i) {
      if (row.texts[i] < 0)
        continue;
      Scored one = best(softmax(logits.data() + i * labels.size(), labels.size()), 1).front();
      const std::string &label = labels[one.index];
      bool begins = !options.join || spans.empty() || label.compare(0, 2, "B-") == 0 ||
                    spans.back().label != kindOf(label);
      if (begins)
        spans.push_back({options.join ? kindOf(label) : label, {}, 0});
      spans.back().ids.push_back(row.ids[i]);
      spans.back().sum += one.score;
    }
    Json found = Json::array();
    if (number > 0 && !options.json)
      print("\n");
    for (const Span &span : spans) {
      if (options.join && span.label == "O")
        continue;
      double score = span.sum / static_cast<double>(span.ids.size());
      std::string text = model.decode(span.ids);
      found.push_back({{"text", text}, {"label", span.label}, {"probability", score}});
      if (!options.json)
        print(plain(text) + " " + plain(span.label) + " " + probability(score) + "\n");
    }
    record.push_back({{"text", texts[number]}, {options.join ? "entities" : "tokens", found}});
  }
  if (options.json)
    printJson({{"texts", record}});
}

} // namespace

void addTag(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<TagOptions>();
  CLI::App *verb = addVerb(app, "tag", "Say which label each token of a text has",
                           "Prints a token, its likeliest label and the probability a line. "
                           "Example:\n\n"
                           "  PROGRAM tag ner.fovea --entities --text 'Ada lived in London.'\n",
                           options, host, code, [options] { tag(*options); });
  options->texts.addTo(*verb);
  verb->add_flag("--entities", options->join,
                 "neighbours whose labels differ in B- and I- alone are one, and those of label O "
                 "are left out");
}

} // namespace fovea::verbs
