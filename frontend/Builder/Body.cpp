// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a Transformer, said in the words of the dialect. Nothing is
// merged or folded here: the `import` stage says what the source said.
#include "frontend/Builder/Body.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

RankedTensorType mlir::fovea::getWeightType(MLIRContext *context, const model::Weight &weight) {
  const model::Weight &first = weight.stack.empty() ? weight : weight.stack.front();
  const model::StoredTensor &stored = first.stored;
  if (first.packing)
    return RankedTensorType::get(weight.shape, getPackedType(context, *first.packing));
  Type element = weight.asFloats && model::isBlockType(stored.type)
                     ? Type(Float32Type::get(context))
                     : getElementType(context, stored.type);
  return RankedTensorType::get(weight.shape, element);
}

RankedTensorType mlir::fovea::getActivationType(MLIRContext *context, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, Float32Type::get(context));
}

RankedTensorType Body::typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

RankedTensorType Body::withLastSize(Value tensor, int64_t size) {
  SmallVector<int64_t> shape(typeOf(tensor).getShape());
  shape.back() = size;
  return typeOf(tensor).clone(shape);
}

namespace {
/// Collects weights in the order in which functions take them.
struct WeightList {
  std::vector<const model::Weight *> weights;

  void add(const model::Weight &weight, const std::optional<model::Weight> &bias) {
    weights.push_back(&weight);
    if (bias)
      weights.push_back(&*bias);
  }
  void add(const model::Linear &linear) {
    if (linear.inputOrder)
      add(*linear.inputOrder, std::nullopt);
    add(linear.weight, linear.bias);
  }
  void add(const std::optional<model::Norm> &norm) {
    if (norm)
      add(norm->weight, norm->bias);
  }
  void add(const model::FeedForward &feedForward) {
    if (feedForward.gate)
      add(*feedForward.gate);
    add(feedForward.up);
    add(feedForward.down);
  }
  void add(const model::LatentAttention &latent) {
    if (latent.queryDown)
      add(*latent.queryDown);
    add(latent.queryNorm);
    for (const model::Linear *linear :
         {&latent.queryRotated, &latent.keyRotated, &latent.toLatent, &latent.fromLatent})
      add(*linear);
  }
  void add(const model::Residual &around) {
    add(around.inputNorm);
    add(around.outputNorm);
    add(around.sumNorm);
  }
};
} // namespace

std::vector<const model::Weight *> mlir::fovea::getLayerWeights(const model::Layer &layer) {
  WeightList list;
  const model::Attention &attention = layer.attention;
  list.add(layer.aroundAttention);
  list.add(attention.query);
  list.add(attention.key);
  if (attention.latent)
    list.add(*attention.latent);
  else
    list.add(attention.value);
  list.add(attention.queryNorm);
  list.add(attention.keyNorm);
  if (attention.relativeBias)
    list.add(attention.relativeBias->table, std::nullopt);
  if (attention.sinks)
    list.add(*attention.sinks, std::nullopt);
  list.add(attention.output);
  if (layer.source) {
    list.add(layer.aroundSource);
    list.add(layer.source->query);
    list.add(layer.source->output);
  }
  list.add(layer.aroundFeedForward);
  if (!layer.experts) {
    list.add(layer.feedForward);
    return list.weights;
  }
  list.add(layer.experts->router);
  if (layer.experts->routing.bias)
    list.add(*layer.experts->routing.bias, std::nullopt);
  list.add(layer.experts->gateUp);
  list.add(layer.experts->down);
  if (layer.experts->shared)
    list.add(*layer.experts->shared);
  if (layer.experts->sharedGate)
    list.add(*layer.experts->sharedGate);
  return list.weights;
}

std::vector<const model::Weight *> mlir::fovea::getSourceWeights(const model::Layer &layer) {
  WeightList list;
  list.add(layer.source->key);
  list.add(layer.source->value);
  return list.weights;
}

OpFoldResult Body::size(int64_t axis) {
  if (!sizes[axis])
    sizes[axis] = getSize(b, locate(axis == 0 ? "batch" : "sequence"), input, axis);
  return sizes[axis];
}

Value Body::gatherLast(Value x, Value places, Location loc) {
  int64_t rank = typeOf(x).getRank();
  return elementwise(typeOf(x), tensor::getMixedSizes(b, loc, x), places,
                     b.getMultiDimIdentityMap(static_cast<unsigned>(rank)).getMinorSubMap(1), loc,
                     [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
                       SmallVector<Value> at;
                       for (int64_t axis = 0; axis + 1 < rank; ++axis)
                         at.push_back(linalg::IndexOp::create(inner, axis));
                       at.push_back(
                           arith::IndexCastOp::create(inner, inner.getIndexType(), elements[0]));
                       return tensor::ExtractOp::create(inner, x, at);
                     });
}

