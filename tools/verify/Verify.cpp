// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which cases `verify` runs, and what it holds against what. Refuses modules without entries.
#include "tools/verify/Verify.h"
#include "dialects/Fovea/Ports.h"
#include "dialects/Fovea/Try.h"
#include "mlir/IR/Diagnostics.h"
#include "tools/verify/Cases.h"
#include "tools/verify/Routing.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

/// What exponentials are taken of is off in proportion to its size: at other magnitudes than one
/// results may be off by so many times the promised bound.
static constexpr double kScaledBounds = 5;

/// The promised one; where activations are halves or integers, whose every rounding may fall to
/// either side, a few steps of the coarsest.
static double findBound(ModuleOp module, const Options &options) {
  double bound = module.getOps<ModelOp>().empty() ? options.opBound : options.modelBound;
  int64_t quantized = 0;
  module.walk([&](Operation *op) {
    if (isa<WeightOp, WeightRefOp>(op))
      return;
    if (quantizesRows(op))
      bound = std::max(bound, quantized++ == 0 ? options.rowsBound : options.seriesOfRowsBound);
    if (auto append = dyn_cast<CacheAppendOp>(op); append && append.getScales())
      bound = std::max(bound, options.rowsBound);
    for (Type type : op->getResultTypes()) {
      auto cache = dyn_cast<CacheType>(type);
      Type element = cache ? cache.getElementType() : getElementTypeOrSelf(type);
      if (element.isF16())
        bound = std::max(bound, options.f16Bound);
      if (element.isBF16())
        bound = std::max(bound, options.bf16Bound);
    }
  });
  return bound;
}

namespace {
using Tensors = std::vector<TensorRef>;

/// What is expected of an entry's results. `literal` is empty where nothing rounds badly.
struct Expected {
  Tensors exact, literal;
};

/// A diagnostic that was not shown.
struct Fault {
  std::optional<Location> location;
  std::string text;
  /// Whether an index or a slice lies outside of a table: then shorter lengths may do.
  bool isTableEnd() const {
    return llvm::any_of(ArrayRef<StringRef>{"inside the table's", "expects an index inside",
                                            "expects a slice inside"},
                        [&](StringRef part) { return StringRef(text).contains(part); });
  }
};

/// Entries that share caches; all but the first may be absent.
struct TokenEntries {
  func::FuncOp prefill, decode, forward;
  func::FuncOp encode; ///< Of an encoder-decoder: reads the source.
  bool hasDecode;      ///< Compiled code has it; where the source has none, `prefill` judges it.
};

class Verifier {
public:
  Verifier(ModuleOp module, RecipeSource &weights, const BackendFactory &factory,
           const Options &options, Report &report)
      : module(module), weights(weights), factory(factory), options(options), report(report),
        bound(findBound(module, options)), lengths(getLengths(options.lengths)),
        longLength(options.lengths.empty() ? findLongLength(module) : 0), oracle(module, weights) {
    oracle.recordChoices(&choices);
  }

