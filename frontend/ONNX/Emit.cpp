// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise code, broadcasting and casts, contractions and reductions: what most operators are
// made of. Known elements are computed here and make no code.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

//===-- Elementwise --------------------------------------------------------------------------===//

FailureOr<SmallVector<Sym>> Importer::broadcast(ArrayRef<ArrayRef<Sym>> shapes) {
  size_t rank = 0;
  for (ArrayRef<Sym> shape : shapes)
    rank = std::max(rank, shape.size());
  SmallVector<Sym> result(rank, number(1));
  for (ArrayRef<Sym> shape : shapes)
    for (auto [i, size] : llvm::enumerate(shape)) {
      Sym &here = result[rank - shape.size() + i];
      std::optional<int64_t> known = Symbols::known(size), before = Symbols::known(here);
      if (known == 1 || here == size)
        continue;
      if (known && before && *before != 1)
        return invalid("expects shapes that broadcast, got sizes " + Twine(*before) + " and " +
                       Twine(*known));
      // Of two open sizes neither is one: exporters trace with other sizes.
      if (before == 1 || (known && !before))
        here = size;
    }
  return result;
}

/// Where `shape` is read when the loops are the axes of `loops`: ones stay at 0.
static AffineMap broadcastMap(ArrayRef<Sym> shape, ArrayRef<Sym> loops, MLIRContext *context) {
  SmallVector<AffineExpr> results;
  size_t first = loops.size() - shape.size();
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool isOne = Symbols::known(size) == 1 && Symbols::known(loops[first + i]) != 1;
    results.push_back(isOne ? getAffineConstantExpr(0, context)
                            : getAffineDimExpr(first + i, context));
  }
  return AffineMap::get(loops.size(), 0, results, context);
}

/// Row-major place in `shape` of element `flat` of the broadcast shape `loops`.
static int64_t placeIn(ArrayRef<Sym> shape, ArrayRef<Sym> loops, int64_t flat) {
  int64_t place = 0, stride = 1;
  for (size_t i = 0; i < loops.size(); ++i) {
    size_t axis = loops.size() - 1 - i;
    int64_t size = *Symbols::known(loops[axis]), index = flat % size;
    flat /= size;
    if (i >= shape.size())
      continue;
    int64_t own = *Symbols::known(shape[shape.size() - 1 - i]);
    place += (own == 1 ? 0 : index) * stride;
    stride *= own;
  }
  return place;
}

/// How many elements a static shape has, if they are few enough to compute them here.
static std::optional<int64_t> countFew(ArrayRef<Sym> shape) {
  int64_t count = 1;
  for (Sym size : shape) {
    std::optional<int64_t> known = Symbols::known(size);
    if (!known)
      return std::nullopt;
    count = std::min<int64_t>(count * std::min<int64_t>(*known, 4096), 4096);
  }
  return count <= 1024 ? std::optional(count) : std::nullopt;
}

