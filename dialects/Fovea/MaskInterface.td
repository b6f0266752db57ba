// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_MASK_INTERFACE_TD
#define FOVEA_MASK_INTERFACE_TD

include "mlir/IR/OpBase.td"

def MaskOpInterface : OpInterface<"MaskOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    What a back end must know of a mask. (b), the predicate, is all it needs to be right; (a), the intervals,
    is what makes it fast: it skips the tiles that are empty and drops the test in those that are full.
    Both emit IR at the builder's place and use the mask op's operands as they are; clone the mask beside the
    place of use first.
  }];
  let methods = [
    InterfaceMethod<[{
        (a) Key positions, as half-open intervals, for one tile of queries. `cover` holds disjoint intervals
        outside of which no key is allowed for any query of the tile; `full` holds intervals inside of which
        every key is allowed for every query of the tile. Bounds may lie outside of [0, key length) and an
        interval may be empty (end <= begin); the caller clamps. Masks that look at places in the sequence
        (segments) take a key's position for its place: where key positions are given, intervals are not to be
        used. What is emitted may read tensors and hold loops (`scf.for`).}],
      "::mlir::fovea::KeyIntervals", "buildKeyIntervals",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "const ::mlir::fovea::QueryTile &":$tile)>,
    InterfaceMethod<"(b) Whether this key is allowed for this query, an i1.",
      "::mlir::Value", "buildPredicate",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc, "const ::mlir::fovea::MaskPoint &":$point)>,
  ];
}

#endif // FOVEA_MASK_INTERFACE_TD
