// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that are made rather than computed: constants, ranges, identities; and what depends on
// indices alone: triangles, running sums, one-hot rows, padding.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

static LogicalResult importConstant(Importer &im) {
  if (const NodeAttribute *value = im.attribute("value")) {
    if (!value->tensor)
      return failure(); // the reader has said why
    Data *data = im.make(value->tensor->type, im.numbers(value->tensor->shape), {});
    data->stored = value->tensor.get();
    return im.setResult(data);
  }
  if (const NodeAttribute *value = im.attribute("value_int"))
    return im.setResult(im.makeInteger(DataType::Int64, value->integer));
  if (const NodeAttribute *value = im.attribute("value_float"))
    return im.setResult(im.makeReal(DataType::Float, value->real));
  auto setList = [&](DataType type, std::vector<Element> elements) {
    SmallVector<Sym> shape{im.number(elements.size())};
    return im.setResult(im.makeKnown(type, shape, std::move(elements)));
  };
  std::vector<Element> elements;
  if (const NodeAttribute *value = im.attribute("value_ints")) {
    for (int64_t number : value->integers)
      elements.push_back(im.integerElement(number));
    return setList(DataType::Int64, std::move(elements));
  }
  if (const NodeAttribute *value = im.attribute("value_floats")) {
    for (float number : value->reals)
      elements.push_back({nullptr, number});
    return setList(DataType::Float, std::move(elements));
  }
  return im.unsupported("constants that are strings or sparse; expects value, value_int(s) or "
                        "value_float(s)");
}

static FailureOr<SmallVector<Sym>> shapeOf(Importer &im, Data &data) {
  const std::vector<Element> *known = im.elements(data);
  if (!known || isFloat(data.type))
    return im.unsupported("a shape that depends on what a tensor holds; expects constants, or "
                          "sizes of the model's inputs");
  SmallVector<Sym> shape =
      llvm::map_to_vector(*known, [&](const Element &element) { return element.integer; });
  return shape;
}

static LogicalResult importConstantOfShape(Importer &im) {
  TRY(SmallVector<Sym> shape, shapeOf(im, *im.input(0)));
  Data *fill = im.makeReal(DataType::Float, 0);
  if (const NodeAttribute *value = im.attribute("value")) {
    if (!value->tensor)
      return failure();
    fill = im.make(value->tensor->type, im.numbers(value->tensor->shape), {});
    fill->stored = value->tensor.get();
  }
  std::optional<Element> element = im.scalar(*fill);
  if (!element)
    return im.invalid("expects one element to fill with");
  return im.setResult(im.constant(fill->type, shape, *element));
}

/// start + i * delta for every i; `length` of them.
static Data *ramp(Importer &im, DataType type, Data &start, Data &delta, Sym length) {
  std::optional<Element> first = im.scalar(start), step = im.scalar(delta);
  std::optional<int64_t> count = Symbols::known(length);
  if (first && step && count && *count <= 1024) {
    std::vector<Element> elements;
    for (int64_t i = 0; i < *count; ++i) {
      if (isFloat(type))
        elements.push_back({nullptr, roundTo(type, first->real + i * step->real)});
      else
        elements.push_back(
            {im.symbols.add(first->integer, im.symbols.mul(step->integer, im.number(i))), 0});
    }
    return im.makeKnown(type, {length}, std::move(elements));
  }
  Type element = im.elementType(type);
  Value startValue = first ? Value() : im.value(start),
        stepValue = step ? Value() : im.value(delta);
  return im.generate(
      type, {length}, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> indices) -> Value {
        auto read = [&](Value tensor, const std::optional<Element> &known) -> Value {
          if (known)
            return im.scalarConstant(element, *known);
          return tensor::ExtractOp::create(b, tensor, ValueRange());
        };
        bool isReal = isFloat(type);
        Value i = arith::IndexCastOp::create(b, isReal ? b.getI64Type() : element, indices[0]);
        if (isReal)
          i = arith::SIToFPOp::create(b, element, i);
        bool isOne = step && (isReal ? step->real == 1 : Symbols::known(step->integer) == 1);
        bool isZero = first && (isReal ? first->real == 0 : Symbols::known(first->integer) == 0);
        using Kind = Importer::Reduction;
        if (!isOne)
          i = Importer::combine(b, type, Kind::Product, i, read(stepValue, step));
        if (!isZero)
          i = Importer::combine(b, type, Kind::Sum, i, read(startValue, first));
        return i;
      });
}

