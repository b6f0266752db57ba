// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights that no file stores: tables of a formula, which stored tensors of a file without a name
// are. Tables keep f32 whatever linears multiply.
#ifndef FOVEA_DIALECTS_FOVEA_TABLES_H
#define FOVEA_DIALECTS_FOVEA_TABLES_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

/// Whether a stored tensor is a table: `#fovea.stored<"", "hann_dft", tensor<402x400xf32>>`. The
/// name is the formula's (weights/Tables.h), the sizes are the type's.
inline bool isTable(StoredAttr stored) { return stored.getFile().empty(); }

/// Whether a weight is made of a table. Its rounding is none of what was asked for with a type of
/// weights: what is computed from it has no share in a model's training, and few rows.
bool isTable(WeightOp weight);

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_FOVEA_TABLES_H