FailureOr<Data *> Importer::elementwise(DataType type, ArrayRef<Data *> operands, ScalarBody body,
                                        bool isOneOp, FoldBody fold) {
  SmallVector<ArrayRef<Sym>> shapes =
      llvm::map_to_vector(operands, [](Data *d) { return ArrayRef(d->shape); });
  TRY(SmallVector<Sym> shape, broadcast(shapes));

  std::optional<int64_t> count = countFew(shape);
  if (fold && count && llvm::all_of(operands, [&](Data *d) { return elements(*d); })) {
    std::vector<Element> results;
    for (int64_t i = 0; i < *count; ++i) {
      SmallVector<Element> here = llvm::map_to_vector(
          operands, [&](Data *d) { return (*d->elements)[placeIn(d->shape, shape, i)]; });
      std::optional<Element> result = fold(here);
      if (!result)
        break;
      if (!result->integer)
        result->real = roundTo(type, result->real);
      results.push_back(*result);
    }
    if (static_cast<int64_t>(results.size()) == *count)
      return makeKnown(type, shape, std::move(results));
  }

  // Numbers stand in the body; all else is read in step.
  SmallVector<std::optional<Element>> known =
      llvm::map_to_vector(operands, [&](Data *operand) { return scalar(*operand); });
  bool allKnown = llvm::all_of(known, [](auto &k) { return k.has_value(); });
  bool areEqual = true;
  SmallVector<Value> values;
  for (auto [operand, element] : llvm::zip(operands, known)) {
    if (allKnown)
      element.reset();
    areEqual &= !element && ArrayRef<Sym>(operand->shape) == ArrayRef<Sym>(shape);
    values.push_back(element ? Value() : value(*operand));
  }
  RankedTensorType resultType = typeOf(type, shape);
  if (areEqual && isOneOp)
    return make(type, shape, body(b, values));

  SmallVector<Value> inputs, outside(operands.size());
  SmallVector<AffineMap> maps;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (values[i]) {
      inputs.push_back(values[i]);
      maps.push_back(broadcastMap(operand->shape, shape, b.getContext()));
    } else if (known[i]->integer && !Symbols::known(known[i]->integer)) {
      outside[i] = scalarConstant(elementType(operand->type), *known[i]);
    }
  }
  maps.push_back(b.getMultiDimIdentityMap(shape.size()));
  Value init = tensor::EmptyOp::create(b, symbols.mixed(shape), resultType.getElementType());
  SmallVector<utils::IteratorType> loops(shape.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{resultType}, inputs, ValueRange{init}, maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        SmallVector<Value> elements;
        size_t next = 0;
        for (size_t i = 0; i < operands.size(); ++i)
          elements.push_back(values[i] ? arguments[next++]
                             : outside[i]
                                 ? outside[i]
                                 : scalarConstant(elementType(operands[i]->type), *known[i]));
        linalg::YieldOp::create(b, body(b, elements));
      });
  return make(type, shape, generic.getResult(0));
}

FailureOr<Data *> Importer::expand(Data &data, ArrayRef<Sym> shape) {
  Data target;
  SmallVector<ArrayRef<Sym>> shapes{data.shape, shape};
  TRY(SmallVector<Sym> common, broadcast(shapes));
  if (ArrayRef<Sym>(data.shape) == ArrayRef<Sym>(common))
    return &data;
  if (failed(checkSizes(data.type, common)))
    return failure();
  std::optional<int64_t> count = countFew(common);
  if (const std::vector<Element> *known = elements(data); known && count) {
    std::vector<Element> results;
    for (int64_t i = 0; i < *count; ++i)
      results.push_back((*known)[placeIn(data.shape, common, i)]);
    return makeKnown(data.type, common, std::move(results));
  }
  if (std::optional<Element> element = scalar(data))
    return constant(data.type, common, *element);
  Value source = value(data);
  RankedTensorType type = typeOf(data.type, common);
  SmallVector<OpFoldResult> sizes = symbols.mixed(common);
  // Only open sizes that are taken as equal differ: the same elements.
  bool addsNothing = data.shape.size() == common.size();
  for (auto [own, size] : llvm::zip(data.shape, common))
    addsNothing = addsNothing && (Symbols::known(own) != 1 || Symbols::known(size) == 1);
  if (addsNothing) {
    data.value = source;
    return make(data.type, data.shape, source);
  }
  Value init = tensor::EmptyOp::create(b, sizes, type.getElementType());
  SmallVector<AffineMap> maps{broadcastMap(data.shape, common, b.getContext()),
                              b.getMultiDimIdentityMap(common.size())};
  SmallVector<utils::IteratorType> loops(common.size(), utils::IteratorType::parallel);
  auto generic =
      linalg::GenericOp::create(b, TypeRange{type}, ValueRange{source}, ValueRange{init}, maps,
                                loops, [](OpBuilder &inner, Location loc, ValueRange arguments) {
                                  linalg::YieldOp::create(inner, loc, arguments.front());
                                });
  return make(data.type, common, generic.getResult(0));
}

FailureOr<Data *> Importer::constant(DataType type, ArrayRef<Sym> shape, const Element &element) {
  // A few bytes of a model make a constant of any size, which the compiler holds several times.
  constexpr int64_t kMostBytes = int64_t(1) << 28;
  if (failed(checkSizes(type, shape)))
    return failure();
  if (llvm::all_of(shape, [](Sym s) { return Symbols::known(s); })) {
    int64_t bytes = std::max(1u, sizeOf(type));
    for (Sym size : shape) // of fewer than 2^48 bytes together, unless one is 0
      bytes = std::min(kMostBytes + 1, bytes) * std::min(kMostBytes + 1, *Symbols::known(size));
    if (bytes > kMostBytes)
      return unsupported("a constant of more than 2^28 bytes; expects an input of the model");
  }
  return full(type, shape, element);
}

