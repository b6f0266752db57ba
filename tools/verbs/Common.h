// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the verbs share: options, opening, failing, reading texts.
#ifndef FOVEA_TOOLS_VERBS_COMMON_H
#define FOVEA_TOOLS_VERBS_COMMON_H

#include "runtime/include/fovea/runtime.h"
#include "tools/verbs/Verbs.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace fovea::verbs {

/// Ends a verb: with a message and an exit code. Code 2 points to --help.
struct Failure {
  int code;
  std::string message;
  std::string hint = ""; ///< a line below the message: what may be done
};
/// Ends a verb whose message has been printed.
struct Ended {
  int code;
};

/// Throws Failure if `status` is one: 70 if the runtime or compiled code is at
/// fault, else 1.
void check(fovea_status *status);

template <auto Free> struct FreeBy {
  template <typename T> void operator()(T *owned) const { Free(owned); }
};
using ModulePtr = std::unique_ptr<fovea_module, FreeBy<fovea_module_free>>;
using ContextPtr = std::unique_ptr<fovea_context, FreeBy<fovea_context_free>>;
using CallPtr = std::unique_ptr<fovea_call, FreeBy<fovea_call_free>>;

/// The options that all running verbs have, and what they open.
struct Common {
  const Host *host = nullptr;
  const CLI::App *verb = nullptr;
  std::string file;
  std::string device = "cpu";
  int threads = 0;
  int64_t context = 0;
  bool json = false;
  bool quiet = false;
  bool noMapping = false;

  /// Of a FILE that is compiled first, what was opened in its place; after open().
  mutable std::string artifact;

  void addTo(CLI::App &verb);
  /// A message that begins with the opened file, with the FILE that was asked for instead.
  std::string inWordsOfUser(std::string message) const;
  /// Resolves and opens FILE. Throws Failure or Ended.
  ModulePtr open() const;
  ContextPtr makeContext(const ModulePtr &module, bool profile = false, bool trace = false) const;
};

/// A verb of `app`; `body` runs when it is chosen, its failures become messages and
/// exit codes.
CLI::App *addVerb(CLI::App &app, const char *name, const char *summary, const char *examples,
                  std::shared_ptr<Common> common, const Host &host, int &code,
                  std::function<void()> body);

/// Runs the body of a verb: what it throws becomes a message, which `inWords` may change, and an
/// exit code.
void runBody(const Host &host, const std::string &verb, int &code,
             const std::function<std::string(std::string)> &inWords,
             const std::function<void()> &body);

/// The names of all verbs.
std::vector<std::string> listVerbs(const CLI::App &app);
/// How an option is written, "-o" and "--output"; nothing for a word without a dash.
std::vector<std::string> listNames(const CLI::Option &option);

/// All of a file, or of standard input for "-". Throws Failure.
std::string readText(const std::string &path);
/// Its lines, without what ends them.
std::vector<std::string> readLines(const std::string &path);

/// Writes to standard output; throws Failure if it cannot be written to.
void print(const std::string &text);
/// Throws Failure if what was printed did not arrive.
void flush();

/// `text` for a line on a terminal: control characters, which names in files may hold, are escaped.
std::string plain(const std::string &text);

/// Standard error, with the program's name before it.
void note(const Host &host, const std::string &text);
bool terminalOnStandardError();

fovea_module_info infoOf(const ModulePtr &module);
/// The number of the entry of that name; throws Failure, with the nearest name, if there is none.
size_t findEntryNamed(const ModulePtr &module, const std::string &name);
/// The name of the entry of that kind; null if there is none.
const char *findEntry(const ModulePtr &module, fovea_entry_kind kind);
/// `value` with `digits` significant digits.
std::string number(double value, int digits = 3);
/// The same where a reader compares magnitudes: "1,130", never an exponent of what is greater.
std::string grouped(double value, int digits = 3);

/// "12 tokens in 0.3 s (40 tokens/s)"
std::string rate(size_t tokens, double seconds);

/// "3.94 MB".
std::string bytes(uint64_t count);

/// Each adds one verb.
void addRun(CLI::App &app, const Host &host, int &code);
void addGenerate(CLI::App &app, const Host &host, int &code);
void addChat(CLI::App &app, const Host &host, int &code);
void addEmbed(CLI::App &app, const Host &host, int &code);
void addTranslate(CLI::App &app, const Host &host, int &code);
void addTranscribe(CLI::App &app, const Host &host, int &code);
void addFillMask(CLI::App &app, const Host &host, int &code);
void addClassify(CLI::App &app, const Host &host, int &code);
void addTag(CLI::App &app, const Host &host, int &code);
void addAnswer(CLI::App &app, const Host &host, int &code);
void addBench(CLI::App &app, const Host &host, int &code);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_COMMON_H
