// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far two tensors are apart (docs/rationale/accuracy.md).
#ifndef FOVEA_TOOLS_VERIFY_COMPARE_H
#define FOVEA_TOOLS_VERIFY_COMPARE_H

#include "interpreter/Value.h"
#include <string>

namespace mlir::fovea::verify {

enum class Norm {
  Whole,       ///< max |difference| / max |expected| over the tensor
  PerPosition, ///< the same for each row of the last axis, and of these the greatest
};

struct Difference {
  double error = 0;  ///< infinite where one of them is NaN or infinite and the other is not it
  std::string where; ///< indices of the greatest difference; or what is wrong with the shape
};

Difference compare(const interpreter::Tensor &found, const interpreter::Tensor &expected,
                   Norm norm);

/// The same where a program overflows or rounds badly by itself: `exact` is what it means,
/// `literal` what it gives if each op rounds. Where it overflows by itself anything will do; where
/// only the literal number is finite, that or none that is finite; where neither is, none that is,
/// unless inputs are so great that f64 `mayOverflow` too, as exp without a maximum does.
/// What is not finite is not told apart. Elements of a row (of the last axis) may be wrong
/// by three times the greatest error that the program has there by itself: other ops round where
/// code is fused, and errors that cancelled each other need not do so then.
Difference judge(const interpreter::Tensor &found, const interpreter::Tensor &exact,
                 const interpreter::Tensor &literal, Norm norm, bool mayOverflow = false);

/// What is expected then: what was found, where that is as near as `judge` asks.
interpreter::Tensor settle(const interpreter::Tensor &found, const interpreter::Tensor &exact,
                           const interpreter::Tensor &literal, bool mayOverflow);

/// The token that greedy sampling takes of each row of `logits`: the place of its greatest element,
/// of the first NaN if it has one, the first of several.
interpreter::TensorRef chooseTokens(const interpreter::Tensor &logits);

/// Tokens chosen from `logits`, which differ from `expected` by their own error: how far the
/// expected logit of the token lies below the greatest, relative to the row's greatest size.
/// Infinite for one that is not the choice of the logits it came with.
Difference compareTokens(const interpreter::Tensor &found, const interpreter::Tensor &logits,
                         const interpreter::Tensor &expected);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_COMPARE_H
