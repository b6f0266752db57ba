// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea`, the user's one command. Exit codes: 0 done; 1 the input is at fault or a promise is not
// kept; 2 usage; 70 our fault.
#include "tools/fovea/Verbs.h"

#include <cstdio>
#include <iostream>

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

int main(int argc, char **argv) {
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
  app.set_version_flag("--version", "fovea 0.1.0");
  app.require_subcommand(1);
  fovea::addCompileVerb(app, session);
  fovea::addCheckVerb(app, session);
  fovea::addInspectVerb(app, session);
  // Parsed before any verb runs, which happens inside app.parse.
  if (!fovea::compile::parseMlirFlags(session.mlirFlags))
    return 2;
  try {
    // CLI11 takes a vector's words from its end.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError &problem) {
    if (problem.get_exit_code() == 0)
      return app.exit(problem, std::cout, std::cerr);
    app.exit(problem, std::cerr, std::cerr);
    return 2;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "fovea: error: standard output: cannot be written\n");
    return 1;
  }
  return session.exitCode;
}
