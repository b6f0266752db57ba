// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mask ops from predicates on places, lengths and ids: bands, lengths, segments, prefixes, global
// tokens. What is none of these becomes a dense mask.
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Raise/Predicates.h"
#include "passes/Raise/Score.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

Value ScoreBuilder::logical(bool isAnd, ArrayRef<Value> masks) {
  if (masks.size() == 1)
    return masks[0];
  Type type = MaskType::get(builder.getContext());
  return isAnd ? MaskAndOp::create(builder, loc, type, masks).getResult()
               : MaskOrOp::create(builder, loc, type, masks).getResult();
}

Value ScoreBuilder::negate(Value mask) {
  if (auto inner = mask.getDefiningOp<MaskNotOp>())
    return inner.getMask();
  // The complement of half a band is the other half.
  Type type = mask.getType();
  if (mask.getDefiningOp<MaskCausalOp>())
    return MaskWindowOp::create(builder, loc, type, builder.getI64IntegerAttr(-1), IntegerAttr());
  if (auto window = mask.getDefiningOp<MaskWindowOp>()) {
    auto bound = [&](int64_t number) { return builder.getI64IntegerAttr(number); };
    if (window.getLeft() && !window.getRight()) { // k >= q - left becomes k <= q - left - 1
      int64_t right = -static_cast<int64_t>(*window.getLeft()) - 1;
      return right == 0 ? MaskCausalOp::create(builder, loc, type).getResult()
                        : MaskWindowOp::create(builder, loc, type, IntegerAttr(), bound(right))
                              .getResult();
    }
    if (window.getRight() && !window.getLeft())
      return MaskWindowOp::create(
          builder, loc, type, bound(-static_cast<int64_t>(*window.getRight()) - 1), IntegerAttr());
  }
  return MaskNotOp::create(builder, loc, type, mask);
}

/// The factor of a dim in an affine expression without divisions of it; nothing else.
static std::optional<int64_t> getFactor(Expressions &e, AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < e.getNumDims(); ++d)
    dims.push_back(getAffineDimExpr(d, e.getContext()));
  auto at = [&](int64_t number) {
    dims[dim] = getAffineConstantExpr(number, e.getContext());
    return expr.replaceDims(dims);
  };
  AffineExpr step = e.simplify(at(1) - at(0)), next = e.simplify(at(5) - at(4));
  return step == next ? getInteger(step) : std::nullopt;
}

namespace {
/// lower <= j - i <= upper, either absent.
struct Band {
  AffineExpr lower, upper;
};
} // namespace

/// A comparison of `difference` with zero as a band of j - i.
static std::optional<Band> getBand(Expressions &e, const AttentionForm &form, AffineExpr difference,
                                   arith::CmpIPredicate predicate) {
  if (form.queries.size() != 1)
    return std::nullopt;
  unsigned query = form.queries[0];
  std::optional<int64_t> i = getFactor(e, difference, query),
                         j = getFactor(e, difference, form.key);
  if (!i || !j || *i != -*j || std::abs(*j) != 1)
    return std::nullopt;
  AffineExpr rest = e.simplify(
      difference -
      (getAffineDimExpr(form.key, e.getContext()) - getAffineDimExpr(query, e.getContext())) * *j);
  if (!rest.isSymbolicOrConstant())
    return std::nullopt;
  // *j * (j - i) + rest ? 0
  if (*j < 0) {
    rest = rest * -1;
    switch (predicate) {
    case arith::CmpIPredicate::slt:
      predicate = arith::CmpIPredicate::sgt;
      break;
    case arith::CmpIPredicate::sle:
      predicate = arith::CmpIPredicate::sge;
      break;
    case arith::CmpIPredicate::sgt:
      predicate = arith::CmpIPredicate::slt;
      break;
    case arith::CmpIPredicate::sge:
      predicate = arith::CmpIPredicate::sle;
      break;
    default:
      break;
    }
  }
  AffineExpr bound = e.simplify(rest * -1); // j - i ? bound
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return Band{{}, e.simplify(bound - 1)};
  case arith::CmpIPredicate::sle:
    return Band{{}, bound};
  case arith::CmpIPredicate::sgt:
    return Band{e.simplify(bound + 1), {}};
  case arith::CmpIPredicate::sge:
    return Band{bound, {}};
  case arith::CmpIPredicate::eq:
    return Band{bound, bound};
  default:
    return std::nullopt;
  }
}

