// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors under other shapes, orders and ranges. A reshape is proven group by group: axes whose
// products are one expression are joined and split apart again; what cannot be proven goes through
// one long axis.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

//===-- Reshape ------------------------------------------------------------------------------===//

namespace {
/// Neighbouring axes of both shapes that hold the same elements.
struct AxisGroup {
  SmallVector<int64_t> from, to;
};
} // namespace

static Sym productOf(Symbols &symbols, ArrayRef<Sym> shape, ArrayRef<int64_t> axes) {
  Sym result = symbols.constant(1);
  for (int64_t axis : axes)
    result = symbols.mul(result, shape[axis]);
  return result;
}

/// The finest groups that can be proven; one of all axes if nothing can.
static SmallVector<AxisGroup> groupAxes(Symbols &symbols, ArrayRef<Sym> from, ArrayRef<Sym> to) {
  SmallVector<AxisGroup> groups;
  int64_t i = 0, j = 0, fromRank = from.size(), toRank = to.size();
  while (i < fromRank && j < toRank) {
    AxisGroup group;
    group.from.push_back(i);
    group.to.push_back(j);
    Sym x = from[i++], y = to[j++];
    while (x != y && (i < fromRank || j < toRank)) {
      bool takeFrom = j >= toRank;
      if (i < fromRank && j < toRank) {
        // The side that divides the other needs more.
        if (symbols.divideExactly(y, x))
          takeFrom = true;
        else if (!symbols.divideExactly(x, y)) {
          std::optional<int64_t> a = Symbols::known(x), c = Symbols::known(y);
          takeFrom = a && c ? *a < *c : group.from.size() <= group.to.size();
        }
      }
      if (takeFrom) {
        group.from.push_back(i);
        x = symbols.mul(x, from[i++]);
      } else {
        group.to.push_back(j);
        y = symbols.mul(y, to[j++]);
      }
    }
    groups.push_back(std::move(group));
    if (x != y)
      break;
  }
  if (groups.empty())
    groups.emplace_back();
  // Ones at the end; or what could not be matched.
  for (; i < fromRank; ++i)
    groups.back().from.push_back(i);
  for (; j < toRank; ++j)
    groups.back().to.push_back(j);
  return groups;
}

/// Between a scalar, which has no axis to group, and ones.
static Value reshapeScalar(Importer &im, Data &data, ArrayRef<Sym> shape) {
  Value current = im.value(data);
  Type element = im.elementType(data.type);
  auto ones = [&](int64_t rank) {
    return RankedTensorType::get(SmallVector<int64_t>(rank, 1), element);
  };
  SmallVector<ReassociationIndices> none;
  if (data.rank() != 0) {
    if (!data.isStatic())
      current = tensor::CastOp::create(im.b, ones(data.rank()), current);
    current = tensor::CollapseShapeOp::create(im.b, ones(0), current, none);
  }
  if (shape.empty())
    return current;
  current = tensor::ExpandShapeOp::create(im.b, ones(shape.size()), current, none);
  if (current.getType() != im.typeOf(data.type, shape))
    current = tensor::CastOp::create(im.b, im.typeOf(data.type, shape), current);
  return current;
}

namespace {
/// A reshape as a collapse to one axis for each group, and an expansion of these.
struct Regrouping {
  SmallVector<ReassociationIndices> joined, split;
  SmallVector<Sym> middle;         ///< sizes between the two
  SmallVector<OpFoldResult> sizes; ///< of the result
};
} // namespace

