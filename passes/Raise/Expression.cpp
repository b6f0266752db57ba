// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes of expressions: making them unique, folding what is trivial, ranges of index arithmetic.
#include "passes/Raise/Expression.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Nodes --------------------------------------------------------------------------------===//

double Node::getNumber() const {
  return real ? real.getValueAsDouble() : static_cast<double>(integer);
}

void Node::Profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(static_cast<int>(kind));
  id.AddPointer(type.getAsOpaquePointer());
  id.AddPointer(real.getAsOpaquePointer());
  id.AddInteger(integer);
  id.AddPointer(affine ? affine.getAsOpaquePointer() : nullptr);
  id.AddPointer(tensor.getAsOpaquePointer());
  id.AddPointer(name.getAsOpaquePointer());
  id.AddPointer(attrs.getAsOpaquePointer());
  id.AddInteger(static_cast<int>(combiner));
  id.AddInteger(dim);
  for (Expr arg : args)
    id.AddPointer(arg);
}

Expr Expressions::intern(Node &node) {
  llvm::FoldingSetNodeID id;
  node.Profile(id);
  void *where = nullptr;
  if (Node *found = nodes.FindNodeOrInsertPos(id, where))
    return found;
  node.dims.resize(0);
  auto add = [&](const llvm::SmallBitVector &dims) {
    if (node.dims.size() < dims.size())
      node.dims.resize(dims.size());
    node.dims |= dims;
  };
  for (Expr arg : node.args)
    add(arg->dims);
  if (node.affine)
    node.affine.walk([&](AffineExpr part) {
      auto position = dyn_cast<AffineDimExpr>(part);
      if (!position)
        return;
      if (node.dims.size() <= position.getPosition())
        node.dims.resize(position.getPosition() + 1);
      node.dims.set(position.getPosition());
    });
  if (node.kind == Node::Kind::Reduce && node.dim < node.dims.size())
    node.dims.reset(node.dim);
  owned.push_back(std::make_unique<Node>(std::move(node)));
  nodes.InsertNode(owned.back().get(), where);
  return owned.back().get();
}

Expr Expressions::index(AffineExpr affine, Type type) {
  affine = simplify(affine);
  if (!type)
    type = IndexType::get(context);
  if (auto number = dyn_cast<AffineConstantExpr>(affine))
    return constant(number.getValue(), type);
  Node node;
  node.kind = Node::Kind::Index;
  node.type = type;
  node.affine = affine;
  return intern(node);
}

Expr Expressions::constant(double value, FloatType type) {
  Node node;
  node.kind = Node::Kind::Constant;
  node.type = type;
  node.real = FloatAttr::get(type, value);
  return intern(node);
}

Expr Expressions::constant(int64_t value, Type type) {
  Node node;
  node.kind = Node::Kind::Constant;
  node.type = type;
  node.integer = type.isInteger(1) ? value & 1 : value;
  return intern(node);
}

Expr Expressions::element(Value tensor, ArrayRef<Expr> indices) {
  Node node;
  node.kind = Node::Kind::Element;
  node.type = cast<RankedTensorType>(tensor.getType()).getElementType();
  node.tensor = tensor;
  node.args.assign(indices.begin(), indices.end());
  return intern(node);
}

Expr Expressions::reduce(Combiner combiner, unsigned dim, Expr body) {
  Node node;
  node.kind = Node::Kind::Reduce;
  node.type = body->type;
  node.combiner = combiner;
  node.dim = dim;
  node.args = {body};
  return intern(node);
}

Expr Expressions::select(Expr condition, Expr yes, Expr no) {
  return compute<arith::SelectOp>(yes->type, {condition, yes, no});
}

Expr Expressions::compare(arith::CmpIPredicate predicate, Expr a, Expr b) {
  auto attrs = DictionaryAttr::get(
      context, NamedAttribute(StringAttr::get(context, "predicate"),
                              arith::CmpIPredicateAttr::get(context, predicate)));
  return compute<arith::CmpIOp>(IntegerType::get(context, 1), {a, b}, attrs);
}

