// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_SCHEDULE_ATTRS_TD
#define FOVEA_SCHEDULE_ATTRS_TD

include "dialects/Fovea/FoveaAttrs.td"

def Fovea_TargetAttr : FoveaAttr<"Target", "target"> {
  let summary = "The processor that schedules are chosen for";
  let description = [{
    `#fovea.target<"avx512", lanes = 16, registers = 32>`, the module's `fovea.target` from the `scheduled` stage on:
    a level of instructions, how many f32 a vector register holds, and how many of them there are.

    * (C1) `level` is not empty.
    * (C2) `lanes` and `registers` are positive, and `lanes` is a power of two.
  }];
  let parameters = (ins StringRefParameter<>:$level, "int64_t":$lanes, "int64_t":$registers);
  let assemblyFormat = "`<` $level `,` struct($lanes, $registers) `>`";
  let genVerifyDecl = 1;
}

//===-- Schedules of groups ---------------------------------------------------------------------------------===//

def Fovea_LoopScheduleAttr : FoveaAttr<"LoopSchedule", "loops"> {
  let summary = "Plain loops, the first `parallel` of them shared among threads";
  let description = [{
    `#fovea.loops<parallel = 2>`: the kernel is a nest of scalar loops; the two outermost are flattened and cut
    into equal parts, one a thread. What no tile program covers.

    * (C1) `parallel` is not negative.
  }];
  let parameters = (ins "int64_t":$parallel);
  let assemblyFormat = "`<` `parallel` `=` $parallel `>`";
  let genVerifyDecl = 1;
}

def Fovea_ContractionAxis : FoveaEnum<"ContractionAxis", "An axis of a product's result", [
    I32EnumAttrCase<"Outputs", 0, "outputs">, I32EnumAttrCase<"Rows", 1, "rows">]>;

def Fovea_ContractionScheduleAttr : FoveaAttr<"ContractionSchedule", "contraction"> {
  let summary = "A product with a weight, tile by tile";
  let description = [{
    `#fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48]>`: tiles of 64 rows by 48 outputs; a piece of
    work, which no threads share, is 256 rows; sums of 8 rows by 48 outputs stay in registers. Pieces of all rows follow
    each other, so that outputs stay in a cache; with `outermost = rows` those of all outputs, and rows stay.

    With `operands = i8` rows that a linear quantises are multiplied as the integers that they are; else as floats that
    hold these, of f32 or of the 16 bits that it says.

    * (C1) `tile` and `block` are two positive sizes each.
    * (C2) each size of `tile` is a multiple of that of `block`.
    * (C3) `chunk` is a positive multiple of the tile's rows.
    * (C4) `operands` is i8, f16 or bf16.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$tile, "int64_t":$chunk, ArrayRefParameter<"int64_t">:$block,
                    DefaultValuedParameter<Fovea_ContractionAxis.cppType, "ContractionAxis::Outputs">:$outermost,
                    OptionalParameter<"::mlir::Type">:$operands);
  let assemblyFormat = [{
    `<` `tile` `=` `[` $tile `]` `,` `chunk` `=` $chunk `,` `block` `=` `[` $block `]` (`,` struct($outermost, $operands)^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Fovea_AttentionAxis : FoveaEnum<"AttentionAxis", "What the rows of a query tile are", [
    I32EnumAttrCase<"Queries", 0, "queries">, I32EnumAttrCase<"Heads", 1, "heads">]>;

def Fovea_AttentionScheduleAttr : FoveaAttr<"AttentionSchedule", "attention_tiles"> {
  let summary = "Attention over tiles of queries and keys with running maximum and sum";
  let description = [{
    `#fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [4, 64]>`: 64 rows of
    queries by 64 keys at a time. With `axis = queries` the rows are queries of one head, with `axis = heads` they are
    the heads that share one head of keys, for a single query. `scores` and `values` are what stays in registers of
    the two products, lanes last: keys by queries and elements of a value by queries, or, with `axis = heads`, heads by
    keys and heads by elements of a value.

    With `split = [512, 64]` the keys are split among blocks of work whose results are then merged, where that gives
    no block fewer than 512 keys, and into no more parts than make 64 blocks of work. So the number of parts is
    computed from shapes, when a call's sizes are known, and never from the number of threads.

    With `operands = bf16` both products multiply bf16: queries as they are, so that the scale is put on the scores, and
    the softmax's weights rounded (by at most 2^-9 of each), as instructions for matrices take them. Sums stay f32.

    * (C1) all sizes are positive; `scores`, `values` and `split` are two each.
    * (C2) `queries` is a multiple of the queries, or heads, of `scores` and of `values`.
    * (C3) `keys` is a multiple of the keys of `scores`.
    * (C4) the keys of `split` are a multiple of `keys`.
    * (C5) `operands` is f16 or bf16.
  }];
  let parameters = (ins "int64_t":$queries, "int64_t":$keys, "AttentionAxis":$axis,
                        ArrayRefParameter<"int64_t">:$scores, ArrayRefParameter<"int64_t">:$values,
                        OptionalArrayRefParameter<"int64_t">:$split, OptionalParameter<"::mlir::Type">:$operands);
  let assemblyFormat = [{
    `<` `queries` `=` $queries `,` `keys` `=` $keys `,` `axis` `=` $axis `,` `scores` `=` `[` $scores `]` `,`
        `values` `=` `[` $values `]` `` custom<AttentionOptions>($split, $operands) `` `>`
  }];
  let genVerifyDecl = 1;
}

def Fovea_ByRowsScheduleAttr : FoveaAttr<"ByRowsSchedule", "by_rows"> {
  let summary = "One schedule for few rows, another for more";
  let description = [{
    `#fovea.by_rows<most = 1, few = #fovea.contraction<...>, many = #fovea.contraction<...>>`: calls with at most one
    row take the first, others the second, which may be such a choice again. Rows are attention's queries of each batch
    row, and all rows of a product. A group becomes the kernels of both; each call's plan gives those of the one that it
    does not take no blocks of work, and without rows there is no work at all.

    * (C1) `most` is positive.
    * (C2) `few` is no choice itself.
  }];
  let parameters = (ins "int64_t":$most, "::mlir::Attribute":$few, "::mlir::Attribute":$many);
  let assemblyFormat = "`<` `most` `=` $most `,` `few` `=` $few `,` `many` `=` $many `>`";
  let genVerifyDecl = 1;
}

def Fovea_RowScheduleAttr : FoveaAttr<"RowSchedule", "rows"> {
  let summary = "Whole rows of the last axis, several at a time";
  let description = [{
    `#fovea.rows<rows = 4>`.

    * (C1) `rows` is positive.
  }];
  let parameters = (ins "int64_t":$rows);
  let assemblyFormat = "`<` `rows` `=` $rows `>`";
  let genVerifyDecl = 1;
}

def Fovea_ElementScheduleAttr : FoveaAttr<"ElementSchedule", "elements"> {
  let summary = "Elements of the flattened tensor, many at a time";
  let description = [{
    `#fovea.elements<count = 1024>`.

    * (C1) `count` is positive.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` `count` `=` $count `>`";
  let genVerifyDecl = 1;
}

#endif // FOVEA_SCHEDULE_ATTRS_TD
