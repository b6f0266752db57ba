// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_KERNEL_INTERFACE_TD
#define FOVEA_KERNEL_INTERFACE_TD

include "mlir/IR/OpBase.td"

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    The code of an op in a kernel: tiles of its result, or scalar loops of what no tile program has, its cost and its
    name. One source of lowering/Kernels implements it for a family of ops, as external models; nothing else in lowering/
    knows these ops by name.
  }];
  let methods = [
    InterfaceMethod<[{
        One element of the result's columns `columns`, as a function of elements of `leaves`: tiles that the map which is
        being built reads.
      }],
      "::mlir::fovea::TileElement", "emitTile",
      (ins "::mlir::fovea::TileBuilder &":$builder, "::mlir::fovea::TileColumns":$columns,
           "::mlir::fovea::TileLeaves &":$leaves), "", [{
        llvm_unreachable("the op is not tileable");
      }]>,
    InterfaceMethod<"The phase that computes what all blocks need for this op (`TileVisitor::requirePhaseBefore`).",
      "void", "emitPhaseBefore", (ins "::mlir::fovea::TileBuilder &":$builder), "", [{ return; }]>,
    InterfaceMethod<"The whole kernel of a group that has no other op, as loops of scalars. Fails with an error at the op.",
      "::mlir::LogicalResult", "emitLoops", (ins "::mlir::fovea::KernelBuilder &":$builder), "", [{
        return $_op.emitOpError("has no plain loops: a tile program computes it, or fovea-decompose makes linalg ops of it");
      }]>,
    InterfaceMethod<"Whether a tile program of its own, and nothing else, computes a group of this op.",
      "bool", "hasOwnTiles", (ins), "", [{ return false; }]>,
    InterfaceMethod<"That program. Fails with an error at the op.",
      "::mlir::LogicalResult", "emitOwnTiles",
      (ins "::mlir::fovea::KernelBuilder &":$builder, "::mlir::Attribute":$schedule), "", [{
        return $_op.emitOpError("has no tile program of its own");
      }]>,
    InterfaceMethod<"The rows of such a program, as #fovea.by_rows counts them; null: those of its operands.",
      "::mlir::Value", "countRows", (ins "::mlir::fovea::KernelBuilder &":$builder), "", [{ return {}; }]>,
    InterfaceMethod<[{
        The schedule of a group of which this op needs most, by the numbers of a level; null where the group's domain decides.
      }],
      "::mlir::Attribute", "chooseSchedule", (ins "const ::mlir::fovea::Level &":$level), "", [{ return {}; }]>,
    InterfaceMethod<"The operations of its products, a multiplication and an addition being two; null for none.",
      "::mlir::Value", "buildFlops", (ins "::mlir::fovea::CostBuilder &":$cost), "", [{ return {}; }]>,
    InterfaceMethod<[{
        The elements that are read or written of an operand that is a cache, or of a tensor of which not all are read;
        null: all.
      }],
      "::mlir::Value", "countElements",
      (ins "::mlir::fovea::CostBuilder &":$cost, "::mlir::OpOperand &":$operand), "", [{ return {}; }]>,
    InterfaceMethod<"What a description says behind the op's name.",
      "void", "describe", (ins "::llvm::raw_ostream &":$out), "", [{ return; }]>,
    InterfaceMethod<"Kernels are named after the first op of the highest rank: 2 decides the cost, 1 the form.",
      "unsigned", "getNameRank", (ins), "", [{ return 0; }]>,
  ];
}

#endif // FOVEA_KERNEL_INTERFACE_TD
