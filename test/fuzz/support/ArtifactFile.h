// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts round a manifest that was changed: sections of some bytes, and hashes that are right,
// so that what the manifest says is what a reader has to judge.
#ifndef FOVEA_TEST_FUZZ_SUPPORT_ARTIFACTFILE_H
#define FOVEA_TEST_FUZZ_SUPPORT_ARTIFACTFILE_H

#include "artifact/Format.h"

#include <string>

namespace fovea::fuzz {

struct Sections {
  std::string code, deviceCode, tokenizer; ///< empty: no such section, but for code
};

/// Moves weights and the ranges of devices to where they have to be, one behind the other, and
/// gives weights the bytes that their shapes take if these are few.
void mendPlaces(manifest::ManifestT &manifest, uint64_t deviceBytes);

/// The whole file. Weights hold numbers, gaps zeros; what lies beyond the first 64 KiB is not
/// there. Gives `manifest` its hashes.
std::string makeArtifact(manifest::ManifestT &manifest, const Sections &sections);

/// Puts the right hashes into an artifact's header, as far as it is one. The hash of weights is
/// their manifest's affair.
void mendHashes(std::string &artifact);

} // namespace fovea::fuzz

#endif // FOVEA_TEST_FUZZ_SUPPORT_ARTIFACTFILE_H