  LogicalResult run();
  LogicalResult runAgainst(const Reference &reference);

private:
  LogicalResult compile();
  /// Whether the lengths that were asked for fit all entries; else a diagnostic.
  LogicalResult checkLengths();
  /// Whether each fixed size is of a dimension that an entry has.
  LogicalResult checkDims();
  /// An entry on its own: caches, if it takes any, are empty.
  LogicalResult runAlone(func::FuncOp entry);
  /// Nothing is above `cap`, which is lowered where a table ends; what that makes equal runs once.
  LogicalResult runCase(func::FuncOp entry, const Case &wished, int64_t &cap);
  /// The reference's answer, and what it says if it has none.
  FailureOr<Tensors> attempt(func::FuncOp entry, const Case &one, Tensors &inputs, Fault &fault);
  /// The greatest size that the reference can be run with.
  int64_t findCap(func::FuncOp entry, const Case &one);
  /// Where the code departs: what is expected beside the source's own rounding, and, of great
  /// numbers, where scores outweigh those of a mask.
  LogicalResult excuse(func::FuncOp entry, const Case &one, const Tensors &inputs,
                       const Tensors &found, Expected &expected);
  /// What the source gives where each op rounds, and what it means if that is not known.
  LogicalResult runLiterally(InterpreterBackend &backend, func::FuncOp entry, const Case &one,
                             const Tensors &inputs, Expected &expected);
  /// prefill, prefill, decode, decode, ...; and forward.
  LogicalResult runCached(const TokenEntries &entries);
  FailureOr<Tensors> makeTokens(const TokenEntries &entries, int64_t batch, int64_t length,
                                std::mt19937_64 &random);
  LogicalResult runTokens(const TokenEntries &entries, int64_t batch, int64_t length);
  /// Adds to what is literal how far results move where scores of experts are off by the bound, if
  /// what was found departs.
  LogicalResult addRouting(const Chain &chain, const Tensors &found, Expected &expected);
  /// Adds to what is literal how far results move when inputs are off by a few roundings.
  LogicalResult addConditioning(func::FuncOp entry, const Case &one, const Tensors &inputs,
                                Expected &expected);
  /// Adds a row for each output, and remembers the chain of the first that does not pass. With
  /// `literal` outputs are judged beside the source's own error.
  LogicalResult addRows(func::FuncOp entry, const std::string &what, const Tensors &found,
                        const Tensors &expected, const Chain &chain, const Tensors &literal = {});
  LogicalResult explain();

  ModuleOp module;
  RecipeSource &weights;
  const BackendFactory &factory;
  const Options &options;
  Report &report;
  double bound;
  SmallVector<int64_t> lengths;
  int64_t longLength;
  ChoiceMap choices;
  InterpreterBackend oracle;
  std::unique_ptr<Backend> compiled;
  OwningOpRef<ModuleOp> wideMasks; ///< null: there are none, or nobody has asked
  std::optional<Chain> departed;
  std::set<std::vector<int64_t>> done; ///< cases of the entry that runs, as numbers
};
} // namespace

bool Report::passed() const {
  return llvm::all_of(rows, [](const Row &row) { return row.passed(); });
}

/// The arguments of an entry that are not caches.
static SmallVector<unsigned> tensorArguments(func::FuncOp entry) {
  SmallVector<unsigned> numbers;
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes()))
    if (!isa<CacheType>(type))
      numbers.push_back(i);
  return numbers;
}

/// Which of the tensors that `encode` reads, a source and perhaps its mask, `entry` reads too.
static SmallVector<unsigned> sharedArguments(func::FuncOp encode, func::FuncOp entry) {
  SmallVector<unsigned> numbers;
  if (!encode || !entry)
    return numbers;
  for (auto [n, i] : llvm::enumerate(tensorArguments(encode)))
    if (llvm::any_of(tensorArguments(entry), [&, i = i](unsigned own) {
          return nameOfArgument(entry, own) == nameOfArgument(encode, i);
        }))
      numbers.push_back(n);
  return numbers;
}

/// The results of an entry that are not caches.
static SmallVector<unsigned> tensorResults(func::FuncOp entry) {
  SmallVector<unsigned> numbers;
  for (auto [i, type] : llvm::enumerate(entry.getResultTypes()))
    if (!isa<CacheType>(type))
      numbers.push_back(i);
  return numbers;
}

static int64_t maxPositions(func::FuncOp entry) {
  auto most = entry->getAttrOfType<IntegerAttr>(FoveaDialect::kMaxPositionsAttr);
  return most ? most.getInt() : std::numeric_limits<int64_t>::max();
}

LogicalResult Verifier::compile() {
  options.progress("compiling");
  TRY(compiled, factory(module));
  return success();
}

static Difference measure(const Tensor &found, const Tensor &expected, const Tensor *literal,
                          Norm norm, bool mayOverflow) {
  return literal ? judge(found, expected, *literal, norm, mayOverflow)
                 : compare(found, expected, norm);
}

