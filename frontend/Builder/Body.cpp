// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a Transformer, said in the words of the dialect. Nothing is
// merged or folded here: the `import` stage says what the source said.
#include "frontend/Builder/Body.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

RankedTensorType mlir::fovea::getWeightType(MLIRContext *context, const model::Weight &weight) {
  Type element = Float32Type::get(context);
  if (weight.stored.type == model::ElementType::F16)
    element = Float16Type::get(context);
  else if (weight.stored.type == model::ElementType::BF16)
    element = BFloat16Type::get(context);
  return RankedTensorType::get(weight.shape, element);
}

RankedTensorType mlir::fovea::getActivationType(MLIRContext *context, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, Float32Type::get(context));
}

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// `tensor`'s type with another last axis.
static RankedTensorType withLastSize(Value tensor, int64_t size) {
  SmallVector<int64_t> shape(typeOf(tensor).getShape());
  shape.back() = size;
  return typeOf(tensor).clone(shape);
}

std::vector<const model::Weight *> mlir::fovea::getLayerWeights(const model::Layer &layer) {
  std::vector<const model::Weight *> result;
  auto add = [&](const model::Weight &weight, const std::optional<model::Weight> &bias) {
    result.push_back(&weight);
    if (bias)
      result.push_back(&*bias);
  };
  auto addLinear = [&](const std::optional<model::Linear> &linear) {
    if (linear)
      add(linear->weight, linear->bias);
  };
  const model::Attention &attention = layer.attention;
  const model::FeedForward &feedForward = layer.feedForward;
  add(layer.attentionNorm.weight, layer.attentionNorm.bias);
  for (const auto *linear : {&attention.query, &attention.key, &attention.value, &attention.fused})
    addLinear(*linear);
  add(attention.output.weight, attention.output.bias);
  add(layer.feedForwardNorm.weight, layer.feedForwardNorm.bias);
  addLinear(feedForward.gate);
  add(feedForward.up.weight, feedForward.up.bias);
  add(feedForward.down.weight, feedForward.down.bias);
  return result;
}

OpFoldResult Body::size(int64_t axis) {
  if (!sizes[axis])
    sizes[axis] = getSize(b, locate(axis == 0 ? "batch" : "sequence"), input, axis);
  return sizes[axis];
}

Value Body::linear(Value x, const model::Linear &linear) {
  Value weight = weightValue(linear.weight);
  Value bias = linear.bias ? weightValue(*linear.bias) : Value();
  return LinearOp::create(b, locate(linear.name), withLastSize(x, linear.weight.shape[0]), x,
                          weight, bias);
}

Value Body::norm(Value x, const model::Norm &norm) {
  Location loc = locate(norm.name);
  Value weight = weightValue(norm.weight);
  FloatAttr epsilon = b.getF64FloatAttr(norm.epsilon);
  if (norm.kind == model::Norm::Kind::Rms)
    return RmsNormOp::create(b, loc, x.getType(), x, weight, epsilon, b.getF64FloatAttr(0));
  Value bias = norm.bias ? weightValue(*norm.bias) : Value();
  return LayerNormOp::create(b, loc, x.getType(), x, weight, bias, epsilon);
}

