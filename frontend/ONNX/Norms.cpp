// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalisations. Those over the last axis with parameters of its size are `fovea.layer_norm` and
// `fovea.rms_norm`; all others are written out.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// Whether what is normalised and its parameters, which may be absent, hold floats.
static bool areFloats(std::initializer_list<const Data *> all) {
  return llvm::all_of(all, [](const Data *data) { return !data || isFloat(data->type); });
}

/// True for one parameter for each element of the last axis, whose size is fixed.
static bool fitsLastAxis(const Data &x, const Data *parameter) {
  return !parameter || (parameter->rank() == 1 && x.rank() >= 1 &&
                        parameter->shape[0] == x.shape.back() && Symbols::known(x.shape.back()));
}

/// Deviations from the mean over the axes, and 1 / sqrt(variance + eps), both with all axes.
static std::pair<Data *, Data *> center(Importer &im, Data &x, ArrayRef<int64_t> axes, double eps,
                                        Data **mean) {
  *mean = im.mean(x, axes, true);
  Data *deviation = im.binary("Sub", &x, *mean);
  Data *variance = im.mean(*im.binary("Mul", deviation, deviation), axes, true);
  Data *root = im.unary("Sqrt", im.binary("Add", variance, im.makeReal(x.type, eps)));
  return {deviation, im.binary("Div", im.makeReal(x.type, 1), root)};
}

static LogicalResult importLayerNorm(Importer &im) {
  Data *x = im.input(0), *scale = im.input(1), *bias = im.input(2);
  if (!scale || !areFloats({x, scale, bias}))
    return im.invalid("expects floats and a scale");
  TRY(int64_t axis, im.axis(im.integer("axis", -1), x->rank()));
  double eps = im.real("epsilon", 1e-5f);
  auto stash = static_cast<DataType>(im.integer("stash_type", 1));
  bool isPlain = axis == x->rank() - 1 && fitsLastAxis(*x, scale) && fitsLastAxis(*x, bias) &&
                 !im.hasOutput(1) && !im.hasOutput(2);
  if (isPlain) {
    Value result = LayerNormOp::create(im.b, im.typeOf(*x), im.value(*x), im.value(*scale),
                                       bias ? im.value(*bias) : Value(), im.b.getF64FloatAttr(eps));
    return im.setResult(im.make(x->type, x->shape, result));
  }
  if (!isFloat(stash))
    return im.unsupported("stash_type " + nameOf(stash));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axis, x->rank()));
  Data *wide = im.cast(*x, x->type == DataType::Double ? x->type : stash), *mean = nullptr;
  auto [deviation, inverse] = center(im, *wide, axes, eps, &mean);
  Data *result = im.cast(*im.binary("Mul", deviation, inverse), x->type);
  result = im.binary("Mul", result, im.cast(*scale, x->type));
  if (bias)
    result = im.binary("Add", result, im.cast(*bias, x->type));
  im.set(0, result);
  im.set(1, im.cast(*mean, stash));
  im.set(2, im.cast(*inverse, stash));
  return success();
}

static LogicalResult importRmsNorm(Importer &im) {
  Data *x = im.input(0), *scale = im.input(1);
  if (!scale || !areFloats({x, scale}))
    return im.invalid("expects floats and a scale");
  TRY(int64_t axis, im.axis(im.integer("axis", -1), x->rank()));
  double eps = im.real("epsilon", 1e-5f);
  auto stash = static_cast<DataType>(im.integer("stash_type", 1));
  if (axis == x->rank() - 1 && fitsLastAxis(*x, scale)) {
    Value result = RmsNormOp::create(im.b, im.typeOf(*x), im.value(*x), im.value(*scale),
                                     im.b.getF64FloatAttr(eps), im.b.getF64FloatAttr(0));
    return im.setResult(im.make(x->type, x->shape, result));
  }
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(axis, x->rank()));
  Data *wide = im.cast(*x, x->type == DataType::Double ? x->type : stash);
  Data *mean = im.mean(*im.binary("Mul", wide, wide), axes, true);
  Data *root = im.unary("Sqrt", im.binary("Add", mean, im.makeReal(wide->type, eps)));
  Data *result = im.cast(*im.binary("Div", wide, root), x->type);
  return im.setResult(im.binary("Mul", result, im.cast(*scale, x->type)));
}

/// The axes from `axis` on as one, if their sizes are known: sums then are of rows.
static FailureOr<Data *> joinLast(Importer &im, Data &x, int64_t axis) {
  int64_t size = 1;
  for (Sym extent : ArrayRef(x.shape).drop_front(axis)) {
    std::optional<int64_t> known = Symbols::known(extent);
    if (!known)
      return &x;
    size *= *known;
  }
  SmallVector<Sym> shape(x.shape.begin(), x.shape.begin() + axis);
  shape.push_back(im.number(size));
  return im.reshape(x, shape);
}

static LogicalResult importInstanceNorm(Importer &im) {
  Data *x = im.input(0), *scale = im.input(1), *bias = im.input(2);
  if (!scale || !bias || x->rank() < 3 || !areFloats({x, scale, bias}) || scale->rank() != 1 ||
      bias->rank() != 1)
    return im.invalid("expects floats of rank 3 or more, a scale and a bias");
  TRY(auto *rows, joinLast(im, *x, 2));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, rows->rank()));
  Data *mean = nullptr;
  auto [deviation, inverse] = center(im, *rows, axes, im.real("epsilon", 1e-5f), &mean);
  TRY(auto *result, im.reshape(*im.binary("Mul", deviation, inverse), x->shape));
  result = im.binary("Mul", result, im.along(*scale, 1, x->rank()));
  return im.setResult(im.binary("Add", result, im.along(*bias, 1, x->rank())));
}

