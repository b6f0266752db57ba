// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products with weights. Indices are sorted into those of the rows (M), of the outputs (N) and of
// the sum (K); what is refused is said in Passes.td.
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Elements/Expression.h"
#include "passes/Raise/Passes.h"
#include "passes/Raise/ViewPatterns.h"
#include "passes/Raise/WeightViews.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_RAISELINEARPASS
#include "passes/Raise/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using raise::transpose;
using raise::WeightView;

namespace {

using Loops = SmallVector<int64_t>;

/// The loops that a map names, axis by axis. Nothing if it is no projected permutation.
std::optional<Loops> getLoops(AffineMap map) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  Loops loops;
  for (AffineExpr expr : map.getResults())
    loops.push_back(cast<AffineDimExpr>(expr).getPosition());
  return loops;
}

/// Those of `loops` that are in `other`, or are not, in order.
Loops select(ArrayRef<int64_t> loops, ArrayRef<int64_t> other, bool inOther) {
  Loops result;
  for (int64_t loop : loops)
    if (llvm::is_contained(other, loop) == inOther)
      result.push_back(loop);
  return result;
}

/// Where each of `wanted` stands in `loops`.
Loops places(ArrayRef<int64_t> wanted, ArrayRef<int64_t> loops) {
  Loops result;
  for (int64_t loop : wanted)
    result.push_back(llvm::find(loops, loop) - loops.begin());
  return result;
}

/// One loop list behind another.
Loops join(Loops first, ArrayRef<int64_t> second) {
  llvm::append_range(first, second);
  return first;
}

/// The op that alone reads a sum of products, in f32, and rounds it to their operand's type: how
/// products of halves come from exporters. Null if there is none.
arith::TruncFOp getRounding(linalg::LinalgOp op, Type operand) {
  Value sum = op->getResult(0);
  auto rounding =
      sum.hasOneUse() ? dyn_cast<arith::TruncFOp>(*sum.getUsers().begin()) : arith::TruncFOp();
  bool fits = rounding && !rounding.getRoundingmode() && getElementTypeOrSelf(sum).isF32() &&
              getElementTypeOrSelf(rounding.getType()) == operand;
  return fits ? rounding : arith::TruncFOp();
}

/// Whether a product's sum begins with nothing.
bool beginsWithZero(linalg::LinalgOp op) {
  Value start = op.getDpsInitOperand(0)->get();
  auto fill = start.getDefiningOp<linalg::FillOp>();
  return (fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat())) ||
         matchPattern(start, m_AnyZeroFloat());
}

/// A contraction of a tensor with a weight, its loops sorted.
struct Product {
  Value input;
  std::optional<WeightView> weight;
  Value argument; ///< In place of a weight: its outputs, then what is summed.
  Loops inputLoops, weightLoops, resultLoops;
  Loops rows, outputs, sum; ///< In the order of the input, of the result, of the input.
  arith::TruncFOp rounding; ///< Of a sum that is wider than the input, to the input's type.
};

/// Sorts the loops with operand `number` as the weight, or gives the reason why that cannot be.
std::optional<Product> sortLoops(linalg::LinalgOp op, unsigned number, raise::WeightViews &weights,
                                 std::string &why) {
  Product product;
  Value factor = op.getDpsInputOperand(number)->get();
  product.weight = weights.find(factor);
  product.input = op.getDpsInputOperand(1 - number)->get();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  std::optional<Loops> input = getLoops(maps[1 - number]), weight = getLoops(maps[number]),
                       result = getLoops(maps[2]);
  if (!input || !weight || !result) {
    why = "an operand is not read by a projected permutation";
    return std::nullopt;
  }
  Loops ofArgument = *weight;
  if (!product.weight && !(product.argument = raise::findArgument(factor, ofArgument))) {
    why = "neither operand is a weight";
    return std::nullopt;
  }
  product.inputLoops = *input;
  product.weightLoops = *weight;
  product.resultLoops = *result;
  product.rows = select(*input, *result, true);
  product.outputs = select(*result, *input, false);
  product.sum = select(*input, *result, false);
  if (product.rows != select(*input, *weight, false))
    why = "a weight for each batch, or a sum of an axis that the weight does not have";
  else if (product.outputs.size() + product.sum.size() != weight->size() ||
           product.rows.size() + product.outputs.size() != result->size())
    why = "the weight has an axis that is neither in the result nor in the other operand";
  else if (product.outputs.empty() || product.sum.empty())
    why = "the weight is a vector";
  else if (product.argument && ofArgument != join(product.outputs, product.sum))
    why = "the weight is an argument that is not [outputs, inputs]";
  if (!why.empty())
    return std::nullopt;
  auto inputType = cast<RankedTensorType>(product.input.getType());
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = inputType.getElementType(), narrow = getElementTypeOrSelf(factor);
  if (product.weight)
    narrow = product.weight->getType().getElementType();
  if (element != resultType.getElementType() && beginsWithZero(op))
    product.rounding = getRounding(op, element);
  if (!isa<FloatType>(element) || (element != resultType.getElementType() && !product.rounding) ||
      (narrow != element && narrow.getIntOrFloatBitWidth() >= element.getIntOrFloatBitWidth()))
    why = "the element types are not a linear's";
  for (auto [axis, loop] : llvm::enumerate(product.inputLoops))
    if (llvm::is_contained(product.sum, loop) && inputType.isDynamicDim(axis))
      why = "the summed axis has a dynamic size";
  if (!why.empty())
    return std::nullopt;
  return product;
}

