// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of ONNX Runtime's domain com.microsoft, as its optimiser and its model builder write
// them. Sources: onnxruntime/docs/ContribOperators.md. Refuses packed batches, beams and caches
// that are shared buffers longer than what they hold.
#include "frontend/ONNX/AttentionParts.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

static constexpr const char *kDomain = "com.microsoft";

//===-- Elementwise and products
//-----------------------------------------------------------------===//

/// Gelu, BiasGelu, FastGelu, QuickGelu: of x, or of x plus a bias.
static LogicalResult importGelu(Importer &im) {
  StringRef op = im.node().op;
  Data *x = im.input(0);
  if (!x || !isFloat(x->type))
    return im.invalid("expects floats");
  if (Data *bias = im.input(1))
    x = im.binary("Add", x, bias);
  if (op == "QuickGelu") {
    double alpha = im.real("alpha", 1.702f);
    if (std::abs(alpha - 1.702) > 1e-4)
      return im.unsupported("alpha other than 1.702");
  }
  return im.setResult(im.activate(*x, op == "FastGelu"    ? ActivationKind::GeluTanh
                                      : op == "QuickGelu" ? ActivationKind::GeluQuick
                                                          : ActivationKind::Gelu));
}

static LogicalResult importFusedMatMul(Importer &im) {
  Data *a = im.input(0), *c = im.input(1);
  if (!a || !c || a->type != c->type || a->rank() < 2 || c->rank() < 2)
    return im.invalid("expects two operands of one element type and rank 2 or more");
  if (im.integer("transBatchA", 0) || im.integer("transBatchB", 0))
    return im.unsupported("transposed batches; expects transBatchA and transBatchB 0");
  double alpha = im.real("alpha", 1);
  auto swap = [&](Data *x) {
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, x->rank()));
    std::swap(order[x->rank() - 1], order[x->rank() - 2]);
    return im.transpose(*x, order);
  };
  if (im.integer("transA", 0))
    a = swap(a);
  if (im.integer("transB", 0))
    c = swap(c);
  TRY(auto *result, im.matmul(*a, *c));
  if (alpha != 1)
    result = im.binary("Mul", result, im.makeReal(result->type, alpha));
  return im.setResult(result);
}

//===-- Norms
//------------------------------------------------------------------------------------===//

/// A norm over the last axis, with a weight and perhaps a bias.
static FailureOr<Data *> normalize(Importer &im, Data &x, Data *weight, Data *bias, double eps,
                                   bool isRms) {
  if (!weight || weight->rank() != 1 || x.rank() < 1 || !Symbols::known(x.shape.back()) ||
      weight->shape[0] != x.shape.back() || (bias && bias->shape != weight->shape))
    return im.invalid("expects parameters for each element of a last axis of fixed size");
  if (!isFloat(x.type) || !isFloat(weight->type) || (bias && !isFloat(bias->type)))
    return im.invalid("expects parameters that are floats");
  Value input = im.value(x), scale = im.value(*weight), shift = bias ? im.value(*bias) : Value();
  FloatAttr epsilon = im.b.getF64FloatAttr(eps);
  Value result;
  if (isRms)
    result = RmsNormOp::create(im.b, im.typeOf(x), input, scale, epsilon, im.b.getF64FloatAttr(0));
  else
    result = LayerNormOp::create(im.b, im.typeOf(x), input, scale, shift, epsilon);
  return im.make(x.type, x.shape, result);
}

static LogicalResult importSkipNorm(Importer &im) {
  bool isRms = im.node().op == "SkipSimplifiedLayerNormalization";
  Data *x = im.input(0), *skip = im.input(1), *weight = im.input(2);
  Data *shift = isRms ? nullptr : im.input(3), *bias = im.input(isRms ? 3 : 4);
  if (!x || !skip || !isFloat(x->type))
    return im.invalid("expects floats and what is added to them");
  double eps = im.real("epsilon", 1e-12f);
  if (im.hasOutput(1) || im.hasOutput(2))
    return im.unsupported("mean and inverse deviation as results");
  Data *sum = im.binary("Add", x, skip);
  if (bias)
    sum = im.binary("Add", sum, bias);
  TRY(auto *result, normalize(im, *sum, weight, shift, eps, isRms));
  im.set(0, result);
  im.set(3, sum);
  return success();
}

