// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights of linear layers, norms and heads by the names that checkpoints
// give them. A head that is tied to the tokens must not differ from them.
#include "frontend/HuggingFace/Family.h"

#include <cstring>

using namespace fovea;

Linear WeightTable::linear(const std::string &name, int64_t out, int64_t in, bool bias,
                           bool transposed) {
  Linear result;
  result.name = chosenPrefix + name;
  result.weight = weight(name + ".weight", {out, in}, transposed);
  if (bias)
    result.bias = weight(name + ".bias", {out});
  return result;
}

Norm WeightTable::layerNorm(const std::string &name, int64_t size, double epsilon) {
  Norm result;
  result.name = chosenPrefix + name;
  result.kind = Norm::Kind::Layer;
  result.epsilon = epsilon;
  // Checkpoints converted from TensorFlow say gamma and beta.
  result.weight = weight(name + ".weight", {size}, false, {name + ".gamma"});
  result.bias = weight(name + ".bias", {size}, false, {name + ".beta"});
  return result;
}

Norm WeightTable::rmsNorm(const std::string &name, int64_t size, double epsilon) {
  Norm result;
  result.name = chosenPrefix + name;
  result.kind = Norm::Kind::Rms;
  result.epsilon = epsilon;
  result.weight = weight(name + ".weight", {size});
  return result;
}

Head WeightTable::head(const std::string &name, bool tied, const Weight &token) {
  Head result;
  result.name = name;
  result.tied = tied;
  if (!tied) {
    result.weight = find({name + ".weight"}, token.shape, false);
    return result;
  }
  result.weight = token;
  if (!checkpoint)
    return result;
  const StoredTensor *own = checkpoint->find(name + ".weight");
  const StoredTensor *tokens = checkpoint->find(token.stored.name);
  if (!own || !tokens)
    return result;
  used.insert(own->name);
  if (own->type != tokens->type || own->shape != tokens->shape ||
      std::memcmp(checkpoint->data(*own), checkpoint->data(*tokens), own->bytes) != 0)
    addError(problems, checkpoint->pathOf(*own), "tensor " + quote(own->name),
             "expects the content of " + quote(tokens->name) +
                 ", as tie_word_embeddings is true, got another");
  return result;
}
