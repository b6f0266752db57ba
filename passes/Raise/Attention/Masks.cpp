// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mask ops from predicates on places, lengths and ids: bands, lengths, segments, prefixes, global
// tokens. What is none of these becomes a dense mask.
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Elements/Predicates.h"
#include "passes/Raise/Attention/RelativeBias.h"
#include "passes/Raise/Attention/Score.h"

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

SmallVector<Axis> raise::axesOf(const AttentionForm &form, Expr expr,
                                SmallVectorImpl<unsigned> &present) {
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

namespace {
/// A comparison of index arithmetic: `difference ? 0`.
struct Comparison {
  arith::CmpIPredicate predicate;
  AffineExpr difference;
};

/// One solved for a variable: `variable ? bound`, the same bound for all places.
struct Limit {
  arith::CmpIPredicate predicate;
  AffineExpr bound;
};

/// lower <= j - i <= upper, either absent.
struct Band {
  AffineExpr lower, upper;
};
} // namespace

/// Nothing if a side is no index arithmetic.
static std::optional<Comparison> getComparison(Expressions &e, Expr expr) {
  if (!expr->is<arith::CmpIOp>())
    return std::nullopt;
  AffineExpr a = expr->args[0]->getAffine(), b = expr->args[1]->getAffine();
  return a && b ? std::optional(Comparison{getPredicate(expr), e.simplify(a - b)}) : std::nullopt;
}

/// `factor * variable + rest ? 0` for factors of one and minus one.
static std::optional<Limit> solve(Expressions &e, const Comparison &comparison, AffineExpr variable,
                                  std::optional<int64_t> factor) {
  if (!factor || std::abs(*factor) != 1)
    return std::nullopt;
  AffineExpr rest = e.simplify(comparison.difference - variable * *factor);
  if (!rest.isSymbolicOrConstant())
    return std::nullopt;
  if (*factor < 0)
    return Limit{mirror(comparison.predicate), rest};
  return Limit{comparison.predicate, e.simplify(rest * -1)};
}

/// A limit of the place along `dim`.
static std::optional<Limit> getLimit(Expressions &e, const Comparison &comparison, unsigned dim) {
  return solve(e, comparison, getAffineDimExpr(dim, e.getContext()),
               e.getFactor(comparison.difference, dim));
}

/// A comparison as a band of j - i.
static std::optional<Band> getBand(Expressions &e, const AttentionForm &form,
                                   const Comparison &comparison) {
  if (form.queries.size() != 1)
    return std::nullopt;
  unsigned query = form.queries[0];
  std::optional<int64_t> i = e.getFactor(comparison.difference, query),
                         j = e.getFactor(comparison.difference, form.key);
  if (!i || !j || *i != -*j)
    return std::nullopt;
  AffineExpr distance =
      getAffineDimExpr(form.key, e.getContext()) - getAffineDimExpr(query, e.getContext());
  std::optional<Limit> limit = solve(e, comparison, distance, j);
  if (!limit)
    return std::nullopt;
  if (limit->predicate == arith::CmpIPredicate::eq)
    return Band{limit->bound, limit->bound};
  Order order = getOrder(limit->predicate);
  if (order.below)
    return Band{{}, e.simplify(limit->bound - order.strict)};
  if (order.above)
    return Band{e.simplify(limit->bound + order.strict), {}};
  return std::nullopt;
}

/// A part of a mask as a band: a comparison of places, or a slice of a constant triangle, of which
/// it is the diagonal.
static std::optional<Band> getBandOf(Expressions &e, const AttentionForm &form, Expr part) {
  if (std::optional<Comparison> comparison = getComparison(e, part))
    return getBand(e, form, *comparison);
  if (part->kind != Node::Kind::Element || part->args.size() < 2 ||
      !isa_and_nonnull<arith::ConstantOp>(part->tensor.getDefiningOp()))
    return std::nullopt;
  AffineExpr row, column;
  for (Expr index : part->args) {
    AffineExpr affine = index->getAffine();
    if (affine && index->dependsOn(form.queries[0]))
      row = affine;
    if (affine && index->dependsOn(form.key))
      column = affine;
  }
  if (!row || !column)
    return std::nullopt;
  return getBand(e, form, {arith::CmpIPredicate::sle, e.simplify(column - row)});
}

/// Distances from query to key that a rule computes with, also to find a row of a table.
static SmallVector<Band> getDistances(Expressions &e, const AttentionForm &form, Expr rule) {
  SmallVector<Expr> parts = collect(rule);
  for (Expr part : collect(rule))
    if (std::optional<TableElement> element = getTableElement(e, part))
      llvm::append_range(parts, collect(element->row));
  SmallVector<Band> distances;
  for (Expr part : parts)
    if (part->kind == Node::Kind::Index)
      if (std::optional<Band> band = getBand(e, form, {arith::CmpIPredicate::eq, part->affine}))
        distances.push_back(*band);
  return distances;
}

/// Takes the offset from a bound of j - i, if it names one.
void ScoreBuilder::takeQueryOffset(AffineExpr bound, AffineExpr lengths) {
  if (!bound || offset)
    return;
  if (std::optional<int64_t> number = getInteger(bound)) {
    if (*number != 0 && bound == lengths)
      offset = bound;
    return;
  }
  // The first place of a query, whose symbols the bound names. One bound beyond the diagonal is
  // still a diagonal: j < i + n is j <= i + n - 1.
  SmallVector<AffineExpr> zero(e.getNumSymbols(), getAffineConstantExpr(0, e.getContext()));
  std::optional<int64_t> rest = getInteger(simplifyAffineExpr(bound.replaceSymbols(zero), 0, 0));
  offset = rest ? e.simplify(bound - *rest) : bound;
}

void ScoreBuilder::findQueryOffset(Expr allowed, Expr rule) {
  if (form.queries.size() != 1)
    return;
  AffineExpr lengths = e.simplify(e.getExtent(form.key) - e.getExtent(form.queries[0]));
  bool hasBand = false;
  for (Expr part : allowed ? collect(allowed) : SmallVector<Expr>())
    if (std::optional<Band> band = getBandOf(e, form, part)) {
      hasBand = true;
      takeQueryOffset(band->upper, lengths);
      takeQueryOffset(band->lower, lengths);
    }
  if (hasBand)
    return;
  AffineExpr zero = getAffineConstantExpr(0, e.getContext());
  for (const Band &band : getDistances(e, form, rule))
    if (band.upper == lengths || e.isWithin(band.upper, zero, AffineExpr()))
      takeQueryOffset(band.upper, lengths);
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

Value ScoreBuilder::maskOfBand(AffineExpr lower, AffineExpr upper) {
  std::optional<int64_t> left, right;
  AffineExpr shift = offset ? offset : getAffineConstantExpr(0, e.getContext());
  if (upper && !(right = getInteger(e.simplify(upper - shift))))
    return {};
  if (lower) {
    left = getInteger(e.simplify(shift - lower));
    if (!left)
      return {};
  }
  Type type = MaskType::get(e.getContext());
  if (right && *right == 0 && !left)
    return MaskCausalOp::create(builder, loc, type);
  auto bound = [&](std::optional<int64_t> number) {
    return number ? builder.getI64IntegerAttr(*number) : IntegerAttr();
  };
  return MaskWindowOp::create(builder, loc, type, bound(left), bound(right));
}

Value ScoreBuilder::maskOfComparison(Expr comparison) {
  arith::CmpIPredicate predicate = getPredicate(comparison);
  if (predicate == arith::CmpIPredicate::ne) {
    Expr equal = e.compare(arith::CmpIPredicate::eq, comparison->args[0], comparison->args[1]);
    Value mask = equal->is<arith::CmpIOp>() ? maskOfComparison(equal) : Value();
    return mask ? negate(mask) : Value();
  }
  if (std::optional<Comparison> places = getComparison(e, comparison)) {
    if (std::optional<Band> band = getBand(e, form, *places))
      return maskOfBand(band->lower, band->upper);
    if (std::optional<Limit> limit = getLimit(e, *places, form.key))
      return maskOfLimit(limit->predicate, limit->bound);
    return predicate == arith::CmpIPredicate::eq
               ? maskOfClasses(comparison->args[0]->getAffine(), comparison->args[1]->getAffine())
               : Value();
  }
  for (unsigned side : {0, 1})
    if (comparison->args[side]->is<math::AbsIOp>() && comparison->args[1 - side]->isConstant())
      if (std::optional<Value> mask =
              maskOfDistance(side == 0 ? predicate : mirror(predicate),
                             comparison->args[side]->args[0], comparison->args[1 - side]->integer))
        return *mask;
  // A tensor's integers beside positions or each other.
  Expr left = stripIntegerCasts(comparison->args[0]);
  Expr right = stripIntegerCasts(comparison->args[1]);
  if (predicate == arith::CmpIPredicate::eq)
    return maskOfSegments(left, right);
  return left->getAffine() ? maskOfLengths(predicate, left, right)
                           : maskOfLengths(mirror(predicate), right, left);
}

/// j ? bound, the same for all rows.
Value ScoreBuilder::maskOfLimit(arith::CmpIPredicate predicate, AffineExpr bound) {
  Order order = getOrder(predicate);
  if (!order.below && !order.above)
    return {};
  Value length = e.materialize(builder, loc, e.simplify(bound + order.getShift()));
  Value narrow = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), length);
  auto type = RankedTensorType::get({1}, builder.getI32Type());
  Value lengths = tensor::SplatOp::create(builder, loc, narrow, type);
  Value mask = MaskLengthOp::create(builder, loc, MaskType::get(e.getContext()), lengths);
  return order.above ? negate(mask) : mask;
}

