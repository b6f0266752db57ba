// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators on shapes: Shape, Reshape, Transpose, Expand, Concat, Split, Slice and their like.
// Sizes that they compute stay expressions. Refuses sizes that depend on what tensors hold.
#include "frontend/ONNX/Importer.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

/// A shape given as a tensor: its elements must be known as expressions.
static FailureOr<SmallVector<Sym>> sizesOf(Importer &im, Data &data, StringRef what) {
  const std::vector<Element> *known = im.elements(data);
  if (!known || isFloat(data.type) || data.rank() > 1)
    return im.unsupported(
        what + " from a tensor's elements; expects constants, or sizes of the model's inputs");
  SmallVector<Sym> result =
      llvm::map_to_vector(*known, [&](const Element &element) { return element.integer; });
  return result;
}

/// Axes of an operator that took them as an attribute first and as an input since `changed`.
static FailureOr<std::optional<SmallVector<int64_t>>> axesOf(Importer &im, int64_t changed) {
  std::optional<SmallVector<int64_t>> result = im.integers("axes");
  if (im.version() < changed)
    return result;
  if (Data *data = im.input(1)) {
    TRY(result, im.constants(*data, "axes"));
  }
  return result;
}

static LogicalResult importIdentity(Importer &im) { return im.setResult(im.input(0)); }

static LogicalResult importDropout(Importer &im) {
  im.integer("seed", 0);
  im.real("ratio", 0);
  std::optional<double> ratio = im.input(1) ? im.realOf(*im.input(1)) : std::nullopt;
  if (Data *training = im.input(2); training && ratio != 0)
    if (im.integerOf(*training) != 0)
      return im.unsupported("training; expects training_mode to be false");
  im.set(0, im.input(0));
  if (im.hasOutput(1))
    im.set(1, im.full(DataType::Bool, im.input(0)->shape, im.integerElement(1)));
  return success();
}

static LogicalResult importShape(Importer &im) {
  Data &x = *im.input(0);
  int64_t rank = x.rank(), start = im.integer("start", 0), end = im.integer("end", rank);
  auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  std::vector<Element> result;
  for (int64_t i = clamp(start); i < clamp(end); ++i)
    result.push_back({x.shape[i], 0});
  SmallVector<Sym> shape{im.number(result.size())};
  return im.setResult(im.makeKnown(DataType::Int64, shape, std::move(result)));
}

static LogicalResult importSize(Importer &im) {
  Sym result = im.number(1);
  for (Sym size : im.input(0)->shape)
    result = im.symbols.mul(result, size);
  return im.setResult(im.makeKnown(DataType::Int64, {}, {Element{result, 0}}));
}

static LogicalResult importReshape(Importer &im) {
  Data &x = *im.input(0);
  bool allowZero = im.integer("allowzero", 0);
  TRY(SmallVector<Sym> shape, sizesOf(im, *im.input(1), "a shape"));
  int64_t open = -1;
  Sym others = im.number(1), total = im.number(1);
  for (Sym size : x.shape)
    total = im.symbols.mul(total, size);
  for (auto [i, size] : llvm::enumerate(shape)) {
    std::optional<int64_t> known = Symbols::known(size);
    if (known == -1) {
      if (open >= 0)
        return im.invalid("expects one size of -1 at most, got two");
      open = i;
      continue;
    }
    if (known == 0 && !allowZero) {
      if (static_cast<int64_t>(i) >= x.rank())
        return im.invalid("expects an axis " + Twine(i) + " to copy the size of, got rank " +
                          Twine(x.rank()));
      size = x.shape[i];
    }
    if (known && *known < -1)
      return im.invalid("expects sizes, 0 or -1, got " + Twine(*known));
    others = im.symbols.mul(others, size);
  }
  if (open >= 0) {
    shape[open] = im.symbols.floorDiv(total, others);
    if (!shape[open])
      return im.invalid("expects sizes beside -1 that are not zero, got a product of 0");
    // What is left when equal sizes cancel: a fraction, whatever the sizes are.
    if (others->terms.size() == 1) {
      Sym number = im.number(others->terms.begin()->second);
      Sym rest = im.symbols.divideExactly(im.symbols.mul(total, number), others);
      std::optional<int64_t> whole = rest ? Symbols::known(rest) : std::nullopt;
      int64_t part = *Symbols::known(number);
      if (whole && *whole % part != 0)
        return im.invalid("expects a size in place of -1 that gives all elements of " +
                          im.describe(x.shape) + ", got " + Twine(*whole) + " / " + Twine(part));
    }
  }
  return im.setResult(im.reshape(x, shape));
}

