// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea.attention`, one query at a time as its text writes it: scores, softmax over the allowed
// keys, sum of values. And what may stand in its score region.
#include "interpreter/Frame.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

namespace {

/// Keys or values, a tensor or a cache: `[batch, length, heads, size]` either way; what each row is
/// multiplied by, if anything.
struct Sequence {
  static Sequence get(Frame &frame, Value value, Value scales = {}) {
    if (isa<CacheType>(value.getType())) {
      const Cache &c = frame.cache(value);
      return {c.data.data(), scales ? frame.cache(scales).data.data() : nullptr,
              c.batch,       c.length,
              c.heads,       c.size};
    }
    const Tensor &t = frame.tensor(value);
    return {t.reals.data(), nullptr, t.shape[0], t.shape[1], t.shape[2], t.shape[3]};
  }
  int64_t row(int64_t b, int64_t j, int64_t h) const { return (b * length + j) * heads + h; }
  const double *at(int64_t b, int64_t j, int64_t h) const { return data + row(b, j, h) * size; }
  double scale(int64_t b, int64_t j, int64_t h) const { return scales ? scales[row(b, j, h)] : 1; }

  const double *data, *scales;
  int64_t batch, length, heads, size;
};

/// One attention that runs.
class Attention {
public:
  Attention(AttentionOp op, Frame &frame)
      : op(op), frame(frame), q(Sequence::get(frame, op.getQuery())),
        k(Sequence::get(frame, op.getKey(), op.getKeyScales())),
        v(Sequence::get(frame, op.getValue(), op.getValueScales())),
        scale(op.getScale().convertToDouble()),
        isLiteral(frame.getPrecision() == Precision::Literal &&
                  !op.getQuery().getType().getElementType().isF64()) {}

  LogicalResult run();

private:
  LogicalResult checkSizes();
  /// One query of one head: all of its results.
  LogicalResult runQuery(int64_t b, int64_t h, int64_t i);
  /// A softmax over keys.
  struct Row {
    std::vector<double> p;
    double greatest; ///< of the scores
    double sum;      ///< of the exponentials of what they are less that
  };
  FailureOr<std::vector<bool>> getAllowed(int64_t b, int64_t h, int64_t i);
  FailureOr<Row> softmax(int64_t b, int64_t h, int64_t i, const std::vector<bool> &seen);
  FailureOr<std::vector<double>> getWeights(int64_t b, int64_t h, int64_t i,
                                            const std::vector<double> &p,
                                            const std::vector<bool> &seen);
  void sumValues(int64_t b, int64_t h, int64_t i, const std::vector<double> &w);
  double rawScore(int64_t b, int64_t h, int64_t i, int64_t j) const;
  /// A step inside the op, which a literal run makes in f32.
  double step(double value) const { return isLiteral ? static_cast<float>(value) : value; }
  /// y[i, j], through the score region if there is one.
  FailureOr<double> score(int64_t b, int64_t h, int64_t i, int64_t j);
  /// What a region makes of a number at (b, h, i, j).
  FailureOr<double> evaluate(const ElementRegion &of, StringRef name, ArrayRef<TensorRef> operands,
                             double number, ArrayRef<int64_t> point);

  AttentionOp op;
  Frame &frame;
  Sequence q, k, v;
  double scale;
  bool isLiteral;
  PositionReader queryPositions, keyPositions;
  TensorRef sinks, additive;
  SmallVector<TensorRef> scoreOperands, probabilityOperands;
  SmallVector<RuntimeValue> regionResult;
  Tensor output, lse, weights;
};

} // namespace