Value Body::linear(Value x, const model::Linear &linear, Value experts) {
  if (linear.inputOrder)
    x = gatherLast(x, weightValue(*linear.inputOrder), locate(linear.inputOrder->name));
  Value weight = weightValue(linear.weight);
  Value bias = linear.bias ? weightValue(*linear.bias) : Value();
  int64_t count = experts ? typeOf(experts).getDimSize(0) - 1 : 1;
  return LinearOp::create(b, locate(linear.name), withLastSize(x, linear.weight.shape[0] / count),
                          x, weight, bias,
                          /*scales=*/Value(), experts, /*quantize_rows=*/false);
}

Value Body::norm(Value x, const model::Norm &norm) {
  Location loc = locate(norm.name);
  Value weight = weightValue(norm.weight);
  FloatAttr epsilon = b.getF64FloatAttr(norm.epsilon);
  if (norm.kind == model::Norm::Kind::Rms)
    return RmsNormOp::create(b, loc, x.getType(), x, weight, epsilon,
                             b.getF64FloatAttr(norm.weightOffset));
  Value bias = norm.bias ? weightValue(*norm.bias) : Value();
  return LayerNormOp::create(b, loc, x.getType(), x, weight, bias, epsilon);
}

ActivationKind Body::kindOf(model::Activation activation) {
  switch (activation) {
  case model::Activation::Gelu:
    return ActivationKind::Gelu;
  case model::Activation::GeluTanh:
    return ActivationKind::GeluTanh;
  case model::Activation::GeluQuick:
    return ActivationKind::GeluQuick;
  case model::Activation::Relu:
    return ActivationKind::Relu;
  case model::Activation::ReluSquared:
    return ActivationKind::ReluSquared;
  case model::Activation::Silu:
    return ActivationKind::Silu;
  case model::Activation::Tanh:
    return ActivationKind::Tanh;
  case model::Activation::Sigmoid:
    return ActivationKind::Sigmoid;
  }
  llvm_unreachable("all activations are listed");
}

Value Body::activation(Value x, model::Activation activation, Location loc) {
  return ActivationOp::create(b, loc, x.getType(), kindOf(activation), x);
}

Value Body::positions(Value first, Location loc) {
  auto type = RankedTensorType::get({1, typeOf(input).getDimSize(1)}, b.getI32Type());
  // Null if S is static.
  auto count = dyn_cast<Value>(sequence());
  return PositionsOp::create(b, loc, type, first, count);
}

Value Body::elementwise(RankedTensorType type, ArrayRef<OpFoldResult> sizes, ValueRange inputs,
                        ArrayRef<AffineMap> maps, Location loc,
                        function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> function) {
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  SmallVector<AffineMap> all(maps);
  all.push_back(b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> kinds(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &nested, Location here, ValueRange elements) {
    ImplicitLocOpBuilder inner(here, nested);
    linalg::YieldOp::create(inner, function(inner, elements.drop_back()));
  };
  return linalg::GenericOp::create(b, loc, type, inputs, empty, all, kinds, body)->getResult(0);
}

Value Body::map(Value x, Location loc,
                function_ref<Value(ImplicitLocOpBuilder &, Value)> function) {
  RankedTensorType type = typeOf(x);
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    sizes.push_back(type.isDynamicDim(axis) ? getSize(b, loc, x, axis)
                                            : b.getIndexAttr(type.getDimSize(axis)));
  return elementwise(type, sizes, x, b.getMultiDimIdentityMap(type.getRank()), loc,
                     [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
                       return function(inner, elements.front());
                     });
}

Value Body::constant(ImplicitLocOpBuilder &b, Value element, double factor) {
  return arith::ConstantOp::create(b, b.getFloatAttr(element.getType(), factor));
}

Value Body::softcap(ImplicitLocOpBuilder &b, Value x, double cap) {
  Value part = math::TanhOp::create(b, arith::MulFOp::create(b, x, constant(b, x, 1 / cap)));
  return arith::MulFOp::create(b, part, constant(b, x, cap));
}

Value Body::reduceLast(
    Value x, TypedAttr first, Location loc,
    function_ref<Value(ImplicitLocOpBuilder &, Value element, Value before)> combine) {
  auto rank = static_cast<unsigned>(typeOf(x).getRank());
  ArrayRef<int64_t> shape = typeOf(x).getShape().drop_back();
  SmallVector<OpFoldResult> sizes = {batch()};
  for (int64_t size : shape.drop_front())
    sizes.push_back(b.getIndexAttr(size));
  Value from = arith::ConstantOp::create(b, loc, first);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, first.getType());
  Value init = linalg::FillOp::create(b, loc, from, empty).getResult(0);
  AffineMap all = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  kinds.back() = utils::IteratorType::reduction;
  auto body = [&](OpBuilder &nested, Location at, ValueRange v) {
    ImplicitLocOpBuilder inner(at, nested);
    linalg::YieldOp::create(inner, combine(inner, v[0], v[1]));
  };
  return linalg::GenericOp::create(b, loc, init.getType(), x, init,
                                   {all, all.getMajorSubMap(rank - 1)}, kinds, body)
      ->getResult(0);
}

