// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equivalence tests: drawing, comparing, and the account of piecewise nodes.
#include "passes/Elements/Equivalence.h"
#include "dialects/Fovea/Locations.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// Comparisons that an agreement needs at least.
static constexpr unsigned kLeastSound = 6;
/// More piecewise nodes are no attention, norm or activation.
static constexpr unsigned kMostPiecewise = 32;
/// Steps of all evaluations of one comparison, after which it is content with what it saw.
static constexpr int64_t kEnoughSteps = 150'000;
/// Sizes beyond constants in index arithmetic are drawn up to here.
static constexpr int64_t kMostStretch = int64_t(1) << 14;

//===-- Faults -------------------------------------------------------------------------------===//

static PlantedFault planted = PlantedFault::None;

void raise::plantFault(PlantedFault fault) { planted = fault; }
PlantedFault raise::getPlantedFault() { return planted; }

//===-- Looking ------------------------------------------------------------------------------===//

SmallVector<Expr> raise::getPiecewise(Expr root, bool isMaximal, unsigned rounding) {
  auto counts = [&](Expr node) {
    return isPiecewise(node) &&
           !(node->is<arith::TruncFOp>() && cast<FloatType>(node->type).getWidth() >= rounding);
  };
  SmallVector<Expr> nodes;
  for (Expr node : collect(root, [&](Expr node) { return !isMaximal || !counts(node); }))
    if (counts(node))
      nodes.push_back(node);
  return nodes;
}

llvm::SmallDenseSet<int64_t> raise::findClassed(Expressions &e, ArrayRef<Expr> roots) {
  constexpr int64_t kLeast = 16; // below, each place may have a number of its own
  llvm::SmallDenseSet<int64_t> classed, others;
  Evaluator looks(e, 1);
  for (Expr root : roots)
    for (Expr node : collect(root)) {
      if (node->kind != Node::Kind::Reduce)
        continue;
      std::optional<int64_t> extent = getInteger(e.getExtent(node->dim));
      if (extent && *extent > kLeast)
        (looks.isUniform(node) ? classed : others).insert(*extent);
    }
  for (int64_t extent : others)
    classed.erase(extent);
  return classed;
}

std::string raise::describe(Expressions &e, Expr node) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (node->kind == Node::Kind::Reduce)
    os << (node->combiner == Combiner::Max   ? "the maximum"
           : node->combiner == Combiner::Min ? "the minimum"
                                             : "a reduction");
  else if (node->kind == Node::Kind::Compute)
    os << "'" << node->name.getValue() << "'";
  else
    os << "index arithmetic";
  // The constant that it holds tells it from others of its kind.
  for (Expr arg : node->args) {
    Expr inner = arg->is<arith::CmpFOp, arith::CmpIOp>() ? arg->args[1] : arg;
    if (inner->isConstant()) {
      os << " with " << llvm::format("%g", inner->getNumber());
      break;
    }
  }
  if (Operation *op = e.getOrigin(node)) {
    std::string place = placeOf(op->getLoc());
    os << " at " << (place.empty() ? "an unknown place" : place);
  }
  return text;
}

std::string raise::describe(Expressions &e, const Verdict &verdict) {
  std::string node = describe(e, verdict.culprit);
  return verdict.kind == Verdict::Unseen
             ? "it agrees wherever it was evaluated, but " + node + " was not seen on both sides"
             : node + " changes it";
}

//===-- Parts as unknowns --------------------------------------------------------------------===//

void Generalizer::add(Expr part) {
  if (part->isConstant())
    return;
  SmallVector<AffineExpr> sizes =
      llvm::map_to_vector(part->dims.set_bits(), [&](unsigned dim) { return e.getExtent(dim); });
  parts.push_back({part, e.addVariable(sizes)});
}

/// Finds how dims of `pattern` are to be replaced for it to become `node`, as far as single dims
/// say; whether that does it is for the caller to check.
static bool unify(Expr pattern, Expr node, llvm::DenseMap<unsigned, Expr> &dims,
                  llvm::DenseSet<std::pair<Expr, Expr>> &seen) {
  if (!seen.insert({pattern, node}).second)
    return true;
  if (pattern->kind == Node::Kind::Index) {
    auto dim = dyn_cast<AffineDimExpr>(pattern->affine);
    if (!dim || !node->getAffine())
      return bool(node->getAffine());
    auto [entry, isNew] = dims.try_emplace(dim.getPosition(), node);
    return isNew || entry->second->getAffine() == node->getAffine();
  }
  if (pattern->kind != node->kind || pattern->type != node->type || pattern->real != node->real ||
      pattern->integer != node->integer || pattern->tensor != node->tensor ||
      pattern->name != node->name || pattern->attrs != node->attrs ||
      pattern->combiner != node->combiner || pattern->dim != node->dim ||
      pattern->variable != node->variable || pattern->args.size() != node->args.size())
    return false;
  return llvm::all_of(llvm::zip(pattern->args, node->args), [&](auto pair) {
    return unify(std::get<0>(pair), std::get<1>(pair), dims, seen);
  });
}