LogicalResult Verifier::addRows(func::FuncOp entry, const std::string &what, const Tensors &found,
                                const Tensors &expected, const Chain &chain,
                                const Tensors &literal) {
  SmallVector<unsigned> numbers = tensorResults(entry);
  if (found.size() != numbers.size() || expected.size() != numbers.size())
    return entry.emitOpError("expects ") << numbers.size() << " tensors, got " << found.size()
                                         << " compiled and " << expected.size() << " interpreted";
  const Tensor *logits = nullptr, *expectedLogits = nullptr, *logitsLiteral = nullptr;
  for (auto [n, number] : llvm::enumerate(numbers)) {
    const Tensor &one = *found[n], &other = *expected[n];
    Row row;
    row.entry = entry.getName().str();
    row.what = what;
    row.output = nameOfResult(entry, number);
    row.bound = chain.isScaled ? kScaledBounds * bound : bound;
    PortRole role = getResultRole(entry, number);
    bool areLogits = role == PortRole::Logits && one.isReal && one.rank() > 0;
    if (role == PortRole::NextToken && logits)
      row.difference = compareTokens(
          one, *logits,
          logitsLiteral ? settle(*logits, *expectedLogits, *logitsLiteral, chain.isScaled)
                        : *expectedLogits);
    else
      row.difference = measure(one, other, literal.empty() ? nullptr : literal[n].get(),
                               areLogits ? Norm::PerPosition : Norm::Whole, chain.isScaled);
    if (areLogits) {
      logits = &one;
      expectedLogits = &other;
      logitsLiteral = literal.empty() ? nullptr : literal[n].get();
    }
    if (!row.passed() && !departed)
      departed = chain;
    report.rows.push_back(std::move(row));
  }
  return success();
}

//===-- Entries on their own -----------------------------------------------------------------===//

FailureOr<Tensors> Verifier::attempt(func::FuncOp entry, const Case &one, Tensors &inputs,
                                     Fault &fault) {
  fault = {};
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    if (!fault.location)
      fault = {diagnostic.getLocation(), diagnostic.str()};
    return success();
  });
  std::mt19937_64 random(options.seed * 1000003 + one.sizes.batch * 1009 + one.sizes.length);
  FailureOr<Tensors> made = makeInputs(entry, one.sizes, random, one.magnitude);
  if (failed(made) || failed(oracle.reset(one.sizes.batch, one.sizes.length)))
    return failure();
  inputs = *made;
  return oracle.run(entry.getName(), inputs);
}

int64_t Verifier::findCap(func::FuncOp entry, const Case &one) {
  int64_t works = 0, fails = one.getLongest();
  Tensors inputs;
  Fault fault;
  while (works + 1 < fails) {
    int64_t cap = (works + fails) / 2;
    options.progress(entry.getName().str() + ", looking for the end of its tables");
    (succeeded(attempt(entry, one.cutTo(cap), inputs, fault)) ? works : fails) = cap;
  }
  return works;
}

/// Whether an output is farther off than allowed.
static bool departs(const Tensors &found, const Expected &expected, double bound, bool mayOverflow,
                    Norm norm = Norm::Whole) {
  bound *= mayOverflow ? kScaledBounds : 1;
  for (size_t i = 0; i < found.size() && i < expected.exact.size(); ++i) {
    const Tensor *literal = expected.literal.empty() ? nullptr : expected.literal[i].get();
    if (!(measure(*found[i], *expected.exact[i], literal, norm, mayOverflow).error <= bound))
      return true;
  }
  return false;
}

LogicalResult Verifier::runLiterally(InterpreterBackend &backend, func::FuncOp entry,
                                     const Case &one, const Tensors &inputs, Expected &expected) {
  auto run = [&](Precision precision, Tensors &results) {
    backend.setPrecision(precision);
    if (failed(backend.reset(one.sizes.batch, one.sizes.length)))
      return failure();
    FailureOr<Tensors> found = backend.run(entry.getName(), inputs);
    if (succeeded(found))
      results = *found;
    return LogicalResult(found);
  };
  if (expected.exact.empty() && failed(run(Precision::Exact, expected.exact)))
    return failure();
  return run(Precision::Literal, expected.literal);
}

/// Inputs that are off by some roundings: as f32 sums of 64 products may be.
static Tensors disturb(const Tensors &inputs, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensors disturbed;
  for (const TensorRef &input : inputs) {
    auto tensor = std::make_shared<Tensor>(*input);
    for (double &real : tensor->reals)
      real *= 1 + (random() % 2 ? 0x1p-18 : -0x1p-18);
    disturbed.push_back(std::move(tensor));
  }
  return disturbed;
}

