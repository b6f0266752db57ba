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

// CHECK-LABEL: @division
// CHECK-NEXT: 4 [-2, -3, -2, -1]
// CHECK-NEXT: 2147483645
// CHECK-NEXT: -2147483648
func.func @division() -> (tensor<4xi32>, i32, i32) {
  %a = arith.constant -5 : i32
  %b = arith.constant 2 : i32
  %0 = arith.divsi %a, %b : i32
  %1 = arith.floordivsi %a, %b : i32
  %2 = arith.ceildivsi %a, %b : i32
  %3 = arith.remsi %a, %b : i32
  %t = tensor.from_elements %0, %1, %2, %3 : tensor<4xi32>
  %4 = arith.divui %a, %b : i32
  %least = arith.constant -2147483648 : i32
  %minus = arith.constant -1 : i32
  %5 = arith.divsi %least, %minus : i32
  return %t, %4, %5 : tensor<4xi32>, i32, i32
}

// CHECK-LABEL: @compare
// CHECK-NEXT: 5 [1, 0, 0, 1, 1]
func.func @compare() -> tensor<5xi1> {
  %a = arith.constant -1 : i32
  %b = arith.constant 1 : i32
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.cmpi ult, %a, %b : i32
  %nan = arith.constant 0x7FC00000 : f32
  %x = arith.constant 1.0 : f32
  %2 = arith.cmpf olt, %nan, %x : f32
  %3 = arith.cmpf ult, %nan, %x : f32
  %4 = arith.cmpf uno, %nan, %x : f32
  %t = tensor.from_elements %0, %1, %2, %3, %4 : tensor<5xi1>
  return %t : tensor<5xi1>
}

// f32 constants are their stored bits; bf16 and f16 round, f32 does not until it is asked to.
// CHECK-LABEL: @floats
// CHECK-NEXT: 0.1{{$}}
// CHECK-NEXT: 1
// CHECK-NEXT: 3.62e-05
// CHECK-NEXT: 0
// RUN: fovea-interpret %s --exact --entry floats | FileCheck %s --check-prefix=EXACT
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

// CHECK-LABEL: @conversions
// CHECK-NEXT: 4 [-2, 2147483647, -2147483648, 0]
// CHECK-NEXT: -1
// CHECK-NEXT: 4.29497e+09
// CHECK-NEXT: -5
func.func @conversions() -> (tensor<4xi32>, f32, f32, index) {
  %x = arith.constant dense<[-2.9, 1.0e20, -1.0e20, 0x7FC00000]> : tensor<4xf32>
  %0 = arith.fptosi %x : tensor<4xf32> to tensor<4xi32>
  %m = arith.constant -1 : i32
  %1 = arith.sitofp %m : i32 to f32
  %2 = arith.uitofp %m : i32 to f32
  %f = arith.constant -5 : i32
  %3 = arith.index_cast %f : i32 to index
  return %0, %1, %2, %3 : tensor<4xi32>, f32, f32, index
}

// Masks and tensors are chosen whole by one condition, tensors element by element by a tensor.
// CHECK-LABEL: @select
// CHECK-NEXT: 1x1x2x2 [1, 0, 1, 1]
// CHECK-NEXT: 2 [1, 2]
// CHECK-NEXT: 2 [1, 4]
func.func @select() -> (tensor<1x1x2x2xi1>, tensor<2xf32>, tensor<2xf32>) {
  %yes = arith.constant true
  %causal = fovea.mask_causal
  %none = fovea.mask_or()
  %m = arith.select %yes, %causal, %none : !fovea.mask
  %t = fovea.mask_materialize %m [] : tensor<1x1x2x2xi1>
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = arith.select %yes, %a, %b : tensor<2xf32>
  %each = arith.constant dense<[true, false]> : tensor<2xi1>
  %1 = arith.select %each, %a, %b : tensor<2xi1>, tensor<2xf32>
  return %t, %0, %1 : tensor<1x1x2x2xi1>, tensor<2xf32>, tensor<2xf32>
}

