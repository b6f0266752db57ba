// RUN: fovea-opt %s --fovea-raise-norms --split-input-file | FileCheck %s

// A layer norm as PyTorch's old exporter writes it: differences, their squares by a power, a root.

// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32>)
// CHECK-DAG: %[[W:.*]] = fovea.weight_ref @w
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b
// CHECK: %[[Y:.*]] = fovea.layer_norm %[[X]] weight(%[[W]] : tensor<8xf32>) bias(%[[B]] : tensor<8xf32>) eps({{9.99.*E-13|1.0+E-12}})
// CHECK-NEXT: return %[[Y]]
#xyz = affine_map<(i, j, k) -> (i, j, k)>
#xy0 = affine_map<(i, j, k) -> (i, j, 0)>
#xy = affine_map<(i, j, k) -> (i, j)>
#z = affine_map<(i, j, k) -> (k)>
fovea.weight @w : tensor<8xf32> = #fovea.stored<"f", "w", tensor<8xf32>>
fovea.weight @b : tensor<8xf32> = #fovea.stored<"f", "b", tensor<8xf32>>
func.func @layer_norm(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<8xf32>
  %b = fovea.weight_ref @b : tensor<8xf32>
  %m = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %full = tensor.empty(%m, %n) : tensor<?x?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x?x8xf32>) outs(%f : tensor<?x?xf32>) dimensions = [2]
  %s1 = tensor.expand_shape %s [[0], [1, 2]] output_shape [%m, %n, 1] : tensor<?x?xf32> into tensor<?x?x1xf32>
  %e1 = tensor.empty(%m, %n) : tensor<?x?x1xf32>
  %mean = linalg.generic {indexing_maps = [#xyz, #xyz], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s1 : tensor<?x?x1xf32>) outs(%e1 : tensor<?x?x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.constant 8.0 : f32
    %0 = arith.divf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<?x?x1xf32>
  %d = linalg.generic {indexing_maps = [#xyz, #xy0, #xyz], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mean : tensor<?x?x8xf32>, tensor<?x?x1xf32>) outs(%full : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %0 = arith.subf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<?x?x8xf32>
  %v = linalg.generic {indexing_maps = [#xyz, #xy], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d : tensor<?x?x8xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %two = arith.constant 2.0 : f32
    %0 = math.powf %a, %two : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#xyz, #xy, #z, #z, #xyz], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d, %v, %w, %b : tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<8xf32>, tensor<8xf32>) outs(%full : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %u: f32, %p: f32, %q: f32, %out: f32):
    %c = arith.constant 8.0 : f32
    %eps = arith.constant 1.0e-12 : f32
    %0 = arith.divf %u, %c : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %p, %3 : f32
    %5 = arith.addf %4, %q : f32
    linalg.yield %5 : f32
  } -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// RMSNorm of f16, widened, with the weight's distance from one as [1, 8]; the sum of squares is multiplied by 1/8.

// CHECK: fovea.weight @[[$V:.*]] : tensor<8xf16> = #fovea.reshape<#fovea.stored<"f", "w", tensor<1x8xf16>>, [8]>
// CHECK-LABEL: func.func @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf16>)
// CHECK: %[[W:.*]] = fovea.weight_ref @[[$V]] : tensor<8xf16>
// CHECK: %[[Y:.*]] = fovea.rms_norm %[[X]] weight(%[[W]] : tensor<8xf16>) offset(1.000000e+00) eps({{9.99.*E-6|9.99.*e-06|1.0+E-5}}
// CHECK-NEXT: return %[[Y]]
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
#y = affine_map<(i, j) -> (0, j)>
fovea.weight @w : tensor<1x8xf16> = #fovea.stored<"f", "w", tensor<1x8xf16>>
func.func @rms_norm(%x: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<1x8xf16>
  %m = tensor.dim %x, %c0 : tensor<?x8xf16>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %h = arith.extf %x : tensor<?x8xf16> to tensor<?x8xf32>
  %s = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<?x8xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %i = tensor.empty(%m) : tensor<?x8xf16>
  %y = linalg.generic {indexing_maps = [#xy, #x, #y, #xy], iterator_types = ["parallel", "parallel"]} ins(%h, %s, %w : tensor<?x8xf32>, tensor<?xf32>, tensor<1x8xf16>) outs(%i : tensor<?x8xf16>) {
  ^bb0(%a: f32, %u: f32, %p: f16, %out: f16):
    %c = arith.constant 0.125 : f32
    %eps = arith.constant 1.0e-5 : f32
    %one = arith.constant 1.0 : f16
    %0 = arith.mulf %u, %c : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    %5 = arith.addf %p, %one : f16
    %6 = arith.mulf %4, %5 : f16
    linalg.yield %6 : f16
  } -> tensor<?x8xf16>
  return %y : tensor<?x8xf16>
}

// -----

// Of a sum that is read elsewhere too.

// CHECK-LABEL: func.func @l2_norm
// CHECK: %[[S:.*]] = arith.addf
// CHECK: %[[Y:.*]] = fovea.l2_norm %[[S]] eps({{9.99.*E-7|9.99.*e-07|1.0+E-6}}
// CHECK-NEXT: return %[[Y]], %[[S]]
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
func.func @l2_norm(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %x = arith.addf %p, %q : tensor<4x8xf32>
  %f = arith.constant dense<0.0> : tensor<4xf32>
  %z = arith.mulf %x, %x : tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%z : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %i = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%i : tensor<4x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %eps = arith.constant 1.0e-6 : f32
    %0 = math.sqrt %u : f32
    %1 = arith.maximumf %0, %eps : f32
    %2 = arith.divf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %y, %x : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A row that another norm gave, and what it is added to: Gemma 2's norms behind and before a layer's halves.

// CHECK-LABEL: func.func @norm_of_norm
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[H:.*]]: tensor<4x8xf32>)
// CHECK: %[[N:.*]] = fovea.rms_norm %[[H]] eps(
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[N]]
// CHECK: %[[Y:.*]] = fovea.rms_norm %[[S]] eps(
// CHECK-NEXT: return %[[Y]]
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
func.func @norm_of_norm(%x: tensor<4x8xf32>, %h: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %full = tensor.empty() : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %n = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%h, %p : tensor<4x8xf32>, tensor<4xf32>) outs(%full : tensor<4x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %eighth = arith.constant 0.125 : f32
    %eps = arith.constant 1.0e-5 : f32
    %0 = arith.mulf %u, %eighth : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  %s = arith.addf %x, %n : tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%s, %q : tensor<4x8xf32>, tensor<4xf32>) outs(%full : tensor<4x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %eighth = arith.constant 0.125 : f32
    %eps = arith.constant 1.0e-5 : f32
    %0 = arith.mulf %u, %eighth : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Of the first part of wider rows, and of fewer of them: DeepSeek's latents beside the rotary part of keys.

// CHECK-LABEL: func.func @norm_of_slice
// CHECK-SAME: (%[[X:.*]]: tensor<?x12xf32>, %[[N:.*]]: index)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][0, 0] [%[[N]], 8] [1, 1] : tensor<?x12xf32> to tensor<?x8xf32>
// CHECK: %[[Y:.*]] = fovea.rms_norm %[[S]] eps(
// CHECK-NEXT: return %[[Y]]
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
func.func @norm_of_slice(%x: tensor<?x12xf32>, %n: index) -> tensor<?x8xf32> {
  %h = tensor.extract_slice %x[0, 0] [%n, 8] [1, 1] : tensor<?x12xf32> to tensor<?x8xf32>
  %full = tensor.empty(%n) : tensor<?x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %zero = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<?x8xf32>) outs(%zero : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%h, %p : tensor<?x8xf32>, tensor<?xf32>) outs(%full : tensor<?x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %eighth = arith.constant 0.125 : f32
    %eps = arith.constant 1.0e-5 : f32
    %0 = arith.mulf %u, %eighth : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Not norms: over the first axis; with Bessel's correction; eps beside the root; a scale for each row.

// CHECK-LABEL: func.func @refused
// CHECK-NOT: fovea.{{.*}}_norm
// CHECK: return
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
#y = affine_map<(i, j) -> (j)>
func.func @refused(%x: tensor<8x8xf32>, %r: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %f = arith.constant dense<0.0> : tensor<8xf32>
  %i = tensor.empty() : tensor<8x8xf32>
  %z = arith.mulf %x, %x : tensor<8x8xf32>
  %columns = linalg.reduce { arith.addf } ins(%z : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %rows = linalg.reduce { arith.addf } ins(%z : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
  %first = linalg.generic {indexing_maps = [#xy, #y, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %columns : tensor<8x8xf32>, tensor<8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %0 = math.rsqrt %u : f32
    %1 = arith.mulf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  %bessel = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %rows : tensor<8x8xf32>, tensor<8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %c = arith.constant 7.0 : f32
    %0 = arith.divf %u, %c : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  %beside = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %rows : tensor<8x8xf32>, tensor<8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %c = arith.constant 8.0 : f32
    %eps = arith.constant 1.0e-3 : f32
    %0 = arith.divf %u, %c : f32
    %1 = math.sqrt %0 : f32
    %2 = arith.addf %1, %eps : f32
    %3 = arith.divf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  %scaled = linalg.generic {indexing_maps = [#xy, #x, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %rows, %r : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32, %v: f32, %out: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  return %first, %bessel, %beside, %scaled : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
