// RUN: fovea-opt %s --verify-roundtrip

func.func @quantized(%x: tensor<?x8xf32>, %h: tensor<2x?x8xf16>, %w8: tensor<5x8xi8>, %w4: tensor<5x8xi4>, %s: tensor<5xf32>, %g: tensor<5x2xf16>, %b: tensor<5xf32>, %i: tensor<2x?xi32>) {
  %0 = fovea.linear %x, %w8 scales(%s : tensor<5xf32>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  %1 = fovea.linear %x, %w8 scales(%g : tensor<5x2xf16>) bias(%b : tensor<5xf32>) : tensor<?x8xf32>, tensor<5x8xi8> -> tensor<?x5xf32>
  %2 = fovea.linear %h, %w4 scales(%g : tensor<5x2xf16>) : tensor<2x?x8xf16>, tensor<5x8xi4> -> tensor<2x?x5xf16>
  %3 = fovea.linear %x, %w4 scales(%s : tensor<5xf32>) bias(%b : tensor<5xf32>) : tensor<?x8xf32>, tensor<5x8xi4> -> tensor<?x5xf32>
  %4 = fovea.linear %x, %w4 quantize_rows scales(%s : tensor<5xf32>) bias(%b : tensor<5xf32>) : tensor<?x8xf32>, tensor<5x8xi4> -> tensor<?x5xf32>
  %5 = fovea.embedding %i, %w8 scales(%s : tensor<5xf32>) : tensor<2x?xi32>, tensor<5x8xi8> -> tensor<2x?x8xf32>
  return
}
