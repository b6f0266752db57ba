// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element of an op's result in terms of its operands' elements, op by op. An op that is missing
// here is not looked into: raising then sees less, never something wrong.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Elements/Expression.h"
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
    SmallVector<Expr> indices =
        llvm::map_to_vector(extract.getIndices(), [&](Value index) { return scalar(index); });
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

/// An element of an op's result in terms of its operands' elements. Null if that cannot be said.
class mlir::fovea::raise::ElementReader {
public:
  ElementReader(Expressions &e, Type element, ArrayRef<Expr> indices)
      : e(e), element(element), indices(indices) {}

  Expr of(arith::ConstantOp op) { return e.atConstant(op, indices); }
  Expr of(linalg::FillOp fill) { return e.scalar(fill.getInputs()[0]); }
  Expr of(tensor::SplatOp splat) { return e.scalar(splat.getInput()); }
  Expr of(tensor::CastOp cast) {
    return isa<RankedTensorType>(cast.getSource().getType()) ? e.at(cast.getSource(), indices)
                                                             : Expr();
  }
  Expr of(DropoutOp dropout) { return e.at(dropout.getInput(), indices); }
  Expr of(tensor::ExpandShapeOp expand);
  Expr of(tensor::CollapseShapeOp collapse);
  Expr of(tensor::ExtractSliceOp slice);
  Expr of(tensor::InsertSliceOp slice);
  Expr of(tensor::ConcatOp concat);
  Expr of(tensor::PadOp pad);
  Expr of(tensor::GenerateOp generate);
  Expr of(linalg::SoftmaxOp softmax);
  Expr of(PositionsOp positions);
  Expr of(ActivationOp activation);
  Expr ofElementwise(Operation *op);

private:
  Expr anywhere(Value tensor);
  AffineExpr number(int64_t n) { return getAffineConstantExpr(n, e.getContext()); }
  Expr zero() { return e.constant(int64_t(0), IndexType::get(e.getContext())); }
  void expandPlace(Value tensor, ArrayRef<int64_t> axes, AffineExpr place,
                   SmallVectorImpl<Expr> &source);
  /// `so`, and 0 <= place < size.
  Expr addBounds(Expr so, Expr place, Expr size);

  Expressions &e;
  Type element;
  ArrayRef<Expr> indices;
};

Expr ElementReader::ofElementwise(Operation *op) {
  SmallVector<Expr> args;
  for (Value operand : op->getOperands()) {
    Expr arg =
        isa<RankedTensorType>(operand.getType()) ? e.at(operand, indices) : e.scalar(operand);
    if (!arg)
      return {};
    args.push_back(arg);
  }
  Expr result = e.compute(op->getName().getIdentifier(), op->getAttrDictionary(), element, args);
  e.origins.insert({result, op});
  return result;
}

//===-- Views --------------------------------------------------------------------------------===//

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

Expr ElementReader::of(tensor::ExpandShapeOp expand) {
  SmallVector<Expr> source;
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  for (ArrayRef<int64_t> axes : expand.getReassociationIndices()) {
    // Beside axes of size one any index stays what it is.
    if (std::optional<int64_t> only =
            getOnlyAxis(axes, [&](int64_t axis) { return e.getSize(sizes[axis]); })) {
      source.push_back(indices[*only]);
      continue;
    }
    AffineExpr place = number(0);
    for (int64_t axis : axes) {
      AffineExpr inner = indices[axis]->getAffine();
      if (!inner)
        return {};
      place = place * e.getSize(sizes[axis]) + inner;
    }
    source.push_back(e.index(place));
  }
  return e.at(expand.getSrc(), source);
}

Expr ElementReader::of(tensor::CollapseShapeOp collapse) {
  // Of rank 0, all axes are of size one and in no group.
  SmallVector<Expr> source(collapse.getSrcType().getRank(), zero());
  for (auto [axis, axes] : llvm::enumerate(collapse.getReassociationIndices())) {
    if (std::optional<int64_t> only =
            getOnlyAxis(axes, [&](int64_t inner) { return e.getSize(collapse.getSrc(), inner); })) {
      source[*only] = indices[axis];
      continue;
    }
    AffineExpr place = indices[axis]->getAffine();
    if (!place)
      return anywhere(collapse.getSrc());
    expandPlace(collapse.getSrc(), axes, place, source);
  }
  return e.at(collapse.getSrc(), source);
}

