// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judges a program: whether it is recognised as it should be, and whether compiled code gives what
// the reference interpreter does.
#ifndef FOVEA_TEST_SMITH_CHECK_H
#define FOVEA_TEST_SMITH_CHECK_H

#include "test/smith/Program.h"
#include <memory>

namespace fovea::smith {

/// How a program is tried.
struct Trial {
  /// Compiles no further than the fusion report, and runs nothing.
  bool raisesOnly = false;
  /// The architecture of a GPU whose code the emulator runs, "sm_80"; empty: this processor's code.
  std::string gpu;
};

class Checker {
public:
  Checker();
  ~Checker();
  /// Empty if all is well; else "KIND: what is wrong", with the kinds parse, reference, compile,
  /// fusion, masks, fault, numbers. May crash where the compiler does.
  std::string check(const Program &program, const Trial &trial = {});

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_CHECK_H
