// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads into buffers, gathers and stores: rows as they lie, squares of vectors turned, or elements
// one by one; under masks at the edges.
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

void TileLowering::forWholeOrPart(Value limit, const TileLayout &layout,
                                  function_ref<void(bool)> body) {
  if (!limit)
    return body(true);
  b.when(
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, limit, b.index(layout.inner)),
      [&] { body(true); }, [&] { body(false); });
}

bool TileLowering::walksRows(LoadOp load) {
  auto loop = load->getParentOfType<scf::ForOp>();
  return loop && load.getRow() == loop.getInductionVar() &&
         getConstant(loop.getStep()) == typeOf(load).getRows();
}

void TileLowering::prefetchRows(LoadOp load, Value place, int64_t ahead) {
  if (!walksRows(load))
    return;
  const ViewMemory &view = viewOf(load.getView());
  Value next = b.add(place, b.mul(view.stride[0], std::min(ahead, typeOf(load).getRows())));
  b.prefetch(view.flat, next, /*locality=*/2);
}

Scratch TileLowering::loadToScratch(LoadOp load, int64_t axis) {
  const ViewMemory view = viewOf(load.getView());
  TileType type = typeOf(load);
  TileLayout layout = layoutOf(load);
  if (layout.axis != axis)
    layout = layout.turned(lanes);
  Type element = type.getElementType();
  Scratch scratch{allocate(element, layout), layout};
  Value validOuter = validAlong(load, 1 - axis), validInner = validAlong(load, axis);
  Value outerEnd = validOuter ? validOuter : b.index(layout.outer);
  Value innerEnd = validInner ? validInner : b.index(layout.inner);
  Value first[2] = {load.getRow(), load.getColumn()};
  auto placeOf = [&](Value outer, Value inner) { return view.place(b, first, axis, outer, inner); };
  bool bits = element.isInteger(1);
  if (view.isUnit(axis) && !bits) {
    // Lanes as they lie.
    auto rows = [&](bool whole) {
      forEachVector(layout, outerEnd, [&](Value outer, Value inner) {
        Value place = placeOf(outer, inner), loaded;
        std::optional<int64_t> at = getConstant(inner);
        if (whole && at && *at + lanes <= layout.inner)
          loaded = b.load(element, view.flat, place, lanes);
        else
          loaded =
              b.loadMasked(element, view.flat, place, b.lanesBelow(b.sub(innerEnd, inner), lanes));
        write(scratch, outer, inner, loaded);
      });
    };
    forWholeOrPart(validInner, layout, rows);
    return scratch;
  }
  if (view.isUnit(1 - axis) && !bits && element.getIntOrFloatBitWidth() <= 32) {
    // Lanes are rows of memory: squares of vectors are turned.
    b.loop(b.index(0), b.index(layout.pitch), lanes, [&](Value inner) {
      b.loop(b.index(0), b.index(llvm::alignTo(layout.outer, lanes)), lanes, [&](Value outer) {
        Value mask;
        if (validOuter || layout.outer % lanes != 0)
          mask = b.lanesBelow(b.sub(outerEnd, outer), lanes);
        SmallVector<Value> rows;
        for (int64_t i = 0; i < lanes; ++i) {
          Value last = b.maximum(b.sub(innerEnd, b.index(1)), b.index(0));
          Value place = placeOf(outer, b.minimum(b.add(inner, i), last));
          rows.push_back(mask ? b.loadMasked(element, view.flat, place, mask)
                              : b.load(element, view.flat, place, lanes));
          if (axis == 0)
            prefetchRows(load, place, type.getRows());
        }
        rows = b.transpose(rows);
        for (int64_t i = 0; i < lanes; ++i) {
          // Vectors past the last row would fall into the next buffer.
          if (layout.outer % lanes == 0) {
            write(scratch, b.add(outer, i), inner, rows[i]);
            continue;
          }
          Value place = b.add(outer, i);
          b.when(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, b.index(layout.outer)),
                 [&] { write(scratch, place, inner, rows[i]); });
        }
      });
    });
    return scratch;
  }
  clearUnlessWhole(scratch, element, innerEnd);
  b.loop(b.index(0), outerEnd, 1, [&](Value outer) {
    b.loop(b.index(0), innerEnd, 1, [&](Value inner) {
      Value value = memref::LoadOp::create(b, view.flat, placeOf(outer, inner));
      value = toStorage(value);
      memref::StoreOp::create(b, value, scratch.memory, b.add(b.mul(outer, layout.pitch), inner));
    });
  });
  return scratch;
}

