// RUN: fovea-opt %s --verify-roundtrip

fovea.weight @panels : tensor<1536x384xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"a", "p", tensor<1536x384xf32>>, #fovea.panels<16>>
fovea.weight @pairs : tensor<33x5xbf16, #fovea.panels<16, interleave = 2>> = #fovea.pack<#fovea.stored<"a", "r", tensor<33x5xbf16>>, #fovea.panels<16, interleave = 2>>
func.func @buffers_of_panels() {
  %0 = fovea.weight_ref @panels : tensor<1536x384xf32, #fovea.panels<16>>
  %1 = fovea.weight_ref @panels : memref<96x384x16xf32>
  %2 = fovea.weight_ref @pairs : memref<3x3x16x2xbf16>
  return
}

fovea.weight @numbers : tensor<768x768xi4> = #fovea.stored<"a", "n", tensor<768x768xi4>>
fovea.weight @numbers16 : tensor<768x768xi4, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"a", "n", tensor<768x768xi4>>, #fovea.panels<16>>
fovea.weight @numbers32 : tensor<768x768xi4, #fovea.panels<32, interleave = 8>> = #fovea.pack<#fovea.stored<"a", "n", tensor<768x768xi4>>, #fovea.panels<32, interleave = 8>>
func.func @buffers_of_i4() {
  %0 = fovea.weight_ref @numbers : memref<768x384xi8>
  %1 = fovea.weight_ref @numbers16 : memref<48x384x16xi8>
  %2 = fovea.weight_ref @numbers32 : memref<24x48x32x8xi8>
  return
}