Value Body::scale(Value x, double factor, Location loc) {
  if (factor == 1)
    return x;
  return map(x, loc, [&](ImplicitLocOpBuilder &inner, Value element) -> Value {
    return arith::MulFOp::create(inner, element, constant(inner, element, factor));
  });
}

Value Body::repeat(Value vectors, Location loc) {
  Value rows = tensor::CollapseShapeOp::create(b, loc, vectors,
                                               SmallVector<ReassociationIndices>{{0, 1}, {2}});
  SmallVector<OpFoldResult> sizes = {batch(), sequence(),
                                     b.getIndexAttr(typeOf(vectors).getDimSize(2))};
  Value empty = tensor::EmptyOp::create(b, loc, sizes, typeOf(rows).getElementType());
  return linalg::BroadcastOp::create(b, loc, rows, empty, ArrayRef<int64_t>{0})->getResult(0);
}

Value Body::addRow(Value x, Value table, Location loc) {
  return addShared(
      x, tensor::CollapseShapeOp::create(b, loc, table, SmallVector<ReassociationIndices>{{0, 1}}),
      loc);
}

/// `element` in a type that holds its own.
static Value widen(ImplicitLocOpBuilder &b, Value element, Type type) {
  return element.getType() == type ? element : arith::ExtFOp::create(b, type, element).getResult();
}

Value Body::addShared(Value x, Value shared, Location loc) {
  RankedTensorType type = typeOf(x);
  AffineMap all = b.getMultiDimIdentityMap(3);
  AffineMap own = all.getMinorSubMap(static_cast<unsigned>(typeOf(shared).getRank()));
  return elementwise(type, tensor::getMixedSizes(b, loc, x), {x, shared}, {all, own}, loc,
                     [&](ImplicitLocOpBuilder &inner, ValueRange elements) -> Value {
                       Value element = widen(inner, elements[1], type.getElementType());
                       return arith::AddFOp::create(inner, elements[0], element);
                     });
}

Value Body::ofEachText(Value rows, Location loc) {
  ArrayRef<int64_t> shape = typeOf(rows).getShape();
  RankedTensorType type =
      getActivationType(b.getContext(), {ShapedType::kDynamic, shape[0], shape[1]});
  SmallVector<OpFoldResult> sizes = {batch(), b.getIndexAttr(shape[0]), b.getIndexAttr(shape[1])};
  return elementwise(type, sizes, rows, b.getMultiDimIdentityMap(3).getMinorSubMap(2), loc,
                     [&](ImplicitLocOpBuilder &inner, ValueRange elements) {
                       return widen(inner, elements[0], type.getElementType());
                     });
}

Value Body::embedPatches(Value pixels, const model::Embeddings &embeddings) {
  const model::Patches &patches = *embeddings.patches;
  Location loc = locate(patches.projection.name);
  int64_t size = patches.size, rows = patches.height / size, columns = patches.width / size;
  int64_t channels = patches.channels;
  auto index = [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); };
  RankedTensorType split =
      typeOf(pixels).clone({ShapedType::kDynamic, channels, rows, size, columns, size});
  Value x = tensor::ExpandShapeOp::create(
      b, loc, split, pixels, SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}, {4, 5}},
      SmallVector<OpFoldResult>{batch(), index(channels), index(rows), index(size), index(columns),
                                index(size)});
  x = transpose(x, {0, 2, 4, 1, 3, 5}, loc);
  x = tensor::CollapseShapeOp::create(b, loc, x,
                                      SmallVector<ReassociationIndices>{{0}, {1, 2}, {3, 4, 5}});
  x = linear(x, patches.projection);
  if (patches.tokens) {
    Location here = locate(patches.tokens->name);
    Value tokens = ofEachText(weightValue(*patches.tokens), here);
    RankedTensorType type = typeOf(x).clone(
        {ShapedType::kDynamic, patches.count(), patches.projection.weight.shape.front()});
    x = tensor::ConcatOp::create(b, here, type, 1, ValueRange{tokens, x});
  }
  if (embeddings.position)
    x = addShared(x, weightValue(*embeddings.position), locate(embeddings.position->name));
  return embeddings.norm ? norm(x, *embeddings.norm) : x;
}

