// RUN: fovea-opt %s --fovea-schedule=target=avx2 --split-input-file | FileCheck %s

// Keys of few queries are split, unless the model is for sequences so short that there never would be two parts.

// CHECK-LABEL: @short_context
// CHECK: schedule(#fovea.attention_tiles<{{.*}}, axis = heads, scores = [{{[0-9, ]+}}], values = [{{[0-9, ]+}}]>)
fovea.model "llama" in "somewhere" {max_positions = 1023}
func.func @short_context(%q: tensor<?x1x2x4xf32>, %c: !fovea.cache<key, 2x4xf32>, %d: !fovea.cache<value, 2x4xf32>) -> tensor<?x1x2x4xf32> {
  %o = fovea.group(%a = %q, %b = %c, %e = %d) : (tensor<?x1x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32>) -> tensor<?x1x2x4xf32> {
    %1 = fovea.attention %a, %b, %e : tensor<?x1x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32> -> tensor<?x1x2x4xf32>
    fovea.yield %1 : tensor<?x1x2x4xf32>
  }
  return %o : tensor<?x1x2x4xf32>
}

// -----

// CHECK-LABEL: @long_context
// CHECK: schedule(#fovea.attention_tiles<{{.*}}, axis = heads, {{.*}}, split = [512, 64]>)
fovea.model "llama" in "somewhere" {max_positions = 1024}
func.func @long_context(%q: tensor<?x1x2x4xf32>, %c: !fovea.cache<key, 2x4xf32>, %d: !fovea.cache<value, 2x4xf32>) -> tensor<?x1x2x4xf32> {
  %o = fovea.group(%a = %q, %b = %c, %e = %d) : (tensor<?x1x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32>) -> tensor<?x1x2x4xf32> {
    %1 = fovea.attention %a, %b, %e : tensor<?x1x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32> -> tensor<?x1x2x4xf32>
    fovea.yield %1 : tensor<?x1x2x4xf32>
  }
  return %o : tensor<?x1x2x4xf32>
}
