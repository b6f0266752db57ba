// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modules.json of sentence-transformers lists what stands behind the
// Transformer (pooling, dense layers, scaling to length one), each with a folder
// of its own.
#include "frontend/HuggingFace/Family.h"

using namespace fovea;

std::string fovea::lastPart(const std::string &type) { return type.substr(type.rfind('.') + 1); }

SentenceModules fovea::readSentenceModules(const std::string &folder, Problems &problems) {
  SentenceModules result;
  std::string path = folder + "/modules.json";
  if (!exists(path))
    return result;
  std::optional<JsonValue> list = parseJsonFile(path, problems);
  if (!list)
    return result;
  if (!list->isArray() || list->elements().empty()) {
    addError(problems, path, "", "expects an array of modules, got " + list->describe());
    return result;
  }
  for (size_t i = 0; i < list->elements().size(); ++i) {
    JsonObject entry(list->elements()[i], path, "[" + std::to_string(i) + "]", problems);
    std::optional<std::string> type = entry.string("type"), where = entry.string("path");
    if (!type || !where)
      return result;
    if (!where->empty() && !isPathBelowFolder(*where)) {
      entry.reject("path", "a folder below the model's");
      return result;
    }
    std::string kind = lastPart(*type);
    using Kind = SentenceModules::Module::Kind;
    if (i == 0 && kind == "Transformer")
      result.transformerFolder = *where;
    else if (i == 1 && kind == "Pooling")
      result.modules.push_back({Kind::Pooling, *where});
    else if (i > 1 && kind == "Dense")
      result.modules.push_back({Kind::Dense, *where});
    else if (i > 1 && kind == "Normalize")
      result.modules.push_back({Kind::Normalize, *where});
    else
      entry.reject("type", i == 0   ? "Transformer"
                           : i == 1 ? "Pooling"
                                    : "Dense or Normalize behind Pooling");
  }

  std::string below = result.transformerFolder.empty() ? "" : result.transformerFolder + "/";
  std::string settings = folder + "/" + below + "sentence_bert_config.json";
  if (!exists(settings))
    return result;
  if (std::optional<JsonValue> value = parseJsonFile(settings, problems)) {
    JsonObject object(*value, settings, "", problems);
    if (object.has("max_seq_length"))
      result.maxPositions = object.integer("max_seq_length", 1, maxPositions);
    requireBoolean(object, "do_lower_case", false, problems);
  }
  return result;
}
