// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of values: from memory, through each op, joined into maps. What stands around them (the
// grid, blocks, phases) is in TileKernel.cpp.
#include "lowering/Kernels/TileBuilder.h"
#include "dialects/ElementTypes.h"
#include "lowering/Kernels/Scalars.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;
using tile::ViewType;

static Type elementOf(Value value) {
  return TypeSwitch<Type, Type>(value.getType())
      .Case<TileType, ViewType>([](auto type) { return type.getElementType(); })
      .Default([](Type type) { return getElementTypeOrSelf(type); });
}

//===-- Single ops ---------------------------------------------------------------------------===//

TileType TileBuilder::tileType(int64_t rows, int64_t columns, Type element) {
  return TileType::get(rows, columns, element ? element : Type(k.getF32Type()));
}

Value TileBuilder::column(TileColumns c) {
  return c.offset == 0 ? c.base : k.add(c.base, k.index(c.offset));
}

Value TileBuilder::broadcast(Value value, int64_t rows, int64_t columns) {
  TileType type = tileType(rows, columns, elementOf(value));
  return value.getType() == type ? value : tile::BroadcastOp::create(k, type, value).getResult();
}

Value TileBuilder::map(TileType type, ValueRange inputs, function_ref<Value(ValueRange)> body) {
  return tile::MapOp::create(k, type, inputs, [&](OpBuilder &inner, Location, ValueRange elements) {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    Value element = body(elements);
    inner.restoreInsertionPoint(k.saveInsertionPoint());
    return element;
  });
}

Value TileBuilder::toF32(Value value) {
  auto type = cast<TileType>(value.getType());
  return type.getElementType().isF32()
             ? value
             : tile::CastOp::create(k, type.withElementType(k.getF32Type()), value).getResult();
}

Value TileBuilder::reduce(tile::ReduceKind kind, Value value) {
  return tile::ReduceOp::create(k, tileType(tileRows, 1), kind, value, 1);
}

//===-- Memory -------------------------------------------------------------------------------===//

/// `memory` as `[outer..., rows, columns]`, made at the head of the kernel.
Value TileBuilder::matrix(Value memory) {
  Value &known = matrices[memory];
  if (known)
    return known;
  return known = atTop([&] {
           auto type = cast<MemRefType>(memory.getType());
           Value result = memory;
           if (!flat && type.getRank() == static_cast<int64_t>(form.rowAxes)) {
             SmallVector<ReassociationIndices> groups;
             for (int64_t axis = 0; axis < type.getRank(); ++axis)
               groups.push_back({axis});
             groups.back().push_back(type.getRank());
             SmallVector<int64_t> shape(type.getShape());
             shape.push_back(1);
             FailureOr<MemRefType> expanded =
                 memref::ExpandShapeOp::computeExpandedType(type, shape, groups);
             SmallVector<OpFoldResult> sizes;
             for (int64_t axis = 0; axis < type.getRank(); ++axis)
               sizes.push_back(type.isDynamicDim(axis) ? OpFoldResult(k.size(memory, axis))
                                                       : k.getIndexAttr(type.getDimSize(axis)));
             sizes.push_back(k.getIndexAttr(1));
             result = memref::ExpandShapeOp::create(k, *expanded, memory, groups, sizes);
             type = *expanded;
           }
           SmallVector<ReassociationIndices> groups =
               flat ? getAllAxes(type.getRank())
                    : getMatrixAxes(type.getRank(), form.rowAxes, outer);
           if (groups.size() != static_cast<size_t>(type.getRank()))
             result = memref::CollapseShapeOp::create(k, result, groups);
           return result;
         });
}

Value TileBuilder::viewAt(Value memory, ValueRange at, ArrayRef<int64_t> axes, Value length) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t rows = 1, columns = type.getDimSize(axes.back());
  if (axes.size() == 2)
    rows = length ? ShapedType::kDynamic : type.getDimSize(axes[0]);
  return tile::ViewOp::create(k, ViewType::get(rows, columns, type.getElementType()), memory, at,
                              length, k.getDenseI64ArrayAttr(axes));
}

