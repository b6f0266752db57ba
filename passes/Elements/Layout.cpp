// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From expressions back to tensors.
#include "passes/Elements/Layout.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

AffineExpr raise::getExtent(Expressions &e, ArrayRef<unsigned> dims) {
  AffineExpr extent = getAffineConstantExpr(1, e.getContext());
  for (unsigned dim : dims)
    if (dim < e.getNumDims()) // else one of `rearrange`'s
      extent = extent * e.getExtent(dim);
  return e.simplify(extent);
}

static OpFoldResult toSize(Expressions &e, OpBuilder &builder, Location loc, AffineExpr expr) {
  if (std::optional<int64_t> number = getInteger(expr))
    return builder.getIndexAttr(*number);
  return e.materialize(builder, loc, expr);
}

static int64_t toStatic(AffineExpr expr) { return getInteger(expr).value_or(ShapedType::kDynamic); }

static RankedTensorType getTensorType(Expressions &e, ArrayRef<Axis> axes, Type element) {
  SmallVector<int64_t> shape =
      llvm::map_to_vector(axes, [&](const Axis &axis) { return toStatic(getExtent(e, axis)); });
  return RankedTensorType::get(shape, element);
}

/// Sizes as affine expressions for the type's dynamic axes and, in `mixed`, for all.
static SmallVector<OpFoldResult> getSizes(Expressions &e, OpBuilder &builder, Location loc,
                                          ArrayRef<Axis> axes) {
  SmallVector<OpFoldResult> sizes = llvm::map_to_vector(
      axes, [&](const Axis &axis) { return toSize(e, builder, loc, getExtent(e, axis)); });
  return sizes;
}

//===-- Rearranging --------------------------------------------------------------------------===//

/// Axes of no dims are of size one, which the type may leave open.
static Value closeUnitAxes(OpBuilder &builder, Location loc, Value tensor, ArrayRef<Axis> axes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [axis, size] : llvm::zip_equal(axes, shape))
    if (axis.empty())
      size = 1;
  auto closed = type.clone(shape);
  return closed == type ? tensor : tensor::CastOp::create(builder, loc, closed, tensor);
}

/// One axis for each dim; axes of no dims are gone.
static Value splitAxes(Expressions &e, OpBuilder &builder, Location loc, Value tensor,
                       ArrayRef<Axis> axes) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  // First away with axes of size one that hold no dim.
  SmallVector<Axis> kept;
  for (const Axis &axis : axes)
    if (!axis.empty())
      kept.push_back(axis);
  if (kept.size() != axes.size()) {
    tensor = closeUnitAxes(builder, loc, tensor, axes);
    SmallVector<ReassociationIndices> groups;
    for (auto [i, axis] : llvm::enumerate(axes)) {
      bool startsGroup = !axis.empty() &&
                         (groups.empty() ||
                          llvm::any_of(groups.back(), [&](int64_t a) { return !axes[a].empty(); }));
      if (startsGroup || groups.empty())
        groups.emplace_back();
      groups.back().push_back(i);
    }
    if (kept.empty())
      groups.clear();
    tensor = tensor::CollapseShapeOp::create(builder, loc, getTensorType(e, kept, element), tensor,
                                             groups);
  }
  SmallVector<Axis> single;
  SmallVector<ReassociationIndices> groups;
  for (const Axis &axis : kept) {
    groups.emplace_back();
    for (unsigned dim : axis) {
      groups.back().push_back(single.size());
      single.push_back({dim});
    }
  }
  if (single.size() != kept.size())
    tensor = tensor::ExpandShapeOp::create(builder, loc, getTensorType(e, single, element), tensor,
                                           groups, getSizes(e, builder, loc, single));
  return tensor;
}

