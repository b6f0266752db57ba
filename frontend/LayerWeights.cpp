// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights of linear layers, norms and heads by the names that checkpoints
// give them. A head that is tied to the tokens must not differ from them.
#include "frontend/WeightTable.h"

#include <cstring>

using namespace fovea;

Linear WeightTable::linear(const std::string &name, int64_t out, int64_t in, bool bias,
                           bool transposed) {
  Linear result;
  result.name = chosenPrefix + name;
  result.weight = weight(name + ".weight", {out, in}, transposed);
  orderInputs(result);
  if (bias)
    result.bias = weight(name + ".bias", {out});
  return result;
}

void WeightTable::orderInputs(Linear &linear) {
  if (!linear.weight.packing || !linear.weight.packing->order)
    return;
  Weight &order = linear.inputOrder.emplace();
  order.stored = *linear.weight.packing->order;
  order.name = order.stored.name;
  order.shape = order.stored.shape;
  order.asGroupOrder = true;
}

Weight WeightTable::rowsOf(const std::string &name, const std::string &use, const RowGroups &rows,
                           std::vector<int64_t> inner, bool transposed) {
  std::vector<int64_t> shape = {rows.groups * rows.size};
  shape.insert(shape.end(), inner.begin(), inner.end());
  Weight result = weight(name, shape, transposed);
  result.name = chosenPrefix + use;
  result.shape.front() = rows.groups * rows.count;
  result.rows = rows;
  return result;
}

Linear WeightTable::linearPart(const std::string &name, const std::string &part,
                               const RowGroups &rows, int64_t in, bool bias, bool transposed) {
  std::string use = name + "." + part;
  Linear result;
  result.name = chosenPrefix + use;
  result.weight = rowsOf(name + ".weight", use + ".weight", rows, {in}, transposed);
  orderInputs(result);
  if (bias)
    result.bias = rowsOf(name + ".bias", use + ".bias", rows, {}, false);
  return result;
}

Weight WeightTable::ordered(const std::string &name, std::vector<int64_t> stored,
                            const AxisOrder &order, std::vector<int64_t> shape) {
  Weight result = weight(name, std::move(stored));
  result.shape = std::move(shape);
  if (!order.shape.empty())
    result.order = order;
  if (result.packing && result.packing->kind != Packing::Kind::Float8)
    report(
        result.name, result.stored.name,
        "expects a matrix of floats, whose elements are put in another order, got quantised ones");
  return result;
}

bool Packing::agrees(const Packing &other) const {
  bool areFloats = kind == Kind::Float8;
  return areFloats == (other.kind == Kind::Float8) &&
         (areFloats || (bits == other.bits && group == other.group && !zeros == !other.zeros &&
                        (kind == Kind::Mxfp4) == (other.kind == Kind::Mxfp4)));
}

/// Whether two weights can be one.
static bool haveOneType(const Weight &a, const Weight &b) {
  if (a.packing || b.packing)
    return a.packing && b.packing && a.packing->agrees(*b.packing);
  return a.stored.type == b.stored.type;
}

Weight WeightTable::stackOf(const std::string &name, std::vector<Weight> parts) {
  Weight result;
  result.name = chosenPrefix + name;
  result.shape = parts.front().shape;
  result.shape.front() = 0;
  for (const Weight &part : parts) {
    result.shape.front() += part.shape.front();
    bool isStored = !part.stored.name.empty() && !parts.front().stored.name.empty();
    if (!isStored || haveOneType(part, parts.front()))
      continue;
    bool isPacked = part.packing || parts.front().packing;
    addError(problems, source->name(), "tensor " + quote(part.stored.name),
             isPacked ? "expects to be quantised as " + quote(parts.front().stored.name) +
                            ": both are rows of one matrix"
                      : std::string("expects element type ") + nameOf(parts.front().stored.type) +
                            " as " + quote(parts.front().stored.name) + " has it, got " +
                            nameOf(part.stored.type));
  }
  result.stack = std::move(parts);
  return result;
}

Linear WeightTable::stack(const std::string &name, const std::vector<Linear> &parts) {
  Linear result;
  result.name = chosenPrefix + name;
  std::vector<Weight> matrices, biases;
  for (const Linear &part : parts) {
    matrices.push_back(part.weight);
    if (part.inputOrder)
      report(part.weight.name, part.inputOrder->name,
             "expects inputs in their own order (desc_act false), as experts share them");
    if (part.bias)
      biases.push_back(*part.bias);
  }
  result.weight = stackOf(name + ".weight", std::move(matrices));
  if (!biases.empty())
    result.bias = stackOf(name + ".bias", std::move(biases));
  return result;
}

void WeightTable::stackedProjections(Attention &attention, const std::string &name, int64_t in,
                                     bool bias, Stacking stacking, bool transposed) {
  RowGroups rows;
  rows.groups = stacking == Stacking::ByKind ? 1 : attention.keyValueHeads;
  int64_t queries = attention.heads / rows.groups * attention.headSize;
  int64_t keys = attention.keyValueHeads / rows.groups * attention.headSize;
  rows.size = queries + 2 * keys;
  auto part = [&](const char *which, int64_t count) {
    rows.count = count;
    Linear result = linearPart(name, which, rows, in, bias, transposed);
    rows.first += count;
    return result;
  };
  attention.query = part("query", queries);
  attention.key = part("key", keys);
  attention.value = part("value", keys);
}

Norm WeightTable::layerNorm(const std::string &name, int64_t size, double epsilon, bool bias) {
  Norm result;
  result.name = chosenPrefix + name;
  result.kind = Norm::Kind::Layer;
  result.epsilon = epsilon;
  // Checkpoints converted from TensorFlow say gamma and beta.
  result.weight = weight(name + ".weight", {size}, false, {name + ".gamma"});
  if (bias)
    result.bias = weight(name + ".bias", {size}, false, {name + ".beta"});
  return result;
}

Norm WeightTable::rmsNorm(const std::string &name, int64_t size, double epsilon,
                          double weightOffset) {
  Norm result;
  result.name = chosenPrefix + name;
  result.kind = Norm::Kind::Rms;
  result.epsilon = epsilon;
  result.weightOffset = weightOffset;
  result.weight = weight(name + ".weight", {size});
  return result;
}

Head WeightTable::head(const std::string &name, bool tied, const Weight &token, bool bias,
                       const std::string &otherBias) {
  Linear dense;
  dense.name = name;
  if (bias) {
    std::vector<std::string> names = {name + ".bias"};
    if (!otherBias.empty())
      names.push_back(otherBias);
    dense.bias = find(names, {token.shape.front()}, false);
    if (tied && source && !otherBias.empty())
      requireEqual(otherBias, dense.bias->stored.name);
  }
  dense.weight = tied ? token : find({name + ".weight"}, token.shape, false);
  if (tied && source)
    requireEqual(name + ".weight", token.stored.name);
  orderInputs(dense);
  Head result;
  result.name = name;
  result.output = "logits";
  result.steps.push_back({std::move(dense), {}, {}, false});
  return result;
}

void WeightTable::requireEqual(const std::string &name, const std::string &other) {
  const StoredTensor *own = source->find(name);
  const StoredTensor *same = source->find(other);
  if (!own || !same || own == same)
    return;
  used.insert(own->name);
  if (own->type != same->type || own->shape != same->shape ||
      std::memcmp(source->data(*own), source->data(*same), own->bytes) != 0)
    addError(problems, source->pathOf(*own), "tensor " + quote(own->name),
             "expects the content of " + quote(same->name) +
                 ", as tie_word_embeddings is true, got another");
}
