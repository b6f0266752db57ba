// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a context holds in a file, from one run of a program to the next.
#ifndef FOVEA_TOOLS_VERBS_PROMPTCACHE_H
#define FOVEA_TOOLS_VERBS_PROMPTCACHE_H

#include "tools/verbs/Common.h"

#include <string>

namespace fovea::verbs {

/// The file of --prompt-cache; without the option nothing is done. Everything throws Failure that
/// names the file.
class PromptCache {
public:
  void addTo(CLI::App &verb);
  bool isGiven() const { return !path.empty(); }
  /// Puts what the file holds into the caches, if it is there; says at once if it cannot be
  /// written.
  void load(const ContextPtr &context) const;
  /// Writes what the caches hold; the file is the former one until it is whole.
  void save(const ContextPtr &context) const;

private:
  std::string path;
};

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_PROMPTCACHE_H
