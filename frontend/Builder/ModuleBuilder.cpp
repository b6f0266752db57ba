// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of the `import` stage: weights, layer functions, entries. Layers
// that differ in nothing but their weights share a function.
#include "frontend/Builder/ModuleBuilder.h"

#include "frontend/Builder/Body.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

namespace {

constexpr int64_t dynamic = ShapedType::kDynamic;

/// Layers with one function.
struct LayerKind {
  const model::Layer *first = nullptr; ///< The function is built from this one.
  std::string place;                   ///< "model.layers.*"
  func::FuncOp function;               ///< For any S.
  func::FuncOp decode;                 ///< For S = 1; decoders only.
};

/// One argument or result of an entry.
struct Port {
  Type type;
  std::string name;
  SmallVector<StringRef> dims;
  PortRole role = PortRole::None;
};

class ModuleBuilder {
public:
  ModuleBuilder(MLIRContext &context, const model::ModelDescription &source)
      : context(&context), source(source), b(&context) {}

  OwningOpRef<ModuleOp> build();

private:
  bool isDecoder() const { return source.kind == model::ModelDescription::Kind::Decoder; }
  Location locate(StringRef name) { return NameLoc::get(b.getStringAttr(name)); }
  RankedTensorType idsType(int64_t length) {
    return RankedTensorType::get({dynamic, length}, b.getI64Type());
  }
  CacheType cacheType(CacheKind kind, const model::Layer &layer) {
    return CacheType::get(context, kind, layer.attention.keyValueHeads, layer.attention.headSize,
                          b.getF32Type());
  }

  void addModelOp();
  void addWeight(const model::Weight &weight);
  void findLayerKinds();
  func::FuncOp addLayerFunction(const LayerKind &kind, StringRef name, int64_t length);

  func::FuncOp addEntry(EntryKind kind, ArrayRef<Port> arguments, ArrayRef<Port> results,
                        int64_t maxPositions);
  void addDecoderForward();
  void addDecoderStep(EntryKind kind);
  void addEncoderEntry(EntryKind kind);

  /// A body of an entry: weights by `fovea.weight_ref`, each once.
  Body entryBody(func::FuncOp entry);
  Value weightRef(const model::Weight &weight);
  /// All layers in turn. `caches` (decoders) are replaced by the grown ones.
  Value callLayers(Value x, bool decode, MutableArrayRef<Value> keyCaches,
                   MutableArrayRef<Value> valueCaches, Value attentionMask);
  Value headOf(Value x, Body &body);

  MLIRContext *context;
  const model::ModelDescription &source;
  OpBuilder b;
  OwningOpRef<ModuleOp> module;
  std::vector<LayerKind> kinds;
  std::vector<size_t> kindOfLayer;
  llvm::StringMap<Value> weightRefs; ///< Of the entry that is being built.
};

} // namespace

//===-- Weights ------------------------------------------------------------------------------===//

void ModuleBuilder::addModelOp() {
  auto integer = [&](std::optional<int64_t> value) {
    return value ? b.getI64IntegerAttr(*value) : IntegerAttr();
  };
  int64_t longest = source.maxPositions;
  if (source.pooling && source.pooling->maxPositions)
    longest = *source.pooling->maxPositions;
  ModelOp::create(b, locate(source.architecture), b.getStringAttr(source.architecture),
                  b.getStringAttr(source.folder),
                  source.tokenizer ? b.getStringAttr(*source.tokenizer) : StringAttr(),
                  integer(source.beginToken),
                  source.endTokens.empty() ? DenseI64ArrayAttr()
                                           : b.getDenseI64ArrayAttr(source.endTokens),
                  integer(source.padToken), integer(longest), integer(source.vocabulary));
}

void ModuleBuilder::addWeight(const model::Weight &weight) {
  // A tied weight is met twice.
  if (module->lookupSymbol(weight.name))
    return;
  RankedTensorType type = getWeightType(context, weight);
  RankedTensorType stored = type.clone(weight.stored.shape);
  Attribute recipe = StoredAttr::get(context, weight.stored.file, weight.stored.name, stored);
  if (weight.transposed)
    recipe = TransposeAttr::get(context, recipe);
  WeightOp::create(b, locate(weight.name), weight.name, type, recipe, /*sym_visibility=*/nullptr);
}

