// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a context holds as bytes. Refuses bytes of another artifact or version, changed or cut ones,
// and more positions than the context has room for; whatever is refused leaves the caches empty.
//
// All numbers little-endian:
//
//   0     u8[8]   magic: 89 'F' 'O' 'V' 'K' 'V' 0D 0A
//   8     u32     version of the format, 1
//   12    u32     number of caches, c
//   16    u64[2]  hash of the artifact: of the list of its sections' hashes
//   32    u64     number of tokens that are known, n: 0, or as many as each cache has positions
//   40    c times, in the order of the artifact's entries
//           u64[5]  element type (Manifest.fbs), heads, size, rows, positions of each row
//   ..    i64[n]  the tokens
//   ..    u64[2]  XXH3-128 of all before it, high half first
//   c times
//           rows x heads pieces of positions x size elements
//           u64[2]  hash of the list of the pieces' hashes (hashOfHashes in artifact/Format.h)
#include "runtime/Context.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <cstring>

namespace fovea {

using artifact::Hash;

namespace {
constexpr uint8_t kMagic[8] = {0x89, 'F', 'O', 'V', 'K', 'V', '\r', '\n'};
constexpr uint32_t kVersion = 1;

struct Head {
  uint8_t magic[8];
  uint32_t version, caches;
  Hash artifact;
  uint64_t tokens;
};
static_assert(sizeof(Head) == 40);

struct CacheHead {
  uint64_t element, heads, size, rows, positions;
};

[[noreturn]] void fail(const std::string &what) { failInvalid("the saved context " + what); }

std::string textOf(const Hash &hash) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (uint64_t half : {hash.high, hash.low})
    for (int shift = 60; shift >= 0; shift -= 4)
      text += digits[half >> shift & 15];
  return text;
}

std::string textOf(const CacheHead &cache) {
  return std::to_string(cache.heads) + "x" + std::to_string(cache.size) + " " +
         artifact::elementName(static_cast<manifest::ElementType>(cache.element));
}

CacheHead describe(const Cache &cache) {
  return {static_cast<uint64_t>(cache.element), static_cast<uint64_t>(cache.heads),
          static_cast<uint64_t>(cache.size), static_cast<uint64_t>(cache.length ? cache.batch : 0),
          static_cast<uint64_t>(cache.length)};
}

/// Where piece `piece` of a cache begins, and how long it is.
std::pair<uint64_t, uint64_t> placeOf(const Cache &cache, uint64_t piece) {
  uint64_t position = static_cast<uint64_t>(cache.size) * cache.elementBytes;
  return {piece * position * static_cast<uint64_t>(cache.capacity),
          position * static_cast<uint64_t>(cache.length)};
}

void checkRoom(uint64_t positions, int64_t capacity) {
  if (positions > static_cast<uint64_t>(capacity))
    fail("holds " + std::to_string(positions) + " positions; the context has room for " +
         std::to_string(capacity));
}
} // namespace

/// Counts what it reads, and hashes it piece by piece.
class Context::StateReader {
public:
  StateReader(Read from, void *user) : from(from), user(user) {}

  /// Of the head, which is hashed as a whole.
  template <typename T> std::vector<T> take(uint64_t count) {
    std::vector<T> items(count);
    fill(items.data(), count * sizeof(T));
    const auto *bytes = reinterpret_cast<const uint8_t *>(items.data());
    head.insert(head.end(), bytes, bytes + count * sizeof(T));
    return items;
  }
  void checkHead() { check("its head", artifact::hashBytes(head.data(), head.size())); }
  void fill(void *to, uint64_t bytes) {
    if (bytes == 0)
      return;
    size_t got = from(user, to, bytes);
    if (got != bytes)
      fail("ends after " + std::to_string(done + std::min<uint64_t>(got, bytes)) +
           " bytes; expects at least " + std::to_string(done + bytes));
    done += bytes;
  }
  void check(const std::string &part, const Hash &found) {
    Hash expected;
    fill(&expected, sizeof(expected));
    if (found != expected)
      fail("is damaged: " + part + " expects hash " + textOf(expected) + ", got " + textOf(found));
  }
  void end() {
    char byte;
    if (from(user, &byte, 1) != 0)
      fail("expects to end after " + std::to_string(done) + " bytes, got more");
  }

private:
  Read from;
  void *user;
  uint64_t done = 0;
  std::vector<uint8_t> head;
};

