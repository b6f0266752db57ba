// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of a whole file: mapped, so that they are shared and read when they are needed, or
// copied into memory. Where a mapped file is cut meanwhile, a reader is ended by SIGBUS; a
// program's handler learns from findMappedFile() which file it was. Nothing here installs one.
#ifndef FOVEA_ARTIFACT_FILEVIEW_H
#define FOVEA_ARTIFACT_FILEVIEW_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace fovea::artifact {

enum class FileAccess {
  Mapped, ///< the file must stay as it is while it is viewed
  Copied  ///< it may change as soon as it is open
};

class FileView {
public:
  /// Of a regular file that is open, whose first `size` bytes are wanted; `path` is what a message
  /// calls it. The descriptor may be closed afterwards. Null, and `error` says why, without the
  /// path.
  static std::unique_ptr<FileView> open(int descriptor, size_t size, const std::string &path,
                                        FileAccess access, std::string &error);
  ~FileView();
  FileView(const FileView &) = delete;
  FileView &operator=(const FileView &) = delete;

  /// Null of an empty file.
  const uint8_t *data() const { return bytes; }
  size_t size() const { return count; }
  /// Gives memory back where the file still has the bytes: whole pages within these.
  void drop(const uint8_t *begin, size_t length) const;

private:
  FileView() = default;

  const uint8_t *bytes = nullptr;
  size_t count = 0;
  bool isMapped = false;
};

/// The path of the file that is mapped at an address by a view of this library; null if none is.
/// May be called in a signal's handler.
const char *findMappedFile(const void *address);

} // namespace fovea::artifact

#endif // FOVEA_ARTIFACT_FILEVIEW_H
