// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a number that is added to scores is a mask: (nearly) zero, or so low that it means "not
// at all". All that its conditions may decide is asked, whether or not small sizes can bring it
// about: `bias + (j > i + length - 4 ? -inf : 0)` is a bias, though few lengths let any be seen.
// Refuses what it cannot decide; then the number stays in the score's rule.
#include "passes/Raise/Predicates.h"
#include "passes/Raise/Score.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// Numbers that a mask has at most; more are a table.
static constexpr size_t kMostNumbers = 64;
/// Cases of all conditions that are asked, all of them or as many at random.
static constexpr uint64_t kMostCases = 512;

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
    APFloat value(real.getFloatSemantics(), integer);
    bool inexact;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    numbers.push_back({value.convertToDouble(), 0});
  }
  return numbers;
}

namespace {
/// What a number is made of: conditions and elements of tensors, each with all that it may be.
class Cases {
public:
  explicit Cases(Expressions &e) : e(e) {}

  bool hasPlaces = false;                   ///< it also depends on places by index arithmetic
  bool hasTables = false;                   ///< or on constants of many numbers
  SmallVector<Expr> parts;                  ///< those that vary
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
    if (x->kind != Node::Kind::Compute) {
      hasPlaces = true;
      return;
    }
    for (Expr arg : x->args)
      add(arg);
  }

  uint64_t count() const {
    uint64_t count = 1;
    for (const SmallVector<Number> &values : numbers)
      count = std::min<uint64_t>(count * values.size(), kMostCases + 1);
    return count;
  }

  /// What the parts are in a case; for more cases than are asked, at random.
  void choose(uint64_t number, Evaluator &evaluate) const {
    bool isAll = count() <= kMostCases;
    for (auto [i, part] : llvm::enumerate(parts)) {
      uint64_t many = numbers[i].size();
      uint64_t bits =
          isAll ? number
                : ((number + 1) * 0x9e3779b97f4a7c15ull ^ (i + 1) * 0xbf58476d1ce4e5b9ull) *
                          0x94d049bb133111ebull >>
                      33;
      evaluate.assumed[part] = numbers[i][bits % many];
      number /= isAll ? many : 1;
    }
  }

private:
  static bool isJunction(Expr x) {
    return x->is<arith::AndIOp>() || x->is<arith::OrIOp>() || x->is<arith::XOrIOp>() ||
           x->is<arith::SelectOp>();
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
    vary(x, {{0, 0}, {1, 1}});
  }

  /// Whether the parts decide a condition, both ways.
  bool canDecide(Expr condition) const {
    if (hasPlaces || hasTables || count() > kMostNumbers)
      return false;
    bool seen[2] = {false, false};
    for (uint64_t i = 0; i < count(); ++i) {
      Evaluator evaluate(e, 1);
      choose(i, evaluate);
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

std::optional<double> raise::getAdditiveMask(Expressions &e, Expr expr, double sign) {
  Cases cases(e);
  cases.add(expr);
  if (cases.hasTables)
    return std::nullopt;
  // Of comparisons one may imply another.
  Predicates predicates(e);
  SmallVector<std::array<std::pair<Expr, int64_t>, 2>> impossible;
  auto exclude = [&](Expr a, int64_t x, Expr b, int64_t y) {
    Expr left = x ? a : predicates.negate(a), right = y ? predicates.negate(b) : b;
    if (predicates.implies(left, right))
      impossible.push_back({std::pair(a, x), std::pair(b, y)});
  };
  for (auto [i, a] : llvm::enumerate(cases.parts))
    for (Expr b : ArrayRef(cases.parts).take_front(i))
      if (a->is<arith::CmpIOp>() && b->is<arith::CmpIOp>())
        for (int64_t x : {0, 1})
          for (int64_t y : {0, 1})
            exclude(a, x, b, y);

  std::optional<double> low;
  bool sawZero = false;
  uint64_t count = std::min(cases.count(), kMostCases);
  int places = !cases.hasPlaces ? 1 : count <= 16 ? 24 : 6;
  for (uint64_t i = 0; i < count; ++i) {
    Evaluator evaluate(e, 77 * i + 1);
    cases.choose(i, evaluate);
    if (llvm::any_of(impossible, [&](auto &pair) {
          return llvm::all_of(
              pair, [&](auto &one) { return evaluate.assumed[one.first].integer == one.second; });
        }))
      continue;
    evaluate.given = [&](Value tensor, ArrayRef<int64_t> indices) -> std::optional<Number> {
      if (isa_and_nonnull<arith::ConstantOp>(tensor.getDefiningOp()))
        return std::nullopt;
      uint64_t bits = mix(i, e.getNumber(tensor), indices);
      int64_t bit = (bits >> 7) & 1;
      return Number{static_cast<double>(bit), bit};
    };
    for (int n = 0; n < places; ++n) {
      evaluate.place.assign(e.getNumDims(), 0);
      for (unsigned dim : expr->dims.set_bits()) {
        int64_t extent = std::max<int64_t>(evaluate.getExtent(dim), 1);
        evaluate.place[dim] = n == 0   ? 0
                              : n == 1 ? extent - 1
                                       : static_cast<int64_t>((mix(i, n, {dim}) >> 33) % extent);
      }
      std::optional<double> value = evaluate.evaluateReal(expr);
      if (!value || std::isnan(*value))
        return std::nullopt;
      *value *= sign;
      if (std::fabs(*value) < 1e-3) {
        sawZero = true;
        continue;
      }
      if (*value > kVeryNegative)
        return std::nullopt;
      if (!low || *value > *low)
        low = value;
    }
  }
  return sawZero ? low : std::nullopt;
}
