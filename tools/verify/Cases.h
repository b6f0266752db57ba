// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls that `verify` makes of an entry: how long, how many, and how great the inputs are.
#ifndef FOVEA_TOOLS_VERIFY_CASES_H
#define FOVEA_TOOLS_VERIFY_CASES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/verify/Inputs.h"

namespace mlir::fovea::verify {

/// The longest length that is chosen because of a constant: attention takes the interpreter the
/// square of it. Longer ones are run where they are asked for.
constexpr int64_t kLongest = 300;

struct Case {
  Sizes sizes;
  Magnitude magnitude = Magnitude::One;
  /// No size but the batch is above `cap`.
  Case cutTo(int64_t cap) const;
  int64_t getLongest() const;
};

/// The lengths that each entry is run with: `asked`, or 1, 2, 7 and 33.
SmallVector<int64_t> getLengths(ArrayRef<int64_t> asked);

/// Two more than the greatest constant up to `kLongest` that `module` compares places with, or that
/// a mask or a bias by distance holds; 0 if none is above the lengths that are run anyway.
int64_t findLongLength(ModuleOp module);

/// Whether any tensor has an axis of this size, or of one or two more: a table of positions, of
/// which the first ones may be set apart.
bool hasAxisOf(ModuleOp module, int64_t size);

/// A copy in which the numbers that sources add to scores, or put there, to say "never" (finite,
/// below -5000; docs/rationale/raising.md) are so great that no score reaches them. Null if there
/// is none: then scores of any size mean the same.
OwningOpRef<ModuleOp> widenMasks(ModuleOp module);

/// The batches that entries are run with, 1 and 2 if that size is not fixed.
SmallVector<int64_t> getBatches(func::FuncOp entry, const FixedSizes &fixed);

/// All lengths with batches 1 and 2; `longLength`, if it is not 0, with batch 1; where floats are
/// among the inputs, each other magnitude with batch 2 and one length.
std::vector<Case> makeCases(func::FuncOp entry, ArrayRef<int64_t> lengths, int64_t longLength,
                            const FixedSizes &fixed = {});

/// "batch 2, length 7, scaled by 1000"; without the length where no size depends on it.
std::string nameCase(func::FuncOp entry, const Case &one);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_CASES_H
