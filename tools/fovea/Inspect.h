// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `fovea inspect` prints of an artifact.
#ifndef FOVEA_TOOLS_FOVEA_INSPECT_H
#define FOVEA_TOOLS_FOVEA_INSPECT_H

#include "artifact/ArtifactReader.h"

#include <string>

namespace fovea {

/// `file` is what the user asked for: the artifact or the model that it was made of.
void printArtifact(const artifact::ArtifactReader &reader, const std::string &file);

/// The same as one JSON object.
std::string describeArtifact(const artifact::ArtifactReader &reader, const std::string &file);

/// "bicubic"
std::string nameOfFilter(manifest::ImageFilter filter);

/// One line for each softmax of the model: is it fused, where it stands, its masks and its rule; if
/// there is more to say, another line.
void printFusion(const std::string &report);

/// What nearly is a norm or an activation, and why it is none.
void printNotRaised(const std::string &report);

} // namespace fovea

#endif // FOVEA_TOOLS_FOVEA_INSPECT_H
