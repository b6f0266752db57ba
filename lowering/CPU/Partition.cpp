// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that cuts kernels into parts; its text says what it refuses.
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/CPU/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_PARTITIONPASS
#include "lowering/CPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// The part's share of all iterations, counted row by row: the innermost loop stays a loop, so that
/// indices are divided out once a row and what is inside can become vectors.
static void partition(scf::ParallelOp parallel, Value part, Value parts) {
  ImplicitLocOpBuilder b(parallel.getLoc(), parallel);
  Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
  Value total = one;
  for (Value extent : parallel.getUpperBound())
    total = arith::MulIOp::create(b, total, extent);
  auto bound = [&](Value number) -> Value {
    return arith::DivUIOp::create(b, arith::MulIOp::create(b, total, number), parts);
  };
  Value begin = bound(part), end = bound(arith::AddIOp::create(b, part, one));

  SmallVector<Value> indices(parallel.getNumLoops());
  scf::ForOp inner;
  if (parallel.getNumLoops() == 1) {
    inner = scf::ForOp::create(b, begin, end, one);
  } else {
    // An extent of zero has no iterations at all, but would be divided by.
    Value width = arith::MaxUIOp::create(b, parallel.getUpperBound().back(), one);
    Value last = arith::CeilDivUIOp::create(b, end, width);
    auto rows = scf::ForOp::create(b, arith::DivUIOp::create(b, begin, width), last, one);
    b.setInsertionPointToStart(rows.getBody());
    Value rest = rows.getInductionVar();
    Value first = arith::MulIOp::create(b, rest, width);
    for (int64_t axis = parallel.getNumLoops() - 2; axis > 0; --axis) {
      Value extent = parallel.getUpperBound()[axis];
      indices[axis] = arith::RemUIOp::create(b, rest, extent);
      rest = arith::DivUIOp::create(b, rest, extent);
    }
    indices[0] = rest;
    Value from = arith::MaxSIOp::create(b, arith::SubIOp::create(b, begin, first), zero);
    Value to = arith::MinSIOp::create(b, arith::SubIOp::create(b, end, first), width);
    inner = scf::ForOp::create(b, from, to, one);
  }
  b.setInsertionPointToStart(inner.getBody());
  indices.back() = inner.getInductionVar();
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