/// The opposite: dims of one axis each become `axes`, in the same order.
static Value joinAxes(Expressions &e, OpBuilder &builder, Location loc, Value tensor,
                      ArrayRef<Axis> axes) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  SmallVector<Axis> kept;
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (const Axis &axis : axes) {
    if (axis.empty())
      continue;
    kept.push_back(axis);
    groups.emplace_back();
    for (size_t i = 0; i < axis.size(); ++i)
      groups.back().push_back(next++);
  }
  if (next != static_cast<int64_t>(kept.size()))
    tensor = tensor::CollapseShapeOp::create(builder, loc, getTensorType(e, kept, element), tensor,
                                             groups);
  if (kept.size() == axes.size())
    return tensor;
  groups.clear();
  for (auto [i, axis] : llvm::enumerate(axes)) {
    // Axes of size one go with the dim before them, or with the first.
    bool startsGroup =
        groups.empty() ||
        (!axis.empty() && llvm::any_of(groups.back(), [&](int64_t a) { return !axes[a].empty(); }));
    if (startsGroup)
      groups.emplace_back();
    groups.back().push_back(i);
  }
  if (kept.empty())
    groups.clear();
  return tensor::ExpandShapeOp::create(builder, loc, getTensorType(e, axes, element), tensor,
                                       groups, getSizes(e, builder, loc, axes));
}

static Value transpose(OpBuilder &builder, Location loc, Value tensor,
                       ArrayRef<int64_t> permutation) {
  if (llvm::is_sorted(permutation))
    return tensor;
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> sizes = llvm::map_to_vector(
      permutation, [&](int64_t axis) { return getSize(builder, loc, tensor, axis); });
  Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
  return linalg::TransposeOp::create(builder, loc, tensor, empty, permutation).getResult()[0];
}

Value raise::rearrange(Expressions &e, OpBuilder &builder, Location loc, Value tensor,
                       ArrayRef<Axis> given, ArrayRef<Axis> wanted) {
  SmallVector<Axis> from(given), to(wanted);
  // Axes of size one move with the others, so that a transpose meets those that are there.
  tensor = closeUnitAxes(builder, loc, tensor, from);
  unsigned unit = e.getNumDims();
  auto *place = to.begin();
  for (Axis &axis : from) {
    if (!axis.empty())
      continue;
    place = std::find_if(place, to.end(), [](const Axis &other) { return other.empty(); });
    if (place == to.end())
      break;
    axis.push_back(unit);
    place->push_back(unit++);
  }
  // Nothing to do but perhaps other axes of the same order.
  SmallVector<unsigned> before, after;
  for (const Axis &axis : from)
    llvm::append_range(before, axis);
  for (const Axis &axis : to)
    llvm::append_range(after, axis);
  if (from == to)
    return tensor;
  tensor = splitAxes(e, builder, loc, tensor, from);
  SmallVector<int64_t> permutation = llvm::map_to_vector(
      after, [&](unsigned dim) { return llvm::find(before, dim) - before.begin(); });
  tensor = transpose(builder, loc, tensor, permutation);
  return joinAxes(e, builder, loc, tensor, to);
}

//===-- Laying out ---------------------------------------------------------------------------===//

namespace {
/// An axis of a tensor read at offset + stride * (dims as digits).
struct Digits {
  Axis dims; ///< outermost first
  AffineExpr offset;
  int64_t stride = 1;
};
} // namespace

