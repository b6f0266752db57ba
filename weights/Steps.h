// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How each step of a recipe is evaluated, and how it reads its input.
#ifndef FOVEA_WEIGHTS_STEPS_H
#define FOVEA_WEIGHTS_STEPS_H

#include "weights/Evaluate.h"

namespace mlir::fovea {

/// What `evaluateRows` is asked for.
struct RecipeRows {
  RecipeSource &source;
  int64_t first, count;
  char *out;
};

LogicalResult evaluate(StoredAttr step, RecipeRows rows);
LogicalResult evaluate(ConcatAttr step, RecipeRows rows);
LogicalResult evaluate(TransposeAttr step, RecipeRows rows);
LogicalResult evaluate(PermuteAttr step, RecipeRows rows);
LogicalResult evaluate(ReshapeAttr step, RecipeRows rows);
LogicalResult evaluate(SliceAttr step, RecipeRows rows);
LogicalResult evaluate(CastAttr step, RecipeRows rows);
LogicalResult evaluate(ScaleColumnsAttr step, RecipeRows rows);
LogicalResult evaluate(UnpackAttr step, RecipeRows rows);
LogicalResult evaluate(GroupOrderAttr step, RecipeRows rows);
LogicalResult evaluate(ScaleBlocksAttr step, RecipeRows rows);
LogicalResult evaluate(QuantizeAttr step, RecipeRows rows);
LogicalResult evaluate(QuantizationScalesAttr step, RecipeRows rows);
LogicalResult evaluate(PackAttr step, RecipeRows rows);

inline RecipeAttrInterface recipe(Attribute attr) { return cast<RecipeAttrInterface>(attr); }

/// Bytes of the axes from `axis` on: of a row for 1, of an element for the rank. Row-major.
int64_t getBytesFrom(RankedTensorType type, int64_t axis);

/// Rows [first, first + count) of `input`: in place if it is stored, else evaluated into `buffer`.
FailureOr<const char *> readRows(Attribute input, RecipeSource &source, int64_t first,
                                 int64_t count, std::vector<char> &buffer);

/// Calls `take` with rows [first, first + count) of `input`, a block of at most `blockRows` after
/// the other: blocks bound the memory, and stored tensors are given back before all of them is
/// there.
LogicalResult
walkRows(Attribute input, RecipeSource &source, int64_t first, int64_t count, int64_t blockRows,
         function_ref<LogicalResult(int64_t first, int64_t count, const char *rows)> take);

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_STEPS_H
