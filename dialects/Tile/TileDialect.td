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

    Elements of a tile that a load finds outside of its view's bounds are *unspecified*, and so is what is computed of
    them, whatever a program selects in their place. A dot adds no term whose k is outside of a view that one of its
    operands is a load of, and a store drops what lies outside of its own. A reduction may take unspecified elements or
    leave them out: a program gives them the neutral element first.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

//===-- Layouts ---------------------------------------------------------------------------------------------===//

def Tile_LayoutAttr : AttrDef<TileDialect, "Layout"> {
  let summary = "Which thread of a block holds an element of a tile, and in which register";
  let description = [{
    A place along an axis is a number written in digits, the fastest first, each of which is either one of a thread's
    registers or one of the threads:

    * `registers 4`: four elements that one thread holds;
    * `threads 16 by 1`: sixteen threads whose numbers differ by 1.

    A thread's number is the sum of its digits times what they are `by`; digits of the two axes never share a thread's
    bits. Threads that no digit tells apart hold copies. Places past a tile's size hold nothing. An axis of size 1
    needs no digits. Registers of a thread are numbered by row and, faster, by column.

    ```mlir
    // 128 threads, 16 along the columns, with 8x4 elements each of a 64x64 tile
    #blocked = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>
    // the sums of mma.m16n8k16 (PTX ISA, 9.7.14) for four warps below each other
    #sums = #tile.layout<rows = [threads 8 by 4, registers 2, threads 4 by 32],
                         columns = [registers 2, threads 4 by 1, registers 8]>
    ```

    * (C1) sizes are positive; what threads are `by` is from 1 to 2^20; an axis has at most 2^20 places.
  }];
  let mnemonic = "layout";
  // Pairs of a size and what its threads are `by`, 0 for registers.
  let parameters = (ins ArrayRefParameter<"int64_t">:$rows, ArrayRefParameter<"int64_t">:$columns);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    struct Digit {
      int64_t size;
      int64_t by; ///< 0: registers
    };
    ::llvm::SmallVector<Digit> getDigits(int64_t axis) const;
    static LayoutAttr get(::mlir::MLIRContext *context, ::llvm::ArrayRef<Digit> rows, ::llvm::ArrayRef<Digit> columns);
    /// How many places the axis' digits spell, and how many of them one thread holds.
    int64_t getExtent(int64_t axis) const;
    int64_t getRegisters(int64_t axis) const;
    int64_t getRegisters() const { return getRegisters(0) * getRegisters(1); }
    /// One more than the greatest number of a thread that a digit gives.
    int64_t getThreads() const;
    /// The layout of a tile of size 1 along `axis`, of which all threads along the axis have copies.
    LayoutAttr dropAxis(int64_t axis) const;
    /// The digits' part of a place along `axis` that register number `index` along it adds.
    int64_t getPlace(int64_t axis, int64_t index) const;
  }];
}

//===-- Tensor maps -----------------------------------------------------------------------------------------===//

def Tile_TensorMapAttr : AttrDef<TileDialect, "TensorMap"> {
  let summary = "A kernel's operand, and the box that one bulk copy takes of it";
  let description = [{
    Operand number `operand` of the kernel is a buffer; a box is `rows` places along its axis `axis` by `columns` elements
    along its last, and one place along every other axis. It lies in shared memory with `swizzle` (PTX ISA 8.0, "Tensors").
    Outside of the buffer there are zeros; with `length` also from the place on that this operand gives.

    ```mlir
    #keys = #tile.tensor_map<operand = 1, axis = 1, rows = 64, columns = 64, swizzle = 128>
    #cached = #tile.tensor_map<operand = 1, axis = 2, rows = 64, columns = 64, swizzle = 128, length = 4>
    ```
  }];
  let mnemonic = "tensor_map";
  let parameters = (ins "int64_t":$operand, "int64_t":$axis, "int64_t":$rows, "int64_t":$columns, "int64_t":$swizzle,
                        DefaultValuedParameter<"int64_t", "-1">:$length);
  let assemblyFormat = "`<` struct(params) `>`";
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

    * (C1) both sizes are from 1 to 2^28.
    * (C2) the elements are f16, bf16, f32, f64, i1, i2, i4, i5, i6, i8, i32 or i64.
    * (C3) `lanes` is 0 or 1.
    * (C4) a layout has at least as many places along each axis as the tile has elements.

    In a GPU's block a tile has a layout, `!tile.tile<64x48xf32, #blocked>`, which changes no value either.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType, "int64_t":$lanes,
                        "::mlir::fovea::tile::LayoutAttr":$layout);
  let builders = [TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType,
                                              CArg<"int64_t", "1">:$lanes,
                                              CArg<"::mlir::fovea::tile::LayoutAttr", "{}">:$layout), [{
    return $_get(elementType.getContext(), rows, columns, elementType, lanes, layout);
  }]>];
  let extraClassDeclaration = [{
    int64_t getSize(int64_t axis) const { return axis == 0 ? getRows() : getColumns(); }
    /// The same shape, lanes and layout, other elements.
    TileType withElementType(::mlir::Type type) const;
    /// The same shape and elements; lanes are what a layout replaces.
    TileType withLayout(LayoutAttr layout) const;
  }];
}

