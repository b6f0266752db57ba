// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_TILE_DIALECT_TD
#define FOVEA_TILE_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::mlir::fovea::tile";
  let summary = "The program of one block of a kernel's work, on tiles";
  let description = [{
    A kernel is written once, as a sequential program on tiles, and lowered to one CPU thread's vectors or to a GPU's
    thread block. Tiles are small matrices of static shape that are local to the block; memory is seen through views
    with bounds. Loops and branches are `scf`, scalars `arith`, and both may carry tiles.

    The meaning of a program is the sequential one: `fovea-tile-to-loops` is that meaning written out, and the oracle of
    every other lowering, as `fovea-tile-to-vectors`. Which tile lives in registers and which in scratch memory, which loads are done
    where the operand is needed and which instructions make a product is a lowering's choice; a schedule steers it
    through tile shapes, `lanes` and a dot's `block`.

    Elements of a tile that a load finds outside of its view's bounds are *unspecified*; a dot adds no term whose k is
    outside of a view that one of its operands is a load of, and a store drops what lies outside. A program keeps
    unspecified elements out of what it reduces, by masking them.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

//===-- Types -----------------------------------------------------------------------------------------------===//

class TileTypeDef<string name, string typeMnemonic, list<Trait> traits = []> : TypeDef<TileDialect, name, traits> {
  let mnemonic = typeMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_TileType : TileTypeDef<"Tile", "tile"> {
  let summary = "A matrix that is local to a block of work";
  let description = [{
    `!tile.tile<64x48xf32>`, or with `lanes 0`, `!tile.tile<64x48xf32, lanes 0>`, which says that elements along axis
    0, not axis 1, lie beside each other: in a vector's lanes on a CPU. It changes no value.

    * (C1) both sizes are positive.
    * (C2) the elements are f16, bf16, f32, f64, i1, i32 or i64.
    * (C3) `lanes` is 0 or 1.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType, "int64_t":$lanes);
  let builders = [TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType,
                                              CArg<"int64_t", "1">:$lanes), [{
    return $_get(elementType.getContext(), rows, columns, elementType, lanes);
  }]>];
  let extraClassDeclaration = [{
    int64_t getSize(int64_t axis) const { return axis == 0 ? getRows() : getColumns(); }
    /// The same shape and lanes, other elements.
    TileType withElementType(::mlir::Type type) const;
  }];
}

def Tile_ViewType : TileTypeDef<"View", "view"> {
  let summary = "A matrix in memory, with bounds";
  let description = [{
    `!tile.view<?x384xf32>`: what `tile.view` and `tile.packed` make of a buffer. How elements lie is known by that op.

    * (C1) sizes are dynamic or not negative.
    * (C2) the elements are f16, bf16, f32, f64, i1, i32 or i64.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), rows, columns, elementType);
  }]>];
}

class TileOp<string mnemonic, list<Trait> traits = []> : Op<TileDialect, mnemonic, traits>;

#endif // FOVEA_TILE_DIALECT_TD
