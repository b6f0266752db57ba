// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions: consecutive ones, rotary embedding with its six kinds of scaling, sines, tables.
#include "interpreter/Frame.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static constexpr double kPi = 3.14159265358979323846;

FailureOr<PositionReader> PositionReader::get(Operation *op, Frame &frame, Value positions,
                                              int64_t batch, int64_t length) {
  PositionReader reader;
  if (!positions)
    return reader;
  reader.positions = frame.tensorRef(positions);
  ArrayRef<int64_t> shape = reader.positions->shape;
  if ((shape[0] != 1 && shape[0] != batch) || shape[1] != length)
    return op->emitOpError("expects positions [1 or ")
           << batch << ", " << length << "], got [" << shape << "]";
  return reader;
}

static LogicalResult runPositions(PositionsOp op, Frame &frame) {
  int64_t count =
      op.getCount() ? frame.integer(op.getCount()) : op.getResult().getType().getDimSize(1);
  TRY(Tensor result, frame.makeTensor(op, {1, count}, /*isReal=*/false));
  uint64_t first = frame.integer(op.getFirst());
  for (int64_t i = 0; i < count; ++i)
    result.integers[i] = static_cast<int64_t>(first + i);
  return frame.set(op, std::move(result));
}

//===-- Rotary -------------------------------------------------------------------------------===//

/// How much further than at most the original context a call goes: its longest position plus one,
/// and at least `original`.
static int64_t contextLength(const Tensor &positions, int64_t original) {
  int64_t length = original;
  for (int64_t position : positions.integers)
    length = std::max(length, position + 1);
  return length;
}

/// The pair that makes `rotations` turns over the original context (Peng et al. 2023, section 3.2).
static double pairOfRotations(double rotations, double dim, double theta, double original) {
  return dim * std::log(original / (rotations * 2 * kPi)) / (2 * std::log(theta));
}

static double number(FloatAttr attr, double ifAbsent) {
  return attr ? attr.getValueAsDouble() : ifAbsent;
}

/// f_i of every pair, stretched; `attention` is what sines and cosines are multiplied by.
static std::vector<double> rotaryFrequencies(RopeOp op, const Tensor &positions,
                                             double &attention) {
  RopeScalingAttr scaling = op.getScalingAttr();
  RopeScalingKind kind = scaling ? scaling.getKind() : RopeScalingKind::Default;
  int64_t dim = op.getDim(), pairs = dim / 2;
  double theta = op.getTheta().convertToDouble();
  double factor = scaling ? number(scaling.getFactor(), 1) : 1;
  double original = scaling ? scaling.getOriginal() : 0;
  attention = 1;

  if (kind == RopeScalingKind::Dynamic) {
    double length = contextLength(positions, scaling.getOriginal());
    theta *= std::pow(factor * length / original - (factor - 1), dim / (dim - 2.0));
  }
  std::vector<double> frequencies(pairs);
  for (int64_t i = 0; i < pairs; ++i) // pair 0 turns by 1 whatever theta is, also an infinite one
    frequencies[i] = i == 0 ? 1 : std::pow(theta, -2.0 * i / dim);

  switch (kind) {
  case RopeScalingKind::Default:
  case RopeScalingKind::Dynamic:
    break;
  case RopeScalingKind::Linear:
    for (double &f : frequencies)
      f /= factor;
    break;
  case RopeScalingKind::Yarn: {
    attention = number(scaling.getAttentionFactor(), 1);
    double first = pairOfRotations(number(scaling.getHigh(), 0), dim, theta, original);
    double last = pairOfRotations(number(scaling.getLow(), 0), dim, theta, original);
    if (scaling.getTruncate()) {
      first = std::floor(first);
      last = std::ceil(last);
    }
    first = std::max(first, 0.0);
    last = std::min(last, dim - 1.0);
    if (first == last)
      last += 0.001; // as the reference implementation avoids the division by zero
    for (int64_t i = 0; i < pairs; ++i) {
      double stretched = std::clamp((i - first) / (last - first), 0.0, 1.0);
      frequencies[i] = frequencies[i] * (1 - stretched) + frequencies[i] / factor * stretched;
    }
    break;
  }
  case RopeScalingKind::LongRope: {
    attention = number(scaling.getAttentionFactor(), 1);
    bool isLong = contextLength(positions, scaling.getOriginal()) > scaling.getOriginal();
    DenseF64ArrayAttr factors = isLong ? scaling.getLongFactors() : scaling.getShortFactors();
    for (int64_t i = 0; i < pairs; ++i)
      frequencies[i] /= factors[i];
    break;
  }
  case RopeScalingKind::Llama3: {
    double low = number(scaling.getLow(), 1), high = number(scaling.getHigh(), 1);
    for (double &f : frequencies) {
      double wavelength = 2 * kPi / f;
      if (wavelength < original / high)
        continue;
      if (wavelength > original / low) {
        f /= factor;
        continue;
      }
      double kept = (original / wavelength - low) / (high - low);
      f = (1 - kept) * f / factor + kept * f;
    }
    break;
  }
  }
  return frequencies;
}

