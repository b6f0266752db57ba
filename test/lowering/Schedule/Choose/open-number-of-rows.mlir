// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s

// Where the number of rows is open, one has a schedule of its own: of a batch, and of weights that are shorter than f32. A
// number that is known chooses now.

// CHECK-LABEL: @open_rows
// CHECK: fovea.group({{.*}}) schedule(#fovea.by_rows<most = 1, few = #fovea.contraction<tile = [1, 64], {{.*}}>, many = #fovea.contraction<tile = [48, 16], {{.*}}>>)
// CHECK: fovea.group({{.*}}) schedule(#fovea.by_rows<most = 1, few = #fovea.contraction<tile = [1, 64], {{.*}}>, many = #fovea.contraction<tile = [48, 16], {{.*}}>>)
// CHECK: fovea.group({{.*}}) schedule(#fovea.contraction<tile = [48, 16],
// CHECK: fovea.group({{.*}}) schedule(#fovea.contraction<tile = [1, 64],
func.func @open_rows(%x: tensor<?x4xf32>, %y: tensor<?x?x4xf32>, %z: tensor<2x4xf32>, %u: tensor<1x4xf32>, %w: tensor<6x4xf32>, %h: tensor<6x4xbf16>)
    -> (tensor<?x6xf32>, tensor<?x?x6xf32>, tensor<2x6xf32>, tensor<1x6xf32>) {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x4xf32>, tensor<6x4xf32>) -> tensor<?x6xf32> {
    %4 = fovea.linear %a, %b : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    fovea.yield %4 : tensor<?x6xf32>
  }
  %1 = fovea.group(%a = %y, %b = %h) : (tensor<?x?x4xf32>, tensor<6x4xbf16>) -> tensor<?x?x6xf32> {
    %4 = fovea.linear %a, %b : tensor<?x?x4xf32>, tensor<6x4xbf16> -> tensor<?x?x6xf32>
    fovea.yield %4 : tensor<?x?x6xf32>
  }
  %2 = fovea.group(%a = %z, %b = %w) : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32> {
    %4 = fovea.linear %a, %b : tensor<2x4xf32>, tensor<6x4xf32> -> tensor<2x6xf32>
    fovea.yield %4 : tensor<2x6xf32>
  }
  %3 = fovea.group(%a = %u, %b = %w) : (tensor<1x4xf32>, tensor<6x4xf32>) -> tensor<1x6xf32> {
    %4 = fovea.linear %a, %b : tensor<1x4xf32>, tensor<6x4xf32> -> tensor<1x6xf32>
    fovea.yield %4 : tensor<1x6xf32>
  }
  return %0, %1, %2, %3 : tensor<?x6xf32>, tensor<?x?x6xf32>, tensor<2x6xf32>, tensor<1x6xf32>
}
