// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled program that can be called: for this processor, or for a GPU on the emulator.
#ifndef FOVEA_TEST_SMITH_FORWARD_H
#define FOVEA_TEST_SMITH_FORWARD_H

#include "interpreter/Value.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fovea {

using CallResults = FailureOr<std::vector<interpreter::RuntimeValue>>;
/// Call 0 or 1 of @forward. Fails after a diagnostic or with an error.
using Forward = std::function<CallResults(ArrayRef<interpreter::RuntimeValue> arguments, int call,
                                          std::string &error)>;

/// Of a module of the `graph` stage. `gpu` is an architecture, or empty: this processor.
/// `optimization` is that of `fovea compile -O`. Null after a diagnostic or with an error.
Forward compileForward(ModuleOp module, const std::string &gpu, int optimization,
                       std::string &error);

} // namespace mlir::fovea

#endif // FOVEA_TEST_SMITH_FORWARD_H
