// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `fovea.attention` from the parts that ONNX's operators name. Predicates become mask ops, additive
// biases and soft caps the score region. Refuses open numbers of heads and head sizes.
#include "frontend/ONNX/AttentionParts.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

FailureOr<Data *> mlir::fovea::onnx::splitHeads(Importer &im, Data &x, int64_t heads) {
  std::optional<int64_t> width = Symbols::known(x.shape.back());
  if (heads <= 0 || !width || *width % heads)
    return im.invalid("expects a number of heads that divides the last axis, got " + Twine(heads));
  return im.reshape(x, {x.shape[0], x.shape[1], im.number(heads), im.number(*width / heads)});
}

FailureOr<Data *> mlir::fovea::onnx::mergeHeads(Importer &im, Data &x) {
  return im.reshape(x, {x.shape[0], x.shape[1], im.symbols.mul(x.shape[2], x.shape[3])});
}

namespace {

/// Builds one attention.
class AttentionBuilder {
public:
  AttentionBuilder(Importer &im, const AttentionParts &parts) : im(im), parts(parts), b(im.b) {
    batch = parts.query->shape[0];
    queries = parts.query->shape[1];
    keys = parts.key->shape[1];
    scale = parts.scale;
  }

  LogicalResult check() {
    for (Data *part : {parts.query, parts.key, parts.value})
      if (part->rank() != 4 || !isFloat(part->type) || !Symbols::known(part->shape[2]) ||
          !Symbols::known(part->shape[3]))
        return im.unsupported("attention with an open number of heads or size of a head; expects "
                              "floats of fixed ones");
    int64_t heads = *Symbols::known(parts.query->shape[2]),
            keyHeads = *Symbols::known(parts.key->shape[2]);
    if (keyHeads == 0 || heads == 0 || heads % keyHeads ||
        parts.value->shape[2] != parts.key->shape[2])
      return im.invalid(
          "expects key and value heads of one number that divides the queries', got " +
          Twine(keyHeads) + " of " + Twine(heads));
    if (parts.query->shape[3] != parts.key->shape[3])
      return im.invalid("expects queries and keys of one head size");
    if (failed(checkSizes()))
      return failure();
    if (scale == 0)
      scale = 1 / std::sqrt(static_cast<double>(*Symbols::known(parts.query->shape[3])));
    return success();
  }

  FailureOr<AttentionResults> build(bool wantsWeights) {
    if (failed(check()) || failed(makePositions()) || failed(makeMask()))
      return failure();
    SmallVector<Value> operands;
    SmallVector<AffineMap> maps;
    if (parts.bias && failed(addBias(operands, maps)))
      return failure();
    SmallVector<Sym> shape(parts.query->shape), weightShape{batch, shape[2], queries, keys};
    shape[3] = parts.value->shape[3];
    DataType type = parts.query->type;
    Value query = im.value(*parts.query), key = im.value(*parts.key),
          value = im.value(*parts.value), sinks = parts.sinks ? im.value(*parts.sinks) : Value();
    auto op = AttentionOp::create(
        b, im.typeOf(type, shape), Type(), wantsWeights ? im.typeOf(type, weightShape) : Type(),
        query, key, value, queryPositions, Value(), mask, sinks, /*additive=*/Value(),
        /*key_scales=*/Value(), /*value_scales=*/Value(), operands, ValueRange(),
        b.getAffineMapArrayAttr(maps), b.getAffineMapArrayAttr({}), APFloat(scale), Fill::Zero);
    if (parts.bias || parts.softcap != 0)
      buildScore(op);
    AttentionResults results;
    results.output = im.make(type, shape, op.getOutput());
    if (wantsWeights)
      results.weights = im.make(type, weightShape, op.getWeights());
    return results;
  }

