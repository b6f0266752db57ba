// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_SIZE_INTERFACE_TD
#define FOVEA_SIZE_INTERFACE_TD

include "mlir/IR/OpBase.td"

def SizeOpInterface : OpInterface<"SizeOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    What an op's verifier asks of static sizes of its operands holds for open ones too, when it runs. The plan of an
    entry compares them before anything is launched, so that no kernel reads behind the end of the smaller one.
  }];
  let methods = [
    InterfaceMethod<"Reports each two sizes that must be equal; those that the types show to be are reported too.",
      "void", "requireSizes", (ins "::llvm::function_ref<void(::mlir::fovea::SizeRule)>":$require)>,
  ];
}

#endif // FOVEA_SIZE_INTERFACE_TD
