// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s --check-prefixes=CHECK,AMPERE

// Attention of bf16 by warpgroups: as many queries share a tile of keys as there are registers for.

// CHECK-LABEL: @many
// HOPPER: #fovea.attention_tiles<queries = 192, keys = 64, axis = queries, {{.*}}, operands = bf16>
// AMPERE: #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, {{.*}}, operands = bf16>
func.func @many(%q: tensor<?x?x2x128xbf16>) -> tensor<?x?x2x128xbf16> {
  %0 = fovea.group(%a = %q) : (tensor<?x?x2x128xbf16>) -> tensor<?x?x2x128xbf16> {
    %m = fovea.mask_causal
    %1 = fovea.attention %a, %a, %a mask(%m) : tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16> -> tensor<?x?x2x128xbf16>
    fovea.yield %1 : tensor<?x?x2x128xbf16>
  }
  return %0 : tensor<?x?x2x128xbf16>
}

// A mask that is read at each place has registers of its own.

// CHECK-LABEL: @masked
// HOPPER: #fovea.attention_tiles<queries = 128,
func.func @masked(%q: tensor<?x?x2x128xbf16>, %d: tensor<?x?xi1>) -> tensor<?x?x2x128xbf16> {
  %0 = fovea.group(%a = %q, %t = %d) : (tensor<?x?x2x128xbf16>, tensor<?x?xi1>) -> tensor<?x?x2x128xbf16> {
    %c = fovea.mask_causal
    %e = fovea.mask_dense %t : tensor<?x?xi1>
    %m = fovea.mask_and(%c, %e)
    %1 = fovea.attention %a, %a, %a mask(%m) : tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16> -> tensor<?x?x2x128xbf16>
    fovea.yield %1 : tensor<?x?x2x128xbf16>
  }
  return %0 : tensor<?x?x2x128xbf16>
}

// The same scores of a head of 64 leave room for them.

// CHECK-LABEL: @small_heads
// HOPPER: #fovea.attention_tiles<queries = 192,
func.func @small_heads(%q: tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16> {
  %0 = fovea.group(%a = %q) : (tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16> {
    %1 = fovea.attention %a, %a, %a score() {
      ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
        %y = math.tanh %x : f32
        fovea.yield %y : f32
    } : tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16> -> tensor<?x?x2x64xbf16>
    fovea.yield %1 : tensor<?x?x2x64xbf16>
  }
  return %0 : tensor<?x?x2x64xbf16>
}

// CHECK-LABEL: @large_heads
// HOPPER: #fovea.attention_tiles<queries = 128,
func.func @large_heads(%q: tensor<?x?x2x256xf16>) -> tensor<?x?x2x256xf16> {
  %0 = fovea.group(%a = %q) : (tensor<?x?x2x256xf16>) -> tensor<?x?x2x256xf16> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x256xf16>, tensor<?x?x2x256xf16>, tensor<?x?x2x256xf16> -> tensor<?x?x2x256xf16>
    fovea.yield %1 : tensor<?x?x2x256xf16>
  }
  return %0 : tensor<?x?x2x256xf16>
}

// No more than there are; heads that wgmma does not take; f32, which it does not either.

// CHECK-LABEL: @others
// HOPPER: #fovea.attention_tiles<queries = 128,
// HOPPER: #fovea.attention_tiles<queries = 64,
// CHECK: #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [8, 4], values = [8, 4]>
func.func @others(%x: tensor<?x100x2x64xbf16>, %y: tensor<?x?x2x72xbf16>, %z: tensor<?x?x2x64xf32>) -> (tensor<?x100x2x64xbf16>, tensor<?x?x2x72xbf16>, tensor<?x?x2x64xf32>) {
  %0 = fovea.group(%a = %x) : (tensor<?x100x2x64xbf16>) -> tensor<?x100x2x64xbf16> {
    %1 = fovea.attention %a, %a, %a : tensor<?x100x2x64xbf16>, tensor<?x100x2x64xbf16>, tensor<?x100x2x64xbf16> -> tensor<?x100x2x64xbf16>
    fovea.yield %1 : tensor<?x100x2x64xbf16>
  }
  %2 = fovea.group(%a = %y) : (tensor<?x?x2x72xbf16>) -> tensor<?x?x2x72xbf16> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x72xbf16>, tensor<?x?x2x72xbf16>, tensor<?x?x2x72xbf16> -> tensor<?x?x2x72xbf16>
    fovea.yield %1 : tensor<?x?x2x72xbf16>
  }
  %3 = fovea.group(%a = %z) : (tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x2x64xf32>
    fovea.yield %1 : tensor<?x?x2x64xf32>
  }
  return %0, %2, %3 : tensor<?x100x2x64xbf16>, tensor<?x?x2x72xbf16>, tensor<?x?x2x64xf32>
}

