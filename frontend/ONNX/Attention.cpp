// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX's own Attention, RotaryEmbedding and TensorScatter (operator sets 23 to 25), and its preview
// of FlexAttention.
#include "frontend/ONNX/AttentionParts.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// A mask whose keys are fewer than there are: the rest is not seen.
static FailureOr<Data *> padMask(Importer &im, Data &mask, Sym keys) {
  std::optional<int64_t> have = Symbols::known(mask.shape.back()), want = Symbols::known(keys);
  Symbols &s = im.symbols;
  Sym missing = s.sub(keys, mask.shape.back());
  if (mask.shape.back() == keys || have == 1 || !have || !want ||
      s.lowerBound(missing).value_or(0) <= 0)
    return &mask;
  SmallVector<Sym> shape(mask.shape);
  shape.back() = missing;
  Element none = mask.type == DataType::Bool
                     ? im.integerElement(0)
                     : Element{nullptr, -std::numeric_limits<double>::infinity()};
  return im.concat({&mask, im.full(mask.type, shape, none)}, mask.rank() - 1);
}

/// Queries, keys and values of equal rank, past ones of rank 4.
static LogicalResult checkOperands(Importer &im) {
  Data *query = im.input(0), *key = im.input(1), *value = im.input(2);
  Data *pastKey = im.input(4), *pastValue = im.input(5);
  if (!query || !key || !value || query->rank() != key->rank() || key->rank() != value->rank() ||
      (query->rank() != 3 && query->rank() != 4))
    return im.invalid("expects queries, keys and values of rank 3 or 4");
  if (!pastKey != !pastValue || (pastKey && (pastKey->rank() != 4 || pastValue->rank() != 4)))
    return im.invalid("expects past keys and past values of rank 4, or neither");
  return success();
}

/// A mask of bools says which keys are kept, one of floats is added.
static LogicalResult takeMask(Importer &im, Data *mask, AttentionParts &parts) {
  if (!mask)
    return success();
  if (mask->rank() == 0)
    return im.invalid("expects a mask of rank 1 to 4, got 0");
  if (mask->type != DataType::Bool && !isFloat(mask->type))
    return im.invalid("expects a mask of bools or floats, got " + nameOf(mask->type));
  TRY(mask, padMask(im, *mask, parts.key->shape[1]));
  (mask->type == DataType::Bool ? parts.keep : parts.bias) = mask;
  return success();
}

/// The fourth result: of one of four places between the products and the weights.
static LogicalResult setScores(Importer &im, const AttentionParts &parts, int64_t mode,
                               Data *weights) {
  if (!im.hasOutput(3))
    return success();
  if (mode < 0 || mode > 3)
    return im.invalid("expects qk_matmul_output_mode from 0 to 3, got " + Twine(mode));
  if (mode != 3) {
    TRY(weights, scores(im, parts, mode));
  }
  im.set(3, weights);
  return success();
}

static LogicalResult importAttention(Importer &im) {
  Data *query = im.input(0), *key = im.input(1), *value = im.input(2), *mask = im.input(3),
       *pastKey = im.input(4), *pastValue = im.input(5), *lengths = im.input(6);
  if (failed(checkOperands(im)))
    return failure();
  bool isFlat = query->rank() == 3;
  int64_t heads = im.integer("q_num_heads", 0), keyHeads = im.integer("kv_num_heads", 0);
  int64_t mode = im.integer("qk_matmul_output_mode", 0);
  im.integer("softmax_precision", 1);
  AttentionParts parts;
  parts.isCausal = im.integer("is_causal", 0);
  parts.softcap = im.real("softcap", 0);
  parts.leftWindow = im.integer("left_window_size", -1);
  parts.rightWindow = im.integer("right_window_size", -1);
  parts.scale = im.real("scale", 0);
  if (im.attribute("scale") && parts.scale == 0)
    return im.unsupported("a scale of zero");
  auto toHeads = [&](Data *x, int64_t count) -> FailureOr<Data *> {
    return isFlat ? splitHeads(im, *x, count) : FailureOr<Data *>(im.transpose(*x, {0, 2, 1, 3}));
  };
  TRY(parts.query, toHeads(query, heads));
  TRY(parts.key, toHeads(key, keyHeads));
  TRY(parts.value, toHeads(value, keyHeads));
  Data *presentKey = nullptr, *presentValue = nullptr;
  if (pastKey)
    parts.past = pastKey->shape[2];
  if (pastKey || im.hasOutput(1) || im.hasOutput(2)) {
    TRY(presentKey, joinPast(im, pastKey, parts.key));
    TRY(presentValue, joinPast(im, pastValue, parts.value));
  }
  if (lengths && (lengths->rank() != 1 || isFloat(lengths->type)))
    return im.invalid("expects integer lengths of rank 1");
  parts.lengths = lengths;
  if (failed(takeMask(im, mask, parts)))
    return failure();
  TRY(AttentionResults results, attend(im, parts, im.hasOutput(3) && mode == 3));
  if (isFlat) {
    TRY(results.output, mergeHeads(im, *results.output));
  } else {
    results.output = im.transpose(*results.output, {0, 2, 1, 3});
  }
  im.set(0, results.output);
  im.set(1, presentKey);
  im.set(2, presentValue);
  return setScores(im, parts, mode, results.weights);
}

