// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, softmax, and the choice of greatest elements.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// Axes as an attribute, or as an input since a version that differs by operator.
static FailureOr<SmallVector<int64_t>> reducedAxes(Importer &im, Data &x) {
  std::optional<SmallVector<int64_t>> given = im.integers("axes");
  bool skipsNone = im.integer("noop_with_empty_axes", 0);
  if (Data *data = im.input(1)) {
    TRY(given, im.constants(*data, "axes"));
  }
  if (!given || given->empty())
    return skipsNone ? SmallVector<int64_t>() : llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  return im.axes(*given, x.rank());
}

static LogicalResult importReduce(Importer &im) {
  StringRef op = im.node().op;
  Data *x = im.input(0);
  TRY(SmallVector<int64_t> axes, reducedAxes(im, *x));
  bool keep = im.integer("keepdims", 1);
  using Kind = Importer::Reduction;
  op.consume_front("Reduce");
  bool isPlain = op == "Sum" || op == "Prod" || op == "Max" || op == "Min";
  if (!isPlain && op != "SumSquare" && op != "L1" && !isFloat(x->type))
    return im.unsupported(op + " of " + nameOf(x->type) + "; expects floats");
  Data *result = nullptr;
  if (op == "Sum" || op == "Prod" || op == "Max" || op == "Min") {
    Kind kind = op == "Sum"    ? Kind::Sum
                : op == "Prod" ? Kind::Product
                : op == "Max"  ? Kind::Max
                               : Kind::Min;
    result = im.reduce(*x, axes, keep, kind);
  } else if (op == "Mean") {
    result = axes.empty() ? x : im.mean(*x, axes, keep);
  } else if (op == "L1") {
    Data *absolute = isFloat(x->type)
                         ? im.unary("Abs", x)
                         : im.binary("Max", x, im.binary("Sub", im.makeInteger(x->type, 0), x));
    result = im.reduce(*absolute, axes, keep, Kind::Sum);
  } else if (op == "SumSquare" || op == "L2") {
    result = im.reduce(*im.binary("Mul", x, x), axes, keep, Kind::Sum);
    if (op == "L2")
      result = im.unary("Sqrt", result);
  } else if (op == "LogSum") {
    result = im.unary("Log", im.reduce(*x, axes, keep, Kind::Sum));
  } else { // LogSumExp, from the greatest so that nothing overflows; an infinite one counts as 0
    Data *greatest = im.reduce(*x, axes, true, Kind::Max);
    Data *zero = im.makeReal(x->type, 0);
    Data *isFinite = im.binary("Less", im.unary("Abs", greatest),
                               im.makeReal(x->type, std::numeric_limits<double>::infinity()));
    greatest = im.selectData(isFinite, greatest, zero);
    Data *sum = im.reduce(*im.unary("Exp", im.binary("Sub", x, greatest)), axes, true, Kind::Sum);
    result = im.binary("Add", im.unary("Log", sum), greatest);
    if (!keep)
      result = im.squeeze(*result, axes);
  }
  return im.setResult(result);
}

static LogicalResult importSoftmax(Importer &im) {
  Data *x = im.input(0);
  if (!isFloat(x->type))
    return im.invalid("expects floats, got " + nameOf(x->type));
  TRY(int64_t axis, im.axis(im.integer("axis", -1), x->rank()));
  if (im.node().op == "Softmax")
    return im.setResult(im.softmax(*x, axis));
  Data *shifted = im.binary("Sub", x, im.reduce(*x, {axis}, true, Importer::Reduction::Max));
  Data *sum = im.sumOver(*im.unary("Exp", shifted), axis);
  return im.setResult(im.binary("Sub", shifted, im.unary("Log", sum)));
}

/// 1 where x is greatest along the axis.
static LogicalResult importHardmax(Importer &im) {
  Data *x = im.input(0);
  TRY(int64_t axis, im.axis(im.integer("axis", -1), x->rank()));
  Data *best = im.reduce(*x, {axis}, true, Importer::Reduction::Max);
  // The first of several equal ones: the least index at which the greatest stands.
  Data *places = im.places(x->shape, axis);
  Data *far = im.makeInteger(DataType::Int64, INT64_MAX);
  Data *isBest = im.binary("Equal", x, best);
  Data *first =
      im.reduce(*im.selectData(isBest, places, far), {axis}, true, Importer::Reduction::Min);
  return im.setResult(im.cast(*im.binary("Equal", places, first), x->type));
}

