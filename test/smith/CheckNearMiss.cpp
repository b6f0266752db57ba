// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A near miss: whether its inputs take the rare side, then whether what was recognised in it, and
// what was compiled of it, compute the same as the program that was written.
#include "interpreter/Interpreter.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"
#include "test/grid/NoWeights.h"
#include "test/smith/CheckState.h"
#include "test/smith/Exact.h"
#include "test/smith/Forward.h"
#include "test/smith/Inputs.h"
#include "tools/verify/Compare.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {

/// docs/rationale/accuracy.md.
constexpr double kBound = 2e-5;
/// Between two stages in f64: constants are rounded to f32 in one and folded in the other, and
/// large scores make much of that.
constexpr double kRaisedBound = 1e-4;
/// What a program's own rounding may change; it is allowed three times beyond the bound.
constexpr double kRough = 1e-4;
/// An edit shows if it changes a result by more: more than is allowed.
constexpr double kShows = 1e-3;

using Values = std::vector<RuntimeValue>;
using Calls = std::array<Values, 2>;

const interpreter::Tensor &tensorOf(const RuntimeValue &value) {
  return *std::get<TensorRef>(value);
}

/// The greatest of the results' differences.
verify::Difference compareAll(const Values &found, const Values &expected) {
  verify::Difference worst;
  for (auto [a, b] : llvm::zip(found, expected)) {
    verify::Difference one = verify::compare(tensorOf(a), tensorOf(b), verify::Norm::Whole);
    if (one.error > worst.error)
      worst = one;
  }
  return worst;
}

bool areSame(const Calls &a, const Calls &b, double bound) {
  return llvm::all_of(ArrayRef<int>{0, 1},
                      [&](int i) { return compareAll(a[i], b[i]).error <= bound; });
}

/// Whether something overflowed, though it may have gone again, and the greatest number else.
struct Greatest : Observer {
  bool hasOverflow = false;
  double number = 0;
  void onResult(ArrayRef<func::CallOp>, OpResult, RuntimeValue &value) override {
    if (auto *tensor = std::get_if<TensorRef>(&value))
      for (double element : (*tensor)->reals) {
        bool isInfinite = element == std::numeric_limits<double>::infinity();
        hasOverflow |= isInfinite;
        number = isInfinite || std::isnan(element) ? number : std::max(number, element);
      }
  }
};

/// What two calls gave.
struct Run {
  Calls results;
  Greatest greatest;
};

/// A program that is run as it is meant, or as it is written.
class Runner {
public:
  Runner(OwningOpRef<ModuleOp> program, Precision precision)
      : module(std::move(program)), precision(precision) {
    // Types too: an op on half precision may round inside.
    if (precision == Precision::Exact)
      makeExact(*module);
    if (succeeded(mlir::verify(*module)))
      interpreter.emplace(*module, weights);
  }
  Runner(MLIRContext *context, const std::string &text)
      : Runner(parseSourceString<ModuleOp>(text, context), Precision::Exact) {}

  FailureOr<Run> run(const Calls &arguments) {
    Run run;
    for (int i : {0, 1}) {
      if (!interpreter)
        return failure();
      CallResults one = interpreter->call("forward", arguments[i], &run.greatest, precision);
      if (failed(one))
        return failure();
      run.results[i] = std::move(*one);
    }
    return run;
  }

private:
  OwningOpRef<ModuleOp> module;
  Precision precision;
  NoWeights weights;
  std::optional<Interpreter> interpreter;
};

/// Whether an edit keeps numbers finite, and half of them are: what is NaN by the edit alone says
/// nothing.
bool areNumbers(const Run &with, const Run &without) {
  int64_t all = 0, finite = 0;
  for (int call : {0, 1})
    for (auto [one, other] : llvm::zip(with.results[call], without.results[call]))
      for (auto [a, b] : llvm::zip(tensorOf(one).reals, tensorOf(other).reals)) {
        if (!std::isfinite(a) && std::isfinite(b))
          return false;
        ++all;
        finite += std::isfinite(a);
      }
  return 2 * finite > all;
}

/// What raising makes of a part like the one that the program was made from.
bool isRecognised(ModuleOp graph) {
  bool isFound = false;
  graph.walk([&](Operation *op) {
    isFound |= isa<AttentionOp, RopeOp, ActivationOp, GluOp, LayerNormOp, RmsNormOp, L2NormOp>(op);
  });
  return isFound;
}

/// What goes into a near miss and should come out.
struct Reference {
  Calls arguments, results;
  std::array<double, 2> rounding{}; ///< how far the program itself departs when each op rounds

