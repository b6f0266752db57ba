// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_WEIGHTS_INTERFACE_TD
#define FOVEA_WEIGHTS_INTERFACE_TD

include "mlir/IR/OpBase.td"

def WeightsOpInterface : OpInterface<"WeightsOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    An op that reads weights: what it does with each operand. Passes that cast, quantise, pack and name weights ask this.
  }];
  let methods = [
    InterfaceMethod<"What the operand is to the op; None for what is no weight.",
      "::mlir::fovea::WeightRole", "getWeightRole", (ins "::mlir::OpOperand &":$use)>,
  ];
}

#endif // FOVEA_WEIGHTS_INTERFACE_TD