// Halves by a weight of the same type: two warpgroups; by another one, or by few columns, as all else.

// CHECK-LABEL: @products
// HOPPER: #fovea.contraction<tile = [128, 128], chunk = 128, block = [8, 4]>
// HOPPER: #fovea.contraction<tile = [64, 64], chunk = 64, block = [8, 4]>
// HOPPER: #fovea.contraction<tile = [64, 64], chunk = 64, block = [8, 4]>
// AMPERE-COUNT-3: #fovea.contraction<tile = [64, 64], chunk = 64, block = [8, 4]>
func.func @products(%x: tensor<?x?x64xf16>, %w: tensor<256x64xf16>, %v: tensor<256x64xbf16>, %u: tensor<96x64xf16>) -> (tensor<?x?x256xf16>, tensor<?x?x256xf16>, tensor<?x?x96xf16>) {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x?x64xf16>, tensor<256x64xf16>) -> tensor<?x?x256xf16> {
    %1 = fovea.linear %a, %b : tensor<?x?x64xf16>, tensor<256x64xf16> -> tensor<?x?x256xf16>
    fovea.yield %1 : tensor<?x?x256xf16>
  }
  %2 = fovea.group(%a = %x, %b = %v) : (tensor<?x?x64xf16>, tensor<256x64xbf16>) -> tensor<?x?x256xf16> {
    %1 = fovea.linear %a, %b : tensor<?x?x64xf16>, tensor<256x64xbf16> -> tensor<?x?x256xf16>
    fovea.yield %1 : tensor<?x?x256xf16>
  }
  %3 = fovea.group(%a = %x, %b = %u) : (tensor<?x?x64xf16>, tensor<96x64xf16>) -> tensor<?x?x96xf16> {
    %1 = fovea.linear %a, %b : tensor<?x?x64xf16>, tensor<96x64xf16> -> tensor<?x?x96xf16>
    fovea.yield %1 : tensor<?x?x96xf16>
  }
  return %0, %2, %3 : tensor<?x?x256xf16>, tensor<?x?x256xf16>, tensor<?x?x96xf16>
}

// One query, and one row of a product of rank two, have kernels of their own where how many there are is open.

// CHECK-LABEL: @open
// CHECK: #fovea.by_rows<most = 1, few = #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, {{.*}} split = [256, 264]>, many = #fovea.attention_tiles<queries = 64, {{.*}} axis = queries,
// CHECK: #fovea.by_rows<most = 1, few = #fovea.contraction<tile = [1, 32], {{.*}}>, many = #fovea.contraction<tile = [64, 64], {{.*}}>>
func.func @open(%x: tensor<?x?x2x64xf32>, %y: tensor<?x64xf32>, %w: tensor<256x64xf32>) -> (tensor<?x?x2x64xf32>, tensor<?x256xf32>) {
  %0 = fovea.group(%a = %x) : (tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x2x64xf32>
    fovea.yield %1 : tensor<?x?x2x64xf32>
  }
  %2 = fovea.group(%a = %y, %b = %w) : (tensor<?x64xf32>, tensor<256x64xf32>) -> tensor<?x256xf32> {
    %1 = fovea.linear %a, %b : tensor<?x64xf32>, tensor<256x64xf32> -> tensor<?x256xf32>
    fovea.yield %1 : tensor<?x256xf32>
  }
  return %0, %2 : tensor<?x?x2x64xf32>, tensor<?x256xf32>
}
