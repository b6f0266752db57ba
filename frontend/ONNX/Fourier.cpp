// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DFT, as a product with the matrix of its sines and cosines: of transforms as short as those of
// texts' hidden states (FNet, Lee-Thorp et al. 2022). Refuses lengths that are open.
#include "frontend/ONNX/Importer.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

namespace {
/// Of rows of `in` numbers, `parts` elements each (real, or real and imaginary), the transform of
/// length `length`, or its first `out` numbers of `outParts` elements.
struct Transform {
  int64_t in = 0, parts = 0, length = 0, out = 0, outParts = 2;
  bool inverse = false;
  bool isHalf = false; ///< The numbers stand for their conjugates in the other half, too.
};
} // namespace

/// [in, parts, out, outParts]
static Data *makeBasis(Importer &im, DataType type, const Transform &t) {
  std::vector<Element> elements;
  const double turn = 2 * std::acos(-1.0) / double(t.length);
  for (int64_t n = 0; n < t.in; ++n)
    for (int64_t part = 0; part < t.parts; ++part)
      for (int64_t k = 0; k < t.out; ++k) {
        // Reduced first: products of large numbers have few digits left behind the point.
        double angle = turn * double(n * k % t.length) * (t.inverse ? 1 : -1);
        double size = t.inverse ? 1 / double(t.length) : 1;
        if (t.isHalf && n > 0 && 2 * n != t.length)
          size *= 2;
        double cosine = std::cos(angle) * size, sine = std::sin(angle) * size;
        elements.push_back({nullptr, part == 0 ? cosine : -sine});
        if (t.outParts == 2)
          elements.push_back({nullptr, part == 0 ? sine : cosine});
      }
  return im.makeKnown(type, im.numbers({t.in, t.parts, t.out, t.outParts}), std::move(elements));
}

/// The axis, of those before the parts.
static FailureOr<int64_t> readAxis(Importer &im, const Data &x) {
  int64_t axis = im.version() < 20 ? im.integer("axis", 1) : -2;
  if (Data *given = im.version() < 20 ? nullptr : im.input(2)) {
    std::optional<int64_t> known = im.integerOf(*given);
    if (!known)
      return im.unsupported("an axis that is computed; expects a constant");
    axis = *known;
  }
  TRY(axis, im.axis(axis, x.rank()));
  if (axis == x.rank() - 1)
    return im.invalid("expects an axis before the last one, got " + Twine(axis));
  return axis;
}

/// How long it is, and what it gives.
static LogicalResult readLength(Importer &im, Transform &t) {
  bool oneSided = im.integer("onesided", 0) != 0;
  if (oneSided && (t.parts == 2) != t.inverse)
    return im.unsupported("onesided for these numbers; expects real ones, or two parts for an "
                          "inverse");
  t.isHalf = oneSided && t.inverse;
  t.length = t.isHalf ? 2 * (t.in - 1) : t.in;
  if (Data *given = im.input(1)) {
    std::optional<int64_t> known = im.integerOf(*given);
    if (!known)
      return im.unsupported("a dft_length that is computed; expects a constant");
    t.length = *known;
  }
  constexpr int64_t kMost = 2048;
  if (t.length < 1 || t.length > kMost)
    return im.unsupported("a length of " + Twine(t.length) + "; expects 1 to " + Twine(kMost));
  t.out = oneSided && !t.inverse ? t.length / 2 + 1 : t.length;
  t.outParts = t.isHalf ? 1 : 2;
  return success();
}

static LogicalResult importDft(Importer &im) {
  Data *x = im.floats();
  if (!x)
    return failure();
  std::optional<int64_t> parts = x->rank() < 2 ? std::nullopt : Symbols::known(x->shape.back());
  if (!parts || (*parts != 1 && *parts != 2))
    return im.invalid("expects numbers of one or two parts, got " + im.describe(x->shape));
  TRY(int64_t axis, readAxis(im, *x));
  std::optional<int64_t> in = Symbols::known(x->shape[axis]);
  if (!in)
    return im.unsupported("a length that is open, " + im.describe(x->shape));
  Transform t;
  t.in = *in;
  t.parts = *parts;
  t.inverse = im.integer("inverse", 0) != 0;
  if (failed(readLength(im, t)))
    return failure();
  int64_t most = t.isHalf ? t.length / 2 + 1 : t.length;
  if (t.in > most) {
    TRY(x, im.slice(*x, axis, im.number(0), im.number(most)));
    t.in = most;
  }
  // Letters for the axes: n, which becomes k, and p, which becomes q.
  std::string from, to;
  for (int64_t i = 0; i < x->rank() - 1; ++i) {
    from += i == axis ? 'n' : char('A' + i);
    to += i == axis ? 'k' : char('A' + i);
  }
  Data *basis = makeBasis(im, x->type, t);
  return im.setResult(im.contract(*x, from + "p", *basis, "npkq", to + "q", x->type));
}

void mlir::fovea::onnx::addFourierOps(OpTable &table) { table.add("DFT", 17, importDft); }
