// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is handed to other programs as files and lies in memory: nothing of it is left behind, in
// whichever way they and we end.
#ifndef FOVEA_LOWERING_CODEGEN_MEMORYFILE_H
#define FOVEA_LOWERING_CODEGEN_MEMORYFILE_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace mlir::fovea {

/// Open from here on; errors are told by false, the reason by errno.
class MemoryFile {
public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  bool write(ArrayRef<char> bytes);
  /// All of it.
  bool read(std::vector<char> &bytes) const;
  /// A name that this program and those that it starts can open, to read or to write.
  const std::string &getPath() const { return path; }

private:
  int file;
  std::string path;
};

/// Reads to the end, of a pipe too.
bool readToEnd(int file, std::vector<char> &bytes);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CODEGEN_MEMORYFILE_H