/// Reads an index as digits of dims; nothing if it is not that.
static std::optional<Digits> getDigits(Expressions &e, AffineExpr index) {
  SmallVector<std::pair<AffineExpr, unsigned>> terms; // factor, dim
  AffineExpr offset = getAffineConstantExpr(0, e.getContext());
  std::function<bool(AffineExpr)> visit = [&](AffineExpr part) {
    if (part.isSymbolicOrConstant()) {
      offset = offset + part;
      return true;
    }
    if (auto dim = dyn_cast<AffineDimExpr>(part)) {
      terms.push_back({getAffineConstantExpr(1, e.getContext()), dim.getPosition()});
      return true;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (!binary)
      return false;
    if (binary.getKind() == AffineExprKind::Add)
      return visit(binary.getLHS()) && visit(binary.getRHS());
    auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
    if (binary.getKind() != AffineExprKind::Mul || !dim || !binary.getRHS().isSymbolicOrConstant())
      return false;
    terms.push_back({binary.getRHS(), dim.getPosition()});
    return true;
  };
  if (!visit(index))
    return std::nullopt;
  Digits digits;
  digits.offset = e.simplify(offset);
  if (terms.empty())
    return digits;
  // The innermost digit has a constant factor; each next one's is that of the last times its
  // extent.
  unsigned innermost = ~0u;
  for (auto [i, term] : llvm::enumerate(terms)) {
    std::optional<int64_t> number = getInteger(term.first);
    if (!number || *number <= 0)
      continue;
    if (innermost == ~0u || *number < digits.stride) {
      innermost = i;
      digits.stride = *number;
    }
  }
  if (innermost == ~0u)
    return std::nullopt;
  AffineExpr wanted = terms[innermost].first;
  llvm::SmallBitVector used(terms.size());
  unsigned current = innermost;
  while (true) {
    used.set(current);
    digits.dims.insert(digits.dims.begin(), terms[current].second);
    wanted = e.simplify(wanted * e.getExtent(terms[current].second));
    unsigned next = ~0u;
    for (auto [i, term] : llvm::enumerate(terms))
      if (!used.test(i) && e.simplify(term.first) == wanted)
        next = i;
    if (next == ~0u)
      break;
    current = next;
  }
  if (!used.all())
    return std::nullopt;
  return digits;
}

std::optional<Axis> raise::getAxis(Expressions &e, Expr index) {
  if (index->isConstant())
    return index->integer == 0 ? std::optional(Axis()) : std::nullopt;
  if (index->kind != Node::Kind::Index)
    return std::nullopt;
  std::optional<Digits> digits = getDigits(e, index->affine);
  if (!digits || digits->stride != 1 || digits->offset != getAffineConstantExpr(0, e.getContext()))
    return std::nullopt;
  return digits->dims;
}

/// Splits axes that are read in steps longer than what is read of each, 24 * h + d with d < 8, in
/// two: steps and places within one. The axis must hold whole steps.
static void splitSteps(Expressions &e, OpBuilder &builder, Location loc, Value &tensor,
                       SmallVectorImpl<Expr> &indices) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> groups;
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> sizes;
  SmallVector<Expr> places;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    Expr index = indices[axis];
    groups.emplace_back();
    auto add = [&](Expr place, int64_t size) {
      groups.back().push_back(shape.size());
      places.push_back(place);
      shape.push_back(size);
      sizes.push_back(ShapedType::isDynamic(size) ? toSize(e, builder, loc, e.getSize(tensor, axis))
                                                  : OpFoldResult(builder.getIndexAttr(size)));
    };
    int64_t size = type.getDimSize(axis), step = 0;
    AffineExpr affine = index->getAffine();
    if (affine && !ShapedType::isDynamic(size) && !getDigits(e, affine))
      for (unsigned dim : index->dims.set_bits()) {
        std::optional<int64_t> factor = e.getFactor(affine, dim);
        if (factor && *factor > 1 && size % *factor == 0 && !step &&
            getDigits(e, e.simplify(affine.floorDiv(*factor))) &&
            getDigits(e, e.simplify(affine % *factor)))
          step = *factor;
      }
    if (step) {
      add(e.index(affine.floorDiv(step)), size / step);
      add(e.index(affine % step), step);
    } else {
      add(index, size);
    }
  }
  if (places.size() == indices.size())
    return;
  tensor = tensor::ExpandShapeOp::create(builder, loc, type.clone(shape), tensor, groups, sizes);
  indices = places;
}

/// The place in two axes together, of which the inner one, of `size`, is read at a remainder: x
/// where they are read at x / size and x % size. Null if no dims are digits of the inner axis then.
static AffineExpr joinIndices(Expressions &e, AffineExpr outer, AffineExpr inner, int64_t size) {
  auto rest = dyn_cast_or_null<AffineBinaryOpExpr>(inner);
  if (!outer || !rest || rest.getKind() != AffineExprKind::Mod || getInteger(rest.getRHS()) != size)
    return {};
  AffineExpr whole = rest.getLHS(), steps = e.simplify(outer - whole.floorDiv(size));
  return e.simplify(whole + steps * size);
}