static ActivationKind kindOf(model::Activation activation) {
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

Value Body::embed(Value ids, Value tokenTypes, Value first, const model::Embeddings &embeddings) {
  MLIRContext *context = b.getContext();
  int64_t length = typeOf(ids).getDimSize(1), width = embeddings.token.shape[1];
  RankedTensorType type = getActivationType(context, {ShapedType::kDynamic, length, width});
  Location loc = locate(embeddings.token.name);
  Value x = EmbeddingOp::create(b, loc, type, ids, weightValue(embeddings.token));
  if (embeddings.tokenType) {
    Location here = locate(embeddings.tokenType->name);
    Value kinds =
        EmbeddingOp::create(b, here, type, tokenTypes, weightValue(*embeddings.tokenType));
    x = arith::AddFOp::create(b, here, x, kinds);
  }
  if (embeddings.position) {
    Location here = locate(embeddings.position->name);
    Value vectors = PositionLearnedOp::create(
        b, here, getActivationType(context, {1, length, width}), positions(first, here),
        weightValue(*embeddings.position), b.getI64IntegerAttr(0));
    // The same for each batch row.
    Value rows = tensor::CollapseShapeOp::create(b, here, vectors,
                                                 SmallVector<ReassociationIndices>{{0, 1}, {2}});
    Value empty = tensor::EmptyOp::create(
        b, here, SmallVector<OpFoldResult>{batch(), sequence(), b.getIndexAttr(width)},
        type.getElementType());
    Value all =
        linalg::BroadcastOp::create(b, here, rows, empty, ArrayRef<int64_t>{0})->getResult(0);
    x = arith::AddFOp::create(b, here, x, all);
  }
  return embeddings.norm ? norm(x, *embeddings.norm) : x;
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
  return RopeOp::create(b, loc, x.getType(), x, positions, RopePairing::Half, rotary.dim,
                        APFloat(rotary.theta), scalingOf(b, rotary));
}

Value Body::attention(Value x, const model::Attention &attention, LayerContext &context) {
  Location loc = locate(attention.name);
  int64_t heads = attention.heads, kvHeads = attention.keyValueHeads;
  int64_t headSize = attention.headSize;

  Value query, key, value;
  if (attention.fused) {
    Value all = linear(x, *attention.fused);
    Location here = locate(attention.fused->name);
    auto part = [&](int64_t first, int64_t count) -> Value {
      SmallVector<OpFoldResult> offsets = {b.getIndexAttr(0), b.getIndexAttr(0),
                                           b.getIndexAttr(first)};
      SmallVector<OpFoldResult> sizes = {batch(), sequence(), b.getIndexAttr(count)};
      SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
      return tensor::ExtractSliceOp::create(b, here, withLastSize(all, count), all, offsets, sizes,
                                            strides);
    };
    query = part(0, heads * headSize);
    key = part(heads * headSize, kvHeads * headSize);
    value = part((heads + kvHeads) * headSize, kvHeads * headSize);
  } else {
    query = linear(x, *attention.query);
    key = linear(x, *attention.key);
    value = linear(x, *attention.value);
  }
  query = splitHeads(query, heads, headSize, loc);
  key = splitHeads(key, kvHeads, headSize, loc);
  value = splitHeads(value, kvHeads, headSize, loc);

  Value queryPositions, mask;
  if (attention.causal) {
    // The queries stand behind what the cache holds already.
    Value first = CacheLengthOp::create(b, loc, b.getIndexType(), context.keyCache);
    queryPositions = positions(first, loc);
    mask = MaskCausalOp::create(b, loc, MaskType::get(b.getContext()));
  } else {
    // [B,S] -> [B,1,1,S]: one row for all heads and queries. A text that is all
    // padding gives zero, as in the source's default implementation (measured
    // with transformers 5.23 on torch 2.15: its fused attention with a boolean
    // mask gives 0; only its "eager" variant, which adds the type's minimum to
    // the scores and so makes all of them equal, gives the mean of V).
    ArrayRef<int64_t> shape = typeOf(context.attentionMask).getShape();
    Value aligned = tensor::ExpandShapeOp::create(
        b, loc, typeOf(context.attentionMask).clone({shape[0], 1, 1, shape[1]}),
        context.attentionMask, SmallVector<ReassociationIndices>{{0}, {1, 2, 3}},
        SmallVector<OpFoldResult>{batch(), b.getIndexAttr(1), b.getIndexAttr(1), sequence()});
    mask = MaskDenseOp::create(b, loc, MaskType::get(b.getContext()), aligned);
  }
  if (attention.rotary) {
    query = rotate(query, queryPositions, *attention.rotary, loc);
    key = rotate(key, queryPositions, *attention.rotary, loc);
  }
  if (attention.causal) {
    key = context.keyCache = CacheAppendOp::create(b, loc, context.keyCache, key).getResult();
    value = context.valueCache =
        CacheAppendOp::create(b, loc, context.valueCache, value).getResult();
  }
  auto output = AttentionOp::create(
      b, loc, query.getType(), /*lse=*/Type(), /*weights=*/Type(), query, key, value,
      queryPositions, /*key_positions=*/Value(), mask, /*sinks=*/Value(), /*additive=*/Value(),
      /*key_scales=*/Value(), /*value_scales=*/Value(),
      /*score_operands=*/ValueRange(),
      /*probability_operands=*/ValueRange(), b.getAffineMapArrayAttr({}),
      b.getAffineMapArrayAttr({}), APFloat(attention.scale), Fill::Zero);
  return linear(mergeHeads(output.getOutput(), loc), attention.output);
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
  if (layer.placement == model::NormPlacement::Pre) {
    x = add(x, attention(norm(x, layer.attentionNorm), layer.attention, context));
    return add(x, feedForward(norm(x, layer.feedForwardNorm), layer.feedForward));
  }
  x = norm(add(x, attention(x, layer.attention, context)), layer.attentionNorm);
  return norm(add(x, feedForward(x, layer.feedForward)), layer.feedForwardNorm);
}

Value Body::pool(Value x, Value attentionMask, const model::Pooling &pooling) {
  PoolKind kind = pooling.kind == model::Pooling::Kind::Mean  ? PoolKind::Mean
                  : pooling.kind == model::Pooling::Kind::Max ? PoolKind::Max
                                                              : PoolKind::First;
  Location loc = locate(pooling.name);
  RankedTensorType type =
      getActivationType(b.getContext(), {typeOf(x).getDimSize(0), typeOf(x).getDimSize(2)});
  x = PoolOp::create(b, loc, type, kind, x, attentionMask);
  for (const model::Pooling::Step &step : pooling.steps) {
    if (!step.dense) {
      x = L2NormOp::create(b, loc, x.getType(), x, b.getF64FloatAttr(1e-12));
      continue;
    }
    x = linear(x, *step.dense);
    if (step.activation)
      x = activation(x, *step.activation, locate(step.dense->name));
  }
  return x;
}
