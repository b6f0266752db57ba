// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements chosen by numbers in tensors. Numbers that are known make slices; others are read inside
// of the loops, counted from the end where negative, and kept inside of the tensor. Scatters look,
// for each element, through all updates: right for any numbers, slow for many.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// `number` as an index inside [0, size).
static Value toIndex(ImplicitLocOpBuilder &b, Value number, Value size, bool isNatural = false) {
  Value index = number.getType().isIndex()
                    ? number
                    : arith::IndexCastOp::create(b, b.getIndexType(), number).getResult();
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  if (!isNatural) {
    Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, zero);
    Value fromEnd = arith::AddIOp::create(b, index, size);
    index = arith::SelectOp::create(b, isNegative, fromEnd, index);
  }
  Value last = arith::SubIOp::create(b, size, one);
  return arith::MaxSIOp::create(b, arith::MinSIOp::create(b, index, last), zero);
}

/// The place that an element counts from the front; null if that cannot be seen.
static Sym normalize(Symbols &s, Sym at, Sym size) {
  std::optional<int64_t> low = s.lowerBound(at), high = s.upperBound(at);
  if (high && *high < 0)
    at = s.add(at, size);
  else if (!low || *low < 0)
    return nullptr;
  return at;
}

static LogicalResult importGather(Importer &im) {
  Data *x = im.input(0), *ids = im.input(1);
  if (!x || !ids || isFloat(ids->type))
    return im.invalid("expects data and integer indices");
  TRY(int64_t axis, im.axis(im.integer("axis", 0), x->rank()));
  Symbols &s = im.symbols;
  Sym size = x->shape[axis];
  SmallVector<Sym> shape(x->shape.begin(), x->shape.begin() + axis);
  shape.append(ids->shape.begin(), ids->shape.end());
  shape.append(x->shape.begin() + axis + 1, x->shape.end());

  if (const std::vector<Element> *known = im.elements(*ids); known && !known->empty()) {
    std::vector<Sym> places;
    for (const Element &e : *known) {
      Sym place = normalize(s, e.integer, size);
      if (!place)
        break;
      Sym rest = s.sub(s.sub(size, place), im.number(1));
      std::optional<int64_t> most = s.upperBound(rest), last = s.upperBound(place);
      if ((most && *most < 0) || (last && *last < 0))
        return im.invalid("expects indices inside of axis " + Twine(axis) + " of " +
                          im.describe(x->shape) + ", got " + im.describe(e.integer));
      if (s.lowerBound(place).value_or(-1) < 0)
        place = s.max(place, im.number(0));
      // A place that may lie outside is kept inside when the size is known.
      if (s.lowerBound(rest).value_or(-1) < 0)
        place = s.min(place, s.sub(size, im.number(1)));
      places.push_back(place);
    }
    // One place, or neighbours: a slice.
    bool areNeighbours = places.size() == known->size();
    for (size_t i = 1; i < places.size(); ++i)
      areNeighbours &= s.sub(places[i], places[i - 1]) == im.number(1);
    if (areNeighbours) {
      TRY(auto *slice, im.slice(*x, axis, places.front(), im.number(places.size())));
      return im.setResult(im.reshape(*slice, shape));
    }
    // Few places of a tensor whose elements are known: concatenated slices fold.
    if (places.size() == known->size() && (im.elements(*x) || places.size() <= 8)) {
      SmallVector<Data *> parts;
      for (Sym place : places) {
        TRY(auto *part, im.slice(*x, axis, place, im.number(1)));
        parts.push_back(part);
      }
      TRY(auto *joined, im.concat(parts, axis));
      return im.setResult(im.reshape(*joined, shape));
    }
  }
  bool isTable = x->rank() == 2 && axis == 0 && isFloat(x->type) && x->stored && ids->rank() >= 1 &&
                 size != im.number(0) &&
                 (ids->type == DataType::Int64 || ids->type == DataType::Int32);
  if (isTable) {
    Value result =
        EmbeddingOp::create(im.b, im.typeOf(x->type, shape), im.value(*ids), im.value(*x));
    return im.setResult(im.make(x->type, shape, result));
  }
  Value data = im.value(*x), numbers = im.value(*ids), extent = s.materialize(size);
  return im.setResult(im.generate(x->type, shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
    Value number = tensor::ExtractOp::create(b, numbers, at.slice(axis, ids->rank()));
    SmallVector<Value> from(at.begin(), at.begin() + axis);
    from.push_back(toIndex(b, number, extent, isUnsigned(ids->type)));
    from.append(at.begin() + axis + ids->rank(), at.end());
    return tensor::ExtractOp::create(b, data, from).getResult();
  }));
}

static LogicalResult importGatherElements(Importer &im) {
  Data *x = im.input(0), *ids = im.input(1);
  if (!x || !ids || isFloat(ids->type) || ids->rank() != x->rank())
    return im.invalid("expects data and integer indices of one rank");
  TRY(int64_t axis, im.axis(im.integer("axis", 0), x->rank()));
  Value data = im.value(*x), numbers = im.value(*ids),
        extent = im.symbols.materialize(x->shape[axis]);
  return im.setResult(
      im.generate(x->type, ids->shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
        Value number = tensor::ExtractOp::create(b, numbers, at);
        SmallVector<Value> from(at);
        from[axis] = toIndex(b, number, extent);
        return tensor::ExtractOp::create(b, data, from).getResult();
      }));
}

