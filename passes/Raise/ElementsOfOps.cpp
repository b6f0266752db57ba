// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element of an op's result in terms of its operands' elements, op by op. An op that is missing
// here is not looked into: raising then sees less, never something wrong.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Raise/Expression.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- What a body combines -----------------------------------------------------------------===//

namespace {
/// How a reduction's body takes its operands' elements into the result.
struct Combination {
  Combiner combiner;
  Value element; ///< what is combined with the result so far
};
} // namespace

static std::optional<Combination> getCombination(linalg::LinalgOp op, unsigned result) {
  Block *block = op.getBlock();
  BlockArgument sum = block->getArgument(op.getNumDpsInputs() + result);
  Value yielded = block->getTerminator()->getOperand(result);
  Operation *combine = yielded.getDefiningOp();
  if (!combine || combine->getNumOperands() != 2 || !sum.hasOneUse())
    return std::nullopt;
  bool first = combine->getOperand(0) == sum;
  if (!first && combine->getOperand(1) != sum)
    return std::nullopt;
  Value other = combine->getOperand(first ? 1 : 0);
  std::optional<Combiner> combiner =
      llvm::TypeSwitch<Operation *, std::optional<Combiner>>(combine)
          .Case<arith::AddFOp, arith::AddIOp>([](auto) { return Combiner::Add; })
          .Case<arith::MulFOp, arith::MulIOp>([](auto) { return Combiner::Mul; })
          .Case<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(
              [](auto) { return Combiner::Max; })
          .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(
              [](auto) { return Combiner::Min; })
          .Case([](arith::AndIOp op) {
            return op.getType().isInteger(1) ? std::optional(Combiner::And) : std::nullopt;
          })
          .Case([](arith::OrIOp op) {
            return op.getType().isInteger(1) ? std::optional(Combiner::Or) : std::nullopt;
          })
          .Default(std::nullopt);
  if (!combiner)
    return std::nullopt;
  return Combination{*combiner, other};
}

bool raise::isContraction(Operation *operation) {
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  std::optional<Combination> found = getCombination(op, 0);
  if (!found || found->combiner != Combiner::Add)
    return false;
  Operation *product = found->element.getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product))
    return false;
  // Both factors are the operands' elements, perhaps widened.
  llvm::SmallBitVector seen(2);
  for (Value factor : product->getOperands()) {
    while (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(factor.getDefiningOp()))
      factor = factor.getDefiningOp()->getOperand(0);
    auto argument = dyn_cast<BlockArgument>(factor);
    if (!argument || argument.getOwner() != op.getBlock() || argument.getArgNumber() > 1)
      return false;
    seen.set(argument.getArgNumber());
  }
  return seen.all();
}

//===-- Structured ops -----------------------------------------------------------------------===//

/// Whether a reduction starts from what changes nothing.
static bool startsNeutral(Combiner combiner, Value init) {
  auto fill = init.getDefiningOp<linalg::FillOp>();
  Attribute start;
  if (fill) {
    if (!matchPattern(fill.getInputs()[0], m_Constant(&start)))
      return false;
  } else {
    DenseElementsAttr dense;
    if (!matchPattern(init, m_Constant(&dense)) || !dense.isSplat())
      return false;
    start = dense.getSplatValue<Attribute>();
  }
  if (auto real = dyn_cast<FloatAttr>(start)) {
    double number = real.getValueAsDouble();
    switch (combiner) {
    case Combiner::Add:
      return number == 0;
    case Combiner::Mul:
      return number == 1;
    case Combiner::Max: // A type's least number will do: nothing that matters is below.
      return number <= -6e4;
    case Combiner::Min:
      return number >= 6e4;
    default:
      return false;
    }
  }
  auto integer = dyn_cast<IntegerAttr>(start);
  if (!integer)
    return false;
  const APInt &number = integer.getValue();
  switch (combiner) {
  case Combiner::Add:
  case Combiner::Or:
    return number.isZero();
  case Combiner::Mul:
  case Combiner::And:
    return number.isOne();
  case Combiner::Max:
    return number.isMinSignedValue();
  case Combiner::Min:
    return number.isMaxSignedValue();
  }
  llvm_unreachable("a combiner");
}

