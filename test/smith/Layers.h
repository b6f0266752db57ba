// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of what stands around an attention: a norm, an activation, a rotary embedding, each in
// one of its spellings.
#ifndef FOVEA_TEST_SMITH_LAYERS_H
#define FOVEA_TEST_SMITH_LAYERS_H

#include "test/smith/Edit.h"
#include "test/smith/Program.h"

namespace fovea::smith {

enum class Layer {
  LayerNorm,
  RmsNorm,
  L2Norm,
  Gelu,
  GeluTanh,
  GeluQuick,
  Relu,
  Silu,
  Tanh,
  Sigmoid,
  ReluSquared,
  Rope,
  Count
};

struct LayerChoices {
  Layer layer = Layer::RmsNorm;
  int width = 8;         ///< of the last axis: channels, or a head's size
  int rows = 3;          ///< of the first call; in places of a rope
  int moreRows = 5;      ///< of the second
  bool isStatic = false; ///< the rows
  bool hasBatch = false;
  bool isGated = false;      ///< an activation is multiplied with another tensor
  bool hasPositions = false; ///< a rope reads them
  bool isInterleaved = false;
  int style = 0; ///< as Choice::Style
  uint64_t spelling = 0;
};

bool isNorm(Layer layer);
bool isActivation(Layer layer);

/// The text with its sizes and its inputs, all "normal 1". Rows are the axis `i`, the last axis is
/// `d`, that of a rope's frequencies `f`.
Program generate(const LayerChoices &choices, Editor &editor);

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_LAYERS_H
