// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views, loads, gathers and stores: between a thread's registers and memory. No thread touches what
// is outside of a view or past a tile.
#include "lowering/GPU/ThreadLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// The view op itself is copied for `describeView` and erased at the end.
LogicalResult ThreadLowering::lowerView(Operation *op) {
  Operation *copy = b.clone(*op, mapping);
  copiedViews.push_back(copy);
  views[op->getResult(0)] = describeView(b, copy);
  return success();
}

//===-- Places in memory ---------------------------------------------------------------------===//

Value ThreadLowering::isAllInside(const ViewMemory &view, Value row, Value column, int64_t rows,
                                  int64_t columns) {
  auto along = [&](Value first, int64_t size, int64_t axis) -> Value {
    std::optional<int64_t> begin = getConstant(first), end = getConstant(view.extent[axis]);
    if (begin && end && *begin >= 0 && *begin + size <= *end)
      return {};
    Value low = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sge, first, b.index(0));
    Value high = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, b.add(first, size),
                                               view.extent[axis]);
    return both(low, high);
  };
  return both(along(row, rows, 0), along(column, columns, 1));
}

Value ThreadLowering::address(const ViewMemory &view, Value row, Value column, int64_t moreRows,
                              int64_t moreColumns) {
  if (view.panel == 0) {
    Value at = view.place(b, row, column);
    at = b.add(at, b.mul(view.stride[0], moreRows));
    return b.add(at, b.mul(view.stride[1], moreColumns));
  }
  // Whole panels and whole pairs are taken out of the divisions.
  int64_t pair = view.interleave;
  Value at = view.place(b, b.add(row, moreRows % view.panel), b.add(column, moreColumns % pair));
  at = b.add(at, b.mul(view.panelStride, moreRows / view.panel));
  return b.add(at, moreColumns / pair * view.panel * pair);
}

std::function<Value(int64_t)> ThreadLowering::insideOf(const ViewMemory &view,
                                                       const TileRegisters &registers, Value row,
                                                       Value column) {
  SmallVector<Value> inside[2];
  for (int64_t axis : {0, 1})
    for (int64_t i = 0; i < registers.count(axis); ++i)
      inside[axis].push_back(
          isBelow(b.add(axis == 0 ? row : column, registers.place(axis, i)), view.extent[axis]));
  return [this, registers, rows = inside[0], columns = inside[1]](int64_t i) {
    return both(rows[registers.along(0, i)], columns[registers.along(1, i)]);
  };
}

Value ThreadLowering::loadAt(const ViewMemory &view, Value at) { return view.load(b, at); }

//===-- Runs ---------------------------------------------------------------------------------===//

RegisterRuns ThreadLowering::findRuns(TileType type, const ViewMemory &view, Value row,
                                      Value column) {
  int64_t axis = view.isUnit(1) || view.interleave > 1 ? 1 : 0;
  bool several = type.getLayout().getRegisters(1 - axis) > 1;
  return RegisterRuns(type, axis, [&](int64_t width) {
    return isAligned(view, row, column, axis, several, width);
  });
}

bool ThreadLowering::endsWithRuns(const RegisterRuns &runs, const ViewMemory &view, Value row,
                                  Value column) {
  return isMultipleOf(runs.axis == 0 ? row : column, runs.width) &&
         isMultipleOf(view.extent[runs.axis], runs.width);
}

Value ThreadLowering::loadRun(const ViewMemory &view, Value at, int64_t width) {
  if (width == 1)
    return loadAt(view, at);
  if (view.isOfNibbles()) {
    auto type = VectorType::get(width / 2, b.getI8Type());
    Value bytes = b.load(b.getI8Type(), view.flat, b.div(at, 2), width / 2, getBytes(type));
    return vector::BitCastOp::create(b, VectorType::get(width, view.type), bytes);
  }
  return b.load(view.type, view.flat, at, width, getBytes(VectorType::get(width, view.type)));
}