/// A sum of a product with a vector over its outputs.
struct BiasSum {
  Operation *op = nullptr;
  std::optional<WeightView> bias;
  Value argument; ///< In place of a weight.
};

/// A weight whose axes are these of a value, -1 being none, as a vector over its axes `outputs`;
/// nothing unless it has exactly those, and others of size one.
std::optional<WeightView> asVector(const WeightView &weight, ArrayRef<int64_t> axes,
                                   ArrayRef<int64_t> outputs) {
  SmallVector<int64_t> shape, kept;
  for (auto [axis, size] : llvm::zip_equal(axes, weight.getType().getShape())) {
    bool isUnit = size == 1 && !llvm::is_contained(outputs, axis);
    if (!isUnit && (axis == -1 || llvm::is_contained(kept, axis)))
      return std::nullopt;
    if (isUnit)
      continue;
    shape.push_back(size);
    kept.push_back(axis);
  }
  SmallVector<int64_t> wanted(outputs), found(kept);
  llvm::sort(wanted);
  llvm::sort(found);
  if (wanted != found)
    return std::nullopt;
  return weight.reshape(shape)
      .permute(places(outputs, kept))
      .reshape({weight.getType().getNumElements()});
}

/// A sum of a tensor with another that is broadcast.
struct Addend {
  Operation *op;
  Value other;
  Loops axes; ///< of the tensor, for each axis of `other`; -1 where that is at zero
};

/// Whether a generic adds its two inputs, element by element of its loops.
bool isSum(linalg::GenericOp generic) {
  Block &body = generic.getRegion().front();
  return generic.getNumDpsInputs() == 2 && generic.getNumParallelLoops() == generic.getNumLoops() &&
         llvm::hasNItems(body, 2) && isa<arith::AddFOp>(body.front()) &&
         body.getTerminator()->getOperand(0) == body.front().getResult(0) &&
         llvm::is_contained(body.front().getOperands(), Value(body.getArgument(0))) &&
         llvm::is_contained(body.front().getOperands(), Value(body.getArgument(1)));
}

/// The sum that is the only use of `value`.
std::optional<Addend> findAddend(Value value) {
  if (!value.hasOneUse())
    return std::nullopt;
  OpOperand &use = *value.getUses().begin();
  Operation *op = use.getOwner();
  auto type = cast<RankedTensorType>(value.getType());
  if (op->getNumResults() != 1 || op->getResult(0).getType() != type)
    return std::nullopt;
  unsigned number = use.getOperandNumber();
  if (isa<arith::AddFOp>(op)) {
    auto broadcast = op->getOperand(1 - number).getDefiningOp<linalg::BroadcastOp>();
    if (!broadcast)
      return std::nullopt;
    Addend found{op, broadcast.getInput(), {}};
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (!llvm::is_contained(broadcast.getDimensions(), axis))
        found.axes.push_back(axis);
    return found;
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || number > 1 || !isSum(generic))
    return std::nullopt;
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (!maps[2].isIdentity() || !maps[number].isIdentity())
    return std::nullopt;
  Addend found{op, generic.getDpsInputOperand(1 - number)->get(), {}};
  for (AffineExpr expr : maps[1 - number].getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    found.axes.push_back(dim ? static_cast<int64_t>(dim.getPosition()) : -1);
  }
  return found;
}

/// The bias that an entry is given: a vector over exactly the axes `outputs`.
std::optional<BiasSum> findGivenBias(Addend sum, ArrayRef<int64_t> outputs, Type element) {
  if (auto spread = sum.other.getDefiningOp<tensor::ExpandShapeOp>();
      spread && spread.getSrcType().getRank() == 1) {
    sum.other = spread.getSrc(); // a vector among axes of one
    Loops wide;
    for (auto [axis, size] : llvm::zip_equal(sum.axes, spread.getType().getShape()))
      if (size != 1)
        wide.push_back(axis);
    sum.axes = wide;
  }
  auto type = cast<RankedTensorType>(sum.other.getType());
  if (static_cast<int64_t>(sum.axes.size()) != type.getRank() || type.getElementType() != element)
    return std::nullopt;
  Value argument = raise::findArgument(sum.other, sum.axes);
  return argument && sum.axes == outputs ? std::optional(BiasSum{sum.op, std::nullopt, argument})
                                         : std::nullopt;
}

