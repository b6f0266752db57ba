// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects digits of positive size by at most 1048576, got 0 by 0}}
#empty = #tile.layout<rows = [registers 0], columns = []>

// -----

// expected-error @below {{expects digits of positive size by at most 1048576, got 2 by 9223372036854775807}}
#far = #tile.layout<rows = [threads 2 by 9223372036854775807], columns = []>

// -----

// expected-error @below {{expects at most 1048576 places along an axis, got more}}
#long = #tile.layout<rows = [], columns = [registers 7, registers 9223372036854775807]>

// -----

// expected-error @below {{expects threads by a positive number, got 0}}
#nowhere = #tile.layout<rows = [threads 4 by 0], columns = []>

// -----

#small = #tile.layout<rows = [threads 8 by 1], columns = []>
// expected-error @below {{expects a layout of at least 9 places along axis 0, got 8}}
func.func private @tile_c4(!tile.tile<9x1xf32, #small>)

// -----

// expected-error @below {{expects sizes from 1 to 16777216, got 0 and 4}}
func.func private @shared_c1(!tile.shared<0x4xf32>)

// -----

// expected-error @below {{expects sizes from 1 to 16777216, got 4 and 9223372036854775807}}
func.func private @shared_c1_too_many_columns(!tile.shared<4x9223372036854775807xf32>)

// -----

// expected-error @below {{expects strides of at most 16777216, got [9223372036854775807, 1]}}
func.func private @shared_c3_too_far(!tile.shared<4x4xf32, strides [9223372036854775807, 1]>)

// -----

// expected-error @below {{expects a swizzle of 32, 64 or 128 bytes, got 9223372036854775807}}
func.func private @shared_c4_too_wide(!tile.shared<4x4xf32, swizzle 9223372036854775807>)

// -----

// expected-error @below {{expects elements of f16, bf16, f32, f64, i32 or i64, got 'i1'}}
func.func private @shared_c2(!tile.shared<4x4xi1>)

// -----

// expected-error @below {{expects strides that keep elements apart, got [3, 1]}}
func.func private @shared_c3(!tile.shared<4x4xf32, strides [3, 1]>)

// -----

// expected-error @below {{expects two sizes and two strides, got 2 and 1}}
func.func private @shared_strides(!tile.shared<4x4xf32, strides [4]>)

// -----

// expected-error @below {{expects a swizzle of 32, 64 or 128 bytes, got 48}}
func.func private @shared_c4_bytes(!tile.shared<64x64xbf16, swizzle 48>)

// -----

// expected-error @below {{expects strides [64, 1] or [1, 64] with a swizzle of 128 bytes, got [1, 32]}}
func.func private @shared_c4_strides(!tile.shared<64x64xbf16, strides [1, 32], swizzle 128>)

// -----

// expected-error @below {{expected 'swizzle' or strides}}
func.func private @shared_neither(!tile.shared<64x64xbf16, panels 128>)

// -----

func.func private @swizzled_place() {
  // expected-error @below {{expects a place that is a multiple of 1024 bytes for '!tile.shared<64x64xbf16, swizzle 128>', got 512}}
  %0 = tile.shared at(512) : !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @mma_c5_swizzle(%acc: !tile.tile<64x64xf32>) {
  %a = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  %b = tile.shared : !tile.shared<64x64xbf16>
  // expected-error @below {{expects shared memory with a swizzle for m64k16 and only for it, got '!tile.shared<64x64xbf16>'}}
  %0 = tile.mma %a, %b transpose_b into %acc atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16> -> !tile.tile<64x64xf32>
  return
}

// -----

func.func private @mma_c5_other_atom(%acc: !tile.tile<64x64xf32>) {
  %a = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects shared memory with a swizzle for m64k16 and only for it, got '!tile.shared<64x64xbf16, swizzle 128>'}}
  %0 = tile.mma %a, %a transpose_b into %acc atom(m16n8k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  return
}

// -----

func.func private @mma_c5_shape(%acc: !tile.tile<64x20xf32>) {
  %a = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  %b = tile.shared : !tile.shared<20x64xbf16, swizzle 128>
  // expected-error @below {{expects whole 64 rows, eights of up to 256 columns and a depth of whole 16 for m64k16, got 64, 20 and 64}}
  %0 = tile.mma %a, %b transpose_b into %acc atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<20x64xbf16, swizzle 128> -> !tile.tile<64x20xf32>
  return
}

// -----

func.func private @shared_place() {
  // expected-error @below {{expects a place that is a multiple of 16 bytes, got 8}}
  %s = tile.shared at(8) : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @copy_c1(%x: !tile.view<?x4xf32>, %s: !tile.shared<4x4xbf16>, %i: index) {
  // expected-error @below {{expects equal element types, got 'f32' and 'bf16'}}
  tile.copy %x[%i, %i] to %s : !tile.view<?x4xf32>, !tile.shared<4x4xbf16>
  return
}

// -----

func.func private @put_c1(%t: !tile.tile<4x8xf32>, %s: !tile.shared<8x4xf32>) {
  // expected-error @below {{expects equal shapes, got '!tile.tile<4x8xf32>' and '!tile.shared<8x4xf32>'}}
  tile.put %t to %s : !tile.tile<4x8xf32>, !tile.shared<8x4xf32>
  return
}

// -----

func.func private @get_c1(%s: !tile.shared<8x4xf32>) {
  // expected-error @below {{expects equal element types, got 'bf16' and 'f32'}}
  %t = tile.get %s : !tile.shared<8x4xf32> -> !tile.tile<8x4xbf16>
  return
}

// -----

func.func private @mma_c1(%a: !tile.shared<4x8xf32>, %b: !tile.shared<16x9xf32>, %c: !tile.tile<4x16xf32>) {
  // expected-error @below {{expects a and b to agree in depth, got 8 and 9}}
  %t = tile.mma %a, %b transpose_b into %c : !tile.shared<4x8xf32>, !tile.shared<16x9xf32> -> !tile.tile<4x16xf32>
  return
}

// -----

func.func private @mma_c1_result(%a: !tile.shared<4x8xf32>, %b: !tile.shared<8x9xf32>, %c: !tile.tile<4x16xf32>) {
  // expected-error @below {{expects a result of 4x9, got 4x16}}
  %t = tile.mma %a, %b into %c : !tile.shared<4x8xf32>, !tile.shared<8x9xf32> -> !tile.tile<4x16xf32>
  return
}

// -----

func.func private @mma_c2(%a: !tile.shared<4x8xf64>, %b: !tile.shared<8x16xf32>, %c: !tile.tile<4x16xf32>) {
  // expected-error @below {{expects operands of floating-point elements no wider than 'f32', got 'f64'}}
  %t = tile.mma %a, %b into %c : !tile.shared<4x8xf64>, !tile.shared<8x16xf32> -> !tile.tile<4x16xf32>
  return
}

// -----

func.func private @mma_c3(%a: !tile.tile<4x8xf32>, %b: !tile.shared<8x16xf32>, %c: !tile.tile<4x16xf32>) {
  // expected-error @below {{expects shared memory or a load, got '!tile.tile<4x8xf32>'}}
  %t = tile.mma %a, %b into %c : !tile.tile<4x8xf32>, !tile.shared<8x16xf32> -> !tile.tile<4x16xf32>
  return
}

// -----

func.func private @mma_c4(%a: !tile.shared<16x16xbf16>, %b: !tile.shared<16x8xf16>, %c: !tile.tile<16x8xf32>) {
  // expected-error @below {{expects what m16n8k16 takes, f16 or bf16 twice and sums of f32, got 'bf16', 'f16' and 'f32'}}
  %t = tile.mma %a, %b into %c atom(m16n8k16) : !tile.shared<16x16xbf16>, !tile.shared<16x8xf16> -> !tile.tile<16x8xf32>
  return
}

// -----

func.func private @dot_c5(%a: !tile.tile<16x16xf32>, %b: !tile.tile<16x8xf32>) {
  // expected-error @below {{expects what m16n8k8 takes, at most f32 and sums of f32, got 'f32', 'f32' and 'f64'}}
  %t = tile.dot %a, %b atom(m16n8k8) : !tile.tile<16x16xf32>, !tile.tile<16x8xf32> -> !tile.tile<16x8xf64>
  return
}

// -----

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

// -----

func.func private @shared_op_c2() {
  // expected-error @below {{expects from 1 to 1024 stages, got 0}}
  %s = tile.shared stages(0) : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @shared_op_c2_kept() {
  // expected-error @below {{expects to keep at least one slot and fewer than all, got 2 of 2}}
  %s = tile.shared stages(2) kept(2) : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @mma_c6_atom(%a: !tile.shared<64x64xbf16>, %acc: !tile.tile<64x64xf32>) {
  // expected-error @below {{expects m64k16 for a product that is only begun}}
  %0 = tile.mma %a, %a transpose_b into %acc atom(m16n8k16) async : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.tile<64x64xf32>
  %1 = tile.settle %0 pending(0) : !tile.tile<64x64xf32>
  return
}

// -----

func.func private @mma_c6_use(%a: !tile.shared<64x64xbf16, swizzle 128>, %acc: !tile.tile<64x64xf32>) {
  // expected-error @below {{expects to be begun for one tile.settle in its block}}
  %0 = tile.mma %a, %a transpose_b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  return
}

// -----

func.func private @settle_c1(%acc: !tile.tile<64x64xf32>) {
  // expected-error @below {{expects a product by tile.mma async}}
  %0 = tile.settle %acc pending(0) : !tile.tile<64x64xf32>
  return
}

// -----

func.func private @settle_c1_pending(%a: !tile.shared<64x64xbf16, swizzle 128>, %acc: !tile.tile<64x64xf32>) {
  %0 = tile.mma %a, %a transpose_b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  // expected-error @below {{expects to wait for its product, behind which 0 were begun, got pending(1)}}
  %1 = tile.settle %0 pending(1) : !tile.tile<64x64xf32>
  return
}

// -----

func.func private @settle_c2(%a: !tile.shared<64x64xbf16, swizzle 128>, %acc: !tile.tile<64x64xf32>, %n: !tile.tile<64x1xi32>) {
  %0 = tile.mma %a, %a transpose_b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  // expected-error @below {{expects to come after tiles of f32, got '!tile.tile<64x1xi32>'}}
  %1 = tile.settle %0 pending(0) after(%n : !tile.tile<64x1xi32>) : !tile.tile<64x64xf32>
  return
}

// -----

func.func private @slot_c1(%i: index) {
  %s = tile.shared : !tile.shared<4x4xf32>
  // expected-error @below {{expects a slot of a tile.shared with stages}}
  %t = tile.slot %s[%i] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @slot_c2() {
  %c2 = arith.constant 2 : index
  %s = tile.shared stages(2) : !tile.shared<4x4xf32>
  // expected-error @below {{expects a slot below 2, got 2}}
  %t = tile.slot %s[%c2] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @wait_c1() {
  // expected-error @below {{expects a number of groups, got -1}}
  tile.wait pending(-1)
  return
}

// -----

func.func private @shared_c3() {
  // expected-error @below {{expects a guarded ring to have stages, and none that are kept}}
  %s = tile.shared stages(3) kept(1) guarded : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @slot_of_guarded(%i: index) {
  %s = tile.shared stages(3) guarded : !tile.shared<4x4xf32>
  // expected-error @below {{expects a slot of a tile.shared with stages that is not guarded}}
  %t = tile.slot %s[%i] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @acquire_c1(%i: index) {
  %s = tile.shared stages(3) : !tile.shared<4x4xf32>
  // expected-error @below {{'tile.acquire' op expects a tile.shared that is guarded}}
  %t = tile.acquire %s[%i] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @release_c1(%i: index) {
  %s = tile.shared stages(3) : !tile.shared<4x4xf32>
  // expected-error @below {{'tile.release' op expects a tile.shared that is guarded}}
  tile.release %s[%i] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @copy_c2(%x: !tile.view<?x64xbf16>, %i: index) {
  %s = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects a copy by a tensor map to be async, into a slot of a guarded ring with a swizzle along its columns}}
  tile.copy %x[%i, %i] to %s async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @roles_c1(%n: index) {
  tile.kernel grid(%i) = (%n) {
    // expected-error @below {{expects each region to yield as many rounds as it begins with, 1}}
    tile.roles producer(%p) registers(24) {
      tile.yield
    } consumer(%c) registers(240) {
      tile.yield %c : index
    }
  }
  return
}

// -----

func.func private @roles_c2(%n: index) {
  tile.kernel grid(%i) = (%n) {
    // expected-error @below {{expects a number of registers that is a multiple of 8 from 24 to 240, got 250}}
    tile.roles producer(%p) registers(24) {
      tile.yield %p : index
    } consumer(%c) registers(250) {
      tile.yield %c : index
    }
  }
  return
}

// -----

func.func private @mma_c7(%a: !tile.shared<64x16xf32>, %b: !tile.shared<48x16xf32>, %acc: !tile.tile<64x48xf32>) {
  %m = tile.shared : !tile.shared<128x24xf32>
  // expected-error @below {{expects no scratch beside an atom, whose threads have no copies}}
  %0 = tile.mma %a, %b transpose_b into %acc atom(m16n8k8) scratch(%m : !tile.shared<128x24xf32>) : !tile.shared<64x16xf32>, !tile.shared<48x16xf32> -> !tile.tile<64x48xf32>
  return
}