/// The rows of a buffer. Without a batch axis (`shared`) or with one of size 1, all batches have
/// the same.
TileBuilder::Rows TileBuilder::rowsOf(Value memory, bool shared) {
  Key key{memory.getAsOpaquePointer(), -1, -1};
  auto type = cast<MemRefType>(memory.getType());
  bool repeated = form.located && (shared || type.getDimSize(0) == 1);
  bool one = single && repeated;
  auto known = blockValues.find(key);
  if (known != blockValues.end())
    return {known->second, one};
  Value whole = shared ? memory : matrix(memory);
  int64_t rank = cast<MemRefType>(whole.getType()).getRank();
  Value view = atBlock([&] {
    if (flat)
      return viewAt(whole, {}, {0});
    SmallVector<Value> indices(at);
    if (repeated)
      for (Value &index : indices)
        index = k.index(0);
    if (shared)
      indices.clear();
    return viewAt(whole, indices, {rank - 2, rank - 1});
  });
  blockValues[key] = view;
  return {view, one};
}

Value TileBuilder::loadRows(Rows rows, Value column, int64_t width) {
  auto type = tileType(rows.one ? 1 : tileRows, width, elementOf(rows.view));
  Value tile =
      tile::LoadOp::create(k, type, rows.view, rows.one || flat ? k.index(0) : row, column);
  return broadcast(tile, tileRows, width);
}

/// A row of numbers for all rows, in f32: a bias, a norm's weight.
Value TileBuilder::parameter(Value value, TileColumns c) {
  Key key{value.getAsOpaquePointer(), c.offset, c.width};
  Value &known = blockValues[key];
  if (known)
    return known;
  Value result = atBlock([&] {
    Value view = viewAt(k.buffer(value), {}, {0});
    Value tile =
        tile::LoadOp::create(k, tileType(1, c.width, elementOf(view)), view, k.index(0), column(c));
    return broadcast(toF32(tile), tileRows, c.width);
  });
  return blockValues[key] = result;
}

//===-- Numbers of rows ----------------------------------------------------------------------===//

/// The positions of the tile's rows, each `width` times, or numbers that a caller gives instead.
Value TileBuilder::numbersOfRows(Value positions, int64_t width) {
  auto op = positions.getDefiningOp<PositionsOp>();
  if (!op)
    return broadcast(loadRows(rowsOf(k.buffer(positions)), k.index(0), 1), tileRows, width);
  Value first = atTop([&] { return k.cloneIn(op.getFirst()); });
  TileType type = tileType(tileRows, width, k.getI32Type());
  if (single)
    return tile::SplatOp::create(k, type, k.toI32(first));
  return tile::IotaOp::create(k, type, k.add(first, row), 0);
}

/// Records a fault for each row of the tile whose number, with the offset, is outside of the table.
void TileBuilder::checkNumbers(Operation *op, Value numbers, int64_t offset, Value table) {
  Value height = k.index(cast<RankedTensorType>(table.getType()).getDimSize(0));
  auto check = [&](Value number) {
    if (offset != 0)
      number = k.add(number, k.index(offset));
    FaultOp::create(k, arith::CmpIOp::create(k, arith::CmpIPredicate::uge, number, height));
  };
  Value rows = k.size(k.outputs.front(), form.rowAxes - 1);
  if (auto positions = numbers.getDefiningOp<PositionsOp>()) {
    // They grow: the last of the tile is the largest, the first the least.
    Value first = atTop([&] { return k.cloneIn(positions.getFirst()); });
    if (single)
      return check(first);
    check(k.add(first, row));
    Value end = arith::MinSIOp::create(k, k.add(row, k.index(tileRows)), rows);
    return check(k.add(first, k.sub(end, k.index(1))));
  }
  Value memory = matrix(k.buffer(numbers));
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<Value> indices(at);
  bool repeated = form.located && cast<MemRefType>(k.buffer(numbers).getType()).getDimSize(0) == 1;
  if (repeated)
    for (Value &index : indices)
      index = k.index(0);
  indices.append({Value(), k.index(0)});
  if (single && repeated) {
    indices[indices.size() - 2] = k.index(0);
    return check(k.toIndex(k.load(memory, indices)));
  }
  Value end =
      arith::MinSIOp::create(k, k.add(row, k.index(tileRows)), k.size(memory, type.getRank() - 2));
  k.loop(row, end, [&](Value r) {
    indices[indices.size() - 2] = r;
    check(k.toIndex(k.load(memory, indices)));
  });
}

