// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
func.func @forward(%x: tensor<?x8xf32> {fovea.name = "x", fovea.dims = ["n"]}) -> (tensor<?x8xf32> {fovea.name = "y"}) attributes {fovea.entri} {
  %y = fovea.rms_norm %x eps(1.0e-5) : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
