// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normal forms by utf8proc's data with the algorithm of Unicode 15, section
// 3.11, written here: utf8proc sorts marks in quadratic time, and the code points
// that the reference does not know have to be passed over.
#include "runtime/tokenizer/Unicode.h"

#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <utf8proc.h>
#include <utility>
#include <vector>

using namespace fovea;

namespace {
/// A code point on its way through normalisation.
struct Mark {
  uint32_t codePoint;
  uint8_t combiningClass;
  bool inPrefix;
};

uint8_t combiningClassOf(uint32_t codePoint) {
  if (codePoint < 0x300 || unicode::isUnnormalised(codePoint))
    return 0;
  return static_cast<uint8_t>(
      utf8proc_get_property(static_cast<utf8proc_int32_t>(codePoint))->combining_class);
}

/// The primary composite of two code points, or 0.
uint32_t compose(uint32_t first, uint32_t second) {
  if (second < 0x300)
    return 0;
  utf8proc_int32_t pair[3] = {static_cast<utf8proc_int32_t>(first),
                              static_cast<utf8proc_int32_t>(second), 0};
  auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  if (utf8proc_normalize_utf32(pair, 2, options) != 1)
    return 0;
  uint32_t result = static_cast<uint32_t>(pair[0]);
  return unicode::isUnnormalised(result) ? 0 : result;
}

void decompose(std::vector<Mark> &out, uint32_t codePoint, bool compatible, bool inPrefix) {
  utf8proc_int32_t parts[32];
  utf8proc_ssize_t count = 1;
  parts[0] = static_cast<utf8proc_int32_t>(codePoint);
  if (codePoint >= 0xA0 && !unicode::isUnnormalised(codePoint)) {
    int options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
    int boundClass = 0;
    count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(codePoint), parts, 32,
                                    static_cast<utf8proc_option_t>(options), &boundClass);
    if (count < 0 || count > 32) // no decomposition is longer than 18
      count = 1, parts[0] = static_cast<utf8proc_int32_t>(codePoint);
  }
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    uint32_t part = static_cast<uint32_t>(parts[i]);
    out.push_back({part, combiningClassOf(part), inPrefix});
  }
}

/// Sorts each run of marks by class, those of one class in their order: counted
/// rather than compared, so that long runs stay linear.
void sortMarks(std::vector<Mark> &marks) {
  std::vector<Mark> run;
  for (size_t i = 0; i < marks.size();) {
    size_t end = i;
    bool sorted = true;
    for (; end < marks.size() && marks[end].combiningClass != 0; ++end)
      sorted &= end == i || marks[end - 1].combiningClass <= marks[end].combiningClass;
    if (!sorted) {
      run.assign(marks.begin() + static_cast<ptrdiff_t>(i),
                 marks.begin() + static_cast<ptrdiff_t>(end));
      size_t places[256] = {};
      for (const Mark &mark : run)
        ++places[mark.combiningClass];
      size_t next = i;
      for (size_t &place : places)
        next += std::exchange(place, next);
      for (const Mark &mark : run)
        marks[places[mark.combiningClass]++] = mark;
    }
    i = std::max(end, i + 1);
  }
}

/// Joins each mark to the last starter before it unless a mark of the same or
/// a higher class, or another starter, stands between.
void composeMarks(std::vector<Mark> &marks) {
  size_t used = 0, starter = SIZE_MAX;
  int lastClass = -1; // of what was kept after the starter; -1: nothing
  for (const Mark &mark : marks) {
    if (starter != SIZE_MAX && lastClass < static_cast<int>(mark.combiningClass)) {
      if (uint32_t composite = compose(marks[starter].codePoint, mark.codePoint)) {
        marks[starter].codePoint = composite;
        continue;
      }
    }
    if (mark.combiningClass == 0) {
      starter = used;
      lastClass = -1;
    } else {
      lastClass = mark.combiningClass;
    }
    marks[used++] = mark;
  }
  marks.resize(used);
}
} // namespace

std::string unicode::normalise(std::string_view text, NormalForm form, size_t &prefix) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; }))
    return std::string(text);
  bool compatible = form == NormalForm::Nfkc || form == NormalForm::Nfkd;
  std::vector<Mark> marks;
  marks.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    Utf8Char next = utf8At(text, at);
    decompose(marks, next.codePoint, compatible, at < prefix);
    at += next.size;
  }
  sortMarks(marks);
  if (form == NormalForm::Nfc || form == NormalForm::Nfkc)
    composeMarks(marks);
  std::string out;
  out.reserve(text.size());
  size_t newPrefix = 0;
  bool leading = true;
  for (const Mark &mark : marks) {
    leading = leading && mark.inPrefix;
    appendUtf8(out, mark.codePoint);
    if (leading)
      newPrefix = out.size();
  }
  prefix = newPrefix;
  return out;
}
