// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a context holds as bytes: taken up where it was left, refused if a single byte differs.
#include "test/unit/runtime/RuntimeTest.h"

#include <algorithm>
#include <cstring>

using namespace fovea;
using namespace fovea::test;

namespace {

class ContextStateTest : public RuntimeTest {
protected:
  using Bytes = std::vector<uint8_t>;

  static Bytes save(const ContextPtr &context) {
    Bytes bytes;
    auto write = [](void *user, const void *data, size_t size) {
      Bytes &all = *static_cast<Bytes *>(user);
      const auto *from = static_cast<const uint8_t *>(data);
      all.insert(all.end(), from, from + size);
      return 0;
    };
    EXPECT_EQ(message(fovea_context_save(context.get(), write, &bytes)), "");
    return bytes;
  }

  static std::string load(const ContextPtr &context, Bytes bytes) {
    struct Source {
      const Bytes &bytes;
      size_t at = 0;
    } source{bytes};
    auto read = [](void *user, void *data, size_t size) {
      Source &from = *static_cast<Source *>(user);
      size = std::min(size, from.bytes.size() - from.at);
      if (size)
        std::memcpy(data, from.bytes.data() + from.at, size);
      from.at += size;
      return size;
    };
    return message(fovea_context_load(context.get(), read, &source));
  }

  /// Continues `prompt` greedily; `cached`: how many of its tokens were in the caches.
  static std::vector<int64_t> write(const ContextPtr &context, const std::vector<int64_t> &prompt,
                                    size_t &cached) {
    std::vector<int64_t> tokens;
    fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
    options.temperature = 0;
    options.max_tokens = 6;
    options.ignore_end = 1;
    options.keep_caches = 1;
    options.prompt_ids = prompt.data();
    options.prompt_id_count = prompt.size();
    options.user = &tokens;
    options.on_piece = [](void *user, int64_t token, const char *, size_t) {
      if (token >= 0)
        static_cast<std::vector<int64_t> *>(user)->push_back(token);
      return 0;
    };
    fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
    EXPECT_EQ(message(fovea_generate(context.get(), &options, &result)), "");
    cached = result.cached_tokens;
    return tokens;
  }

