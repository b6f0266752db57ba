// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Elements.h. Each op tells the sizes of its result, what must hold for its operands, and how
// an element of its result comes from theirs; for ops that only move elements, ElementViews.cpp
// does the last.
#include "lowering/Kernels/Elements.h"
#include "lowering/Kernels/Scalars.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;

static RankedTensorType tensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

static bool isScalar(Value value) { return value.getType().isIntOrIndexOrFloat(); }

ElementReader::ElementReader(KernelBuilder &k, Operation *root) : k(k), root(root) {
  for (auto [tensor, memory] :
       SmallVector<std::pair<Value, Value>>(k.buffers.begin(), k.buffers.end()))
    if (tensorType(tensor))
      knownSizes[tensor] = k.sizes(memory);
  for (Operation &op : *root->getBlock()) {
    if (&op == root)
      break;
    prepare(&op);
  }
  require(root);
}

InFlightDiagnostic ElementReader::fail(Operation *op, const Twine &message) {
  hasFailed = true;
  return op->emitOpError(message);
}

//===-- Scalars and sizes --------------------------------------------------------------------===//

void ElementReader::prepare(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  if (llvm::all_of(op->getResults(), isScalar)) {
    for (Value result : op->getResults())
      scalar(result);
    return;
  }
  if (op->getNumResults() == 1 && tensorType(op->getResult(0)))
    sizes(op->getResult(0));
  require(op);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    loopExtents(structured);
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)) && !constant.isSplat() && !k.buffer(op->getResult(0)))
    k.cloneIn(op->getResult(0)); // in memory; here, where it dominates all that reads it
}

/// What must hold beforehand for `op` to be computed at all.
void ElementReader::require(Operation *op) {
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    Value first;
    for (Value operand : op->getOperands()) {
      if (!tensorType(operand))
        continue;
      if (first)
        for (auto [l, r] : llvm::zip_equal(sizes(first), sizes(operand)))
          requireEqual(l, r);
      else
        first = operand;
    }
  } else if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    for (Value input : concat.getInputs().drop_front())
      for (int64_t axis = 0; axis < tensorType(input).getRank(); ++axis)
        if (axis != static_cast<int64_t>(concat.getDim()))
          requireEqual(size(concat.getInputs().front(), axis), size(input, axis));
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    SmallVector<Value> amounts = valuesOf(pad.getMixedLowPad());
    llvm::append_range(amounts, valuesOf(pad.getMixedHighPad()));
    for (Value amount : amounts)
      if (!getConstantIntValue(amount).has_value())
        refuse(k.less(amount, k.index(0)));
  } else if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op)) {
    auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
    Value whole = op->getOperand(isa<tensor::InsertSliceOp>(op) ? 1 : 0);
    SmallVector<Value> offsets = valuesOf(slice.getMixedOffsets()),
                       counts = valuesOf(slice.getMixedSizes()),
                       strides = valuesOf(slice.getMixedStrides());
    for (auto [axis, count] : llvm::enumerate(counts)) {
      Value zero = k.index(0), extent = size(whole, axis);
      Value last = k.add(offsets[axis], k.mul(k.sub(count, k.index(1)), strides[axis]));
      Value inside =
          arith::AndIOp::create(k, inRange(offsets[axis], extent), inRange(last, extent));
      Value outside = negate(inside), some = k.less(zero, count);
      refuse(arith::OrIOp::create(k, arith::AndIOp::create(k, some, outside), k.less(count, zero)));
    }
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      llvm::SmallBitVector dropped = insert.getDroppedDims();
      unsigned axis = 0;
      for (auto [place, count] : llvm::enumerate(counts))
        if (!dropped.test(place))
          requireEqual(count, size(insert.getSource(), axis++));
    }
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<Value> shape = valuesOf(expand.getMixedOutputShape());
    for (auto [axis, group] : llvm::enumerate(expand.getReassociationIndices())) {
      Value product = k.index(1);
      for (int64_t inner : group)
        product = k.mul(product, shape[inner]);
      requireEqual(product, size(expand.getSrc(), axis));
    }
  }
}

