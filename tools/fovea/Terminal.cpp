// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Standard error, with a line of progress where somebody looks at it.
#include "tools/fovea/Terminal.h"
#include "tools/verbs/Common.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace fovea {

/// Line ends of texts of several lines stay.
static std::string escaped(const std::string &text) {
  std::string result;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    result += verbs::plain(text.substr(begin, end - begin)) + (end < text.size() ? "\n" : "");
    begin = end + 1;
  }
  return result;
}

/// Whether somebody sees standard error: a terminal, or a program that passes it on to one and says
/// so.
static bool isSeen() { return ::isatty(STDERR_FILENO) == 1 || std::getenv("FOVEA_PROGRESS"); }

Terminal::Terminal(bool isQuiet) : isQuiet(isQuiet), isTerminal(!isQuiet && isSeen()) {}
Terminal::~Terminal() { wipe(); }

compile::Log Terminal::log() {
  return {[this](compile::Log::Severity severity, const std::string &text) {
            if (severity == compile::Log::Severity::Error)
              return error(text);
            tell("note: " + text);
          },
          [this](const std::string &phase, double part) { showProgress(phase, part); }};
}

void Terminal::error(const std::string &text) {
  wipe();
  std::fprintf(stderr, "fovea: error: %s\n", escaped(text).c_str());
}

void Terminal::tell(const std::string &text) {
  if (isQuiet)
    return;
  wipe();
  std::fprintf(stderr, "fovea: %s\n", escaped(text).c_str());
}

void Terminal::wipe() {
  if (hasLine)
    std::fputs("\r\033[K", stderr);
  hasLine = false;
}

void Terminal::showProgress(const std::string &phase, double part) {
  if (!isTerminal)
    return;
  // Ten lines a second are enough for an eye.
  auto now = std::chrono::steady_clock::now();
  if (phase == lastPhase && part < 1 && now - lastTime < std::chrono::milliseconds(100))
    return;
  lastPhase = phase;
  lastTime = now;
  std::fprintf(stderr, "\r\033[K%s", phase.c_str());
  if (part >= 0)
    std::fprintf(stderr, " %3.0f %%", 100 * part);
  std::fflush(stderr);
  hasLine = true;
}

} // namespace fovea
