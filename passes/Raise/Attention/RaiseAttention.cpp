// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that makes `fovea.attention` of products, softmaxes and products. What is an attention
// is decided in AttentionForm.cpp, what its masks are in SplitScore.cpp and
// Masks.cpp; here the op is built.
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Elements/Intervals.h"
#include "passes/Raise/Attention/AttentionFormula.h"
#include "passes/Raise/Attention/Score.h"
#include "passes/Raise/Attention/SoftmaxSums.h"
#include "passes/Raise/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_RAISEATTENTIONPASS
#include "passes/Raise/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Building -----------------------------------------------------------------------------===//

/// Whether `op` has no use but, through ops that have none either, by `root`.
static bool feedsOnly(Operation *op, Operation *root) {
  llvm::SetVector<Operation *> users;
  auto add = [&](Operation *of) {
    for (Operation *user : of->getUsers())
      users.insert(user);
  };
  add(op);
  for (size_t i = 0; i < users.size(); ++i) {
    if (users[i] == root)
      continue;
    if (users[i]->getNumResults() == 0 || !isMemoryEffectFree(users[i]))
      return false;
    add(users[i]);
  }
  return true;
}

/// Whether all that becomes of a tensor is the same in fewer bits.
static bool isNarrowed(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    if (isa<arith::TruncFOp>(user))
      return true;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    return generic && isa<arith::TruncFOp>(generic.getBody()->front());
  });
}

/// The tensor of probabilities that is read at whole axes: the first that holds them, or a slice of
/// it where it holds more, a sink's. None if others read them in another way.
static void findWeights(Expressions &e, AttentionForm &form, SmallVectorImpl<Axis> &axes) {
  auto isWhole = [&](Value tensor, ArrayRef<Expr> indices) {
    axes.clear();
    for (auto [i, index] : llvm::enumerate(indices)) {
      std::optional<Axis> axis = getAxis(e, index);
      if (!axis || getExtent(e, *axis) != e.simplify(e.getSize(tensor, i)))
        return false;
      axes.push_back(*axis);
    }
    return true;
  };
  Operand first = std::move(form.weights);
  form.weights = {};
  if (!first.tensor)
    return;
  if (isWhole(first.tensor, first.indices)) {
    form.weights = first;
    return;
  }
  for (Operation *user : first.tensor.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !slice.hasUnitStride() ||
        slice.getSourceType().getRank() != slice.getType().getRank())
      continue;
    SmallVector<Expr> indices;
    for (auto [index, offset] : llvm::zip(first.indices, slice.getMixedOffsets())) {
      AffineExpr affine = index->getAffine();
      if (affine)
        indices.push_back(e.index(e.simplify(affine - e.getSize(offset))));
    }
    if (indices.size() != first.indices.size() || !isWhole(slice, indices))
      continue;
    form.weights = {slice, indices};
    return;
  }
}

/// The output with each row multiplied by a function of its sum of exponentials. Null if that
/// cannot be written.
static Value scaleRows(Expressions &e, OpBuilder &builder, const AttentionForm &form,
                       AttentionOp attention) {
  Location loc = attention.getLoc();
  Value lse = attention.getLse(), output = attention.getOutput();
  Type element = cast<RankedTensorType>(output.getType()).getElementType();
  Type wide = cast<RankedTensorType>(lse.getType()).getElementType();
  MLIRContext *context = builder.getContext();
  AffineMap all = AffineMap::getMultiDimIdentityMap(4, context);
  auto dim = [&](unsigned d) { return getAffineDimExpr(d, context); };
  AffineMap row = AffineMap::get(4, 0, {dim(0), dim(2), dim(1)}, context);
  Value empty =
      tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, output), element);
  SmallVector<utils::IteratorType> kinds(4, utils::IteratorType::parallel);
  bool isWritten = true;
  auto scaled = linalg::GenericOp::create(
      builder, loc, output.getType(), ValueRange{output, lse}, ValueRange{empty}, {all, row, all},
      kinds, [&](OpBuilder &body, Location loc, ValueRange args) {
        llvm::DenseMap<Expr, Value> done;
        Value sum = math::ExpOp::create(body, loc, args[1]);
        // In the type that sums have.
        std::function<Value(Expr)> emit = [&](Expr part) -> Value {
          if (part == form.sum)
            return sum;
          if (part->isConstant())
            return arith::ConstantOp::create(
                body, loc, FloatAttr::get(cast<FloatType>(wide), part->getNumber()));
          if (part->kind != Node::Kind::Compute)
            return {};
          SmallVector<Value> operands;
          for (Expr arg : part->args) {
            operands.push_back(emit(arg));
            if (!operands.back())
              return {};
          }
          OperationState state(loc, part->name.getValue(), operands, wide, part->attrs.getValue());
          return body.create(state)->getResult(0);
        };
        Value factor = emit(form.rowFactor);
        isWritten = static_cast<bool>(factor);
        Value result = args[0];
        if (factor) {
          result = toElementType(body, loc, result, wide);
          result = arith::MulFOp::create(body, loc, result, factor);
          result = toElementType(body, loc, result, element);
        }
        linalg::YieldOp::create(body, loc, result);
      });
  return isWritten ? scaled.getResult(0) : Value();
}

