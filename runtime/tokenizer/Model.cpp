// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the tables of a model, and encodes by whole words or by the
// longest-match-first WordPiece of BERT.
#include "runtime/tokenizer/Model.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace fovea;

static_assert(sizeof(tables::Merge) == 12, "merges are three numbers");

bool Model::open(const tables::Tokenizer &tokenizer, std::string &error) {
  table = tokenizer.model();
  if (table->kind() > tables::ModelKind::MAX) {
    error = "expects a known model, got kind " + std::to_string(int(table->kind()));
    return false;
  }
  if (!words.open(*table->vocabulary(), error))
    return false;
  unknown = table->unknown();
  if (unknown < -1 || unknown >= static_cast<int64_t>(words.size())) {
    error = "expects an unknown token below " + std::to_string(words.size()) + ", got " +
            std::to_string(unknown);
    return false;
  }
  findBytes();
  if (table->kind() == tables::ModelKind::Bpe)
    return openBpe(error);
  if (unknown < 0) {
    error = "expects an unknown token";
    return false;
  }
  bool isOfWords = table->kind() == tables::ModelKind::WordPiece ||
                   table->kind() == tables::ModelKind::WordLevel;
  return isOfWords || pieces.open(*table, words.size(), error);
}

void Model::findBytes() {
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    byteIds[byte] = words.find(name);
  }
}

bool Model::openBpe(std::string &error) {
  for (uint32_t c = 0; c < std::size(characterIds); ++c) {
    std::string text;
    appendUtf8(text, c);
    characterIds[c] = words.find(text);
  }
  if (!table->merge_rows() && !table->merges())
    return true;
  if (!table->merge_rows() || !table->merges() || table->merge_rows()->size() != words.size() + 1) {
    error = "expects a row of merges for each token";
    return false;
  }
  const uint32_t *rows = table->merge_rows()->data();
  const auto &merges = *table->merges();
  bool ordered = rows[0] == 0 && rows[words.size()] == merges.size();
  for (size_t i = 0; i < words.size(); ++i)
    ordered &= rows[i] <= rows[i + 1];
  bool inside = true;
  for (uint32_t i = 0; i < merges.size(); ++i)
    inside &= merges.Get(i)->right() < words.size() && merges.Get(i)->result() < words.size();
  if (!ordered || !inside)
    error = "expects merges in order and of ids below " + std::to_string(words.size());
  return ordered && inside;
}

void Model::encode(std::string_view word, std::vector<int32_t> &ids) const {
  switch (table->kind()) {
  case tables::ModelKind::Bpe:
    return encodeBpe(word, ids);
  case tables::ModelKind::WordPiece:
    return encodeWordPiece(word, ids);
  case tables::ModelKind::WordLevel: {
    int32_t id = words.find(word);
    ids.push_back(id >= 0 ? id : unknown);
    return;
  }
  case tables::ModelKind::Unigram:
  case tables::ModelKind::SentencePieceUnigram:
    return encodeUnigram(word, ids);
  case tables::ModelKind::SentencePieceBpe:
    return encodeSentencePieceBpe(word, ids);
  }
}

void Model::encodeWordPiece(std::string_view word, std::vector<int32_t> &ids) const {
  if (countUtf8(word) > table->max_characters()) {
    ids.push_back(unknown);
    return;
  }
  std::string_view prefix =
      table->continuing_prefix() ? table->continuing_prefix()->string_view() : std::string_view();
  size_t first = ids.size();
  std::string candidate;
  for (size_t begin = 0; begin < word.size();) {
    // No token is longer than the longest, so this is linear in the word.
    size_t end = std::min(word.size(), begin + words.longest());
    while (end < word.size() && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80)
      --end;
    int32_t id = -1;
    for (; begin < end; end -= lastUtf8(word.substr(begin, end - begin)).size) {
      candidate.assign(begin > 0 ? prefix : std::string_view());
      candidate += word.substr(begin, end - begin);
      if ((id = words.find(candidate)) >= 0)
        break;
    }
    if (id < 0) {
      ids.resize(first);
      ids.push_back(unknown);
      return;
    }
    ids.push_back(id);
    begin = end;
  }
}
