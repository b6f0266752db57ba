// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of the `import` stage: weights, layer functions, entries. Layers
// that differ in nothing but their weights share a function.
#include "frontend/Builder/ModuleBuilder.h"

#include "frontend/Builder/Body.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
  /// A decoder's head, or null.
  const model::Head *languageHead() const {
    return source.heads.empty() ? nullptr : &source.heads.front();
  }
  bool asksForTypes() const {
    return source.embeddings.tokenType && source.embeddings.tokenType->shape.front() > 1;
  }
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
  void addWeights();
  void findLayerKinds();
  func::FuncOp addLayerFunction(const LayerKind &kind, StringRef name, int64_t length);

  func::FuncOp addEntry(EntryKind kind, ArrayRef<Port> arguments, ArrayRef<Port> results,
                        int64_t maxPositions);
  void addDecoderForward();
  void addDecoderStep(EntryKind kind);
  SmallVector<Port> portsOf(const model::Head &head);
  void addEncoderEntry(EntryKind kind);

  /// A body of an entry: weights by `fovea.weight_ref`, each once.
  Body entryBody(func::FuncOp entry);
  Value weightRef(const model::Weight &weight);
  /// All layers in turn. `caches` (decoders) are replaced by the grown ones.
  Value callLayers(Value x, bool decode, MutableArrayRef<Value> keyCaches,
                   MutableArrayRef<Value> valueCaches, Value attentionMask);
  /// Behind the layers, before any head.
  Value finish(Value x, Body &body);

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
  if (const std::optional<model::RowGroups> &rows = weight.rows) {
    SmallVector<int64_t> grouped = {rows->groups, rows->size};
    llvm::append_range(grouped, ArrayRef(weight.shape).drop_front());
    bool several = rows->groups > 1;
    if (several)
      recipe = ReshapeAttr::get(context, recipe, grouped);
    recipe = SliceAttr::get(context, recipe, several ? 1 : 0, rows->first, rows->count);
    if (several)
      recipe = ReshapeAttr::get(context, recipe, weight.shape);
  }
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

/// Layers are of one kind if their functions are equal: each layer's is built, compared, and built
/// again once it is known whose it is.
void ModuleBuilder::findLayerKinds() {
  SmallVector<func::FuncOp> known;
  for (const model::Layer &layer : source.layers) {
    LayerKind kind;
    kind.first = &layer;
    kind.place = layer.name;
    func::FuncOp built = addLayerFunction(kind, "layer", dynamic);
    auto *same = llvm::find_if(known, [&](func::FuncOp other) {
      return other.getFunctionType() == built.getFunctionType() &&
             OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &built.getBody(),
                                                        OperationEquivalence::IgnoreLocations);
    });
    kindOfLayer.push_back(same - known.begin());
    if (same == known.end()) {
      known.push_back(built);
      kinds.push_back(std::move(kind));
      continue;
    }
    built.erase();
    // "model.layers.0" -> "model.layers.*"
    LayerKind &shared = kinds[kindOfLayer.back()];
    shared.place = StringRef(shared.first->name).rtrim("0123456789").str() + "*";
  }
  for (func::FuncOp function : known)
    function.erase();
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

Value ModuleBuilder::finish(Value x, Body &body) {
  if (source.finalNorm)
    x = body.norm(x, *source.finalNorm);
  return source.finalProjection ? body.linear(x, *source.finalProjection) : x;
}

void ModuleBuilder::addDecoderForward() {
  OpBuilder::InsertionGuard guard(b);
  const model::Head *head = languageHead();
  int64_t width = head                     ? source.vocabulary
                  : source.finalProjection ? source.finalProjection->weight.shape[0]
                                           : source.hidden;
  Port ids = {idsType(dynamic), "input_ids", {"batch", "sequence"}, PortRole::TokenIds};
  Port out = {getActivationType(context, {dynamic, dynamic, width}),
              head ? "logits" : "last_hidden_state",
              {"batch", "sequence"},
              head ? PortRole::Logits : PortRole::HiddenState};
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
  x = finish(x, body);
  func::ReturnOp::create(b, loc, head ? body.head(x, *head).front() : x);
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
  Value logits = body.head(finish(x, body), *languageHead()).front();
  SmallVector<Value> returned = {
      logits, ArgmaxOp::create(b, locate(languageHead()->name), results[1].type, logits)};
  for (size_t i = 0; i < source.layers.size(); ++i)
    returned.append({keys[i], values[i]});
  func::ReturnOp::create(b, loc, returned);
}

/// The size of the last axis behind `steps`, of vectors of `width`.
static int64_t widthBehind(ArrayRef<model::Step> steps, int64_t width) {
  for (const model::Step &step : steps)
    if (step.dense)
      width = step.dense->weight.shape[0];
  return width;
}