Value ElementReader::scalar(Value value) {
  if (Value known = k.values.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return zeroOf(value.getType());
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!axis || *axis < 0 || *axis >= tensorType(dim.getSource()).getRank()) {
      fail(op, "expects a constant axis of its tensor");
      return k.index(0);
    }
    k.values.map(value, size(dim.getSource(), *axis));
  } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> at =
        llvm::map_to_vector(extract.getIndices(), [&](Value index) { return scalar(index); });
    k.values.map(value, readAnywhere(extract.getTensor(), at));
  } else if (op->getNumRegions() != 0) {
    fail(op, "is not known where a kernel computes scalars");
    k.values.map(value, zeroOf(value.getType()));
  } else if (op->hasTrait<OpTrait::ConstantLike>()) {
    k.clone(*op, k.values);
  } else {
    SmallVector<Value> operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return scalar(operand); });
    for (auto [result, computed] : llvm::zip_equal(op->getResults(), emitScalar(k, op, operands)))
      k.values.map(result, computed);
  }
  return k.values.lookup(value);
}

Value ElementReader::zeroOf(Type type) {
  return arith::ConstantOp::create(k, cast<TypedAttr>(k.getZeroAttr(type)));
}

SmallVector<Value> ElementReader::valuesOf(ArrayRef<OpFoldResult> mixed) {
  SmallVector<Value> values;
  for (OpFoldResult one : mixed)
    if (auto attribute = dyn_cast<Attribute>(one))
      values.push_back(k.index(cast<IntegerAttr>(attribute).getInt()));
    else
      values.push_back(scalar(cast<Value>(one)));
  return values;
}

SmallVector<Value> ElementReader::sizes(Value tensor) {
  auto known = knownSizes.find(tensor);
  if (known != knownSizes.end())
    return known->second;
  RankedTensorType type = tensorType(tensor);
  SmallVector<Value> found;
  if (type.hasStaticShape())
    for (int64_t size : type.getShape())
      found.push_back(k.index(size));
  else if (Operation *op = tensor.getDefiningOp())
    found = computeSizes(op);
  if (static_cast<int64_t>(found.size()) != type.getRank())
    found.assign(type.getRank(), k.index(0));
  return knownSizes[tensor] = found;
}

SmallVector<Value> ElementReader::computeSizes(Operation *op) {
  if (op == root)
    return k.sizes(k.outputs.front());
  if (OpTrait::hasElementwiseMappableTraits(op))
    for (Value operand : op->getOperands())
      if (tensorType(operand))
        return sizes(operand);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return valuesOf(empty.getMixedSizes());
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    SmallVector<Value> found;
    unsigned open = 0;
    for (int64_t size : splat.getType().getShape())
      found.push_back(ShapedType::isDynamic(size) ? scalar(splat.getDynamicSizes()[open++])
                                                  : k.index(size));
    return found;
  }
  if (auto style = dyn_cast<DestinationStyleOpInterface>(op); style && op->getNumResults() == 1)
    return sizes(style.getDpsInitOperand(0)->get());
  fail(op, "is not known inside of another op's kernel");
  return {};
}

void ElementReader::requireEqual(Value l, Value r) {
  std::optional<int64_t> known = getConstantIntValue(l), other = getConstantIntValue(r);
  if (l == r || (known && other && *known == *other))
    return;
  refuse(arith::CmpIOp::create(k, arith::CmpIPredicate::ne, l, r));
}

void ElementReader::refuse(Value condition) {
  if (matchPattern(condition, m_Zero()))
    return;
  refused = refused ? Value(arith::OrIOp::create(k, refused, condition)) : condition;
}

SmallVector<Value> ElementReader::guarded(ValueRange extents) {
  SmallVector<Value> result(extents);
  if (!refused)
    return result;
  FaultOp::create(k, refused);
  // A nest without loops still has one step.
  if (result.empty())
    result.push_back(k.index(1));
  for (Value &extent : result)
    extent = k.select(refused, k.index(0), extent);
  return result;
}

