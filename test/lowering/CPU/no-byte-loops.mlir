// RUN: fovea compile %s --target=x86-64-v4 --emit=asm -o - | FileCheck %s
// RUN: fovea compile %s --target=x86-64-v3 --emit=asm -o - | FileCheck %s
// REQUIRES: fovea

// A tile is cleared by whole vectors: no call of memset, which is not there, and no loop of single bytes that LLVM makes
// of such a call.
// CHECK-LABEL: attention_0:
// CHECK-NOT: {{call|memset|memcpy|movb \$0}}
// CHECK: vmovaps %{{[xyz]}}mm
// CHECK-NOT: {{call|memset|memcpy|movb \$0}}
// CHECK: ret
func.func @attend(%q: tensor<?x?x2x64xf32> {fovea.name = "q", fovea.dims = ["b", "s"]}) -> (tensor<?x?x2x64xf32> {fovea.name = "o", fovea.dims = ["b", "s"]}) attributes {fovea.entry} {
  %o = fovea.attention %q, %q, %q : tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x2x64xf32>
  return %o : tensor<?x?x2x64xf32>
}
