// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea cache`: the compiled models and kernels that are kept, for people and as JSON.
#include "artifact/ArtifactReader.h"
#include "tools/fovea/ModelCache.h"
#include "tools/fovea/Terminal.h"
#include "tools/fovea/Verbs.h"
#include "tools/verbs/Common.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

namespace fovea {

namespace {
struct Arguments {
  std::string action;
  bool isJson = false;
};
} // namespace

/// In local time, or, for programs, in universal time as ISO 8601 writes it.
static std::string printTime(std::time_t time, bool isJson) {
  std::tm parts{};
  isJson ? ::gmtime_r(&time, &parts) : ::localtime_r(&time, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof(text), isJson ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M",
                              &parts)};
}

/// What was compiled: "shakespeare-llama", "forward" of IR by hand; empty if the file is broken.
static std::string nameModel(const Cached &cached, std::string &target) {
  std::string error;
  auto reader = artifact::ArtifactReader::open(cached.path, error);
  if (!reader)
    return "";
  const manifest::ManifestT &manifest = reader->manifest();
  target = manifest.target;
  if (!manifest.model->name.empty())
    return manifest.model->name;
  return manifest.entries.empty() ? "" : manifest.entries.front()->name;
}

static void print(const nlohmann::ordered_json &record) {
  verbs::print(record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

static uint64_t sum(const std::vector<Cached> &all) {
  uint64_t bytes = 0;
  for (const Cached &cached : all)
    bytes += cached.bytes;
  return bytes;
}

/// "3 artifacts, 5.2 MB, and 40 kernels, 120 kB".
static std::string count(const std::vector<Cached> &all, const std::vector<Cached> &kernels) {
  auto describe = [](const std::vector<Cached> &of, const char *what) {
    return std::to_string(of.size()) + what + (of.size() == 1 ? ", " : "s, ") +
           verbs::bytes(sum(of));
  };
  return describe(all, " artifact") + ", and " + describe(kernels, " kernel");
}

static void list(const std::string &folder, uint64_t limit, bool isJson) {
  std::vector<Cached> all = listCached(folder), kernels = listKernels(folder);
  nlohmann::ordered_json record;
  record["folder"] = folder;
  record["bytes"] = sum(all);
  record["limit"] = limit;
  record["kernels"] = {{"count", kernels.size()}, {"bytes", sum(kernels)}};
  record["artifacts"] = nlohmann::json::array();
  for (const Cached &cached : all) {
    std::string target, model = nameModel(cached, target);
    std::string file = cached.path.substr(cached.path.rfind('/') + 1);
    if (isJson)
      record["artifacts"].push_back({{"file", file},
                                     {"bytes", cached.bytes},
                                     {"used", printTime(cached.used, true)},
                                     {"model", model},
                                     {"target", target}});
    else
      std::printf("%10s  %s  %s  %s%s\n", verbs::bytes(cached.bytes).c_str(),
                  printTime(cached.used, false).c_str(), file.c_str(),
                  model.empty() ? "cannot be read" : verbs::plain(model).c_str(),
                  target.empty() ? "" : (" for " + target).c_str());
  }
  if (isJson)
    print(record);
  else
    std::printf("%s%s in %s\n", count(all, kernels).c_str(),
                limit ? (" of " + verbs::bytes(limit)).c_str() : "", folder.c_str());
}

/// False if something is still there.
static bool clear(const std::string &folder, bool isJson) {
  std::vector<Cached> removed, kernels, left;
  for (const Cached &cached : listCached(folder))
    (removeCached(cached) ? removed : left).push_back(cached);
  for (const Cached &kernel : listKernels(folder))
    (removeCached(kernel) ? kernels : left).push_back(kernel);
  removeLeftovers(folder);
  if (isJson)
    print({{"removed", removed.size()},
           {"bytes", sum(removed)},
           {"kernels", {{"count", kernels.size()}, {"bytes", sum(kernels)}}},
           {"left", left.size()}});
  else
    std::printf("removed %s\n", count(removed, kernels).c_str());
  return left.empty();
}

void addCacheVerb(CLI::App &app, Session &session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App *verb =
      app.add_subcommand("cache", "List or clear the compiled models and kernels that are kept");
  verb->add_option("ACTION", arguments->action,
                   "list: sizes, and when each was last used; clear: remove all; path: the folder")
      ->required()
      ->check(CLI::IsMember({"list", "clear", "path"}));
  verb->add_flag("--json", arguments->isJson, "print the result as one JSON object");
  verb->footer("A model in place of an artifact is compiled and kept in $XDG_CACHE_HOME/fovea, or\n"
               "~/.cache/fovea. Beyond FOVEA_CACHE_SIZE=20G bytes (0: no limit) what was not used\n"
               "for longest is removed. Code of kernels is kept beside them, in \"kernels\", a\n"
               "twentieth of that: whatever is compiled takes those that it launches from there.\n"
               "Files there may be deleted at any time.");
  verb->callback([arguments, &session] {
    Terminal terminal;
    std::string folder, error;
    uint64_t limit = 0;
    if (!getCacheFolder(folder, error) || !getCacheLimit(limit, error)) {
      terminal.error(error);
      session.exitCode = 1;
    } else if (arguments->action == "list") {
      list(folder, limit, arguments->isJson);
    } else if (arguments->action == "clear") {
      if (!clear(folder, arguments->isJson)) {
        terminal.error(folder + ": some files cannot be removed");
        session.exitCode = 1;
      }
    } else if (arguments->isJson) {
      print({{"folder", folder}});
    } else {
      std::printf("%s\n", folder.c_str());
    }
  });
}

} // namespace fovea
