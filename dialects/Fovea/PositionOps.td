// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_POSITION_OPS_TD
#define FOVEA_POSITION_OPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Fovea/FoveaAttrs.td"
include "dialects/Fovea/FoveaTypes.td"
include "dialects/Fovea/OperandInterfaces.td"
include "dialects/Fovea/SizeInterface.td"
include "dialects/Fovea/TileableInterface.td"
include "dialects/Fovea/WeightsInterface.td"

def PositionsOp : FoveaOp<"positions", [Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "Consecutive positions from a first one";
  let description = [{
    `result[0, i] = first + i`: the normal form of positions, which back ends recognise.

    * (C1) `count` is given exactly if the result's length is dynamic.
    * (C2) the result has one row.

    ```mlir
    %p = fovea.positions from %first count %n : tensor<1x?xi32>
    %z = fovea.positions from %first : tensor<1x1xi32>
    ```
  }];
  let arguments = (ins Index:$first, Optional<Index>:$count);
  let results = (outs Fovea_Positions:$result);
  let assemblyFormat = "`from` $first (`count` $count^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def RopeOp : FoveaOp<"rope", [Pure, DeclareOpInterfaceMethods<IntegersOpInterface>, DeclareOpInterfaceMethods<TileableOpInterface>, AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<SizeOpInterface>, DeclareOpInterfaceMethods<AxesOpInterface, ["isOfAllResults"]>, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "Rotary position embedding";
  let description = [{
    Su et al. 2021: pair i of the first `dim` elements of each head turns by `pos * f_i`, `f_i = theta^(-2i/dim)`
    stretched as `scaling` says:
    `(x1, x2) -> (x1 cos - x2 sin, x2 cos + x1 sin)`. Pairs are `(i, i + dim/2)` for `half`,
    `(2i, 2i + 1)` for `interleaved`. Elements past `dim` stay. Sines and cosines are computed in f32 or better from the product in f32 or better.

    * (C1) `x` is `[B,S,H,D]` with static D, and the result has its type.
    * (C2) `dim` is even, positive and at most D.
    * (C3) `positions` is `[B|1,S]`.
    * (C4) `theta` is positive and finite.
    * (C5) a `longrope` scaling has dim/2 factors.

    ```mlir
    %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(64) theta(10000.0) : tensor<?x?x8x64xf32>
    ```
  }];
  let arguments = (ins Fovea_FloatTensor4:$input, Fovea_Positions:$positions, Fovea_RopePairing:$pairing,
                       I64Attr:$dim, F64Attr:$theta, OptionalAttr<Fovea_RopeScalingAttr>:$scaling);
  let results = (outs Fovea_FloatTensor4:$result);
  let assemblyFormat = [{
    $pairing $input `at` `(` $positions `:` type($positions) `)` `dim` `(` $dim `)` `theta` `(` $theta `)`
    (`scaling` `(` $scaling^ `)`)? attr-dict `:` type($input)
  }];
  let extraClassDefinition = AxesOf<"getInput">.definition;
  let hasVerifier = 1;
}

def PositionSinusoidalOp : FoveaOp<"position_sinusoidal", [Pure, DeclareOpInterfaceMethods<IntegersOpInterface>,
    DeclareOpInterfaceMethods<AxesOpInterface, ["isOfAllResults"]>, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "Sines and cosines of the position";
  let description = [{
    Vaswani et al. 2017, section 3.5: `result[b,s,2i] = sin(pos * theta^(-2i/D))`, `[2i+1]` the cosine;
    with `halves` the sines fill the first half and the cosines the second.

    * (C1) the result is `[B|1,S,D]` for positions `[B|1,S]`, with even static D.
    * (C2) `theta` is positive and finite.

    ```mlir
    %e = fovea.position_sinusoidal interleaved %p theta(10000.0) : tensor<1x?xi32> -> tensor<1x?x512xf32>
    ```
  }];
  let arguments = (ins Fovea_Positions:$positions, Fovea_SinusoidLayout:$layout, F64Attr:$theta);
  let results = (outs TensorRankOf<[F32, F64], [3]>:$result);
  let assemblyFormat = "$layout $positions `theta` `(` $theta `)` attr-dict `:` type($positions) `->` type($result)";
  let extraClassDefinition = AxesOf<"getPositions">.definition;
  let hasVerifier = 1;
}

def PositionLearnedOp : FoveaOp<"position_learned", [Pure, DeclareOpInterfaceMethods<IntegersOpInterface>, DeclareOpInterfaceMethods<TileableOpInterface>, DeclareOpInterfaceMethods<WeightsOpInterface>,
    DeclareOpInterfaceMethods<AxesOpInterface, ["isOfAllResults"]>, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "A learned vector for each position";
  let description = [{
    `result[b,s,:] = table[pos + offset, :]`. A position outside the table is a fault of the call.

    * (C1) the table's shape is static and it has rows, and the result is `[B|1,S,D]` for positions `[B|1,S]`, with D the table's width.
    * (C2) the result's element type holds every value of the table's.

    ```mlir
    %e = fovea.position_learned %p, %table : tensor<1x?xi32>, tensor<1024x768xf32> -> tensor<1x?x768xf32>
    ```
  }];
  let arguments = (ins Fovea_Positions:$positions, Fovea_FloatTensor2:$table,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs TensorRankOf<[F32, F64], [3]>:$result);
  let assemblyFormat = [{
    $positions `,` $table (`offset` `(` $offset^ `)`)? attr-dict `:` type($positions) `,` type($table) `->` type($result)
  }];
  let extraClassDefinition = AxesOf<"getPositions">.definition;
  let hasVerifier = 1;
}

#endif // FOVEA_POSITION_OPS_TD
