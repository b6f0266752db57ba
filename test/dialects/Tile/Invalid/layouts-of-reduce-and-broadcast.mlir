// RUN: fovea-opt %s -split-input-file -verify-diagnostics

#a = #tile.layout<rows = [registers 4], columns = [threads 8 by 1]>
#b = #tile.layout<rows = [threads 4 by 8], columns = [threads 8 by 1]>
func.func private @reduce_layout(%a: !tile.tile<4x8xf32, #b>) {
  // expected-error @below {{expects a result of type}}
  %t = tile.reduce sum %a axis(0) : !tile.tile<4x8xf32, #b> -> !tile.tile<1x8xf32, #a>
  return
}

// -----

#b = #tile.layout<rows = [threads 4 by 8], columns = [threads 8 by 1]>
func.func private @broadcast_layout(%a: !tile.tile<4x1xf32, #b>) {
  // expected-error @below {{expects an input with the layout of the result's other axes}}
  %t = tile.broadcast %a : !tile.tile<4x1xf32, #b> -> !tile.tile<4x8xf32, #b>
  return
}
