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

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_FILES_H
