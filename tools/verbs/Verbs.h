// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs that run an artifact: run, generate, chat, embed, translate, transcribe, fill-mask,
// classify, tag, answer, bench.
// Shared by fovea, which compiles a model named in place of an artifact, and by fovea-run, which
// has no compiler. Uses the runtime through its C header only.
//
// Standard output holds the result and nothing else. Exit codes: 0; 1 the input is
// at fault; 2 usage; 70 our own fault.
#ifndef FOVEA_TOOLS_VERBS_VERBS_H
#define FOVEA_TOOLS_VERBS_VERBS_H

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace fovea::verbs {

/// What a user wants to run.
struct Wanted {
  std::string file, device;
  bool noMapping = false;         ///< read files whole before they are used
  const CLI::App *verb = nullptr; ///< whose options were given
};

/// What a program adds to the verbs.
struct Host {
  /// Stands before messages: "fovea-run: error: ...".
  std::string program;
  /// Called for each verb, to add options of its own (how to compile). May be empty.
  std::function<void(CLI::App &verb)> addOptions;
  /// What FILE may be, for the help.
  std::string fileHelp = "an artifact, as `fovea compile` writes it";
  /// Turns FILE into the path of an artifact that runs on the device, before it is opened. Returns
  /// 0, or the exit code after having printed its message. Empty: FILE is the artifact.
  std::function<int(const Wanted &wanted, std::string &artifact)> resolve;
};

/// Adds the verbs to `app`. The one that is chosen writes its exit code to `code`.
/// `host` and `code` are used until `app` has been parsed.
void addRunningVerbs(CLI::App &app, const Host &host, int &code);

/// Adds `completions` and `man`, which tell of all verbs that `app` has when it is parsed.
void addHelpPages(CLI::App &app, const Host &host, int &code);

/// Parses the command line, which runs the chosen verb, and returns the exit code:
/// `code`, or 2 after a message for wrong usage, or 0 after help.
int parseAndRun(CLI::App &app, int argc, char **argv, const Host &host, int &code);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_VERBS_H
