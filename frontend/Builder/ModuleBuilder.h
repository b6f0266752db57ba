// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the `import` stage of a model description: one module with the weights,
// one layer function for each distinct layer (called once per layer), and the
// entries of docs/rationale/caches-and-entries.md.
#ifndef FOVEA_FRONTEND_BUILDER_MODULEBUILDER_H
#define FOVEA_FRONTEND_BUILDER_MODULEBUILDER_H

#include "frontend/ModelDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fovea {

/// The `import` IR of `model`; loads the dialects it needs. It verifies, because
/// a description is checked by whoever fills it. What it consists of:
///
/// - `fovea.model`, `fovea.weight` with `#fovea.stored` leaves (below
///   `#fovea.transpose` where the source stores [in, out]);
/// - `func` functions and calls. A layer function takes the activations
///   [B,S,H], then the key and the value cache (decoders) or the attention mask
///   i64 [B,S] (encoders), then its weights; it returns the activations and, for
///   decoders, the grown caches. `@layer_decode` is the same for S = 1;
/// - `fovea` ops; `arith.addf` on tensors of one shape for residuals;
///   `tensor.expand_shape` and `collapse_shape` between [B,S,H*D] and [B,S,H,D];
///   `tensor.extract_slice` of the last axis where one projection gives query,
///   key and value; `linalg.broadcast` of position vectors over the batch;
///   `tensor.dim`, `tensor.empty` and `arith.constant` of type index for sizes.
///
/// Locations name the source's modules; a function that several layers share
/// says "layers.*".
OwningOpRef<ModuleOp> buildModule(MLIRContext &context, const ::fovea::ModelDescription &model);

} // namespace mlir::fovea

#endif // FOVEA_FRONTEND_BUILDER_MODULEBUILDER_H
