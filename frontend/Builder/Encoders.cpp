// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The entries of encoders: `forward` gives the hidden state and what the heads make of it, `embed`
// one vector for each text or image. Of several encoders side by side (towers) each has an entry
// that gives its embedding, and `forward` is what compares them.
#include "frontend/Builder/ModuleFrame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

/// The size of the last axis behind `steps`, of vectors of `width`.
static int64_t widthBehind(ArrayRef<model::Step> steps, int64_t width) {
  for (const model::Step &step : steps)
    if (step.dense)
      width = step.dense->weight.shape[0];
  return width;
}

static bool asksForTypes(const model::Embeddings &embeddings) {
  return embeddings.tokenType && embeddings.tokenType->shape.front() > 1;
}

/// The head that is the encoder's embedding, or null.
static const model::Head *findEmbedding(const model::ModelDescription &source) {
  for (const model::Head &head : source.heads)
    if (head.isEmbedding)
      return &head;
  return nullptr;
}

SmallVector<Port> ModuleFrame::portsOf(const Tower &tower, const model::Head &head,
                                       StringRef batch) {
  SmallVector<int64_t> shape = {dynamicSize};
  SmallVector<StringRef> dims = {batch};
  if (!head.pool) {
    shape.push_back(tower.stack.length);
    if (tower.stack.length == dynamicSize)
      dims.push_back("sequence");
  }
  SmallVector<Port> result;
  for (const std::string &name : head.columns)
    result.push_back({getActivationType(context, shape), name, dims});
  if (!result.empty())
    return result;
  shape.push_back(widthBehind(head.steps, tower.source->hidden));
  return {{getActivationType(context, shape), head.output, dims,
           head.output == "logits" ? PortRole::Logits : PortRole::None}};
}

SmallVector<Port> ModuleFrame::inputsOf(const Tower &tower, StringRef batch) {
  const model::Embeddings &embeddings = tower.source->embeddings;
  if (const std::optional<model::Patches> &patches = embeddings.patches)
    return {{getActivationType(context,
                               {dynamicSize, patches->channels, patches->height, patches->width}),
             "pixel_values",
             {batch}}};
  SmallVector<Port> inputs;
  auto add = [&](StringRef name, PortRole role) {
    inputs.push_back({idsType(dynamicSize), name.str(), {batch, "sequence"}, role});
  };
  add("input_ids", PortRole::TokenIds);
  add("attention_mask", PortRole::AttentionMask);
  if (asksForTypes(embeddings))
    add("token_type_ids", PortRole::TokenTypes);
  return inputs;
}

Value ModuleFrame::read(const Tower &tower, Body &body, ValueRange inputs) {
  const model::Embeddings &embeddings = tower.source->embeddings;
  StackValues values;
  Value x;
  if (embeddings.patches) {
    x = body.embedPatches(inputs[0], embeddings);
  } else {
    values.attentionMask = inputs[1];
    Value types = asksForTypes(embeddings) ? inputs[2] : Value(), first;
    if (embeddings.position && !embeddings.uncountedToken)
      first = arith::ConstantIndexOp::create(b, locate(embeddings.name), 0);
    x = body.embed(inputs[0], types, first, embeddings);
  }
  return finish(callLayers(tower.stack, x, /*decode=*/false, values), body, *tower.source);
}

SmallVector<Value> ModuleFrame::give(const Tower &tower, Body &body, Value x,
                                     const model::Head &head, ValueRange inputs) {
  const bool ofImages = tower.source->embeddings.patches.has_value();
  return body.head(x, ofImages ? Value() : inputs[1], head, inputs[0]);
}

void ModuleFrame::addTowerForward(const Tower &tower) {
  OpBuilder::InsertionGuard guard(b);
  const model::ModelDescription &part = *tower.source;
  SmallVector<Port> arguments = inputsOf(tower, "batch"), results;
  if (part.givesHiddenState) {
    results = {{getActivationType(context, {dynamicSize, tower.stack.length, part.hidden}),
                "last_hidden_state",
                {"batch"},
                PortRole::HiddenState}};
    if (tower.stack.length == dynamicSize)
      results.front().dims.push_back("sequence");
  }
  for (const model::Head &head : part.heads)
    results.append(portsOf(tower, head, "batch"));
  func::FuncOp entry = addEntry(EntryKind::Forward, arguments, results, part.maxPositions);
  Body body = entryBody(entry);
  Value x = read(tower, body, entry.getArguments());
  SmallVector<Value> returned;
  if (part.givesHiddenState)
    returned = {x};
  for (const model::Head &head : part.heads)
    returned.append(give(tower, body, x, head, entry.getArguments()));
  func::ReturnOp::create(b, entry.getLoc(), returned);
}

