// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_WEIGHTS_INTERFACE_TD
#define FOVEA_WEIGHTS_INTERFACE_TD

include "mlir/IR/OpBase.td"

def WeightsOpInterface : OpInterface<"WeightsOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    An op that reads weights: which of its operands are some, and in which layouts. Passes that cast, pack and name weights
    ask this.
  }];
  let methods = [
    InterfaceMethod<[{
        Whether the operand is a weight of any float type: with a narrower one the op computes as before but for rounding.
      }],
      "bool", "isWeight", (ins "::mlir::OpOperand &":$use)>,
    InterfaceMethod<"Whether kernels read the operand row by row as well as in panels.",
      "bool", "readsAnyLayout", (ins "::mlir::OpOperand &":$use), "", [{ return false; }]>,
  ];
}

#endif // FOVEA_WEIGHTS_INTERFACE_TD
