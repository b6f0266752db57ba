// RUN: fovea-smith %s

// At the sizes that were drawn no row sees a key.
//
// choices: batch=2 depth=2 batch-size=1 queries=5 keys=6 mask0=2 mask1=18
// fused: 1
// masks: causal? causal|window|dense dense? dense|segment window?
// size: batch 1 6
// size: keys 6 7
// size: queries 5 6
// size: windows 2 6
// input: q normal 1
// input: k normal 1
// input: v normal 1

func.func @forward(%q: tensor<?x?x?x2xf32> {fovea.name = "q", fovea.dims = ["batch", "windows", "queries"]},
                   %k: tensor<?x?x?x2xf32> {fovea.name = "k", fovea.dims = ["batch", "windows", "keys"]},
                   %v: tensor<?x?x?x2xf32> {fovea.name = "v", fovea.dims = ["batch", "windows", "keys"]})
    -> (tensor<?x?x?x2xf32> {fovea.name = "output", fovea.dims = ["batch", "windows", "queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %batch = tensor.dim %q, %c0 : tensor<?x?x?x2xf32>
  %c1 = arith.constant 1 : index
  %windows = tensor.dim %q, %c1 : tensor<?x?x?x2xf32>
  %c2 = arith.constant 2 : index
  %queries = tensor.dim %q, %c2 : tensor<?x?x?x2xf32>
  %c3 = arith.constant 2 : index
  %keys = tensor.dim %k, %c3 : tensor<?x?x?x2xf32>
  %e4 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %c5 = arith.constant 0.00000000e+00 : f32
  %f6 = linalg.fill ins(%c5 : f32) outs(%e4 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %product7 = linalg.contract indexing_maps = [affine_map<(b, c, i, j, d) -> (b, c, i, d)>, affine_map<(b, c, i, j, d) -> (b, c, j, d)>, affine_map<(b, c, i, j, d) -> (b, c, i, j)>]
      ins(%q, %k : tensor<?x?x?x2xf32>, tensor<?x?x?x2xf32>) outs(%f6 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %e8 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %t31 = linalg.generic {indexing_maps = [affine_map<(b, c, i, j) -> (b, c, i, j)>, affine_map<(b, c, i, j) -> (b, c, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%product7 : tensor<?x?x?x?xf32>) outs(%e8 : tensor<?x?x?x?xf32>) {
  ^bb0(%in9: f32, %acc10: f32):
    %at11 = linalg.index 3 : index
    %at12 = linalg.index 2 : index
    %v13 = arith.subi %keys, %queries : index
    %v14 = arith.addi %at12, %v13 : index
    %c15 = arith.constant 1 : index
    %v16 = arith.addi %v14, %c15 : index
    %v17 = arith.cmpi slt, %at11, %v16 : index
    %at18 = linalg.index 2 : index
    %v19 = arith.index_cast %at18 : index to i64
    %c20 = arith.constant 3 : i64
    %v21 = arith.divsi %v19, %c20 : i64
    %at22 = linalg.index 3 : index
    %v23 = arith.index_cast %at22 : index to i64
    %v24 = arith.divsi %v23, %c20 : i64
    %v25 = arith.cmpi eq, %v21, %v24 : i64
    %v26 = arith.andi %v17, %v25 : i1
    %c27 = arith.constant true
    %v28 = arith.xori %v26, %c27 : i1
    %c29 = arith.constant 0xFF800000 : f32
    %v30 = arith.select %v28, %c29, %in9 : f32
    linalg.yield %v30 : f32
  } -> tensor<?x?x?x?xf32>
  %e32 = tensor.empty(%batch, %windows, %queries, %keys) : tensor<?x?x?x?xf32>
  %p33 = linalg.softmax dimension(3) ins(%t31 : tensor<?x?x?x?xf32>) outs(%e32 : tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32>
  %e34 = tensor.empty(%batch, %windows, %queries) : tensor<?x?x?x2xf32>
  %c35 = arith.constant 0.00000000e+00 : f32
  %f36 = linalg.fill ins(%c35 : f32) outs(%e34 : tensor<?x?x?x2xf32>) -> tensor<?x?x?x2xf32>
  %product37 = linalg.contract indexing_maps = [affine_map<(b, c, i, e, j) -> (b, c, i, j)>, affine_map<(b, c, i, e, j) -> (b, c, j, e)>, affine_map<(b, c, i, e, j) -> (b, c, i, e)>]
      ins(%p33, %v : tensor<?x?x?x?xf32>, tensor<?x?x?x2xf32>) outs(%f36 : tensor<?x?x?x2xf32>) -> tensor<?x?x?x2xf32>
  return %product37 : tensor<?x?x?x2xf32>
}
