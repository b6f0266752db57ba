// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry that reads and writes text, made of a graph that takes past keys and values and gives
// present ones (docs/rationale/caches-and-entries.md).
#ifndef FOVEA_FRONTEND_ONNX_GENERATION_H
#define FOVEA_FRONTEND_ONNX_GENERATION_H

#include "dialects/Fovea/FoveaDialect.h"
#include "frontend/Problem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <string>

namespace mlir::fovea::onnx {

/// Adds `prefill` beside `forward` where that is a step of a decoder: it takes token ids
/// [B, S], pasts [B, heads, P, size], which it returns with the new keys and values behind them,
/// perhaps a mask [B, P + S] and positions [B, S], and gives logits [B, S, V]. The entry has
/// caches in place of the pasts, attends to all that they hold, and counts positions from there.
/// Where there are pasts but something else does not fit, a note says what. True if they were
/// added.
bool addPrefill(func::FuncOp forward, const std::string &file, ::fovea::Problems &problems);

/// Names of the arguments that are keys and values of what an encoder read, a layer after the
/// other.
using SourceNames = SmallVector<std::string>;

/// The same for the step of a decoder behind an encoder, with encoder_attention_mask [B, T] and
/// keys and values of the encoder [B, heads, T, size], which become caches that are only read. Its
/// name is `prefill`, or `decode` if the graph is for one token. Null after errors.
func::FuncOp addDecoderStep(func::FuncOp forward, const std::string &file,
                            ::fovea::Problems &problems, SourceNames &sources);

/// From [B, heads, T, size], as frameworks hold keys and values, to [B, T, heads, size], and back.
Value swapHeads(ImplicitLocOpBuilder &b, Value value);

} // namespace mlir::fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_GENERATION_H