void ThreadLowering::storeRun(Value value, const ViewMemory &view, Value at) {
  if (auto type = dyn_cast<VectorType>(value.getType()))
    b.store(value, view.flat, at, getBytes(type));
  else
    memref::StoreOp::create(b, value, view.flat, at);
}

/// One element, or a vector of that many.
static Type getRunType(Type element, int64_t width) {
  return width == 1 ? element : VectorType::get(width, element);
}

Value ThreadLowering::toVector(ArrayRef<Value> values) {
  if (values.size() == 1)
    return values.front();
  auto type = VectorType::get(values.size(), values.front().getType());
  return vector::FromElementsOp::create(b, type, values);
}

SmallVector<Value> ThreadLowering::toElements(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return {value};
  SmallVector<Value> values;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    values.push_back(vector::ExtractOp::create(b, value, i));
  return values;
}

SmallVector<Value> ThreadLowering::loadRuns(TileType type, const RegisterRuns &runs,
                                            function_ref<Value(int64_t, int64_t)> load) {
  TileRegisters registers(type);
  SmallVector<Value> values(registers.count());
  for (int64_t i = 0; i < registers.count(); ++i) {
    SmallVector<int64_t> run = runs.from(registers, i);
    SmallVector<Value> loaded;
    if (registers.surelyOutside(i))
      loaded.assign(run.size(), b.zero(type.getElementType()));
    else if (!run.empty())
      loaded = toElements(load(i, run.size()));
    for (auto [number, value] : llvm::zip(run, loaded))
      values[number] = value;
  }
  return values;
}

void ThreadLowering::storeRuns(TileType type, ArrayRef<Value> values, const RegisterRuns &runs,
                               function_ref<void(int64_t, function_ref<Value()>)> store) {
  TileRegisters registers(type);
  for (int64_t i = 0; i < registers.count(); ++i) {
    SmallVector<int64_t> run = runs.from(registers, i);
    if (!run.empty() && !registers.surelyOutside(i))
      store(i, [&] {
        return toVector(llvm::map_to_vector(run, [&](int64_t number) { return values[number]; }));
      });
  }
}

//===-- Loads and stores ---------------------------------------------------------------------===//

LogicalResult ThreadLowering::lower(LoadOp op) {
  TileType type = op.getTile().getType();
  if (isReadInPlace(op.getTile()))
    return success();
  FailureOr<const ViewMemory *> found = getView(op, op.getView());
  if (failed(found) || failed(checkLayout(op, type)))
    return failure();
  const ViewMemory view = **found;
  TileRegisters registers(type);
  LayoutAttr layout = type.getLayout();
  Value row = get(op.getRow()), column = get(op.getColumn());
  Value first = b.add(row, part(layout, 0)), firstColumn = b.add(column, part(layout, 1));
  SmallVector<Type> types(registers.count(), type.getElementType());
  RegisterRuns runs = findRuns(type, view, first, firstColumn);
  auto loadAll = [&](const RegisterRuns &by, function_ref<Value(int64_t)> condition) {
    return loadRuns(type, by, [&](int64_t i, int64_t width) {
      return where(condition(i), getRunType(type.getElementType(), width),
                   [&] {
                     Value at = address(view, first, firstColumn,
                                        registers.place(0, registers.along(0, i)),
                                        registers.place(1, registers.along(1, i)));
                     return SmallVector<Value>{loadRun(view, at, width)};
                   })
          .front();
    });
  };
  Value all = isAllInside(view, row, column, type.getRows(), type.getColumns());
  bool whole = endsWithRuns(runs, view, first, firstColumn);
  define(op.getTile(),
         where(
             all, types,
             [&] { return loadAll(runs, [&](int64_t i) { return isInside(type, registers, i); }); },
             [&] {
               return loadAll(whole ? runs : RegisterRuns(),
                              insideOf(view, registers, first, firstColumn));
             }));
  return success();
}

