// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs compiled models; has no compiler inside. Takes artifacts only: a model's
// own files are for `fovea`.
#include "runtime/include/fovea/runtime.h"
#include "tools/verbs/CutFiles.h"
#include "tools/verbs/Verbs.h"

#include <CLI/CLI.hpp>

int main(int argc, char **argv) {
  fovea::verbs::endOnCutFiles("fovea-run");
  fovea::verbs::Host host;
  host.program = "fovea-run";
  CLI::App app("Runs models that `fovea compile` made.", host.program);
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", std::string("fovea-run ") + fovea_version(),
                       "print the version and exit");
  app.require_subcommand(1);
  app.footer("fovea-run VERB --help says more, with examples.");
  int code = 0;
  fovea::verbs::addRunningVerbs(app, host, code);
  fovea::verbs::addHelpPages(app, host, code);
  return fovea::verbs::parseAndRun(app, argc, argv, host, code);
}
