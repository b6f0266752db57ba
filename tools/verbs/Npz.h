// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NumPy's .npz: a zip file (PKWARE APPNOTE 6.3) of .npy members (NumPy
// Enhancement Proposal 1, versions 1 to 3). Reads stored and deflated members;
// refuses encrypted ones, big-endian and non-numeric elements, and whatever does
// not fit the file. Nothing is allocated from a number that the file's size does
// not back.
#ifndef FOVEA_TOOLS_VERBS_NPZ_H
#define FOVEA_TOOLS_VERBS_NPZ_H

#include "runtime/include/fovea/runtime.h"

#include <cstdint>
#include <new>
#include <string>
#include <vector>

namespace fovea::verbs {

/// Memory from a line of the cache on: vectors that lie across two lines are read half as fast.
template <typename T> struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  LineAllocator() = default;
  template <typename U> LineAllocator(const LineAllocator<U> &) {}
  T *allocate(size_t count) { return static_cast<T *>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T *memory, size_t) { ::operator delete(memory, kLine); }
  template <typename U> bool operator==(const LineAllocator<U> &) const { return true; }
  template <typename U> bool operator!=(const LineAllocator<U> &) const { return false; }
};
using Bytes = std::vector<uint8_t, LineAllocator<uint8_t>>;

/// A row-major array.
struct Array {
  std::string name;
  fovea_dtype dtype{};
  std::vector<int64_t> shape;
  Bytes data;
};

/// False, and `error` names file and member, if the file is not sound.
bool readNpz(const std::string &path, std::vector<Array> &arrays, std::string &error);

/// The same of one array, a file as numpy.save writes it.
bool readNpy(const std::string &path, Array &array, std::string &error);

/// Writes to a temporary file beside `path` and renames it. False, and `error`
/// says why, if that cannot be; nothing is left then.
bool writeNpz(const std::string &path, const std::vector<Array> &arrays, std::string &error);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_NPZ_H
