// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `linalg` on tensors: every structured op by its indexing maps and its body, one element after the
// other; softmax on its own. Refuses maps that are not made of single loops where no other operand
// tells how far a loop goes.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "interpreter/Frame.h"
#include <cmath>
#include <limits>
#include <optional>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

namespace {
/// An operand of a structured op and where the loops reach into it.
struct Access {
  AffineMap map;
  TensorRef tensor;    ///< null for a scalar
  RuntimeValue scalar; ///< of a scalar
  /// By loop, how far a step of it goes in the tensor's elements, from `first`; empty unless each
  /// index is a sum of multiples of loops that stays inside of the tensor.
  SmallVector<int64_t> strides;
  int64_t first = 0;
};
} // namespace

/// How far each loop goes: the size of the axes that it alone indexes, equal for all operands.
static FailureOr<SmallVector<int64_t>> loopSizes(linalg::LinalgOp op, ArrayRef<Access> accesses) {
  SmallVector<int64_t> sizes(op.getNumLoops(), -1);
  for (const Access &access : accesses)
    for (auto [axis, expr] : llvm::enumerate(access.map.getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || !access.tensor)
        continue;
      int64_t &size = sizes[dim.getPosition()], found = access.tensor->shape[axis];
      if (size >= 0 && size != found)
        return op->emitOpError("expects loop ")
               << dim.getPosition() << " to be of one size, got " << size << " and " << found;
      size = found;
    }
  for (auto [loop, size] : llvm::enumerate(sizes))
    if (size < 0)
      return op->emitOpError("expects an operand that tells the size of loop ") << loop;
  int64_t steps = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(steps, std::max<int64_t>(size, 1), &steps))
      return op->emitOpError("expects fewer steps than loops of [") << sizes << "] make";
  return sizes;
}

/// An index of a step. None for a division by what is not positive.
static std::optional<int64_t> evaluate(AffineExpr expr, ArrayRef<int64_t> step) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return step[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<int64_t> left = evaluate(binary.getLHS(), step),
                         right = evaluate(binary.getRHS(), step);
  if (!left || !right)
    return std::nullopt;
  // What wraps around is outside of any tensor.
  if (binary.getKind() == AffineExprKind::Add)
    return static_cast<int64_t>(static_cast<uint64_t>(*left) + static_cast<uint64_t>(*right));
  if (binary.getKind() == AffineExprKind::Mul)
    return static_cast<int64_t>(static_cast<uint64_t>(*left) * static_cast<uint64_t>(*right));
  if (*right <= 0)
    return std::nullopt;
  switch (binary.getKind()) {
  case AffineExprKind::Mod:
    return llvm::mod(*left, *right);
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(*left, *right);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(*left, *right);
  default:
    return std::nullopt;
  }
}

/// Whether it is a sum of multiples of loops.
static bool isSum(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return true;
  if (binary.getKind() == AffineExprKind::Mul)
    return isSum(binary.getLHS()) && isa<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Add && isSum(binary.getLHS()) &&
         isSum(binary.getRHS());
}

/// Fills in `strides` and `first`, if no step of loops of these sizes leaves the tensor.
static void setStrides(Access &access, ArrayRef<int64_t> sizes) {
  if (!access.tensor || !llvm::all_of(access.map.getResults(), isSum))
    return;
  SmallVector<int64_t> strides(sizes.size()), step(sizes.size());
  int64_t first = 0, stride = 1;
  for (int64_t axis = access.tensor->rank(); axis-- > 0; stride *= access.tensor->shape[axis]) {
    AffineExpr expr = access.map.getResult(axis);
    int64_t begin = *evaluate(expr, step), least = begin, most = begin;
    SmallVector<int64_t> factors(sizes.size());
    for (auto [loop, size] : llvm::enumerate(sizes)) {
      if (size == 1)
        continue;
      int64_t reach;
      step[loop] = 1;
      if (__builtin_sub_overflow(*evaluate(expr, step), begin, &factors[loop]) ||
          __builtin_mul_overflow(factors[loop], size - 1, &reach) ||
          __builtin_add_overflow(reach < 0 ? least : most, reach, reach < 0 ? &least : &most))
        return;
      step[loop] = 0;
    }
    if (least < 0 || most >= access.tensor->shape[axis])
      return;
    for (auto [sum, factor] : llvm::zip_equal(strides, factors))
      sum += factor * stride;
    first += begin * stride;
  }
  access.strides = std::move(strides);
  access.first = first;
}

/// Place of an element for this step, or failure after a diagnostic.
static FailureOr<int64_t> place(Operation *op, const Access &access, const Tensor &tensor,
                                ArrayRef<int64_t> step) {
  if (!access.strides.empty()) {
    int64_t place = access.first;
    for (auto [stride, index] : llvm::zip_equal(access.strides, step))
      place += stride * index;
    return place;
  }
  SmallVector<int64_t, 4> indices;
  for (AffineExpr expr : access.map.getResults()) {
    std::optional<int64_t> index = evaluate(expr, step);
    if (!index)
      return op->emitOpError("expects divisors above zero, got ") << AffineMapAttr::get(access.map);
    indices.push_back(*index);
  }
  if (!tensor.contains(indices))
    return op->emitOpError("expects an index inside [")
           << tensor.shape << "], got [" << indices << "]";
  return tensor.place(indices);
}