Data *Importer::full(DataType type, ArrayRef<Sym> shape, const Element &element) {
  if (std::optional<int64_t> count = countFew(shape))
    return makeKnown(type, shape, std::vector<Element>(*count, element));
  bool isStatic = llvm::all_of(shape, [](Sym s) { return Symbols::known(s); });
  RankedTensorType tensor = typeOf(type, shape);
  bool isConstant = !element.integer || Symbols::known(element.integer);
  if (isStatic && isConstant) {
    Value scalar = scalarConstant(tensor.getElementType(), element);
    auto attribute = scalar.getDefiningOp<arith::ConstantOp>().getValue();
    scalar.getDefiningOp()->erase();
    return make(type, shape,
                arith::ConstantOp::create(b, DenseElementsAttr::get(tensor, attribute)));
  }
  SmallVector<Value> open = symbols.open(shape);
  Value scalar = scalarConstant(tensor.getElementType(), element);
  return make(type, shape, tensor::SplatOp::create(b, scalar, tensor.getShape(), open));
}

Data *Importer::generate(DataType type, ArrayRef<Sym> shape,
                         function_ref<Value(ImplicitLocOpBuilder &, ArrayRef<Value>)> body) {
  RankedTensorType resultType = typeOf(type, shape);
  Value init = tensor::EmptyOp::create(b, symbols.mixed(shape), resultType.getElementType());
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(shape.size())};
  SmallVector<utils::IteratorType> loops(shape.size(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{resultType}, ValueRange{}, ValueRange{init}, maps, loops,
      [&](OpBuilder &inner, Location loc, ValueRange) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        SmallVector<Value> indices;
        for (size_t i = 0; i < shape.size(); ++i)
          indices.push_back(linalg::IndexOp::create(b, i));
        linalg::YieldOp::create(b, body(b, indices));
      });
  return make(type, shape, generic.getResult(0));
}

Data *Importer::places(ArrayRef<Sym> shape, int64_t axis) {
  return generate(DataType::Int64, shape, [&](ImplicitLocOpBuilder &builder, ArrayRef<Value> i) {
    return arith::IndexCastOp::create(builder, builder.getI64Type(), i[axis]).getResult();
  });
}

Value Importer::filled(ArrayRef<OpFoldResult> sizes, TypedAttr element) {
  Value init = tensor::EmptyOp::create(b, sizes, element.getType());
  Value start = arith::ConstantOp::create(b, element);
  return linalg::FillOp::create(b, ValueRange{start}, ValueRange{init}).getResult(0);
}

//===-- Casts --------------------------------------------------------------------------------===//

/// One element of another type; to bool is "not zero".
static Value castElement(ImplicitLocOpBuilder &b, Value x, DataType from, DataType to, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(x.getType()))
    type = tensor.clone(type);
  Type source = getElementTypeOrSelf(x.getType()), target = getElementTypeOrSelf(type);
  unsigned narrow = source.getIntOrFloatBitWidth(), wide = target.getIntOrFloatBitWidth();
  if (isFloat(from) && isFloat(to)) {
    if (narrow == wide) // f16 and bf16, through f32
      return arith::TruncFOp::create(b, type, arith::ExtFOp::create(b, b.getF32Type(), x));
    return narrow < wide ? arith::ExtFOp::create(b, type, x).getResult()
                         : arith::TruncFOp::create(b, type, x).getResult();
  }
  if (isFloat(to))
    return isUnsigned(from) ? arith::UIToFPOp::create(b, type, x).getResult()
                            : arith::SIToFPOp::create(b, type, x).getResult();
  if (to == DataType::Bool) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(source));
    return isFloat(from) ? arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, zero).getResult()
                         : arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, zero).getResult();
  }
  if (isFloat(from))
    return isUnsigned(to) ? arith::FPToUIOp::create(b, type, x).getResult()
                          : arith::FPToSIOp::create(b, type, x).getResult();
  if (narrow == wide)
    return x;
  if (narrow > wide)
    return arith::TruncIOp::create(b, type, x);
  return isUnsigned(from) ? arith::ExtUIOp::create(b, type, x).getResult()
                          : arith::ExtSIOp::create(b, type, x).getResult();
}