/// `0 <= index < size`.
Value ElementReader::inRange(Value index, Value size) {
  return arith::CmpIOp::create(k, arith::CmpIPredicate::ult, index, size);
}

Value ElementReader::negate(Value condition) {
  return arith::XOrIOp::create(k, condition, k.integer(k.getI1Type(), 1));
}

Value ElementReader::both(Value condition, Value other) {
  return condition ? Value(arith::AndIOp::create(k, condition, other)) : other;
}

//===-- Elements -----------------------------------------------------------------------------===//

Value ElementReader::read(Value tensor, ValueRange at) {
  if (Value memory = k.buffer(tensor))
    return k.load(memory, at);
  Operation *op = tensor.getDefiningOp();
  Type element = tensorType(tensor).getElementType();
  if (!op) {
    fail(root, "reads a tensor that no buffer holds");
    return zeroOf(element);
  }
  return readOp(op, cast<OpResult>(tensor).getResultNumber(), at);
}

Value ElementReader::readAnywhere(Value tensor, ValueRange at) {
  RankedTensorType type = tensorType(tensor);
  Value inside;
  for (auto [axis, index] : llvm::enumerate(at)) {
    std::optional<int64_t> known = getConstantIntValue(index);
    if (known && *known >= 0 && !type.isDynamicDim(axis) && *known < type.getDimSize(axis))
      continue;
    inside = both(inside, inRange(index, size(tensor, axis)));
  }
  if (!inside)
    return read(tensor, at);
  FaultOp::create(k, negate(inside));
  Type element = type.getElementType();
  if (type.hasStaticShape() && type.getNumElements() > 0) {
    SmallVector<Value> safe =
        llvm::map_to_vector(at, [&](Value index) { return k.select(inside, index, k.index(0)); });
    return read(tensor, safe);
  }
  return either(inside, element, [&] { return read(tensor, at); }, [&] { return zeroOf(element); });
}

SmallVector<Value> ElementReader::apply(AffineMap map, ValueRange indices) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    return affine::expandAffineExpr(k, k.getLoc(), expr, indices, {});
  });
}

Value ElementReader::readOp(Operation *op, unsigned result, ValueRange at) {
  Type element = tensorType(op->getResult(result)).getElementType();
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (constant.isSplat())
      return arith::ConstantOp::create(k, cast<TypedAttr>(constant.getSplatValue<Attribute>()));
    return tensor::ExtractOp::create(k, k.cloneIn(op->getResult(0)), at);
  }
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(tensorType(operand) ? read(operand, at) : scalar(operand));
    return emitScalar(k, op, operands)[result];
  }
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](linalg::LinalgOp o) { return readStructured(o, result, at); })
      .Case([&](tensor::SplatOp o) { return scalar(o.getInput()); })
      .Case([&](tensor::EmptyOp) { return zeroOf(element); }) // any number is right
      .Case([&](tensor::CastOp o) { return read(o.getSource(), at); })
      .Case([&](tensor::GenerateOp o) {
        IRMapping mapping;
        mapping.map(o.getBody().getArguments(), at);
        return emitBlock(o.getBody().front(), mapping, {}).front();
      })
      .Case([&](tensor::FromElementsOp o) {
        // By its number among all; the chain is as long as there are elements.
        Value number = k.index(0), found;
        for (auto [index, size] : llvm::zip_equal(at, o.getType().getShape()))
          number = k.add(k.mul(number, k.index(size)), index);
        for (auto [i, value] : llvm::enumerate(o.getElements())) {
          Value here = arith::CmpIOp::create(k, arith::CmpIPredicate::eq, number, k.index(i));
          found = found ? k.select(here, scalar(value), found) : scalar(value);
        }
        return found ? found : zeroOf(element);
      })
      .Case([&](tensor::ConcatOp o) { return readConcat(o, at); })
      .Case([&](tensor::PadOp o) { return readPad(o, at); })
      .Case([&](tensor::InsertSliceOp o) { return readInsertSlice(o, at); })
      .Case([&](tensor::ExtractSliceOp o) { return readExtractSlice(o, at); })
      .Case([&](tensor::ExpandShapeOp o) { return readExpanded(o, at); })
      .Case([&](tensor::CollapseShapeOp o) { return readCollapsed(o, at); })
      .Default([&](Operation *other) {
        fail(other, "has no kernel builder; elements are computed of arith, math and linalg ops "
                    "on tensors and of tensor.cast, collapse_shape, concat, empty, expand_shape, "
                    "extract_slice, from_elements, generate, insert_slice, pad and splat");
        return zeroOf(element);
      });
}

