// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// An operand that is used once is read where it lies.

// CHECK-DAG: #[[$BLOCKED:layout[0-9]*]] = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>
#blocked = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>

// CHECK-LABEL: func.func private @in_place
func.func private @in_place(%w: !tile.view<512x192xbf16>, %a: !tile.shared<1x192xf32>, %zero: !tile.tile<1x64xf32, #blocked>, %j: index) {
  %c0 = arith.constant 0 : index
  %b = tile.load %w[%j, %c0] : !tile.view<512x192xbf16> -> !tile.tile<64x192xbf16>
  // CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} : !tile.shared<1x192xf32>, !tile.tile<64x192xbf16> -> !tile.tile<1x64xf32, #[[$BLOCKED]]>
  %y = tile.mma %a, %b transpose_b into %zero : !tile.shared<1x192xf32>, !tile.tile<64x192xbf16> -> !tile.tile<1x64xf32, #blocked>
  return
}
