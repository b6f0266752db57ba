// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all operators that are attention have in common: ONNX's own and ONNX Runtime's.
#ifndef FOVEA_FRONTEND_ONNX_ATTENTIONPARTS_H
#define FOVEA_FRONTEND_ONNX_ATTENTIONPARTS_H

#include "frontend/ONNX/Importer.h"

namespace mlir::fovea::onnx {

/// One attention, laid out as `fovea.attention` wants it.
struct AttentionParts {
  Data *query = nullptr; ///< [B, Sq, Hq, D]
  Data *key = nullptr;   ///< [B, Sk, Hk, D]
  Data *value = nullptr; ///< [B, Sk, Hk, Dv]
  double scale = 0;      ///< 0: one over the root of the head size.
  double softcap = 0;    ///< 0: none.
  bool isCausal = false;
  /// Keys before the first query, where they are the same for all rows; null: none.
  Sym past = nullptr;
  /// Integers [B]: keys that count, in each row.
  Data *lengths = nullptr;
  /// Queries are the last of the keys that count; else the first of all.
  bool endsAtLengths = true;
  /// Keys at most this far before and behind the query; negative: all.
  int64_t leftWindow = -1, rightWindow = -1;
  Data *keep = nullptr;  ///< Bools that broadcast to [B, Hq, Sq, Sk].
  Data *bias = nullptr;  ///< Floats that broadcast to [B, Hq, Sq, Sk], added to the scores.
  Data *sinks = nullptr; ///< [Hq]
};

struct AttentionResults {
  Data *output = nullptr;  ///< [B, Sq, Hq, Dv]
  Data *weights = nullptr; ///< [B, Hq, Sq, Sk], if asked for
};

/// Makes `fovea.attention`.
FailureOr<AttentionResults> attend(Importer &im, const AttentionParts &parts, bool wantsWeights);

/// Scores as a tensor [B, Hq, Sq, Sk] for those who want to see them: 0 scaled, 1 capped, 2 with
/// bias and minus infinity where no key may be seen.
FailureOr<Data *> scores(Importer &im, const AttentionParts &parts, int64_t stage);

/// [B, S, H * D] as [B, S, H, D].
FailureOr<Data *> splitHeads(Importer &im, Data &x, int64_t heads);
/// [B, S, H, D] as [B, S, H * D].
FailureOr<Data *> mergeHeads(Importer &im, Data &x);

/// Puts what was before what comes: `part`, [B, S, H, D], grows by `past`, [B, H, P, D] or null.
/// Gives the whole as [B, H, P + S, D].
FailureOr<Data *> joinPast(Importer &im, Data *past, Data *&part);

/// Rows of a table [N, D] of cosines or sines for integer positions; those outside take the
/// nearest.
Data *tableRows(Importer &im, Data &table, Data &positions);

/// Turns pairs of elements of the last axis: `x [B, S, H, D]`, `cosine` and `sine` [B|1, S, R / 2]
/// for the first R elements of each head.
FailureOr<Data *> rotate(Importer &im, Data &x, Data &cosine, Data &sine, bool interleaved);

} // namespace mlir::fovea::onnx

#endif // FOVEA_FRONTEND_ONNX_ATTENTIONPARTS_H
