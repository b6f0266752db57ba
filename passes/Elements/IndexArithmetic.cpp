// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic: affine expressions of dims and sizes, simplified by the ranges of dims; what a
// size is in terms of others, and the way back to values. Refuses to simplify what it cannot show.
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "passes/Elements/Expression.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Ranges -------------------------------------------------------------------------------===//

unsigned Expressions::addDim(AffineExpr extent) {
  extents.push_back(extent);
  return extents.size() - 1;
}

unsigned Expressions::bindDim(Operation *op, unsigned loop, AffineExpr extent) {
  auto [entry, isNew] = bound.try_emplace({op, loop});
  if (isNew)
    entry->second = addDim(extent);
  return entry->second;
}

/// The summands of an expression.
static void addSummands(AffineExpr expr, SmallVectorImpl<AffineExpr> &summands) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (sum && sum.getKind() == AffineExprKind::Add) {
    addSummands(sum.getLHS(), summands);
    addSummands(sum.getRHS(), summands);
    return;
  }
  summands.push_back(expr);
}

/// `expr / divisor` if the product is written in `expr`; null else.
static AffineExpr divideExactly(AffineExpr expr, AffineExpr divisor) {
  if (expr == divisor)
    return getAffineConstantExpr(1, expr.getContext());
  std::optional<int64_t> number = getInteger(expr), by = getInteger(divisor);
  if (number && by)
    return *number % *by == 0 ? getAffineConstantExpr(*number / *by, expr.getContext())
                              : AffineExpr();
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return {};
  if (AffineExpr left = divideExactly(product.getLHS(), divisor))
    return left * product.getRHS();
  if (AffineExpr right = divideExactly(product.getRHS(), divisor))
    return product.getLHS() * right;
  return {};
}

namespace {
/// Least and greatest value, where they are affine in symbols; null: not known.
struct Bounds {
  AffineExpr least, most; ///< both included
};
} // namespace

static Bounds getRange(AffineExpr expr, ArrayRef<AffineExpr> extents) {
  MLIRContext *context = expr.getContext();
  auto number = [&](int64_t n) { return getAffineConstantExpr(n, context); };
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    AffineExpr extent = extents[dim.getPosition()];
    return {number(0), extent ? extent - 1 : AffineExpr()};
  }
  if (expr.isSymbolicOrConstant())
    return {expr, expr};
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Bounds a = getRange(binary.getLHS(), extents), b = getRange(binary.getRHS(), extents);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return {a.least && b.least ? a.least + b.least : AffineExpr(),
            a.most && b.most ? a.most + b.most : AffineExpr()};
  case AffineExprKind::Mul: {
    AffineExpr factor = binary.getRHS();
    if (!factor.isSymbolicOrConstant()) {
      factor = binary.getLHS();
      std::swap(a, b);
    }
    if (!factor.isSymbolicOrConstant())
      return {};
    auto constant = dyn_cast<AffineConstantExpr>(factor);
    bool negative = constant && constant.getValue() < 0;
    // A symbol is a size or a first position: not negative.
    if (!constant && !isa<AffineSymbolExpr>(factor))
      return {};
    if (negative)
      std::swap(a.least, a.most);
    return {a.least ? a.least * factor : AffineExpr(), a.most ? a.most * factor : AffineExpr()};
  }
  case AffineExprKind::Mod:
    if (isa<AffineConstantExpr>(binary.getRHS()) || isa<AffineSymbolExpr>(binary.getRHS()))
      return {number(0), binary.getRHS() - 1};
    return {};
  case AffineExprKind::FloorDiv: {
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!divisor || divisor.getValue() <= 0)
      return {};
    return {a.least ? a.least.floorDiv(divisor) : AffineExpr(),
            a.most ? a.most.floorDiv(divisor) : AffineExpr()};
  }
  default:
    return {};
  }
}

