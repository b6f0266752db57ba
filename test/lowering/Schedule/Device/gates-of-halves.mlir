// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s

// A gate of halves has two sums: half the rows of a product, and no loop over rows in a block, for
// which a whole weight would have to stay in shared memory.

// CHECK-LABEL: @gate
// CHECK: #fovea.contraction<tile = [64, 128], chunk = 64, block = [8, 4]>
func.func @gate(%x: tensor<1x?x2048xbf16>, %w: tensor<11264x2048xbf16>) -> tensor<1x?x5632xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<1x?x2048xbf16>, tensor<11264x2048xbf16>) -> tensor<1x?x5632xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %both = fovea.linear %a, %b : tensor<1x?x2048xbf16>, tensor<11264x2048xbf16> -> tensor<1x?x11264xf32>
    %rows = tensor.dim %a, %c1 : tensor<1x?x2048xbf16>
    %gate = tensor.extract_slice %both[0, 0, 0] [1, %rows, 5632] [1, 1, 1] : tensor<1x?x11264xf32> to tensor<1x?x5632xf32>
    %up = tensor.extract_slice %both[0, 0, 5632] [1, %rows, 5632] [1, 1, 1] : tensor<1x?x11264xf32> to tensor<1x?x5632xf32>
    %1 = fovea.glu silu %gate, %up : tensor<1x?x5632xf32>
    fovea.yield %1 : tensor<1x?x5632xf32>
  }
  return %0 : tensor<1x?x5632xf32>
}
