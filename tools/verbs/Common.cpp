// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that all running verbs have, and the module and context that they
// open by these.
#include "tools/verbs/Common.h"
#include "frontend/Nearest.h"

#include "tools/verbs/CutFiles.h"
#include "tools/verbs/Numbers.h"

namespace fovea::verbs {

void check(fovea_status *status) {
  if (!status)
    return;
  Failure failure{fovea_status_code(status) == FOVEA_INTERNAL ? 70 : 1,
                  fovea_status_message(status)};
  fovea_status_free(status);
  throw failure;
}

/// What is wrong with a device's name; the runtime knows which there are.
static std::string deviceName(const std::string &name) {
  std::string kind = name.substr(0, name.find(':')),
              option = name.size() > kind.size() ? name.substr(kind.size() + 1) : "";
  bool isNumber = !option.empty() && option.size() < 5 &&
                  option.find_first_not_of("0123456789") == std::string::npos;
  bool known = name == "cpu" || name == "cuda" || (kind == "cuda" && isNumber) ||
               name == "emulator" || name == "emulator:early" || name == "emulator:late";
  return known
             ? ""
             : "expects cpu, cuda, cuda:N, emulator, emulator:early or emulator:late, got " + name;
}

void Common::addTo(CLI::App &verb) {
  this->verb = &verb;
  verb.add_option("FILE", file, host->fileHelp)->required();
  verb.add_option("--device", device,
                  "where to run: cpu, cuda (or cuda:N), or emulator, a GPU in software (or "
                  "emulator:late, which does asynchronous work as late as it may)")
      ->check(deviceName, "", "DEVICE")
      ->capture_default_str();
  verb.add_option("--threads", threads, "threads of the CPU; 0, as without it: one for each core")
      ->check(from(0, 1024));
  verb.add_option("--context", context,
                  "positions to keep room for; without it the model's longest, at most 4096")
      ->check(from(1));
  verb.add_flag(kNoMapping, noMapping, kNoMappingHelp);
  verb.add_flag("--json", json, "print the result as one JSON object");
  verb.add_flag("--quiet", quiet, "print nothing but the result and errors");
}

std::string Common::inWordsOfUser(std::string message) const {
  if (!artifact.empty() && artifact != file && message.rfind(artifact, 0) == 0)
    message.replace(0, artifact.size(), file);
  return message;
}

ModulePtr Common::open() const {
  artifact = file;
  if (host->resolve)
    if (int code = host->resolve({file, device, noMapping, verb}, artifact))
      throw Ended{code};
  fovea_module_options options = FOVEA_MODULE_OPTIONS_INIT;
  options.copy = noMapping;
  fovea_module *module = nullptr;
  check(fovea_module_open_with(artifact.c_str(), &options, &module));
  return ModulePtr(module);
}

ContextPtr Common::makeContext(const ModulePtr &module, bool profile, bool trace) const {
  fovea_context_options options = FOVEA_CONTEXT_OPTIONS_INIT;
  options.threads = threads;
  options.capacity = context;
  options.profile = profile;
  options.trace = trace;
  options.device = device.c_str();
  fovea_context *made = nullptr;
  check(fovea_context_create(module.get(), &options, &made));
  return ContextPtr(made);
}

fovea_module_info infoOf(const ModulePtr &module) {
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  check(fovea_module_get_info(module.get(), &info));
  return info;
}

size_t findEntryNamed(const ModulePtr &module, const std::string &name) {
  size_t index = 0;
  try {
    check(fovea_module_find_entry(module.get(), name.c_str(), &index));
  } catch (Failure &failure) {
    std::vector<std::string> names;
    for (size_t i = 0, count = infoOf(module).entry_count; i < count; ++i) {
      fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
      check(fovea_module_get_entry(module.get(), i, &entry));
      names.emplace_back(entry.name);
    }
    failure.message += didYouMean(name, names);
    throw;
  }
  return index;
}

const char *findEntry(const ModulePtr &module, fovea_entry_kind kind) {
  fovea_entry_info entry = FOVEA_ENTRY_INFO_INIT;
  for (size_t i = 0, count = infoOf(module).entry_count; i < count; ++i) {
    check(fovea_module_get_entry(module.get(), i, &entry));
    if (entry.kind == kind)
      return entry.name;
  }
  return nullptr;
}

} // namespace fovea::verbs
