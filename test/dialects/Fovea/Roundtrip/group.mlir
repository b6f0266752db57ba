// RUN: fovea-opt %s --verify-roundtrip

func.func @group(%x: tensor<?x?x192xf32>) -> tensor<?x?x4xf32> {
  %w = fovea.weight_ref @g : tensor<4x192xf32>
  %y = fovea.group(%a = %x, %b = %w) schedule(#fovea.loops<parallel = 2>) : (tensor<?x?x192xf32>, tensor<4x192xf32>) -> tensor<?x?x4xf32> {
    %0 = fovea.linear %a, %b : tensor<?x?x192xf32>, tensor<4x192xf32> -> tensor<?x?x4xf32>
    fovea.yield %0 : tensor<?x?x4xf32>
  }
  return %y : tensor<?x?x4xf32>
}

fovea.weight @g : tensor<4x192xf32> = #fovea.stored<"a", "g", tensor<4x192xf32>>