static LogicalResult importFlatten(Importer &im) {
  Data &x = *im.input(0);
  int64_t axis = im.integer("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    return im.invalid("expects an axis in [" + Twine(-x.rank()) + ", " + Twine(x.rank()) +
                      "], got " + Twine(axis));
  axis = axis < 0 ? axis + x.rank() : axis;
  SmallVector<Sym> shape(2, im.number(1));
  for (auto [i, size] : llvm::enumerate(x.shape)) {
    Sym &part = shape[static_cast<int64_t>(i) >= axis];
    part = im.symbols.mul(part, size);
  }
  return im.setResult(im.reshape(x, shape));
}

static LogicalResult importTranspose(Importer &im) {
  Data &x = *im.input(0);
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, x.rank())));
  if (auto given = im.integers("perm"))
    permutation = *given;
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, x.rank())))
    return im.invalid("expects a permutation of " + Twine(x.rank()) + " axes");
  return im.setResult(im.transpose(x, permutation));
}

static LogicalResult importSqueeze(Importer &im) {
  Data &x = *im.input(0);
  TRY(std::optional<SmallVector<int64_t>> given, axesOf(im, 13));
  SmallVector<int64_t> axes;
  if (given) {
    TRY(axes, im.axes(*given, x.rank()));
    for (int64_t axis : axes)
      if (std::optional<int64_t> size = Symbols::known(x.shape[axis]); size && *size != 1)
        return im.invalid("expects axis " + Twine(axis) + " to have size 1, got " + Twine(*size));
  } else {
    for (auto [i, size] : llvm::enumerate(x.shape))
      if (Symbols::known(size) == 1)
        axes.push_back(i);
  }
  // An open size is taken to be one: the node says so.
  return im.setResult(im.squeeze(x, axes));
}

static LogicalResult importUnsqueeze(Importer &im) {
  Data &x = *im.input(0);
  TRY(std::optional<SmallVector<int64_t>> given, axesOf(im, 13));
  if (!given)
    return im.invalid("expects axes, got none");
  TRY(SmallVector<int64_t> axes, im.axes(*given, x.rank() + given->size()));
  return im.setResult(im.unsqueeze(x, axes));
}

static LogicalResult importExpand(Importer &im) {
  TRY(SmallVector<Sym> shape, sizesOf(im, *im.input(1), "a shape"));
  return im.setResult(im.expand(*im.input(0), shape));
}

static LogicalResult importTile(Importer &im) {
  Data *x = im.input(0);
  TRY(SmallVector<Sym> repeats, sizesOf(im, *im.input(1), "numbers of repeats"));
  for (Sym times : repeats)
    if (std::optional<int64_t> known = Symbols::known(times); known && *known < 0)
      return im.invalid("expects numbers of repeats from 0, got " + Twine(*known));
  if (static_cast<int64_t>(repeats.size()) != x->rank())
    return im.invalid("expects a number of repeats for each of " + Twine(x->rank()) +
                      " axes, got " + Twine(repeats.size()));
  // Each repeated axis gets one in front of it, is broadcast along that and joined with it.
  SmallVector<Sym> before, wide, after;
  for (auto [size, times] : llvm::zip(x->shape, repeats)) {
    if (Symbols::known(times) != 1) {
      before.push_back(im.number(1));
      wide.push_back(times);
    }
    before.push_back(size);
    wide.push_back(size);
    after.push_back(im.symbols.mul(size, times));
  }
  if (im.symbols.takeOverflow())
    return im.invalid("expects sizes that fit 64 bits, got " + im.describe(x->shape) + " times " +
                      im.describe(repeats));
  TRY(x, im.reshape(*x, before));
  TRY(x, im.expand(*x, wide));
  TRY(x, im.reshape(*x, after));
  return im.setResult(x);
}

static LogicalResult importConcat(Importer &im) {
  SmallVector<Data *> parts;
  for (Data *part : im.inputs())
    if (part)
      parts.push_back(part);
  if (parts.empty())
    return im.invalid("expects tensors, got none");
  TRY(int64_t axis, im.axis(im.integer("axis", 0), parts.front()->rank()));
  return im.setResult(im.concat(parts, axis));
}

