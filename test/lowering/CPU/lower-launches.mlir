// RUN: fovea-opt %s -split-input-file --fovea-lower-entries=launches -verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s -split-input-file --fovea-to-host -verify-diagnostics | FileCheck %s --check-prefix=HOST

fovea.weight @w0 : tensor<4xf32> = #fovea.stored<"a", "w0", tensor<4xf32>>

// The plan is the CPU's; a launch gives blocks, fault, and as words: the number, the address of %x and its size, that of the
// weight, that of %y and its size, where to write a fault and what.
// CHECK-LABEL: func.func @fovea_run_plan(
// CHECK-LABEL: func.func @fovea_run_launch(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %[[STEP:[^:]*]]: i64, %{{[^:]*}}: !llvm.ptr)
// CHECK: cf.switch
// CHECK: %[[CODE:.*]] = llvm.add %[[STEP]]
// CHECK: %[[WRONG:.*]] = arith.cmpi ugt
// CHECK: arith.select %[[WRONG]], %[[CODE]]
// CHECK: llvm.store
// CHECK: llvm.store
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(8 : i64)
// CHECK: llvm.store %[[COUNT]]
// CHECK-COUNT-8: llvm.store
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: %[[MAPS:.*]] = llvm.getelementptr %{{.*}}[2072]
// CHECK: llvm.store %[[NONE]], %[[MAPS]]
// CHECK-NOT: llvm.store
// CHECK: return
// CHECK: fovea.program "run"
// CHECK-NOT: @scale_0(
// HOST-LABEL: llvm.func @fovea_run_launch(
// HOST-NOT: tile.
func.func @run(%x: memref<?xf32>, %y: memref<?xf32>) -> index attributes {fovea.entry,
    fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?xf32>>], [#fovea.port<"y", tensor<?xf32>>]>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = fovea.arena %c0 : memref<?xi8>
  %w0 = fovea.weight_ref @w0 : memref<4xf32>
  fovea.launch @scale_0 ins(%n, %x, %w0 : index, memref<?xf32>, memref<4xf32>) outs(%y : memref<?xf32>)
  return %n : index
}
func.func private @scale_0(%n: index, %x: memref<?xf32>, %w: memref<4xf32>, %y: memref<?xf32>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %outside = arith.cmpi ugt, %size, %n : index
  fovea.fault %outside
  %blocks = arith.ceildivui %size, %c4 : index
  tile.kernel grid(%i, %j) = (%blocks, %c4) {
  }
  return
}

// -----

// A tensor map behind the words: the last axis first, sizes of at least one, of the rows' axis what the kernel's operand 0
// says; strides in bytes, a box and a swizzle. Its fields begin at 2080 + 0 (address), 8 (rank), 16 (element), 24 (sizes), 64
// (strides), 96 (box) and 136 (swizzle).
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

// -----

// Of a buffer with a layout, the strides that its type leaves open; of a plain loop, its iterations by the threads of a block.
// CHECK-LABEL: func.func @fovea_strided_launch(
// CHECK: arith.muli
// CHECK: arith.muli
// CHECK: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK: arith.ceildivui %{{.*}}, %[[THREADS]]
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK: arith.index_cast %[[STRIDES]]#0
// CHECK: llvm.mlir.constant(5 : i64)
func.func @strided(%x: memref<?x8xf32>, %y: memref<?x4xf32>) -> index attributes {fovea.entry,
    fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?x8xf32>>], [#fovea.port<"y", tensor<?x4xf32>>]>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = fovea.arena %c0 : memref<?xi8>
  %part = memref.reinterpret_cast %x to offset: [4], sizes: [%n, 4], strides: [%c8, 1]
    : memref<?x8xf32> to memref<?x4xf32, strided<[?, 1], offset: 4>>
  fovea.launch @copy_0 ins(%part : memref<?x4xf32, strided<[?, 1], offset: 4>>) outs(%y : memref<?x4xf32>)
  return %n : index
}
func.func private @copy_0(%x: memref<?x4xf32, strided<[?, 1], offset: 4>>, %y: memref<?x4xf32>, %part: index, %parts: index)
    attributes {fovea.threads = 128} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32, strided<[?, 1], offset: 4>>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x4xf32, strided<[?, 1], offset: 4>>
    memref.store %v, %y[%i, %j] : memref<?x4xf32>
  }
  return
}

// -----

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
