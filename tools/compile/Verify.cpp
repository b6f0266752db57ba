// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea verify`: reads the model once, for the interpreter and for the compiler.
#include "frontend/Builder/StoredTensors.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "tools/compile/CompileModule.h"
#include "tools/compile/Source.h"
#include "tools/compile/Stages.h"
#include "tools/verify/Verb.h"

using namespace mlir;
using namespace mlir::fovea;

namespace fovea::compile {

int verify(const Options &options, const VerifyOptions &how, const Log &log) {
  if (!options.fromStage.empty() && options.fromStage != "import") {
    log.message(Log::Severity::Error,
                "--from-stage: the interpreter starts at import, got " + options.fromStage);
    return static_cast<int>(Outcome::InputFault);
  }
  CompilerContext context(0);
  Reporter reporter(*context, log);
  (*context).printOpOnDiagnostic(false);
  OwningOpRef<ModuleOp> module = readSource(*context, options.model, reporter);
  if (!module)
    return static_cast<int>(Outcome::InputFault);
  Options inner = options;
  if (how.device != "cpu" && inner.gpu == "none")
    inner.gpu = getGpuNames().front();
  if (options.dtype != "source") {
    // For both sides: what is compared is the code, not the rounding of the weights. With the stage
    // that rounds them, since linears are found, merged and scaled before.
    PassManager manager(&*context);
    buildGraphStage(manager, options.dtype);
    if (failed(manager.run(*module)))
      return static_cast<int>(Outcome::InputFault);
    inner.dtype = "source";
  }
  StoredTensors weights(getFolder(*module, options.model));
  verify::VerbOptions verb;
  verb.against = how.against;
  verb.json = how.json;
  verb.quiet = how.quiet;
  verb.threads = how.threads;
  verb.device = how.device;
  verb.seed = how.seed;
  auto compile = [&](ModuleOp copy, const std::string &path) {
    inner.emit = "fovea";
    inner.output = path;
    return success(compileModule(copy, inner, Log{log.message, nullptr}) == Outcome::Done);
  };
  return mlir::fovea::verify::runVerb(*module, weights, compile, verb);
}

} // namespace fovea::compile
