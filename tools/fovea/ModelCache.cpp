// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache of compiled models. An entry is a file that may be deleted at any time, and whose time
// of change is when it was last asked for.
#include "tools/fovea/ModelCache.h"
#include "artifact/Temporary.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace fovea {

bool isModelFile(const std::string &path) {
  std::filesystem::path extension = std::filesystem::path(path).extension();
  return extension == ".mlir" || extension == ".gguf" || extension == ".onnx";
}

bool isModel(const std::string &path) {
  std::error_code code;
  return std::filesystem::is_directory(path, code) || isModelFile(path);
}

/// What is kept without $FOVEA_CACHE_SIZE: some models of a billion parameters.
static constexpr uint64_t kDefaultLimit = 20'000'000'000;
static constexpr char kEnding[] = ".fovea";
static constexpr char kKernels[] = "kernels";
/// A file there, which changes when it was looked whether there is too much.
static constexpr char kTrimMark[] = "trimmed";

bool getCacheFolder(std::string &folder, std::string &error) {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  if (cache && *cache == '/') // the specification says to ignore relative paths
    folder = std::string(cache) + "/fovea";
  else if (home && *home)
    folder = std::string(home) + "/.cache/fovea";
  else
    error = "expects XDG_CACHE_HOME or HOME to say where compiled models are kept";
  return error.empty();
}

bool getCacheLimit(uint64_t &bytes, std::string &error) {
  bytes = kDefaultLimit;
  const char *set = std::getenv("FOVEA_CACHE_SIZE");
  std::string text = set ? set : "";
  if (text.empty())
    return true;
  uint64_t number = 0, unit = 1;
  auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string letters(stop, static_cast<size_t>(text.data() + text.size() - stop));
  for (const char *name : {"", "k", "M", "G", "T"}) {
    if (letters == name && code == std::errc() && number <= UINT64_MAX / unit) {
      bytes = number * unit;
      return true;
    }
    unit *= 1000;
  }
  error =
      "FOVEA_CACHE_SIZE: expects bytes with k, M, G or T behind, as 20G; or 0, no limit; got '" +
      text + "'";
  return false;
}

std::string getKernelFolder() {
  std::string folder, error;
  uint64_t limit = 0;
  bool isSaid = getCacheFolder(folder, error) && getCacheLimit(limit, error);
  return isSaid ? folder + "/" + kKernels : "";
}

static std::vector<Cached> listFiles(const std::string &folder, const std::string &ending) {
  std::vector<Cached> all;
  std::error_code code;
  for (std::filesystem::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    struct stat status;
    std::string path = it->path().string();
    if (it->path().extension() == ending && ::stat(path.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode))
      all.push_back({path, static_cast<uint64_t>(status.st_size), status.st_mtime});
  }
  std::sort(all.begin(), all.end(), [](const Cached &left, const Cached &right) {
    return left.used != right.used ? left.used > right.used : left.path < right.path;
  });
  return all;
}

std::vector<Cached> listCached(const std::string &folder) { return listFiles(folder, kEnding); }

std::vector<Cached> listKernels(const std::string &folder) {
  return listFiles(folder + "/" + kKernels, compile::kKernelEnding);
}

bool removeCached(const Cached &cached) {
  std::error_code code;
  std::filesystem::remove(cached.path, code);
  return !code;
}

void removeLeftovers(const std::string &folder) {
  std::error_code code;
  std::vector<std::string> targets;
  for (std::filesystem::directory_iterator it(folder, code), end; !code && it != end;
       it.increment(code)) {
    std::string path = it->path().string();
    if (size_t at = path.rfind(std::string(kEnding) + ".tmp-"); at != std::string::npos)
      targets.push_back(path.substr(0, at) + kEnding);
  }
  for (const std::string &target : targets)
    artifact::removeAbandoned(target);
  std::filesystem::remove(folder + "/" + kKernels + "/" + kTrimMark, code);
  std::filesystem::remove(folder + "/" + kKernels, code); // which fails unless it is empty
}

/// Removes what was not used for longest, the last of `all`, until the rest is within the limit;
/// never `kept`, which is about to be run. Programs that run the others keep them mapped.
static void trim(std::vector<Cached> all, const std::string &kept, uint64_t limit) {
  uint64_t bytes = 0;
  for (const Cached &cached : all)
    bytes += cached.bytes;
  for (; bytes > limit && !all.empty(); all.pop_back())
    if (all.back().path != kept && removeCached(all.back()))
      bytes -= all.back().bytes;
}

/// Whether nobody has looked at all kernels for a while, which takes a tenth of a second where they
/// are many; then that is done now.
static bool isTrimDue(const std::string &kernels) {
  constexpr std::time_t kPause = 60;
  std::string mark = kernels + "/" + kTrimMark;
  struct stat status;
  if (::stat(mark.c_str(), &status) == 0 && std::time(nullptr) - status.st_mtime < kPause)
    return false;
  int file = ::open(mark.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0)
    return false;
  (void)::futimens(file, nullptr);
  ::close(file);
  return true;
}

void trimKernels() {
  constexpr uint64_t kShare = 20;
  std::string folder, error;
  uint64_t limit = 0;
  if (getCacheFolder(folder, error) && getCacheLimit(limit, error) && limit != 0 &&
      isTrimDue(folder + "/" + kKernels))
    trim(listKernels(folder), "", limit / kShare);
}

compile::Outcome findOrCompile(compile::Options options, const compile::Log &log,
                               std::string &artifact) {
  using compile::Outcome;
  std::string folder, hash, error;
  uint64_t limit = 0;
  auto refuse = [&](const std::string &text) {
    log.message(compile::Log::Severity::Error, text);
    return Outcome::InputFault;
  };
  if (!getCacheFolder(folder, error) || !getCacheLimit(limit, error))
    return refuse(error);
  if (!hashContent(options, log, hash))
    return Outcome::InputFault;
  artifact = folder + "/" + hash + kEnding;
  std::error_code code;
  if (std::filesystem::exists(artifact, code)) {
    // That it is of somebody else, who alone may say when it was used, is no fault.
    (void)::utimensat(AT_FDCWD, artifact.c_str(), nullptr, 0);
    return Outcome::Done;
  }
  std::filesystem::create_directories(folder, code);
  if (code)
    return refuse(folder + ": " + code.message());
  options.emit = "fovea";
  options.output = artifact;
  options.kernelFolder = getKernelFolder();
  Outcome outcome = compile::compile(options, log);
  trimKernels();
  if (outcome == Outcome::Done && limit != 0)
    trim(listCached(folder), artifact, limit);
  return outcome;
}

} // namespace fovea
