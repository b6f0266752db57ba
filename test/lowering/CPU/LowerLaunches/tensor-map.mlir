// RUN: fovea-opt %s --fovea-lower-entries=launches -verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s --fovea-to-host -verify-diagnostics | FileCheck %s --check-prefix=HOST

// A tensor map behind the words: the last axis first, sizes of at least one, of the rows' axis what the kernel's operand 0
// says; strides in bytes, a box and a swizzle. Its fields begin at 2080 + 0 (address), 8 (rank), 16 (element), 24 (sizes), 64
// (strides), 96 (box) and 136 (swizzle).
// HOST-NOT: tile.
// CHECK-LABEL: func.func @fovea_mapped_launch(
// CHECK-DAG: %[[C1:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: llvm.getelementptr %[[OUT:.*]][2072]
// CHECK: %[[MAP:.*]] = llvm.getelementptr %[[OUT]][2080]
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: llvm.getelementptr %[[MAP]][0]
// CHECK: %[[RANK:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: llvm.getelementptr %[[MAP]][8]
// CHECK-NEXT: llvm.store %[[RANK]]
// CHECK: llvm.getelementptr %[[MAP]][136]
// CHECK: %[[BYTES:.*]] = arith.constant 2 : index
// CHECK: llvm.getelementptr %[[MAP]][24]
// CHECK: %[[ROW:.*]] = arith.muli %[[BYTES]],
// CHECK: llvm.getelementptr %[[MAP]][96]
// CHECK: memref.dim
// CHECK: %[[SIZE:.*]] = arith.maxsi %{{.*}}, %{{.*}} : index
// CHECK: arith.index_cast %[[SIZE]]
// CHECK-NEXT: llvm.getelementptr %[[MAP]][32]
// CHECK: llvm.getelementptr %[[MAP]][64]
// CHECK: arith.muli %[[ROW]],
// CHECK: llvm.getelementptr %[[MAP]][104]
// CHECK: llvm.getelementptr %[[MAP]][40]
// CHECK: llvm.getelementptr %[[MAP]][72]
// CHECK: llvm.getelementptr %[[MAP]][112]
// CHECK: return
func.func @mapped(%x: memref<2x?x64xbf16>) -> index attributes {fovea.entry,
    fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<2x?x64xbf16>>], []>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c1 : memref<2x?x64xbf16>
  %a = fovea.arena %c0 : memref<?xi8>
  fovea.launch @read_0 ins(%n, %x : index, memref<2x?x64xbf16>)
  return %n : index
}

func.func private @read_0(%n: index, %x: memref<2x?x64xbf16>, %part: index, %parts: index) attributes {
    fovea.tensor_maps = [#tile.tensor_map<operand = 1, axis = 1, rows = 32, columns = 64, swizzle = 128, length = 0>]} {
  tile.kernel grid(%i) = (%n) {
  }
  return
}
