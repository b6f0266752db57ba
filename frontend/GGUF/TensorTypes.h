// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The types of GGUF's tensors by their numbers.
#ifndef FOVEA_FRONTEND_GGUF_TENSORTYPES_H
#define FOVEA_FRONTEND_GGUF_TENSORTYPES_H

#include "frontend/StoredTensor.h"

#include <optional>
#include <string>

namespace fovea {

/// Nothing for types that are not read.
std::optional<ElementType> ggufElementType(uint32_t number);
/// "IQ2_XS", or the number if no type has it.
std::string nameOfGgufType(uint32_t number);
/// All that are read: "F32, F16, ...".
std::string listGgufTypes();

} // namespace fovea

#endif // FOVEA_FRONTEND_GGUF_TENSORTYPES_H
