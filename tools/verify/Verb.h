// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea verify`, apart from reading the model and the command line.
#ifndef FOVEA_TOOLS_VERIFY_VERB_H
#define FOVEA_TOOLS_VERIFY_VERB_H

#include "tools/verify/RuntimeBackend.h"
#include "tools/verify/Verify.h"

namespace mlir::fovea::verify {

struct VerbOptions {
  std::string program = "fovea"; ///< stands before messages
  std::string against;           ///< an .npz file; empty: inputs are made up
  bool json = false;
  bool quiet = false;         ///< no progress line, also on terminals
  int threads = 0;            ///< 0: one for each core
  std::string device = "cpu"; ///< as the runtime names it
  ::fovea::artifact::FileAccess access = ::fovea::artifact::FileAccess::Mapped; ///< to `artifact`
  uint64_t seed = 1;
  SmallVector<int64_t> lengths;        ///< of made-up inputs; empty: chosen
  std::map<std::string, int64_t> dims; ///< sizes of open dimensions
  std::string artifact;                ///< runs in place of what `compile` would make
  /// Where the module is not of the `import` stage: that one, and what the `graph` stage makes of
  /// it. The interpreter runs both, so that what raising changes is not taken for the source.
  ModuleOp imported, raised;
};

/// Verifies a module of the `import` stage. The table or JSON goes to standard output, progress and
/// one line for each output that departs to standard error. The exit code: 0; 1 if something
/// departs or could not be run, which a diagnostic then says.
int runVerb(ModuleOp module, RecipeSource &weights, CompileFunction compile,
            const VerbOptions &options);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_VERB_H
