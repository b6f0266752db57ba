// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions, for stems and patch embeddings: one linalg.generic over a padded input. Refuses
// open sizes of the kernel.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

namespace {
/// What the attributes say about each spatial axis.
struct Window {
  SmallVector<int64_t> kernel, strides, dilations;
  SmallVector<Sym> low, high;
};
} // namespace

static FailureOr<Window> readWindow(Importer &im, Data &x, Data &w) {
  Window window;
  int64_t rank = x.rank() - 2;
  for (Sym size : ArrayRef(w.shape).drop_front(2)) {
    std::optional<int64_t> known = Symbols::known(size);
    if (!known || *known < 1)
      return im.unsupported("kernels of open size");
    window.kernel.push_back(*known);
  }
  if (auto given = im.integers("kernel_shape"); given && *given != window.kernel)
    return im.invalid("expects kernel_shape to be the weight's");
  window.strides = im.integers("strides").value_or(SmallVector<int64_t>(rank, 1));
  window.dilations = im.integers("dilations").value_or(SmallVector<int64_t>(rank, 1));
  SmallVector<int64_t> pads = im.integers("pads").value_or(SmallVector<int64_t>(rank * 2, 0));
  std::string mode = im.text("auto_pad", "NOTSET");
  auto arePositive = [](ArrayRef<int64_t> values) {
    return llvm::all_of(values, [](int64_t v) { return v >= 1 && v < (1 << 20); });
  };
  if (static_cast<int64_t>(window.strides.size()) != rank ||
      static_cast<int64_t>(window.dilations.size()) != rank ||
      static_cast<int64_t>(pads.size()) != rank * 2 || !arePositive(window.strides) ||
      !arePositive(window.dilations) ||
      llvm::any_of(pads, [](int64_t v) { return v < 0 || v >= (1 << 20); }))
    return im.invalid(
        "expects positive strides and dilations, and pads that are not negative, for " +
        Twine(rank) + " axes");
  Symbols &s = im.symbols;
  for (int64_t i = 0; i < rank; ++i) {
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      // As many windows as strides fit: the missing elements are shared by both ends.
      Sym stride = im.number(window.strides[i]), size = x.shape[i + 2];
      Sym count = s.floorDiv(s.add(size, im.number(window.strides[i] - 1)), stride);
      Sym span = s.add(s.mul(s.sub(count, im.number(1)), stride),
                       im.number((window.kernel[i] - 1) * window.dilations[i] + 1));
      Sym missing = s.max(s.sub(span, size), im.number(0));
      Sym less = s.floorDiv(missing, im.number(2)), more = s.sub(missing, less);
      window.low.push_back(mode == "SAME_UPPER" ? less : more);
      window.high.push_back(mode == "SAME_UPPER" ? more : less);
    } else {
      bool none = mode == "VALID";
      window.low.push_back(im.number(none ? 0 : pads[i]));
      window.high.push_back(im.number(none ? 0 : pads[i + rank]));
    }
  }
  return window;
}

