// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What entries, their arguments and their results are to those who call them: as the IR says it by
// `fovea.kind` and `fovea.role`, else by the names that frameworks give.
#ifndef FOVEA_DIALECTS_FOVEA_PORTS_H
#define FOVEA_DIALECTS_FOVEA_PORTS_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

EntryKind getEntryKind(func::FuncOp entry);
PortRole getArgumentRole(func::FuncOp entry, unsigned argument);
PortRole getResultRole(func::FuncOp entry, unsigned result);

/// On a module: the names of a classifier's scores, an array of strings, and what makes them
/// probabilities, "softmax", "sigmoid" or "none".
constexpr StringLiteral kLabelsAttr = "fovea.labels";
constexpr StringLiteral kScoreFunctionAttr = "fovea.score_function";
/// On a module: what a picture becomes before an entry takes it, a dictionary of `scale` (f64),
/// `mean` and `deviation` (arrays of f64, one for each channel, at most four), and where they apply
/// `filter` (PIL's name of it) with `resize` (height and width) or `shortest_edge`, and `crop`.
constexpr StringLiteral kImagesAttr = "fovea.images";
/// The filters of `fovea.images`, by PIL's number of each.
constexpr StringLiteral kImageFilters[] = {"nearest", "lanczos", "bilinear",
                                           "bicubic", "box",     "hamming"};
/// On a module that reads sound: how many samples a second are given, an integer.
constexpr StringLiteral kSamplingRateAttr = "fovea.sampling_rate";
/// On a module with an encoder: tokens that no text begins with, array<i64>.
constexpr StringLiteral kBeginSuppressedAttr = "fovea.begin_suppressed_tokens";
/// On a module with an encoder: the tokens between its begin token and a text, one each as
/// `["language", -1, ["en", "de"], array<i64: 50259, 50261>]`: what is chosen ("" for nothing), the
/// token where nobody chooses (-1: the likeliest of those listed), the names of what may be chosen
/// and their tokens.
constexpr StringLiteral kPromptAttr = "fovea.prompt";

/// One of those.
struct PromptToken {
  StringRef name;
  int64_t token;
  ArrayAttr values;
  ArrayRef<int64_t> tokens;
};
/// Nothing if `attr` is no prompt.
std::optional<SmallVector<PromptToken>> readPrompt(Attribute attr);

/// The first entry of that kind, or null.
func::FuncOp findEntry(ModuleOp module, EntryKind kind);

/// The names of the open sizes that are a call's rows and its positions: those of the axes of its
/// token ids, else as frameworks name them.
StringRef getBatchDim(SignatureAttr signature);
StringRef getBatchDim(func::FuncOp entry);
StringRef getSequenceDim(SignatureAttr signature);

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_FOVEA_PORTS_H