static LogicalResult importGatherNd(Importer &im) {
  Data *x = im.input(0), *ids = im.input(1);
  int64_t batch = im.integer("batch_dims", 0);
  if (!x || !ids || isFloat(ids->type) || ids->rank() < 1 || batch < 0 || batch >= ids->rank())
    return im.invalid("expects data, and integer indices of a rank above batch_dims");
  std::optional<int64_t> width = Symbols::known(ids->shape.back());
  if (!width || *width < 1 || batch + *width > x->rank())
    return im.unsupported("indices whose last axis is open or longer than the data's rank");
  SmallVector<Sym> shape(ids->shape.begin(), ids->shape.end() - 1);
  int64_t places = shape.size();
  shape.append(x->shape.begin() + batch + *width, x->shape.end());
  SmallVector<Value> extents;
  for (int64_t i = 0; i < *width; ++i)
    extents.push_back(im.symbols.materialize(x->shape[batch + i]));
  Value data = im.value(*x), numbers = im.value(*ids);
  return im.setResult(im.generate(x->type, shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
    SmallVector<Value> from(at.begin(), at.begin() + batch);
    for (int64_t i = 0; i < *width; ++i) {
      SmallVector<Value> place(at.begin(), at.begin() + places);
      place.push_back(arith::ConstantIndexOp::create(b, i));
      from.push_back(toIndex(b, tensor::ExtractOp::create(b, numbers, place), extents[i]));
    }
    from.append(at.begin() + places, at.end());
    return tensor::ExtractOp::create(b, data, from).getResult();
  }));
}

//===-- Scatters
//-----------------------------------------------------------------------------------===//

static bool isReduction(StringRef how) {
  return how == "none" || how == "add" || how == "mul" || how == "max" || how == "min";
}

/// What an update does to the element that it meets.
static Value combine(ImplicitLocOpBuilder &b, StringRef how, DataType type, Value old,
                     Value update) {
  using Kind = Importer::Reduction;
  if (how == "none")
    return update;
  Kind kind = how == "add"   ? Kind::Sum
              : how == "mul" ? Kind::Product
              : how == "max" ? Kind::Max
                             : Kind::Min;
  return Importer::combine(b, type, kind, old, update);
}

/// A generic over the axes of `x` and one loop more, of `count` steps, that starts from x. `update`
/// gives for an element's indices and a step whether it is met, and by what.
static Data *scatter(
    Importer &im, Data &x, Sym count, StringRef how,
    function_ref<std::pair<Value, Value>(ImplicitLocOpBuilder &, ArrayRef<Value>, Value)> update) {
  ImplicitLocOpBuilder &b = im.b;
  unsigned rank = x.rank();
  // The extra loop needs an operand that tells its size: a line of falses, read in step.
  Value line = im.value(*im.full(DataType::Bool, {count}, im.integerElement(0)));
  SmallVector<AffineMap> maps{
      AffineMap::get(rank + 1, 0, {b.getAffineDimExpr(rank)}, b.getContext()),
      b.getMultiDimIdentityMap(rank + 1).getMajorSubMap(rank)};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  Value init = im.value(x);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{init.getType()}, ValueRange{line}, ValueRange{init}, maps, kinds,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ImplicitLocOpBuilder inner(loc, nested);
        SmallVector<Value> at;
        for (unsigned i = 0; i < rank; ++i)
          at.push_back(linalg::IndexOp::create(inner, i));
        auto [isMet, value] = update(inner, at, linalg::IndexOp::create(inner, rank));
        Value combined = combine(inner, how, x.type, v[1], value);
        linalg::YieldOp::create(inner,
                                arith::SelectOp::create(inner, isMet, combined, v[1]).getResult());
      });
  return im.make(x.type, x.shape, generic.getResult(0));
}

/// True where the number, counted from the end if negative, is this index.
static Value isAt(ImplicitLocOpBuilder &b, Value number, Value index, Value size) {
  Value cast = arith::IndexCastOp::create(b, b.getIndexType(), number);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value isNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, cast, zero);
  Value fromEnd = arith::AddIOp::create(b, cast, size);
  Value place = arith::SelectOp::create(b, isNegative, fromEnd, cast);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, place, index);
}

