// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages and progress on standard error.
#ifndef FOVEA_TOOLS_FOVEA_TERMINAL_H
#define FOVEA_TOOLS_FOVEA_TERMINAL_H

#include "tools/compile/Compile.h"

#include <chrono>
#include <string>

namespace fovea {

/// "fovea: error: ..." lines, and, on a terminal, one line of progress that each message and the
/// end wipe away.
class Terminal {
public:
  /// Quiet ones tell errors alone.
  explicit Terminal(bool isQuiet = false);
  ~Terminal();
  Terminal(const Terminal &) = delete;
  Terminal &operator=(const Terminal &) = delete;

  /// Writes to this object, which must outlive it.
  compile::Log log();
  void error(const std::string &text);
  /// What was done.
  void tell(const std::string &text);

private:
  void wipe();
  void showProgress(const std::string &phase, double part);

  const bool isQuiet, isTerminal;
  bool hasLine = false;
  std::string lastPhase;
  std::chrono::steady_clock::time_point lastTime;
};

} // namespace fovea

#endif // FOVEA_TOOLS_FOVEA_TERMINAL_H
