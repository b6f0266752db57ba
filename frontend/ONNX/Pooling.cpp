// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pools: sums and greatest elements of windows, and of whole images. Refuses the places of the
// greatest elements.
#include "frontend/ONNX/Windows.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// The exponent of an Lp norm, or a problem.
static FailureOr<Data *> readExponent(Importer &im, DataType type) {
  int64_t p = im.integer("p", 2);
  if (p < 1)
    return im.invalid("expects p to be 1 or more, got " + Twine(p));
  return im.makeReal(type, p);
}

static FailureOr<Window> readPool(Importer &im, const Data &x) {
  std::optional<SmallVector<int64_t>> kernel = im.integers("kernel_shape");
  constexpr int64_t kMost = 1 << 20;
  if (!kernel || static_cast<int64_t>(kernel->size()) != x.rank() - 2 ||
      llvm::any_of(*kernel, [](int64_t size) { return size < 1 || size >= kMost; }))
    return im.invalid("expects kernel_shape to give a size from 1 to 2^20 for each of " +
                      Twine(x.rank() - 2) + " axes");
  TRY(Window window, readWindow(im, x, *kernel, /*isPool=*/true));
  if (window.volume() > (int64_t(1) << 31))
    return im.unsupported("windows of more than 2^31 elements");
  return window;
}

static Data *imageOf(Importer &im) {
  Data *x = im.floats();
  if (!x || x->rank() >= 3)
    return x;
  (void)im.invalid("expects floats of rank 3 or more, got rank " + Twine(x->rank()));
  return nullptr;
}

static LogicalResult importMaxPool(Importer &im) {
  Data *x = im.input(0);
  if (!x || x->rank() < 3)
    return im.invalid("expects data of rank 3 or more");
  im.integer("storage_order", 0); // of the places
  if (im.hasOutput(1))
    return im.unsupported("the places of the greatest elements as a result; expects one result");
  TRY(Window window, readPool(im, *x));
  Element least;
  if (auto number = dyn_cast<IntegerAttr>(im.firstOf(x->type, Importer::Reduction::Max)))
    least = im.integerElement(number.getInt());
  else
    least.real = -std::numeric_limits<double>::infinity();
  Data *padded = pad(im, *x, window.low, window.high, least);
  return im.setResult(slide(im, *padded, window, Importer::Reduction::Max));
}

static LogicalResult importAveragePool(Importer &im) {
  Data *x = imageOf(im);
  if (!x)
    return failure();
  bool countsPads = im.integer("count_include_pad", 0);
  TRY(Window window, readPool(im, *x));
  Data *padded = pad(im, *x, window.low, window.high, Element());
  Data *sum = slide(im, *padded, window, Importer::Reduction::Sum);
  // How many elements of each window count: what completes the last one never does.
  SmallVector<Sym> places{im.number(1), im.number(1)}, low, high;
  bool isWhole = true;
  for (size_t i = 0; i < window.rank(); ++i) {
    Sym size = x->shape[i + 2];
    if (countsPads)
      size = im.symbols.sub(padded->shape[i + 2], window.beyond[i]);
    places.push_back(size);
    low.push_back(countsPads ? im.number(0) : window.low[i]);
    high.push_back(countsPads ? window.beyond[i] : window.high[i]);
    isWhole &= Symbols::known(low.back()) == 0 && Symbols::known(high.back()) == 0;
  }
  DataType inner = sizeOf(x->type) == 2 ? DataType::Float : x->type;
  Data *count = im.makeReal(inner, window.volume());
  if (!isWhole) {
    Data *ones = im.full(inner, places, Element{nullptr, 1});
    count = slide(im, *pad(im, *ones, low, high, Element()), window, Importer::Reduction::Sum);
  }
  return im.setResult(im.cast(*im.binary("Div", im.cast(*sum, inner), count), x->type));
}

static LogicalResult importLpPool(Importer &im) {
  Data *x = imageOf(im);
  if (!x)
    return failure();
  TRY(auto *p, readExponent(im, x->type));
  TRY(Window window, readPool(im, *x));
  Data *powers = im.binary("Pow", im.unary("Abs", x), p);
  Data *padded = pad(im, *powers, window.low, window.high, Element());
  Data *sum = slide(im, *padded, window, Importer::Reduction::Sum);
  return im.setResult(im.binary("Pow", sum, im.binary("Div", im.makeReal(x->type, 1), p)));
}

static LogicalResult importGlobalPool(Importer &im) {
  Data *x = imageOf(im);
  if (!x)
    return failure();
  StringRef op = im.node().op;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(2, x->rank()));
  if (op == "GlobalLpPool") {
    TRY(auto *p, readExponent(im, x->type));
    Data *powers = im.binary("Pow", im.unary("Abs", x), p);
    Data *sum = im.reduce(*powers, axes, true, Importer::Reduction::Sum);
    return im.setResult(im.binary("Pow", sum, im.binary("Div", im.makeReal(x->type, 1), p)));
  }
  return im.setResult(op == "GlobalMaxPool" ? im.reduce(*x, axes, true, Importer::Reduction::Max)
                                            : im.mean(*x, axes, true));
}

void mlir::fovea::onnx::addPoolingOps(OpTable &table) {
  table.add("AveragePool", 13, importAveragePool);
  table.add("GlobalAveragePool", 13, importGlobalPool);
  table.add("GlobalLpPool", 13, importGlobalPool);
  table.add("GlobalMaxPool", 13, importGlobalPool);
  table.add("LpPool", 13, importLpPool);
  table.add("MaxPool", 13, importMaxPool);
}
