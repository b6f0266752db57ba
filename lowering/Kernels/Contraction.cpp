// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of linalg.contract where no operand is a weight: batched products of activations,
// products with a matrix that the caller gives. Refuses what ContractionAxes does, for loops.
#include "dialects/Fovea/ContractionAxes.h"
#include "lowering/Kernels/TileBuilder.h"
#include "lowering/Targets/Table.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::fovea;

/// Up to this depth the columns' operand is loaded once for all rows of a block: 48 columns of f32
/// are then less than a third of a second-level cache, and of a thread's stack.
static constexpr int64_t kMostWholeDepth = 1536;
/// Of longer sums, what is loaded at a time.
static constexpr int64_t kDepth = 256;

/// The matrix of an operand that a block reads: rows along `axis` of the result, by the depth.
static Value viewOf(TileBuilder &b, const ContractionAxes::Operand &operand, int64_t axis) {
  SmallVector<Value> at;
  int64_t own = *operand.axes[axis],
          rank = cast<RankedTensorType>(operand.tensor.getType()).getRank();
  for (int64_t other = 0; other < rank; ++other)
    if (other != own && other != operand.depth)
      at.push_back(b.getOuterIndices()[llvm::find(operand.axes, other) - operand.axes.begin()]);
  return b.viewAt(b.k.buffer(operand.tensor), at, {own, operand.depth});
}

static Value emitProduct(TileBuilder &b, Operation *op, TileColumns c) {
  KernelBuilder &k = b.k;
  ContractionAxes axes = *ContractionAxes::find(op);
  auto last = static_cast<int64_t>(axes.rows.axes.size()) - 1;
  Value memory = k.buffer(axes.rows.tensor);
  auto [rows, columns] = b.atBlock([&] {
    TileBuilder::Rows matrix = axes.rowsLieAsResult()
                                   ? b.rowsOf(memory)
                                   : TileBuilder::Rows{viewOf(b, axes.rows, last - 1), false};
    return std::pair(matrix, viewOf(b, axes.columns, last));
  });
  auto loadColumns = [&, columns = columns](Value from, int64_t depth) -> Value {
    Type element = cast<tile::ViewType>(columns.getType()).getElementType();
    return tile::LoadOp::create(k, b.tileType(c.width, depth, element), columns, b.column(c), from);
  };
  Type sum = getElementTypeOrSelf(op->getResult(0).getType());
  int64_t depth = cast<RankedTensorType>(axes.rows.tensor.getType()).getDimSize(axes.rows.depth);
  if (depth > 0 && depth <= kMostWholeDepth) {
    Value right = b.atBlock([&] { return loadColumns(k.index(0), depth); });
    return b.multiply(b.loadRows(rows, k.index(0), depth), right, c.width, sum);
  }
  Value none = tile::SplatOp::create(k, b.tileType(b.tileRows, c.width, sum), k.real(sum, 0));
  auto loop =
      scf::ForOp::create(k, k.index(0), k.size(memory, axes.rows.depth), k.index(kDepth), none);
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  Value from = loop.getInductionVar();
  Value next = b.multiply(b.loadRows(rows, from, kDepth), loadColumns(from, kDepth), c.width, sum,
                          loop.getRegionIterArg(0));
  scf::YieldOp::create(k, next);
  return loop.getResult(0);
}

namespace {
struct ContractionKernel : KernelOpInterface::ExternalModel<ContractionKernel, linalg::ContractOp> {
  TileElement emitTile(Operation *op, TileBuilder &b, TileColumns c, TileLeaves &leaves) const {
    return b.leaf(b.once(op, c, [&] { return emitProduct(b, op, c); }), c.width, leaves);
  }

  Attribute chooseSchedule(Operation *op, const Level &level) const {
    if (getTileNeeds(op).kind != TileNeeds::Product)
      return {};
    Attribute many = makeContraction(op->getContext(), level.manyRows);
    auto rows = cast<RankedTensorType>(op->getResult(0).getType()).getShape().drop_back();
    bool mayBeOne =
        llvm::all_of(rows, [](int64_t size) { return size == 1 || ShapedType::isDynamic(size); });
    if (!mayBeOne)
      return many;
    return ByRowsScheduleAttr::get(op->getContext(), 1,
                                   makeContraction(op->getContext(), level.oneRow), many);
  }

  unsigned getNameRank(Operation *) const { return 2; }
};
} // namespace

void mlir::fovea::attachContractionKernel(MLIRContext &context) {
  linalg::ContractOp::attachInterface<ContractionKernel>(context);
}
