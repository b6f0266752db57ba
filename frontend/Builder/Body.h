// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the ops of one function from the parts of a model description.
#ifndef FOVEA_FRONTEND_BUILDER_BODY_H
#define FOVEA_FRONTEND_BUILDER_BODY_H

#include "dialects/Fovea/FoveaDialect.h"
#include "frontend/ModelDescription.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <functional>
#include <vector>

namespace mlir::fovea {

/// The type of a weight as it is used: its shape, its stored element type.
RankedTensorType getWeightType(MLIRContext *context, const ::fovea::Weight &weight);

/// What the IR calls stored elements, whose integers have no signs there; null for those that
/// recipes do not read.
Type getElementType(MLIRContext *context, ::fovea::ElementType type);

/// Of what a quantised matrix is once it is unpacked.
Type getPackedType(MLIRContext *context, const ::fovea::Packing &packing);
/// A weight as its files have it: a tensor, or a matrix that is unpacked.
Attribute getStoredRecipe(MLIRContext *context, const ::fovea::Weight &weight);

/// tensor<?xSx...xf32>, S dynamic or 1 (a decoding step).
RankedTensorType getActivationType(MLIRContext *context, ArrayRef<int64_t> shape);

/// The weights of a layer in the order of its function's arguments. Those that make keys and values
/// of the source are not among them.
std::vector<const ::fovea::Weight *> getLayerWeights(const ::fovea::Layer &layer);

/// The weights that make a layer's keys and values of the source.
std::vector<const ::fovea::Weight *> getSourceWeights(const ::fovea::Layer &layer);

/// What a layer function works on besides its input and its weights.
struct LayerContext {
  Value keyCache, valueCache; ///< Decoders; attendLayer makes them the grown ones.
  Value attentionMask;        ///< Encoders: i64 [B,S], zero for padding.
  /// Decoders with a source: its keys and values, and its mask, i64 [B,T], if it has one.
  Value sourceKeys, sourceValues, sourceMask;
};

class Body {
public:
  /// `input` [B,S,...] has the sizes that activations have. Weights become values
  /// through `weightValue`, module names become locations through `locate`.
  Body(OpBuilder &builder, Value input, std::function<Value(const ::fovea::Weight &)> weightValue,
       std::function<Location(StringRef)> locate)
      : b(builder), input(input), weightValue(std::move(weightValue)), locate(std::move(locate)) {}

