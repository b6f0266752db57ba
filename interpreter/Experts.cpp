// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routing of tokens to experts: the greatest elements of rows, pairs in the order of their experts,
// gathers and weighted sums of rows.
#include "interpreter/Frame.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static LogicalResult runTopK(TopKOp op, Frame &frame) {
  const Tensor &x = frame.tensor(op.getInput());
  int64_t width = x.shape.back(), count = op.getValues().getType().getShape().back();
  SmallVector<int64_t, 4> shape = x.shape;
  shape.back() = count;
  TRY(Tensor values, frame.makeTensor(op, shape));
  TRY(Tensor indices, frame.makeTensor(op, shape, /*isReal=*/false));
  SmallVector<int64_t> order(width);
  for (int64_t row = 0; row * count < values.size(); ++row) {
    const double *element = x.reals.data() + row * width;
    std::iota(order.begin(), order.end(), 0);
    auto rank = [&](int64_t i) {
      return std::isnan(element[i]) ? -std::numeric_limits<double>::infinity() : element[i];
    };
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return rank(a) > rank(b) || (rank(a) == rank(b) && a < b);
    });
    for (int64_t s = 0; s < count; ++s) {
      indices.integers[row * count + s] = order[s];
      values.reals[row * count + s] = element[order[s]];
    }
  }
  if (failed(frame.set(op, op.getValues(), std::move(values))))
    return failure();
  return frame.set(op, op.getIndices(), std::move(indices));
}

static LogicalResult runDispatch(DispatchOp op, Frame &frame) {
  const Tensor &experts = frame.tensor(op.getExperts());
  int64_t count = op.getNumExperts(), each = experts.shape.back();
  for (int64_t expert : experts.integers)
    if (expert < 0 || expert >= count)
      return op.emitOpError("expects the number of one of ") << count << " experts, got " << expert;
  SmallVector<int64_t> order(experts.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::pair(experts.integers[a], a) < std::pair(experts.integers[b], b);
  });
  TRY(Tensor tokens, frame.makeTensor(op, experts.shape, /*isReal=*/false));
  TRY(Tensor places, frame.makeTensor(op, experts.shape, /*isReal=*/false));
  TRY(Tensor offsets, frame.makeTensor(op, count + 1, /*isReal=*/false));
  for (auto [place, pair] : llvm::enumerate(order)) {
    tokens.integers[place] = pair / each;
    places.integers[pair] = static_cast<int64_t>(place);
    ++offsets.integers[experts.integers[pair] + 1];
  }
  std::partial_sum(offsets.integers.begin(), offsets.integers.end(), offsets.integers.begin());
  if (failed(frame.set(op, op.getTokens(), std::move(tokens))) ||
      failed(frame.set(op, op.getPlaces(), std::move(places))))
    return failure();
  return frame.set(op, op.getOffsets(), std::move(offsets));
}

/// Row `number` of a tensor's rows; null after a diagnostic if there is none.
static const double *findRow(Operation *op, const Tensor &x, int64_t number) {
  int64_t width = x.shape.back(), rows = width ? x.size() / width : 0;
  if (number >= 0 && number < rows)
    return x.reals.data() + number * width;
  op->emitOpError("expects the number of one of ") << rows << " rows, got " << number;
  return nullptr;
}

static LogicalResult runGather(GatherRowsOp op, Frame &frame) {
  const Tensor &x = frame.tensor(op.getInput()), &rows = frame.tensor(op.getRows());
  int64_t width = x.shape.back();
  SmallVector<int64_t, 4> shape = rows.shape;
  shape.push_back(width);
  TRY(Tensor result, frame.makeTensor(op, shape));
  for (int64_t at = 0; at < rows.size(); ++at) {
    const double *row = findRow(op, x, rows.integers[at]);
    if (!row)
      return failure();
    std::copy_n(row, width, result.reals.data() + at * width);
  }
  return frame.set(op, std::move(result));
}

static LogicalResult runCombine(CombineOp op, Frame &frame) {
  const Tensor &x = frame.tensor(op.getInput()), &rows = frame.tensor(op.getRows()),
               &weights = frame.tensor(op.getWeights());
  if (weights.shape != rows.shape)
    return op.emitOpError("expects weights of [")
           << rows.shape << "], got [" << weights.shape << "]";
  int64_t width = x.shape.back(), each = rows.shape.back();
  SmallVector<int64_t, 4> shape = rows.shape;
  shape.back() = width;
  TRY(Tensor result, frame.makeTensor(op, shape));
  for (int64_t at = 0; at < rows.size(); ++at) {
    const double *row = findRow(op, x, rows.integers[at]);
    if (!row)
      return failure();
    double *sum = result.reals.data() + at / each * width;
    for (int64_t i = 0; i < width; ++i)
      sum[i] += weights.reals[at] * row[i];
  }
  return frame.set(op, std::move(result));
}

void interpreter::addExpertOps(HandlerTable &table) {
  table.add(runTopK);
  table.add(runDispatch);
  table.add(runGather);
  table.add(runCombine);
}
