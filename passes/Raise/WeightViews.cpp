// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows values back to weights and writes what lies between into recipes. Refuses what computes,
// strided slices, and shapes that are not static.
#include "passes/Raise/WeightViews.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Recipes ------------------------------------------------------------------------------===//

Attribute raise::reshapeRecipe(Attribute input, ArrayRef<int64_t> shape) {
  if (auto inner = dyn_cast<ReshapeAttr>(input))
    return reshapeRecipe(inner.getInput(), shape);
  if (getTypeOfRecipe(input).getShape() == shape)
    return input;
  return ReshapeAttr::get(input.getContext(), input, shape);
}

Attribute raise::permuteRecipe(Attribute input, ArrayRef<int64_t> axes) {
  RankedTensorType type = getTypeOfRecipe(input);
  MLIRContext *context = input.getContext();
  if (llvm::equal(axes, llvm::seq<int64_t>(0, axes.size())))
    return input;
  if (axes.size() == 2) {
    auto inner = dyn_cast<TransposeAttr>(input);
    return inner ? inner.getInput() : TransposeAttr::get(context, input);
  }
  if (auto inner = dyn_cast<PermuteAttr>(input)) {
    SmallVector<int64_t> composed =
        llvm::map_to_vector(axes, [&](int64_t axis) { return inner.getAxes()[axis]; });
    return permuteRecipe(inner.getInput(), composed);
  }
  // Two runs of axes that change places are a matrix transposed, which streams.
  int64_t split = axes.front();
  SmallVector<int64_t> rotated;
  for (int64_t i = 0, rank = axes.size(); i < rank; ++i)
    rotated.push_back((split + i) % rank);
  if (llvm::equal(axes, rotated)) {
    int64_t rows = 1, columns = 1;
    for (auto [axis, size] : llvm::enumerate(type.getShape()))
      (static_cast<int64_t>(axis) < split ? rows : columns) *= size;
    SmallVector<int64_t> shape =
        llvm::map_to_vector(axes, [&](int64_t axis) { return type.getDimSize(axis); });
    return reshapeRecipe(permuteRecipe(reshapeRecipe(input, {rows, columns}), {1, 0}), shape);
  }
  return PermuteAttr::get(context, input, axes);
}

//===-- Views --------------------------------------------------------------------------------===//

RankedTensorType WeightView::getType() const { return getTypeOfRecipe(recipes.front()); }

WeightView WeightView::permute(ArrayRef<int64_t> axes) const {
  WeightView result = *this;
  for (Attribute &recipe : result.recipes)
    recipe = permuteRecipe(recipe, axes);
  return result;
}

WeightView WeightView::reshape(ArrayRef<int64_t> shape) const {
  WeightView result = *this;
  for (Attribute &recipe : result.recipes)
    recipe = reshapeRecipe(recipe, shape);
  return result;
}

/// The range that a slice of unit strides takes, axis by axis.
static std::optional<WeightView> slice(std::optional<WeightView> view, tensor::ExtractSliceOp op) {
  if (!view || !op.hasUnitStride() || llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticSizes(), ShapedType::isDynamic) ||
      llvm::is_contained(op.getStaticSizes(), 0))
    return std::nullopt;
  for (Attribute &recipe : view->recipes)
    for (auto [axis, first, count] : llvm::enumerate(op.getStaticOffsets(), op.getStaticSizes())) {
      int64_t size = getTypeOfRecipe(recipe).getDimSize(axis);
      if (first < 0 || count > size || first > size - count)
        return std::nullopt;
      if (count != size)
        recipe = SliceAttr::get(op.getContext(), recipe, axis, first, count);
    }
  return view->reshape(op.getType().getShape());
}