  static int64_t length(const ContextPtr &context) {
    fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
    EXPECT_EQ(message(fovea_context_get_info(context.get(), &info)), "");
    return info.length;
  }
};

TEST_F(ContextStateTest, AnotherContextGoesOnFromThere) {
  const std::vector<int64_t> prompt = {3, 9, 4, 20, 7};
  ContextPtr first = context(1, 40);
  size_t cached = 0;
  const std::vector<int64_t> text = write(first, prompt, cached);
  const Bytes bytes = save(first);
  EXPECT_EQ(bytes, save(first));
  std::vector<int64_t> longer = prompt;
  longer.insert(longer.end(), text.begin(), text.end() - 1);
  longer.insert(longer.end(), {5, 5});
  std::vector<int64_t> other = {3, 9, 8};
  for (int64_t capacity : {64, 40, 30, 20}) {
    for (const auto &[next, expected] : {std::pair(longer, prompt.size() + 5), {other, 2}}) {
      ContextPtr second = context(1, capacity), alone = context(1, capacity);
      ASSERT_EQ(load(second, bytes), "");
      EXPECT_EQ(length(second), 10);
      EXPECT_EQ(save(second), bytes) << capacity;
      std::vector<int64_t> written = write(second, next, cached);
      EXPECT_EQ(cached, expected);
      EXPECT_EQ(written, write(alone, next, cached));
      EXPECT_EQ(cached, 0u);
    }
  }
  EXPECT_EQ(load(context(1, 9), bytes),
            "the saved context holds 10 positions; the context has room for 9");
}

TEST_F(ContextStateTest, WhatTheContextHeldIsGone) {
  ContextPtr own = context(), empty = context();
  size_t cached = 0;
  const Bytes nothing = save(own);
  write(own, {1, 2, 3}, cached);
  ASSERT_EQ(load(own, nothing), "");
  EXPECT_EQ(length(own), 0);
  EXPECT_EQ(write(own, {4, 4}, cached), write(empty, {4, 4}, cached));
}

/// Rows of calls, whose tokens are not known.
TEST_F(ContextStateTest, RowsOfCallsAreKept) {
  ContextPtr first = context(1, 20), second = context(1, 30);
  CallPtr prefill = call(first, "prefill");
  const std::vector<int64_t> prompts = {5, 6, 7, 8, 9, 10}, next = {1, 2};
  ASSERT_EQ(set(prefill, "input_ids", prompts, {2, 3}), "");
  ASSERT_EQ(run(prefill), "");
  ASSERT_EQ(load(second, save(first)), "");
  std::vector<std::vector<float>> logits;
  for (const ContextPtr *own : {&first, &second}) {
    CallPtr decode = call(*own, "decode");
    ASSERT_EQ(set(decode, "input_ids", next, {2, 1}), "");
    ASSERT_EQ(run(decode), "");
    logits.push_back(result<float>(decode, "logits"));
  }
  EXPECT_EQ(logits[0], logits[1]);
  size_t cached = 1;
  write(second, {5, 6}, cached);
  EXPECT_EQ(cached, 0u);
}

TEST_F(ContextStateTest, ASingleChangeIsFound) {
  ContextPtr own = context();
  size_t cached = 0;
  write(own, {3, 9, 4}, cached);
  const Bytes bytes = save(own);
  auto expectRefused = [&](const Bytes &changed, size_t at) {
    std::string text = load(own, changed);
    EXPECT_EQ(text.rfind("the saved context ", 0), 0u) << at << " " << text;
    EXPECT_EQ(length(own), 0) << at;
  };
  for (size_t i = 0; i < bytes.size(); ++i)
    for (uint8_t bit : {0x01, 0x80}) {
      Bytes changed = bytes;
      changed[i] ^= bit;
      expectRefused(changed, i);
    }
  for (size_t size = 0; size < bytes.size(); ++size)
    expectRefused(Bytes(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)), size);
  Bytes more = bytes;
  more.push_back(0);
  expectRefused(more, more.size());
  EXPECT_EQ(load(own, bytes), "");
  EXPECT_EQ(length(own), 8);
}

TEST_F(ContextStateTest, MessagesSayWhatWasFoundAndExpected) {
  ContextPtr own = context();
  size_t cached = 0;
  write(own, {3, 9, 4}, cached);
  const Bytes bytes = save(own);
  auto change = [&](size_t at, uint8_t to) {
    Bytes changed = bytes;
    changed[at] = to;
    return load(own, changed);
  };
  EXPECT_EQ(change(8, 2), "the saved context expects version 1, got 2");
  expectIn(change(1, 'f'), "is none: expects it to begin with");
  expectIn(change(bytes.size() - 17, 1), "is damaged: cache 'key_cache.0' expects hash ");
  EXPECT_EQ(load(own, {bytes.begin(), bytes.begin() + 50}),
            "the saved context ends after 50 bytes; expects at least 80");
  expectIn(load(own, {bytes.begin(), bytes.end() - 1}), "bytes; expects at least ");
  std::string other = folder.file("other.fovea");
  writeTestArtifact(other, [](manifest::ManifestT &m) { m.model->name = "another"; });
  module = open(other);
  std::string text = load(context(), bytes);
  expectIn(text, "the saved context is of another artifact: expects hash ");
  expectIn(text, "(" + other + "), got ");
}

TEST_F(ContextStateTest, AWriterThatFailsIsTold) {
  auto write = [](void *, const void *, size_t) { return 1; };
  EXPECT_EQ(message(fovea_context_save(context().get(), write, nullptr)),
            "what the context holds cannot be written");
  EXPECT_EQ(message(fovea_context_save(nullptr, write, nullptr)), "context or write is NULL");
  EXPECT_EQ(message(fovea_context_load(context().get(), nullptr, nullptr)),
            "context or read is NULL");
}

} // namespace
