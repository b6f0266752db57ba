// RUN: fovea compile %s --gpu=sm_90a --emit=threads | FileCheck %s

// Experts of wide matrices: the branch that asks whether an expert has so many rows holds the loop along the sum, whose operands are copied ahead, part by part.
// With a loop over the rows around the product they were staged whole, in more shared memory than there is.

// CHECK-LABEL: func.func private @linear_1(
// CHECK-SAME: fovea.shared_bytes = 49152
// CHECK: scf.if
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: wgmma.mma_async
func.func @run(%x: tensor<?x2x512xbf16> {fovea.dims = ["s"]}, %w: tensor<1024x512xbf16>, %e: tensor<5xi64>)
    -> (tensor<?x2x256xf32> {fovea.dims = ["s"]}) attributes {fovea.entry} {
  %y = fovea.linear %x, %w experts(%e : tensor<5xi64>) : tensor<?x2x512xbf16>, tensor<1024x512xbf16> -> tensor<?x2x256xf32>
  return %y : tensor<?x2x256xf32>
}
