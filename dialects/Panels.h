// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes and targets agree on about packed weights.
#ifndef FOVEA_DIALECTS_PANELS_H
#define FOVEA_DIALECTS_PANELS_H

#include <cstdint>

namespace mlir::fovea {

/// Outputs of a panel in which an artifact stores a weight, whatever the processor: the widest
/// vector of f32. A target that wants others lays weights out anew when it loads them.
inline constexpr int64_t kStoredPanelWidth = 16;

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_PANELS_H
