// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header.
#include "tools/verbs/Texts.h"

#include <algorithm>

namespace fovea::verbs {

TextModel::TextModel(const Common &options, const char *verb) : HeadModel(options, verb) {
  chooseForward();
  requireTokenizer();
  for (const fovea_value_info &value : arguments)
    if (!isOfText(value))
      refuse("its entry takes '" + std::string(value.name) + "', which is not made of a text");
}

int64_t TextModel::findToken(const std::string &text) const {
  int64_t id = -1;
  check(fovea_module_find_token(module.get(), text.data(), text.size(), &id));
  return id;
}

std::string TextModel::decode(const std::vector<int64_t> &ids) const {
  char *text = nullptr;
  size_t size = 0;
  check(fovea_module_decode(module.get(), ids.data(), ids.size(), &text, &size));
  std::unique_ptr<char, void (*)(void *)> owner(text, fovea_free);
  std::string result(text, size);
  // The blank before a word.
  return result.substr(std::min(result.find_first_not_of(' '), result.size()));
}

void TextModel::run(const TokenRow &row) {
  setTokens({row});
  HeadModel::run();
}

void TextOptions::addTo(CLI::App &verb) {
  textOption = verb.add_option("--text", texts, "a text; may be given again")
                   ->type_size(1)
                   ->allow_extra_args(false);
  fileOption =
      verb.add_option("--text-file", file, "file with a text on each line; - is standard input");
}

std::vector<std::string> TextOptions::all() const {
  if (empty())
    throw Failure{2, "expects --text or --text-file"};
  std::vector<std::string> result = texts;
  if (!fileOption->empty()) {
    std::vector<std::string> lines = readLines(file);
    result.insert(result.end(), lines.begin(), lines.end());
  }
  return result;
}

} // namespace fovea::verbs
