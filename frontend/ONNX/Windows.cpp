// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Windows.h. Refuses strides, dilations and pads that make no sense, and kernels that do not
// fit.
#include "frontend/ONNX/Windows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

int64_t Window::volume() const {
  int64_t result = 1;
  for (int64_t size : kernel)
    if (llvm::MulOverflow(result, size, result))
      return INT64_MAX;
  return result;
}

FailureOr<Window> mlir::fovea::onnx::readWindow(Importer &im, const Data &x,
                                                ArrayRef<int64_t> kernel, bool isPool) {
  constexpr int64_t kMost = 1 << 20;
  Window window;
  int64_t rank = x.rank() - 2;
  window.kernel.assign(kernel.begin(), kernel.end());
  window.strides = im.integers("strides").value_or(SmallVector<int64_t>(rank, 1));
  window.dilations = im.integers("dilations").value_or(SmallVector<int64_t>(rank, 1));
  SmallVector<int64_t> pads = im.integers("pads").value_or(SmallVector<int64_t>(rank * 2, 0));
  std::string mode = im.text("auto_pad", "NOTSET");
  bool roundsUp = isPool && im.integer("ceil_mode", 0);
  auto arePositive = [](ArrayRef<int64_t> values) {
    return llvm::all_of(values, [](int64_t v) { return v >= 1 && v < kMost; });
  };
  if (static_cast<int64_t>(window.strides.size()) != rank ||
      static_cast<int64_t>(window.dilations.size()) != rank ||
      static_cast<int64_t>(pads.size()) != rank * 2 || !arePositive(window.strides) ||
      !arePositive(window.dilations) ||
      llvm::any_of(pads, [](int64_t v) { return v < 0 || v >= kMost; }))
    return im.invalid(
        "expects positive strides and dilations, and pads that are not negative, for " +
        Twine(rank) + " axes");
  Symbols &s = im.symbols;
  Sym zero = im.number(0), one = im.number(1);
  for (int64_t i = 0; i < rank; ++i) {
    Sym size = x.shape[i + 2], stride = im.number(window.strides[i]);
    Sym span = im.number((window.kernel[i] - 1) * window.dilations[i] + 1);
    Sym low = zero, high = zero;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      // As many windows as strides fit: the missing elements are shared by both ends.
      Sym count = s.floorDiv(s.add(size, im.number(window.strides[i] - 1)), stride);
      Sym missing = s.max(s.sub(s.add(s.mul(s.sub(count, one), stride), span), size), zero);
      Sym less = s.floorDiv(missing, im.number(2)), more = s.sub(missing, less);
      low = mode == "SAME_UPPER" ? less : more;
      high = mode == "SAME_UPPER" ? more : less;
    } else if (mode != "VALID") {
      low = im.number(pads[i]);
      high = im.number(pads[i + rank]);
    }
    Sym before = s.add(size, low), rest = s.sub(s.add(before, high), span), beyond = zero;
    if (std::optional<int64_t> known = Symbols::known(rest); known && *known < 0)
      return im.invalid("expects an input that the kernel fits in");
    rest = s.max(rest, zero);
    Sym steps = s.floorDiv(rest, stride);
    if (roundsUp) {
      steps = s.floorDiv(s.add(rest, im.number(window.strides[i] - 1)), stride);
      // A window that begins behind the input is none.
      steps = s.sub(steps, s.sub(one, s.less(s.mul(steps, stride), before)));
      beyond = s.max(s.sub(s.mul(steps, stride), rest), zero);
    }
    window.low.push_back(low);
    window.high.push_back(s.add(high, beyond));
    window.beyond.push_back(beyond);
    window.counts.push_back(s.add(steps, one));
  }
  return window;
}

Data *mlir::fovea::onnx::pad(Importer &im, Data &x, ArrayRef<Sym> low, ArrayRef<Sym> high,
                             const Element &value) {
  ImplicitLocOpBuilder &b = im.b;
  SmallVector<Sym> padded(x.shape);
  SmallVector<OpFoldResult> before(2, b.getIndexAttr(0)), behind(2, b.getIndexAttr(0));
  for (auto [i, counts] : llvm::enumerate(llvm::zip_equal(low, high))) {
    auto [less, more] = counts;
    padded[i + 2] = im.symbols.add(x.shape[i + 2], im.symbols.add(less, more));
    before.push_back(im.symbols.mixed(less));
    behind.push_back(im.symbols.mixed(more));
  }
  if (ArrayRef<Sym>(padded) == ArrayRef<Sym>(x.shape))
    return &x;
  Value operand = im.value(x), fill = im.scalarConstant(im.elementType(x.type), value);
  return im.make(
      x.type, padded,
      tensor::PadOp::create(b, im.typeOf(x.type, padded), operand, before, behind, fill));
}

Data *mlir::fovea::onnx::slide(Importer &im, Data &padded, const Window &window,
                               Importer::Reduction kind) {
  ImplicitLocOpBuilder &b = im.b;
  bool isSum = kind == Importer::Reduction::Sum;
  Data *x = isSum && sizeOf(padded.type) == 2 && isFloat(padded.type)
                ? im.cast(padded, DataType::Float)
                : &padded;
  SmallVector<Sym> shape(x->shape.begin(), x->shape.begin() + 2);
  llvm::append_range(shape, window.counts);
  // Loops: the result's axes, then the kernel's, whose sizes an operand of no other use tells.
  unsigned results = shape.size(), loops = results + window.rank();
  SmallVector<AffineExpr> places{b.getAffineDimExpr(0), b.getAffineDimExpr(1)}, elements, out;
  for (size_t i = 0; i < window.rank(); ++i) {
    elements.push_back(b.getAffineDimExpr(results + i));
    places.push_back(window.place(i, b.getAffineDimExpr(2 + i), elements.back()));
  }
  for (unsigned i = 0; i < results; ++i)
    out.push_back(b.getAffineDimExpr(i));
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> exprs : {ArrayRef(places), ArrayRef(elements), ArrayRef(out)})
    maps.push_back(AffineMap::get(loops, 0, exprs, b.getContext()));
  SmallVector<utils::IteratorType> kinds(results, utils::IteratorType::parallel);
  kinds.append(window.rank(), utils::IteratorType::reduction);
  auto extent = DenseElementsAttr::get(RankedTensorType::get(window.kernel, b.getI1Type()), false);
  SmallVector<Value> operands{im.value(*x), arith::ConstantOp::create(b, extent)};
  Value init = im.filled(im.symbols.mixed(shape), im.firstOf(x->type, kind));
  auto generic = linalg::GenericOp::create(
      b, TypeRange{init.getType()}, operands, ValueRange{init}, maps, kinds,
      [&](OpBuilder &nested, Location loc, ValueRange v) {
        ImplicitLocOpBuilder inner(loc, nested);
        linalg::YieldOp::create(inner, im.combine(inner, x->type, kind, v[2], v[0]));
      });
  return im.cast(*im.make(x->type, shape, generic.getResult(0)), padded.type);
}
