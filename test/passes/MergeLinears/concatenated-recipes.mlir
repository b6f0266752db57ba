// RUN: fovea-opt %s --fovea-merge-linears | FileCheck %s

// A recipe that concatenates already is not nested, and the new name gives way to one that is taken.

// CHECK: fovea.weight @"a+b" :
// CHECK: fovea.weight @"a+b_0" : tensor<5x2xf32> = #fovea.concat<0, #fovea.stored<"f", "a0", tensor<1x2xf32>>, #fovea.stored<"f", "a1", tensor<2x2xf32>>, #fovea.stored<"f", "b", tensor<2x2xf32>>>
fovea.weight @"a+b" : tensor<2xf32> = #fovea.stored<"f", "x", tensor<2xf32>>
fovea.weight @a : tensor<3x2xf32> = #fovea.concat<0, #fovea.stored<"f", "a0", tensor<1x2xf32>>, #fovea.stored<"f", "a1", tensor<2x2xf32>>>
fovea.weight @b : tensor<2x2xf32> = #fovea.stored<"f", "b", tensor<2x2xf32>>
func.func @flat(%x: tensor<2x2xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<2x2xf32>
  %0 = fovea.linear %x, %a : tensor<2x2xf32>, tensor<3x2xf32> -> tensor<2x3xf32>
  %1 = fovea.linear %x, %b : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x2xf32>
}