/// Rows of a table for ids.
static FailureOr<Data *> rowsOf(Importer &im, Data *ids, Data *table) {
  if (!ids || !table || isFloat(ids->type) || table->rank() != 2 || !isFloat(table->type) ||
      !table->isStatic() || table->shape[0] == im.number(0))
    return im.invalid("expects integer ids and a table of fixed size with rows");
  SmallVector<Sym> shape(ids->shape);
  shape.push_back(table->shape[1]);
  if (ids->type != DataType::Int32)
    ids = im.cast(*ids, DataType::Int64);
  Value numbers = im.value(*ids), rows = im.value(*table);
  return im.make(table->type, shape,
                 EmbeddingOp::create(im.b, im.typeOf(table->type, shape), numbers, rows));
}

static LogicalResult importEmbedNorm(Importer &im) {
  Data *ids = im.input(0), *segments = im.input(1), *words = im.input(2), *positions = im.input(3),
       *segmentTable = im.input(4), *weight = im.input(5), *bias = im.input(6), *mask = im.input(7),
       *places = im.input(8);
  double eps = im.real("epsilon", 1e-12f);
  im.integer("mask_index_type", 0);
  if (im.hasOutput(1) && mask)
    return im.unsupported("a mask index as a result");
  if (!ids || ids->rank() != 2 || !positions || positions->rank() != 2)
    return im.invalid("expects ids of rank 2 and a table of positions");
  TRY(auto *sum, rowsOf(im, ids, words));
  Data *place = nullptr;
  if (places) {
    TRY(place, rowsOf(im, places, positions));
  } else {
    TRY(place, im.slice(*positions, 0, im.number(0), ids->shape[1]));
  }
  sum = im.binary("Add", sum, place);
  if (segments && segmentTable) {
    TRY(auto *kind, rowsOf(im, segments, segmentTable));
    sum = im.binary("Add", sum, kind);
  }
  TRY(auto *result, normalize(im, *sum, weight, bias, eps, false));
  im.set(0, result);
  if (im.hasOutput(1))
    im.set(1, im.full(DataType::Int32, {ids->shape[0]}, im.integerElement(0)));
  im.set(2, sum);
  return success();
}

//===-- Attention
//----------------------------------------------------------------------------------===//

/// A mask of ints: one for each key, for each query and key, or lengths.
static LogicalResult readMask(Importer &im, Data *mask, AttentionParts &parts) {
  if (!mask)
    return success();
  if (isFloat(mask->type))
    return im.invalid("expects a mask of integers, got " + nameOf(mask->type));
  if (mask->rank() == 1) {
    if (mask->shape[0] != parts.query->shape[0])
      return im.unsupported(
          "masks of begins and ends; expects one length for each row, or a number "
          "for each key");
    parts.lengths = mask;
    parts.endsAtLengths = false;
    return success();
  }
  Data *keep = im.cast(*mask, DataType::Bool);
  if (mask->rank() == 2)
    keep = im.unsqueeze(*keep, {1, 2});
  else if (mask->rank() == 3)
    keep = im.unsqueeze(*keep, {1});
  else if (mask->rank() == 4 && Symbols::known(mask->shape[1]) != 1)
    return im.unsupported("masks of rank 4 with several heads");
  // One of rank 4 covers the longest sequence there may be.
  if (mask->rank() == 4) {
    Sym queries = parts.query->shape[1], keys = parts.key->shape[1];
    TRY(keep, im.slice(*keep, 2, im.symbols.sub(keys, queries), queries));
    TRY(keep, im.slice(*keep, 3, im.number(0), keys));
  }
  parts.keep = keep;
  return success();
}

/// Part `i` of those that are stacked along `axis`, without that axis.
static FailureOr<Data *> partOf(Importer &im, Data &stack, int64_t axis, int64_t i) {
  TRY(auto *part, im.slice(stack, axis, im.number(i), im.number(1)));
  return im.squeeze(*part, {axis});
}

/// Keys and values as caches of later calls, [B, H, L, D].
struct Present {
  Data *key = nullptr, *value = nullptr;
};

/// Puts what was before keys and values, and sets the attention as output 0, [B, S, H * D].
static FailureOr<Present> finish(Importer &im, AttentionParts &parts, Data *pastKey,
                                 Data *pastValue, Data *mask, Data *bias) {
  Present present;
  TRY(present.key, joinPast(im, pastKey, parts.key));
  TRY(present.value, joinPast(im, pastValue, parts.value));
  if (failed(readMask(im, mask, parts)))
    return failure();
  parts.bias = bias;
  TRY(AttentionResults results, attend(im, parts, false));
  TRY(auto *output, mergeHeads(im, *results.output));
  im.set(0, output);
  return present;
}