  /// Empty, or "numbers: ...".
  std::string judge(StringRef stage, const Values &found, int call, double bound) const {
    verify::Difference difference = compareAll(found, results[call]);
    bound += 3 * rounding[call];
    if (difference.error <= bound)
      return "";
    return llvm::formatv("numbers: {0}: call {1} differs by {2:e2} at {3}, allowed {4:e2}", stage,
                         call + 1, difference.error, difference.where, bound);
  }
};

/// Looks for inputs that take the rare side of a near miss.
class Settler {
public:
  Settler(MLIRContext *context, ::fovea::smith::NearMiss &miss) : context(context), miss(miss) {}
  /// "vacuous" or "unsteady" if there are none, empty if all is well, else what is wrong; the miss
  /// and `reference` have the inputs.
  std::string settle(Reference &reference);

private:
  enum Answer { Taken, Vacuous, Unsteady, Broken };
  Answer attempt(const ::fovea::smith::Attempt &attempt, Reference &reference);
  bool take(const ::fovea::smith::Attempt &attempt, Reference &reference);
  bool measureRounding(Reference &reference);
  /// Whether something overflows, or scores come near to the number that hides keys: formulas that
  /// are equal then give different numbers.
  bool isTooLarge(const Run &run) const;
  /// Whether the same comes out if what is compared and rounded moves a little.
  bool isAwayFromBorders(const Reference &reference);
  /// Whether the logarithm of a sum is lost beside the numbers that hide keys, as it is in rows
  /// without a key: then weights sum to more than one, as no attention's do.
  bool losesLogarithms(const Reference &reference);

  MLIRContext *context;
  ::fovea::smith::NearMiss &miss;
  OwningOpRef<ModuleOp> module;
  std::optional<Runner> exact, literal, base, up, down, mild;
  std::string error;
};

} // namespace

bool Settler::take(const ::fovea::smith::Attempt &attempt, Reference &reference) {
  miss.program.seed = attempt.seed;
  miss.program.sizes = attempt.sizes;
  miss.program.inputs = attempt.inputs;
  auto entry = module->lookupSymbol<func::FuncOp>("forward");
  for (int call : {0, 1}) {
    FailureOr<Values> arguments = makeArguments(entry, miss.program, call, error);
    if (failed(arguments))
      return false;
    reference.arguments[call] = std::move(*arguments);
  }
  return true;
}

bool Settler::measureRounding(Reference &reference) {
  if (!literal)
    literal.emplace(OwningOpRef<ModuleOp>(module->clone()), Precision::Literal);
  FailureOr<Run> rounded = literal->run(reference.arguments);
  if (failed(rounded))
    return false;
  for (int call : {0, 1})
    reference.rounding[call] = compareAll(rounded->results[call], reference.results[call]).error;
  return true;
}

bool Settler::isTooLarge(const Run &run) const {
  using ::fovea::smith::Choice;
  using ::fovea::smith::Site;
  const ::fovea::smith::Choices &choices = miss.plan.choices;
  Site site = miss.plan.edit.site;
  bool isMasked = choices[Choice::Mask0] != ::fovea::smith::kNoMask;
  bool hasInfinity = isMasked && choices[Choice::Apply] == ::fovea::smith::kMinimumOf;
  bool isOfScores = site == Site::Score || site == Site::Bias;
  return (run.greatest.hasOverflow && !hasInfinity) ||
         (isOfScores && isMasked && run.greatest.number > 3000);
}

bool Settler::isAwayFromBorders(const Reference &reference) {
  // Edits that do not jump have none.
  if (miss.up == miss.program.text)
    return true;
  if (!up) {
    up.emplace(context, miss.up);
    down.emplace(context, miss.down);
  }
  for (Runner *moved : {&*up, &*down}) {
    FailureOr<Run> run = moved->run(reference.arguments);
    if (failed(run) || !areSame(run->results, reference.results, kRough))
      return false;
  }
  return true;
}