/// |distance| ? width; nothing if that is not of i and j.
std::optional<Value> ScoreBuilder::maskOfDistance(arith::CmpIPredicate predicate, Expr distance,
                                                  int64_t width) {
  AffineExpr inside = distance->getAffine();
  std::optional<Band> unit =
      inside ? getBand(e, form, {arith::CmpIPredicate::eq, inside}) : std::nullopt;
  if (!unit)
    return std::nullopt;
  Order order = getOrder(predicate);
  if (!order.below && !order.above)
    return Value();
  // |x| < w is |x| <= w - 1; |x| > w is not |x| <= w; |x| >= w is not |x| <= w - 1.
  width += order.getShift() - 1;
  Value mask = maskOfBand(e.simplify(unit->lower - width), e.simplify(unit->lower + width));
  return mask && order.above ? negate(mask) : mask;
}

static bool dependsOnAny(Expr expr, ArrayRef<unsigned> dims) {
  return llvm::any_of(dims, [&](unsigned dim) { return expr->dependsOn(dim); });
}

/// An integer of a tensor, the same for all heads, that stands at a place known from indices.
static bool isAtPlace(Expr expr, const AttentionForm &form) {
  return expr->kind == Node::Kind::Element && expr->type.getIntOrFloatBitWidth() >= 8 &&
         !dependsOnAny(expr, form.heads) &&
         llvm::all_of(expr->args, [](Expr index) { return bool(index->getAffine()); });
}