/// The one that is farther off, number by number.
static TensorRef farther(const Tensor &exact, const TensorRef &far, const TensorRef &other) {
  if (!exact.isReal || other->shape != exact.shape)
    return far;
  auto farthest = std::make_shared<Tensor>(*far);
  for (auto [most, near, real] : llvm::zip_equal(farthest->reals, exact.reals, other->reals))
    if (std::isfinite(most) && std::isfinite(real) &&
        std::fabs(real - near) > std::fabs(most - near))
      most = real;
  return farthest;
}

LogicalResult Verifier::addRouting(const Chain &chain, const Tensors &found, Expected &expected) {
  constexpr uint64_t kDraws = 16;
  if (!hasRouters(module) || !departs(found, expected, bound, chain.isScaled, Norm::PerPosition))
    return success();
  if (expected.literal.empty())
    expected.literal = expected.exact;
  ScoreDisturber disturber(bound);
  InterpreterBackend disturbed(module, weights, &disturber);
  disturbed.setPrecision(chain.isScaled ? Precision::Exact : Precision::Reference);
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    disturber.restart(seed);
    if (failed(disturbed.reset(chain.batch, chain.capacity)))
      return failure();
    Tensors results;
    for (const Chain::Step &step : chain.steps) {
      TRY(results, disturbed.run(step.entry, step.inputs));
    }
    for (auto [literal, exact, other] : llvm::zip_equal(expected.literal, expected.exact, results))
      literal = farther(*exact, literal, other);
  }
  return success();
}

LogicalResult Verifier::addConditioning(func::FuncOp entry, const Case &one, const Tensors &inputs,
                                        Expected &expected) {
  constexpr uint64_t kDraws = 4;
  for (uint64_t seed = 1; seed <= kDraws; ++seed) {
    oracle.setPrecision(Precision::Exact);
    if (failed(oracle.reset(one.sizes.batch, one.sizes.length)))
      return failure();
    TRY(Tensors found, oracle.run(entry.getName(), disturb(inputs, seed)));
    for (auto [literal, exact, other] : llvm::zip_equal(expected.literal, expected.exact, found))
      literal = farther(*exact, literal, other);
  }
  return success();
}

LogicalResult Verifier::excuse(func::FuncOp entry, const Case &one, const Tensors &inputs,
                               const Tensors &found, Expected &expected) {
  bool isScaled = one.magnitude != Magnitude::One;
  if (!departs(found, expected, bound, isScaled))
    return success();
  if (failed(runLiterally(oracle, entry, one, inputs, expected)))
    return failure();
  if (!isScaled || !departs(found, expected, bound, isScaled))
    return success();
  // A softmax of great scores is decided by the last bits of its inputs.
  if (failed(addConditioning(entry, one, inputs, expected)))
    return failure();
  if (!departs(found, expected, bound, isScaled))
    return success();
  if (!wideMasks && !(wideMasks = widenMasks(module)))
    return success();
  InterpreterBackend wide(*wideMasks, weights);
  Expected never;
  if (failed(runLiterally(wide, entry, one, inputs, never)))
    return failure();
  if (departs(found, never, bound, isScaled))
    return success();
  expected = std::move(never);
  std::string note = "'" + entry.getName().str() +
                     "' agrees if what is masked by a number below -5000 is never seen; by that "
                     "number alone, great scores would be seen";
  if (!llvm::is_contained(report.notes, note))
    report.notes.push_back(note);
  return success();
}

