// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outputs that are there whole or not at all: each is written beside its target and renamed to it
// when it is whole.
#ifndef FOVEA_ARTIFACT_TEMPORARY_H
#define FOVEA_ARTIFACT_TEMPORARY_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace fovea::artifact {

/// `path`.tmp-XXXXXX, with the permissions that open() would give and locked as long as it exists;
/// removed unless it is kept under `path`, or where a symbolic link of that name leads. Making one
/// removes those of such names whose makers are gone: a program that is killed cannot. A device, a
/// pipe and a file without a name (an open one, as /proc/self/fd/N) are written in place.
/// Errors are told by false, the reason by errno; calls that a signal interrupts are repeated.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  bool good() const { return file >= 0; }
  /// What a program that is ended from outside removes; empty where nothing is to be removed.
  const std::string &getName() const { return name; }
  bool write(const void *data, size_t size);
  bool write(const std::string &text) { return write(text.data(), text.size()); }
  /// May be called by several threads at once, for different places.
  bool writeAt(uint64_t offset, const void *data, size_t size);
  /// Ends the writing: from here on the target has what was written, on the disk too.
  bool keep();

private:
  bool create();

  std::string target, name;
  int file = -1;
};

/// Removes the temporary files of a target whose makers are gone.
void removeAbandoned(const std::string &target);

} // namespace fovea::artifact

#endif // FOVEA_ARTIFACT_TEMPORARY_H
