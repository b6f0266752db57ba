// RUN: fovea-opt %s --fovea-fold-rms-norm | FileCheck %s
// RUN: fovea-opt %s --fovea-fold-rms-norm | fovea-opt --verify-roundtrip

// Each norm that must keep its weight.

// CHECK-NOT: scale_columns
fovea.weight @n : tensor<4xf32> = #fovea.stored<"f", "n", tensor<4xf32>>
fovea.weight @m : tensor<4xf32> = #fovea.stored<"f", "m", tensor<4xf32>>
fovea.weight @narrow : tensor<4x4xbf16> = #fovea.stored<"f", "narrow", tensor<4x4xbf16>>
fovea.weight @tied : tensor<4x4xf32> = #fovea.stored<"f", "tied", tensor<4x4xf32>>
fovea.weight @two : tensor<4x4xf32> = #fovea.stored<"f", "two", tensor<4x4xf32>>
fovea.weight @free : tensor<4x4xf32> = #fovea.stored<"f", "free", tensor<4x4xf32>>
fovea.weight @chained : tensor<4x4xf32> = #fovea.stored<"f", "chained", tensor<4x4xf32>>

// CHECK-LABEL: func.func @refused
// CHECK-COUNT-8: fovea.rms_norm %{{.*}} weight
func.func @refused(%x: tensor<3x4xf32>, %i: tensor<3xi64>, %a: tensor<4x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %n = fovea.weight_ref @n : tensor<4xf32>
  %m = fovea.weight_ref @m : tensor<4xf32>
  %narrow = fovea.weight_ref @narrow : tensor<4x4xbf16>
  %tied = fovea.weight_ref @tied : tensor<4x4xf32>
  %two = fovea.weight_ref @two : tensor<4x4xf32>
  %free = fovea.weight_ref @free : tensor<4x4xf32>
  %chained = fovea.weight_ref @chained : tensor<4x4xf32>
  // A narrow weight.
  %0 = fovea.rms_norm %x weight(%n : tensor<4xf32>) eps(1.0e-5) : tensor<3x4xf32>
  %1 = fovea.linear %0, %narrow : tensor<3x4xf32>, tensor<4x4xbf16> -> tensor<3x4xf32>
  // A tied one, whose other linear thereby stays as well, and with that the next norm.
  %2 = fovea.embedding %i, %tied : tensor<3xi64>, tensor<4x4xf32> -> tensor<3x4xf32>
  %3 = fovea.rms_norm %1 weight(%n : tensor<4xf32>) eps(1.0e-5) : tensor<3x4xf32>
  %4 = fovea.linear %3, %tied : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  %5 = fovea.linear %3, %chained : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  %6 = fovea.rms_norm %4 weight(%n : tensor<4xf32>) eps(1.0e-5) : tensor<3x4xf32>
  %7 = fovea.linear %6, %chained : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  // Norms of two weights.
  %8 = fovea.rms_norm %5 weight(%n : tensor<4xf32>) eps(1.0e-5) : tensor<3x4xf32>
  %9 = fovea.linear %8, %two : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  %10 = fovea.rms_norm %7 weight(%m : tensor<4xf32>) eps(1.0e-5) : tensor<3x4xf32>
  %11 = fovea.linear %10, %two : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  // Something else reads it.
  %12 = fovea.rms_norm %9 weight(%n : tensor<4xf32>) eps(1.0e-5) : tensor<3x4xf32>
  %13 = fovea.linear %12, %free : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  %14 = arith.addf %12, %13 : tensor<3x4xf32>
  // A weight that is an argument of a public function.
  %15 = fovea.rms_norm %11 weight(%n : tensor<4xf32>) eps(1.0e-5) : tensor<3x4xf32>
  %16 = fovea.linear %15, %a : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  // The weight is computed.
  %17 = fovea.activation tanh %m : tensor<4xf32>
  %18 = fovea.rms_norm %16 weight(%17 : tensor<4xf32>) eps(1.0e-5) : tensor<3x4xf32>
  %19 = fovea.linear %18, %free : tensor<3x4xf32>, tensor<4x4xf32> -> tensor<3x4xf32>
  %20 = arith.addf %2, %19 : tensor<3x4xf32>
  return %14, %20 : tensor<3x4xf32>, tensor<3x4xf32>
}