Value Body::countedPositions(Value ids, int64_t uncounted, Location loc) {
  ImplicitLocOpBuilder here(loc, b);
  SmallVector<OpFoldResult> sizes = {batch(), sequence()};
  Value zero = arith::ConstantOp::create(here, b.getI32IntegerAttr(0));
  Value empty = tensor::EmptyOp::create(here, sizes, b.getI32Type());
  Value init = linalg::FillOp::create(here, zero, empty).getResult(0);
  // Of token i the sum over all j up to i, as the importer of ONNX says it.
  AffineExpr row = b.getAffineDimExpr(0), i = b.getAffineDimExpr(1), j = b.getAffineDimExpr(2);
  auto map = [&](AffineExpr column) { return AffineMap::get(3, 0, {row, column}, b.getContext()); };
  auto parallel = utils::IteratorType::parallel;
  auto body = [&](OpBuilder &nested, Location at, ValueRange v) {
    ImplicitLocOpBuilder inner(at, nested);
    Value none = arith::ConstantOp::create(inner, b.getIntegerAttr(v[0].getType(), uncounted));
    auto counts = [&](Value id) -> Value {
      return arith::CmpIOp::create(inner, arith::CmpIPredicate::ne, id, none);
    };
    Value before = arith::CmpIOp::create(inner, arith::CmpIPredicate::sle,
                                         linalg::IndexOp::create(inner, 2).getResult(),
                                         linalg::IndexOp::create(inner, 1).getResult());
    // The token that does not count has position 0.
    Value both = arith::AndIOp::create(inner, counts(v[0]), counts(v[1]));
    Value one = arith::ExtUIOp::create(inner, b.getI32Type(),
                                       arith::AndIOp::create(inner, before, both).getResult());
    linalg::YieldOp::create(inner, arith::AddIOp::create(inner, v[2], one).getResult());
  };
  return linalg::GenericOp::create(here, init.getType(), ValueRange{ids, ids}, init,
                                   {map(i), map(j), map(i)},
                                   {parallel, parallel, utils::IteratorType::reduction}, body)
      ->getResult(0);
}

Value Body::sinusoids(Value ids, Value first, const model::Embeddings &embeddings) {
  Location loc = locate(embeddings.name);
  const model::Sinusoids &sinusoids = *embeddings.sinusoids;
  int64_t length = typeOf(ids).getDimSize(1), width = embeddings.token.shape[1];
  if (sinusoids.offset != 0)
    first = arith::AddIOp::create(b, loc, first,
                                  arith::ConstantIndexOp::create(b, loc, sinusoids.offset));
  Value vectors = PositionSinusoidalOp::create(
      b, loc, getActivationType(b.getContext(), {1, length, width}), positions(first, loc),
      sinusoids.halves ? SinusoidLayout::Halves : SinusoidLayout::Interleaved, APFloat(10000.0));
  return repeat(vectors, loc);
}

Value Body::positionVectors(Value ids, Value first, const model::Embeddings &embeddings) {
  Location loc = locate(embeddings.position->name);
  int64_t length = typeOf(ids).getDimSize(1), width = embeddings.position->shape[1];
  bool counted = embeddings.uncountedToken.has_value();
  Value places =
      counted ? countedPositions(ids, *embeddings.uncountedToken, loc) : positions(first, loc);
  Value vectors = PositionLearnedOp::create(
      b, loc,
      getActivationType(b.getContext(), {counted ? ShapedType::kDynamic : 1, length, width}),
      places, weightValue(*embeddings.position), b.getI64IntegerAttr(embeddings.positionOffset));
  return counted ? vectors : repeat(vectors, loc);
}

Value Body::embed(Value ids, Value tokenTypes, Value first, const model::Embeddings &embeddings) {
  MLIRContext *context = b.getContext();
  int64_t length = typeOf(ids).getDimSize(1), width = embeddings.token.shape[1];
  RankedTensorType type = getActivationType(context, {ShapedType::kDynamic, length, width});
  Location loc = locate(embeddings.token.name);
  Value x = EmbeddingOp::create(b, loc, type, ids, weightValue(embeddings.token));
  x = scale(x, embeddings.scale, loc);
  const std::optional<model::Linear> &projection = embeddings.projection;
  bool projectFirst = projection && embeddings.position && embeddings.position->shape[1] != width;
  if (projectFirst)
    x = linear(x, *projection);
  if (embeddings.tokenType) {
    Location here = locate(embeddings.tokenType->name);
    Value table = weightValue(*embeddings.tokenType);
    x = tokenTypes ? arith::AddFOp::create(b, here, x,
                                           EmbeddingOp::create(b, here, type, tokenTypes, table))
                         .getResult()
                   : addRow(x, table, here);
  }
  if (embeddings.position)
    x = arith::AddFOp::create(b, locate(embeddings.position->name), x,
                              positionVectors(ids, first, embeddings));
  if (embeddings.sinusoids)
    x = arith::AddFOp::create(b, loc, x, sinusoids(ids, first, embeddings));
  if (embeddings.norm)
    x = norm(x, *embeddings.norm);
  return projection && !projectFirst ? linear(x, *projection) : x;
}