LogicalResult Verifier::runCase(func::FuncOp entry, const Case &wished, int64_t &cap) {
  Case one = wished.cutTo(cap);
  std::vector<int64_t> key(one.sizes.others.begin(), one.sizes.others.end());
  key.insert(key.end(), {one.sizes.batch, one.sizes.length, static_cast<int64_t>(one.magnitude)});
  if (!done.insert(key).second && one.getLongest() < wished.getLongest())
    return success();
  options.progress(entry.getName().str() + ", " + nameCase(entry, one));
  bool isScaled = one.magnitude != Magnitude::One;
  oracle.setPrecision(isScaled ? Precision::Exact : Precision::Reference);
  Tensors inputs;
  Fault fault;
  FailureOr<Tensors> expected = attempt(entry, one, inputs, fault);
  if (failed(expected) && options.lengths.empty() && fault.location) {
    std::string reason = describeLocation(*fault.location) + ": " + fault.text;
    bool isTableEnd = fault.isTableEnd();
    int64_t works = findCap(entry, one);
    Case fitting = one.cutTo(works);
    int64_t sum = works + (fitting.sizes.others.empty() ? 0 : fitting.sizes.others.front());
    bool isAxis = works > 1 && (hasAxisOf(module, works) || hasAxisOf(module, sum) ||
                                hasAxisOf(module, sum - works + fitting.sizes.length));
    if (works > 0 && (isTableEnd || isAxis)) {
      cap = works;
      std::string begin = "'" + entry.getName().str() + "' is run up to length ";
      llvm::erase_if(report.notes,
                     [&](const std::string &note) { return StringRef(note).starts_with(begin); });
      report.notes.push_back(begin + std::to_string(cap) + ": " + reason);
      return runCase(entry, one, cap);
    }
  }
  if (failed(expected))
    return emitError(fault.location.value_or(entry.getLoc()))
           << fault.text << " ('" << entry.getName() << "', " << nameCase(entry, one) << ")";
  Chain chain{one.sizes.batch, one.sizes.length, {{entry.getName().str(), inputs}}, isScaled};
  if (failed(compiled->reset(chain.batch, chain.capacity)))
    return failure();
  FailureOr<Tensors> found = compiled->run(entry.getName(), inputs);
  Expected both{*expected, {}};
  if (failed(found) || failed(excuse(entry, one, inputs, *found, both)) ||
      failed(addRouting(chain, *found, both)))
    return failure();
  return addRows(entry, nameCase(entry, one), *found, both.exact, chain, both.literal);
}

LogicalResult Verifier::runAlone(func::FuncOp entry) {
  int64_t cap = maxPositions(entry);
  done.clear();
  for (const Case &one : makeCases(entry, lengths, longLength, options.dims))
    if (failed(runCase(entry, one, cap)))
      return failure();
  oracle.setPrecision(Precision::Reference);
  return success();
}

LogicalResult Verifier::checkDims() {
  std::set<std::string> names;
  for (func::FuncOp entry : getEntries(module)) {
    std::set<std::string> own = getOpenDims(entry);
    names.insert(own.begin(), own.end());
  }
  for (const auto &[name, size] : options.dims)
    if (!names.count(name))
      return module.emitError("--dim ")
             << name << "=" << size << ": expects an open dimension of the entries, which have "
             << (names.empty() ? "none" : llvm::join(names, ", "));
  return success();
}

LogicalResult Verifier::checkLengths() {
  for (func::FuncOp entry : getEntries(module))
    for (int64_t length : options.lengths)
      if (length < 1 || length > maxPositions(entry))
        return module.emitError("--length: expects at least 1 and at most ")
               << maxPositions(entry) << " positions in '" << entry.getName() << "', got "
               << length;
  return success();
}

//===-- Entries that share caches ------------------------------------------------------------===//

/// Columns [first, first + count) of ids [B, S].
static TensorRef columns(const Tensor &ids, int64_t first, int64_t count) {
  auto part = std::make_shared<Tensor>();
  part->shape = {ids.shape[0], count};
  part->isReal = false;
  for (int64_t b = 0; b < ids.shape[0]; ++b)
    for (int64_t s = first; s < first + count; ++s)
      part->integers.push_back(ids.integers[b * ids.shape[1] + s]);
  return part;
}

/// Row [b, s] of every batch row of logits [B, S, V], as [B, V].
static TensorRef atPosition(const Tensor &logits, int64_t s) {
  auto part = std::make_shared<Tensor>();
  int64_t length = logits.shape[1], width = logits.shape[2];
  part->shape = {logits.shape[0], width};
  for (int64_t b = 0; b < logits.shape[0]; ++b) {
    auto row = logits.reals.begin() + (b * length + s) * width;
    part->reals.insert(part->reals.end(), row, row + width);
  }
  return part;
}

