// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-2, whose matrices converters have transposed to [out, in].
#include "frontend/GGUF/Decoder.h"

using namespace fovea;

static void describe(GgufModel &source) {
  GgufDecoder gpt2(source);
  gpt2.norms = Norm::Kind::Layer;
  gpt2.activation = Activation::GeluTanh;
  gpt2.gated = gpt2.rotates = false;
  gpt2.biases = gpt2.positionTable = true;
  if (gpt2.read())
    gpt2.describe();
}

GgufArchitecture fovea::gpt2Architecture() { return {"gpt2", describe}; }
