// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea verify`: compiled code against the reference interpreter.
#ifndef FOVEA_TOOLS_VERIFY_VERIFY_H
#define FOVEA_TOOLS_VERIFY_VERIFY_H

#include "tools/verify/Backend.h"
#include "tools/verify/Branches.h"
#include "tools/verify/Departure.h"
#include "tools/verify/Inputs.h"

namespace mlir::fovea::verify {

/// One output of one case.
struct Row {
  std::string entry;
  std::string what;   ///< "batch 2, length 7"; "as 4 + 2 + 1, against forward"
  std::string output; ///< `fovea.name` of the result
  Difference difference;
  double bound = 0;
  bool passed() const { return difference.error <= bound; }
};

struct Report {
  std::vector<Row> rows;
  bool isComplete = false; ///< nothing failed to run
  /// What was not run, and why: lengths beyond a table. And what a mask is taken for.
  std::vector<std::string> notes;
  /// Over all cases of made-up inputs.
  Branches branches;
  /// Of the first row that did not pass. `departure.found` is false if no op departs by itself.
  std::string departedEntry;
  std::optional<Departure> departure;
  bool passed() const;
};

struct Options {
  /// Bounds of docs/rationale/accuracy.md: logits and other outputs of whole models, and outputs of
  /// modules without `fovea.model`, which are attention and single ops.
  double modelBound = 1e-4;
  double opBound = 2e-5;
  double f16Bound = 2e-3;
  double bf16Bound = 1.6e-2;
  /// Of rows quantised to eight bits: of one product, and of one behind the other.
  double rowsBound = 3.2e-2, seriesOfRowsBound = 1e-1;
  uint64_t seed = 1;
  /// The lengths to run; empty: 1, 2, 7 and 33, and one above what the source compares places with.
  SmallVector<int64_t> lengths;
  /// Sizes of open dimensions by name, in all entries that have them.
  FixedSizes dims;
  bool findDeparture = true;
  std::function<void(const std::string &)> progress = [](const std::string &) {};
};

/// Values of one entry's arguments and results by `fovea.name`, from elsewhere.
using Reference = std::map<std::string, interpreter::TensorRef>;

/// Runs every entry of a verified module of the `import` stage on inputs made up for it, compiled
/// and interpreted. An entry that keeps no cache is run for batches 1 and 2 and some lengths
/// (`makeCases`), and, if it takes floats, with small, large and mixed ones: of these an error is
/// allowed besides of three times what the source has by itself where each of its ops rounds.
/// Lengths that were not asked for are cut to what tables of positions hold. `prefill` and `decode`
/// read the same tokens in two chunks and then one by one, and are compared with `forward` too.
/// Fails after a diagnostic if something could not be run at all; a
/// promise that is not kept is in the report.
LogicalResult verifyModule(ModuleOp module, RecipeSource &weights, const BackendFactory &factory,
                           const Options &options, Report &report);

/// Runs the entries whose arguments `reference` has, and compares both sides with its outputs.
LogicalResult verifyAgainst(ModuleOp module, RecipeSource &weights, const BackendFactory &factory,
                            const Reference &reference, const Options &options, Report &report);

/// A table for people; what departs is said below it.
void printTable(llvm::raw_ostream &os, const Report &report);
/// {"passed": ..., "rows": [...], "departure": {...}}; an infinite error is null.
void printJson(llvm::raw_ostream &os, const Report &report);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_VERIFY_H