Data *Importer::cast(Data &data, DataType type) {
  if (data.type == type)
    return &data;
  Type element = elementType(type);
  auto fold = [&](ArrayRef<Element> x) -> std::optional<Element> {
    std::optional<int64_t> known =
        x[0].integer ? Symbols::known(x[0].integer) : std::optional<int64_t>();
    if (isFloat(type)) {
      if (!x[0].integer)
        return x[0];
      if (!known)
        return std::nullopt;
      return Element{nullptr, static_cast<double>(*known)};
    }
    if (!x[0].integer) {
      if (type == DataType::Bool)
        return integerElement(x[0].real != 0);
      if (!(std::abs(x[0].real) < 9e18))
        return std::nullopt;
      return integerElement(static_cast<int64_t>(x[0].real));
    }
    if (type == DataType::Bool)
      return Element{symbols.sub(number(1), symbols.equal(x[0].integer, number(0))), 0};
    // Sizes fit; numbers may have to be cut.
    unsigned width = element.getIntOrFloatBitWidth();
    if (known && width < 64) {
      APInt bits = APInt(64, *known).trunc(width);
      return integerElement(isUnsigned(type) ? bits.getZExtValue() : bits.getSExtValue());
    }
    return x[0];
  };
  bool isOneOp = type != DataType::Bool &&
                 !(isFloat(data.type) && isFloat(type) && sizeOf(data.type) == sizeOf(type));
  if (!isFloat(data.type) && !isFloat(type) && type != DataType::Bool &&
      data.type != DataType::Bool && sizeOf(data.type) == sizeOf(type) && !data.elements &&
      !data.stored)
    return make(type, data.shape, value(data)); // only the sign's meaning changes
  Data *result = *elementwise(
      type, {&data},
      [&](ImplicitLocOpBuilder &builder, ValueRange x) {
        return castElement(builder, x[0], data.type, type, element);
      },
      isOneOp, fold);
  if (!isFloat(data.type) && type != DataType::Bool && !result->elements)
    result->symbol = symbolOf(data);
  return result;
}

//===-- Contractions and reductions
//------------------------------------------------------------===//

namespace {
/// An operand or the result of a contraction: a letter for each axis.
struct Lettered {
  Data &data;
  StringRef axes;

  Sym sizeOf(char letter) const {
    size_t at = axes.find(letter);
    return at == StringRef::npos ? nullptr : data.shape[at];
  }
};

using LetterSizes = llvm::SmallDenseMap<char, Sym>;
} // namespace

/// What size each letter has. An axis of one that the other operand has longer is broadcast; what
/// is summed is not.
static FailureOr<LetterSizes> findSizes(Importer &im, Lettered a, Lettered c,
                                        ArrayRef<char> letters, StringRef outAxes) {
  LetterSizes sizes;
  for (char letter : letters) {
    Sym x = a.sizeOf(letter), y = c.sizeOf(letter);
    if (!x || !y || x == y) {
      sizes[letter] = x ? x : y;
      continue;
    }
    std::optional<int64_t> left = Symbols::known(x), right = Symbols::known(y);
    bool differ = left && right && *left != *right;
    // One element is not repeated in a sum; the call checks open sizes.
    if (!outAxes.contains(letter) && differ)
      return im.invalid("expects axes of one size to sum over, got " + im.describe(x) + " and " +
                        im.describe(y));
    if (differ && left != 1 && right != 1)
      return im.invalid("expects axes of one size to multiply, got " + Twine(*left) + " and " +
                        Twine(*right));
    sizes[letter] = left == 1 || (right && *right != 1) ? y : x;
  }
  return sizes;
}

/// With its axes where `outAxes` has them, and of size one where it has none.
static Data *placeLike(Importer &im, Lettered x, StringRef outAxes) {
  SmallVector<int64_t> order, missing;
  for (auto [i, letter] : llvm::enumerate(outAxes)) {
    if (size_t at = x.axes.find(letter); at != StringRef::npos)
      order.push_back(at);
    else
      missing.push_back(i);
  }
  return im.unsqueeze(*im.transpose(x.data, order), missing);
}

/// Without axes of one that are broadcast; `kept` gets the letters that are left.
static Data *dropBroadcast(Importer &im, Lettered x, StringRef outAxes, const LetterSizes &sizes,
                           std::string &kept) {
  SmallVector<int64_t> dropped;
  for (auto [i, letter] : llvm::enumerate(x.axes)) {
    if (outAxes.contains(letter) && Symbols::known(x.data.shape[i]) == 1 &&
        Symbols::known(sizes.lookup(letter)) != 1)
      dropped.push_back(i);
    else
      kept += letter;
  }
  return dropped.empty() ? &x.data : im.squeeze(x.data, dropped);
}

