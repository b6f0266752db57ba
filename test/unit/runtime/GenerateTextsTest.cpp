// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several texts at once, and guesses of tokens: both give the texts that one after the other, and
// one token after the other, give.
#include "test/unit/runtime/RuntimeTest.h"

#include <random>

using namespace fovea;
using namespace fovea::test;

namespace {

/// A text as it is asked for, and what came of it.
struct Asked {
  explicit Asked(std::vector<int64_t> prompt, int64_t count = 10, float temperature = 0)
      : prompt(std::move(prompt)) {
    options.temperature = temperature;
    options.max_tokens = count;
    options.ignore_end = 1;
    options.seed = this->prompt.front();
    options.on_piece = [](void *user, int64_t token, const char *text, size_t size) {
      Asked &own = *static_cast<Asked *>(user);
      if (token >= 0)
        own.tokens.push_back(token);
      own.text.append(text, size);
      return own.tokens.size() >= own.most ? 1 : 0;
    };
  }
  const fovea_generate_options *request() {
    tokens.clear();
    text.clear();
    options.prompt_ids = prompt.data();
    options.prompt_id_count = prompt.size();
    options.user = this;
    return &options;
  }

  std::vector<int64_t> prompt, tokens;
  std::string text;
  size_t most = SIZE_MAX; ///< tokens, by the callback
  fovea_generate_options options = FOVEA_GENERATE_OPTIONS_INIT;
  fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
};

class GenerateTextsTest : public RuntimeTest {
protected:
  static std::string runAlone(const ContextPtr &own, Asked &asked) {
    return message(fovea_generate(own.get(), asked.request(), &asked.result));
  }

  static std::string runTogether(const ContextPtr &own, std::vector<Asked> &all, int32_t most) {
    std::vector<const fovea_generate_options *> options;
    std::vector<fovea_generate_result *> results;
    for (Asked &asked : all) {
      options.push_back(asked.request());
      results.push_back(&asked.result);
    }
    return message(
        fovea_generate_texts(own.get(), options.data(), all.size(), most, results.data()));
  }

  static void expectEqual(const Asked &found, const Asked &expected, const std::string &where) {
    EXPECT_EQ(found.tokens, expected.tokens) << where;
    EXPECT_EQ(found.text, expected.text) << where;
    EXPECT_EQ(found.result.stop, expected.result.stop) << where;
    EXPECT_EQ(found.result.new_tokens, expected.result.new_tokens) << where;
    EXPECT_EQ(found.result.prompt_tokens, expected.result.prompt_tokens) << where;
  }

  ContextPtr contextOf(const ModulePtr &other, int64_t capacity) {
    fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
    options.threads = 1;
    options.capacity = capacity;
    fovea_context *made = nullptr;
    EXPECT_EQ(message(fovea_context_create(other.get(), &options, &made)), "");
    return ContextPtr(made);
  }

  std::vector<int64_t> randomPrompt(size_t longest) {
    std::vector<int64_t> prompt(1 + random() % longest);
    for (int64_t &id : prompt)
      id = static_cast<int64_t>(random() % 32);
    return prompt;
  }

