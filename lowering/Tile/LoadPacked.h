// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single integers of a few bits, wherever they lie in their unit, and entries of tables. Refuses
// nothing: views and formats have been verified.
#ifndef FOVEA_LOWERING_TILE_LOADPACKED_H
#define FOVEA_LOWERING_TILE_LOADPACKED_H

#include "dialects/PackedIntegers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::fovea {

/// The integer of neighbour `k`, an index; `load(word, byte)` gives a byte of one output's words,
/// counted from the unit that begins with k = 0 on.
Value loadPacked(ImplicitLocOpBuilder &b, const PackedIntegers &packed, Value k,
                 function_ref<Value(Value word, Value byte)> load);

/// The table's entry, an i8, of a number below sixteen, or of each of a vector. No memory is read.
Value lookUp(ImplicitLocOpBuilder &b, ArrayRef<int8_t> table, Value number);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_TILE_LOADPACKED_H
