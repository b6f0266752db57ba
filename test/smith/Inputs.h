// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes into a program, by the recipes that stand in its text.
#ifndef FOVEA_TEST_SMITH_INPUTS_H
#define FOVEA_TEST_SMITH_INPUTS_H

#include "interpreter/Value.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "test/smith/Program.h"

namespace mlir::fovea {

/// The arguments of call 0 or 1. Fails, with `error`, where a size is missing or a recipe is not
/// understood.
FailureOr<std::vector<interpreter::RuntimeValue>>
makeArguments(func::FuncOp entry, const ::fovea::smith::Program &program, int call,
              std::string &error);

} // namespace mlir::fovea

#endif // FOVEA_TEST_SMITH_INPUTS_H