LogicalResult ThreadLowering::lower(GatherOp op) {
  TileType type = op.getTile().getType(), rowsType = op.getRows().getType();
  FailureOr<const ViewMemory *> found = getView(op, op.getView());
  if (failed(found) || failed(checkLayout(op, type)) || failed(checkLayout(op, rowsType)))
    return failure();
  LayoutAttr layout = type.getLayout();
  if (rowsType.getLayout() != layout.dropAxis(1))
    return op.emitOpError("expects row numbers in the layout of the result's rows, ")
           << layout.dropAxis(1) << ", got " << rowsType.getLayout();
  const ViewMemory view = **found;
  TileRegisters registers(type);
  SmallVector<Value> numbers(getTile(op.getRows()));
  SmallVector<Value> rows, columnInside;
  for (Value number : numbers) {
    Value row = number.getType().isInteger(1)
                    ? b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), number)
                    : b.createOrFold<arith::IndexCastOp>(b.getIndexType(), number);
    rows.push_back(b.createOrFold<arith::SelectOp>(isBelow(row, view.extent[0]), row, b.index(0)));
  }
  Value column = get(op.getColumn()), first = b.add(column, part(layout, 1));
  bool surely = !isAllInside(view, b.index(0), column, 1, type.getColumns());
  Value hasRows = isBelow(b.index(0), view.extent[0]);
  if (getConstant(hasRows))
    hasRows = {};
  for (int64_t c = 0; c < registers.count(1); ++c)
    columnInside.push_back(surely ? isInside(type, registers, 1, c)
                                  : isBelow(b.add(first, registers.place(1, c)), view.extent[1]));
  // Rows may be any.
  RegisterRuns runs(type, /*axis=*/1, [&](int64_t width) {
    return isAligned(view, b.index(0), first, /*axis=*/1, /*several=*/true, width);
  });
  if (!surely && !endsWithRuns(runs, view, b.index(0), first))
    runs = RegisterRuns();
  define(op.getTile(), loadRuns(type, runs, [&](int64_t i, int64_t width) {
           int64_t r = registers.along(0, i), c = registers.along(1, i);
           return where(both(columnInside[c], hasRows), getRunType(type.getElementType(), width),
                        [&] {
                          Value at = address(view, rows[r], first, 0, registers.place(1, c));
                          return SmallVector<Value>{loadRun(view, at, width)};
                        })
               .front();
         }));
  return success();
}

/// One of the threads that hold copies stores.
LogicalResult ThreadLowering::lower(StoreOp op) {
  TileType type = op.getTile().getType();
  FailureOr<const ViewMemory *> found = getView(op, op.getView());
  if (failed(found) || failed(checkLayout(op, type)))
    return failure();
  const ViewMemory view = **found;
  TileRegisters registers(type);
  LayoutAttr layout = type.getLayout();
  SmallVector<Value> values(getTile(op.getTile()));
  Value row = get(op.getRow()), column = get(op.getColumn());
  Value first = b.add(row, part(layout, 0)), firstColumn = b.add(column, part(layout, 1));
  RegisterRuns runs = findRuns(type, view, first, firstColumn);
  auto storeAll = [&](const RegisterRuns &by, function_ref<Value(int64_t)> condition) {
    storeRuns(type, values, by, [&](int64_t i, function_ref<Value()> value) {
      when(both(condition(i), isInside(type, registers, i)), [&] {
        Value at = address(view, first, firstColumn, registers.place(0, registers.along(0, i)),
                           registers.place(1, registers.along(1, i)));
        storeRun(value(), view, at);
      });
    });
  };
  Value all = isAllInside(view, row, column, type.getRows(), type.getColumns());
  bool whole = endsWithRuns(runs, view, first, firstColumn);
  when(isOwner(layout), [&] {
    auto plain = [&] { storeAll(runs, [](int64_t) { return Value(); }); };
    if (!all)
      return plain();
    b.when(all, plain, [&] {
      storeAll(whole ? runs : RegisterRuns(), insideOf(view, registers, first, firstColumn));
    });
  });
  return success();
}
