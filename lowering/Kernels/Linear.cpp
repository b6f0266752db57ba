// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of fovea.linear: tiles of a product with what its weight, its input's norm and its
// bias do to the result.
#include "dialects/ElementTypes.h"
#include "lowering/Kernels/Blocks.h"
#include "lowering/Kernels/Cost.h"
#include "lowering/Targets/Table.h"
#include "lowering/Tile/Hints.h"
#include "passes/Analysis/SizeOrigin.h"

using namespace mlir;
using namespace mlir::fovea;

//===-- Tiles --------------------------------------------------------------------------------===//

/// Whole rows of a weight, in panels or not.
static Value wholeWeight(TileBuilder &b, TypedValue<RankedTensorType> weight, TileColumns c) {
  KernelBuilder &k = b.k;
  RankedTensorType type = weight.getType();
  Value view = b.tableView(weight);
  return tile::LoadOp::create(k, b.tileType(c.width, type.getDimSize(1), type.getElementType()),
                              view, b.column(c), k.index(0));
}

/// Whether the weight lies as whoever calls the entry has it, row by row.
static bool isGiven(LinearOp op) {
  Value weight = op.getWeight();
  while (true) {
    auto argument = dyn_cast<BlockArgument>(weight);
    auto view = weight.getDefiningOp<tensor::CollapseShapeOp>();
    Value source = view ? Value(view.getSrc()) : argument ? getGroupOperand(argument) : Value();
    if (!source)
      return argument && argument.getOwner()->getParentOp()->hasAttr(FoveaDialect::kEntryAttr);
    weight = source;
  }
}

/// A row by a matrix that is in no panels is summed across lanes, or the matrix would be turned.
static void sumAcross(Value product) {
  Operation *op = product.getDefiningOp();
  if (!op)
    return;
  op->walk([](tile::DotOp dot) { dot->setAttr(kSumAcrossAttr, UnitAttr::get(dot.getContext())); });
}

/// A linear's weight. Integers are exact in any float that the product takes; with the scales of
/// groups they are the input's numbers. A scale for each output is left to the result.
static Value weightRows(TileBuilder &b, LinearOp op, TileColumns c) {
  KernelBuilder &k = b.k;
  Type input = op.getInput().getType().getElementType();
  if (op.getQuantizeRows() && b.operands && isHalf(b.operands))
    input = b.operands;
  if (getBlockFormat(op.getWeight().getType()))
    return BlockWeight(b, op.getWeight()).loadRows(c, isHalf(input) ? input : k.getF32Type());
  Value rows = wholeWeight(b, op.getWeight(), c);
  auto type = cast<tile::TileType>(rows.getType());
  // No wider than what is summed.
  if (!op.getScales())
    return type.getElementType().isF64() ? b.castTo(rows, getAccumulationType(input)) : rows;
  bool grouped = op.hasGroups();
  Type number = isHalf(input) ? input : grouped ? k.getF32Type() : Type(k.getBF16Type());
  Value scales = grouped ? wholeWeight(b, op.getScales(), c) : Value();
  return tile::DequantizeOp::create(k, type.withElementType(number), rows, scales);
}

//===-- The schedule -------------------------------------------------------------------------===//

/// What rows that are quantised become: bytes, or floats that hold these integers.
static Type getOperands(LinearOp op, const Level &level) {
  MLIRContext *context = op.getContext();
  if (!op.getQuantizeRows())
    return {};
  if (level.multipliesBytes)
    return IntegerType::get(context, 8);
  return level.multipliesHalves ? BFloat16Type::get(context) : Type();
}

/// One row for each batch row: every other leading axis is one. The only axis of rows is no batch.
static bool hasOneRow(RankedTensorType type) {
  return llvm::all_of(type.getShape().drop_front(type.getRank() > 2).drop_back(),
                      [](int64_t size) { return size == 1; });
}

