// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What fuzz targets share. A target is one .cpp with libFuzzer's entry point
//
//   extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
//
// and perhaps LLVMFuzzerCustomMutator, which changes an input by its structure. It is linked with
// libFuzzer (preset `fuzz`, scripts/fuzz), or with Replay.cpp, which runs the kept inputs.
#ifndef FOVEA_TEST_FUZZ_SUPPORT_FUZZ_H
#define FOVEA_TEST_FUZZ_SUPPORT_FUZZ_H

#include "frontend/Problem.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
/// Changes bytes; libFuzzer's own, or Replay.cpp's.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
}

namespace fovea::fuzz {

/// Ends the process, which is a finding, unless `holds`.
void require(bool holds, const char *what);

/// Reads each page of the bytes, the first and the last, so that the sanitizer sees whether they
/// are there.
void touch(const void *data, size_t size);

/// Makes all texts, and requires an error among them if nothing was made.
void checkProblems(const Problems &problems, bool isMade);

/// Numbers that depend on the seed alone (splitmix64: Steele, Lea and Flood 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next();
  /// From 0 to `count` - 1; 0 if there is none.
  size_t below(size_t count) { return count ? next() % count : 0; }
  /// One time in `times`.
  bool oneIn(size_t times) { return below(times) == 0; }
  template <typename T> const T &of(const std::vector<T> &values) {
    return values[below(values.size())];
  }
  template <typename T, size_t count> const T &of(const T (&values)[count]) {
    return values[below(count)];
  }

private:
  uint64_t state;
};

/// Numbers at which sizes, offsets and counts go wrong.
uint64_t oddNumber(Random &random);
/// The same, or `number` a little changed.
uint64_t changedNumber(uint64_t number, Random &random);
/// A few bytes more, less, or changed.
void changeText(std::string &text, Random &random);

/// Puts `bytes` into a mutator's buffer if they fit; else leaves `size` bytes as they are.
size_t give(std::string_view bytes, uint8_t *data, size_t size, size_t most);

/// A mutator of inputs whose first `prefix` bytes are flags, for one of what follows them.
template <typename Mutator>
size_t mutateBehind(size_t prefix, uint8_t *data, size_t size, size_t most, unsigned seed,
                    Mutator mutator) {
  Random random(seed);
  if (size <= prefix || most <= prefix)
    return LLVMFuzzerMutate(data, size, most);
  if (random.oneIn(8))
    data[random.below(prefix)] = static_cast<uint8_t>(random.next());
  return prefix + mutator(data + prefix, size - prefix, most - prefix, seed);
}

/// Reads an input from its front. What is not there is zero.
class Input {
public:
  Input(const uint8_t *data, size_t size) : data(data), left(size) {}
  template <typename T> T take() {
    T value{};
    size_t count = left < sizeof(T) ? left : sizeof(T);
    if (count)
      std::memcpy(&value, data, count);
    data += count;
    left -= count;
    return value;
  }
  std::string_view rest() const { return {reinterpret_cast<const char *>(data), left}; }

private:
  const uint8_t *data;
  size_t left;
};

/// A regular file that lies in memory and goes with the process, for readers that want a path.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view content = {});
  ~MemoryFile();
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  void set(std::string_view content);
  std::string path() const { return folder() + "/" + name(); }
  static std::string folder() { return "/proc/self/fd"; }
  std::string name() const { return std::to_string(descriptor); }

private:
  int descriptor;
  size_t size = 0;
};

/// A new folder for temporary files, in memory where TMPDIR is; removed when the process ends
/// orderly, and else by scripts/fuzz.
class Folder {
public:
  Folder();
  ~Folder();
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;

  const std::string &path() const { return root; }
  std::string file(const std::string &name) const { return root + "/" + name; }
  /// Makes the folders on the way.
  void write(const std::string &name, std::string_view content) const;
  void remove(const std::string &name) const;

private:
  std::string root;
};

/// The bytes of a file; ends the process if it is not there.
std::string readFile(const std::string &path);
/// A file of the repository that a target starts from.
std::string readKept(const std::string &pathFromRoot);

} // namespace fovea::fuzz

#endif // FOVEA_TEST_FUZZ_SUPPORT_FUZZ_H