/// The constant that all elements are; null if there is none.
Expr ElementReader::anywhere(Value tensor) {
  SmallVector<Expr> places;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(tensor.getType()).getRank(); ++axis)
    places.push_back(e.index(getAffineDimExpr(axis, e.getContext())));
  Expr element = e.at(tensor, places);
  return element && element->isConstant() ? element : Expr();
}

/// The places along `axes` that were collapsed to `place`.
void ElementReader::expandPlace(Value tensor, ArrayRef<int64_t> axes, AffineExpr place,
                                SmallVectorImpl<Expr> &source) {
  for (int64_t axis : llvm::reverse(axes)) {
    AffineExpr size = e.getSize(tensor, axis);
    if (size == number(1)) {
      source[axis] = zero();
      continue;
    }
    // The first axis of several that are not of size one needs no remainder.
    bool isFirst = llvm::all_of(axes, [&](int64_t other) {
      return other >= axis || e.getSize(tensor, other) == number(1);
    });
    source[axis] = e.index(isFirst ? place : place % size);
    place = isFirst ? number(0) : place.floorDiv(size);
  }
}

Expr ElementReader::of(tensor::ExtractSliceOp slice) {
  std::optional<SmallVector<AffineExpr>> affine = e.affineOf(indices);
  if (!affine)
    return {};
  SmallVector<Expr> source;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  unsigned next = 0;
  for (int64_t axis = 0; axis < slice.getSourceType().getRank(); ++axis) {
    AffineExpr offset = e.getSize(slice.getMixedOffsets()[axis]);
    if (dropped.test(axis)) {
      source.push_back(e.index(offset));
      continue;
    }
    AffineExpr stride = e.getSize(slice.getMixedStrides()[axis]);
    source.push_back(e.index(offset + (*affine)[next++] * stride));
  }
  return e.at(slice.getSource(), source);
}

//===-- What is put together -----------------------------------------------------------------===//

Expr ElementReader::addBounds(Expr so, Expr place, Expr size) {
  Type boolean = IntegerType::get(e.getContext(), 1);
  so = e.compute<arith::AndIOp>(
      boolean, {so, e.compare(arith::CmpIPredicate::sge, place, e.index(number(0)))});
  return e.compute<arith::AndIOp>(boolean, {so, e.compare(arith::CmpIPredicate::slt, place, size)});
}

Expr ElementReader::of(tensor::InsertSliceOp slice) {
  std::optional<SmallVector<AffineExpr>> affine = e.affineOf(indices);
  if (!affine || slice.getSourceType().getRank() != slice.getDestType().getRank())
    return {};
  SmallVector<Expr> source;
  Expr inside = e.constant(int64_t(1), IntegerType::get(e.getContext(), 1));
  for (int64_t axis = 0; axis < slice.getDestType().getRank(); ++axis) {
    AffineExpr offset = e.getSize(slice.getMixedOffsets()[axis]);
    if (getConstantIntValue(slice.getMixedStrides()[axis]) != 1)
      return {};
    AffineExpr size = e.getSize(slice.getMixedSizes()[axis]);
    source.push_back(e.index((*affine)[axis] - offset));
    inside = addBounds(inside, source.back(), e.index(size));
  }
  return e.select(inside, e.at(slice.getSource(), source), e.at(slice.getDest(), indices));
}

Expr ElementReader::of(tensor::ConcatOp concat) {
  int64_t axis = concat.getDim();
  std::optional<SmallVector<AffineExpr>> affine = e.affineOf(indices);
  if (!affine)
    return {};
  // Where the index surely lies decides; else a choice for each border.
  SmallVector<std::pair<AffineExpr, Expr>> parts; // first place behind the part
  AffineExpr first = number(0);
  for (Value input : concat.getInputs()) {
    SmallVector<Expr> source(indices);
    source[axis] = e.index((*affine)[axis] - first);
    first = e.simplify(first + e.getSize(input, axis));
    parts.push_back({first, e.at(input, source)});
  }
  Expr expr = parts.back().second;
  for (auto &[end, part] : llvm::reverse(ArrayRef(parts).drop_back()))
    expr = e.select(e.compare(arith::CmpIPredicate::slt, indices[axis], e.index(end)), part, expr);
  return expr;
}

