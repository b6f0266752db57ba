// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What somebody may have meant who wrote a name that there is not.
#ifndef FOVEA_FRONTEND_NEAREST_H
#define FOVEA_FRONTEND_NEAREST_H

#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// How many letters must be put in, left out, changed, or swapped with their neighbour to make one
/// word of the other, whatever the letters' case.
size_t editDistance(std::string_view left, std::string_view right);

/// The name that is nearest to `word`, the first of equals; empty if none is near: a third of the
/// letters may differ, one of few, and two of many: names have long parts in common.
std::string findNearest(std::string_view word, const std::vector<std::string> &names);

/// For the end of a message: "; did you mean 'compile'?", or nothing.
std::string didYouMean(std::string_view word, const std::vector<std::string> &names);

} // namespace fovea

#endif // FOVEA_FRONTEND_NEAREST_H