FailureOr<Data *> Importer::contract(Data &a, StringRef aAxes, Data &c, StringRef cAxes,
                                     StringRef outAxes, DataType type) {
  if (a.type != c.type)
    return invalid("expects operands of one element type, got " + nameOf(a.type) + " and " +
                   nameOf(c.type));
  // Letters to loops: results first, then what is summed.
  SmallVector<char> letters(outAxes.begin(), outAxes.end());
  for (char letter : (aAxes + cAxes).str())
    if (!llvm::is_contained(letters, letter))
      letters.push_back(letter);
  TRY(LetterSizes sizes, findSizes(*this, {a, aAxes}, {c, cAxes}, letters, outAxes));
  // Nothing to sum: an outer product, element by element.
  if (letters.size() == outAxes.size())
    return binary("Mul", placeLike(*this, {a, aAxes}, outAxes),
                  placeLike(*this, {c, cAxes}, outAxes));
  std::string aKept, cKept;
  Data *left = dropBroadcast(*this, {a, aAxes}, outAxes, sizes, aKept);
  Data *right = dropBroadcast(*this, {c, cAxes}, outAxes, sizes, cKept);
  auto mapOf = [&](StringRef axes) {
    SmallVector<AffineExpr> results;
    for (char letter : axes)
      results.push_back(
          b.getAffineDimExpr(std::distance(letters.begin(), llvm::find(letters, letter))));
    return AffineMap::get(letters.size(), 0, results, b.getContext());
  };
  SmallVector<Sym> shape = llvm::map_to_vector(outAxes, [&](char letter) { return sizes[letter]; });
  // Sums of half precision are in f32.
  DataType sum = isFloat(type) && sizeOf(type) == 2 ? DataType::Float : type;
  RankedTensorType sumType = typeOf(sum, shape);
  Value init = filled(symbols.mixed(shape), b.getZeroAttr(sumType.getElementType()));
  SmallVector<Value> operands{value(*left), value(*right)};
  SmallVector<AffineMap> maps{mapOf(aKept), mapOf(cKept), mapOf(outAxes)};
  auto contraction = linalg::ContractOp::create(b, TypeRange{sumType}, operands, ValueRange{init},
                                                b.getAffineMapArrayAttr(maps));
  return cast(*make(sum, shape, contraction->getResult(0)), type);
}

FailureOr<Data *> Importer::matmul(Data &a, Data &c) {
  int64_t aRank = a.rank(), cRank = c.rank();
  if (!aRank || !cRank)
    return invalid("expects operands of rank 1 or more, got " + Twine(aRank) + " and " +
                   Twine(cRank));
  int64_t batch = std::max<int64_t>({aRank - 2, cRank - 2, 0});
  if (batch > 20)
    return unsupported("products of more than 20 batch axes");
  auto axesOf = [&](int64_t rank, StringRef own) {
    std::string axes;
    for (int64_t i = batch - std::max<int64_t>(rank - 2, 0); i < batch; ++i)
      axes += static_cast<char>('A' + i);
    return axes + own.str();
  };
  std::string aAxes = axesOf(aRank, aRank == 1 ? "k" : "mk"),
              cAxes = axesOf(cRank, cRank == 1 ? "k" : "kn"), out;
  for (int64_t i = 0; i < batch; ++i)
    out += static_cast<char>('A' + i);
  out += aRank == 1 ? "" : "m";
  out += cRank == 1 ? "" : "n";
  return contract(a, aAxes, c, cAxes, out, a.type);
}

Value Importer::combine(ImplicitLocOpBuilder &builder, DataType type, Reduction kind, Value x,
                        Value y) {
  bool real = isFloat(type), isU = isUnsigned(type);
  switch (kind) {
  case Reduction::Sum:
    return real ? arith::AddFOp::create(builder, x, y).getResult()
                : arith::AddIOp::create(builder, x, y).getResult();
  case Reduction::Product:
    return real ? arith::MulFOp::create(builder, x, y).getResult()
                : arith::MulIOp::create(builder, x, y).getResult();
  case Reduction::Max:
    return real  ? arith::MaximumFOp::create(builder, x, y).getResult()
           : isU ? arith::MaxUIOp::create(builder, x, y).getResult()
                 : arith::MaxSIOp::create(builder, x, y).getResult();
  case Reduction::Min:
    return real  ? arith::MinimumFOp::create(builder, x, y).getResult()
           : isU ? arith::MinUIOp::create(builder, x, y).getResult()
                 : arith::MinSIOp::create(builder, x, y).getResult();
  }
  llvm_unreachable("a kind of reduction");
}

