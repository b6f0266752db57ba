// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resize: axis after axis, each result a weighted sum of few neighbours, whose places and weights
// are constants. Sizes of axes that are resized must be known, unless the nearest element is
// repeated a whole number of times.
#include "frontend/ONNX/Importer.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

namespace {
/// One axis that is resized.
struct Axis {
  int64_t axis = 0;
  double scale = 1;
  std::optional<int64_t> size; ///< Of the result, where it is given or follows.
  double begin = 0, end = 1;   ///< Of the region that is read, as parts of the axis.
};

/// What the node says, for all axes.
struct Kind {
  std::string mode, coordinates, nearest, policy;
  double cubic = 0, beyond = 0;
  bool excludesOutside = false, antialias = false;

  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

/// The neighbours of one place of the result, one after the other, and their weights. With none the
/// result is what stands for places beyond the axis.
struct Neighbours {
  int64_t first = 0;
  SmallVector<double> weights;
};
} // namespace

//===-- Coordinates --------------------------------------------------------------------------===//

/// Where place `at` of the result lies on an axis of `in` elements.
static double locate(const Kind &kind, const Axis &axis, int64_t at, int64_t in) {
  auto size = double(in), place = double(at), whole = axis.scale * size;
  if (kind.coordinates == "align_corners")
    return whole == 1 ? 0 : place * (size - 1) / (whole - 1);
  if (kind.coordinates == "asymmetric")
    return place / axis.scale;
  if (kind.crops()) {
    double part = (axis.end - axis.begin) * (size - 1);
    return axis.begin * (size - 1) + (whole == 1 ? part / 2 : place * part / (whole - 1));
  }
  double half = (place + 0.5) / axis.scale - 0.5;
  if (kind.coordinates == "pytorch_half_pixel")
    return whole == 1 ? -0.5 : half;
  if (kind.coordinates == "half_pixel_symmetric")
    return size / 2 * (1 - double(*axis.size) / whole) + half;
  return half;
}

/// Keys 1981, with the parameter a: the weight of what lies `x` away.
static double cubicWeight(double x, double a) {
  x = std::fabs(x);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Those of a place `ratio`, in (0, 1], behind an element. Antialiased, as many more as the result
/// has fewer elements.
static SmallVector<double> weigh(const Kind &kind, double ratio, double scale) {
  if (kind.mode == "nearest") {
    bool isLast = ratio == 1 || kind.nearest == "ceil";
    if (ratio != 1 && kind.nearest == "round_prefer_floor")
      isLast = ratio > 0.5;
    if (ratio != 1 && kind.nearest == "round_prefer_ceil")
      isLast = ratio >= 0.5;
    return isLast ? SmallVector<double>{0, 1} : SmallVector<double>{1, 0};
  }
  scale = kind.antialias ? std::min(scale, 1.0) : 1;
  double reach = kind.mode == "cubic" ? 2 : 1;
  auto from = static_cast<int64_t>(std::floor(-reach / scale)) + 1;
  SmallVector<double> weights;
  double sum = 0;
  for (int64_t i = from; i < 2 - from; ++i) {
    double distance = scale * (double(i) - ratio);
    weights.push_back(kind.mode == "cubic" ? cubicWeight(distance, kind.cubic)
                                           : std::max(0.0, 1 - std::fabs(distance)));
    sum += weights.back();
  }
  for (double &weight : weights)
    weight /= kind.antialias ? sum : 1;
  return weights;
}

/// Of an axis of `in` elements.
static Neighbours findNeighbours(const Kind &kind, const Axis &axis, int64_t at, int64_t in) {
  double place = locate(kind, axis, at, in);
  if (kind.crops() && (place < 0 || place > double(in - 1)))
    return {};
  double before = std::floor(place);
  Neighbours result;
  result.weights = weigh(kind, place == before ? 1 : place - before, axis.scale);
  // The nearest ones, of equally near ones those before.
  auto count = static_cast<int64_t>(result.weights.size());
  double part = place - before;
  int64_t offset = count % 2 == 0 ? (part == 0 ? -count / 2 : 1 - count / 2)
                                  : (part <= 0.5 ? 0 : 1) - (count - 1) / 2;
  result.first = static_cast<int64_t>(before) + offset;
  if (!kind.excludesOutside)
    return result;
  double sum = 0;
  for (auto [i, weight] : llvm::enumerate(result.weights)) {
    int64_t neighbour = result.first + static_cast<int64_t>(i);
    weight = neighbour < 0 || neighbour >= in ? 0 : weight;
    sum += weight;
  }
  for (double &weight : result.weights)
    weight /= sum == 0 ? 1 : sum;
  return result;
}

//===-- One axis -----------------------------------------------------------------------------===//

/// Each element `times` times.
static FailureOr<Data *> repeat(Importer &im, Data &x, int64_t axis, int64_t times) {
  SmallVector<Sym> shape = llvm::to_vector(x.shape);
  shape[axis] = im.symbols.mul(x.shape[axis], im.number(times));
  Data *apart = im.unsqueeze(x, {axis + 1});
  SmallVector<Sym> wide = llvm::to_vector(apart->shape);
  wide[axis + 1] = im.number(times);
  TRY(Data * all, im.expand(*apart, wide));
  return im.reshape(*all, shape);
}

/// The times that each element stands in the result, if the nearest one is all that it is.
static std::optional<int64_t> findRepetition(const Kind &kind, double scale) {
  bool isWhole = scale == std::floor(scale) && scale >= 1 && scale < 1 << 20;
  bool isFloor = kind.coordinates == "asymmetric" && kind.nearest == "floor";
  bool isMiddle = kind.coordinates == "half_pixel" || kind.coordinates == "half_pixel_symmetric" ||
                  (kind.coordinates == "pytorch_half_pixel" && scale > 1);
  bool isRound = kind.nearest == "round_prefer_floor" || kind.nearest == "round_prefer_ceil";
  if (kind.mode != "nearest" || !isWhole || !(isFloor || (isMiddle && isRound)))
    return std::nullopt;
  return static_cast<int64_t>(scale);
}

/// Constants [count], of neighbour `number` of each place: its own place, or its weight.
static Data *makePlaces(Importer &im, ArrayRef<Neighbours> all, size_t number, int64_t in) {
  std::vector<Element> places;
  for (const Neighbours &one : all)
    places.push_back(im.integerElement(
        std::clamp<int64_t>(one.first + static_cast<int64_t>(number), 0, in - 1)));
  return im.makeKnown(DataType::Int64, im.number(static_cast<int64_t>(all.size())), places);
}

static Data *makeWeights(Importer &im, ArrayRef<Neighbours> all, size_t number, DataType type) {
  std::vector<Element> weights;
  for (const Neighbours &one : all)
    weights.push_back({nullptr, number < one.weights.size() ? one.weights[number] : 0});
  return im.makeKnown(type, im.number(static_cast<int64_t>(all.size())), weights);
}

/// x at the places of `axis` that a constant names.
static Data *pick(Importer &im, Data &x, int64_t axis, Data &places) {
  SmallVector<Sym> shape = llvm::to_vector(x.shape);
  shape[axis] = places.shape.front();
  Value from = im.value(x), table = im.value(places);
  return im.generate(x.type, shape, [&](ImplicitLocOpBuilder &b, ArrayRef<Value> indices) -> Value {
    SmallVector<Value> at(indices);
    Value number = tensor::ExtractOp::create(b, table, indices[axis]);
    at[axis] = arith::IndexCastOp::create(b, b.getIndexType(), number);
    return tensor::ExtractOp::create(b, from, at);
  });
}

static FailureOr<Data *> resizeAxis(Importer &im, Data &x, const Kind &kind, const Axis &axis) {
  std::optional<int64_t> in = Symbols::known(x.shape[axis.axis]);
  if (std::optional<int64_t> times = findRepetition(kind, axis.scale);
      times && (!axis.size || (in && *axis.size == *in * *times)))
    return repeat(im, x, axis.axis, *times);
  if (!in)
    return im.unsupported("a size of axis " + Twine(axis.axis) + " that is open, got " +
                          im.describe(x.shape) +
                          "; expects it to be known, or nearest elements repeated a whole "
                          "number of times");
  if (*in < 1)
    return im.invalid("expects elements on axis " + Twine(axis.axis));
  SmallVector<Neighbours> all;
  size_t most = 0;
  for (int64_t at = 0; at < *axis.size; ++at) {
    all.push_back(findNeighbours(kind, axis, at, *in));
    most = std::max(most, all.back().weights.size());
  }
  if (kind.mode == "nearest" && !kind.crops()) {
    for (Neighbours &one : all)
      one = {one.first + (one.weights.back() == 1 ? 1 : 0), {1}};
    return pick(im, x, axis.axis, *makePlaces(im, all, 0, *in));
  }
  if (*axis.size == 0) {
    SmallVector<Sym> shape = llvm::to_vector(x.shape);
    shape[axis.axis] = im.number(0);
    return im.full(x.type, shape, Element());
  }
  Data *sum = nullptr;
  for (size_t number = 0; number < most; ++number) {
    Data *part = pick(im, x, axis.axis, *makePlaces(im, all, number, *in));
    Data *weights = makeWeights(im, all, number, x.type);
    part = im.binary("Mul", part, im.along(*weights, axis.axis, x.rank()));
    sum = sum ? im.binary("Add", sum, part) : part;
  }
  if (llvm::none_of(all, [](const Neighbours &one) { return one.weights.empty(); }))
    return sum;
  std::vector<Element> beyond;
  for (const Neighbours &one : all)
    beyond.push_back({nullptr, one.weights.empty() ? kind.beyond : 0});
  Data *numbers =
      im.makeKnown(x.type, im.number(static_cast<int64_t>(all.size())), std::move(beyond));
  Data *added = im.along(*numbers, axis.axis, x.rank());
  return sum ? im.binary("Add", sum, added) : im.expand(*added, [&] {
    SmallVector<Sym> shape = llvm::to_vector(x.shape);
    shape[axis.axis] = im.number(*axis.size);
    return shape;
  }());
}

//===-- The node -----------------------------------------------------------------------------===//

static FailureOr<Kind> readKind(Importer &im) {
  Kind kind;
  kind.mode = im.text("mode", "nearest");
  kind.coordinates = im.text("coordinate_transformation_mode", "half_pixel");
  kind.nearest = im.text("nearest_mode", "round_prefer_floor");
  kind.policy = im.text("keep_aspect_ratio_policy", "stretch");
  kind.cubic = im.real("cubic_coeff_a", -0.75);
  kind.beyond = im.real("extrapolation_value", 0);
  kind.excludesOutside = im.integer("exclude_outside", 0) != 0;
  kind.antialias = im.integer("antialias", 0) != 0;
  if (!llvm::is_contained({"nearest", "linear", "cubic"}, kind.mode))
    return im.invalid("expects mode nearest, linear or cubic, got " + kind.mode);
  if (!llvm::is_contained({"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                           "align_corners", "asymmetric", "tf_crop_and_resize"},
                          kind.coordinates))
    return im.invalid("expects another coordinate_transformation_mode, got " + kind.coordinates);
  if (!llvm::is_contained({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"},
                          kind.nearest))
    return im.invalid("expects another nearest_mode, got " + kind.nearest);
  if (!llvm::is_contained({"stretch", "not_larger", "not_smaller"}, kind.policy))
    return im.invalid("expects another keep_aspect_ratio_policy, got " + kind.policy);
  if (kind.antialias && kind.mode == "nearest")
    return im.invalid("expects no antialias in mode nearest, got 1");
  return kind;
}

/// Stands for the size that an axis has, where that is open.
static constexpr double kSame = -1;

/// The elements of an input that is there and not empty, which must be known numbers, or, where
/// `sizes` are given, these.
static FailureOr<SmallVector<double>> readNumbers(Importer &im, size_t number, StringRef what,
                                                  size_t count, ArrayRef<Sym> sizes = {}) {
  Data *data = im.input(number);
  SmallVector<double> result;
  if (!data || (data->rank() == 1 && Symbols::known(data->shape[0]) == 0))
    return result;
  const std::vector<Element> *elements = im.elements(*data);
  if (!elements)
    return im.unsupported(what + " that are computed; expects constants");
  for (const Element &element : *elements) {
    if (!isFloat(data->type) && result.size() < sizes.size() &&
        element.integer == sizes[result.size()] && !Symbols::known(element.integer)) {
      result.push_back(kSame);
      continue;
    }
    std::optional<int64_t> integer =
        isFloat(data->type) ? std::nullopt : Symbols::known(element.integer);
    if (!isFloat(data->type) && !integer)
      return im.unsupported(what + " that are open; expects numbers");
    result.push_back(integer ? double(*integer) : element.real);
  }
  if (result.size() != count)
    return im.invalid("expects " + Twine(count) + " " + what + ", got " + Twine(result.size()));
  return result;
}

static constexpr double kMostSize = 1 << 24;

/// The sizes and scales of `axes`, of which either scales or sizes are given.
static LogicalResult setSizes(Importer &im, const Data &x, const Kind &kind,
                              MutableArrayRef<Axis> axes, ArrayRef<double> scales,
                              ArrayRef<double> sizes) {
  for (auto [i, axis] : llvm::enumerate(axes)) {
    std::optional<int64_t> in = Symbols::known(x.shape[axis.axis]);
    double given = sizes.empty() ? scales[i] : sizes[i];
    if (!sizes.empty() && given == kSame)
      continue;
    if (!(given >= (sizes.empty() ? 1e-6 : 0)) || given > kMostSize)
      return im.invalid("expects sizes and positive scales up to 2^24, got " +
                        std::to_string(given));
    if (!sizes.empty()) {
      if (!in || *in < 1)
        return im.unsupported("sizes for an axis whose own size is open, " + im.describe(x.shape));
      axis.scale = given / double(*in);
      axis.size = static_cast<int64_t>(given);
    } else {
      axis.scale = given;
      if (in && double(*in) * given > kMostSize)
        return im.invalid("expects sizes up to 2^24, got " + std::to_string(double(*in) * given));
      if (in)
        axis.size = static_cast<int64_t>(double(*in) * given);
    }
  }
  if (sizes.empty() || kind.policy == "stretch")
    return success();
  if (llvm::is_contained(sizes, kSame))
    return im.unsupported("proportions of an axis whose size is open, " + im.describe(x.shape));
  auto less = [](const Axis &a, const Axis &b) { return a.scale < b.scale; };
  double scale = kind.policy == "not_larger" ? llvm::min_element(axes, less)->scale
                                             : llvm::max_element(axes, less)->scale;
  for (Axis &axis : axes) {
    axis.scale = scale;
    axis.size =
        static_cast<int64_t>(std::floor(scale * double(*Symbols::known(x.shape[axis.axis])) + 0.5));
  }
  return success();
}

static FailureOr<SmallVector<Axis>> readAxes(Importer &im, const Data &x, const Kind &kind) {
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  if (std::optional<SmallVector<int64_t>> given = im.integers("axes")) {
    if (failed(im.axes(*given, x.rank()))) // which sorts them
      return failure();
    numbers = *given;
    for (int64_t &number : numbers)
      number += number < 0 ? x.rank() : 0;
  }
  size_t count = numbers.size();
  TRY(SmallVector<double> region, readNumbers(im, 1, "bounds of a region", 2 * count));
  TRY(SmallVector<double> scales, readNumbers(im, 2, "scales", count));
  SmallVector<Sym> own;
  for (int64_t number : numbers)
    own.push_back(x.shape[number]);
  TRY(SmallVector<double> sizes, readNumbers(im, 3, "sizes", count, own));
  if (scales.empty() == sizes.empty())
    return im.invalid("expects scales or sizes");
  if (kind.crops() && region.empty())
    return im.invalid("expects the bounds of a region for tf_crop_and_resize, got none");
  SmallVector<Axis> axes;
  for (auto [i, number] : llvm::enumerate(numbers)) {
    axes.emplace_back();
    axes.back().axis = number;
    if (!region.empty() && kind.crops()) {
      axes.back().begin = region[i];
      axes.back().end = region[count + i];
    }
  }
  if (failed(setSizes(im, x, kind, axes, scales, sizes)))
    return failure();
  return axes;
}

/// Whether all stays as it is.
static bool isIdentity(const Data &x, const Axis &axis) {
  bool isWhole = axis.begin == 0 && axis.end == 1;
  return isWhole && axis.scale == 1 &&
         (!axis.size || axis.size == Symbols::known(x.shape[axis.axis]));
}

static LogicalResult importResize(Importer &im) {
  Data *x = im.input(0);
  if (!x)
    return im.invalid("expects data");
  TRY(Kind kind, readKind(im));
  TRY(SmallVector<Axis> axes, readAxes(im, *x, kind));
  DataType type = x->type;
  bool isPicked = kind.mode == "nearest" && !kind.crops();
  if (!isPicked && !isFloat(type))
    return im.unsupported("interpolation of integers; expects floats, or mode nearest");
  if (!isPicked && sizeOf(type) == 2)
    x = im.cast(*x, DataType::Float);
  for (const Axis &axis : axes)
    if (!isIdentity(*x, axis)) {
      TRY(x, resizeAxis(im, *x, kind, axis));
    }
  return im.setResult(im.cast(*x, type));
}

void mlir::fovea::onnx::addResizeOps(OpTable &table) { table.add("Resize", 13, importResize); }
