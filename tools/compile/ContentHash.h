// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of what is kept, by what it depends on.
#ifndef FOVEA_TOOLS_COMPILE_CONTENTHASH_H
#define FOVEA_TOOLS_COMPILE_CONTENTHASH_H

#include "artifact/Format.h"
#include <string>

namespace fovea::compile {

/// Of this program's file: another build of the compiler may make other code. Empty if it cannot be
/// read.
std::string hashCompiler();

/// 32 hexadecimal digits.
std::string printHash(const artifact::Hash &hash);

} // namespace fovea::compile

#endif // FOVEA_TOOLS_COMPILE_CONTENTHASH_H
