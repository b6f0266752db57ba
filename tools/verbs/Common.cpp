// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Common.h and Verbs.h.
#include "tools/verbs/Common.h"

#include "tools/verbs/CutFiles.h"
#include "tools/verbs/Files.h"
#include "tools/verbs/Numbers.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <unistd.h>

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
  verb.add_option("FILE", file, host->fileHelp)->required();
  verb.add_option("--device", device,
                  "Where to run: cpu, cuda (or cuda:N), or emulator, a GPU in software (or "
                  "emulator:late, which does asynchronous work as late as it may)")
      ->check(deviceName, "", "DEVICE")
      ->capture_default_str();
  verb.add_option("--threads", threads, "CPU threads; without it one for each core")
      ->check(from(1, 1024));
  verb.add_option("--context", context,
                  "Positions to keep room for; without it the model's longest, at most 4096")
      ->check(from(1));
  verb.add_flag(kNoMapping, noMapping, kNoMappingHelp);
  verb.add_flag("--json", json, "Print the result as one JSON object");
  verb.add_flag("--quiet", quiet, "Print nothing but the result and errors");
}

std::string Common::inWordsOfUser(std::string message) const {
  if (!artifact.empty() && artifact != file && message.rfind(artifact, 0) == 0)
    message.replace(0, artifact.size(), file);
  return message;
}

ModulePtr Common::open() const {
  artifact = file;
  if (host->resolve)
    if (int code = host->resolve({file, device, noMapping}, artifact))
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

CLI::App *addVerb(CLI::App &app, const char *name, const char *summary, const char *examples,
                  std::shared_ptr<Common> common, const Host &host, int &code,
                  std::function<void()> body) {
  CLI::App *verb = app.add_subcommand(name, summary);
  std::string footer = examples;
  for (size_t at = 0; (at = footer.find("PROGRAM", at)) != std::string::npos;)
    footer.replace(at, 7, host.program);
  verb->footer(footer);
  common->host = &host;
  common->addTo(*verb);
  if (host.addOptions)
    host.addOptions(*verb);
  verb->callback([&host, &code, name, common, body = std::move(body)] {
    auto say = [&](const std::string &message) {
      std::cout.flush();
      std::cerr << host.program << ": error: " << plain(message) << "\n";
    };
    try {
      body();
      flush();
      code = 0;
    } catch (const Ended &ended) {
      code = ended.code;
    } catch (const Failure &failure) {
      code = failure.code;
      say(common->inWordsOfUser(failure.message));
      if (code == 2)
        std::cerr << "see " << host.program << " " << name << " --help\n";
      if (code == 70)
        std::cerr << "This is a fault of Fovea, not of your input; please report it.\n";
    } catch (const std::bad_alloc &) {
      code = 1;
      say("out of memory");
    } catch (const std::exception &error) {
      code = 70;
      say(error.what());
    }
  });
  return verb;
}

std::string readText(const std::string &path) {
  std::string text, error;
  if (!readFile(path, text, error))
    throw Failure{1, error};
  return text;
}

void print(const std::string &text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw Failure{1, std::string("cannot write to standard output: ") + std::strerror(errno)};
}

void flush() {
  if (std::fflush(stdout) != 0)
    throw Failure{1, std::string("cannot write to standard output: ") + std::strerror(errno)};
}

std::string plain(const std::string &text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, two bytes each, are control characters too.
    bool isLong =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (byte >= 0x20 && byte != 0x7F && !isLong) {
      result += text[i];
      continue;
    }
    char escape[8];
    std::snprintf(escape, sizeof(escape), "\\x%02X", byte);
    result += escape;
  }
  return result;
}

void note(const Host &host, const std::string &text) {
  std::cerr << host.program << ": " << text << "\n";
}

bool terminalOnStandardError() { return ::isatty(STDERR_FILENO) != 0; }

fovea_module_info infoOf(const ModulePtr &module) {
  fovea_module_info info = FOVEA_MODULE_INFO_INIT;
  check(fovea_module_get_info(module.get(), &info));
  return info;
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

std::string number(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

void addRunningVerbs(CLI::App &app, const Host &host, int &code) {
  addRun(app, host, code);
  addGenerate(app, host, code);
  addEmbed(app, host, code);
  addBench(app, host, code);
}

/// The names of all verbs: "compile, check, ...".
static std::string listVerbs(const CLI::App &app) {
  std::string text;
  for (const CLI::App *verb : app.get_subcommands(nullptr))
    text += (text.empty() ? "" : ", ") + verb->get_name();
  return text;
}

int parseAndRun(CLI::App &app, int argc, char **argv, const Host &host, int &code) {
  // CLI11 would only say that some verb is missing.
  std::string wrong;
  if (argc < 2)
    wrong = "expects a verb: " + listVerbs(app);
  else if (argv[1][0] != '-' &&
           app.get_subcommands([&](const CLI::App *verb) { return verb->get_name() == argv[1]; })
               .empty())
    wrong = "unknown verb '" + std::string(argv[1]) + "', expected one of " + listVerbs(app);
  if (!wrong.empty()) {
    std::cerr << host.program << ": error: " << wrong << "\n"
              << "see " << host.program << " --help\n";
    return 2;
  }
  // What was printed is worth nothing where it does not arrive.
  auto finish = [&host](int code) {
    bool arrived = std::cout.flush().good() && std::fflush(stdout) == 0 && !std::ferror(stdout);
    if (code != 0 || arrived)
      return code;
    std::cerr << host.program << ": error: cannot write to standard output\n";
    return 1;
  };
  try {
    app.parse(argc, argv);
    return finish(code);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0)
      return finish(app.exit(error)); // help
    std::string verb = argv[1][0] == '-' ? "" : std::string(argv[1]) + " ";
    std::cerr << host.program << ": error: " << error.what() << "\n"
              << "see " << host.program << " " << verb << "--help\n";
    return 2;
  }
}

} // namespace fovea::verbs
