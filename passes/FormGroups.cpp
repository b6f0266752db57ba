// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wraps each computation on tensors in a group. Refuses, with an error at the op, what could not
// become a kernel. Joining groups is another pass's work.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Analysis/TileForm.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_FORMGROUPSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// What may be a group's operand or result.
static bool crossesBorder(Type type) { return isa<RankedTensorType, CacheType, IndexType>(type); }

/// Ops that compute nothing by themselves: they are cloned into each group that reads them.
static bool isFree(Operation *op) {
  return isa<MaskOpInterface, tensor::EmptyOp>(op) || matchPattern(op, m_Constant());
}

/// Whether a scalar depends on what tensors hold, not on their sizes alone.
static bool dependsOnData(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<tensor::DimOp>(op))
    return false;
  return isa<tensor::ExtractOp>(op) || llvm::any_of(op->getOperands(), dependsOnData);
}

/// Views that sizes decide; where data do, a kernel moves elements.
static bool isView(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::CastOp>(op) &&
         llvm::none_of(op->getOperands().drop_front(), dependsOnData);
}

/// Ops that stay outside although they give tensors or caches: views, and those that only name a
/// value.
static bool staysOutside(Operation *op) {
  return isView(op) || isa<WeightRefOp, CacheCreateOp>(op);
}

/// One number for all elements.
static bool isUniform(Operation *op) {
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fill.getOutputs().front().getDefiningOp<tensor::EmptyOp>() && fill->getNumResults() == 1;
  return isa<tensor::SplatOp>(op);
}

static bool givesTensor(Operation *op) {
  return llvm::any_of(op->getResultTypes(),
                      [](Type type) { return isa<TensorType, CacheType>(type); });
}

/// Whether a group around `root` has its own copy of `op`. Tensors are memory to a kernel that
/// needs memory, also those that are constant, have no elements or one number for all.
static bool isFreeFor(Operation *root, Operation *op) {
  if (givesTensor(op))
    return readsElements(root) && (isUniform(op) || isFree(op));
  return isFree(op);
}

/// Calls and control flow, which are not computations themselves.
static bool isStructure(Operation *op) {
  return isa<CallOpInterface, RegionBranchOpInterface, FunctionOpInterface, GroupOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

namespace {

/// What goes into a group, found before anything is built.
struct GroupPlan {
  llvm::SetVector<Operation *>
      ops; ///< In the order in which they are cloned; the computation is last.
  llvm::SetVector<Value> inputs;
  Operation *root = nullptr;

  LogicalResult add(Operation *op) {
    if (ops.contains(op))
      return success();
    llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), values);
    for (Value value : values) {
      Operation *source = value.getDefiningOp();
      bool free = source && isFreeFor(root, source);
      bool inside = isa<IndexType>(value.getType()) && dependsOnData(value);
      if (!free && !inside && crossesBorder(value.getType())) {
        inputs.insert(value);
        continue;
      }
      // A scalar: the code that makes it goes in.
      if (!source || !isMemoryEffectFree(source) || isStructure(source))
        return op->emitOpError(
                   "expects operands that are tensors, caches, index values or computed from "
                   "them in its block, got one of type ")
               << value.getType();
      if (failed(add(source)))
        return failure();
    }
    ops.insert(op);
    return success();
  }
};

struct FormGroupsPass : fovea::impl::FormGroupsPassBase<FormGroupsPass> {
  using FormGroupsPassBase::FormGroupsPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> computations, uniform;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<GroupOp>(op))
        return WalkResult::skip();
      if (isStructure(op) || isa<ModuleOp>(op))
        return WalkResult::advance();
      if (givesTensor(op) && !isFree(op) && !staysOutside(op))
        (isUniform(op) ? uniform : computations).push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : computations)
      if (failed(formGroup(op)))
        return signalPassFailure();
    // What is left of these reads them as tensors: fovea ops, views, calls.
    for (Operation *op : uniform)
      if (op->use_empty())
        op->erase();
      else if (failed(formGroup(op)))
        return signalPassFailure();
  }

  LogicalResult formGroup(Operation *op) {
    if (!isMemoryEffectFree(op))
      return op->emitOpError("expects no side effects, to stand in a group");
    for (Type type : op->getResultTypes())
      if (!crossesBorder(type))
        return op->emitOpError(
                   "expects results that are ranked tensors, caches or index values, to stand "
                   "in a group, got ")
               << type;
    GroupPlan plan;
    plan.root = op;
    if (failed(plan.add(op)))
      return failure();

    OpBuilder builder(op);
    auto group = GroupOp::create(builder, op->getLoc(), op->getResultTypes(),
                                 plan.inputs.getArrayRef(), Attribute());
    SmallVector<Location> locs =
        llvm::map_to_vector(plan.inputs, [&](Value input) { return input.getLoc(); });
    Block *body = builder.createBlock(&group.getBody(), {},
                                      ValueRange(plan.inputs.getArrayRef()).getTypes(), locs);
    IRMapping mapping;
    mapping.map(plan.inputs.getArrayRef(), body->getArguments());
    Operation *last = nullptr;
    for (Operation *part : plan.ops)
      last = clone(builder, part, mapping);
    YieldOp::create(builder, op->getLoc(), last->getResults());
    op->replaceAllUsesWith(group);
    op->erase();
    ++numGroups;
    return success();
  }

  /// A fill becomes a splat, the one form of its kind that kernel builders need to know.
  static Operation *clone(OpBuilder &builder, Operation *op, IRMapping &mapping) {
    auto fill = dyn_cast<linalg::FillOp>(op);
    if (!fill || !isUniform(op))
      return builder.clone(*op, mapping);
    auto empty = fill.getOutputs().front().getDefiningOp<tensor::EmptyOp>();
    SmallVector<Value> sizes = llvm::map_to_vector(
        empty.getDynamicSizes(), [&](Value size) { return mapping.lookup(size); });
    auto splat = tensor::SplatOp::create(
        builder, op->getLoc(), mapping.lookup(fill.getInputs().front()), empty.getType(), sizes);
    mapping.map(op->getResults(), splat->getResults());
    return splat;
  }
};
} // namespace
