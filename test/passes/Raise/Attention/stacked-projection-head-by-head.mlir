// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// One projection holds query, key and value of a head side by side, head after head (GPT-NeoX): each is a slice of an axis that
// is split in steps of 24, not a gather.

// CHECK-LABEL: @head_by_head
// CHECK-SAME:    %[[X:.*]]: tensor<?x?x96xf32>
// CHECK:         %[[H:.*]] = tensor.expand_shape %[[X]] {{.*}} into tensor<?x?x4x24xf32>
// CHECK:         %[[Q:.*]] = tensor.extract_slice %[[H]][0, 0, 0, 0] {{.*}} to tensor<?x?x4x8xf32>
// CHECK:         %[[K:.*]] = tensor.extract_slice %[[H]][0, 0, 0, 8] {{.*}} to tensor<?x?x4x8xf32>
// CHECK:         %[[V:.*]] = tensor.extract_slice %[[H]][0, 0, 0, 16] {{.*}} to tensor<?x?x4x8xf32>
// CHECK-NOT:     linalg.generic
// CHECK:         fovea.attention %[[Q]], %[[K]], %[[V]]
#q = affine_map<(b,h,i,j,d) -> (b,i,h,d)>
#k = affine_map<(b,h,i,j,d) -> (b,j,h,d)>
#s = affine_map<(b,h,i,j,d) -> (b,h,i,j)>
#s2 = affine_map<(b,i,h,d,j) -> (b,h,i,j)>
#v = affine_map<(b,i,h,d,j) -> (b,j,h,d)>
#o = affine_map<(b,i,h,d,j) -> (b,i,h,d)>
#id = affine_map<(a,b,c,d) -> (a,b,c,d)>
func.func @head_by_head(%x: tensor<?x?x96xf32> {fovea.name="x", fovea.dims=["batch","sequence"]}) -> (tensor<?x?x4x8xf32> {fovea.name="o", fovea.dims=["batch","sequence"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x96xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x96xf32>
  %e = tensor.empty(%b, %n) : tensor<?x?x4x8xf32>
  %q = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<?x?x4x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %h = linalg.index 2 : index
    %d = linalg.index 3 : index
    %c24 = arith.constant 24 : index
    %step = arith.muli %h, %c24 : index
    %place = arith.addi %step, %d : index
    %element = tensor.extract %x[%i, %j, %place] : tensor<?x?x96xf32>
    linalg.yield %element : f32
  } -> tensor<?x?x4x8xf32>
  %heads = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%b, %n, 4, 24] : tensor<?x?x96xf32> into tensor<?x?x4x24xf32>
  %k = tensor.extract_slice %heads[0, 0, 0, 8] [%b, %n, 4, 8] [1, 1, 1, 1] : tensor<?x?x4x24xf32> to tensor<?x?x4x8xf32>
  %v = tensor.extract_slice %heads[0, 0, 0, 16] [%b, %n, 4, 8] [1, 1, 1, 1] : tensor<?x?x4x24xf32> to tensor<?x?x4x8xf32>
  %es = tensor.empty(%b, %n, %n) : tensor<?x4x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>) outs(%zs : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<?x4x?x?xf32>) outs(%es : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x4x8xf32>) -> tensor<?x?x4x8xf32>
  %o = linalg.contract indexing_maps = [#s2, #v, #o] ins(%p, %v : tensor<?x4x?x?xf32>, tensor<?x?x4x8xf32>) outs(%zo : tensor<?x?x4x8xf32>) -> tensor<?x?x4x8xf32>
  return %o : tensor<?x?x4x8xf32>
}
