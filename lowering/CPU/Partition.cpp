// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that cuts kernels into parts; its text says what it refuses.
#include "lowering/Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_PARTITIONPASS
#include "lowering/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// One loop over the part's share of all iterations, its number split into the nest's indices.
static void partition(scf::ParallelOp parallel, Value part, Value parts) {
  ImplicitLocOpBuilder b(parallel.getLoc(), parallel);
  Value total = arith::ConstantIndexOp::create(b, 1);
  for (Value extent : parallel.getUpperBound())
    total = arith::MulIOp::create(b, total, extent);
  auto bound = [&](Value number) -> Value {
    return arith::DivUIOp::create(b, arith::MulIOp::create(b, total, number), parts);
  };
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value begin = bound(part), end = bound(arith::AddIOp::create(b, part, one));
  auto loop = scf::ForOp::create(b, begin, end, one);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> indices(parallel.getNumLoops());
  Value rest = loop.getInductionVar();
  for (int64_t axis = parallel.getNumLoops() - 1; axis > 0; --axis) {
    Value extent = parallel.getUpperBound()[axis];
    indices[axis] = arith::RemUIOp::create(b, rest, extent);
    rest = arith::DivUIOp::create(b, rest, extent);
  }
  indices[0] = rest;
  IRMapping mapping;
  mapping.map(parallel.getInductionVars(), indices);
  for (Operation &op : parallel.getBody()->without_terminator())
    b.clone(op, mapping);
  parallel.erase();
}

namespace {
struct PartitionPass : fovea::impl::PartitionPassBase<PartitionPass> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function->hasAttr(FoveaDialect::kEntryAttr))
      return;
    unsigned count = function.getNumArguments();
    SmallVector<scf::ParallelOp> nests;
    for (Operation &op : function.getBody().front()) {
      if (auto nest = dyn_cast<scf::ParallelOp>(op))
        nests.push_back(nest);
    }
    if (nests.empty())
      return;
    if (nests.size() != 1 || count < 2 || !function.getArgumentTypes()[count - 1].isIndex()) {
      function.emitOpError("expects a kernel with one outermost parallel nest, got ")
          << nests.size();
      return signalPassFailure();
    }
    partition(nests.front(), function.getArgument(count - 2), function.getArgument(count - 1));
  }
};
} // namespace
