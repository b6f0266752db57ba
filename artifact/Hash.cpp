// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hashes of Format.h, apart from what is compiled for size: weights of gigabytes are hashed.
#include "artifact/Format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace fovea::artifact {

static Hash fromXXH(XXH128_hash_t hash) { return {hash.high64, hash.low64}; }

Hash hashBytes(const void *data, size_t size) { return fromXXH(XXH3_128bits(data, size)); }

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state(new State) { XXH3_128bits_reset(&state->xxh); }
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher &&) noexcept = default;
Hasher &Hasher::operator=(Hasher &&) noexcept = default;
void Hasher::add(const void *data, size_t size) { XXH3_128bits_update(&state->xxh, data, size); }
Hash Hasher::get() const { return fromXXH(XXH3_128bits_digest(&state->xxh)); }

Hash hashOfHashes(const std::vector<Hash> &hashes) {
  Hasher hasher;
  for (const Hash &hash : hashes) {
    uint64_t halves[2] = {__builtin_bswap64(hash.high), __builtin_bswap64(hash.low)};
    hasher.add(halves, sizeof(halves));
  }
  return hasher.get();
}

} // namespace fovea::artifact
