// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The element type of all caches: they round what is appended. Refuses types that no cache has.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringSwitch.h"

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
    Builder builder(&getContext());
    Type element = llvm::StringSwitch<Type>(type)
                       .Case("f32", builder.getF32Type())
                       .Case("f16", builder.getF16Type())
                       .Case("bf16", builder.getBF16Type())
                       .Default({});
    if (!element) {
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
