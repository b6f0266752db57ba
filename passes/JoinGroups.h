// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes one group of several and of the views between them. What may be joined is the caller's
// choice; only what the order of the block forbids is refused.
#ifndef FOVEA_PASSES_JOINGROUPS_H
#define FOVEA_PASSES_JOINGROUPS_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

/// What becomes one group.
struct GroupJoin {
  SmallVector<Operation *> parts;  ///< Groups and views of one block. They go away.
  SmallVector<Operation *> clones; ///< Groups that are copied in and stay for their other users.
  SmallVector<Value> results;      ///< Of parts: what the new group yields. All else of them has no
                                   ///< users but parts.
  Location loc;
};

/// Joins, at the place of the last part; what stands between and reads a result moves behind the
/// new group. Null, with nothing changed, if a part needs something that is computed from another
/// part outside, or if something with effects would have to move.
///
/// A view's sizes but for the last axes become those of the argument from which they stem: the
/// caller has shown that they are the same.
GroupOp joinGroups(const GroupJoin &join);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_JOINGROUPS_H
