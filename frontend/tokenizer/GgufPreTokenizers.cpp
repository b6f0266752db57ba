// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `tokenizer.ggml.pre` means: the patterns of the tokenizers that it names, as their own files
// have them. A name that is not known is an error: ids would be wrong.
#include "frontend/tokenizer/GgufVocabulary.h"

#include "frontend/Nearest.h"

using namespace fovea;

static constexpr const char *gpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

static constexpr const char *llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Digits one by one.
static constexpr const char *qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Words end where a small letter is followed by a capital one.
static constexpr const char *o200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

static constexpr const char *tekken =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
    R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Behind digits, and Chinese and Japanese letters.
static constexpr const char *deepseek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|)"
    R"( ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {
struct Entry {
  const char *name;
  GgufPreTokenizer value;
};
} // namespace

static const std::vector<Entry> &entries() {
  const GgufPreTokenizer plain{{gpt2}};
  const GgufPreTokenizer digits{{gpt2}, /*splitsDigits=*/true};
  const GgufPreTokenizer third{{llama3}, false, false, /*ignoresMerges=*/true, /*addsBegin=*/true};
  static const std::vector<Entry> all = {
      {"gpt-2", plain},
      {"phi-2", plain},
      {"mpt", plain},
      {"jina-v2-code", plain},
      {"starcoder", digits},
      {"refact", digits}, // Granite, too
      {"smollm", digits},
      {"codeshell", digits},
      {"command-r", {{gpt2}, true, /*composes=*/true}},
      {"llama-bpe", third},
      {"llama3", third},
      {"llama-v3", third},
      {"falcon3", third},
      {"pixtral", third},
      {"smaug-bpe", {{llama3}}},
      {"dbrx", {{llama3}}},
      {"glm4", {{llama3}}},
      {"chatglm-bpe", {{llama3}}},
      {"qwen2", {{qwen2}, false, /*composes=*/true}},
      {"deepseek-r1-qwen", {{qwen2}, false, /*composes=*/true}},
      {"megrez", {{qwen2}, false, /*composes=*/true}},
      {"hunyuan", {{qwen2}}},
      {"stablelm2", {{qwen2}}},
      {"deepseek-coder",
       {{R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+"},
        /*splitsDigits=*/true}},
      {"deepseek-v3", {{R"(\p{N}{1,3})", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+", deepseek3}}},
      {"gpt-4o", {{o200k}}},
      {"llama4", {{o200k}}},
      {"tekken", {{tekken}, false, false, true, true}},
  };
  return all;
}

const GgufPreTokenizer *fovea::findGgufPreTokenizer(TableWriter &writer, const std::string &pre) {
  // Files of old do not say it.
  const bool isSaid = !pre.empty() && pre != "default";
  std::vector<std::string> names;
  std::string expected;
  for (const Entry &entry : entries()) {
    if (entry.name == (isSaid ? pre : "gpt-2")) {
      if (!isSaid)
        addNote(writer.problems, writer.file, "tokenizer.ggml.pre",
                "does not say how text is split, which is done as for GPT-2");
      return &entry.value;
    }
    names.emplace_back(entry.name);
    expected += (expected.empty() ? "" : ", ") + names.back();
  }
  addError(writer.problems, writer.file, "tokenizer.ggml.pre",
           "expects one of " + expected + ", got " + quote(pre) + didYouMean(pre, names));
  return nullptr;
}
