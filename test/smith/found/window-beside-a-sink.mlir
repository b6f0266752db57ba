// RUN: fovea-smith %s

// A window and a sink: sums over keys and over one more must take the same keys.
//
// choices: depth=2 static=1 batch-size=1 queries=1 keys=1 mask0=5 sink=1
// fused: 1
// masks: causal? window
// size: keys 1 5
// size: queries 1 6
// input: q normal 1
// input: k normal 1
// input: v normal 1
// input: sink normal 1

func.func @forward(%q: tensor<?x2xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x2xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %sink: tensor<f32> {fovea.name = "sink"})
    -> (tensor<?x2xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %queries = tensor.dim %q, %c0 : tensor<?x2xf32>
  %c1 = arith.constant 0 : index
  %keys = tensor.dim %k, %c1 : tensor<?x2xf32>
  %e2 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %c3 = arith.constant 0.00000000e+00 : f32
  %f4 = linalg.fill ins(%c3 : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %product5 = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x2xf32>, tensor<?x2xf32>) outs(%f4 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %e6 = tensor.empty(%queries) : tensor<?x1xf32>
  %t9 = linalg.generic {indexing_maps = [affine_map<(i, u) -> ()>, affine_map<(i, u) -> (i, u)>], iterator_types = ["parallel", "parallel"]}
      ins(%sink : tensor<f32>) outs(%e6 : tensor<?x1xf32>) {
  ^bb0(%in7: f32, %acc8: f32):
    linalg.yield %in7 : f32
  } -> tensor<?x1xf32>
  %e10 = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %t30 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%product5 : tensor<?x?xf32>) outs(%e10 : tensor<?x?xf32>) {
  ^bb0(%in11: f32, %acc12: f32):
    %at13 = linalg.index 0 : index
    %v14 = arith.index_cast %at13 : index to i64
    %at15 = linalg.index 1 : index
    %v16 = arith.index_cast %at15 : index to i64
    %c17 = arith.constant 4 : i64
    %v18 = arith.addi %v16, %c17 : i64
    %v19 = arith.cmpi sle, %v14, %v18 : i64
    %c20 = arith.constant 2 : i64
    %v21 = arith.addi %v14, %c20 : i64
    %v22 = arith.subi %v21, %v16 : i64
    %c23 = arith.constant 0 : i64
    %v24 = arith.cmpi sge, %v22, %c23 : i64
    %v25 = arith.andi %v19, %v24 : i1
    %c26 = arith.constant true
    %v27 = arith.xori %v25, %c26 : i1
    %c28 = arith.constant 0xFF800000 : f32
    %v29 = arith.select %v27, %c28, %in11 : f32
    linalg.yield %v29 : f32
  } -> tensor<?x?xf32>
  %c31 = arith.constant 1 : index
  %size32 = arith.addi %keys, %c31 : index
  %both33 = tensor.concat dim(1) %t30, %t9 : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
  %e34 = tensor.empty(%queries, %size32) : tensor<?x?xf32>
  %p35 = linalg.softmax dimension(1) ins(%both33 : tensor<?x?xf32>) outs(%e34 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %part36 = tensor.extract_slice %p35[0, 0] [%queries, %keys] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %e37 = tensor.empty(%queries) : tensor<?x2xf32>
  %c38 = arith.constant 0.00000000e+00 : f32
  %f39 = linalg.fill ins(%c38 : f32) outs(%e37 : tensor<?x2xf32>) -> tensor<?x2xf32>
  %product40 = linalg.contract indexing_maps = [affine_map<(i, e, j) -> (i, j)>, affine_map<(i, e, j) -> (j, e)>, affine_map<(i, e, j) -> (i, e)>]
      ins(%part36, %v : tensor<?x?xf32>, tensor<?x2xf32>) outs(%f39 : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %product40 : tensor<?x2xf32>
}
