// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens that are found in text before, and instead of, what the model does.
#ifndef FOVEA_RUNTIME_TOKENIZER_ADDEDTOKENS_H
#define FOVEA_RUNTIME_TOKENIZER_ADDEDTOKENS_H

#include "runtime/tokenizer/Normalizers.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea {

class AddedTokens {
public:
  /// Checks the table and normalizes what is searched in normalized text.
  bool open(const tables::Tokenizer &table, const Normalizers &normalizers, std::string &error);

  /// Cuts `text` at the tokens that are searched in normalized text, or at the
  /// others. Calls `found(id, begin, end)` in order, with id -1 between tokens;
  /// empty parts are left out.
  using Found = std::function<void(int32_t id, size_t begin, size_t end)>;
  void split(std::string_view text, bool normalized, const Found &found) const;

  /// What decoding writes for `id`, or null if it is no added token.
  const std::string *text(int32_t id) const;
  /// Whether `text` is that of a special token.
  bool isSpecial(std::string_view text) const;
  size_t size() const { return byId.size(); }

private:
  struct Token {
    std::string searched;
    int32_t id;
    bool singleWord, leftStrip, rightStrip;
  };
  /// Tokens sorted by what is searched for.
  using Set = std::vector<Token>;
  static const Token *longestAt(const Set &set, std::string_view text, size_t at);

  Set sets[2]; ///< Searched in the input; in normalized text.
  bool starts[2][256] = {};
  std::vector<std::pair<int32_t, std::string>> byId; ///< Sorted; content.
  std::vector<std::string> special;                  ///< Sorted.
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_ADDEDTOKENS_H
