// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an entry's `plan` writes where, read off the entry in the `kernels` stage.
#ifndef FOVEA_LOWERING_ENTRIES_ENTRYPLAN_H
#define FOVEA_LOWERING_ENTRIES_ENTRYPLAN_H

#include "dialects/Fovea/FoveaDialect.h"
#include "llvm/ADT/MapVector.h"
#include <array>

namespace mlir::fovea {

/// The numbers that pass from `plan` to the steps.
struct EntryPlan {
  ArenaOp arena;
  SmallVector<LaunchOp> launches;
  /// locals[1...]: the sizes that the entry returns.
  SmallVector<Value> results;
  /// Index values that some step needs, and their places in `locals`.
  llvm::MapVector<Value, int64_t> places;
  /// For each argument of the function and each axis, the place of its size in `locals`; -1 where
  /// static.
  SmallVector<SmallVector<int64_t>> argumentPlaces;
  /// For each argument and axis, the place of its size in `dims`; -1 for result buffers and static
  /// axes. A cache's length, an argument of its own, has one entry.
  SmallVector<SmallVector<int64_t>> argumentDims;
  /// For each launch, the places of its operations and bytes; 0 where it does not say.
  SmallVector<std::array<int64_t, 2>> costs;
  /// The values of these places.
  llvm::MapVector<Value, int64_t> costPlaces;
  int64_t count = 0;

  static FailureOr<EntryPlan> get(func::FuncOp entry);
};

/// The source of an op by its name in the model: "model.layers.3.self_attn.q_proj".
std::string describeLocation(Location loc);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_ENTRIES_ENTRYPLAN_H
