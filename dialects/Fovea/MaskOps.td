// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_MASK_OPS_TD
#define FOVEA_MASK_OPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Fovea/FoveaTypes.td"
include "dialects/Fovea/MaskInterface.td"
include "dialects/Fovea/OperandInterfaces.td"
include "dialects/Fovea/SizeInterface.td"

class MaskOp<string mnemonic, list<Trait> traits = []>
    : FoveaOp<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<MaskOpInterface>], traits)> {
  let results = (outs Fovea_MaskType:$result);
}

def MaskCausalOp : MaskOp<"mask_causal"> {
  let summary = "Keys at or before the query";
  let description = [{
    `allowed = k_pos <= q_pos`.

    ```mlir
    %m = fovea.mask_causal
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def MaskWindowOp : MaskOp<"mask_window"> {
  let summary = "Keys within a distance of the query";
  let description = [{
    `allowed = q_pos - left <= k_pos <= q_pos + right`; a side that is absent is not bounded. A sliding window of
    W keys that ends at the query is `left(W-1) right(0)`. `left` and `right` may be negative: `right(-1)` is
    strictly before.

    * (C1) at least one side is bounded.
    * (C2) `-left <= right` where both are given.
    * (C3) the bounds lie between -2^32 and 2^32: no two positions are farther apart.

    ```mlir
    %m = fovea.mask_window left(255) right(0)
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$left, OptionalAttr<I64Attr>:$right);
  let assemblyFormat = "(`left` `(` $left^ `)`)? (`right` `(` $right^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def MaskLengthOp : MaskOp<"mask_length", [DeclareOpInterfaceMethods<IntegersOpInterface>]> {
  let summary = "Keys before a length, one for each batch row";
  let description = [{
    `allowed = k_pos < lengths[b]`.

    * (C1) `lengths` has one element for each batch row, or one for all; checked where the mask is used.

    ```mlir
    %m = fovea.mask_length %lengths : tensor<?xi32>
    ```
  }];
  let arguments = (ins Fovea_Lengths:$lengths);
  let assemblyFormat = "$lengths attr-dict `:` type($lengths)";
}

def MaskPrefixOp : MaskOp<"mask_prefix", [DeclareOpInterfaceMethods<IntegersOpInterface>]> {
  let summary = "Prefix language model: the prefix sees itself, the rest is causal";
  let description = [{
    `allowed = k_pos <= q_pos or k_pos < lengths[b]`.

    * (C1) `lengths` has one element for each batch row, or one for all; checked where the mask is used.

    ```mlir
    %m = fovea.mask_prefix %lengths : tensor<?xi32>
    ```
  }];
  let arguments = (ins Fovea_Lengths:$lengths);
  let assemblyFormat = "$lengths attr-dict `:` type($lengths)";
}

def MaskSegmentOp : MaskOp<"mask_segment", [DeclareOpInterfaceMethods<IntegersOpInterface>]> {
  let summary = "Keys of the query's own document, several packed in a row";
  let description = [{
    `allowed = query_segments[b, i] == key_segments[b, j]`; i and j are places in the sequence, not positions.
    Ids may be any numbers in any order. Only where the queries of a tile see few keys close together, as in packed
    documents whose ids rise or fall, does the mask save work: for each tile the ids of all keys are read once, and
    what lies before the first and after the last key with an id between the tile's least and greatest is left out.

    * (C1) both have rank 2 and a row for each batch row, or one for all.
    * (C2) their lengths are the numbers of queries and keys; checked where the mask is used.

    ```mlir
    %m = fovea.mask_segment %s, %s : tensor<?x?xi32>, tensor<?x?xi32>
    ```
  }];
  let arguments = (ins Fovea_Positions:$query_segments, Fovea_Positions:$key_segments);
  let assemblyFormat = "$query_segments `,` $key_segments attr-dict `:` type($query_segments) `,` type($key_segments)";
  let hasVerifier = 1;
}

def MaskGlobalOp : MaskOp<"mask_global"> {
  let summary = "The first tokens see all and are seen by all";
  let description = [{
    `allowed = k_pos < tokens or q_pos < tokens` (Longformer, BigBird). Usually joined with a window by `mask_or`.

    * (C1) `tokens` is positive.

    ```mlir
    %m = fovea.mask_global tokens(4)
    ```
  }];
  let arguments = (ins I64Attr:$tokens);
  let assemblyFormat = "`tokens` `(` $tokens `)` attr-dict";
  let hasVerifier = 1;
}

def MaskDenseOp : MaskOp<"mask_dense"> {
  let summary = "A tensor that says it for each query and key";
  let description = [{
    `allowed = mask[b, h, i, j] != 0`; `mask` is aligned at its last axes with `[batch, heads, query length, key
    length]`, an axis of size one counts for all, missing axes likewise.

    * (C1) `mask` has rank 1 to 4 and integer elements.
    * (C2) its axes fit those they are aligned with; checked where the mask is used.

    ```mlir
    %m = fovea.mask_dense %t : tensor<?x1x1x?xi64>
    ```
  }];
  let arguments = (ins TensorRankOf<[I1, I8, I32, I64], [1, 2, 3, 4]>:$mask);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

def MaskAndOp : MaskOp<"mask_and"> {
  let summary = "Allowed by each of these";
  let description = [{
    Of no mask at all: everything is allowed.

    ```mlir
    %m = fovea.mask_and(%a, %b)
    ```
  }];
  let arguments = (ins Variadic<Fovea_MaskType>:$masks);
  let assemblyFormat = "`` `(` $masks `)` attr-dict";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def MaskOrOp : MaskOp<"mask_or"> {
  let summary = "Allowed by one of these at least";
  let description = [{
    Of no mask at all: nothing is allowed.

    ```mlir
    %m = fovea.mask_or(%a, %b)
    ```
  }];
  let arguments = (ins Variadic<Fovea_MaskType>:$masks);
  let assemblyFormat = "`` `(` $masks `)` attr-dict";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def MaskNotOp : MaskOp<"mask_not"> {
  let summary = "Allowed where this forbids";
  let description = [{
    ```mlir
    %m = fovea.mask_not %a
    ```
  }];
  let arguments = (ins Fovea_MaskType:$mask);
  let assemblyFormat = "$mask attr-dict";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def MaskMaterializeOp : FoveaOp<"mask_materialize", [Pure, DeclareOpInterfaceMethods<IntegersOpInterface>, AttrSizedOperandSegments, DeclareOpInterfaceMethods<SizeOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "The mask as a tensor, for those who want to see it";
  let description = [{
    `result[b, h, i, j] = mask allows`. The sizes that the result's type leaves open are given in order, as for
    `tensor.empty`. Positions as in `fovea.attention`; absent means the index itself.

    * (C1) one size for each dynamic axis of the result.
    * (C2) `q_pos` is `[B|1,Q]` and `k_pos` is `[B|1,K]` for a result `[B,H,Q,K]`.
    * (C3) the tensors of the mask's ops fit the result's sizes.

    ```mlir
    %t = fovea.mask_materialize %m [%b, %q, %k] : tensor<?x8x?x?xi1>
    ```
  }];
  let arguments = (ins Fovea_MaskType:$mask, Variadic<Index>:$sizes,
                       Optional<Fovea_Positions>:$query_positions, Optional<Fovea_Positions>:$key_positions);
  let results = (outs TensorRankOf<[I1], [4]>:$result);
  let assemblyFormat = [{
    $mask `[` $sizes `]` (`q_pos` `(` $query_positions^ `:` type($query_positions) `)`)?
    (`k_pos` `(` $key_positions^ `:` type($key_positions) `)`)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

#endif // FOVEA_MASK_OPS_TD
