// RUN: fovea-opt %s --fovea-schedule=target=sm_80 | FileCheck %s

// One that a function gets, and that the entry returns; the one that an index is read of stays.
// CHECK-LABEL: func.func @passed
// CHECK: %[[TABLE:.*]] = fovea.group() {{.*}} -> tensor<2xf32> {
// CHECK: %[[SIZES:.*]] = arith.constant dense<[1, 2]> : tensor<2xindex>
// CHECK: tensor.extract %[[SIZES]]
// CHECK: %[[Y:.*]] = call @layer(%{{.*}}, %[[TABLE]], %{{.*}})
// CHECK: return %[[Y]], %[[TABLE]]
func.func @passed(%x: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %table = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %sizes = arith.constant dense<[1, 2]> : tensor<2xindex>
  %rows = tensor.dim %x, %c0 : tensor<?x2xf32>
  %n = tensor.extract %sizes[%rows] : tensor<2xindex>
  %y = call @layer(%x, %table, %n) : (tensor<?x2xf32>, tensor<2xf32>, index) -> tensor<?x2xf32>
  return %y, %table : tensor<?x2xf32>, tensor<2xf32>
}

func.func private @layer(%x: tensor<?x2xf32>, %bias: tensor<2xf32>, %n: index) -> tensor<?x2xf32> {
  %rows = tensor.extract_slice %x[0, 0] [%n, 2] [1, 1] : tensor<?x2xf32> to tensor<?x2xf32>
  %y = fovea.group(%a = %rows, %b = %bias, %size = %n) : (tensor<?x2xf32>, tensor<2xf32>, index) -> tensor<?x2xf32> {
    %empty = tensor.empty(%size) : tensor<?x2xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<?x2xf32>, tensor<2xf32>) outs(%empty : tensor<?x2xf32>) {
    ^bb0(%in: f32, %add: f32, %out: f32):
      %1 = arith.addf %in, %add : f32
      linalg.yield %1 : f32
    } -> tensor<?x2xf32>
    fovea.yield %0 : tensor<?x2xf32>
  }
  return %y : tensor<?x2xf32>
}
