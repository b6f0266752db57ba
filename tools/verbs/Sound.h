// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sound from files, as models hear it: one channel, at their rate.
#ifndef FOVEA_TOOLS_VERBS_SOUND_H
#define FOVEA_TOOLS_VERBS_SOUND_H

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::verbs {

struct Sound {
  int64_t rate = 0; ///< Samples a second.
  std::vector<float> samples;
};

/// A WAV file (RIFF, Microsoft and IBM 1991; WAVE_FORMAT_EXTENSIBLE) of integers of 8, 16, 24 or 32
/// bits or floats of 32 or 64, its channels averaged; integers become -1 to 1. False, and `error`
/// names file, place, found and expected, if it is none, goes past its end, is compressed, or holds
/// what is no number.
bool readWav(const std::string &path, Sound &sound, std::string &error);

/// Sound at another rate, of as many seconds: each sample is a sum of those around it by a sinc
/// under a Kaiser window (Smith and Gossett 1984, "A flexible sampling-rate conversion method").
/// Frequencies above 0.95 of the lower rate's half are taken away.
Sound resample(const Sound &sound, int64_t rate);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_SOUND_H
