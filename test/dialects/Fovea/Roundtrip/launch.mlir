// RUN: fovea-opt %s --verify-roundtrip

func.func private @k0(memref<?xf32>, memref<?xf32>, index, index)
func.func @launch(%x: memref<?xf32>, %n: index) {
  %a = fovea.arena %n : memref<?xi8>
  fovea.launch @k0 ins(%x : memref<?xf32>) outs(%x : memref<?xf32>)
  fovea.launch @k0 ins(%x : memref<?xf32>) outs(%x : memref<?xf32>) cost(%n, %n)
  return
}