/// Whether an expression of symbols is at least zero, if sizes are at least one and other index
/// values, first positions, at least zero.
static bool isNotNegative(AffineExpr expr, ArrayRef<SizeOrigin> symbols) {
  SmallVector<AffineExpr> summands;
  addSummands(expr, summands);
  int64_t least = 0;
  for (AffineExpr summand : summands) {
    if (auto number = dyn_cast<AffineConstantExpr>(summand)) {
      least += number.getValue();
      continue;
    }
    // A product of symbols and one number, or a division of one.
    int64_t factor = 1;
    bool sound = true, ofSizes = true;
    std::function<void(AffineExpr)> visit = [&](AffineExpr part) {
      if (auto number = dyn_cast<AffineConstantExpr>(part)) {
        factor *= number.getValue();
      } else if (auto binary = dyn_cast<AffineBinaryOpExpr>(part);
                 binary && part.getKind() == AffineExprKind::Mul) {
        visit(binary.getLHS());
        visit(binary.getRHS());
      } else if (auto symbol = dyn_cast<AffineSymbolExpr>(part)) {
        const SizeOrigin &origin = symbols[symbol.getPosition()];
        ofSizes &= origin.known || origin.axis >= 0;
      } else {
        sound = false;
      }
    };
    visit(summand);
    if (!sound || factor < 0)
      return false;
    least += ofSizes ? factor : 0;
  }
  return least >= 0;
}

/// A sum of products, in which equal products are one and opposite ones gone: (s0 - 1) * s1 + s1 is
/// s0 * s1.
static AffineExpr multiplyOut(AffineExpr expr) {
  // Numbers by products of atoms, which are in the order in which they were met.
  using Product = std::vector<unsigned>;
  using Sum = std::map<Product, int64_t>;
  llvm::SetVector<AffineExpr> atoms;
  std::function<Sum(AffineExpr)> visit = [&](AffineExpr part) -> Sum {
    if (auto number = dyn_cast<AffineConstantExpr>(part))
      return {{Product(), number.getValue()}};
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    Sum result;
    if (binary && part.getKind() == AffineExprKind::Add) {
      result = visit(binary.getLHS());
      for (auto &[product, factor] : visit(binary.getRHS()))
        result[product] += factor;
    } else if (binary && part.getKind() == AffineExprKind::Mul) {
      Sum left = visit(binary.getLHS()), right = visit(binary.getRHS());
      for (auto &[a, m] : left)
        for (auto &[b, n] : right) {
          Product product = a;
          product.insert(product.end(), b.begin(), b.end());
          llvm::sort(product);
          result[product] += m * n;
        }
    } else {
      atoms.insert(part);
      result[{static_cast<unsigned>(llvm::find(atoms, part) - atoms.begin())}] = 1;
    }
    return result;
  };
  AffineExpr sum = getAffineConstantExpr(0, expr.getContext());
  for (auto &[product, factor] : visit(expr)) {
    if (factor == 0)
      continue;
    AffineExpr term = getAffineConstantExpr(factor, expr.getContext());
    for (unsigned atom : product)
      term = atoms[atom] * term;
    sum = sum + term;
  }
  return sum;
}

bool Expressions::isWithin(AffineExpr expr, AffineExpr lower, AffineExpr upper) {
  Bounds range = getRange(expr, extents);
  if (lower && (!range.least || !isNotNegative(multiplyOut(range.least - lower), symbols)))
    return false;
  if (upper && (!range.most || !isNotNegative(multiplyOut(upper - 1 - range.most), symbols)))
    return false;
  return true;
}

std::pair<std::optional<int64_t>, std::optional<int64_t>> Expressions::getBounds(AffineExpr expr) {
  Bounds range = getRange(expr, extents);
  std::optional<int64_t> most = range.most ? getInteger(simplify(range.most)) : std::nullopt;
  std::optional<int64_t> least = range.least ? getInteger(simplify(range.least)) : std::nullopt;
  // Sizes are at least one, first positions at least zero.
  for (int64_t bound : {1, 0, -1})
    if (!least && range.least && isNotNegative(multiplyOut(range.least - bound), symbols))
      least = bound;
  return {least, most};
}

std::optional<int64_t> Expressions::getFactor(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> left = getFactor(binary.getLHS(), dim),
                         right = getFactor(binary.getRHS(), dim);
  if (!left || !right)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add)
    return *left + *right;
  // Of a product, one side is a number; quotients and remainders are no sums of the dim.
  std::optional<int64_t> number = getInteger(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !number)
    return std::nullopt;
  return *left * *number;
}

/// Upstream's simplification, which for products of symbols may leave symbols of its own behind;
/// the expression as it is then.
static AffineExpr simplifyLinear(AffineExpr expr, unsigned dims, unsigned symbols) {
  AffineExpr simple = simplifyAffineExpr(expr, dims, symbols);
  bool sound = true;
  simple.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    auto dim = dyn_cast<AffineDimExpr>(part);
    sound &= !(symbol && symbol.getPosition() >= symbols) && !(dim && dim.getPosition() >= dims);
  });
  return sound ? simple : expr;
}

