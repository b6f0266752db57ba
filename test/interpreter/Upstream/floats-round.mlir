// RUN: fovea-interpret %s | FileCheck %s
// RUN: fovea-interpret %s --exact --entry floats | FileCheck %s --check-prefix=EXACT

// f32 constants are their stored bits; bf16 and f16 round, f32 does not until it is asked to.
// CHECK-LABEL: @floats
// CHECK-NEXT: 0.1{{$}}
// CHECK-NEXT: 1
// CHECK-NEXT: 3.62e-05
// CHECK-NEXT: 0
// EXACT: 0.10000000149011612
func.func @floats() -> (f64, bf16, f64, f64) {
  %a = arith.constant 0.1 : f32
  %0 = arith.extf %a : f32 to f64
  %one = arith.constant 1.0 : bf16
  %small = arith.constant 0.001 : bf16
  %1 = arith.addf %one, %small : bf16
  %big = arith.constant 1.0e8 : f32
  %tiny = arith.constant 3.62e-5 : f32
  %2 = arith.addf %big, %tiny : f32
  %3 = arith.subf %2, %big : f32
  %w = arith.extf %3 : f32 to f64
  %k = arith.constant 1.0e7 : f64
  %m = arith.mulf %w, %k : f64
  %r = math.round %m : f64
  %n = arith.divf %r, %k : f64
  %bigw = arith.extf %2 : f32 to f64
  %t = arith.truncf %bigw : f64 to f32
  %4 = arith.subf %t, %big : f32
  %5 = arith.extf %4 : f32 to f64
  return %0, %1, %n, %5 : f64, bf16, f64, f64
}
