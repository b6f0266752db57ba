// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of upstream ops whose results are computed element by element: maps of linalg in tiles;
// in plain loops arith and math on tensors, and all that moves or makes elements. Threads share all
// of a result's axes.
#include "lowering/Kernels/Elements.h"
#include "lowering/Kernels/Scalars.h"
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::fovea;

LogicalResult mlir::fovea::buildElements(KernelBuilder &k, Operation *op) {
  if (op->getNumResults() != 1)
    return op->emitOpError("expects one result, got ") << op->getNumResults();
  ElementReader reader(k, op);
  Value output = k.outputs.front();
  size_t rank = cast<MemRefType>(output.getType()).getRank();
  k.parallelNest(reader.guarded(k.sizes(output)), [&](ValueRange at) {
    at = at.take_front(rank);
    memref::StoreOp::create(k, reader.read(op->getResult(0), at), output, at);
  });
  return reader.result();
}

/// The code of a map on single numbers, rounded as its source rounds. Constants may stand outside.
static Value emitBody(KernelBuilder &k, linalg::GenericOp op, ArrayRef<Value> inputs) {
  IRMapping numbers;
  numbers.map(op.getBlock()->getArguments().drop_back(), inputs);
  auto get = [&](Value value) {
    Operation *constant = value.getDefiningOp();
    if (!numbers.contains(value))
      numbers.map(value, k.clone(*constant)->getResult(0));
    return numbers.lookup(value);
  };
  for (Operation &scalar : op.getBlock()->without_terminator())
    numbers.map(scalar.getResult(0),
                emitRounded(k, &scalar, llvm::map_to_vector(scalar.getOperands(), get)).front());
  return get(op.getBlock()->getTerminator()->getOperand(0));
}

namespace {
struct MapKernel : KernelOpInterface::ExternalModel<MapKernel, linalg::GenericOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<linalg::GenericOp>(operation);
    SmallVector<TileElement> inputs;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value value = input->get();
      inputs.push_back(op.getMatchingIndexingMap(input).isIdentity()
                           ? b.operandOf(value, c, leaves)
                           : b.leaf(b.parameter(value, c, getElementTypeOrSelf(value.getType())),
                                    c.width, leaves));
    }
    return [&k = b.k, op, inputs](ValueRange e) {
      return emitBody(
          k, op, llvm::map_to_vector(inputs, [&](const TileElement &input) { return input(e); }));
    };
  }
};
} // namespace

void mlir::fovea::attachMapKernel(MLIRContext &context) {
  linalg::GenericOp::attachInterface<MapKernel>(context);
}
