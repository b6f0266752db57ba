// RUN: fovea-opt %s --verify-roundtrip

func.func @roles(%ids: tensor<?xi64> {fovea.role = #fovea.role<token_ids>}, %none: i32 {fovea.role = #fovea.role<none>})
    -> (tensor<?xi64> {fovea.role = #fovea.role<next_token>}) attributes {fovea.entry, fovea.kind = #fovea.entry_kind<decode>} {
  return %ids : tensor<?xi64>
}
fovea.program "g" #fovea.signature<[#fovea.port<"i", tensor<?xi64>, role = token_ids>], [#fovea.port<"o", tensor<4xf32>, dims = [], role = logits>], prefill> locals(2) positions(0) steps [] at []
