// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which a function's statements are laid out for execution: each loop together, and
// everything that leads to a place before it, back edges apart. With the rule that the lowest
// place runs first, lanes then meet again where their paths do, whatever the order of the text.
#ifndef FOVEA_EMULATOR_LAYOUT_H
#define FOVEA_EMULATOR_LAYOUT_H

#include "emulator/Module.h"

#include <vector>

namespace fovea::emulator {

/// Where control goes after a statement.
struct Flow {
  std::vector<uint32_t> targets; ///< statements; the function's size means its end
  bool falls = true;             ///< it may go on with the next
};

struct Placed {
  uint32_t statement;  ///< index, or the one after which to jump
  bool jump = false;   ///< not the statement, but a jump to `target`
  uint32_t target = 0; ///< a statement; the function's size means its end
};

/// Lays out statements that can be reached; `flows` has one entry for each.
std::vector<Placed> layOut(const std::vector<Flow> &flows);

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_LAYOUT_H
