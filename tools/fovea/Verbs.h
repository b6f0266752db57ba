// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verbs that need the compiler. Each adds itself to the command line; its callback sets the
// exit code.
#ifndef FOVEA_TOOLS_FOVEA_VERBS_H
#define FOVEA_TOOLS_FOVEA_VERBS_H

#include "tools/compile/Compile.h"

#include <CLI/CLI.hpp>

namespace fovea {

/// What all verbs share.
struct Session {
  std::string commandLine;
  std::vector<std::string> mlirFlags;
  int exitCode = 0;
};

/// Refuses a MODEL that is another program's file, by what it is; true if it did.
bool refuseForeign(const std::string &model, Session &session);

/// --target, --dtype and the others that say how a MODEL is compiled.
void addCompileOptions(CLI::App &verb, compile::Options &options);

/// What is wrong with such options beside an artifact, which they cannot change; empty if none is
/// given, or `file` is no artifact. `but`: one that has a meaning there.
std::string findVainOptions(const CLI::App &verb, const std::string &file,
                            const std::string &but = "");

inline artifact::FileAccess getAccess(bool noMapping) {
  return noMapping ? artifact::FileAccess::Copied : artifact::FileAccess::Mapped;
}
/// --no-mmap, where the running verbs do not bring it.
void addMappingOption(CLI::App &verb, artifact::FileAccess &access);

void addCacheVerb(CLI::App &app, Session &session);
void addCompileVerb(CLI::App &app, Session &session);
void addCheckVerb(CLI::App &app, Session &session);
void addDrawVerb(CLI::App &app, Session &session);
void addFamiliesVerb(CLI::App &app, Session &session);
void addInspectVerb(CLI::App &app, Session &session);
void addVerifyVerb(CLI::App &app, Session &session);

} // namespace fovea

#endif // FOVEA_TOOLS_FOVEA_VERBS_H