static LogicalResult runRope(RopeOp op, Frame &frame) {
  const Tensor &x = frame.tensor(op.getInput());
  int64_t batch = x.shape[0], length = x.shape[1], heads = x.shape[2], size = x.shape[3];
  TRY(PositionReader positions, PositionReader::get(op, frame, op.getPositions(), batch, length));
  double attention;
  std::vector<double> frequencies =
      rotaryFrequencies(op, frame.tensor(op.getPositions()), attention);
  bool isHalf = op.getPairing() == RopePairing::Half;
  int64_t pairs = frequencies.size();
  Tensor result = x;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t s = 0; s < length; ++s)
      for (int64_t i = 0; i < pairs; ++i) {
        double angle = positions.at(b, s) * frequencies[i];
        double cosine = std::cos(angle) * attention, sine = std::sin(angle) * attention;
        int64_t first = isHalf ? i : 2 * i, second = isHalf ? i + pairs : 2 * i + 1;
        for (int64_t h = 0; h < heads; ++h) {
          int64_t head = ((b * length + s) * heads + h) * size;
          double x1 = x.reals[head + first], x2 = x.reals[head + second];
          result.reals[head + first] = x1 * cosine - x2 * sine;
          result.reals[head + second] = x2 * cosine + x1 * sine;
        }
      }
  return frame.set(op, std::move(result));
}

//===-- Vectors of positions -----------------------------------------------------------------===//

static LogicalResult runSinusoidal(PositionSinusoidalOp op, Frame &frame) {
  const Tensor &positions = frame.tensor(op.getPositions());
  int64_t width = cast<RankedTensorType>(op.getResult().getType()).getDimSize(2);
  TRY(Tensor result, frame.makeTensor(op, {positions.shape[0], positions.shape[1], width}));
  double theta = op.getTheta().convertToDouble();
  bool isInterleaved = op.getLayout() == SinusoidLayout::Interleaved;
  for (int64_t at = 0; at < positions.size(); ++at)
    for (int64_t i = 0; i < width / 2; ++i) {
      double angle = positions.integers[at] * std::pow(theta, -2.0 * i / width);
      double *vector = &result.reals[at * width];
      vector[isInterleaved ? 2 * i : i] = std::sin(angle);
      vector[isInterleaved ? 2 * i + 1 : width / 2 + i] = std::cos(angle);
    }
  return frame.set(op, std::move(result));
}

static LogicalResult runLearned(PositionLearnedOp op, Frame &frame) {
  const Tensor &positions = frame.tensor(op.getPositions());
  const Tensor &table = frame.tensor(op.getTable());
  int64_t rows = table.shape[0], width = table.shape[1];
  TRY(Tensor result, frame.makeTensor(op, {positions.shape[0], positions.shape[1], width}));
  int64_t offset = op.getOffset();
  for (int64_t at = 0; at < positions.size(); ++at) {
    int64_t row;
    if (__builtin_add_overflow(positions.integers[at], offset, &row) || row < 0 || row >= rows)
      return op.emitOpError("expects a position inside the table's ")
             << rows << " rows, got " << positions.integers[at] << " with offset " << offset;
    std::copy_n(&table.reals[row * width], width, &result.reals[at * width]);
  }
  return frame.set(op, std::move(result));
}

void interpreter::addPositionOps(HandlerTable &table) {
  table.add(runPositions);
  table.add(runRope);
  table.add(runSinusoidal);
  table.add(runLearned);
}
