// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Byte pair encoding (Sennrich et al., "Neural Machine Translation of Rare
// Words with Subword Units", 2016) with a heap of possible merges.
#include "runtime/tokenizer/Model.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <iterator>
#include <queue>

using namespace fovea;

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
