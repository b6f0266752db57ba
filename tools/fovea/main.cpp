// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea`, the user's one command. Exit codes: 0 done; 1 the input is at fault or a promise is not
// kept; 2 usage; 70 our fault.
#include "runtime/include/fovea/runtime.h"
#include "tools/fovea/Commit.h"
#include "tools/fovea/ModelCache.h"
#include "tools/fovea/Terminal.h"
#include "tools/fovea/Verbs.h"
#include "tools/verbs/CutFiles.h"
#include "tools/verbs/Verbs.h"

/// Quoted for a shell where it must be.
static std::string shellQuoted(const std::string &word) {
  const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos)
    return word;
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c == '\n' || c == '\r' ? ' ' : c);
  return text + "'";
}

/// What whoever reports a fault should send.
static std::string describeVersion() {
  std::string commit = FOVEA_COMMIT, gpus;
  for (const std::string &name : fovea::compile::getGpuNames())
    gpus += (gpus.empty() ? "" : ", ") + name;
  return std::string("fovea ") + fovea_version() + (commit.empty() ? "" : " (" + commit + ")") +
         "\nLLVM " + fovea::compile::getCompilerVersion() +
         "\ntargets: x86-64 and aarch64 by LLVM's names of processors (this one is " +
         fovea::compile::getHostName() + "), GPUs " + gpus;
}

int main(int argc, char **argv) {
  fovea::compile::endOnExhaustion();
  fovea::verbs::endOnCutFiles("fovea", fovea::compile::removeHalfWritten);
  fovea::Session session;
  // MLIR's flags are not CLI11's: they are taken out first.
  std::vector<std::string> words;
  bool onlyWords = false;
  session.commandLine = "fovea";
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    session.commandLine += " " + shellQuoted(word);
    onlyWords |= word == "--";
    if (!onlyWords && word.rfind("--mlir-", 0) == 0)
      session.mlirFlags.push_back(word);
    else
      words.push_back(word);
  }

  CLI::App app("Fovea compiles Transformer models to native code and runs them.", "fovea");
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", describeVersion(), "print versions and targets, and exit");
  app.require_subcommand(1);
  app.footer("fovea VERB --help says more.");
  fovea::addCompileVerb(app, session);
  fovea::addCheckVerb(app, session);
  fovea::addInspectVerb(app, session);
  fovea::addVerifyVerb(app, session);

  fovea::compile::Options options; // of models in place of artifacts
  options.commandLine = session.commandLine;
  fovea::verbs::Host host;
  host.program = "fovea";
  host.fileHelp =
      "an artifact, or a model's folder, .gguf, .onnx or .mlir file, which is compiled and kept";
  host.addOptions = [&](CLI::App &verb) { fovea::addCompileOptions(verb, options); };
  host.resolve = [&](const fovea::verbs::Wanted &wanted, std::string &artifact) {
    artifact = wanted.file;
    fovea::Terminal terminal;
    if (std::string fault = fovea::findVainOptions(*wanted.verb, wanted.file); !fault.empty()) {
      terminal.error(fault);
      return 1;
    }
    if (!fovea::isModel(wanted.file))
      return 0;
    options.model = wanted.file;
    options.access = fovea::getAccess(wanted.noMapping);
    if (wanted.device != "cpu" && options.gpu == "none")
      options.gpu = fovea::compile::getGpuNames().front();
    return static_cast<int>(fovea::findOrCompile(options, terminal.log(), artifact));
  };
  fovea::verbs::addRunningVerbs(app, host, session.exitCode);
  fovea::addDrawVerb(app, session);
  fovea::addCacheVerb(app, session);
  fovea::addFamiliesVerb(app, session);
  fovea::verbs::addHelpPages(app, host, session.exitCode);

  // Before any verb runs, which happens while the rest is parsed.
  if (!fovea::compile::parseMlirFlags(session.mlirFlags))
    return 2;
  std::vector<char *> arguments = {argv[0]};
  for (std::string &word : words)
    arguments.push_back(word.data());
  return fovea::verbs::parseAndRun(app, static_cast<int>(arguments.size()), arguments.data(), host,
                                   session.exitCode);
}
