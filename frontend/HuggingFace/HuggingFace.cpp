// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of families, and the reading that all of them share: which
// architecture it is, its weights, the tokenizer.
#include "frontend/HuggingFace/HuggingFace.h"

#include "frontend/HuggingFace/Family.h"
#include "frontend/HuggingFace/Quantization.h"
#include "frontend/ImageSettings.h"
#include "frontend/Nearest.h"
#include "frontend/SpecialTokens.h"
#include "frontend/TokenizerFile.h"

#include <algorithm>

using namespace fovea;

static const std::vector<Family> &families() {
#define FOVEA_FAMILY(function) function(),
  static const std::vector<Family> all = {
#include "frontend/HuggingFace/Families.def"
  };
  return all;
}

std::vector<FamilyNames> fovea::listFamilies() {
  std::vector<FamilyNames> result;
  for (const Family &family : families())
    result.push_back(
        {family.modelType, {family.architectures.begin(), family.architectures.end()}});
  std::sort(result.begin(), result.end(),
            [](const FamilyNames &a, const FamilyNames &b) { return a.modelType < b.modelType; });
  return result;
}

/// What else can be done with a folder of a model that is not read.
static std::string exportInstead(const std::string &folder) {
  return "; most Transformers compile from ONNX, which \"optimum-cli export onnx --model " +
         folder + " " + folder + "-onnx\" writes";
}

/// The family of `architecture`, which must agree with `model_type`. Of a model of sentences the
/// architecture's head does not matter, and the type says enough.
static const Family *findFamily(JsonObject &config, const std::string &folder, bool ofSentences,
                                std::string &architecture, Problems &problems) {
  std::optional<std::vector<std::string>> names = config.strings("architectures");
  if (!names)
    return nullptr;
  if (names->empty()) {
    config.reject("architectures", "the name of an architecture");
    return nullptr;
  }
  architecture = names->front();
  auto list = [](auto &&names) {
    std::string text;
    for (const auto &name : names)
      text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
  };
  std::vector<std::string> types, all;
  std::string expected;
  std::string type = config.string("model_type", "");
  for (const Family &family : families()) {
    for (const std::string &known : family.architectures)
      if (architecture == known) {
        if (!type.empty() && type != family.modelType)
          config.reject("model_type", quote(family.modelType) + ", as for " + architecture);
        return &family;
      }
    types.push_back(family.modelType);
    if (type == family.modelType && ofSentences)
      return &family;
    all.insert(all.end(), family.architectures.begin(), family.architectures.end());
    if (type == family.modelType)
      expected = "expects one of " + list(family.architectures) + " of family " + quote(type);
  }
  if (expected.empty())
    expected = "expects an architecture of one of the families " + list(types);
  addError(problems, config.file(), "architectures",
           expected + ", got " + quote(architecture) + didYouMean(architecture, all) +
               exportInstead(printable(folder)));
  return nullptr;
}

std::optional<ModelDescription>
fovea::readHuggingFace(const std::string &folder, Problems &problems, artifact::FileAccess access) {
  Problems found;
  ModelDescription model;
  model.folder = folder;
  auto finish = [&]() -> std::optional<ModelDescription> {
    problems.insert(problems.end(), found.begin(), found.end());
    if (hasErrors(found))
      return std::nullopt;
    return std::move(model);
  };

  SentenceModules modules = readSentenceModules(folder, found);
  std::string below = modules.transformerFolder;
  std::string base = below.empty() ? folder : folder + "/" + below;
  std::string path = base + "/config.json";
  if (!exists(path)) {
    std::string instead = describeInstead(base);
    addError(found, path, "",
             "is missing; expects a checkpoint's configuration" +
                 (instead.empty() ? "" : ", got " + instead));
    return finish();
  }
  std::optional<JsonValue> value = parseJsonFile(path, found);
  if (!value)
    return finish();
  JsonObject config(*value, path, "", found);
  if (!config.valid())
    return finish();
  const bool ofSentences = !modules.modules.empty();
  const Family *family = findFamily(config, folder, ofSentences, model.architecture, found);
  if (!family)
    return finish();
  // By these a loader fetches or runs code of the checkpoint's.
  for (const char *key : {"auto_map", "trust_remote_code", "_attn_implementation_internal"}) {
    if (config.has(key))
      addError(found, path, key,
               "expects nothing: code that a checkpoint brings or names is never run");
    config.ignore({key});
  }
  const Quantization quantization = Quantization::read(config, found);
  ignoreCommonKeys(config);
  config.ignore({"bos_token_id", "eos_token_id", "pad_token_id", "quantization_config"});
  if (const JsonValue *pruned = config.find("pruned_heads"))
    if (!pruned->isObject() || !pruned->keys().empty())
      config.reject("pruned_heads", "an empty object: pruned heads are not supported");

  // A fault in the configuration does not keep those of the weights from being
  // named, nor the other way round.
  std::optional<Checkpoint> checkpoint = Checkpoint::open(folder, below, found, access);
  WeightTable weights(checkpoint ? &*checkpoint : nullptr, found, &quantization);
  if (ofSentences)
    model.pooling.emplace();
  requireBoolean(config, "is_encoder_decoder", family->isEncoderDecoder, found);
  family->describe(config, weights, model, found);
  weights.finish();
  if (model.hidden == 0)
    return finish();

  for (const ModelDescription &part : model.towers)
    if (part.embeddings.patches)
      model.images = readImageSettings(base, *part.embeddings.patches, found);
  if (model.embeddings.patches)
    model.images = readImageSettings(base, *model.embeddings.patches, found);
  readSpecialTokens(config, base, model, found);
  if (std::string tokenizer = findTokenizerFile(base); !tokenizer.empty())
    model.tokenizer = below.empty() ? tokenizer : below + "/" + tokenizer;
  model.pooling = readPooling(modules, folder, model.hidden, found, access);
  if (model.pooling && modules.maxPositions)
    model.pooling->maxPositions = std::min(model.maxPositions, *modules.maxPositions);
  return finish();
}
