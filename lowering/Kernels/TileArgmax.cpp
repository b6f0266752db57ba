// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product's argmax: blocks of columns find the greatest of their own while the tile is at hand,
// and a phase behind joins what they found. Refuses nothing; `getTileForm` says what comes here.
#include "lowering/Kernels/TileBuilder.h"
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;

/// A number for each row and block of columns: what the blocks found.
void TileBuilder::addArgmaxTemporaries(const Strip &strip) {
  Value tokens = k.outputs[argmaxOutput];
  auto type = cast<MemRefType>(tokens.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(strip.blocks);
  SmallVector<Value> sizes = k.openSizes(tokens, type.getShape());
  Type number = getAccumulationType(argmax.getInput().getType());
  greatest = k.addTemporary(MemRefType::get(shape, number), sizes);
  columnsOfGreatest = k.addTemporary(MemRefType::get(shape, k.getI32Type()), sizes);
}

/// The greatest of each row in a block of columns and the first column that holds it; NaN and -1 if
/// there is a NaN. Columns are counted in floats, for which `visitArgmax` vouches: the first of
/// several is the greatest of `-column`, and 1, for a NaN, is more than all.
void TileBuilder::emitGreatest(const Strip &strip, Value number, Value base) {
  Type type = getAccumulationType(argmax.getInput().getType());
  TileType whole = tileType(tileRows, strip.width, type), one = tileType(tileRows, 1, type);
  auto least = [&] { return k.real(type, -std::numeric_limits<double>::infinity()); };
  Value x = castTo(tile(argmax.getInput(), {base, 0, strip.width}), type);
  Value columns = tile::IotaOp::create(k, whole.withElementType(k.getI32Type()), base, 1);
  // Columns that are not there are never the first: each block has one that is.
  if (strip.columns % strip.width != 0)
    x = map(whole, {x, columns}, [&](ValueRange e) {
      return k.select(k.less(e[1], k.integer(k.getI32Type(), strip.columns)), e[0], least());
    });
  Value most = reduce(tile::ReduceKind::Maximum, x); // of the numbers
  Value ranks = map(whole, {x, broadcast(most, tileRows, strip.width), columns}, [&](ValueRange e) {
    Value column = arith::SIToFPOp::create(k, type, e[2]);
    Value isNaN = arith::CmpFOp::create(k, arith::CmpFPredicate::UNO, e[0], e[0]);
    Value isMost = arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, e[0], e[1]);
    Value rank = k.select(isMost, k.sub(k.real(type, 0), column), least());
    return k.select(isNaN, k.real(type, 1), rank);
  });
  Value first = reduce(tile::ReduceKind::Maximum, ranks);
  auto isNaN = [&](Value rank) { return k.less(k.real(type, 0), rank); };
  Value found = map(one, {most, first}, [&](ValueRange e) {
    Value none = k.real(type, std::numeric_limits<double>::quiet_NaN());
    return k.select(isNaN(e[1]), none, e[0]);
  });
  Value column = map(one.withElementType(k.getI32Type()), first, [&](ValueRange e) -> Value {
    return arith::FPToSIOp::create(k, k.getI32Type(), k.sub(k.real(type, 0), e[0])); // -1 for NaN
  });
  storeRows(found, k.temporary(greatest), number);
  storeRows(column, k.temporary(columnsOfGreatest), number);
}

/// Of the blocks' greatest the first, as `fovea.argmax` has it.
void TileBuilder::emitArgmax() {
  k.finishingPhase("argmax");
  Value tokens = k.outputs[argmaxOutput], found = k.temporary(greatest);
  tile::KernelOp::create(k, k.sizes(tokens), [&](OpBuilder &inner, Location, ValueRange row) {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    auto at = [&](Value block) {
      SmallVector<Value> indices(row);
      indices.push_back(block);
      return indices;
    };
    Value first = k.index(0);
    SmallVector<Value> best = k.loopCarried(
        k.index(1), k.size(found, row.size()), {k.load(found, at(first)), first},
        [&](Value block, ValueRange carried) -> SmallVector<Value> {
          Value next = k.load(found, at(block));
          Value better = isGreater(k, next, carried[0]);
          return {k.select(better, next, carried[0]), k.select(better, block, carried[1])};
        });
    Value column = k.load(k.temporary(columnsOfGreatest), at(best[1]));
    k.storeTo(tokens, row, arith::ExtSIOp::create(k, k.getI64Type(), column));
  });
}