Value TileBuilder::gather(Value table, Value numbers, int64_t offset, TileColumns c) {
  Value rows = numbersOfRows(numbers, 1);
  if (offset != 0)
    rows = map(tileType(tileRows, 1, k.getI64Type()), rows, [&](ValueRange x) {
      Value wide = x[0];
      if (!wide.getType().isInteger(64))
        wide = arith::ExtSIOp::create(k, k.getI64Type(), wide);
      return k.add(wide, k.integer(k.getI64Type(), offset));
    });
  Value memory = k.buffer(table);
  auto type = cast<RankedTensorType>(table.getType());
  Value view = atBlock([&]() -> Value {
    if (cast<MemRefType>(memory.getType()).getRank() == 2)
      return viewAt(memory, {}, {0, 1});
    return tile::PackedOp::create(
        k, ViewType::get(type.getDimSize(0), type.getDimSize(1), type.getElementType()), memory);
  });
  return tile::GatherOp::create(k, tileType(tileRows, c.width, type.getElementType()), view, rows,
                                column(c));
}

//===-- Elements -----------------------------------------------------------------------------===//

/// One element of `tile`.
TileBuilder::Scalar TileBuilder::leaf(Value tile, int64_t width, SmallVectorImpl<Value> &leaves) {
  tile = broadcast(tile, tileRows, width);
  size_t place = llvm::find(leaves, tile) - leaves.begin();
  if (place == leaves.size())
    leaves.push_back(tile);
  return [place](ValueRange elements) -> Value { return elements[place]; };
}

TileBuilder::Scalar TileBuilder::convert(Scalar scalar, Type type) {
  return [this, scalar, type](ValueRange elements) { return k.convert(scalar(elements), type); };
}

/// The tile of a value: what is elementwise between it and tiles in memory is one map.
Value TileBuilder::tile(Value value, TileColumns c) {
  Key key{value.getAsOpaquePointer(), c.offset, c.width};
  auto known = tiles.find(key);
  if (known != tiles.end())
    return known->second;
  SmallVector<Value> leaves;
  Scalar element = scalar(value, c, leaves);
  Type type = cast<RankedTensorType>(value.getType()).getElementType();
  TileType result = tileType(tileRows, c.width, type);
  // A lone leaf is the tile, if nothing is done to its elements.
  bool computes = true;
  Value tile = map(result, leaves, [&](ValueRange elements) {
    Value x = element(elements);
    computes = leaves.size() != 1 || x != elements[0] || leaves[0].getType() != result;
    return x;
  });
  if (!computes) {
    tile.getDefiningOp()->erase();
    tile = leaves[0];
  }
  return tiles[key] = tile;
}

/// One element of a value, in the value's own type: what is computed in f32 for halves is rounded
/// where the source rounds, in each op's result.
TileBuilder::Scalar TileBuilder::scalar(Value value, TileColumns c,
                                        SmallVectorImpl<Value> &leaves) {
  Key key{value.getAsOpaquePointer(), c.offset, c.width};
  auto known = tiles.find(key);
  if (known != tiles.end())
    return leaf(known->second, c.width, leaves);
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    auto element = cast<TypedAttr>(constant.getSplatValue<Attribute>());
    return [this, element](ValueRange) -> Value { return arith::ConstantOp::create(k, element); };
  }
  if (isa<BlockArgument>(value))
    return leaf(tiles[key] = loadRows(rowsOf(k.buffer(value)), column(c), c.width), c.width,
                leaves);
  Scalar result = scalarOfOp(value.getDefiningOp(), c, leaves);
  Type type = getElementTypeOrSelf(value.getType());
  return isa<FloatType>(type) ? convert(result, type) : result;
}

