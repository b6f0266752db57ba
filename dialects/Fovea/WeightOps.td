// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_WEIGHT_OPS_TD
#define FOVEA_WEIGHT_OPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Fovea/FoveaAttrs.td"
include "dialects/Fovea/FoveaTypes.td"

def ModelOp : FoveaOp<"model", []> {
  let summary = "What the running verbs must know about the model";
  let description = [{
    `folder` is where `#fovea.stored` files and the tokenizer lie; it is never written to the artifact. An end token
    ends a text, a suppressed one is never written. What an encoder-decoder writes begins with `forced_begin_token`, has
    `forced_end_token` in its last place if it gets there, no end token before `min_tokens` others, and no `no_repeat_ngram` tokens
    in a row twice.

    * (C1) it stands in a module.
    * (C2) it is the only one there.
    * (C3) `max_positions`, `vocabulary` and `no_repeat_ngram` are positive, token ids and `min_tokens` not negative.

    ```mlir
    fovea.model "llama" in "models/shakespeare" {tokenizer = "tokenizer.json", begin_token = 0, end_tokens = array<i64: 1>, max_positions = 512}
    ```
  }];
  let arguments = (ins StrAttr:$architecture, StrAttr:$folder, OptionalAttr<StrAttr>:$tokenizer,
                       OptionalAttr<I64Attr>:$begin_token, OptionalAttr<DenseI64ArrayAttr>:$end_tokens,
                       OptionalAttr<DenseI64ArrayAttr>:$suppressed_tokens, OptionalAttr<I64Attr>:$pad_token,
                       OptionalAttr<I64Attr>:$max_positions, OptionalAttr<I64Attr>:$vocabulary,
                       OptionalAttr<I64Attr>:$forced_begin_token, OptionalAttr<I64Attr>:$forced_end_token,
                       OptionalAttr<I64Attr>:$min_tokens, OptionalAttr<I64Attr>:$no_repeat_ngram);
  let assemblyFormat = "$architecture `in` $folder attr-dict";
  let hasVerifier = 1;
}

def WeightOp : FoveaOp<"weight", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A weight, and how it is computed from stored tensors";
  let description = [{
    * (C1) the recipe gives the declared type.
    * (C2) the recipe's own steps fit together.
    * (C3) the shape is static.

    ```mlir
    fovea.weight @head : tensor<2048x192xbf16> = #fovea.stored<"model.safetensors", "lm_head.weight", tensor<2048x192xbf16>>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type, AnyAttr:$recipe,
                       OptionalAttr<StrAttr>:$sym_visibility);
  let assemblyFormat = "$sym_name `:` $type `=` $recipe attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getWeightType() { return ::llvm::cast<::mlir::RankedTensorType>(getType()); }
  }];
}

def WeightRefOp : FoveaOp<"weight_ref", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a weight";
  let description = [{
    A tensor up to the `scheduled` stage, a buffer after it.

    * (C1) the symbol is a `fovea.weight`; a tensor has its type.
    * (C2) a buffer is the one that holds that type: `memref<128x192x16xbf16>` for
      `tensor<2048x192xbf16, #fovea.panels<16>>`.

    ```mlir
    fovea.weight @head : tensor<2048x192xbf16> = #fovea.stored<"model.safetensors", "lm_head.weight", tensor<2048x192xbf16>>
    %w = fovea.weight_ref @head : tensor<2048x192xbf16>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$weight);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyStaticShapeMemRef]>:$result);
  let assemblyFormat = "$weight attr-dict `:` type($result)";
}

#endif // FOVEA_WEIGHT_OPS_TD
