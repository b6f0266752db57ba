// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_PASSES_RAISE_PASSES_TD
#define FOVEA_PASSES_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

class RaisePass<string argument, string operation = ""> : Pass<argument, operation> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::fovea::FoveaDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseViewsPass : RaisePass<"fovea-raise-views"> {
  let summary = "Put what only moves data in normal form, and fold it";
  let description = [{
    Exporters write views in many ways, and the passes behind this one see few of them:

    - a `linalg.generic` that yields one input as it is becomes `linalg.transpose` and `linalg.broadcast`, one whose body
      is a single op on inputs that all are read in place becomes that op on tensors;
    - chains of transposes, of `tensor.expand_shape` and `tensor.collapse_shape`, and of casts become one, or nothing;
    - what gives its input is its input: slices of everything, a concatenation of one part, a broadcast that adds no axis.

    Where it must be known that dynamic sizes are equal, they are followed to where they come from; if that does not show
    it, the op stays.

    ```mlir
    %0 = tensor.empty(%s, %b) : tensor<?x?x8xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(s, b, d) -> (b, s, d)>, affine_map<(s, b, d) -> (s, b, d)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%x : tensor<?x?x8xf32>) outs(%0 : tensor<?x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x?x8xf32>
    // becomes
    %transposed = linalg.transpose ins(%x : tensor<?x?x8xf32>) outs(%0 : tensor<?x?x8xf32>) permutation = [1, 0, 2]
    ```
  }];
  let statistics = [
    Statistic<"numCopies", "num-copies", "generics that only moved data">,
    Statistic<"numOps", "num-ops", "generics that became one op on tensors">,
    Statistic<"numIdentities", "num-identities", "ops that gave their input">];
}

def RaiseLinearPass : RaisePass<"fovea-raise-linear", "::mlir::ModuleOp"> {
  let summary = "Make fovea.linear of products with weights";
  let description = [{
    A contraction (`linalg.contract`, `linalg.matmul` and its like, a `linalg.generic` that sums products) with a weight on
    either side, whatever its indices, is `fovea.linear` with the weight as `[N, K]`: axes that only the weight and the
    result have are N, axes that are summed are K. What the graph did to the weight before (transpose, reshape, slice,
    concatenate, cast) becomes part of its recipe. A sum with a weight over exactly the axes N that follows becomes the
    bias. Views that collapse the other axes around a linear move behind it, where they meet their opposites.

    Refused: a contraction in which the weight shares an axis with both the other operand and the result (a weight for
    each batch), one that sums an axis that not both have, integers, and a result of another element type than the other
    operand's. Such a product stays what it is.

    ```mlir
    %w = fovea.weight_ref @w : tensor<192x320xf32>
    %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x?x320xf32>) -> tensor<?x?x320xf32>
    %y = linalg.contract indexing_maps = [affine_map<(b, s, n, k) -> (b, s, k)>, affine_map<(b, s, n, k) -> (k, n)>,
                                          affine_map<(b, s, n, k) -> (b, s, n)>]
         ins(%x, %w : tensor<?x?x192xf32>, tensor<192x320xf32>) outs(%0 : tensor<?x?x320xf32>) -> tensor<?x?x320xf32>
    // becomes, with fovea.weight @w_0 : tensor<320x192xf32> = #fovea.transpose<...>
    %w = fovea.weight_ref @w_0 : tensor<320x192xf32>
    %y = fovea.linear %x, %w : tensor<?x?x192xf32>, tensor<320x192xf32> -> tensor<?x?x320xf32>
    ```
  }];
  let statistics = [
    Statistic<"numLinears", "num-linears", "products that became linears">,
    Statistic<"numBiases", "num-biases", "sums that became a linear's bias">];
}

#endif // FOVEA_PASSES_RAISE_PASSES_TD
