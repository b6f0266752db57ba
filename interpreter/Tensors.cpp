// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tensor`: sizes, slices, new shapes. Elements that nobody wrote are NaN, so that reading them
// shows.
#include "interpreter/Frame.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static bool holdsReals(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// `body(indices)` for all indices of a shape, the last axis fastest. Stops at a failure.
static LogicalResult forEach(ArrayRef<int64_t> shape,
                             function_ref<LogicalResult(ArrayRef<int64_t>)> body) {
  int64_t count = countElements(shape);
  SmallVector<int64_t, 4> indices(shape.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    if (failed(body(indices)))
      return failure();
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++indices[axis] < shape[axis])
        break;
      indices[axis] = 0;
    }
  }
  return success();
}

static LogicalResult outside(Operation *op, ArrayRef<int64_t> indices, ArrayRef<int64_t> shape) {
  return op->emitOpError("expects an index inside [") << shape << "], got [" << indices << "]";
}

//===-- Single elements and sizes ------------------------------------------------------------===//

static LogicalResult runDim(tensor::DimOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSource());
  int64_t axis = frame.integer(op.getIndex());
  if (axis < 0 || axis >= source.rank())
    return op.emitOpError("expects an axis below ") << source.rank() << ", got " << axis;
  return frame.set(op, RuntimeValue(source.shape[axis]));
}

static LogicalResult runRank(tensor::RankOp op, Frame &frame) {
  return frame.set(op, RuntimeValue(frame.tensor(op.getTensor()).rank()));
}

static SmallVector<int64_t> integersOf(Frame &frame, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return frame.integer(value); });
}

static LogicalResult runExtract(tensor::ExtractOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getTensor());
  SmallVector<int64_t> indices = integersOf(frame, op.getIndices());
  if (!source.contains(indices))
    return outside(op, indices, source.shape);
  return frame.setElement(op, op.getResult(), source.at(source.place(indices)));
}

static LogicalResult runInsert(tensor::InsertOp op, Frame &frame) {
  Tensor result = frame.tensor(op.getDest());
  SmallVector<int64_t> indices = integersOf(frame, op.getIndices());
  if (!result.contains(indices))
    return outside(op, indices, result.shape);
  result.put(result.place(indices), frame.element(op.getScalar()));
  return frame.set(op, std::move(result));
}

//===-- New tensors --------------------------------------------------------------------------===//

/// The shape of a result whose dynamic sizes are given in order.
static SmallVector<int64_t> shapeOf(Frame &frame, RankedTensorType type, ValueRange dynamicSizes) {
  SmallVector<int64_t> shape(type.getShape());
  auto size = dynamicSizes.begin();
  for (int64_t &axis : shape)
    if (ShapedType::isDynamic(axis))
      axis = frame.integer(*size++);
  return shape;
}

static LogicalResult runEmpty(tensor::EmptyOp op, Frame &frame) {
  TRY(Tensor result, frame.makeTensor(op, shapeOf(frame, op.getType(), op.getDynamicSizes()),
                                      holdsReals(op.getResult())));
  llvm::fill(result.reals, std::numeric_limits<double>::quiet_NaN());
  return frame.set(op, std::move(result));
}

static LogicalResult runSplat(tensor::SplatOp op, Frame &frame) {
  TRY(Tensor result,
      frame.makeTensor(
          op,
          shapeOf(frame, cast<RankedTensorType>(op.getAggregate().getType()), op.getDynamicSizes()),
          holdsReals(op.getAggregate())));
  for (int64_t i = 0; i < result.size(); ++i)
    result.put(i, frame.element(op.getInput()));
  return frame.set(op, std::move(result));
}

static LogicalResult runFromElements(tensor::FromElementsOp op, Frame &frame) {
  TRY(Tensor result, frame.makeTensor(op, op.getType().getShape(), holdsReals(op.getResult())));
  for (auto [i, value] : llvm::enumerate(op.getElements()))
    result.put(i, frame.element(value));
  return frame.set(op, std::move(result));
}

