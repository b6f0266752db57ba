// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_OPERAND_INTERFACES_TD
#define FOVEA_OPERAND_INTERFACES_TD

include "mlir/IR/OpBase.td"

def IntegersOpInterface : OpInterface<"IntegersOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    What the integers of an operand mean to the op, and so which of them it can take. `fovea verify` and `bench` draw inputs by
    it.
  }];
  let methods = [
    InterfaceMethod<"The meaning of an operand's integers.",
      "::mlir::fovea::IntegerRole", "getIntegerRole", (ins "::mlir::OpOperand &":$use)>,
  ];
}

def ElementRegionsOpInterface : OpInterface<"ElementRegionsOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    An op with scalar code that it runs for single elements of what it computes (`ElementRegion`). What stands in there is part
    of this op, and no computation on tensors.
  }];
  let methods = [
    InterfaceMethod<"All such regions that the op may have; an absent one is empty.",
      "::llvm::SmallVector<::mlir::fovea::ElementRegion>", "getElementRegions">,
  ];
}

def RoundableOpInterface : OpInterface<"RoundableOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    An op of f32 whose products may be of bf16, with sums and all between them in f32.
  }];
  let methods = [
    InterfaceMethod<[{
        Makes the tensors that it multiplies what `round` gives for them, and its first result one of bf16. False, and
        nothing is changed, if it has to stay as it is.
      }],
      "bool", "roundOperands", (ins "::llvm::function_ref<::mlir::Value(::mlir::Value)>":$round)>,
  ];
}

#endif // FOVEA_OPERAND_INTERFACES_TD
