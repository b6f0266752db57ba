// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folding of ops on scalars as they are made: constants, identities, and integers that stay index
// arithmetic. Rules are found by the op's name; each gives what the op is without it, or null.
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Evaluate.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Comparisons --------------------------------------------------------------------------===//

/// The signed comparison instead of an unsigned one.
static arith::CmpIPredicate toSigned(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::ult:
    return arith::CmpIPredicate::slt;
  case arith::CmpIPredicate::ule:
    return arith::CmpIPredicate::sle;
  case arith::CmpIPredicate::ugt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::uge:
    return arith::CmpIPredicate::sge;
  default:
    return predicate;
  }
}

static bool isEquality(arith::CmpIPredicate predicate) {
  return predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne;
}

/// A comparison of numbers that are so far apart; unsigned ones are of numbers below 2^63.
static bool decide(arith::CmpIPredicate predicate, int64_t difference) {
  return arith::applyCmpPredicate(toSigned(predicate), APInt(64, difference, /*isSigned=*/true),
                                  APInt(64, 0));
}

/// The value of a comparison of indices that holds for all of them, if it can be shown.
static std::optional<bool> decideByRange(Expressions &e, arith::CmpIPredicate predicate,
                                         AffineExpr difference) {
  if (std::optional<int64_t> number = getInteger(difference))
    return decide(predicate, *number);
  auto at = [&](int64_t number) { return getAffineConstantExpr(number, e.getContext()); };
  auto atLeast = [&](int64_t bound) { return e.isWithin(difference, at(bound), AffineExpr()); };
  auto below = [&](int64_t bound) { return e.isWithin(difference, AffineExpr(), at(bound)); };
  if (isEquality(predicate))
    return below(0) || atLeast(1) ? std::optional(predicate == arith::CmpIPredicate::ne)
                                  : std::nullopt;
  Order order = getOrder(predicate);
  if (!order.below && !order.above)
    return std::nullopt;
  if (below(order.getShift()))
    return order.below;
  return atLeast(order.getShift()) ? std::optional(order.above) : std::nullopt;
}

//===-- Rules --------------------------------------------------------------------------------===//

/// Folds one op on scalars.
class mlir::fovea::raise::Folder {
public:
  Folder(Expressions &e, StringAttr name, DictionaryAttr attrs, Type type, ArrayRef<Expr> args)
      : e(e), name(name), attrs(attrs), type(type), args(args) {}

  Expr run() {
    if (is<arith::SelectOp>())
      return foldSelect();
    if (std::optional<SmallVector<AffineExpr>> indices = getIndices())
      return foldIndices(*indices);
    if (Rule rule = getRule(name))
      if (Expr folded = (this->*rule)())
        return folded;
    if (Expr number = foldConstants())
      return number;
    return is<math::PowFOp>() ? foldPower() : Expr();
  }

private:
  using Rule = Expr (Folder::*)();

  template <typename OpT> bool is() const { return name.getValue() == OpT::getOperationName(); }

  /// The rules of ops that are neither choices nor arithmetic of indices.
  static Rule getRule(StringAttr name) {
    static const llvm::StringMap<Rule> kRules = {
        {"arith.andi", &Folder::foldAnd},
        {"arith.ori", &Folder::foldOr},
        {"arith.xori", &Folder::foldXor},
        {"arith.mulf", &Folder::foldProduct},
        {"arith.divf", &Folder::foldQuotient},
        {"arith.addf", &Folder::foldSum},
        {"arith.subf", &Folder::foldDifference},
        {"arith.cmpi", &Folder::foldComparison},
        {"arith.fptosi", &Folder::foldFloorOfQuotient},
        {"arith.extf", &Folder::foldCast},
        {"arith.truncf", &Folder::foldCast},
        {"arith.index_cast", &Folder::foldCast},
    };
    return kRules.lookup(name.getValue());
  }

