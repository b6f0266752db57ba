// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts that a verb is given, and texts through the entry `forward` of an encoder, for the verbs
// that say what its heads found.
#ifndef FOVEA_TOOLS_VERBS_TEXTS_H
#define FOVEA_TOOLS_VERBS_TEXTS_H

#include "tools/verbs/Common.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace fovea::verbs {

/// A row of tokens; of each its id, and which text it is of (-1: added by the tokenizer).
struct TokenRow {
  std::vector<int64_t> ids, types, texts;
};

/// One of the places that a sum of probabilities is spread over.
struct Scored {
  size_t index;
  double score;
};

/// A model whose heads tell something of a text. Every function throws Failure.
class TextModel {
public:
  /// Opens FILE of `options`, whose entry `forward` must take nothing but what texts are made of.
  TextModel(const Common &options, const char *verb);

  /// One text or two as a row. Notes on standard error if something was cut.
  TokenRow encode(const std::vector<std::string> &texts) const;
  /// The id of the token `text`, -1 if there is none.
  int64_t findToken(const std::string &text) const;
  std::string decode(const std::vector<int64_t> &ids) const;

  /// Refuses a model without the result `name` of so many axes; `wanted` says what has it.
  void require(const char *name, int32_t axes, const char *wanted) const;
  /// Refuses a model whose scores have no names.
  std::vector<std::string> requireLabels() const;
  int64_t vocabulary() const { return info.vocabulary_size; }
  fovea_score_function scoreFunction() const { return info.score_function; }
  /// The size of the last axis of the result `name`, -1 if it is known at the call only.
  int64_t width(const char *name) const;

  void run(const TokenRow &row);
  /// Of the last run: the numbers of the result `name`, all of them.
  std::vector<double> result(const char *name) const;

private:
  [[noreturn]] void refuse(const std::string &why) const;
  const fovea_value_info *find(const char *name) const;

  const Common &options;
  const char *verb;
  ModulePtr module;
  ContextPtr context;
  CallPtr call;
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
  std::vector<fovea_value_info> arguments, results;
};

using Json = nlohmann::ordered_json;
/// On one line, with U+FFFD for what is no UTF-8.
void printJson(const Json &record);
/// "0.9876": a probability for a line.
std::string probability(double value);

/// `count` numbers from `first` on as probabilities.
std::vector<double> softmax(const double *first, size_t count);
/// The best `count` of `scores`, best first; of equals the first.
std::vector<Scored> best(const std::vector<double> &scores, size_t count);

/// Texts of --text and of the lines of --text-file.
struct TextOptions {
  std::vector<std::string> texts;
  std::string file;
  CLI::Option *textOption = nullptr, *fileOption = nullptr;
  void addTo(CLI::App &verb);
  std::vector<std::string> all() const;
};

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_TEXTS_H