static LogicalResult importRange(Importer &im) {
  Data *start = im.input(0), *limit = im.input(1), *delta = im.input(2);
  if (!start || !limit || !delta)
    return im.invalid("expects start, limit and delta");
  if (limit->type != start->type || delta->type != start->type)
    return im.invalid("expects start, limit and delta of one element type, got " +
                      nameOf(start->type) + ", " + nameOf(limit->type) + " and " +
                      nameOf(delta->type));
  std::optional<Element> first = im.scalar(*start), end = im.scalar(*limit),
                         step = im.scalar(*delta);
  // A range that begins at a number that a tensor holds may have a length that does not depend on
  // it.
  Sym from = im.symbolOf(*start), to = im.symbolOf(*limit);
  bool isSize = from && to && im.symbols.isSize(im.symbols.sub(to, from));
  if ((!isSize && (!first || !end)) || !step)
    return im.unsupported("a range whose length depends on what a tensor holds; expects constants, "
                          "or sizes of the model's inputs");
  Sym length = nullptr;
  if (first && end && isFloat(start->type)) {
    double count = std::ceil((end->real - first->real) / step->real);
    if (!(count < 1e9))
      return im.invalid("expects a range of fewer than 1e9 elements");
    length = im.number(std::max<int64_t>(0, static_cast<int64_t>(count)));
  } else {
    Sym stepSymbol = im.symbolOf(*delta);
    std::optional<int64_t> by = stepSymbol ? Symbols::known(stepSymbol) : std::nullopt;
    if (by == 0)
      return im.invalid("expects a step other than zero, got 0");
    if (!by || !from || !to)
      return im.unsupported("a range whose step is not a whole constant");
    Symbols &s = im.symbols;
    Sym span = *by > 0 ? s.sub(to, from) : s.sub(from, to);
    int64_t stride = std::abs(*by);
    length = s.max(stride == 1 ? span
                               : s.floorDiv(s.add(span, im.number(stride - 1)), im.number(stride)),
                   im.number(0));
  }
  return im.setResult(ramp(im, start->type, *start, *delta, length));
}

static LogicalResult importEyeLike(Importer &im) {
  Data *x = im.input(0);
  if (x->rank() != 2)
    return im.invalid("expects a matrix, got rank " + Twine(x->rank()));
  int64_t k = im.integer("k", 0);
  auto type = static_cast<DataType>(im.integer("dtype", static_cast<int64_t>(x->type)));
  if (!im.elementType(type))
    return im.unsupported("elements of " + nameOf(type));
  Data *bits =
      im.generate(DataType::Bool, x->shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> i) {
        Value offset = arith::ConstantIndexOp::create(b, k);
        Value shifted = arith::AddIOp::create(b, i[0], offset);
        return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, shifted, i[1]).getResult();
      });
  return im.setResult(im.cast(*bits, type));
}

static LogicalResult importTrilu(Importer &im) {
  Data *x = im.input(0);
  bool upper = im.integer("upper", 1);
  if (x->rank() < 2)
    return im.invalid("expects rank 2 or more, got " + Twine(x->rank()));
  Element k = im.integerElement(0);
  if (Data *given = im.input(1)) {
    if (isFloat(given->type))
      return im.invalid("expects an integer as diagonal, got " + nameOf(given->type));
    std::optional<Element> known = im.scalar(*given);
    if (!known)
      return im.unsupported("a diagonal that depends on what a tensor holds; expects a constant");
    k = *known;
  }
  Value shift = im.symbols.materialize(k.integer);
  SmallVector<Sym> matrix(x->shape.end() - 2, x->shape.end());
  // j >= i + k is kept above, j <= i + k below.
  Data *kept = im.generate(DataType::Bool, matrix, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> i) {
    Value diagonal =
        Symbols::known(k.integer) == 0 ? i[0] : arith::AddIOp::create(b, i[0], shift).getResult();
    auto predicate = upper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle;
    return arith::CmpIOp::create(b, predicate, i[1], diagonal).getResult();
  });
  Data *zero = isFloat(x->type) ? im.makeReal(x->type, 0) : im.makeInteger(x->type, 0);
  return im.setResult(im.selectData(kept, x, zero));
}

