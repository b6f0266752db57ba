// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nodes of expressions: making them unique, replacing parts, looking at them.
#include "passes/Elements/Expression.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Nodes --------------------------------------------------------------------------------===//

double Node::getNumber() const {
  return real ? real.getValueAsDouble() : static_cast<double>(integer);
}

AffineExpr Node::getAffine() const {
  if (kind == Kind::Index)
    return affine;
  return isConstant() && !real ? getAffineConstantExpr(integer, type.getContext()) : AffineExpr();
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
  id.AddInteger(variable);
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

Expr Expressions::variable(unsigned number, Type type, ArrayRef<Expr> places) {
  Node node;
  node.kind = Node::Kind::Variable;
  node.type = type;
  node.variable = number;
  node.args.assign(places.begin(), places.end());
  return intern(node);
}

/// Whether combining it changes nothing, however often.
static bool isNeutral(Combiner combiner, Expr expr) {
  if (!expr->isConstant())
    return false;
  switch (combiner) {
  case Combiner::Add:
  case Combiner::Or:
    return expr->getNumber() == 0;
  case Combiner::Mul:
  case Combiner::And:
    return expr->getNumber() == 1;
  case Combiner::Max:
  case Combiner::Min:
    return false;
  }
  llvm_unreachable("a combiner");
}

/// The sum over [0, extent) of a number for each place below an affine one: how positions are
/// counted from a mask of ones. Null for other sums.
Expr Expressions::countBelow(unsigned dim, Expr body) {
  Expr condition = nullptr;
  int64_t each = 1;
  if (body->is<arith::ExtUIOp>()) {
    condition = body->args[0];
  } else if (body->is<arith::SelectOp>() && body->args[1]->isConstant() &&
             body->args[2]->isConstant() && body->args[2]->integer == 0) {
    condition = body->args[0];
    each = body->args[1]->integer;
  }
  // No tensor has 2^31 places along an axis; narrower sums could pass the end of their type.
  auto type = dyn_cast<IntegerType>(body->type);
  bool fits = type && (type.getWidth() == 64 ? std::abs(each) < (int64_t(1) << 31)
                                             : type.getWidth() == 32 && each == 1);
  if (!condition || !fits || !condition->is<arith::CmpIOp>())
    return {};
  arith::CmpIPredicate predicate = getPredicate(condition);
  Expr place = condition->args[0], end = condition->args[1];
  if (end->dependsOn(dim)) {
    std::swap(place, end);
    predicate = mirror(predicate);
  }
  Order order = getOrder(predicate);
  AffineExpr last = end->getAffine();
  if (!order.below || !last || end->dependsOn(dim) ||
      place->getAffine() != getAffineDimExpr(dim, context))
    return {};
  AffineExpr count = simplify(last + order.getShift());
  if (!isWithin(count, getAffineConstantExpr(0, context), getExtent(dim) + 1))
    return {};
  return index(simplify(count * each), body->type);
}

Expr Expressions::reduce(Combiner combiner, unsigned dim, Expr body) {
  if (isNeutral(combiner, body))
    return body;
  if (Expr count = combiner == Combiner::Add ? countBelow(dim, body) : Expr())
    return count;
  Node node;
  node.kind = Node::Kind::Reduce;
  node.type = body->type;
  node.combiner = combiner;
  node.dim = dim;
  node.args = {body};
  return intern(node);
}

Expr Expressions::withArgs(Expr expr, ArrayRef<Expr> args) {
  switch (expr->kind) {
  case Node::Kind::Constant:
  case Node::Kind::Index:
    return expr;
  case Node::Kind::Element:
    return args == ArrayRef<Expr>(expr->args) ? expr : element(expr->tensor, args);
  case Node::Kind::Variable:
    return variable(expr->variable, expr->type, args);
  case Node::Kind::Compute:
    return compute(expr->name, expr->attrs, expr->type, args);
  case Node::Kind::Reduce:
    return reduce(expr->combiner, expr->dim, args[0]);
  }
  llvm_unreachable("a kind");
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

Expr Expressions::convert(Expr expr, FloatType type) {
  if (expr->type == type)
    return expr;
  return expr->type.getIntOrFloatBitWidth() < type.getWidth()
             ? compute<arith::ExtFOp>(type, {expr})
             : compute<arith::TruncFOp>(type, {expr});
}

//===-- Ops ----------------------------------------------------------------------------------===//

std::optional<SmallVector<AffineExpr>> Expressions::affineOf(ArrayRef<Expr> indices) {
  SmallVector<AffineExpr> result;
  for (Expr index : indices) {
    result.push_back(index->getAffine());
    if (!result.back())
      return std::nullopt;
  }
  return result;
}

/// The attributes without what only allows a compiler more: ops that compute the same are equal.
static DictionaryAttr dropFlags(DictionaryAttr attrs) {
  auto isFlag = [](NamedAttribute attr) {
    return attr.getName() == "fastmath" || attr.getName() == "overflowFlags";
  };
  if (llvm::none_of(attrs, isFlag))
    return attrs;
  SmallVector<NamedAttribute> rest;
  for (NamedAttribute attr : attrs)
    if (!isFlag(attr))
      rest.push_back(attr);
  return DictionaryAttr::get(attrs.getContext(), rest);
}

Expr Expressions::compute(StringAttr name, DictionaryAttr attrs, Type type, ArrayRef<Expr> args) {
  attrs = dropFlags(attrs);
  if (Expr folded = fold(name, attrs, type, args))
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
    if (Operation *op = from == to ? nullptr : e.origins.lookup(from))
      e.origins.insert({to, op});
    auto home = e.homes.find(from);
    if (from == to || home == e.homes.end() || e.homes.contains(to) || !moves)
      return;
    std::pair<Value, SmallVector<Expr>> copy = home->second;
    for (Expr &index : copy.second)
      index = (*this)(index);
    e.homes[to] = std::move(copy);
  }

  Expr rebuild(Expr expr) {
    SmallVector<Expr> args =
        llvm::map_to_vector(expr->args, [&](Expr arg) { return (*this)(arg); });
    return e.withArgs(expr, args);
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
    // What comes in must not be taken for what a reduction binds.
    bool isCaptured =
        node->kind == Node::Kind::Reduce && llvm::any_of(replacements, [&](auto &entry) {
          return node->dependsOn(entry.first) && entry.second->dependsOn(node->dim);
        });
    if (isCaptured) {
      llvm::DenseMap<unsigned, Expr> more = replacements;
      unsigned fresh = addDim(getExtent(node->dim));
      more[node->dim] = dim(fresh);
      return reduce(node->combiner, fresh, substitute(node->args[0], more));
    }
    if (node->kind != Node::Kind::Index)
      return {};
    SmallVector<AffineExpr> dims;
    for (unsigned d = 0; d < getNumDims(); ++d) {
      Expr other = replacements.lookup(d);
      dims.push_back(other ? other->getAffine() : getAffineDimExpr(d, context));
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

Operation *Expressions::getOrigin(Expr expr) const {
  for (Expr part : collect(expr)) {
    if (Operation *op = origins.lookup(part))
      return op;
    if (auto [tensor, indices] = getHome(part); tensor && tensor.getDefiningOp())
      return tensor.getDefiningOp();
  }
  return nullptr;
}

//===-- Looking at expressions ---------------------------------------------------------------===//

bool raise::isCast(Expr expr) { return expr->is<arith::ExtFOp, arith::TruncFOp>(); }

Expr raise::stripCasts(Expr expr) {
  while (isCast(expr))
    expr = expr->args[0];
  return expr;
}

Expr raise::stripIntegerCasts(Expr expr) {
  // Positions and ids fit into 32 bits, not into fewer.
  auto isWide = [](Type type) { return type.isIndex() || type.getIntOrFloatBitWidth() >= 32; };
  while (expr->is<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::TruncIOp>() &&
         isWide(expr->type))
    expr = expr->args[0];
  return expr;
}

bool raise::isExp(Expr expr) { return expr->is<math::ExpOp, math::Exp2Op>(); }

Expr raise::takeFactor(Expr expr, double &factor) {
  while (true) {
    expr = stripCasts(expr);
    if (expr->is<arith::MulFOp>() && expr->args[1]->isConstant()) {
      factor *= expr->args[1]->getNumber();
      expr = expr->args[0];
    } else if (expr->is<arith::MulFOp>() && expr->args[0]->isConstant()) {
      factor *= expr->args[0]->getNumber();
      expr = expr->args[1];
    } else if (expr->is<arith::DivFOp>() && expr->args[1]->isConstant()) {
      factor /= expr->args[1]->getNumber();
      expr = expr->args[0];
    } else if (expr->is<arith::NegFOp>()) {
      factor = -factor;
      expr = expr->args[0];
    } else {
      return expr;
    }
  }
}

SmallVector<Expr> raise::getExps(Expr root, unsigned dim) {
  SmallVector<Expr> exps;
  for (Expr node : collect(root, [&](Expr node) { return node->dependsOn(dim) && !isExp(node); }))
    if (isExp(node) && node->dependsOn(dim))
      exps.push_back(node);
  return exps;
}

bool raise::hasExp(Expr root, unsigned dim) { return !getExps(root, dim).empty(); }

bool raise::isSumOfExps(Expr expr) {
  return expr->kind == Node::Kind::Reduce && expr->combiner == Combiner::Add &&
         hasExp(expr->args[0], expr->dim);
}

Order raise::getOrder(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return {/*below=*/true, /*above=*/false, /*strict=*/true};
  case arith::CmpIPredicate::sle:
    return {/*below=*/true, /*above=*/false, /*strict=*/false};
  case arith::CmpIPredicate::sgt:
    return {/*below=*/false, /*above=*/true, /*strict=*/true};
  case arith::CmpIPredicate::sge:
    return {/*below=*/false, /*above=*/true, /*strict=*/false};
  default:
    return {};
  }
}

arith::CmpIPredicate raise::mirror(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  // Of eq, ne, slt, sle, sgt, sge, ult, ule, ugt and uge.
  constexpr P mirrored[] = {P::eq,  P::ne,  P::sgt, P::sge, P::slt,
                            P::sle, P::ugt, P::uge, P::ult, P::ule};
  return mirrored[static_cast<size_t>(predicate)];
}

arith::CmpIPredicate raise::getPredicate(Expr comparison) {
  return cast<arith::CmpIPredicateAttr>(comparison->attrs.get("predicate")).getValue();
}

SmallVector<Expr> raise::collect(Expr root, llvm::function_ref<bool(Expr)> enter) {
  llvm::SmallSetVector<Expr, 16> found;
  found.insert(root);
  for (size_t i = 0; i < found.size(); ++i) {
    Expr node = found[i];
    if (enter(node))
      found.insert(node->args.begin(), node->args.end());
  }
  return SmallVector<Expr>(found.takeVector());
}

SmallVector<Expr> raise::collect(Expr root) {
  return collect(root, [](Expr) { return true; });
}

bool raise::contains(Expr root, Expr part) { return llvm::is_contained(collect(root), part); }

bool raise::isPiecewise(Expr node) {
  if (node->kind == Node::Kind::Reduce)
    return node->combiner != Combiner::Add && node->combiner != Combiner::Mul;
  if (node->kind != Node::Kind::Compute)
    return false;
  // A float becomes another float: widening and arithmetic in f32 or more are exact but for
  // rounding, which is promised.
  if (node->is<arith::TruncFOp>())
    return cast<FloatType>(node->type).getWidth() < 32;
  // Positions and ids fit into 32 bits.
  if (node->is<arith::TruncIOp>())
    return node->type.getIntOrFloatBitWidth() < 32;
  if (node->is<arith::UIToFPOp, arith::SIToFPOp, arith::ExtUIOp, arith::ExtSIOp,
               arith::IndexCastUIOp, arith::IndexCastOp>())
    return node->args[0]->type.isInteger(1);
  static const llvm::StringSet<> names = {
      "arith.select",     "arith.cmpf",      "arith.cmpi",      "arith.maximumf", "arith.minimumf",
      "arith.maxnumf",    "arith.minnumf",   "arith.remf",      "arith.maxsi",    "arith.minsi",
      "arith.maxui",      "arith.minui",     "arith.divsi",     "arith.divui",    "arith.remsi",
      "arith.remui",      "arith.ceildivsi", "arith.ceildivui", "arith.shrsi",    "arith.shrui",
      "arith.floordivsi", "arith.fptosi",    "arith.fptoui",    "math.absf",      "math.absi",
      "math.floor",       "math.ceil",       "math.round",      "math.roundeven", "math.trunc",
      "math.isnan",       "math.isinf",      "math.isfinite",   "math.copysign",  "math.isnormal"};
  return names.contains(node->name.getValue());
}

std::optional<int64_t> raise::getInteger(AffineExpr expr) {
  auto number = dyn_cast<AffineConstantExpr>(expr);
  return number ? std::optional(number.getValue()) : std::nullopt;
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
  case Node::Kind::Variable:
    os << "u" << expr->variable;
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