static FailureOr<Regrouping> regroup(Importer &im, Data &data, ArrayRef<Sym> shape,
                                     ArrayRef<AxisGroup> groups) {
  Regrouping result;
  result.sizes.resize(shape.size());
  for (const AxisGroup &group : groups) {
    result.joined.emplace_back(group.from.begin(), group.from.end());
    result.split.emplace_back(group.to.begin(), group.to.end());
    Sym product = productOf(im.symbols, data.shape, group.from);
    result.middle.push_back(product);
    SmallVector<Sym> given =
        llvm::map_to_vector(group.to, [&](int64_t axis) { return shape[axis]; });
    // Where it is not proven that both sides hold as many elements, a call's plan checks it.
    if (Symbols::known(product) && product != productOf(im.symbols, shape, group.to) &&
        llvm::all_of(given, [](Sym size) { return Symbols::known(size); }))
      return im.invalid("expects a shape of " + Twine(*Symbols::known(product)) +
                        " elements, got " + im.describe(shape));
    for (auto [i, axis] : llvm::enumerate(group.to))
      result.sizes[axis] = im.symbols.mixed(given[i]);
  }
  return result;
}

/// Expands each axis to its group. Types have to agree: a size that the type of the whole fixes is
/// fixed for its only part.
static Value splitGroups(Importer &im, Value joined, const Regrouping &groups) {
  SmallVector<int64_t> typed;
  for (OpFoldResult size : groups.sizes) {
    auto attribute = dyn_cast<mlir::Attribute>(size);
    typed.push_back(attribute ? llvm::cast<IntegerAttr>(attribute).getInt() : ShapedType::kDynamic);
  }
  auto middleType = llvm::cast<RankedTensorType>(joined.getType());
  SmallVector<int64_t> middleSizes(middleType.getShape());
  for (auto [i, group] : llvm::enumerate(groups.split)) {
    bool isStatic = true;
    int64_t product = 1;
    for (int64_t axis : group) {
      isStatic &= !ShapedType::isDynamic(typed[axis]);
      product *= isStatic ? typed[axis] : 1;
    }
    middleSizes[i] = isStatic ? product : ShapedType::kDynamic;
  }
  Type element = middleType.getElementType();
  auto wantedType = RankedTensorType::get(middleSizes, element);
  if (wantedType != middleType)
    joined = tensor::CastOp::create(im.b, wantedType, joined);
  return tensor::ExpandShapeOp::create(im.b, RankedTensorType::get(typed, element), joined,
                                       groups.split, groups.sizes);
}

/// Known elements under another shape of as many; null if that is not known.
static Data *reshapeKnown(Importer &im, Data &data, ArrayRef<Sym> shape) {
  const std::vector<Element> *known = im.elements(data);
  if (!known)
    return nullptr;
  int64_t count = 1;
  for (Sym size : shape) {
    if (!Symbols::known(size))
      return nullptr;
    count *= *Symbols::known(size);
  }
  return count == static_cast<int64_t>(known->size()) ? im.makeKnown(data.type, shape, *known)
                                                      : nullptr;
}

FailureOr<Data *> Importer::reshape(Data &data, ArrayRef<Sym> shape) {
  if (ArrayRef<Sym>(data.shape) == shape)
    return &data;
  if (Data *known = reshapeKnown(*this, data, shape))
    return known;
  Sym symbol = symbolOf(data);
  auto finish = [&](Value result) {
    Data *reshaped = make(data.type, shape, result);
    reshaped->symbol = symbol;
    return reshaped;
  };
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, data.rank()));
  SmallVector<int64_t> allNew = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  Sym total = productOf(symbols, data.shape, all), wanted = productOf(symbols, shape, allNew);
  std::optional<int64_t> have = Symbols::known(total), want = Symbols::known(wanted);
  if (symbols.takeOverflow())
    return invalid("expects elements that can be counted in 64 bits, got " + describe(data.shape) +
                   " as " + describe(shape));
  if (have && want && *have != *want)
    return invalid("expects a shape of " + Twine(*have) + " elements, got one of " + Twine(*want));
  SmallVector<AxisGroup> groups = groupAxes(symbols, data.shape, shape);
  Value current = value(data);
  if (data.rank() == 0 || shape.empty())
    return finish(reshapeScalar(*this, data, shape));

  // A fixed number of elements of an open one, as where an exporter wrote traced sizes down. The
  // cast says that they are as many, which a call's plan checks.
  if (want && !have) {
    Data *flat = &data;
    if (data.rank() != 1) {
      TRY(flat, reshape(data, {total}));
    }
    Value exact = tensor::CastOp::create(b, typeOf(data.type, {wanted}), value(*flat));
    return reshape(*make(data.type, {wanted}, exact), shape);
  }

  TRY(Regrouping parts, regroup(*this, data, shape, groups));
  if (groups.size() < static_cast<size_t>(data.rank())) {
    current = tensor::CollapseShapeOp::create(b, current, parts.joined);
    // An open size times zero is zero, which collapsing does not say.
    if (RankedTensorType known = typeOf(data.type, parts.middle); current.getType() != known)
      current = tensor::CastOp::create(b, known, current);
  }
  if (groups.size() < shape.size())
    current = splitGroups(*this, current, parts);
  if (current.getType() != typeOf(data.type, shape))
    current = tensor::CastOp::create(b, typeOf(data.type, shape), current);
  return finish(current);
}

