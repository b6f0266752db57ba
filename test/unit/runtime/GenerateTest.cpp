// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text in and out: the counting model's continuation is known by arithmetic.
#include "test/unit/runtime/RuntimeTest.h"

#include <cmath>
#include <cstring>

using namespace fovea;
using namespace fovea::test;

namespace {

/// What the model of TestCode.c says next.
int64_t nextWord(const std::vector<int64_t> &tokens) {
  int64_t sum = 0;
  for (int64_t token : tokens)
    sum += token;
  return (sum * 7 + static_cast<int64_t>(tokens.size()) * 3) % 32;
}

std::vector<int64_t> expected(std::vector<int64_t> tokens, size_t count) {
  std::vector<int64_t> words;
  while (words.size() < count) {
    int64_t next = nextWord(tokens);
    if (next == 1)
      break;
    words.push_back(next);
    tokens.push_back(next);
  }
  return words;
}

struct Output {
  std::vector<int64_t> tokens;
  std::string text;
  std::vector<size_t> progress;
};

fovea_generate_options greedy(Output &output, int64_t count) {
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  options.temperature = 0;
  options.max_tokens = count;
  options.user = &output;
  options.on_piece = [](void *user, int64_t token, const char *text, size_t size) {
    Output &out = *static_cast<Output *>(user);
    if (token >= 0)
      out.tokens.push_back(token);
    out.text.append(text, size);
    return 0;
  };
  options.on_prompt = [](void *user, size_t done, size_t) {
    static_cast<Output *>(user)->progress.push_back(done);
    return 0;
  };
  return options;
}

TEST_F(RuntimeTest, ContinuesTokensWholeAndInChunks) {
  const std::vector<int64_t> prompt = {3, 9, 4, 20, 7, 7, 30};
  for (int64_t chunk : {0, 1, 2, 3, 7})
    for (int threads : {1, 2}) {
      ContextPtr own = context(threads);
      Output output;
      fovea_generate_options options = greedy(output, 10);
      options.prompt_ids = prompt.data();
      options.prompt_id_count = prompt.size();
      options.prompt_chunk = chunk;
      fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
      ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
      EXPECT_EQ(output.tokens, expected(prompt, 10));
      EXPECT_EQ(result.new_tokens, output.tokens.size());
      EXPECT_EQ(result.prompt_tokens, 7u);
      EXPECT_EQ(output.progress.size(), chunk ? (7 + chunk - 1) / chunk : 1u);
      EXPECT_EQ(output.progress.back(), 7u);
      // Again in the same context: it begins anew.
      Output second;
      options.user = &second;
      ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
      EXPECT_EQ(second.tokens, output.tokens);
    }
}

/// The test's next_token is one more than the likeliest, so what uses it is seen.
TEST_F(RuntimeTest, TakesTheTokenOfTheEntryIfGreedy) {
  std::string other = folder.file("tokens.fovea");
  writeTestArtifact(other, {}, /*withTokenizer=*/true, /*givesTokens=*/true);
  module = open(other);
  ContextPtr own = context();
  const std::vector<int64_t> prompt = {3, 9, 4};
  Output output;
  fovea_generate_options options = greedy(output, 1);
  auto first = [&](const std::vector<int64_t> &tokens) {
    options.prompt_ids = tokens.data();
    options.prompt_id_count = tokens.size();
    output.tokens.clear();
    std::string text = message(fovea_generate(own.get(), &options, nullptr));
    EXPECT_EQ(output.tokens.size(), text.empty() ? 1u : 0u);
    return text.empty() ? std::to_string(output.tokens.front()) : text;
  };
  EXPECT_EQ(first(prompt), std::to_string(nextWord(prompt) + 1));
  // A token of `decode` behind one of `prefill`.
  options.max_tokens = 2;
  options.prompt_ids = prompt.data();
  ASSERT_EQ(message(fovea_generate(own.get(), &options, nullptr)), "");
  std::vector<int64_t> longer = prompt;
  longer.push_back(nextWord(prompt) + 1);
  EXPECT_EQ(output.tokens.back(), nextWord(longer) + 1);
  // A penalty changes the logits first; a temperature needs all.
  options.max_tokens = 1;
  options.repetition_penalty = 1.0001f;
  EXPECT_EQ(first(prompt), std::to_string(nextWord(prompt)));
  options.repetition_penalty = 1;
  options.temperature = 0.5f;
  options.top_k = 1;
  EXPECT_EQ(first(prompt), std::to_string(nextWord(prompt)));
  // What is no token is not trusted.
  options.temperature = 0;
  std::vector<int64_t> last = {0};
  while (nextWord(last) != 31)
    ++last[0];
  EXPECT_EQ(first(last), "next_token is 32; expects one of 32 tokens");
}

TEST_F(RuntimeTest, RefusesTokensOfAnotherType) {
  std::string other = folder.file("tokens.fovea");
  writeTestArtifact(
      other,
      [](manifest::ManifestT &m) {
        for (auto &entry : m.entries)
          for (auto &value : entry->results)
            if (value->name == "next_token")
              value->element = manifest::ElementType::F64;
      },
      /*withTokenizer=*/true, /*givesTokens=*/true);
  module = open(other);
  ContextPtr own = context();
  Output output;
  fovea_generate_options options = greedy(output, 1);
  const int64_t prompt[] = {3};
  options.prompt_ids = prompt;
  options.prompt_id_count = 1;
  expectIn(message(fovea_generate(own.get(), &options, nullptr)),
           "entry 'prefill' expects next_token of type i64 and shape [batch]");
}

TEST_F(RuntimeTest, ContinuesText) {
  ContextPtr own = context();
  int64_t *ids = nullptr;
  size_t count = 0;
  const char *prompt = "to be.";
  ASSERT_EQ(message(fovea_module_encode(module.get(), prompt, 6, 1, &ids, &count)), "");
  std::vector<int64_t> tokens(ids, ids + count);
  fovea_free(ids);
  EXPECT_EQ(tokens, (std::vector<int64_t>{0, 21, 16, 28, 3, 6, 29}));
  Output output;
  fovea_generate_options options = greedy(output, 12);
  options.prompt = prompt;
  options.prompt_size = 6;
  ASSERT_EQ(message(fovea_generate(own.get(), &options, nullptr)), "");
  EXPECT_EQ(output.tokens, expected(tokens, 12));
  char *text = nullptr;
  size_t size = 0;
  ASSERT_EQ(message(fovea_module_decode(module.get(), output.tokens.data(), output.tokens.size(),
                                        &text, &size)),
            "");
  EXPECT_EQ(output.text, std::string(text, size));
  fovea_free(text);
}

TEST_F(RuntimeTest, StopsWhereItShould) {
  ContextPtr own = context(1, 12);
  Output output;
  // 10*7 + 1*3 = 73, 73 % 32 = 9; look for a prompt whose next word is the end token.
  std::vector<int64_t> prompt = {0};
  while (nextWord(prompt) != 1)
    ++prompt[0];
  ASSERT_LT(prompt[0], 32);
  fovea_generate_options options = greedy(output, 5);
  options.prompt_ids = prompt.data();
  options.prompt_id_count = 1;
  fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
  ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
  EXPECT_EQ(result.stop, FOVEA_STOP_END);
  EXPECT_EQ(result.new_tokens, 0u);
  options.ignore_end = 1;
  ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
  EXPECT_EQ(result.stop, FOVEA_STOP_COUNT);
  EXPECT_EQ(result.new_tokens, 5u);
  options.max_tokens = -1;
  ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
  EXPECT_EQ(result.stop, FOVEA_STOP_CONTEXT);
  EXPECT_EQ(result.new_tokens, 12u); // 1 + 11 in the cache, and the word after them
  options.max_tokens = 0;
  ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
  EXPECT_EQ(result.new_tokens, 0u);
  options.max_tokens = 5;
  options.on_piece = [](void *, int64_t, const char *, size_t) { return 1; };
  ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
  EXPECT_EQ(result.stop, FOVEA_STOP_CALLBACK);
  EXPECT_EQ(result.new_tokens, 1u);
}

TEST_F(RuntimeTest, RefusesPromptsThatCannotBe) {
  ContextPtr own = context(1, 4);
  Output output;
  fovea_generate_options options = greedy(output, 5);
  auto refuse = [&](std::vector<int64_t> prompt) {
    options.prompt_ids = prompt.data();
    options.prompt_id_count = prompt.size();
    return message(fovea_generate(own.get(), &options, nullptr));
  };
  EXPECT_EQ(refuse({1, 2, 3, 4, 5}), "the prompt has 5 tokens; the context has room for 4, the "
                                     "model was made for up to 64");
  expectIn(refuse({1, 32}), "token id 32; expects ids from 0 to 31");
  expectIn(refuse({-1}), "token id -1");
  options.prompt_ids = nullptr;
  expectIn(message(fovea_generate(own.get(), &options, nullptr)), "neither a prompt");
  options.prompt = "abc";
  options.prompt_size = 3;
  options.top_p = 0;
  expectIn(message(fovea_generate(own.get(), &options, nullptr)), "top_p expects");
  EXPECT_TRUE(output.tokens.empty());
}

TEST_F(RuntimeTest, WithoutATokenizerOnlyIdsAreTaken) {
  std::string plain = folder.file("plain.fovea");
  writeTestArtifact(plain, {}, /*withTokenizer=*/false);
  module = open(plain);
  ContextPtr own = context();
  Output output;
  fovea_generate_options options = greedy(output, 3);
  options.prompt = "abc";
  options.prompt_size = 3;
  expectIn(message(fovea_generate(own.get(), &options, nullptr)), "holds no tokenizer");
  const int64_t prompt[] = {5, 6};
  options.prompt_ids = prompt;
  options.prompt_id_count = 2;
  EXPECT_EQ(message(fovea_generate(own.get(), &options, nullptr)), "");
  EXPECT_EQ(output.tokens, expected({5, 6}, 3));
  EXPECT_EQ(output.text, "");
}

TEST_F(RuntimeTest, ModelsThatCannotGenerateSaySo) {
  std::string other = folder.file("other.fovea");
  writeTestArtifact(other, [](manifest::ManifestT &m) {
    m.model->kind = manifest::ModelKind::Encoder;
    for (size_t i = m.entries.size(); i-- > 0;)
      if (m.entries[i]->kind == manifest::EntryKind::Prefill ||
          m.entries[i]->kind == manifest::EntryKind::Embed)
        m.entries.erase(m.entries.begin() + static_cast<ptrdiff_t>(i));
  });
  module = open(other);
  ContextPtr own = context();
  Output output;
  fovea_generate_options options = greedy(output, 3);
  options.prompt = "a";
  options.prompt_size = 1;
  expectIn(message(fovea_generate(own.get(), &options, nullptr)), "it is an encoder");
  float *vectors = nullptr;
  size_t width = 0;
  fovea_text text = {"a", 1};
  expectIn(message(fovea_embed(own.get(), &text, 1, &vectors, &width, nullptr)),
           "has no entry 'embed'");
}

/// Names are labels: roles and kinds say what an entry does with what.
TEST_F(RuntimeTest, NamesMayBeOthers) {
  std::string other = folder.file("renamed.fovea");
  writeTestArtifact(other, [](manifest::ManifestT &m) {
    for (auto &entry : m.entries) {
      for (auto *values : {&entry->arguments, &entry->results})
        for (auto &value : *values) {
          if (value->role != manifest::Role::None)
            value->name = "a." + value->name;
          for (std::string &dim : value->dims)
            dim += dim.empty() ? "" : "s";
        }
      entry->sequence += "s";
    }
  });
  module = open(other);
  ContextPtr own = context();
  Output output;
  fovea_generate_options options = greedy(output, 3);
  const int64_t prompt[] = {5, 6};
  options.prompt_ids = prompt;
  options.prompt_id_count = 2;
  EXPECT_EQ(message(fovea_generate(own.get(), &options, nullptr)), "");
  EXPECT_EQ(output.tokens, expected({5, 6}, 3));
  fovea_text text = {"b", 1};
  float *vectors = nullptr;
  size_t width = 0;
  ASSERT_EQ(message(fovea_embed(own.get(), &text, 1, &vectors, &width, nullptr)), "");
  EXPECT_EQ(width, 2u);
  EXPECT_EQ(vectors[1], 2.0f);
  fovea_free(vectors);
  CallPtr forward = call(own, "forward");
  std::vector<int64_t> ids(65, 1);
  EXPECT_EQ(set(forward, "a.input_ids", ids, {1, 65}), "");
  expectIn(run(forward), "65 new positions are more than the 64 that the model was made for");
}

TEST_F(RuntimeTest, EntriesThatLackARoleSaySo) {
  std::string other = folder.file("other.fovea");
  Output output;
  fovea_generate_options options = greedy(output, 3);
  const int64_t prompt[] = {5, 6};
  options.prompt_ids = prompt;
  options.prompt_id_count = 2;
  fovea_text text = {"b", 1};
  float *vectors = nullptr;
  size_t width = 0;
  auto refuse = [&](manifest::Role lost, bool embeds) {
    writeTestArtifact(other, [&](manifest::ManifestT &m) {
      for (auto &entry : m.entries)
        for (auto *values : {&entry->arguments, &entry->results})
          for (auto &value : *values)
            if (value->role == lost)
              value->role = manifest::Role::None;
    });
    module = open(other);
    ContextPtr own = context();
    return message(embeds ? fovea_embed(own.get(), &text, 1, &vectors, &width, nullptr)
                          : fovea_generate(own.get(), &options, nullptr));
  };
  expectIn(refuse(manifest::Role::TokenIds, false), "entry 'prefill' takes 'input_ids', which");
  expectIn(refuse(manifest::Role::Logits, false), "entry 'prefill' gives no logits");
  expectIn(refuse(manifest::Role::TokenTypes, true), "entry 'embed' takes 'token_type_ids', which");
  expectIn(refuse(manifest::Role::Embedding, true), "entry 'embed' gives no embedding");
}

TEST_F(RuntimeTest, EmbedsTextsTogetherAsAlone) {
  ContextPtr own = context(2);
  std::vector<std::string> words;
  for (int i = 0; i < 40; ++i) // More than one call's rows, of many lengths.
    words.push_back(std::string(static_cast<size_t>(i % 13), static_cast<char>('a' + i % 26)));
  std::vector<fovea_text> texts;
  for (const std::string &word : words)
    texts.push_back({word.data(), word.size()});
  float *vectors = nullptr;
  size_t width = 0, cut = 99;
  ASSERT_EQ(message(fovea_embed(own.get(), texts.data(), texts.size(), &vectors, &width, &cut)),
            "");
  EXPECT_EQ(width, 2u);
  EXPECT_EQ(cut, 0u);
  for (size_t i = 0; i < words.size(); ++i) {
    auto length = static_cast<float>(words[i].size());
    EXPECT_EQ(vectors[2 * i], length * static_cast<float>(2 + i % 26));
    EXPECT_EQ(vectors[2 * i + 1], length + 1); // and the begin token
  }
  fovea_free(vectors);
  // max_text_tokens is 16: the begin token and 15 letters stay.
  std::string longer(40, 'b');
  fovea_text text = {longer.data(), longer.size()};
  ASSERT_EQ(message(fovea_embed(own.get(), &text, 1, &vectors, &width, &cut)), "");
  EXPECT_EQ(cut, 1u);
  EXPECT_EQ(vectors[0], 45.0f);
  EXPECT_EQ(vectors[1], 16.0f);
  fovea_free(vectors);
}

TEST_F(RuntimeTest, TheEntrysOwnBoundCutsTextsToo) {
  std::string other = folder.file("other.fovea");
  writeTestArtifact(other, [](manifest::ManifestT &m) {
    for (auto &entry : m.entries)
      if (entry->name == "embed")
        entry->max_positions = 5;
  });
  module = open(other);
  ContextPtr own = context();
  fovea_text text = {"bbbbbbbb", 8};
  float *vectors = nullptr;
  size_t width = 0, cut = 0;
  ASSERT_EQ(message(fovea_embed(own.get(), &text, 1, &vectors, &width, &cut)), "");
  EXPECT_EQ(cut, 1u);
  EXPECT_EQ(vectors[1], 5.0f);
  fovea_free(vectors);
}

/// Texts that the model of words writes behind `prompt`, one for each token.
TEST_F(RuntimeTest, StopTextsEndTheTextAndAreNotGivenOut) {
  const std::vector<int64_t> prompt = {3, 9, 4, 20, 7, 7, 30};
  auto write = [&](std::vector<std::string> stops, fovea_stop expected) {
    ContextPtr own = context();
    Output output;
    fovea_generate_options options = greedy(output, 12);
    options.prompt_ids = prompt.data();
    options.prompt_id_count = prompt.size();
    std::vector<fovea_text> texts;
    for (const std::string &stop : stops)
      texts.push_back({stop.data(), stop.size()});
    options.stop_texts = texts.data();
    options.stop_text_count = texts.size();
    fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
    EXPECT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
    EXPECT_EQ(result.stop, expected);
    return output.text;
  };
  std::string all = write({}, FOVEA_STOP_COUNT);
  ASSERT_GE(all.size(), 12u);
  for (size_t at : {size_t(0), size_t(3), all.size() / 2})
    for (size_t size : {size_t(1), size_t(2), size_t(7)}) {
      std::string stop = all.substr(at, size);
      EXPECT_EQ(write({"#none#", stop}, FOVEA_STOP_TEXT), all.substr(0, all.find(stop))) << stop;
    }
  // What only begins one is given out all the same, also at the end.
  EXPECT_EQ(write({all.substr(all.size() / 2, 3) + "#", all.substr(all.size() - 2) + "#"},
                  FOVEA_STOP_COUNT),
            all);
  Output output;
  fovea_generate_options options = greedy(output, 1);
  fovea_text empty = {"", 0};
  options.stop_texts = &empty;
  options.stop_text_count = 1;
  ContextPtr own = context();
  EXPECT_EQ(message(fovea_generate(own.get(), &options, nullptr)), "a stop text is empty");
}

TEST_F(RuntimeTest, CachesKeepWhatTwoPromptsShare) {
  ContextPtr own = context();
  Output output;
  fovea_generate_options options = greedy(output, 5);
  options.keep_caches = 1;
  auto cached = [&](const std::vector<int64_t> &prompt) {
    output = {};
    options.prompt_ids = prompt.data();
    options.prompt_id_count = prompt.size();
    fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
    EXPECT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
    EXPECT_EQ(output.tokens, expected(prompt, 5));
    EXPECT_EQ(result.prompt_tokens, prompt.size());
    return result.cached_tokens;
  };
  std::vector<int64_t> prompt = {3, 9, 4, 20, 7, 7, 30};
  EXPECT_EQ(cached(prompt), 0u);
  ASSERT_EQ(output.tokens.size(), 5u);
  // The last token of the prompt is read for its logits.
  EXPECT_EQ(cached(prompt), 6u);
  // All that was written but the last token, which was not fed.
  std::vector<int64_t> longer = prompt;
  longer.insert(longer.end(), output.tokens.begin(), output.tokens.end());
  longer.push_back(8);
  EXPECT_EQ(cached(longer), prompt.size() + 4);
  // Another in the middle; then nothing in common.
  longer[5] = 8;
  EXPECT_EQ(cached(longer), 5u);
  EXPECT_EQ(cached({4, 4}), 0u);
  // What the caller empties, or anything else feeds, is not known any more.
  EXPECT_EQ(cached({4, 4, 5}), 2u);
  ASSERT_EQ(message(fovea_context_reset(own.get())), "");
  EXPECT_EQ(cached({4, 4, 5}), 0u);
  options.keep_caches = 0;
  EXPECT_EQ(cached({4, 4, 5}), 0u);
}

TEST_F(RuntimeTest, LogprobsAreOfTheModel) {
  ContextPtr own = context();
  struct Seen {
    std::vector<int64_t> tokens;
    std::vector<float> logprobs;
    std::vector<std::vector<fovea_logprob>> tops;
  } seen;
  const std::vector<int64_t> prompt = {3, 9, 4};
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  options.prompt_ids = prompt.data();
  options.prompt_id_count = prompt.size();
  options.max_tokens = 4;
  options.seed = 7;
  options.temperature = 2;
  options.ignore_end = 1;
  options.user = &seen;
  options.top_logprobs = 3;
  options.on_logprobs = [](void *user, int64_t token, float logprob, const fovea_logprob *top,
                           size_t count) {
    Seen &all = *static_cast<Seen *>(user);
    all.tokens.push_back(token);
    all.logprobs.push_back(logprob);
    all.tops.emplace_back(top, top + count);
    return all.tokens.size() == 3 ? 1 : 0;
  };
  fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
  ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
  EXPECT_EQ(result.stop, FOVEA_STOP_CALLBACK);
  ASSERT_EQ(seen.tokens.size(), 3u);
  EXPECT_EQ(seen.tops[0][0].token, nextWord(prompt));
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(seen.tops[i].size(), 3u);
    EXPECT_GE(seen.tops[i][0].logprob, seen.tops[i][1].logprob);
    EXPECT_GE(seen.tops[i][0].logprob, seen.logprobs[i]);
    EXPECT_LE(seen.tops[i][0].logprob, 0.0f);
  }
  options.top_logprobs = 1000; // no more than there are
  seen = {};
  ASSERT_EQ(message(fovea_generate(own.get(), &options, &result)), "");
  double sum = 0;
  for (const fovea_logprob &one : seen.tops[0])
    sum += std::exp(static_cast<double>(one.logprob));
  EXPECT_EQ(seen.tops[0].size(), 32u);
  EXPECT_NEAR(sum, 1, 1e-5);
}

} // namespace