/// Whether some row may see no key: unless the first key, or the one at the query's own place, is
/// there and surely allowed.
static bool mayBeEmpty(Expressions &e, const AttentionForm &form, Expr allowed) {
  SmallVector<AffineExpr> places{getAffineConstantExpr(0, e.getContext())};
  if (form.queries.size() == 1) {
    AffineExpr query = getAffineDimExpr(form.queries[0], e.getContext());
    AffineExpr more = e.getExtent(form.key) - e.getExtent(form.queries[0]);
    places.append({query, query + more});
  }
  AffineExpr zero = getAffineConstantExpr(0, e.getContext());
  return llvm::none_of(places, [&](AffineExpr place) {
    if (!e.isWithin(place, zero, e.getExtent(form.key)))
      return false;
    llvm::DenseMap<unsigned, Expr> to{{form.key, e.index(place)}};
    Expr here = IntervalAnalysis(e).fold(e.substitute(allowed, to));
    return here->isConstant() && here->integer;
  });
}

namespace {
/// Builds the op beside the root and replaces that.
class AttentionBuilder {
public:
  AttentionBuilder(Expressions &e, AttentionForm &form, Refusal &refusal)
      : e(e), form(form), refusal(refusal), root(form.root.getDefiningOp()), builder(root),
        loc(root->getLoc()), rootType(cast<RankedTensorType>(form.root.getType())) {}

  /// Null if a part cannot be written; then what was built is dead.
  AttentionOp run() {
    if (!layOutOperands())
      return {};
    chooseElementType();
    score = splitScore(e, form);
    ScoreBuilder parts(e, builder, loc, form);
    parts.findQueryOffset(score.allowed, score.rule);
    if (!buildMask(parts) || !chooseFill() || !buildAdditive() || !buildSinks() ||
        !buildRegions(parts))
      return {};
    AttentionOp attention = create();
    if (!replaceRoot(attention))
      return {};
    if (givesWeights)
      replaceWeights(attention);
    return attention;
  }

private:
  bool refuse(StringRef reason, StringRef change = "") {
    refusal = {reason.str(), change.str()};
    return false;
  }
  bool layOutOperands();
  void chooseElementType();
  bool buildMask(ScoreBuilder &parts);
  bool chooseFill();
  bool buildAdditive();
  bool buildSinks();
  Value buildConstantSinks();
  bool buildRegions(ScoreBuilder &parts);
  AttentionOp create();
  bool replaceRoot(AttentionOp attention);
  void replaceWeights(AttentionOp attention);

  Expressions &e;
  AttentionForm &form;
  Refusal &refusal;
  Operation *root;
  OpBuilder builder;
  Location loc;
  RankedTensorType rootType;

  Value query, keys, values, mask, positions, additive, sinks;
  Type element;           ///< of queries, keys and values
  FloatType accumulation; ///< of sums and scores
  bool givesWeights = false;
  SmallVector<Axis> weightsAxes;
  MaskedScore score;
  double scale = 1;
  Fill fill = Fill::Zero;
  RegionParts ofScore, ofProbability;
};
} // namespace

bool AttentionBuilder::layOutOperands() {
  SmallVector<unsigned> keyHeads(ArrayRef<unsigned>(form.heads).take_front(form.keyHeads));
  query = layOut(e, builder, loc, form.query.tensor, form.query.indices,
                 {form.batch, form.queries, form.heads, form.depth});
  keys = layOut(e, builder, loc, form.keys.tensor, form.keys.indices,
                {form.batch, {form.key}, keyHeads, form.depth});
  values = layOut(e, builder, loc, form.values.tensor, form.values.indices,
                  {form.batch, {form.key}, keyHeads, form.sizes});
  return (query && keys && values) ||
         refuse("queries, keys or values depend on more than batch, head, place and size");
}

