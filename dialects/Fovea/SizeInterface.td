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

def AxesOpInterface : OpInterface<"AxesOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    The sizes of the op's first result: those in its type, and for each other axis that of the same axis of one operand.
    Sizes are followed through such ops without a list of their names, and `reifyResultShapes` is this too.
  }];
  let methods = [
    InterfaceMethod<"The operand whose axes the result has where its type leaves them open.", "::mlir::Value", "getAxesOperand">,
    InterfaceMethod<"Whether this is said of all results, not of the first alone.", "bool", "isOfAllResults", (ins), "", [{ return false; }]>,
  ];
}

/// What defines both interfaces of an op whose axes are those of the operand that `getter` gets.
class AxesOf<string getter> {
  string definition = [{
    ::mlir::Value $cppClass::getAxesOperand() { return }] # getter # [{(); }
    bool $cppClass::isOfAllResults() { return true; }
    ::mlir::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder, ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::mlir::fovea::reifyByAxes(builder, *this, shapes);
    }
  }];
}

#endif // FOVEA_SIZE_INTERFACE_TD
