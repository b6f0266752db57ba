// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of compiled models. Nothing is ever evicted: an entry is a file that may be deleted at
// any time.
#include "tools/fovea/ModelCache.h"

#include <cstdlib>
#include <filesystem>

namespace fovea {

bool isModel(const std::string &path) {
  std::error_code code;
  return std::filesystem::is_directory(path, code) ||
         std::filesystem::path(path).extension() == ".mlir" ||
         std::filesystem::path(path).extension() == ".onnx";
}

static std::string cacheFolder() {
  const char *cache = std::getenv("XDG_CACHE_HOME");
  if (cache && *cache == '/') // the specification says to ignore relative paths
    return std::string(cache) + "/fovea";
  const char *home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/fovea" : "";
}

compile::Outcome findOrCompile(compile::Options options, const compile::Log &log,
                               std::string &artifact) {
  using compile::Outcome;
  std::string folder = cacheFolder(), hash;
  auto refuse = [&](const std::string &text) {
    log.message(compile::Log::Severity::Error, text);
    return Outcome::InputFault;
  };
  if (folder.empty())
    return refuse("expects XDG_CACHE_HOME or HOME to say where compiled models are kept");
  if (!hashContent(options, log, hash))
    return Outcome::InputFault;
  artifact = folder + "/" + hash + ".fovea";
  std::error_code code;
  if (std::filesystem::exists(artifact, code))
    return Outcome::Done;
  std::filesystem::create_directories(folder, code);
  if (code)
    return refuse(folder + ": " + code.message());
  options.emit = "fovea";
  options.output = artifact;
  return compile::compile(options, log);
}

} // namespace fovea