/// Attention whose scores and weights pass through subgraphs: written out, for raising to find.
static LogicalResult importFlexAttention(Importer &im) {
  Data *query = im.floats(), *key = im.input(1), *value = im.input(2);
  if (!query)
    return failure();
  if (!key || !value || query->rank() != 4 || key->rank() != 4 || value->rank() != 4 ||
      key->type != query->type || value->type != query->type)
    return im.invalid("expects queries, keys and values of rank 4 and one element type");
  std::optional<int64_t> heads = Symbols::known(query->shape[1]),
                         keyHeads = Symbols::known(key->shape[1]),
                         size = Symbols::known(query->shape[3]);
  if (!heads || !keyHeads || !size || *size < 1 || *keyHeads < 1 || *heads % *keyHeads ||
      value->shape[1] != key->shape[1])
    return im.invalid("expects heads of fixed size, and a number of query heads that the number of "
                      "key heads divides");
  double scale = im.real("scale", 1 / std::sqrt(static_cast<double>(*size)));
  auto type = static_cast<DataType>(im.integer(
      "softmax_precision",
      static_cast<int64_t>(query->type == DataType::Double ? DataType::Double : DataType::Float)));
  if (!isFloat(type))
    return im.unsupported("softmax_precision " + nameOf(type));
  auto repeat = [&](Data *x) -> FailureOr<Data *> {
    if (heads == keyHeads)
      return x;
    SmallVector<Sym> wide(x->shape), joined(x->shape);
    wide.insert(wide.begin() + 2, im.number(*heads / *keyHeads));
    joined[1] = query->shape[1];
    TRY(auto *all, im.expand(*im.unsqueeze(*x, {2}), wide));
    return im.reshape(*all, joined);
  };
  TRY(key, repeat(key));
  TRY(value, repeat(value));
  TRY(auto *scores, im.matmul(*query, *im.transpose(*key, {0, 1, 3, 2})));
  scores = im.cast(*im.binary("Mul", scores, im.makeReal(scores->type, scale)), type);
  auto modify = [&](StringRef name, Data *x) -> FailureOr<Data *> {
    const NodeAttribute *given = im.attribute(name);
    if (!given)
      return x;
    if (!given->graph || given->graph->inputs.size() != 1 || given->graph->outputs.size() != 1)
      return im.invalid("expects a subgraph " + name + " of one input and one output");
    TRY(SmallVector<Data *> results, im.inlineGraph(*given->graph, {x}));
    if (results.front()->isPoisoned)
      return failure(); // the node inside has said why
    if (results.front()->type != x->type || results.front()->shape != x->shape)
      return im.invalid("expects a subgraph " + name + " that keeps type and shape");
    return results.front();
  };
  TRY(scores, modify("score_mod", scores));
  TRY(auto *weights, modify("prob_mod", im.softmax(*scores, 3)));
  return im.setResult(im.matmul(*im.cast(*weights, value->type), *value));
}

