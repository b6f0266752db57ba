// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What holds of every manifest beyond its schema: all numbers refer to something
// that exists, names are unique, sizes fit. Writer and reader both check it, so
// the runtime need not.
#ifndef FOVEA_ARTIFACT_MANIFESTCHECK_H
#define FOVEA_ARTIFACT_MANIFESTCHECK_H

#include "artifact/Format.h"

namespace fovea::artifact {

/// Longest shape of a value or weight.
constexpr size_t maxRank = 16;

/// Whether bytes at an address that is a multiple of 8 are a manifest as FlatBuffers wants it: what
/// their verifier checks, and that lists of 64-bit numbers lie where these may be read, which it
/// does not.
bool isWellFormed(const uint8_t *data, size_t size);

/// `weightsSize` and `otherSize`: bytes of the sections of weights and of other code, 0 without
/// one. False, and `error` names place, found and expected, if the manifest is not sound.
bool checkManifest(const manifest::ManifestT &manifest, uint64_t weightsSize, uint64_t otherSize,
                   std::string &error);

} // namespace fovea::artifact

#endif // FOVEA_ARTIFACT_MANIFESTCHECK_H