Data *Importer::unsqueeze(Data &data, ArrayRef<int64_t> sortedAxes) {
  SmallVector<Sym> shape(data.shape);
  for (int64_t axis : sortedAxes)
    shape.insert(shape.begin() + axis, number(1));
  return orZeros(reshape(data, shape), data.type, shape);
}

Data *Importer::squeeze(Data &data, ArrayRef<int64_t> sortedAxes) {
  SmallVector<Sym> shape;
  for (auto [i, size] : llvm::enumerate(data.shape))
    if (!llvm::is_contained(sortedAxes, static_cast<int64_t>(i)))
      shape.push_back(size);
  return orZeros(reshape(data, shape), data.type, shape);
}

Data *Importer::along(Data &parameter, int64_t axis, int64_t rank) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  axes.erase(axes.begin() + axis);
  return unsqueeze(parameter, axes);
}

//===-- Order and ranges
//-----------------------------------------------------------------------===//

/// The elements of a static result, each from the place that `from(index)` names.
static std::vector<Element>
gatherElements(const std::vector<Element> &source, ArrayRef<int64_t> sourceShape,
               ArrayRef<int64_t> shape,
               function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> from) {
  int64_t count = ShapedType::getNumElements(shape);
  std::vector<Element> result;
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    int64_t place = 0;
    for (auto [i, size] : llvm::zip(from(index), sourceShape))
      place = place * size + i;
    result.push_back(source[place]);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
  return result;
}

static std::optional<SmallVector<int64_t>> knownShape(ArrayRef<Sym> shape) {
  if (!llvm::all_of(shape, Symbols::known))
    return std::nullopt;
  return llvm::map_to_vector(shape, Symbols::typed);
}

Data *Importer::transpose(Data &data, ArrayRef<int64_t> permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, data.rank())))
    return &data;
  SmallVector<Sym> shape =
      llvm::map_to_vector(permutation, [&](int64_t axis) { return data.shape[axis]; });
  std::optional<SmallVector<int64_t>> source = knownShape(data.shape), target = knownShape(shape);
  if (const std::vector<Element> *known = elements(data); known && source)
    return makeKnown(data.type, shape,
                     gatherElements(*known, *source, *target, [&](ArrayRef<int64_t> index) {
                       SmallVector<int64_t> from(index.size());
                       for (auto [i, axis] : llvm::enumerate(permutation))
                         from[axis] = index[i];
                       return from;
                     }));
  Value operand = value(data);
  Value init = tensor::EmptyOp::create(b, symbols.mixed(shape), elementType(data.type));
  auto op = linalg::TransposeOp::create(b, operand, init, permutation);
  return make(data.type, shape, op->getResult(0));
}

