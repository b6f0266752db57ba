// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are there whole or not at all.
#ifndef FOVEA_TOOLS_COMPILE_OUTPUTFILE_H
#define FOVEA_TOOLS_COMPILE_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::fovea {

/// Writes a temporary file beside `path` and renames it; "-" is standard output. False, and `error`
/// names the file and the reason; then nothing is left behind.
bool writeOutputFile(const std::string &path, llvm::StringRef content, std::string &error);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_OUTPUTFILE_H
