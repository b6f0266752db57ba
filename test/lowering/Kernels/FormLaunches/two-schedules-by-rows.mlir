// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Two schedules by the number of rows: the plan says which of the two kernels works in a call, the other has no blocks; none
// works where there are no rows.
// CHECK-LABEL: func.func @by_rows(
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[ROWS]], %c0
// CHECK: %[[LESS:.*]] = arith.cmpi slt, %[[ROWS]], %c2
// CHECK: %[[FEW:.*]] = arith.andi %[[ANY]], %[[LESS]]
// CHECK: %[[FEW_FLOPS:.*]] = arith.select %[[FEW]], %[[FLOPS:.*]], %c0
// CHECK: %[[FEW_BYTES:.*]] = arith.select %[[FEW]], %[[BYTES:.*]], %c0
// CHECK: %[[MANY:.*]] = arith.cmpi sgt, %[[ROWS]], %c1
// CHECK: %[[MANY_FLOPS:.*]] = arith.select %[[MANY]], %[[FLOPS]], %c0
// CHECK: %[[MANY_BYTES:.*]] = arith.select %[[MANY]], %[[BYTES]], %c0
// CHECK: fovea.launch @linear_0 {{.*}} cost(%[[FEW_FLOPS]], %[[FEW_BYTES]])
// CHECK: fovea.launch @linear_1 {{.*}} cost(%[[MANY_FLOPS]], %[[MANY_BYTES]])
// CHECK: func.func private @linear_0({{.*}} fovea.schedule = #fovea.contraction<tile = [1, 16]
// CHECK: %[[ROWS0:.*]] = arith.muli
// CHECK: %[[ONE:.*]] = arith.andi
// CHECK: %[[BLOCKS0:.*]] = arith.select %[[ONE]], %{{.*}}, %c0
// CHECK: tile.kernel grid(%{{.*}}) = (%[[BLOCKS0]])
// CHECK: func.func private @linear_1({{.*}} fovea.schedule = #fovea.contraction<tile = [8, 16]
// CHECK: %[[MORE:.*]] = arith.cmpi sgt, %{{.*}}, %c1
// CHECK: %[[BLOCKS1:.*]] = arith.select %[[MORE]], %{{.*}}, %c0
// CHECK: tile.kernel grid(%{{.*}}) = (%[[BLOCKS1]])
func.func @by_rows(%x: tensor<?x?x4xf32>, %w: tensor<6x4xf32>) -> tensor<?x?x6xf32> attributes {fovea.entry} {
  %y = fovea.group(%a = %x, %b = %w) schedule(#fovea.by_rows<most = 1, few = #fovea.contraction<tile = [1, 16], chunk = 1, block = [1, 16]>, many = #fovea.contraction<tile = [8, 16], chunk = 8, block = [8, 16]>>) : (tensor<?x?x4xf32>, tensor<6x4xf32>) -> tensor<?x?x6xf32> {
    %1 = fovea.linear %a, %b : tensor<?x?x4xf32>, tensor<6x4xf32> -> tensor<?x?x6xf32>
    fovea.yield %1 : tensor<?x?x6xf32>
  }
  return %y : tensor<?x?x6xf32>
}
