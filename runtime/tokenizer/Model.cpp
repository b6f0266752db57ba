// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Byte pair encoding (Sennrich et al., "Neural Machine Translation of Rare
// Words with Subword Units", 2016) with a heap of possible merges, and the
// longest-match-first WordPiece of BERT.
#include "runtime/tokenizer/Model.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cstdio>
#include <queue>

using namespace fovea;

static_assert(sizeof(tables::Merge) == 12, "merges are three numbers");

uint32_t fovea::hashOfToken(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

bool Vocabulary::open(const tables::Vocabulary &table, std::string &error) {
  size_t slotCount = table.slots()->size();
  if (table.offsets()->size() < 2 || table.offsets()->size() > INT32_MAX) {
    error = "expects a vocabulary with at least one token";
    return false;
  }
  count = table.offsets()->size() - 1;
  if (slotCount < 2 || (slotCount & (slotCount - 1)) != 0) {
    error = "expects a power of two of vocabulary slots, got " + std::to_string(slotCount);
    return false;
  }
  bytes = reinterpret_cast<const char *>(table.text()->data());
  offsets = table.offsets()->data();
  slots = table.slots()->data();
  mask = slotCount - 1;
  emptyToken = table.empty_token();
  bool ordered = offsets[0] == 0 && offsets[count] == table.text()->size();
  for (size_t i = 0; i < count; ++i) {
    ordered &= offsets[i] <= offsets[i + 1];
    longestBytes = std::max<size_t>(longestBytes, offsets[i + 1] - offsets[i]);
  }
  if (!ordered) {
    error = "expects vocabulary offsets in order and within the text";
    return false;
  }
  bool inside = true;
  for (size_t i = 0; i < slotCount; ++i)
    inside &= slots[i] <= count;
  if (!inside) {
    error = "expects vocabulary slots that hold ids below " + std::to_string(count);
    return false;
  }
  return true;
}

int32_t Vocabulary::find(std::string_view text) const {
  size_t slot = hashOfToken(text) & mask;
  // Bounded also for a table without a free slot.
  for (size_t tries = 0; tries <= mask && slots[slot] != 0; ++tries, slot = (slot + 1) & mask) {
    uint32_t id = slots[slot] - 1;
    if (std::string_view(bytes + offsets[id], offsets[id + 1] - offsets[id]) == text)
      return static_cast<int32_t>(id);
  }
  return -1;
}

std::optional<std::string_view> Vocabulary::text(int32_t id) const {
  if (id < 0 || static_cast<size_t>(id) >= count)
    return std::nullopt;
  std::string_view found(bytes + offsets[id], offsets[id + 1] - offsets[id]);
  if (found.empty() && id != emptyToken)
    return std::nullopt;
  return found;
}

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
  if (table->kind() != tables::ModelKind::Bpe) {
    if (unknown < 0)
      error = "expects an unknown token";
    return unknown >= 0;
  }
  return openBpe(error);
}

bool Model::openBpe(std::string &error) {
  for (int byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    byteIds[byte] = words.find(name);
  }
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

std::optional<Model::Merged> Model::mergeOf(int32_t left, int32_t right) const {
  if (!table->merges() || left < 0 || right < 0)
    return std::nullopt;
  const uint32_t *rows = table->merge_rows()->data();
  auto key = static_cast<uint32_t>(right);
  uint32_t low = rows[left], high = rows[left + 1];
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    const tables::Merge *merge = table->merges()->Get(middle);
    if (merge->right() == key)
      return Merged{merge->rank(), merge->result()};
    if (merge->right() < key)
      low = middle + 1;
    else
      high = middle;
  }
  return std::nullopt;
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
  }
  }
}

