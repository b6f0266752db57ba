// RUN: fovea-opt %s --mlir-very-unsafe-disable-verifier-on-parsing --verify-each=0 --fovea-verify --split-input-file --verify-diagnostics

// Nothing else looks at this IR: it is neither verified when it is read nor after passes.

func.func @refused(%q: tensor<1x2x2x4xf32>, %k: tensor<1x3x2x4xf32>, %v: tensor<1x5x2x4xf32>) -> tensor<1x2x2x4xf32> {
  // expected-error @+1 {{expects key and value lengths to agree, got 3 and 5}}
  %0 = fovea.attention %q, %k, %v : tensor<1x2x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x5x2x4xf32> -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}

// -----

func.func @fine(%q: tensor<1x2x2x4xf32>, %k: tensor<1x3x2x4xf32>, %v: tensor<1x3x2x4xf32>) -> tensor<1x2x2x4xf32> {
  %0 = fovea.attention %q, %k, %v : tensor<1x2x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x2x2x4xf32>
  return %0 : tensor<1x2x2x4xf32>
}