LogicalResult TileLowering::lowerStore(StoreOp store) {
  const ViewMemory view = viewOf(store.getView());
  Value tile = store.getTile();
  TileLayout layout = layoutOf(tile);
  int64_t axis = layout.axis;
  Value first[2] = {store.getRow(), store.getColumn()};
  Type element = typeOf(tile).getElementType();
  auto inside = [&](int64_t a) { return view.inside(b, first[a], typeOf(tile).getSize(a), a); };
  Value limitOuter = inside(1 - axis), limitInner = inside(axis);
  Value outerEnd = limitOuter ? limitOuter : b.index(layout.outer);
  Value innerEnd = limitInner ? limitInner : b.index(layout.inner);
  if (Value known = validAlong(tile, 1 - axis))
    outerEnd = b.minimum(outerEnd, known);
  auto placeOf = [&](Value outer, Value inner) { return view.place(b, first, axis, outer, inner); };
  bool bits = element.isInteger(1);
  if (view.isUnit(axis) && !bits) {
    auto rows = [&](bool whole) {
      forEachVector(
          layout, outerEnd,
          [&](Value outer, Value inner) {
            Value vector = readVector(tile, axis, outer, inner);
            Value place = placeOf(outer, inner);
            std::optional<int64_t> at = getConstant(inner);
            if (whole && (layout.inner % lanes == 0 || (at && *at + lanes <= layout.inner)))
              b.store(vector, view.flat, place);
            else
              b.storeMasked(vector, view.flat, place, b.lanesBelow(b.sub(innerEnd, inner), lanes));
          },
          isa_and_present<MapOp>(tile.getDefiningOp()) ? 1 : 4);
    };
    forWholeOrPart(limitInner, layout, rows);
    return success();
  }
  Scratch scratch = materialize(tile);
  if (view.isUnit(1 - axis) && !bits && element.getIntOrFloatBitWidth() <= 32 && layout.inner > 1) {
    b.loop(b.index(0), innerEnd, lanes, [&](Value inner) {
      b.loop(b.index(0), outerEnd, lanes, [&](Value outer) {
        SmallVector<Value> rows;
        for (int64_t i = 0; i < lanes; ++i)
          rows.push_back(readVector(tile, axis, b.add(outer, i), inner));
        rows = b.transpose(rows);
        Value mask;
        if (limitOuter || layout.outer % lanes != 0 || validAlong(tile, 1 - axis))
          mask = b.lanesBelow(b.sub(outerEnd, outer), lanes);
        auto stores = [&](bool whole) {
          for (int64_t i = 0; i < lanes; ++i) {
            Value at = b.add(inner, i);
            auto put = [&] {
              Value place = placeOf(outer, at);
              if (mask)
                b.storeMasked(rows[i], view.flat, place, mask);
              else
                b.store(rows[i], view.flat, place);
            };
            if (whole)
              put();
            else
              b.when(arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, innerEnd), put);
          }
        };
        if (!limitInner && layout.inner % lanes == 0)
          stores(true);
        else
          b.when(
              arith::CmpIOp::create(b, arith::CmpIPredicate::sle, b.add(inner, lanes), innerEnd),
              [&] { stores(true); }, [&] { stores(false); });
      });
    });
    return success();
  }
  b.loop(b.index(0), outerEnd, 1, [&](Value outer) {
    b.loop(b.index(0), innerEnd, 1, [&](Value inner) {
      Value at = b.add(b.mul(outer, layout.pitch), inner);
      Value value = readScratch(scratch, element, at, 1);
      memref::StoreOp::create(b, value, view.flat, placeOf(outer, inner));
    });
  });
  return success();
}

void TileLowering::lowerGather(GatherOp gather) {
  const ViewMemory view = viewOf(gather.getView());
  Scratch ids = materialize(gather.getRows());
  TileLayout layout = layoutOf(gather);
  Type element = typeOf(gather).getElementType();
  Scratch scratch = resultScratch(gather, std::nullopt);
  int64_t columns = typeOf(gather).getColumns();
  Value rows = endAlong(gather, 0);
  std::optional<int64_t> column = getConstant(gather.getColumn()),
                         extent = getConstant(view.extent[1]);
  bool whole = layout.axis == 1 && view.isUnit(1) && column && extent &&
               *column + layout.pitch <= *extent && !element.isInteger(1);
  Value end = b.minimum(b.sub(view.extent[1], gather.getColumn()), b.index(columns));
  if (!whole)
    clear(scratch, element, b.index(0));
  b.loop(b.index(0), rows, 1, [&](Value r) {
    Value id =
        arith::IndexCastOp::create(b, b.getIndexType(), memref::LoadOp::create(b, ids.memory, r));
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, id, view.extent[0]);
    id = arith::SelectOp::create(b, inside, id, b.index(0));
    if (whole) {
      b.loop(b.index(0), b.index(layout.pitch), lanes, [&](Value c) {
        Value place = view.place(b, id, b.add(gather.getColumn(), c));
        write(scratch, r, c, b.load(element, view.flat, place, lanes));
      });
      return;
    }
    b.loop(b.index(0), end, 1, [&](Value c) {
      Value place = view.place(b, id, b.add(gather.getColumn(), c));
      Value value = memref::LoadOp::create(b, view.flat, place);
      value = toStorage(value);
      Value at =
          layout.axis == 1 ? b.add(b.mul(r, layout.pitch), c) : b.add(b.mul(c, layout.pitch), r);
      memref::StoreOp::create(b, value, scratch.memory, at);
    });
  });
}