def Tile_ViewType : TileTypeDef<"View", "view"> {
  let summary = "A matrix in memory, with bounds";
  let description = [{
    `!tile.view<?x384xf32>`: what `tile.view` and `tile.packed` make of a buffer. How elements lie is known by that op.

    * (C1) sizes are dynamic or not negative.
    * (C2) the elements are f16, bf16, f32, f64, i1, i2, i4, i5, i6, i8, i32 or i64.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType);
  let builders = [TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), rows, columns, elementType);
  }]>];
}

def Tile_SharedType : TileTypeDef<"Shared", "shared"> {
  let summary = "A matrix in the memory that a GPU block's threads share";
  let description = [{
    `!tile.shared<64x32xf32>` is row-major; `!tile.shared<64x32xf32, strides [1, 68]>` has element `[r, c]` at
    `r + 68 * c`: columns first, padded so that threads which read beside each other meet different banks.

    With `swizzle n` it lies as `wgmma` and TMA take it (PTX ISA 8.0, "Matrix Descriptor Format"). `!tile.shared<96x128xbf16,
    swizzle 128>` is two panels, one behind the other, of 96 rows of 128 bytes each: columns 0 to 63, then 64 to 127. In a
    panel the 16 bytes number c of row r lie at number `c xor (r mod 8)`, of `swizzle 64` at `c xor (r / 2 mod 4)`, of
    `swizzle 32` at `c xor (r / 4 mod 2)`: eight rows' pieces of a column are in different banks. `strides [1, 64]` before it
    says that columns take the place of rows.

    * (C1) sizes are from 1 to 2^24.
    * (C2) the elements are f16, bf16, f32, f64, i32 or i64.
    * (C3) no two elements share a place: one stride is positive, the other at least the first axis' extent; both are at most 2^24.
    * (C4) a swizzle is of 32, 64 or 128 bytes; one stride is 1 then, and the other has as many elements as the swizzle.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType, "int64_t":$rowStride,
                        "int64_t":$columnStride, "int64_t":$swizzle);
  let builders = [TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), rows, columns, elementType, columns, 1, 0);
  }]>, TypeBuilderWithInferredContext<(ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$elementType,
                                           "int64_t":$rowStride, "int64_t":$columnStride), [{
    return $_get(elementType.getContext(), rows, columns, elementType, rowStride, columnStride, 0);
  }]>];
  let extraClassDeclaration = [{
    int64_t getSize(int64_t axis) const { return axis == 0 ? getRows() : getColumns(); }
    int64_t getStride(int64_t axis) const { return axis == 0 ? getRowStride() : getColumnStride(); }
    int64_t getElementBytes() const { return getElementType().getIntOrFloatBitWidth() / 8; }
    /// Swizzled for wgmma: of the widest swizzle, in bytes, that elements along `fastAxis` fill.
    static SharedType getSwizzled(int64_t rows, int64_t columns, ::mlir::Type elementType, int64_t fastAxis);
    /// With a swizzle: the axis along which elements lie beside each other, elements of a panel along it, and from one
    /// panel to the next.
    int64_t getFastAxis() const { return getColumnStride() == 1 ? 1 : 0; }
    int64_t getPanel() const { return getSwizzle() / getElementBytes(); }
    int64_t getPanelStride() const;
    /// What its first byte's place is a multiple of.
    int64_t getAlignment() const;
    /// From the first element's first byte to the last one's last, of a swizzle to the last panel's end.
    int64_t getBytes() const;
  }];
}

class TileOp<string mnemonic, list<Trait> traits = []> : Op<TileDialect, mnemonic, traits>;

#endif // FOVEA_TILE_DIALECT_TD