//===-- Folding ------------------------------------------------------------------------------===//

/// Whether the node is index arithmetic, a constant integer included.
static bool isAffine(Expr expr) {
  return expr->kind == Node::Kind::Index || (expr->isConstant() && !expr->real);
}

static AffineExpr toAffine(Expr expr, MLIRContext *context) {
  return expr->kind == Node::Kind::Index ? expr->affine
                                         : getAffineConstantExpr(expr->integer, context);
}

std::optional<SmallVector<AffineExpr>> Expressions::affineOf(ArrayRef<Expr> indices) {
  SmallVector<AffineExpr> result;
  for (Expr index : indices) {
    if (!isAffine(index))
      return std::nullopt;
    result.push_back(toAffine(index, context));
  }
  return result;
}

static bool decide(arith::CmpIPredicate predicate, int64_t difference) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return difference == 0;
  case arith::CmpIPredicate::ne:
    return difference != 0;
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::ult:
    return difference < 0;
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::ule:
    return difference <= 0;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::ugt:
    return difference > 0;
  case arith::CmpIPredicate::sge:
  case arith::CmpIPredicate::uge:
    return difference >= 0;
  }
  llvm_unreachable("a predicate");
}

/// The value of a comparison of indices that holds for all of them, if it can be shown.
static std::optional<bool> decideByRange(Expressions &e, arith::CmpIPredicate predicate,
                                         AffineExpr difference) {
  MLIRContext *context = e.getContext();
  auto at = [&](int64_t number) { return getAffineConstantExpr(number, context); };
  if (auto number = dyn_cast<AffineConstantExpr>(difference))
    return decide(predicate, number.getValue());
  auto atLeast = [&](int64_t bound) { return e.isWithin(difference, at(bound), AffineExpr()); };
  auto below = [&](int64_t bound) { return e.isWithin(difference, AffineExpr(), at(bound)); };
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return below(0) ? std::optional(true) : atLeast(0) ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::sge:
    return atLeast(0) ? std::optional(true) : below(0) ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::sle:
    return below(1) ? std::optional(true) : atLeast(1) ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::sgt:
    return atLeast(1) ? std::optional(true) : below(1) ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::eq:
    return below(0) || atLeast(1) ? std::optional(false) : std::nullopt;
  case arith::CmpIPredicate::ne:
    return below(0) || atLeast(1) ? std::optional(true) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The signed comparison instead of an unsigned one.
static std::optional<arith::CmpIPredicate> getSigned(arith::CmpIPredicate predicate) {
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
    return std::nullopt;
  }
}

static bool isReal(Expr expr, double number) {
  return expr->isConstant() && expr->real && expr->real.getValueAsDouble() == number;
}

