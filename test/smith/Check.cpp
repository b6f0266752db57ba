// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One program through all stages, called twice.
#include "interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "test/grid/NoWeights.h"
#include "test/smith/CheckState.h"
#include "test/smith/Exact.h"
#include "test/smith/Forward.h"
#include "test/smith/Inputs.h"
#include "tools/compile/FusionReport.h"
#include "tools/verify/Compare.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <sstream>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

/// The largest part of the expected size that an element may be wrong by. f32 and f64 are held to
/// docs/rationale/accuracy.md. Half precision: what rounding the result costs.
double boundOf(mlir::Type type) {
  if (type.isF16())
    return 0x1p-10;
  if (type.isBF16())
    return 0x1p-7;
  return type.isF64() ? 1e-9 : 2e-5;
}

} // namespace

//===-- The report ---------------------------------------------------------------------------===//

/// What is wrong with the mask kinds of all fused attentions together.
static std::string judgeMasks(const std::vector<std::string> &expected,
                              const std::set<std::string> &found) {
  std::set<std::string> allowed;
  bool isOpen = false, isMissing = false;
  for (StringRef word : expected) {
    isOpen |= word == "*";
    bool isOptional = word.consume_back("?");
    SmallVector<StringRef> kinds;
    word.split(kinds, '|');
    bool isThere = isOptional || word == "*";
    for (StringRef kind : kinds) {
      allowed.insert(kind.str());
      isThere |= found.count(kind.str()) > 0;
    }
    isMissing |= !isThere;
  }
  bool isForeign =
      !isOpen && llvm::any_of(found, [&](const std::string &kind) { return !allowed.count(kind); });
  if (!isMissing && !isForeign)
    return "";
  return "masks: expects " + llvm::join(expected, " ") + ", got " + llvm::join(found, " ");
}

static std::string judgeReport(const FusionReport &report, const ::fovea::smith::Program &program) {
  int fused = 0;
  std::string reasons;
  std::set<std::string> kinds;
  for (const llvm::json::Value &value : report.attention) {
    const llvm::json::Object &entry = *value.getAsObject();
    if (*entry.getString("status") == "fused") {
      ++fused;
      for (const llvm::json::Value &kind : *entry.getArray("masks"))
        kinds.insert(kind.getAsString()->str());
      continue;
    }
    if (entry.getString("reason")->empty())
      return "fusion: a softmax that is not fused has no reason";
    reasons += "; not fused: " + entry.getString("reason")->str();
  }
  if (program.fused < 0)
    return "";
  if (fused != program.fused)
    return llvm::formatv("fusion: expects {0} fused, got {1}{2}", program.fused, fused, reasons);
  if (program.fused && report.missed)
    return "fusion: a softmax is left over" + reasons;
  return program.fused ? judgeMasks(program.masks, kinds) : "";
}

//===-- Checker ------------------------------------------------------------------------------===//

namespace fovea::smith {

Checker::Checker() : state(std::make_unique<State>()) {}
Checker::~Checker() = default;

std::string Checker::check(const Program &program, const Trial &trial) {
  std::string diagnostics;
  ScopedDiagnosticHandler handler(state->context.get(), keepErrors(diagnostics));
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program.text, state->context.get());
  if (!module)
    return "parse: " + diagnostics;
  auto entry = module->lookupSymbol<func::FuncOp>("forward");
  if (!entry || entry.getNumArguments() != program.inputs.size())
    return "parse: expects a function @forward with an argument for each line '// input:'";

  OwningOpRef<ModuleOp> graph(module->clone());
  PassManager passes(state->context.get());
  buildGraphPipeline(passes);
  if (failed(passes.run(*graph)))
    return "compile: " + diagnostics;
  FusionReport report = buildFusionReport(*graph);
  if (trial.raisesOnly)
    return judgeReport(report, program);

  // Widened before anything is changed.
  OwningOpRef<ModuleOp> exact(module->clone());
  makeExact(*exact);
  if (failed(mlir::verify(*exact)))
    return "reference: " + diagnostics;
  NoWeights weights;
  Interpreter reference(*exact, weights), rounded(*module, weights);
  FloatType rounding = getRounding(*module);

  std::string error;
  Forward forward = compileForward(*graph, trial.gpu, trial.optimization, error);
  if (!forward)
    return "compile: " + (error.empty() ? diagnostics : error);

  for (int call : {0, 1}) {
    FailureOr<std::vector<RuntimeValue>> arguments = makeArguments(entry, program, call, error);
    if (failed(arguments))
      return "parse: " + error;
    CallResults expected = reference.call("forward", *arguments);
    if (failed(expected))
      return "reference: " + diagnostics;
    std::vector<RuntimeValue> literal = *expected;
    if (rounding) {
      CallResults values = rounded.call("forward", *arguments);
      if (failed(values))
        return "reference: " + diagnostics;
      literal = *values;
    }
    CallResults found = forward(*arguments, call, error);
    if (failed(found))
      return "fault: " + (error.empty() ? diagnostics : error);
    for (unsigned i = 0; i < entry.getNumResults(); ++i) {
      const interpreter::Tensor &want = *std::get<TensorRef>((*expected)[i]);
      mlir::Type type = getElementTypeOrSelf(entry.getResultTypes()[i]);
      // Half precision may be as wrong as the program is when each of its ops rounds; some of its
      // errors cancel each other, and need not where other ops round: a processor that multiplies
      // and adds halves at once rounds half as often. What is widened afterwards is as coarse.
      mlir::fovea::verify::Difference own = mlir::fovea::verify::compare(
          *std::get<TensorRef>(literal[i]), want, mlir::fovea::verify::Norm::Whole);
      mlir::fovea::verify::Difference difference = mlir::fovea::verify::compare(
          *std::get<TensorRef>((*found)[i]), want, mlir::fovea::verify::Norm::Whole);
      double bound = boundOf(type);
      if (rounding)
        bound = std::max(bound, boundOf(rounding)) + 3 * own.error;
      if (!(difference.error <= bound))
        return llvm::formatv(
            "numbers: result {0} of call {1} differs by {2:e2} at {3}, allowed {4:e2}; {5}", i,
            call + 1, difference.error, difference.where, bound, judgeReport(report, program));
    }
  }
  return judgeReport(report, program);
}

} // namespace fovea::smith