/// Of an op whose loops are the result's axes, in whichever order.
Value ElementReader::readStructured(linalg::LinalgOp op, unsigned result, ValueRange at) {
  OpOperand *init = op.getDpsInitOperand(result);
  AffineMap map = op.getMatchingIndexingMap(init);
  if (op.getNumReductionLoops() != 0 || !map.isPermutation()) {
    fail(op, "expects loops that are all parallel and axes of its result, inside of another op's "
             "kernel");
    return zeroOf(getElementTypeOrSelf(init->get().getType()));
  }
  SmallVector<Value> loops(at.size());
  for (auto [axis, expr] : llvm::enumerate(map.getResults()))
    loops[cast<AffineDimExpr>(expr).getPosition()] = at[axis];
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    unsigned number = operand.getOperandNumber();
    if (number >= op.getBlock()->getNumArguments()) // linalg.map may hide its results
      break;
    if (!tensorType(value))
      arguments.push_back(scalar(value));
    else if (op.getBlock()->getArgument(number).use_empty())
      arguments.push_back(zeroOf(getElementTypeOrSelf(value.getType())));
    else
      arguments.push_back(read(value, apply(op.getMatchingIndexingMap(&operand), loops)));
  }
  return emitBody(op, arguments, loops)[result];
}

//===-- Bodies -------------------------------------------------------------------------------===//

SmallVector<Value> ElementReader::readInputs(linalg::LinalgOp op, ValueRange loops) {
  return llvm::map_to_vector(op.getDpsInputOperands(), [&](OpOperand *input) {
    Value value = input->get();
    return tensorType(value) ? read(value, apply(op.getMatchingIndexingMap(input), loops))
                             : scalar(value);
  });
}

SmallVector<Value> ElementReader::emitBody(linalg::LinalgOp op, ValueRange arguments,
                                           ValueRange loops) {
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip(op.getBlock()->getArguments(), arguments))
    mapping.map(argument, value);
  return emitBlock(*op.getBlock(), mapping, loops);
}

SmallVector<Value> ElementReader::emitBlock(Block &block, IRMapping &mapping, ValueRange loops) {
  auto lookup = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    return scalar(value);
  };
  for (Operation &op : block.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(), loops[index.getDim()]);
    } else if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      SmallVector<Value> at =
          llvm::map_to_vector(extract.getIndices(), [&](Value one) { return lookup(one); });
      mapping.map(extract.getResult(), readAnywhere(extract.getTensor(), at));
    } else if (auto bias = dyn_cast<RelativeBiasOp>(op)) {
      Value bucket = emitRelativeBucket(k, bias, lookup(bias.getQueryPosition()),
                                        lookup(bias.getKeyPosition()));
      Value element = readAnywhere(bias.getTable(), {bucket, lookup(bias.getHead())});
      mapping.map(bias.getBias(), k.convert(element, bias.getBias().getType()));
    } else if (auto dim = dyn_cast<tensor::DimOp>(op)) {
      std::optional<int64_t> axis = dim.getConstantIndex();
      if (axis && *axis >= 0 && *axis < tensorType(dim.getSource()).getRank()) {
        mapping.map(dim.getResult(), size(dim.getSource(), *axis));
      } else {
        fail(&op, "expects a constant axis of its tensor");
        mapping.map(dim.getResult(), k.index(0));
      }
    } else if (op.hasTrait<OpTrait::ConstantLike>()) {
      k.clone(op, mapping);
    } else if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
               llvm::all_of(op.getOperands(), isScalar)) {
      SmallVector<Value> operands =
          llvm::map_to_vector(op.getOperands(), [&](Value operand) { return lookup(operand); });
      for (auto [result, computed] : llvm::zip_equal(op.getResults(), emitScalar(k, &op, operands)))
        mapping.map(result, computed);
    } else {
      fail(&op, "is not known in a body; bodies hold arith and math on scalars, linalg.index, "
                "tensor.extract, tensor.dim and fovea.relative_bias");
      for (Value result : op.getResults())
        mapping.map(result, zeroOf(getElementTypeOrSelf(result.getType())));
    }
  }
  SmallVector<Value> yielded = llvm::map_to_vector(block.getTerminator()->getOperands(),
                                                   [&](Value value) { return lookup(value); });
  return yielded;
}

