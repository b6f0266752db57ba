// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers and parses MLIR's flags. LLVM keeps them in globals; this is the only file that knows.
#include "tools/compile/MlirFlags.h"
#include "lowering/Pipelines.h"
#include "lowering/Schedule/Schedule.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "tools/compile/Compile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

/// Whether a command line has been parsed at all; tests have none.
static bool isRegistered = false;

static void registerFlags() {
  isRegistered = true;
  // --mlir-print-ir-after=PASS knows the passes that are registered.
  registerTransformsPasses();
  mlir::fovea::registerFoveaPasses();
  mlir::fovea::registerFoveaSchedulePasses();
  mlir::fovea::registerLoweringPasses();
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
}

LogicalResult mlir::fovea::applyMlirFlags(PassManager &manager) {
  return isRegistered ? applyPassManagerCLOptions(manager) : success();
}

void mlir::fovea::applyMlirFlags(DefaultTimingManager &timing) {
  if (isRegistered)
    applyDefaultTimingManagerCLOptions(timing);
}

namespace fovea::compile {

bool parseMlirFlags(const std::vector<std::string> &flags) {
  registerFlags();
  std::vector<const char *> arguments = {"fovea"};
  for (const std::string &flag : flags)
    arguments.push_back(flag.c_str());
  return llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data(), "",
                                           &llvm::errs());
}

} // namespace fovea::compile
