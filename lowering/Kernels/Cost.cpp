// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Cost.h.
#include "lowering/Kernels/Cost.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// What a mask leaves of all pairs, as far as it does not depend on data.
struct MaskShape {
  bool causal = false;
  std::optional<int64_t> width; ///< keys that a query sees at most
};

class CostBuilder {
public:
  CostBuilder(OpBuilder &builder, GroupOp group)
      : b(group.getLoc(), builder), group(group), sizes(group) {}

  SmallVector<Value> build();

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value mul(Value l, Value r) { return arith::MulIOp::create(b, l, r); }
  Value sum(Value l, Value r) { return arith::AddIOp::create(b, l, r); }
  /// Null, and `known` is false, if the size cannot be known beforehand.
  Value size(Value inside, int64_t axis);
  Value elements(Value inside, int64_t dropLast = 0);
  /// Positions that a cache or tensor of keys holds.
  Value keyLength(Value keys);
  Value pairs(AttentionOp op, Value queries, Value keys);
  void addFlops(Operation *op);
  void addBytes();

  ImplicitLocOpBuilder b;
  GroupOp group;
  GroupSizes sizes;
  bool known = true;
  Value flops, bytes;
};

} // namespace

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

/// Masks joined by "and"; of "or" and "not" nothing is concluded.
static void readMask(Value mask, MaskShape &shape) {
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  if (isa_and_nonnull<MaskCausalOp>(op)) {
    shape.causal = true;
  } else if (auto window = dyn_cast_or_null<MaskWindowOp>(op)) {
    std::optional<int64_t> left = window.getLeft(), right = window.getRight();
    if (right && *right == 0)
      shape.causal = true;
    if (left && (right || shape.causal))
      shape.width = std::min(*left + right.value_or(0) + 1, shape.width.value_or(INT64_MAX));
  } else if (auto both = dyn_cast_or_null<MaskAndOp>(op)) {
    // Twice: a window's open side may be closed by a later causal mask.
    for (int round = 0; round < 2; ++round)
      for (Value inner : both.getMasks())
        readMask(inner, shape);
  }
}

Value CostBuilder::pairs(AttentionOp op, Value queries, Value keys) {
  MaskShape shape;
  readMask(op.getMask(), shape);
  Value count = mul(queries, keys);
  if (shape.causal) {
    // Query i sees i + 1 keys, or, behind a cache, those of the cache too.
    Value fewer = arith::MinUIOp::create(b, queries, keys);
    Value triangle = arith::ShRUIOp::create(b, mul(fewer, sum(fewer, constant(1))), constant(1));
    Value others = op.getQueryPositions()
                       ? mul(fewer, arith::SubIOp::create(b, keys, fewer).getResult())
                       : mul(arith::SubIOp::create(b, queries, fewer), keys);
    count = sum(triangle, others);
  }
  if (shape.width && *shape.width > 0)
    count = arith::MinUIOp::create(b, count, mul(queries, constant(*shape.width)));
  return count;
}

void CostBuilder::addFlops(Operation *op) {
  if (auto linear = dyn_cast<LinearOp>(op)) {
    auto weight = cast<RankedTensorType>(linear.getWeight().getType());
    Value rows = elements(linear.getInput(), 1);
    flops = sum(flops, mul(rows, constant(2 * weight.getNumElements())));
  } else if (auto attention = dyn_cast<AttentionOp>(op)) {
    Value query = attention.getQuery();
    Value all = pairs(attention, size(query, 1), keyLength(attention.getKey()));
    // A probability is known when all scores are: these are computed once more.
    int64_t scores = attention.hasProbability() ? 2 : 1;
    int64_t each = 2 * attention.getQueryHeads() *
                   (scores * attention.getHeadSize() + attention.getValueSize());
    flops = sum(flops, mul(mul(size(query, 0), all), constant(each)));
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (!linalg::isaContractionOpInterface(structured))
      return;
    Value all = constant(2);
    SmallVector<bool> seen(structured.getNumLoops());
    for (OpOperand &operand : structured->getOpOperands()) {
      AffineMap map = structured.getMatchingIndexingMap(&operand);
      for (auto [axis, expression] : llvm::enumerate(map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expression))
          if (!std::exchange(seen[dim.getPosition()], true))
            all = mul(all, size(operand.get(), axis));
    }
    flops = sum(flops, all);
  }
}

/// Whether all of the group's uses of an operand take only some rows of it, as many as their
/// results have.
static bool isTable(BlockArgument argument) {
  return llvm::all_of(argument.getUses(), [](OpOperand &use) {
    if (auto pool = dyn_cast<PoolOp>(use.getOwner()))
      return use.getOperandNumber() == 0 && pool.getKind() != PoolKind::Mean &&
             pool.getKind() != PoolKind::Max;
    return isa<EmbeddingOp, PositionLearnedOp>(use.getOwner()) && use.getOperandNumber() == 1;
  });
}

void CostBuilder::addBytes() {
  auto add = [&](Type element, Value count) {
    if (int64_t share = getElementsPerByte(element); share != 1)
      count = arith::DivUIOp::create(b, count, constant(share));
    bytes = sum(bytes, mul(count, constant(getStorageBytes(element, 1))));
  };
  for (BlockArgument argument : group.getBody().getArguments()) {
    if (auto tensor = dyn_cast<RankedTensorType>(argument.getType())) {
      if (!isTable(argument)) {
        add(tensor.getElementType(), elements(argument));
        continue;
      }
      for (Operation *user : argument.getUsers())
        add(tensor.getElementType(), elements(user->getResult(0)));
    } else if (auto cache = dyn_cast<CacheType>(argument.getType())) {
      Value row = constant(cache.getHeads() * cache.getSize());
      for (Operation *user : argument.getUsers()) {
        if (auto append = dyn_cast<CacheAppendOp>(user))
          add(cache.getElementType(), elements(append.getInput()));
        else if (auto attention = dyn_cast<AttentionOp>(user))
          add(cache.getElementType(),
              mul(mul(size(attention.getQuery(), 0), keyLength(argument)), row));
      }
    }
  }
  for (Value yielded : group.getBody().front().getTerminator()->getOperands())
    if (auto tensor = dyn_cast<RankedTensorType>(yielded.getType()))
      add(tensor.getElementType(), elements(yielded));
}

SmallVector<Value> CostBuilder::build() {
  flops = bytes = constant(0);
  for (Operation &op : group.getBody().front())
    addFlops(&op);
  addBytes();
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
    if (auto linear = dyn_cast<LinearOp>(op)) {
      auto weight = cast<RankedTensorType>(linear.getWeight().getType());
      out << " [" << weight.getDimSize(0) << ", " << weight.getDimSize(1) << "] "
          << weight.getElementType();
    } else if (auto attention = dyn_cast<AttentionOp>(op)) {
      out << " " << attention.getQueryHeads() << "/" << attention.getKeyHeads() << " x "
          << attention.getHeadSize();
    } else if (auto activation = dyn_cast<ActivationOp>(op)) {
      out << " " << stringifyEnum(activation.getKind());
    }
  }
  return text;
}