/// A comparison's predicate and the difference of its sides, if both are index arithmetic.
static AffineExpr getDifference(Expressions &e, Expr comparison, arith::CmpIPredicate &predicate) {
  predicate = cast<arith::CmpIPredicateAttr>(comparison->attrs.get("predicate")).getValue();
  AffineExpr a = comparison->args[0]->getAffine(), b = comparison->args[1]->getAffine();
  return a && b ? e.simplify(a - b) : AffineExpr();
}

AffineExpr ScoreBuilder::findQueryOffset(Expr allowed) {
  if (form.queries.size() != 1)
    return {};
  AffineExpr found;
  AffineExpr lengths = e.simplify(e.getExtent(form.key) - e.getExtent(form.queries[0]));
  for (Expr part : collect(allowed)) {
    std::optional<Band> band;
    if (part->is<arith::CmpIOp>()) {
      arith::CmpIPredicate predicate;
      if (AffineExpr difference = getDifference(e, part, predicate))
        band = getBand(e, form, difference, predicate);
    } else if (part->kind == Node::Kind::Element && part->args.size() >= 2 &&
               isa_and_nonnull<arith::ConstantOp>(part->tensor.getDefiningOp())) {
      // A slice of a triangle: its diagonal.
      AffineExpr row, column;
      for (Expr index : part->args) {
        AffineExpr affine = index->getAffine();
        if (affine && index->dependsOn(form.queries[0]))
          row = affine;
        if (affine && index->dependsOn(form.key))
          column = affine;
      }
      if (row && column)
        band = getBand(e, form, e.simplify(column - row), arith::CmpIPredicate::sle);
    }
    if (!band)
      continue;
    for (AffineExpr bound : {band->upper, band->lower}) {
      if (!bound)
        continue;
      std::optional<int64_t> number = getInteger(bound);
      if (number && *number != 0 && bound == lengths && !found)
        found = bound;
      // The first place of a query, whose symbols the bound names.
      if (!number && !found) {
        SmallVector<AffineExpr> zero(e.getNumSymbols(), getAffineConstantExpr(0, e.getContext()));
        std::optional<int64_t> rest =
            getInteger(simplifyAffineExpr(bound.replaceSymbols(zero), 0, 0));
        AffineExpr symbolic = rest ? e.simplify(bound - *rest) : bound;
        // One bound beyond the diagonal is still a diagonal: j < i + n is j <= i + n - 1.
        found = symbolic;
      }
    }
  }
  offset = found;
  return found;
}

Value ScoreBuilder::buildQueryPositions() {
  if (!offset)
    return {};
  AffineExpr length = getExtent(e, form.queries);
  Value first = e.materialize(builder, loc, offset);
  std::optional<int64_t> number = getInteger(length);
  auto type =
      RankedTensorType::get({1, number.value_or(ShapedType::kDynamic)}, builder.getI32Type());
  return PositionsOp::create(builder, loc, type, first,
                             number ? Value() : e.materialize(builder, loc, length));
}

/// Ids, lengths and positions are i32 in mask ops.
static Value toI32(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  unsigned width = type.getElementTypeBitWidth();
  auto narrow = type.clone(builder.getI32Type());
  if (width > 32)
    return arith::TruncIOp::create(builder, loc, narrow, tensor);
  if (width < 32)
    return arith::ExtSIOp::create(builder, loc, narrow, tensor);
  return tensor;
}