/// result[i] = sum of x[j] for j <= i (or < i), as a product with a triangle of ones: the sum over
/// j of what the indices let through.
static LogicalResult importCumSum(Importer &im) {
  Data *x = im.input(0);
  bool isProduct = im.node().op == "CumProd";
  auto kind = isProduct ? Importer::Reduction::Product : Importer::Reduction::Sum;
  if (!im.input(1))
    return im.invalid("expects an axis");
  std::optional<int64_t> given = im.integerOf(*im.input(1));
  if (!given)
    return im.unsupported("an axis that depends on what a tensor holds; expects a constant");
  TRY(int64_t axis, im.axis(*given, x->rank()));
  bool exclusive = im.integer("exclusive", 0), reverse = im.integer("reverse", 0);
  SmallVector<Sym> loops(x->shape);
  loops.push_back(x->shape[axis]);
  DataType type = isFloat(x->type) && sizeOf(x->type) == 2 ? DataType::Float : x->type;
  Type element = im.elementType(type);
  Data *wide = im.cast(*x, type);
  Value operand = im.value(*wide);
  ImplicitLocOpBuilder &b = im.b;
  unsigned rank = x->rank();
  // Loops: the result's axes, then j, which stands in the operand's place of the axis.
  SmallVector<AffineExpr> from;
  for (unsigned i = 0; i < rank; ++i)
    from.push_back(b.getAffineDimExpr(i == axis ? rank : i));
  SmallVector<AffineMap> maps{AffineMap::get(rank + 1, 0, from, b.getContext()),
                              b.getMultiDimIdentityMap(rank + 1).getMajorSubMap(rank)};
  SmallVector<OpFoldResult> sizes = im.symbols.mixed(x->shape);
  TypedAttr neutral =
      isProduct ? TypedAttr(b.getOneAttr(element)) : TypedAttr(b.getZeroAttr(element));
  Value init = im.filled(sizes, neutral);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      b, TypeRange{init.getType()}, ValueRange{operand}, ValueRange{init}, maps, kinds,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value i = linalg::IndexOp::create(inner, axis), j = linalg::IndexOp::create(inner, rank);
        auto predicate = reverse
                             ? (exclusive ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::sge)
                             : (exclusive ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sle);
        Value counts = arith::CmpIOp::create(inner, predicate, j, i);
        Value none = arith::ConstantOp::create(inner, neutral);
        Value x = arith::SelectOp::create(inner, counts, v[0], none);
        linalg::YieldOp::create(inner, Importer::combine(inner, type, kind, v[1], x));
      });
  return im.setResult(im.cast(*im.make(type, x->shape, generic.getResult(0)), x->type));
}

