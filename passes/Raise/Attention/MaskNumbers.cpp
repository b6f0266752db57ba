// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a number that is added to scores is a mask: zero, or so low that it means "not at all".
// Each case of its conditions is asked for, whether or not small sizes can bring it about:
// `bias + (j > i + length - 4 ? -inf : 0)` is a bias, though few lengths let any be seen. In each
// case the number's interval, over all places and sizes, decides. Refuses what that leaves open;
// then the number stays in the score's rule.
#include "passes/Elements/Evaluate.h"
#include "passes/Elements/Intervals.h"
#include "passes/Elements/Predicates.h"
#include "passes/Raise/Attention/Score.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// Numbers that a mask has at most; more are a table.
static constexpr size_t kMostNumbers = 64;
/// Cases of all conditions together.
static constexpr uint64_t kMostCases = 512;
/// What rounding leaves of zero, as in log(1 + 1e-9).
static constexpr double kNothing = 1e-6;

/// The numbers in a constant; nothing if it has more than a mask.
static std::optional<SmallVector<Number>> getNumbers(DenseElementsAttr dense) {
  SmallVector<Number> numbers;
  unsigned width = dense.getElementType().getIntOrFloatBitWidth();
  if (width == 1)
    return SmallVector<Number>{{0, 0}, {1, 1}};
  auto real = dyn_cast<FloatType>(dense.getElementType());
  if (width % 8 != 0 || width > 64)
    return std::nullopt;
  ArrayRef<char> data = dense.getRawData();
  SmallVector<uint64_t> seen;
  for (size_t at = 0; at + width / 8 <= data.size(); at += width / 8) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.data() + at, width / 8); // little-endian, as all that Fovea runs on
    if (llvm::is_contained(seen, bits))
      continue;
    if (seen.size() == kMostNumbers)
      return std::nullopt;
    seen.push_back(bits);
    APInt integer(width, bits);
    if (!real) {
      numbers.push_back({0, integer.getSExtValue()});
      continue;
    }
    numbers.push_back({APFloat(real.getFloatSemantics(), integer).convertToDouble(), 0});
  }
  return numbers;
}

namespace {
/// What a number is made of: conditions and elements of tensors, each with all that it may be.
class Cases {
public:
  explicit Cases(Expressions &e) : e(e) {}

  bool hasTables = false;  ///< it also depends on constants of many numbers
  bool hasFlags = false;   ///< or on tensors of floats, which masks fill with zeros and ones
  SmallVector<Expr> parts; ///< those that vary
  SmallVector<SmallVector<Number>> numbers; ///< what each may be

  void add(Expr x) {
    if (x->isConstant() || !visited.insert(x).second)
      return;
    if (x->kind == Node::Kind::Element)
      return addElement(x);
    if (x->type.isInteger(1) && !isJunction(x)) {
      // By itself only if it is of elements alone: then these decide it, and what else they are in.
      Cases inner(e);
      if (x->kind == Node::Kind::Compute)
        for (Expr arg : x->args)
          inner.add(arg);
      if (x->kind != Node::Kind::Compute || !inner.canDecide(x))
        return vary(x, {{0, 0}, {1, 1}});
      for (auto [part, values] : llvm::zip(inner.parts, inner.numbers))
        if (visited.insert(part).second)
          vary(part, values);
      return;
    }
    if (x->kind == Node::Kind::Compute)
      for (Expr arg : x->args)
        add(arg);
  }

  uint64_t count() const {
    uint64_t count = 1;
    for (const SmallVector<Number> &values : numbers)
      count = std::min<uint64_t>(count * values.size(), kMostCases + 1);
    return count;
  }

  /// What the parts are in a case.
  llvm::DenseMap<Expr, Number> choose(uint64_t number) const {
    llvm::DenseMap<Expr, Number> chosen;
    for (auto [i, part] : llvm::enumerate(parts)) {
      chosen[part] = numbers[i][number % numbers[i].size()];
      number /= numbers[i].size();
    }
    return chosen;
  }

private:
  static bool isJunction(Expr x) {
    return x->is<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp>();
  }