/// Joins neighbouring axes that digits of one dim are spread over, d / 64 and d % 64, to one.
static void joinDigits(Expressions &e, OpBuilder &builder, Location loc, Value &tensor,
                       SmallVectorImpl<Expr> &indices) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<ReassociationIndices> groups;
  SmallVector<Expr> places;
  SmallVector<int64_t> shape;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    int64_t size = type.getDimSize(axis);
    AffineExpr joined;
    if (!places.empty() && !ShapedType::isDynamic(size) && !ShapedType::isDynamic(shape.back()))
      joined = joinIndices(e, places.back()->getAffine(), index->getAffine(), size);
    if (joined) {
      places.back() = e.index(joined);
      shape.back() *= size;
      groups.back().push_back(axis);
    } else {
      places.push_back(index);
      shape.push_back(size);
      groups.push_back({static_cast<int64_t>(axis)});
    }
  }
  bool areDigits = llvm::all_of(places, [&](Expr place) {
    AffineExpr affine = place->getAffine();
    return affine && getDigits(e, affine);
  });
  if (places.size() == indices.size() || !areDigits)
    return;
  tensor = tensor::CollapseShapeOp::create(builder, loc, type.clone(shape), tensor, groups);
  indices = places;
}

Value raise::layOut(Expressions &e, OpBuilder &builder, Location loc, Value tensor,
                    ArrayRef<Expr> given, ArrayRef<Axis> axes) {
  SmallVector<Expr> indices(given);
  joinDigits(e, builder, loc, tensor, indices);
  splitSteps(e, builder, loc, tensor, indices);
  auto fallBack = [&] { return compute(e, builder, loc, e.element(tensor, indices), axes); };
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Axis> found;
  llvm::SmallDenseSet<unsigned> seen;
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> shape;
  bool slices = false;
  for (auto [axis, index] : llvm::enumerate(indices)) {
    AffineExpr affine = index->getAffine();
    std::optional<Digits> digits = affine ? getDigits(e, affine) : std::nullopt;
    if (!digits)
      return fallBack();
    for (unsigned dim : digits->dims)
      if (!seen.insert(dim).second)
        return fallBack();
    AffineExpr extent = getExtent(e, digits->dims);
    AffineExpr size = e.getSize(tensor, axis);
    slices |= digits->stride != 1 || extent != size ||
              digits->offset != getAffineConstantExpr(0, e.getContext());
    offsets.push_back(toSize(e, builder, loc, digits->offset));
    sizes.push_back(toSize(e, builder, loc, extent));
    strides.push_back(builder.getIndexAttr(digits->stride));
    found.push_back(digits->dims);
  }
  if (slices) {
    tensor =
        tensor::ExtractSliceOp::create(builder, loc, getTensorType(e, found, type.getElementType()),
                                       tensor, offsets, sizes, strides);
  }
  // Dims that are missing: more axes, at first outermost.
  SmallVector<unsigned> missing;
  for (const Axis &axis : axes)
    for (unsigned dim : axis)
      if (!seen.contains(dim))
        missing.push_back(dim);
  // Dims that nobody asked for cannot be there.
  llvm::SmallDenseSet<unsigned> wanted;
  for (const Axis &axis : axes)
    wanted.insert(axis.begin(), axis.end());
  if (llvm::any_of(seen, [&](unsigned dim) { return !wanted.contains(dim); }))
    return {};
  if (!missing.empty()) {
    // Unit axes are dropped on the way, so that the broadcast is of dims alone.
    tensor = splitAxes(e, builder, loc, tensor, found);
    SmallVector<Axis> single, all;
    for (const Axis &axis : found)
      for (unsigned dim : axis)
        single.push_back({dim});
    SmallVector<int64_t> added;
    for (unsigned dim : missing) {
      added.push_back(all.size());
      all.push_back({dim});
    }
    llvm::append_range(all, single);
    Value empty = tensor::EmptyOp::create(builder, loc, getSizes(e, builder, loc, all),
                                          type.getElementType());
    tensor = linalg::BroadcastOp::create(builder, loc, tensor, empty, added).getResult()[0];
    found = all;
  }
  return rearrange(e, builder, loc, tensor, found, axes);
}

Value raise::toElementType(OpBuilder &builder, Location loc, Value value, Type element) {
  Type old = getElementTypeOrSelf(value.getType());
  if (old == element)
    return value;
  auto shaped = dyn_cast<RankedTensorType>(value.getType());
  Type type = shaped ? Type(shaped.clone(element)) : element;
  bool widens = old.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth();
  if (isa<FloatType>(element))
    return widens ? arith::ExtFOp::create(builder, loc, type, value).getResult()
                  : arith::TruncFOp::create(builder, loc, type, value).getResult();
  return widens ? arith::ExtSIOp::create(builder, loc, type, value).getResult()
                : arith::TruncIOp::create(builder, loc, type, value).getResult();
}