static LogicalResult importArgMax(Importer &im) {
  Data *x = im.input(0);
  TRY(int64_t axis, im.axis(im.integer("axis", 0), x->rank()));
  bool keep = im.integer("keepdims", 1), takesLast = im.integer("select_last_index", 0);
  using Kind = Importer::Reduction;
  Data *best = im.reduce(*x, {axis}, true, im.node().op == "ArgMax" ? Kind::Max : Kind::Min);
  Data *places = im.places(x->shape, axis);
  Data *isBest = im.binary("Equal", x, best);
  Data *other = im.makeInteger(DataType::Int64, takesLast ? -1 : INT64_MAX);
  return im.setResult(im.reduce(*im.selectData(isBest, places, other), {axis}, keep,
                                takesLast ? Kind::Max : Kind::Min));
}

/// The k greatest along an axis, in order: an element's rank is how many go before it, and the
/// result at r is the element of rank r. Work grows with the square of the axis.
static LogicalResult importTopK(Importer &im) {
  Data *x = im.input(0), *count = im.input(1);
  TRY(int64_t axis, im.axis(im.integer("axis", -1), x->rank()));
  bool largest = im.integer("largest", 1);
  im.integer("sorted", 1);
  std::optional<Element> k = count ? im.scalar(*count) : std::nullopt;
  if (!k || !k->integer)
    return im.unsupported("a number of elements that depends on what a tensor holds; expects a "
                          "constant, or a size of the model's inputs");
  // Columns by the axis: [.., n, 1] against [.., 1, n] along a new axis behind it.
  Data *column = im.unsqueeze(*x, {axis + 1}), *row = im.unsqueeze(*x, {axis});
  SmallVector<Sym> square(column->shape);
  square[axis + 1] = x->shape[axis];
  Data *comesFirst = largest ? im.binary("Greater", row, column) : im.binary("Less", row, column);
  Data *isEarlier = im.generate(
      DataType::Bool, {x->shape[axis], x->shape[axis]},
      [](ImplicitLocOpBuilder &b, ArrayRef<Value> i) {
        return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, i[1], i[0]).getResult();
      });
  SmallVector<Sym> line(square.size(), im.number(1));
  line[axis] = line[axis + 1] = x->shape[axis];
  TRY(isEarlier, im.reshape(*isEarlier, line));
  Data *tie = im.binary("And", im.binary("Equal", row, column), isEarlier);
  Data *before = im.cast(*im.binary("Or", comesFirst, tie), DataType::Int64);
  Data *rank = im.reduce(*before, {axis + 1}, false, Importer::Reduction::Sum);
  // [.., n, k]: whether the element goes to that place; exactly one does.
  Data *places = im.places({k->integer}, 0);
  line.assign(square.size(), im.number(1));
  line[axis + 1] = k->integer;
  TRY(places, im.reshape(*places, line));
  Data *goes = im.binary("Equal", im.unsqueeze(*rank, {axis + 1}), places);
  auto pick = [&](Data *source, Data *zero) {
    return im.reduce(*im.selectData(goes, im.unsqueeze(*source, {axis + 1}), zero), {axis}, false,
                     Importer::Reduction::Sum);
  };
  Data *index = im.places(x->shape, axis);
  Data *zero = isFloat(x->type) ? im.makeReal(x->type, 0) : im.makeInteger(x->type, 0);
  im.set(0, pick(x, zero));
  if (im.hasOutput(1))
    im.set(1, pick(index, im.makeInteger(DataType::Int64, 0)));
  return success();
}

void mlir::fovea::onnx::addReductionOps(OpTable &table) {
  for (StringRef name : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                         "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"})
    table.add(name, 13, importReduce);
  table.add("ArgMax", 13, importArgMax);
  table.add("ArgMin", 13, importArgMax);
  table.add("Hardmax", 13, importHardmax);
  table.add("LogSoftmax", 13, importSoftmax);
  table.add("Softmax", 13, importSoftmax);
  table.add("TopK", 13, importTopK);
}