static LogicalResult importGroupNorm(Importer &im) {
  Data *x = im.input(0), *scale = im.input(1), *bias = im.input(2);
  if (!scale || !bias || x->rank() < 2 || !areFloats({x, scale, bias}) || scale->rank() != 1 ||
      bias->rank() != 1)
    return im.invalid("expects floats of rank 2 or more, a scale and a bias");
  int64_t groups = im.integer("num_groups", 0);
  double eps = im.real("epsilon", 1e-5f);
  auto stash = static_cast<DataType>(im.integer("stash_type", 1));
  std::optional<int64_t> channels = Symbols::known(x->shape[1]);
  if (groups <= 0 || !channels || *channels % groups)
    return im.invalid("expects num_groups to divide the number of channels");
  // [N, C, ...] as [N, G, C/G, ...]; up to operator set 20 parameters were one for each group.
  SmallVector<Sym> shape{x->shape[0], im.number(groups), im.number(*channels / groups)};
  shape.append(x->shape.begin() + 2, x->shape.end());
  TRY(auto *split, im.reshape(*im.cast(*x, x->type == DataType::Double ? x->type : stash), shape));
  TRY(split, joinLast(im, *split, 2));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, split->rank()));
  Data *mean = nullptr;
  auto [deviation, inverse] = center(im, *split, axes, eps, &mean);
  Data *result = im.cast(*im.binary("Mul", deviation, inverse), x->type);
  if (im.version() < 21) {
    result = im.binary("Mul", result, im.along(*scale, 1, split->rank()));
    result = im.binary("Add", result, im.along(*bias, 1, split->rank()));
    TRY(result, im.reshape(*result, x->shape));
  } else {
    TRY(result, im.reshape(*result, x->shape));
    result = im.binary("Mul", result, im.along(*scale, 1, x->rank()));
    result = im.binary("Add", result, im.along(*bias, 1, x->rank()));
  }
  return im.setResult(result);
}

static LogicalResult importBatchNorm(Importer &im) {
  SmallVector<Data *> in = im.inputs();
  if (in.size() != 5 || llvm::is_contained(in, nullptr) || in[0]->rank() < 2)
    return im.invalid("expects data of rank 2 or more, scale, bias, mean and variance");
  if (im.integer("training_mode", 0))
    return im.unsupported("training; expects training_mode 0");
  im.real("momentum", 0.9f);
  double eps = im.real("epsilon", 1e-5f);
  Data *x = in[0];
  SmallVector<Data *> parameters;
  for (Data *parameter : ArrayRef(in).drop_front())
    if (parameter->rank() != 1)
      return im.invalid("expects parameters of rank 1, got " + Twine(parameter->rank()));
  for (Data *parameter : ArrayRef(in).drop_front())
    parameters.push_back(im.along(*im.cast(*parameter, x->type), 1, x->rank()));
  Data *root = im.unary("Sqrt", im.binary("Add", parameters[3], im.makeReal(x->type, eps)));
  Data *result = im.binary("Div", im.binary("Sub", x, parameters[2]), root);
  result = im.binary("Mul", result, parameters[0]);
  return im.setResult(im.binary("Add", result, parameters[1]));
}

static LogicalResult importMeanVariance(Importer &im) {
  Data *x = im.floats();
  if (!x)
    return failure();
  TRY(SmallVector<int64_t> axes,
      im.axes(im.integers("axes").value_or(SmallVector<int64_t>{0, 2, 3}), x->rank()));
  Data *mean = im.mean(*x, axes, true);
  Data *deviation = im.binary("Sub", x, mean);
  Data *variance = im.mean(*im.binary("Mul", deviation, deviation), axes, true);
  Data *divisor = im.binary("Add", im.unary("Sqrt", variance), im.makeReal(x->type, 1e-9));
  return im.setResult(im.binary("Div", deviation, divisor));
}

static LogicalResult importLpNorm(Importer &im) {
  Data *x = im.floats();
  if (!x)
    return failure();
  TRY(int64_t axis, im.axis(im.integer("axis", -1), x->rank()));
  int64_t p = im.integer("p", 2);
  if (p != 1 && p != 2)
    return im.invalid("expects p to be 1 or 2, got " + Twine(p));
  Data *sum = im.sumOver(p == 1 ? *im.unary("Abs", x) : *im.binary("Mul", x, x), axis);
  Data *norm = p == 1 ? sum : im.unary("Sqrt", sum);
  // A vector of zeros stays one.
  Data *zero = im.makeReal(x->type, 0), *one = im.makeReal(x->type, 1);
  return im.setResult(
      im.binary("Div", x, im.selectData(im.binary("Equal", norm, zero), one, norm)));
}

void mlir::fovea::onnx::addNormOps(OpTable &table) {
  table.add("BatchNormalization", 13, importBatchNorm);
  table.add("GroupNormalization", 13, importGroupNorm);
  table.add("InstanceNormalization", 13, importInstanceNorm);
  table.add("LayerNormalization", 13, importLayerNorm);
  table.add("LpNormalization", 13, importLpNorm);
  table.add("MeanVarianceNormalization", 13, importMeanVariance);
  table.add("RMSNormalization", 13, importRmsNorm);
  // ONNX Runtime's own name for what became LayerNormalization without bias.
  table.add("com.microsoft", "SimplifiedLayerNormalization", 1, importRmsNorm);
  table.add("SimplifiedLayerNormalization", 1, importRmsNorm);
}
