// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What configurations say of a classifier's scores, for readers of all formats.
#ifndef FOVEA_FRONTEND_LABELS_H
#define FOVEA_FRONTEND_LABELS_H

#include "frontend/Json.h"
#include "frontend/ModelDescription.h"

namespace fovea {

/// The names of the labels, by number: those of id2label, else LABEL_0 and so on, as many as
/// num_labels says.
std::vector<std::string> readLabels(JsonObject &config);

/// What makes probabilities of the scores of so many labels, by problem_type.
ScoreFunction readScoreFunction(JsonObject &config, size_t labels);

} // namespace fovea

#endif // FOVEA_FRONTEND_LABELS_H