/// `node` as the unknown of `part`, if it is the part with other places for its dims, by what it is
/// or by where a tensor holds it. Null if it is not.
Expr Generalizer::match(Expr part, unsigned number, Expr node) {
  auto [home, places] = e.getHome(part);
  auto [otherHome, otherPlaces] = e.getHome(node);
  bool isOfHome = home && home == otherHome;
  for (bool byHome : {false, true}) {
    if (byHome ? !isOfHome : part->kind != node->kind)
      continue;
    llvm::DenseMap<unsigned, Expr> dims;
    llvm::DenseSet<std::pair<Expr, Expr>> seen;
    bool fits = byHome
                    ? llvm::all_of(llvm::zip(places, otherPlaces),
                                   [&](auto pair) {
                                     return unify(std::get<0>(pair), std::get<1>(pair), dims, seen);
                                   })
                    : unify(part, node, dims, seen);
    if (!fits)
      continue;
    // What a reduction inside of the part binds is no place of it.
    SmallVector<Expr> at;
    llvm::DenseMap<unsigned, Expr> moved;
    for (unsigned dim : part->dims.set_bits()) {
      at.push_back(dims.contains(dim) ? e.index(dims[dim]->getAffine()) : e.dim(dim));
      if (at.back() != e.dim(dim))
        moved[dim] = at.back();
    }
    bool isSame =
        byHome ? llvm::all_of(llvm::zip(places, otherPlaces),
                              [&](auto pair) {
                                return e.substitute(std::get<0>(pair), moved) == std::get<1>(pair);
                              })
               : e.substitute(part, moved) == node;
    if (isSame)
      return e.variable(number, part->type, at);
  }
  return {};
}

Expr Generalizer::apply(Expr root) {
  llvm::DenseMap<Expr, Expr> replaced;
  for (Expr node : collect(root)) {
    if (node->isConstant() || node->kind == Node::Kind::Index)
      continue;
    for (auto [part, number] : parts)
      if (Expr unknown = match(part, number, node)) {
        replaced[node] = unknown;
        break;
      }
  }
  return replaced.empty() ? root : e.replace(root, replaced);
}

//===-- Sides --------------------------------------------------------------------------------===//

/// A condition as a number.
static bool isOfCondition(Expr node) {
  return node->kind == Node::Kind::Compute && node->args.size() == 1 &&
         node->args[0]->type.isInteger(1) && !node->type.isInteger(1);
}

/// What is constant between places where it steps: zero, and other numbers.
static bool hasSteps(Expr node) {
  StringRef name = node->name.getValue();
  return name == "math.floor" || name == "math.ceil" || name == "math.round" ||
         name == "math.roundeven" || name == "math.trunc" || name.contains("div") ||
         name.contains("shr") || node->is<arith::FPToSIOp, arith::FPToUIOp>();
}

/// The nodes whose numbers reach a result other than through a condition or a step.
static void addContinuous(Expr root, llvm::DenseSet<Expr> &nodes) {
  for (Expr node : collect(root, [](Expr node) {
         return !node->type.isInteger(1) && !isOfCondition(node) &&
                (node->kind != Node::Kind::Compute || !hasSteps(node));
       }))
    nodes.insert(node);
}

/// Which of its sides, 0 or 1, a piecewise node took; nothing on the border.
static std::optional<unsigned> getSide(Expr node, ArrayRef<Number> args, Number result) {
  auto order = [](auto a, auto b) -> std::optional<unsigned> {
    return a == b ? std::nullopt : std::optional(a > b ? 0u : 1u);
  };
  bool isReal = isa<FloatType>(node->type);
  if (node->kind == Node::Kind::Reduce) // whether the first one was it
    return isReal ? unsigned(args[0].real != args[1].real)
                  : unsigned(args[0].integer != args[1].integer);
  StringRef name = node->name.getValue();
  if (node->is<arith::SelectOp>())
    return args[0].integer != 0;
  if (node->type.isInteger(1))
    return result.integer != 0;
  if (node->is<math::AbsFOp>())
    return order(args[0].real, 0.0);
  if (node->is<math::AbsIOp>())
    return order(args[0].integer, int64_t(0));
  if (node->is<math::CopySignOp>())
    return std::signbit(args[1].real);
  if (isOfCondition(node) || hasSteps(node))
    return isReal ? result.real != 0 : result.integer != 0;
  if (name.contains("max") || name.contains("min"))
    return isReal ? order(args[0].real, args[1].real) : order(args[0].integer, args[1].integer);
  // What rounds or divides: whether it changed anything.
  double before = isa<FloatType>(node->args[0]->type) ? args[0].real : double(args[0].integer);
  double after = isReal ? result.real : double(result.integer);
  return before != after;
}

