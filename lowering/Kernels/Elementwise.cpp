// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of upstream ops whose results are computed element by element: arith and math on tensors,
// and all that moves or makes elements. Threads share all of a result's axes.
#include "lowering/Kernels/Elements.h"

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
