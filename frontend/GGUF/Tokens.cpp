// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tokens begin, end and pad a text.
#include "frontend/GGUF/Architecture.h"

#include <algorithm>

using namespace fovea;

/// Tokens that end what a model writes, whatever the metadata says, as llama.cpp has them: the end
/// of a turn in families of templates for conversations.
static constexpr const char *endings[] = {"<|eot_id|>",
                                          "<|im_end|>",
                                          "<|end|>",
                                          "<end_of_turn>",
                                          "<|endoftext|>",
                                          "<|eom_id|>",
                                          "<EOT>",
                                          "_<EOT>",
                                          "[EOT]",
                                          "<|end_of_text|>",
                                          "<|return|>",
                                          "<|call|>",
                                          "<|flush|>",
                                          "<|calls|>",
                                          "<end_of_utterance>",
                                          "<\uFF5Cend\u2581of\u2581sentence\uFF5C>"};

bool fovea::readGgufTokens(const GgufFile &file, ModelDescription &model, Problems &problems) {
  JsonValue values = file.section("tokenizer.ggml");
  JsonObject keys(values, file.name(), "tokenizer.ggml", problems);
  auto token = [&](const char *key) -> std::optional<int64_t> {
    const JsonValue *value = keys.find(key);
    if (!value)
      return std::nullopt;
    if (value->isInteger() && value->integer() >= 0 && value->integer() < model.vocabulary)
      return value->integer();
    // Converters write -1, and larger ids of what is not there.
    addNote(problems, file.name(), keys.placeOf(key),
            "expects a token id from 0 to " + std::to_string(model.vocabulary - 1) + ", ignores " +
                value->describe());
    return std::nullopt;
  };
  model.beginToken = token("bos_token_id");
  model.padToken = token("padding_token_id");
  auto addEnd = [&](std::optional<int64_t> id) {
    std::vector<int64_t> &ends = model.endTokens;
    if (id && std::find(ends.begin(), ends.end(), *id) == ends.end())
      ends.push_back(*id);
  };
  for (const char *key : {"eos_token_id", "eot_token_id", "eom_token_id"})
    addEnd(token(key));
  const JsonValue *texts = keys.find("tokens");
  if (model.kind != ModelDescription::Kind::Decoder || !texts)
    return texts != nullptr;
  bool hasReturn = false;
  std::vector<std::pair<std::string, int64_t>> found;
  for (size_t i = 0; i < texts->elements().size() && int64_t(i) < model.vocabulary; ++i)
    for (const char *ending : endings)
      if (texts->elements()[i].string() == ending) {
        found.emplace_back(ending, int64_t(i));
        hasReturn |= found.back().first == "<|return|>" || found.back().first == "<|flush|>";
      }
  // Where a message ends and the model's turn goes on.
  for (const auto &[text, id] : found)
    if (!hasReturn || text != "<|end|>")
      addEnd(id);
  return true;
}
