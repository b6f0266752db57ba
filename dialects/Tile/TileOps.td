// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_TILE_OPS_TD
#define FOVEA_TILE_OPS_TD

include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Tile/TileDialect.td"

//===-- Structure -------------------------------------------------------------------------------------------===//

def YieldOp : TileOp<"yield", [Pure, ReturnLike, Terminator, ParentOneOf<["KernelOp", "MapOp", "WarpSpecializeOp"]>]> {
  let summary = "Ends a block's program, or gives a map's element or a role's rounds";
  let description = [{
    ```mlir
    %r = tile.map(%x = %s) : (!tile.tile<4x16xf32>) -> !tile.tile<4x16xf32> {
      tile.yield %x : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* yields nothing */ }]>];
}

def KernelOp : TileOp<"kernel", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "A grid of independent blocks of work";
  let description = [{
    Runs the region once for each point of the grid, in any order and at the same time: no block may read what another
    writes. The extents are known before any block runs. The last index changes fastest among neighbours in time.

    * (C1) the region has one index argument for each extent, and there is at least one.
    * (C2) the region gives no value.

    ```mlir
    tile.kernel grid(%i, %j) = (%rows, %columns) {
      %t = tile.load %x[%i, %j] : !tile.view<?x?xf32> -> !tile.tile<1x1xf32>
      tile.store %t, %y[%i, %j] : !tile.tile<1x1xf32>, !tile.view<?x?xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$extents);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$extents,
      "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
}

def WarpSpecializeOp : TileOp<"warp_specialize", [RecursiveMemoryEffects]> {
  let summary = "Warps that only copy, beside those that compute";
  let description = [{
    A block's last warpgroup runs the first region, which copies to guarded rings; the others run the second, which reads
    them. The two wait for each other in `tile.producer_acquire` and `tile.consumer_wait` only, each going through the same rounds in the same
    order, so the producer is ahead by as many rounds as a ring has slots (warp specialization; Bauer et al. 2011, and
    FlashAttention-3, Shah et al. 2024, section 3.1). `registers` is what a thread of the role may have.

    Each region begins with the rounds that every ring's readers have gone through before and yields those behind it: a
    block that does several points of its kernel's grid goes on with them.

    * (C1) the regions have the same arguments, all of type index, and yield as many.
    * (C2) a number of registers is a multiple of 8 from 24 to 240.

    ```mlir
    %ring = tile.shared stages(3) guarded : !tile.shared<64x64xbf16, swizzle 128>
    tile.warp_specialize producer(%first) registers(24) {
      %end = scf.for %j = %c0 to %count step %c64 iter_args(%n = %first) -> (index) {
        %slot = tile.producer_acquire %ring[%n] : !tile.shared<64x64xbf16, swizzle 128>
        tile.copy %keys[%j, %c0] to %slot async : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
        tile.producer_commit %ring[%n] : !tile.shared<64x64xbf16, swizzle 128>
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      }
      tile.yield %end : index
    } consumer(%first) registers(240) {
      %end = scf.for %j = %c0 to %count step %c64 iter_args(%n = %first) -> (index) {
        %slot = tile.consumer_wait %ring[%n] : !tile.shared<64x64xbf16, swizzle 128>
        %scores = tile.mma %queries, %slot transpose_b into %zero atom(m64k16) : !tile.shared<128x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<128x64xf32>
        tile.consumer_release %ring[%n] : !tile.shared<64x64xbf16, swizzle 128>
        %next = arith.addi %n, %c1 : index
        scf.yield %next : index
      }
      tile.yield %end : index
    }
    ```
  }];
  let arguments = (ins I64Attr:$producer_registers, I64Attr:$consumer_registers);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===-- Memory ----------------------------------------------------------------------------------------------===//

def ViewOp : TileOp<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "Two axes of a buffer as a matrix";
  let description = [{
    `axes` are the axes that become rows and columns; one axis alone gives a matrix of one row. Every other axis is
    fixed at the index that `at` gives for it, in order. `length`, if given, is the number of rows instead of the
    buffer's size: a cache holds fewer positions than it has room for.

    * (C1) there are one or two axes, ascending or descending, of the buffer; `at` has an index for each other one.
    * (C2) the result has the buffer's element type, and its sizes along the axes (rows are dynamic with `length`).
    * (C3) `length` is given only with two axes.
    * (C4) the elements are not i2, i5 or i6, which only packed weights hold.

    ```mlir
    %kv = tile.view %k at(%b, %g) axes(2, 3) length(%n) : memref<?x2x?x64xf32> -> !tile.view<?x64xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<Index>:$at, Optional<Index>:$length, DenseI64ArrayAttr:$axes);
  let results = (outs Tile_ViewType:$view);
  let assemblyFormat = [{
    $memory (`at` `(` $at^ `)`)? `axes` `` custom<Axes>($axes) (`length` `(` $length^ `)`)? attr-dict
    `:` type($memory) `->` qualified(type($view))
  }];
  let hasVerifier = 1;
}

def PackedOp : TileOp<"packed", [Pure]> {
  let summary = "A packed weight as the matrix that it is";
  let description = [{
    A weight `[N, K]` lies in panels of P outputs, k inside: `[N/P, K, P]`, or with I of k beside each other
    `[N/P, K/I, P, I]`. The last panel and the last I may be padded with zeros; the view's sizes are the weight's own.
    Of i4 two neighbours in k share a byte of the buffer, the even one in its low bits: there K and I count bytes. Of
    i2, i5 and i6 the buffer is `[N/P, W, P, 4]` with whole units of some words (`dialects/PackedIntegers.h`).

    * (C1) the buffer is static and has rank 3, or rank 4 with a last axis of 2, 4, 8 or 16; panels are not empty.
    * (C2) the view's rows need as many panels, and its columns as many k, as the buffer has.
    * (C3) element types agree; of a view of i2, i4, i5 or i6 the buffer is of i8.
    * (C4) of i2, i5 and i6 the last axis is 4.

    ```mlir
    %w = tile.packed %p : memref<96x384x16xf32> -> !tile.view<1536x384xf32>
    %q = tile.packed %n : memref<96x192x16xi8> -> !tile.view<1536x384xi4>
    %s = tile.packed %m : memref<96x72x16x4xi8> -> !tile.view<1536x384xi6>
    ```
  }];
  let arguments = (ins AnyStaticShapeMemRef:$memory);
  let results = (outs Tile_ViewType:$view);
  let assemblyFormat = "$memory attr-dict `:` type($memory) `->` qualified(type($view))";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getPanel() { return getMemory().getType().getDimSize(2); }
    /// How many k lie beside each other for one output: 1, 2, 4, 8 or 16, of i4 twice as many, and
    /// of i2, i5 and i6 a unit.
    int64_t getInterleave();
    /// Whether two elements share a byte.
    bool isOfNibbles() { return getView().getType().getElementType().isInteger(4); }
  }];
}

def LoadOp : TileOp<"load"> {
  let summary = "A tile from memory";
  let description = [{
    `result[r, c] = view[row + r, column + c]`; unspecified outside of the view. A lowering may read the elements where
    and when they are used, so the memory must not change while the block runs.

    * (C1) element types agree.
    * (C2) integers of 2, 5 and 6 bits are loaded for tile.dequantize alone.

    ```mlir
    %t = tile.load %x[%i, %c0] : !tile.view<?x384xf32> -> !tile.tile<64x384xf32>
    ```
  }];
  let arguments = (ins Arg<Tile_ViewType, "", [MemRead]>:$view, Index:$row, Index:$column);
  let results = (outs Tile_TileType:$tile);
  let assemblyFormat = "$view `[` $row `,` $column `]` attr-dict `:` qualified(type($view)) `->` qualified(type($tile))";
  let hasVerifier = 1;
}

def GatherOp : TileOp<"gather"> {
  let summary = "Rows from memory, by a tile of row numbers";
  let description = [{
    `result[r, c] = view[rows[r, 0], column + c]`; unspecified where the column is outside of the view. A row number
    outside of it reads row 0 (kernels that take numbers from a caller record a `fovea.fault` beside it).

    * (C1) element types agree, and are of whole bytes.
    * (C2) `rows` is a column of integers, one for each row of the result.

    ```mlir
    %t = tile.gather %table[%ids, %c0] : !tile.view<30522x384xf32>, !tile.tile<4x1xi64> -> !tile.tile<4x384xf32>
    ```
  }];
  let arguments = (ins Arg<Tile_ViewType, "", [MemRead]>:$view, Tile_TileType:$rows, Index:$column);
  let results = (outs Tile_TileType:$tile);
  let assemblyFormat = "$view `[` $rows `,` $column `]` attr-dict `:` qualified(type($view)) `,` qualified(type($rows)) `->` qualified(type($tile))";
  let hasVerifier = 1;
}

def StoreOp : TileOp<"store"> {
  let summary = "A tile to memory";
  let description = [{
    `view[row + r, column + c] = tile[r, c]` for all elements inside of the view.

    * (C1) element types agree.
    * (C2) the view is not of a packed weight.

    ```mlir
    tile.store %t, %y[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x1536xf32>
    ```
  }];
  let arguments = (ins Tile_TileType:$tile, Arg<Tile_ViewType, "", [MemWrite]>:$view, Index:$row, Index:$column);
  let assemblyFormat = "$tile `,` $view `[` $row `,` $column `]` attr-dict `:` qualified(type($tile)) `,` qualified(type($view))";
  let hasVerifier = 1;
}

//===-- Products --------------------------------------------------------------------------------------------===//

def DequantizeOp : TileOp<"dequantize", [Pure, AttrSizedOperandSegments]> {
  let summary = "The numbers that integers and their scales stand for";
  let description = [{
    `result[r, c] = (input[r, c] + bias) * scales[r, c / S] + offsets[r, c / S]`, where S is how many times as many
    columns the result has as the scales; without scales the integers themselves. Scales and offsets may be dequantized
    integers in turn. A product that reads the result may leave out its rounding. With a `table` an integer stands for
    the entry of that number, its bits taken as unsigned.

    * (C1) the input is of i2, i4, i5, i6 or i8, the result of f16, bf16 or f32, and they agree in shape, `lanes` and layout.
    * (C2) the scales are of f16, bf16 or f32, as many rows, and a number of columns that divides the input's.
    * (C3) offsets have the shape of the scales, which are there, and are of f16, bf16 or f32; a bias other than zero is
      beside offsets.
    * (C4) a table has 16 integers, for an input of i4.
    * (C5) integers of 2, 5 and 6 bits are those of a tile.load.

    ```mlir
    %q = tile.load %w[%j, %c0] : !tile.view<512x192xi4> -> !tile.tile<48x192xi4>
    %s = tile.load %scales[%j, %c0] : !tile.view<512x6xf16> -> !tile.tile<48x6xf16>
    %f = tile.dequantize %q scales(%s) : !tile.tile<48x192xi4>, !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
    %m = tile.dequantize %q table [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] scales(%s)
      : !tile.tile<48x192xi4>, !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
    ```
  }];
  let arguments = (ins Tile_TileType:$input, Optional<Tile_TileType>:$scales, Optional<Tile_TileType>:$offsets,
                       DefaultValuedAttr<I64Attr, "0">:$bias, OptionalAttr<DenseI8ArrayAttr>:$table);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $input (`table` $table^)? (`bias` $bias^)? (`scales` `(` $scales^ `)`)? (`offsets` `(` $offsets^ `)`)? attr-dict
    `:` qualified(type($input)) (`,` qualified(type($scales))^)? (`offsets` qualified(type($offsets))^)?
    `->` qualified(type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input, "::mlir::Value":$scales), [{
    build($_builder, $_state, result, input, scales, /*offsets=*/::mlir::Value(), /*bias=*/0,
          /*table=*/::mlir::DenseI8ArrayAttr());
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many columns share a scale; 0 without scales.
    int64_t getGroup() {
      return getScales() ? getInput().getType().getColumns() / getScales().getType().getColumns() : 0;
    }
    /// Bits of the least type that its integers, or those of the table, have.
    int64_t getMostBits();
    /// The loads that the integers, or the scales, are; null if they are none.
    LoadOp getLoad();
    LoadOp getScalesLoad();
  }];
}

def Tile_Atom : I32EnumAttr<"Atom", "An instruction of a warp that multiplies matrices", [
    I32EnumAttrCase<"M16N8K8", 0, "m16n8k8">, I32EnumAttrCase<"M16N8K16", 1, "m16n8k16">,
    I32EnumAttrCase<"M64K16", 2, "m64k16">]> {
  let description = [{
    Named as PTX does (ISA 8.0, section 9.7.14): rows, columns and depth of one product.

    * `m16n8k16`: operands of f16 or of bf16, sums of f32.
    * `m16n8k8`: operands of tf32. An f32 is given as two of them, which have 22 of its 24 bits, and the product of the
      two small ones is left out; f16 and bf16 are exact. An infinite f32 makes NaN, not infinity.
    * `m64k16`: `wgmma` of sm_90a (section 9.7.15), four warps' product together, of as many columns as the result has.
      Operands of f16 or of bf16, read from shared memory that has a swizzle, the left one also from registers.
  }];
  let cppNamespace = "::mlir::fovea::tile";
}

def DotOp : TileOp<"dot", [Pure, AttrSizedOperandSegments]> {
  let summary = "A product of two tiles, added to a third";
  let description = [{
    `result[m, n] = acc[m, n] + sum_k a[m, k] * b[k, n]`, with `transpose_b` of `b[n, k]`; without `into` acc is zero.
    Products of narrow elements are widened first; the sum runs in the result's type, in any order. Elements of i8 are
    unsigned with a zero point of 128: each stands for its value less 128, as processors multiply unsigned by signed
    bytes. With a `b` that is dequantized, a group's products may be summed as integers before they are scaled. What
    offsets of its groups are multiplied by are the sums of a's numbers in each group: `sums`, if given, are these, so that
    they need not be summed again for all of b.

    `block` = `[rows, columns]` says how much of the result, in the result's own order of lanes (first the axis that is
    not in lanes), a lowering should hold in registers at a time. `atom` is the instruction that a GPU's warps use;
    without, they multiply and add by element.

    * (C1) the shapes of a, b and the result fit together.
    * (C2) the result is of f32 or f64; a's and b's elements are floating-point numbers no wider, a's perhaps i8.
    * (C3) acc has the result's type.
    * (C4) `block`, if given, is two positive numbers, which need divide nothing.
    * (C5) an atom takes the operands' types and sums in the result's.
    * (C6) sums are of f32, as many rows as a has, which is of i8, and a number of columns that divides a's.

    ```mlir
    %s = tile.dot %a, %b transpose_b into %c block(8, 48)
        : !tile.tile<64x384xf32>, !tile.tile<48x384xbf16> -> !tile.tile<64x48xf32>
    ```
  }];
  let arguments = (ins Tile_TileType:$a, Tile_TileType:$b, Optional<Tile_TileType>:$acc, Optional<Tile_TileType>:$sums,
                       UnitAttr:$transpose_b,
                       OptionalAttr<DenseI64ArrayAttr>:$block, OptionalAttr<Tile_Atom>:$atom);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $a `,` $b (`transpose_b` $transpose_b^)? (`into` $acc^)? (`sums` `(` $sums^ `)`)? (`block` `` custom<Block>($block)^)?
    (`atom` `(` $atom^ `)`)? attr-dict
    `:` qualified(type($a)) `,` qualified(type($b)) (`sums` qualified(type($sums))^)? `->` custom<ResultAndAcc>(type($result), ref($acc), type($acc))
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$acc,
                                 "bool":$transpose_b, "::mlir::DenseI64ArrayAttr":$block), [{
    build($_builder, $_state, result, a, b, acc, /*sums=*/::mlir::Value(), transpose_b ? $_builder.getUnitAttr() : ::mlir::UnitAttr(), block,
          /*atom=*/AtomAttr());
  }]>];
  let extraClassDeclaration = [{
    /// What bytes stand for is their value less this.
    static constexpr int kZeroPoint = 128;
  }];
  let hasVerifier = 1;
}

//===-- Elements --------------------------------------------------------------------------------------------===//

def MapOp : TileOp<"map", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Scalar code, run for each element";
  let description = [{
    The region takes one element of each operand and yields the result's. It may use index and scalar values from
    outside, and read memory by `memref.load` (a gather, if the place depends on the elements), but write nothing.

    * (C1) operands and result agree in shape, `lanes` and layout.
    * (C2) the region takes the operands' element types and yields the result's.
    * (C3) the region's ops have no side effects but reads.

    ```mlir
    %r = tile.map(%x = %s, %y = %t) : (!tile.tile<4x16xf32>, !tile.tile<4x16xf32>) -> !tile.tile<4x16xf32> {
      %0 = arith.addf %x, %y : f32
      tile.yield %0 : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_TileType>:$inputs);
  let results = (outs Tile_TileType:$result);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::ValueRange":$inputs,
      "::llvm::function_ref<::mlir::Value(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange)>":$body)>];
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "How elements are joined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Maximum", 1, "maximum">]> {
  let cppNamespace = "::mlir::fovea::tile";
}

def ReduceOp : TileOp<"reduce", [Pure]> {
  let summary = "The sum or maximum along an axis";
  let description = [{
    The result has size 1 along `axis`. Sums are in any order. A maximum is a number unless all are NaN.

    Where threads of several warps hold elements along the axis, `scratch` is what they meet in: a row for each thread
    of the block, a column for each of its registers of the result. One barrier stands inside the op, between writing
    and reading; `fovea-insert-barriers` sees to those around it.

    * (C1) the result is the input with size 1 along the axis, the same `lanes`, and a layout without the axis' digits.
    * (C2) the elements are f32 or f64.

    ```mlir
    %m = tile.reduce maximum %s axis(1) : !tile.tile<64x48xf32> -> !tile.tile<64x1xf32>
    ```
  }];
  let arguments = (ins Tile_ReduceKind:$kind, Tile_TileType:$input, I64Attr:$axis, Optional<Tile_SharedType>:$scratch);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $kind $input `axis` `(` $axis `)` (`scratch` `(` $scratch^ `:` qualified(type($scratch)) `)`)? attr-dict
    `:` qualified(type($input)) `->` qualified(type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "ReduceKind":$kind, "::mlir::Value":$input, "int64_t":$axis), [{
    build($_builder, $_state, result, kind, input, axis, /*scratch=*/::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

def BroadcastOp : TileOp<"broadcast", [Pure]> {
  let summary = "A row, a column or one element, repeated";
  let description = [{
    * (C1) each of the input's sizes is the result's or 1; element types and `lanes` agree; the input's layout is the
      result's, without the digits of axes of size 1.

    ```mlir
    %b = tile.broadcast %m : !tile.tile<64x1xf32> -> !tile.tile<64x48xf32>
    ```
  }];
  let arguments = (ins Tile_TileType:$input);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def ExtractOp : TileOp<"extract", [Pure]> {
  let summary = "The element of a tile that has one";
  let description = [{
    For branches on what a reduction found.

    * (C1) the tile is 1x1, and the result has its element type.

    ```mlir
    %any = tile.extract %m : !tile.tile<1x1xf32>
    ```
  }];
  let arguments = (ins Tile_TileType:$tile);
  let results = (outs AnyType:$element);
  let assemblyFormat = "$tile attr-dict `:` custom<TileOfElement>(type($tile), type($element))";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$tile), [{
    build($_builder, $_state, ::llvm::cast<TileType>(tile.getType()).getElementType(), tile);
  }]>];
}

def SplatOp : TileOp<"splat", [Pure]> {
  let summary = "A tile of one value";
  let description = [{
    * (C1) the value has the tile's element type.

    ```mlir
    %z = tile.splat %zero : !tile.tile<64x48xf32>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$value attr-dict `:` custom<ElementOf>(type($value), type($result))";
  let hasVerifier = 1;
}

def IotaOp : TileOp<"iota", [Pure]> {
  let summary = "Numbers that count along an axis";
  let description = [{
    `result[r, c] = first + r` for axis 0, `first + c` for axis 1.

    * (C1) the elements are i32.
    * (C2) the axis is 0 or 1.

    ```mlir
    %q = tile.iota axis(0) from %first : !tile.tile<64x48xi32>
    ```
  }];
  let arguments = (ins Index:$first, I64Attr:$axis);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "`axis` `(` $axis `)` `from` $first attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def CastOp : TileOp<"cast", [Pure]> {
  let summary = "Another floating-point type, or other lanes";
  let description = [{
    Rounds to nearest even. The result may have other `lanes` than the input, or another layout: then elements are
    moved about.

    * (C1) shapes agree.
    * (C2) both element types are floating-point, or they are the same.

    ```mlir
    %n = tile.cast %x : !tile.tile<64x48xf32> -> !tile.tile<64x48xbf16>
    ```
  }];
  let arguments = (ins Tile_TileType:$input);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

//===-- Shared memory ---------------------------------------------------------------------------------------===//

def SharedOp : TileOp<"shared", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Memory of a GPU's block";
  let description = [{
    All threads of the block see the same. `at` is its place in the block's memory, in bytes: `fovea-plan-shared` sets
    it. Lives as long as the block; stands in the kernel itself, in no loop.

    With `stages n` it is a ring: n matrices of the type, used through `tile.stage` only. With `kept k` the slots of the k
    rounds before a loop's own may still be read in it.

    A `guarded` ring has two mbarriers for each slot behind its slots: one that the slot is full, one that it is free again.
    It is used through `tile.producer_acquire`, `tile.producer_commit`, `tile.consumer_wait` and `tile.consumer_release` only.

    * (C1) `at` is not negative, and a multiple of 16, with a swizzle of eight times its bytes.
    * (C2) `stages` is from 1 to 1024, and more than `kept`, which is positive and a ring's.
    * (C3) `guarded` is a ring without `kept`.

    ```mlir
    %s = tile.shared at(1024) : !tile.shared<64x32xf32, strides [1, 68]>
    %ring = tile.shared stages(3) at(9728) : !tile.shared<64x32xf32>
    %late = tile.shared stages(3) kept(1) at(9728) : !tile.shared<64x32xf32>
    %handed = tile.shared stages(3) guarded at(9728) : !tile.shared<64x32xf32>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$at, OptionalAttr<I64Attr>:$stages, OptionalAttr<I64Attr>:$kept,
                       UnitAttr:$guarded);
  let results = (outs Res<Tile_SharedType, "", [MemAlloc]>:$memory);
  let assemblyFormat = [{
    (`stages` `(` $stages^ `)`)? (`kept` `(` $kept^ `)`)? (`guarded` $guarded^)? (`at` `(` $at^ `)`)? attr-dict
    `:` qualified(type($memory))
  }];
  let builders = [OpBuilder<(ins "SharedType":$type, "::mlir::IntegerAttr":$at), [{
    build($_builder, $_state, type, at, ::mlir::IntegerAttr(), ::mlir::IntegerAttr(), /*guarded=*/false);
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// From one slot of a ring to the next.
    int64_t getSlotBytes();
    /// Of all slots, and of their mbarriers.
    int64_t getBytes();
    /// Where slot number 0's mbarriers lie, behind the slots: that it is full, 8 bytes on that it is free, 16 on the
    /// next slot's.
    int64_t getGuards();
  }];
}

def StageOp : TileOp<"stage", [Pure, AllTypesMatch<["ring", "memory"]>]> {
  let summary = "One of a ring's matrices";
  let description = [{
    Slot number `index`, from zero on, of a `tile.shared` with `stages`. Slots with different numbers share no bytes; a
    slot that is being copied to is not used otherwise meanwhile. The innermost loop that holds all of a ring's slots
    fills it anew in each round.

    * (C1) the ring is a `tile.shared` with `stages` that is not guarded.
    * (C2) a constant `index` is one of the ring's.

    ```mlir
    %ring = tile.shared stages(3) : !tile.shared<64x32xf32>
    %s = tile.stage %ring[%n] : !tile.shared<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_SharedType:$ring, Index:$index);
  let results = (outs Tile_SharedType:$memory);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` qualified(type($memory))";
  let hasVerifier = 1;
}

def ProducerAcquireOp : TileOp<"producer_acquire", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["ring", "memory"]>]> {
  let summary = "Waits until a guarded ring's slot is free";
  let description = [{
    For round number `round` of the ring, from zero on, whose slot is `round mod stages`: until what was read of it in
    round `round - stages` is released. Of the first rounds all slots are free.

    * (C1) the ring is a `tile.shared` that is `guarded`.

    ```mlir
    %ring = tile.shared stages(3) guarded : !tile.shared<64x32xf32>
    %s = tile.producer_acquire %ring[%n] : !tile.shared<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_SharedType:$ring, Index:$round);
  let results = (outs Tile_SharedType:$memory);
  let assemblyFormat = "$ring `[` $round `]` attr-dict `:` qualified(type($memory))";
  let hasVerifier = 1;
}

def ProducerCommitOp : TileOp<"producer_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Says that a slot is full when its copies are done";
  let description = [{
    The copies are those begun since `tile.producer_acquire`, all of them async. Does not wait for them.

    * (C1) the ring is a `tile.shared` that is `guarded`.

    ```mlir
    %ring = tile.shared stages(3) guarded : !tile.shared<64x32xf32>
    tile.producer_commit %ring[%n] : !tile.shared<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_SharedType:$ring, Index:$round);
  let assemblyFormat = "$ring `[` $round `]` attr-dict `:` qualified(type($ring))";
  let hasVerifier = 1;
}

def ConsumerWaitOp : TileOp<"consumer_wait", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["ring", "memory"]>]> {
  let summary = "Waits until a guarded ring's slot is full";
  let description = [{
    For what `tile.producer_commit` of the same round says. Products by `m64k16` see it too.

    * (C1) the ring is a `tile.shared` that is `guarded`.

    ```mlir
    %ring = tile.shared stages(3) guarded : !tile.shared<64x32xf32>
    %s = tile.consumer_wait %ring[%n] : !tile.shared<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_SharedType:$ring, Index:$round);
  let results = (outs Tile_SharedType:$memory);
  let assemblyFormat = "$ring `[` $round `]` attr-dict `:` qualified(type($memory))";
  let hasVerifier = 1;
}

def ConsumerReleaseOp : TileOp<"consumer_release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Says that a slot is read";
  let description = [{
    By the warps that come here; `tile.producer_acquire` waits for all consumers.

    * (C1) the ring is a `tile.shared` that is `guarded`.

    ```mlir
    %ring = tile.shared stages(3) guarded : !tile.shared<64x32xf32>
    tile.consumer_release %ring[%n] : !tile.shared<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_SharedType:$ring, Index:$round);
  let assemblyFormat = "$ring `[` $round `]` attr-dict `:` qualified(type($ring))";
  let hasVerifier = 1;
}

def CopyOp : TileOp<"copy"> {
  let summary = "Elements from memory to shared memory";
  let description = [{
    `shared[r, c] = view[row + r, column + c]`, and zero outside of the view. All threads of the block take part; what
    another thread reads of it needs a barrier between.

    With `async` the copy is only begun: it belongs to the group that the next `tile.async_commit` ends, and is done when a
    `tile.async_wait` has waited for that group; what goes to a guarded ring belongs to the next `tile.producer_commit`.

    With `map` one thread hands it to the memory's own engine (TMA), which takes boxes of the tensor map of that number, of
    `fovea.tensor_maps`.

    Integers that go to memory of floats are converted on their way through registers, and with `scales`, a view, multiplied
    by `scales[row + r, (column + c) / S]`, where S is how many times as many columns the view has as that of the scales.

    * (C1) element types agree, or the view is of i4 or i8 and the memory of f16, bf16 or f32.
    * (C2) a copy with `map` is async, into a slot that `tile.producer_acquire` gave, with a swizzle along its columns, and of one
      element type.
    * (C3) scales are of f16 or f32 and beside integers; their view has as many rows as the other, and static columns
      that divide its.

    ```mlir
    tile.copy %x[%i, %k] to %s : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
    tile.copy %x[%i, %k] to %s async : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
    %ring = tile.shared stages(3) guarded : !tile.shared<64x64xbf16, swizzle 128>
    %slot = tile.producer_acquire %ring[%n] : !tile.shared<64x64xbf16, swizzle 128>
    tile.copy %keys[%j, %c0] to %slot async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
    ```
  }];
  let arguments = (ins Arg<Tile_ViewType, "", [MemRead]>:$view, Index:$row, Index:$column,
                       Arg<Tile_SharedType, "", [MemWrite]>:$memory, Arg<Optional<Tile_ViewType>, "", [MemRead]>:$scales,
                       UnitAttr:$async, OptionalAttr<I64Attr>:$map);
  let assemblyFormat = [{
    $view `[` $row `,` $column `]` (`scales` `(` $scales^ `:` qualified(type($scales)) `)`)? `to` $memory
    (`async` $async^)? (`map` `(` $map^ `)`)? attr-dict `:` qualified(type($view)) `,` qualified(type($memory))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$view, "::mlir::Value":$row, "::mlir::Value":$column,
                                 "::mlir::Value":$memory, "::mlir::Value":$scales, CArg<"bool", "false">:$async), [{
    build($_builder, $_state, view, row, column, memory, scales, async, /*map=*/::mlir::IntegerAttr());
  }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether integers become floats, which only threads do.
    bool converts() { return getView().getType().getElementType() != getMemory().getType().getElementType(); }
    /// How many columns share a scale; 0 without scales.
    int64_t getGroup() {
      return getScales() ? getView().getType().getColumns() / getScales().getType().getColumns() : 0;
    }
  }];
}

def AsyncCommitOp : TileOp<"async_commit", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Ends a group of copies";
  let description = [{
    The copies that were begun since the last `tile.async_commit` are a group; one of no copies too.

    ```mlir
    tile.async_commit
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 0;
}

def AsyncWaitOp : TileOp<"async_wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for groups of copies";
  let description = [{
    Until all but the `pending` latest groups are done, as far as this thread began their copies. What other threads have
    copied is there behind the barrier that follows.

    * (C1) `pending` is not negative.

    ```mlir
    tile.async_wait pending(1)
    ```
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "`pending` `(` $pending `)` attr-dict";
  let hasVerifier = 1;
}

def LocalStoreOp : TileOp<"local_store"> {
  let summary = "A tile to shared memory";
  let description = [{
    * (C1) shapes and element types agree.

    ```mlir
    tile.local_store %p to %s : !tile.tile<64x64xf32>, !tile.shared<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_TileType:$tile, Arg<Tile_SharedType, "", [MemWrite]>:$memory);
  let assemblyFormat = "$tile `to` $memory attr-dict `:` qualified(type($tile)) `,` qualified(type($memory))";
  let hasVerifier = 1;
}

def LocalLoadOp : TileOp<"local_load"> {
  let summary = "A tile from shared memory";
  let description = [{
    * (C1) shapes and element types agree.

    ```mlir
    %t = tile.local_load %s : !tile.shared<64x64xf32> -> !tile.tile<64x64xf32>
    ```
  }];
  let arguments = (ins Arg<Tile_SharedType, "", [MemRead]>:$memory);
  let results = (outs Tile_TileType:$tile);
  let assemblyFormat = "$memory attr-dict `:` qualified(type($memory)) `->` qualified(type($tile))";
  let hasVerifier = 1;
}

def BarrierOp : TileOp<"barrier"> {
  let summary = "Waits for all threads of the block";
  let description = [{
    What any thread wrote to shared memory before it, every thread sees behind it, and so do products by `m64k16`.

    ```mlir
    tile.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 0;
}

def MmaOp : TileOp<"mma"> {
  let summary = "A product whose operands lie where a GPU's block reads them";
  let description = [{
    `result[m, n] = acc[m, n] + sum_k a[m, k] * b[k, n]`, with `transpose_b` of `b[n, k]`: a `tile.dot` behind
    `fovea-stage-operands`. An operand is shared memory, or a tile: one that `tile.load` gave is read where it lies,
    element by element, zero outside of its view. With an `atom` the warps' own rows of a may be a tile in registers,
    as the atom takes them.

    An `async` product is only begun. A `tile.mma_wait` gives its result; until then its memory is not written.

    Where several threads of the block hold the same elements of the result, they share its depth with a `scratch`: each sums
    up a part, and all add the parts in one order. It has a row for each thread and a column for each of its registers of
    the result. One barrier stands inside the op, between writing and reading; `fovea-insert-barriers` sees to those around it.

    * (C1) the shapes of a, b and the result fit together.
    * (C2) the result is of f32 or f64; a's and b's elements are floating-point numbers no wider.
    * (C3) a tile operand is a load's, or a `tile.dequantize`'s of loads of i4 or i8 without a table and offsets, or an
      atom's a.
    * (C4) an atom takes the operands' types and sums in the result's.
    * (C5) shared memory has a swizzle if the atom is `m64k16`, and only then; that atom's depth is a multiple of 16, and
      its result has whole 64 rows and eights of columns, up to 256.
    * (C6) an `async` product has that atom, and its result one use: a `tile.mma_wait` behind it in its block.
    * (C7) a product with a scratch has no atom.

    ```mlir
    %s = tile.mma %xs, %ws transpose_b into %acc
        : !tile.shared<64x32xf32>, !tile.shared<48x32xbf16> -> !tile.tile<64x48xf32>
    ```
  }];
  let arguments = (ins Arg<AnyTypeOf<[Tile_TileType, Tile_SharedType]>, "", [MemRead]>:$a,
                       Arg<AnyTypeOf<[Tile_TileType, Tile_SharedType]>, "", [MemRead]>:$b,
                       Tile_TileType:$acc, Optional<Tile_SharedType>:$scratch, UnitAttr:$transpose_b,
                       OptionalAttr<Tile_Atom>:$atom, UnitAttr:$async);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $a `,` $b (`transpose_b` $transpose_b^)? `into` $acc (`atom` `(` $atom^ `)`)? (`async` $async^)?
    (`scratch` `(` $scratch^ `:` qualified(type($scratch)) `)`)? attr-dict
    `:` type($a) `,` type($b) `->` custom<ResultAndAcc>(type($result), ref($acc), type($acc))
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$acc,
                                 "::mlir::UnitAttr":$transpose_b, "::mlir::fovea::tile::AtomAttr":$atom,
                                 "::mlir::UnitAttr":$async), [{
    build($_builder, $_state, result, a, b, acc, /*scratch=*/::mlir::Value(), transpose_b, atom, async);
  }]>];
  let hasVerifier = 1;
}

def MmaWaitOp : TileOp<"mma_wait", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["product", "result"]>]> {
  let summary = "Waits for a product that was begun";
  let description = [{
    Until all but the `pending` latest products are done. What `after` names is computed before the wait, under the
    products: PTX shows no dependence between the two, and an assembler would rather wait first.

    * (C1) the product is an `async` `tile.mma`, and one of those waited for: no more than `pending` were begun behind it.
    * (C2) `after` is of f32.

    ```mlir
    %begun = tile.mma %xs, %ws into %acc atom(m64k16) async
        : !tile.tile<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
    %sums = tile.reduce sum %weights axis(1) : !tile.tile<64x64xf32> -> !tile.tile<64x1xf32>
    %s = tile.mma_wait %begun pending(0) after(%sums : !tile.tile<64x1xf32>) : !tile.tile<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_TileType:$product, I64Attr:$pending, Variadic<Tile_TileType>:$after);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = [{
    $product `pending` `(` $pending `)` (`after` `(` $after^ `:` type($after) `)`)? attr-dict `:` qualified(type($product))
  }];
  let hasVerifier = 1;
}

#endif // FOVEA_TILE_OPS_TD