Value ModuleBuilder::weightRef(const model::Weight &weight) {
  Value &value = weightRefs[weight.name];
  if (!value)
    value = WeightRefOp::create(b, locate(weight.name), getWeightType(context, weight),
                                FlatSymbolRefAttr::get(context, weight.name));
  return value;
}

//===-- Layers -------------------------------------------------------------------------------===//

/// Everything about a layer but the names and places of its weights, as text:
/// layers of equal texts share a function.
static std::string describeKind(MLIRContext *context, const model::Layer &layer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto number = [&](double value) { os << llvm::bit_cast<uint64_t>(value) << ' '; };
  const model::Attention &attention = layer.attention;
  os << int(layer.placement) << ' ' << int(layer.attentionNorm.kind) << ' '
     << int(layer.feedForwardNorm.kind) << ' ' << attention.heads << ' ' << attention.keyValueHeads
     << ' ' << attention.headSize << ' ' << attention.causal << ' ' << attention.fused.has_value()
     << ' ' << int(layer.feedForward.activation) << ' ' << layer.feedForward.gate.has_value()
     << ' ';
  number(layer.attentionNorm.epsilon);
  number(layer.feedForwardNorm.epsilon);
  number(attention.scale);
  if (const std::optional<model::Rotary> &rotary = attention.rotary) {
    os << "rotary " << int(rotary->kind) << ' ' << rotary->dim << ' ' << rotary->originalPositions
       << ' ' << rotary->truncate << ' ';
    for (double value :
         {rotary->theta, rotary->factor, rotary->low, rotary->high, rotary->attentionFactor})
      number(value);
    for (const auto *factors : {&rotary->shortFactors, &rotary->longFactors})
      for (double value : *factors)
        number(value);
  }
  // Which biases there are shows in the weights' types, but for two of equal
  // shape.
  for (const std::optional<model::Linear> *linear :
       {&attention.query, &attention.key, &attention.value, &attention.fused})
    os << (*linear && (*linear)->bias) << ' ';
  os << attention.output.bias.has_value() << layer.feedForward.up.bias.has_value()
     << layer.feedForward.down.bias.has_value()
     << (layer.feedForward.gate && layer.feedForward.gate->bias)
     << layer.attentionNorm.bias.has_value() << layer.feedForwardNorm.bias.has_value();
  for (const model::Weight *weight : getLayerWeights(layer))
    os << ' ' << getWeightType(context, *weight);
  return text;
}

void ModuleBuilder::findLayerKinds() {
  llvm::StringMap<size_t> known;
  for (const model::Layer &layer : source.layers) {
    auto [entry, isNew] = known.try_emplace(describeKind(context, layer), kinds.size());
    if (isNew) {
      kinds.emplace_back();
      kinds.back().first = &layer;
      kinds.back().place = layer.name;
    } else {
      // "model.layers.0" -> "model.layers.*"
      StringRef first = kinds[entry->second].first->name;
      kinds[entry->second].place = first.rtrim("0123456789").str() + "*";
    }
    kindOfLayer.push_back(entry->second);
  }
}

