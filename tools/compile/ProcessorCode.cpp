// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code generation for all processors and all their kernels at once: LLVM itself uses one thread for
// a module.
#include "tools/compile/ProcessorCode.h"
#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace mlir::fovea;

LogicalResult mlir::fovea::emitAll(MutableArrayRef<LinkedCode> codes) {
  MLIRContext *context = codes.front().module.getContext();
  registerTranslations(*context);
  std::vector<std::vector<KernelCode::Part>> parts(codes.size());
  std::vector<std::pair<const KernelCode *, KernelCode::Part *>> tasks;
  for (auto [code, own] : llvm::zip(codes, parts)) {
    own = code.kernels.split(code.module);
    for (KernelCode::Part &part : own)
      tasks.emplace_back(&code.kernels, &part);
  }
  if (failed(failableParallelForEach(
          context, tasks, [](const auto &task) { return task.first->emit(*task.second); }))) {
    for (auto [code, own] : llvm::zip(codes, parts))
      code.isRefused =
          llvm::any_of(own, [](const KernelCode::Part &part) { return part.isRefused; });
    return failure();
  }
  return failableParallelForEach(context, llvm::seq(codes.size()), [&](size_t i) {
    SmallVector<ArrayRef<char>> objects;
    for (const KernelCode::Part &part : parts[i])
      objects.push_back(part.object);
    std::vector<char> elf;
    if (failed(
            linkSharedObject(*codes[i].kernels.getTarget().family, objects, elf, codes[i].error)))
      return failure();
    codes[i].elf.assign(elf.begin(), elf.end());
    return success();
  });
}