  FailureOr<Data *> buildScores(int64_t stage) {
    if (failed(check()))
      return failure();
    // Heads of queries in groups that share a key head: [B, Sq, Hk, G, D].
    Sym keyHeads = parts.key->shape[2], heads = parts.query->shape[2];
    Sym group = im.symbols.floorDiv(heads, keyHeads);
    DataType type = parts.query->type;
    TRY(auto *grouped,
        im.reshape(*parts.query, {batch, queries, keyHeads, group, parts.query->shape[3]}));
    TRY(auto *result, im.contract(*grouped, "bihgd", *parts.key, "bjhd", "bhgij", type));
    TRY(result, im.reshape(*result, {batch, heads, queries, keys}));
    result = im.binary("Mul", result, im.makeReal(type, scale));
    if (stage >= 1 && parts.softcap != 0) {
      Data *cap = im.makeReal(type, parts.softcap);
      Data *small = im.binary("Div", result, cap);
      TRY(small, im.elementwise(
                     type, {small},
                     [](ImplicitLocOpBuilder &builder, ValueRange v) {
                       return math::TanhOp::create(builder, v[0]).getResult();
                     },
                     true));
      result = im.binary("Mul", small, cap);
    }
    if (stage < 2)
      return result;
    if (parts.bias)
      result = im.binary("Add", result, im.cast(*parts.bias, type));
    if (failed(makePositions()) || failed(makeMask()))
      return failure();
    if (!mask)
      return result;
    SmallVector<Sym> shape{batch, heads, queries, keys};
    RankedTensorType bits = im.typeOf(DataType::Bool, shape);
    Value seen =
        MaskMaterializeOp::create(b, bits, mask, im.symbols.open(shape), queryPositions, Value());
    Data *none = im.makeReal(type, -std::numeric_limits<double>::infinity());
    return im.selectData(im.make(DataType::Bool, shape, seen), result, none);
  }

private:
  /// Open sizes are compared when the artifact is called.
  LogicalResult checkSizes() {
    auto differ = [](Sym a, Sym b) {
      return Symbols::known(a) && Symbols::known(b) && Symbols::known(a) != Symbols::known(b);
    };
    // One of the three may tell what the others leave open.
    Sym batch = this->batch;
    for (Data *part : {parts.key, parts.value})
      if (!Symbols::known(batch))
        batch = part->shape[0];
    for (Data *part : {parts.key, parts.value})
      if (differ(part->shape[0], batch) || differ(part->shape[1], keys))
        return im.invalid("expects queries, keys and values of one batch, and as many values as "
                          "keys, got queries " +
                          im.describe(parts.query->shape) + ", keys " +
                          im.describe(parts.key->shape) + " and values " +
                          im.describe(parts.value->shape));
    SmallVector<Sym> scores{batch, parts.query->shape[2], queries, keys};
    for (Data *mask : {parts.keep, parts.bias}) {
      ArrayRef<Sym> shape = mask ? ArrayRef<Sym>(mask->shape) : ArrayRef<Sym>();
      if (mask && (shape.empty() || shape.size() > 4))
        return im.invalid("expects a mask or bias of rank 1 to 4, got " + Twine(shape.size()));
      for (auto [size, wanted] : llvm::zip(shape, ArrayRef(scores).take_back(shape.size())))
        if (Symbols::known(size) != 1 && differ(size, wanted))
          return im.invalid("expects a mask or bias for scores " + im.describe(scores) + ", got " +
                            im.describe(shape));
    }
    if (parts.lengths && Symbols::known(parts.lengths->shape[0]) != 1 &&
        differ(parts.lengths->shape[0], batch))
      return im.invalid("expects one length, or one for each of " + im.describe(batch) +
                        " sequences, got " + im.describe(parts.lengths->shape));
    return success();
  }

  bool hasWindow() const { return parts.leftWindow >= 0 || parts.rightWindow >= 0; }

