// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants that an entry hands to kernels, for a device: an entry's tables lie in the host's code,
// those of a kernel in the device's. Leaves alone what index arithmetic only reads.
#include "lowering/Schedule/Schedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fovea;

/// Whether index arithmetic reads an element of a tensor, here or in a function that is called.
static bool isReadByIndices(OpOperand &use) {
  auto any = [](Value value) { return llvm::any_of(value.getUses(), isReadByIndices); };
  Operation *op = use.getOwner();
  if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp>(
          op))
    return any(op->getResult(0));
  if (auto call = dyn_cast<func::CallOp>(op))
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
        callee && !callee.isExternal())
      return any(callee.getArgument(use.getOperandNumber()));
  return isa<tensor::ExtractOp>(op);
}

void mlir::fovea::moveConstants(ModuleOp module) {
  SmallVector<arith::ConstantOp> constants;
  module.walk([&](arith::ConstantOp constant) {
    if (isa<RankedTensorType>(constant.getType()) && !constant->getParentOfType<GroupOp>())
      constants.push_back(constant);
  });
  for (arith::ConstantOp constant : constants) {
    auto isHanded = [](OpOperand &use) { return !isReadByIndices(use); };
    if (llvm::none_of(constant->getUses(), isHanded))
      continue;
    auto type = cast<RankedTensorType>(constant.getType());
    Location loc = constant.getLoc();
    OpBuilder builder(constant->getContext());
    builder.setInsertionPointAfter(constant);
    auto group = GroupOp::create(builder, loc, type, ValueRange(), Attribute());
    Block *body = builder.createBlock(&group.getBody());
    builder.setInsertionPointToStart(body);
    Value table = builder.clone(*constant)->getResult(0);
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType());
    Value copy = linalg::CopyOp::create(builder, loc, table, empty).getResult(0);
    fovea::YieldOp::create(builder, loc, copy);
    constant.getResult().replaceUsesWithIf(group.getResult(0), isHanded);
    if (constant.use_empty())
      constant.erase();
  }
}