  /// x [..., in] -> [..., out]. With `experts` each row by the matrix of its own, as
  /// `fovea.linear` says.
  Value linear(Value x, const ::fovea::Linear &linear, Value experts = {});
  Value norm(Value x, const ::fovea::Norm &norm);
  Value activation(Value x, ::fovea::Activation activation, Location loc);
  /// Token ids i64 [B,S] (and token types likewise, if the model has them) ->
  /// [B,S,H]. `first` is the position of the first token.
  Value embed(Value ids, Value tokenTypes, Value first, const ::fovea::Embeddings &embeddings);
  /// Images f32 [B,C,height,width] -> [B,S,H].
  Value embedPatches(Value pixels, const ::fovea::Embeddings &embeddings);
  /// Samples f32 [B,N] -> [B,S,H].
  Value embedSound(Value samples, const ::fovea::Embeddings &embeddings);
  /// One layer: x [B,S,H] -> [B,S,H].
  Value layer(Value x, const ::fovea::Layer &layer, LayerContext &context);
  /// Appends what is made of the source [B,T,H] to the caches that a layer attends to.
  std::pair<Value, Value> source(Value states, const ::fovea::Attention &attention, Value keyCache,
                                 Value valueCache);
  /// x [B,S,H], i64 mask [B,S] -> [B,E].
  Value pool(Value x, Value attentionMask, const ::fovea::Pooling &pooling);
  /// x [B,S,H] or [B,H] -> the head's result, or one for each of its columns. Pooling asks for the
  /// mask, or for the ids.
  SmallVector<Value> head(Value x, Value attentionMask, const ::fovea::Head &head, Value ids = {});
  /// Vectors [A,E] and [C,E] -> how near each two are, [A,C].
  Value similarity(Value x, Value y, const ::fovea::Similarity &similarity);
  /// [A,C] -> [C,A]
  Value transpose(Value x, ArrayRef<int64_t> axes, Location loc);
  /// B and S, computed once.
  OpFoldResult batch() { return size(0); }
  OpFoldResult sequence() { return size(1); }

private:
  Value attention(Value x, const ::fovea::Attention &attention, LayerContext &context);
  Value latentAttention(Value x, const ::fovea::Attention &attention, LayerContext &context);
  /// x [B,S,heads,in] -> [B,S,heads,out]: of each head by a matrix of its own.
  Value linearByHead(Value x, const ::fovea::Linear &linear);
  Value concatLast(Value first, Value second, Location loc);
  Value sourceAttention(Value x, const ::fovea::Attention &attention, const LayerContext &context);
  /// [B,S,heads,headSize] of a projection's result, normed where there is a norm.
  Value heads(Value all, const std::optional<::fovea::Norm> &norm, int64_t count, int64_t headSize,
              Location loc);
  Value feedForward(Value x, const ::fovea::FeedForward &feedForward);
  /// x [B,S,H] -> [B,S,H].
  Value experts(Value x, const ::fovea::Experts &experts);
  /// What a token meets: numbers of experts i64 [B,S,chosen], and their weights.
  struct Choice {
    Value numbers, weights;
  };
  Choice route(Value x, const ::fovea::Experts &experts);
  /// [..., 2 * width] -> [..., width]
  Value gate(Value gateUp, const ::fovea::Experts &experts, Location loc);
  /// Over the last axis.
  Value softmax(Value x, Location loc);
  /// The elements of the last axis at `places` i32 [K].
  Value gatherLast(Value x, Value places, Location loc);
  /// `count` columns of x from `first` on.
  Value columns(Value x, int64_t first, int64_t count, Location loc);
  /// x [B,S,H] times `column` [B,S,1].
  Value timesColumn(Value x, Value column, Location loc);
  Value pool(Value x, Value keep, ::fovea::Pool pool, Location loc);
  /// Places i32 [B,S] that hold the greatest of the ids [B,S] of their row; with `token` those that
  /// hold it, and all if none does.
  Value greatestPlaces(Value ids, std::optional<int64_t> token, Location loc);
  Value step(Value x, const ::fovea::Step &step, StringRef name);
  /// Keys that a mask i64 [B,T] does not keep are not seen.
  Value denseMask(Value kept, Location loc);
  /// Grows the caches by keys and values, which become all that they hold.
  void append(LayerContext &context, Value &key, Value &value, Location loc);
  /// What the mask allows beyond what a cache does.
  Value mask(const ::fovea::Attention &attention, LayerContext &context, Location loc);
  /// The attention itself. Biases and soft caps are its score region.
  Value attend(Value query, Value key, Value value, Value queryPositions, Value mask,
               const ::fovea::Attention &attention, Location loc);
  void score(AttentionOp op, const ::fovea::Attention &attention);
  /// [B,S,heads * headSize] <-> [B,S,heads,headSize]
  Value splitHeads(Value x, int64_t heads, int64_t headSize, Location loc);
  Value mergeHeads(Value x, Location loc);
  /// Consecutive positions i32 [1,S] from `first`.
  Value positions(Value first, Location loc);
  /// Positions i32 [B,S] that count the ids that are not `uncounted`.
  Value countedPositions(Value ids, int64_t uncounted, Location loc);
  Value sinusoids(Value ids, Value first, const ::fovea::Embeddings &embeddings);
  /// The vectors [B,S,H] of positions.
  Value positionVectors(Value ids, Value first, const ::fovea::Embeddings &embeddings);
  /// Vectors [1,S,H] for each text: [B,S,H].
  Value repeat(Value vectors, Location loc);
  /// The only row of `table` [1,H] added to each token's vector.
  Value addRow(Value x, Value table, Location loc);
  /// `shared` [S,H] or [H] added to each text or token.
  Value addShared(Value x, Value shared, Location loc);
  /// Rows [S,H] for each text: [B,S,H].
  Value ofEachText(Value rows, Location loc);
  /// Samples f32 [B,N] -> [B,T,mels], one row a hop.
  Value logMel(Value samples, const ::fovea::LogMel &mels);
  /// `x` [B,N] with `before` and `behind` elements that are its own ends, turned round.
  Value reflect(Value x, int64_t before, int64_t behind, Location loc);
  /// The windows of `count` places every `stride` of x [B,T,C] or [B,T]: [B,T',count * C].
  Value windows(Value x, int64_t count, int64_t stride, Location loc);
  Value convolution(Value x, const ::fovea::Convolution &convolution);
  /// The greatest along the last axis.
  Value greatest(Value x, Location loc);
  Value rotate(Value x, Value positions, const ::fovea::Rotary &rotary, Location loc);
  /// A function of elements of `inputs`, which `maps` find by the result's loops.
  Value elementwise(RankedTensorType type, ArrayRef<OpFoldResult> sizes, ValueRange inputs,
                    ArrayRef<AffineMap> maps, Location loc,
                    function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> function);
  /// One function of each element.
  Value map(Value x, Location loc, function_ref<Value(ImplicitLocOpBuilder &, Value)> function);
  Value scale(Value x, double factor, Location loc);
  /// What `combine` makes of the elements along the last axis, from `first` on. B is the only open
  /// size of the others.
  Value
  reduceLast(Value x, TypedAttr first, Location loc,
             function_ref<Value(ImplicitLocOpBuilder &, Value element, Value before)> combine);

  OpFoldResult size(int64_t axis);

  static RankedTensorType typeOf(Value tensor);
  /// `tensor`'s type with another last axis.
  static RankedTensorType withLastSize(Value tensor, int64_t size);
  static ActivationKind kindOf(::fovea::Activation activation);
  /// `factor` of the element's type.
  static Value constant(ImplicitLocOpBuilder &b, Value element, double factor);
  /// cap * tanh(x / cap)
  static Value softcap(ImplicitLocOpBuilder &b, Value x, double cap);

  OpBuilder &b;
  Value input;
  OpFoldResult sizes[2];
  std::function<Value(const ::fovea::Weight &)> weightValue;
  std::function<Location(StringRef)> locate;
};

} // namespace mlir::fovea

#endif // FOVEA_FRONTEND_BUILDER_BODY_H