/// What a head of an encoder gives.
SmallVector<Port> ModuleBuilder::portsOf(const model::Head &head) {
  SmallVector<int64_t> shape = {dynamic};
  SmallVector<StringRef> dims = {"batch"};
  if (!head.firstToken) {
    shape.push_back(dynamic);
    dims.push_back("sequence");
  }
  SmallVector<Port> result;
  for (const std::string &name : head.columns)
    result.push_back({getActivationType(context, shape), name, dims});
  if (!result.empty())
    return result;
  shape.push_back(widthBehind(head.steps, source.hidden));
  return {{getActivationType(context, shape), head.output, dims,
           head.output == "logits" ? PortRole::Logits : PortRole::None}};
}

void ModuleBuilder::addEncoderEntry(EntryKind kind) {
  OpBuilder::InsertionGuard guard(b);
  const bool pooled = kind == EntryKind::Embed;
  SmallVector<Port> arguments, results;
  auto add = [&](StringRef name, PortRole role) {
    arguments.push_back({idsType(dynamic), name.str(), {"batch", "sequence"}, role});
  };
  add("input_ids", PortRole::TokenIds);
  add("attention_mask", PortRole::AttentionMask);
  if (asksForTypes())
    add("token_type_ids", PortRole::TokenTypes);
  int64_t longest = source.maxPositions;
  if (pooled) {
    int64_t width = widthBehind(source.pooling->steps, source.hidden);
    results = {{getActivationType(context, {dynamic, width}),
                "embedding",
                {"batch"},
                PortRole::Embedding}};
    longest = source.pooling->maxPositions.value_or(longest);
  } else if (source.givesHiddenState) {
    results = {{getActivationType(context, {dynamic, dynamic, source.hidden}),
                "last_hidden_state",
                {"batch", "sequence"},
                PortRole::HiddenState}};
  }
  if (!pooled)
    for (const model::Head &head : source.heads)
      results.append(portsOf(head));
  func::FuncOp entry = addEntry(kind, arguments, results, longest);
  Body body = entryBody(entry);
  Location loc = entry.getLoc();
  Value mask = entry.getArgument(1);
  Value types = asksForTypes() ? Value(entry.getArgument(2)) : Value();
  Value first;
  if (source.embeddings.position && !source.embeddings.uncountedToken)
    first = arith::ConstantIndexOp::create(b, loc, 0);
  Value x = body.embed(entry.getArgument(0), types, first, source.embeddings);
  x = finish(callLayers(x, /*decode=*/false, {}, {}, mask), body);
  SmallVector<Value> returned;
  if (pooled)
    returned = {body.pool(x, mask, *source.pooling)};
  else if (source.givesHiddenState)
    returned = {x};
  if (!pooled)
    for (const model::Head &head : source.heads)
      returned.append(body.head(x, head));
  func::ReturnOp::create(b, loc, returned);
}

void ModuleBuilder::addWeights() {
  auto addBoth = [&](const model::Weight &weight, const std::optional<model::Weight> &bias) {
    addWeight(weight);
    if (bias)
      addWeight(*bias);
  };
  auto addNorm = [&](const std::optional<model::Norm> &norm) {
    if (norm)
      addBoth(norm->weight, norm->bias);
  };
  auto addLinear = [&](const std::optional<model::Linear> &linear) {
    if (linear)
      addBoth(linear->weight, linear->bias);
  };
  auto addSteps = [&](ArrayRef<model::Step> steps) {
    for (const model::Step &step : steps) {
      addLinear(step.dense);
      addNorm(step.norm);
    }
  };
  addWeight(source.embeddings.token);
  for (const std::optional<model::Weight> *table :
       {&source.embeddings.position, &source.embeddings.tokenType})
    if (*table)
      addWeight(**table);
  addNorm(source.embeddings.norm);
  addLinear(source.embeddings.projection);
  for (const model::Layer &layer : source.layers)
    for (const model::Weight *weight : getLayerWeights(layer))
      addWeight(*weight);
  addNorm(source.finalNorm);
  addLinear(source.finalProjection);
  for (const model::Head &head : source.heads)
    addSteps(head.steps);
  if (source.pooling)
    addSteps(source.pooling->steps);
}

OwningOpRef<ModuleOp> ModuleBuilder::build() {
  module = ModuleOp::create(b, locate(source.architecture));
  b.setInsertionPointToEnd(module->getBody());
  addModelOp();

  addWeights();
  findLayerKinds();
  bool steps = isDecoder() && languageHead();
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
                      math::MathDialect, tensor::TensorDialect>();
  return ModuleBuilder(context, source).build();
}