/// Which sides must have been seen, as bits.
static unsigned getNeededSides(Expr node) {
  if (node->kind == Node::Kind::Reduce)
    return 2;
  StringRef name = node->name.getValue();
  bool hasTwo = node->type.isInteger(1) || node->is<arith::SelectOp>() || name.contains("max") ||
                name.contains("min") || name.contains("abs") || name.contains("copysign") ||
                isOfCondition(node) || hasSteps(node);
  return hasTwo ? 3 : 2;
}

/// Whether a side of a choice, a maximum or a minimum is a number of the source's.
static bool isConstantSide(Expr node, unsigned side) {
  if (node->is<arith::SelectOp>())
    return node->args[side == 1 ? 1 : 2]->isConstant();
  if (node->kind != Node::Kind::Compute || node->args.size() != 2 || !isa<FloatType>(node->type))
    return false;
  StringRef name = node->name.getValue();
  bool isMax = name.contains("max");
  return (isMax || name.contains("min")) && node->args[isMax ? side : 1 - side]->isConstant();
}

/// The node as a choice between its sides by an unknown; null if it has no two.
static Expr relax(Expressions &e, Expr node, Expr choice) {
  if (node->kind != Node::Kind::Compute || !isa<FloatType>(node->type))
    return {};
  StringRef name = node->name.getValue();
  Expr sides[2];
  if (node->is<arith::SelectOp>()) {
    sides[0] = node->args[1];
    sides[1] = node->args[2];
  } else if (node->is<math::AbsFOp>()) {
    sides[0] = node->args[0];
    sides[1] = e.compute<arith::NegFOp>(node->type, {node->args[0]});
  } else if (name.contains("max") || name.contains("min")) {
    sides[0] = node->args[0];
    sides[1] = node->args[1];
  } else {
    return {};
  }
  return e.compute<arith::SelectOp>(node->type, {choice, sides[0], sides[1]});
}

//===-- Comparing ----------------------------------------------------------------------------===//

namespace {
/// Elements of tensors and unknowns, wherever they are read.
class LeafSet {
public:
  void clear() {
    tensors.clear();
    unknowns.clear();
  }
  /// Only what is a leaf.
  void add(Expr part) {
    if (part->kind == Node::Kind::Element)
      tensors.insert(part->tensor);
    if (part->kind == Node::Kind::Variable)
      unknowns.insert(part->variable);
  }
  bool contains(Expr leaf) const {
    return leaf->tensor ? tensors.contains(leaf->tensor) : unknowns.contains(leaf->variable);
  }

private:
  llvm::DenseSet<Value> tensors;
  llvm::DenseSet<unsigned> unknowns;
};

class Tester {
public:
  Tester(Expressions &e, const Claim &claim) : e(e), claim(claim) {}
  Verdict run();

private:
  enum class Outcome { Agrees, Differs, Unevaluated };
  using Coverage = llvm::MapVector<Expr, unsigned>;

  Evaluator makeEvaluator(const Draw &how);
  Outcome compare(Expr a, Expr b, Expr size, ArrayRef<Draw> rounds, Coverage *coverage = nullptr);
  void addInfluence(ArrayRef<int64_t> place, Expr a, Expr b, const Draw &how, double size,
                    const Coverage &pending, Coverage &coverage);
  bool agrees(Expr a, Expr b) { return compare(a, b, claim.size, usual) == Outcome::Agrees; }
  void prepare(Expr a, Expr b);
  void findRounds(Expr a, Expr b);
  void addBound(Expr node, int64_t number);
  void addBounds(Expr node, AffineExpr places);
  void addBoundsOfDivisions(Expr root);
  void addBoundsOfChoices(Expr root);
  SmallVector<int64_t> getStretches(bool hasNumbersOfPlaces);
  Number draw(Expr leaf, ArrayRef<int64_t> at, const Draw &how);
  void setPlaces(Evaluator &evaluate, const Draw &how, int number);
  Expr free(Expr source);
  Outcome compareAtBorders(Expr source, Expr formula, ArrayRef<Expr> nodes);
  SmallVector<unsigned> getSides(Expr source, ArrayRef<Expr> nodes, const Draw &how);
  Expr findCulprit(Expr source, ArrayRef<Expr> nodes);
  Verdict cover(Expr source, Expr formula);
  bool agreesWithoutChoices(Expr source, Expr formula);

  Expressions &e;
  const Claim &claim;
  SmallVector<Draw> usual;
  SmallVector<int64_t> bounds; ///< constants of index arithmetic that small sizes do not reach
  Expr beyond = nullptr;       ///< index arithmetic that no size that is drawn reaches