/// The widest type of the operands, and of the results that others read with more bits.
void AttentionBuilder::chooseElementType() {
  findWeights(e, form, weightsAxes);
  Operation *weights = form.weights.tensor ? form.weights.tensor.getDefiningOp() : nullptr;
  givesWeights = weights && !feedsOnly(weights, root);
  element = getElementTypeOrSelf(query);
  SmallVector<Type> others{getElementTypeOrSelf(keys), getElementTypeOrSelf(values)};
  if (givesWeights)
    others.push_back(getElementTypeOrSelf(form.weights.tensor));
  if (!isNarrowed(form.root))
    others.push_back(rootType.getElementType());
  for (Type type : others)
    if (type.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
      element = type;
  for (Value *operand : {&query, &keys, &values})
    *operand = toElementType(builder, loc, *operand, element);
  accumulation = element.isF64() ? FloatType(builder.getF64Type()) : builder.getF32Type();
}

bool AttentionBuilder::buildMask(ScoreBuilder &parts) {
  if (score.allowed) {
    mask = parts.buildMask(score.allowed);
    if (!mask)
      return refuse("the mask cannot be written as a predicate or tensor");
  }
  positions = parts.buildQueryPositions();
  return true;
}

/// What rows without keys give.
bool AttentionBuilder::chooseFill() {
  fill = form.guarded ? Fill::Zero : score.fill.value_or(Fill::Zero);
  if (!score.allowed)
    return true;
  EmptyRow row = evaluateEmptyRow(e, form, score.allowed);
  bool isSettled = row.fill || !(row.isKnown || form.weight);
  if (!isSettled && mayBeEmpty(e, form, score.allowed))
    return refuse(
        "what it gives for a row without keys is neither zero nor a mean of values nor NaN");
  fill = row.fill.value_or(fill);
  return true;
}

bool AttentionBuilder::buildAdditive() {
  if (!form.additive.tensor)
    return true;
  additive = layOut(e, builder, loc, form.additive.tensor, form.additive.indices, {form.depth});
  return additive || refuse("the weights of additive scores depend on more than the head size");
}

Value AttentionBuilder::buildConstantSinks() {
  auto type = RankedTensorType::get({*getInteger(getExtent(e, form.heads))}, accumulation);
  auto number = FloatAttr::get(accumulation, form.sink->getNumber());
  return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, number));
}

bool AttentionBuilder::buildSinks() {
  if (!form.sink)
    return true;
  SmallVector<Axis> axes{form.heads};
  if (form.sink->isConstant())
    sinks = buildConstantSinks();
  else if (form.sink->kind == Node::Kind::Element)
    sinks = layOut(e, builder, loc, form.sink->tensor, ArrayRef<Expr>(form.sink->args), axes);
  else
    sinks = compute(e, builder, loc, form.sink, axes);
  return sinks ||
         refuse("the sinks depend on more than the head", "give one further logit for each head");
}

/// The regions of the score and the probabilities, where these are more than a product with a
/// number.
bool AttentionBuilder::buildRegions(ScoreBuilder &parts) {
  // A factor of the whole rule is the op's scale; a rule that is nothing else needs no region.
  scale = form.scale;
  if (takeFactor(score.rule, scale) != form.raw) {
    // Scale stays in front of the rule: the factor of the product in it, that of the whole behind.
    scale = form.scale;
    if (!parts.buildRegion(score.rule, form.raw, ofScore, accumulation))
      return refuse("the score's rule cannot be written as scalar code");
  }
  return !form.weight ||
         parts.buildRegion(form.weight, form.probability, ofProbability, accumulation) ||
         refuse("what becomes of the probabilities cannot be written as scalar code");
}

AttentionOp AttentionBuilder::create() {
  SmallVector<int64_t> shape(cast<RankedTensorType>(query.getType()).getShape().drop_back());
  int64_t batch = shape[0], queries = shape[1], heads = shape[2];
  shape.push_back(cast<RankedTensorType>(values.getType()).getDimSize(3));
  Type weightsType, lseType;
  if (givesWeights)
    weightsType = RankedTensorType::get(
        {batch, heads, queries, cast<RankedTensorType>(keys.getType()).getDimSize(1)}, element);
  if (form.rowFactor)
    lseType = RankedTensorType::get({batch, heads, queries}, accumulation);
  auto attention = AttentionOp::create(
      builder, loc, RankedTensorType::get(shape, element), lseType, weightsType, query, keys,
      values, positions, Value(), mask, sinks, additive, /*key_scales=*/Value(),
      /*value_scales=*/Value(), ofScore.operands, ofProbability.operands,
      builder.getAffineMapArrayAttr(ofScore.maps),
      builder.getAffineMapArrayAttr(ofProbability.maps), builder.getF64FloatAttr(scale),
      FillAttr::get(builder.getContext(), fill));
  attention.getScore().takeBody(ofScore.region);
  attention.getProbability().takeBody(ofProbability.region);
  return attention;
}