void ModuleFrame::addTowerEmbedding(const Tower &tower, EntryKind kind, StringRef name) {
  OpBuilder::InsertionGuard guard(b);
  const model::ModelDescription &part = *tower.source;
  const model::Head *head = findEmbedding(part);
  ArrayRef<model::Step> steps = part.pooling ? part.pooling->steps : head->steps;
  int64_t longest = part.maxPositions;
  if (part.pooling)
    longest = part.pooling->maxPositions.value_or(longest);
  Port result = {getActivationType(context, {dynamicSize, widthBehind(steps, part.hidden)}),
                 "embedding",
                 {"batch"},
                 PortRole::Embedding};
  func::FuncOp entry = addEntry(kind, inputsOf(tower, "batch"), {result}, longest, name);
  Body body = entryBody(entry);
  ValueRange inputs = entry.getArguments();
  Value x = read(tower, body, inputs);
  x = part.pooling ? body.pool(x, inputs[1], *part.pooling)
                   : give(tower, body, x, *head, inputs).front();
  func::ReturnOp::create(b, entry.getLoc(), x);
}

void ModuleFrame::addSimilarity(ArrayRef<Tower> towers) {
  OpBuilder::InsertionGuard guard(b);
  const Tower &first = towers[0], &second = towers[1];
  const std::string &one = first.source->name, &other = second.source->name;
  const std::string ones = one + "s", others = other + "s";
  SmallVector<Port> arguments = inputsOf(first, ones);
  const auto own = static_cast<unsigned>(arguments.size());
  arguments.append(inputsOf(second, others));
  RankedTensorType near = getActivationType(context, {dynamicSize, dynamicSize});
  SmallVector<Port> results = {{near, "logits_per_" + other, {others, ones}},
                               {near, "logits_per_" + one, {ones, others}}};
  results.append(portsOf(first, *findEmbedding(*first.source), ones));
  results.append(portsOf(second, *findEmbedding(*second.source), others));
  func::FuncOp entry = addEntry(EntryKind::Forward, arguments, results, source.maxPositions);
  auto embed = [&](const Tower &tower, unsigned from, unsigned count) {
    Body body = entryBody(entry, from);
    ValueRange inputs = ValueRange(entry.getArguments()).slice(from, count);
    model::Head head = *findEmbedding(*tower.source);
    head.steps.push_back({{}, {}, {}, /*unitLength=*/true});
    return give(tower, body, read(tower, body, inputs), head, inputs).front();
  };
  Value x = embed(first, 0, own);
  Value y = embed(second, own, static_cast<unsigned>(arguments.size()) - own);
  Body body = entryBody(entry);
  Value nearness = body.similarity(x, y, *source.similarity);
  func::ReturnOp::create(
      b, entry.getLoc(),
      ValueRange{body.transpose(nearness, {1, 0}, locate(source.similarity->name)), nearness, x,
                 y});
}

void ModuleFrame::addTowers() {
  SmallVector<Tower> towers;
  for (const model::ModelDescription &part : source.towers)
    towers.push_back({&part, {}});
  if (towers.empty())
    towers.push_back({&source, {}});
  for (Tower &tower : towers) {
    const model::ModelDescription &part = *tower.source;
    tower.stack.layers = &part.layers;
    tower.stack.name = part.name.empty() ? "layer" : part.name + "_layer";
    tower.stack.width = part.hidden;
    if (part.embeddings.patches) {
      tower.stack.hasMask = false;
      tower.stack.length = part.embeddings.patches->count();
    }
    addLayerFunctions(tower.stack, /*decodes=*/false);
  }
  if (!source.similarity) {
    addTowerForward(towers.front());
    if (source.pooling || findEmbedding(source))
      addTowerEmbedding(towers.front(), EntryKind::Embed);
    return;
  }
  addSimilarity(towers);
  // There is one entry of the kind.
  addTowerEmbedding(towers.front(), EntryKind::Embed);
  for (const Tower &tower : ArrayRef(towers).drop_front())
    addTowerEmbedding(tower, EntryKind::Generic, "embed_" + tower.source->name);
}
