// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary positions by hand (Su et al. 2021, section 3.2.2), in the spelling of most programs, "rotate half": element i and element
// i + D/2 are a point in the plane, turned by an angle that grows with the position. Here D = 4, so two points.
//
//     angle[pos, i] = pos * 10000^(-2i/D)                             i = 0, 1: one radian a word, and a hundredth
//     rope(x)       = x * cos(angle) + rotate_half(x) * sin(angle)    rotate_half([x1, x2]) = [-x2, x1]
//     x[i,j]        = rope(q)[i] . rope(k)[j] / sqrt(D)
//
// The product of two turned points depends on the difference of their angles only: that is, on how far apart two
// words stand. The compiler recognises tables, halves and the sum:
// of all of @rope one op is left, which computes angles where it uses them.
//
//   $ fovea compile examples/positions/rope-by-hand.mlir --emit=graph | grep -o '= fovea.rope .*dim(4) theta([^)]*)'
//   = fovea.rope half %x at(%positions : tensor<1x?xi32>) dim(4) theta(1.000000e+04)
//   $ fovea inspect examples/positions/rope-by-hand.mlir | grep fused
//   fused ... x
//   $ fovea run examples/positions/rope-by-hand.mlir --input q=random:1x3x2x4 --input k=random:1x3x2x4 --input v=random:1x3x2x4
//   output: [1, 3, 2, 4] f32
//   ...

#element = affine_map<(b, s, h, d) -> (b, s, h, d)>
#angle = affine_map<(b, s, h, d) -> (s, d)>
#table = affine_map<(s, d) -> (s, d)>
#size = affine_map<(s, d) -> (d)>
!x = tensor<?x?x2x4xf32>
!half = tensor<?x?x2x2xf32>

func.func @forward(%q: !x {fovea.name = "q", fovea.dims = ["batch", "words"]}, %k: !x {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: !x {fovea.name = "v", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "output", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %rq = call @rope(%q) : (!x) -> !x
  %rk = call @rope(%k) : (!x) -> !x
  %o = fovea.attention %rq, %rk, %v scale(0.5) : !x, !x, !x -> !x
  return %o : !x
}

func.func private @rope(%x: !x) -> !x {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x

  // cos and sin of pos * 10000^(-2i/4), each angle for both of its elements
  %frequencies = arith.constant dense<[1.0, 0.01, 1.0, 0.01]> : tensor<4xf32>
  %table = tensor.empty(%words) : tensor<?x4xf32>
  %angles = linalg.generic {indexing_maps = [#size, #table], iterator_types = ["parallel", "parallel"]}
      ins(%frequencies : tensor<4xf32>) outs(%table : tensor<?x4xf32>) {
  ^bb0(%frequency: f32, %unused: f32):
    %place = linalg.index 0 : index
    %integer = arith.index_cast %place : index to i64
    %pos = arith.sitofp %integer : i64 to f32
    %a = arith.mulf %pos, %frequency : f32
    linalg.yield %a : f32
  } -> tensor<?x4xf32>
  %cos = math.cos %angles : tensor<?x4xf32>
  %sin = math.sin %angles : tensor<?x4xf32>

  // rotate_half
  %first = tensor.extract_slice %x[0, 0, 0, 0] [%batch, %words, 2, 2] [1, 1, 1, 1] : !x to !half
  %second = tensor.extract_slice %x[0, 0, 0, 2] [%batch, %words, 2, 2] [1, 1, 1, 1] : !x to !half
  %negative = arith.negf %second : !half
  %rotated = tensor.concat dim(3) %negative, %first : (!half, !half) -> !x

  // x * cos + rotate_half(x) * sin
  %empty = tensor.empty(%batch, %words) : !x
  %turned = linalg.generic {indexing_maps = [#element, #element, #angle, #angle, #element], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %rotated, %cos, %sin : !x, !x, tensor<?x4xf32>, tensor<?x4xf32>) outs(%empty : !x) {
  ^bb0(%a: f32, %b: f32, %c: f32, %s: f32, %unused: f32):
    %ac = arith.mulf %a, %c : f32
    %bs = arith.mulf %b, %s : f32
    %sum = arith.addf %ac, %bs : f32
    linalg.yield %sum : f32
  } -> !x
  return %turned : !x
}