static LogicalResult importOneHot(Importer &im) {
  Data *ids = im.input(0), *depth = im.input(1), *values = im.input(2);
  if (!ids || !depth || !values || values->rank() != 1)
    return im.invalid("expects indices, a depth and two values");
  TRY(int64_t axis, im.axis(im.integer("axis", -1), ids->rank() + 1));
  std::optional<Element> size = im.scalar(*depth);
  Sym count = nullptr;
  if (depth->rank() == 1 && Symbols::known(depth->shape[0]) != 1)
    return im.invalid("expects one depth");
  if (size && size->integer)
    count = size->integer;
  else if (std::optional<double> real = im.realOf(*depth))
    count = im.number(static_cast<int64_t>(*real));
  if (!count)
    return im.unsupported("a depth that depends on what a tensor holds; expects a constant");
  SmallVector<Sym> line(ids->rank() + 1, im.number(1));
  line[axis] = count;
  Data *places = ramp(im, DataType::Int64, *im.makeInteger(DataType::Int64, 0),
                      *im.makeInteger(DataType::Int64, 1), count);
  TRY(places, im.reshape(*places, line));
  Data *wanted = im.unsqueeze(*im.cast(*ids, DataType::Int64), {axis});
  // Negative ones count from the end.
  Data *depthData = im.makeKnown(DataType::Int64, {}, {Element{count, 0}});
  Data *isNegative = im.binary("Less", wanted, im.makeInteger(DataType::Int64, 0));
  wanted = im.selectData(isNegative, im.binary("Add", wanted, depthData), wanted);
  TRY(auto *off, im.slice(*values, 0, im.number(0), im.number(1)));
  TRY(auto *on, im.slice(*values, 0, im.number(1), im.number(1)));
  off = im.squeeze(*off, {0});
  on = im.squeeze(*on, {0});
  return im.setResult(im.selectData(im.binary("Equal", places, wanted), on, off));
}

namespace {
/// Places to add in front of and behind each axis.
struct Pads {
  SmallVector<Sym> low, high;
};
} // namespace

static FailureOr<Pads> readPads(Importer &im, const Data &x) {
  TRY(SmallVector<Sym> given, shapeOf(im, *im.input(1)));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  if (Data *named = im.input(3)) {
    TRY(SmallVector<int64_t> values, im.constants(*named, "axes"));
    axes.clear();
    for (int64_t value : values) {
      TRY(int64_t here, im.axis(value, x.rank()));
      axes.push_back(here);
    }
  }
  if (given.size() != axes.size() * 2)
    return im.invalid("expects " + Twine(axes.size() * 2) + " pads, got " + Twine(given.size()));
  Pads pads;
  pads.low.assign(x.rank(), im.number(0));
  pads.high = pads.low;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    pads.low[axis] = given[i];
    pads.high[axis] = given[i + axes.size()];
  }
  return pads;
}

/// Negative pads of an axis cut `x`; none is negative then.
static LogicalResult cutByPads(Importer &im, Data *&x, Pads &pads, int64_t axis) {
  Symbols &s = im.symbols;
  Sym &low = pads.low[axis], &high = pads.high[axis];
  std::optional<int64_t> front = Symbols::known(low), back = Symbols::known(high);
  int64_t cutFront = front && *front < 0 ? -*front : 0, cutBack = back && *back < 0 ? -*back : 0;
  if ((!front && s.lowerBound(low).value_or(-1) < 0) ||
      (!back && s.lowerBound(high).value_or(-1) < 0))
    return im.unsupported("pads that may be negative, depending on sizes");
  if (!cutFront && !cutBack)
    return success();
  Sym rest = s.sub(x->shape[axis], im.number(cutFront + cutBack));
  if (std::optional<int64_t> known = Symbols::known(rest); known && *known < 0)
    return im.invalid("expects negative pads to take away no more than the " +
                      Twine(Symbols::known(x->shape[axis]).value_or(0)) + " elements of axis " +
                      Twine(axis) + ", got " + Twine(-cutFront) + " and " + Twine(-cutBack));
  if (s.lowerBound(rest).value_or(0) < 0)
    return im.unsupported("negative pads of an open size");
  TRY(x, im.slice(*x, axis, im.number(cutFront), rest));
  low = s.max(low, im.number(0));
  high = s.max(high, im.number(0));
  return success();
}