  // Choices and booleans.
  Expr foldSelect();
  Expr foldMadePositive();
  Expr foldAnd() { return foldLogical(/*neutral=*/true); }
  Expr foldOr() { return foldLogical(/*neutral=*/false); }
  Expr foldLogical(bool neutral);
  Expr foldXor();

  // Floats.
  Expr foldNeutral(double neutral, bool commutes);
  Expr foldProduct() { return foldNeutral(1, /*commutes=*/true); }
  Expr foldQuotient() { return foldNeutral(1, /*commutes=*/false); }
  Expr foldSum() { return foldNeutral(0, /*commutes=*/true); }
  Expr foldDifference() { return foldNeutral(0, /*commutes=*/false); }
  Expr foldPower();
  Expr foldCast() { return args[0]->type == type ? args[0] : Expr(); }

  // Integers.
  std::optional<SmallVector<AffineExpr>> getIndices() const;
  Expr foldIndices(ArrayRef<AffineExpr> indices);
  Expr foldDivision(AffineExpr number, AffineExpr by);
  Expr foldExtreme(AffineExpr difference);
  Expr foldFloorOfQuotient();
  Expr getRemainder(Expr signedRemainder);

  // Comparisons of integers.
  Expr foldComparison();
  Expr compareIndices(arith::CmpIPredicate predicate, AffineExpr left, AffineExpr right);
  Expr compareBoolean(arith::CmpIPredicate predicate);

  Expr foldConstants();

  bool isNotNegative(AffineExpr expr) {
    return e.isWithin(expr, getAffineConstantExpr(0, e.getContext()), AffineExpr());
  }

  Expressions &e;
  StringAttr name;
  DictionaryAttr attrs;
  Type type;
  ArrayRef<Expr> args;
};

Expr Expressions::fold(StringAttr name, DictionaryAttr attrs, Type type, ArrayRef<Expr> args) {
  return Folder(*this, name, attrs, type, args).run();
}

//===-- Choices and booleans -----------------------------------------------------------------===//

Expr Folder::foldSelect() {
  if (args[1] == args[2])
    return args[1];
  if (args[0]->isConstant())
    return args[0]->integer ? args[1] : args[2];
  if (type.isInteger(1) && args[1]->isConstant() && args[2]->isConstant() && args[1]->integer)
    return args[0];
  return foldMadePositive();
}

/// A remainder that is made positive where it is not: r < 0 && r != 0 ? r + n : r.
Expr Folder::foldMadePositive() {
  if (!args[2]->is<arith::RemSIOp>() || !args[1]->is<arith::AddIOp>())
    return {};
  Expr condition = args[0], sum = args[1], remainder = args[2], by = remainder->args[1];
  Expr zero = e.constant(int64_t(0), type);
  Expr isNegative = e.compare(arith::CmpIPredicate::slt, remainder, zero);
  bool adds = (sum->args[0] == remainder && sum->args[1] == by) ||
              (sum->args[1] == remainder && sum->args[0] == by);
  bool asks =
      condition == isNegative ||
      (condition->is<arith::AndIOp>() && llvm::is_contained(condition->args, isNegative) &&
       llvm::is_contained(condition->args, e.compare(arith::CmpIPredicate::ne, remainder, zero)));
  return adds && asks ? getRemainder(remainder) : Expr();
}

/// `neutral`: the boolean that changes nothing; the other one decides.
Expr Folder::foldLogical(bool neutral) {
  if (!type.isInteger(1))
    return {};
  for (unsigned i : {0, 1})
    if (args[i]->isConstant())
      return (args[i]->integer != 0) == neutral ? args[1 - i] : args[i];
  return args[0] == args[1] ? args[0] : Expr();
}