Value ScoreBuilder::maskOfComparison(Expr comparison, bool negated) {
  arith::CmpIPredicate predicate;
  MLIRContext *context = builder.getContext();
  Type maskType = MaskType::get(context);
  auto bandMask = [&](Band band) -> Value {
    std::optional<int64_t> left, right;
    AffineExpr shift = offset ? offset : getAffineConstantExpr(0, context);
    if (band.upper && !(right = getInteger(e.simplify(band.upper - shift))))
      return {};
    if (band.lower) {
      std::optional<int64_t> lower = getInteger(e.simplify(band.lower - shift));
      if (!lower)
        return {};
      left = -*lower;
    }
    if (right && *right == 0 && !left)
      return MaskCausalOp::create(builder, loc, maskType);
    auto bound = [&](std::optional<int64_t> number) {
      return number ? builder.getI64IntegerAttr(*number) : IntegerAttr();
    };
    return MaskWindowOp::create(builder, loc, maskType, bound(left), bound(right));
  };
  Expr a = comparison->args[0], b = comparison->args[1];
  if (AffineExpr difference = getDifference(e, comparison, predicate)) {
    if (predicate == arith::CmpIPredicate::ne) {
      std::optional<Band> band = getBand(e, form, difference, arith::CmpIPredicate::eq);
      Value mask = band ? bandMask(*band) : Value();
      return mask ? (negated ? mask : negate(mask)) : Value();
    }
    if (std::optional<Band> band = getBand(e, form, difference, predicate)) {
      Value mask = bandMask(*band);
      return mask && negated ? negate(mask) : mask;
    }
    // j < length, the same for all rows.
    std::optional<int64_t> factor = getFactor(e, difference, form.key);
    if (factor && std::abs(*factor) == 1) {
      AffineExpr rest = e.simplify(difference - getAffineDimExpr(form.key, context) * *factor);
      if (rest.isSymbolicOrConstant()) {
        // factor * j + rest ? 0
        AffineExpr bound = *factor > 0 ? e.simplify(rest * -1) : rest;
        if (*factor < 0)
          predicate = predicate == arith::CmpIPredicate::slt   ? arith::CmpIPredicate::sgt
                      : predicate == arith::CmpIPredicate::sle ? arith::CmpIPredicate::sge
                      : predicate == arith::CmpIPredicate::sgt ? arith::CmpIPredicate::slt
                      : predicate == arith::CmpIPredicate::sge ? arith::CmpIPredicate::sle
                                                               : predicate;
        bool below =
            predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
        bool above =
            predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
        if (!below && !above)
          return {};
        if (predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::sgt)
          bound = bound + 1;
        Value length = e.materialize(builder, loc, e.simplify(bound));
        Value narrow = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), length);
        auto type = RankedTensorType::get({1}, builder.getI32Type());
        Value lengths = tensor::SplatOp::create(builder, loc, narrow, type);
        Value mask = MaskLengthOp::create(builder, loc, maskType, lengths);
        return above != negated ? negate(mask) : mask;
      }
    }
    return {};
  }

  // |i - j| <= w
  predicate = cast<arith::CmpIPredicateAttr>(comparison->attrs.get("predicate")).getValue();
  for (unsigned side : {0, 1}) {
    Expr x = comparison->args[side], other = comparison->args[1 - side];
    if (!x->is<math::AbsIOp>() || !other->isConstant())
      continue;
    AffineExpr inside = x->args[0]->getAffine();
    std::optional<Band> unit =
        inside ? getBand(e, form, inside, arith::CmpIPredicate::eq) : std::nullopt;
    if (!unit)
      continue;
    bool below = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
    bool above = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
    if (side == 1)
      std::swap(below, above);
    if (!below && !above)
      return {};
    bool strict = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sgt;
    // |x| < w is |x| <= w - 1; |x| > w is not |x| <= w; |x| >= w is not |x| <= w - 1.
    int64_t width = other->integer - (below ? strict : !strict);
    Value mask = bandMask({e.simplify(unit->lower - width), e.simplify(unit->lower + width)});
    if (!mask)
      return {};
    return above != negated ? negate(mask) : mask;
  }

  // A tensor's integers beside positions or each other.
  Expr left = stripIntegerCasts(a), right = stripIntegerCasts(b);
  auto dependsOnQueries = [&](Expr x) {
    return llvm::any_of(form.queries, [&](unsigned dim) { return x->dependsOn(dim); });
  };
  auto hasHeads = [&](Expr x) {
    return llvm::any_of(form.heads, [&](unsigned dim) { return x->dependsOn(dim); });
  };
  auto atPlace = [&](Expr x) { // an element whose indices are index arithmetic
    return x->kind == Node::Kind::Element && x->type.getIntOrFloatBitWidth() >= 8 && !hasHeads(x) &&
           llvm::all_of(x->args, [&](Expr index) { return bool(index->getAffine()); });
  };
  auto rows = [&](Expr x, ArrayRef<unsigned> sequence) -> Value {
    bool hasBatch = llvm::any_of(form.batch, [&](unsigned dim) { return x->dependsOn(dim); });
    SmallVector<Axis> axes{hasBatch ? Axis(form.batch) : Axis(), Axis(sequence)};
    Value tensor = layOut(e, builder, loc, x->tensor, ArrayRef<Expr>(x->args), axes);
    return tensor ? toI32(builder, loc, tensor) : Value();
  };
  if (predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne) {
    if (!atPlace(left) || !atPlace(right))
      return {};
    if (left->dependsOn(form.key))
      std::swap(left, right);
    if (left->dependsOn(form.key) || !right->dependsOn(form.key) || !dependsOnQueries(left) ||
        dependsOnQueries(right))
      return {};
    Value ofQueries = rows(left, form.queries), ofKeys = rows(right, {form.key});
    if (!ofQueries || !ofKeys)
      return {};
    Value mask = MaskSegmentOp::create(builder, loc, maskType, ofQueries, ofKeys);
    return (predicate == arith::CmpIPredicate::ne) != negated ? negate(mask) : mask;
  }

  // j < lengths[b], also as j <= lengths[b] - 1.
  bool swapped = false;
  AffineExpr position = left->getAffine();
  Expr length = right;
  if (!position) {
    position = right->getAffine();
    length = left;
    swapped = true;
  }
  if (!position)
    return {};
  int64_t more = 0;
  while (length->is<arith::AddIOp>() || length->is<arith::SubIOp>()) {
    if (!length->args[1]->isConstant())
      return {};
    more += length->is<arith::AddIOp>() ? length->args[1]->integer : -length->args[1]->integer;
    length = stripIntegerCasts(length->args[0]);
  }
  if (!atPlace(length) || length->dependsOn(form.key) || dependsOnQueries(length))
    return {};
  std::optional<int64_t> factor = getFactor(e, position, form.key);
  AffineExpr rest = e.simplify(position - getAffineDimExpr(form.key, context));
  std::optional<int64_t> start = getInteger(rest);
  if (!factor || *factor != 1 || !start)
    return {};
  // j + start ? length + more
  more -= *start;
  bool below = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
  bool above = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
  bool inclusive = predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::sge;
  if (swapped)
    std::swap(below, above);
  if (!below && !above)
    return {};
  if (below && inclusive) // j <= n is j < n + 1
    ++more;
  if (above && !inclusive) // j > n is not j < n + 1
    ++more;
  bool hasBatch = llvm::any_of(form.batch, [&](unsigned dim) { return length->dependsOn(dim); });
  SmallVector<Axis> axes{hasBatch ? Axis(form.batch) : Axis()};
  Value lengths = layOut(e, builder, loc, length->tensor, ArrayRef<Expr>(length->args), axes);
  if (!lengths)
    return {};
  lengths = toI32(builder, loc, lengths);
  if (more != 0) {
    auto type = cast<RankedTensorType>(lengths.getType());
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(tensor::DimOp::create(builder, loc, lengths, 0));
    Value number = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(more));
    Value add = tensor::SplatOp::create(builder, loc, number, type, sizes);
    lengths = arith::AddIOp::create(builder, loc, lengths, add);
  }
  Value mask = MaskLengthOp::create(builder, loc, maskType, lengths);
  return above != negated ? negate(mask) : mask;
}