  std::mt19937 random{7};
};

TEST_F(GenerateTextsTest, TextsTogetherAreThoseOfEachAlone) {
  for (int round = 0; round < 60; ++round) {
    std::vector<Asked> all;
    for (size_t i = 0, count = random() % 9; i < count; ++i) {
      Asked &asked = all.emplace_back(randomPrompt(12), static_cast<int64_t>(random() % 16),
                                      random() % 2 ? 0.0f : 1.5f);
      asked.options.ignore_end = static_cast<int>(random() % 2);
      asked.options.prompt_chunk = static_cast<int64_t>(random() % 4);
      if (random() % 4 == 0)
        asked.most = 1 + random() % 5;
      if (random() % 4 == 0)
        asked.options.max_tokens = -1;
    }
    std::vector<Asked> alone = all;
    ContextPtr own = context(1, 24), other = context(2, 24);
    for (Asked &asked : alone)
      ASSERT_EQ(runAlone(own, asked), "");
    for (int32_t most : {1, 2, 3, 16}) {
      ASSERT_EQ(runTogether(other, all, most), "");
      for (size_t i = 0; i < all.size(); ++i)
        expectEqual(all[i], alone[i], std::to_string(round) + " " + std::to_string(i));
    }
  }
}

TEST_F(GenerateTextsTest, StopTextsAndLogprobsAreOfTheirText) {
  std::vector<Asked> all = {Asked({3, 9, 4}, 14), Asked({5, 6}, 14), Asked({7, 8, 30}, 14)};
  ContextPtr own = context();
  std::vector<Asked> alone = all;
  for (Asked &asked : alone)
    ASSERT_EQ(runAlone(own, asked), "");
  const std::string stop = alone[1].text.substr(5, 2);
  const fovea_text text = {stop.data(), stop.size()};
  all[1].options.stop_texts = &text;
  all[1].options.stop_text_count = 1;
  all[2].options.on_logprobs = [](void *user, int64_t, float, const fovea_logprob *, size_t count) {
    static_cast<Asked *>(user)->most = 100 + count; // which the text never reaches
    return 0;
  };
  all[2].options.top_logprobs = 2;
  ASSERT_EQ(runTogether(own, all, 8), "");
  EXPECT_EQ(all[0].text, alone[0].text);
  EXPECT_EQ(all[1].text, alone[1].text.substr(0, alone[1].text.find(stop)));
  EXPECT_EQ(all[1].result.stop, FOVEA_STOP_TEXT);
  EXPECT_EQ(all[2].text, alone[2].text);
  EXPECT_EQ(all[2].most, 102u);
}

TEST_F(GenerateTextsTest, WhatCannotBeIsRefused) {
  std::vector<Asked> all = {Asked({3, 9}), Asked({5})};
  ContextPtr own = context(1, 8), other = context();
  EXPECT_EQ(runTogether(own, all, 0), "expects at least one text at once, got 0");
  all[1].options.keep_caches = 1;
  EXPECT_EQ(runTogether(own, all, 2), "keep_caches expects one text, got 2");
  all[1].options.keep_caches = 0;
  all[1].options.draft_lookup = 1;
  EXPECT_EQ(runTogether(own, all, 2), "draft expects one text, got 2");
  all[1].options.draft_lookup = 0;
  all[1].prompt.resize(9);
  expectIn(runTogether(own, all, 2), "the prompt has 9 tokens; the context has room for 8");
  const fovea_generate_options *none[] = {all[0].request(), nullptr};
  EXPECT_EQ(message(fovea_generate_texts(own.get(), none, 2, 2, nullptr)),
            "the options of text 1 are NULL");
  EXPECT_EQ(message(fovea_generate_texts(own.get(), none, 0, 2, nullptr)), "");
  // And the context is as it was.
  EXPECT_EQ(runAlone(own, all[0]), "");
}

/// Of two models that draft one gives what the text has, where the likeliest is taken, and the
/// other never.
TEST_F(GenerateTextsTest, DraftsChangeNoText) {
  const std::string wrong = folder.file("wrong.fovea");
  writeTestArtifact(wrong, {}, /*withTokenizer=*/true, /*givesTokens=*/true);
  const ModulePtr modules[] = {open(path), open(wrong)};
  size_t drafted = 0, accepted = 0;
  for (int round = 0; round < 200; ++round) {
    Asked plain(randomPrompt(20), static_cast<int64_t>(random() % 40), round % 2 ? 0.0f : 1.5f);
    if (random() % 2)
      plain.options.max_tokens = -1;
    plain.options.ignore_end = static_cast<int>(random() % 2);
    plain.options.repetition_penalty = random() % 3 ? 1.0f : 1.3f;
    if (random() % 4 == 0)
      plain.most = 1 + random() % 9;
    ContextPtr first = context(1, 30), second = context(1, 30);
    ContextPtr guesser = contextOf(modules[random() % 2], 50);
    Asked checked = plain;
    checked.options.draft_tokens = 1 + static_cast<int32_t>(random() % 7);
    if (random() % 2)
      checked.options.draft = guesser.get();
    else
      checked.options.draft_lookup = 1;
    // Again behind what is there: caches hold what they would.
    for (int turn = 0; turn < 2; ++turn) {
      ASSERT_EQ(runAlone(first, plain), "");
      ASSERT_EQ(runAlone(second, checked), "");
      expectEqual(checked, plain, std::to_string(round));
      EXPECT_EQ(checked.result.cached_tokens, plain.result.cached_tokens) << round;
      EXPECT_LE(checked.result.accepted_tokens, checked.result.draft_tokens);
      drafted += checked.result.draft_tokens;
      accepted += checked.result.accepted_tokens;
      for (Asked *asked : {&plain, &checked}) {
        asked->options.keep_caches = 1;
        asked->prompt.insert(asked->prompt.end(), asked->tokens.begin(), asked->tokens.end());
        asked->prompt.resize(std::min<size_t>(asked->prompt.size(), 30));
        asked->most = SIZE_MAX;
      }
    }
  }
  EXPECT_GT(accepted, 500u);
  EXPECT_GT(drafted, accepted);
}

/// A draft that is the model itself: greedily all is right.
TEST_F(GenerateTextsTest, RightGuessesAreTaken) {
  Asked asked({3, 9, 4}, 21);
  ContextPtr own = context(), guesser = context();
  asked.options.draft = guesser.get();
  asked.options.draft_tokens = 4;
  ASSERT_EQ(runAlone(own, asked), "");
  EXPECT_EQ(asked.tokens.size(), 21u);
  EXPECT_EQ(asked.result.draft_tokens, 16u); // four steps of five tokens behind the prompt's
  EXPECT_EQ(asked.result.accepted_tokens, 16u);
}

TEST_F(GenerateTextsTest, DraftsThatCannotBeCheckedAreRefused) {
  ContextPtr own = context();
  Asked asked({3, 9});
  asked.options.draft_lookup = 1;
  for (int32_t count : {0, 8}) {
    asked.options.draft_tokens = count;
    EXPECT_EQ(runAlone(own, asked), "draft_tokens expects 1 to 7, got " + std::to_string(count));
  }
  asked.options.draft_tokens = 4;
  asked.options.draft = own.get();
  expectIn(runAlone(own, asked), "cannot check drafts: the draft's context is its own");
  std::string other = folder.file("other.fovea");
  auto refuse = [&](const std::function<void(manifest::ManifestT &)> &change, bool isDraft,
                    bool withTokenizer = true) {
    writeTestArtifact(other, change, withTokenizer, /*givesTokens=*/isDraft);
    ModulePtr changed = open(other);
    ContextPtr made = contextOf(changed, 0);
    asked.options.draft = isDraft ? made.get() : nullptr;
    return runAlone(isDraft ? own : made, asked);
  };
  auto drop = [](const char *name) {
    return [name](manifest::ManifestT &m) {
      for (size_t i = m.entries.size(); i-- > 0;)
        if (m.entries[i]->name == name)
          m.entries.erase(m.entries.begin() + static_cast<ptrdiff_t>(i));
    };
  };
  expectIn(refuse(drop("verify"), false),
           ": cannot check drafts: it has no entry that takes tokens and caches and gives the "
           "logits of all positions");
  expectIn(refuse(drop("decode"), true), "other.fovea: cannot draft text: it has no entries");
  expectIn(refuse({}, true, /*withTokenizer=*/false),
           "other.fovea: cannot draft text: expects the tokens of " + path +
               ", got another vocabulary");
}

} // namespace