/// Every element by running a region on its indices.
static LogicalResult fillByRegion(Operation *op, Frame &frame, Block &block, Tensor &result,
                                  function_ref<bool(ArrayRef<int64_t>)> skip) {
  SmallVector<RuntimeValue> yielded;
  return forEach(result.shape, [&](ArrayRef<int64_t> indices) {
    if (skip(indices))
      return success();
    for (auto [argument, index] : llvm::zip_equal(block.getArguments(), indices))
      frame.setArgument(argument, index);
    if (failed(frame.runScalars(block, yielded)))
      return failure();
    if (auto *real = std::get_if<double>(&yielded.front()))
      result.put(result.place(indices), {*real, 0});
    else
      result.put(result.place(indices), {0, std::get<int64_t>(yielded.front())});
    return success();
  });
}

static LogicalResult runGenerate(tensor::GenerateOp op, Frame &frame) {
  FailureOr<Tensor> result = frame.makeTensor(
      op, shapeOf(frame, cast<RankedTensorType>(op.getType()), op.getDynamicExtents()),
      holdsReals(op.getResult()));
  if (failed(result) || failed(fillByRegion(op, frame, op.getBody().front(), *result,
                                            [](ArrayRef<int64_t>) { return false; })))
    return failure();
  return frame.set(op, std::move(*result));
}

static LogicalResult runPad(tensor::PadOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSource());
  SmallVector<int64_t> low = frame.integers(op.getMixedLowPad());
  SmallVector<int64_t> high = frame.integers(op.getMixedHighPad());
  SmallVector<int64_t> shape;
  for (int64_t axis = 0; axis < source.rank(); ++axis) {
    int64_t size;
    if (low[axis] < 0 || high[axis] < 0 || __builtin_add_overflow(low[axis], high[axis], &size) ||
        __builtin_add_overflow(size, source.shape[axis], &size))
      return op.emitOpError("expects padding that is not negative, got [")
             << low << "] and [" << high << "]";
    shape.push_back(size);
  }
  TRY(Tensor result, frame.makeTensor(op, shape, source.isReal));
  SmallVector<int64_t> inner(source.rank());
  auto isInside = [&](ArrayRef<int64_t> indices) {
    for (auto [axis, index] : llvm::enumerate(indices))
      inner[axis] = index - low[axis];
    if (!source.contains(inner))
      return false;
    result.put(result.place(indices), source.at(source.place(inner)));
    return true;
  };
  if (failed(fillByRegion(op, frame, op.getRegion().front(), result, isInside)))
    return failure();
  return frame.set(op, std::move(result));
}

static LogicalResult runConcat(tensor::ConcatOp op, Frame &frame) {
  int64_t dim = op.getDim();
  SmallVector<TensorRef> inputs =
      llvm::map_to_vector(op.getInputs(), [&](Value input) { return frame.tensorRef(input); });
  SmallVector<int64_t, 4> shape = inputs.front()->shape;
  shape[dim] = 0;
  for (const TensorRef &input : inputs) {
    for (int64_t axis = 0; axis < input->rank(); ++axis)
      if (axis != dim && input->shape[axis] != shape[axis])
        return op.emitOpError("expects inputs that differ in axis ")
               << dim << " only, got [" << inputs.front()->shape << "] and [" << input->shape
               << "]";
    shape[dim] += input->shape[dim];
  }
  TRY(Tensor result, frame.makeTensor(op, shape, inputs.front()->isReal));
  int64_t first = 0;
  for (const TensorRef &input : inputs) {
    int64_t at = 0;
    (void)forEach(input->shape, [&](ArrayRef<int64_t> indices) {
      SmallVector<int64_t> place(indices);
      place[dim] += first;
      result.put(result.place(place), input->at(at++));
      return success();
    });
    first += input->shape[dim];
  }
  return frame.set(op, std::move(result));
}

//===-- Slices -------------------------------------------------------------------------------===//

