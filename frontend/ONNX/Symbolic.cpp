// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on sizes. Refuses to guess: what it cannot decide stays an expression.
#include "frontend/ONNX/Symbolic.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fovea::onnx;

/// A hostile graph could square a sum again and again.
static constexpr size_t kMaxTerms = 256;

Sym Symbols::unique(Polynomial polynomial) {
  for (auto term = polynomial.terms.begin(); term != polynomial.terms.end();)
    term = term->second == 0 ? polynomial.terms.erase(term) : std::next(term);
  auto [entry, isNew] = polynomials.try_emplace(polynomial.terms);
  if (isNew) {
    polynomial.number = polynomials.size();
    entry->second = std::make_unique<Polynomial>(std::move(polynomial));
  }
  return entry->second.get();
}

Sym Symbols::monomial(const Product &product, int64_t coefficient) {
  Polynomial result;
  result.terms[product] = coefficient;
  return unique(std::move(result));
}

Sym Symbols::constant(int64_t value) { return monomial({}, value); }

Sym Symbols::size(StringRef name, std::function<Value(OpBuilder &)> make) {
  Factor &factor = factors.emplace_back();
  factor.name = name.str();
  factor.make = std::move(make);
  return monomial({static_cast<unsigned>(factors.size() - 1)});
}

Sym Symbols::data() {
  factors.emplace_back().op = Op::Data;
  return monomial({static_cast<unsigned>(factors.size() - 1)});
}

bool Symbols::isSize(Sym a) const {
  for (auto &[product, coefficient] : a->terms)
    for (unsigned factor : product)
      if (factors[factor].op == Op::Data ||
          llvm::any_of(factors[factor].operands, [&](Sym operand) { return !isSize(operand); }))
        return false;
  return true;
}

std::optional<int64_t> Symbols::known(Sym a) {
  if (a->terms.empty())
    return 0;
  if (a->terms.size() == 1 && a->terms.begin()->first.empty())
    return a->terms.begin()->second;
  return std::nullopt;
}

StringRef Symbols::nameOf(Sym a) const {
  if (a->terms.size() != 1 || a->terms.begin()->second != 1 || a->terms.begin()->first.size() != 1)
    return "";
  return factors[a->terms.begin()->first.front()].name;
}

Sym Symbols::add(Sym a, Sym b) {
  Polynomial result = *a;
  for (auto &[product, coefficient] : b->terms) {
    int64_t &sum = result.terms[product];
    hasOverflow |= __builtin_add_overflow(sum, coefficient, &sum);
  }
  return unique(std::move(result));
}

Sym Symbols::sub(Sym a, Sym b) { return add(a, mul(b, constant(-1))); }

Sym Symbols::mul(Sym a, Sym b) {
  Polynomial result;
  for (auto &[left, x] : a->terms)
    for (auto &[right, y] : b->terms) {
      Product product(left);
      product.append(right.begin(), right.end());
      llvm::sort(product);
      int64_t coefficient;
      hasOverflow |= __builtin_mul_overflow(x, y, &coefficient);
      int64_t &sum = result.terms[product];
      hasOverflow |= __builtin_add_overflow(sum, coefficient, &sum);
    }
  if (result.terms.size() > kMaxTerms) {
    hasOverflow = true;
    return constant(1);
  }
  return unique(std::move(result));
}

/// Of a sum's products the one of the highest degree, and of those the first: an order that
/// multiplying by a product keeps, as division of polynomials needs.
static auto leadingTerm(const std::map<Product, int64_t> &terms) {
  return std::min_element(terms.begin(), terms.end(), [](auto &a, auto &b) {
    return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a.first < b.first;
  });
}

Sym Symbols::divideExactly(Sym a, Sym b) {
  if (a == b && !a->terms.empty())
    return constant(1);
  if (b->terms.empty())
    return nullptr;
  auto divisor = leadingTerm(b->terms);
  Polynomial quotient;
  std::map<Product, int64_t> rest = a->terms;
  while (!rest.empty()) {
    auto leading = leadingTerm(rest);
    if (divisor->second == -1 || leading->second % divisor->second != 0 ||
        rest.size() > kMaxTerms || quotient.terms.size() == kMaxTerms)
      return nullptr;
    Product factors(leading->first);
    for (unsigned factor : divisor->first) {
      auto *at = llvm::find(factors, factor);
      if (at == factors.end())
        return nullptr;
      factors.erase(at);
    }
    int64_t number = quotient.terms[factors] = leading->second / divisor->second;
    for (auto &[product, coefficient] : b->terms) {
      Product taken(factors);
      taken.append(product.begin(), product.end());
      llvm::sort(taken);
      int64_t &left = rest[taken], times;
      if (__builtin_mul_overflow(number, coefficient, &times) ||
          __builtin_sub_overflow(left, times, &left))
        return nullptr;
      if (left == 0)
        rest.erase(taken);
    }
  }
  return unique(std::move(quotient));
}

