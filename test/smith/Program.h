// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program, what goes in and what should become of it. As text it is one .mlir file whose first
// comments say the rest, so a stored program needs nothing of what made it.
#ifndef FOVEA_TEST_SMITH_PROGRAM_H
#define FOVEA_TEST_SMITH_PROGRAM_H

#include "test/smith/Choices.h"
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fovea::smith {

struct Program {
  std::string title;   ///< "program 12 of seed 1"
  std::string choices; ///< what it was made from; may be empty
  /// How many attentions should be found; -1: only the numbers are judged.
  int fused = 1;
  /// Mask kinds that the report should name: `a|b` asks for one of both or both, `a?` allows a, `*`
  /// allows all.
  std::vector<std::string> masks;
  /// Both sizes of each dynamic axis.
  std::map<std::string, std::pair<int, int>> sizes;
  /// What each argument holds, in order: "normal 1", "normal 1 rows 30 percent 20" (some rows, or
  /// `some` elements, are 30 times as large), "normal 0.2 plus 1", "keep 60 first", "upto keys 0",
  /// "below 6", "documents 3".
  std::vector<std::pair<std::string, std::string>> inputs;
  int seed = 0;         ///< of the inputs
  std::string nearMiss; ///< what was changed, if it is one: "score select value"
  std::string text;     ///< the function
};

Program generate(const Choices &choices);

std::string print(const Program &program);
/// Reads what `print` wrote. False, and `error`.
bool read(const std::string &text, Program &program, std::string &error);

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_PROGRAM_H