/// The elements as i32 with axes for the batch, if they depend on it, and for `others`.
Value ScoreBuilder::layOutIntegers(Expr element, ArrayRef<Axis> others) {
  SmallVector<Axis> axes{dependsOnAny(element, form.batch) ? Axis(form.batch) : Axis()};
  llvm::append_range(axes, others);
  Value tensor = layOut(e, builder, loc, element->tensor, ArrayRef<Expr>(element->args), axes);
  return tensor ? toElementType(builder, loc, tensor, builder.getI32Type()) : Value();
}

/// a[i] == b[j]
Value ScoreBuilder::maskOfSegments(Expr ofQueries, Expr ofKeys) {
  if (!isAtPlace(ofQueries, form) || !isAtPlace(ofKeys, form))
    return {};
  if (ofQueries->dependsOn(form.key))
    std::swap(ofQueries, ofKeys);
  if (ofQueries->dependsOn(form.key) || !ofKeys->dependsOn(form.key) ||
      !dependsOnAny(ofQueries, form.queries) || dependsOnAny(ofKeys, form.queries))
    return {};
  Value queries = layOutIntegers(ofQueries, {Axis(form.queries)});
  Value keys = layOutIntegers(ofKeys, {Axis{form.key}});
  if (!queries || !keys)
    return {};
  return MaskSegmentOp::create(builder, loc, MaskType::get(e.getContext()), queries, keys);
}

