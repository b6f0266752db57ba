// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What ModuleBuilder.cpp and the files of entries share: the frame of a module while it is built.
#ifndef FOVEA_FRONTEND_BUILDER_MODULEFRAME_H
#define FOVEA_FRONTEND_BUILDER_MODULEFRAME_H

#include "frontend/Builder/Body.h"
#include "frontend/ModelDescription.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::fovea {

constexpr int64_t dynamicSize = ShapedType::kDynamic;

/// Layers with one function.
struct LayerKind {
  const ::fovea::Layer *first = nullptr; ///< The function is built from this one.
  std::string place;                     ///< "model.layers.*"
  func::FuncOp function;                 ///< For any S.
  func::FuncOp decode;                   ///< For S = 1; where a text grows.
  func::FuncOp source;                   ///< Makes keys and values of the source.
};

/// Layers one behind the other.
struct LayerStack {
  const std::vector<::fovea::Layer> *layers = nullptr;
  std::string name; ///< Of functions: "layer".
  bool hasCaches = false;
  bool hasMask = true; ///< Without caches: of what is padding.
  int64_t length = dynamicSize;
  int64_t width = 0; ///< Of what they pass on.
  std::vector<LayerKind> kinds;
  std::vector<size_t> kindOfLayer;
};

/// One argument or result of an entry.
struct Port {
  Type type;
  std::string name;
  SmallVector<StringRef> dims = {};
  PortRole role = PortRole::None;
};

/// An encoder: the model's only one, or one of several.
struct Tower {
  const ::fovea::ModelDescription *source;
  LayerStack stack;
};

/// What the layers of a stack are called with, one value for each layer where there are several.
struct StackValues {
  std::vector<Value> keyCaches, valueCaches; ///< Replaced by the grown ones.
  Value attentionMask;
  std::vector<Value> sourceKeys, sourceValues;
  Value sourceMask;
};

class ModuleFrame {
public:
  ModuleFrame(MLIRContext &context, const ::fovea::ModelDescription &source)
      : context(&context), source(source), b(&context) {}

  OwningOpRef<ModuleOp> build();

private:
  using Kind = ::fovea::ModelDescription::Kind;

  /// A decoder's head, or null.
  const ::fovea::Head *languageHead() const {
    return source.heads.empty() ? nullptr : &source.heads.front();
  }
  Location locate(StringRef name) { return NameLoc::get(b.getStringAttr(name)); }
  RankedTensorType idsType(int64_t length) {
    return RankedTensorType::get({dynamicSize, length}, b.getI64Type());
  }
  CacheType cacheType(CacheKind kind, const ::fovea::Attention &attention) {
    int64_t size = kind == CacheKind::Key ? attention.headSize : attention.sizeOfValues();
    return CacheType::get(context, kind, attention.keyValueHeads, size, b.getF32Type());
  }

  /// Labels, what pictures become, and what texts of sound begin with.
  void addModuleAttributes();
  void addModelOp();
  void addWeight(const ::fovea::Weight &weight);
  Attribute recipeOf(const ::fovea::Weight &weight);
  void addWeights();
  void addWeightsOf(const ::fovea::ModelDescription &part);

  void findLayerKinds(LayerStack &stack);
  /// The functions of all layers; `decodes`: also those for S = 1.
  void addLayerFunctions(LayerStack &stack, bool decodes);
  func::FuncOp addLayerFunction(const LayerStack &stack, const LayerKind &kind, StringRef name,
                                int64_t length);
  func::FuncOp addSourceFunction(const LayerKind &kind, StringRef name);
  /// A private function of `inputs` and then `weights`, whose body `fill` makes of its arguments.
  func::FuncOp addFunction(const LayerKind &kind, StringRef name, ArrayRef<Port> inputs,
                           ArrayRef<Type> outputs, ArrayRef<const ::fovea::Weight *> weights,
                           function_ref<SmallVector<Value>(Body &, ValueRange)> fill);

  /// Without a name it has its kind's.
  func::FuncOp addEntry(EntryKind kind, ArrayRef<Port> arguments, ArrayRef<Port> results,
                        int64_t maxPositions, StringRef name = "");
  void addDecoderForward();
  /// `prefill` or `decode`; of kind generic `verify`, which is `prefill` with the logits of all
  /// positions.
  void addDecoderStep(EntryKind kind);
  /// The layer functions and entries of all towers.
  void addTowers();
  void addTowerForward(const Tower &tower);
  /// Its embedding alone, or what its pooling gives.
  void addTowerEmbedding(const Tower &tower, EntryKind kind, StringRef name = "");
  /// All towers' embeddings, and how near each two are.
  void addSimilarity(ArrayRef<Tower> towers);
  /// What a tower reads, as many rows as `batch`.
  SmallVector<Port> inputsOf(const Tower &tower, StringRef batch);
  SmallVector<Port> portsOf(const Tower &tower, const ::fovea::Head &head, StringRef batch);
  /// Its last hidden state.
  Value read(const Tower &tower, Body &body, ValueRange inputs);
  /// What a head makes of it.
  SmallVector<Value> give(const Tower &tower, Body &body, Value x, const ::fovea::Head &head,
                          ValueRange inputs);
  void addTranslationForward();
  void addSourceEntry();
  void addTranslationStep(EntryKind kind);

  /// A body of an entry: weights by `fovea.weight_ref`, each once.
  Body entryBody(func::FuncOp entry, unsigned input = 0);
  Value weightRef(const ::fovea::Weight &weight);
  /// All layers in turn.
  Value callLayers(const LayerStack &stack, Value x, bool decode, StackValues &values);
  /// The source of an encoder-decoder, and its mask if it has one.
  SmallVector<Port> sourcePorts();
  /// What the encoder gives for these first arguments of an entry.
  Value encode(Body &body, func::FuncOp entry);
  /// Appends keys and values of `states` to the caches of all layers.
  void callSources(Value states, std::vector<Value> &keys, std::vector<Value> &values);
  /// Empty caches of all layers with room for `capacity` positions.
  void createCaches(Location loc, Value batch, Value capacity, bool ofSource,
                    std::vector<Value> &keys, std::vector<Value> &values);
  /// Caches of all layers as arguments of an entry, keys and values in turn.
  SmallVector<Port> cachePorts(bool ofSource);
  /// Logits of the last position, and the greatest's token: what steps give first.
  SmallVector<Value> lastLogits(Value x, Body &body);
  SmallVector<Port> stepResults();
  /// Behind the layers, before any head.
  Value finish(Value x, Body &body, const ::fovea::ModelDescription &part);
  Value finish(Value x, Body &body) { return finish(x, body, source); }

  MLIRContext *context;
  const ::fovea::ModelDescription &source;
  OpBuilder b;
  OwningOpRef<ModuleOp> module;
  LayerStack stack, encoderStack;
  llvm::StringMap<Value> weightRefs; ///< Of the entry that is being built.
};

} // namespace mlir::fovea

#endif // FOVEA_FRONTEND_BUILDER_MODULEFRAME_H