/// What an op on these scalars is without it; null if it is needed.
Expr Expressions::fold(StringRef name, DictionaryAttr attrs, Type type, ArrayRef<Expr> args) {
  if (name == "arith.select") {
    if (args[1] == args[2])
      return args[1];
    if (args[0]->isConstant())
      return args[0]->integer ? args[1] : args[2];
    if (type.isInteger(1) && args[1]->isConstant() && args[2]->isConstant() && args[1]->integer)
      return args[0];
    return {};
  }
  if (name == "arith.andi" && type.isInteger(1)) {
    for (unsigned i : {0, 1})
      if (args[i]->isConstant())
        return args[i]->integer ? args[1 - i] : args[i];
    return args[0] == args[1] ? args[0] : Expr();
  }
  if (name == "arith.ori" && type.isInteger(1)) {
    for (unsigned i : {0, 1})
      if (args[i]->isConstant())
        return args[i]->integer ? args[i] : args[1 - i];
    return args[0] == args[1] ? args[0] : Expr();
  }
  if (name == "arith.xori" && type.isInteger(1) && args[0]->isConstant() && args[1]->isConstant())
    return constant(int64_t(args[0]->integer ^ args[1]->integer), type);
  // Twice not.
  if (name == "arith.xori" && type.isInteger(1))
    for (unsigned i : {0, 1})
      if (args[i]->isConstant()) {
        if (!args[i]->integer)
          return args[1 - i];
        Expr inner = args[1 - i];
        if (inner->is<arith::XOrIOp>())
          for (unsigned j : {0, 1})
            if (inner->args[j]->isConstant() && inner->args[j]->integer)
              return inner->args[1 - j];
      }
  if (name == "arith.mulf")
    for (unsigned i : {0, 1})
      if (isReal(args[i], 1))
        return args[1 - i];
  if (name == "arith.divf" && isReal(args[1], 1))
    return args[0];
  if (name == "arith.addf")
    for (unsigned i : {0, 1})
      if (isReal(args[i], 0))
        return args[1 - i];
  if (name == "arith.subf" && isReal(args[1], 0))
    return args[0];

  // Integer arithmetic on indices stays index arithmetic; widths are those of positions, which
  // nothing overflows.
  if (isa<IndexType, IntegerType>(type) && !type.isInteger(1) && llvm::all_of(args, isAffine)) {
    SmallVector<AffineExpr> a;
    for (Expr arg : args) {
      if (arg->type.isInteger(1) && name != "arith.extui")
        return {};
      a.push_back(toAffine(arg, context));
    }
    if (name == "arith.index_cast" || name == "arith.extsi" || name == "arith.extui" ||
        name == "arith.trunci" || name == "arith.index_castui")
      return index(a[0], type);
    if (name == "arith.addi")
      return index(a[0] + a[1], type);
    if (name == "arith.subi")
      return index(a[0] - a[1], type);
    if (name == "arith.muli" && (a[0].isSymbolicOrConstant() || a[1].isSymbolicOrConstant()))
      return index(a[0].isSymbolicOrConstant() ? a[1] * a[0] : a[0] * a[1], type);
    bool positive = a.size() == 2 && isa<AffineConstantExpr>(a[1]) &&
                    cast<AffineConstantExpr>(a[1]).getValue() > 0;
    AffineExpr zero = getAffineConstantExpr(0, context);
    if (positive && name == "arith.floordivsi")
      return index(a[0].floorDiv(a[1]), type);
    if (positive && (name == "arith.divsi" || name == "arith.divui") &&
        isWithin(a[0], zero, AffineExpr()))
      return index(a[0].floorDiv(a[1]), type);
    if (positive && (name == "arith.remsi" || name == "arith.remui") &&
        isWithin(a[0], zero, AffineExpr()))
      return index(a[0] % a[1], type);
    if (positive && name == "arith.ceildivsi")
      return index(a[0].ceilDiv(a[1]), type);
    if (name == "arith.maxsi" || name == "arith.minsi") {
      // Where they are equal, either is right.
      AffineExpr difference = simplify(a[0] - a[1]);
      bool isMin = name == "arith.minsi";
      if (decideByRange(*this, arith::CmpIPredicate::sle, difference) == true)
        return args[isMin ? 0 : 1];
      if (decideByRange(*this, arith::CmpIPredicate::sge, difference) == true)
        return args[isMin ? 1 : 0];
    }
    return {};
  }
  if (name == "arith.cmpi" && isAffine(args[0]) && isAffine(args[1])) {
    auto predicate = cast<arith::CmpIPredicateAttr>(attrs.get("predicate")).getValue();
    AffineExpr difference = simplify(toAffine(args[0], context) - toAffine(args[1], context));
    if (std::optional<bool> decided = decideByRange(*this, predicate, difference))
      return constant(int64_t(*decided), type);
    // Of numbers that are not negative the sign does not matter.
    std::optional<arith::CmpIPredicate> isSigned = getSigned(predicate);
    AffineExpr zero = getAffineConstantExpr(0, context);
    if (isSigned && isWithin(toAffine(args[0], context), zero, AffineExpr()) &&
        isWithin(toAffine(args[1], context), zero, AffineExpr()))
      return compare(*isSigned, args[0], args[1]);
    return {};
  }
  // What is equal to itself, for integers.
  if (name == "arith.cmpi" && args[0] == args[1])
    return constant(
        int64_t(decide(cast<arith::CmpIPredicateAttr>(attrs.get("predicate")).getValue(), 0)),
        type);
  // A number of booleans: m != 0 of an extended boolean is the boolean.
  if (name == "arith.cmpi" && args[1]->isConstant() && args[0]->is<arith::ExtUIOp>() &&
      args[0]->args[0]->type.isInteger(1)) {
    auto predicate = cast<arith::CmpIPredicateAttr>(attrs.get("predicate")).getValue();
    bool ifFalse = decide(predicate, 0 - args[1]->integer);
    bool ifTrue = decide(predicate, 1 - args[1]->integer);
    if (ifFalse == ifTrue)
      return constant(int64_t(ifTrue), type);
    Expr condition = args[0]->args[0];
    return ifTrue ? condition
                  : compute<arith::XOrIOp>(type, {condition, constant(int64_t(1), type)});
  }
  if (args.size() == 1 && args[0]->type == type &&
      (name == "arith.extf" || name == "arith.truncf" || name == "arith.index_cast"))
    return args[0];
  if (!args.empty() && llvm::all_of(args, [](Expr arg) { return arg->isConstant(); })) {
    Node node;
    node.kind = Node::Kind::Compute;
    node.type = type;
    node.name = StringAttr::get(context, name);
    node.attrs = attrs;
    node.args.assign(args.begin(), args.end());
    if (std::optional<Number> number = Evaluator(*this, 1).evaluate(intern(node))) {
      if (auto real = dyn_cast<FloatType>(type))
        return constant(number->real, real);
      return constant(number->integer, type);
    }
  }
  // A power of a number is an exponential.
  if (name == "math.powf" && args[0]->isConstant() && args[0]->getNumber() > 0) {
    auto real = cast<FloatType>(type);
    Expr factor = constant(std::log(args[0]->getNumber()), real);
    return compute<math::ExpOp>(type, {compute<arith::MulFOp>(type, {args[1], factor})});
  }
  return {};
}