Expr ElementReader::of(tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  Expr outside = value ? e.scalar(value) : Expr();
  std::optional<SmallVector<AffineExpr>> affine = e.affineOf(indices);
  if (!affine || !outside)
    return {};
  SmallVector<Expr> source;
  Expr inside = e.constant(int64_t(1), IntegerType::get(e.getContext(), 1));
  for (int64_t axis = 0; axis < pad.getSourceType().getRank(); ++axis) {
    source.push_back(e.index((*affine)[axis] - e.getSize(pad.getMixedLowPad()[axis])));
    inside = addBounds(inside, source.back(), e.index(e.getSize(pad.getSource(), axis)));
  }
  return e.select(inside, e.at(pad.getSource(), source), outside);
}

//===-- What is computed ---------------------------------------------------------------------===//

Expr ElementReader::of(tensor::GenerateOp generate) {
  llvm::DenseMap<Value, Expr> known;
  Block &block = generate.getBody().front();
  for (auto [argument, index] : llvm::zip(block.getArguments(), indices))
    known[argument] = index;
  return e.inBody(block.getTerminator()->getOperand(0), known, {});
}

Expr ElementReader::of(linalg::SoftmaxOp softmax) {
  int64_t axis = softmax.getDimension();
  unsigned all = e.bindDim(softmax, axis, e.getSize(softmax.getInput(), axis));
  SmallVector<Expr> each(indices);
  each[axis] = e.dim(all);
  Expr other = e.at(softmax.getInput(), each);
  Expr greatest = e.reduce(Combiner::Max, all, other);
  auto exp = [&](Expr x) {
    return e.compute<math::ExpOp>(element, {e.compute<arith::SubFOp>(element, {x, greatest})});
  };
  Expr sum = e.reduce(Combiner::Add, all, exp(other));
  return e.compute<arith::DivFOp>(element, {exp(e.at(softmax.getInput(), indices)), sum});
}

Expr ElementReader::of(PositionsOp positions) {
  std::optional<SmallVector<AffineExpr>> affine = e.affineOf(indices);
  if (!affine)
    return {};
  return e.index(e.getSize(OpFoldResult(positions.getFirst())) + (*affine)[1], element);
}

Expr ElementReader::of(ActivationOp activation) {
  Expr x = e.at(activation.getInput(), indices);
  auto real = dyn_cast<FloatType>(element);
  switch (activation.getKind()) {
  case ActivationKind::Tanh:
    return e.compute<math::TanhOp>(element, {x});
  case ActivationKind::Relu:
    return e.compute<arith::MaximumFOp>(element, {x, e.constant(0.0, real)});
  case ActivationKind::Sigmoid: {
    Expr one = e.constant(1.0, real);
    Expr exp = e.compute<math::ExpOp>(element, {e.compute<arith::NegFOp>(element, {x})});
    return e.compute<arith::DivFOp>(element, {one, e.compute<arith::AddFOp>(element, {one, exp})});
  }
  default:
    return {};
  }
}

Expr Expressions::atResult(OpResult result, ArrayRef<Expr> indices) {
  Operation *op = result.getOwner();
  if (isa<linalg::LinalgOp>(op) && !isa<linalg::FillOp>(op))
    return atStructured(result, indices, /*isProduct=*/false);
  ElementReader element(*this, cast<RankedTensorType>(result.getType()).getElementType(), indices);
  if (OpTrait::hasElementwiseMappableTraits(op))
    return element.ofElementwise(op);
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case<arith::ConstantOp, linalg::FillOp, tensor::SplatOp, tensor::CastOp, DropoutOp,
            tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ExtractSliceOp,
            tensor::InsertSliceOp, tensor::ConcatOp, tensor::PadOp, tensor::GenerateOp,
            linalg::SoftmaxOp, PositionsOp, ActivationOp>([&](auto op) { return element.of(op); })
      .Default([](Operation *) { return Expr(); });
}