void Model::encodeBpe(std::string_view word, std::vector<int32_t> &ids) const {
  if (table->ignore_merges()) {
    if (int32_t id = words.find(word); id >= 0) {
      ids.push_back(id);
      return;
    }
  }
  const auto *prefix = table->continuing_prefix();
  const auto *suffix = table->end_suffix();
  std::vector<int32_t> symbols;
  symbols.reserve(word.size());
  bool pendingUnknown = false;
  std::string decorated;
  for (size_t at = 0; at < word.size();) {
    Utf8Char next = utf8At(word, at);
    bool isFirst = at == 0, isLast = at + next.size >= word.size();
    std::string_view text = word.substr(at, next.size);
    at += next.size;
    int32_t id;
    if ((!isFirst && prefix) || (isLast && suffix)) {
      decorated.clear();
      if (!isFirst && prefix)
        decorated += prefix->string_view();
      decorated += text;
      if (isLast && suffix)
        decorated += suffix->string_view();
      text = decorated;
      id = words.find(text);
    } else {
      id = next.codePoint < std::size(characterIds) ? characterIds[next.codePoint]
                                                    : words.find(text);
    }
    if (id >= 0) {
      if (pendingUnknown)
        symbols.push_back(unknown);
      pendingUnknown = false;
      symbols.push_back(id);
      continue;
    }
    if (table->byte_fallback() && std::all_of(text.begin(), text.end(), [&](char c) {
          return byteIds[static_cast<unsigned char>(c)] >= 0;
        })) {
      // An unknown character before stays pending, as in the reference.
      for (char c : text)
        symbols.push_back(byteIds[static_cast<unsigned char>(c)]);
      continue;
    }
    if (unknown < 0)
      continue; // such characters vanish
    if (pendingUnknown && !table->fuse_unknown())
      symbols.push_back(unknown);
    pendingUnknown = true;
  }
  if (pendingUnknown)
    symbols.push_back(unknown);
  mergeAll(symbols, ids);
}

void Model::mergeAll(std::vector<int32_t> &symbols, std::vector<int32_t> &ids) const {
  if (symbols.size() < 2) {
    ids.insert(ids.end(), symbols.begin(), symbols.end());
    return;
  }
  // A list of symbols threaded through the array; a merge keeps the left place
  // and kills the right one (id -1). Heap entries go stale when their pair has
  // changed, which is seen when they are taken out.
  struct Candidate {
    uint32_t rank, place, result;
    bool operator<(const Candidate &other) const { // the heap gives the largest
      return rank != other.rank ? rank > other.rank : place > other.place;
    }
  };
  constexpr uint32_t none = UINT32_MAX;
  auto count = static_cast<uint32_t>(symbols.size());
  std::vector<uint32_t> before(count), after(count);
  std::vector<Candidate> found;
  found.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    before[i] = i == 0 ? none : i - 1;
    after[i] = i + 1 == count ? none : i + 1;
    if (i + 1 < count)
      if (auto merge = mergeOf(symbols[i], symbols[i + 1]))
        found.push_back({merge->rank, i, merge->result});
  }
  std::priority_queue<Candidate> heap(std::less<Candidate>(), std::move(found));
  auto consider = [&](uint32_t place) {
    if (place == none || after[place] == none)
      return;
    if (auto merge = mergeOf(symbols[place], symbols[after[place]]))
      heap.push({merge->rank, place, merge->result});
  };
  while (!heap.empty()) {
    Candidate top = heap.top();
    heap.pop();
    uint32_t right = after[top.place];
    if (symbols[top.place] < 0 || right == none)
      continue;
    auto merge = mergeOf(symbols[top.place], symbols[right]);
    if (!merge || merge->result != top.result)
      continue;
    symbols[top.place] = static_cast<int32_t>(top.result);
    symbols[right] = -1;
    after[top.place] = after[right];
    if (after[right] != none)
      before[after[right]] = top.place;
    consider(before[top.place]);
    consider(top.place);
  }
  for (int32_t symbol : symbols)
    if (symbol >= 0)
      ids.push_back(symbol);
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
