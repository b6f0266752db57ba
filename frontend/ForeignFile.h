// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a file is that is no model Fovea reads, told by its first bytes: other formats of weights
// and models, some of which are programs that loading runs. Nothing of them is parsed.
#ifndef FOVEA_FRONTEND_FOREIGNFILE_H
#define FOVEA_FRONTEND_FOREIGNFILE_H

#include <string>
#include <string_view>

namespace fovea {

/// For a message behind "got ": what begins with these bytes, and what to do about it. Empty if
/// they are no known format's. `name` is the file's, whose ending tells what bytes do not.
std::string describeForeign(std::string_view bytes, std::string_view name = "");

/// The same of a file; empty also if it cannot be read.
std::string describeForeignFile(const std::string &path);

} // namespace fovea

#endif // FOVEA_FRONTEND_FOREIGNFILE_H
