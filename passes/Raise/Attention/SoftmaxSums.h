// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of values with a sum of softmaxes: the Differential Transformer's (Ye et al. 2024,
// arXiv 2410.05258) and its like.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_SOFTMAXSUMS_H
#define FOVEA_PASSES_RAISE_ATTENTION_SOFTMAXSUMS_H

#include "mlir/IR/Operation.h"

namespace mlir::fovea::raise {

/// Replaces `product`, of values with weights that are a sum of softmaxes over the same keys times
/// factors that no key decides, by the same sum of products, one for each softmax. Returns those;
/// nothing, and no change, unless all of them are attentions.
SmallVector<Operation *> splitSoftmaxSum(Operation *product);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTION_SOFTMAXSUMS_H