static LogicalResult importRotary(Importer &im) {
  Data *x = im.input(0), *cosine = im.input(1), *sine = im.input(2), *positions = im.input(3);
  if (!x || !cosine || !sine || (x->rank() != 3 && x->rank() != 4))
    return im.invalid("expects data of rank 3 or 4, cosines and sines");
  bool interleaved = im.integer("interleaved", 0);
  int64_t heads = im.integer("num_heads", 0), dim = im.integer("rotary_embedding_dim", 0);
  bool isFlat = x->rank() == 3;
  Data *split = nullptr;
  if (isFlat) {
    TRY(split, splitHeads(im, *x, heads));
  } else {
    split = im.transpose(*x, {0, 2, 1, 3});
  }
  if (positions) {
    // Rows of the tables, one for each position.
    if (cosine->rank() != 2 || sine->rank() != 2 || isFloat(positions->type))
      return im.invalid("expects tables of rank 2 and integer positions");
    cosine = tableRows(im, *cosine, *positions);
    sine = tableRows(im, *sine, *positions);
  }
  if (cosine->rank() != 3 || sine->rank() != 3)
    return im.invalid("expects cosines and sines of rank 3, got " + Twine(cosine->rank()) +
                      " and " + Twine(sine->rank()));
  if (dim > 0) {
    if (dim % 2)
      return im.invalid("expects an even rotary_embedding_dim, got " + Twine(dim));
    TRY(cosine, im.slice(*cosine, 2, im.number(0), im.number(dim / 2)));
    TRY(sine, im.slice(*sine, 2, im.number(0), im.number(dim / 2)));
  }
  TRY(auto *result, rotate(im, *split, *cosine, *sine, interleaved));
  if (isFlat) {
    TRY(result, im.reshape(*result, x->shape));
  } else {
    result = im.transpose(*result, {0, 2, 1, 3});
  }
  return im.setResult(result);
}

/// present[.., write[b] + i, ..] = update[.., i, ..]; circular ones wrap around.
static LogicalResult importTensorScatter(Importer &im) {
  Data *past = im.input(0), *update = im.input(1), *write = im.input(2);
  std::string mode = im.text("mode", "linear");
  if (!past || !update || past->rank() != update->rank() || past->type != update->type)
    return im.invalid("expects a cache and an update of one rank and element type");
  if (write && (write->rank() != 1 || isFloat(write->type)))
    return im.invalid("expects integer places of rank 1");
  TRY(int64_t axis, im.axis(im.integer("axis", -2), past->rank()));
  if (axis == 0 || (mode != "linear" && mode != "circular"))
    return im.invalid("expects an axis behind the batch, and mode linear or circular");
  Value old = im.value(*past), fresh = im.value(*update),
        first = write ? im.value(*write) : Value();
  Value size = im.symbols.materialize(past->shape[axis]),
        count = im.symbols.materialize(update->shape[axis]);
  im.set(0, im.generate(past->type, past->shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> at) {
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value place = at[axis];
    if (first) {
      Value start = tensor::ExtractOp::create(b, first, ValueRange{at[0]});
      place =
          arith::SubIOp::create(b, place, arith::IndexCastOp::create(b, b.getIndexType(), start));
    }
    if (mode == "circular") {
      Value rest = arith::RemSIOp::create(b, place, size);
      place = arith::RemSIOp::create(b, arith::AddIOp::create(b, rest, size), size);
    }
    Value isBehind = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, place, zero);
    Value isBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, count);
    Value isNew = arith::AndIOp::create(b, isBehind, isBefore);
    Value last = arith::SubIOp::create(b, count, one);
    SmallVector<Value> from(at);
    from[axis] = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, place, last), zero);
    Value newElement = tensor::ExtractOp::create(b, fresh, from);
    Value oldElement = tensor::ExtractOp::create(b, old, at);
    return arith::SelectOp::create(b, isNew, newElement, oldElement).getResult();
  }));
  return success();
}

void mlir::fovea::onnx::addAttentionOps(OpTable &table) {
  table.add("Attention", 23, importAttention);
  table.add("ai.onnx.preview", "FlexAttention", 1, importFlexAttention);
  table.add("RotaryEmbedding", 23, importRotary);
  table.add("TensorScatter", 24, importTensorScatter);
}