//===-- Structured ops -----------------------------------------------------------------------===//

/// The least and greatest value of a sum of products of loops and constants; fails for others.
static LogicalResult getRange(AffineExpr expr, function_ref<Value(unsigned)> last, KernelBuilder &k,
                              std::pair<Value, Value> &range) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    range.first = range.second = k.index(constant.getValue());
    return success();
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    range = {k.index(0), last(dim.getPosition())};
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  std::pair<Value, Value> l, r;
  if (failed(getRange(binary.getLHS(), last, k, l)))
    return failure();
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    if (failed(getRange(binary.getRHS(), last, k, r)))
      return failure();
    range = {k.add(l.first, r.first), k.add(l.second, r.second)};
    return success();
  case AffineExprKind::Mul:
    if (!constant)
      return failure();
    range = {k.mul(l.first, k.index(constant.getValue())),
             k.mul(l.second, k.index(constant.getValue()))};
    if (constant.getValue() < 0)
      std::swap(range.first, range.second);
    return success();
  case AffineExprKind::FloorDiv:
    if (!constant || constant.getValue() <= 0)
      return failure();
    range = {arith::DivSIOp::create(k, l.first, k.index(constant.getValue())),
             arith::DivSIOp::create(k, l.second, k.index(constant.getValue()))};
    // Only of what is not negative.
    return isa<AffineDimExpr>(binary.getLHS()) ? success() : failure();
  case AffineExprKind::Mod:
    if (!constant || constant.getValue() <= 0)
      return failure();
    range = {k.index(0), k.index(constant.getValue() - 1)};
    return success();
  default:
    return failure();
  }
}

SmallVector<Value> ElementReader::loopExtents(linalg::LinalgOp op) {
  SmallVector<Value> extents(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!tensorType(operand.get()))
      continue;
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      Value &extent = extents[dim.getPosition()], found = size(operand.get(), axis);
      if (!extent)
        extent = found;
      else
        requireEqual(extent, found);
    }
  }
  for (auto [loop, extent] : llvm::enumerate(extents))
    if (!extent) {
      fail(op, "expects an operand that tells how far loop " + Twine(loop) + " goes");
      extent = k.index(0);
    }
  // Other indices: their ends lie inside, in calls where any loop runs.
  Value any;
  for (Value extent : extents)
    any = both(any, k.less(k.index(0), extent));
  auto last = [&](unsigned loop) { return k.sub(extents[loop], k.index(1)); };
  for (OpOperand &operand : op->getOpOperands()) {
    if (!tensorType(operand.get()))
      continue;
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
      if (isa<AffineDimExpr>(expr))
        continue;
      auto constant = dyn_cast<AffineConstantExpr>(expr);
      int64_t fixed = tensorType(operand.get()).getDimSize(axis);
      if (constant && !ShapedType::isDynamic(fixed) && constant.getValue() < fixed &&
          constant.getValue() >= 0)
        continue;
      std::pair<Value, Value> range;
      if (mlir::failed(getRange(expr, last, k, range))) {
        fail(op, "expects indices that are sums of loops by constants, or a loop's quotient or "
                 "remainder");
        continue;
      }
      Value extent = size(operand.get(), axis);
      Value outside = negate(
          arith::AndIOp::create(k, inRange(range.first, extent), inRange(range.second, extent)));
      refuse(both(any, outside));
    }
  }
  return extents;
}