bool AttentionBuilder::replaceRoot(AttentionOp attention) {
  Value output = attention.getOutput();
  if (form.rowFactor && !(output = scaleRows(e, builder, form, attention)))
    return refuse("what its rows are scaled by cannot be written");
  Value result = rearrange(e, builder, loc, output,
                           {form.batch, form.queries, form.heads, form.sizes}, form.axes);
  form.root.replaceAllUsesWith(toElementType(builder, loc, result, rootType.getElementType()));
  return true;
}

/// The probabilities, which others read, in the layout of the tensor that held them.
void AttentionBuilder::replaceWeights(AttentionOp attention) {
  auto oldType = cast<RankedTensorType>(form.weights.tensor.getType());
  builder.setInsertionPointAfter(attention);
  Value old = rearrange(e, builder, loc, attention.getWeights(),
                        {form.batch, form.heads, form.queries, {form.key}}, weightsAxes);
  old = toElementType(builder, loc, old, oldType.getElementType());
  form.weights.tensor.replaceAllUsesWith(old);
  // Users may stand before the root.
  sortTopologically(attention->getBlock());
}

//===-- The pass -----------------------------------------------------------------------------===//

/// Ops that late division and its like are made of.
static bool mayFollow(Operation *op) {
  return op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         (isa<linalg::LinalgOp>(op) || OpTrait::hasElementwiseMappableTraits(op) ||
          isa<tensor::TensorDialect>(op->getDialect()));
}

namespace {
struct RaiseAttentionPass : fovea::impl::RaiseAttentionPassBase<RaiseAttentionPass> {
  using RaiseAttentionPassBase::RaiseAttentionPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> candidates;
    getOperation()->walk([&](Operation *op) {
      if (op->getParentOfType<AttentionOp>() || op->getParentOfType<linalg::LinalgOp>())
        return;
      if (op->getNumResults() == 1 && mayBeAttention(op->getResult(0)))
        candidates.push_back(op);
    });
    for (Operation *candidate : candidates) {
      if (erased.contains(candidate) || raise(candidate->getResult(0)))
        continue;
      SmallVector<Operation *> products = splitSoftmaxSum(candidate);
      for (Operation *product : products)
        raise(product->getResult(0));
      if (!products.empty())
        eraseDead(candidate);
    }
  }

  bool raise(Value candidate) {
    if (candidate.use_empty())
      return false;
    if (tryRoot(candidate, candidate))
      return true;
    // The division may come behind the product.
    SmallVector<Value> next{candidate};
    for (int step = 0; step < 6 && !next.empty(); ++step) {
      SmallVector<Value> behind;
      for (Value value : next) {
        if (!llvm::hasSingleElement(value.getUsers()))
          continue;
        Operation *user = *value.getUsers().begin();
        if (!mayFollow(user) || !isa<RankedTensorType>(user->getResult(0).getType()) ||
            isContraction(user))
          continue;
        if (tryRoot(user->getResult(0), candidate))
          return true;
        behind.push_back(user->getResult(0));
      }
      next = behind;
    }
    return false;
  }

  /// Replaces an attention's result; `product` is where the product with values stands.
  bool tryRoot(Value root, Value product) {
    Expressions e(&getContext());
    Refusal refusal;
    std::optional<AttentionForm> form = recognizeAttention(e, root, product, refusal);
    if (!form || !AttentionBuilder(e, *form, refusal).run())
      return false;
    eraseDead(root.getDefiningOp());
    ++numAttentions;
    return true;
  }

  /// What only the root needed goes at once: later questions are not asked of dead code.
  void eraseDead(Operation *root) {
    llvm::SetVector<Operation *> work;
    work.insert(root);
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (!isOpTriviallyDead(op))
        continue;
      for (Value operand : op->getOperands())
        if (Operation *source = operand.getDefiningOp())
          work.insert(source);
      // Bodies may read tensors from around them.
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (Operation *source = operand.getDefiningOp(); source && !op->isAncestor(source))
            work.insert(source);
      });
      erased.insert(op);
      op->erase();
    }
  }

  llvm::SmallPtrSet<Operation *, 32> erased;
};
} // namespace