LogicalResult Attention::checkSizes() {
  if (k.batch != q.batch || v.batch != q.batch)
    return op.emitOpError("expects one batch size, got ")
           << q.batch << ", " << k.batch << " and " << v.batch;
  if (k.length != v.length)
    return op.emitOpError("expects key and value lengths to agree, got ")
           << k.length << " and " << v.length;
  for (Value scales : {op.getKeyScales(), op.getValueScales()})
    if (scales) {
      const Cache &cache = frame.cache(scales);
      if (cache.batch != k.batch || cache.length != k.length)
        return op.emitOpError("expects scales for ")
               << k.batch << " times " << k.length << " positions, got " << cache.batch << " times "
               << cache.length;
    }
  if (sinks && sinks->size() != q.heads)
    return op.emitOpError("expects one sink for each of ")
           << q.heads << " heads, got " << sinks->size();
  if (additive && additive->size() != q.size)
    return op.emitOpError("expects additive weights for head size ")
           << q.size << ", got " << additive->size();
  return success();
}

double Attention::rawScore(int64_t b, int64_t h, int64_t i, int64_t j) const {
  int64_t group = h / (q.heads / k.heads);
  const double *query = q.at(b, i, h), *key = k.at(b, j, group);
  double keyScale = k.scale(b, j, group);
  double sum = 0;
  if (additive)
    for (int64_t d = 0; d < q.size; ++d)
      sum = step(sum + step(additive->reals[d] * step(std::tanh(query[d] + key[d] * keyScale))));
  else
    for (int64_t d = 0; d < q.size; ++d)
      sum = step(sum + step(query[d] * (key[d] * keyScale)));
  return step(scale * sum);
}

FailureOr<double> Attention::evaluate(const ElementRegion &of, StringRef name,
                                      ArrayRef<TensorRef> operands, double number,
                                      ArrayRef<int64_t> point) {
  Block &block = of.getBlock();
  auto argument = block.args_begin();
  frame.setArgument(*argument++, number);
  for (auto [n, operand] : llvm::enumerate(operands)) {
    if (of.isWhole(n)) {
      frame.setArgument(*argument++, operand);
      continue;
    }
    SmallVector<int64_t, 4> indices;
    AffineMap map = of.getMap(n);
    for (unsigned r = 0; r < map.getNumResults(); ++r)
      indices.push_back(point[map.getDimPosition(r)]);
    if (!operand->contains(indices))
      return op.emitOpError("expects ") << name << " operand " << n << " to reach [" << indices
                                        << "], got sizes [" << operand->shape << "]";
    Element element = operand->at(operand->place(indices));
    if (operand->isReal)
      frame.setArgument(*argument++, element.real);
    else
      frame.setArgument(*argument++, element.integer);
  }
  int64_t b = point[0];
  for (int64_t place : {b, point[1], queryPositions.at(b, point[2]), keyPositions.at(b, point[3])})
    frame.setArgument(*argument++, place);
  if (failed(frame.runScalars(block, regionResult)))
    return failure();
  return std::get<double>(regionResult.front());
}

FailureOr<double> Attention::score(int64_t b, int64_t h, int64_t i, int64_t j) {
  double raw = rawScore(b, h, i, j);
  if (!op.hasScore())
    return raw;
  return evaluate(op.getScoreRegion(), "score", scoreOperands, raw, {b, h, i, j});
}

/// Which keys are allowed.
FailureOr<std::vector<bool>> Attention::getAllowed(int64_t b, int64_t h, int64_t i) {
  std::vector<bool> allowed(k.length, true);
  if (!op.getMask())
    return allowed;
  MaskRef mask = frame.mask(op.getMask());
  for (int64_t j = 0; j < k.length; ++j) {
    TRY(bool one, mask->allows({b, h, i, j, queryPositions.at(b, i), keyPositions.at(b, j)}));
    allowed[j] = one;
  }
  return allowed;
}

