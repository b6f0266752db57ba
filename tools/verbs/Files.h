// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files in memory.
#ifndef FOVEA_TOOLS_VERBS_FILES_H
#define FOVEA_TOOLS_VERBS_FILES_H

#include <string>

namespace fovea::verbs {

/// Reads all of a file, or of standard input for "-". False, and `error` names the
/// file and the reason (a directory is none).
bool readFile(const std::string &path, std::string &bytes, std::string &error);
/// The same of what is no pipe and no device, which would not end: those are refused at once.
bool readRegularFile(const std::string &path, std::string &bytes, std::string &error);

/// A file beside `path` that is removed unless it is kept under that name; or, where that is a
/// device or a pipe, itself. Errors are told by false, the reason by errno.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  bool good() const { return file >= 0; }
  bool write(const void *data, size_t size);
  bool write(const std::string &text) { return write(text.data(), text.size()); }
  bool keep();

private:
  std::string target, name; ///< no name: written in place
  int file;
  bool kept = false;
};

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_FILES_H
