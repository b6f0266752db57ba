// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phi-2: attention and feed-forward side by side behind one layer norm, biases everywhere. Phi-3:
// Llama whose projections are stacked.
#include "frontend/GGUF/Decoder.h"

using namespace fovea;

static void describePhi2(GgufModel &source) {
  GgufDecoder phi(source);
  phi.norms = Norm::Kind::Layer;
  phi.activation = Activation::GeluTanh;
  phi.gated = phi.feedForwardNorm = false;
  phi.biases = true;
  if (phi.read())
    phi.describe([](Layer &layer, int64_t) { layer.parallel = true; });
}

static void describePhi3(GgufModel &source) {
  GgufDecoder phi(source);
  phi.gateInUp = true;
  phi.window = readGgufWindow(source);
  if (phi.read())
    phi.describe();
}

GgufArchitecture fovea::phi2Architecture() { return {"phi2", describePhi2}; }
GgufArchitecture fovea::phi3Architecture() { return {"phi3", describePhi3}; }
