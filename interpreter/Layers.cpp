// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear maps, embeddings, norms, activations, gates, pooling, argmax. All work on rows: the last
// axis.
#include "interpreter/Frame.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

//===-- Linear and embedding -----------------------------------------------------------------===//

/// sum_k a[k] * b[k], in four interleaved sums so that it takes a reasonable time.
static double dot(const double *a, const double *b, int64_t size) {
  double sums[4] = {0, 0, 0, 0};
  int64_t k = 0;
  for (; k + 4 <= size; k += 4)
    for (int64_t lane = 0; lane < 4; ++lane)
      sums[lane] += a[k + lane] * b[k + lane];
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; k < size; ++k)
    sum += a[k] * b[k];
  return sum;
}

/// A quantised weight as the numbers that it stands for.
static Tensor scaleWeight(const Tensor &w, const Tensor &scales) {
  Tensor result;
  result.shape = w.shape;
  int64_t inputs = w.shape[1], groups = scales.rank() == 2 ? scales.shape[1] : 1;
  int64_t each = inputs / groups;
  result.reals.resize(w.size());
  for (int64_t i = 0; i < w.size(); ++i)
    result.reals[i] =
        static_cast<double>(w.integers[i]) * scales.reals[i / inputs * groups + i % inputs / each];
  return result;
}

double interpreter::quantizeRow(MutableArrayRef<double> row) {
  double most = 0;
  for (double number : row)
    most = std::isfinite(number) ? std::max(most, std::abs(number))
                                 : std::numeric_limits<double>::infinity();
  bool isFinite = std::isfinite(most);
  for (double &number : row)
    number =
        !isFinite || most < LinearOp::kLeastMagnitude ? 0 : std::nearbyint(number * 127 / most);
  return isFinite ? most / 127 : std::numeric_limits<double>::quiet_NaN();
}

/// The rows as integers of eight bits, times a number for each row.
static Tensor quantizeRows(Tensor x) {
  int64_t size = x.shape.back();
  for (int64_t at = 0; at < x.size(); at += size) {
    MutableArrayRef<double> row(&x.reals[at], size);
    double scale = quantizeRow(row);
    for (double &number : row)
      number *= scale;
  }
  return x;
}

/// Where the rows of each expert begin, and at last their number.
static FailureOr<SmallVector<int64_t>> getFirstRows(LinearOp op, Frame &frame, int64_t rows) {
  if (!op.getExperts())
    return SmallVector<int64_t>{0, rows};
  SmallVector<int64_t> first = llvm::to_vector(frame.tensor(op.getExperts()).integers);
  if (first.front() != 0 || first.back() != rows || !llvm::is_sorted(first))
    return op.emitOpError("expects numbers from 0 to its ") << rows << " rows, in order", failure();
  return first;
}

static LogicalResult runLinear(LinearOp op, Frame &frame) {
  Tensor quantized;
  if (op.getQuantizeRows())
    quantized = quantizeRows(frame.tensor(op.getInput()));
  const Tensor &x = op.getQuantizeRows() ? quantized : frame.tensor(op.getInput());
  Tensor scaled;
  if (op.getScales())
    scaled = scaleWeight(frame.tensor(op.getWeight()), frame.tensor(op.getScales()));
  const Tensor &w = op.getScales() ? scaled : frame.tensor(op.getWeight());
  TensorRef bias = op.getBias() ? frame.tensorRef(op.getBias()) : nullptr;
  int64_t outputs = op.getOutputs(), inputs = w.shape[1];
  if (x.shape.back() != inputs)
    return op.emitOpError("expects ") << inputs << " elements a row, got " << x.shape.back();
  if (bias && bias->size() != w.shape[0])
    return op.emitOpError("expects a bias of ") << w.shape[0] << " elements, got " << bias->size();
  SmallVector<int64_t, 4> shape = x.shape;
  shape.back() = outputs;
  TRY(Tensor result, frame.makeTensor(op, shape));
  int64_t rows = outputs ? result.size() / outputs : 0;
  TRY(SmallVector<int64_t> first, getFirstRows(op, frame, rows));
  for (int64_t n = 0; n < w.shape[0]; ++n)
    for (int64_t row = first[n / outputs]; row < first[n / outputs + 1]; ++row)
      result.reals[row * outputs + n % outputs] =
          dot(x.reals.data() + row * inputs, w.reals.data() + n * inputs, inputs) +
          (bias ? bias->reals[n] : 0);
  return frame.set(op, std::move(result));
}