TileBuilder::Scalar TileBuilder::scalarOfOp(Operation *op, TileColumns c,
                                            SmallVectorImpl<Value> &leaves) {
  // A sum that is a result and is read besides is computed once.
  Operation *yield = op->getBlock()->getTerminator();
  auto operandOf = [&](Value operand) -> Scalar {
    bool result = llvm::is_contained(yield->getOperands(), operand);
    if (result && OpTrait::hasElementwiseMappableTraits(operand.getDefiningOp()))
      return leaf(tile(operand, c), c.width, leaves);
    return scalar(operand, c, leaves);
  };
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case([&](LinearOp o) { return linear(o, c, leaves); })
      .Case([&](RopeOp o) { return rope(o, c, leaves); })
      .Case<LayerNormOp, RmsNormOp, L2NormOp>([&](Operation *o) { return norm(o, c, leaves); })
      .Case([&](linalg::SoftmaxOp o) { return softmax(o, c, leaves); })
      .Case([&](EmbeddingOp o) {
        checkNumbers(o, o.getIds(), 0, o.getTable());
        return leaf(gather(o.getTable(), o.getIds(), 0, c), c.width, leaves);
      })
      .Case([&](PositionLearnedOp o) {
        int64_t offset = o.getOffset();
        checkNumbers(o, o.getPositions(), offset, o.getTable());
        return leaf(gather(o.getTable(), o.getPositions(), offset, c), c.width, leaves);
      })
      .Case([&](PositionsOp o) {
        Value first = atTop([&] { return k.cloneIn(o.getFirst()); });
        TileType type = tileType(tileRows, c.width, k.getI32Type());
        return leaf(tile::IotaOp::create(k, type, k.add(first, column(c)), 1), c.width, leaves);
      })
      .Case([&](ActivationOp o) -> Scalar {
        Scalar x = convert(operandOf(o.getInput()), k.getF32Type());
        return [this, x, o](ValueRange e) mutable { return activate(k, o.getKind(), x(e)); };
      })
      .Case([&](GluOp o) -> Scalar {
        Scalar gate = convert(operandOf(o.getGate()), k.getF32Type());
        Scalar up = convert(operandOf(o.getUp()), k.getF32Type());
        return [this, gate, up, o](ValueRange e) mutable {
          return k.mul(activate(k, o.getKind(), gate(e)), up(e));
        };
      })
      .Case([&](DropoutOp o) { return operandOf(o.getInput()); })
      .Case([&](tensor::ExtractSliceOp o) {
        return scalar(o.getSource(), c.shifted(o.getStaticOffsets().back()), leaves);
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](auto o) { return scalar(o.getSrc(), c, leaves); })
      .Case([&](tensor::SplatOp o) -> Scalar {
        Value value = atTop([&] { return k.cloneIn(o.getInput()); });
        return [value](ValueRange) { return value; };
      })
      .Case([&](linalg::BroadcastOp o) -> Scalar {
        Value source = getBroadcastSource(o);
        if (cast<RankedTensorType>(source.getType()).getRank() == 3)
          return scalar(source, c, leaves);
        Rows rows = rowsOf(k.buffer(source), /*shared=*/true);
        return leaf(loadRows(rows, column(c), c.width), c.width, leaves);
      })
      .Default([&](Operation *other) -> Scalar {
        SmallVector<Scalar> operands;
        for (Value operand : other->getOperands())
          operands.push_back(operandOf(operand));
        return [this, operands, other](ValueRange e) -> Value {
          SmallVector<Value> values;
          for (const Scalar &operand : operands)
            values.push_back(operand(e));
          return emitRounded(k, other, values).front();
        };
      });
}

//===-- Products -----------------------------------------------------------------------------===//

/// Whole rows of a weight, in panels or not.
Value TileBuilder::wholeWeight(TypedValue<RankedTensorType> weight, TileColumns c) {
  RankedTensorType type = weight.getType();
  Type element = type.getElementType();
  Value memory = k.buffer(weight), view;
  if (cast<MemRefType>(memory.getType()).getRank() == 2)
    view = viewAt(memory, {}, {0, 1});
  else
    view = tile::PackedOp::create(k, ViewType::get(type.getDimSize(0), type.getDimSize(1), element),
                                  memory);
  return tile::LoadOp::create(k, tileType(c.width, type.getDimSize(1), element), view, column(c),
                              k.index(0));
}