  /// Causal queries behind keys of the past have positions of their own.
  LogicalResult makePositions() {
    if (!parts.isCausal && !hasWindow())
      return success();
    if (parts.lengths && parts.endsAtLengths) {
      // The last of the keys that count: i + length - Sq.
      Data *lengths = im.unsqueeze(*im.cast(*parts.lengths, DataType::Int64), {1});
      Data *count = im.makeKnown(DataType::Int64, {}, {Element{queries, 0}});
      Data *first = im.binary("Sub", lengths, count);
      Data *index = im.places({queries}, 0);
      queryPositions = im.value(*im.cast(*im.binary("Add", first, index), DataType::Int32));
    } else if (parts.past && Symbols::known(parts.past) != 0) {
      Value count = Symbols::known(queries) ? Value() : im.symbols.materialize(queries);
      queryPositions = PositionsOp::create(b, im.typeOf(DataType::Int32, {im.number(1), queries}),
                                           im.symbols.materialize(parts.past), count);
    }
    return success();
  }

  LogicalResult makeMask() {
    MaskType type = MaskType::get(b.getContext());
    SmallVector<Value> masks;
    if (parts.isCausal)
      masks.push_back(MaskCausalOp::create(b, type));
    if (hasWindow()) {
      auto bound = [&](int64_t size) {
        return size < 0 ? IntegerAttr() : b.getI64IntegerAttr(std::min<int64_t>(size, INT32_MAX));
      };
      masks.push_back(
          MaskWindowOp::create(b, type, bound(parts.leftWindow), bound(parts.rightWindow)));
    }
    if (parts.lengths)
      masks.push_back(
          MaskLengthOp::create(b, type, im.value(*im.cast(*parts.lengths, DataType::Int32))));
    if (parts.keep) {
      Data *keep = parts.keep;
      if (keep->type == DataType::Bool)
        masks.push_back(MaskDenseOp::create(b, type, im.value(*keep)));
    }
    if (masks.size() == 1)
      mask = masks.front();
    else if (!masks.empty())
      mask = MaskAndOp::create(b, type, masks);
    return success();
  }

  /// The bias as operands of the score region: axes of one are left out.
  LogicalResult addBias(SmallVectorImpl<Value> &operands, SmallVectorImpl<AffineMap> &maps) {
    Data *bias = parts.bias;
    SmallVector<int64_t> ones;
    SmallVector<AffineExpr> axes;
    SmallVector<Sym> full{batch, parts.query->shape[2], queries, keys};
    for (auto [i, size] : llvm::enumerate(bias->shape)) {
      unsigned axis = 4 - bias->rank() + i;
      if (Symbols::known(size) == 1 && Symbols::known(full[axis]) != 1)
        ones.push_back(i);
      else
        axes.push_back(b.getAffineDimExpr(axis));
    }
    // An operand without axes would be handed over whole.
    if (axes.empty()) {
      ones.erase(ones.begin() + (ones.size() - 1));
      axes.push_back(b.getAffineDimExpr(3));
      TRY(auto *wide, im.expand(*bias, {keys}));
      bias = wide;
    }
    if (!ones.empty())
      bias = im.squeeze(*bias, ones);
    operands.push_back(im.value(*bias));
    maps.push_back(AffineMap::get(4, 0, axes, b.getContext()));
    return success();
  }

  void buildScore(AttentionOp op) {
    FloatType real = op.getAccumulationType();
    Type index = b.getIndexType(), position = b.getI32Type();
    SmallVector<Type> types{real};
    if (parts.bias)
      types.push_back(im.elementType(parts.bias->type));
    types.append({index, index, position, position});
    OpBuilder::InsertionGuard guard(b);
    Block *block =
        b.createBlock(&op.getScore(), {}, types, SmallVector<Location>(types.size(), b.getLoc()));
    Value x = block->getArgument(0);
    if (parts.softcap != 0) {
      Value cap = arith::ConstantOp::create(b, b.getFloatAttr(real, parts.softcap));
      x = arith::DivFOp::create(b, x, cap);
      x = math::TanhOp::create(b, x);
      x = arith::MulFOp::create(b, x, cap);
    }
    if (parts.bias) {
      Value bias = block->getArgument(1);
      unsigned width = bias.getType().getIntOrFloatBitWidth();
      if (width < real.getWidth())
        bias = arith::ExtFOp::create(b, real, bias);
      else if (width > real.getWidth())
        bias = arith::TruncFOp::create(b, real, bias);
      x = arith::AddFOp::create(b, x, bias);
    }
    YieldOp::create(b, x);
  }