/// The attributes that all of them have.
static void readCommon(Importer &im, AttentionParts &parts) {
  parts.scale = im.real("scale", 0);
  parts.isCausal = im.integer("unidirectional", 0);
  im.real("mask_filter_value", -10000); // of masked scores: their keys have no weight
}

static LogicalResult importAttention(Importer &im) {
  Data *x = im.input(0), *weight = im.input(1), *bias = im.input(2), *mask = im.input(3),
       *past = im.input(4), *extra = im.input(5);
  int64_t heads = im.integer("num_heads", 0);
  if (!x || !weight || x->rank() != 3 || weight->rank() != 2)
    return im.invalid("expects input [B, S, C] and a weight [C, 3 H]");
  if (im.integer("do_rotary", 0) || im.integer("past_present_share_buffer", 0) || im.input(6))
    return im.unsupported("rotary positions and shared buffers; expects do_rotary and "
                          "past_present_share_buffer 0");
  im.integer("rotary_embedding_dim", 0);
  AttentionParts parts;
  readCommon(im, parts);
  std::optional<int64_t> width = Symbols::known(weight->shape[1]);
  if (!width)
    return im.unsupported("a weight of open size");
  SmallVector<int64_t> sizes =
      im.integers("qkv_hidden_sizes").value_or(SmallVector<int64_t>(3, *width / 3));
  if (sizes.size() != 3 || sizes[0] <= 0 || sizes[2] <= 0 || sizes[0] != sizes[1] ||
      sizes[0] + sizes[1] + sizes[2] != *width)
    return im.invalid("expects qkv_hidden_sizes whose sum is the weight's width");
  TRY(auto *all, im.matmul(*x, *weight));
  if (bias)
    all = im.binary("Add", all, bias);
  int64_t first = 0;
  for (auto [part, size] : llvm::zip(std::array{&parts.query, &parts.key, &parts.value}, sizes)) {
    TRY(auto *range, im.slice(*all, 2, im.number(first), im.number(size)));
    TRY(*part, splitHeads(im, *range, heads));
    first += size;
  }
  Data *pastKey = nullptr, *pastValue = nullptr;
  if (past) {
    if (past->rank() != 5)
      return im.invalid("expects a past of rank 5, got " + Twine(past->rank()));
    parts.past = past->shape[3];
    TRY(pastKey, partOf(im, *past, 0, 0));
    TRY(pastValue, partOf(im, *past, 0, 1));
  }
  TRY(Present present, finish(im, parts, pastKey, pastValue, mask, extra));
  if (im.hasOutput(1)) {
    TRY(auto *both,
        im.concat({im.unsqueeze(*present.key, {0}), im.unsqueeze(*present.value, {0})}, 0));
    im.set(1, both);
  }
  return success();
}

