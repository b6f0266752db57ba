// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PromptCache.h. The bytes are the runtime's (fovea_context_save).
#include "tools/verbs/PromptCache.h"

#include "artifact/Temporary.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/stat.h>

namespace fovea::verbs {

using artifact::TemporaryFile;

void PromptCache::addTo(CLI::App &verb) {
  verb.add_option("--prompt-cache", path,
                  "file with keys and values of the tokens read: those at the prompt's front that "
                  "it holds are not read again; written at the end");
}

static Failure cannotWrite(const std::string &path) {
  return {1, path + ": cannot be written: " + std::strerror(errno)};
}

void PromptCache::load(const ContextPtr &context) const {
  if (path.empty())
    return;
  struct stat status;
  const bool isThere = ::stat(path.c_str(), &status) == 0;
  if (isThere && !S_ISREG(status.st_mode))
    throw Failure{1, path + ": expects a regular file for --prompt-cache"};
  if (!TemporaryFile(path).good())
    throw cannotWrite(path);
  if (!isThere)
    return;
  std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file)
    throw Failure{1, path + ": cannot be read: " + std::strerror(errno)};
  auto read = [](void *user, void *data, size_t size) {
    return std::fread(data, 1, size, static_cast<FILE *>(user));
  };
  try {
    check(fovea_context_load(context.get(), read, file.get()));
  } catch (Failure &failure) {
    failure.message.insert(0, path + ": ");
    failure.hint = "remove the file, or name another, to begin anew";
    throw;
  }
}

void PromptCache::save(const ContextPtr &context) const {
  if (path.empty())
    return;
  TemporaryFile file(path);
  auto write = [](void *user, const void *data, size_t size) {
    return static_cast<TemporaryFile *>(user)->write(data, size) ? 0 : 1;
  };
  if (!file.good())
    throw cannotWrite(path);
  fovea_status *status = fovea_context_save(context.get(), write, &file);
  if (status) {
    int reason = errno;
    std::string message = fovea_status_message(status);
    fovea_status_free(status);
    throw Failure{1, path + ": " + message + ": " + std::strerror(reason)};
  }
  if (!file.keep())
    throw cannotWrite(path);
}

} // namespace fovea::verbs
