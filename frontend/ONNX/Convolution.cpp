// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions, for stems and patch embeddings: one linalg.generic over a padded input. Refuses
// kernels of open size.
#include "frontend/ONNX/Windows.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// The products of a padded `x` [N, C, ...], whose C is known, with weights [M, C / groups, ...].
static FailureOr<Data *> convolve(Importer &im, Data *x, Data *w, int64_t groups,
                                  const Window &window) {
  ImplicitLocOpBuilder &b = im.b;
  int64_t rank = window.rank(), outputs = *Symbols::known(w->shape[0]),
          channels = *Symbols::known(x->shape[1]);
  // [N, G, C/G, ...] and [G, M/G, C/G, ...]; without groups G is left out.
  bool hasGroups = groups != 1;
  SmallVector<Sym> outShape(x->shape.begin(), x->shape.begin() + 1);
  if (hasGroups) {
    SmallVector<Sym> dataShape{x->shape[0], im.number(groups), im.number(channels / groups)};
    dataShape.append(x->shape.begin() + 2, x->shape.end());
    SmallVector<Sym> weightShape{im.number(groups), im.number(outputs / groups)};
    weightShape.append(w->shape.begin() + 1, w->shape.end());
    TRY(x, im.reshape(*x, dataShape));
    TRY(w, im.reshape(*w, weightShape));
    outShape.push_back(im.number(groups));
  }
  outShape.push_back(im.number(outputs / groups));
  llvm::append_range(outShape, window.counts);
  // Loops: the result's axes, then channels, then the kernel's.
  unsigned results = outShape.size(), loops = results + 1 + rank, first = hasGroups ? 3 : 2;
  SmallVector<AffineExpr> data{b.getAffineDimExpr(0)}, weight;
  if (hasGroups) {
    data.push_back(b.getAffineDimExpr(1));
    weight.push_back(b.getAffineDimExpr(1));
  }
  data.push_back(b.getAffineDimExpr(results));
  weight.append({b.getAffineDimExpr(first - 1), b.getAffineDimExpr(results)});
  for (int64_t i = 0; i < rank; ++i) {
    data.push_back(
        window.place(i, b.getAffineDimExpr(first + i), b.getAffineDimExpr(results + 1 + i)));
    weight.push_back(b.getAffineDimExpr(results + 1 + i));
  }
  SmallVector<AffineMap> maps{AffineMap::get(loops, 0, data, b.getContext()),
                              AffineMap::get(loops, 0, weight, b.getContext()),
                              b.getMultiDimIdentityMap(loops).getMajorSubMap(results)};
  SmallVector<utils::IteratorType> kinds(results, utils::IteratorType::parallel);
  kinds.append(1 + rank, utils::IteratorType::reduction);
  DataType sum = sizeOf(x->type) == 2 ? DataType::Float : x->type;
  Type element = im.elementType(sum);
  SmallVector<Value> operands{im.value(*x), im.value(*w)};
  Value init = im.filled(im.symbols.mixed(outShape), b.getZeroAttr(element));
  auto generic = linalg::GenericOp::create(
      b, TypeRange{init.getType()}, operands, ValueRange{init}, maps, kinds,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ImplicitLocOpBuilder inner(loc, nested);
        Value left = v[0], right = v[1];
        if (left.getType() != element) {
          left = arith::ExtFOp::create(inner, element, left);
          right = arith::ExtFOp::create(inner, element, right);
        }
        Value product = arith::MulFOp::create(inner, left, right);
        linalg::YieldOp::create(inner, arith::AddFOp::create(inner, v[2], product).getResult());
      });
  Data *result = im.cast(*im.make(sum, outShape, generic.getResult(0)), x->type);
  if (hasGroups) {
    SmallVector<Sym> joined{x->shape[0], im.number(outputs)};
    llvm::append_range(joined, window.counts);
    TRY(result, im.reshape(*result, joined));
  }
  return result;
}

/// Adds [M], which may be absent, to each place of [N, M, ...].
static FailureOr<Data *> addBias(Importer &im, Data *x, Data *bias) {
  if (!bias)
    return x;
  if (bias->rank() != 1)
    return im.invalid("expects a bias of rank 1, got " + Twine(bias->rank()));
  return im.binary("Add", x, im.along(*bias, 1, x->rank()));
}

static LogicalResult importConv(Importer &im) {
  Data *x = im.input(0), *w = im.input(1), *bias = im.input(2);
  if (!x || !w || x->rank() < 3 || w->rank() != x->rank() || !isFloat(x->type) ||
      w->type != x->type)
    return im.invalid("expects floats [N, C, ...] and a weight [M, C / group, ...] of their type");
  int64_t groups = im.integer("group", 1);
  SmallVector<int64_t> kernel;
  for (Sym size : ArrayRef(w->shape).drop_front(2)) {
    std::optional<int64_t> known = Symbols::known(size);
    if (!known || *known < 1)
      return im.unsupported("kernels of open size");
    kernel.push_back(*known);
  }
  if (auto given = im.integers("kernel_shape"); given && *given != kernel)
    return im.invalid("expects kernel_shape to be the weight's");
  TRY(Window window, readWindow(im, *x, kernel, /*isPool=*/false));
  std::optional<int64_t> channels = Symbols::known(x->shape[1]),
                         outputs = Symbols::known(w->shape[0]);
  if (groups < 1 || !channels || !outputs || *channels % groups || *outputs % groups ||
      Symbols::known(w->shape[1]) != *channels / groups)
    return im.invalid("expects group to divide the channels, and weights of C / group channels");
  x = pad(im, *x, window.low, window.high, Element());
  TRY(auto *result, convolve(im, x, w, groups, window));
  return im.setResult(addBias(im, result, bias));
}

/// A convolution along the length of [B, C, L], each channel by itself, that reads what was before
/// from a state of the last K - 1 places.
static LogicalResult importCausalConv(Importer &im) {
  Data *x = im.floats(), *w = im.input(1), *bias = im.input(2), *past = im.input(3);
  if (!x)
    return failure();
  std::string activation = im.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    return im.unsupported("activation '" + activation + "'; expects none, silu or swish");
  if (!w || x->rank() != 3 || w->rank() != 3 || w->type != x->type ||
      !Symbols::known(x->shape[1]) || w->shape[0] != x->shape[1] ||
      Symbols::known(w->shape[1]) != 1 || Symbols::known(w->shape[2]).value_or(0) < 1 ||
      (past && (past->rank() != 3 || past->type != x->type)))
    return im.invalid("expects floats [B, C, L], a weight [C, 1, K] and perhaps a state "
                      "[B, C, K - 1], with C and K of fixed size");
  int64_t size = *Symbols::known(w->shape[2]);
  Sym before = im.number(size - 1);
  Data *all = x;
  if (past) {
    TRY(all, im.concat({past, x}, 2));
  } else {
    all = pad(im, *x, {before}, {im.number(0)}, Element());
  }
  Window window;
  window.kernel = {size};
  window.strides = window.dilations = {1};
  window.counts = {x->shape[2]};
  TRY(auto *result, convolve(im, all, w, *Symbols::known(x->shape[1]), window));
  TRY(result, addBias(im, result, bias));
  im.set(0, activation == "none" ? result : im.activate(*result, ActivationKind::Silu));
  if (im.hasOutput(1)) {
    TRY(auto *state, im.slice(*all, 2, im.symbols.sub(all->shape[2], before), before));
    im.set(1, state);
  }
  return success();
}

void mlir::fovea::onnx::addConvolutionOps(OpTable &table) {
  table.add("CausalConvWithState", 27, importCausalConv);
  table.add("Conv", 13, importConv);
}