/// The scores of `seen` keys and their softmax. A sink is summed, but gets no value.
FailureOr<Attention::Row> Attention::softmax(int64_t b, int64_t h, int64_t i,
                                             const std::vector<bool> &seen) {
  int64_t keys = k.length;
  Row row;
  std::vector<double> y(keys, -kInfinity);
  row.greatest = sinks ? sinks->reals[h] : -kInfinity;
  for (int64_t j = 0; j < keys; ++j) {
    if (!seen[j])
      continue;
    TRY(double one, score(b, h, i, j));
    y[j] = one;
    row.greatest = std::isnan(y[j]) ? y[j] : std::fmax(row.greatest, y[j]);
  }
  row.p.assign(keys, 0);
  row.sum = sinks ? step(std::exp(step(sinks->reals[h] - row.greatest))) : 0;
  for (int64_t j = 0; j < keys; ++j)
    if (seen[j])
      row.sum = step(row.sum + (row.p[j] = step(std::exp(step(y[j] - row.greatest)))));
  for (int64_t j = 0; j < keys; ++j)
    if (seen[j])
      row.p[j] = step(row.p[j] / row.sum);
  return row;
}

/// What the probability region makes of the probabilities of `seen` keys.
FailureOr<std::vector<double>> Attention::getWeights(int64_t b, int64_t h, int64_t i,
                                                     const std::vector<double> &p,
                                                     const std::vector<bool> &seen) {
  std::vector<double> w = p;
  if (!op.hasProbability())
    return w;
  for (int64_t j = 0; j < k.length; ++j) {
    if (!seen[j])
      continue;
    TRY(double one, evaluate(op.getProbabilityRegion(), "probability", probabilityOperands, p[j],
                             {b, h, i, j}));
    w[j] = one;
  }
  return w;
}

void Attention::sumValues(int64_t b, int64_t h, int64_t i, const std::vector<double> &w) {
  int64_t group = h / (q.heads / k.heads);
  double *out = &output.reals[output.place({b, i, h, 0})];
  for (int64_t j = 0; j < k.length; ++j)
    if (w[j] != 0) // a forbidden key's value is not looked at, whatever it is
      for (int64_t d = 0; d < v.size; ++d)
        out[d] = step(out[d] + step(w[j] * (v.at(b, j, group)[d] * v.scale(b, j, group))));
}

LogicalResult Attention::runQuery(int64_t b, int64_t h, int64_t i) {
  TRY(std::vector<bool> allowed, getAllowed(b, h, i));
  bool isEmpty = llvm::none_of(allowed, [](bool one) { return one; });
  bool isFilled = isEmpty && !sinks;
  Fill fill = op.getFill();
  // What fills an empty row is of all keys.
  const std::vector<bool> all(k.length, true);
  TRY(Row row, softmax(b, h, i, isFilled && fill == Fill::Raw ? all : allowed));
  if (isFilled && fill == Fill::Mean)
    row.p.assign(k.length, 1.0 / k.length);
  if (isFilled && fill == Fill::Nan)
    row.p.assign(k.length, kNan);
  bool fillsByKeys = isFilled && (fill == Fill::Raw || fill == Fill::Mean);
  TRY(std::vector<double> w, getWeights(b, h, i, row.p, fillsByKeys ? all : allowed));
  sumValues(b, h, i, w);
  // The further results.
  if (op.getLse())
    lse.reals[lse.place({b, h, i})] = isFilled ? -kInfinity : row.greatest + std::log(row.sum);
  if (op.getWeights())
    for (int64_t j = 0; j < k.length; ++j)
      weights.reals[weights.place({b, h, i, j})] = row.p[j];
  return success();
}

