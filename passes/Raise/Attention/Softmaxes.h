// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The softmaxes that no attention has taken in, and why. For reports: nothing is changed.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_SOFTMAXES_H
#define FOVEA_PASSES_RAISE_ATTENTION_SOFTMAXES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::fovea {

/// A softmax by itself.
struct LooseSoftmax {
  Operation *op;      ///< that gives the probabilities
  std::string reason; ///< why it is no attention
  std::string change; ///< what would make it one; empty if it is none by nature
};

/// All of a module of tensors, in the order of its text: ops, and what is written out. A tensor is
/// a softmax if it has an exponential and sums to one along an axis, whatever the numbers.
SmallVector<LooseSoftmax> findLooseSoftmaxes(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_RAISE_ATTENTION_SOFTMAXES_H