Expr Folder::foldXor() {
  if (!type.isInteger(1))
    return {};
  if (args[0]->isConstant() && args[1]->isConstant())
    return e.constant(int64_t(args[0]->integer ^ args[1]->integer), type);
  for (unsigned i : {0, 1}) {
    if (!args[i]->isConstant())
      continue;
    Expr inner = args[1 - i];
    if (!args[i]->integer)
      return inner;
    // Twice not.
    if (inner->is<arith::XOrIOp>())
      for (unsigned j : {0, 1})
        if (inner->args[j]->isConstant() && inner->args[j]->integer)
          return inner->args[1 - j];
  }
  return {};
}

//===-- Floats -------------------------------------------------------------------------------===//

/// The operand that a number on the right, or on either side, leaves as it is.
Expr Folder::foldNeutral(double neutral, bool commutes) {
  auto isNeutral = [&](Expr arg) {
    return arg->isConstant() && arg->real && arg->real.getValueAsDouble() == neutral;
  };
  if (commutes && isNeutral(args[0]))
    return args[1];
  return isNeutral(args[1]) ? args[0] : Expr();
}

/// A power of a number is an exponential.
Expr Folder::foldPower() {
  if (!args[0]->isConstant() || args[0]->getNumber() <= 0)
    return {};
  Expr factor = e.constant(std::log(args[0]->getNumber()), cast<FloatType>(type));
  return e.compute<math::ExpOp>(type, {e.compute<arith::MulFOp>(type, {args[1], factor})});
}

//===-- Integers -----------------------------------------------------------------------------===//

/// The operands as index arithmetic, if the result is an integer and all of them are.
std::optional<SmallVector<AffineExpr>> Folder::getIndices() const {
  if (!isa<IndexType, IntegerType>(type) || type.isInteger(1))
    return std::nullopt;
  return e.affineOf(args);
}

/// Integer arithmetic on indices stays index arithmetic; widths are those of positions, which
/// nothing overflows.
Expr Folder::foldIndices(ArrayRef<AffineExpr> a) {
  bool isExtended = is<arith::ExtUIOp>();
  if (!isExtended && llvm::any_of(args, [](Expr arg) { return arg->type.isInteger(1); }))
    return {};
  if (isExtended || is<arith::IndexCastOp>() || is<arith::IndexCastUIOp>() ||
      is<arith::ExtSIOp>() || is<arith::TruncIOp>())
    return e.index(a[0], type);
  if (is<arith::AddIOp>())
    return e.index(a[0] + a[1], type);
  if (is<arith::SubIOp>())
    return e.index(a[0] - a[1], type);
  if (is<arith::MulIOp>() && (a[0].isSymbolicOrConstant() || a[1].isSymbolicOrConstant()))
    return e.index(a[0].isSymbolicOrConstant() ? a[1] * a[0] : a[0] * a[1], type);
  if (is<arith::MaxSIOp>() || is<arith::MinSIOp>())
    return foldExtreme(e.simplify(a[0] - a[1]));
  return a.size() == 2 && getInteger(a[1]).value_or(0) > 0 ? foldDivision(a[0], a[1]) : Expr();
}

/// A quotient or remainder by a positive number.
Expr Folder::foldDivision(AffineExpr number, AffineExpr by) {
  if (is<arith::FloorDivSIOp>())
    return e.index(number.floorDiv(by), type);
  if (is<arith::CeilDivSIOp>())
    return e.index(number.ceilDiv(by), type);
  if ((is<arith::DivSIOp>() || is<arith::DivUIOp>()) && isNotNegative(number))
    return e.index(number.floorDiv(by), type);
  if ((is<arith::RemSIOp>() || is<arith::RemUIOp>()) && isNotNegative(number))
    return e.index(number % by, type);
  return {};
}

/// The greater or the lesser, where the difference says which; where they are equal, either is
/// right.
Expr Folder::foldExtreme(AffineExpr difference) {
  bool isMin = is<arith::MinSIOp>();
  if (decideByRange(e, arith::CmpIPredicate::sle, difference) == true)
    return args[isMin ? 0 : 1];
  if (decideByRange(e, arith::CmpIPredicate::sge, difference) == true)
    return args[isMin ? 1 : 0];
  return {};
}

