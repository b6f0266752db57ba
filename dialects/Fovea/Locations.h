// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locations as messages and reports name them.
#ifndef FOVEA_DIALECTS_FOVEA_LOCATIONS_H
#define FOVEA_DIALECTS_FOVEA_LOCATIONS_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir::fovea {

/// "layers.3.self_attn", "model.onnx:/layer/MatMul" or "program.mlir:3:7": the first place of a
/// source that a location stands for, of a call what is called. Empty if it stands for none.
std::string placeOf(Location loc);

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_FOVEA_LOCATIONS_H