AffineExpr Expressions::simplify(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr left = simplify(binary.getLHS()), right = simplify(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    AffineExpr sum = simplifyLinear(left + right, extents.size(), symbols.size());
    // c * (x floordiv c) + x mod c is x.
    SmallVector<AffineExpr> summands;
    addSummands(sum, summands);
    for (auto [i, summand] : llvm::enumerate(summands)) {
      auto mod = dyn_cast<AffineBinaryOpExpr>(summand);
      if (!mod || mod.getKind() != AffineExprKind::Mod)
        continue;
      AffineExpr whole = mod.getLHS().floorDiv(mod.getRHS());
      for (auto [j, other] : llvm::enumerate(summands))
        if (other == whole * mod.getRHS() || other == mod.getRHS() * whole) {
          AffineExpr rest = mod.getLHS();
          for (auto [k, third] : llvm::enumerate(summands))
            if (k != i && k != j)
              rest = rest + third;
          return simplify(rest);
        }
    }
    return sum;
  }
  case AffineExprKind::Mul: {
    // Sums are multiplied out, so that divisions see the factors.
    if (!left.isSymbolicOrConstant() && !right.isSymbolicOrConstant())
      return left * right;
    if (left.isSymbolicOrConstant() && !right.isSymbolicOrConstant())
      std::swap(left, right);
    SmallVector<AffineExpr> summands;
    addSummands(left, summands);
    AffineExpr sum = getAffineConstantExpr(0, context);
    for (AffineExpr summand : summands)
      sum = sum + summand * right;
    return simplifyLinear(sum, extents.size(), symbols.size());
  }
  case AffineExprKind::FloorDiv:
  case AffineExprKind::Mod: {
    SmallVector<AffineExpr> summands;
    addSummands(left, summands);
    AffineExpr whole = getAffineConstantExpr(0, context), rest = whole;
    for (AffineExpr summand : summands) {
      if (AffineExpr quotient = divideExactly(summand, right))
        whole = whole + quotient;
      else
        rest = rest + summand;
    }
    bool isDivision = expr.getKind() == AffineExprKind::FloorDiv;
    AffineExpr zero = getAffineConstantExpr(0, context);
    if (isWithin(rest, zero, right))
      return isDivision ? simplify(whole) : rest;
    AffineExpr result = isDivision ? whole + rest.floorDiv(right) : rest % right;
    return simplifyLinear(result, extents.size(), symbols.size());
  }
  default:
    return left == binary.getLHS() && right == binary.getRHS()
               ? expr
               : getAffineBinaryOpExpr(expr.getKind(), left, right);
  }
}

//===-- Sizes --------------------------------------------------------------------------------===//

AffineExpr Expressions::getSize(Value tensor, int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return getAffineConstantExpr(type.getDimSize(axis), context);
  SizeOrigin origin = getSizeOrigin(tensor, axis);
  if (!origin.known && origin.axis < 0)
    return getSize(OpFoldResult(origin.value));
  if (auto number = dyn_cast_or_null<IntegerAttr>(origin.known))
    return getAffineConstantExpr(number.getInt(), context);
  if (!origin.known)
    if (Operation *op = origin.value.getDefiningOp())
      if (AffineExpr size = getComputedSize(op, origin.axis))
        return size;
  return getSymbolOf(origin);
}

/// A size that is a sum or product of others; null for all else.
AffineExpr Expressions::getComputedSize(Operation *op, int64_t axis) {
  return llvm::TypeSwitch<Operation *, AffineExpr>(op)
      .Case([&](tensor::ConcatOp concat) -> AffineExpr {
        AffineExpr sum = getAffineConstantExpr(0, context);
        for (Value input : concat.getInputs()) {
          AffineExpr size = getSize(input, axis);
          if (static_cast<int64_t>(concat.getDim()) != axis)
            return size;
          sum = sum + size;
        }
        return simplify(sum);
      })
      .Case([&](tensor::PadOp pad) {
        return simplify(getSize(pad.getSource(), axis) + getSize(pad.getMixedLowPad()[axis]) +
                        getSize(pad.getMixedHighPad()[axis]));
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        AffineExpr product = getAffineConstantExpr(1, context);
        SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
        for (int64_t source : groups[axis])
          product = product * getSize(collapse.getSrc(), source);
        return simplify(product);
      })
      .Case([&](tensor::ExtractSliceOp slice) -> AffineExpr {
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        for (int64_t source = 0; source < slice.getSourceType().getRank(); ++source)
          if (!dropped.test(source) && axis-- == 0)
            return getSize(slice.getMixedSizes()[source]);
        return {};
      })
      .Default([](Operation *) { return AffineExpr(); });
}