/// Of a product with one row, or one for each row of the batch.
static Attribute makeOneRow(LinearOp op, const Level &level) {
  bool wide = op.getOutputs() >= level.wide;
  ContractionSizes sizes = wide ? level.oneRow : level.oneRowNarrow;
  Type operands = getOperands(op, level);
  if (operands && operands.isInteger(8))
    sizes.block[1] = std::min(sizes.block[1], level.oneRowBytes);
  return makeContraction(op.getContext(), sizes, operands);
}

static Attribute makeManyRows(LinearOp op, const Level &level) {
  ContractionSizes sizes = level.manyRows;
  Type element = op.getWeight().getType().getElementType();
  Type input = op.getInput().getType().getElementType(), operands = getOperands(op, level);
  if (operands)
    input = operands;
  bool halves = isHalf(input) && (element == input || op.isQuantized());
  const HalvesSizes *many = level.manyHalves;
  if (many && halves && (many->f16 || input.isBF16()) && op.getOutputs() >= many->product.tile[1])
    return makeContraction(
        op.getContext(),
        llvm::any_of(*op->getBlock(), llvm::IsaPred<GluOp>) ? many->gate : many->product, operands);
  if (level.manyBytes && input.isInteger(8) && !op.hasGroups() &&
      op.getOutputs() >= level.manyBytes->tile[1])
    return makeContraction(op.getContext(), *level.manyBytes, operands);
  if (element.isBF16() || op.isQuantized())
    sizes.block[0] = !input.isInteger(8) ? level.pairRows
                     : op.hasGroups()    ? level.groupRows
                                         : level.byteRows;
  int64_t bytes = getStorageBytes(element, op.getWeight().getType().getNumElements());
  sizes.rowsOutermost = bytes <= level.resident;
  return makeContraction(op.getContext(), sizes, operands);
}

/// Whether a product whose number of rows is open has a schedule of its own for one: where all its
/// rows are a batch, as in decoding, or where its weights are short, so that computing a whole
/// register block of rows takes longer than reading them. Of f32 reading takes as long.
static bool choosesByRows(LinearOp op) {
  RankedTensorType type = op.getResult().getType();
  if (op.getExperts())
    return true;
  bool mayBeOne = llvm::all_of(type.getShape().drop_back(), [](int64_t size) {
    return size == 1 || ShapedType::isDynamic(size);
  });
  Type element = op.getWeight().getType().getElementType();
  bool isShort = !element.isF32() && !element.isF64();
  return mayBeOne && (type.getRank() == 2 || isShort);
}

/// "f32", "q4_k".
static std::string getNameOfElements(RankedTensorType type) {
  if (std::optional<BlockFormat> blocks = getBlockFormat(type))
    return stringifyBlockKind(blocks->kind).str();
  std::string name;
  llvm::raw_string_ostream(name) << type.getElementType();
  return name;
}

//===-- The interface ------------------------------------------------------------------------===//

namespace {
struct LinearKernel : KernelOpInterface::ExternalModel<LinearKernel, LinearOp> {
  /// factor * scale * (x w^T) + bias: the product is a tile, the rest elementwise.
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<LinearOp>(operation);
    TileColumns own = b.ofPart(c, op.getOutputs());
    Operation *factor = op.getRowFactor();
    Type type = getAccumulationType(op.getInput().getType());
    Value input = factor ? factor->getOperand(0) : op.getInput();
    int64_t depth = op.getWeight().getType().getDimSize(1);
    auto weight = [&] { return weightRows(b, op, own); };
    Value product;
    if (op.getQuantizeRows()) {
      product = b.productOfTemporary(op, b.getTemporaries(op).drop_front(), depth, c, type, weight);
      factor = op;
    } else {
      product = b.product(op, input, depth, c, weight);
      if (b.tileRows == 1 && isGiven(op))
        sumAcross(product);
    }
    TileElement result = b.leaf(product, c.width, leaves);
    if (op.getScales() && op.getScales().getType().getRank() == 1)
      result = b.mul(result, b.leaf(b.parameter(op.getScales(), own, type), c.width, leaves));
    if (factor)
      result = b.mul(result, b.leaf(b.numberOfRows(factor, c.width), c.width, leaves));
    if (op.getBias())
      result = b.add(result, b.leaf(b.parameter(op.getBias(), own, type), c.width, leaves));
    return result;
  }

