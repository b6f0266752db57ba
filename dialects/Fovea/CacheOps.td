// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_CACHE_OPS_TD
#define FOVEA_CACHE_OPS_TD

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

    * (C1) heads and size of the input are those of the cache.
    * (C2) the input's batch is the cache's.

    ```mlir
    %d = fovea.cache_append %c, %k : !fovea.cache<key, 2x32xf32>, tensor<?x?x2x32xf32>
    ```
  }];
  let arguments = (ins Fovea_CacheType:$cache, Fovea_FloatTensor4:$input);
  let results = (outs Fovea_CacheType:$result);
  let assemblyFormat = "$cache `,` $input attr-dict `:` type($cache) `,` type($input)";
  let hasVerifier = 1;
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

#endif // FOVEA_CACHE_OPS_TD