static LogicalResult importSplit(Importer &im) {
  Data &x = *im.input(0);
  TRY(int64_t axis, im.axis(im.integer("axis", 0), x.rank()));
  int64_t outputs = im.node().outputs.size();
  int64_t parts = im.integer("num_outputs", outputs);
  if (outputs == 0 || parts != outputs)
    return im.invalid("expects num_outputs to be " + Twine(outputs) + ", got " + Twine(parts));
  SmallVector<Sym> sizes;
  if (Data *given = im.input(1)) {
    TRY(sizes, sizesOf(im, *given, "sizes of parts"));
    if (static_cast<int64_t>(sizes.size()) != outputs)
      return im.invalid("expects a size for each of " + Twine(outputs) + " outputs, got " +
                        Twine(sizes.size()));
  } else {
    // Equal parts, the last one smaller if they do not fit.
    Sym part = im.symbols.floorDiv(im.symbols.add(x.shape[axis], im.number(outputs - 1)),
                                   im.number(outputs));
    if (Sym exact = im.symbols.divideExactly(x.shape[axis], im.number(outputs)))
      part = exact;
    sizes.assign(outputs - 1, part);
    sizes.push_back(im.symbols.sub(x.shape[axis], im.symbols.mul(part, im.number(outputs - 1))));
  }
  Sym offset = im.number(0);
  for (int64_t i = 0; i < outputs; ++i) {
    Sym end = im.symbols.add(offset, sizes[i]);
    if (std::optional<int64_t> rest = im.symbols.upperBound(im.symbols.sub(x.shape[axis], end));
        (rest && *rest < 0) || Symbols::known(sizes[i]).value_or(0) < 0)
      return im.invalid("expects parts that fit the axis, got more");
    TRY(auto *part, im.slice(x, axis, offset, sizes[i]));
    im.set(i, part);
    offset = end;
  }
  // Parts of open sizes that do not add up could reach outside.
  if (offset != x.shape[axis] && (!Symbols::known(offset) || !Symbols::known(x.shape[axis])))
    return im.unsupported("sizes of parts whose sum is not that of the axis for certain");
  return success();
}

static LogicalResult importSlice(Importer &im) {
  Data *x = im.input(0);
  if (!im.input(1) || !im.input(2))
    return im.invalid("expects starts and ends, got none");
  TRY(SmallVector<Sym> starts, sizesOf(im, *im.input(1), "starts"));
  TRY(SmallVector<Sym> ends, sizesOf(im, *im.input(2), "ends"));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, starts.size()));
  if (Data *given = im.input(3)) {
    TRY(axes, im.constants(*given, "axes"));
  }
  SmallVector<int64_t> steps(starts.size(), 1);
  if (Data *given = im.input(4)) {
    TRY(steps, im.constants(*given, "steps"));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return im.invalid("expects as many starts, ends, axes and steps, got " + Twine(starts.size()) +
                      ", " + Twine(ends.size()) + ", " + Twine(axes.size()) + " and " +
                      Twine(steps.size()));
  Symbols &s = im.symbols;
  for (size_t i = 0; i < starts.size(); ++i) {
    TRY(int64_t axis, im.axis(axes[i], x->rank()));
    Sym size = x->shape[axis];
    int64_t step = steps[i];
    if (step == 0 || step == INT64_MIN)
      return im.invalid("expects steps that are not zero, got " + Twine(step));
    // Negative places count from the end; then they are clamped, as numpy does.
    auto place = [&](Sym at, Sym low, Sym high) -> Sym {
      // Numbers beyond every size, as exporters write for "to the end".
      if (std::optional<int64_t> known = Symbols::known(at)) {
        if (*known >= INT32_MAX)
          return high;
        if (*known <= -INT32_MAX)
          return low;
      }
      std::optional<int64_t> bottom = s.lowerBound(at), top = s.upperBound(at);
      Sym fromEnd = s.add(at, size);
      if (top && *top < 0)
        at = fromEnd;
      else if (!bottom || *bottom < 0)
        at = s.select(s.less(at, im.number(0)), fromEnd, at);
      return s.min(s.max(at, low), high);
    };
    Sym zero = im.number(0), one = im.number(1), last = s.sub(size, one);
    Sym first, count;
    if (step > 0) {
      first = place(starts[i], zero, size);
      Sym end = place(ends[i], zero, size);
      Sym span = s.max(s.sub(end, first), zero);
      count = step == 1 ? span : s.floorDiv(s.add(span, im.number(step - 1)), im.number(step));
    } else {
      first = place(starts[i], zero, last);
      Sym end = place(ends[i], im.number(-1), last);
      Sym span = s.max(s.sub(first, end), zero);
      count = step == -1 ? span : s.floorDiv(s.add(span, im.number(-step - 1)), im.number(-step));
    }
    TRY(x, im.slice(*x, axis, first, count, step));
  }
  return im.setResult(x);
}

//===-- Sequences
//----------------------------------------------------------------------------------===//
// Lists of tensors whose length is known: no code, only who stands where.

static LogicalResult importSequenceConstruct(Importer &im) {
  Data *result = im.make(DataType::Undefined, {}, {});
  result->items.emplace();
  for (Data *item : im.inputs())
    if (item)
      result->items->push_back(item);
  return im.setResult(result);
}

