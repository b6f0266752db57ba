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

int verify::runVerb(ModuleOp module, RecipeSource &weights, CompileFunction compile,
                    const VerbOptions &options) {
  Reference reference;
  if (std::string error;
      !options.against.empty() && !readReference(options.against, reference, error)) {
    llvm::errs() << options.program << ": error: " << error << "\n";
    return 1;
  }
  BackendFactory factory = makeRuntimeFactory(std::move(compile), options.threads, options.device);
  Report report;
  LogicalResult ran = failure();
  {
    ProgressLine line(!options.quiet && llvm::sys::Process::StandardErrIsDisplayed());
    Options how;
    how.seed = options.seed;
    how.progress = [&](const std::string &text) { line.show(text); };
    ran = options.against.empty() ? verifyModule(module, weights, factory, how, report)
                                  : verifyAgainst(module, weights, factory, reference, how, report);
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