//===-- Computing ----------------------------------------------------------------------------===//

Value raise::emitScalar(OpBuilder &builder, Location loc, Expr expr,
                        llvm::function_ref<Value(Expr)> leaf, llvm::DenseMap<Expr, Value> &done) {
  if (Value found = done.lookup(expr))
    return found;
  Value value;
  if (expr->isConstant()) {
    TypedAttr attribute = expr->real ? TypedAttr(expr->real)
                                     : TypedAttr(builder.getIntegerAttr(expr->type, expr->integer));
    value = arith::ConstantOp::create(builder, loc, attribute);
  } else if (Value given = leaf(expr)) {
    value = given;
  } else if (expr->kind == Node::Kind::Compute) {
    SmallVector<Value> operands;
    for (Expr arg : expr->args) {
      operands.push_back(emitScalar(builder, loc, arg, leaf, done));
      if (!operands.back())
        return {};
    }
    OperationState state(loc, expr->name.getValue(), operands, expr->type, expr->attrs.getValue());
    value = builder.create(state)->getResult(0);
  }
  if (value)
    done[expr] = value;
  return value;
}

Value raise::compute(Expressions &e, OpBuilder &builder, Location loc, Expr expr,
                     ArrayRef<Axis> axes) {
  MLIRContext *context = builder.getContext();
  if (expr->type.isIndex()) // has no place in memory
    return {};
  SmallVector<Axis> single;
  SmallVector<unsigned> loopOf(e.getNumDims(), ~0u);
  for (const Axis &axis : axes)
    for (unsigned dim : axis) {
      loopOf[dim] = single.size();
      single.push_back({dim});
    }
  for (unsigned dim : expr->dims.set_bits())
    if (loopOf[dim] == ~0u)
      return {};
  Value empty =
      tensor::EmptyOp::create(builder, loc, getSizes(e, builder, loc, single), expr->type);
  AffineMap identity = AffineMap::getMultiDimIdentityMap(single.size(), context);
  SmallVector<utils::IteratorType> kinds(single.size(), utils::IteratorType::parallel);
  bool sound = true;
  OpBuilder outside(builder); // `builder` itself moves into the body
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(empty.getType()), ValueRange(), ValueRange(empty), {identity}, kinds,
      [&](OpBuilder &body, Location loc, ValueRange) {
        llvm::DenseMap<Expr, Value> done;
        SmallVector<Value> dims(e.getNumDims());
        Value zero = arith::ConstantIndexOp::create(body, loc, 0);
        for (unsigned dim = 0; dim < e.getNumDims(); ++dim)
          dims[dim] = loopOf[dim] == ~0u ? zero : linalg::IndexOp::create(body, loc, loopOf[dim]);
        std::function<Value(Expr)> leaf = [&](Expr part) -> Value {
          if (part->kind == Node::Kind::Index) {
            Value index = e.materialize(body, loc, part->affine, dims, &outside);
            if (!part->type.isIndex())
              index = arith::IndexCastOp::create(body, loc, part->type, index);
            return index;
          }
          Value tensor = part->tensor;
          SmallVector<Expr> at(part->args.begin(), part->args.end());
          if (part->kind == Node::Kind::Reduce)
            std::tie(tensor, at) = e.getHome(part);
          else if (part->kind != Node::Kind::Element)
            return {};
          if (!tensor)
            return {};
          SmallVector<Value> places;
          for (Expr index : at) {
            places.push_back(emitScalar(body, loc, index, leaf, done));
            if (!places.back())
              return {};
          }
          return tensor::ExtractOp::create(body, loc, tensor, places);
        };
        Value value = emitScalar(body, loc, expr, leaf, done);
        sound = static_cast<bool>(value);
        if (!value)
          value = arith::ConstantOp::create(body, loc, body.getZeroAttr(expr->type));
        linalg::YieldOp::create(body, loc, value);
      });
  if (!sound) {
    generic.erase();
    return {};
  }
  return joinAxes(e, builder, loc, generic.getResult(0), axes);
}