/// The op that adds a weight over exactly the axes `outputs` of `value`, its only use.
std::optional<BiasSum> findBias(Value value, ArrayRef<int64_t> outputs,
                                raise::WeightViews &weights) {
  std::optional<Addend> sum = findAddend(value);
  if (!sum)
    return std::nullopt;
  Type element = getElementTypeOrSelf(value);
  std::optional<WeightView> bias = weights.find(sum->other);
  if (!bias)
    return findGivenBias(*sum, outputs, element);
  Type narrow = bias->getType().getElementType();
  if (narrow != element && narrow.getIntOrFloatBitWidth() >= element.getIntOrFloatBitWidth())
    return std::nullopt;
  std::optional<WeightView> vector = asVector(*bias, sum->axes, outputs);
  return vector ? std::optional(BiasSum{sum->op, *vector, Value()}) : std::nullopt;
}

/// Groups of a reshape that keeps the first axes, `kept`, and joins or splits the rest.
SmallVector<ReassociationIndices> groupLast(int64_t kept, int64_t rest) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis = 0; axis < kept; ++axis)
    groups.push_back({axis});
  groups.emplace_back(llvm::to_vector(llvm::seq(kept, kept + rest)));
  return groups;
}

/// Builds the linear that a product is.
class LinearBuilder {
public:
  LinearBuilder(linalg::LinalgOp op, const Product &product, raise::WeightViews &weights)
      : op(op), product(product), weights(weights), last(op), startsFromZero(beginsWithZero(op)) {
    if (product.rounding)
      last = product.rounding;
    if (startsFromZero)
      bias = findBias(last->getResult(0), places(product.outputs, product.resultLoops), weights);
  }

  /// Replaces the product; whether the linear has a bias.
  bool run() {
    SmallVector<Operation *> replaced{op};
    if (last != op)
      replaced.push_back(last);
    auto resultType = cast<RankedTensorType>(last->getResult(0).getType());
    if (bias)
      replaced.push_back(last = bias->op);
    OpBuilder builder(last); // behind which all uses are
    Value result = build(builder, op.getLoc(), resultType);
    last->getResult(0).replaceAllUsesWith(result);
    for (Operation *one : llvm::reverse(replaced))
      one->erase();
    return bias.has_value();
  }

private:
  /// The weight as [N, K].
  Value buildMatrix(OpBuilder &builder, Location loc) {
    WeightView matrix;
    if (product.weight)
      matrix =
          product.weight->permute(places(join(product.outputs, product.sum), product.weightLoops));
    auto type =
        product.weight ? matrix.getType() : cast<RankedTensorType>(product.argument.getType());
    outputShape.assign(type.getShape().begin(), type.getShape().begin() + product.outputs.size());
    outputs = ShapedType::getNumElements(outputShape);
    sum = type.getNumElements() / std::max<int64_t>(outputs, 1);
    if (product.weight)
      return weights.materialize(builder, loc, matrix.reshape({outputs, sum}));
    if (type.getRank() == 2)
      return product.argument;
    int64_t first = product.outputs.size();
    ReassociationIndices rows = llvm::to_vector(llvm::seq<int64_t>(0, first)),
                         columns = llvm::to_vector(llvm::seq<int64_t>(first, type.getRank()));
    return tensor::CollapseShapeOp::create(builder, loc, product.argument,
                                           ArrayRef<ReassociationIndices>{rows, columns});
  }

  Value buildBias(OpBuilder &builder) {
    if (!bias || bias->argument)
      return bias ? bias->argument : Value();
    return weights.materialize(builder, bias->op->getLoc(), *bias->bias);
  }

  /// The input as [rows..., K]; without rows as one.
  Value buildInput(OpBuilder &builder, Location loc, Type element) {
    Value input = transpose(builder, loc, product.input,
                            places(join(product.rows, product.sum), product.inputLoops));
    int64_t rowCount = product.rows.size(), sumCount = product.sum.size();
    if (sumCount > 1)
      input = tensor::CollapseShapeOp::create(builder, loc, input, groupLast(rowCount, sumCount));
    if (rowCount == 0)
      input = tensor::ExpandShapeOp::create(builder, loc, RankedTensorType::get({1, sum}, element),
                                            input, ArrayRef<ReassociationIndices>{{0, 1}});
    return input;
  }

