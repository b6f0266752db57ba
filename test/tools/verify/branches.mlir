// RUN: fovea verify %s --quiet | FileCheck %s
// RUN: fovea verify %s --quiet --json | FileCheck %s --check-prefix=JSON
// RUN: fovea-verify-planted %s | FileCheck %s

// Which sides of choices no input reached, each place once. Choices of integers and what both sides were seen of are not told, tests for NaN are counted.

// CHECK: never reached: arith.select at select.first (its first side)
// CHECK-NEXT: never reached: math.clampf at clamp (above its bounds)
// CHECK-NEXT: never reached: arith.maximumf at greatest (its second operand, of 2 such ops)
// CHECK-NEXT: never reached: arith.cmpf at compare (true)
// CHECK-NEXT: never reached: scf.if at if (its second side)
// CHECK-NEXT: 2 tests for NaN or infinity found none
// CHECK-NEXT: outputs agree

// JSON: "nan_tests": 2
// JSON: "unreached": [
// JSON: "count": 1,
// JSON-NEXT: "location": "select.first",
// JSON-NEXT: "op": "arith.select",
// JSON-NEXT: "side": "its first side"

func.func @forward(%x: tensor<4xf32> {fovea.name = "x"}) -> (tensor<4xf32> {fovea.name = "y"}, tensor<4xi1> {fovea.name = "b"}) attributes {fovea.entry} {
  %huge = arith.constant dense<1.0e9> : tensor<4xf32>
  %small = arith.constant dense<-1.0e-9> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index

  %above = arith.cmpf ogt, %x, %huge : tensor<4xf32>
  %a = arith.select %above, %zero, %x : tensor<4xi1>, tensor<4xf32> loc("select.first")
  %below = arith.cmpf olt, %a, %zero : tensor<4xf32>
  %b = arith.select %below, %small, %a : tensor<4xi1>, tensor<4xf32> loc("select.both")
  %c = math.clampf %b to [%zero, %huge] : tensor<4xf32> loc("clamp")
  %d = arith.maximumf %c, %small : tensor<4xf32> loc("greatest")
  %e = arith.maximumf %d, %small : tensor<4xf32> loc("greatest")
  %far = arith.cmpf ogt, %e, %huge : tensor<4xf32> loc("compare")
  %near = arith.cmpf olt, %e, %huge : tensor<4xf32>
  %both = arith.andi %far, %near : tensor<4xi1>

  %nan = arith.cmpf une, %e, %e : tensor<4xf32> loc("nan")
  %f = arith.select %nan, %zero, %e : tensor<4xi1>, tensor<4xf32> loc("nan.select")
  %inf = math.isinf %f : tensor<4xf32>
  %g = arith.select %inf, %zero, %f : tensor<4xi1>, tensor<4xf32> loc("inf.select")

  %less = arith.cmpi slt, %c0, %c3 : index
  %n = arith.select %less, %c0, %c3 : index loc("integers")
  %h = scf.if %less -> tensor<4xf32> {
    scf.yield %g : tensor<4xf32>
  } else {
    scf.yield %zero : tensor<4xf32>
  } loc("if")
  return %h, %both : tensor<4xf32>, tensor<4xi1>
}
