// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of the target and of the schedules of groups.
#include "dialects/ElementTypes.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea;

using EmitError = function_ref<InFlightDiagnostic()>;

static LogicalResult verifyPositive(EmitError emitError, StringRef name, int64_t size) {
  if (size > 0)
    return success();
  return emitError() << "expects positive " << name << ", got " << size;
}

/// A pair of sizes.
static LogicalResult verifyPair(EmitError emitError, StringRef name, ArrayRef<int64_t> sizes) {
  if (sizes.size() == 2 && sizes[0] > 0 && sizes[1] > 0)
    return success();
  return emitError() << "expects two positive sizes as " << name << ", got [" << sizes << "]";
}

static LogicalResult verifyMultiple(EmitError emitError, StringRef name, int64_t size,
                                    StringRef ofName, int64_t of) {
  if (size % of == 0)
    return success();
  return emitError() << "expects " << name << " to be a multiple of " << ofName << ", got " << size
                     << " and " << of;
}

LogicalResult TargetAttr::verify(EmitError emitError, StringRef level, int64_t lanes,
                                 int64_t registers) {
  if (level.empty()) // C1
    return emitError() << "expects the name of a level, got none";
  if (failed(verifyPositive(emitError, "lanes", lanes)) ||
      failed(verifyPositive(emitError, "registers", registers))) // C2
    return failure();
  if (!llvm::isPowerOf2_64(lanes)) // C2
    return emitError() << "expects lanes that are a power of two, got " << lanes;
  return success();
}

LogicalResult LoopScheduleAttr::verify(EmitError emitError, int64_t parallel) {
  if (parallel < 0) // C1
    return emitError() << "expects a number of parallel loops, got " << parallel;
  return success();
}

LogicalResult ContractionScheduleAttr::verify(EmitError emitError, ArrayRef<int64_t> tile,
                                              int64_t chunk, ArrayRef<int64_t> block,
                                              ContractionAxis, Type operands) {
  if (operands && !isHalf(operands) && !operands.isInteger(8)) // C4
    return emitError() << "expects operands of i8, f16 or bf16, got " << operands;
  if (failed(verifyPair(emitError, "tile", tile)) ||
      failed(verifyPair(emitError, "block", block)) || // C1
      failed(verifyMultiple(emitError, "the tile's rows", tile[0], "the block's", block[0])) ||
      failed(verifyMultiple(emitError, "the tile's columns", tile[1], "the block's",
                            block[1])) || // C2
      failed(verifyPositive(emitError, "chunk", chunk)))
    return failure();
  return verifyMultiple(emitError, "the chunk", chunk, "the tile's rows", tile[0]); // C3
}

LogicalResult AttentionScheduleAttr::verify(EmitError emitError, int64_t queries, int64_t keys,
                                            AttentionAxis axis, ArrayRef<int64_t> scores,
                                            ArrayRef<int64_t> values, ArrayRef<int64_t> split,
                                            Type operands) {
  if (failed(verifyPositive(emitError, "queries", queries)) ||
      failed(verifyPositive(emitError, "keys", keys)) ||
      failed(verifyPair(emitError, "scores", scores)) ||
      failed(verifyPair(emitError, "values", values)) ||
      (!split.empty() && failed(verifyPair(emitError, "split", split)))) // C1
    return failure();
  bool byHead = axis == AttentionAxis::Heads; // keys are lanes, else queries
  if (failed(verifyMultiple(emitError, "queries", queries, "the rows of scores",
                            scores[byHead ? 0 : 1])) ||
      failed(verifyMultiple(emitError, "queries", queries, "the rows of values",
                            values[byHead ? 0 : 1]))) // C2
    return failure();
  if (failed(verifyMultiple(emitError, "keys", keys, "the keys of scores",
                            scores[byHead ? 1 : 0]))) // C3
    return failure();
  if (!split.empty() &&
      failed(verifyMultiple(emitError, "the keys of split", split[0], "keys", keys))) // C4
    return failure();
  if (operands && !isHalf(operands)) // C5
    return emitError() << "expects operands of f16 or bf16, got " << operands;
  return success();
}

LogicalResult ByRowsScheduleAttr::verify(EmitError emitError, int64_t most, Attribute few,
                                         Attribute) {
  if (isa<ByRowsScheduleAttr>(few)) // C2
    return emitError() << "expects one schedule for few rows, got " << few;
  return verifyPositive(emitError, "most", most); // C1
}

LogicalResult RowScheduleAttr::verify(EmitError emitError, int64_t rows) {
  return verifyPositive(emitError, "rows", rows); // C1
}

LogicalResult ElementScheduleAttr::verify(EmitError emitError, int64_t count) {
  return verifyPositive(emitError, "count", count); // C1
}
