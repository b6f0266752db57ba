// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the files beside a graph say of it: how text becomes its tokens, what its scores are called,
// and what a picture becomes before it is given.
#ifndef FOVEA_FRONTEND_ONNX_NEIGHBOURS_H
#define FOVEA_FRONTEND_ONNX_NEIGHBOURS_H

#include "frontend/Problem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fovea::onnx {

/// Of a graph with an entry that writes texts, whose logits [B, S, V] `forward` has: the tokenizer,
/// and what config.json and generation_config.json say of tokens.
void readWriter(ModuleOp module, func::FuncOp forward, bool isTranslator,
                ::fovea::Problems &problems);

/// Of any other graph: the tokenizer if it takes token ids, labels of logits [B, C] or [B, S, C]
/// from config.json where there are C of them, and settings of pictures if it takes pixel_values
/// [B, channels, height, width]. What is there but not understood becomes a note: the graph does
/// not need it.
void readScorer(ModuleOp module, func::FuncOp forward, ::fovea::Problems &problems);

} // namespace mlir::fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_NEIGHBOURS_H
