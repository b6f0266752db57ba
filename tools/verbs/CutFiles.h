// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens where a mapped file is cut by somebody else.
#ifndef FOVEA_TOOLS_VERBS_CUTFILES_H
#define FOVEA_TOOLS_VERBS_CUTFILES_H

namespace fovea::verbs {

/// From now on a program that finds bytes gone, of an artifact or of a model that it has mapped,
/// ends with a message that names the file, and code 1; it would end by SIGBUS without a word.
/// `cleanUp`, if not null, is called before; in a signal's handler. `program` stands before the
/// message and lives on.
void endOnCutFiles(const char *program, void (*cleanUp)() = nullptr);

/// What the option is called and says, in all verbs that read such files.
constexpr const char kNoMapping[] = "--no-mmap";
constexpr const char kNoMappingHelp[] =
    "read files whole before they are used; without this they are mapped, and must not be written "
    "to meanwhile, only replaced by renaming";

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_CUTFILES_H
