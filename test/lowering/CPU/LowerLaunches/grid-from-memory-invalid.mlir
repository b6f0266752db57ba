// RUN: fovea-opt %s --fovea-lower-entries=launches -verify-diagnostics
// RUN: fovea-opt %s --fovea-to-host -verify-diagnostics

func.func @asks_memory(%x: memref<?xindex>) -> () attributes {fovea.entry,
    fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?xindex>>], []>} {
  %c0 = arith.constant 0 : index
  %a = fovea.arena %c0 : memref<?xi8>
  fovea.launch @grid_0 ins(%x : memref<?xindex>)
  return
}

// expected-error @below {{expects a grid that follows from sizes and planned numbers}}
func.func private @grid_0(%x: memref<?xindex>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %n = memref.load %x[%c0] : memref<?xindex>
  tile.kernel grid(%i) = (%n) {
  }
  return
}