/// A predicate on elements of a constant matrix, read at (i + a, j + b): a band?
Value ScoreBuilder::maskOfConstant(Expr predicate) {
  Expr element = predicate;
  while (element->kind == Node::Kind::Compute) {
    Expr next = nullptr;
    for (Expr arg : element->args)
      if (!arg->isConstant()) {
        if (next)
          return {};
        next = arg;
      }
    if (!next)
      return {};
    element = next;
  }
  if (element->kind != Node::Kind::Element || form.queries.size() != 1)
    return {};
  auto constant = element->tensor.getDefiningOp<arith::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense)
    return {};
  // Rows and columns, and the other indices.
  AffineExpr row, column;
  int64_t rows = 0, columns = 0;
  SmallVector<Expr> indices(element->args.begin(), element->args.end());
  MLIRContext *context = builder.getContext();
  unsigned r = 0, c = 0;
  for (auto [axis, index] : llvm::enumerate(element->args)) {
    AffineExpr affine = index->getAffine();
    bool ofQuery = index->dependsOn(form.queries[0]), ofKey = index->dependsOn(form.key);
    if (!affine || (ofQuery && ofKey))
      return {};
    if (ofQuery) {
      if (row)
        return {};
      row = affine;
      rows = dense.getType().getDimSize(axis);
      r = axis;
    } else if (ofKey) {
      if (column)
        return {};
      column = affine;
      columns = dense.getType().getDimSize(axis);
      c = axis;
    } else if (!index->isConstant()) {
      return {};
    }
  }
  if (!row || !column || rows * columns > (1 << 24))
    return {};
  if (getFactor(e, row, form.queries[0]) != 1 || getFactor(e, column, form.key) != 1)
    return {};
  unsigned x = e.addDim(getAffineConstantExpr(rows, context));
  unsigned y = e.addDim(getAffineConstantExpr(columns, context));
  indices[r] = e.dim(x);
  indices[c] = e.dim(y);
  llvm::DenseMap<Expr, Expr> parts;
  parts[element] = e.element(element->tensor, indices);
  Expr at = e.replace(predicate, parts);
  Evaluator evaluate(e, 1);
  evaluate.budget = 8 * rows * columns + 1000;
  evaluate.place.assign(e.getNumDims(), 0);
  std::vector<char> allowed(rows * columns);
  std::optional<int64_t> least, most;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      evaluate.place[x] = i;
      evaluate.place[y] = j;
      std::optional<Number> value = evaluate.evaluate(at);
      if (!value)
        return {};
      allowed[i * columns + j] = value->integer != 0;
      if (!value->integer)
        continue;
      least = std::min(least.value_or(j - i), j - i);
      most = std::max(most.value_or(j - i), j - i);
    }
  if (!least)
    return {};
  auto isBand = [&](std::optional<int64_t> lower, std::optional<int64_t> upper) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if ((allowed[i * columns + j] != 0) !=
            ((!lower || j - i >= *lower) && (!upper || j - i <= *upper)))
          return false;
    return true;
  };
  std::optional<int64_t> lower, upper;
  // A prefix that all see, and a triangle.
  int64_t prefix = 0;
  while (prefix < columns && allowed[prefix])
    ++prefix;
  bool isPrefix = prefix > 1;
  for (int64_t i = 0; isPrefix && i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      isPrefix &= (allowed[i * columns + j] != 0) == (j <= i || j < prefix);
  if (isPrefix && prefix < columns && !isBand({}, most)) {
    Predicates booleans(e);
    MLIRContext *ctx = context;
    auto number = [&](int64_t n) { return e.index(getAffineConstantExpr(n, ctx)); };
    return tryMask(
        booleans.either(e.compare(arith::CmpIPredicate::sle, e.index(column), e.index(row)),
                        e.compare(arith::CmpIPredicate::slt, e.index(column), number(prefix))));
  }
  if (isBand({}, most))
    upper = most;
  else if (isBand(least, {}))
    lower = least;
  else if (isBand(least, most))
    lower = least, upper = most;
  else
    return {};
  // In terms of i and j.
  AffineExpr difference = e.simplify(column - row);
  auto comparison = [&](arith::CmpIPredicate predicate, int64_t bound) {
    return tryMask(
        e.compare(predicate, e.index(difference), e.index(getAffineConstantExpr(bound, context))));
  };
  SmallVector<Value> masks;
  if (upper)
    masks.push_back(comparison(arith::CmpIPredicate::sle, *upper));
  if (lower)
    masks.push_back(comparison(arith::CmpIPredicate::sge, *lower));
  if (llvm::is_contained(masks, Value()))
    return {};
  return logical(/*isAnd=*/true, masks);
}

