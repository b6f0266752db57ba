// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Neighbours.h.
#include "frontend/ONNX/Neighbours.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Fovea/Ports.h"
#include "frontend/Attributes/ModuleAttributes.h"
#include "frontend/ImageSettings.h"
#include "frontend/Labels.h"
#include "frontend/ONNX/Importer.h"
#include "frontend/SpecialTokens.h"
#include "frontend/TokenizerFile.h"

using namespace mlir;
using namespace mlir::fovea;

static ModelOp getModel(ModuleOp module) { return *module.getOps<ModelOp>().begin(); }

/// config.json, if it is there and is one object.
static std::optional<::fovea::JsonValue> readConfig(const std::string &path,
                                                    ::fovea::Problems &problems) {
  if (!::fovea::exists(path))
    return std::nullopt;
  return ::fovea::parseJsonFile(path, problems);
}

static void findTokenizer(ModelOp model) {
  if (std::string tokenizer = ::fovea::findTokenizerFile(model.getFolder().str());
      !tokenizer.empty())
    model.setTokenizer(tokenizer);
}

/// As configurations name how many positions a model was made for.
static std::optional<int64_t> readPositions(::fovea::JsonObject &config) {
  constexpr int64_t kMost = int64_t(1) << 31;
  for (const char *key : {"max_position_embeddings", "n_positions", "max_seq_len"})
    if (config.has(key))
      return config.integer(key, 1, kMost);
  return std::nullopt;
}

/// The result with that role, or nothing.
static RankedTensorType findResult(func::FuncOp forward, PortRole role) {
  for (unsigned i = 0; i < forward.getNumResults(); ++i)
    if (getResultRole(forward, i) == role)
      return cast<RankedTensorType>(forward.getResultTypes()[i]);
  return {};
}

//===-- Models that write texts --------------------------------------------------------------===//

void onnx::readWriter(ModuleOp module, func::FuncOp forward, bool isTranslator,
                      ::fovea::Problems &problems) {
  ModelOp model = getModel(module);
  findTokenizer(model);
  ::fovea::ModelDescription found;
  if (isTranslator)
    found.encoder.emplace();
  if (RankedTensorType logits = findResult(forward, PortRole::Logits))
    found.vocabulary = logits.getDimSize(2);
  if (found.vocabulary < 1)
    return;
  model.setVocabulary(found.vocabulary);
  std::string folder = model.getFolder().str(), path = folder + "/config.json";
  std::optional<::fovea::JsonValue> value = readConfig(path, problems);
  if (!value)
    return;
  ::fovea::JsonObject config(*value, path, "", problems);
  if (!config.valid())
    return;
  ::fovea::readSpecialTokens(config, folder, found, problems);
  if (std::optional<int64_t> positions = readPositions(config))
    model.setMaxPositions(*positions);
  if (found.beginToken)
    model.setBeginToken(*found.beginToken);
  if (found.padToken)
    model.setPadToken(*found.padToken);
  if (!found.endTokens.empty())
    model.setEndTokens(found.endTokens);
  if (!found.suppressedTokens.empty())
    model.setSuppressedTokens(found.suppressedTokens);
  if (found.forcedBeginToken)
    model.setForcedBeginToken(*found.forcedBeginToken);
  if (found.forcedEndToken)
    model.setForcedEndToken(*found.forcedEndToken);
  if (found.minTokens)
    model.setMinTokens(*found.minTokens);
  if (found.noRepeatNgram)
    model.setNoRepeatNgram(*found.noRepeatNgram);
}

//===-- Models that score texts or pictures --------------------------------------------------===//

/// Families whose positions begin behind the padding's row of the table.
static bool countsBehindPadding(::fovea::JsonObject &config) {
  std::string type = config.string("model_type", "");
  return llvm::is_contained({"roberta", "xlm-roberta", "camembert", "mpnet"}, type);
}

static void setLongest(func::FuncOp forward, ::fovea::JsonObject &config) {
  std::optional<int64_t> positions = readPositions(config);
  if (!positions)
    return;
  if (countsBehindPadding(config))
    *positions -= 1 + config.integer("pad_token_id", 0, *positions, 1);
  if (*positions > 0)
    forward->setAttr(FoveaDialect::kMaxPositionsAttr,
                     Builder(forward.getContext()).getI64IntegerAttr(*positions));
}

/// Scores of labels, else of tokens.
static void readScores(ModuleOp module, RankedTensorType logits, ::fovea::JsonObject &config) {
  if (!logits || logits.getRank() < 2 || logits.getRank() > 3 ||
      logits.isDynamicDim(logits.getRank() - 1))
    return;
  int64_t count = logits.getShape().back();
  ::fovea::ModelDescription found;
  // Configurations of other tasks have two labels that mean nothing.
  if (config.has("id2label") || config.has("num_labels"))
    found.labels = ::fovea::readLabels(config);
  if (static_cast<int64_t>(found.labels.size()) == count) {
    found.scoreFunction = ::fovea::readScoreFunction(config, found.labels.size());
    setLabels(module, found);
  } else if (logits.getRank() == 3) {
    getModel(module).setVocabulary(count);
  }
}

/// Of an argument pixel_values whose sizes are known.
static void readPictures(ModuleOp module, func::FuncOp forward, ::fovea::Problems &problems) {
  for (unsigned i = 0; i < forward.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(forward.getArgumentTypes()[i]);
    if (onnx::getPortName(forward.getArgAttrDict(i)) != "pixel_values" || type.getRank() != 4 ||
        llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic))
      continue;
    ::fovea::Patches patches;
    patches.channels = type.getDimSize(1);
    patches.height = type.getDimSize(2);
    patches.width = type.getDimSize(3);
    setImages(module,
              ::fovea::readImageSettings(getModel(module).getFolder().str(), patches, problems));
    return;
  }
}

void onnx::readScorer(ModuleOp module, func::FuncOp forward, ::fovea::Problems &problems) {
  bool readsText = false;
  for (unsigned i = 0; i < forward.getNumArguments(); ++i)
    readsText |= getArgumentRole(forward, i) == PortRole::TokenIds;
  ::fovea::Problems found;
  readPictures(module, forward, found);
  if (readsText)
    findTokenizer(getModel(module));
  std::string path = getModel(module).getFolder().str() + "/config.json";
  if (std::optional<::fovea::JsonValue> value = readConfig(path, found)) {
    ::fovea::JsonObject config(*value, path, "", found);
    if (config.valid()) {
      readScores(module, findResult(forward, PortRole::Logits), config);
      if (readsText)
        setLongest(forward, config);
    }
  }
  for (::fovea::Problem &problem : found)
    addNote(problems, problem.file, problem.place, problem.message);
}
