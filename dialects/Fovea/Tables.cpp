// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Tables.h.
#include "dialects/Fovea/Tables.h"

using namespace mlir;
using namespace mlir::fovea;

bool mlir::fovea::isTable(WeightOp weight) {
  return weight.getRecipe()
      .walk([](StoredAttr stored) {
        return isTable(stored) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