  Importer &im;
  const AttentionParts &parts;
  ImplicitLocOpBuilder &b;
  Sym batch, queries, keys;
  double scale;
  Value queryPositions, mask;
};

} // namespace

FailureOr<AttentionResults> mlir::fovea::onnx::attend(Importer &im, const AttentionParts &parts,
                                                      bool wantsWeights) {
  return AttentionBuilder(im, parts).build(wantsWeights);
}

FailureOr<Data *> mlir::fovea::onnx::scores(Importer &im, const AttentionParts &parts,
                                            int64_t stage) {
  return AttentionBuilder(im, parts).buildScores(stage);
}

FailureOr<Data *> mlir::fovea::onnx::joinPast(Importer &im, Data *past, Data *&part) {
  Data *fresh = im.transpose(*part, {0, 2, 1, 3});
  if (!past)
    return fresh;
  if (past->rank() != 4)
    return im.invalid("expects a past of rank 4, got " + Twine(past->rank()));
  TRY(auto *present, im.concat({past, fresh}, 2));
  part = im.transpose(*present, {0, 2, 1, 3});
  return present;
}

Data *mlir::fovea::onnx::tableRows(Importer &im, Data &table, Data &positions) {
  SmallVector<Sym> shape(positions.shape);
  shape.push_back(table.shape[1]);
  Value values = im.value(table), numbers = im.value(positions);
  Value extent = im.symbols.materialize(table.shape[0]);
  return im.generate(table.type, shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
    Value number = tensor::ExtractOp::create(b, numbers, at.drop_back());
    Value index = arith::IndexCastOp::create(b, b.getIndexType(), number);
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value last = arith::SubIOp::create(b, extent, one);
    index = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, index, last), zero);
    return tensor::ExtractOp::create(b, values, ValueRange{index, at.back()}).getResult();
  });
}

FailureOr<Data *> mlir::fovea::onnx::rotate(Importer &im, Data &x, Data &cosine, Data &sine,
                                            bool interleaved) {
  std::optional<int64_t> half = Symbols::known(cosine.shape.back()),
                         width = Symbols::known(x.shape.back());
  if (!half || !width || *half * 2 > *width || cosine.shape.back() != sine.shape.back())
    return im.invalid("expects cosines and sines for at most half of a head's elements");
  int64_t last = x.rank() - 1;
  TRY(auto *turned, im.slice(x, last, im.number(0), im.number(*half * 2)));
  Data *first = nullptr, *second = nullptr;
  SmallVector<Sym> pairs(x.shape.begin(), x.shape.end() - 1);
  if (interleaved) {
    TRY(first, im.slice(*turned, last, im.number(0), im.number(*half), 2));
    TRY(second, im.slice(*turned, last, im.number(1), im.number(*half), 2));
  } else {
    TRY(first, im.slice(*turned, last, im.number(0), im.number(*half)));
    TRY(second, im.slice(*turned, last, im.number(*half), im.number(*half)));
  }
  Data *c = im.unsqueeze(cosine, {2}), *s = im.unsqueeze(sine, {2});
  Data *left = im.binary("Sub", im.binary("Mul", first, c), im.binary("Mul", second, s));
  Data *right = im.binary("Add", im.binary("Mul", second, c), im.binary("Mul", first, s));
  Data *result = nullptr;
  if (interleaved) {
    TRY(result,
        im.concat({im.unsqueeze(*left, {last + 1}), im.unsqueeze(*right, {last + 1})}, last + 1));
    TRY(result, im.reshape(*result, turned->shape));
  } else {
    TRY(result, im.concat({left, right}, last));
  }
  if (*half * 2 == *width)
    return result;
  TRY(auto *rest, im.slice(x, last, im.number(*half * 2), im.number(*width - *half * 2)));
  return im.concat({result, rest}, last);
}