// CHECK-LABEL: @maxima
// CHECK-NEXT: 2 [nan, 1]
func.func @maxima() -> tensor<2xf32> {
  %nan = arith.constant 0x7FC00000 : f32
  %x = arith.constant 1.0 : f32
  %0 = arith.maximumf %nan, %x : f32
  %1 = arith.maxnumf %nan, %x : f32
  %t = tensor.from_elements %0, %1 : tensor<2xf32>
  return %t : tensor<2xf32>
}

// CHECK-LABEL: @math
// CHECK-NEXT: 8 [2, 0.5, 8, 3, 2, 0.842701, 2, 0]
func.func @math() -> tensor<8xf32> {
  %four = arith.constant 4.0 : f32
  %three = arith.constant 3.0 : f32
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 2.5 : f32
  %0 = math.sqrt %four : f32
  %1 = math.rsqrt %four : f32
  %2 = math.powf %two, %three : f32
  %3 = math.ceil %half : f32
  %4 = math.roundeven %half : f32
  %5 = math.erf %one : f32
  %6 = math.log2 %four : f32
  %7 = math.log %one : f32
  %t = tensor.from_elements %0, %1, %2, %3, %4, %5, %6, %7 : tensor<8xf32>
  return %t : tensor<8xf32>
}

// CHECK-LABEL: @slices
// CHECK-NEXT: 2x2 [3, 5, 9, 11]
// CHECK-NEXT: 3 [7, 8, 9]
// CHECK-NEXT: 3x6 [0, 1, 2, 3, 4, 5, 6, 50, 8, 9, 60, 11, 12, 13, 14, 15, 16, 17]
func.func @slices() -> (tensor<2x2xi32>, tensor<3xi32>, tensor<3x6xi32>) {
  %t = arith.constant dense<[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14, 15, 16, 17]]> : tensor<3x6xi32>
  %0 = tensor.extract_slice %t[0, 3] [2, 2] [1, 2] : tensor<3x6xi32> to tensor<2x2xi32>
  %1 = tensor.extract_slice %t[1, 1] [1, 3] [1, 1] : tensor<3x6xi32> to tensor<3xi32>
  %s = arith.constant dense<[50, 60]> : tensor<2xi32>
  %2 = tensor.insert_slice %s into %t[1, 1] [1, 2] [1, 3] : tensor<2xi32> into tensor<3x6xi32>
  return %0, %1, %2 : tensor<2x2xi32>, tensor<3xi32>, tensor<3x6xi32>
}

// CHECK-LABEL: @shapes
// CHECK-NEXT: 1x3x2 [0, 1, 2, 3, 4, 5]
// CHECK-NEXT: 6 [0, 1, 2, 3, 4, 5]
// CHECK-NEXT: 3
// CHECK-NEXT: 2x4 [7, 0, 1, 7, 7, 2, 3, 7]
// CHECK-NEXT: 2x3 [0, 1, 9, 2, 3, 9]
// CHECK-NEXT: 2x2 [0, 1, 1, 2]
// CHECK-NEXT: 2x2 [nan, nan, nan, nan]
func.func @shapes() -> (tensor<1x?x2xi32>, tensor<6xi32>, index, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2x2xindex>, tensor<2x2xf32>) {
  %t = arith.constant dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>
  %c = tensor.cast %t : tensor<6xi32> to tensor<?xi32>
  %three = arith.constant 3 : index
  %0 = tensor.expand_shape %c [[0, 1, 2]] output_shape [1, %three, 2] : tensor<?xi32> into tensor<1x?x2xi32>
  %1 = tensor.collapse_shape %0 [[0, 1, 2]] : tensor<1x?x2xi32> into tensor<?xi32>
  %flat = tensor.cast %1 : tensor<?xi32> to tensor<6xi32>
  %one = arith.constant 1 : index
  %2 = tensor.dim %0, %one : tensor<1x?x2xi32>
  %m = arith.constant dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>
  %seven = arith.constant 7 : i32
  %3 = tensor.pad %m low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %seven : i32
  } : tensor<2x2xi32> to tensor<2x4xi32>
  %nine = arith.constant dense<9> : tensor<2x1xi32>
  %4 = tensor.concat dim(1) %m, %nine : (tensor<2x2xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
  %5 = tensor.generate {
  ^bb0(%i: index, %j: index):
    %s = arith.addi %i, %j : index
    tensor.yield %s : index
  } : tensor<2x2xindex>
  %6 = tensor.empty() : tensor<2x2xf32>
  return %0, %flat, %2, %3, %4, %5, %6 : tensor<1x?x2xi32>, tensor<6xi32>, index, tensor<2x4xi32>, tensor<2x3xi32>, tensor<2x2xindex>, tensor<2x2xf32>
}