Expr Expressions::compute(StringAttr name, DictionaryAttr attrs, Type type, ArrayRef<Expr> args) {
  if (Expr folded = fold(name.getValue(), attrs, type, args))
    return folded;
  Node node;
  node.kind = Node::Kind::Compute;
  node.type = type;
  node.name = name;
  node.attrs = attrs;
  node.args.assign(args.begin(), args.end());
  return intern(node);
}

//===-- Replacing ----------------------------------------------------------------------------===//

/// Rebuilds an expression from its leaves, each node once.
class mlir::fovea::raise::Rebuilder {
public:
  /// `moves`: only indices change, so that the result's parts are elements of the same tensors.
  Rebuilder(Expressions &e, bool moves, std::function<Expr(Expr)> leaf)
      : e(e), moves(moves), leaf(std::move(leaf)) {}

  Expr operator()(Expr expr) {
    if (Expr found = done.lookup(expr))
      return found;
    Expr result = leaf(expr);
    if (!result) {
      result = rebuild(expr);
      inherit(expr, result);
    }
    return done[expr] = result;
  }

private:
  /// The new expression is an element of the old one's tensor, at indices that changed likewise.
  void inherit(Expr from, Expr to) {
    auto home = e.homes.find(from);
    if (from == to || home == e.homes.end() || e.homes.contains(to) || !moves)
      return;
    std::pair<Value, SmallVector<Expr>> copy = home->second;
    for (Expr &index : copy.second)
      index = (*this)(index);
    e.homes[to] = std::move(copy);
  }

