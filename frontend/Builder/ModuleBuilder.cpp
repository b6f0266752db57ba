// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of the `import` stage: weights, layer functions, entries. Layers
// that differ in nothing but their weights share a function.
#include "frontend/Builder/ModuleBuilder.h"
#include "frontend/Attributes/ModuleAttributes.h"

#include "dialects/Fovea/Ports.h"
#include "frontend/Builder/ModuleFrame.h"
#include "frontend/Problem.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

//===-- Weights ------------------------------------------------------------------------------===//

void ModuleFrame::addModelOp() {
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
                  source.suppressedTokens.empty() ? DenseI64ArrayAttr()
                                                  : b.getDenseI64ArrayAttr(source.suppressedTokens),
                  integer(source.padToken), integer(longest),
                  source.vocabulary ? integer(source.vocabulary) : IntegerAttr(),
                  integer(source.forcedBeginToken), integer(source.forcedEndToken),
                  integer(source.minTokens), integer(source.noRepeatNgram));
}

void ModuleFrame::addWeight(const model::Weight &weight) {
  // A tied weight is met twice.
  if (module->lookupSymbol(weight.name))
    return;
  WeightOp::create(b, locate(weight.name), weight.name, getWeightType(context, weight),
                   recipeOf(weight), /*sym_visibility=*/nullptr);
}

Attribute ModuleFrame::recipeOf(const model::Weight &weight) {
  if (!weight.stack.empty()) {
    SmallVector<Attribute> recipes;
    for (const model::Weight &part : weight.stack)
      recipes.push_back(recipeOf(part));
    return ConcatAttr::get(context, 0, recipes);
  }
  Attribute recipe = getStoredRecipe(context, weight);
  ArrayRef<int64_t> stored = getTypeOfRecipe(recipe).getShape();
  const std::optional<model::RowGroups> &rows = weight.rows;
  if (weight.transposed)
    recipe = TransposeAttr::get(context, recipe);
  else if (!rows && !weight.order && stored != ArrayRef(weight.shape))
    recipe = ReshapeAttr::get(context, recipe, weight.shape);
  if (rows) {
    std::vector<int64_t> chosen = stored.vec();
    if (weight.transposed)
      std::reverse(chosen.begin(), chosen.end());
    chosen.front() = rows->groups * rows->count;
    SmallVector<int64_t> grouped = {rows->groups, rows->size};
    llvm::append_range(grouped, ArrayRef(chosen).drop_front());
    bool several = rows->groups > 1;
    if (several)
      recipe = ReshapeAttr::get(context, recipe, grouped);
    recipe = SliceAttr::get(context, recipe, several ? 1 : 0, rows->first, rows->count);
    // One of several matrices is a row of them.
    if (!weight.order)
      chosen = weight.shape;
    if (several || (!weight.order && chosen.size() < weight.stored.shape.size()))
      recipe = ReshapeAttr::get(context, recipe, chosen);
  }
  if (const std::optional<model::AxisOrder> &order = weight.order) {
    recipe =
        PermuteAttr::get(context, ReshapeAttr::get(context, recipe, order->shape), order->axes);
    recipe = ReshapeAttr::get(context, recipe, weight.shape);
  }
  return recipe;
}

Value ModuleFrame::weightRef(const model::Weight &weight) {
  Value &value = weightRefs[weight.name];
  if (!value)
    value = WeightRefOp::create(b, locate(weight.name), getWeightType(context, weight),
                                FlatSymbolRefAttr::get(context, weight.name));
  return value;
}

//===-- Layers -------------------------------------------------------------------------------===//

/// Layers are of one kind if their functions are equal: each layer's is built, compared, and built
/// again once it is known whose it is.
void ModuleFrame::findLayerKinds(LayerStack &stack) {
  SmallVector<func::FuncOp> known;
  for (const model::Layer &layer : *stack.layers) {
    LayerKind kind;
    kind.first = &layer;
    kind.place = layer.name;
    func::FuncOp built = addLayerFunction(stack, kind, "layer", stack.length);
    auto *same = llvm::find_if(known, [&](func::FuncOp other) {
      return other.getFunctionType() == built.getFunctionType() &&
             OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &built.getBody(),
                                                        OperationEquivalence::IgnoreLocations);
    });
    stack.kindOfLayer.push_back(same - known.begin());
    if (same == known.end()) {
      known.push_back(built);
      stack.kinds.push_back(std::move(kind));
      continue;
    }
    built.erase();
    // "model.layers.0" -> "model.layers.*"
    LayerKind &shared = stack.kinds[stack.kindOfLayer.back()];
    shared.place = StringRef(shared.first->name).rtrim("0123456789").str() + "*";
  }
  for (func::FuncOp function : known)
    function.erase();
}

