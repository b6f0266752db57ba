// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// QuantizeLinear, DequantizeLinear and the integer products that go with them, as plain arithmetic.
// Refuses float8 and types of fewer than four bits.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// A scale or zero point in step with x: of one element, along one axis, or one for each block.
static FailureOr<Data *> spread(Importer &im, Data &x, Data &parameter, int64_t axis,
                                int64_t block) {
  if (parameter.rank() == 0)
    return &parameter;
  if (parameter.rank() == 1 && block == 0) {
    bool isOne = Symbols::known(parameter.shape[0]) == 1;
    if (isOne && (x.rank() == 0 || Symbols::known(x.shape[axis]) != 1))
      return im.squeeze(parameter, {0});
    if (x.rank() == 0)
      return im.invalid("expects one scale and zero point for a scalar, got " +
                        im.describe(parameter.shape));
    SmallVector<int64_t> axes;
    for (int64_t i = 0; i < x.rank(); ++i)
      if (i != axis)
        axes.push_back(i);
    return im.unsqueeze(parameter, axes);
  }
  if (block <= 0 || parameter.rank() != x.rank())
    return im.invalid("expects a scale of rank 0 or 1, or of the data's rank with a block_size");
  // Each element of the axis stands for a block.
  SmallVector<Sym> wide(parameter.shape), joined(parameter.shape);
  wide.insert(wide.begin() + axis + 1, im.number(block));
  joined[axis] = im.symbols.mul(joined[axis], im.number(block));
  Data *result = im.unsqueeze(parameter, {axis + 1});
  TRY(result, im.expand(*result, wide));
  TRY(result, im.reshape(*result, joined));
  if (joined[axis] == x.shape[axis])
    return result;
  return im.slice(*result, axis, im.number(0), x.shape[axis]);
}

static LogicalResult importDequantize(Importer &im) {
  Data *x = im.input(0), *scale = im.input(1), *zero = im.input(2);
  if (!x || !scale || isFloat(x->type) || !isFloat(scale->type))
    return im.invalid("expects integers and a float scale");
  int64_t axis = 0, given = im.integer("axis", 1), block = im.integer("block_size", 0);
  auto type = static_cast<DataType>(im.integer("output_dtype", 0));
  if (x->rank() > 0 && (scale->rank() > 0 || (zero && zero->rank() > 0))) {
    TRY(axis, im.axis(given, x->rank()));
  }
  if (type == DataType::Undefined)
    type = scale->type;
  if (!isFloat(type))
    return im.unsupported("results of " + nameOf(type));
  TRY(scale, spread(im, *x, *scale, axis, block));
  Data *number = im.cast(*im.cast(*x, DataType::Int32), scale->type);
  if (zero) {
    TRY(zero, spread(im, *x, *zero, axis, block));
    Data *shifted = im.binary("Sub", im.cast(*x, DataType::Int32), im.cast(*zero, DataType::Int32));
    number = im.cast(*shifted, scale->type);
  }
  return im.setResult(im.cast(*im.binary("Mul", number, scale), type));
}

/// The least and greatest number of an integer type.
static std::pair<int64_t, int64_t> rangeOf(DataType type) {
  unsigned bits = type == DataType::Int4 || type == DataType::UInt4 ? 4 : sizeOf(type) * 8;
  if (isUnsigned(type))
    return {0, (int64_t(1) << bits) - 1};
  return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
}

/// Rounds `x`, floats of 32 bits or more, adds `zero` in step with it, and takes the nearest number
/// of an integer type.
static Data *toInteger(Importer &im, Data *x, Data *zero, DataType type) {
  x = im.unary("Round", x);
  if (zero)
    x = im.binary("Add", x, im.cast(*im.cast(*zero, DataType::Int32), x->type));
  auto [low, high] = rangeOf(type);
  x = im.binary("Max", x, im.makeReal(x->type, low));
  x = im.binary("Min", x, im.makeReal(x->type, high));
  return im.cast(*im.cast(*x, DataType::Int32), type);
}

