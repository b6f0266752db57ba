// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One entry of a model that is run, for the verbs that say what its heads found.
#ifndef FOVEA_TOOLS_VERBS_HEADS_H
#define FOVEA_TOOLS_VERBS_HEADS_H

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

/// Every function throws Failure.
class HeadModel {
public:
  /// Opens FILE of `options`.
  HeadModel(const Common &options, const char *verb);

  /// One text or two as a row. Notes on standard error if something was cut.
  TokenRow encode(const std::vector<std::string> &texts) const;
  /// Refuses a model without the result `name` of so many axes; `wanted` says what has it.
  void require(const char *name, int32_t axes, const char *wanted) const;
  /// Refuses a model whose scores have no names.
  std::vector<std::string> requireLabels() const;
  int64_t vocabulary() const { return info.vocabulary_size; }
  fovea_score_function scoreFunction() const { return info.score_function; }
  /// The size of the last axis of the result `name`, -1 if it is known at the call only.
  int64_t width(const char *name) const;
  /// Of the last run: the numbers of the result `name`, all of them.
  std::vector<double> result(const char *name) const;

protected:
  [[noreturn]] void refuse(const std::string &why) const;
  void requireTokenizer() const;
  /// The entry that is run: `forward`, or that of a number.
  void chooseForward();
  void choose(size_t number);
  /// Whether an argument is made of texts: the numbers of tokens or what goes with them.
  static bool isOfText(const fovea_value_info &value);
  const fovea_value_info *find(const char *name) const;
  /// Arguments made of texts; shorter rows are filled behind their tokens.
  void setTokens(const std::vector<TokenRow> &rows);
  void set(const fovea_value_info &argument, const void *data, std::vector<int64_t> shape);
  void run();

  const Common &options;
  const char *verb;
  ModulePtr module;
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
  std::vector<fovea_value_info> arguments, results;

private:
  ContextPtr context;
  CallPtr call;
  std::vector<int64_t> tokenIds, tokenTypes, tokenMask; ///< Used until the run has ended.
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

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_HEADS_H