  // Of the expressions at hand.
  LeafSet exponents;                                   ///< what exponentials are taken of
  LeafSet factors;                                     ///< what logarithms are taken of
  llvm::DenseMap<Value, SmallVector<double>> compared; ///< what elements are compared with
  llvm::SmallDenseSet<int64_t> classed;
  llvm::DenseSet<Expr> continuous;                           ///< nodes, see `addContinuous`
  llvm::DenseMap<unsigned, Interval> ranges;                 ///< of what is carried, by the unknown
  llvm::DenseMap<std::pair<Expr, unsigned>, unsigned> tries; ///< at each side's influence
};
} // namespace

static int64_t drawInteger(uint64_t seed, uint64_t number, int64_t more = 0) {
  return static_cast<int64_t>(mix(seed, number, {more}) >> 33);
}

/// A number of a range that has bounds: `share` of one with two, else `number` beyond the one.
static double moveInto(const Interval &range, double number, double share) {
  bool hasLeast = std::isfinite(range.least), hasMost = std::isfinite(range.most);
  if (hasLeast && hasMost)
    return range.least + share * (range.most - range.least);
  return hasLeast  ? range.least + std::fabs(number)
         : hasMost ? range.most - std::fabs(number)
                   : number;
}

Number Tester::draw(Expr leaf, ArrayRef<int64_t> at, const Draw &how) {
  if (claim.draw)
    if (std::optional<Number> number = claim.draw(leaf, at, how))
      return *number;
  uint64_t id = leaf->tensor ? e.getNumber(leaf->tensor) : ~uint64_t(leaf->variable);
  uint64_t bits = mix(id, how.seed, at);
  if (leaf->type.isInteger(1))
    return {0, (bits >> 20) % 4 != (how.seed & 1 ? 0 : 1)};
  if (!isa<FloatType>(leaf->type))
    return {0, static_cast<int64_t>((bits >> 20) % (3 + how.seed % 13))};
  if (auto found = compared.find(leaf->tensor); found != compared.end() && (bits >> 7) % 2 == 0) {
    ArrayRef<double> numbers = found->second;
    double number = numbers[(bits >> 12) % numbers.size()];
    double step = std::fabs(number) + 0.25;
    return {number + step * (double((bits >> 20) % 5) - 2) / 2, 0};
  }
  double unit = static_cast<double>(bits >> 11) * 0x1p-52 - 1;
  bool isFactor = factors.contains(leaf);
  if (exponents.contains(leaf) && !isFactor)
    return {how.offset + how.exponent * unit, 0};
  // Tensors differ in size, and are not centred.
  static constexpr double kSizes[] = {1, 1, 1e-2, 30};
  double size = how.magnitude * kSizes[mix(id, how.seed) % std::size(kSizes)];
  double number = size * (unit + (mix(id) % 2 ? 0.25 : 0));
  if (isFactor)
    number = std::fabs(number);
  if (auto found = ranges.find(leaf->variable); !leaf->tensor && found != ranges.end())
    number = moveInto(found->second, number, (unit + 1) / 2);
  return {number, 0};
}

/// What draws must know of the leaves.
void Tester::prepare(Expr a, Expr b) {
  exponents.clear();
  factors.clear();
  compared.clear();
  classed = findClassed(e, {a, b});
  continuous.clear();
  for (Expr root : {a, b}) {
    addContinuous(root, continuous);
    for (Expr node : collect(root)) {
      bool isExponential = isExp(node) || (node->kind == Node::Kind::Compute &&
                                           node->name.getValue() == "math.expm1");
      if (isExponential)
        for (Expr part : collect(node->args[0]))
          exponents.add(part);
      if (node->is<math::LogOp>())
        for (Expr part : collect(node->args[0], [](Expr part) {
               return part->is<arith::MulFOp>() || isCast(part);
             }))
          factors.add(part);
      if (node->is<arith::CmpFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                   arith::MinNumFOp>())
        for (unsigned i : {0, 1}) {
          Expr element = stripCasts(node->args[i]), other = node->args[1 - i];
          if (element->kind == Node::Kind::Element && other->isConstant() &&
              std::isfinite(other->getNumber()))
            compared[element->tensor].push_back(other->getNumber());
        }
    }
  }
}

void Tester::setPlaces(Evaluator &evaluate, const Draw &how, int number) {
  evaluate.place.assign(e.getNumDims(), 0);
  int64_t last = 0;
  for (unsigned dim : claim.dims) {
    int64_t extent = std::max<int64_t>(evaluate.getExtent(dim), 1);
    int64_t place = drawInteger(how.seed, number, dim);
    // Now and then on the diagonal, which masks seldom hide.
    if (drawInteger(how.seed, ~number, dim) % 3 == 0)
      place = last;
    if (how.stretch != 0 && !bounds.empty()) {
      int64_t bound = bounds[drawInteger(how.seed, number + 100, dim) % bounds.size()];
      int64_t near[] = {place, bound, bound - 1, bound + 1, extent - 1, bound + place % bound, 0};
      place = std::abs(near[drawInteger(how.seed, number + 200, dim) % std::size(near)]);
    }
    last = place %= extent;
    evaluate.place[dim] = place;
  }
}

