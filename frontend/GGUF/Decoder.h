// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoder by GGUF's names, which are the same in all architectures: what a layer has, its tensors
// tell. An architecture says only what they do not.
#ifndef FOVEA_FRONTEND_GGUF_DECODER_H
#define FOVEA_FRONTEND_GGUF_DECODER_H

#include "frontend/GGUF/Architecture.h"

namespace fovea {

class GgufDecoder {
public:
  explicit GgufDecoder(GgufModel &source) : source(source) {}

  // What an architecture says before `read`.
  Norm::Kind norms = Norm::Kind::Rms;
  Activation activation = Activation::Silu;
  bool gated = true;
  bool gateInUp = false;    ///< `ffn_up` has the rows of the gate, too, before its own.
  bool interleaved = false; ///< Rows of queries and keys are stored so that pairs are neighbours.
  bool rotates = true;
  bool projectionBias = false; ///< It must be there; else it is taken where it is.
  bool biases = false;         ///< The same of all matrices and norms.
  bool feedForwardNorm = true;
  bool normsHeads = false;     ///< Queries and keys are normed.
  bool hasOutputNorms = false; ///< Behind attention and feed-forward.
  bool positionTable = false;
  std::optional<int64_t> window; ///< Of all layers.

  GgufSizes sizes;              ///< What `read` has found.
  std::optional<Rotary> rotary; ///< Likewise.

  /// Reads sizes and rotary parameters; keys that are neither read nor known become problems, so
  /// an architecture has read its own before. False if the layers cannot be described.
  bool read();

  /// Sets what some layers have in place of their feed-forward.
  std::function<std::optional<Experts>(const std::string &layer)> expertsOf;
  FeedForward feedForward(const std::string &layer, int64_t width, const std::string &ending = "");
  Norm norm(const std::string &name) { return norm(name, sizes.hidden); }
  /// Sizes and projections; `layer` is its name.
  void attend(Attention &attention, const std::string &layer);

  /// All of the model; `adjust` completes layers.
  void describe(const std::function<void(Layer &, int64_t i)> &adjust = {});

private:
  Linear linear(const std::string &name, int64_t out, int64_t in, bool bias);
  Linear linear(const std::string &name, int64_t out, int64_t in) {
    return linear(name, out, in, biases);
  }
  Norm norm(const std::string &name, int64_t size);
  void project(Attention &attention, const std::string &layer);
  Layer layer(int64_t i);

  GgufModel &source;
};

/// `attention.sliding_window`; nothing if it is absent or 0.
std::optional<int64_t> readGgufWindow(GgufModel &source);

/// How experts of GGUF differ.
struct GgufExperts {
  int64_t count = 0, chosen = 0;
  int64_t width = 0; ///< 0: as wide as a layer without experts.
  Routing routing;
};

/// Reads how many experts there are and which routing; `routing` is what absent keys mean. False
/// after a problem; `count` is 0 without experts.
bool readGgufExperts(GgufModel &source, GgufExperts &experts);

/// Those of a layer, or nothing if it has none.
std::optional<Experts> makeGgufExperts(GgufModel &source, const GgufExperts &experts,
                                       const GgufSizes &sizes, const std::string &layer);

} // namespace fovea

#endif // FOVEA_FRONTEND_GGUF_DECODER_H