/// Places as ids: i floordiv n == j floordiv n, and (i - j) mod n == c as i mod n == (j + c) mod n.
Value ScoreBuilder::maskOfClasses(AffineExpr left, AffineExpr right) {
  if (isa<AffineConstantExpr>(left))
    std::swap(left, right);
  auto mod = dyn_cast<AffineBinaryOpExpr>(left);
  std::optional<int64_t> rest = getInteger(right);
  if (mod && mod.getKind() == AffineExprKind::Mod && rest && form.queries.size() == 1) {
    AffineExpr i = getAffineDimExpr(form.queries[0], e.getContext());
    AffineExpr distance = mod.getLHS(), period = mod.getRHS();
    std::optional<int64_t> factor = e.getFactor(distance, form.queries[0]);
    if (!factor || std::abs(*factor) != 1 || *rest < 0 || getInteger(period).value_or(0) <= *rest)
      return {};
    AffineExpr others = e.simplify(distance - i * *factor - *rest);
    left = i % period;
    right = e.simplify((others * -*factor) % period);
  }
  Type type = builder.getI32Type();
  Expr ofQueries = e.index(left, type), ofKeys = e.index(right, type);
  if (ofQueries->dependsOn(form.key))
    std::swap(ofQueries, ofKeys);
  auto dependsOnlyOn = [&](Expr expr, ArrayRef<unsigned> dims) {
    return dependsOnAny(expr, dims) && llvm::all_of(expr->dims.set_bits(), [&](unsigned dim) {
             return llvm::is_contained(dims, dim);
           });
  };
  if (!dependsOnlyOn(ofQueries, form.queries) || !dependsOnlyOn(ofKeys, form.key))
    return {};
  Value queries = compute(e, builder, loc, ofQueries, {Axis(), Axis(form.queries)});
  Value keys = compute(e, builder, loc, ofKeys, {Axis(), Axis{form.key}});
  if (!queries || !keys)
    return {};
  return MaskSegmentOp::create(builder, loc, MaskType::get(e.getContext()), queries, keys);
}

/// j ? lengths[b], also as j + m ? lengths[b] + n
Value ScoreBuilder::maskOfLengths(arith::CmpIPredicate predicate, Expr position, Expr length) {
  AffineExpr place = position->getAffine();
  if (!place)
    return {};
  int64_t more = 0;
  while (length->is<arith::AddIOp, arith::SubIOp>()) {
    if (!length->args[1]->isConstant())
      return {};
    more += length->is<arith::AddIOp>() ? length->args[1]->integer : -length->args[1]->integer;
    length = stripIntegerCasts(length->args[0]);
  }
  if (!isAtPlace(length, form) || length->dependsOn(form.key) || dependsOnAny(length, form.queries))
    return {};
  std::optional<int64_t> start =
      getInteger(e.simplify(place - getAffineDimExpr(form.key, e.getContext())));
  Order order = getOrder(predicate);
  if (!start || (!order.below && !order.above))
    return {};
  more += order.getShift() - *start;
  Value lengths = layOutIntegers(length, {});
  if (!lengths)
    return {};
  if (more != 0) {
    auto type = cast<RankedTensorType>(lengths.getType());
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(tensor::DimOp::create(builder, loc, lengths, 0));
    Value number = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(more));
    Value add = tensor::SplatOp::create(builder, loc, number, type, sizes);
    lengths = arith::AddIOp::create(builder, loc, lengths, add);
  }
  Value mask = MaskLengthOp::create(builder, loc, MaskType::get(e.getContext()), lengths);
  return order.above ? negate(mask) : mask;
}