/// An evaluator of what `how` draws, its dims at no place yet. `how` must live as long.
Evaluator Tester::makeEvaluator(const Draw &how) {
  Evaluator evaluate(e, how.seed);
  evaluate.stretch = how.stretch;
  evaluate.variant = how.seed % 11;
  evaluate.classed = classed;
  evaluate.hasLonePlace = how.seed % 2;
  evaluate.given = [&](Expr leaf, ArrayRef<int64_t> at) -> std::optional<Number> {
    return draw(leaf, at, how);
  };
  return evaluate;
}

/// Adds the sides of nodes that decide the result at this place: with other numbers where such a
/// side was taken, it is another one. With near numbers where the result is made of them, so that
/// no condition that is of the same node makes the difference.
void Tester::addInfluence(ArrayRef<int64_t> place, Expr a, Expr b, const Draw &how, double size,
                          const Coverage &pending, Coverage &coverage) {
  constexpr unsigned kMostTries = 40;
  auto evaluate = [&](Expr root, const decltype(Evaluator::alter) &alter) {
    Evaluator other = makeEvaluator(how);
    other.place.assign(place.begin(), place.end());
    other.alter = alter;
    return other.evaluateReal(root);
  };
  llvm::SmallDenseMap<Expr, std::optional<double>, 2> usual; // of a and b
  for (const auto &entry : pending)
    for (unsigned side : {0, 1}) {
      Expr node = entry.first;
      unsigned bit = 1u << side;
      if (!(entry.second & bit) || (coverage[node] & bit) || !(getNeededSides(node) & bit) ||
          node->type.isInteger(1) || ++tries[{node, side}] > kMostTries)
        continue;
      Expr root = contains(a, node) ? a : b;
      double share = continuous.contains(node) ? 1e-3 : 0.37;
      std::optional<double> altered =
          evaluate(root, [&](Expr part, ArrayRef<Number> args, Number &result) {
            if (part != node || getSide(part, args, result) != std::optional(side))
              return;
            result.real += share * (result.real == 0 ? 1 : std::fabs(result.real));
            result.integer += 1;
          });
      auto [before, isNew] = usual.try_emplace(root);
      if (isNew)
        before->second = evaluate(root, nullptr);
      if (!altered || !before->second || !(std::fabs(*altered - *before->second) <= 1e-11 * size))
        coverage[node] |= bit;
    }
}

Tester::Outcome Tester::compare(Expr a, Expr b, Expr sizeOf, ArrayRef<Draw> rounds,
                                Coverage *coverage) {
  prepare(a, b);
  const int places = claim.dims.empty() ? 1 : 3;
  unsigned sound = 0;
  int64_t steps = 0;
  llvm::DenseMap<int64_t, unsigned> tried, seen, outside; // by stretch
  for (const Draw &how : rounds) {
    if (!coverage && sound >= kLeastSound && steps > kEnoughSteps && tried[how.stretch] >= 2)
      continue;
    ++tried[how.stretch];
    Evaluator evaluate = makeEvaluator(how);
    Coverage pending;
    bool isCut = false; // some node gave a constant in place of what it was of
    if (coverage)
      evaluate.observe = [&](Expr node, ArrayRef<Number> args, Number result) {
        std::optional<unsigned> side = getSide(node, args, result);
        if (!side)
          return;
        pending[node] |= 1u << *side;
        isCut |= isConstantSide(node, *side);
      };
    for (int n = 0; n < places; ++n) {
      setPlaces(evaluate, how, n);
      std::optional<double> x = evaluate.evaluateReal(a), y = evaluate.evaluateReal(b);
      // Where an exponential is too great for its type, source and formula have no value.
      if (evaluate.overflows)
        break;
      outside[how.stretch] += evaluate.leavesTables;
      if (evaluate.budget <= 0 && !seen.contains(how.stretch))
        return Outcome::Unevaluated;
      if (!x || !y || !std::isfinite(*y))
        continue; // the formula says nothing here
      if (!std::isfinite(*x))
        return Outcome::Differs;
      double size = std::fabs(*y);
      if (sizeOf) {
        std::optional<double> found = evaluate.evaluateReal(sizeOf);
        if (!found || !std::isfinite(*found))
          continue;
        size = std::max(size, std::fabs(*found));
      }
      // What a clamp gives must be the value itself, not only small beside its terms.
      double least =
          isCut ? claim.tolerance * std::fabs(*y) + 1e-12 * size : claim.tolerance * size;
      if (!(std::fabs(*x - *y) <= least + 1e-300))
        return Outcome::Differs;
      ++sound;
      ++seen[how.stretch];
      if (coverage)
        addInfluence(evaluate.place, a, b, how, size, pending, *coverage);
    }
    steps += Evaluator::kBudget - evaluate.budget;
  }
  // Of sizes that no evaluation comes through nothing is known.
  bool isSeen = llvm::all_of(tried, [&](auto entry) {
    return seen.contains(entry.first) || outside.lookup(entry.first) > 0;
  });
  return sound >= kLeastSound && isSeen ? Outcome::Agrees : Outcome::Unevaluated;
}

