// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The region of a `tile.map`, run for a whole vector of elements at a time.
#ifndef FOVEA_LOWERING_CPU_VECTORREGION_H
#define FOVEA_LOWERING_CPU_VECTORREGION_H

#include "dialects/Tile/TileDialect.h"
#include "lowering/Tile/Emitter.h"

namespace mlir::fovea {

/// What is known of a value that differs from lane to lane, or does not.
struct LaneValue {
  Value vector; ///< one element a lane; absent until somebody needs it
  Value scalar; ///< uniform: the value of all lanes; linear: that of the first
  enum Kind { Uniform, Linear, Varying } kind = Varying;

  static LaneValue uniform(Value scalar) { return {{}, scalar, Uniform}; }
  /// Lane i has `first` + i.
  static LaneValue linear(Value first) { return {{}, first, Linear}; }
  static LaneValue varying(Value vector) { return {vector, {}, Varying}; }
};

/// The vector of a lane value.
Value getVector(Emitter &b, LaneValue &value, int64_t lanes);

/// The region's result for `lanes` elements, given its arguments'. Ops that have no vector form run
/// once for each lane.
LaneValue emitRegion(Emitter &b, Region &region, ArrayRef<LaneValue> arguments, int64_t lanes);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CPU_VECTORREGION_H