Expr Expressions::inBody(Value value, llvm::DenseMap<Value, Expr> &known, ArrayRef<Expr> loops) {
  if (Expr found = known.lookup(value))
    return found;
  Operation *op = value.getDefiningOp();
  // From outside of the body: a scalar or a whole tensor of the graph.
  if (!op || isa<arith::ConstantOp>(op) ||
      !isa<linalg::LinalgOp, tensor::GenerateOp>(op->getParentOp()))
    return scalar(value);
  Expr result = nullptr;
  if (auto loop = dyn_cast<linalg::IndexOp>(op)) {
    result = loop.getDim() < loops.size() ? loops[loop.getDim()] : Expr();
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Expr> indices;
    for (Value index : extract.getIndices()) {
      indices.push_back(inBody(index, known, loops));
      if (!indices.back())
        return {};
    }
    result = at(extract.getTensor(), indices);
  } else if (op->getNumRegions() == 0 && op->getNumResults() == 1 && isPure(op) &&
             isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    SmallVector<Expr> args;
    for (Value operand : op->getOperands()) {
      args.push_back(inBody(operand, known, loops));
      if (!args.back())
        return {};
    }
    result = compute(op->getName().getIdentifier(), op->getAttrDictionary(), value.getType(), args);
    origins.insert({result, op});
  }
  if (result)
    known[value] = result;
  return result;
}

/// An operand's indices from the loops'.
static SmallVector<Expr> applyMap(Expressions &e, AffineMap map, ArrayRef<Expr> loops) {
  SmallVector<Expr> indices;
  for (AffineExpr result : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(result)) {
      indices.push_back(loops[dim.getPosition()]);
      continue;
    }
    SmallVector<AffineExpr> dims;
    for (Expr loop : loops) {
      dims.push_back(loop ? loop->getAffine() : AffineExpr());
      if (!dims.back())
        return {};
    }
    indices.push_back(e.index(result.replaceDims(dims)));
  }
  return indices;
}

Expr Expressions::atStructured(OpResult result, ArrayRef<Expr> indices, bool isProduct) {
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  if (!op.hasPureTensorSemantics() || (isContraction(op) && !isProduct))
    return {};
  unsigned number = result.getResultNumber();
  AffineMap resultMap = op.getIndexingMapsArray()[op.getNumDpsInputs() + number];
  if (!resultMap.isProjectedPermutation())
    return {};
  SmallVector<Expr> loops(op.getNumLoops());
  for (auto [axis, expr] : llvm::enumerate(resultMap.getResults()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = indices[axis];

  // Loops that the result does not have are reductions; their sizes are an operand's.
  SmallVector<unsigned> reduced;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < loops.size(); ++loop) {
    if (loops[loop])
      continue;
    AffineExpr extent;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (auto [axis, expr] : llvm::enumerate(map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == loop && !extent)
          extent = getSize(operand.get(), axis);
    }
    if (!extent || kinds[loop] != utils::IteratorType::reduction)
      return {};
    // One element is no sum.
    if (extent == getAffineConstantExpr(1, context)) {
      loops[loop] = constant(int64_t(0), IndexType::get(context));
      reduced.push_back(~0u);
      continue;
    }
    reduced.push_back(bindDim(op, loop, extent));
    loops[loop] = dim(reduced.back());
  }

  Block *block = op.getBlock();
  llvm::DenseMap<Value, Expr> known;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->getOperandNumber() >= block->getNumArguments())
      return {};
    BlockArgument argument = block->getArgument(input->getOperandNumber());
    if (argument.use_empty())
      continue;
    Expr element = nullptr;
    if (isa<RankedTensorType>(input->get().getType())) {
      AffineMap map = op.getMatchingIndexingMap(input);
      SmallVector<Expr> at = applyMap(*this, map, loops);
      if (at.size() != map.getNumResults())
        return {};
      element = this->at(input->get(), at);
    } else {
      element = scalar(input->get());
    }
    known[argument] = element;
  }
  Value yielded = block->getTerminator()->getOperand(number);
  OpOperand *init = op.getDpsInitOperand(number);
  if (reduced.empty()) {
    // The result's old element, where the body looks at it.
    if (init->getOperandNumber() < block->getNumArguments()) {
      BlockArgument old = block->getArgument(init->getOperandNumber());
      if (!old.use_empty())
        known[old] = at(init->get(), indices);
    }
    return inBody(yielded, known, loops);
  }
  std::optional<Combination> combination = getCombination(op, number);
  if (!combination || !startsNeutral(combination->combiner, init->get()))
    return {};
  Expr expr = inBody(combination->element, known, loops);
  for (unsigned loop : llvm::reverse(reduced))
    if (expr && loop != ~0u)
      expr = reduce(combination->combiner, loop, expr);
  return expr;
}

