// RUN: fovea-opt %s --fovea-quantize-weights=type=int4 --remarks-filter=quantize-weights --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s --check-prefix=INT4

// Groups of 32 in int4; inputs that are no multiple get int8.

// INT4-LABEL: fovea.weight @groups : tensor<5x64xi4> = #fovea.quantize<#fovea.stored<"f", "g", tensor<5x64xf32>>, i4, f16, group = 32>
// INT4: fovea.weight @groups.scales : tensor<5x2xf16> = #fovea.quantization_scales<#fovea.stored<"f", "g", tensor<5x64xf32>>, i4, f16, group = 32>
// INT4: fovea.weight @odd : tensor<5x48xi8> = #fovea.quantize<#fovea.stored<"f", "o", tensor<5x48xf32>>, i8, f32>
// INT4: fovea.weight @odd.scales : tensor<5xf32>
// INT4: fovea.linear {{.*}} scales({{.*}} : tensor<5x2xf16>) : tensor<?x64xf32>, tensor<5x64xi4> -> tensor<?x5xf32>
fovea.weight @groups : tensor<5x64xf32> = #fovea.stored<"f", "g", tensor<5x64xf32>>
// expected-remark @below {{its 48 inputs are no multiple of 32, so it becomes int8}}
fovea.weight @odd : tensor<5x48xf32> = #fovea.stored<"f", "o", tensor<5x48xf32>>
func.func @int4(%x: tensor<?x64xf32>, %y: tensor<?x48xf32>) -> (tensor<?x5xf32>, tensor<?x5xf32>) attributes {fovea.entry} {
  %g = fovea.weight_ref @groups : tensor<5x64xf32>
  %o = fovea.weight_ref @odd : tensor<5x48xf32>
  %0 = fovea.linear %x, %g : tensor<?x64xf32>, tensor<5x64xf32> -> tensor<?x5xf32>
  %1 = fovea.linear %y, %o : tensor<?x48xf32>, tensor<5x48xf32> -> tensor<?x5xf32>
  return %0, %1 : tensor<?x5xf32>, tensor<?x5xf32>
}
