// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar code of a score's rule: what it reads beside the product becomes an operand, along the
// axes that it has. Refuses what depends on more than batch, head and places.
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Raise/Predicates.h"
#include "passes/Raise/Score.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

bool ScoreBuilder::buildRegion(Expr rule, Region &region, SmallVectorImpl<Value> &operands,
                               SmallVectorImpl<AffineMap> &maps, FloatType accumulation) {
  MLIRContext *context = builder.getContext();
  Type indexType = builder.getIndexType(), i32 = builder.getI32Type();
  OpBuilder::InsertionGuard guard(builder);
  OpBuilder body(context);
  Block *block = new Block();
  region.push_back(block);
  block->addArgument(accumulation, loc);
  // Operands are added as they turn up, so the arguments behind them come from a later place.
  SmallVector<Value> places; // b, h, q_pos, k_pos
  for (Type type : {indexType, indexType, i32, i32})
    places.push_back(block->addArgument(type, loc));
  body.setInsertionPointToStart(block);
  llvm::DenseMap<Expr, Value> done;
  auto addOperand = [&](Value tensor, AffineMap map) -> Value {
    auto type = cast<RankedTensorType>(tensor.getType());
    for (auto [i, old] : llvm::enumerate(operands))
      if (old == tensor && maps[i] == map)
        return block->getArgument(1 + i);
    operands.push_back(tensor);
    maps.push_back(map);
    bool whole = map.getNumResults() == 0 && type.getRank() != 0;
    return block->insertArgument(operands.size(), whole ? Type(type) : type.getElementType(), loc);
  };
  AffineExpr groupsOf[4] = {getAffineDimExpr(0, context), getAffineDimExpr(1, context),
                            getAffineDimExpr(2, context), getAffineDimExpr(3, context)};
  auto operandOf = [&](Expr part, bool computed) -> Value {
    SmallVector<unsigned> present;
    SmallVector<Axis> all = axesOf(part, present), axes;
    SmallVector<AffineExpr> results;
    for (unsigned group : present) {
      axes.push_back(all[group]);
      results.push_back(groupsOf[group]);
    }
    Value tensor;
    if (computed) {
      tensor = compute(e, builder, loc, part, axes);
    } else {
      auto [home, indices] = e.getHome(part);
      tensor = home ? layOut(e, builder, loc, home, indices, axes) : Value();
    }
    return tensor ? addOperand(tensor, AffineMap::get(4, 0, results, context)) : Value();
  };
  auto toAccumulation = [&](Value value) -> Value {
    return isa<FloatType>(value.getType()) ? toElementType(body, loc, value, accumulation) : value;
  };
  /// Values of all dims, from the region's arguments.
  SmallVector<Value> dims(e.getNumDims());
  auto setDims = [&](ArrayRef<unsigned> group, Value flat) {
    for (size_t i = group.size(); i-- > 0;) {
      if (i == 0) {
        dims[group[0]] = flat;
        return;
      }
      Value size = e.materialize(body, loc, e.getExtent(group[i]));
      dims[group[i]] = arith::RemUIOp::create(body, loc, flat, size);
      flat = arith::DivUIOp::create(body, loc, flat, size);
    }
  };
  auto hasSymbols = [&](AffineExpr affine) {
    bool found = false;
    affine.walk([&](AffineExpr part) { found |= isa<AffineSymbolExpr>(part); });
    return found;
  };
  std::function<Value(Expr)> emit = [&](Expr part) -> Value {
    if (part == form.raw)
      return block->getArgument(0);
    if (Value found = done.lookup(part))
      return found;
    Value value;
    bool hasIndex = false, hasRaw = false;
    for (Expr node : collect(part)) {
      hasIndex |= node->kind == Node::Kind::Index && part->kind != Node::Kind::Element;
      hasRaw |= node == form.raw;
    }
    if (part->isConstant()) {
      TypedAttr attribute =
          part->real ? TypedAttr(FloatAttr::get(accumulation, part->real.getValueAsDouble()))
                     : TypedAttr(body.getIntegerAttr(part->type, part->integer));
      value = arith::ConstantOp::create(body, loc, attribute);
    } else if (part->kind == Node::Kind::Index) {
      // Queries stand at their position minus the offset of the first.
      AffineExpr affine = part->affine;
      if (offset) {
        SmallVector<AffineExpr> moved;
        for (unsigned d = 0; d < e.getNumDims(); ++d)
          moved.push_back(getAffineDimExpr(d, context));
        moved[form.queries[0]] = moved[form.queries[0]] - offset;
        affine = e.simplify(affine.replaceDims(moved));
      }
      bool splits = false;
      for (ArrayRef<unsigned> group :
           {ArrayRef<unsigned>(form.batch), ArrayRef<unsigned>(form.queries)})
        if (group.size() > 1)
          for (unsigned dim : group.drop_front())
            splits |= !isa<AffineConstantExpr>(e.getExtent(dim));
      if (hasSymbols(affine) || splits)
        return operandOf(part, /*computed=*/true);
      auto asIndex = [&](Value position) {
        return arith::IndexCastOp::create(body, loc, indexType, position).getResult();
      };
      setDims(form.batch, places[0]);
      setDims(form.heads, places[1]);
      if (part->dependsOn(form.key))
        dims[form.key] = asIndex(places[3]);
      if (llvm::any_of(form.queries, [&](unsigned dim) { return part->dependsOn(dim); }))
        setDims(form.queries, asIndex(places[2]));
      Value zero;
      SmallVector<Value> given(dims);
      for (Value &dim : given)
        if (!dim) {
          if (!zero)
            zero = arith::ConstantIndexOp::create(body, loc, 0);
          dim = zero;
        }
      value = affine::expandAffineExpr(body, loc, affine, given, {});
      if (!part->type.isIndex())
        value = arith::IndexCastOp::create(body, loc, part->type, value);
      std::fill(dims.begin(), dims.end(), Value());
    } else if (part->kind == Node::Kind::Element) {
      // Read along, if each axis goes with one of the arguments; else handed over whole.
      bool along = llvm::all_of(part->args, [&](Expr index) {
        return index->isConstant() ||
               (index->kind == Node::Kind::Index && index->dims.count() == 1);
      });
      if (along)
        value = operandOf(part, /*computed=*/false);
      if (!value) {
        SmallVector<Value> indices;
        for (Expr index : part->args) {
          Value at = emit(index);
          if (!at)
            return {};
          if (!at.getType().isIndex())
            at = arith::IndexCastOp::create(body, loc, indexType, at);
          indices.push_back(at);
        }
        Value whole = addOperand(part->tensor, AffineMap::get(4, 0, context));
        value = tensor::ExtractOp::create(body, loc, whole, indices);
      }
      value = toAccumulation(value);
    } else if (!hasRaw && !hasIndex && e.getHome(part).first) {
      value = operandOf(part, /*computed=*/false);
      if (value)
        value = toAccumulation(value);
    }
    if (!value && (part->kind == Node::Kind::Reduce ||
                   (part->is<arith::SelectOp>() && !hasRaw && !isSafe(e, part)))) {
      value = operandOf(part, /*computed=*/false);
      if (value)
        value = toAccumulation(value);
    }
    if (!value && part->kind == Node::Kind::Compute) {
      SmallVector<Value> args;
      for (Expr arg : part->args) {
        args.push_back(emit(arg));
        if (!args.back())
          return {};
      }
      if (isCast(part)) {
        value = args[0];
      } else {
        Type type = isa<FloatType>(part->type) ? Type(accumulation) : part->type;
        OperationState state(loc, part->name.getValue(), args, type, part->attrs.getValue());
        value = body.create(state)->getResult(0);
      }
    }
    if (value)
      done[part] = value;
    return value;
  };
  Value result = emit(rule);
  if (!result)
    return false;
  YieldOp::create(body, loc, result);
  return true;
}
