// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Caches: sequences that grow. Here each append copies; sharing memory is the compiler's business.
#include "interpreter/Frame.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static LogicalResult runCreate(CacheCreateOp op, Frame &frame) {
  int64_t batch = frame.integer(op.getBatch()), capacity = frame.integer(op.getCapacity());
  auto type = op.getResult().getType();
  int64_t heads = cast<CacheType>(type).getHeads(), size = cast<CacheType>(type).getSize();
  if (countElements({batch, capacity, heads, size}) < 0)
    return op.emitOpError("expects a batch and capacity that are not negative and at most ")
           << kMaxElements << " elements, got " << batch << " and " << capacity;
  return frame.set(op, makeCache(batch, capacity, heads, size));
}

/// `cache` with `added` more positions of each row, which `rows` has.
static FailureOr<CacheRef> append(CacheAppendOp op, const Cache &cache, int64_t batch,
                                  int64_t added, ArrayRef<double> rows) {
  if (batch != cache.batch)
    return op.emitOpError("expects a batch of ") << cache.batch << ", got " << batch, failure();
  if (added > cache.capacity - cache.length)
    return op.emitOpError("expects at most ") << cache.capacity << " positions, got "
                                              << cache.length << " and " << added << " more",
           failure();
  auto grown = std::make_shared<Cache>(cache);
  grown->length += added;
  grown->data.resize(cache.batch * grown->length * cache.heads * cache.size);
  int64_t position = cache.heads * cache.size;
  for (int64_t b = 0; b < cache.batch; ++b) {
    auto to = grown->data.begin() + b * grown->length * position;
    to = std::copy_n(cache.data.begin() + b * cache.length * position, cache.length * position, to);
    std::copy_n(rows.begin() + b * added * position, added * position, to);
  }
  return CacheRef(grown);
}

/// Replaces rows of `size` by the nearest multiples of a scale each, counted in it; gives the
/// scales.
static std::vector<double> quantize(Frame &frame, MutableArrayRef<double> numbers, int64_t size,
                                    Type scaleType) {
  std::vector<double> scales;
  for (; !numbers.empty(); numbers = numbers.drop_front(size)) {
    double scale = quantizeRow(numbers.take_front(size));
    scales.push_back(std::isfinite(scale) ? frame.rounded(scale, scaleType) : scale);
  }
  return scales;
}

static LogicalResult runAppend(CacheAppendOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  int64_t batch = input.shape[0], added = input.shape[1];
  std::vector<double> rows(input.reals.begin(), input.reals.end());
  if (op.getScales()) {
    int64_t length = frame.cache(op.getCache()).length;
    if (frame.cache(op.getScales()).length != length)
      return op.emitOpError("expects scales of ")
             << length << " positions, got " << frame.cache(op.getScales()).length;
    Type type = cast<CacheType>(op.getScales().getType()).getElementType();
    std::vector<double> scales = quantize(frame, rows, input.shape[3], type);
    TRY(CacheRef grown, append(op, frame.cache(op.getScales()), batch, added, scales));
    if (failed(frame.set(op, op.getGrownScales(), RuntimeValue(grown))))
      return failure();
  } else {
    for (double &number : rows)
      number = frame.rounded(number, op.getCache().getType().getElementType());
  }
  TRY(CacheRef grown, append(op, frame.cache(op.getCache()), batch, added, rows));
  return frame.set(op, op.getResult(), RuntimeValue(grown));
}

static LogicalResult runLength(CacheLengthOp op, Frame &frame) {
  return frame.set(op, RuntimeValue(frame.cache(op.getCache()).length));
}

static LogicalResult runRead(CacheReadOp op, Frame &frame) {
  const Cache &cache = frame.cache(op.getCache());
  int64_t batch = frame.integer(op.getBatch()), length = frame.integer(op.getLength());
  if (batch != cache.batch || length != cache.length) // C3
    return op.emitOpError("expects the cache's batch and length, ")
           << cache.batch << " and " << cache.length << ", got " << batch << " and " << length;
  auto tensor = std::make_shared<Tensor>();
  tensor->shape = {cache.batch, cache.length, cache.heads, cache.size};
  tensor->reals = cache.data;
  return frame.set(op, RuntimeValue(TensorRef(tensor)));
}

void interpreter::addCacheOps(HandlerTable &table) {
  table.add(runCreate);
  table.add(runAppend);
  table.add(runLength);
  table.add(runRead);
}
