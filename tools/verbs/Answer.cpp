// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `answer`: the part of a passage that answers a question.
#include "tools/verbs/Numbers.h"
#include "tools/verbs/Texts.h"

namespace fovea::verbs {

namespace {

struct AnswerOptions : Common {
  std::string question, passage, passageFile;
  CLI::Option *passageOption = nullptr, *fileOption = nullptr;
  int64_t longest = 15;
};

void answer(const AnswerOptions &options) {
  if (options.passageOption->empty() == options.fileOption->empty())
    throw Failure{2, "expects one of --passage and --passage-file"};
  std::string passage =
      options.fileOption->empty() ? options.passage : readText(options.passageFile);
  TextModel model(options, "answer");
  model.require("start_logits", 2, "a model that answers questions");
  model.require("end_logits", 2, "a model that answers questions");
  TokenRow row = model.encode({options.question, passage});
  std::vector<size_t> places; // of the passage
  for (size_t i = 0; i < row.ids.size(); ++i)
    if (row.texts[i] == 1)
      places.push_back(i);
  if (places.empty())
    throw Failure{1, "expects a passage, got none that fits behind the question"};
  model.run(row);
  auto spread = [&](const char *name) {
    std::vector<double> all = model.result(name), scores;
    for (size_t place : places)
      scores.push_back(all[place]);
    return softmax(scores.data(), scores.size());
  };
  std::vector<double> starts = spread("start_logits"), ends = spread("end_logits");
  size_t start = 0, end = 0;
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t j = i; j < places.size() && j - i < static_cast<size_t>(options.longest); ++j)
      if (starts[i] * ends[j] > starts[start] * ends[end]) {
        start = i;
        end = j;
      }
  std::vector<int64_t> ids(row.ids.begin() + static_cast<std::ptrdiff_t>(places[start]),
                           row.ids.begin() + static_cast<std::ptrdiff_t>(places[end]) + 1);
  std::string text = model.decode(ids);
  double score = starts[start] * ends[end];
  if (options.json)
    printJson(
        {{"answer", text}, {"probability", score}, {"first_token", start}, {"last_token", end}});
  else
    print(plain(text) + "\n");
}

} // namespace

void addAnswer(CLI::App &app, const Host &host, int &code) {
  auto options = std::make_shared<AnswerOptions>();
  CLI::App *verb = addVerb(app, "answer", "Find the answer to a question in a passage",
                           "Prints the part of the passage that answers the question. Example:\n\n"
                           "  PROGRAM answer squad.fovea --question 'Who lived here?' "
                           "--passage 'Ada lived here.'\n",
                           options, host, code, [options] { answer(*options); });
  verb->add_option("--question", options->question, "the question")->required();
  options->passageOption =
      verb->add_option("--passage", options->passage, "where the answer stands");
  options->fileOption = verb->add_option("--passage-file", options->passageFile,
                                         "a file with the passage; - is standard input");
  verb->add_option("--longest", options->longest, "tokens of the longest answer")
      ->check(from(1))
      ->capture_default_str();
}

} // namespace fovea::verbs
