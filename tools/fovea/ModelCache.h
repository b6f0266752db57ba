// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A MODEL where a verb wants an artifact: compiled on the fly and kept.
#ifndef FOVEA_TOOLS_FOVEA_MODELCACHE_H
#define FOVEA_TOOLS_FOVEA_MODELCACHE_H

#include "tools/compile/Compile.h"

#include <string>

namespace fovea {

/// True if `path` must be compiled before it can run: a folder or a .mlir file.
bool isModel(const std::string &path);

/// Finds or makes the artifact of `options.model` in $XDG_CACHE_HOME/fovea, or ~/.cache/fovea; its
/// name is the hash of all that it depends on. `artifact` is its path.
compile::Outcome findOrCompile(compile::Options options, const compile::Log &log,
                               std::string &artifact);

} // namespace fovea

#endif // FOVEA_TOOLS_FOVEA_MODELCACHE_H
