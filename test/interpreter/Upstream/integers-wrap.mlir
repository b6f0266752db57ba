// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @integers_wrap
// CHECK-NEXT: -2147483648
// CHECK-NEXT: -9223372036854775808
// CHECK-NEXT: 44
// CHECK-NEXT: 4294967295
// CHECK-NEXT: -1
// CHECK-NEXT: 1
func.func @integers_wrap() -> (i32, i64, i8, i64, i64, i64) {
  %a = arith.constant 2147483647 : i32
  %one = arith.constant 1 : i32
  %0 = arith.addi %a, %one : i32
  %b = arith.constant 9223372036854775807 : i64
  %one64 = arith.constant 1 : i64
  %1 = arith.addi %b, %one64 : i64
  %c = arith.constant 300 : i32
  %2 = arith.trunci %c : i32 to i8
  %minus = arith.constant -1 : i32
  %3 = arith.extui %minus : i32 to i64
  %true = arith.constant true
  %4 = arith.extsi %true : i1 to i64
  %5 = arith.extui %true : i1 to i64
  return %0, %1, %2, %3, %4, %5 : i32, i64, i8, i64, i64, i64
}