Value Body::splitHeads(Value x, int64_t heads, int64_t headSize, Location loc) {
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  RankedTensorType type = typeOf(x).clone({shape[0], shape[1], heads, headSize});
  SmallVector<OpFoldResult> sizes = {batch(), sequence(), b.getIndexAttr(heads),
                                     b.getIndexAttr(headSize)};
  return tensor::ExpandShapeOp::create(b, loc, type, x,
                                       SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}}, sizes);
}

Value Body::mergeHeads(Value x, Location loc) {
  return tensor::CollapseShapeOp::create(b, loc, x,
                                         SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}});
}

static RopeScalingAttr scalingOf(OpBuilder &b, const model::Rotary &rotary) {
  using Kind = model::Rotary::Kind;
  if (rotary.kind == Kind::Default)
    return {};
  FloatAttr factor = b.getF64FloatAttr(rotary.factor), low, high, attentionFactor;
  DenseF64ArrayAttr shortFactors, longFactors;
  RopeScalingKind kind = RopeScalingKind::Linear;
  switch (rotary.kind) {
  case Kind::Default:
  case Kind::Linear:
    break;
  case Kind::Dynamic:
    kind = RopeScalingKind::Dynamic;
    break;
  case Kind::Yarn:
    kind = RopeScalingKind::Yarn;
    attentionFactor = b.getF64FloatAttr(rotary.attentionFactor);
    break;
  case Kind::LongRope:
    kind = RopeScalingKind::LongRope;
    factor = {};
    attentionFactor = b.getF64FloatAttr(rotary.attentionFactor);
    shortFactors = b.getDenseF64ArrayAttr(rotary.shortFactors);
    longFactors = b.getDenseF64ArrayAttr(rotary.longFactors);
    break;
  case Kind::Llama3:
    kind = RopeScalingKind::Llama3;
    break;
  }
  if (rotary.kind == Kind::Yarn || rotary.kind == Kind::Llama3) {
    low = b.getF64FloatAttr(rotary.low);
    high = b.getF64FloatAttr(rotary.high);
  }
  return RopeScalingAttr::get(b.getContext(), kind, factor, rotary.originalPositions, low, high,
                              attentionFactor, rotary.truncate, shortFactors, longFactors);
}

Value Body::rotate(Value x, Value positions, const model::Rotary &rotary, Location loc) {
  return RopeOp::create(b, loc, x.getType(), x, positions,
                        rotary.interleaved ? RopePairing::Interleaved : RopePairing::Half,
                        rotary.dim, APFloat(rotary.theta), scalingOf(b, rotary));
}

Value Body::denseMask(Value kept, Location loc) {
  // [B,T] -> [B,1,1,T]: one row for all heads and queries. A text that is all
  // padding gives zero, as in the source's default implementation (measured
  // with transformers 5.23 on torch 2.15: its fused attention with a boolean
  // mask gives 0; only its "eager" variant, which adds the type's minimum to
  // the scores and so makes all of them equal, gives the mean of V).
  ArrayRef<int64_t> shape = typeOf(kept).getShape();
  Value aligned = tensor::ExpandShapeOp::create(
      b, loc, typeOf(kept).clone({shape[0], 1, 1, shape[1]}), kept,
      SmallVector<ReassociationIndices>{{0}, {1, 2, 3}},
      SmallVector<OpFoldResult>{batch(), b.getIndexAttr(1), b.getIndexAttr(1),
                                getSize(b, loc, kept, 1)});
  return MaskDenseOp::create(b, loc, MaskType::get(b.getContext()), aligned);
}

Value Body::mask(const model::Attention &attention, LayerContext &context, Location loc) {
  auto type = MaskType::get(b.getContext());
  Value form;
  if (attention.window) {
    IntegerAttr before = b.getI64IntegerAttr(*attention.window - 1);
    form = MaskWindowOp::create(b, loc, type, before,
                                attention.causal ? b.getI64IntegerAttr(0) : before);
  } else if (attention.causal) {
    form = MaskCausalOp::create(b, loc, type);
  }
  if (!context.attentionMask)
    return form;
  Value kept = denseMask(context.attentionMask, loc);
  return form ? MaskAndOp::create(b, loc, type, ValueRange{kept, form}).getResult() : kept;
}

