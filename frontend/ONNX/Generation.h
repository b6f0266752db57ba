// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry that reads and writes text, made of a graph that takes past keys and values and gives
// present ones (docs/rationale/caches-and-entries.md).
#ifndef FOVEA_FRONTEND_ONNX_GENERATION_H
#define FOVEA_FRONTEND_ONNX_GENERATION_H

#include "dialects/Fovea/FoveaDialect.h"
#include "frontend/Problem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fovea::onnx {

/// Adds `prefill` beside `forward` where that is a step of a decoder: it takes token ids
/// [B, S], pasts [B, heads, P, size], which it returns with the new keys and values behind them,
/// perhaps a mask [B, P + S] and positions [B, S], and gives logits [B, S, V]. The entry has
/// caches in place of the pasts, attends to all that they hold, and counts positions from there.
/// Where there are pasts but something else does not fit, a note says what. True if they were
/// added.
bool addPrefill(func::FuncOp forward, const std::string &file, ::fovea::Problems &problems);

/// Adds what config.json, generation_config.json and a tokenizer in the model's folder say, where
/// they are there: of what tokens the entry made above writes texts.
void readNeighbours(ModelOp model, func::FuncOp forward, ::fovea::Problems &problems);

} // namespace mlir::fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_GENERATION_H