//===-- The account --------------------------------------------------------------------------===//

/// Magnitudes that exponentials survive.
static SmallVector<Draw> makeUsualRounds() {
  struct Profile {
    double magnitude, exponent, offset;
  };
  static constexpr Profile kProfiles[] = {
      {1, 1, 0},   {1, 3, 0},   {1, 0, 0},      {1e-3, 1e-3, 0}, {1e3, 20, 0}, {1, 1, 40},
      {1, 1, -40}, {1, 200, 0}, {1e-3, 5, 250}, {1e3, 5, -250},  {1, 0.1, 3},  {1, 40, -100}};
  SmallVector<Draw> rounds;
  uint64_t seed = 0;
  for (const Profile &profile : kProfiles)
    rounds.push_back({++seed, profile.magnitude, profile.exponent, profile.offset, 0});
  return rounds;
}

/// A constant of `node` that places or sizes may have to go beyond.
void Tester::addBound(Expr node, int64_t number) {
  number = std::abs(number);
  if (number < 4 || number >= (int64_t(1) << 40))
    return;
  if (number > kMostStretch)
    beyond = node;
  else if (!llvm::is_contained(bounds, number))
    bounds.push_back(number);
}

/// Constants of index arithmetic.
void Tester::addBounds(Expr node, AffineExpr places) {
  places.walk([&](AffineExpr part) {
    if (std::optional<int64_t> number = getInteger(part))
      addBound(node, *number);
  });
}

/// Those of index arithmetic that divides.
void Tester::addBoundsOfDivisions(Expr root) {
  for (Expr node : collect(root)) {
    if (node->kind != Node::Kind::Index || node->isConstant())
      continue;
    bool divides = false;
    node->affine.walk([&](AffineExpr part) {
      divides |= part.getKind() == AffineExprKind::Mod ||
                 part.getKind() == AffineExprKind::FloorDiv ||
                 part.getKind() == AffineExprKind::CeilDiv;
    });
    if (divides)
      addBounds(node, node->affine);
  }
}

/// Those of piecewise nodes that places decide.
void Tester::addBoundsOfChoices(Expr root) {
  auto isPlace = [](Expr x) { return x->kind == Node::Kind::Index && !x->isConstant(); };
  auto isFloat = [](Expr x) {
    return isa<FloatType>(x->type) &&
           (x->kind == Node::Kind::Element || x->kind == Node::Kind::Variable ||
            x->kind == Node::Kind::Reduce);
  };
  for (Expr node : collect(root)) {
    if (!isPiecewise(node) || node->kind != Node::Kind::Compute)
      continue;
    SmallVector<Expr> inner = collect(node, [](Expr x) { return x->kind == Node::Kind::Compute; });
    if (llvm::none_of(inner, isPlace) || llvm::any_of(inner, isFloat))
      continue;
    for (Expr x : inner) {
      if (x->kind == Node::Kind::Index)
        addBounds(node, x->affine);
      else if (x->isConstant() && std::fabs(x->getNumber()) < 0x1p40)
        addBound(node, static_cast<int64_t>(x->getNumber()));
    }
  }
}

/// A size or place as a number: a power of it may be small until it is large.
static bool isNumberOfPlace(Expr node) {
  return node->is<arith::SIToFPOp, arith::UIToFPOp>() && llvm::any_of(collect(node), [](Expr part) {
           return part->kind == Node::Kind::Index && !part->isConstant();
         });
}

/// What to add to sizes in further rounds, for which the bounds are sorted.
SmallVector<int64_t> Tester::getStretches(bool hasNumbersOfPlaces) {
  llvm::sort(bounds, std::greater<int64_t>());
  SmallVector<int64_t> stretches;
  if (hasNumbersOfPlaces)
    stretches = {3000, 400};
  int64_t last = 0;
  for (int64_t bound : bounds)
    if (bound > 5 && (last == 0 || 2 * bound < last))
      stretches.push_back(last = 2 * bound);
  return stretches;
}

/// Rounds of draws: magnitudes that exponentials survive, and sizes beyond the constants of index
/// arithmetic.
void Tester::findRounds(Expr a, Expr b) {
  usual.assign(claim.rounds.begin(), claim.rounds.end());
  if (usual.empty())
    usual = makeUsualRounds();
  for (Expr root : {a, b})
    addBoundsOfDivisions(root);
  for (Expr root : {a, b})
    addBoundsOfChoices(root);
  bool hasNumbersOfPlaces = llvm::any_of(
      ArrayRef{a, b}, [](Expr root) { return llvm::any_of(collect(root), isNumberOfPlace); });
  uint64_t seed = 1000;
  SmallVector<int64_t> stretches = getStretches(hasNumbersOfPlaces);
  for (int64_t stretch : ArrayRef(stretches).take_front(6))
    for (int i = 0; i < 6; ++i) {
      Draw how = usual[i % usual.size()];
      how.seed = ++seed;
      how.stretch = stretch;
      usual.push_back(how);
    }
}

