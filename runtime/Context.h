// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a use of a module needs: an executor and caches. One thread at a time.
#ifndef FOVEA_RUNTIME_CONTEXT_H
#define FOVEA_RUNTIME_CONTEXT_H

#include "runtime/Executor.h"

#include <memory>
#include <string>
#include <vector>

namespace fovea {

/// A key or value cache, [batch, heads, capacity, size] in memory; rows of one
/// length. Memory is zero when it is new, and what was held is zeroed on a reset.
struct Cache {
  std::string name;
  manifest::ElementType element = manifest::ElementType::None;
  int64_t heads = 0, size = 0;
  uint64_t elementBytes = 0;
  int64_t capacity = 0; ///< positions
  int64_t batch = 0, length = 0;
  std::unique_ptr<CacheMemory> memory;
};

class Context {
public:
  /// Throws Failure.
  Context(std::shared_ptr<const Module> module, const fovea_context_options &options);

  const Module &module() const { return theExecutor->module(); }
  Executor &executor() const { return *theExecutor; }
  int64_t capacity() const { return cacheCapacity; }
  /// Of the longest cache.
  int64_t length() const;
  bool profiled() const { return profile; }

  /// Empties the caches: lengths to 0, what was written to zero.
  void reset();

  /// The tokens that all caches hold, if it is known: what generation has fed. Whatever else runs
  /// in the context clears it.
  std::vector<int64_t> held;
  /// Keeps the first `length` of `held` and their positions in all caches; resets if that cannot
  /// be.
  void cut(size_t length);

  /// The cache that `value` names.
  Cache &cache(const manifest::ValueT &value);
  /// Gives `cache` memory for `batch` rows. Throws Failure if it holds
  /// positions of another number of rows.
  void prepare(Cache &cache, int64_t batch);

  /// Gives what the caches hold, and `held`, to `write` piece by piece, as ContextState.cpp
  /// describes it. Throws Failure if `write` gives another number than 0.
  using Write = int (*)(void *user, const void *data, size_t size);
  void save(Write write, void *user) const;
  /// Takes what save() gave, in place of what is held. `read` gives how many bytes it has put at
  /// `data`, fewer than `size` at the end alone. Throws Failure, and the caches are empty then, if
  /// it is not whole or not of such caches.
  using Read = size_t (*)(void *user, void *data, size_t size);
  void load(Read read, void *user);

  /// Row i of each of the caches becomes what row `rows[i]` was; there are as many rows then.
  void selectRows(const std::vector<const manifest::ValueT *> &values,
                  const std::vector<int64_t> &rows);

  /// Takes all caches out; others of the same kind, which are empty, are in their place.
  std::vector<Cache> takeCaches();
  /// Puts what was taken out before the rows that there are now, of as many positions; without
  /// `keeps` in their place.
  void putBefore(std::vector<Cache> rows, bool keeps);

private:
  class StateReader;
  Cache makeLike(const Cache &cache) const;
  void load(StateReader &state);
  void loadCache(StateReader &state, Cache &cache, uint64_t rows, uint64_t positions,
                 const std::string &type);
  void zeroBehind(Cache &cache, int64_t length);
  void selectRows(Cache &cache, const std::vector<int64_t> &rows);
  void copyRow(const Cache &cache, CacheMemory &to, int64_t row, const CacheMemory &from,
               int64_t fromRow) const;

  std::unique_ptr<Executor> theExecutor; ///< goes after the caches, whose memory is its
  int64_t cacheCapacity;
  bool profile;
  std::vector<Cache> caches;
  std::unique_ptr<CacheMemory> spareRow; ///< For rows that change places.
};

} // namespace fovea

struct fovea_context {
  fovea::Context context;
};

#endif // FOVEA_RUNTIME_CONTEXT_H
