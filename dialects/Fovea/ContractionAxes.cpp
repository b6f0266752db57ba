// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TileableOpInterface of linalg.contract, and how its axes are those of tiles.
#include "dialects/Fovea/ContractionAxes.h"
#include "dialects/ElementTypes.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fovea;

/// Whether a sum begins with nothing.
static bool isZero(Value start) {
  if (auto fill = start.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  if (auto splat = start.getDefiningOp<tensor::SplatOp>())
    return matchPattern(splat.getInput(), m_AnyZeroFloat());
  return matchPattern(start, m_AnyZeroFloat());
}

/// The axes of an operand by the loops that they are; nothing if it has another loop.
static std::optional<ContractionAxes::Operand>
sortAxes(Value tensor, AffineMap map, ArrayRef<unsigned> resultLoops, unsigned depth) {
  ContractionAxes::Operand operand{tensor, {}, -1};
  operand.axes.resize(resultLoops.size());
  for (auto [axis, expression] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expression).getPosition();
    if (loop == depth) {
      operand.depth = axis;
      continue;
    }
    const auto *place = llvm::find(resultLoops, loop);
    if (place == resultLoops.end())
      return std::nullopt;
    operand.axes[place - resultLoops.begin()] = axis;
  }
  return operand.depth < 0 ? std::nullopt : std::optional(operand);
}

static bool areElementsSupported(linalg::ContractOp op) {
  Type sum = getElementTypeOrSelf(op->getResult(0).getType());
  return (sum.isF32() || sum.isF64()) && llvm::all_of(op.getInputs(), [&](Value input) {
           auto type = dyn_cast<RankedTensorType>(input.getType());
           return type && !type.getEncoding() && isKernelFloat(type.getElementType()) &&
                  type.getElementTypeBitWidth() <= sum.getIntOrFloatBitWidth();
         });
}

bool ContractionAxes::rowsLieAsResult() const {
  auto last = static_cast<int64_t>(rows.axes.size()) - 1;
  for (int64_t axis = 0; axis < last; ++axis)
    if (rows.axes[axis] != axis)
      return false;
  return rows.depth == last;
}

std::optional<ContractionAxes> ContractionAxes::find(Operation *operation) {
  auto op = dyn_cast<linalg::ContractOp>(operation);
  if (!op || !op.hasPureTensorSemantics() || !areElementsSupported(op) ||
      !isZero(op.getDpsInitOperand(0)->get()))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  auto rank = static_cast<int64_t>(maps[2].getNumResults());
  if (reductions.size() != 1 || rank < 2 ||
      !llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  SmallVector<unsigned> loops = llvm::map_to_vector(
      maps[2].getResults(), [](AffineExpr e) { return cast<AffineDimExpr>(e).getPosition(); });
  for (unsigned number : {0, 1}) {
    std::optional<Operand> rows =
        sortAxes(op.getInputs()[number], maps[number], loops, reductions[0]);
    std::optional<Operand> columns =
        sortAxes(op.getInputs()[1 - number], maps[1 - number], loops, reductions[0]);
    if (!rows || !columns || rows->axes[rank - 1] || !columns->axes[rank - 1] ||
        !rows->axes[rank - 2] || columns->axes[rank - 2])
      continue;
    ContractionAxes result{*rows, *columns, rank - 2};
    if (result.rowsLieAsResult())
      while (result.outerAxes > 0 && !columns->axes[result.outerAxes - 1])
        --result.outerAxes;
    return result;
  }
  return std::nullopt;
}

//===-- The interface ------------------------------------------------------------------------===//

namespace {
struct TileableContraction
    : TileableOpInterface::ExternalModel<TileableContraction, linalg::ContractOp> {
  TileNeeds getTileNeeds(Operation *op) const {
    std::optional<ContractionAxes> axes = ContractionAxes::find(op);
    // One row is a sum along memory, which plain loops do as fast.
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!axes || type.getDimSize(type.getRank() - 2) == 1)
      return {};
    TileNeeds needs{TileNeeds::Product, type.getRank() - 1};
    needs.outerAxes = axes->outerAxes;
    return needs;
  }

  bool visitTileOperands(Operation *op, TileVisitor &visitor) const {
    std::optional<ContractionAxes> axes = ContractionAxes::find(op);
    if (!axes || visitor.getDomain().kind != TileKind::Contraction)
      return false;
    bool areRows = axes->rowsLieAsResult(); // whose sizes all kernels compare
    auto requireResultSizes = [&](const ContractionAxes::Operand &operand) {
      for (auto [axis, own] : llvm::enumerate(operand.axes))
        if (own)
          visitor.requireEqualSizes({op->getResult(0), static_cast<int64_t>(axis)},
                                    {operand.tensor, *own});
    };
    if (!areRows)
      requireResultSizes(axes->rows);
    requireResultSizes(axes->columns);
    visitor.requireEqualSizes({axes->rows.tensor, axes->rows.depth},
                              {axes->columns.tensor, axes->columns.depth});
    return visitor.visit(axes->rows.tensor, areRows ? TileRole::RowMatrix : TileRole::SharedRows) &&
           visitor.visit(axes->columns.tensor, TileRole::SharedRows);
  }
};
} // namespace

void mlir::fovea::attachTileableContraction(MLIRContext &context) {
  linalg::ContractOp::attachInterface<TileableContraction>(context);
}
