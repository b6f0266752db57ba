// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sides of choices in the source that no input of `verify` took: what they do was not compared.
#ifndef FOVEA_TOOLS_VERIFY_BRANCHES_H
#define FOVEA_TOOLS_VERIFY_BRANCHES_H

#include "interpreter/Interpreter.h"

namespace mlir::fovea::verify {

struct Unreached {
  std::string op, location;
  std::string side;  ///< "its second side", "true", "above its bounds"
  int64_t count = 1; ///< how many ops at this place have it
};

struct Branches {
  std::vector<Unreached> unreached; ///< in the order of the module's text
  int64_t nanTests = 0;             ///< of NaN and infinity that never found one
};

/// What `choices` lacks. A choice of integers, a comparison that only selects read, and what
/// depends on a test for NaN are left out.
Branches findUnreached(ModuleOp module, const interpreter::ChoiceMap &choices);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_BRANCHES_H