static LogicalResult importConv(Importer &im) {
  Data *x = im.input(0), *w = im.input(1), *bias = im.input(2);
  if (!x || !w || x->rank() < 3 || w->rank() != x->rank() || !isFloat(x->type) ||
      w->type != x->type)
    return im.invalid("expects floats [N, C, ...] and a weight [M, C / group, ...] of their type");
  int64_t groups = im.integer("group", 1), rank = x->rank() - 2;
  TRY(Window window, readWindow(im, *x, *w));
  std::optional<int64_t> channels = Symbols::known(x->shape[1]),
                         outputs = Symbols::known(w->shape[0]);
  if (groups < 1 || !channels || !outputs || *channels % groups || *outputs % groups ||
      Symbols::known(w->shape[1]) != *channels / groups)
    return im.invalid("expects group to divide the channels, and weights of C / group channels");
  ImplicitLocOpBuilder &b = im.b;
  Symbols &s = im.symbols;
  // Pad with zeros.
  SmallVector<Sym> padded(x->shape);
  SmallVector<OpFoldResult> low(2, b.getIndexAttr(0)), high(2, b.getIndexAttr(0));
  bool hasPads = false;
  for (int64_t i = 0; i < rank; ++i) {
    padded[i + 2] = s.add(x->shape[i + 2], s.add(window.low[i], window.high[i]));
    hasPads |= padded[i + 2] != x->shape[i + 2];
    low.push_back(s.mixed(window.low[i]));
    high.push_back(s.mixed(window.high[i]));
  }
  if (hasPads) {
    Value operand = im.value(*x);
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(im.elementType(x->type)));
    x = im.make(x->type, padded,
                tensor::PadOp::create(b, im.typeOf(x->type, padded), operand, low, high, zero));
  }
  SmallVector<Sym> spatial;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    Sym rest = s.sub(padded[i + 2], im.number(span));
    if (std::optional<int64_t> known = Symbols::known(rest); known && *known < 0)
      return im.invalid("expects an input that the kernel fits in");
    spatial.push_back(
        s.add(s.floorDiv(s.max(rest, im.number(0)), im.number(window.strides[i])), im.number(1)));
  }
  // [N, G, C/G, ...] and [G, M/G, C/G, ...]; without groups G is left out.
  bool hasGroups = groups != 1;
  SmallVector<Sym> outShape(x->shape.begin(), x->shape.begin() + 1);
  if (hasGroups) {
    SmallVector<Sym> dataShape{x->shape[0], im.number(groups), im.number(*channels / groups)};
    dataShape.append(padded.begin() + 2, padded.end());
    SmallVector<Sym> weightShape{im.number(groups), im.number(*outputs / groups)};
    weightShape.append(w->shape.begin() + 1, w->shape.end());
    TRY(x, im.reshape(*x, dataShape));
    TRY(w, im.reshape(*w, weightShape));
    outShape.push_back(im.number(groups));
  }
  outShape.push_back(im.number(*outputs / groups));
  outShape.append(spatial.begin(), spatial.end());
  // Loops: the result's axes, then channels, then the kernel's.
  unsigned results = outShape.size(), loops = results + 1 + rank, first = hasGroups ? 3 : 2;
  SmallVector<AffineExpr> data{b.getAffineDimExpr(0)}, weight, out;
  if (hasGroups) {
    data.push_back(b.getAffineDimExpr(1));
    weight.push_back(b.getAffineDimExpr(1));
  }
  data.push_back(b.getAffineDimExpr(results));
  weight.append({b.getAffineDimExpr(first - 1), b.getAffineDimExpr(results)});
  for (int64_t i = 0; i < rank; ++i) {
    data.push_back(b.getAffineDimExpr(first + i) * window.strides[i] +
                   b.getAffineDimExpr(results + 1 + i) * window.dilations[i]);
    weight.push_back(b.getAffineDimExpr(results + 1 + i));
  }
  for (unsigned i = 0; i < results; ++i)
    out.push_back(b.getAffineDimExpr(i));
  SmallVector<AffineMap> maps{AffineMap::get(loops, 0, data, b.getContext()),
                              AffineMap::get(loops, 0, weight, b.getContext()),
                              AffineMap::get(loops, 0, out, b.getContext())};
  SmallVector<utils::IteratorType> kinds(results, utils::IteratorType::parallel);
  kinds.append(1 + rank, utils::IteratorType::reduction);
  DataType sum = sizeOf(x->type) == 2 ? DataType::Float : x->type;
  Type element = im.elementType(sum);
  SmallVector<Value> operands{im.value(*x), im.value(*w)};
  SmallVector<OpFoldResult> sizes;
  for (Sym size : outShape)
    sizes.push_back(s.mixed(size));
  Value init = tensor::EmptyOp::create(b, sizes, element);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
  init = linalg::FillOp::create(b, ValueRange{zero}, ValueRange{init}).getResult(0);
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
    SmallVector<Sym> joined{x->shape[0], im.number(*outputs)};
    joined.append(spatial.begin(), spatial.end());
    TRY(result, im.reshape(*result, joined));
  }
  if (bias) {
    if (bias->rank() != 1)
      return im.invalid("expects a bias of rank 1, got " + Twine(bias->rank()));
    SmallVector<int64_t> axes{0};
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i + 2);
    result = im.binary("Add", result, im.unsqueeze(*bias, axes));
  }
  im.set(0, result);
  return success();
}

static LogicalResult importGlobalPool(Importer &im) {
  Data *x = im.input(0);
  if (x->rank() < 3 || !isFloat(x->type))
    return im.invalid("expects floats of rank 3 or more");
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, x->rank()));
  im.set(0, im.node().op == "GlobalMaxPool" ? im.reduce(*x, axes, true, Importer::Reduction::Max)
                                            : im.mean(*x, axes, true));
  return success();
}

void mlir::fovea::onnx::addConvolutionOps(OpTable &table) {
  table.add("Conv", 13, importConv);
  table.add("GlobalAveragePool", 13, importGlobalPool);
  table.add("GlobalMaxPool", 13, importGlobalPool);
}
