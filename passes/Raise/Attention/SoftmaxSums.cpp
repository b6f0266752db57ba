// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// (a P1 + b P2) V = a (P1 V) + b (P2 V), where factors do not depend on the keys: in that form each
// softmax is an attention by itself. Softmaxes must be tensors of their own; what else is added to
// them stays with them, and is refused or carried there.
#include "passes/Raise/Attention/SoftmaxSums.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Raise/Attention/AttentionForm.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {
/// What one softmax adds to the weights.
struct Term {
  Expr softmax = nullptr;
  Expr factor = nullptr; ///< null: one
  bool isNegative = false;
};

class Splitter {
public:
  explicit Splitter(linalg::LinalgOp op) : op(op), e(op.getContext()) {}

  SmallVector<Operation *> run() {
    if (!findKey())
      return {};
    for (unsigned weights : {0u, 1u}) {
      terms.clear();
      Expr whole = e.at(op->getOperand(weights), indicesOf(weights));
      if (addTerms(whole, {}) && terms.size() > 1)
        return build(weights);
    }
    return {};
  }

private:
  /// A dim for each loop; the one that is summed is the keys'. False if there are several, or the
  /// sum begins with something.
  bool findKey() {
    Value begin = op.getDpsInits()[0];
    auto fill = begin.getDefiningOp<linalg::FillOp>();
    if (op.getNumReductionLoops() != 1 || !op.hasPureTensorSemantics() ||
        !(matchPattern(begin, m_AnyZeroFloat()) ||
          (fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))))
      return false;
    dims.assign(op.getNumLoops(), std::nullopt);
    for (unsigned operand = 0; operand < 3; ++operand)
      for (auto [axis, loop] : llvm::enumerate(getMap(operand).getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(loop);
        if (!dim)
          return false;
        if (std::optional<unsigned> &place = dims[dim.getPosition()]; !place)
          place = e.addDim(e.getSize(op->getOperand(operand), axis));
      }
    if (llvm::is_contained(dims, std::nullopt))
      return false;
    SmallVector<unsigned> reductions;
    op.getReductionDims(reductions);
    key = *dims[reductions[0]];
    return true;
  }

  AffineMap getMap(unsigned operand) {
    return op.getMatchingIndexingMap(&op->getOpOperand(operand));
  }

  SmallVector<Expr> indicesOf(unsigned operand) {
    return llvm::map_to_vector(getMap(operand).getResults(), [&](AffineExpr loop) {
      return e.dim(*dims[cast<AffineDimExpr>(loop).getPosition()]);
    });
  }

  /// Whether all keys have it alike, and it is not what a softmax is divided by.
  bool isFactor(Expr root) {
    return !root->dependsOn(key) && llvm::none_of(collect(root), [&](Expr node) {
      return node->kind == Node::Kind::Reduce && hasExp(node->args[0], node->dim);
    });
  }

  /// False if a part is no softmax that is a tensor.
  bool addTerms(Expr part, Term so) {
    Expr inner = stripCasts(part);
    auto negated = [](Term term) {
      term.isNegative = !term.isNegative;
      return term;
    };
    auto times = [&](Expr factor, bool divides) {
      Term term = so;
      FloatType type = cast<FloatType>(inner->type);
      if (divides)
        factor = e.compute<arith::DivFOp>(type, {e.constant(1.0, type), factor});
      term.factor =
          so.factor ? e.compute<arith::MulFOp>(type, {e.convert(so.factor, type), factor}) : factor;
      return term;
    };
    if (inner->is<arith::AddFOp>())
      return addTerms(inner->args[0], so) && addTerms(inner->args[1], so);
    if (inner->is<arith::SubFOp>())
      return addTerms(inner->args[0], so) && addTerms(inner->args[1], negated(so));
    if (inner->is<arith::NegFOp>())
      return addTerms(inner->args[0], negated(so));
    if (inner->is<arith::MulFOp>())
      for (unsigned i : {0, 1})
        if (isFactor(inner->args[i]) && hasExp(inner->args[1 - i], key))
          return addTerms(inner->args[1 - i], times(inner->args[i], /*divides=*/false));
    if (inner->is<arith::DivFOp>() && isFactor(inner->args[1]))
      return addTerms(inner->args[0], times(inner->args[1], /*divides=*/true));
    if (!hasExp(inner, key) || !e.getHome(part).first)
      return false;
    so.softmax = part;
    terms.push_back(so);
    return true;
  }