Sym Symbols::factor(Op op, ArrayRef<Sym> operands) {
  auto [entry, isNew] = byOperands.try_emplace({op, SmallVector<Sym, 3>(operands)}, factors.size());
  if (isNew) {
    Factor &factor = factors.emplace_back();
    factor.op = op;
    factor.operands.assign(operands.begin(), operands.end());
  }
  return monomial({entry->second});
}

Sym Symbols::floorDiv(Sym a, Sym b) {
  std::optional<int64_t> x = known(a), y = known(b);
  if (y && *y == 0)
    return nullptr;
  if (x && y) {
    if (*y == -1)
      return sub(constant(0), a);
    int64_t quotient = *x / *y;
    return constant(quotient - (*x % *y != 0 && (*x < 0) != (*y < 0)));
  }
  if (Sym exact = divideExactly(a, b))
    return exact;
  return factor(Op::FloorDiv, {a, b});
}

Sym Symbols::mod(Sym a, Sym b) {
  std::optional<int64_t> x = known(a), y = known(b);
  if (y && *y == 0)
    return nullptr;
  if ((x && y) || divideExactly(a, b))
    return sub(a, mul(floorDiv(a, b), b));
  return factor(Op::Mod, {a, b});
}

Sym Symbols::extremum(Op op, Sym a, Sym b) {
  Sym difference = sub(a, b);
  bool isMin = op == Op::Min;
  if (std::optional<int64_t> low = lowerBound(difference); low && *low >= 0)
    return isMin ? b : a;
  if (std::optional<int64_t> high = upperBound(difference); high && *high <= 0)
    return isMin ? a : b;
  return a->number < b->number ? factor(op, {a, b}) : factor(op, {b, a});
}

Sym Symbols::min(Sym a, Sym b) { return extremum(Op::Min, a, b); }
Sym Symbols::max(Sym a, Sym b) { return extremum(Op::Max, a, b); }

Sym Symbols::less(Sym a, Sym b) {
  Sym difference = sub(b, a);
  if (std::optional<int64_t> low = lowerBound(difference); low && *low > 0)
    return constant(1);
  if (std::optional<int64_t> high = upperBound(difference); high && *high <= 0)
    return constant(0);
  return factor(Op::Less, {a, b});
}

Sym Symbols::equal(Sym a, Sym b) {
  if (a == b)
    return constant(1);
  Sym difference = sub(a, b);
  std::optional<int64_t> low = lowerBound(difference), high = upperBound(difference);
  if ((low && *low > 0) || (high && *high < 0))
    return constant(0);
  return factor(Op::Equal, {a, b});
}

Sym Symbols::select(Sym condition, Sym a, Sym b) {
  if (std::optional<int64_t> decided = known(condition))
    return *decided ? a : b;
  return a == b ? a : factor(Op::Select, {condition, a, b});
}

std::optional<int64_t> Symbols::factorBound(unsigned number, bool isLower) const {
  const Factor &factor = factors[number];
  auto of = [&](unsigned i) { return bound(factor.operands[i], isLower); };
  switch (factor.op) {
  case Op::Size:
    return isLower ? std::optional<int64_t>(1) : std::nullopt;
  case Op::Data:
    return std::nullopt;
  case Op::Less:
  case Op::Equal:
    return isLower ? 0 : 1;
  case Op::Min:
  case Op::Max: {
    std::optional<int64_t> a = of(0), b = of(1);
    if (a && b)
      return factor.op == Op::Min ? std::min(*a, *b) : std::max(*a, *b);
    // One operand alone bounds an extremum on one side.
    return isLower == (factor.op == Op::Max) ? (a ? a : b) : std::nullopt;
  }
  case Op::Select: {
    std::optional<int64_t> a = of(1), b = of(2);
    return a && b ? std::optional<int64_t>(isLower ? std::min(*a, *b) : std::max(*a, *b))
                  : std::nullopt;
  }
  case Op::FloorDiv: {
    std::optional<int64_t> divisor = lowerBound(factor.operands[1]), dividend = of(0);
    if (divisor && *divisor > 0 && dividend && *dividend >= 0)
      return isLower ? 0 : *dividend / *divisor;
    return std::nullopt;
  }
  case Op::Mod: {
    std::optional<int64_t> low = lowerBound(factor.operands[1]);
    if (!low || *low <= 0)
      return std::nullopt;
    if (isLower)
      return 0;
    std::optional<int64_t> high = upperBound(factor.operands[1]);
    return high ? std::optional<int64_t>(*high - 1) : std::nullopt;
  }
  }
  return std::nullopt;
}