void Context::save(Write write, void *user) const {
  auto give = [&](const void *data, size_t size) {
    if (size && write(user, data, size) != 0)
      failInvalid("what the context holds cannot be written");
  };
  std::vector<uint8_t> head;
  auto add = [&](const void *data, size_t size) {
    const auto *bytes = static_cast<const uint8_t *>(data);
    head.insert(head.end(), bytes, bytes + size);
  };
  Head fixed{{}, kVersion, static_cast<uint32_t>(caches.size()), module().hash(), held.size()};
  std::memcpy(fixed.magic, kMagic, sizeof(kMagic));
  add(&fixed, sizeof(fixed));
  for (const Cache &cache : caches) {
    CacheHead described = describe(cache);
    add(&described, sizeof(described));
  }
  add(held.data(), held.size() * sizeof(int64_t));
  Hash hash = artifact::hashBytes(head.data(), head.size());
  add(&hash, sizeof(hash));
  give(head.data(), head.size());
  std::vector<uint8_t> piece;
  for (const Cache &cache : caches) {
    std::vector<Hash> hashes;
    CacheHead described = describe(cache);
    for (uint64_t i = 0; i < described.rows * described.heads; ++i) {
      auto [offset, bytes] = placeOf(cache, i);
      piece.resize(bytes);
      cache.memory->read(piece.data(), offset, bytes);
      hashes.push_back(artifact::hashBytes(piece.data(), bytes));
      give(piece.data(), bytes);
    }
    hash = artifact::hashOfHashes(hashes);
    give(&hash, sizeof(hash));
  }
}

void Context::load(Read read, void *user) {
  reset();
  StateReader state(read, user);
  try {
    load(state);
  } catch (...) {
    takeCaches(); // rather than zeros over all that a bad head asked for
    throw;
  }
}

void Context::load(StateReader &state) {
  const Head head = state.take<Head>(1).front();
  if (std::memcmp(head.magic, kMagic, sizeof(kMagic)) != 0)
    fail("is none: expects it to begin with 89 'FOVKV' 0D 0A");
  if (head.version != kVersion)
    fail("expects version " + std::to_string(kVersion) + ", got " + std::to_string(head.version));
  const Hash own = module().hash();
  if (head.artifact != own || head.caches != caches.size())
    fail("is of another artifact: expects hash " + textOf(own) + " (" + module().path() +
         "), got " + textOf(head.artifact));
  checkRoom(head.tokens, cacheCapacity);
  std::vector<CacheHead> described = state.take<CacheHead>(caches.size());
  std::vector<int64_t> tokens = state.take<int64_t>(head.tokens);
  state.checkHead();
  for (size_t i = 0; i < caches.size(); ++i) {
    const CacheHead &found = described[i];
    if (!tokens.empty() && (found.rows != 1 || found.positions != tokens.size()))
      fail("expects cache '" + caches[i].name + "' to hold one row of its " +
           std::to_string(tokens.size()) + " tokens, got " + std::to_string(found.rows) + " of " +
           std::to_string(found.positions));
    loadCache(state, caches[i], found.rows, found.positions, textOf(found));
  }
  state.end();
  held = std::move(tokens);
}

void Context::loadCache(StateReader &state, Cache &cache, uint64_t rows, uint64_t positions,
                        const std::string &type) {
  const std::string name = "cache '" + cache.name + "'";
  // Of a target's code among several it may be another.
  if (const std::string expected = textOf(describe(cache)); type != expected)
    fail("expects " + name + " of " + expected + ", got " + type);
  checkRoom(positions, cache.capacity);
  if (rows > INT32_MAX || (rows == 0) != (positions == 0))
    fail("expects rows in " + name + ", got " + std::to_string(rows) + " of " +
         std::to_string(positions) + " positions");
  if (rows)
    prepare(cache, static_cast<int64_t>(rows));
  cache.length = static_cast<int64_t>(positions);
  std::vector<Hash> hashes;
  std::vector<uint8_t> piece;
  for (uint64_t i = 0; i < rows * static_cast<uint64_t>(cache.heads); ++i) {
    auto [offset, bytes] = placeOf(cache, i);
    piece.resize(bytes);
    state.fill(piece.data(), bytes);
    cache.memory->write(piece.data(), offset, bytes);
    hashes.push_back(artifact::hashBytes(piece.data(), bytes));
  }
  state.check(name, artifact::hashOfHashes(hashes));
}

} // namespace fovea

fovea_status *fovea_context_save(const fovea_context *context,
                                 int (*write)(void *user, const void *data, size_t size),
                                 void *user) {
  return fovea::guarded([&] {
    if (!context || !write)
      fovea::failInvalid("context or write is NULL");
    context->context.save(write, user);
  });
}

fovea_status *fovea_context_load(fovea_context *context,
                                 size_t (*read)(void *user, void *data, size_t size), void *user) {
  return fovea::guarded([&] {
    if (!context || !read)
      fovea::failInvalid("context or read is NULL");
    context->context.load(read, user);
  });
}