/// Whether what a position gives depends on how many are read at once: frequencies that are chosen
/// by the call's longest position. Then `forward` is another computation than chunks.
static bool dependsOnChunks(ModuleOp module) {
  return module
      .walk([](RopeOp op) {
        RopeScalingAttr scaling = op.getScalingAttr();
        bool depends = scaling && (scaling.getKind() == RopeScalingKind::Dynamic ||
                                   scaling.getKind() == RopeScalingKind::LongRope);
        return depends ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether an entry reads one token at a time.
static bool readsOne(func::FuncOp entry) {
  auto ids = cast<RankedTensorType>(entry.getArgumentTypes()[tensorArguments(entry).front()]);
  return ids.getDimSize(1) == 1;
}

/// What is read in parts, its token ids [B, S] last. A source comes first where there is one, and
/// its mask if it has one.
FailureOr<Tensors> Verifier::makeTokens(const TokenEntries &entries, int64_t batch, int64_t length,
                                        std::mt19937_64 &random) {
  auto [prefill, decode, forward, encode, hasDecode] = entries;
  if (!encode || forward)
    return makeInputs(encode ? forward : prefill, {batch, length, {}, options.dims}, random);
  constexpr int64_t kMost = 6; // of an entry that reads one by one
  TRY(Tensors whole, makeInputs(encode, {batch, length, {}, options.dims}, random));
  auto ids = std::make_shared<Tensor>();
  SmallVector<TensorRef> parts;
  for (int64_t n = readsOne(prefill) ? std::min(length, kMost) : 1; n > 0; --n) {
    TRY(Tensors some, makeInputs(prefill, {batch, length, {}, options.dims}, random));
    parts.push_back(some.front());
  }
  ids->isReal = false;
  ids->shape = {parts.front()->shape[0], 0};
  for (const TensorRef &part : parts)
    ids->shape[1] += part->shape[1];
  for (int64_t b = 0; b < ids->shape[0]; ++b)
    for (const TensorRef &part : parts) {
      auto row = part->integers.begin() + b * part->shape[1];
      ids->integers.insert(ids->integers.end(), row, row + part->shape[1]);
    }
  whole.push_back(ids);
  return whole;
}

LogicalResult Verifier::runTokens(const TokenEntries &entries, int64_t batch, int64_t length) {
  auto [prefill, decode, forward, encode, hasDecode] = entries;
  std::mt19937_64 random(options.seed * 1000003 + batch * 1009 + length);
  TRY(Tensors whole, makeTokens(entries, batch, length, random));
  const Tensor &ids = *whole.back();
  length = ids.shape[1];
  // Two chunks, then up to three single tokens.
  int64_t singles = hasDecode ? std::min<int64_t>(3, (length - 1) / 2) : 0, read = length - singles;
  SmallVector<int64_t> chunks;
  if (read > 1)
    chunks.push_back((read + 1) / 2);
  chunks.push_back(read - (read > 1 ? chunks.front() : 0));
  chunks.append(singles, 1);
  if (readsOne(prefill))
    chunks.assign(length, 1);

  Tensors reference;
  if (forward && !dependsOnChunks(module)) {
    TRY(reference, oracle.run(forward.getName(), whole));
  }
  // Other sources than texts have as many positions as their entry says.
  bool readsText = !encode || !whole.front()->isReal;
  int64_t capacity = std::max(length, readsText ? whole.front()->shape[1] : maxPositions(encode));
  if (failed(compiled->reset(batch, capacity)) || failed(oracle.reset(batch, capacity)))
    return failure();
  Chain chain{batch, capacity, {}};
  if (encode) {
    chain.steps.push_back({encode.getName().str(), Tensors(whole.begin(), whole.end() - 1)});
    if (failed(oracle.run(encode.getName(), chain.steps.back().inputs)) ||
        failed(compiled->run(encode.getName(), chain.steps.back().inputs)))
      return failure();
  }
  int64_t at = 0;
  std::string text;
  for (auto [n, count] : llvm::enumerate(chunks)) {
    bool isSingle = static_cast<int64_t>(n + singles) >= static_cast<int64_t>(chunks.size());
    func::FuncOp entry = isSingle && decode ? decode : prefill;
    text += (n ? " + " : "") + std::to_string(count);
    std::string what = "batch " + std::to_string(batch) + ", read " + text;
    options.progress(entry.getName().str() + ", " + what);
    chain.steps.push_back({entry.getName().str(), {columns(ids, at, count)}});
    for (unsigned shared : sharedArguments(encode, entry))
      chain.steps.back().inputs.push_back(whole[shared]);
    at += count;
    TRY(Tensors expected, oracle.run(entry.getName(), chain.steps.back().inputs));
    FailureOr<Tensors> found =
        compiled->run(isSingle && !decode ? "decode" : entry.getName(), chain.steps.back().inputs);
    Expected both{expected, {}};
    if (failed(found) || failed(addRouting(chain, *found, both)) ||
        failed(addRows(entry, what, *found, expected, chain, both.literal)))
      return failure();
    if (reference.empty())
      continue;
    Tensors ofForward{atPosition(*reference.front(), at - 1)};
    if (expected.size() > 1)
      ofForward.push_back(chooseTokens(*ofForward.front()));
    if (failed(addRows(entry, what + ", against forward", *found, ofForward, chain, both.literal)))
      return failure();
  }
  return success();
}

LogicalResult Verifier::runCached(const TokenEntries &entries) {
  std::set<std::pair<int64_t, int64_t>> done;
  std::optional<int64_t> fixed; // of the tokens' sequence
  for (const auto &[name, size] : options.dims)
    if (name != getBatchDim(entries.prefill) && getOpenDims(entries.prefill).count(name))
      fixed = size;
  auto run = [&](int64_t batch, int64_t length) {
    length = std::min(fixed.value_or(length), maxPositions(entries.prefill));
    return !done.insert({batch, length}).second || succeeded(runTokens(entries, batch, length));
  };
  SmallVector<int64_t> batches = getBatches(entries.prefill, options.dims);
  for (int64_t batch : batches)
    for (int64_t length : lengths)
      if (!run(batch, length))
        return failure();
  return success(!longLength || run(batches.front(), longLength));
}

/// An entry that takes ids [B, S], what `encode` reads too (a source's mask), and caches, and gives
/// logits [B, V] of the last position, and perhaps the token chosen from them.
static bool isTokenReader(func::FuncOp entry, func::FuncOp encode) {
  SmallVector<unsigned> results = entry ? tensorResults(entry) : SmallVector<unsigned>();
  if (results.size() == 2 && getResultRole(entry, results[1]) == PortRole::NextToken)
    results.pop_back();
  if (results.size() != 1 || !takesCache(entry))
    return false;
  SmallVector<unsigned> tensors = tensorArguments(entry);
  bool fits = tensors.size() == 1 + sharedArguments(encode, entry).size();
  auto ids = fits ? dyn_cast<RankedTensorType>(entry.getArgumentTypes()[tensors.front()]) : nullptr;
  auto logits = dyn_cast<RankedTensorType>(entry.getResultTypes()[results.front()]);
  return ids && ids.getRank() == 2 && ids.getElementType().isInteger() && logits &&
         logits.getRank() == 2;
}

/// One that takes ids [B, S], behind what `encode` reads if there is a source, and gives logits
/// [B, S, V] first.
static bool isForward(func::FuncOp entry, func::FuncOp encode) {
  size_t ofSource = encode ? tensorArguments(encode).size() : 0;
  if (!entry || takesCache(entry) || entry.getNumArguments() != ofSource + 1 ||
      entry.getNumResults() < 1 || (!encode && entry.getNumResults() != 1))
    return false;
  auto logits = dyn_cast<RankedTensorType>(entry.getResultTypes()[0]);
  return logits && logits.getRank() == 3 && isa<FloatType>(logits.getElementType());
}

//===-- All of it ----------------------------------------------------------------------------===//

LogicalResult Verifier::explain() {
  if (!departed || !options.findDeparture)
    return success();
  report.departedEntry = departed->steps.back().entry;
  TRY(report.departure,
      findDeparture(module, weights, factory, *departed, bound, options.progress));
  return success();
}

LogicalResult Verifier::run() {
  SmallVector<func::FuncOp> entries = getEntries(module);
  if (entries.empty())
    return module.emitError("expects at least one function with '")
           << FoveaDialect::kEntryAttr << "', got none";
  if (failed(checkDims()) || failed(checkLengths()) || failed(compile()))
    return failure();
  func::FuncOp prefill = findEntry(module, EntryKind::Prefill);
  func::FuncOp decode = findEntry(module, EntryKind::Decode);
  func::FuncOp forward = findEntry(module, EntryKind::Forward);
  func::FuncOp encode = findEntry(module, EntryKind::Encode);
  if (!isForward(forward, encode))
    forward = {};
  if (!isTokenReader(decode, encode))
    decode = {};
  // Compiling says why, where it leaves an entry out.
  if (prefill && !compiled->hasEntry(prefill.getName())) {
    llvm::erase(entries, prefill);
    prefill = {};
  }
  // Behind an encoder the only step may be one for a single token.
  func::FuncOp reader = prefill;
  if (encode && !prefill)
    std::swap(reader, decode);
  bool cached = isTokenReader(reader, encode);
  bool hasDecode = decode || (prefill && !encode && compiled->hasEntry("decode"));
  for (func::FuncOp entry : entries)
    if (!cached || (entry != reader && entry != decode && entry != encode))
      if (failed(runAlone(entry)))
        return failure();
  if (cached && failed(runCached({reader, decode, forward, encode, hasDecode})))
    return failure();
  report.isComplete = true;
  report.branches = findUnreached(module, choices);
  return explain();
}

LogicalResult Verifier::runAgainst(const Reference &reference) {
  if (failed(compile()))
    return failure();
  bool compared = false;
  for (func::FuncOp entry : getEntries(module)) {
    Tensors inputs;
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (auto found = reference.find(nameOfArgument(entry, i)); found != reference.end())
        inputs.push_back(found->second);
    SmallVector<unsigned> wanted;
    for (auto [n, i] : llvm::enumerate(tensorResults(entry)))
      if (reference.count(nameOfResult(entry, i)))
        wanted.push_back(n);
    // Entries with caches would need theirs filled first.
    if (takesCache(entry) || inputs.size() != entry.getNumArguments() || wanted.empty())
      continue;
    compared = true;
    int64_t batch = inputs.empty() || inputs.front()->rank() == 0 ? 1 : inputs.front()->shape[0];
    options.progress(entry.getName().str() + ", against the reference");
    if (failed(compiled->reset(batch, 0)) || failed(oracle.reset(batch, 0)))
      return failure();
    TRY(Tensors interpreted, oracle.run(entry.getName(), inputs));
    TRY(Tensors found, compiled->run(entry.getName(), inputs));
    Chain chain{batch, 0, {{entry.getName().str(), inputs}}};
    Tensors expected = interpreted;
    for (unsigned n : wanted)
      expected[n] = reference.at(nameOfResult(entry, tensorResults(entry)[n]));
    if (failed(addRows(entry, "compiled, against the interpreter", found, interpreted, chain)))
      return failure();
    // The reference judges the import: no op of ours departs where only that is wrong.
    std::optional<Chain> ours = departed;
    if (failed(addRows(entry, "compiled, against the reference", found, expected, chain)) ||
        failed(addRows(entry, "interpreted, against the reference", interpreted, expected, chain)))
      return failure();
    departed = ours;
  }
  if (!compared)
    return module.emitError("expects a reference with the arguments and a result of an entry, got "
                            "none that fits");
  report.isComplete = true;
  return explain();
}

LogicalResult verify::verifyModule(ModuleOp module, RecipeSource &weights,
                                   const BackendFactory &factory, const Options &options,
                                   Report &report) {
  return Verifier(module, weights, factory, options, report).run();
}

LogicalResult verify::verifyAgainst(ModuleOp module, RecipeSource &weights,
                                    const BackendFactory &factory, const Reference &reference,
                                    const Options &options, Report &report) {
  return Verifier(module, weights, factory, options, report).runAgainst(reference);
}