/// A linear's weight. Integers are exact in any float that the product takes; with the scales of
/// groups they are the input's numbers. A scale for each output is left to the result.
Value TileBuilder::weightRows(LinearOp op, TileColumns c) {
  Value rows = wholeWeight(op.getWeight(), c);
  if (!op.getScales())
    return rows;
  auto type = cast<TileType>(rows.getType());
  bool grouped = op.getScales().getType().getRank() == 2;
  Type input = op.getInput().getType().getElementType();
  Type number = isHalf(input) ? input : grouped ? k.getF32Type() : Type(k.getBF16Type());
  Value scales = grouped ? wholeWeight(op.getScales(), c) : Value();
  return tile::DequantizeOp::create(k, type.withElementType(number), rows, scales);
}

/// factor * scale * (x w^T) + bias: the product is a tile, the rest elementwise.
TileBuilder::Scalar TileBuilder::linear(LinearOp op, TileColumns c,
                                        SmallVectorImpl<Value> &leaves) {
  int64_t depth = op.getWeight().getType().getDimSize(1);
  RmsNormOp norm = getFactor(op);
  Value input = norm ? norm.getInput() : op.getInput();
  Key key{op, c.offset, c.width};
  Value &product = tiles[key];
  if (!product) {
    Value weight = atBlock([&] { return weightRows(op, c); });
    Value &x = wholeRows[input.getAsOpaquePointer()];
    if (!x)
      x = loadRows(rowsOf(k.buffer(input)), k.index(0), depth);
    product = tile::DotOp::create(
        k, tileType(tileRows, c.width), x, weight, Value(),
        /*transpose_b=*/true, block.empty() ? DenseI64ArrayAttr() : k.getDenseI64ArrayAttr(block));
  }
  Scalar result = leaf(product, c.width, leaves);
  if (op.getScales() && op.getScales().getType().getRank() == 1) {
    Scalar scale = leaf(parameter(op.getScales(), c), c.width, leaves);
    result = [this, result, scale](ValueRange e) { return k.mul(result(e), scale(e)); };
  }
  if (norm) {
    Value &factor = statistics[norm];
    if (!factor)
      factor = loadRows(rowsOf(k.temporary(factors.at(norm))), k.index(0), 1);
    Scalar f = leaf(broadcast(factor, tileRows, c.width), c.width, leaves);
    result = [this, result, f](ValueRange e) { return k.mul(result(e), f(e)); };
  }
  if (op.getBias()) {
    Scalar bias = leaf(parameter(op.getBias(), c), c.width, leaves);
    result = [this, result, bias](ValueRange e) { return k.add(result(e), bias(e)); };
  }
  return result;
}

/// A tile is in the first half of a head's pairs, in the second, or behind both.
TileBuilder::Scalar TileBuilder::rope(RopeOp op, TileColumns c, SmallVectorImpl<Value> &leaves) {
  int64_t half = op.getDim() / 2, size = op.getInput().getType().getDimSize(3);
  int64_t place = c.offset % size;
  if (place >= 2 * half)
    return scalar(op.getInput(), c, leaves);
  bool second = place >= half;
  int64_t pair = second ? place - half : place;
  auto input = [&](TileColumns columns) {
    return convert(scalar(op.getInput(), columns, leaves), k.getF32Type());
  };
  Scalar left = input(second ? c.shifted(-half) : c);
  Scalar right = input(second ? c : c.shifted(half));
  auto angle = [&](unsigned temporary) {
    Key key{k.temporary(temporary).getAsOpaquePointer(), pair, c.width};
    Value &known = tiles[key];
    if (!known)
      known = loadRows(rowsOf(k.temporary(temporary)), k.index(pair), c.width);
    return leaf(known, c.width, leaves);
  };
  auto [cosines, sines] = angles.at(op);
  Scalar cosine = angle(cosines), sine = angle(sines);
  if (second)
    return [=](ValueRange e) { return k.add(k.mul(right(e), cosine(e)), k.mul(left(e), sine(e))); };
  return [=](ValueRange e) { return k.sub(k.mul(left(e), cosine(e)), k.mul(right(e), sine(e))); };
}

