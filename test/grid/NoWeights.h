// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source of weights for a module that has none.
#ifndef FOVEA_TEST_GRID_NOWEIGHTS_H
#define FOVEA_TEST_GRID_NOWEIGHTS_H

#include "weights/Evaluate.h"

namespace mlir::fovea {

struct NoWeights : RecipeSource {
  FailureOr<ArrayRef<char>> read(StoredAttr) override { return failure(); }
};

} // namespace mlir::fovea

#endif // FOVEA_TEST_GRID_NOWEIGHTS_H
