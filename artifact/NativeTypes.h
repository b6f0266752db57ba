// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the manifest's objects hold in place of a struct of the file; Format.cpp converts.
#ifndef FOVEA_ARTIFACT_NATIVETYPES_H
#define FOVEA_ARTIFACT_NATIVETYPES_H

#include "abi/Panels.h"

namespace fovea::manifest {
struct PanelSizes;
} // namespace fovea::manifest

namespace flatbuffers {
fovea::manifest::PanelSizes Pack(const fovea::Panels &panels);
fovea::Panels UnPack(const fovea::manifest::PanelSizes &panels);
} // namespace flatbuffers

#endif // FOVEA_ARTIFACT_NATIVETYPES_H
