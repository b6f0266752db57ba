// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @algebra
// CHECK-NEXT: 1x1x3x3 [1, 0, 0, 1, 1, 0, 0, 1, 1]
// CHECK-NEXT: 1x1x3x3 [1, 1, 1, 1, 1, 0, 1, 1, 1]
// CHECK-NEXT: 1x1x3x3 [0, 1, 1, 0, 0, 1, 0, 0, 0]
// CHECK-NEXT: 1x1x1x1 [1]
// CHECK-NEXT: 1x1x1x1 [0]
func.func @algebra() -> (tensor<1x1x3x3xi1>, tensor<1x1x3x3xi1>, tensor<1x1x3x3xi1>, tensor<1x1x1x1xi1>, tensor<1x1x1x1xi1>) {
  %c = fovea.mask_causal
  %w = fovea.mask_window left(1)
  %g = fovea.mask_global tokens(1)
  %and = fovea.mask_and(%c, %w)
  %or = fovea.mask_or(%c, %g)
  %not = fovea.mask_not %c
  %all = fovea.mask_and()
  %none = fovea.mask_or()
  %0 = fovea.mask_materialize %and [] : tensor<1x1x3x3xi1>
  %1 = fovea.mask_materialize %or [] : tensor<1x1x3x3xi1>
  %2 = fovea.mask_materialize %not [] : tensor<1x1x3x3xi1>
  %3 = fovea.mask_materialize %all [] : tensor<1x1x1x1xi1>
  %4 = fovea.mask_materialize %none [] : tensor<1x1x1x1xi1>
  return %0, %1, %2, %3, %4 : tensor<1x1x3x3xi1>, tensor<1x1x3x3xi1>, tensor<1x1x3x3xi1>, tensor<1x1x1x1xi1>, tensor<1x1x1x1xi1>
}