static void setElementArgument(Frame &frame, BlockArgument argument, const Tensor &tensor,
                               int64_t at) {
  if (tensor.isReal)
    frame.setArgument(argument, tensor.reals[at]);
  else
    frame.setArgument(argument, tensor.integers[at]);
}

static LogicalResult runStructured(Operation *operation, Frame &frame) {
  auto op = cast<linalg::LinalgOp>(operation);
  if (!op.hasPureTensorSemantics())
    return op->emitOpError("expects tensors, got buffers");
  SmallVector<Access> accesses;
  for (OpOperand &operand : op->getOpOperands()) {
    Access &access = accesses.emplace_back();
    access.map = op.getMatchingIndexingMap(&operand);
    if (isa<RankedTensorType>(operand.get().getType()))
      access.tensor = frame.tensorRef(operand.get());
    else
      access.scalar = frame.get(operand.get());
  }
  unsigned inputs = op.getNumDpsInputs();
  SmallVector<Tensor> results;
  for (unsigned i = inputs; i < accesses.size(); ++i)
    results.push_back(*accesses[i].tensor);
  TRY(SmallVector<int64_t> sizes, loopSizes(op, accesses));
  int64_t steps = ShapedType::getNumElements(sizes);
  if (steps > 0)
    for (Access &access : accesses)
      setStrides(access, sizes);

  Block &block = *op.getBlock();
  frame.loops.push_back(SmallVector<int64_t>(sizes.size(), 0));
  SmallVector<RuntimeValue> yielded;
  SmallVector<int64_t> places(results.size());
  for (int64_t n = 0; n < steps; ++n) {
    ArrayRef<int64_t> step = frame.loops.back();
    for (auto [i, access] : llvm::enumerate(accesses)) {
      const Tensor *tensor = i < inputs ? access.tensor.get() : &results[i - inputs];
      FailureOr<int64_t> at = 0;
      if (tensor && failed(at = place(op, access, *tensor, step)))
        return failure();
      if (i >= inputs)
        places[i - inputs] = *at;
      if (i >= block.getNumArguments()) // linalg.map may hide its results from the body
        continue;
      if (tensor)
        setElementArgument(frame, block.getArgument(i), *tensor, *at);
      else
        frame.setArgument(block.getArgument(i), access.scalar);
    }
    if (failed(frame.runScalars(block, yielded)))
      return failure();
    for (auto [result, at, value] : llvm::zip_equal(results, places, yielded)) {
      if (auto *real = std::get_if<double>(&value))
        result.put(at, {*real, 0});
      else
        result.put(at, {0, std::get<int64_t>(value)});
    }
    SmallVector<int64_t> &next = frame.loops.back(); // nested ops may have moved it
    for (size_t loop = next.size(); loop-- > 0;) {
      if (++next[loop] < sizes[loop])
        break;
      next[loop] = 0;
    }
  }
  frame.loops.pop_back();
  for (auto [value, result] : llvm::zip_equal(op->getResults(), results))
    if (failed(frame.set(op, value, std::move(result))))
      return failure();
  return success();
}

static LogicalResult runIndex(linalg::IndexOp op, Frame &frame) {
  return frame.set(op, RuntimeValue(frame.loops.back()[op.getDim()]));
}

/// `exp(x - max) / sum exp(x - max)` along one axis.
static LogicalResult runSoftmax(linalg::SoftmaxOp op, Frame &frame) {
  if (op->getNumResults() != 1)
    return op.emitOpError("expects tensors, got buffers");
  Tensor result = frame.tensor(op.getInput());
  int64_t axis = op.getDimension(), size = result.shape[axis], inner = 1;
  for (int64_t i = axis + 1; i < result.rank(); ++i)
    inner *= result.shape[i];
  int64_t rows = size ? result.size() / size : 0;
  for (int64_t row = 0; row < rows; ++row) {
    double *x = result.reals.data() + row / inner * inner * size + row % inner;
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < size; ++i)
      greatest = std::isnan(x[i * inner]) ? x[i * inner] : std::fmax(greatest, x[i * inner]);
    for (int64_t i = 0; i < size; ++i)
      sum += x[i * inner] = std::exp(x[i * inner] - greatest);
    for (int64_t i = 0; i < size; ++i)
      x[i * inner] /= sum;
  }
  return frame.set(op, std::move(result));
}

void interpreter::addLinalgOps(HandlerTable &table) {
  table.add(runSoftmax);
  table.add(runIndex);
  table.addAll<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
      >(runStructured);
}
