// RUN: fovea verify %s -O0 --length 1,40 --quiet | FileCheck %s --check-prefix=SAME
// RUN: fovea verify %s -O1 --length 1,40 --quiet | FileCheck %s --check-prefix=SAME
// RUN: fovea compile %s -O0 --target=x86-64-v3 --emit=asm | FileCheck %s --check-prefixes=QUICK,LOOPS
// RUN: fovea compile %s -O1 --target=x86-64-v3 --emit=asm | FileCheck %s --check-prefixes=QUICK,VECTORS
// RUN: fovea compile %s --target=x86-64-v3 --emit=asm | FileCheck %s --check-prefix=BEST
// RUN: not fovea compile %s -O3 --emit=asm 2>&1 | FileCheck %s --check-prefix=LEVELS

// LLVM's fastest code generator keeps what lives across blocks in memory; the other needs none of it here.

// SAME: outputs agree
// QUICK-LABEL: fovea_forward_step:
// QUICK: Spill
// LOOPS-NOT: %ymm
// VECTORS: vmulps {{.*}}%ymm
// BEST-LABEL: fovea_forward_step:
// BEST-NOT: Spill
// BEST: End function
// LEVELS: -O: Value 3 not in range
func.func @forward(%x: tensor<?x8xf32> {fovea.name = "x", fovea.dims = ["rows"]})
    -> (tensor<?x8xf32> {fovea.name = "y", fovea.dims = ["rows"]}) attributes {fovea.entry} {
  %y = fovea.activation gelu %x : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
