// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts and ids of tokens, by a hash table that is checked once and then searched
// in place.
#include "runtime/tokenizer/Model.h"

#include "artifact/Tokenizer_generated.h"

#include <algorithm>

using namespace fovea;

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
