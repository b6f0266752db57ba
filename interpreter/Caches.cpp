// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Caches: sequences that grow. Here each append copies; sharing memory is the compiler's business.
#include "interpreter/Frame.h"

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

static LogicalResult runAppend(CacheAppendOp op, Frame &frame) {
  const Cache &cache = frame.cache(op.getCache());
  const Tensor &input = frame.tensor(op.getInput());
  if (input.shape[0] != cache.batch)
    return op.emitOpError("expects a batch of ") << cache.batch << ", got " << input.shape[0];
  int64_t added = input.shape[1];
  if (added > cache.capacity - cache.length)
    return op.emitOpError("expects at most ")
           << cache.capacity << " positions, got " << cache.length << " and " << added << " more";
  auto grown = std::make_shared<Cache>(cache);
  grown->length += added;
  grown->data.resize(cache.batch * grown->length * cache.heads * cache.size);
  int64_t position = cache.heads * cache.size;
  Type element = cast<CacheType>(op.getResult().getType()).getElementType();
  for (int64_t b = 0; b < cache.batch; ++b) {
    auto to = grown->data.begin() + b * grown->length * position;
    to = std::copy_n(cache.data.begin() + b * cache.length * position, cache.length * position, to);
    for (int64_t i = 0; i < added * position; ++i)
      *to++ = frame.rounded(input.reals[b * added * position + i], element);
  }
  return frame.set(op, RuntimeValue(CacheRef(grown)));
}

static LogicalResult runLength(CacheLengthOp op, Frame &frame) {
  return frame.set(op, RuntimeValue(frame.cache(op.getCache()).length));
}

void interpreter::addCacheOps(HandlerTable &table) {
  table.add(runCreate);
  table.add(runAppend);
  table.add(runLength);
}
