// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Judges a program: whether it is recognised as it should be, and whether compiled code gives what
// the reference interpreter does.
#ifndef FOVEA_TEST_SMITH_CHECK_H
#define FOVEA_TEST_SMITH_CHECK_H

#include "test/smith/NearMiss.h"
#include <algorithm>
#include <memory>

namespace fovea::smith {

/// A near miss is recognised, with its edit, or as what it would be without one that never shows;
/// it is not recognised; its rare side is not taken; or only where rounding decides, or numbers
/// end.
inline constexpr const char *kOutcomes[] = {"kept", "fused", "refused", "vacuous", "unsteady"};
inline bool isOutcome(const std::string &text) {
  return std::find(std::begin(kOutcomes), std::end(kOutcomes), text) != std::end(kOutcomes);
}

/// How a program is tried.
struct Trial {
  /// Compiles no further than the fusion report, and runs nothing.
  bool raisesOnly = false;
  /// The architecture of a GPU whose code the emulator runs, "sm_80"; empty: this processor's code.
  std::string gpu;
  /// That of `fovea compile -O`: with 2 LLVM's optimiser and a GPU's assembler have a part in it.
  int optimization = 2;
};

class Checker {
public:
  Checker();
  ~Checker();
  /// Empty if all is well; else "KIND: what is wrong", with the kinds parse, reference, compile,
  /// fusion, masks, fault, numbers. May crash where the compiler does.
  std::string check(const Program &program, const Trial &trial = {});
  /// What became of a near miss, in one word of `kOutcomes`; else what is wrong, as above.
  std::string check(NearMiss miss, const Trial &trial = {});
  /// Gives a near miss the first inputs that take its rare side. "vacuous" or "unsteady" if there
  /// are none, empty if all is well, else what is wrong.
  std::string settle(NearMiss &miss);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_CHECK_H
