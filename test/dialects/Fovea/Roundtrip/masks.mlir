// RUN: fovea-opt %s --verify-roundtrip

func.func @masks(%n: tensor<?xi32>, %s: tensor<?x?xi32>, %d: tensor<?x1x1x?xi64>, %b: index, %i: index, %j: index) -> tensor<?x8x?x?xi1> {
  %c = fovea.mask_causal
  %w = fovea.mask_window left(255) right(0)
  %w2 = fovea.mask_window right(-1)
  %l = fovea.mask_length %n : tensor<?xi32>
  %p = fovea.mask_prefix %n : tensor<?xi32>
  %g = fovea.mask_segment %s, %s : tensor<?x?xi32>, tensor<?x?xi32>
  %gl = fovea.mask_global tokens(4)
  %de = fovea.mask_dense %d : tensor<?x1x1x?xi64>
  %no = fovea.mask_not %g
  %none = fovea.mask_or()
  %a = fovea.mask_and(%c, %w, %w2, %l)
  %o = fovea.mask_or(%p, %gl, %de, %no, %a, %none)
  %t = fovea.mask_materialize %o [%b, %i, %j] : tensor<?x8x?x?xi1>
  return %t : tensor<?x8x?x?xi1>
}
