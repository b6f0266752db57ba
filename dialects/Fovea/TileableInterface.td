// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_TILEABLE_INTERFACE_TD
#define FOVEA_TILEABLE_INTERFACE_TD

include "mlir/IR/OpBase.td"

def TileableOpInterface : OpInterface<"TileableOpInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    How tiles of an op's result are computed from tiles of its operands, without a target in mind. A group of ops is one
    tile program if all of its ops agree on a domain (`TileDomain`): every tensor is a matrix, some leading axes are its
    rows and all others together its columns, and a tile is some rows of some columns. `getTileForm` asks each op of a
    group, from the results backwards; what fuses and what a builder of tile programs takes is said nowhere else.

    Upstream's `TilingInterface` asks for the tiled op itself and for slices of its operands as tensors. That fits ops
    whose tiles are again such ops; here a tile of a norm's result is arithmetic on registers between a load and a store,
    rows are joined across axes of different tensors, and a product's epilogue shares its tile. So only what is asked is
    alike: an iteration domain, and operand tiles for a result tile. `DestinationStyleOpInterface` says which operand a
    result overwrites; results of a group are memory of the launch, and none of its ops has an operand for them.
  }];
  let methods = [
    InterfaceMethod<"What the op asks of the domain: rows of its tensors, neighbours within a row, places of rows.",
      "::mlir::fovea::TileNeeds", "getTileNeeds">,
    InterfaceMethod<[{
        Asks for all operands that a tile of the result is computed from, each by its role; false if the op cannot be
        computed in the domain, or if an operand cannot be had.
      }],
      "bool", "visitTileOperands", (ins "::mlir::fovea::TileVisitor &":$visitor)>,
  ];
}

#endif // FOVEA_TILEABLE_INTERFACE_TD
