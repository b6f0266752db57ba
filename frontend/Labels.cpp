// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Labels.h.
#include "frontend/Labels.h"

using namespace fovea;

/// More than any model has, and few enough to be counted up.
static constexpr int64_t kMostLabels = int64_t(1) << 20;

std::vector<std::string> fovea::readLabels(JsonObject &config) {
  const JsonValue *names = config.find("id2label");
  if (!names) {
    std::vector<std::string> result;
    for (int64_t i = 0, count = config.integer("num_labels", 1, kMostLabels, 2); i < count; ++i)
      result.push_back("LABEL_" + std::to_string(i));
    return result;
  }
  std::vector<std::string> result(names->keys().size());
  for (size_t i = 0; i < result.size(); ++i) {
    const JsonValue *name = names->find(std::to_string(i));
    if (name && name->isString())
      result[i] = name->string();
    else
      result.clear();
  }
  auto count = static_cast<int64_t>(result.size());
  if (count == 0 || count > kMostLabels) {
    config.reject("id2label", "an object with the name of each label, from \"0\" on");
    return {""};
  }
  if (config.has("num_labels") && config.integer("num_labels", 1, kMostLabels, count) != count)
    config.reject("num_labels", std::to_string(count) + ", as id2label has so many");
  return result;
}

ScoreFunction fovea::readScoreFunction(JsonObject &config, size_t labels) {
  std::string problem = config.string("problem_type", "");
  if (problem == "regression")
    return ScoreFunction::None;
  return problem == "multi_label_classification" || labels == 1 ? ScoreFunction::Sigmoid
                                                                : ScoreFunction::Softmax;
}
