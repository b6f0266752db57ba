// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the fusion report: which softmaxes are an attention's at all, and what else weighs values by
// a product of queries and keys.
#ifndef FOVEA_TOOLS_COMPILE_ATTENTIONKINDS_H
#define FOVEA_TOOLS_COMPILE_ATTENTIONKINDS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::fovea {

/// Whether a softmax weighs values: a product sums its probabilities over the axis that they are
/// normalised along, or over another one of a product of queries and keys. That of a classifier or
/// of a sampler does not.
bool weighsValues(Operation *softmax);

/// An attention without a softmax over its keys.
struct OtherAttention {
  Operation *op; ///< the product with the values
  std::string what;
};

/// Those of a module of the `graph` stage whose weights are the sigmoid or the squared ReLU of
/// products, and those of a linear kernel whose queries and keys go through one function.
SmallVector<OtherAttention> findOtherAttentions(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_ATTENTIONKINDS_H