Expr Expressions::product(Value tensor, ArrayRef<Expr> indices) {
  auto result = dyn_cast<OpResult>(tensor);
  if (!result)
    return {};
  if (isContraction(result.getOwner()))
    return atStructured(result, indices, /*isProduct=*/true);
  Expr expr = at(tensor, indices);
  return expr->kind == Node::Kind::Reduce && expr->combiner == Combiner::Add ? expr : Expr();
}

//===-- All ops ------------------------------------------------------------------------------===//

Expr Expressions::scalar(Value value) {
  Attribute attribute;
  if (matchPattern(value, m_Constant(&attribute))) {
    if (auto real = dyn_cast<FloatAttr>(attribute))
      return constant(real.getValueAsDouble(), cast<FloatType>(value.getType()));
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      return constant(integer.getValue().getSExtValue(), value.getType());
  }
  if (isa<IndexType>(value.getType()))
    return index(getSize(OpFoldResult(value)));
  Operation *op = value.getDefiningOp();
  if (auto extract = dyn_cast_or_null<tensor::ExtractOp>(op)) {
    SmallVector<Expr> indices;
    for (Value index : extract.getIndices())
      indices.push_back(scalar(index));
    return llvm::is_contained(indices, nullptr) ? Expr() : at(extract.getTensor(), indices);
  }
  if (op && op->getNumResults() == 1 && op->getNumRegions() == 0 && isPure(op) &&
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    SmallVector<Expr> args;
    for (Value operand : op->getOperands()) {
      args.push_back(scalar(operand));
      if (!args.back())
        return {};
    }
    return compute(op->getName().getIdentifier(), op->getAttrDictionary(), value.getType(), args);
  }
  return {};
}

Expr Expressions::at(Value tensor, ArrayRef<Expr> indices) {
  auto &known = memo[tensor];
  for (auto &[at, expr] : known)
    if (ArrayRef<Expr>(at) == indices)
      return expr;
  Expr expr = nullptr;
  if (auto result = dyn_cast<OpResult>(tensor))
    expr = atResult(result, indices);
  if (!expr)
    expr = element(tensor, indices);
  memo[tensor].push_back({SmallVector<Expr>(indices), expr});
  if (expr->kind != Node::Kind::Constant && expr->kind != Node::Kind::Index &&
      expr->kind != Node::Kind::Element)
    homes.insert({expr, {tensor, SmallVector<Expr>(indices)}});
  return expr;
}

/// The one of several axes that is not of size one.
static std::optional<int64_t> getOnlyAxis(ArrayRef<int64_t> axes,
                                          llvm::function_ref<AffineExpr(int64_t)> getSize) {
  std::optional<int64_t> only;
  for (int64_t axis : axes) {
    if (getInteger(getSize(axis)) == 1)
      continue;
    if (only)
      return std::nullopt;
    only = axis;
  }
  return only;
}