/// The program with a less great number in place of those that hide keys.
static OwningOpRef<ModuleOp> makeMild(ModuleOp module) {
  constexpr double kLeast = -1e6;
  OwningOpRef<ModuleOp> mild(module.clone());
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FloatAttr attr) {
    double value = attr.getValueAsDouble();
    bool isGreat = std::isfinite(value) && value < kLeast;
    return std::make_pair(isGreat ? FloatAttr::get(attr.getType(), kLeast) : attr,
                          WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(*mild, /*replaceAttrs=*/true);
  return mild;
}

bool Settler::losesLogarithms(const Reference &reference) {
  if (miss.plan.choices[::fovea::smith::Choice::Softmax] != ::fovea::smith::kLogSumExp)
    return false;
  if (!mild)
    mild.emplace(makeMild(*module), Precision::Exact);
  FailureOr<Run> run = mild->run(reference.arguments);
  return failed(run) || !areSame(run->results, reference.results, kRough);
}

Settler::Answer Settler::attempt(const ::fovea::smith::Attempt &attempt, Reference &reference) {
  if (!take(attempt, reference))
    return Broken;
  FailureOr<Run> with = exact->run(reference.arguments);
  if (failed(with))
    return Broken;
  reference.results = with->results;
  if (miss.base.empty())
    return measureRounding(reference) ? Taken : Broken;
  FailureOr<Run> without = base->run(reference.arguments);
  if (failed(without))
    return Broken;
  if (!areNumbers(*with, *without) || isTooLarge(*with))
    return Unsteady;
  bool isNever = miss.plan.edit.rarity == ::fovea::smith::Rarity::Never;
  bool shows = !areSame(with->results, without->results, kShows);
  if (!measureRounding(reference))
    return Broken;
  if (*llvm::max_element(reference.rounding) > kRough || !isAwayFromBorders(reference) ||
      losesLogarithms(reference))
    return Unsteady;
  return shows || isNever ? Taken : Vacuous;
}

std::string Settler::settle(Reference &reference) {
  module = parseSourceString<ModuleOp>(miss.program.text, context);
  if (!module)
    return "parse: ";
  auto entry = module->lookupSymbol<func::FuncOp>("forward");
  if (!entry || entry.getNumArguments() != miss.program.inputs.size())
    return "parse: expects a function @forward with an argument for each line '// input:'";
  exact.emplace(OwningOpRef<ModuleOp>(module->clone()), Precision::Exact);
  if (!miss.base.empty())
    base.emplace(context, miss.base);
  std::optional<Reference> vacuous;
  ::fovea::smith::Program program;
  for (const ::fovea::smith::Attempt &one : miss.attempts) {
    switch (attempt(one, reference)) {
    case Taken:
      return "";
    case Broken:
      return error.empty() ? "reference: " : "parse: " + error;
    case Vacuous:
      vacuous = reference;
      program = miss.program;
      break;
    case Unsteady:
      break;
    }
  }
  if (!vacuous)
    return "unsteady";
  // Its numbers count all the same.
  reference = *vacuous;
  miss.program = program;
  return "vacuous";
}

namespace fovea::smith {

std::string Checker::settle(NearMiss &miss) {
  Reference reference;
  return Settler(state->context.get(), miss).settle(reference);
}

static std::string checkCompiled(ModuleOp module, const Trial &trial, const Reference &reference) {
  std::string error;
  Forward forward = compileForward(module, trial.gpu, trial.optimization, error);
  if (!forward)
    return "compile: " + error;
  for (int call : {0, 1}) {
    CallResults found = forward(reference.arguments[call], call, error);
    if (failed(found))
      return "fault: " + error;
    std::string complaint = reference.judge("compiled", *found, call, kBound);
    if (!complaint.empty())
      return complaint;
  }
  return "";
}

std::string Checker::check(NearMiss miss, const Trial &trial) {
  MLIRContext *context = state->context.get();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(context, keepErrors(diagnostics));
  Reference reference;
  std::string settled = Settler(context, miss).settle(reference);
  if (!settled.empty() && settled != "vacuous")
    return settled == "unsteady" ? settled : settled + diagnostics;

  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(miss.program.text, context);
  OwningOpRef<ModuleOp> graph(module->clone());
  PassManager passes(context);
  buildGraphPipeline(passes);
  if (failed(passes.run(*graph)))
    return "compile: " + diagnostics;
  bool isFound = isRecognised(*graph);
  FailureOr<Run> raised = Runner(graph->clone(), Precision::Exact).run(reference.arguments);
  if (failed(raised))
    return "reference: raised: " + diagnostics;
  std::string complaint;
  for (int call : {0, 1})
    if (complaint.empty())
      complaint = reference.judge("raised", raised->results[call], call, kRaisedBound);
  if (complaint.empty() && !trial.raisesOnly)
    complaint = checkCompiled(*graph, trial, reference);
  if (!complaint.empty())
    return complaint + diagnostics;
  if (!settled.empty())
    return settled;
  return !isFound ? "refused" : miss.plan.edit.rarity == Rarity::Never ? "fused" : "kept";
}

} // namespace fovea::smith
