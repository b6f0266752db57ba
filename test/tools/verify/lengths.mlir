// RUN: not fovea-verify-planted %s --drop=far | FileCheck %s
// RUN: fovea verify %s --quiet --length=3,44 | FileCheck %s --check-prefix=ASKED
// RUN: not fovea verify %s --length=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not fovea verify %s --length=3,65 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: not fovea verify %s --length=3 --against=x.npz 2>&1 | FileCheck %s --check-prefix=AGAINST

// A length stands above the greatest number that places are compared with; what it is compared with but no place is (100), or is beyond 300, makes none.

// CHECK: forward batch 1, length 33 y 0.0e+00 2.0e-05{{$}}
// CHECK: forward batch 2, length 33 y 0.0e+00 2.0e-05{{$}}
// CHECK: forward batch 1, length 42 y {{[0-9.e+-]+}} 2.0e-05 DEPARTS
// CHECK-NOT: forward batch 1, length 1{{..}}
// CHECK: 1 of 12 outputs depart

// ASKED-COUNT-2: forward batch 1, length {{3|44}} y
// ASKED-COUNT-2: forward batch 2, length {{3|44}} y
// ASKED: forward batch 2, length 44, scaled by 0.001 y
// ASKED: 7 outputs agree

// ZERO: fovea: error: --length: expects lengths of at least 1, got 0
// LONG: fovea: error: {{.*}}--length: expects at least 1 and at most 64 positions in 'forward', got 65
// LONG-NOT: error
// AGAINST: fovea: error: --length: the inputs of --against have their own lengths

#id = affine_map<(n) -> (n)>
func.func @forward(%x: tensor<?xf32> {fovea.name = "x", fovea.dims = ["length"]}, %i: tensor<?xi64> {fovea.name = "i", fovea.dims = ["length"]})
    -> (tensor<?xf32> {fovea.name = "y", fovea.dims = ["length"]}) attributes {fovea.entry, fovea.max_positions = 64} {
  %c0 = arith.constant 0 : index
  %c40 = arith.constant 40 : index
  %c9999 = arith.constant 9999 : index
  %c100 = arith.constant 100 : i64
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %length = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%length) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %i : tensor<?xf32>, tensor<?xi64>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: i64, %unused: f32):
    %n = linalg.index 0 : index
    %far = arith.cmpi sgt, %n, %c40 : index
    %farther = arith.cmpi sgt, %n, %c9999 : index
    %id = arith.cmpi sgt, %b, %c100 : i64
    %d = arith.select %far, %two, %one : f32 loc("far")
    %f = arith.select %farther, %two, %d : f32
    %g = arith.select %id, %two, %f : f32
    %h = arith.addf %a, %g : f32
    linalg.yield %h : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
