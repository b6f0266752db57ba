// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mechanics of joining groups: order, operands, cloning, replacing.
#include "passes/JoinGroups.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;

using OpSet = llvm::SmallPtrSet<Operation *, 8>;

/// Whether an op, or one inside of it, reads a result of one of `sources`.
static bool reads(Operation *op, const OpSet &sources) {
  return op
      ->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *source = operand.getDefiningOp(); source && sources.contains(source))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// What a part reads: a view's other operands are sizes, which the new group computes itself.
static ValueRange getPartOperands(Operation *part) {
  return isa<GroupOp>(part) ? part->getOperands() : part->getOperands().take_front();
}

static bool partReads(Operation *part, const OpSet &sources) {
  return llvm::any_of(getPartOperands(part), [&](Value operand) {
    Operation *source = operand.getDefiningOp();
    return source && sources.contains(source);
  });
}

/// The ops between the parts that read their results and thus must follow the new group. Nothing if
/// they cannot.
static std::optional<SmallVector<Operation *>>
getFollowers(ArrayRef<Operation *> ordered, const OpSet &parts, Operation *lastPart) {
  OpSet late;
  SmallVector<Operation *> followers;
  for (Operation *op = ordered.front(); op != lastPart->getNextNode(); op = op->getNextNode()) {
    if (llvm::is_contained(ordered, op)) {
      // A clone's original stays where it is, before the new group.
      if (partReads(op, late) || (!parts.contains(op) && partReads(op, parts)))
        return std::nullopt;
      continue;
    }
    if (!reads(op, parts) && !reads(op, late))
      continue;
    if (!isMemoryEffectFree(op))
      return std::nullopt;
    late.insert(op);
    followers.push_back(op);
  }
  return followers;
}

/// The sizes of a value of the new group, taken from the argument that gives it its leading axes.
static SmallVector<OpFoldResult> getLeadingSizes(OpBuilder &builder, Location loc, Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto axes = dyn_cast<AxesOpInterface>(op))
      value = axes.getAxesOperand();
    else if (isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp>(op))
      value = op->getOperand(0);
    else
      break;
  }
  return tensor::getMixedSizes(builder, loc, value);
}

/// Builds the view of `source` that `op` is of its own source.
static Value cloneView(OpBuilder &builder, Operation *op, Value source, IRMapping &mapping) {
  Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](tensor::ExtractSliceOp slice) -> Value {
        SmallVector<OpFoldResult> sizes = getLeadingSizes(builder, loc, source);
        sizes.back() = slice.getMixedSizes().back();
        return tensor::ExtractSliceOp::create(builder, loc, slice.getType(), source,
                                              slice.getMixedOffsets(), sizes,
                                              slice.getMixedStrides());
      })
      .Case([&](tensor::ExpandShapeOp expand) -> Value {
        SmallVector<OpFoldResult> sizes = getLeadingSizes(builder, loc, source);
        RankedTensorType type = expand.getResultType();
        sizes.truncate(expand.getSrcType().getRank() - 1);
        for (int64_t axis = sizes.size(); axis < type.getRank(); ++axis)
          sizes.push_back(builder.getIndexAttr(type.getDimSize(axis)));
        return tensor::ExpandShapeOp::create(builder, loc, type, source,
                                             expand.getReassociationIndices(), sizes);
      })
      .Default([&](Operation *other) { return builder.clone(*other, mapping)->getResult(0); });
}

GroupOp mlir::fovea::joinGroups(const GroupJoin &join) {
  SmallVector<Operation *> ordered(join.parts);
  ordered.append(join.clones.begin(), join.clones.end());
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpSet parts(join.parts.begin(), join.parts.end());
  Operation *lastPart = nullptr;
  for (Operation *op : ordered)
    if (parts.contains(op))
      lastPart = op;
  std::optional<SmallVector<Operation *>> followers = getFollowers(ordered, parts, lastPart);
  if (!followers)
    return {};

  llvm::SetVector<Value> inputs;
  for (Operation *op : ordered)
    for (Value operand : getPartOperands(op))
      if (Operation *source = operand.getDefiningOp();
          !source || !llvm::is_contained(ordered, source))
        inputs.insert(operand);

  OpBuilder builder(lastPart);
  auto group = GroupOp::create(builder, join.loc, ValueRange(join.results).getTypes(),
                               inputs.getArrayRef(), Attribute());
  SmallVector<Location> locs =
      llvm::map_to_vector(inputs, [&](Value input) { return input.getLoc(); });
  Block *body =
      builder.createBlock(&group.getBody(), {}, ValueRange(inputs.getArrayRef()).getTypes(), locs);
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), body->getArguments());
  for (Operation *op : ordered) {
    auto part = dyn_cast<GroupOp>(op);
    if (!part) {
      Value source = mapping.lookup(op->getOperand(0));
      mapping.map(op->getResult(0), cloneView(builder, op, source, mapping));
      continue;
    }
    Block &inner = part.getBody().front();
    IRMapping local;
    for (auto [argument, operand] : llvm::zip(inner.getArguments(), part.getInputs()))
      local.map(argument, mapping.lookup(operand));
    for (Operation &step : inner.without_terminator())
      builder.clone(step, local);
    for (auto [result, yielded] :
         llvm::zip(part.getResults(), inner.getTerminator()->getOperands()))
      mapping.map(result, local.lookup(yielded));
  }
  SmallVector<Value> yielded =
      llvm::map_to_vector(join.results, [&](Value result) { return mapping.lookup(result); });
  YieldOp::create(builder, join.loc, yielded);

  SmallVector<Value> results(join.results);
  for (auto [old, fresh] : llvm::zip(results, group.getResults()))
    old.replaceUsesWithIf(fresh, [&](OpOperand &use) { return !parts.contains(use.getOwner()); });
  Operation *place = group;
  for (Operation *follower : *followers) {
    follower->moveAfter(place);
    place = follower;
  }
  for (Operation *op : llvm::reverse(ordered))
    if (parts.contains(op))
      op->erase();
  return group;
}