func::FuncOp ModuleBuilder::addLayerFunction(const LayerKind &kind, StringRef name,
                                             int64_t length) {
  OpBuilder::InsertionGuard guard(b);
  const model::Layer &layer = *kind.first;
  auto locateInLayer = [&](StringRef where) -> Location {
    if (where.consume_front(layer.name))
      return locate(kind.place + where.str());
    return locate(where);
  };

  RankedTensorType x = getActivationType(context, {dynamic, length, source.hidden});
  SmallVector<Type> inputs = {x}, outputs = {x};
  SmallVector<Location> locations = {locate("x")};
  if (isDecoder()) {
    for (auto [kind, name] :
         {std::pair(CacheKind::Key, "key_cache"), std::pair(CacheKind::Value, "value_cache")}) {
      inputs.push_back(cacheType(kind, layer));
      outputs.push_back(inputs.back());
      locations.push_back(locate(name));
    }
  } else {
    inputs.push_back(idsType(dynamic));
    locations.push_back(locate("attention_mask"));
  }
  size_t firstWeight = inputs.size();
  std::vector<const model::Weight *> weights = getLayerWeights(layer);
  for (const model::Weight *weight : weights) {
    inputs.push_back(getWeightType(context, *weight));
    locations.push_back(locateInLayer(weight->name));
  }

  auto function =
      func::FuncOp::create(b, locate(kind.place), name, b.getFunctionType(inputs, outputs));
  function.setPrivate();
  Block *block = b.createBlock(&function.getBody(), {}, inputs, locations);
  llvm::DenseMap<const model::Weight *, Value> values;
  for (auto [weight, value] :
       llvm::zip_equal(weights, block->getArguments().drop_front(firstWeight)))
    values[weight] = value;
  Body body(
      b, block->getArgument(0), [&](const model::Weight &weight) { return values.lookup(&weight); },
      locateInLayer);
  LayerContext layerContext;
  if (isDecoder()) {
    layerContext.keyCache = block->getArgument(1);
    layerContext.valueCache = block->getArgument(2);
  } else {
    layerContext.attentionMask = block->getArgument(1);
  }
  SmallVector<Value> results = {body.layer(block->getArgument(0), layer, layerContext)};
  if (isDecoder())
    results.append({layerContext.keyCache, layerContext.valueCache});
  func::ReturnOp::create(b, function.getLoc(), results);
  return function;
}

Value ModuleBuilder::callLayers(Value x, bool decode, MutableArrayRef<Value> keyCaches,
                                MutableArrayRef<Value> valueCaches, Value attentionMask) {
  for (size_t i = 0; i < source.layers.size(); ++i) {
    const model::Layer &layer = source.layers[i];
    LayerKind &kind = kinds[kindOfLayer[i]];
    SmallVector<Value> operands = {x};
    if (isDecoder())
      operands.append({keyCaches[i], valueCaches[i]});
    else
      operands.push_back(attentionMask);
    for (const model::Weight *weight : getLayerWeights(layer))
      operands.push_back(weightRef(*weight));
    auto call =
        func::CallOp::create(b, locate(layer.name), decode ? kind.decode : kind.function, operands);
    x = call.getResult(0);
    if (isDecoder()) {
      keyCaches[i] = call.getResult(1);
      valueCaches[i] = call.getResult(2);
    }
  }
  return x;
}

//===-- Entries ------------------------------------------------------------------------------===//

func::FuncOp ModuleBuilder::addEntry(EntryKind kind, ArrayRef<Port> arguments,
                                     ArrayRef<Port> results, int64_t maxPositions) {
  StringRef name = stringifyEntryKind(kind);
  auto typesOf = [](ArrayRef<Port> ports) {
    return llvm::map_to_vector(ports, [](const Port &port) { return port.type; });
  };
  auto attributesOf = [&](ArrayRef<Port> ports) {
    return llvm::map_to_vector(ports, [&](const Port &port) {
      NamedAttrList list;
      list.set(FoveaDialect::kNameAttr, b.getStringAttr(port.name));
      list.set(FoveaDialect::kDimsAttr, b.getStrArrayAttr(port.dims));
      if (port.role != PortRole::None)
        list.set(FoveaDialect::kRoleAttr, PortRoleAttr::get(context, port.role));
      return list.getDictionary(context);
    });
  };
  auto function = func::FuncOp::create(b, locate(name), name,
                                       b.getFunctionType(typesOf(arguments), typesOf(results)));
  function->setAttr(FoveaDialect::kEntryAttr, b.getUnitAttr());
  function->setAttr(FoveaDialect::kKindAttr, EntryKindAttr::get(context, kind));
  function->setAttr(FoveaDialect::kMaxPositionsAttr, b.getI64IntegerAttr(maxPositions));
  function.setAllArgAttrs(attributesOf(arguments));
  function.setAllResultAttrs(attributesOf(results));
  SmallVector<Location> locations =
      llvm::map_to_vector(arguments, [&](const Port &port) { return locate(port.name); });
  b.createBlock(&function.getBody(), {}, typesOf(arguments), locations);
  weightRefs.clear();
  return function;
}

Body ModuleBuilder::entryBody(func::FuncOp entry) {
  return Body(
      b, entry.getArgument(0), [this](const model::Weight &weight) { return weightRef(weight); },
      [this](StringRef name) { return locate(name); });
}

