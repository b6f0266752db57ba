// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea draw` is in the Python package, whose `fovea` takes the verb before this program sees it
// (python/fovea/draw.py). Here it says so.
#include "tools/fovea/Terminal.h"
#include "tools/fovea/Verbs.h"

namespace fovea {

void addDrawVerb(CLI::App &app, Session &session) {
  CLI::App *verb = app.add_subcommand(
      "draw", "Draw positions, attention maps, masks, rooflines or learning curves (in Python)");
  verb->footer("Drawn by matplotlib, in the Python package, whose `fovea` says more here:\n\n"
               "  pip install 'fovea[plot]'\n"
               "  python -m fovea draw --help\n");
  verb->prefix_command();
  verb->callback([&session] {
    Terminal().error("draw: expects the Python package's fovea, which draws by matplotlib, got "
                     "the program alone: pip install 'fovea[plot]', then python -m fovea draw ...");
    session.exitCode = 1;
  });
}

} // namespace fovea
