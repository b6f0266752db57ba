// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// CHECK-DAG: #[[$BLOCKED:layout[0-9]*]] = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>
#blocked = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>

// CHECK-LABEL: func.func private @move
func.func private @move(%t: !tile.tile<4x8xf32, #blocked>) {
  %s = tile.shared : !tile.shared<4x8xf32>
  // CHECK: tile.local_store %{{.*}} to %{{.*}} : !tile.tile<4x8xf32, #[[$BLOCKED]]>, !tile.shared<4x8xf32>
  tile.local_store %t to %s : !tile.tile<4x8xf32, #blocked>, !tile.shared<4x8xf32>
  // CHECK: tile.local_load %{{.*}} : !tile.shared<4x8xf32> -> !tile.tile<4x8xf32, lanes 0, #[[$BLOCKED]]>
  %u = tile.local_load %s : !tile.shared<4x8xf32> -> !tile.tile<4x8xf32, lanes 0, #blocked>
  // CHECK: tile.reduce sum %{{.*}} axis(0) scratch(%{{.*}} : !tile.shared<4x8xf32>)
  %v = tile.reduce sum %t axis(0) scratch(%s : !tile.shared<4x8xf32>) : !tile.tile<4x8xf32, #blocked> -> !tile.tile<1x8xf32, #tile.layout<rows = [], columns = [registers 4, threads 16 by 1]>>
  return
}
