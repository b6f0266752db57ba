// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A MODEL where a verb wants an artifact: compiled on the fly and kept, as long as there is room.
#ifndef FOVEA_TOOLS_FOVEA_MODELCACHE_H
#define FOVEA_TOOLS_FOVEA_MODELCACHE_H

#include "tools/compile/Compile.h"

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

namespace fovea {

/// Whether a file of this name is a model's: .gguf, .onnx or .mlir.
bool isModelFile(const std::string &path);

/// True if `path` must be compiled before it can run: a folder or a model's file.
bool isModel(const std::string &path);

/// Finds or makes the artifact of `options.model` in the cache; its name is the hash of all that it
/// depends on. `artifact` is its path. What was not used for longest goes where there is too much.
compile::Outcome findOrCompile(compile::Options options, const compile::Log &log,
                               std::string &artifact);

/// $XDG_CACHE_HOME/fovea, or ~/.cache/fovea; false, and `error` says what it expects, if there is
/// neither.
bool getCacheFolder(std::string &folder, std::string &error);

/// The most bytes that are kept, by $FOVEA_CACHE_SIZE; 0: no limit. False if it says none.
bool getCacheLimit(uint64_t &bytes, std::string &error);

/// Where code of kernels is kept: that folder's "kernels"; empty if either says none.
std::string getKernelFolder();
/// Removes what was not used for longest where kernels take more than a twentieth of all bytes;
/// looks at most once a minute.
void trimKernels();

/// A file in the cache: an artifact, or the code of a kernel.
struct Cached {
  std::string path;
  uint64_t bytes = 0;
  std::time_t used = 0; ///< when it was last asked for
};

/// All artifacts, what was used last first.
std::vector<Cached> listCached(const std::string &folder);
/// All kernels, likewise.
std::vector<Cached> listKernels(const std::string &folder);

/// False if it is still there.
bool removeCached(const Cached &cached);
/// Removes what compilations that ended early have left, and folders without content.
void removeLeftovers(const std::string &folder);

} // namespace fovea

#endif // FOVEA_TOOLS_FOVEA_MODELCACHE_H
