// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are written beside their target and renamed to it when they are whole.
#ifndef FOVEA_ARTIFACT_TEMPORARY_H
#define FOVEA_ARTIFACT_TEMPORARY_H

#include <string>

namespace fovea::artifact {

/// What `path` names behind its symbolic links, so that a link to an output stays one.
std::string followLinks(const std::string &path);

/// Makes `target`.tmp-XXXXXX, open for writing with the permissions that open() would give, and
/// locked as long as it is open. Removes files of such names whose makers are gone: a program that
/// is killed cannot. -1 and `errno` if it cannot be made.
int makeTemporary(const std::string &target, std::string &name);

} // namespace fovea::artifact

#endif // FOVEA_ARTIFACT_TEMPORARY_H
