// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels for upstream ops: elementwise arith and math on tensors, splats, and any linalg op (as
// itself on buffers; linalg's own lowering makes loops of it, which one part runs alone).
#include "lowering/Kernels/KernelBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fovea;

/// One element of an operand: from its buffer, or of a constant.
static FailureOr<Value> loadElement(KernelBuilder &k, Operation *op, Value operand, ValueRange at) {
  if (!isa<RankedTensorType>(operand.getType()))
    return k.cloneIn(operand);
  if (Value memory = k.buffer(operand))
    return k.load(memory, at);
  DenseElementsAttr constant;
  if (!matchPattern(operand, m_Constant(&constant)))
    return op->emitOpError("expects operands from outside of its group or constants");
  if (constant.isSplat())
    return arith::ConstantOp::create(k, cast<TypedAttr>(constant.getSplatValue<Attribute>()))
        .getResult();
  return tensor::ExtractOp::create(k, k.cloneIn(operand), at).getResult();
}

LogicalResult mlir::fovea::buildElementwise(KernelBuilder &k, Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitOpError("expects one result, got ") << op->getNumResults();
  LogicalResult result = success();
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands())
    if (Value memory = k.buffer(operand))
      buffers.push_back(memory);
  k.parallelNest(k.sizesSharedWith(k.outputs[0], buffers), [&](ValueRange at) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> element = loadElement(k, op, operand, at);
      if (failed(element)) {
        result = failure();
        return;
      }
      operands.push_back(*element);
    }
    OperationState state(op->getLoc(), op->getName(), operands,
                         getElementTypeOrSelf(op->getResult(0).getType()), op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *scalar = k.create(state);
    memref::StoreOp::create(k, scalar->getResult(0), k.outputs[0], at);
  });
  return result;
}

LogicalResult mlir::fovea::buildSplat(KernelBuilder &k, Operation *op) {
  Value value = k.cloneIn(cast<tensor::SplatOp>(op).getInput());
  k.parallelNest(k.sizes(k.outputs[0]),
                 [&](ValueRange at) { memref::StoreOp::create(k, value, k.outputs[0], at); });
  return success();
}

/// A copy in this part alone.
static void emitCopyLoops(KernelBuilder &k, Value source, Value target) {
  SmallVector<Value> sizes = k.sizes(target), at;
  std::function<void()> nest = [&] {
    if (at.size() == sizes.size()) {
      memref::StoreOp::create(k, k.load(source, at), target, at);
      return;
    }
    k.loop(k.index(0), sizes[at.size()], [&](Value i) {
      at.push_back(i);
      nest();
      at.pop_back();
    });
  };
  nest();
}

LogicalResult mlir::fovea::buildLinalg(KernelBuilder &k, Operation *op) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  if (linalgOp.getNumDpsInits() != 1 || op->getNumResults() != 1)
    return op->emitOpError("expects one result, got ") << op->getNumResults();
  LogicalResult result = success();
  k.parallelNest(k.index(1), [&](ValueRange) {
    IRMapping mapping;
    for (OpOperand *input : linalgOp.getDpsInputOperands()) {
      Value operand = input->get();
      if (Value memory = k.buffer(operand)) {
        mapping.map(operand, memory);
      } else if (!isa<RankedTensorType>(operand.getType())) {
        mapping.map(operand, k.cloneIn(operand));
      } else {
        result = op->emitOpError("expects tensor operands from outside of its group");
        return;
      }
    }
    Value init = linalgOp.getDpsInitOperand(0)->get(), target = k.outputs[0];
    if (Value memory = k.buffer(init))
      emitCopyLoops(k, memory, target);
    else if (!init.getDefiningOp<tensor::EmptyOp>()) {
      result = op->emitOpError("expects an init from outside of its group or tensor.empty");
      return;
    }
    SmallVector<Value> operands;
    for (OpOperand *input : linalgOp.getDpsInputOperands())
      operands.push_back(mapping.lookup(input->get()));
    operands.push_back(target);
    OperationState state(op->getLoc(), op->getName(), operands, TypeRange(), op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (Region &region : op->getRegions()) {
      Region *copy = state.addRegion();
      region.cloneInto(copy, k.values);
    }
    k.create(state);
  });
  return result;
}