static LogicalResult runEmbedding(EmbeddingOp op, Frame &frame) {
  const Tensor &ids = frame.tensor(op.getIds()), &table = frame.tensor(op.getTable());
  TensorRef scales = op.getScales() ? frame.tensorRef(op.getScales()) : nullptr;
  int64_t rows = table.shape[0], width = table.shape[1];
  SmallVector<int64_t, 4> shape = ids.shape;
  shape.push_back(width);
  TRY(Tensor result, frame.makeTensor(op, shape));
  for (int64_t at = 0; at < ids.size(); ++at) {
    int64_t id = ids.integers[at];
    if (id < 0 || id >= rows)
      return op.emitOpError("expects an id inside the table's ") << rows << " rows, got " << id;
    double *row = result.reals.data() + at * width;
    if (scales)
      std::transform(
          table.integers.begin() + id * width, table.integers.begin() + (id + 1) * width, row,
          [&](int64_t number) { return static_cast<double>(number) * scales->reals[id]; });
    else
      std::copy_n(table.reals.begin() + id * width, width, row);
  }
  return frame.set(op, std::move(result));
}

//===-- Norms --------------------------------------------------------------------------------===//

/// `rule(row in, row out)` on every row of the last axis, which has `size` elements.
static LogicalResult onRows(Operation *op, Frame &frame,
                            function_ref<void(const double *, double *, int64_t)> rule) {
  const Tensor &x = frame.tensor(op->getOperand(0));
  for (Value vector : op->getOperands().drop_front())
    if (frame.tensor(vector).size() != x.shape.back())
      return op->emitOpError("expects weight and bias of ")
             << x.shape.back() << " elements, got " << frame.tensor(vector).size();
  Tensor result = x;
  int64_t size = x.shape.back();
  for (int64_t at = 0; at < x.size(); at += size)
    rule(&x.reals[at], &result.reals[at], size);
  return frame.set(op, std::move(result));
}

static LogicalResult runLayerNorm(LayerNormOp op, Frame &frame) {
  TensorRef weight = op.getWeight() ? frame.tensorRef(op.getWeight()) : nullptr;
  TensorRef bias = op.getBias() ? frame.tensorRef(op.getBias()) : nullptr;
  double eps = op.getEps().convertToDouble();
  return onRows(op, frame, [&](const double *x, double *y, int64_t size) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < size; ++i)
      mean += x[i] / size;
    for (int64_t i = 0; i < size; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / size;
    for (int64_t i = 0; i < size; ++i)
      y[i] = (x[i] - mean) / std::sqrt(variance + eps) * (weight ? weight->reals[i] : 1) +
             (bias ? bias->reals[i] : 0);
  });
}

static LogicalResult runRmsNorm(RmsNormOp op, Frame &frame) {
  TensorRef weight = op.getWeight() ? frame.tensorRef(op.getWeight()) : nullptr;
  double eps = op.getEps().convertToDouble(), offset = op.getWeightOffset().convertToDouble();
  return onRows(op, frame, [&](const double *x, double *y, int64_t size) {
    double squares = 0;
    for (int64_t i = 0; i < size; ++i)
      squares += x[i] * x[i] / size;
    for (int64_t i = 0; i < size; ++i)
      y[i] = x[i] / std::sqrt(squares + eps) * (weight ? weight->reals[i] + offset : 1);
  });
}

static LogicalResult runGatedNorm(GatedNormOp op, Frame &frame) {
  const Tensor &x = frame.tensor(op.getInput()), &gate = frame.tensor(op.getGate()),
               &weight = frame.tensor(op.getWeight());
  if (gate.shape != x.shape)
    return op.emitOpError("expects a gate of [") << x.shape << "], got [" << gate.shape << "]";
  double eps = op.getEps().convertToDouble();
  Tensor result = x;
  int64_t size = x.shape.back();
  for (int64_t at = 0; at < x.size(); at += size) {
    double squares = 0;
    for (int64_t i = 0; i < size; ++i)
      squares += x.reals[at + i] * x.reals[at + i] / size;
    for (int64_t i = 0; i < size; ++i) {
      double z = gate.reals[at + i];
      result.reals[at + i] =
          x.reals[at + i] / std::sqrt(squares + eps) * weight.reals[i] * z / (1 + std::exp(-z));
    }
  }
  return frame.set(op, std::move(result));
}

static LogicalResult runL2Norm(L2NormOp op, Frame &frame) {
  double eps = op.getEps().convertToDouble();
  return onRows(op, frame, [&](const double *x, double *y, int64_t size) {
    double squares = 0;
    for (int64_t i = 0; i < size; ++i)
      squares += x[i] * x[i];
    for (int64_t i = 0; i < size; ++i)
      y[i] = x[i] / std::max(std::sqrt(squares), eps);
  });
}

