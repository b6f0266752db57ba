// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ModuleAttributes.h.
#include "frontend/Attributes/ModuleAttributes.h"
#include "dialects/Fovea/Ports.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

void mlir::fovea::setLabels(ModuleOp module, const model::ModelDescription &model) {
  if (model.labels.empty())
    return;
  Builder b(module.getContext());
  SmallVector<StringRef> labels(model.labels.begin(), model.labels.end());
  module->setAttr(kLabelsAttr, b.getStrArrayAttr(labels));
  const char *function = model.scoreFunction == model::ScoreFunction::Softmax   ? "softmax"
                         : model.scoreFunction == model::ScoreFunction::Sigmoid ? "sigmoid"
                                                                                : "none";
  module->setAttr(kScoreFunctionAttr, b.getStringAttr(function));
}

/// As `fovea.images` says it.
static DictionaryAttr attributeOf(Builder &b, const model::ImageSettings &images) {
  NamedAttrList list;
  auto sides = [&](const model::ImageSettings::Sides &value) {
    return b.getDenseI32ArrayAttr(
        {static_cast<int32_t>(value.height), static_cast<int32_t>(value.width)});
  };
  if (images.resize)
    list.set("resize", sides(*images.resize));
  else if (images.shortestEdge)
    list.set("shortest_edge", b.getI32IntegerAttr(static_cast<int32_t>(*images.shortestEdge)));
  if (images.resize || images.shortestEdge)
    list.set("filter", b.getStringAttr(kImageFilters[static_cast<size_t>(images.filter)]));
  if (images.crop)
    list.set("crop", sides(*images.crop));
  list.set("scale", b.getF64FloatAttr(images.scale));
  list.set("mean", b.getDenseF64ArrayAttr(images.mean));
  list.set("deviation", b.getDenseF64ArrayAttr(images.deviation));
  return list.getDictionary(b.getContext());
}

void mlir::fovea::setImages(ModuleOp module, const std::optional<model::ImageSettings> &images) {
  if (!images)
    return;
  Builder b(module.getContext());
  module->setAttr(kImagesAttr, attributeOf(b, *images));
}