SmallVector<Axis> ScoreBuilder::axesOf(Expr expr, SmallVectorImpl<unsigned> &present) {
  SmallVector<Axis> axes;
  SmallVector<Axis> groups{Axis(form.batch), Axis(form.heads), Axis(form.queries), Axis{form.key}};
  for (auto [i, group] : llvm::enumerate(groups)) {
    bool used = llvm::any_of(group, [&](unsigned dim) { return expr->dependsOn(dim); });
    axes.push_back(used ? group : Axis());
    if (used)
      present.push_back(i);
  }
  return axes;
}

Value ScoreBuilder::dense(Expr allowed) {
  SmallVector<unsigned> present;
  SmallVector<Axis> axes = axesOf(allowed, present);
  Type type = MaskType::get(builder.getContext());
  if (allowed->isConstant())
    return allowed->integer ? MaskAndOp::create(builder, loc, type, ValueRange()).getResult()
                            : MaskOrOp::create(builder, loc, type, ValueRange()).getResult();
  bool negated = false;
  Expr inner = allowed;
  // An integer tensor is a mask as it is.
  if (inner->is<arith::CmpIOp>() && inner->args[1]->isConstant() &&
      inner->args[0]->kind == Node::Kind::Element) {
    auto predicate = cast<arith::CmpIPredicateAttr>(inner->attrs.get("predicate")).getValue();
    unsigned width = inner->args[0]->type.getIntOrFloatBitWidth();
    bool fits = width == 8 || width == 32 || width == 64;
    bool isSet = (predicate == arith::CmpIPredicate::ne && inner->args[1]->integer == 0);
    bool isClear = (predicate == arith::CmpIPredicate::eq && inner->args[1]->integer == 0);
    if (fits && (isSet || isClear)) {
      negated = isClear;
      inner = inner->args[0];
    }
  }
  Value tensor;
  if (inner->kind == Node::Kind::Element)
    tensor = layOut(e, builder, loc, inner->tensor, ArrayRef<Expr>(inner->args), axes);
  else
    tensor = compute(e, builder, loc, inner, axes);
  if (!tensor)
    return {};
  Value mask = MaskDenseOp::create(builder, loc, type, tensor);
  return negated ? negate(mask) : mask;
}

