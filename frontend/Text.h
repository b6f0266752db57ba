// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What C++17's strings lack.
#ifndef FOVEA_FRONTEND_TEXT_H
#define FOVEA_FRONTEND_TEXT_H

#include <string_view>

namespace fovea {

inline bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

} // namespace fovea

#endif // FOVEA_FRONTEND_TEXT_H