/// The source with nodes that do not matter as unknowns.
Expr Tester::free(Expr source) {
  SmallVector<Expr> nodes = getPiecewise(source, /*isMaximal=*/false, claim.rounding);
  if (nodes.empty())
    return source;
  Expr formula = claim.formula;
  auto withUnknown = [&](ArrayRef<Expr> parts) {
    Generalizer general(e);
    for (Expr part : parts)
      general.add(part);
    return general.apply(source);
  };
  // All at once, as for the maximum that a softmax subtracts; else one by one, the outermost first.
  if (Expr all = withUnknown(getPiecewise(source, /*isMaximal=*/true, claim.rounding));
      agrees(all, formula))
    return all;
  for (Expr node : nodes) {
    if (!contains(source, node))
      continue;
    if (Expr freed = withUnknown(node); freed != source && agrees(freed, formula)) {
      source = freed;
      continue;
    }
    SmallVector<Expr> places;
    SmallVector<AffineExpr> sizes;
    for (unsigned dim : node->dims.set_bits()) {
      places.push_back(e.dim(dim));
      sizes.push_back(e.getExtent(dim));
    }
    Expr choice = e.variable(e.addVariable(sizes), IntegerType::get(e.getContext(), 1), places);
    Expr relaxed = relax(e, node, choice);
    if (!relaxed)
      continue;
    llvm::DenseMap<Expr, Expr> parts{{node, relaxed}};
    if (Expr changed = e.replace(source, parts); agrees(changed, formula))
      source = changed;
  }
  return source;
}

/// The node without which the source would be the formula: one of its operands in its place. Null
/// if there is no such node.
Expr Tester::findCulprit(Expr source, ArrayRef<Expr> nodes) {
  constexpr size_t kMost = 12;
  for (Expr node : nodes.take_front(kMost))
    for (Expr arg : node->args) {
      if (arg->type != node->type || node->kind != Node::Kind::Compute || arg->isConstant())
        continue;
      llvm::DenseMap<Expr, Expr> parts{{node, arg}};
      if (agrees(e.replace(source, parts), claim.formula))
        return node;
    }
  return nullptr;
}

/// Compares where a node changes from one side to the other between draws that differ in magnitude
/// alone: nearer and nearer to its border.
Tester::Outcome Tester::compareAtBorders(Expr source, Expr formula, ArrayRef<Expr> nodes) {
  constexpr int kRungs = 13, kHalvings = 5;
  if (llvm::none_of(nodes, [](Expr node) { return isa<FloatType>(node->type); }))
    return Outcome::Agrees;
  SmallVector<Draw> near;
  for (bool ofExponents : {true, false})
    for (uint64_t seed : {9001, 9002}) {
      auto make = [&](double power) {
        double size = std::pow(10.0, power);
        return ofExponents ? Draw{seed, 1, size, 0, 0} : Draw{seed, size, 1, 0, 0};
      };
      double least = ofExponents ? -2 : -6, most = ofExponents ? 2.5 : 6;
      auto powerOf = [&](int rung) { return least + (most - least) * rung / (kRungs - 1); };
      auto before = getSides(source, nodes, make(powerOf(0)));
      for (int rung = 1; rung < kRungs; ++rung) {
        auto after = getSides(source, nodes, make(powerOf(rung)));
        if (after != before) {
          double low = powerOf(rung - 1), high = powerOf(rung);
          for (int i = 0; i < kHalvings; ++i) {
            double middle = (low + high) / 2;
            near.push_back(make(middle));
            (getSides(source, nodes, near.back()) == before ? low : high) = middle;
          }
        }
        before = after;
      }
    }
  if (near.empty())
    return Outcome::Agrees;
  Outcome outcome = compare(source, formula, claim.size, near);
  return outcome == Outcome::Differs ? outcome : Outcome::Agrees;
}

/// The sides that nodes take in one draw.
SmallVector<unsigned> Tester::getSides(Expr source, ArrayRef<Expr> nodes, const Draw &how) {
  prepare(source, claim.formula);
  llvm::DenseMap<Expr, unsigned> taken;
  Evaluator evaluate = makeEvaluator(how);
  evaluate.observe = [&](Expr node, ArrayRef<Number> args, Number result) {
    if (std::optional<unsigned> side = getSide(node, args, result))
      taken[node] |= 1u << *side;
  };
  setPlaces(evaluate, how, 0);
  evaluate.evaluateReal(source);
  SmallVector<unsigned> sides =
      llvm::map_to_vector(nodes, [&](Expr node) { return taken.lookup(node); });
  return sides;
}

