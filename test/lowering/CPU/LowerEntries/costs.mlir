// RUN: fovea-opt %s --fovea-lower-entries | FileCheck %s

// Costs have places in the plan and do not reach the kernels; what is not known is place 0, and one value has one place.
// CHECK-LABEL: func.func @fovea_costly_plan(
// CHECK: fovea.program "costly" {{.*}} locals(5) positions(0) steps ["copy_0", "copy_0", "copy_0"] at {{.*}} costs [2, 3, 0, 0, 3, 3]
func.func @costly(%x: memref<?xf32>, %y: memref<?xf32>) -> index attributes {fovea.entry,
    fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?xf32>>], [#fovea.port<"y", tensor<?xf32>>]>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %bytes = arith.muli %n, %c8 : index
  %a = fovea.arena %c0 : memref<?xi8>
  fovea.launch @copy_0 ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) cost(%c0, %bytes)
  fovea.launch @copy_0 ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  fovea.launch @copy_0 ins(%x : memref<?xf32>) outs(%y : memref<?xf32>) cost(%bytes, %bytes)
  return %n : index
}

func.func private @copy_0(%x: memref<?xf32>, %y: memref<?xf32>, %part: index, %parts: index) {
  return
}