static LogicalResult importMultiHead(Importer &im) {
  Data *query = im.input(0), *key = im.input(1), *value = im.input(2), *bias = im.input(3),
       *mask = im.input(4), *extra = im.input(5), *pastKey = im.input(6), *pastValue = im.input(7);
  int64_t heads = im.integer("num_heads", 0);
  if (im.input(8) || im.input(9))
    return im.unsupported("shared buffers and beams");
  AttentionParts parts;
  readCommon(im, parts);
  if (!query || heads <= 0)
    return im.invalid("expects queries and a number of heads");
  if (query->rank() == 5 && !key) {
    // [B, S, N, 3, D]
    TRY(parts.query, partOf(im, *query, 3, 0));
    TRY(parts.key, partOf(im, *query, 3, 1));
    TRY(parts.value, partOf(im, *query, 3, 2));
    if (bias)
      return im.unsupported("a bias of packed queries, keys and values");
  } else {
    if (query->rank() != 3 || !key)
      return im.unsupported("queries of rank " + Twine(query->rank()) +
                            "; expects [B, S, H] with keys and values, or [B, S, N, 3, D]");
    SmallVector<Data *> biases(3, nullptr);
    if (bias) {
      Sym first = im.number(0);
      for (auto [i, source] : llvm::enumerate(std::array{query, key, value})) {
        Sym size = source && source->rank() == 3 ? source->shape[2] : query->shape[2];
        TRY(biases[i], im.slice(*bias, 0, first, size));
        first = im.symbols.add(first, size);
      }
    }
    auto part = [&](Data *x, size_t i) -> FailureOr<Data *> {
      if (x->rank() == 4) // [B, N, L, D]: of cross attention, computed before
        return im.transpose(*x, {0, 2, 1, 3});
      if (x->rank() != 3)
        return im.unsupported("keys of rank " + Twine(x->rank()));
      if (biases[i])
        x = im.binary("Add", x, biases[i]);
      return splitHeads(im, *x, heads);
    };
    TRY(parts.query, part(query, 0));
    if (key->rank() == 5 && !value) {
      // [B, L, N, 2, D]
      TRY(parts.key, partOf(im, *key, 3, 0));
      TRY(parts.value, partOf(im, *key, 3, 1));
    } else if (value) {
      TRY(parts.key, part(key, 1));
      TRY(parts.value, part(value, 2));
    } else {
      return im.invalid("expects values");
    }
  }
  if (pastKey && pastValue)
    parts.past = pastKey->shape.size() == 4 ? pastKey->shape[2] : nullptr;
  TRY(Present present, finish(im, parts, pastKey, pastValue, mask, extra));
  im.set(1, present.key);
  im.set(2, present.value);
  if (im.hasOutput(3)) {
    TRY(auto *qk, scores(im, parts, 0));
    im.set(3, qk);
  }
  return success();
}

/// first[b] + i as [B|1, S].
static Data *consecutive(Importer &im, Data &first, Sym count) {
  Data *index = im.places({count}, 0);
  return im.binary("Add", &first, im.unsqueeze(*index, {0}));
}

static LogicalResult importGroupQuery(Importer &im) {
  Data *query = im.input(0), *key = im.input(1), *value = im.input(2), *pastKey = im.input(3),
       *pastValue = im.input(4), *lengths = im.input(5), *cosine = im.input(7), *sine = im.input(8),
       *places = im.input(9), *extra = im.input(10), *sinks = im.input(11);
  int64_t heads = im.integer("num_heads", 0), keyHeads = im.integer("kv_num_heads", 0);
  bool rotates = im.integer("do_rotary", 0), interleaved = im.integer("rotary_interleaved", 0);
  int64_t window = im.integer("local_window_size", -1);
  AttentionParts parts;
  parts.scale = im.real("scale", 0);
  parts.softcap = im.real("softcap", 0);
  parts.isCausal = true;
  if (im.integer("smooth_softmax", 0) || im.integer("qk_output", 0) ||
      im.text("k_quant_type", "NONE") != "NONE" || im.text("v_quant_type", "NONE") != "NONE")
    return im.unsupported("smooth softmax, scores as results and quantised caches");
  im.integer("kv_cache_bit_width", 0);
  if (!query || query->rank() != 3 || !lengths || heads <= 0 || keyHeads <= 0)
    return im.invalid("expects queries [B, S, H], seqlens_k and numbers of heads");
  if (!key && !value) {
    // Packed: queries, then keys, then values.
    std::optional<int64_t> width = Symbols::known(query->shape[2]);
    if (!width || *width % (heads + 2 * keyHeads))
      return im.invalid("expects a packed width that the numbers of heads divide");
    int64_t size = *width / (heads + 2 * keyHeads);
    Data *packed = query;
    TRY(query, im.slice(*packed, 2, im.number(0), im.number(heads * size)));
    TRY(key, im.slice(*packed, 2, im.number(heads * size), im.number(keyHeads * size)));
    TRY(value,
        im.slice(*packed, 2, im.number((heads + keyHeads) * size), im.number(keyHeads * size)));
  }
  if (!key || !value)
    return im.invalid("expects keys and values, or neither");
  TRY(parts.query, splitHeads(im, *query, heads));
  TRY(parts.key, splitHeads(im, *key, keyHeads));
  TRY(parts.value, splitHeads(im, *value, keyHeads));
  // seqlens_k is the number of keys less one, of which the last S are new.
  Data *one = im.makeInteger(DataType::Int64, 1);
  Data *total = im.cast(*lengths, DataType::Int64);
  if (total->rank() == 2)
    total = im.squeeze(*total, {1});
  total = im.binary("Add", total, one);
  bool hasPast =
      pastKey && pastValue && pastKey->rank() == 4 && Symbols::known(pastKey->shape[2]) != 0;
  Sym queries = query->shape[1];
  if (rotates) {
    if (!cosine || !sine || cosine->rank() != 2 || sine->rank() != 2)
      return im.invalid("expects tables of cosines and sines");
    Data *positions = places;
    if (!positions) {
      Data *first =
          im.makeKnown(DataType::Int64, {im.number(1), im.number(1)}, {im.integerElement(0)});
      if (hasPast) {
        Data *count = im.makeKnown(DataType::Int64, {}, {Element{queries, 0}});
        first = im.unsqueeze(*im.binary("Sub", total, count), {1});
      }
      positions = consecutive(im, *first, queries);
    }
    Data *c = tableRows(im, *cosine, *positions), *s = tableRows(im, *sine, *positions);
    TRY(parts.query, rotate(im, *parts.query, *c, *s, interleaved));
    TRY(parts.key, rotate(im, *parts.key, *c, *s, interleaved));
  }
  parts.lengths = total;
  parts.endsAtLengths = hasPast;
  if (window > 0)
    parts.leftWindow = window - 1;
  parts.sinks = sinks;
  TRY(Present present, finish(im, parts, hasPast ? pastKey : nullptr, hasPast ? pastValue : nullptr,
                              /*mask=*/nullptr, extra));
  im.set(1, present.key);
  im.set(2, present.value);
  return success();
}