// CHECK-LABEL: @linalg_ops
// CHECK-NEXT: 2x2 [19, 22, 43, 50]
// CHECK-NEXT: 2x2 [1, 3, 2, 4]
// CHECK-NEXT: 2 [3, 7]
// CHECK-NEXT: 2x2 [3, 3, 7, 7]
// CHECK-NEXT: 2x2 [0.25, 0.75, 0.5, 0.5]
// CHECK-NEXT: 2x2 [0.5, 0.25, 0.5, 0.75]
// CHECK-NEXT: 2x2 [0, 10, 1, 11]
// CHECK-NEXT: 2x2 [17, 23, 39, 53]
func.func @linalg_ops() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xi32>, tensor<2x2xf32>) {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = linalg.transpose ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %v = arith.constant dense<0.0> : tensor<2xf32>
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<2x2xf32>) outs(%v : tensor<2xf32>) dimensions = [1]
  %3 = linalg.broadcast ins(%2 : tensor<2xf32>) outs(%e : tensor<2x2xf32>) dimensions = [1]
  %x = arith.constant dense<[[0.0, 1.09861228866810969], [5.0, 5.0]]> : tensor<2x2xf64>
  %e64 = tensor.empty() : tensor<2x2xf64>
  %4 = linalg.softmax dimension(1) ins(%x : tensor<2x2xf64>) outs(%e64 : tensor<2x2xf64>) -> tensor<2x2xf64>
  %y = arith.constant dense<[[5.0, 0.0], [5.0, 1.09861228866810969]]> : tensor<2x2xf64>
  %5 = linalg.softmax dimension(0) ins(%y : tensor<2x2xf64>) outs(%e64 : tensor<2x2xf64>) -> tensor<2x2xf64>
  %ei = tensor.empty() : tensor<2x2xi32>
  %6 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<2x2xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ten = arith.constant 10 : index
    %jj = arith.muli %j, %ten : index
    %s = arith.addi %i, %jj : index
    %r = arith.index_cast %s : index to i32
    linalg.yield %r : i32
  } -> tensor<2x2xi32>
  %7 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xi32>, tensor<2x2xf32>
}

// CHECK-LABEL: @control
// CHECK-NEXT: 45
// CHECK-NEXT: 7
// CHECK-NEXT: 3 [1, 1, 1]
// CHECK-NEXT: 12
func.func @control() -> (index, i32, tensor<3xf32>, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %sum = scf.for %i = %zero to %ten step %one iter_args(%s = %zero) -> index {
    %next = arith.addi %s, %i : index
    scf.yield %next : index
  }
  %c = arith.cmpi sgt, %sum, %ten : index
  %7 = scf.if %c -> i32 {
    %a = arith.constant 7 : i32
    scf.yield %a : i32
  } else {
    %b = arith.constant 8 : i32
    scf.yield %b : i32
  }
  %x = arith.constant dense<-1.0> : tensor<3xf32>
  %y = fovea.group(%a = %x) : (tensor<3xf32>) -> tensor<3xf32> {
    %0 = math.absf %a : tensor<3xf32>
    fovea.yield %0 : tensor<3xf32>
  }
  %m = affine.apply affine_map<(d)[s] -> (d + s * 2)>(%ten)[%one]
  return %sum, %7, %y, %m : index, i32, tensor<3xf32>, index
}