/// A quotient of places that is rounded down by hand: `floor` of a quotient of floats.
Expr Folder::foldFloorOfQuotient() {
  if (!args[0]->is<math::FloorOp>() || args[0]->type.getIntOrFloatBitWidth() < 32)
    return {};
  Expr quotient = args[0]->args[0];
  if (!quotient->is<arith::DivFOp>() || !quotient->args[0]->is<arith::SIToFPOp>() ||
      !quotient->args[1]->isConstant())
    return {};
  double by = quotient->args[1]->getNumber();
  AffineExpr places = quotient->args[0]->args[0]->getAffine();
  if (!places || by < 1 || by > (1 << 30) || by != std::floor(by))
    return {};
  return e.index(places.floorDiv(static_cast<int64_t>(by)), type);
}

/// Of the signed remainder of places by a positive number the one that is never negative.
Expr Folder::getRemainder(Expr signedRemainder) {
  if (!signedRemainder->is<arith::RemSIOp>())
    return {};
  AffineExpr places = signedRemainder->args[0]->getAffine();
  Expr by = signedRemainder->args[1];
  if (!places || !by->isConstant() || by->integer <= 0)
    return {};
  return e.index(places % by->integer, signedRemainder->type);
}

//===-- Comparisons of integers --------------------------------------------------------------===//

Expr Folder::foldComparison() {
  auto predicate = cast<arith::CmpIPredicateAttr>(attrs.get("predicate")).getValue();
  // A remainder with its dividend's sign is zero where the other one is.
  if (isEquality(predicate) && args[1]->isConstant() && args[1]->integer == 0)
    if (Expr remainder = getRemainder(args[0]))
      return e.compare(predicate, remainder, args[1]);
  AffineExpr left = args[0]->getAffine(), right = args[1]->getAffine();
  if (left && right)
    return compareIndices(predicate, left, right);
  if (args[0] == args[1])
    return e.constant(int64_t(decide(predicate, 0)), type);
  return args[1]->isConstant() ? compareBoolean(predicate) : Expr();
}

Expr Folder::compareIndices(arith::CmpIPredicate predicate, AffineExpr left, AffineExpr right) {
  if (std::optional<bool> decided = decideByRange(e, predicate, e.simplify(left - right)))
    return e.constant(int64_t(*decided), type);
  // Of numbers that are not negative the sign does not matter.
  arith::CmpIPredicate isSigned = toSigned(predicate);
  if (isSigned != predicate && isNotNegative(left) && isNotNegative(right))
    return e.compare(isSigned, args[0], args[1]);
  return {};
}

/// A boolean as a number, compared with another: m != 0 is m.
Expr Folder::compareBoolean(arith::CmpIPredicate predicate) {
  if (!args[0]->is<arith::ExtUIOp>() || !args[0]->args[0]->type.isInteger(1))
    return {};
  bool ifFalse = decide(predicate, 0 - args[1]->integer);
  bool ifTrue = decide(predicate, 1 - args[1]->integer);
  if (ifFalse == ifTrue)
    return e.constant(int64_t(ifTrue), type);
  Expr condition = args[0]->args[0];
  return ifTrue ? condition
                : e.compute<arith::XOrIOp>(type, {condition, e.constant(int64_t(1), type)});
}

//===-- Constants ----------------------------------------------------------------------------===//

Expr Folder::foldConstants() {
  if (args.empty() || !llvm::all_of(args, [](Expr arg) { return arg->isConstant(); }))
    return {};
  Node node;
  node.kind = Node::Kind::Compute;
  node.type = type;
  node.name = name;
  node.attrs = attrs;
  node.args.assign(args.begin(), args.end());
  std::optional<Number> number = Evaluator(e, /*seed=*/1).evaluate(e.intern(node));
  if (!number)
    return {};
  if (auto real = dyn_cast<FloatType>(type))
    return e.constant(number->real, real);
  return e.constant(number->integer, type);
}
