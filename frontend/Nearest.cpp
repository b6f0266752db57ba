// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Nearest.h. What is no name at all, by its length, is near to none.
#include "frontend/Nearest.h"

#include <algorithm>

namespace fovea {

static constexpr size_t kLongest = 200;

static char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

size_t editDistance(std::string_view left, std::string_view right) {
  // Row by row: of what is made of the first letters of the left word, the last three rows.
  std::vector<size_t> before, last(right.size() + 1), row(right.size() + 1);
  for (size_t j = 0; j <= right.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= left.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= right.size(); ++j) {
      char a = lower(left[i - 1]), b = lower(right[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a == b ? 0 : 1)});
      if (i > 1 && j > 1 && a == lower(right[j - 2]) && lower(left[i - 2]) == b)
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

std::string findNearest(std::string_view word, const std::vector<std::string> &names) {
  std::string nearest;
  if (word.size() < 2 || word.size() > kLongest)
    return nearest;
  size_t least = std::clamp<size_t>(word.size() / 3, 1, 2) + 1;
  for (const std::string &name : names) {
    if (name.empty() || name.size() > word.size() + least || word.size() > name.size() + least)
      continue;
    if (size_t distance = editDistance(word, name); distance < least && distance < name.size()) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string didYouMean(std::string_view word, const std::vector<std::string> &names) {
  std::string nearest = findNearest(word, names);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

} // namespace fovea
