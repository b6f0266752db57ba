// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of architectures, and the reading that all of them share.
#include "frontend/GGUF/GGUF.h"

#include "frontend/GGUF/Architecture.h"
#include "frontend/Nearest.h"

#include <algorithm>

using namespace fovea;

static const std::vector<GgufArchitecture> &architectures() {
#define FOVEA_GGUF_ARCHITECTURE(function) function(),
  static const std::vector<GgufArchitecture> all = {
#include "frontend/GGUF/Architectures.def"
  };
  return all;
}

std::vector<std::string> fovea::listGgufArchitectures() {
  std::vector<std::string> names;
  for (const GgufArchitecture &architecture : architectures())
    names.emplace_back(architecture.name);
  std::sort(names.begin(), names.end());
  return names;
}

static const GgufArchitecture *findArchitecture(JsonObject &general, ModelDescription &model) {
  std::optional<std::string> name = general.string("architecture");
  if (!name)
    return nullptr;
  model.architecture = *name;
  for (const GgufArchitecture &architecture : architectures())
    if (*name == architecture.name)
      return &architecture;
  std::vector<std::string> all = listGgufArchitectures();
  std::string expected;
  for (const std::string &one : all)
    expected += (expected.empty() ? "" : ", ") + one;
  general.reject("architecture", "one of " + expected);
  return nullptr;
}

/// That the file is a whole model.
static bool isWhole(const GgufFile &file, JsonObject &general, Problems &problems) {
  std::string type = general.string("type", "model");
  if (type != "model") {
    general.reject("type", "\"model\"");
    return false;
  }
  JsonValue split = file.section("split");
  const JsonValue *count = split.find("count");
  if (!count || count->integer() <= 1)
    return true;
  addError(problems, file.name(), "split.count",
           "expects a model in one file, got one of " + std::to_string(count->integer()) +
               "; `llama-gguf-split --merge` makes one of them");
  return false;
}

std::optional<ModelDescription> fovea::readGguf(const std::string &path, Problems &problems,
                                                artifact::FileAccess access) {
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  Problems found;
  ModelDescription model;
  model.folder = folder.empty() ? "/" : folder;
  auto finish = [&]() -> std::optional<ModelDescription> {
    problems.insert(problems.end(), found.begin(), found.end());
    if (hasErrors(found))
      return std::nullopt;
    return std::move(model);
  };

  std::optional<GgufFile> file = GgufFile::open(model.folder, name, found, access);
  if (!file)
    return finish();
  JsonValue generalKeys = file->section("general");
  JsonObject general(generalKeys, file->name(), "general", found);
  if (!isWhole(*file, general, found))
    return finish();
  const GgufArchitecture *architecture = findArchitecture(general, model);
  if (!architecture)
    return finish();
  JsonValue values = file->section(model.architecture);
  JsonObject keys(values, file->name(), model.architecture, found);
  WeightTable weights(&*file, found);
  GgufModel source{*file, keys, weights, model, found};
  architecture->describe(source);
  weights.finish();
  // Tables that are added to others are small.
  for (std::optional<Weight> *table : {&model.embeddings.position, &model.embeddings.tokenType})
    if (*table)
      (*table)->asFloats = true;
  if (model.hidden == 0)
    return finish();
  if (readGgufTokens(*file, model, found))
    model.tokenizer = name;
  return finish();
}