  SmallVector<Operation *> build(unsigned weights) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto weightType = cast<RankedTensorType>(op->getOperand(weights).getType());
    SmallVector<Axis> axes;
    for (Expr index : indicesOf(weights))
      axes.push_back({cast<AffineDimExpr>(index->affine).getPosition()});
    Operation *before = op->getPrevNode();
    auto drop = [&]() -> SmallVector<Operation *> {
      while (op->getPrevNode() != before)
        op->getPrevNode()->erase();
      return {};
    };
    SmallVector<Operation *> products;
    SmallVector<Value> factors;
    SmallVector<AffineMap> maps(terms.size(), builder.getMultiDimIdentityMap(type.getRank()));
    for (const Term &term : terms) {
      auto [home, indices] = e.getHome(term.softmax);
      Value softmax = layOut(e, builder, loc, home, indices, axes);
      if (!softmax)
        return drop();
      softmax = toElementType(builder, loc, softmax, weightType.getElementType());
      if (softmax.getType() != weightType)
        softmax = tensor::CastOp::create(builder, loc, weightType, softmax);
      Operation *product = builder.clone(*op);
      product->setOperand(weights, softmax);
      products.push_back(product);
      if (!term.factor)
        continue;
      AffineMap map;
      factors.push_back(makeFactor(builder, term.factor, map));
      maps.push_back(map);
      if (!factors.back())
        return drop();
    }
    if (!llvm::all_of(products, isAttention))
      return drop();
    op->getResult(0).replaceAllUsesWith(add(builder, products, factors, maps));
    return products;
  }

  /// A factor as a tensor with those axes of the result that it has; `map` says which. Null if it
  /// cannot be written.
  Value makeFactor(OpBuilder &builder, Expr factor, AffineMap &map) {
    SmallVector<Axis> axes;
    SmallVector<AffineExpr> places;
    for (auto [axis, index] : llvm::enumerate(indicesOf(2)))
      if (unsigned dim = cast<AffineDimExpr>(index->affine).getPosition(); factor->dependsOn(dim)) {
        axes.push_back({dim});
        places.push_back(builder.getAffineDimExpr(axis));
      }
    map = AffineMap::get(indicesOf(2).size(), 0, places, builder.getContext());
    auto [home, indices] = e.getHome(factor);
    Value tensor = home ? layOut(e, builder, op.getLoc(), home, indices, axes) : Value();
    return tensor ? tensor : compute(e, builder, op.getLoc(), factor, axes);
  }

  /// The sum of the products times their factors.
  Value add(OpBuilder &builder, ArrayRef<Operation *> products, ArrayRef<Value> factors,
            ArrayRef<AffineMap> maps) {
    Location loc = op.getLoc();
    Value old = op->getResult(0);
    auto type = cast<RankedTensorType>(old.getType());
    SmallVector<Value> inputs = llvm::map_to_vector(
        products, [](Operation *product) -> Value { return product->getResult(0); });
    llvm::append_range(inputs, factors);
    SmallVector<AffineMap> all(maps);
    all.push_back(maps.front());
    Value empty = tensor::EmptyOp::create(
        builder, loc, tensor::getMixedSizes(builder, loc, inputs[0]), type.getElementType());
    SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
    auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
      Value sum;
      unsigned nextFactor = terms.size();
      for (auto [term, value] : llvm::zip(terms, args)) {
        Value one = value;
        if (term.factor) {
          Value factor = toElementType(b, loc, args[nextFactor++], type.getElementType());
          one = arith::MulFOp::create(b, loc, one, factor);
        }
        if (!sum)
          sum = term.isNegative ? arith::NegFOp::create(b, loc, one).getResult() : one;
        else
          sum = term.isNegative ? arith::SubFOp::create(b, loc, sum, one).getResult()
                                : arith::AddFOp::create(b, loc, sum, one).getResult();
      }
      linalg::YieldOp::create(b, loc, sum);
    };
    return linalg::GenericOp::create(builder, loc, type, inputs, empty, all, kinds, body)
        .getResult(0);
  }

  static bool isAttention(Operation *product) {
    Expressions e(product->getContext());
    Refusal refusal;
    Value result = product->getResult(0);
    return recognizeAttention(e, result, result, refusal).has_value();
  }

  linalg::LinalgOp op;
  Expressions e;
  SmallVector<std::optional<unsigned>> dims; ///< of the loops
  unsigned key = 0;
  SmallVector<Term> terms;
};
} // namespace

SmallVector<Operation *> raise::splitSoftmaxSum(Operation *product) {
  if (!isContraction(product) || product->getNumOperands() != 3)
    return {};
  return Splitter(cast<linalg::LinalgOp>(product)).run();
}
