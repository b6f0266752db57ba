// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Context.h. Refuses thread counts and capacities that make no sense, and
// rows that do not fit what the caches hold.
#include "runtime/Context.h"

#include "runtime/status/Status.h"

#include <algorithm>

namespace fovea {

/// Without an option: long enough for a conversation, small enough for any machine.
static constexpr int64_t defaultCapacity = 4096;

/// Positions that the caches hold.
static int64_t chooseCapacity(const Module &module, const fovea_context_options &options) {
  int64_t longest = module.manifest().model->max_positions;
  if (options.capacity < 0)
    failInvalid("expects a context of at least 1 position, got " +
                std::to_string(options.capacity));
  if (longest > 0 && options.capacity > longest)
    failInvalid("expects a context of at most " + std::to_string(longest) +
                " positions, the longest the model was made for, got " +
                std::to_string(options.capacity));
  if (options.capacity > 0)
    return options.capacity;
  return longest > 0 ? std::min(longest, defaultCapacity) : defaultCapacity;
}

/// Of the caches of `entry`: a source that is no text always has as many positions.
static int64_t capacityOf(const manifest::EntryT &entry, int64_t ofContext) {
  bool isText = entry.kind != manifest::EntryKind::Encode ||
                std::any_of(entry.arguments.begin(), entry.arguments.end(), [](const auto &value) {
                  return value->role == manifest::Role::TokenIds;
                });
  return isText ? ofContext : std::max(entry.max_positions, ofContext);
}

Context::Context(std::shared_ptr<const Module> module, const fovea_context_options &options)
    : cacheCapacity(chooseCapacity(*module, options)), profile(options.profile != 0) {
  theExecutor = makeExecutor(std::move(module), options);
  for (const auto &entry : this->module().manifest().entries)
    for (const auto &value : entry->arguments) {
      if (value->kind != manifest::ValueKind::Cache)
        continue;
      int64_t capacity = capacityOf(*entry, cacheCapacity);
      auto known = std::find_if(caches.begin(), caches.end(),
                                [&](const Cache &cache) { return cache.name == value->name; });
      if (known != caches.end()) {
        known->capacity = std::max(known->capacity, capacity);
        continue;
      }
      Cache cache;
      cache.name = value->name;
      cache.element = value->element;
      cache.heads = value->heads;
      cache.size = value->size;
      cache.elementBytes = artifact::elementBytes(value->element);
      cache.capacity = capacity;
      cache.memory = theExecutor->makeCache();
      caches.push_back(std::move(cache));
    }
}

int64_t Context::length() const {
  int64_t longest = 0;
  for (const Cache &cache : caches)
    longest = std::max(longest, cache.length);
  return longest;
}

void Context::zeroBehind(Cache &cache, int64_t length) {
  if (cache.length <= length)
    return;
  uint64_t row = static_cast<uint64_t>(cache.size) * cache.elementBytes;
  uint64_t stride = row * static_cast<uint64_t>(cache.capacity);
  for (int64_t i = 0; i < cache.batch * cache.heads; ++i)
    cache.memory->zero(static_cast<uint64_t>(i) * stride + row * static_cast<uint64_t>(length),
                       row * static_cast<uint64_t>(cache.length - length));
  cache.length = length;
}

void Context::reset() {
  held.clear();
  for (Cache &cache : caches)
    zeroBehind(cache, 0);
}

void Context::cut(size_t length) {
  auto positions = static_cast<int64_t>(held.size());
  bool fits =
      length <= held.size() && std::all_of(caches.begin(), caches.end(), [&](const Cache &cache) {
        return cache.batch == 1 && cache.length == positions;
      });
  if (!fits)
    return reset();
  for (Cache &cache : caches)
    zeroBehind(cache, static_cast<int64_t>(length));
  held.resize(length);
}

void Context::copyRow(const Cache &cache, CacheMemory &to, int64_t row, const CacheMemory &from,
                      int64_t fromRow) const {
  uint64_t position = static_cast<uint64_t>(cache.size) * cache.elementBytes;
  uint64_t stride = position * static_cast<uint64_t>(cache.capacity);
  for (int64_t head = 0; head < cache.heads; ++head)
    to.copyFrom(from, static_cast<uint64_t>(fromRow * cache.heads + head) * stride,
                static_cast<uint64_t>(row * cache.heads + head) * stride,
                position * static_cast<uint64_t>(cache.length));
}

/// Into other memory if the number of rows changes. Else row by row, each as soon as nobody needs
/// what it held; what is left are cycles, which go through a spare row.
void Context::selectRows(Cache &cache, const std::vector<int64_t> &rows) {
  auto count = static_cast<int64_t>(rows.size());
  for (int64_t row : rows)
    if (row < 0 || row >= cache.batch)
      failInternal("cache '" + cache.name + "' has " + std::to_string(cache.batch) +
                   " rows, not one of number " + std::to_string(row));
  if (cache.length == 0)
    return;
  if (count != cache.batch) {
    Cache grown = makeLike(cache);
    prepare(grown, count);
    grown.length = cache.length;
    for (int64_t i = 0; i < count; ++i)
      copyRow(grown, *grown.memory, i, *cache.memory, rows[i]);
    cache = std::move(grown);
    return;
  }
  std::vector<int64_t> from = rows;
  std::vector<int64_t> readers(rows.size(), 0);
  for (int64_t i = 0; i < count; ++i)
    if (from[i] != i)
      ++readers[from[i]];
  std::vector<int64_t> ready;
  auto settle = [&] {
    while (!ready.empty()) {
      int64_t row = ready.back(), source = from[row];
      ready.pop_back();
      copyRow(cache, *cache.memory, row, *cache.memory, source);
      from[row] = row;
      if (--readers[source] == 0 && from[source] != source)
        ready.push_back(source);
    }
  };
  for (int64_t i = 0; i < count; ++i)
    if (from[i] != i && readers[i] == 0)
      ready.push_back(i);
  settle();
  for (int64_t i = 0; i < count; ++i) {
    if (from[i] == i)
      continue;
    // A cycle: what row i held waits in the spare row for the one that reads it.
    if (!spareRow)
      spareRow = theExecutor->makeCache();
    uint64_t bytes = cache.elementBytes * static_cast<uint64_t>(cache.heads * cache.size) *
                     static_cast<uint64_t>(cache.capacity);
    if (spareRow->size() < bytes)
      spareRow->grow(bytes, "a row of cache '" + cache.name + "'");
    copyRow(cache, *spareRow, 0, *cache.memory, i);
    int64_t row = i;
    while (from[row] != i) {
      int64_t source = from[row];
      copyRow(cache, *cache.memory, row, *cache.memory, source);
      from[row] = row;
      row = source;
    }
    copyRow(cache, *cache.memory, row, *spareRow, 0);
    from[row] = row;
  }
}

void Context::selectRows(const std::vector<const manifest::ValueT *> &values,
                         const std::vector<int64_t> &rows) {
  for (const manifest::ValueT *value : values)
    selectRows(cache(*value), rows);
}

Cache Context::makeLike(const Cache &cache) const {
  Cache made;
  made.name = cache.name;
  made.element = cache.element;
  made.heads = cache.heads;
  made.size = cache.size;
  made.elementBytes = cache.elementBytes;
  made.capacity = cache.capacity;
  made.memory = theExecutor->makeCache();
  return made;
}

std::vector<Cache> Context::takeCaches() {
  held.clear();
  std::vector<Cache> taken;
  for (Cache &cache : caches) {
    taken.push_back(std::move(cache));
    cache = makeLike(taken.back());
  }
  return taken;
}

void Context::putBefore(std::vector<Cache> rows, bool keeps) {
  for (size_t i = 0; i < caches.size(); ++i) {
    // Calls refer to it.
    Cache &cache = caches[i];
    Cache &first = rows[i];
    if (!keeps || cache.length == 0) {
      cache = std::move(first);
      continue;
    }
    if (first.length != cache.length)
      failInternal("cache '" + cache.name + "' expects rows of " + std::to_string(first.length) +
                   " positions, got " + std::to_string(cache.length));
    Cache grown = makeLike(cache);
    prepare(grown, first.batch + cache.batch);
    grown.length = cache.length;
    for (int64_t row = 0; row < grown.batch; ++row)
      copyRow(grown, *grown.memory, row, row < first.batch ? *first.memory : *cache.memory,
              row < first.batch ? row : row - first.batch);
    cache = std::move(grown);
  }
}

Cache &Context::cache(const manifest::ValueT &value) {
  for (Cache &cache : caches)
    if (cache.name == value.name)
      return cache;
  failInternal("the context has no cache '" + value.name + "'");
}

void Context::prepare(Cache &cache, int64_t batch) {
  if (cache.length > 0 && cache.batch != batch)
    failInvalid("cache '" + cache.name + "' holds " + std::to_string(cache.length) +
                " positions of " + std::to_string(cache.batch) + " rows; the call has " +
                std::to_string(batch) + " rows (reset the context to begin anew)");
  uint64_t bytes = cache.elementBytes;
  bool fits = true;
  for (int64_t factor : {batch, cache.heads, cache.capacity, cache.size})
    fits = fits && !__builtin_mul_overflow(bytes, static_cast<uint64_t>(factor), &bytes);
  if (!fits)
    bytes = UINT64_MAX;
  auto what = [&] {
    return "cache '" + cache.name + "' (" + std::to_string(batch) + " rows, context of " +
           std::to_string(cache.capacity) + ")";
  };
  if (bytes > cache.memory->size())
    cache.memory->grow(bytes, what());
  cache.batch = batch;
}

} // namespace fovea
