// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding all files of a model's weights. An index is held to its word: every
// shard it names is opened, every tensor is where it says, no tensor is twice.
#include "frontend/ForeignFile.h"
#include "frontend/HuggingFace/Safetensors.h"
#include "frontend/Json.h"

#include <dirent.h>
#include <map>
#include <set>

using namespace fovea;

/// Shards of one model; the largest published ones have some hundreds.
static constexpr size_t maxShards = 4096;

bool fovea::isPathBelowFolder(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos)
    return false;
  while (!path.empty()) {
    size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..")
      return false;
    if (slash == std::string_view::npos)
      return true;
    path = path.substr(slash + 1);
  }
  return false; // ends in a slash
}

std::string fovea::describeInstead(const std::string &folder) {
  constexpr size_t mostFiles = 1000; // that are looked at
  std::set<std::string> names;
  if (DIR *entries = ::opendir(folder.c_str())) {
    while (dirent *entry = names.size() < mostFiles ? ::readdir(entries) : nullptr)
      names.insert(entry->d_name);
    ::closedir(entries);
  }
  for (const std::string &name : names) {
    std::string what = describeForeignFile(folder + "/" + name);
    if (!what.empty() && name.find(".safetensors") == std::string::npos)
      return "only " + printable(name) + ", " + what;
  }
  return "";
}

std::optional<Checkpoint> Checkpoint::open(const std::string &folder, const std::string &subfolder,
                                           Problems &problems, artifact::FileAccess access) {
  Checkpoint result;
  result.root = folder;
  std::string below = subfolder.empty() ? "" : subfolder + "/";
  std::string base = folder + "/" + below;
  if (exists(base + "model.safetensors")) {
    result.path = base + "model.safetensors";
    auto file = Safetensors::open(folder, below + "model.safetensors", problems, access);
    if (!file)
      return std::nullopt;
    result.shards.push_back(std::move(*file));
    return result;
  }
  if (exists(base + "model.safetensors.index.json")) {
    if (!result.openShards(folder, subfolder, problems, access))
      return std::nullopt;
    return result;
  }
  std::string found = describeInstead(base);
  addError(problems, base, "",
           "expects model.safetensors or model.safetensors.index.json, got " +
               (found.empty() ? "neither" : found));
  return std::nullopt;
}

bool Checkpoint::openShards(const std::string &folder, const std::string &subfolder,
                            Problems &problems, artifact::FileAccess access) {
  std::string below = subfolder.empty() ? "" : subfolder + "/";
  path = folder + "/" + below + "model.safetensors.index.json";
  std::optional<JsonValue> index = parseJsonFile(path, problems);
  if (!index)
    return false;
  size_t before = problems.size();
  JsonObject root(*index, path, "", problems);
  std::optional<JsonObject> map = root.member("weight_map");
  if (!map)
    return false;
  const JsonValue &weightMap = *root.find("weight_map");

  std::map<std::string, std::vector<const std::string *>> tensorsOf;
  for (size_t i = 0; i < weightMap.keys().size(); ++i) {
    const std::string &name = weightMap.keys()[i];
    const JsonValue &shard = weightMap.elements()[i];
    if (!shard.isString() || !isPathBelowFolder(shard.string())) {
      addError(problems, path, map->placeOf(name),
               "expects the name of a file below the model's folder, got " + shard.describe());
      return false;
    }
    tensorsOf[shard.string()].push_back(&name);
  }
  if (tensorsOf.empty() || tensorsOf.size() > maxShards) {
    addError(problems, path, "weight_map",
             "expects from 1 to " + std::to_string(maxShards) + " shards, got " +
                 std::to_string(tensorsOf.size()));
    return false;
  }

  std::set<std::string_view> seen;
  for (const auto &[shard, names] : tensorsOf) {
    std::string file = below + shard;
    if (!exists(folder + "/" + file)) {
      addError(problems, folder + "/" + file, "",
               "is missing: a shard that holds " + std::to_string(names.size()) + " tensors by " +
                   path);
      continue;
    }
    auto opened = Safetensors::open(folder, file, problems, access);
    if (!opened)
      continue;
    for (const std::string *name : names)
      if (!opened->find(*name))
        addError(problems, folder + "/" + file, "tensor " + quote(*name),
                 "is missing in the shard that " + path + " maps it to");
    shards.push_back(std::move(*opened));
  }
  for (const Safetensors &shard : shards)
    for (const StoredTensor &tensor : shard.tensors())
      if (!seen.insert(tensor.name).second)
        addError(problems, folder + "/" + tensor.file, "tensor " + quote(tensor.name),
                 "is in another shard too; expects it once");
  return problems.size() == before;
}

std::vector<const StoredTensor *> Checkpoint::list() const {
  std::vector<const StoredTensor *> result;
  for (const Safetensors &shard : shards)
    for (const StoredTensor &tensor : shard.tensors())
      result.push_back(&tensor);
  return result;
}

const StoredTensor *Checkpoint::find(std::string_view name) const {
  for (const Safetensors &shard : shards)
    if (const StoredTensor *tensor = shard.find(name))
      return tensor;
  return nullptr;
}

const uint8_t *Checkpoint::data(const StoredTensor &tensor) const {
  for (const Safetensors &shard : shards)
    if (shard.find(tensor.name) == &tensor)
      return shard.data(tensor);
  return nullptr;
}