//===-- Activations --------------------------------------------------------------------------===//

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

static double activate(ActivationKind kind, double x) {
  switch (kind) {
  case ActivationKind::Gelu:
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  case ActivationKind::GeluTanh:
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  case ActivationKind::GeluQuick:
    return x * sigmoid(1.702 * x);
  case ActivationKind::Relu:
    return x > 0 || std::isnan(x) ? x : 0;
  case ActivationKind::Silu:
    return x * sigmoid(x);
  case ActivationKind::Tanh:
    return std::tanh(x);
  case ActivationKind::Sigmoid:
    return sigmoid(x);
  case ActivationKind::ReluSquared:
    return x > 0 || std::isnan(x) ? x * x : 0;
  }
  llvm_unreachable("all activations are handled");
}

static LogicalResult runActivation(ActivationOp op, Frame &frame) {
  Tensor result = frame.tensor(op.getInput());
  for (double &x : result.reals)
    x = activate(op.getKind(), x);
  return frame.set(op, std::move(result));
}

static LogicalResult runGlu(GluOp op, Frame &frame) {
  Tensor result = frame.tensor(op.getGate());
  const Tensor &up = frame.tensor(op.getUp());
  if (up.shape != result.shape)
    return op.emitOpError("expects operands of one shape, got [")
           << result.shape << "] and [" << up.shape << "]";
  for (int64_t i = 0; i < result.size(); ++i)
    result.reals[i] = activate(op.getKind(), result.reals[i]) * up.reals[i];
  return frame.set(op, std::move(result));
}

static LogicalResult runDropout(DropoutOp op, Frame &frame) {
  return frame.set(op, frame.get(op.getInput())); // nothing is dropped when a model is used
}

//===-- Pooling ------------------------------------------------------------------------------===//

static LogicalResult runPool(PoolOp op, Frame &frame) {
  const Tensor &x = frame.tensor(op.getInput());
  TensorRef keep = op.getKeep() ? frame.tensorRef(op.getKeep()) : nullptr;
  int64_t batch = x.shape[0], length = x.shape[1], width = x.shape[2];
  if (keep && (keep->shape[0] != batch || keep->shape[1] != length))
    return op.emitOpError("expects keep of [")
           << batch << ", " << length << "], got [" << keep->shape << "]";
  TRY(Tensor result, frame.makeTensor(op, {batch, width}));
  PoolKind kind = op.getKind();
  for (int64_t b = 0; b < batch; ++b) {
    SmallVector<int64_t> kept;
    for (int64_t s = 0; s < length; ++s)
      if (!keep || keep->integers[b * length + s] != 0)
        kept.push_back(s);
    if (!kept.empty() && kind == PoolKind::First)
      kept.resize(1);
    if (!kept.empty() && kind == PoolKind::Last)
      kept = {kept.back()};
    for (int64_t d = 0; d < width; ++d) {
      double sum = 0, greatest = -std::numeric_limits<double>::infinity();
      for (int64_t s : kept) {
        double element = x.reals[(b * length + s) * width + d];
        sum += element;
        greatest = std::isnan(element) ? element : std::fmax(greatest, element);
      }
      double count = kind == PoolKind::Mean ? std::max<double>(kept.size(), 1e-9) : 1;
      result.reals[b * width + d] = kind == PoolKind::Max ? greatest : sum / count;
    }
  }
  return frame.set(op, std::move(result));
}

//===-- Argmax -------------------------------------------------------------------------------===//

static LogicalResult runArgmax(ArgmaxOp op, Frame &frame) {
  const Tensor &x = frame.tensor(op.getInput());
  int64_t width = x.shape.back();
  TRY(Tensor result,
      frame.makeTensor(op, ArrayRef<int64_t>(x.shape).drop_back(), /*isReal=*/false));
  for (int64_t row = 0; row < result.size(); ++row) {
    const double *element = x.reals.data() + row * width;
    bool hasNaN = std::any_of(element, element + width, [](double x) { return std::isnan(x); });
    result.integers[row] = hasNaN ? -1 : std::max_element(element, element + width) - element;
  }
  return frame.set(op, std::move(result));
}

void interpreter::addLayerOps(HandlerTable &table) {
  table.add(runLinear);
  table.add(runEmbedding);
  table.add(runLayerNorm);
  table.add(runRmsNorm);
  table.add(runGatedNorm);
  table.add(runL2Norm);
  table.add(runActivation);
  table.add(runGlu);
  table.add(runDropout);
  table.add(runPool);
  table.add(runArgmax);
}