Value ScoreBuilder::dense(Expr allowed) {
  SmallVector<unsigned> present;
  SmallVector<Axis> axes = axesOf(form, allowed, present);
  bool negated = false;
  Expr inner = allowed;
  // An integer tensor is a mask as it is.
  if (inner->is<arith::CmpIOp>() && inner->args[1]->isConstant() &&
      inner->args[0]->kind == Node::Kind::Element) {
    arith::CmpIPredicate predicate = getPredicate(inner);
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
  Value mask = MaskDenseOp::create(builder, loc, MaskType::get(e.getContext()), tensor);
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

Value ScoreBuilder::buildMask(Expr allowed) {
  Type type = MaskType::get(e.getContext());
  if (allowed->isConstant())
    return allowed->integer ? MaskAndOp::create(builder, loc, type, ValueRange()).getResult()
                            : MaskOrOp::create(builder, loc, type, ValueRange()).getResult();
  if (allowed->is<arith::XOrIOp>())
    for (unsigned i : {0, 1})
      if (allowed->args[i]->isConstant() && allowed->args[i]->integer)
        return maskOfComplement(allowed, allowed->args[1 - i]);
  if (allowed->is<arith::AndIOp>()) {
    SmallVector<Expr> parts;
    addOperands<arith::AndIOp>(allowed, parts);
    SmallVector<Value> masks;
    for (Expr part : parts) {
      masks.push_back(buildMask(part));
      if (!masks.back())
        return {};
    }
    return logical(/*isAnd=*/true, masks);
  }
  if (allowed->is<arith::OrIOp>()) {
    SmallVector<Expr> parts, known;
    addOperands<arith::OrIOp>(allowed, parts);
    for (Expr part : parts) {
      Expr places = asPlaces(part);
      addOperands<arith::OrIOp>(places ? places : part, known);
    }
    return maskOfAny(known);
  }
  if (allowed->is<arith::CmpIOp>())
    if (Value mask = maskOfComparison(allowed))
      return mask;
  if (Expr places = asPlaces(allowed))
    return buildMask(places);
  return dense(allowed);
}

/// `whole` is not `inner`.
Value ScoreBuilder::maskOfComplement(Expr whole, Expr inner) {
  // De Morgan, so that what is below can be told apart.
  if (inner->is<arith::OrIOp, arith::AndIOp>()) {
    Predicates predicates(e);
    Expr a = predicates.negate(inner->args[0]), b = predicates.negate(inner->args[1]);
    return buildMask(inner->is<arith::OrIOp>() ? predicates.both(a, b) : predicates.either(a, b));
  }
  if (Expr places = asPlaces(whole))
    return buildMask(places);
  Value mask = buildMask(inner);
  return mask ? negate(mask) : Value();
}

Value ScoreBuilder::maskOfAny(ArrayRef<Expr> parts) {
  Type type = MaskType::get(e.getContext());
  SmallVector<Value> masks;
  // i < n or j < n: global tokens.
  llvm::SmallBitVector used(parts.size());
  auto firstTokens = [&](Expr part, unsigned dim) -> std::optional<int64_t> {
    std::optional<Comparison> comparison = getComparison(e, part);
    std::optional<Limit> limit = comparison ? getLimit(e, *comparison, dim) : std::nullopt;
    Order order = limit ? getOrder(limit->predicate) : Order();
    return order.below ? getInteger(e.simplify(limit->bound + order.getShift())) : std::nullopt;
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
    masks.push_back(buildMask(part));
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
