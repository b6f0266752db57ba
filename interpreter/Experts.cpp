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

/// By numbers, of equal ones the first first.
static void sortByNumber(MutableArrayRef<int64_t> order, ArrayRef<double> numbers) {
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return numbers[a] > numbers[b] || (numbers[a] == numbers[b] && a < b);
  });
}

static double numberOrLowest(double x) {
  return std::isnan(x) ? -std::numeric_limits<double>::infinity() : x;
}

/// The places of a row of `numbers` among which is chosen.
static SmallVector<int64_t> placesOfGroups(TopKOp op, ArrayRef<double> numbers) {
  auto groups = static_cast<int64_t>(op.getGroups());
  int64_t each = static_cast<int64_t>(numbers.size()) / groups;
  SmallVector<double> sums;
  for (int64_t group = 0; group < groups; ++group) {
    SmallVector<double> own(numbers.slice(group * each, each));
    llvm::sort(own, std::greater<>());
    auto *end = own.begin() + static_cast<int64_t>(op.getGroupTop());
    sums.push_back(numberOrLowest(std::accumulate(own.begin(), end, 0.0)));
  }
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, groups));
  sortByNumber(order, sums);
  SmallVector<int64_t> places;
  for (int64_t group : ArrayRef(order).take_front(static_cast<int64_t>(op.getChosenGroups())))
    llvm::append_range(places, llvm::seq(group * each, (group + 1) * each));
  return places;
}

static LogicalResult runTopK(TopKOp op, Frame &frame) {
  const Tensor &x = frame.tensor(op.getInput());
  const Tensor *bias = op.getBias() ? &frame.tensor(op.getBias()) : nullptr;
  int64_t width = x.shape.back(), count = op.getValues().getType().getShape().back();
  SmallVector<int64_t, 4> shape = x.shape;
  shape.back() = count;
  TRY(Tensor values, frame.makeTensor(op, shape));
  TRY(Tensor indices, frame.makeTensor(op, shape, /*isReal=*/false));
  SmallVector<double> numbers(width);
  for (int64_t row = 0; row * count < values.size(); ++row) {
    const double *element = x.reals.data() + row * width;
    for (int64_t i = 0; i < width; ++i)
      numbers[i] = numberOrLowest(element[i] + (bias ? bias->reals[i] : 0));
    SmallVector<int64_t> order = placesOfGroups(op, numbers);
    sortByNumber(order, numbers);
    double sum = TopKOp::kLeastSum;
    for (int64_t s = 0; s < count; ++s)
      sum += element[order[s]];
    for (int64_t s = 0; s < count; ++s) {
      indices.integers[row * count + s] = order[s];
      values.reals[row * count + s] = element[order[s]] / (op.getNormalized() ? sum : 1);
    }
  }
  if (failed(frame.set(op, op.getValues(), std::move(values))))
    return failure();
  return frame.set(op, op.getIndices(), std::move(indices));
}

static LogicalResult runEqualOffsets(EqualOffsetsOp op, Frame &frame) {
  int64_t rows = frame.integer(op.getRows());
  TRY(Tensor offsets,
      frame.makeTensor(op, op.getOffsets().getType().getDimSize(0), /*isReal=*/false));
  for (int64_t part = 0; part < offsets.size(); ++part)
    offsets.integers[part] = part * rows;
  return frame.set(op, op.getOffsets(), std::move(offsets));
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
  table.add(runEqualOffsets);
  table.add(runGather);
  table.add(runCombine);
}
