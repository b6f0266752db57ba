// RUN: not fovea-opt %s --fovea-cast-caches=type=int8 2>&1 | FileCheck %s

// CHECK: error: 'arith.select' op hands a cache on that would need scales beside it
func.func @choose(%a: !fovea.cache<key, 2x16xf32>, %b: !fovea.cache<key, 2x16xf32>, %c: i1) -> !fovea.cache<key, 2x16xf32> {
  %0 = arith.select %c, %a, %b : !fovea.cache<key, 2x16xf32>
  return %0 : !fovea.cache<key, 2x16xf32>
}
