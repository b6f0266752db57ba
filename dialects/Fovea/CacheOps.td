// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_CACHE_OPS_TD
#define FOVEA_CACHE_OPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Fovea/FoveaTypes.td"
include "dialects/Fovea/SizeInterface.td"
include "dialects/Fovea/TileableInterface.td"

def CacheCreateOp : FoveaOp<"cache_create", [Pure]> {
  let summary = "An empty cache with room for some positions";
  let description = [{
    Length zero. Appending more than `capacity` positions in all is not allowed.

    ```mlir
    %c = fovea.cache_create %batch, %capacity : !fovea.cache<key, 2x32xf32>
    ```
  }];
  let arguments = (ins Index:$batch, Index:$capacity);
  let results = (outs Fovea_CacheType:$result);
  let assemblyFormat = "$batch `,` $capacity attr-dict `:` type($result)";
}

def CacheAppendOp : FoveaOp<"cache_append", [Pure, AllTypesMatch<["cache", "result"]>, DeclareOpInterfaceMethods<SizeOpInterface>, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "The cache, longer by some positions";
  let description = [{
    The value `cache` followed by `input [B,S,heads,size]`, converted to the cache's element type. In memory the
    cache grows in place, so each cache value may be appended to once only; the `kernels` stage checks it.

    With `scales` the cache holds integers: for each position and head, of x, its row of the input, the scales get
    `s = max |x| / 127` and the cache the nearest integers to `x / s`, halves to even; or s = NaN where x is not finite (as
    `quantize_rows` of fovea.linear). The second result is the scales, longer by as many positions.

    * (C1) heads and size of the input are those of the cache.
    * (C2) the input's batch is the cache's, and the scales'; cache and scales are equally long.
    * (C3) a cache of i8, and no other, has scales: a cache of f32 of the same kind and heads, of size one.

    ```mlir
    %d = fovea.cache_append %c, %k : !fovea.cache<key, 2x32xf32>, tensor<?x?x2x32xf32>
    %e, %t = fovea.cache_append %i, %k scales(%s : !fovea.cache<key, 2x1xf32>) : !fovea.cache<key, 2x32xi8>, tensor<?x?x2x32xf32>
    ```
  }];
  let arguments = (ins Fovea_CacheType:$cache, Fovea_FloatTensor4:$input, Optional<Fovea_CacheType>:$scales);
  let results = (outs Fovea_CacheType:$result, Optional<Fovea_CacheType>:$grown_scales);
  let assemblyFormat = [{
    $cache `,` $input `` custom<Scales>($scales, type($scales), type($grown_scales)) attr-dict `:` type($cache) `,` type($input)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$cache, "::mlir::Value":$input, CArg<"::mlir::Value", "{}">:$scales)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The cache that a result continues.
    ::mlir::Value getContinued(::mlir::Value result) { return result == getResult() ? getCache() : getScales(); }
    /// Of a cache of integers, the type of its scales.
    static CacheType getScalesType(CacheType integers);
  }];
}

def CacheLengthOp : FoveaOp<"cache_length", [Pure]> {
  let summary = "How many positions a cache holds";
  let description = [{
    ```mlir
    %n = fovea.cache_length %c : !fovea.cache<key, 2x32xf32>
    ```
  }];
  let arguments = (ins Fovea_CacheType:$cache);
  let results = (outs Index:$length);
  let assemblyFormat = "$cache attr-dict `:` type($cache)";
  let hasCanonicalizer = 1;
}

def CacheReadOp : FoveaOp<"cache_read", [Pure, DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let summary = "All positions of a cache as a tensor";
  let description = [{
    `[batch,length,heads,size]`, of the cache's element type. For programs that know of no caches, as ONNX files with past keys
    and values are: an attention whose keys and values are read so takes the caches instead, and what else reads them is
    refused by the `graph` stage.

    * (C1) batch and length are open, heads and size are the cache's.
    * (C2) the cache's elements are floats, and the tensor's type.
    * (C3) the cache has this batch and this length.

    ```mlir
    %k = fovea.cache_read %c[%batch, %length] : !fovea.cache<key, 2x32xf32> -> tensor<?x?x2x32xf32>
    ```
  }];
  let arguments = (ins Fovea_CacheType:$cache, Index:$batch, Index:$length);
  let results = (outs Fovea_FloatTensor4:$output);
  let assemblyFormat = "$cache `[` $batch `,` $length `]` attr-dict `:` type($cache) `->` type($output)";
  let hasVerifier = 1;
}

#endif // FOVEA_CACHE_OPS_TD
