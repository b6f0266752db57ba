// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the verification and prints what it found.
#include "tools/verify/Verb.h"
#include "tools/verify/Reference.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::verify;

namespace {
/// One line on the terminal that is written over.
class ProgressLine {
public:
  explicit ProgressLine(bool isShown) : isShown(isShown) {}
  ~ProgressLine() { show(""); }
  void show(const std::string &text) {
    if (isShown)
      llvm::errs() << "\r\x1b[K" << text;
  }

private:
  bool isShown;
};
} // namespace

/// Compares an imported module with what was raised of it, both interpreted.
static LogicalResult verifyRaising(RecipeSource &weights, const VerbOptions &options,
                                   verify::Options how, Report &report) {
  how.findDeparture = false;
  BackendFactory factory = [&](ModuleOp) -> FailureOr<std::unique_ptr<Backend>> {
    return std::unique_ptr<Backend>(new InterpreterBackend(options.raised, weights));
  };
  LogicalResult ran = verifyModule(options.imported, weights, factory, how, report);
  for (Row &row : report.rows)
    row.what += ", raised";
  return ran;
}

/// All that is asked for. What the source was found to be stays, whatever was made of it.
static LogicalResult verifyAll(ModuleOp module, RecipeSource &weights,
                               const BackendFactory &factory, const Reference &reference,
                               const VerbOptions &options, const verify::Options &how,
                               Report &report) {
  if (!options.against.empty())
    return verifyAgainst(module, weights, factory, reference, how, report);
  if (!options.raised)
    return verifyModule(module, weights, factory, how, report);
  if (failed(verifyRaising(weights, options, how, report)))
    return failure();
  Report ofCode;
  LogicalResult ran = verifyModule(module, weights, factory, how, ofCode);
  report.rows.insert(report.rows.end(), ofCode.rows.begin(), ofCode.rows.end());
  report.isComplete = ofCode.isComplete;
  report.departedEntry = ofCode.departedEntry;
  report.departure = ofCode.departure;
  return ran;
}

int verify::runVerb(ModuleOp module, RecipeSource &weights, CompileFunction compile,
                    const VerbOptions &options) {
  Reference reference;
  if (std::string error;
      !options.against.empty() && !readReference(options.against, reference, error)) {
    llvm::errs() << options.program << ": error: " << error << "\n";
    return 1;
  }
  BackendFactory factory = makeRuntimeFactory(std::move(compile), options.threads, options.device);
  if (!options.artifact.empty())
    factory = [&](ModuleOp) {
      return RuntimeBackend::open(module.getContext(), options.artifact, options.threads,
                                  options.device, options.access);
    };
  Report report;
  LogicalResult ran = failure();
  {
    ProgressLine line(!options.quiet && llvm::sys::Process::StandardErrIsDisplayed());
    Options how;
    how.seed = options.seed;
    how.lengths = options.lengths;
    how.dims = options.dims;
    how.findDeparture = options.artifact.empty(); // it compiles parts of the module
    how.progress = [&](const std::string &text) { line.show(text); };
    ran = verifyAll(module, weights, factory, reference, options, how, report);
  }
  // What was compared before something failed is worth seeing too.
  if (succeeded(ran) || !report.rows.empty())
    options.json ? printJson(llvm::outs(), report) : printTable(llvm::outs(), report);
  llvm::outs().flush();
  std::set<std::pair<std::string, std::string>> told;
  for (const Row &row : report.rows)
    if (!row.passed() && told.insert({row.entry, row.output}).second)
      llvm::errs() << options.program << ": error: '" << row.output << "' of '" << row.entry
                   << "' (" << row.what << ") expects an error of at most "
                   << llvm::format("%.1e, got %.1e", row.bound, row.difference.error) << " at "
                   << row.difference.where << "\n";
  return succeeded(ran) && report.passed() ? 0 : 1;
}