AffineExpr Expressions::getSymbolOf(const SizeOrigin &origin) {
  auto found = llvm::find(symbols, origin);
  if (found == symbols.end()) {
    symbols.push_back(origin);
    found = std::prev(symbols.end());
  }
  return getAffineSymbolExpr(found - symbols.begin(), context);
}

/// An argument's axis of this name (`fovea.dims`), in the function that is being built.
static std::pair<Value, int64_t> findNamed(OpBuilder &builder, StringAttr name) {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  if (!function)
    function = parent->getParentOfType<func::FuncOp>();
  for (BlockArgument argument : function.getArguments()) {
    auto dims =
        function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), FoveaDialect::kDimsAttr);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!dims || !type)
      continue;
    unsigned next = 0;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis) && dims[next++] == name)
        return {argument, axis};
  }
  llvm_unreachable("the name came from an argument");
}

Value Expressions::materialize(OpBuilder &builder, Location loc, AffineExpr expr, ValueRange dims,
                               OpBuilder *sizes) {
  OpBuilder &graph = sizes ? *sizes : builder;
  SmallVector<Value> symbolValues(symbols.size());
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    if (!symbol || symbolValues[symbol.getPosition()])
      return;
    const SizeOrigin &origin = symbols[symbol.getPosition()];
    auto [source, axis] = origin.known ? findNamed(graph, cast<StringAttr>(origin.known))
                                       : std::pair(origin.value, origin.axis);
    symbolValues[symbol.getPosition()] =
        axis < 0 ? source : tensor::DimOp::create(graph, loc, source, axis).getResult();
  });
  // What is not used needs some value.
  Value zero;
  for (Value &value : symbolValues)
    if (!value) {
      if (!zero)
        zero = arith::ConstantIndexOp::create(builder, loc, 0);
      value = zero;
    }
  return affine::expandAffineExpr(builder, loc, expr, dims, symbolValues);
}

/// Whether an expression is a sum of tensors' sizes, and so at least zero whatever is computed.
static bool isSumOfSizes(AffineExpr expr, ArrayRef<SizeOrigin> symbols) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    const SizeOrigin &origin = symbols[symbol.getPosition()];
    return origin.axis >= 0 || isa_and_nonnull<StringAttr>(origin.known);
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && llvm::is_contained({AffineExprKind::Add, AffineExprKind::Mul}, expr.getKind()) &&
         isSumOfSizes(binary.getLHS(), symbols) && isSumOfSizes(binary.getRHS(), symbols);
}

AffineExpr Expressions::getSize(OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return getAffineConstantExpr(*number, context);
  auto value = cast<Value>(size);
  if (Operation *op = value.getDefiningOp()) {
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
      AffineExpr a = getSize(op->getOperand(0)), b = getSize(op->getOperand(1));
      AffineExpr result = llvm::TypeSwitch<Operation *, AffineExpr>(op)
                              .Case([&](arith::AddIOp) { return a + b; })
                              .Case([&](arith::SubIOp) { return a - b; })
                              .Case([&](arith::MulIOp) { return a * b; })
                              .Case([&](arith::CeilDivSIOp) { return a.ceilDiv(b); })
                              .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) { return a % b; })
                              .Default([&](Operation *) { return a.floorDiv(b); });
      return simplify(result);
    }
    // As exporters clamp the bounds of slices.
    if (isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
      AffineExpr a = getSize(op->getOperand(0)), b = getSize(op->getOperand(1));
      bool isMin = isa<arith::MinSIOp>(op);
      if (isSumOfSizes(simplify(a - b), symbols))
        return isMin ? b : a;
      if (isSumOfSizes(simplify(b - a), symbols))
        return isMin ? a : b;
    }
    if (isa<arith::IndexCastOp>(op) ||
        isa<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastUIOp>(op))
      return getSize(op->getOperand(0));
  }
  SizeOrigin origin = getSizeOrigin(size);
  if (auto number = dyn_cast_or_null<IntegerAttr>(origin.known))
    return getAffineConstantExpr(number.getInt(), context);
  if (!origin.known && origin.axis < 0 && origin.value != value)
    return getSize(OpFoldResult(origin.value));
  return getSymbolOf(origin);
}