Value ModuleBuilder::headOf(Value x, Body &body) {
  if (source.finalNorm)
    x = body.norm(x, *source.finalNorm);
  if (!source.head)
    return x;
  model::Linear projection;
  projection.name = source.head->name;
  projection.weight = source.head->weight;
  return body.linear(x, projection);
}

void ModuleBuilder::addDecoderForward() {
  OpBuilder::InsertionGuard guard(b);
  int64_t width = source.head ? source.vocabulary : source.hidden;
  Port ids = {idsType(dynamic), "input_ids", {"batch", "sequence"}, PortRole::TokenIds};
  Port out = {getActivationType(context, {dynamic, dynamic, width}),
              source.head ? "logits" : "last_hidden_state",
              {"batch", "sequence"},
              source.head ? PortRole::Logits : PortRole::HiddenState};
  func::FuncOp entry = addEntry(EntryKind::Forward, {ids}, {out}, source.maxPositions);
  Body body = entryBody(entry);
  Location loc = entry.getLoc();
  Value tokens = entry.getArgument(0);
  // Caches that just fit let this entry share its layers with `prefill`.
  Value batch = getValueOrCreateConstantIndexOp(b, loc, body.batch());
  Value sequence = getValueOrCreateConstantIndexOp(b, loc, body.sequence());
  std::vector<Value> keys, values;
  for (const model::Layer &layer : source.layers) {
    for (auto [list, kind] :
         {std::pair(&keys, CacheKind::Key), std::pair(&values, CacheKind::Value)})
      list->push_back(CacheCreateOp::create(b, locate(layer.attention.name), cacheType(kind, layer),
                                            batch, sequence));
  }
  Value first = CacheLengthOp::create(b, loc, b.getIndexType(), keys.front());
  Value x = body.embed(tokens, {}, first, source.embeddings);
  x = callLayers(x, /*decode=*/false, keys, values, {});
  func::ReturnOp::create(b, loc, headOf(x, body));
}

void ModuleBuilder::addDecoderStep(EntryKind kind) {
  OpBuilder::InsertionGuard guard(b);
  bool decode = kind == EntryKind::Decode;
  Port ids = {idsType(decode ? 1 : dynamic), "input_ids", {"batch"}, PortRole::TokenIds};
  if (!decode)
    ids.dims.push_back("sequence");
  SmallVector<Port> arguments = {ids};
  SmallVector<Port> results = {{getActivationType(context, {dynamic, source.vocabulary}),
                                "logits",
                                {"batch"},
                                PortRole::Logits},
                               {RankedTensorType::get({dynamic}, b.getI64Type()),
                                "next_token",
                                {"batch"},
                                PortRole::NextToken}};
  for (auto [i, layer] : llvm::enumerate(source.layers))
    for (auto [held, prefix] :
         {std::pair(CacheKind::Key, "key_cache."), std::pair(CacheKind::Value, "value_cache.")}) {
      Port cache = {cacheType(held, layer), prefix + std::to_string(i), {"batch", "capacity"}};
      arguments.push_back(cache);
      results.push_back(cache);
    }
  func::FuncOp entry = addEntry(kind, arguments, results, source.maxPositions);
  Body body = entryBody(entry);
  Location loc = entry.getLoc();
  std::vector<Value> keys, values;
  for (size_t i = 0; i < source.layers.size(); ++i) {
    keys.push_back(entry.getArgument(1 + 2 * i));
    values.push_back(entry.getArgument(2 + 2 * i));
  }
  // Absolute positions alone ask for it; layers read the length themselves.
  Value first;
  if (source.embeddings.position)
    first = CacheLengthOp::create(b, loc, b.getIndexType(), keys.front());
  Value x = body.embed(entry.getArgument(0), {}, first, source.embeddings);
  x = callLayers(x, decode, keys, values, {});
  // Only the last position's logits are wanted.
  RankedTensorType last = getActivationType(context, {dynamic, source.hidden});
  if (decode)
    x = tensor::CollapseShapeOp::create(b, loc, last, x,
                                        SmallVector<ReassociationIndices>{{0, 1}, {2}});
  else
    x = PoolOp::create(b, loc, last, PoolKind::Last, x, /*keep=*/Value());
  Value logits = headOf(x, body);
  SmallVector<Value> returned = {
      logits, ArgmaxOp::create(b, locate(source.head->name), results[1].type, logits)};
  for (size_t i = 0; i < source.layers.size(); ++i)
    returned.append({keys[i], values[i]});
  func::ReturnOp::create(b, loc, returned);
}