static LogicalResult importScatterElements(Importer &im) {
  Data *x = im.input(0), *ids = im.input(1), *updates = im.input(2);
  std::string how = im.text("reduction", "none");
  if (!x || !ids || !updates || isFloat(ids->type) || ids->rank() != x->rank() ||
      updates->rank() != x->rank() || x->rank() == 0 || !isReduction(how) ||
      updates->type != x->type)
    return im.invalid("expects data and updates of one element type, integer indices, all of one "
                      "rank above 0, and reduction none, add, mul, max or min");
  TRY(int64_t axis, im.axis(im.integer("axis", 0), x->rank()));
  Value numbers = im.value(*ids), values = im.value(*updates);
  SmallVector<Value> extents =
      llvm::map_to_vector(ids->shape, [&](Sym size) { return im.symbols.materialize(size); });
  Value size = im.symbols.materialize(x->shape[axis]);
  return im.setResult(scatter(
      im, *x, ids->shape[axis], how, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at, Value step) {
        // Updates may be fewer than elements along the other axes too.
        SmallVector<Value> place(at);
        Value isInside;
        for (size_t i = 0; i < place.size(); ++i) {
          if (static_cast<int64_t>(i) == axis || ids->shape[i] == x->shape[i])
            continue;
          Value bit = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at[i], extents[i]);
          isInside = isInside ? arith::AndIOp::create(b, isInside, bit).getResult() : bit;
          place[i] = toIndex(b, at[i], extents[i], true);
        }
        place[axis] = step;
        Value number = tensor::ExtractOp::create(b, numbers, place);
        Value isMet = isAt(b, number, at[axis], size);
        if (isInside)
          isMet = arith::AndIOp::create(b, isMet, isInside);
        Value value = tensor::ExtractOp::create(b, values, place);
        return std::make_pair(isMet, value);
      }));
}

static LogicalResult importScatterNd(Importer &im) {
  Data *x = im.input(0), *ids = im.input(1), *updates = im.input(2);
  std::string how = im.text("reduction", "none");
  if (!x || !ids || !updates || isFloat(ids->type) || ids->rank() < 1 || !isReduction(how) ||
      updates->type != x->type)
    return im.invalid("expects data and updates of one element type, integer indices, and "
                      "reduction none, add, mul, max or min");
  std::optional<int64_t> width = Symbols::known(ids->shape.back());
  if (!width || *width < 1 || *width > x->rank())
    return im.unsupported("indices whose last axis is open or longer than the data's rank");
  // All places in one line: [N, K] and [N, rest...].
  Sym count = im.number(1);
  for (Sym size : ArrayRef(ids->shape).drop_back())
    count = im.symbols.mul(count, size);
  SmallVector<Sym> idShape{count, ids->shape.back()}, updateShape{count};
  updateShape.append(x->shape.begin() + *width, x->shape.end());
  TRY(ids, im.reshape(*ids, idShape));
  TRY(updates, im.reshape(*updates, updateShape));
  Value numbers = im.value(*ids), values = im.value(*updates);
  SmallVector<Value> extents;
  for (int64_t i = 0; i < *width; ++i)
    extents.push_back(im.symbols.materialize(x->shape[i]));
  return im.setResult(
      scatter(im, *x, count, how, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at, Value step) {
        Value isMet;
        for (int64_t i = 0; i < *width; ++i) {
          SmallVector<Value> place{step, arith::ConstantIndexOp::create(b, i)};
          Value number = tensor::ExtractOp::create(b, numbers, place);
          Value bit = isAt(b, number, at[i], extents[i]);
          isMet = isMet ? arith::AndIOp::create(b, isMet, bit).getResult() : bit;
        }
        SmallVector<Value> place{step};
        place.append(at.begin() + *width, at.end());
        Value value = tensor::ExtractOp::create(b, values, place);
        return std::make_pair(isMet, value);
      }));
}

/// Only where all elements are known: the result's shape depends on them.
static LogicalResult importNonZero(Importer &im) {
  Data *x = im.input(0);
  const std::vector<Element> *known = im.elements(*x);
  SmallVector<int64_t> shape =
      llvm::map_to_vector(x->shape, [&](Sym size) { return Symbols::known(size).value_or(-1); });
  std::vector<int64_t> places;
  bool isKnown = known != nullptr;
  for (size_t i = 0; isKnown && i < known->size(); ++i) {
    const Element &e = (*known)[i];
    std::optional<int64_t> number = e.integer ? Symbols::known(e.integer) : (e.real != 0);
    isKnown = number.has_value();
    if (isKnown && *number)
      places.push_back(i);
  }
  if (!isKnown)
    return im.unsupported("a result whose size depends on what a tensor holds; expects a constant");
  std::vector<Element> result(places.size() * shape.size());
  for (auto [n, place] : llvm::enumerate(places)) {
    int64_t rest = place;
    for (size_t axis = shape.size(); axis-- > 0;) {
      result[axis * places.size() + n] = im.integerElement(rest % shape[axis]);
      rest /= shape[axis];
    }
  }
  SmallVector<Sym> resultShape =
      im.numbers({static_cast<int64_t>(shape.size()), static_cast<int64_t>(places.size())});
  return im.setResult(im.makeKnown(DataType::Int64, resultShape, std::move(result)));
}

void mlir::fovea::onnx::addIndexingOps(OpTable &table) {
  table.add("Gather", 13, importGather);
  table.add("GatherElements", 13, importGatherElements);
  table.add("GatherND", 13, importGatherNd);
  table.add("NonZero", 13, importNonZero);
  table.add("Scatter", 13, importScatterElements);
  table.add("ScatterElements", 13, importScatterElements);
  table.add("ScatterND", 13, importScatterNd);
}
