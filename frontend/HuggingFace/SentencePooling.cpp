// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a sentence becomes one vector: the kind of pooling and the dense layers
// that modules of sentence-transformers name, from their own config.json.
#include "frontend/HuggingFace/Family.h"

using namespace fovea;

/// The kind of pooling from a module's config.json, in its older spelling (a
/// flag for each kind) or its newer one (`pooling_mode`).
static std::optional<Pool> readKind(JsonObject &config, Problems &problems) {
  static const struct {
    const char *flag;
    const char *mode;
    std::optional<Pool> kind;
  } table[] = {
      {"pooling_mode_cls_token", "cls", Pool::First},
      {"pooling_mode_max_tokens", "max", Pool::Max},
      {"pooling_mode_mean_tokens", "mean", Pool::Mean},
      {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", std::nullopt},
      {"pooling_mode_weightedmean_tokens", "weightedmean", std::nullopt},
      {"pooling_mode_lasttoken", "lasttoken", std::nullopt},
  };
  std::vector<std::string> modes;
  if (const JsonValue *mode = config.find("pooling_mode")) {
    if (mode->isString())
      modes = {mode->string()};
    else if (auto several = config.strings("pooling_mode"))
      modes = *several;
    else
      return std::nullopt;
    for (const auto &entry : table)
      config.ignore({entry.flag});
  } else {
    bool any = false;
    for (const auto &entry : table) {
      any |= config.has(entry.flag);
      if (config.boolean(entry.flag, false))
        modes.push_back(entry.mode);
    }
    if (any && modes.empty())
      modes = {"mean"};
  }
  if (modes.size() == 1)
    for (const auto &entry : table)
      if (modes.front() == entry.mode && entry.kind)
        return entry.kind;
  std::string got;
  for (const std::string &mode : modes)
    got += (got.empty() ? "" : ", ") + printable(mode);
  addError(problems, config.file(), "pooling_mode",
           "expects one of cls, max, mean, got " + (got.empty() ? "nothing" : got));
  return std::nullopt;
}

static std::optional<Step> readDense(const std::string &folder, const std::string &below,
                                     int64_t &width, Problems &problems,
                                     artifact::FileAccess access) {
  std::string path = folder + "/" + below + "/config.json";
  std::optional<JsonValue> value = parseJsonFile(path, problems);
  if (!value)
    return std::nullopt;
  JsonObject config(*value, path, "", problems);
  auto in = config.integer("in_features", 1, maxWidth);
  auto out = config.integer("out_features", 1, maxWidth);
  bool bias = config.boolean("bias", true);
  Step step;
  std::string activation = lastPart(config.string("activation_function", "torch.nn.Tanh"));
  if (activation == "Tanh")
    step.activation = Activation::Tanh;
  else if (activation == "GELU")
    step.activation = Activation::Gelu;
  else if (activation == "ReLU")
    step.activation = Activation::Relu;
  else if (activation == "SiLU")
    step.activation = Activation::Silu;
  else if (activation == "Sigmoid")
    step.activation = Activation::Sigmoid;
  else if (activation != "Identity")
    config.reject("activation_function", "Tanh, GELU, ReLU, SiLU, Sigmoid or Identity");
  requireBoolean(config, "use_residual", false, problems);
  // Newer spellings of what is the default here.
  for (auto [key, expected] : {std::make_pair("module_input_name", "sentence_embedding"),
                               std::make_pair("module_output_name", "sentence_embedding")})
    if (config.string(key, expected) != expected)
      config.reject(key, quote(expected));
  config.reportUnread("could change numbers and is not understood");
  if (!in || !out)
    return std::nullopt;
  if (*in != width)
    config.reject("in_features", std::to_string(width) + ", the width before it");

  std::optional<Checkpoint> checkpoint = Checkpoint::open(folder, below, problems, access);
  if (!checkpoint)
    return std::nullopt;
  WeightTable weights(&*checkpoint, problems);
  step.dense = weights.linear("linear", *out, *in, bias);
  // Names are unique in a model, and "linear" may come again.
  step.dense->name = below + "." + step.dense->name;
  step.dense->weight.name = below + "." + step.dense->weight.name;
  if (step.dense->bias)
    step.dense->bias->name = below + "." + step.dense->bias->name;
  width = *out;
  return step;
}

std::optional<Pooling> fovea::readPooling(const SentenceModules &modules, const std::string &folder,
                                          int64_t hidden, Problems &problems,
                                          artifact::FileAccess access) {
  using Kind = SentenceModules::Module::Kind;
  if (modules.modules.empty())
    return std::nullopt;
  Pooling pooling;
  int64_t width = hidden;
  for (const SentenceModules::Module &module : modules.modules) {
    switch (module.kind) {
    case Kind::Pooling: {
      pooling.name = module.path;
      std::string path = folder + "/" + module.path + "/config.json";
      std::optional<JsonValue> value = parseJsonFile(path, problems);
      if (!value)
        return std::nullopt;
      JsonObject config(*value, path, "", problems);
      std::optional<Pool> kind = readKind(config, problems);
      for (const char *key : {"word_embedding_dimension", "embedding_dimension"})
        if (config.has(key) && config.integer(key, 1, maxWidth, hidden) != hidden)
          config.reject(key, std::to_string(hidden) + ", the model's width");
      // Only matters where prompts are put before the text, which is not done.
      config.ignore({"include_prompt"});
      config.reportUnread("could change numbers and is not understood");
      if (!kind)
        return std::nullopt;
      pooling.kind = *kind;
      break;
    }
    case Kind::Dense: {
      std::optional<Step> step = readDense(folder, module.path, width, problems, access);
      if (!step)
        return std::nullopt;
      pooling.steps.push_back(std::move(*step));
      break;
    }
    case Kind::Normalize:
      pooling.steps.emplace_back();
      pooling.steps.back().unitLength = true;
      break;
    }
  }
  return pooling;
}
