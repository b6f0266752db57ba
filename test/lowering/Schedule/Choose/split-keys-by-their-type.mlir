// RUN: fovea-opt %s --fovea-schedule=target=avx2 --split-input-file | FileCheck %s

// Keys of a known length that never are two parts of 512 are not split, as in models with fixed shapes.

// CHECK-LABEL: @short_keys
// CHECK: schedule(#fovea.attention_tiles<{{.*}}, axis = heads, scores = [{{[0-9, ]+}}], values = [{{[0-9, ]+}}]>)
func.func @short_keys(%q: tensor<?x1x2x4xf32>, %k: tensor<?x1023x2x4xf32>, %v: tensor<?x1023x2x4xf32>) -> tensor<?x1x2x4xf32> {
  %o = fovea.group(%a = %q, %b = %k, %e = %v) : (tensor<?x1x2x4xf32>, tensor<?x1023x2x4xf32>, tensor<?x1023x2x4xf32>) -> tensor<?x1x2x4xf32> {
    %1 = fovea.attention %a, %b, %e : tensor<?x1x2x4xf32>, tensor<?x1023x2x4xf32>, tensor<?x1023x2x4xf32> -> tensor<?x1x2x4xf32>
    fovea.yield %1 : tensor<?x1x2x4xf32>
  }
  return %o : tensor<?x1x2x4xf32>
}

// -----

// CHECK-LABEL: @long_keys
// CHECK: schedule(#fovea.attention_tiles<{{.*}}, axis = heads, {{.*}}, split = [512, 64]>)
func.func @long_keys(%q: tensor<?x1x2x4xf32>, %k: tensor<?x1024x2x4xf32>, %v: tensor<?x1024x2x4xf32>) -> tensor<?x1x2x4xf32> {
  %o = fovea.group(%a = %q, %b = %k, %e = %v) : (tensor<?x1x2x4xf32>, tensor<?x1024x2x4xf32>, tensor<?x1024x2x4xf32>) -> tensor<?x1x2x4xf32> {
    %1 = fovea.attention %a, %b, %e : tensor<?x1x2x4xf32>, tensor<?x1024x2x4xf32>, tensor<?x1024x2x4xf32> -> tensor<?x1x2x4xf32>
    fovea.yield %1 : tensor<?x1x2x4xf32>
  }
  return %o : tensor<?x1x2x4xf32>
}
