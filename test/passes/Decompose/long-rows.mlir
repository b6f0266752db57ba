// RUN: fovea-opt %s --fovea-decompose --canonicalize | FileCheck %s

// A norm of rows that no tile holds: numbers of rows by a reduction in f32, then a map that rounds
// once. The weight is read by its column.
// CHECK-DAG: #[[$ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @rms_norm(
// CHECK-SAME: %[[X:.*]]: tensor<?x262144xf16>, %[[W:.*]]: tensor<262144xf32>)
// CHECK: %[[ZERO:.*]] = linalg.fill
// CHECK: %[[SQUARES:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]}
// CHECK-SAME: ins(%[[X]] : {{.*}}) outs(%[[ZERO]] :
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]]
// CHECK: arith.addf %{{.*}}, %[[SQUARE]]
// CHECK: linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]], #[[$COLUMN]], #[[$ALL]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[X]], %[[SQUARES]], %[[W]] :
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: %[[FACTOR:.*]] = arith.divf %{{.*}}, %[[ROOT]]
// CHECK: %[[Y:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: linalg.yield %[[Y]]
// CHECK-NOT: fovea.rms_norm
func.func @rms_norm(%x: tensor<?x262144xf16>, %w: tensor<262144xf32>) -> tensor<?x262144xf16> {
  %y = fovea.rms_norm %x weight(%w : tensor<262144xf32>) eps(1.0e-5) : tensor<?x262144xf16>
  return %y : tensor<?x262144xf16>
}
