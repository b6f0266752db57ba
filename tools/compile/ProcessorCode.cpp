// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code generation for all processors at once: LLVM itself uses one thread for a module.
#include "tools/compile/ProcessorCode.h"
#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace mlir::fovea;

static LogicalResult emit(LinkedCode &code) {
  SmallVector<char, 0> object;
  std::vector<char> elf;
  if (failed(emitObject(code.module, code.target, object)) ||
      failed(linkSharedObject(object, elf, code.error)))
    return failure();
  code.elf.assign(elf.begin(), elf.end());
  return success();
}

LogicalResult mlir::fovea::emitAll(MutableArrayRef<LinkedCode> codes) {
  return failableParallelForEach(codes.front().module.getContext(), codes, emit);
}