static LogicalResult importQuantize(Importer &im) {
  Data *x = im.input(0), *scale = im.input(1), *zero = im.input(2);
  if (!x || !scale)
    return im.invalid("expects data and a scale");
  int64_t axis = 0, given = im.integer("axis", 1), block = im.integer("block_size", 0);
  auto type = static_cast<DataType>(im.integer("output_dtype", 0));
  im.integer("saturate", 1);
  im.integer("precision", 0);
  if (x->rank() > 0 && (scale->rank() > 0 || (zero && zero->rank() > 0))) {
    TRY(axis, im.axis(given, x->rank()));
  }
  if (type == DataType::Undefined)
    type = zero ? zero->type : DataType::UInt8;
  if (!im.elementType(type) || isFloat(type) || sizeOf(type) > 2)
    return im.unsupported("results of " + nameOf(type) + "; expects integers of 4, 8 or 16 bits");
  DataType real = isFloat(x->type) ? x->type : DataType::Float;
  if (sizeOf(real) < 4)
    real = DataType::Float;
  x = im.cast(*x, real);
  TRY(scale, spread(im, *x, *scale, axis, block));
  if (zero) {
    TRY(zero, spread(im, *x, *zero, axis, block));
  }
  return im.setResult(toInteger(im, im.binary("Div", x, im.cast(*scale, real)), zero, type));
}

/// A parameter of the left operand of a product: of all, or one for each row.
static Data *forRows(Importer &im, Data *parameter) {
  bool isForEach = parameter->rank() == 1 && Symbols::known(parameter->shape[0]) != 1;
  return isForEach ? im.unsqueeze(*parameter, {1}) : parameter;
}

/// Sums in i32 of products of numbers less their zero points, which may be null.
static FailureOr<Data *> multiply(Importer &im, Data *a, Data *aZero, Data *c, Data *cZero) {
  if (!a || !c || isFloat(a->type) || isFloat(c->type))
    return im.invalid("expects two operands of integers");
  a = im.cast(*a, DataType::Int32);
  c = im.cast(*c, DataType::Int32);
  if (aZero)
    a = im.binary("Sub", a, forRows(im, im.cast(*aZero, DataType::Int32)));
  if (cZero)
    c = im.binary("Sub", c, im.cast(*cZero, DataType::Int32));
  return im.matmul(*a, *c);
}

static LogicalResult importMatMulInteger(Importer &im) {
  return im.setResult(multiply(im, im.input(0), im.input(2), im.input(1), im.input(3)));
}

/// A product of quantised matrices, quantised anew.
static LogicalResult importQLinearMatMul(Importer &im) {
  SmallVector<Data *> in = im.inputs();
  if (in.size() != 8 || llvm::is_contained(in, nullptr) || !isFloat(in[1]->type) ||
      !isFloat(in[4]->type) || !isFloat(in[6]->type) || isFloat(in[7]->type) ||
      sizeOf(in[7]->type) != 1)
    return im.invalid("expects two operands and a result of 8-bit integers, each with a float "
                      "scale and a zero point");
  TRY(auto *sum, multiply(im, in[0], in[2], in[3], in[5]));
  DataType real = DataType::Float;
  Data *scale = im.binary("Mul", forRows(im, im.cast(*in[1], real)), im.cast(*in[4], real));
  Data *product = im.binary("Mul", im.cast(*sum, real), scale);
  product = im.binary("Div", product, forRows(im, im.cast(*in[6], real)));
  return im.setResult(toInteger(im, product, forRows(im, in[7]), in[7]->type));
}

/// uint8 with a scale and a zero point from the data's own range, which takes 0 in.
static LogicalResult importDynamicQuantize(Importer &im) {
  Data *x = im.input(0);
  if (!x || x->type != DataType::Float)
    return im.invalid("expects floats");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, x->rank()));
  Data *zero = im.makeReal(DataType::Float, 0), *levels = im.makeReal(DataType::Float, 255);
  Data *high = im.binary("Max", im.reduce(*x, axes, false, Importer::Reduction::Max), zero);
  Data *low = im.binary("Min", im.reduce(*x, axes, false, Importer::Reduction::Min), zero);
  Data *scale = im.binary("Div", im.binary("Sub", high, low), levels);
  auto clamp = [&](Data *value) { return im.binary("Min", im.binary("Max", value, zero), levels); };
  Data *point = im.unary("Round", clamp(im.binary("Div", im.binary("Sub", zero, low), scale)));
  Data *quantized = clamp(im.binary("Add", im.unary("Round", im.binary("Div", x, scale)), point));
  auto toByte = [&](Data *value) {
    return im.cast(*im.cast(*value, DataType::Int32), DataType::UInt8);
  };
  im.set(0, toByte(quantized));
  im.set(1, scale);
  im.set(2, toByte(point));
  return success();
}

void mlir::fovea::onnx::addQuantizeOps(OpTable &table) {
  table.add("DequantizeLinear", 13, importDequantize);
  table.add("DynamicQuantizeLinear", 13, importDynamicQuantize);
  table.add("MatMulInteger", 13, importMatMulInteger);
  table.add("QLinearMatMul", 13, importQLinearMatMul);
  table.add("QuantizeLinear", 13, importQuantize);
}