void ModuleFrame::addLayerFunctions(LayerStack &stack, bool decodes) {
  findLayerKinds(stack);
  for (auto [i, kind] : llvm::enumerate(stack.kinds)) {
    std::string name = stack.name;
    if (stack.kinds.size() > 1)
      name += "_" + std::to_string(i);
    if (kind.first->source)
      kind.source = addSourceFunction(kind, name + "_source");
    kind.function = addLayerFunction(stack, kind, name, stack.length);
    if (decodes)
      kind.decode = addLayerFunction(stack, kind, name + "_decode", 1);
  }
}

func::FuncOp ModuleFrame::addFunction(const LayerKind &kind, StringRef name, ArrayRef<Port> inputs,
                                      ArrayRef<Type> outputs,
                                      ArrayRef<const model::Weight *> weights,
                                      function_ref<SmallVector<Value>(Body &, ValueRange)> fill) {
  OpBuilder::InsertionGuard guard(b);
  auto locateInLayer = [&](StringRef where) -> Location {
    if (where.consume_front(kind.first->name))
      return locate(kind.place + where.str());
    return locate(where);
  };
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (const Port &input : inputs) {
    types.push_back(input.type);
    locations.push_back(locate(input.name));
  }
  for (const model::Weight *weight : weights) {
    types.push_back(getWeightType(context, *weight));
    locations.push_back(locateInLayer(weight->name));
  }
  auto function =
      func::FuncOp::create(b, locate(kind.place), name, b.getFunctionType(types, outputs));
  function.setPrivate();
  Block *block = b.createBlock(&function.getBody(), {}, types, locations);
  ValueRange arguments = block->getArguments();
  llvm::DenseMap<const model::Weight *, Value> values;
  for (auto [weight, value] : llvm::zip_equal(weights, arguments.drop_front(inputs.size())))
    values[weight] = value;
  Body body(
      b, arguments.front(), [&](const model::Weight &weight) { return values.lookup(&weight); },
      locateInLayer);
  func::ReturnOp::create(b, function.getLoc(), fill(body, arguments.take_front(inputs.size())));
  return function;
}

func::FuncOp ModuleFrame::addLayerFunction(const LayerStack &stack, const LayerKind &kind,
                                           StringRef name, int64_t length) {
  const model::Layer &layer = *kind.first;
  Type x = getActivationType(context, {dynamicSize, length, stack.width});
  SmallVector<Port> inputs = {{x, "x"}};
  SmallVector<Type> outputs = {x};
  if (stack.hasCaches) {
    inputs.push_back({cacheType(CacheKind::Key, layer.attention), "key_cache"});
    inputs.push_back({cacheType(CacheKind::Value, layer.attention), "value_cache"});
    outputs.append({inputs[1].type, inputs[2].type});
  } else if (stack.hasMask) {
    inputs.push_back({idsType(dynamicSize), "attention_mask"});
  }
  if (layer.source) {
    inputs.push_back({cacheType(CacheKind::Key, *layer.source), "source_keys"});
    inputs.push_back({cacheType(CacheKind::Value, *layer.source), "source_values"});
    if (encoderStack.hasMask)
      inputs.push_back({idsType(dynamicSize), "source_mask"});
  }
  auto fill = [&](Body &body, ValueRange arguments) {
    LayerContext values;
    if (stack.hasCaches) {
      values.keyCache = arguments[1];
      values.valueCache = arguments[2];
    } else if (stack.hasMask) {
      values.attentionMask = arguments[1];
    }
    if (layer.source) {
      ValueRange last = arguments.take_back(encoderStack.hasMask ? 3 : 2);
      values.sourceKeys = last[0];
      values.sourceValues = last[1];
      if (encoderStack.hasMask)
        values.sourceMask = last[2];
    }
    SmallVector<Value> results = {body.layer(arguments[0], layer, values)};
    if (stack.hasCaches)
      results.append({values.keyCache, values.valueCache});
    return results;
  };
  return addFunction(kind, name, inputs, outputs, getLayerWeights(layer), fill);
}

