// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element type of all caches: they round what is appended. Refuses types that no cache has.
#include "dialects/ElementTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_CASTCACHESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct CastCachesPass : fovea::impl::CastCachesPassBase<CastCachesPass> {
  using CastCachesPassBase::CastCachesPassBase;

  void runOnOperation() override {
    Type element = parseElementType(type, &getContext());
    if (!element || !isComputedInF32(element)) {
      getOperation().emitError("expects the type f32, f16 or bf16, got '") << type << "'";
      return signalPassFailure();
    }
    auto cast = [&](Value value) {
      auto cache = dyn_cast<CacheType>(value.getType());
      if (!cache || cache.getElementType() == element)
        return;
      value.setType(CacheType::get(&getContext(), cache.getKind(), cache.getHeads(),
                                   cache.getSize(), element));
      ++numCast;
    };
    getOperation()->walk([&](Operation *op) {
      llvm::for_each(op->getResults(), cast);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), cast);
    });
    getOperation()->walk([&](func::FuncOp function) {
      if (function.isExternal())
        return;
      SmallVector<Type> results(function.getFunctionType().getResults());
      for (Block &block : function.getBody())
        if (auto done = dyn_cast<func::ReturnOp>(block.getTerminator()))
          results = SmallVector<Type>(done.getOperandTypes());
      function.setFunctionType(
          FunctionType::get(&getContext(), function.getBody().getArgumentTypes(), results));
    });
  }
};
} // namespace
