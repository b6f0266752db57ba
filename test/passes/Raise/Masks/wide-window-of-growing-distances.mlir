// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Behind a window of 8192 places exponentials of a quarter of the distance are no numbers: what they
// make of the sum says nothing.
// CHECK-LABEL: @wide_window_of_growing_distances
// CHECK:         %[[M:.*]] = fovea.mask_window left(8191) right(0)
// CHECK:         fovea.attention {{.*}} mask(%[[M]]) score
func.func @wide_window_of_growing_distances(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps=[affine_map<(i,j,d)->(i,d)>, affine_map<(i,j,d)->(j,d)>, affine_map<(i,j,d)->(i,j)>] ins(%q,%k : tensor<?x8xf32>,tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %x = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %none = arith.constant 0 : index
    %width = arith.constant 8192 : index
    %quarter = arith.constant 0.25 : f32
    %low = arith.constant 0xFF800000 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %d32 = arith.index_cast %d : index to i32
    %df = arith.sitofp %d32 : i32 to f32
    %slope = arith.mulf %df, %quarter : f32
    %more = arith.addf %a, %slope : f32
    %past = arith.cmpi sge, %d, %none : index
    %near = arith.cmpi slt, %d, %width : index
    %allowed = arith.andi %past, %near : i1
    %r = arith.select %allowed, %more, %low : f32
    %exp = math.exp %r : f32
    linalg.yield %exp : f32
  } -> tensor<?x?xf32>
  %er = tensor.empty(%n) : tensor<?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%zr : tensor<?xf32>) dimensions=[1]
  %w = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %out: f32):
    %p = arith.divf %a, %t : f32
    %isNan = arith.cmpf une, %p, %p : f32
    %r = arith.select %isNan, %zero, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps=[affine_map<(i,d,j)->(i,j)>, affine_map<(i,d,j)->(j,d)>, affine_map<(i,d,j)->(i,d)>] ins(%w,%v : tensor<?x?xf32>,tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}