func::FuncOp ModuleFrame::addSourceFunction(const LayerKind &kind, StringRef name) {
  const model::Attention &attention = *kind.first->source;
  SmallVector<Port> inputs = {
      {getActivationType(context, {dynamicSize, encoderStack.length, source.hidden}), "states"},
      {cacheType(CacheKind::Key, attention), "source_keys"},
      {cacheType(CacheKind::Value, attention), "source_values"}};
  SmallVector<Type> outputs = {inputs[1].type, inputs[2].type};
  auto fill = [&](Body &body, ValueRange arguments) -> SmallVector<Value> {
    auto [keys, values] = body.source(arguments[0], attention, arguments[1], arguments[2]);
    return {keys, values};
  };
  return addFunction(kind, name, inputs, outputs, getSourceWeights(*kind.first), fill);
}

Value ModuleFrame::callLayers(const LayerStack &stack, Value x, bool decode, StackValues &values) {
  for (auto [i, layer] : llvm::enumerate(*stack.layers)) {
    const LayerKind &kind = stack.kinds[stack.kindOfLayer[i]];
    SmallVector<Value> operands = {x};
    if (stack.hasCaches)
      operands.append({values.keyCaches[i], values.valueCaches[i]});
    else if (stack.hasMask)
      operands.push_back(values.attentionMask);
    if (layer.source)
      operands.append({values.sourceKeys[i], values.sourceValues[i]});
    if (layer.source && encoderStack.hasMask)
      operands.push_back(values.sourceMask);
    for (const model::Weight *weight : getLayerWeights(layer))
      operands.push_back(weightRef(*weight));
    auto call =
        func::CallOp::create(b, locate(layer.name), decode ? kind.decode : kind.function, operands);
    x = call.getResult(0);
    if (stack.hasCaches) {
      values.keyCaches[i] = call.getResult(1);
      values.valueCaches[i] = call.getResult(2);
    }
  }
  return x;
}

void ModuleFrame::createCaches(Location loc, Value batch, Value capacity, bool ofSource,
                               std::vector<Value> &keys, std::vector<Value> &values) {
  for (const model::Layer &layer : source.layers) {
    const model::Attention &attention = ofSource ? *layer.source : layer.attention;
    for (auto [list, kind] :
         {std::pair(&keys, CacheKind::Key), std::pair(&values, CacheKind::Value)})
      list->push_back(CacheCreateOp::create(b, locate(attention.name), cacheType(kind, attention),
                                            batch, capacity));
  }
}

SmallVector<Port> ModuleFrame::cachePorts(bool ofSource) {
  SmallVector<Port> result;
  for (auto [i, layer] : llvm::enumerate(source.layers))
    for (auto [kind, prefix] :
         {std::pair(CacheKind::Key, "key_cache."), std::pair(CacheKind::Value, "value_cache.")})
      result.push_back({cacheType(kind, ofSource ? *layer.source : layer.attention),
                        (ofSource ? "source_" : "") + std::string(prefix) + std::to_string(i),
                        {"batch", "capacity"}});
  return result;
}

//===-- Entries ------------------------------------------------------------------------------===//