void ModuleBuilder::addEncoderEntry(EntryKind kind) {
  OpBuilder::InsertionGuard guard(b);
  const bool pooled = kind == EntryKind::Embed;
  SmallVector<Port> arguments;
  auto add = [&](StringRef name, PortRole role) {
    arguments.push_back({idsType(dynamic), name.str(), {"batch", "sequence"}, role});
  };
  add("input_ids", PortRole::TokenIds);
  add("attention_mask", PortRole::AttentionMask);
  if (source.embeddings.tokenType)
    add("token_type_ids", PortRole::TokenTypes);
  Port out = {getActivationType(context, {dynamic, dynamic, source.hidden}),
              "last_hidden_state",
              {"batch", "sequence"},
              PortRole::HiddenState};
  int64_t longest = source.maxPositions;
  if (pooled) {
    int64_t width = source.hidden;
    for (const model::Pooling::Step &step : source.pooling->steps)
      if (step.dense)
        width = step.dense->weight.shape[0];
    out = {
        getActivationType(context, {dynamic, width}), "embedding", {"batch"}, PortRole::Embedding};
    longest = source.pooling->maxPositions.value_or(longest);
  }
  func::FuncOp entry = addEntry(kind, arguments, {out}, longest);
  Body body = entryBody(entry);
  Location loc = entry.getLoc();
  Value mask = entry.getArgument(1);
  Value types = source.embeddings.tokenType ? Value(entry.getArgument(2)) : Value();
  Value first;
  if (source.embeddings.position)
    first = arith::ConstantIndexOp::create(b, loc, 0);
  Value x = body.embed(entry.getArgument(0), types, first, source.embeddings);
  x = headOf(callLayers(x, /*decode=*/false, {}, {}, mask), body);
  if (pooled)
    x = body.pool(x, mask, *source.pooling);
  func::ReturnOp::create(b, loc, x);
}

OwningOpRef<ModuleOp> ModuleBuilder::build() {
  module = ModuleOp::create(b, locate(source.architecture));
  b.setInsertionPointToEnd(module->getBody());
  addModelOp();

  addWeight(source.embeddings.token);
  for (const std::optional<model::Weight> *table :
       {&source.embeddings.position, &source.embeddings.tokenType})
    if (*table)
      addWeight(**table);
  auto addNorm = [&](const std::optional<model::Norm> &norm) {
    if (!norm)
      return;
    addWeight(norm->weight);
    if (norm->bias)
      addWeight(*norm->bias);
  };
  addNorm(source.embeddings.norm);
  for (const model::Layer &layer : source.layers)
    for (const model::Weight *weight : getLayerWeights(layer))
      addWeight(*weight);
  addNorm(source.finalNorm);
  if (source.head)
    addWeight(source.head->weight);
  if (source.pooling)
    for (const model::Pooling::Step &step : source.pooling->steps)
      if (step.dense) {
        addWeight(step.dense->weight);
        if (step.dense->bias)
          addWeight(*step.dense->bias);
      }

  findLayerKinds();
  bool steps = isDecoder() && source.head;
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    std::string name = kinds.size() == 1 ? "layer" : "layer_" + std::to_string(i);
    kind.function = addLayerFunction(kind, name, dynamic);
    if (steps)
      kind.decode = addLayerFunction(kind, name + "_decode", 1);
  }
  if (isDecoder()) {
    addDecoderForward();
    if (steps) {
      addDecoderStep(EntryKind::Prefill);
      addDecoderStep(EntryKind::Decode);
    }
  } else {
    addEncoderEntry(EntryKind::Forward);
    if (source.pooling)
      addEncoderEntry(EntryKind::Embed);
  }
  return std::move(module);
}

OwningOpRef<ModuleOp> mlir::fovea::buildModule(MLIRContext &context,
                                               const model::ModelDescription &source) {
  context.loadDialect<FoveaDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                      tensor::TensorDialect>();
  return ModuleBuilder(context, source).build();
}
