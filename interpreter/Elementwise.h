// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a rule for one element becomes a handler for scalars and for tensors of one shape.
#ifndef FOVEA_INTERPRETER_ELEMENTWISE_H
#define FOVEA_INTERPRETER_ELEMENTWISE_H

#include "interpreter/Frame.h"

namespace mlir::fovea::interpreter {

/// Computes one element of an op's result. Fails after a diagnostic.
using ElementRule = std::function<FailureOr<Element>(Operation *, ArrayRef<Element>)>;

/// The rule on scalars, or element by element on tensors. A scalar among tensor operands counts for
/// all elements, as the exponent of `math.fpowi` may.
Handler elementwise(ElementRule rule);

/// `result = function(x)`, `function(x, y)`, ... on floats.
Handler realUnary(double (*function)(double));
Handler realBinary(double (*function)(double, double));

} // namespace mlir::fovea::interpreter

#endif // FOVEA_INTERPRETER_ELEMENTWISE_H