func::FuncOp ModuleFrame::addEntry(EntryKind kind, ArrayRef<Port> arguments, ArrayRef<Port> results,
                                   int64_t maxPositions, StringRef name) {
  if (name.empty())
    name = stringifyEntryKind(kind);
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

Body ModuleFrame::entryBody(func::FuncOp entry, unsigned input) {
  return Body(
      b, entry.getArgument(input),
      [this](const model::Weight &weight) { return weightRef(weight); },
      [this](StringRef name) { return locate(name); });
}

Value ModuleFrame::finish(Value x, Body &body, const model::ModelDescription &part) {
  if (part.finalNorm)
    x = body.norm(x, *part.finalNorm);
  return part.finalProjection ? body.linear(x, *part.finalProjection) : x;
}

void ModuleFrame::addDecoderForward() {
  OpBuilder::InsertionGuard guard(b);
  const model::Head *head = languageHead();
  int64_t width = head                     ? source.vocabulary
                  : source.finalProjection ? source.finalProjection->weight.shape[0]
                                           : source.hidden;
  Port ids = {idsType(dynamicSize), "input_ids", {"batch", "sequence"}, PortRole::TokenIds};
  Port out = {getActivationType(context, {dynamicSize, dynamicSize, width}),
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
  StackValues values;
  createCaches(loc, batch, sequence, /*ofSource=*/false, values.keyCaches, values.valueCaches);
  Value first = CacheLengthOp::create(b, loc, b.getIndexType(), values.keyCaches.front());
  Value x = body.embed(tokens, {}, first, source.embeddings);
  x = callLayers(stack, x, /*decode=*/false, values);
  x = finish(x, body);
  func::ReturnOp::create(b, loc, head ? body.head(x, {}, *head).front() : x);
}

void ModuleFrame::addDecoderStep(EntryKind kind) {
  OpBuilder::InsertionGuard guard(b);
  bool decode = kind == EntryKind::Decode, all = kind == EntryKind::Generic;
  Port ids = {idsType(decode ? 1 : dynamicSize), "input_ids", {"batch"}, PortRole::TokenIds};
  if (!decode)
    ids.dims.push_back("sequence");
  SmallVector<Port> arguments = {ids};
  SmallVector<Port> results = stepResults();
  if (all)
    results = {{getActivationType(context, {dynamicSize, dynamicSize, source.vocabulary}),
                "logits",
                {"batch", "sequence"},
                PortRole::Logits}};
  SmallVector<Port> caches = cachePorts(/*ofSource=*/false);
  arguments.append(caches);
  results.append(caches);
  func::FuncOp entry = addEntry(kind, arguments, results, source.maxPositions, all ? "verify" : "");
  Body body = entryBody(entry);
  Location loc = entry.getLoc();
  StackValues values;
  for (size_t i = 0; i < source.layers.size(); ++i) {
    values.keyCaches.push_back(entry.getArgument(1 + 2 * i));
    values.valueCaches.push_back(entry.getArgument(2 + 2 * i));
  }
  // Absolute positions alone ask for it; layers read the length themselves.
  Value first;
  if (source.embeddings.position)
    first = CacheLengthOp::create(b, loc, b.getIndexType(), values.keyCaches.front());
  Value x = body.embed(entry.getArgument(0), {}, first, source.embeddings);
  x = callLayers(stack, x, decode, values);
  SmallVector<Value> returned;
  if (all)
    returned = {body.head(finish(x, body), {}, *languageHead()).front()};
  else
    returned = lastLogits(x, body);
  for (size_t i = 0; i < source.layers.size(); ++i)
    returned.append({values.keyCaches[i], values.valueCaches[i]});
  func::ReturnOp::create(b, loc, returned);
}

SmallVector<Value> ModuleFrame::lastLogits(Value x, Body &body) {
  // Only the last position's logits are wanted.
  const model::Head &head = *languageHead();
  Location loc = locate("last");
  RankedTensorType last = getActivationType(context, {dynamicSize, source.hidden});
  if (cast<RankedTensorType>(x.getType()).getDimSize(1) == 1)
    x = tensor::CollapseShapeOp::create(b, loc, last, x,
                                        SmallVector<ReassociationIndices>{{0, 1}, {2}});
  else
    x = PoolOp::create(b, loc, last, PoolKind::Last, x, /*keep=*/Value());
  Value logits = body.head(finish(x, body), {}, head).front();
  return {logits, ArgmaxOp::create(b, locate(head.name),
                                   RankedTensorType::get({dynamicSize}, b.getI64Type()), logits)};
}

SmallVector<Port> ModuleFrame::stepResults() {
  return {{getActivationType(context, {dynamicSize, source.vocabulary}),
           "logits",
           {"batch"},
           PortRole::Logits},
          {RankedTensorType::get({dynamicSize}, b.getI64Type()),
           "next_token",
           {"batch"},
           PortRole::NextToken}};
}

void ModuleFrame::addWeightsOf(const model::ModelDescription &part) {
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
    if (linear && linear->inputOrder)
      addWeight(*linear->inputOrder);
    if (linear)
      addBoth(linear->weight, linear->bias);
  };
  auto addSteps = [&](ArrayRef<model::Step> steps) {
    for (const model::Step &step : steps) {
      addLinear(step.dense);
      addNorm(step.norm);
    }
  };
  auto addEmbeddings = [&](const model::Embeddings &embeddings) {
    if (embeddings.patches) {
      addLinear(embeddings.patches->projection);
      if (embeddings.patches->tokens)
        addWeight(*embeddings.patches->tokens);
    } else if (embeddings.sound) {
      addLinear(embeddings.sound->mels.basis);
      addLinear(embeddings.sound->mels.filters);
      for (const model::Convolution &convolution : embeddings.sound->convolutions)
        addLinear(convolution.projection);
    } else {
      addWeight(embeddings.token);
    }
    for (const std::optional<model::Weight> *table : {&embeddings.position, &embeddings.tokenType})
      if (*table)
        addWeight(**table);
    addNorm(embeddings.norm);
    addLinear(embeddings.projection);
  };
  auto addLayers = [&](ArrayRef<model::Layer> layers) {
    for (const model::Layer &layer : layers) {
      for (const model::Weight *weight : getLayerWeights(layer))
        addWeight(*weight);
      if (layer.source)
        for (const model::Weight *weight : getSourceWeights(layer))
          addWeight(*weight);
    }
  };
  if (part.encoder) {
    addEmbeddings(part.encoder->embeddings);
    addLayers(part.encoder->layers);
    addNorm(part.encoder->finalNorm);
  }
  addEmbeddings(part.embeddings);
  addLayers(part.layers);
  addNorm(part.finalNorm);
  addLinear(part.finalProjection);
  for (const model::Head &head : part.heads)
    addSteps(head.steps);
  if (part.pooling)
    addSteps(part.pooling->steps);
}

void ModuleFrame::addWeights() {
  for (const model::ModelDescription &tower : source.towers)
    addWeightsOf(tower);
  if (source.towers.empty())
    addWeightsOf(source);
  if (source.similarity)
    addWeight(source.similarity->power);
}

void ModuleFrame::addModuleAttributes() {
  setLabels(*module, source);
  setImages(*module, source.images);
  if (!source.encoder)
    return;
  if (const std::optional<model::Sound> &sound = source.encoder->embeddings.sound)
    (*module)->setAttr(kSamplingRateAttr, b.getI64IntegerAttr(sound->mels.rate));
  if (!source.beginSuppressedTokens.empty())
    (*module)->setAttr(kBeginSuppressedAttr, b.getDenseI64ArrayAttr(source.beginSuppressedTokens));
  SmallVector<Attribute> prompt;
  for (const model::PromptToken &token : source.prompt) {
    SmallVector<StringRef> names;
    SmallVector<int64_t> tokens;
    for (const auto &[name, id] : token.values) {
      names.push_back(name);
      tokens.push_back(id);
    }
    prompt.push_back(
        b.getArrayAttr({b.getStringAttr(token.name), b.getI64IntegerAttr(token.token.value_or(-1)),
                        b.getStrArrayAttr(names), b.getDenseI64ArrayAttr(tokens)}));
  }
  if (!prompt.empty())
    (*module)->setAttr(kPromptAttr, b.getArrayAttr(prompt));
}

OwningOpRef<ModuleOp> ModuleFrame::build() {
  module = ModuleOp::create(b, locate(source.architecture));
  addModuleAttributes();
  b.setInsertionPointToEnd(module->getBody());
  addModelOp();

  addWeights();
  if (source.kind == Kind::Encoder || source.kind == Kind::Towers) {
    addTowers();
    return std::move(module);
  }
  if (source.encoder) {
    encoderStack.layers = &source.encoder->layers;
    encoderStack.name = "encoder_layer";
    encoderStack.width = source.hidden;
    if (const std::optional<model::Sound> &sound = source.encoder->embeddings.sound) {
      encoderStack.hasMask = false;
      encoderStack.length = sound->count();
    }
    addLayerFunctions(encoderStack, /*decodes=*/false);
  }
  stack.layers = &source.layers;
  stack.name = "layer";
  stack.hasCaches = true;
  stack.width = source.hidden;
  const bool steps = languageHead() != nullptr;
  addLayerFunctions(stack, /*decodes=*/steps);
  if (source.kind == Kind::Decoder) {
    addDecoderForward();
    if (steps) {
      addDecoderStep(EntryKind::Prefill);
      addDecoderStep(EntryKind::Decode);
      // Experts give several tokens other last bits than each alone, which nothing could check by;
      // so do heads with matrices of their own, which are experts of equal parts.
      if (llvm::none_of(source.layers, [](const model::Layer &layer) {
            return layer.experts || layer.attention.latent;
          }))
        addDecoderStep(EntryKind::Generic);
    }
    return std::move(module);
  }
  addTranslationForward();
  if (steps) {
    addSourceEntry();
    addTranslationStep(EntryKind::Prefill);
    addTranslationStep(EntryKind::Decode);
  }
  return std::move(module);
}

OwningOpRef<ModuleOp> mlir::fovea::buildModule(MLIRContext &context,
                                               const model::ModelDescription &source) {
  context.loadDialect<FoveaDialect, arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                      math::MathDialect, tensor::TensorDialect>();
  return ModuleFrame(context, source).build();
}
