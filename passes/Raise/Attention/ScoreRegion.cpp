// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar code of what becomes of a score, or of a probability: what it reads beside that number
// becomes an operand, along the axes that it has. Refuses what depends on more than batch, head and
// places.
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Elements/Predicates.h"
#include "passes/Raise/Attention/RelativeBias.h"
#include "passes/Raise/Attention/Score.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {
/// Writes one region. Values of the rule are made in the block; what it reads becomes operands.
class RegionWriter {
public:
  RegionWriter(Expressions &e, OpBuilder &builder, Location loc, const AttentionForm &form,
               AffineExpr offset, Expr of, RegionParts &parts, FloatType accumulation)
      : e(e), builder(builder), loc(loc), form(form), offset(offset), of(of),
        block(&parts.region.back()), body(builder.getContext()), operands(parts.operands),
        maps(parts.maps), accumulation(accumulation) {
    body.setInsertionPointToStart(block);
    block->addArgument(accumulation, loc);
    // Operands are added as they turn up, so the arguments behind them come from a later place.
    Type indexType = builder.getIndexType(), i32 = builder.getI32Type();
    for (Value *place : {&batch, &head})
      *place = block->addArgument(indexType, loc);
    for (Value *place : {&queryPosition, &keyPosition})
      *place = block->addArgument(i32, loc);
  }

  /// Null if a part cannot be written.
  Value emit(Expr part) {
    if (part == of)
      return block->getArgument(0);
    if (Value found = done.lookup(part))
      return found;
    Value value = emitNew(part);
    if (value)
      done[part] = value;
    return value;
  }

  void yield(Value value) { YieldOp::create(body, loc, value); }

private:
  Value emitNew(Expr part) {
    switch (part->kind) {
    case Node::Kind::Constant:
      return arith::ConstantOp::create(
          body, loc,
          part->real ? TypedAttr(FloatAttr::get(accumulation, part->real.getValueAsDouble()))
                     : TypedAttr(body.getIntegerAttr(part->type, part->integer)));
    case Node::Kind::Index:
      return emitIndex(part);
    case Node::Kind::Element:
      return emitElement(part);
    case Node::Kind::Reduce:
      return toAccumulation(readOperand(part, /*computed=*/false));
    case Node::Kind::Compute:
      return emitCompute(part);
    case Node::Kind::Variable: // stands in tests alone
      return {};
    }
    llvm_unreachable("a kind");
  }

  Value emitCompute(Expr part) {
    bool hasIndex = false, hasNumber = false;
    for (Expr node : collect(part)) {
      hasIndex |= node->kind == Node::Kind::Index;
      hasNumber |= node == of;
    }
    // A tensor that holds it, without places; parts of a concatenation exist only as a whole.
    bool isWhole = !hasNumber && ((!hasIndex && e.getHome(part).first) ||
                                  (part->is<arith::SelectOp>() && !isSafe(e, part)));
    if (isWhole)
      if (Value value = toAccumulation(readOperand(part, /*computed=*/false)))
        return value;
    SmallVector<Value> args;
    for (Expr arg : part->args) {
      args.push_back(emit(arg));
      if (!args.back())
        return {};
    }
    if (isCast(part))
      return args[0];
    Type type = isa<FloatType>(part->type) ? Type(accumulation) : part->type;
    OperationState state(loc, part->name.getValue(), args, type, part->attrs.getValue());
    return body.create(state)->getResult(0);
  }

  /// Queries stand at their position minus the offset of the first.
  AffineExpr fromPositions(AffineExpr affine) {
    if (!offset)
      return affine;
    SmallVector<AffineExpr> moved;
    for (unsigned d = 0; d < e.getNumDims(); ++d)
      moved.push_back(getAffineDimExpr(d, e.getContext()));
    moved[form.queries[0]] = moved[form.queries[0]] - offset;
    return e.simplify(affine.replaceDims(moved));
  }

  /// Whether an index takes sizes to compute, which a region does not see.
  bool needsSizes(AffineExpr affine) {
    bool found = false;
    affine.walk([&](AffineExpr inner) { found |= isa<AffineSymbolExpr>(inner); });
    for (ArrayRef<unsigned> group :
         {ArrayRef<unsigned>(form.batch), ArrayRef<unsigned>(form.queries)})
      if (group.size() > 1)
        for (unsigned dim : group.drop_front())
          found |= !getInteger(e.getExtent(dim));
    return found;
  }

  Value emitIndex(Expr part) {
    AffineExpr affine = fromPositions(part->affine);
    if (needsSizes(affine))
      return readOperand(part, /*computed=*/true);

    SmallVector<Value> dims(e.getNumDims());
    split(form.batch, batch, dims);
    split(form.heads, head, dims);
    if (part->dependsOn(form.key))
      dims[form.key] = toIndex(keyPosition);
    if (llvm::any_of(form.queries, [&](unsigned dim) { return part->dependsOn(dim); }))
      split(form.queries, toIndex(queryPosition), dims);
    Value zero;
    for (Value &dim : dims)
      if (!dim) {
        if (!zero)
          zero = arith::ConstantIndexOp::create(body, loc, 0);
        dim = zero;
      }
    Value value = affine::expandAffineExpr(body, loc, affine, dims, {});
    return part->type.isIndex() ? value : arith::IndexCastOp::create(body, loc, part->type, value);
  }

