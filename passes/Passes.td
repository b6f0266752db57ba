// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_PASSES_TD
#define FOVEA_PASSES_TD

include "mlir/Pass/PassBase.td"

def CastCachesPass : Pass<"fovea-cast-caches", "ModuleOp"> {
  let summary = "Give the caches of keys and values another element type";
  let description = [{
    Every cache of the module, in arguments, results and between, gets the type f32, f16 or bf16. An append rounds to nearest
    even; attention widens what it reads, and multiplies in f32 if its queries are of f32.

    With `int8` caches hold integers, and behind each stands a cache of their scales, one for each position and head: in
    functions' arguments and results, where it is called as the cache is and `.scales`, in calls, appends and attentions.
    Refused where an op hands on caches for which it is not known how scales would go along.

    ```mlir
    %k = fovea.cache_append %c, %x : !fovea.cache<key, 2x64xf32>, tensor<?x?x2x64xf32>
    // becomes
    %k = fovea.cache_append %c, %x : !fovea.cache<key, 2x64xbf16>, tensor<?x?x2x64xf32>
    // or, with type=int8
    %k, %t = fovea.cache_append %c, %x scales(%s : !fovea.cache<key, 2x1xf32>) : !fovea.cache<key, 2x64xi8>, tensor<?x?x2x64xf32>
    ```
  }];
  let options = [Option<"type", "type", "std::string", /*default=*/"\"bf16\"", "f32, f16, bf16 or int8">];
  let statistics = [Statistic<"numCast", "cast", "Values that got another type">];
}

def CastWeightsPass : Pass<"fovea-cast-weights", "::mlir::ModuleOp"> {
  let summary = "Cast float weights to one element type";
  let description = [{
    `--dtype`: each weight of a float type, or of blocks, gets a recipe that casts, and its values the new type wherever they go,
    through calls into the arguments of functions. Activations keep their type: ops that read a weight widen it.

    Left alone: a weight that anything else reads than linears, norms, embeddings and learned positions, as other ops do
    not take two element types; and those that reach one argument of a function together with it. What becomes a
    linear at the `graph` stage only is cast there: the pass runs at both of its ends.

    ```mlir
    fovea.weight @w : tensor<6x4xf32> = #fovea.stored<"f", "w", tensor<6x4xf32>>
    // becomes with type=bf16
    fovea.weight @w : tensor<6x4xbf16> = #fovea.cast<#fovea.stored<"f", "w", tensor<6x4xf32>>, bf16>
    ```
  }];
  let options = [Option<"type", "type", "std::string", "", "f32, bf16, f16 or f64">,
                 Option<"blocksOnly", "blocks-only", "bool", "false", "cast weights of blocks alone">];
  let statistics = [
    Statistic<"numCast", "num-cast", "weights cast">,
    Statistic<"numKept", "num-kept", "weights of another type left as they are">];
}

def DropDropoutPass : Pass<"fovea-drop-dropout"> {
  let summary = "Remove dropout";
  let description = [{
    What dropout means in inference. Nothing is refused.

    ```mlir
    %y = fovea.dropout %x rate(0.1) : tensor<?x?x8xf32>
    return %y : tensor<?x?x8xf32>
    // becomes
    return %x : tensor<?x?x8xf32>
    ```
  }];
  let statistics = [Statistic<"numDropped", "num-dropped", "dropouts dropped">];
}

def DropUnusedWeightsPass : Pass<"fovea-drop-unused-weights", "::mlir::ModuleOp"> {
  let summary = "Erase unused weights";
  let description = [{
    Weights are public, as they are what the artifact holds, so `symbol-dce` leaves them. One that no
    `fovea.weight_ref` names (a head that only another entry used, an argument that a canonicalisation made
    dead) would only cost bytes.
  }];
  let statistics = [Statistic<"numDropped", "num-dropped", "weights dropped">];
}