/// `body(place in the whole, number of the element in the slice)`.
static LogicalResult forSlice(OffsetSizeAndStrideOpInterface op, Frame &frame, const Tensor &whole,
                              function_ref<void(int64_t, int64_t)> body) {
  SmallVector<int64_t> offsets = frame.integers(op.getMixedOffsets());
  SmallVector<int64_t> sizes = frame.integers(op.getMixedSizes());
  SmallVector<int64_t> strides = frame.integers(op.getMixedStrides());
  // The corners tell for all: then no product below overflows either.
  for (int64_t axis = 0; axis < whole.rank(); ++axis) {
    int64_t last;
    if (sizes[axis] == 0)
      continue;
    if (sizes[axis] < 0 || __builtin_mul_overflow(sizes[axis] - 1, strides[axis], &last) ||
        __builtin_add_overflow(last, offsets[axis], &last) || offsets[axis] < 0 ||
        offsets[axis] >= whole.shape[axis] || last < 0 || last >= whole.shape[axis])
      return op->emitOpError("expects a slice inside [")
             << whole.shape << "], got offsets [" << offsets << "], sizes [" << sizes
             << "], strides [" << strides << "]";
  }
  int64_t number = 0;
  SmallVector<int64_t> place(whole.rank());
  return forEach(sizes, [&](ArrayRef<int64_t> indices) {
    for (auto [axis, index] : llvm::enumerate(indices))
      place[axis] = offsets[axis] + index * strides[axis];
    body(whole.place(place), number++);
    return success();
  });
}

static LogicalResult runExtractSlice(tensor::ExtractSliceOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSource());
  SmallVector<int64_t> sizes = frame.integers(op.getMixedSizes()), shape;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (!dropped.test(axis))
      shape.push_back(size);
  TRY(Tensor result, frame.makeTensor(op, shape, source.isReal));
  auto take = [&](int64_t place, int64_t number) { result.put(number, source.at(place)); };
  if (failed(forSlice(op, frame, source, take)))
    return failure();
  return frame.set(op, std::move(result));
}

static LogicalResult runInsertSlice(tensor::InsertSliceOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSource());
  Tensor result = frame.tensor(op.getDest());
  if (int64_t count = countElements(frame.integers(op.getMixedSizes())); count != source.size())
    return op.emitOpError("expects a source of ") << count << " elements, got " << source.size();
  auto put = [&](int64_t place, int64_t number) { result.put(place, source.at(number)); };
  if (failed(forSlice(op, frame, result, put)))
    return failure();
  return frame.set(op, std::move(result));
}

//===-- Shapes -------------------------------------------------------------------------------===//

/// The same elements under another shape.
static LogicalResult setReshaped(Operation *op, Frame &frame, const Tensor &source,
                                 ArrayRef<int64_t> shape) {
  if (countElements(shape) != source.size())
    return op->emitOpError("expects a shape of ")
           << source.size() << " elements, got [" << shape << "]";
  Tensor result = source;
  result.shape.assign(shape.begin(), shape.end());
  return frame.set(op, std::move(result));
}

static LogicalResult runExpandShape(tensor::ExpandShapeOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSrc());
  SmallVector<int64_t> shape = frame.integers(op.getMixedOutputShape());
  for (auto [axis, group] : llvm::enumerate(op.getReassociationIndices())) {
    int64_t product = 1;
    for (int64_t inner : group)
      if (__builtin_mul_overflow(product, shape[inner], &product))
        product = -1;
    if (product != source.shape[axis])
      return op.emitOpError("expects sizes whose product is ")
             << source.shape[axis] << " for axis " << axis << ", got [" << shape << "]";
  }
  return setReshaped(op, frame, source, shape);
}

static LogicalResult runCollapseShape(tensor::CollapseShapeOp op, Frame &frame) {
  const Tensor &source = frame.tensor(op.getSrc());
  SmallVector<int64_t> shape;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    shape.push_back(1);
    for (int64_t inner : group)
      shape.back() *= source.shape[inner];
  }
  return setReshaped(op, frame, source, shape);
}

static LogicalResult runReshape(tensor::ReshapeOp op, Frame &frame) {
  return setReshaped(op, frame, frame.tensor(op.getSource()), frame.tensor(op.getShape()).integers);
}

static LogicalResult runCast(tensor::CastOp op, Frame &frame) {
  return frame.bind(op, op.getResult(), frame.get(op.getSource()));
}

void interpreter::addTensorOps(HandlerTable &table) {
  table.add(runDim);
  table.add(runRank);
  table.add(runExtract);
  table.add(runInsert);
  table.add(runEmpty);
  table.add(runSplat);
  table.add(runFromElements);
  table.add(runGenerate);
  table.add(runPad);
  table.add(runConcat);
  table.add(runExtractSlice);
  table.add(runInsertSlice);
  table.add(runExpandShape);
  table.add(runCollapseShape);
  table.add(runReshape);
  table.add(runCast);
}
