// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights in panels laid out in other panels, as a device's code reads them. Panel by panel, so
// that a large weight needs no second copy as a whole.
#ifndef FOVEA_RUNTIME_REPACK_H
#define FOVEA_RUNTIME_REPACK_H

#include "artifact/Format.h"

namespace fovea {

/// A matrix and its two layouts; `to` interleaves a multiple of what `from` does.
struct Repacking {
  int64_t outputs, inputs; ///< inputs that share a byte are one: artifact::storedInputs
  uint64_t elementBytes;
  Panels from, to;

  /// Panels of the result, and bytes of each.
  int64_t panels() const { return to.count(outputs); }
  uint64_t panelBytes() const {
    return static_cast<uint64_t>(to.width) * static_cast<uint64_t>(to.depth(inputs)) * elementBytes;
  }
};

/// Writes the result's panel `number` to `out`; `in` is the whole matrix.
void repackPanel(const Repacking &repacking, const void *in, int64_t number, void *out);

} // namespace fovea

#endif // FOVEA_RUNTIME_REPACK_H
