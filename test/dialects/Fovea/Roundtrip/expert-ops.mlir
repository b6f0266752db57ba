// RUN: fovea-opt %s --verify-roundtrip
// RUN: fovea-opt %s | FileCheck %s

// Results are named after what they are.

// CHECK: %values, %indices = fovea.top_k
// CHECK: %tokens, %places, %offsets = fovea.dispatch %indices : tensor<?x?x2xi64> -> tensor<9xi64>
func.func @experts(%x: tensor<?x?x64xf32>, %scores: tensor<?x?x8xf32>, %w: tensor<256x64xbf16>, %b: tensor<256xf32>, %i: tensor<256x64xi8>, %s: tensor<256xf32>,
                   %numbers: tensor<?xi32>) -> tensor<?x?x32xf32> {
  %0, %1 = fovea.top_k %scores : tensor<?x?x8xf32> -> tensor<?x?x2xf32>, tensor<?x?x2xi64>
  %2, %3, %4 = fovea.dispatch %1 : tensor<?x?x2xi64> -> tensor<9xi64>
  %5 = fovea.gather_rows %x rows(%2) : tensor<?x?x64xf32>, tensor<?x?x2xi64> -> tensor<?x?x2x64xf32>
  %6 = fovea.linear %5, %w bias(%b : tensor<256xf32>) experts(%4 : tensor<9xi64>) : tensor<?x?x2x64xf32>, tensor<256x64xbf16> -> tensor<?x?x2x32xf32>
  %7 = fovea.linear %5, %i quantize_rows scales(%s : tensor<256xf32>) experts(%4 : tensor<9xi64>) : tensor<?x?x2x64xf32>, tensor<256x64xi8> -> tensor<?x?x2x32xf32>
  %8 = fovea.combine %6 rows(%3) weights(%0) : tensor<?x?x2x32xf32>, tensor<?x?x2xi64>, tensor<?x?x2xf32> -> tensor<?x?x32xf32>
  %9 = fovea.gather_rows %8 rows(%numbers) : tensor<?x?x32xf32>, tensor<?xi32> -> tensor<?x32xf32>
  return %8 : tensor<?x?x32xf32>
}

// CHECK-LABEL: func.func @groups(
// CHECK: fovea.top_k %{{.*}} bias(%{{.*}} : tensor<8xf32>) groups(2 of 4 by 2) normalized : tensor<?x?x8xf32>
// CHECK: fovea.top_k %{{.*}} groups(2 of 4 by 1) : tensor<?x?x8xf32>
// CHECK: fovea.equal_offsets %{{.*}} : tensor<5xi64>
func.func @groups(%x: tensor<?x?x8xf32>, %b: tensor<8xf32>, %n: index) -> tensor<5xi64> {
  %0, %1 = fovea.top_k %x bias(%b : tensor<8xf32>) groups(2 of 4 by 2) normalized : tensor<?x?x8xf32> -> tensor<?x?x3xf32>, tensor<?x?x3xi64>
  %2, %3 = fovea.top_k %x groups(2 of 4 by 1) : tensor<?x?x8xf32> -> tensor<?x?x3xf32>, tensor<?x?x3xi64>
  %4 = fovea.equal_offsets %n : tensor<5xi64>
  return %4 : tensor<5xi64>
}
