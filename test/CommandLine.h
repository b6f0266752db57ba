// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the command lines of test programs share: how a wrong one ends, and numbers.
#ifndef FOVEA_TEST_COMMANDLINE_H
#define FOVEA_TEST_COMMANDLINE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace fovea::test {

struct CommandLine {
  const char *program;

  /// Ends the program with code 2. Other threads may be at work, so nothing is destroyed.
  [[noreturn]] void fail(const std::string &text) const {
    std::fprintf(stderr, "%s: %s\n", program, text.c_str());
    std::fflush(stdout);
    std::_Exit(2);
  }

  /// The decimal number that `text` is; anything else, also a negative one, ends the program.
  uint64_t parseNumber(const std::string &flag, const std::string &text) const {
    if (text.empty() || text.size() > 18 ||
        text.find_first_not_of("0123456789") != std::string::npos)
      fail(flag + " expects a number, got '" + text + "'");
    return std::stoull(text);
  }
};

} // namespace fovea::test

#endif // FOVEA_TEST_COMMANDLINE_H