void Body::score(AttentionOp op, const model::Attention &attention) {
  OpBuilder::InsertionGuard guard(b);
  Type f32 = b.getF32Type(), i32 = b.getI32Type(), index = b.getIndexType();
  SmallVector<Type> types = {f32};
  for (Value operand : op.getScoreOperands())
    types.push_back(attention.alibi ? f32 : operand.getType());
  types.append({index, index, i32, i32});
  Block *block =
      b.createBlock(&op.getScore(), {}, types, SmallVector<Location>(types.size(), op.getLoc()));
  ImplicitLocOpBuilder here(op.getLoc(), b);
  Value x = block->getArgument(0), head = block->getArgument(types.size() - 3);
  Value query = block->getArgument(types.size() - 2), key = block->getArgument(types.size() - 1);
  if (attention.softcap)
    x = softcap(here, x, *attention.softcap);
  if (attention.alibi) {
    Value distance = arith::SIToFPOp::create(here, f32, arith::SubIOp::create(here, key, query));
    Value slope = block->getArgument(1);
    if (attention.alibiScale != 1)
      slope = arith::MulFOp::create(here, slope, constant(here, slope, attention.alibiScale));
    x = arith::AddFOp::create(here, x, arith::MulFOp::create(here, slope, distance));
  }
  if (const std::optional<model::RelativeBias> &bias = attention.relativeBias) {
    Value added = RelativeBiasOp::create(here, f32, block->getArgument(1), head, query, key,
                                         bias->bidirectional ? b.getUnitAttr() : UnitAttr(),
                                         b.getI64IntegerAttr(bias->table.shape.front()),
                                         b.getI64IntegerAttr(bias->maxDistance));
    x = arith::AddFOp::create(here, x, added);
  }
  YieldOp::create(here, x);
}

Value Body::attend(Value query, Value key, Value value, Value queryPositions, Value mask,
                   const model::Attention &attention, Location loc) {
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  if (attention.alibi) {
    operands.push_back(
        AlibiSlopesOp::create(b, loc, getActivationType(b.getContext(), {attention.heads})));
    maps.push_back(AffineMap::get(4, 0, b.getAffineDimExpr(1)));
  }
  if (attention.relativeBias) {
    operands.push_back(weightValue(attention.relativeBias->table));
    maps.push_back(AffineMap::get(4, 0, b.getContext())); // whole
  }
  Value sinks = attention.sinks ? weightValue(*attention.sinks) : Value();
  auto op =
      AttentionOp::create(b, loc, withLastSize(query, attention.sizeOfValues()), /*lse=*/Type(),
                          /*weights=*/Type(), query, key, value, queryPositions,
                          /*key_positions=*/Value(), mask, sinks, /*additive=*/Value(),
                          /*key_scales=*/Value(), /*value_scales=*/Value(),
                          /*score_operands=*/operands,
                          /*probability_operands=*/ValueRange(), b.getAffineMapArrayAttr(maps),
                          b.getAffineMapArrayAttr({}), APFloat(attention.scale), Fill::Zero);
  if (attention.softcap || !operands.empty())
    score(op, attention);
  return op.getOutput();
}

Value Body::heads(Value all, const std::optional<model::Norm> &norm, int64_t count,
                  int64_t headSize, Location loc) {
  bool ofAll = norm && norm->weight.shape.front() != headSize;
  if (ofAll)
    all = this->norm(all, *norm);
  Value split = splitHeads(all, count, headSize, loc);
  return norm && !ofAll ? this->norm(split, *norm) : split;
}

Value Body::attention(Value x, const model::Attention &attention, LayerContext &context) {
  Location loc = locate(attention.name);
  int64_t size = attention.headSize;
  Value query = linear(x, attention.query);
  Value key = linear(x, attention.key);
  Value value = linear(x, attention.value);
  query = heads(query, attention.queryNorm, attention.heads, size, loc);
  key = heads(key, attention.keyNorm, attention.keyValueHeads, size, loc);
  value = heads(value, {}, attention.keyValueHeads, size, loc);

  Value queryPositions;
  if (context.keyCache) {
    // The queries stand behind what the cache holds already.
    Value first = CacheLengthOp::create(b, loc, b.getIndexType(), context.keyCache);
    queryPositions = positions(first, loc);
  } else if (attention.rotary) {
    queryPositions = positions(arith::ConstantIndexOp::create(b, loc, 0), loc);
  }
  Value mask = this->mask(attention, context, loc);
  if (attention.rotary) {
    query = rotate(query, queryPositions, *attention.rotary, loc);
    key = rotate(key, queryPositions, *attention.rotary, loc);
  }
  if (context.keyCache)
    append(context, key, value, loc);
  else
    queryPositions = {}; // as the keys': their index
  Value result = attend(query, key, value, queryPositions, mask, attention, loc);
  return linear(mergeHeads(result, loc), attention.output);
}