TypedAttr Importer::firstOf(DataType type, Reduction kind) {
  Type element = elementType(type);
  if (auto real = dyn_cast<FloatType>(element)) {
    double infinity = std::numeric_limits<double>::infinity();
    return b.getFloatAttr(real, kind == Reduction::Sum       ? 0
                                : kind == Reduction::Product ? 1
                                : kind == Reduction::Max     ? -infinity
                                                             : infinity);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  bool isU = isUnsigned(type);
  APInt bits = kind == Reduction::Sum       ? APInt(width, 0)
               : kind == Reduction::Product ? APInt(width, 1)
               : kind == Reduction::Max
                   ? (isU ? APInt::getMinValue(width) : APInt::getSignedMinValue(width))
                   : (isU ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  return b.getIntegerAttr(element, bits);
}

Data *Importer::reduce(Data &data, ArrayRef<int64_t> sortedAxes, bool keepAxes, Reduction kind) {
  SmallVector<Sym> kept, shape;
  for (int64_t i = 0; i < data.rank(); ++i) {
    bool isReduced = llvm::is_contained(sortedAxes, i);
    if (!isReduced)
      kept.push_back(data.shape[i]);
    if (!isReduced || keepAxes)
      shape.push_back(isReduced ? number(1) : data.shape[i]);
  }
  if (sortedAxes.empty())
    return &data;
  // Known integers: products and sums of sizes.
  if (const std::vector<Element> *known = elements(data);
      known && !isFloat(data.type) && static_cast<int64_t>(sortedAxes.size()) == data.rank() &&
      !known->empty()) {
    Sym result = known->front().integer;
    for (const Element &e : llvm::drop_begin(*known))
      result = kind == Reduction::Sum       ? symbols.add(result, e.integer)
               : kind == Reduction::Product ? symbols.mul(result, e.integer)
               : kind == Reduction::Max     ? symbols.max(result, e.integer)
                                            : symbols.min(result, e.integer);
    return makeKnown(data.type, shape, {Element{result, 0}});
  }
  bool isHalf = isFloat(data.type) && sizeOf(data.type) == 2;
  DataType inner =
      isHalf && kind != Reduction::Max && kind != Reduction::Min ? DataType::Float : data.type;
  Data *source = cast(data, inner);
  SmallVector<OpFoldResult> sizes = symbols.mixed(kept);
  Value operand = value(*source);
  Value init = filled(sizes, firstOf(inner, kind));
  auto reduction = linalg::ReduceOp::create(
      b, ValueRange{operand}, ValueRange{init}, sortedAxes,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder builder(loc, nested);
        linalg::YieldOp::create(builder, combine(builder, inner, kind, arguments[0], arguments[1]));
      });
  Data *result = cast(*make(inner, kept, reduction->getResult(0)), data.type);
  if (!keepAxes)
    return result;
  return unsqueeze(*result, sortedAxes);
}

Data *Importer::mean(Data &data, ArrayRef<int64_t> sortedAxes, bool keepAxes) {
  Sym count = number(1);
  for (int64_t axis : sortedAxes)
    count = symbols.mul(count, data.shape[axis]);
  Data *sum = reduce(data, sortedAxes, keepAxes, Reduction::Sum);
  Data *divisor = makeKnown(DataType::Int64, {}, {Element{count, 0}});
  return binary("Div", sum, cast(*divisor, data.type));
}

Data *Importer::softmax(Data &data, int64_t axis) {
  DataType inner = sizeOf(data.type) == 2 ? DataType::Float : data.type;
  Data *source = cast(data, inner);
  Value operand = value(*source);
  SmallVector<OpFoldResult> sizes = symbols.mixed(data.shape);
  RankedTensorType type = typeOf(*source);
  Value init = tensor::EmptyOp::create(b, sizes, type.getElementType());
  auto op = linalg::SoftmaxOp::create(b, TypeRange{type}, operand, init, axis);
  return cast(*make(inner, data.shape, op->getResult(0)), data.type);
}
