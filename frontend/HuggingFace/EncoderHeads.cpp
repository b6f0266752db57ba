// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heads of encoders and the parts that they are made of.
#include "frontend/HuggingFace/Encoder.h"

#include "frontend/Labels.h"

using namespace fovea;

Step Encoder::dense(const std::string &name, int64_t out, int64_t in,
                    std::optional<Activation> activation, bool bias) {
  return {weights.linear(name, out, in, bias), activation, {}, false};
}

Step Encoder::transform(const std::string &name, const std::string &normName,
                        Activation activation) {
  Step result = dense(name, tokenWidth, hidden, activation);
  result.norm = norm(normName, tokenWidth);
  return result;
}

Step Encoder::pooler() { return dense(prefix + tensors.pooler, hidden, hidden, Activation::Tanh); }

std::vector<std::string> Encoder::readLabels() { return fovea::readLabels(config); }

Step Encoder::classifier(const std::string &name) {
  model.labels = readLabels();
  model.scoreFunction = readScoreFunction(config, model.labels.size());
  return dense(name, static_cast<int64_t>(model.labels.size()), hidden);
}

void Encoder::bare() {
  // The same tensors that `pooler` asks for.
  if (!tensors.pooler.empty() && weights.has(prefix + tensors.pooler + ".weight"))
    sequenceHead({pooler()}, "pooler_output");
  model.givesHiddenState = true;
}

/// Appends a head of `steps` to `model`; it has the name of its last linear layer.
static Head &addHead(ModelDescription &model, std::vector<Step> steps, const char *output) {
  Head head;
  head.name = steps.back().dense->name;
  head.output = output;
  head.steps = std::move(steps);
  model.givesHiddenState = false;
  model.heads.push_back(std::move(head));
  return model.heads.back();
}

void Encoder::vocabularyHead(std::vector<Step> steps, const std::string &decoder,
                             const std::string &otherBias, bool bias, const char *output) {
  Head head = weights.head(decoder, tied, model.embeddings.token, bias, otherBias);
  steps.push_back(std::move(head.steps.front()));
  addHead(model, std::move(steps), output);
}

void Encoder::sequenceHead(std::vector<Step> steps, const char *output, Pool pool) {
  addHead(model, std::move(steps), output).pool = pool;
}

void Encoder::tokenHead(std::vector<Step> steps, const char *output) {
  addHead(model, std::move(steps), output);
}

void Encoder::columnHead(std::vector<Step> steps, std::vector<std::string> columns) {
  addHead(model, std::move(steps), "").columns = std::move(columns);
}

void Encoder::answerHead(std::vector<Step> steps, const std::string &name) {
  if (readLabels().size() != 2)
    config.reject(config.has("id2label") ? "id2label" : "num_labels",
                  "two labels, an answer's start and its end");
  steps.push_back(dense(name, 2, hidden));
  columnHead(std::move(steps), {"start_logits", "end_logits"});
}