void Body::append(LayerContext &context, Value &key, Value &value, Location loc) {
  key = context.keyCache = CacheAppendOp::create(b, loc, context.keyCache, key).getResult();
  value = context.valueCache = CacheAppendOp::create(b, loc, context.valueCache, value).getResult();
}

std::pair<Value, Value> Body::source(Value states, const model::Attention &attention,
                                     Value keyCache, Value valueCache) {
  Location loc = locate(attention.name);
  Value key = linear(states, attention.key), value = linear(states, attention.value);
  key = heads(key, {}, attention.keyValueHeads, attention.headSize, loc);
  value = heads(value, {}, attention.keyValueHeads, attention.headSize, loc);
  return {CacheAppendOp::create(b, loc, keyCache, key).getResult(),
          CacheAppendOp::create(b, loc, valueCache, value).getResult()};
}

Value Body::sourceAttention(Value x, const model::Attention &attention,
                            const LayerContext &context) {
  Location loc = locate(attention.name);
  Value query = heads(linear(x, attention.query), {}, attention.heads, attention.headSize, loc);
  Value mask = context.sourceMask ? denseMask(context.sourceMask, loc) : Value();
  Value result = attend(query, context.sourceKeys, context.sourceValues, /*queryPositions=*/{},
                        mask, attention, loc);
  return linear(mergeHeads(result, loc), attention.output);
}

Value Body::feedForward(Value x, const model::FeedForward &feedForward) {
  Location loc = locate(feedForward.name);
  Value inner;
  if (feedForward.gate) {
    Value gate = linear(x, *feedForward.gate);
    Value up = linear(x, feedForward.up);
    inner = GluOp::create(b, loc, gate.getType(), kindOf(feedForward.activation), gate, up);
  } else {
    inner = activation(linear(x, feedForward.up), feedForward.activation, loc);
  }
  return linear(inner, feedForward.down);
}

Value Body::layer(Value x, const model::Layer &layer, LayerContext &context) {
  Location loc = locate(layer.name);
  auto add = [&](Value a, Value c) -> Value { return arith::AddFOp::create(b, loc, a, c); };
  auto maybe = [&](const std::optional<model::Norm> &norm, Value value) {
    return norm ? this->norm(value, *norm) : value;
  };
  const model::Residual &first = layer.aroundAttention, &second = layer.aroundFeedForward;
  Value normed = maybe(first.inputNorm, x);
  Value attended = layer.attention.latent ? latentAttention(normed, layer.attention, context)
                                          : attention(normed, layer.attention, context);
  attended = maybe(first.outputNorm, attended);
  attended = scale(attended, first.scale, loc);
  Value sum = maybe(first.sumNorm, add(x, attended));
  if (layer.source) {
    const model::Residual &around = layer.aroundSource;
    Value read = sourceAttention(maybe(around.inputNorm, sum), *layer.source, context);
    read = scale(maybe(around.outputNorm, read), around.scale, loc);
    sum = maybe(around.sumNorm, add(sum, read));
  }
  Value fed = layer.parallel ? (second.inputNorm ? norm(x, *second.inputNorm) : normed)
                             : maybe(second.inputNorm, sum);
  Value result = layer.experts ? experts(fed, *layer.experts) : feedForward(fed, layer.feedForward);
  result = maybe(second.outputNorm, result);
  result = scale(result, second.scale, loc);
  return maybe(second.sumNorm, add(sum, result));
}

Value Body::step(Value x, const model::Step &step, StringRef name) {
  if (step.dense)
    x = linear(x, *step.dense);
  if (step.activation)
    x = activation(x, *step.activation, locate(step.dense ? step.dense->name : name));
  if (step.norm)
    x = norm(x, *step.norm);
  if (step.unitLength)
    x = L2NormOp::create(b, locate(name), x.getType(), x, b.getF64FloatAttr(1e-12));
  return x;
}

Value Body::pool(Value x, Value keep, model::Pool pool, Location loc) {
  PoolKind kind = pool == model::Pool::Mean  ? PoolKind::Mean
                  : pool == model::Pool::Max ? PoolKind::Max
                                             : PoolKind::First;
  RankedTensorType type =
      getActivationType(b.getContext(), {typeOf(x).getDimSize(0), typeOf(x).getDimSize(2)});
  return PoolOp::create(b, loc, type, kind, x, keep);
}