std::optional<int64_t> Symbols::bound(Sym a, bool isLower) const {
  int64_t result = 0;
  for (auto &[product, coefficient] : a->terms) {
    // Products of bounds need factors that are not negative.
    bool wantsLower = isLower == (coefficient > 0);
    int64_t value = 1;
    for (unsigned factor : product) {
      std::optional<int64_t> low = factorBound(factor, true);
      std::optional<int64_t> end = wantsLower ? low : factorBound(factor, false);
      if (!end || (!low && product.size() > 1) || (low && *low < 0 && product.size() > 1) ||
          __builtin_mul_overflow(value, *end, &value))
        return std::nullopt;
    }
    if (__builtin_mul_overflow(value, coefficient, &value) ||
        __builtin_add_overflow(result, value, &result))
      return std::nullopt;
  }
  return result;
}

std::optional<int64_t> Symbols::lowerBound(Sym a) const { return bound(a, true); }
std::optional<int64_t> Symbols::upperBound(Sym a) const { return bound(a, false); }

Value Symbols::materializeFactor(unsigned number) {
  if (factors[number].value)
    return factors[number].value;
  SmallVector<Value> operands = llvm::map_to_vector(
      factors[number].operands, [&](Sym operand) { return materialize(operand); });
  Location loc = builder.getUnknownLoc();
  auto compare = [&](arith::CmpIPredicate predicate) {
    Value bit = arith::CmpIOp::create(builder, loc, predicate, operands[0], operands[1]);
    return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), bit).getResult();
  };
  Value result;
  switch (factors[number].op) {
  case Op::Size:
    result = factors[number].make(builder);
    break;
  case Op::Data:
    llvm_unreachable("a number of a tensor as a size");
  case Op::FloorDiv:
    result = arith::FloorDivSIOp::create(builder, loc, operands[0], operands[1]);
    break;
  case Op::Mod: {
    Value quotient = arith::FloorDivSIOp::create(builder, loc, operands[0], operands[1]);
    Value whole = arith::MulIOp::create(builder, loc, quotient, operands[1]);
    result = arith::SubIOp::create(builder, loc, operands[0], whole);
    break;
  }
  case Op::Min:
    result = arith::MinSIOp::create(builder, loc, operands[0], operands[1]);
    break;
  case Op::Max:
    result = arith::MaxSIOp::create(builder, loc, operands[0], operands[1]);
    break;
  case Op::Less:
    result = compare(arith::CmpIPredicate::slt);
    break;
  case Op::Equal:
    result = compare(arith::CmpIPredicate::eq);
    break;
  case Op::Select: {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value bit = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, operands[0], zero);
    result = arith::SelectOp::create(builder, loc, bit, operands[1], operands[2]);
    break;
  }
  }
  return factors[number].value = result;
}

Value Symbols::materialize(Sym a) {
  if (Value value = values.lookup(a))
    return value;
  Location loc = builder.getUnknownLoc();
  Value sum;
  // From the last product to the first: a constant, the empty product, comes at the end.
  for (auto &[product, coefficient] : llvm::reverse(a->terms)) {
    Value term;
    for (unsigned factor : product) {
      Value next = materializeFactor(factor);
      term = term ? arith::MulIOp::create(builder, loc, term, next).getResult() : next;
    }
    if (!term || coefficient != 1) {
      Value number = arith::ConstantIndexOp::create(builder, loc, coefficient);
      term = term ? arith::MulIOp::create(builder, loc, term, number).getResult() : number;
    }
    sum = sum ? arith::AddIOp::create(builder, loc, sum, term).getResult() : term;
  }
  if (!sum)
    sum = arith::ConstantIndexOp::create(builder, loc, 0);
  return values[a] = sum;
}

OpFoldResult Symbols::mixed(Sym a) {
  if (std::optional<int64_t> number = known(a))
    return builder.getIndexAttr(*number);
  return materialize(a);
}

SmallVector<OpFoldResult> Symbols::mixed(ArrayRef<Sym> sizes) {
  return llvm::map_to_vector(sizes, [&](Sym size) { return mixed(size); });
}

SmallVector<Value> Symbols::open(ArrayRef<Sym> sizes) {
  return llvm::map_to_vector(llvm::make_filter_range(sizes, [](Sym size) { return !known(size); }),
                             [&](Sym size) { return materialize(size); });
}