  Expr rebuild(Expr expr) {
    SmallVector<Expr> args;
    for (Expr arg : expr->args)
      args.push_back((*this)(arg));
    switch (expr->kind) {
    case Node::Kind::Constant:
    case Node::Kind::Index:
      return expr;
    case Node::Kind::Element:
      return ArrayRef<Expr>(args) == ArrayRef<Expr>(expr->args) ? expr
                                                                : e.element(expr->tensor, args);
    case Node::Kind::Compute:
      return e.compute(expr->name, expr->attrs, expr->type, args);
    case Node::Kind::Reduce:
      return e.reduce(expr->combiner, expr->dim, args[0]);
    }
    llvm_unreachable("a kind");
  }

  Expressions &e;
  bool moves;
  std::function<Expr(Expr)> leaf;
  llvm::DenseMap<Expr, Expr> done;
};

Expr Expressions::substitute(Expr expr, const llvm::DenseMap<unsigned, Expr> &replacements) {
  Rebuilder rebuild(*this, /*moves=*/true, [&](Expr node) -> Expr {
    bool touched =
        llvm::any_of(replacements, [&](auto &entry) { return node->dependsOn(entry.first); });
    if (!touched)
      return node;
    if (node->kind != Node::Kind::Index)
      return {};
    SmallVector<AffineExpr> dims;
    for (unsigned d = 0; d < getNumDims(); ++d) {
      Expr other = replacements.lookup(d);
      dims.push_back(other ? toAffine(other, context) : getAffineDimExpr(d, context));
    }
    return index(node->affine.replaceDims(dims), node->type);
  });
  return rebuild(expr);
}

Expr Expressions::replace(Expr expr, const llvm::DenseMap<Expr, Expr> &parts) {
  Rebuilder rebuild(*this, /*moves=*/false, [&](Expr node) -> Expr { return parts.lookup(node); });
  return rebuild(expr);
}

std::pair<Value, SmallVector<Expr>> Expressions::getHome(Expr expr) const {
  auto found = homes.find(expr);
  if (found != homes.end())
    return found->second;
  if (expr->kind == Node::Kind::Element)
    return {expr->tensor, SmallVector<Expr>(ArrayRef<Expr>(expr->args))};
  return {};
}

//===-- Index arithmetic ---------------------------------------------------------------------===//

unsigned Expressions::addDim(AffineExpr extent) {
  extents.push_back(extent);
  return extents.size() - 1;
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
  if (auto number = dyn_cast<AffineConstantExpr>(divisor)) {
    int64_t d = number.getValue();
    if (auto value = dyn_cast<AffineConstantExpr>(expr))
      return value.getValue() % d == 0
                 ? getAffineConstantExpr(value.getValue() / d, expr.getContext())
                 : AffineExpr();
  }
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

//===-- Text ---------------------------------------------------------------------------------===//

void Expressions::print(Expr expr, llvm::raw_ostream &os) const {
  auto list = [&](StringRef open, StringRef close) {
    os << open;
    llvm::interleaveComma(expr->args, os, [&](Expr arg) { print(arg, os); });
    os << close;
  };
  switch (expr->kind) {
  case Node::Kind::Constant:
    if (expr->real)
      os << expr->getNumber();
    else
      os << expr->integer;
    return;
  case Node::Kind::Index:
    os << expr->affine;
    return;
  case Node::Kind::Element:
    if (auto argument = dyn_cast<BlockArgument>(expr->tensor))
      os << "arg" << argument.getArgNumber();
    else
      os << expr->tensor.getDefiningOp()->getName().stripDialect();
    return list("[", "]");
  case Node::Kind::Compute:
    os << OperationName(expr->name.getValue(), context).stripDialect();
    return list("(", ")");
  case Node::Kind::Reduce: {
    static constexpr const char *kNames[] = {"sum", "product", "max", "min", "all", "any"};
    os << kNames[static_cast<int>(expr->combiner)] << "_d" << expr->dim;
    return list("(", ")");
  }
  }
}