//===-- Whole rows ---------------------------------------------------------------------------===//

/// The norms differ in what they subtract and divide by: each is a number for a row.
TileBuilder::Scalar TileBuilder::norm(Operation *op, TileColumns c,
                                      SmallVectorImpl<Value> &leaves) {
  Type f32 = k.getF32Type();
  TileType one = tileType(tileRows, 1), whole = tileType(tileRows, c.width);
  Value x = toF32(tile(op->getOperand(0), c));
  auto squares = [&](ValueRange operands) {
    return reduce(tile::ReduceKind::Sum, map(whole, operands, [&](ValueRange e) {
                    Value y = e.size() == 1 ? e[0] : k.sub(e[0], e[1]);
                    return k.mul(y, y);
                  }));
  };
  auto inverseRoot = [&](Value sum, double eps) {
    return map(one, sum, [&](ValueRange e) {
      Value variance = k.mul(e[0], k.real(f32, 1.0 / c.width));
      return k.div(k.real(f32, 1), math::SqrtOp::create(k, k.add(variance, k.real(f32, eps))));
    });
  };
  Value mean, weight, bias, factor;
  double offset = 0;
  if (auto o = dyn_cast<LayerNormOp>(op)) {
    Value sum = reduce(tile::ReduceKind::Sum, x);
    mean = broadcast(
        map(one, sum, [&](ValueRange e) { return k.mul(e[0], k.real(f32, 1.0 / c.width)); }),
        tileRows, c.width);
    factor = inverseRoot(squares({x, mean}), o.getEps().convertToDouble());
    weight = o.getWeight();
    bias = o.getBias();
  } else if (auto o = dyn_cast<RmsNormOp>(op)) {
    factor = inverseRoot(squares(x), o.getEps().convertToDouble());
    weight = o.getWeight();
    offset = o.getWeightOffset().convertToDouble();
  } else {
    double eps = cast<L2NormOp>(op).getEps().convertToDouble();
    factor = map(one, squares(x), [&](ValueRange e) {
      return k.div(k.real(f32, 1), k.maximum(math::SqrtOp::create(k, e[0]), k.real(f32, eps)));
    });
  }
  Scalar result = leaf(x, c.width, leaves);
  if (mean) {
    Scalar m = leaf(mean, c.width, leaves);
    result = [this, result, m](ValueRange e) { return k.sub(result(e), m(e)); };
  }
  Scalar f = leaf(factor, c.width, leaves);
  result = [this, result, f](ValueRange e) { return k.mul(result(e), f(e)); };
  if (weight) {
    Scalar w = leaf(parameter(weight, c), c.width, leaves);
    result = [this, result, w, offset](ValueRange e) {
      Value factor = w(e);
      if (offset != 0)
        factor = k.add(factor, k.real(factor.getType(), offset));
      return k.mul(result(e), factor);
    };
  }
  if (bias) {
    Scalar b = leaf(parameter(bias, c), c.width, leaves);
    result = [this, result, b](ValueRange e) { return k.add(result(e), b(e)); };
  }
  return result;
}

TileBuilder::Scalar TileBuilder::softmax(Operation *op, TileColumns c,
                                         SmallVectorImpl<Value> &leaves) {
  TileType whole = tileType(tileRows, c.width);
  Value x = toF32(tile(op->getOperand(0), c));
  Value most = broadcast(reduce(tile::ReduceKind::Maximum, x), tileRows, c.width);
  Value powers = map(whole, {x, most}, [&](ValueRange e) -> Value {
    return math::ExpOp::create(k, k.sub(e[0], e[1]));
  });
  Scalar power = leaf(powers, c.width, leaves),
         sum = leaf(reduce(tile::ReduceKind::Sum, powers), c.width, leaves);
  return [this, power, sum](ValueRange e) { return k.div(power(e), sum(e)); };
}