  /// Rows as integers, with a scale each: in memory, since all blocks of outputs read them.
  void emitPhaseBefore(Operation *operation, TileBuilder &b) const {
    auto op = cast<LinearOp>(operation);
    Operation *norm = op.getRowFactor();
    KernelBuilder &k = b.k;
    Value x = k.buffer(norm ? norm->getOperand(0) : op.getInput());
    int64_t size = op.getWeight().getType().getDimSize(1);
    Type operand = b.operands ? b.operands : k.getF32Type();
    // Rows of bytes begin lines of the cache, and not the same few of them.
    int64_t pitch = operand.isInteger(8) ? llvm::alignTo(size, 64) | 64 : size;
    SmallVector<TileBuilder::RowTemporary> found{{k.getF32Type()}, {operand, pitch}};
    // What offsets are multiplied by is summed once for all outputs; a single row's is beside its
    // products.
    std::optional<BlockFormat> blocks = getBlockFormat(op.getWeight().getType());
    bool hasSums = blocks && blocks->hasOffsets && operand.isInteger(8) && b.helperRows > 1;
    if (hasSums)
      found.push_back({k.getF32Type(), size / blocks->group});
    b.emitPhaseOfRows(op, x, found, "quantize_rows", [&] {
      Value rows = b.loadRows(b.rowsOf(x), k.index(0), size);
      QuantizedTiles quantized = quantizeRows(b, norm, rows, operand);
      if (hasSums)
        sumGroups(b, x, quantized.inverse, blocks->group, b.getTemporaries(op).back());
      return SmallVector<Value>{quantized.scale, quantized.integers.front()};
    });
  }

  Attribute chooseSchedule(Operation *operation, const Level &level) const {
    auto op = cast<LinearOp>(operation);
    if (hasOneRow(op.getResult().getType()))
      return makeOneRow(op, level);
    Attribute schedule = makeManyRows(op, level);
    if (!choosesByRows(op))
      return schedule;
    // Up to as many rows as there are experts one has about one of them. The sums of a group are
    // scaled as a whole for one row, of several each lane is: few rows have the bits of one.
    Type operands = getOperands(op, level);
    bool scalesLanes = op.hasGroups() && !(operands && operands.isInteger(8));
    int64_t most = std::max(op.getNumExperts(), scalesLanes ? level.apart : 1);
    return ByRowsScheduleAttr::get(op.getContext(), most, makeOneRow(op, level), schedule);
  }

  Value buildFlops(Operation *operation, CostBuilder &cost) const {
    auto op = cast<LinearOp>(operation);
    Value rows = cost.elements(op.getInput(), 1);
    int64_t each = op.getOutputs() * op.getWeight().getType().getDimSize(1);
    return cost.mul(rows, cost.constant(2 * each));
  }

  /// Of the matrices of experts at most one for each row.
  Value countElements(Operation *operation, CostBuilder &cost, OpOperand &operand) const {
    auto op = cast<LinearOp>(operation);
    if (!op.getExperts() || &operand != &op.getWeightMutable())
      return {};
    Value rows = cost.elements(op.getInput(), 1), count = cost.constant(op.getNumExperts());
    int64_t each = op.getOutputs() * op.getWeight().getType().getDimSize(1);
    return cost.mul(arith::MinUIOp::create(cost.b, rows, count), cost.constant(each));
  }

  void describe(Operation *op, raw_ostream &out) const {
    RankedTensorType weight = cast<LinearOp>(op).getWeight().getType();
    out << " [" << weight.getDimSize(0) << ", " << weight.getDimSize(1) << "] "
        << getNameOfElements(weight);
    if (int64_t experts = cast<LinearOp>(op).getNumExperts(); experts > 1)
      out << " of " << experts << " experts";
  }

  unsigned getNameRank(Operation *) const { return 2; }
};
} // namespace

void mlir::fovea::attachLinearKernel(MLIRContext &context) {
  LinearOp::attachInterface<LinearKernel>(context);
}
