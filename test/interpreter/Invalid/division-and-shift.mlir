// RUN: fovea-interpret %s --verify-diagnostics

func.func @division_by_zero() -> i32 {
  %a = arith.constant 7 : i32
  %b = arith.constant 0 : i32
  // expected-error @below {{expects a divisor that is not zero, got 7 / 0}}
  %c = arith.divsi %a, %b : i32
  return %c : i32
}

func.func @shift_by_the_width() -> i32 {
  %a = arith.constant 7 : i32
  %b = arith.constant 32 : i32
  // expected-error @below {{expects a shift below 32, got 32}}
  %c = arith.shli %a, %b : i32
  return %c : i32
}