FailureOr<Data *> Importer::slice(Data &data, int64_t axis, Sym offset, Sym size, int64_t step) {
  SmallVector<Sym> shape(data.shape);
  shape[axis] = size;
  if (size == data.shape[axis] && Symbols::known(offset) == 0 && step == 1)
    return &data;
  std::optional<SmallVector<int64_t>> source = knownShape(data.shape), target = knownShape(shape);
  std::optional<int64_t> first = Symbols::known(offset);
  if (const std::vector<Element> *known = elements(data); known && source && target && first)
    return makeKnown(data.type, shape,
                     gatherElements(*known, *source, *target, [&](ArrayRef<int64_t> index) {
                       SmallVector<int64_t> from(index);
                       from[axis] = *first + from[axis] * step;
                       return from;
                     }));
  if (step < 0) {
    // Backwards: an element is read from where its index says.
    Value operand = value(data), begin = symbols.materialize(offset);
    return generate(data.type, shape, [&](ImplicitLocOpBuilder &builder, ArrayRef<Value> indices) {
      SmallVector<Value> from(indices);
      Value stride = arith::ConstantIndexOp::create(builder, step);
      Value back = arith::MulIOp::create(builder, indices[axis], stride);
      from[axis] = arith::AddIOp::create(builder, begin, back);
      return tensor::ExtractOp::create(builder, operand, from).getResult();
    });
  }
  if (Symbols::known(size) == 0) {
    return make(data.type, shape,
                tensor::EmptyOp::create(b, symbols.mixed(shape), elementType(data.type)));
  }
  Value operand = value(data);
  SmallVector<OpFoldResult> offsets(shape.size(), b.getIndexAttr(0)),
      sizes = symbols.mixed(shape), strides(shape.size(), b.getIndexAttr(1));
  offsets[axis] = symbols.mixed(offset);
  strides[axis] = b.getIndexAttr(step);
  auto op =
      tensor::ExtractSliceOp::create(b, typeOf(data.type, shape), operand, offsets, sizes, strides);
  return make(data.type, shape, op);
}

FailureOr<Data *> Importer::concat(ArrayRef<Data *> parts, int64_t axis) {
  SmallVector<Sym> shape(parts.front()->shape);
  shape[axis] = number(0);
  SmallVector<Data *> real;
  bool areKnown = true;
  for (Data *part : parts) {
    if (part->type != parts.front()->type)
      return invalid("expects tensors of one element type, got " + nameOf(parts.front()->type) +
                     " and " + nameOf(part->type));
    if (part->rank() != static_cast<int64_t>(shape.size()))
      return invalid("expects tensors of one rank, got " + Twine(shape.size()) + " and " +
                     Twine(part->rank()));
    for (auto [i, size] : llvm::enumerate(part->shape)) {
      if (static_cast<int64_t>(i) == axis)
        continue;
      std::optional<int64_t> here = Symbols::known(shape[i]), there = Symbols::known(size);
      if (here && there && *here != *there)
        return invalid("expects tensors that differ in axis " + Twine(axis) + " only, got sizes " +
                       Twine(*here) + " and " + Twine(*there) + " of axis " + Twine(i));
      if (!here)
        shape[i] = size;
    }
    shape[axis] = symbols.add(shape[axis], part->shape[axis]);
    if (Symbols::known(part->shape[axis]) != 0)
      real.push_back(part);
    areKnown &= elements(*part) != nullptr;
  }
  if (real.size() == 1)
    return real.front();
  std::optional<SmallVector<int64_t>> target = knownShape(shape);
  if (areKnown && target) {
    int64_t outer = 1, inner = 1;
    for (auto [i, size] : llvm::enumerate(*target))
      (static_cast<int64_t>(i) < axis ? outer : inner) *=
          static_cast<int64_t>(i) == axis ? 1 : size;
    std::vector<Element> result;
    for (int64_t row = 0; row < outer; ++row)
      for (Data *part : parts) {
        int64_t count = *Symbols::known(part->shape[axis]) * inner;
        auto begin = part->elements->begin() + row * count;
        result.insert(result.end(), begin, begin + count);
      }
    if (result.size() <= 1024)
      return makeKnown(parts.front()->type, shape, std::move(result));
  }
  if (real.empty())
    return parts.front();
  SmallVector<Value> values = llvm::map_to_vector(real, [&](Data *part) { return value(*part); });
  RankedTensorType type = typeOf(parts.front()->type, shape);
  return make(parts.front()->type, shape, tensor::ConcatOp::create(b, type, axis, values));
}
