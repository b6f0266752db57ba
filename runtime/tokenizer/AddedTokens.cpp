// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The leftmost longest match wins; it is found by narrowing a sorted list byte
// by byte, which costs the token's length times a logarithm.
#include "runtime/tokenizer/AddedTokens.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/status/Status.h"
#include "runtime/tokenizer/Unicode.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <tuple>

using namespace fovea;

/// Normalizes a token as text is, which takes as long each time that the token is decoded.
static bool normalizeToken(const Normalizers &normalizers, Text &text, std::string &error) {
  constexpr size_t most = 64 << 10;
  try {
    normalizers.apply(text);
  } catch (const Failure &failure) {
    error = "expects added tokens that can be normalized: " + failure.message;
    return false;
  }
  if (text.bytes.size() > most)
    error = "expects added tokens of at most 64 KiB when they are normalized, got " +
            std::to_string(text.bytes.size()) + " bytes";
  return text.bytes.size() <= most;
}

bool AddedTokens::open(const tables::Tokenizer &table, const Normalizers &normalizers,
                       std::string &error) {
  if (!table.added_tokens())
    return true;
  for (const tables::AddedToken *added : *table.added_tokens()) {
    std::string content = added->content()->str();
    if (!isUtf8(content)) {
      error = "expects added tokens with an id and some UTF-8 text";
      return false;
    }
    Token token{content, added->id(), added->single_word(), added->left_strip(),
                added->right_strip()};
    if (added->normalized() && !normalizers.empty()) {
      Text text{content, content.empty() ? 0 : size_t(utf8At(content, 0).size)};
      if (!normalizeToken(normalizers, text, error))
        return false;
      token.searched = text.bytes;
    }
    if (token.id < 0 || token.id == INT32_MAX || token.searched.empty() ||
        !isUtf8(token.searched)) {
      error =
          "expects added tokens with an id and some UTF-8 text, got id " + std::to_string(token.id);
      return false;
    }
    if (added->special())
      special.push_back(content);
    byId.emplace_back(token.id, token.searched);
    starts[added->normalized()][static_cast<unsigned char>(token.searched[0])] = true;
    sets[added->normalized()].push_back(std::move(token));
  }
  for (Set &set : sets)
    std::sort(set.begin(), set.end(), [](const Token &a, const Token &b) {
      return std::tie(a.searched, a.id) < std::tie(b.searched, b.id);
    });
  std::sort(special.begin(), special.end());
  std::sort(byId.begin(), byId.end());
  return true;
}

const AddedTokens::Token *AddedTokens::longestAt(const Set &set, std::string_view text, size_t at) {
  auto low = set.begin(), high = set.end();
  const Token *longest = nullptr;
  for (size_t depth = 0; at + depth < text.size() && low != high; ++depth) {
    auto next = static_cast<unsigned char>(text[at + depth]);
    // All of [low, high) share their first `depth` bytes; the one that ends
    // there, if any, comes first.
    auto byteOf = [&](const Token &token) {
      return token.searched.size() > depth
                 ? static_cast<int>(static_cast<unsigned char>(token.searched[depth]))
                 : -1;
    };
    low = std::lower_bound(low, high, next,
                           [&](const Token &token, int byte) { return byteOf(token) < byte; });
    high = std::upper_bound(low, high, next,
                            [&](int byte, const Token &token) { return byte < byteOf(token); });
    if (low != high && low->searched.size() == depth + 1)
      longest = &*low;
  }
  return longest;
}

void AddedTokens::split(std::string_view text, bool normalized, const Found &found) const {
  const Set &set = sets[normalized];
  const bool *start = starts[normalized];
  size_t done = 0;
  for (size_t at = 0; !set.empty() && at < text.size();) {
    const Token *token =
        start[static_cast<unsigned char>(text[at])] ? longestAt(set, text, at) : nullptr;
    if (!token) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + token->searched.size();
    at = end;
    if (token->singleWord) {
      bool wordBefore = begin > 0 && unicode::isWord(lastUtf8(text.substr(0, begin)).codePoint);
      bool wordAfter = end < text.size() && unicode::isWord(utf8At(text, end).codePoint);
      if (wordBefore || wordAfter)
        continue;
    }
    while (token->leftStrip && begin > done) {
      Utf8Char last = lastUtf8(text.substr(done, begin - done));
      if (!unicode::isWhitespace(last.codePoint))
        break;
      begin -= last.size;
    }
    while (token->rightStrip && end < text.size()) {
      Utf8Char next = utf8At(text, end);
      if (!unicode::isWhitespace(next.codePoint))
        break;
      end += next.size;
    }
    if (done < begin)
      found(-1, done, begin);
    found(token->id, std::min(begin, end), end);
    done = end;
  }
  if (done < text.size())
    found(-1, done, text.size());
}

const std::string *AddedTokens::text(int32_t id) const {
  auto at = std::lower_bound(byId.begin(), byId.end(), id,
                             [](const auto &entry, int32_t key) { return entry.first < key; });
  return at != byId.end() && at->first == id ? &at->second : nullptr;
}

bool AddedTokens::isSpecial(std::string_view text) const {
  return std::binary_search(special.begin(), special.end(), text);
}
