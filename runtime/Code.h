// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code section of an artifact, loaded: an ELF shared object from memory.
#ifndef FOVEA_RUNTIME_CODE_H
#define FOVEA_RUNTIME_CODE_H

#include <cstddef>
#include <string>

namespace fovea {

class Code {
public:
  /// What a compiler's --target is for any processor that this runtime runs on.
  static const char *const kPortable;

  /// Loads the object; `name` stands in messages. Throws Failure if the system
  /// refuses memory files or the object cannot be loaded.
  Code(const std::string &name, const void *data, size_t size);
  ~Code();
  Code(const Code &) = delete;
  Code &operator=(const Code &) = delete;

  /// Throws Failure if the object is for other processors than this runtime.
  static void requireProcessor(const std::string &name, const void *data, size_t size);

  /// Throws Failure if the object does not export `symbol`.
  void *find(const std::string &symbol) const;

private:
  std::string name;
  int file = -1;
  void *handle = nullptr;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_CODE_H