static LogicalResult importRotary(Importer &im) {
  Data *x = im.input(0), *positions = im.input(1), *cosine = im.input(2), *sine = im.input(3);
  bool interleaved = im.integer("interleaved", 0);
  int64_t heads = im.integer("num_heads", 0), dim = im.integer("rotary_embedding_dim", 0);
  if (im.integer("is_packed_batching", 0) || im.real("scale", 1) != 1)
    return im.unsupported("packed batches and scales");
  if (!x || !positions || !cosine || !sine || cosine->rank() != 2 || sine->rank() != 2 ||
      (x->rank() != 3 && x->rank() != 4))
    return im.invalid("expects data of rank 3 or 4, positions, and tables of cosines and sines");
  Data *split = nullptr;
  if (x->rank() == 4) {
    split = im.transpose(*x, {0, 2, 1, 3});
  } else {
    // Without a number of heads the tables tell the size of one.
    std::optional<int64_t> width = Symbols::known(x->shape[2]),
                           half = Symbols::known(cosine->shape[1]);
    if (heads == 0 && width && half && *half && dim == 0 && *width % (2 * *half) == 0)
      heads = *width / (2 * *half);
    TRY(split, splitHeads(im, *x, heads));
  }
  positions = im.cast(*positions, DataType::Int64);
  if (positions->rank() == 1) // the first one of all rows
    positions = consecutive(im, *im.unsqueeze(*positions, {0}), split->shape[1]);
  Data *c = tableRows(im, *cosine, *positions), *s = tableRows(im, *sine, *positions);
  TRY(auto *result, rotate(im, *split, *c, *s, interleaved));
  if (x->rank() == 4) {
    result = im.transpose(*result, {0, 2, 1, 3});
  } else {
    TRY(result, im.reshape(*result, x->shape));
  }
  return im.setResult(result);
}

void mlir::fovea::onnx::addMicrosoftOps(OpTable &table) {
  table.add(kDomain, "Attention", 1, importAttention);
  table.add(kDomain, "BiasGelu", 1, importGelu);
  table.add(kDomain, "EmbedLayerNormalization", 1, importEmbedNorm);
  table.add(kDomain, "FastGelu", 1, importGelu);
  table.add(kDomain, "FusedMatMul", 1, importFusedMatMul);
  table.add(kDomain, "Gelu", 1, importGelu);
  table.add(kDomain, "GroupQueryAttention", 1, importGroupQuery);
  table.add(kDomain, "MultiHeadAttention", 1, importMultiHead);
  table.add(kDomain, "QuickGelu", 1, importGelu);
  table.add(kDomain, "RotaryEmbedding", 1, importRotary);
  table.add(kDomain, "SkipLayerNormalization", 1, importSkipNorm);
  table.add(kDomain, "SkipSimplifiedLayerNormalization", 1, importSkipNorm);
}
