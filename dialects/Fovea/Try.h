// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hands a result or a failure on: `TRY(auto *y, im.matmul(a, b));`.
#ifndef FOVEA_DIALECTS_FOVEA_TRY_H
#define FOVEA_DIALECTS_FOVEA_TRY_H

#include "llvm/Support/LogicalResult.h"

#define FOVEA_TRY_JOIN2(a, b) a##b
#define FOVEA_TRY_JOIN(a, b) FOVEA_TRY_JOIN2(a, b)
#define TRY(variable, expression)                                                                  \
  auto FOVEA_TRY_JOIN(result, __LINE__) = expression;                                              \
  if (failed(FOVEA_TRY_JOIN(result, __LINE__)))                                                    \
    return failure();                                                                              \
  variable = std::move(*FOVEA_TRY_JOIN(result, __LINE__))

#endif // FOVEA_DIALECTS_FOVEA_TRY_H