static LogicalResult importSplitToSequence(Importer &im) {
  constexpr int64_t kMaxParts = 4096;
  auto refuseMore = [&] { return im.unsupported("more than " + Twine(kMaxParts) + " parts"); };
  Data &x = *im.input(0);
  TRY(int64_t axis, im.axis(im.integer("axis", 0), x.rank()));
  bool keep = im.integer("keepdims", 1);
  SmallVector<int64_t> sizes;
  std::optional<int64_t> whole = Symbols::known(x.shape[axis]);
  if (Data *given = im.input(1)) {
    TRY(sizes, im.constants(*given, "sizes of parts"));
    keep = true;
    if (given->rank() == 0) {
      int64_t part = sizes.front();
      if (!whole || part < 1)
        return im.unsupported("parts of one size of an open axis");
      if (*whole / part > kMaxParts)
        return refuseMore();
      sizes.clear();
      for (int64_t i = 0; i < *whole; i += part)
        sizes.push_back(std::min(part, *whole - i));
    }
  } else if (whole) {
    if (*whole > kMaxParts)
      return refuseMore();
    sizes.assign(*whole, 1);
  } else {
    return im.unsupported("an open axis taken apart");
  }
  if (static_cast<int64_t>(sizes.size()) > kMaxParts)
    return refuseMore();
  Data *result = im.make(DataType::Undefined, {}, {});
  result->items.emplace();
  int64_t offset = 0;
  for (int64_t size : sizes) {
    if (size < 0 || (whole && offset + size > *whole))
      return im.invalid("expects parts that fit the axis, got more");
    TRY(auto *part, im.slice(x, axis, im.number(offset), im.number(size)));
    result->items->push_back(keep ? part : im.squeeze(*part, {axis}));
    offset += size;
  }
  return im.setResult(result);
}

static LogicalResult importSequenceAt(Importer &im) {
  const auto &items = im.input(0)->items;
  std::optional<int64_t> at = im.input(1) ? im.integerOf(*im.input(1)) : std::nullopt;
  if (!items || !at)
    return im.unsupported("an element of a sequence that is not known; expects a constant place");
  TRY(int64_t place, im.axis(*at, items->size()));
  return im.setResult((*items)[place]);
}

static LogicalResult importSequenceLength(Importer &im) {
  if (!im.input(0)->items)
    return im.unsupported("a sequence that is not known");
  return im.setResult(im.makeInteger(DataType::Int64, im.input(0)->items->size()));
}

static LogicalResult importSequenceInsert(Importer &im) {
  if (!im.input(0)->items || !im.input(1))
    return im.unsupported("a sequence that is not known");
  SmallVector<Data *> items(*im.input(0)->items);
  int64_t place = items.size();
  if (Data *given = im.input(2)) {
    std::optional<int64_t> at = im.integerOf(*given);
    if (!at || *at < -place || *at > place)
      return im.unsupported("a place that is not a constant inside of the sequence");
    place = *at < 0 ? *at + place : *at;
  }
  items.insert(items.begin() + place, im.input(1));
  Data *result = im.make(DataType::Undefined, {}, {});
  result->items = std::move(items);
  return im.setResult(result);
}

static LogicalResult importSequenceEmpty(Importer &im) {
  im.integer("dtype", 1);
  Data *result = im.make(DataType::Undefined, {}, {});
  result->items.emplace();
  return im.setResult(result);
}

static LogicalResult importConcatFromSequence(Importer &im) {
  const auto &items = im.input(0)->items;
  if (!items || items->empty())
    return im.unsupported("a sequence that is not known, or empty");
  bool isNew = im.integer("new_axis", 0);
  TRY(int64_t axis, im.axis(im.integer("axis", 0), items->front()->rank() + isNew));
  SmallVector<Data *> parts = llvm::map_to_vector(
      *items, [&](Data *item) { return isNew ? im.unsqueeze(*item, {axis}) : item; });
  return im.setResult(im.concat(parts, axis));
}

void mlir::fovea::onnx::addShapeOps(OpTable &table) {
  table.add("Concat", 13, importConcat);
  table.add("Dropout", 13, importDropout);
  table.add("Expand", 13, importExpand);
  table.add("Flatten", 13, importFlatten);
  table.add("Identity", 13, importIdentity);
  table.add("Reshape", 13, importReshape);
  table.add("ConcatFromSequence", 13, importConcatFromSequence);
  table.add("SequenceAt", 13, importSequenceAt);
  table.add("SequenceConstruct", 13, importSequenceConstruct);
  table.add("SequenceEmpty", 13, importSequenceEmpty);
  table.add("SequenceInsert", 13, importSequenceInsert);
  table.add("SequenceLength", 13, importSequenceLength);
  table.add("SplitToSequence", 13, importSplitToSequence);
  table.add("Shape", 13, importShape);
  table.add("Size", 13, importSize);
  table.add("Slice", 13, importSlice);
  table.add("Split", 13, importSplit);
  table.add("Squeeze", 13, importSqueeze);
  table.add("Tile", 13, importTile);
  table.add("Transpose", 13, importTranspose);
  table.add("Unsqueeze", 13, importUnsqueeze);
}