Expr Expressions::atResult(OpResult result, ArrayRef<Expr> indices) {
  Operation *op = result.getOwner();
  Type element = cast<RankedTensorType>(result.getType()).getElementType();
  Type indexType = IndexType::get(context);
  if (isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op))
    return atStructured(result, indices, /*isProduct=*/false);
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    SmallVector<Expr> args;
    for (Value operand : op->getOperands()) {
      Expr arg = isa<RankedTensorType>(operand.getType()) ? at(operand, indices) : scalar(operand);
      if (!arg)
        return {};
      args.push_back(arg);
    }
    Expr result = compute(op->getName().getIdentifier(), op->getAttrDictionary(), element, args);
    origins.insert({result, op});
    return result;
  }
  std::optional<SmallVector<AffineExpr>> affine = affineOf(indices);
  auto number = [&](int64_t n) { return getAffineConstantExpr(n, context); };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](arith::ConstantOp constantOp) { return atConstant(constantOp, indices); })
      .Case([&](linalg::FillOp fill) { return scalar(fill.getInputs()[0]); })
      .Case([&](tensor::SplatOp splat) { return scalar(splat.getInput()); })
      .Case([&](tensor::CastOp cast) {
        return isa<RankedTensorType>(cast.getSource().getType()) ? at(cast.getSource(), indices)
                                                                 : Expr();
      })
      .Case([&](DropoutOp dropout) { return at(dropout.getInput(), indices); })
      .Case([&](tensor::ExpandShapeOp expand) -> Expr {
        SmallVector<Expr> source;
        SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
        for (ArrayRef<int64_t> axes : expand.getReassociationIndices()) {
          // Beside axes of size one any index stays what it is.
          if (std::optional<int64_t> only =
                  getOnlyAxis(axes, [&](int64_t axis) { return getSize(sizes[axis]); })) {
            source.push_back(indices[*only]);
            continue;
          }
          AffineExpr place = number(0);
          for (int64_t axis : axes) {
            AffineExpr inner = indices[axis]->getAffine();
            if (!inner)
              return {};
            place = place * getSize(sizes[axis]) + inner;
          }
          source.push_back(index(place));
        }
        return at(expand.getSrc(), source);
      })
      .Case([&](tensor::CollapseShapeOp collapse) -> Expr {
        // Of rank 0, all axes are of size one and in no group.
        SmallVector<Expr> source(collapse.getSrcType().getRank(), constant(int64_t(0), indexType));
        for (auto [axis, axes] : llvm::enumerate(collapse.getReassociationIndices())) {
          if (std::optional<int64_t> only = getOnlyAxis(
                  axes, [&](int64_t inner) { return getSize(collapse.getSrc(), inner); })) {
            source[*only] = indices[axis];
            continue;
          }
          AffineExpr rest = indices[axis]->getAffine();
          if (!rest)
            return {};
          // The first axis of several that are not of size one needs no remainder.
          for (int64_t inner : llvm::reverse(axes)) {
            AffineExpr size = getSize(collapse.getSrc(), inner);
            if (size == number(1)) {
              source[inner] = constant(int64_t(0), indexType);
              continue;
            }
            bool isFirst = llvm::all_of(axes, [&](int64_t other) {
              return other >= inner || getSize(collapse.getSrc(), other) == number(1);
            });
            source[inner] = index(isFirst ? rest : rest % size);
            rest = isFirst ? number(0) : rest.floorDiv(size);
          }
        }
        return at(collapse.getSrc(), source);
      })
      .Case([&](tensor::ExtractSliceOp slice) -> Expr {
        if (!affine)
          return {};
        SmallVector<Expr> source;
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        unsigned next = 0;
        for (int64_t axis = 0; axis < slice.getSourceType().getRank(); ++axis) {
          AffineExpr offset = getSize(slice.getMixedOffsets()[axis]);
          if (dropped.test(axis)) {
            source.push_back(index(offset));
            continue;
          }
          source.push_back(
              index(offset + (*affine)[next++] * getSize(slice.getMixedStrides()[axis])));
        }
        return at(slice.getSource(), source);
      })
      .Case([&](tensor::InsertSliceOp slice) -> Expr {
        if (!affine || slice.getSourceType().getRank() != slice.getDestType().getRank())
          return {};
        SmallVector<Expr> source;
        Type boolean = IntegerType::get(context, 1);
        Expr inside = constant(int64_t(1), boolean);
        for (int64_t axis = 0; axis < slice.getDestType().getRank(); ++axis) {
          AffineExpr offset = getSize(slice.getMixedOffsets()[axis]);
          if (getConstantIntValue(slice.getMixedStrides()[axis]) != 1)
            return {};
          AffineExpr place = (*affine)[axis] - offset;
          AffineExpr size = getSize(slice.getMixedSizes()[axis]);
          source.push_back(index(place));
          inside = compute<arith::AndIOp>(
              boolean,
              {inside, compare(arith::CmpIPredicate::sge, source.back(), index(number(0)))});
          inside = compute<arith::AndIOp>(
              boolean, {inside, compare(arith::CmpIPredicate::slt, source.back(), index(size))});
        }
        return select(inside, at(slice.getSource(), source), at(slice.getDest(), indices));
      })
      .Case([&](tensor::ConcatOp concat) -> Expr {
        if (!affine)
          return {};
        int64_t axis = concat.getDim();
        // Where the index surely lies decides; else a choice for each border.
        SmallVector<std::pair<AffineExpr, Expr>> parts; // first place behind the part
        AffineExpr first = number(0);
        for (Value input : concat.getInputs()) {
          SmallVector<Expr> source(indices);
          source[axis] = index((*affine)[axis] - first);
          first = simplify(first + getSize(input, axis));
          parts.push_back({first, at(input, source)});
        }
        Expr expr = parts.back().second;
        for (auto &[end, part] : llvm::reverse(ArrayRef(parts).drop_back()))
          expr = select(compare(arith::CmpIPredicate::slt, indices[axis], index(end)), part, expr);
        return expr;
      })
      .Case([&](tensor::PadOp pad) -> Expr {
        Value value = pad.getConstantPaddingValue();
        Expr outside = value ? scalar(value) : Expr();
        if (!affine || !outside)
          return {};
        SmallVector<Expr> source;
        Type boolean = IntegerType::get(context, 1);
        Expr inside = constant(int64_t(1), boolean);
        for (int64_t axis = 0; axis < pad.getSourceType().getRank(); ++axis) {
          source.push_back(index((*affine)[axis] - getSize(pad.getMixedLowPad()[axis])));
          Expr size = index(getSize(pad.getSource(), axis));
          inside = compute<arith::AndIOp>(
              boolean,
              {inside, compare(arith::CmpIPredicate::sge, source.back(), index(number(0)))});
          inside = compute<arith::AndIOp>(
              boolean, {inside, compare(arith::CmpIPredicate::slt, source.back(), size)});
        }
        return select(inside, at(pad.getSource(), source), outside);
      })
      .Case([&](tensor::GenerateOp generate) -> Expr {
        llvm::DenseMap<Value, Expr> known;
        Block &block = generate.getBody().front();
        for (auto [argument, index] : llvm::zip(block.getArguments(), indices))
          known[argument] = index;
        return inBody(block.getTerminator()->getOperand(0), known, {});
      })
      .Case([&](linalg::SoftmaxOp softmax) -> Expr {
        int64_t axis = softmax.getDimension();
        unsigned all = bindDim(softmax, axis, getSize(softmax.getInput(), axis));
        SmallVector<Expr> each(indices);
        each[axis] = dim(all);
        Expr other = at(softmax.getInput(), each);
        Expr greatest = reduce(Combiner::Max, all, other);
        auto exp = [&](Expr x) {
          return compute<math::ExpOp>(element, {compute<arith::SubFOp>(element, {x, greatest})});
        };
        Expr sum = reduce(Combiner::Add, all, exp(other));
        return compute<arith::DivFOp>(element, {exp(at(softmax.getInput(), indices)), sum});
      })
      .Case([&](PositionsOp positions) -> Expr {
        if (!affine)
          return {};
        return index(getSize(OpFoldResult(positions.getFirst())) + (*affine)[1], element);
      })
      .Case([&](ActivationOp activation) -> Expr {
        Expr x = at(activation.getInput(), indices);
        auto real = dyn_cast<FloatType>(element);
        switch (activation.getKind()) {
        case ActivationKind::Tanh:
          return compute<math::TanhOp>(element, {x});
        case ActivationKind::Relu:
          return compute<arith::MaximumFOp>(element, {x, constant(0.0, real)});
        case ActivationKind::Sigmoid: {
          Expr one = constant(1.0, real);
          Expr exp = compute<math::ExpOp>(element, {compute<arith::NegFOp>(element, {x})});
          return compute<arith::DivFOp>(element,
                                        {one, compute<arith::AddFOp>(element, {one, exp})});
        }
        default:
          return {};
        }
      })
      .Default([](Operation *) { return Expr(); });
}