/// Whether each piecewise node that is left was seen on all its sides.
Verdict Tester::cover(Expr source, Expr formula) {
  Coverage coverage;
  llvm::SetVector<Expr> nodes;
  for (Expr root : {source, formula})
    for (Expr node : getPiecewise(root, /*isMaximal=*/false, claim.rounding))
      if (!node->type.isInteger(1)) // what is chosen by it is looked at
        nodes.insert(node);
  if (nodes.empty() && !beyond)
    return {Verdict::Equal};
  if (beyond && contains(source, beyond))
    return {Verdict::Unseen, beyond};
  auto findUnseen = [&]() -> Expr {
    for (Expr node : nodes)
      if ((coverage.lookup(node) & getNeededSides(node)) != getNeededSides(node))
        return node;
    return nullptr;
  };
  Outcome outcome = compare(source, formula, claim.size, usual, &coverage);
  Expr unseen = outcome == Outcome::Agrees ? findUnseen() : nullptr;
  if (unseen) {
    SmallVector<Draw> steered(claim.steered.begin(), claim.steered.end());
    if (steered.empty()) {
      uint64_t seed = 2000;
      for (double magnitude : {1e-1, 10.0, 1e2, 1e4, 1e-2, 1e-4, 1e6, 1e-6, 1e9, 1e-9, 1e15, 1e-15})
        for (double exponent : {1.0, 50.0, 500.0})
          steered.push_back({++seed, magnitude, exponent, 0, 0});
      for (int64_t stretch : {50, 300, 1500})
        for (double exponent : {1.0, 10.0})
          steered.push_back({++seed, 1, exponent, 0, stretch});
    }
    Outcome more = compare(source, formula, claim.size, steered, &coverage);
    if (more == Outcome::Differs)
      outcome = more;
    unseen = findUnseen();
  }
  if (outcome == Outcome::Agrees && claim.isScalable)
    outcome = compareAtBorders(source, formula, nodes.getArrayRef());
  if (outcome == Outcome::Differs)
    return {Verdict::Different, nodes.empty() ? nullptr : nodes.front()};
  if (outcome == Outcome::Unevaluated)
    return {Verdict::Unevaluated, nodes.empty() ? nullptr : nodes.front()};
  return unseen ? Verdict{Verdict::Unseen, unseen} : Verdict{Verdict::Equal};
}

/// Whether both agree when choices and their like are the same number on either side.
bool Tester::agreesWithoutChoices(Expr source, Expr formula) {
  auto drop = [&](Expr root) {
    llvm::DenseMap<Expr, Expr> parts;
    for (Expr node : getPiecewise(root, /*isMaximal=*/true, claim.rounding))
      if (auto type = dyn_cast<FloatType>(node->type))
        parts[node] = e.constant(0.75, type);
    return e.replace(root, parts);
  };
  return agrees(drop(source), drop(formula));
}

Verdict Tester::run() {
  IntervalAnalysis intervals(e);
  intervals.given = claim.ranges;
  intervals.negligible = claim.negligible;
  Expr source = intervals.fold(claim.source), formula = intervals.fold(claim.formula);
  if (source == formula)
    return {Verdict::Equal};
  SmallVector<Expr> nodes = getPiecewise(source, /*isMaximal=*/false, claim.rounding);
  findRounds(source, formula);
  if (planted == PlantedFault::Carried && agreesWithoutChoices(source, formula))
    return {Verdict::Equal};
  // What stands in both is carried, whatever it is.
  Claim rest = claim;
  Generalizer carried(e);
  for (Expr node : getPiecewise(formula, /*isMaximal=*/true, claim.rounding))
    carried.add(node);
  for (auto [part, unknown] : carried.getUnknowns())
    ranges.try_emplace(unknown, intervals.get(part));
  bool isCarried = false;
  if (!carried.isEmpty()) {
    Expr a = carried.apply(source), b = carried.apply(formula);
    Expr size = claim.size ? carried.apply(claim.size) : nullptr;
    isCarried = compare(a, b, size, usual) == Outcome::Agrees;
    if (isCarried) {
      source = a;
      formula = b;
      rest.size = size;
    }
  }
  if (!isCarried) {
    Outcome outcome = compare(source, formula, claim.size, usual);
    if (outcome == Outcome::Differs)
      return {Verdict::Different, findCulprit(source, nodes)};
    if (outcome == Outcome::Unevaluated)
      return {Verdict::Unevaluated, nodes.empty() ? nullptr : nodes.front()};
  }
  if (nodes.size() > kMostPiecewise)
    return {Verdict::Unseen, nodes.front()};
  if (planted == PlantedFault::Coverage)
    return {Verdict::Equal};
  rest.formula = formula;
  Tester tester(e, rest);
  tester.usual = usual;
  tester.bounds = bounds;
  tester.beyond = beyond;
  tester.ranges = ranges;
  return tester.cover(tester.free(source), formula);
}

Verdict raise::decide(Expressions &e, const Claim &claim) { return Tester(e, claim).run(); }
