// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

//===-- Algebra of masks ---===//

// CHECK-LABEL: @and_of_and
// CHECK-SAME: %[[N:.*]]: tensor<?xi32>
// CHECK-DAG: %[[L:.*]] = fovea.mask_length %[[N]]
// CHECK-DAG: %[[G:.*]] = fovea.mask_global
// CHECK-DAG: %[[S:.*]] = fovea.mask_prefix
// CHECK: fovea.mask_and(%[[L]], %[[G]], %[[S]])
// CHECK-NOT: fovea.mask_and
func.func @and_of_and(%n: tensor<?xi32>) -> !fovea.mask {
  %l = fovea.mask_length %n : tensor<?xi32>
  %g = fovea.mask_global tokens(4)
  %s = fovea.mask_prefix %n : tensor<?xi32>
  %a = fovea.mask_and(%l, %g)
  %b = fovea.mask_and(%a, %s)
  return %b : !fovea.mask
}

// -----

// CHECK-LABEL: @or_of_or
// CHECK-DAG: %[[C:.*]] = fovea.mask_causal
// CHECK-DAG: %[[G:.*]] = fovea.mask_global
// CHECK-DAG: %[[P:.*]] = fovea.mask_prefix
// CHECK: fovea.mask_or(%[[C]], %[[G]], %[[P]])
// CHECK-NOT: fovea.mask_or
func.func @or_of_or(%n: tensor<?xi32>) -> !fovea.mask {
  %c = fovea.mask_causal
  %g = fovea.mask_global tokens(4)
  %p = fovea.mask_prefix %n : tensor<?xi32>
  %i = fovea.mask_or(%g, %p)
  %m = fovea.mask_or(%c, %i)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @and_of_or_stays
// CHECK: %[[O:.*]] = fovea.mask_or(
// CHECK: fovea.mask_and(%{{.*}}, %[[O]])
func.func @and_of_or_stays(%n: tensor<?xi32>) -> !fovea.mask {
  %c = fovea.mask_causal
  %g = fovea.mask_global tokens(4)
  %p = fovea.mask_prefix %n : tensor<?xi32>
  %i = fovea.mask_or(%g, %p)
  %m = fovea.mask_and(%c, %i)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @duplicates
// CHECK: %[[L:.*]] = fovea.mask_length
// CHECK: %[[G:.*]] = fovea.mask_global
// CHECK: fovea.mask_or(%[[L]], %[[G]])
func.func @duplicates(%n: tensor<?xi32>) -> !fovea.mask {
  %l = fovea.mask_length %n : tensor<?xi32>
  %g = fovea.mask_global tokens(4)
  %m = fovea.mask_or(%l, %g, %l)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @single
// CHECK: %[[L:.*]] = fovea.mask_length
// CHECK-NOT: fovea
// CHECK: return %[[L]], %[[L]], %[[L]]
func.func @single(%n: tensor<?xi32>) -> (!fovea.mask, !fovea.mask, !fovea.mask) {
  %l = fovea.mask_length %n : tensor<?xi32>
  %a = fovea.mask_and(%l)
  %o = fovea.mask_or(%l)
  %twice = fovea.mask_and(%l, %l)
  return %a, %o, %twice : !fovea.mask, !fovea.mask, !fovea.mask
}

// -----

// What says nothing to a combination vanishes, what decides it replaces it.
// CHECK-LABEL: @neutral
// CHECK: %[[L:.*]] = fovea.mask_length
// CHECK-NOT: fovea
// CHECK: return %[[L]], %[[L]]
func.func @neutral(%n: tensor<?xi32>) -> (!fovea.mask, !fovea.mask) {
  %l = fovea.mask_length %n : tensor<?xi32>
  %all = fovea.mask_and()
  %none = fovea.mask_or()
  %a = fovea.mask_and(%all, %l)
  %o = fovea.mask_or(%l, %none)
  return %a, %o : !fovea.mask, !fovea.mask
}

// -----

// CHECK-LABEL: @absorbed
// CHECK-DAG: %[[ALL:.*]] = fovea.mask_and(){{$}}
// CHECK-DAG: %[[NONE:.*]] = fovea.mask_or(){{$}}
// CHECK: return %[[NONE]], %[[ALL]]
func.func @absorbed(%n: tensor<?xi32>) -> (!fovea.mask, !fovea.mask) {
  %l = fovea.mask_length %n : tensor<?xi32>
  %all = fovea.mask_and()
  %none = fovea.mask_or()
  %a = fovea.mask_and(%l, %none)
  %o = fovea.mask_or(%all, %l)
  return %a, %o : !fovea.mask, !fovea.mask
}

// -----

// CHECK-LABEL: @not_not
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK-NOT: fovea
// CHECK: return %[[C]]
func.func @not_not() -> !fovea.mask {
  %c = fovea.mask_causal
  %a = fovea.mask_not %c
  %b = fovea.mask_not %a
  return %b : !fovea.mask
}

// -----

// CHECK-LABEL: @not_constant
// CHECK-NOT: fovea.mask_not
// CHECK-DAG: %[[ALL:.*]] = fovea.mask_and(){{$}}
// CHECK-DAG: %[[NONE:.*]] = fovea.mask_or(){{$}}
// CHECK: return %[[NONE]], %[[ALL]]
func.func @not_constant() -> (!fovea.mask, !fovea.mask) {
  %all = fovea.mask_and()
  %none = fovea.mask_or()
  %a = fovea.mask_not %all
  %b = fovea.mask_not %none
  return %a, %b : !fovea.mask, !fovea.mask
}

// -----

// CHECK-LABEL: @contradiction
// CHECK-DAG: %[[ALL:.*]] = fovea.mask_and(){{$}}
// CHECK-DAG: %[[NONE:.*]] = fovea.mask_or(){{$}}
// CHECK: return %[[NONE]], %[[ALL]]
func.func @contradiction(%n: tensor<?xi32>) -> (!fovea.mask, !fovea.mask) {
  %l = fovea.mask_length %n : tensor<?xi32>
  %c = fovea.mask_causal
  %x = fovea.mask_not %l
  %a = fovea.mask_and(%l, %c, %x)
  %o = fovea.mask_or(%x, %c, %l)
  return %a, %o : !fovea.mask, !fovea.mask
}

// -----

//===-- Bands ---===//

// CHECK-LABEL: @causal_and_window
// CHECK: %[[W:.*]] = fovea.mask_window left(7) right(0)
// CHECK-NOT: fovea
// CHECK: return %[[W]]
func.func @causal_and_window() -> !fovea.mask {
  %c = fovea.mask_causal
  %w = fovea.mask_window left(7) right(3)
  %m = fovea.mask_and(%c, %w)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @causal_and_strict
// CHECK: %[[W:.*]] = fovea.mask_window right(-1)
// CHECK-NOT: fovea
// CHECK: return %[[W]]
func.func @causal_and_strict() -> !fovea.mask {
  %c = fovea.mask_causal
  %w = fovea.mask_window right(-1)
  %m = fovea.mask_and(%w, %c)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @causal_and_right
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK-NOT: fovea
// CHECK: return %[[C]]
func.func @causal_and_right() -> !fovea.mask {
  %c = fovea.mask_causal
  %w = fovea.mask_window right(3)
  %m = fovea.mask_and(%w, %c)
  return %m : !fovea.mask
}

// -----

// A length between the bands stays.
// CHECK-LABEL: @three_bands
// CHECK-DAG: %[[L:.*]] = fovea.mask_length
// CHECK-DAG: %[[W:.*]] = fovea.mask_window left(5) right(-2)
// CHECK: fovea.mask_and(%[[L]], %[[W]])
func.func @three_bands(%n: tensor<?xi32>) -> !fovea.mask {
  %a = fovea.mask_window left(9) right(4)
  %b = fovea.mask_window left(5)
  %c = fovea.mask_window right(-2)
  %l = fovea.mask_length %n : tensor<?xi32>
  %m = fovea.mask_and(%a, %l, %b, %c)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @disjoint_windows
// CHECK: %[[NONE:.*]] = fovea.mask_or(){{$}}
// CHECK-NOT: fovea
// CHECK: return %[[NONE]]
func.func @disjoint_windows() -> !fovea.mask {
  %a = fovea.mask_window left(9) right(-5)
  %b = fovea.mask_window left(4) right(4)
  %m = fovea.mask_and(%a, %b)
  return %m : !fovea.mask
}

// -----

// Windows that touch in one diagonal are not disjoint.
// CHECK-LABEL: @touching_windows
// CHECK: fovea.mask_window left(5) right(-5)
func.func @touching_windows() -> !fovea.mask {
  %a = fovea.mask_window left(9) right(-5)
  %b = fovea.mask_window left(5) right(4)
  %m = fovea.mask_and(%a, %b)
  return %m : !fovea.mask
}

// -----

// CHECK-LABEL: @or_of_bands_stays
// CHECK: fovea.mask_or(
func.func @or_of_bands_stays() -> !fovea.mask {
  %a = fovea.mask_window left(9) right(-5)
  %b = fovea.mask_window left(4) right(4)
  %m = fovea.mask_or(%a, %b)
  return %m : !fovea.mask
}

// -----

//===-- Masks of an attention ---===//

// CHECK-LABEL: @everything_allowed
// CHECK-NOT: fovea.mask
// CHECK-NOT: mask(
func.func @everything_allowed(%q: tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %m = fovea.mask_and()
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

// -----

// CHECK-LABEL: @nothing_allowed_keeps_fill
// CHECK: %[[M:.*]] = fovea.mask_or(){{$}}
// CHECK: fovea.attention {{.*}} mask(%[[M]]) fill(mean)
func.func @nothing_allowed_keeps_fill(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<0> : tensor<3x3xi32>
  %d = fovea.mask_dense %t : tensor<3x3xi32>
  %o = fovea.attention %q, %q, %q mask(%d) fill(mean) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @length_of_full_row
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK-NOT: fovea.mask
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @length_of_full_row(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<[5, 7]> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %c = fovea.mask_causal
  %m = fovea.mask_and(%l, %c)
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_of_full_row_alone
// CHECK-NOT: mask
// CHECK: return
func.func @length_of_full_row_alone(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<1xi32>
  %l = fovea.mask_length %n : tensor<1xi32>
  %o = fovea.attention %q, %k, %k mask(%l) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// Inside `not` the same rewrite leaves nothing allowed.
// CHECK-LABEL: @not_length_of_full_row
// CHECK: %[[M:.*]] = fovea.mask_or(){{$}}
// CHECK-NOT: fovea.mask
// CHECK: fovea.attention {{.*}} mask(%[[M]])
func.func @not_length_of_full_row(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<1xi32>
  %l = fovea.mask_length %n : tensor<1xi32>
  %m = fovea.mask_not %l
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_shorter_than_row_stays
// CHECK: fovea.mask_length
// CHECK: fovea.attention {{.*}} mask(
func.func @length_shorter_than_row_stays(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<[5, 4]> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %k, %k mask(%l) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_of_dynamic_row_stays
// CHECK: fovea.mask_length
// CHECK: fovea.attention {{.*}} mask(
func.func @length_of_dynamic_row_stays(%q: tensor<2x?x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %q, %q mask(%l) : tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_with_key_positions_stays
// CHECK: fovea.mask_length
// CHECK: fovea.attention {{.*}} mask(
func.func @length_with_key_positions_stays(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>, %p: tensor<1x5xi32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %k, %k k_pos(%p : tensor<1x5xi32>) mask(%l) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_of_cache_stays
// CHECK: fovea.mask_length
// CHECK: fovea.attention {{.*}} mask(
func.func @length_of_cache_stays(%q: tensor<2x?x2x4xf32>, %k: !fovea.cache<key, 2x4xf32>, %v: !fovea.cache<value, 2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %k, %v mask(%l) : tensor<2x?x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

//===-- Dense constants ---===//

// CHECK-LABEL: @dense_triangular
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @dense_triangular(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_with_unit_axes
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @dense_with_unit_axes(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[[[true, false, false], [true, true, false], [true, true, true]]]]> : tensor<1x1x3x3xi1>
  %d = fovea.mask_dense %t : tensor<1x1x3x3xi1>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// Any value but zero allows, and a rectangle is as good as a square.
// CHECK-LABEL: @dense_rectangle
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @dense_rectangle(%q: tensor<?x2x2x4xf32>, %k: tensor<?x4x2x4xf32>) -> tensor<?x2x2x4xf32> {
  %t = arith.constant dense<[[-1, 0, 0, 0], [2, 3, 0, 0]]> : tensor<2x4xi64>
  %d = fovea.mask_dense %t : tensor<2x4xi64>
  %o = fovea.attention %q, %k, %k mask(%d) : tensor<?x2x2x4xf32>, tensor<?x4x2x4xf32>, tensor<?x4x2x4xf32> -> tensor<?x2x2x4xf32>
  return %o : tensor<?x2x2x4xf32>
}

// -----

// As an exporter writes it for queries that come after two others.
// CHECK-LABEL: @dense_shifted
// CHECK: %[[W:.*]] = fovea.mask_window right(2)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_shifted(%q: tensor<?x2x2x4xf32>, %k: tensor<?x4x2x4xf32>) -> tensor<?x2x2x4xf32> {
  %t = arith.constant dense<[[1, 1, 1, 0], [1, 1, 1, 1]]> : tensor<2x4xi64>
  %d = fovea.mask_dense %t : tensor<2x4xi64>
  %o = fovea.attention %q, %k, %k mask(%d) : tensor<?x2x2x4xf32>, tensor<?x4x2x4xf32>, tensor<?x4x2x4xf32> -> tensor<?x2x2x4xf32>
  return %o : tensor<?x2x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_band
// CHECK: %[[W:.*]] = fovea.mask_window left(1) right(0)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_band(%q: tensor<?x4x2x4xf32>) -> tensor<?x4x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]> : tensor<4x4xi32>
  %d = fovea.mask_dense %t : tensor<4x4xi32>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x4x2x4xf32>, tensor<?x4x2x4xf32>, tensor<?x4x2x4xf32> -> tensor<?x4x2x4xf32>
  return %o : tensor<?x4x2x4xf32>
}

// -----

// The first row is empty: strictly before.
// CHECK-LABEL: @dense_strict
// CHECK: %[[W:.*]] = fovea.mask_window right(-1)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_strict(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[0, 0, 0], [1, 0, 0], [1, 1, 0]]> : tensor<3x3xi32>
  %d = fovea.mask_dense %t : tensor<3x3xi32>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_upper
// CHECK: %[[W:.*]] = fovea.mask_window left(0)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_upper(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 1, 1], [0, 1, 1], [0, 0, 1]]> : tensor<3x3xi32>
  %d = fovea.mask_dense %t : tensor<3x3xi32>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_one_corner
// CHECK: %[[W:.*]] = fovea.mask_window left(-2)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_one_corner(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[0, 0, 1], [0, 0, 0], [0, 0, 0]]> : tensor<3x3xi32>
  %d = fovea.mask_dense %t : tensor<3x3xi32>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_all_ones
// CHECK-NOT: mask
// CHECK: return
func.func @dense_all_ones(%q: tensor<?x?x2x4xf32>, %p: tensor<1x?xi32>) -> tensor<?x?x2x4xf32> {
  %t = arith.constant dense<1> : tensor<1x1xi64>
  %d = fovea.mask_dense %t : tensor<1x1xi64>
  %o = fovea.attention %q, %q, %q q_pos(%p : tensor<1x?xi32>) mask(%d) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

// -----

// Elements that all allow, but are not all the same.
// CHECK-LABEL: @dense_all_nonzero
// CHECK-NOT: mask
// CHECK: return
func.func @dense_all_nonzero(%q: tensor<?x2x2x4xf32>) -> tensor<?x2x2x4xf32> {
  %t = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %d = fovea.mask_dense %t : tensor<2x2xi64>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32> -> tensor<?x2x2x4xf32>
  return %o : tensor<?x2x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_inside_and
// CHECK: %[[W:.*]] = fovea.mask_window left(1) right(0)
// CHECK: fovea.attention {{.*}} mask(%[[W]])
func.func @dense_inside_and(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %w = fovea.mask_window left(1) right(2)
  %m = fovea.mask_and(%d, %w)
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// One mask of two attentions: each has sizes of its own.
// CHECK-LABEL: @dense_of_two
// CHECK: %[[D:.*]] = fovea.mask_dense
// CHECK: fovea.attention {{.*}} q_pos({{.*}}) mask(%[[D]])
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @dense_of_two(%q: tensor<?x3x2x4xf32>, %p: tensor<1x3xi32>) -> (tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>) {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q q_pos(%p : tensor<1x3xi32>) mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  %u = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o, %u : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_with_key_positions_stays
// CHECK: fovea.mask_dense
func.func @dense_with_key_positions_stays(%q: tensor<?x3x2x4xf32>, %p: tensor<1x3xi32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 1, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q k_pos(%p : tensor<1x3xi32>) mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_hole_stays
// CHECK: fovea.mask_dense
func.func @dense_hole_stays(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 0, 0], [1, 1, 0], [1, 0, 1]]> : tensor<3x3xi8>
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// One column of keys, the same for all queries: a length, not a band.
// CHECK-LABEL: @dense_broadcast_queries_stays
// CHECK: fovea.mask_dense
func.func @dense_broadcast_queries_stays(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1, 1, 0]]> : tensor<1x3xi8>
  %d = fovea.mask_dense %t : tensor<1x3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_broadcast_keys_stays
// CHECK: fovea.mask_dense
func.func @dense_broadcast_keys_stays(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[[1], [1], [0]]> : tensor<3x1xi8>
  %d = fovea.mask_dense %t : tensor<3x1xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_vector_stays
// CHECK: fovea.mask_dense
func.func @dense_vector_stays(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<[1, 1, 0]> : tensor<3xi8>
  %d = fovea.mask_dense %t : tensor<3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

// Two heads that differ.
// CHECK-LABEL: @dense_heads_stay
// CHECK: fovea.mask_dense
func.func @dense_heads_stay(%q: tensor<?x2x2x4xf32>) -> tensor<?x2x2x4xf32> {
  %t = arith.constant dense<[[[1, 0], [1, 1]], [[1, 1], [1, 1]]]> : tensor<2x2x2xi8>
  %d = fovea.mask_dense %t : tensor<2x2x2xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32>, tensor<?x2x2x4xf32> -> tensor<?x2x2x4xf32>
  return %o : tensor<?x2x2x4xf32>
}

// -----

// CHECK-LABEL: @dense_not_constant_stays
// CHECK: fovea.mask_dense
func.func @dense_not_constant_stays(%q: tensor<?x3x2x4xf32>, %t: tensor<3x3xi8>) -> tensor<?x3x2x4xf32> {
  %d = fovea.mask_dense %t : tensor<3x3xi8>
  %o = fovea.attention %q, %q, %q mask(%d) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}

// -----

//===-- Caches ---===//

// CHECK-LABEL: @length_of_new_cache
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: return %[[ZERO]]
func.func @length_of_new_cache(%b: index, %n: index) -> index {
  %c = fovea.cache_create %b, %n : !fovea.cache<key, 2x4xf32>
  %l = fovea.cache_length %c : !fovea.cache<key, 2x4xf32>
  return %l : index
}

// -----

// CHECK-LABEL: @length_of_grown_cache
// CHECK-SAME: %[[C:.*]]: !fovea.cache<key, 2x4xf32>, %[[X:.*]]: tensor<?x?x2x4xf32>
// CHECK-DAG: %[[L:.*]] = fovea.cache_length %[[C]]
// CHECK-DAG: %[[D:.*]] = tensor.dim %[[X]]
// CHECK: %[[S:.*]] = arith.addi %[[L]], %[[D]]
// CHECK: return %[[S]]
func.func @length_of_grown_cache(%c: !fovea.cache<key, 2x4xf32>, %x: tensor<?x?x2x4xf32>) -> index {
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>
  %l = fovea.cache_length %d : !fovea.cache<key, 2x4xf32>
  return %l : index
}

// -----

// CHECK-LABEL: @length_of_known_cache
// CHECK: %[[FIVE:.*]] = arith.constant 5 : index
// CHECK: return %[[FIVE]]
func.func @length_of_known_cache(%b: index, %n: index, %x: tensor<?x4x2x4xf32>, %y: tensor<?x1x2x4xf32>) -> index {
  %c = fovea.cache_create %b, %n : !fovea.cache<key, 2x4xf32>
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x4xf32>, tensor<?x4x2x4xf32>
  %e = fovea.cache_append %d, %y : !fovea.cache<key, 2x4xf32>, tensor<?x1x2x4xf32>
  %l = fovea.cache_length %e : !fovea.cache<key, 2x4xf32>
  return %l : index
}

// -----

// CHECK-LABEL: @length_of_given_cache_stays
// CHECK: fovea.cache_length
func.func @length_of_given_cache_stays(%c: !fovea.cache<key, 2x4xf32>) -> index {
  %l = fovea.cache_length %c : !fovea.cache<key, 2x4xf32>
  return %l : index
}