LogicalResult Attention::run() {
  if (op.getSinks())
    sinks = frame.tensorRef(op.getSinks());
  if (op.getAdditive())
    additive = frame.tensorRef(op.getAdditive());
  for (Value operand : op.getScoreOperands())
    scoreOperands.push_back(frame.tensorRef(operand));
  for (Value operand : op.getProbabilityOperands())
    probabilityOperands.push_back(frame.tensorRef(operand));
  if (failed(checkSizes()))
    return failure();
  FailureOr<PositionReader> atQuery =
      PositionReader::get(op, frame, op.getQueryPositions(), q.batch, q.length);
  FailureOr<PositionReader> atKey =
      PositionReader::get(op, frame, op.getKeyPositions(), q.batch, k.length);
  FailureOr<Tensor> made = frame.makeTensor(op, {q.batch, q.length, q.heads, v.size});
  FailureOr<Tensor> madeLse = frame.makeTensor(op, {q.batch, q.heads, q.length});
  FailureOr<Tensor> madeWeights =
      frame.makeTensor(op, {op.getWeights() ? q.batch : 0, q.heads, q.length, k.length});
  if (failed(atQuery) || failed(atKey) || failed(made) || failed(madeLse) || failed(madeWeights))
    return failure();
  queryPositions = *atQuery;
  keyPositions = *atKey;
  output = std::move(*made);
  lse = std::move(*madeLse);
  weights = std::move(*madeWeights);
  for (int64_t b = 0; b < q.batch; ++b)
    for (int64_t i = 0; i < q.length; ++i)
      for (int64_t h = 0; h < q.heads; ++h)
        if (failed(runQuery(b, h, i)))
          return failure();
  if (failed(frame.set(op, op.getOutput(), std::move(output))) ||
      (op.getLse() && failed(frame.set(op, op.getLse(), std::move(lse)))) ||
      (op.getWeights() && failed(frame.set(op, op.getWeights(), std::move(weights)))))
    return failure();
  return success();
}

static LogicalResult runAttention(AttentionOp op, Frame &frame) {
  return Attention(op, frame).run();
}

//===-- Scores -------------------------------------------------------------------------------===//

static LogicalResult runAlibiSlopes(AlibiSlopesOp op, Frame &frame) {
  int64_t heads = op.getSlopes().getType().getDimSize(0);
  TRY(Tensor result, frame.makeTensor(op, {heads}));
  // The greatest power of two that is at most the number of heads, then every other slope of the
  // next one.
  int64_t power = 1;
  while (power * 2 <= heads)
    power *= 2;
  for (int64_t h = 0; h < heads; ++h)
    result.reals[h] = h < power ? std::exp2(-8.0 * (h + 1) / power)
                                : std::exp2(-8.0 * (2 * (h - power) + 1) / (2 * power));
  return frame.set(op, std::move(result));
}

/// The bucket of `n = k_pos - q_pos` (Raffel et al. 2020).
static int64_t relativeBucket(int64_t n, bool bidirectional, int64_t buckets, int64_t maxDistance) {
  int64_t first = 0, distance;
  if (bidirectional) {
    buckets /= 2;
    first = n > 0 ? buckets : 0;
    distance = std::abs(n);
  } else {
    distance = n > 0 ? 0 : -n;
  }
  int64_t exact = buckets / 2;
  if (distance < exact)
    return first + distance;
  double place = std::log(static_cast<double>(distance) / exact) /
                 std::log(static_cast<double>(maxDistance) / exact) * (buckets - exact);
  // Where the exact number is whole, the computed one may lie a rounding error below it.
  if (std::fabs(place - std::round(place)) < 1e-12)
    place = std::round(place);
  // Compared as floats: a distance far beyond the greatest would not fit.
  return first + exact + static_cast<int64_t>(std::fmin(place, buckets - exact - 1));
}

static LogicalResult runRelativeBias(RelativeBiasOp op, Frame &frame) {
  const Tensor &table = frame.tensor(op.getTable());
  int64_t n = frame.integer(op.getKeyPosition()) - frame.integer(op.getQueryPosition());
  int64_t bucket = relativeBucket(n, op.getBidirectional(), op.getBuckets(), op.getMaxDistance());
  int64_t indices[] = {bucket, frame.integer(op.getHead())};
  if (!table.contains(indices))
    return op.emitOpError("expects an index inside [")
           << table.shape << "], got [" << ArrayRef<int64_t>(indices) << "]";
  return frame.set(op, RuntimeValue(table.reals[table.place(indices)]));
}

void interpreter::addAttentionOps(HandlerTable &table) {
  table.add(runAttention);
  table.add(runAlibiSlopes);
  table.add(runRelativeBias);
}