  /// The result with its outputs apart; `input` has its rows.
  Value splitOutputs(OpBuilder &builder, Location loc, Value input, Value result) {
    int64_t rowCount = product.rows.size(), outputCount = outputShape.size();
    if (outputCount <= 1)
      return result;
    auto inputType = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> shape(inputType.getShape().take_front(rowCount));
    llvm::append_range(shape, outputShape);
    SmallVector<OpFoldResult> sizes;
    for (int64_t axis = 0; axis < rowCount; ++axis)
      sizes.push_back(tensor::getMixedSize(builder, loc, input, axis));
    for (int64_t size : outputShape)
      sizes.push_back(builder.getIndexAttr(size));
    return tensor::ExpandShapeOp::create(builder, loc, inputType.clone(shape), result,
                                         groupLast(rowCount, outputCount), sizes);
  }

  Value build(OpBuilder &builder, Location loc, RankedTensorType resultType) {
    Value w = buildMatrix(builder, loc), b = buildBias(builder);
    Value input = buildInput(builder, loc, resultType.getElementType());
    auto inputType = cast<RankedTensorType>(input.getType());
    SmallVector<int64_t> shape(inputType.getShape());
    shape.back() = outputs;
    Value result =
        LinearOp::create(builder, bias ? builder.getFusedLoc({loc, bias->op->getLoc()}) : loc,
                         inputType.clone(shape), input, w, b);
    if (product.rows.empty())
      result = tensor::CollapseShapeOp::create(builder, loc, result,
                                               ArrayRef<ReassociationIndices>{{0, 1}});
    result = splitOutputs(builder, loc, input, result);
    // All axes in the result's order.
    result = transpose(builder, loc, result,
                       places(product.resultLoops, join(product.rows, product.outputs)));
    if (result.getType() != resultType)
      result = tensor::CastOp::create(builder, loc, resultType, result);
    // What the sum starts from: nothing, a bias, or a tensor to add.
    if (!startsFromZero)
      result = arith::AddFOp::create(builder, loc, op.getDpsInitOperand(0)->get(), result);
    return result;
  }

  linalg::LinalgOp op;
  const Product &product;
  raise::WeightViews &weights;
  Operation *last;
  bool startsFromZero;
  std::optional<BiasSum> bias;
  SmallVector<int64_t> outputShape;
  int64_t outputs = 1, sum = 0;
};

class LinearRaiser {
public:
  explicit LinearRaiser(ModuleOp module) : weights(module) {}

  /// Whether it became a linear; with a bias if so.
  std::optional<bool> raise(linalg::LinalgOp op) {
    std::string why;
    std::optional<Product> product = sortLoops(op, 1, weights, why);
    if (!product && (why.clear(), product = sortLoops(op, 0, weights, why), !product)) {
      remark::missed(op.getLoc(), remark::RemarkOpts::name("raise-linear").category("raise-linear"))
          << why;
      return std::nullopt;
    }
    return LinearBuilder(op, *product, weights).run();
  }

private:
  raise::WeightViews weights;
};

/// linear(collapse(x)) -> collapse(linear(x)), where the last axis is not collapsed.
struct SinkCollapse : OpRewritePattern<LinearOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LinearOp op, PatternRewriter &rewriter) const override {
    auto collapse = op.getInput().getDefiningOp<tensor::CollapseShapeOp>();
    if (!collapse || collapse.getReassociationIndices().back().size() != 1)
      return rewriter.notifyMatchFailure(op, "no view collapses its rows");
    SmallVector<int64_t> shape(collapse.getSrcType().getShape());
    shape.back() = cast<RankedTensorType>(op.getResult().getType()).getShape().back();
    auto linear = LinearOp::create(rewriter, op.getLoc(), collapse.getSrcType().clone(shape),
                                   collapse.getSrc(), op.getWeight(), op.getBias(), op.getScales(),
                                   op.getExperts(), op.getQuantizeRows());
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(
        op, cast<RankedTensorType>(op.getResult().getType()), linear,
        collapse.getReassociationIndices());
    return success();
  }
};

struct RaiseLinearPass : fovea::impl::RaiseLinearPassBase<RaiseLinearPass> {
  using RaiseLinearPassBase::RaiseLinearPassBase;

  void runOnOperation() override {
    LinearRaiser raiser(getOperation());
    SmallVector<linalg::LinalgOp> products;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (raise::isContraction(op) && op.hasPureTensorSemantics())
        products.push_back(op);
    });
    for (linalg::LinalgOp op : products)
      if (std::optional<bool> hasBias = raiser.raise(op)) {
        ++numLinears;
        numBiases += *hasBias;
      }
    if (products.empty())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkCollapse>(&getContext());
    raise::populateReshapePatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