/// The operands of a tree of one op.
template <typename OpT> static void addOperands(Expr expr, SmallVectorImpl<Expr> &operands) {
  if (!expr->is<OpT>()) {
    operands.push_back(expr);
    return;
  }
  addOperands<OpT>(expr->args[0], operands);
  addOperands<OpT>(expr->args[1], operands);
}

Value ScoreBuilder::tryMask(Expr allowed) {
  Type type = MaskType::get(builder.getContext());
  if (allowed->isConstant())
    return allowed->integer ? MaskAndOp::create(builder, loc, type, ValueRange()).getResult()
                            : MaskOrOp::create(builder, loc, type, ValueRange()).getResult();
  if (allowed->is<arith::XOrIOp>())
    for (unsigned i : {0, 1})
      if (allowed->args[i]->isConstant() && allowed->args[i]->integer) {
        Expr inner = allowed->args[1 - i];
        if (inner->is<arith::CmpIOp>())
          if (Value mask = maskOfComparison(inner, /*negated=*/true))
            return mask;
        // De Morgan, so that what is below can be told apart.
        Predicates booleans(e);
        if (inner->is<arith::OrIOp>())
          return tryMask(
              booleans.both(booleans.negate(inner->args[0]), booleans.negate(inner->args[1])));
        if (inner->is<arith::AndIOp>())
          return tryMask(
              booleans.either(booleans.negate(inner->args[0]), booleans.negate(inner->args[1])));
        if (Value mask = maskOfConstant(allowed))
          return mask;
        Value mask = tryMask(inner);
        return mask ? negate(mask) : Value();
      }
  if (allowed->is<arith::AndIOp>()) {
    SmallVector<Expr> parts;
    addOperands<arith::AndIOp>(allowed, parts);
    SmallVector<Value> masks;
    for (Expr part : parts) {
      masks.push_back(tryMask(part));
      if (!masks.back())
        return {};
    }
    return logical(/*isAnd=*/true, masks);
  }
  if (allowed->is<arith::OrIOp>()) {
    SmallVector<Expr> parts;
    addOperands<arith::OrIOp>(allowed, parts);
    SmallVector<Value> masks;
    // i < n or j < n: global tokens.
    llvm::SmallBitVector used(parts.size());
    auto firstTokens = [&](Expr part, unsigned dim) -> std::optional<int64_t> {
      if (!part->is<arith::CmpIOp>())
        return std::nullopt;
      arith::CmpIPredicate predicate;
      AffineExpr difference = getDifference(e, part, predicate);
      if (!difference)
        return std::nullopt;
      AffineExpr variable = getAffineDimExpr(dim, e.getContext());
      std::optional<int64_t> rest = getInteger(e.simplify(difference - variable));
      if (rest &&
          (predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle))
        return -*rest + (predicate == arith::CmpIPredicate::sle);
      rest = getInteger(e.simplify(difference + variable));
      if (rest &&
          (predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge))
        return *rest + (predicate == arith::CmpIPredicate::sge);
      return std::nullopt;
    };
    if (form.queries.size() == 1 && !offset)
      for (auto [a, first] : llvm::enumerate(parts))
        for (auto [b, second] : llvm::enumerate(parts)) {
          std::optional<int64_t> ofQueries = firstTokens(first, form.queries[0]);
          std::optional<int64_t> ofKeys = firstTokens(second, form.key);
          if (!ofQueries || ofQueries != ofKeys || *ofQueries <= 0 || used.test(a) || used.test(b))
            continue;
          used.set(a);
          used.set(b);
          masks.push_back(
              MaskGlobalOp::create(builder, loc, type, builder.getI64IntegerAttr(*ofQueries)));
        }
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (used.test(i))
        continue;
      masks.push_back(tryMask(part));
      if (!masks.back())
        return {};
    }
    // Causal or before a length: a prefix.
    for (size_t i = 0; i < masks.size(); ++i)
      for (size_t j = 0; j < masks.size(); ++j) {
        auto length = masks[j].getDefiningOp<MaskLengthOp>();
        if (!masks[i].getDefiningOp<MaskCausalOp>() || !length || i == j)
          continue;
        masks[i] = MaskPrefixOp::create(builder, loc, type, length.getLengths());
        masks.erase(masks.begin() + j);
        i = j = masks.size();
        break;
      }
    return logical(/*isAnd=*/false, masks);
  }
  if (allowed->is<arith::CmpIOp>())
    if (Value mask = maskOfComparison(allowed, /*negated=*/false))
      return mask;
  if (Value mask = maskOfConstant(allowed))
    return mask;
  return dense(allowed);
}

Value ScoreBuilder::buildMask(Expr allowed) { return tryMask(allowed); }
