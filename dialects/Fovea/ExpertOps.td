// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_EXPERT_OPS_TD
#define FOVEA_EXPERT_OPS_TD

include "mlir/IR/OpAsmInterface.td"
include "dialects/Fovea/LayerOps.td"

def TopKOp : LayerOp<"top_k", "getInput", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A row's greatest elements, and where they stand";
  let description = [{
    `indices[..., s]` is the place in x's row of its greatest element that is at none of `indices[..., 0]` to
    `indices[..., s - 1]`, the least of several; `values[..., s]` is that element: the experts that a router chooses
    (Shazeer et al. 2017, section 2.1). NaN counts as minus infinity: the places of a row differ always.

    - `bias` is added for the choice alone: values are elements of x (DeepSeek-AI 2024, DeepSeek-V3, equation 16).
    - `groups(k of n by t)`: a row has n equal groups, and the choice is among the k whose t greatest elements have the
      greatest sums, the first of equal ones (ibid., section 2.1.2; with t = 1 DeepSeek-V2, section 2.2.2).
    - `normalized` divides a row's values by their sum and 1e-20 (ibid., equation 13).

    * (C1) the last axis is static, and k, the results' last axis, is static, at least 1 and at most that.
    * (C2) values have x's element type, and both results its other axes.
    * (C3) the bias has as many elements as a row.
    * (C4) there are at most 64 groups, which divide a row; k and t are at least 1 and at most n and a group's elements; k groups
      have as many elements as there are values, or more.

    ```mlir
    %weights, %experts = fovea.top_k %scores : tensor<?x?x8xf32> -> tensor<?x?x2xf32>, tensor<?x?x2xi64>
    %w, %e = fovea.top_k %s bias(%b : tensor<256xf32>) groups(4 of 8 by 2) normalized : tensor<?x?x256xf32> -> tensor<?x?x8xf32>, tensor<?x?x8xi64>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, Optional<Fovea_FloatTensor1>:$bias,
                       DefaultValuedAttr<I64Attr, "1">:$chosen_groups, DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$group_top, UnitAttr:$normalized);
  let results = (outs Fovea_AnyFloatTensor:$values, RankedTensorOf<[I64]>:$indices);
  let assemblyFormat = [{
    $input (`bias` `(` $bias^ `:` type($bias) `)`)? (`groups` `(` $chosen_groups^ `of` $groups `by` $group_top `)`)? (`normalized` $normalized^)?
    attr-dict `:` type($input) `->` type($values) `,` type($indices)
  }];
  let extraClassDeclaration = [{
    static constexpr int64_t kMostGroups = 64;
    /// What a normalised sum has besides, so that none divides by zero.
    static constexpr double kLeastSum = 1e-20;
  }];
  let hasVerifier = 1;
}

def DispatchOp : LayerOp<"dispatch", "getExperts", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Pairs of a token and an expert, in the order of the experts";
  let description = [{
    Each row of `experts` is a token, each element of it a pair with the expert of that number (Shazeer et al. 2017; the
    permutation of MegaBlocks, Gale et al. 2022, section 4). Sorted by expert, those of one in the order in which they stand:

    - `tokens`: the row of `experts` that each pair is of, in sorted order. Its elements count through all axes: where
      they stand in a row says nothing.
    - `places`: where each pair stands in that order.
    - `offsets[e]`: where the pairs of expert e begin; `offsets[E]` is their number.

    An expert outside of [0, E) is a fault of the call.

    * (C1) the last axis is static.
    * (C2) tokens and places have the type of `experts`; offsets are `[E + 1]`, static, of at least one expert.

    ```mlir
    %tokens, %places, %offsets = fovea.dispatch %experts : tensor<?x?x2xi64> -> tensor<9xi64>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$experts);
  let results = (outs RankedTensorOf<[I64]>:$tokens, RankedTensorOf<[I64]>:$places, RankedTensorOf<[I64]>:$offsets);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumExperts() { return getOffsets().getType().getDimSize(0) - 1; }
  }];
}

def EqualOffsetsOp : FoveaOp<"equal_offsets", [Pure]> {
  let summary = "Where equal parts of rows begin";
  let description = [{
    `offsets[e] = e * rows`: what `experts` of fovea.linear are where each of E matrices multiplies `rows` rows, as heads with a
    matrix of their own do (DeepSeek-AI 2024, DeepSeek-V2, section 2.1.2).

    * (C1) offsets are `[E + 1]`, static, of at least one part.

    ```mlir
    %offsets = fovea.equal_offsets %rows : tensor<17xi64>
    ```
  }];
  let arguments = (ins Index:$rows);
  let results = (outs RankedTensorOf<[I64]>:$offsets);
  let assemblyFormat = "$rows attr-dict `:` type($offsets)";
  let hasVerifier = 1;
}

def GatherRowsOp : LayerOp<"gather_rows", "getRows", [DeclareOpInterfaceMethods<IntegersOpInterface>, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "Rows of activations, by their numbers";
  let description = [{
    `result[..., :] = x[rows[...], :]`, where x's rows are counted through all its axes but the last. A number of no row is
    a fault of the call.

    * (C1) the last axis of x is static, and not its only one.
    * (C2) the result has x's element type, and the shape of `rows` with x's last axis behind it.

    ```mlir
    %sorted = fovea.gather_rows %x rows(%tokens) : tensor<?x?x64xf32>, tensor<?x?x2xi64> -> tensor<?x?x2x64xf32>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, Fovea_IdTensor:$rows);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = "$input `rows` `(` $rows `)` attr-dict `:` type($input) `,` type($rows) `->` type($result)";
  let hasVerifier = 1;
}

def CombineOp : LayerOp<"combine", "getRows",
    [DeclareOpInterfaceMethods<IntegersOpInterface>, DeclareOpInterfaceMethods<SizeOpInterface>, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "Weighted sums of rows, by their numbers";
  let description = [{
    `result[..., :] = sum_s weights[..., s] * x[rows[..., s], :]`, where x's rows are counted through all its axes but the
    last: what the experts of a token give (Shazeer et al. 2017, equation 1). Sums in f32 (f64 for f64). A number of no row
    is a fault of the call.

    * (C1) the last axis of x is static, and not its only one.
    * (C2) weights have x's element type and the shape of `rows`, whose last axis is static and not empty.
    * (C3) the result has x's element type, and the shape of `rows` with x's last axis instead of its own.

    ```mlir
    %y = fovea.combine %z rows(%places) weights(%weights) : tensor<?x?x2x64xf32>, tensor<?x?x2xi64>, tensor<?x?x2xf32> -> tensor<?x?x64xf32>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, Fovea_IdTensor:$rows, Fovea_AnyFloatTensor:$weights);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = [{
    $input `rows` `(` $rows `)` `weights` `(` $weights `)` attr-dict
    `:` type($input) `,` type($rows) `,` type($weights) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // FOVEA_EXPERT_OPS_TD
