// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values from elsewhere that `verify --against` compares with.
#ifndef FOVEA_TOOLS_VERIFY_REFERENCE_H
#define FOVEA_TOOLS_VERIFY_REFERENCE_H

#include "tools/verify/Verify.h"

namespace mlir::fovea::verify {

/// The members of an .npz file as tensors. False, and `error` names file and member, if it cannot
/// be read or has elements that are no numbers.
bool readReference(const std::string &path, Reference &reference, std::string &error);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_REFERENCE_H