def FoldEmptyTensorsPass : Pass<"fovea-fold-empty-tensors"> {
  let summary = "Fold ops on empty tensors";
  let description = [{
    An op whose results all have a static size of zero becomes `tensor.empty`: no later pass, schedule or kernel meets
    a size that it would divide by. A structured op without iterations (a sum over nothing) gives what it began
    with, and inserting nothing changes nothing. Sizes that are zero when called only are the kernels' to bear.

    Left alone: ops with effects (calls among them), ops that do not say what an open size beside the zero is, and
    ops of fovea that give elements for empty operands (attention without keys gives zeros): kernels compute those.

    ```mlir
    %0 = linalg.softmax dimension(1) ins(%x : tensor<?x0xf32>) outs(%e : tensor<?x0xf32>) -> tensor<?x0xf32>
    %1 = linalg.matmul ins(%a, %b : tensor<2x0xf32>, tensor<0x3xf32>) outs(%i : tensor<2x3xf32>) -> tensor<2x3xf32>
    // becomes
    %0 = tensor.empty(%d) : tensor<?x0xf32>
    // and %i
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def MergeLinearsPass : Pass<"fovea-merge-linears", "::mlir::ModuleOp"> {
  let summary = "Merge linears of the same input";
  let description = [{
    The projections to query, key and value, and gate and up of a gated feed-forward, read one activation. As one
    product with the concatenated weight they read it once. The weight's recipe concatenates, so no byte moves
    at run time; the results are slices of the last axis, which are views.

    In a layer function the weights are arguments. The pass looks through to all of its calls: each call's weights
    are concatenated, and the arguments give way to one for the merged weight (and one for the merged bias).

    Refused, with a missed remark (`--remarks-filter=merge-linears`) and in the statistics:

    - weights or biases of different element types, and biases on some but not on all;
    - a function that is an entry, or not private, or that is used by anything but a call;
    - a weight that is not a `fovea.weight_ref` at each call;
    - a weight with another user (a tied one): its bytes would be stored twice. Two functions that
      merge the same weights in the same order are no obstacle.

    ```mlir
    func.func private @layer(%x: tensor<?x?x4xf32>, %g: tensor<8x4xf32>, %u: tensor<6x4xf32>) -> ... {
      %0 = fovea.linear %x, %g : tensor<?x?x4xf32>, tensor<8x4xf32> -> tensor<?x?x8xf32>
      %1 = fovea.linear %x, %u : tensor<?x?x4xf32>, tensor<6x4xf32> -> tensor<?x?x6xf32>
    // becomes
    fovea.weight @"g+u" : tensor<14x4xf32> = #fovea.concat<0, #fovea.stored<"f", "g", ...>, #fovea.stored<"f", "u", ...>>
    func.func private @layer(%x: tensor<?x?x4xf32>, %gu: tensor<14x4xf32>) -> ... {
      %2 = fovea.linear %x, %gu : tensor<?x?x4xf32>, tensor<14x4xf32> -> tensor<?x?x14xf32>
      %0 = tensor.extract_slice %2[0, 0, 0] [%b, %s, 8] [1, 1, 1] : tensor<?x?x14xf32> to tensor<?x?x8xf32>
      %1 = tensor.extract_slice %2[0, 0, 8] [%b, %s, 6] [1, 1, 1] : tensor<?x?x14xf32> to tensor<?x?x6xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numMerged", "num-merged", "sets of linears merged">,
    Statistic<"numRefused", "num-refused", "sets of linears of one input that could not be merged">];
}

def ChooseComputeTypesPass : Pass<"fovea-choose-compute-types", "::mlir::ModuleOp"> {
  let summary = "Round the inputs of linears and attention to the type in which they are multiplied";
  let description = [{
    `--compute=bf16` and `int8`, and `auto` where the target multiplies it faster: a linear whose weight is bf16, int8 or int4 multiplies bf16, as instructions for pairs of it and
    tensor cores do, at twice the rate of f32 or more; an input of f32 is rounded to it, to nearest. Products are exact in
    f32 and summed there; results, norms, activations, softmax and residual sums stay f32. Each term of a sum is off by at
    most 2^-8 of itself, beside the rounding of the weight. Integers of int8 are exact in bf16, their scale multiplies the
    sum; those of int4 may be rounded to bf16 with their group's scale (2^-9).

    With `integers` (`--compute=int8`) a linear of int8 or int4 quantises the rows of its input instead (`quantize_rows`), as
    instructions for bytes multiply them at four times the rate of f32: each input is off by at most 1/254 of the greatest
    of its row. Rows of more than 65,536 elements are rounded to bf16.

    Where there are such linears, attention multiplies bf16 too, if its keys and values are tensors of f32 or caches of bf16 or int8:
    queries, keys and values are rounded, and so is the result, which is the input of a linear; probabilities are, in the
    kernel. Scores, softmax and sums stay f32. Attention over caches of f32 stays as it is, and so do attention whose
    scores are sums, and attention of which others read probabilities or their logarithms. With `caches` (`--cache=auto`)
    caches of f32 become bf16 there, so that their attention is of the former kind.

    Weights of f16 are left: inputs of large models overflow it.

    ```mlir
    %y = fovea.linear %x, %w : tensor<?x64xf32>, tensor<32x64xbf16> -> tensor<?x32xf32>
    // becomes
    %0 = arith.truncf %x : tensor<?x64xf32> to tensor<?x64xbf16>
    %y = fovea.linear %0, %w : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let options = [Option<"integers", "integers", "bool", /*default=*/"false",
                        "Quantize the rows of inputs where weights are integers">,
                 Option<"caches", "caches", "bool", /*default=*/"false",
                        "Keep keys and values in bf16 beside linears whose inputs are rounded">];
  let statistics = [Statistic<"numRounded", "num-rounded", "linears whose input is rounded">,
                    Statistic<"numQuantized", "num-quantized", "linears whose rows are quantised">,
                    Statistic<"numProducts", "num-products", "other ops whose products are of rounded numbers">];
}

def QuantizeWeightsPass : Pass<"fovea-quantize-weights", "::mlir::ModuleOp"> {
  let summary = "Quantize weights of linears to int8 or int4";
  let description = [{
    `--dtype=int8` and `--dtype=int4`: each matrix of floats that nothing but linears multiply by gets a recipe that
    quantises, and a weight of its scales beside it, which every linear reads and every call passes on; so does a table
    that is a head, too, which embeddings of f32 read with its scales. Activations and all other weights stay as they are.

    - `int8`: one scale for each output, `#fovea.quantize<..., i8, f32>`.
    - `int4`: one scale of f16 for each 32 inputs. A matrix whose inputs are no multiple of 32 gets int8, and so does a
      table. Those that `calibrated` names are rounded already, by their inputs: their integers and scales are stored in
      the file `calibrated`, which the compiler has in memory. Those that `wide` names get int8; a function gets a copy for
      calls that give it such weights in other places than the first call does.

    Refused, with a remark: a weight that something else reads too; weights that
    reach one argument of a function together with a refused one, or with one of another type; weights whose way is
    not known.

    ```mlir
    fovea.weight @w : tensor<6x4xf32> = #fovea.stored<"f", "w", tensor<6x4xf32>>
    %w = fovea.weight_ref @w : tensor<6x4xf32>
    %y = fovea.linear %x, %w : tensor<2x4xf32>, tensor<6x4xf32> -> tensor<2x6xf32>
    // becomes with type=int8
    fovea.weight @w : tensor<6x4xi8> = #fovea.quantize<#fovea.stored<"f", "w", tensor<6x4xf32>>, i8, f32>
    fovea.weight @w.scales : tensor<6xf32> = #fovea.quantization_scales<#fovea.stored<"f", "w", tensor<6x4xf32>>, i8, f32>
    %w = fovea.weight_ref @w : tensor<6x4xi8>
    %s = fovea.weight_ref @w.scales : tensor<6xf32>
    %y = fovea.linear %x, %w scales(%s : tensor<6xf32>) : tensor<2x4xf32>, tensor<6x4xi8> -> tensor<2x6xf32>
    ```
  }];
  let options = [Option<"type", "type", "std::string", "", "int8 or int4">,
                 ListOption<"calibrated", "calibrated", "std::string", "weights whose int4 is there already">,
                 ListOption<"wide", "wide", "std::string", "weights that get int8 in place of int4">];
  let statistics = [Statistic<"numQuantized", "num-quantized", "weights quantised">,
                    Statistic<"numSplit", "num-split", "functions made for calls with other types">];
}

def FoldRmsNormPass : Pass<"fovea-fold-rms-norm", "::mlir::ModuleOp"> {
  let summary = "Fold the weight of RMSNorm into the linears after it";
  let description = [{
    `linear(rms_norm(x) * w, W) = linear(rms_norm(x), W * diag(w))`: the weight `W` gets a recipe that scales its columns, the
    norm keeps none. What remains of the norm is a factor for each row, which a kernel applies to the linear's result, so
    the normalised tensor is never written.

    In a layer function the weights are arguments; the pass looks through to all calls, as `fovea-merge-linears` does, after
    which it is to run. A norm's argument that nothing reads any more goes.

    Refused, with a missed remark (`--remarks-filter=fold-rms-norm`) and in the statistics:

    - a norm that something else than linears reads;
    - weights of linears that are not f32: the product would be rounded to their type;
    - a weight with another reader (a tied one), or behind norms of different weights;
    - weights that are not a `fovea.weight_ref`, in each call of a private function or beside the op.

    Norms in f64 are passed over.

    ```mlir
    fovea.weight @w : tensor<8x4xf32> = #fovea.stored<"f", "w", tensor<8x4xf32>>
    %0 = fovea.rms_norm %x weight(%n : tensor<4xf32>) eps(1.0e-5) : tensor<?x4xf32>
    %1 = fovea.linear %0, %w : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    // becomes
    fovea.weight @w : tensor<8x4xf32> = #fovea.scale_columns<#fovea.stored<"f", "w", tensor<8x4xf32>>, #fovea.stored<"f", "n", tensor<4xf32>>, 0.0 : f64>
    %0 = fovea.rms_norm %x eps(1.0e-5) : tensor<?x4xf32>
    %1 = fovea.linear %0, %w : tensor<?x4xf32>, tensor<8x4xf32> -> tensor<?x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numFolded", "num-folded", "norms whose weight was folded">,
    Statistic<"numRefused", "num-refused", "norms that keep their weight">];
}

def LocalizeMasksPass : Pass<"fovea-localize-masks", "::mlir::ModuleOp"> {
  let summary = "Clone masks next to their attention";
  let description = [{
    A back end builds code from the mask's ops, so it must see them at the attention. Afterwards each user has its own
    copy before it, and what travels into branches, loops and functions are the masks' operands (lengths, segment
    ids, tensors).

    A mask that is a function's argument is rebuilt inside of it from the ops that define it at the calls. Calls whose
    masks differ in more than their operands (a layer with a window, the next without) get a copy of the
    function for each form.

    Left alone, for `fovea-verify-graph` to report: masks that a function returns, that a branch or loop gives as a
    result or carries, arguments of entries or of functions with users other than calls.

    ```mlir
    %m = fovea.mask_length %n : tensor<?xi32>
    %y = call @layer(%x, %m) : (tensor<?x?x2x4xf32>, !fovea.mask) -> tensor<?x?x2x4xf32>
    // becomes
    %y = call @layer(%x, %n) : (tensor<?x?x2x4xf32>, tensor<?xi32>) -> tensor<?x?x2x4xf32>
    // and @layer begins its attention with
    %m = fovea.mask_length %arg1 : tensor<?xi32>
    ```
  }];
  let statistics = [
    Statistic<"numArguments", "num-arguments", "mask arguments replaced">,
    Statistic<"numSpecialized", "num-specialized", "functions copied for another form of mask">,
    Statistic<"numCloned", "num-cloned", "masks cloned beside a user">];
}

def OutlineLayersPass : Pass<"fovea-outline-layers", "::mlir::ModuleOp"> {
  let summary = "Outline equal layers into one function";
  let description = [{
    A graph whose source has no functions repeats each layer's ops. The longest run of ops that repeats with one period,
    and is wired alike in each repetition, becomes a private function `@layer` that is called once for each repetition;
    then the next run. What differs between the repetitions, weights first of all, are arguments; sizes are read off
    argument tensors again; constants, masks and positions are made inside. A run may begin at several of its ops: it
    begins where least goes from one layer to the next. So code and compile time do not grow with the number of layers.

    Locations that differ in numbers get a star: `layers.*.attention`.

    Refused: repetitions without two linears or an attention, ops with effects, and layers that need a size which no argument
    has.

    ```mlir
    %0 = fovea.linear %x, %u0 : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
    %1 = fovea.linear %0, %d0 : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
    %2 = fovea.linear %1, %u1 : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32>
    %3 = fovea.linear %2, %d1 : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32>
    // becomes
    %1 = call @layer(%x, %u0, %d0) : (tensor<?x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<?x8xf32>
    %3 = call @layer(%1, %u1, %d1) : (tensor<?x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<?x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numFunctions", "num-functions", "functions made">,
    Statistic<"numLayers", "num-layers", "layers that became calls">];
}

def RefineShapesPass : Pass<"fovea-refine-shapes"> {
  let summary = "Refine result shapes from operand shapes";
  let description = [{
    For a size that became known after the graph was built: an op that reads a `tensor.cast` to a more open type reads
    what was cast, and its result's type takes the sizes that follow (`ReifyRankedShapedTypeOpInterface`); a constant
    count of `fovea.positions` or size of `fovea.mask_materialize` becomes part of the type. Users that need the old
    type get a cast. Canonicalises along the way, as that is how casts pass other dialects' ops.

    Refused, silently: groups, what crosses a function, and a refinement that would contradict an op's constraints
    (such a program is wrong when it runs, if it ever does).

    ```mlir
    %0 = tensor.cast %x : tensor<1x5x4xf32> to tensor<?x?x4xf32>
    %1 = fovea.linear %0, %w : tensor<?x?x4xf32>, tensor<8x4xf32> -> tensor<?x?x8xf32>
    // becomes
    %1 = fovea.linear %x, %w : tensor<1x5x4xf32>, tensor<8x4xf32> -> tensor<1x5x8xf32>
    %2 = tensor.cast %1 : tensor<1x5x8xf32> to tensor<?x?x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def AddDecodePass : Pass<"fovea-add-decode", "::mlir::ModuleOp"> {
  let summary = "Add the entry that reads one token";
  let description = [{
    Frontends that know how a model is built make `prefill` and `decode`. Of a graph that an exporter wrote there is `prefill`
    beside `forward`; its copy with a sequence of one, whose shapes are refined from there, is `decode`: kernels for one row, and no others.

    Left alone: modules that have a `decode`, those without a `forward`, which say themselves what they have, and a `prefill` whose tokens `[B,S]` have a static size. A `prefill` that still
    reads caches as tensors (`fovea.cache_read`), as no attention could take them, is erased with a warning.

    ```mlir
    func.func @prefill(%ids: tensor<?x?xi64> {fovea.name = "input_ids"}, %c: !fovea.cache<key, 2x32xf32>, ...) attributes {fovea.entry}
    // gets beside it
    func.func @decode(%ids: tensor<?x1xi64> {fovea.name = "input_ids"}, %c: !fovea.cache<key, 2x32xf32>, ...) attributes {fovea.entry}
    ```
  }];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numEntries", "num-entries", "entries made">];
}

def AddProbesPass : Pass<"fovea-add-probes", "::mlir::ModuleOp"> {
  let summary = "Add entries that give what an entry computes on its way";
  let description = [{
    For people who want to look into a model. Each kind adds one entry, a copy of `forward`, or of the only entry, with the same arguments:

    | kind | entry | gives |
    |---|---|---|
    | `attention` | `attention_maps` | the probabilities of each attention, `[B,H,Sq,Sk]` |
    | `masks` | `attention_masks` | what each attention may see, `[B,H,Sq,Sk]` of i1 |
    | `positions` | `position_encodings` | vectors of positions that are added, `[B|1,S,D]`, also the first rows of a stored table; of rotary embeddings the cosines and sines by which a head's pairs are turned, `[B|1,S,1,D]`; of scores that depend on positions or operands what they are where the product is 0, `[B,H,Sq,Sk]` |
    | `inputs` | `linear_inputs` | what each linear multiplies by a weight, as it is multiplied, `[...,K]` |

    Results are named `attention_0`, `mask_0`, and `learned_0`, `sinusoidal_0`, `table_0`, `rotary_0` or `bias_0`, and of inputs by the weight, `layers.0.down_0`, in the order of the program. Functions that are called are
    copied once. Caches that the entry appends to stay its results, since their room is checked as such; what only its other results needed goes with
    the next clean-up.

    Refused with an error: a module with several entries and none of kind `forward`; an entry in which there is nothing to see outside of branches and loops; of
    masks and positions, a function that calls itself.

    ```mlir
    func.func private @layer(%x: tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32> {
      %o = fovea.attention %x, %x, %x scale(0.125) : tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32> -> tensor<?x?x8x64xf32>
      return %o : tensor<?x?x8x64xf32>
    }
    func.func @forward(%x: tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32> attributes {fovea.entry} {
      %0 = call @layer(%x) : (tensor<?x?x8x64xf32>) -> tensor<?x?x8x64xf32>
      return %0 : tensor<?x?x8x64xf32>
    }
    // gets beside it
    func.func private @layer_with_attention(%x: tensor<?x?x8x64xf32>) -> (tensor<?x?x8x64xf32>, tensor<?x8x?x?xf32>) {
      %o, %w = fovea.attention %x, %x, %x scale(0.125) : tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32>, tensor<?x?x8x64xf32> -> tensor<?x?x8x64xf32> weights tensor<?x8x?x?xf32>
      return %o, %w : tensor<?x?x8x64xf32>, tensor<?x8x?x?xf32>
    }
    func.func @attention_maps(%x: tensor<?x?x8x64xf32>) -> (tensor<?x8x?x?xf32> {fovea.name = "attention_0"}) attributes {fovea.entry} {
      %0:2 = call @layer_with_attention(%x) : (tensor<?x?x8x64xf32>) -> (tensor<?x?x8x64xf32>, tensor<?x8x?x?xf32>)
      return %0#1 : tensor<?x8x?x?xf32>
    }
    ```
  }];
  let options = [ListOption<"kinds", "kinds", "std::string", "attention, masks, positions, inputs">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numEntries", "num-entries", "entries made">];
}

def VerifyGraphPass : Pass<"fovea-verify-graph", "::mlir::ModuleOp"> {
  let summary = "Verify that masks cross no function, branch, loop or group, and that attentions alone read caches";
  let description = [{
    The promise of the `graph` stage. Every value of type `!fovea.mask` must be made by an op that implements
    `MaskOpInterface`, and be used in the region in which it is made. Anything else is an error at the place where it crosses. A `fovea.cache_read` is
    gone where an attention took the cache; one that is left is an error.
  }];
}

def VerifyPass : Pass<"fovea-verify"> {
  let summary = "Verify all IR, as at the end of a stage";
  let description = [{
    `fovea compile` runs its passes without the verifier between them, and this one at the end of each stage; verification
    after each of the passes was a tenth of the time to compile an attention. `fovea-opt` verifies after each pass, as
    `mlir-opt` does, so the reproducer of a failure here says which pass made the IR that is refused.
  }];
}

def FuseMapsPass : Pass<"fovea-fuse-maps", "ModuleOp"> {
  let summary = "Fuse maps of linalg that read each other";
  let description = [{
    An elementwise `linalg.generic` that one other alone reads becomes part of it, by upstream's fusion. Left alone is
    what others read too, and what the reader reads more than once, as the operand of a product: its elements would be
    computed each time.

    ```mlir
    %0 = linalg.generic ... ins(%x) { exp }
    %1 = linalg.generic ... ins(%0, %b) { addf }
    // becomes
    %1 = linalg.generic ... ins(%x, %b) { exp, addf }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def DecomposePass : Pass<"fovea-decompose"> {
  let summary = "Decompose what no tile program computes into ops that one does, or into linalg";
  let description = [{
    *Long rows.* A tile program of a norm or a softmax holds whole rows. A row of more than 131,072 columns, and of
    softmax one that is constant, whose size is open or that lies along another axis than the last, becomes
    `linalg.generic` ops: numbers of rows by reductions, then a map of the elements. Sums and what is between are f32, or
    f64 of f64; a result is rounded once.

    *No rows.* A product, a norm, a softmax or an embedding of one row that has no axis, and an activation of a scalar,
    gets an axis of size one, by views.

    *Open heads.* A rotation of heads whose number is open becomes one of a head at each place and head, with every
    position repeated.

    ```mlir
    %y = fovea.l2_norm %x eps(1.0e-12) : tensor<?x262144xf16>
    // becomes
    %squares = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%x) outs(%zeros) {...} -> tensor<?xf32>
    %y = linalg.generic {iterator_types = ["parallel", "parallel"]} ins(%x, %squares) outs(%0) {...} -> tensor<?x262144xf16>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
  let statistics = [Statistic<"numDecomposed", "num-decomposed", "ops decomposed">];
}

def FormGroupsPass : Pass<"fovea-form-groups", "::mlir::ModuleOp"> {
  let summary = "Form a fusion group of each computation on tensors";
  let description = [{
    The `fused` stage: each op that computes a tensor or a cache becomes the only one in a `fovea.group`, whose operands are
    explicit. What makes no work of its own goes in beside it: scalar code that feeds it, the masks of an attention, whose
    tensor operands become the group's, and, where it reads its operands element by element (ops of upstream dialects),
    constants and `tensor.empty`.

    Outside stay views (`tensor.extract_slice`, `expand_shape`, `collapse_shape`, `cast`), sizes and index arithmetic,
    `fovea.cache_length`, `fovea.cache_create`, `fovea.weight_ref`, calls, and control flow, into whose regions the pass goes.

    An op that cannot stand in a group is an error: it has side effects, gives something that is neither tensor nor
    cache, or needs a scalar that nothing in its block defines.

    ```mlir
    %y = fovea.activation gelu %x : tensor<?x?x8xf32>
    // becomes
    %y = fovea.group(%a = %x) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
      %0 = fovea.activation gelu %a : tensor<?x?x8xf32>
      fovea.yield %0 : tensor<?x?x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::fovea::FoveaDialect"];
  let statistics = [Statistic<"numGroups", "num-groups", "groups formed">];
}

def FuseGroupsPass : Pass<"fovea-fuse-groups", "::mlir::ModuleOp"> {
  let summary = "Fuse groups that one kernel can compute";
  let description = [{
    Groups of one op become bigger by seven rules, in this order. All float values are f32 (weights f32, f16 or bf16). Column
    ranges and head sizes are multiples of 16. docs/rationale/fusion.md says which forms exist afterwards.

    1. *Prologue.* A `fovea.rms_norm` without weight that only linears read is computed inside each of them, which apply its
       factor to their result's rows.
    2. *Epilogue.* An elementwise op (by the traits of upstream's, or by TileableOpInterface) on tensors of its result's type,
       f32 or halves, behind a linear of which it is the only user. Its other operands (a residual) become operands of the
       group. Of two linears that are added, the later one takes the sum.
    3. *Argmax.* A linear, with epilogues perhaps, and the `fovea.argmax` of its rows, of at most 2^24 columns. The rows are
       the group's first result if others read them, the places its last.
    4. *Gate.* A linear, two ranges of its columns, and the `fovea.glu` that alone reads them.
    5. *Split.* A linear whose users are disjoint ranges of its columns. Each range takes in what alone reads it, as far as this
       goes: `tensor.expand_shape` to heads, `fovea.rope` (pairs of halves of the whole head), `fovea.cache_append`. The group has
       one result for each range, in the order of columns. Consecutive positions are computed inside.
    6. *Rows.* Rows of tables and elementwise ops into the elementwise op or norm that reads them (TileableOpInterface says
       which ops these are). A sum that
       others than its norm read becomes the group's second result.
    7. *Rounding.* The rounding to f16 or bf16 of a result, into the group that computes it by tiles. If others read the result,
       the rounded one becomes another.

    Refused, silently: what another op reads too; a view between linear and elementwise op; f64; operands of which it cannot be
    shown that their sizes are the same in every call (the kernel of a single op checks them; that of a bigger group need not); rotary
    frequencies that depend on the longest position (`dynamic`, `longrope`); groups that have a schedule.

    ```mlir
    %0 = fovea.group(%a = %h, %b = %w) : (tensor<?x?x512xf32>, tensor<192x512xf32>) -> tensor<?x?x192xf32> {
      %3 = fovea.linear %a, %b : tensor<?x?x512xf32>, tensor<192x512xf32> -> tensor<?x?x192xf32>
      fovea.yield %3 : tensor<?x?x192xf32>
    }
    %1 = fovea.group(%a = %x, %b = %0) : (tensor<?x?x192xf32>, tensor<?x?x192xf32>) -> tensor<?x?x192xf32> {
      %3 = arith.addf %a, %b : tensor<?x?x192xf32>
      fovea.yield %3 : tensor<?x?x192xf32>
    }
    // becomes
    %1 = fovea.group(%a = %h, %b = %w, %c = %x) : (tensor<?x?x512xf32>, tensor<192x512xf32>, tensor<?x?x192xf32>) -> tensor<?x?x192xf32> {
      %3 = fovea.linear %a, %b : tensor<?x?x512xf32>, tensor<192x512xf32> -> tensor<?x?x192xf32>
      %4 = arith.addf %c, %3 : tensor<?x?x192xf32>
      fovea.yield %4 : tensor<?x?x192xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::fovea::FoveaDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numPrologues", "num-prologues", "norms moved into linears">,
    Statistic<"numEpilogues", "num-epilogues", "elementwise ops that became a linear's epilogue">,
    Statistic<"numArgmax", "num-argmax", "argmax ops that became a linear's epilogue">,
    Statistic<"numGated", "num-gated", "linears joined with their gate">,
    Statistic<"numSplit", "num-split", "linears that give each range of their columns apart">,
    Statistic<"numRows", "num-rows", "groups joined to be computed row by row">,
    Statistic<"numRounded", "num-rounded", "groups that round their result">];
}

#endif // FOVEA_PASSES_TD
