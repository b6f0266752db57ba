// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Prompt.h. A language (`lang_to_id`) is the likeliest if nobody chooses one, a task
// (`task_to_id`) is to transcribe; behind them stands `no_timestamps_token_id`. Models of one
// language have neither. Without these tables `forced_decoder_ids` says the tokens by their places.
#include "frontend/Prompt.h"

#include <algorithm>

using namespace fovea;

static std::optional<int64_t> readToken(JsonObject &config, const char *key, int64_t vocabulary) {
  if (!config.has(key))
    return std::nullopt;
  return config.integer(key, 0, vocabulary - 1);
}

/// "<|de|>" -> "de"
static std::string bare(const std::string &name) {
  bool isToken =
      name.size() > 4 && name.rfind("<|", 0) == 0 && name.compare(name.size() - 2, 2, "|>") == 0;
  return isToken ? name.substr(2, name.size() - 4) : name;
}

/// What may be chosen by the table `key` and what is if `chosen` says so; nothing without a table.
static std::optional<PromptToken> readChoice(JsonObject &config, const char *key,
                                             const char *chosen, const std::string &otherwise,
                                             int64_t vocabulary, Problems &problems) {
  if (!config.has(key))
    return std::nullopt;
  std::optional<JsonObject> table = config.member(key);
  if (!table)
    return std::nullopt;
  PromptToken result;
  result.name = chosen;
  for (const std::string &name : config.find(key)->keys())
    if (auto token = table->integer(name, 0, vocabulary - 1))
      result.values.emplace_back(bare(name), *token);
  std::string wanted = config.has(chosen) ? bare(config.string(chosen, "")) : otherwise;
  for (const auto &[name, token] : result.values)
    if (name == wanted)
      result.token = token;
  if (!result.token && config.has(chosen))
    addNote(problems, config.file(), config.placeOf(chosen),
            "expects a name among those of " + std::string(key) + ", ignores " + quote(wanted));
  if (result.values.empty())
    return std::nullopt;
  return result;
}

/// `forced_decoder_ids`: [[1, 50259], [2, 50359]], places behind the begin token.
static std::vector<PromptToken> readForced(JsonObject &config, int64_t vocabulary) {
  std::vector<PromptToken> result;
  const JsonValue *forced =
      config.has("forced_decoder_ids") ? config.array("forced_decoder_ids") : nullptr;
  if (!forced)
    return result;
  auto refuse = [&] {
    config.reject("forced_decoder_ids", "pairs of a place, 1, 2, ..., and a token id below " +
                                            std::to_string(vocabulary));
    return std::vector<PromptToken>();
  };
  for (const JsonValue &pair : forced->elements()) {
    const auto &parts = pair.elements();
    if (!pair.isArray() || parts.size() != 2 || !parts[0].isInteger() ||
        parts[0].integer() != static_cast<int64_t>(result.size()) + 1)
      return refuse();
    // A place that is left open: what stands behind it cannot be forced either.
    if (parts[1].isNull())
      break;
    if (!parts[1].isInteger() || parts[1].integer() < 0 || parts[1].integer() >= vocabulary)
      return refuse();
    result.push_back({"", parts[1].integer(), {}});
  }
  return result;
}

void fovea::readPrompt(JsonObject &config, ModelDescription &model, Problems &problems) {
  model.prompt.clear();
  bool isMultilingual = !config.has("is_multilingual") || config.boolean("is_multilingual", true);
  auto language = readChoice(config, "lang_to_id", "language", "", model.vocabulary, problems);
  auto task = readChoice(config, "task_to_id", "task", "transcribe", model.vocabulary, problems);
  if (isMultilingual && language)
    model.prompt.push_back(std::move(*language));
  if (isMultilingual && task)
    model.prompt.push_back(std::move(*task));
  if (model.prompt.empty())
    model.prompt = readForced(config, model.vocabulary);
  auto plain = readToken(config, "no_timestamps_token_id", model.vocabulary);
  if (plain && (model.prompt.empty() || model.prompt.back().token != plain))
    model.prompt.push_back({"", plain, {}});
}