  /// A table's element by the bucket of the distance from query to key. Null if it is another one.
  Value emitRelativeBias(Expr part) {
    std::optional<TableElement> element = getTableElement(e, part);
    if (!element || form.queries.size() != 1 ||
        !isa<FloatType>(cast<RankedTensorType>(element->table.getType()).getElementType()))
      return {};
    unsigned query = form.queries[0];
    MLIRContext *context = e.getContext();
    if (element->column->dependsOn(query) || element->column->dependsOn(form.key) ||
        !element->column->getAffine())
      return {};
    AffineExpr distance = getAffineDimExpr(form.key, context) - getAffineDimExpr(query, context);
    std::optional<Buckets> buckets =
        matchBuckets(e, element->row, e.simplify(offset ? distance - offset : distance), query,
                     form.key, cast<RankedTensorType>(element->table.getType()).getDimSize(0));
    Value column = buckets ? emit(element->column) : Value();
    if (!column)
      return {};
    Value table = addOperand(element->table, AffineMap::get(4, 0, context));
    return RelativeBiasOp::create(body, loc, accumulation, table, toIndex(column), queryPosition,
                                  keyPosition, buckets->bidirectional, buckets->count,
                                  buckets->maxDistance);
  }

  Value emitElement(Expr part) {
    if (Value bias = emitRelativeBias(part))
      return bias;
    // Read along, if each axis goes with one of the arguments; else handed over whole.
    bool along = llvm::all_of(part->args, [](Expr index) {
      return index->isConstant() || (index->kind == Node::Kind::Index && index->dims.count() == 1);
    });
    if (along)
      if (Value value = readOperand(part, /*computed=*/false))
        return toAccumulation(value);
    // An index has no tensor of its own, so where one takes sizes the element has.
    for (Expr node : collect(part))
      if (node->kind == Node::Kind::Index && node->type.isIndex() &&
          needsSizes(fromPositions(node->affine)))
        return toAccumulation(readOperand(part, /*computed=*/false));
    SmallVector<Value> indices;
    for (Expr index : part->args) {
      Value at = emit(index);
      if (!at)
        return {};
      indices.push_back(toIndex(at));
    }
    Value whole = addOperand(part->tensor, AffineMap::get(4, 0, e.getContext()));
    return toAccumulation(tensor::ExtractOp::create(body, loc, whole, indices));
  }

  /// The part as an operand that is read at the arguments it depends on: the tensor that holds it,
  /// or one that is computed.
  Value readOperand(Expr part, bool computed) {
    SmallVector<unsigned> present;
    SmallVector<Axis> all = axesOf(form, part, present), axes;
    SmallVector<AffineExpr> results;
    for (unsigned group : present) {
      axes.push_back(all[group]);
      results.push_back(getAffineDimExpr(group, e.getContext()));
    }
    Value tensor;
    if (computed)
      tensor = compute(e, builder, loc, part, axes);
    else if (auto [home, indices] = e.getHome(part); home)
      tensor = layOut(e, builder, loc, home, indices, axes);
    return tensor ? addOperand(tensor, AffineMap::get(4, 0, results, e.getContext())) : Value();
  }

  /// The argument that stands for an operand, which it adds if it is not there yet.
  Value addOperand(Value tensor, AffineMap map) {
    auto type = cast<RankedTensorType>(tensor.getType());
    for (auto [i, old] : llvm::enumerate(operands))
      if (old == tensor && maps[i] == map)
        return block->getArgument(1 + i);
    operands.push_back(tensor);
    maps.push_back(map);
    bool whole = map.getNumResults() == 0 && type.getRank() != 0;
    return block->insertArgument(operands.size(), whole ? Type(type) : type.getElementType(), loc);
  }

  /// The dims of a group from the one number that counts through them.
  void split(ArrayRef<unsigned> group, Value flat, MutableArrayRef<Value> dims) {
    for (size_t i = group.size(); i-- > 1;) {
      Value size = e.materialize(body, loc, e.getExtent(group[i]));
      dims[group[i]] = arith::RemUIOp::create(body, loc, flat, size);
      flat = arith::DivUIOp::create(body, loc, flat, size);
    }
    if (!group.empty())
      dims[group[0]] = flat;
  }

  Value toIndex(Value value) {
    return value.getType().isIndex()
               ? value
               : arith::IndexCastOp::create(body, loc, body.getIndexType(), value);
  }

  Value toAccumulation(Value value) {
    return value && isa<FloatType>(value.getType()) ? toElementType(body, loc, value, accumulation)
                                                    : value;
  }

  Expressions &e;
  OpBuilder &builder;
  Location loc;
  const AttentionForm &form;
  AffineExpr offset; ///< of query positions; null: none
  Expr of;           ///< what the first argument stands for
  Block *block;
  OpBuilder body;
  SmallVectorImpl<Value> &operands;
  SmallVectorImpl<AffineMap> &maps;
  FloatType accumulation;
  Value batch, head, queryPosition, keyPosition;
  llvm::DenseMap<Expr, Value> done;
};
} // namespace

bool ScoreBuilder::buildRegion(Expr rule, Expr of, RegionParts &parts, FloatType accumulation) {
  OpBuilder::InsertionGuard guard(builder);
  parts.region.push_back(new Block());
  RegionWriter writer(e, builder, loc, form, offset, of, parts, accumulation);
  Value result = writer.emit(rule);
  if (result)
    writer.yield(result);
  return static_cast<bool>(result);
}