Value Body::pool(Value x, Value attentionMask, const model::Pooling &pooling) {
  x = pool(x, attentionMask, pooling.kind, locate(pooling.name));
  for (const model::Step &part : pooling.steps)
    x = step(x, part, pooling.name);
  return x;
}

Value Body::greatestPlaces(Value ids, std::optional<int64_t> token, Location loc) {
  Type i64 = b.getI64Type();
  auto rank = [&](ImplicitLocOpBuilder &inner, Value id) -> Value {
    if (!token)
      return id;
    Value wanted = arith::ConstantOp::create(inner, b.getI64IntegerAttr(*token));
    Value isIt = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, id, wanted);
    return arith::ExtUIOp::create(inner, i64, isIt);
  };
  auto larger = [&](ImplicitLocOpBuilder &inner, Value id, Value most) -> Value {
    return arith::MaxSIOp::create(inner, rank(inner, id), most);
  };
  Value most = reduceLast(ids, b.getI64IntegerAttr(-1), loc, larger);
  AffineMap all = b.getMultiDimIdentityMap(2), row = all.getMajorSubMap(1);
  auto isMost = [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
    Value same = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, rank(inner, v[0]), v[1]);
    return arith::ExtUIOp::create(inner, b.getI32Type(), same);
  };
  return elementwise(cast<RankedTensorType>(ids.getType()).clone(b.getI32Type()),
                     {batch(), sequence()}, {ids, most}, {all, row}, loc, isMost);
}

Value Body::similarity(Value x, Value y, const model::Similarity &similarity) {
  Location loc = locate(similarity.name);
  SmallVector<OpFoldResult> sizes = {getSize(b, loc, x, 0), getSize(b, loc, y, 0)};
  RankedTensorType type =
      getActivationType(b.getContext(), {ShapedType::kDynamic, ShapedType::kDynamic});
  Value zero = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  Value init = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  auto map = [&](unsigned first, unsigned second) {
    return AffineMap::get(3, 0, {b.getAffineDimExpr(first), b.getAffineDimExpr(second)},
                          b.getContext());
  };
  Value product =
      linalg::ContractOp::create(b, loc, TypeRange{type}, ValueRange{x, y}, ValueRange{init},
                                 b.getAffineMapArrayAttr({map(0, 2), map(1, 2), map(0, 1)}))
          ->getResult(0);
  AffineMap all = b.getMultiDimIdentityMap(2);
  AffineMap only = AffineMap::get(2, 0, {b.getAffineConstantExpr(0)}, b.getContext());
  return elementwise(type, sizes, {product, weightValue(similarity.power)}, {all, only}, loc,
                     [&](ImplicitLocOpBuilder &inner, ValueRange v) -> Value {
                       Value power = widen(inner, v[1], type.getElementType());
                       return arith::MulFOp::create(inner, v[0], math::ExpOp::create(inner, power));
                     });
}

Value Body::transpose(Value x, ArrayRef<int64_t> axes, Location loc) {
  Value empty = tensor::EmptyOp::create(
      b, loc, applyPermutation(tensor::getMixedSizes(b, loc, x), axes), typeOf(x).getElementType());
  return linalg::TransposeOp::create(b, loc, x, empty, axes)->getResult(0);
}

SmallVector<Value> Body::head(Value x, Value attentionMask, const model::Head &head, Value ids) {
  Location loc = locate(head.name);
  if (head.pool == model::Pool::Greatest)
    x = pool(x, greatestPlaces(ids, head.greatestToken, loc), model::Pool::First, loc);
  else if (head.pool)
    x = pool(x, *head.pool == model::Pool::First ? Value() : attentionMask, *head.pool, loc);
  for (const model::Step &part : head.steps)
    x = step(x, part, head.name);
  x = scale(x, head.scale, loc);
  if (head.softcap)
    x = map(x, loc, [&](ImplicitLocOpBuilder &inner, Value element) {
      return softcap(inner, element, *head.softcap);
    });
  if (head.columns.empty())
    return {x};
  SmallVector<Value> results;
  for (size_t i = 0; i < head.columns.size(); ++i) {
    SmallVector<OpFoldResult> offsets = {b.getIndexAttr(0), b.getIndexAttr(0),
                                         b.getIndexAttr(static_cast<int64_t>(i))};
    SmallVector<OpFoldResult> sizes = {batch(), sequence(), b.getIndexAttr(1)};
    SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
    Value column =
        tensor::ExtractSliceOp::create(b, loc, withLastSize(x, 1), x, offsets, sizes, strides);
    results.push_back(tensor::CollapseShapeOp::create(
        b, loc, column, SmallVector<ReassociationIndices>{{0}, {1, 2}}));
  }
  return results;
}
