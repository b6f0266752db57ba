// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of what is kept, by what it depends on.
#ifndef FOVEA_TOOLS_COMPILE_CONTENTHASH_H
#define FOVEA_TOOLS_COMPILE_CONTENTHASH_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace fovea::compile {

/// Of this program's build, and of LLVM's where that is a shared library: another one may make
/// other code. Empty if it cannot be told.
const std::string &hashCompiler();

/// Of these texts, none of which runs into the next: 32 hexadecimal digits.
std::string hashTexts(llvm::ArrayRef<llvm::StringRef> texts);

} // namespace fovea::compile

#endif // FOVEA_TOOLS_COMPILE_CONTENTHASH_H