std::optional<WeightView> WeightViews::find(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!op || isa<WeightRefOp>(op)) {
    WeightView view;
    view.root = value;
    if (!flow.resolve(value, view.sites).empty())
      return std::nullopt;
    for (WeightOp weight : view.sites.weights) {
      if (!weight || weight.getType() != value.getType() || type.getEncoding())
        return std::nullopt;
      view.recipes.push_back(weight.getRecipe());
    }
    return view;
  }
  using Result = std::optional<WeightView>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](linalg::TransposeOp transpose) -> Result {
        Result view = find(transpose.getInput());
        return view ? view->permute(transpose.getPermutation()) : Result();
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>([&](auto reshape) -> Result {
        Result view = find(reshape.getSrc());
        // A shape that a cast before made dynamic is not known from the type alone.
        return view && type.hasStaticShape() ? view->reshape(type.getShape()) : Result();
      })
      .Case([&](tensor::CastOp cast) { return find(cast.getSource()); })
      .Case([&](tensor::ExtractSliceOp op) { return slice(find(op.getSource()), op); })
      .Case([&](tensor::ConcatOp concat) -> Result {
        Result result;
        SmallVector<WeightView> parts;
        for (Value input : concat.getInputs()) {
          Result part = find(input);
          if (!part || (!parts.empty() &&
                        (part->sites.function != parts[0].sites.function ||
                         part->getType().getElementType() != parts[0].getType().getElementType())))
            return std::nullopt;
          parts.push_back(*part);
        }
        result = parts.front();
        for (auto [number, recipe] : llvm::enumerate(result->recipes)) {
          SmallVector<Attribute> pieces;
          for (WeightView &part : parts)
            pieces.push_back(part.recipes[number]);
          recipe = ConcatAttr::get(op->getContext(), concat.getDim(), pieces);
        }
        return result;
      })
      .Case([&](arith::ExtFOp extend) { return find(extend.getIn()); })
      .Case([&](arith::TruncFOp truncate) -> Result {
        Result view = find(truncate.getIn());
        if (!view || truncate.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even) !=
                         arith::RoundingMode::to_nearest_even)
          return std::nullopt;
        if (view->getType().getElementType() != type.getElementType())
          for (Attribute &recipe : view->recipes)
            recipe = CastAttr::get(op->getContext(), recipe, type.getElementType());
        return view;
      })
      .Default(Result());
}

/// The weight with this recipe, made beside the one that it comes from.
WeightOp WeightViews::getWeight(WeightOp original, Attribute recipe) {
  WeightOp &weight = made[{original, recipe}];
  if (!weight) {
    OpBuilder builder(original);
    builder.setInsertionPointAfter(original);
    weight = WeightOp::create(builder, original.getLoc(), original.getSymName(),
                              getTypeOfRecipe(recipe), recipe, StringAttr());
    symbols.insert(weight); // gives it a name of its own
  }
  return weight;
}

Value WeightViews::materialize(OpBuilder &builder, Location loc, const WeightView &view) {
  if (llvm::all_of(llvm::zip(view.sites.weights, view.recipes), [](auto pair) {
        auto [weight, recipe] = pair;
        return WeightOp(weight).getRecipe() == recipe;
      }))
    return view.root;
  auto createRef = [&](Location at, size_t number) {
    WeightOp weight = getWeight(view.sites.weights[number], view.recipes[number]);
    return WeightRefOp::create(builder, at, weight.getWeightType(), weight.getSymName());
  };
  if (!view.sites.function)
    return createRef(loc, 0);
  for (auto &[known, argument] : arguments)
    if (known.sites.function == view.sites.function && known.recipes == view.recipes)
      return argument;
  OpBuilder::InsertionGuard guard(builder);
  for (auto [number, site] : llvm::enumerate(view.sites.calls)) {
    func::CallOp call = site;
    builder.setInsertionPoint(call);
    call.getOperandsMutable().append(createRef(call.getLoc(), number).getResult());
  }
  func::FuncOp function = view.sites.function;
  unsigned number = function.getNumArguments();
  (void)function.insertArgument(number, view.getType(), DictionaryAttr(), loc);
  arguments.emplace_back(view, function.getArgument(number));
  return function.getArgument(number);
}

Value raise::findArgument(Value value, SmallVectorImpl<int64_t> &loops) {
  while (auto turned = value.getDefiningOp<linalg::TransposeOp>()) {
    SmallVector<int64_t> inner(loops.size());
    for (auto [axis, from] : llvm::enumerate(turned.getPermutation()))
      inner[from] = loops[axis];
    loops.assign(inner);
    value = turned.getInput();
  }
  auto argument = dyn_cast<BlockArgument>(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  bool isGiven = argument && type && type.hasStaticShape() && argument.getOwner()->isEntryBlock() &&
                 argument.getOwner()->getParentOp()->hasAttr(FoveaDialect::kEntryAttr);
  return isGiven ? value : Value();
}
