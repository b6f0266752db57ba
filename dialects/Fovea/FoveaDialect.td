// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_DIALECT_TD
#define FOVEA_DIALECT_TD

include "mlir/IR/OpBase.td"

def FoveaDialect : Dialect {
  let name = "fovea";
  let cppNamespace = "::mlir::fovea";
  let summary = "Transformer graphs: attention, masks, positions, weights, caches";
  let description = [{
    What upstream dialects have no word for. Everything that is not about Transformers is said with `arith`,
    `math`, `linalg`, `tensor`, `scf` and `func`. An op is here only because a pass or a lowering must
    recognise the thing.

    Tensors of activations are `[batch, sequence, ...]` with dynamic batch and sequence. A function with the
    unit attribute `fovea.entry` is what the runtime can call; its arguments and results carry `fovea.name`
    (the source's own name) and, for dynamic sizes, `fovea.dims`, an array of names of which equal ones are
    equal sizes. Names are labels: what an entry does for those who run the model is its `fovea.kind`, for example
    `#fovea.entry_kind<prefill>`, and what its arguments and results are to its caller their `fovea.role`, for example
    `#fovea.role<token_ids>`; where these are not said, names that frameworks give stand for them (`Ports.cpp`).
    `fovea.max_positions` on an entry bounds cache length plus sequence. From the `kernels` stage on `fovea.signature`
    keeps what the entry takes and gives; each kernel's function says by `fovea.computes` what it computes, for people,
    and by `fovea.schedule` the schedule that it was built by. `fovea.target` on the module says for
    which processor schedules were chosen, from the `scheduled` stage on.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral kEntryAttr = "fovea.entry";
    static constexpr ::llvm::StringLiteral kNameAttr = "fovea.name";
    static constexpr ::llvm::StringLiteral kDimsAttr = "fovea.dims";
    static constexpr ::llvm::StringLiteral kKindAttr = "fovea.kind";
    static constexpr ::llvm::StringLiteral kRoleAttr = "fovea.role";
    static constexpr ::llvm::StringLiteral kSignatureAttr = "fovea.signature";
    static constexpr ::llvm::StringLiteral kMaxPositionsAttr = "fovea.max_positions";
    static constexpr ::llvm::StringLiteral kComputesAttr = "fovea.computes";
    static constexpr ::llvm::StringLiteral kScheduleAttr = "fovea.schedule";
    static constexpr ::llvm::StringLiteral kTargetAttr = "fovea.target";
    /// Of a kernel whose code is known, and which has no body: there was a `fovea.fault` in it.
    static constexpr ::llvm::StringLiteral kFaultsAttr = "fovea.faults";
    /// Of a kernel on a device: threads of a block, and bytes of shared memory of a launch.
    static constexpr ::llvm::StringLiteral kThreadsAttr = "fovea.threads";
    static constexpr ::llvm::StringLiteral kSharedBytesAttr = "fovea.shared_bytes";
    /// Of such a kernel: the `#tile.tensor_map` that a launch passes behind its words.
    static constexpr ::llvm::StringLiteral kTensorMapsAttr = "fovea.tensor_maps";
    /// Of such a kernel: any number of blocks does all of its grid, as many as run at once do it best.
    static constexpr ::llvm::StringLiteral kPersistentAttr = "fovea.persistent";

    void registerTypes();
    void registerAttributes();
  }];
}

class FoveaOp<string mnemonic, list<Trait> traits = []> : Op<FoveaDialect, mnemonic, traits>;

#endif // FOVEA_DIALECT_TD