  void vary(Expr x, ArrayRef<Number> values) {
    parts.push_back(x);
    numbers.emplace_back(values.begin(), values.end());
  }

  void addElement(Expr x) {
    if (auto constant = x->tensor.getDefiningOp<arith::ConstantOp>())
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
        std::optional<SmallVector<Number>> values = getNumbers(dense);
        hasTables |= !values;
        return values ? vary(x, *values) : void();
      }
    hasFlags |= isa<FloatType>(x->type);
    vary(x, {{0, 0}, {1, 1}});
  }

  /// Whether the parts decide a condition, both ways.
  bool canDecide(Expr condition) const {
    auto isComputed = [](Expr part) { return part->kind == Node::Kind::Compute; };
    bool hasPlaces = llvm::any_of(collect(condition, isComputed), [](Expr part) {
      return part->kind == Node::Kind::Index || part->kind == Node::Kind::Reduce;
    });
    if (hasPlaces || hasTables || count() > kMostNumbers)
      return false;
    bool seen[2] = {false, false};
    for (uint64_t i = 0; i < count(); ++i) {
      Evaluator evaluate(e, 1);
      evaluate.assumed = choose(i);
      std::optional<Number> value = evaluate.evaluate(condition);
      if (!value)
        return false;
      seen[value->integer != 0] = true;
    }
    return seen[0] && seen[1];
  }

  Expressions &e;
  llvm::DenseSet<Expr> visited;
};
} // namespace

/// Pairs of cases of two comparisons that cannot be together.
static SmallVector<std::array<std::pair<Expr, int64_t>, 2>> findImpossible(Expressions &e,
                                                                           const Cases &cases) {
  Predicates predicates(e);
  SmallVector<std::array<std::pair<Expr, int64_t>, 2>> impossible;
  for (auto [i, a] : llvm::enumerate(cases.parts))
    for (Expr b : ArrayRef(cases.parts).take_front(i)) {
      if (!a->is<arith::CmpIOp>() || !b->is<arith::CmpIOp>())
        continue;
      for (int64_t x : {0, 1})
        for (int64_t y : {0, 1})
          if (predicates.implies(x ? a : predicates.negate(a), y ? predicates.negate(b) : b))
            impossible.push_back({std::pair(a, x), std::pair(b, y)});
    }
  return impossible;
}

std::optional<AdditiveMask> raise::getAdditiveMask(Expressions &e, Expr expr, double sign) {
  Cases cases(e);
  cases.add(expr);
  if (cases.hasTables || cases.count() > kMostCases)
    return std::nullopt;
  auto impossible = findImpossible(e, cases);
  AdditiveMask mask;
  mask.ofFlags = cases.hasFlags;
  bool isZero = false, isLow = false;
  for (uint64_t i = 0; i < cases.count(); ++i) {
    llvm::DenseMap<Expr, Number> chosen = cases.choose(i);
    if (llvm::any_of(impossible, [&](auto &pair) {
          return llvm::all_of(pair,
                              [&](auto &one) { return chosen[one.first].integer == one.second; });
        }))
      continue;
    IntervalAnalysis intervals(e);
    intervals.given = [&](Expr part) -> std::optional<Interval> {
      auto found = chosen.find(part);
      if (found == chosen.end())
        return std::nullopt;
      bool isReal = isa<FloatType>(part->type);
      return Interval::of(isReal ? found->second.real : double(found->second.integer));
    };
    Interval value = intervals.get(expr);
    double least = std::min(sign * value.least, sign * value.most);
    double most = std::max(sign * value.least, sign * value.most);
    if (value.mayBeNan)
      return std::nullopt;
    if (least >= -kNothing && most <= kNothing) {
      isZero = true;
    } else if (most <= kVeryNegative) {
      mask.low = isLow ? std::max(mask.low, most) : most;
      isLow = true;
    } else {
      return std::nullopt;
    }
  }
  return isZero && isLow ? std::optional(mask) : std::nullopt;
}
