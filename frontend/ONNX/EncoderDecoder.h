// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An encoder-decoder that an exporter wrote as three files, as optimum does
// (docs/rationale/caches-and-entries.md).
#ifndef FOVEA_FRONTEND_ONNX_ENCODERDECODER_H
#define FOVEA_FRONTEND_ONNX_ENCODERDECODER_H

#include "dialects/Fovea/FoveaDialect.h"
#include "frontend/Problem.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::fovea::onnx {

/// One of the files: its path, for messages, and its module with the entry `@forward`.
struct Part {
  std::string path;
  OwningOpRef<ModuleOp> module;
};

/// Makes one module of three. `encoder` takes input_ids and attention_mask [B, T] and gives states
/// [B, T, H]. `first` takes those as encoder_hidden_states and gives, among others, a decoder's
/// keys and values of them [B, heads, T, size], as present.*; `next` takes these and its own as
/// pasts. Entries: `encode`, and `prefill` or, where `next` is for one token, `decode`, both with
/// caches. Null after errors.
OwningOpRef<ModuleOp> joinParts(Part encoder, Part first, Part next, ::fovea::Problems &problems);

} // namespace mlir::fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_ENCODERDECODER_H
