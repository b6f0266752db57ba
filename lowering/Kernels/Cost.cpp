// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Cost.h. What an op does is its model's to say; upstream's products count here.
#include "lowering/Kernels/Cost.h"
#include "dialects/Fovea/Blocks.h"
#include "lowering/Kernels/KernelInterface.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fovea;

Value CostBuilder::constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
Value CostBuilder::mul(Value l, Value r) { return arith::MulIOp::create(b, l, r); }
Value CostBuilder::sum(Value l, Value r) { return arith::AddIOp::create(b, l, r); }

Value CostBuilder::size(Value inside, int64_t axis) {
  FailureOr<OpFoldResult> found = sizes.get(b, inside, axis);
  if (failed(found)) {
    known = false;
    return constant(0);
  }
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), *found);
}

Value CostBuilder::elements(Value inside, int64_t dropLast) {
  auto type = cast<RankedTensorType>(inside.getType());
  Value product;
  int64_t fixed = 1;
  for (int64_t axis = 0; axis < type.getRank() - dropLast; ++axis) {
    if (!type.isDynamicDim(axis)) {
      fixed *= type.getDimSize(axis);
      continue;
    }
    Value extent = size(inside, axis);
    product = product ? mul(product, extent) : extent;
  }
  return product ? mul(product, constant(fixed)) : constant(fixed);
}

Value CostBuilder::keyLength(Value keys) {
  if (isa<RankedTensorType>(keys.getType()))
    return size(keys, 1);
  auto argument = dyn_cast<BlockArgument>(keys);
  if (!argument) {
    known = false;
    return constant(0);
  }
  return CacheLengthOp::create(b, group.getInputs()[argument.getArgNumber()]);
}

/// The extents of a contraction's loops, each once.
static Value countProducts(CostBuilder &cost, linalg::LinalgOp op) {
  Value all = cost.constant(2);
  SmallVector<bool> seen(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [axis, expression] : llvm::enumerate(map.getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expression))
        if (!std::exchange(seen[dim.getPosition()], true))
          all = cost.mul(all, cost.size(operand.get(), axis));
  }
  return all;
}

Value CostBuilder::countFlops(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (structured && linalg::isaContractionOpInterface(structured))
    return countProducts(*this, structured);
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.buildFlops(*this) : Value();
}

void CostBuilder::addBytes(Type element, Value count) {
  std::optional<BlockFormat> blocks = getBlockFormat(element);
  if (int64_t share = blocks ? blocks->elements : getElementsPerByte(element); share != 1)
    count = arith::DivUIOp::create(b, count, constant(share));
  int64_t each = blocks ? BlockPanel(*blocks, blocks->elements).bytes / kStoredPanelWidth
                        : getStorageBytes(element, 1);
  bytes = sum(bytes, mul(count, constant(each)));
}

void CostBuilder::addArgument(BlockArgument argument) {
  auto uses = [&](auto count) {
    for (OpOperand &use : argument.getUses())
      if (auto kernel = dyn_cast<KernelOpInterface>(use.getOwner()))
        count(kernel, use);
  };
  if (auto cache = dyn_cast<CacheType>(argument.getType()))
    return uses([&](KernelOpInterface kernel, OpOperand &use) {
      if (Value count = kernel.countElements(*this, use))
        addBytes(cache.getElementType(), count);
    });
  auto tensor = dyn_cast<RankedTensorType>(argument.getType());
  if (!tensor)
    return;
  SmallVector<Value> counts = llvm::map_to_vector(argument.getUses(), [&](OpOperand &use) {
    auto kernel = dyn_cast<KernelOpInterface>(use.getOwner());
    return kernel ? kernel.countElements(*this, use) : Value();
  });
  if (llvm::is_contained(counts, Value()))
    return addBytes(tensor.getElementType(), elements(argument));
  for (Value count : counts)
    addBytes(tensor.getElementType(), count);
}

SmallVector<Value> CostBuilder::build() {
  Value flops = bytes = constant(0);
  for (Operation &op : group.getBody().front())
    if (Value count = countFlops(&op))
      flops = sum(flops, count);
  for (BlockArgument argument : group.getBody().getArguments())
    addArgument(argument);
  for (Value yielded : group.getBody().front().getTerminator()->getOperands())
    if (auto tensor = dyn_cast<RankedTensorType>(yielded.getType()))
      addBytes(tensor.getElementType(), elements(yielded));
  if (!known)
    return {};
  return {flops, bytes};
}

SmallVector<Value> mlir::fovea::buildCost(OpBuilder &builder, GroupOp group) {
  return CostBuilder(builder, group).build();
}

std::string mlir::fovea::describeComputation(GroupOp group) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (Operation &op : group.getBody().front()) {
    if (isa<MaskOpInterface, arith::ConstantOp, tensor::DimOp, CacheLengthOp, YieldOp>(op) ||
        llvm::all_of(op.getResultTypes(), llvm::IsaPred<IndexType>))
      continue;
    StringRef name = op.getName().getStringRef();
    name.consume_front("fovea.");
    out << (text.empty() ? "" : " + ") << name;
    if (auto kernel = dyn_cast<KernelOpInterface>(op))
      kernel.describe(out);
  }
  return text;
}