static LogicalResult padByConstant(Importer &im, Data &x, const Pads &pads, ArrayRef<Sym> shape) {
  Data *fill = isFloat(x.type) ? im.makeReal(x.type, 0) : im.makeInteger(x.type, 0);
  if (Data *given = im.input(2)) {
    fill = given;
    if (fill->type != x.type ||
        !llvm::all_of(fill->shape, [](Sym size) { return Symbols::known(size) == 1; }))
      return im.invalid("expects one element of " + nameOf(x.type) + " to pad with");
  }
  std::optional<Element> element = im.scalar(*fill);
  Value operand = im.value(x), value;
  if (!element)
    value = tensor::ExtractOp::create(
        im.b, im.value(*im.squeeze(*fill, llvm::to_vector(llvm::seq<int64_t>(0, fill->rank())))),
        ValueRange());
  else
    value = im.scalarConstant(im.elementType(x.type), *element);
  SmallVector<OpFoldResult> lows, highs;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    lows.push_back(im.symbols.mixed(pads.low[axis]));
    highs.push_back(im.symbols.mixed(pads.high[axis]));
  }
  auto op = tensor::PadOp::create(im.b, im.typeOf(x.type, shape), operand, lows, highs, value);
  return im.setResult(im.make(x.type, shape, op));
}

/// The place of x, of `size` along an axis, that stands at `at`, which may lie beside it.
static Value getPaddedPlace(ImplicitLocOpBuilder &b, StringRef mode, Value at, Value size,
                            Value zero, Value one) {
  Value last = arith::SubIOp::create(b, size, one);
  if (mode == "edge")
    return arith::MinSIOp::create(b, arith::MaxSIOp::create(b, at, zero), last);
  if (mode == "wrap") {
    Value rest = arith::RemSIOp::create(b, at, size);
    return arith::RemSIOp::create(b, arith::AddIOp::create(b, rest, size), size);
  }
  // A wave of period 2 (size - 1).
  Value period = arith::MaxSIOp::create(b, arith::AddIOp::create(b, last, last), one);
  Value rest = arith::RemSIOp::create(b, at, period);
  rest = arith::RemSIOp::create(b, arith::AddIOp::create(b, rest, period), period);
  Value back = arith::SubIOp::create(b, period, rest);
  return arith::MinSIOp::create(b, arith::MinSIOp::create(b, rest, back), last);
}

/// By elements of x itself.
static Data *padByPlaces(Importer &im, Data &x, StringRef mode, const Pads &pads,
                         ArrayRef<Sym> shape) {
  Value operand = im.value(x);
  SmallVector<Value> first, size;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    first.push_back(im.symbols.materialize(pads.low[axis]));
    size.push_back(im.symbols.materialize(x.shape[axis]));
  }
  return im.generate(x.type, shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> indices) {
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    SmallVector<Value> from;
    for (auto [i, index] : llvm::enumerate(indices)) {
      Value at = arith::SubIOp::create(b, index, first[i]);
      from.push_back(getPaddedPlace(b, mode, at, size[i], zero, one));
    }
    return tensor::ExtractOp::create(b, operand, from).getResult();
  });
}

static LogicalResult importPad(Importer &im) {
  Data *x = im.input(0);
  std::string mode = im.text("mode", "constant");
  if (!im.input(1))
    return im.invalid("expects pads");
  TRY(Pads pads, readPads(im, *x));
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return im.invalid("expects mode constant, reflect, edge or wrap, got '" + mode + "'");
  Symbols &s = im.symbols;
  SmallVector<Sym> shape(x->shape);
  for (int64_t axis = 0; axis < x->rank(); ++axis) {
    if (failed(cutByPads(im, x, pads, axis)))
      return failure();
    shape[axis] = s.add(x->shape[axis], s.add(pads.low[axis], pads.high[axis]));
  }
  if (mode == "constant")
    return padByConstant(im, *x, pads, shape);
  return im.setResult(padByPlaces(im, *x, mode, pads, shape));
}

void mlir::fovea::onnx::addSequenceOps(OpTable &table) {
  table.add("Constant", 13, importConstant);
  table.add("ConstantOfShape", 13, importConstantOfShape);
  table.add("CumProd", 13, importCumSum);
  table.add("CumSum", 13, importCumSum);
  table.add("EyeLike", 13, importEyeLike);
  table.add("OneHot", 13, importOneHot);
  table.add("Pad", 13, importPad);
  table.add("Range", 13, importRange);
  table.add("Trilu", 13, importTrilu);
}
