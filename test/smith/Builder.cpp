// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs, products and results of a program.
#include "test/smith/Builder.h"
#include <algorithm>
#include <cmath>

namespace fovea::smith {

static Elem elemOf(int type) {
  static constexpr Elem kElems[] = {Elem::F32, Elem::F16, Elem::BF16, Elem::F64};
  return kElems[type];
}

static Spelling spellingOf(int style) {
  static constexpr Spelling kSpellings[] = {{0, false}, {25, false}, {75, false}, {100, true}};
  return kSpellings[style];
}

Builder::Builder(const Choices &choices, Editor *editor)
    : c(choices), editor(editor), w(choices[Choice::Spelling], spellingOf(choices[Choice::Style])),
      type(elemOf(choices[Choice::Type])),
      inner(choices[Choice::Upcast] == kNoUpcast ? type : Elem::F32) {}

bool Builder::isEmpty(char axis) const {
  if (axis == 'j' && c[Choice::Self])
    axis = 'i';
  size_t bit = std::string("bijde").find(axis);
  return bit != std::string::npos && (c[Choice::Empty] >> bit & 1);
}

void Builder::declareAxes() {
  Random random(c[Choice::Spelling], "sizes");
  auto declare = [&](char axis, int size, bool isStatic, const std::string &name) {
    w.declareAxis(axis, isStatic ? size : -1, name);
    int second = size > 25 ? size / 2 + 3 : size + 1 + random.below(6);
    if (!isStatic)
      program.sizes[name] = {size, isEmpty(axis) ? 0 : second};
  };
  int fixed = c[Choice::Static];
  auto sizeOf = [&](char axis, int size, bool isStatic) {
    return isStatic && isEmpty(axis) ? 0 : size;
  };
  batch = std::string("bc").substr(0, c[Choice::Batch]);
  if (!batch.empty())
    declare('b', sizeOf('b', c[Choice::BatchSize], fixed & 1), fixed & 1, "batch");
  if (batch.size() > 1)
    declare('c', 2, fixed & 1, "windows");
  bool isSelf = c[Choice::Self];
  int queries = sizeOf('i', c[Choice::Queries], fixed & 2);
  declare('i', queries, fixed & 2, isSelf ? "length" : "queries");
  if (!isSelf)
    declare('j', sizeOf('j', c[Choice::Keys], fixed & 4), fixed & 4, "keys");
  else
    w.declareAxis('j', fixed & 2 ? queries : -1, "", fixed & 2 ? 0 : 'i');
  int depth = c[Choice::Depth], values = c[Choice::ValueDepth];
  w.declareAxis('d', sizeOf('d', depth, true), "");
  w.declareAxis('e', sizeOf(values ? 'e' : 'd', values ? values : depth, true), "");
  w.declareAxis('u', 1, "");
  if (c[Choice::Heads] == 0)
    return;
  if (c[Choice::Group] == 0) {
    w.declareAxis('h', c[Choice::Heads], "");
    heads = keyHeads = "h";
    return;
  }
  w.declareAxis('k', c[Choice::Heads], "");
  w.declareAxis('g', c[Choice::Group], "");
  keyHeads = "k";
  heads = c[Choice::Grouping] == kEinsum ? "kg"
          : c[Choice::Grouping] == kTile ? std::string(1, w.merge("gk"))
                                         : std::string(1, w.merge("kg"));
}

/// `rest` is the sequence and the size behind it.
std::string Builder::orderOf(int layout, const std::string &h, const std::string &rest) {
  std::string s(1, rest[0]), d = rest.substr(1);
  switch (layout) {
  case 0:
    return batch + h + s + d;
  case 1:
    return batch + s + h + d;
  case 2:
    return batch + h + d + s;
  case 3:
    return s + batch + h + d;
  case 4:
    return h + batch + s + d;
  case 5:
    return batch + d + s + h;
  default: {
    std::string all = batch + h + rest;
    Random random(c[Choice::Spelling] + static_cast<unsigned>(layout), "layout");
    for (size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[random.below(static_cast<int>(i))]);
    return all;
  }
  }
}

Ex Builder::argument(const std::string &name, const std::string &axes, Elem elem,
                     const std::string &recipe) {
  program.inputs.push_back({name, recipe});
  return read(w.argument(name, axes, elem));
}

Tensor Builder::operand(const std::string &name, Choice layout, int bit, const std::string &h,
                        const std::string &rest) {
  Tensor tensor;
  if ((c[Choice::Merge] & bit) && !h.empty()) {
    std::string flat = h + rest.substr(1);
    tensor = argument(name, batch + rest[0] + w.merge(flat), type, "normal 1")->tensor;
    // The parts may be merged heads: only this axis is split.
    tensor = w.split(tensor, w.merge(flat));
  } else {
    tensor = argument(name, orderOf(c[layout], h, rest), type, "normal 1")->tensor;
  }
  return c[Choice::Copies] ? w.transpose(tensor, batch + h + rest) : tensor;
}

void Builder::packedOperands(Tensor &q, Tensor &k, Tensor &v) {
  std::string flat = heads + "d";
  char one = w.merge(flat);
  int64_t size = w.sizeOf(one);
  w.declareAxis('P', 3 * size, "");
  Tensor all = argument("qkv", batch + "iP", type, "normal 1")->tensor;
  Tensor *parts[] = {&q, &k, &v};
  for (int i = 0; i < 3; ++i) {
    Tensor part = w.slice(all, 'P', i * size, one);
    part = heads.empty() ? part : w.split(part, one);
    if (c[Choice::Copies])
      part = w.transpose(part, batch + heads + "id");
    *parts[i] = part;
  }
  auto rename = [](Tensor &tensor, char from, char to) {
    std::replace(tensor.axes.begin(), tensor.axes.end(), from, to);
  };
  rename(k, 'i', 'j');
  rename(v, 'i', 'j');
  rename(v, 'd', 'e');
}

Tensor Builder::repeatHeads(const Tensor &tensor) {
  if (heads == keyHeads || heads.size() > 1)
    return tensor;
  if (c[Choice::Grouping] == kGather) {
    std::vector<Ex> indices;
    std::string axes = tensor.axes;
    for (char axis : tensor.axes)
      indices.push_back(axis == 'k'
                            ? arith("divsi", place(heads[0]), number(c[Choice::Group], Elem::Index))
                            : place(axis));
    std::replace(axes.begin(), axes.end(), 'k', heads[0]);
    return w.generic(extract(tensor, indices), axes);
  }
  // The group beside the head, then both as one axis.
  std::string axes;
  std::vector<std::string> groups;
  for (char axis : tensor.axes) {
    groups.push_back(axis != 'k'                    ? std::string(1, axis)
                     : c[Choice::Grouping] == kTile ? "gk"
                                                    : "kg");
    axes += groups.back();
  }
  return w.collapse(w.generic(read(tensor), axes), groups);
}

Ex Builder::scores(const Tensor &q, const Tensor &k) {
  Ex a = read(q), b = read(k);
  if (c[Choice::Upcast] == kAtOnce) {
    a = convert(a, Elem::F32);
    b = convert(b, Elem::F32);
  }
  Elem product = c[Choice::Upcast] == kInProduct || c[Choice::Upcast] == kAtOnce ? Elem::F32 : type;
  double root = std::sqrt(static_cast<double>(c[Choice::Depth])), scale = 1 / root;
  int kind = c[Choice::Scale];
  if (kind == kOnQueries)
    a = arith("mul", a, number(scale, a->elem));
  if (kind == kOnKeys)
    b = arith("div", b, number(root, b->elem));
  if (kind == kOnBoth) {
    a = arith("mul", a, number(std::sqrt(scale), a->elem));
    b = arith("mul", number(std::sqrt(scale), b->elem), b);
  }
  if (kind != kNoScale && kind <= kOnBoth && kind != kOnScores) {
    // A tensor by itself, or inside the product.
    Random random(c[Choice::Spelling], "scale");
    if (random.percent(70)) {
      a = read(w.materialise(a, q.axes));
      b = read(w.materialise(b, k.axes));
    }
  }
  Ex x = read(
      w.contract(a, b, scoreAxes, product, static_cast<Writer::Product>(c[Choice::ScoreProduct])));
  x = convert(x, inner);
  switch (kind) {
  case kOnScores:
    return arith("mul", x, number(scale, inner));
  case kDivided:
    return arith("div", x, number(root, inner));
  case kByRootOfSize:
    // From the size itself, as programs that keep it open do.
    return arith(
        "div", x,
        math("sqrt", convert(convert(number(c[Choice::Depth], Elem::I64), Elem::F32), inner)));
  case kTemperature:
    return arith("div", arith("mul", x, number(scale, inner)), number(1.5, inner));
  default:
    return x;
  }
}

Tensor Builder::finish(const Tensor &out) {
  if ((c[Choice::Merge] & 8) && !heads.empty()) {
    Tensor turned = w.transpose(out, batch + "i" + heads + "e");
    std::vector<std::string> groups;
    for (char axis : batch + "i")
      groups.push_back(std::string(1, axis));
    groups.push_back(heads + "e");
    return w.collapse(turned, groups);
  }
  std::string axes = orderOf(c[Choice::LayoutOut], heads, "ie");
  return w.transpose(out, axes);
}

/// The same keys and values, asked by the first attention's result.
Tensor Builder::secondAttention(const Tensor &out, const Tensor &k, const Tensor &v) {
  Tensor q = out;
  std::replace(q.axes.begin(), q.axes.end(), 'e', 'd');
  Tensor x = w.contract(read(q), read(k), scoreAxes, type, Writer::Product::Contract);
  Tensor p = w.softmax(x, 'j');
  return w.contract(read(p), read(v), out.axes, type, Writer::Product::Contract);
}

Program Builder::build() {
  int negative = c[Choice::Negative];
  program.choices = print(c);
  declareAxes();
  Random random(c[Choice::Spelling], "program");
  asksForKeys = needsKeys(c) || c[Choice::Join] == kSeparate || negative || random.percent(70);
  scoreAxes = c[Choice::ScoreOrder] == 0   ? batch + heads + "ij"
              : c[Choice::ScoreOrder] == 1 ? batch + "i" + heads + "j"
              : c[Choice::ScoreOrder] == 2 ? heads + batch + "ij"
                                           : batch + heads + "ji";
  Tensor q, k, v;
  if (c[Choice::Merge] & 16) {
    packedOperands(q, k, v);
  } else {
    q = operand("q", Choice::LayoutQ, 1, heads, "id");
    if (negative != kGivenScores)
      k = operand("k", Choice::LayoutK, 2, keyHeads, "jd");
    v = negative == kValuesByQuery
            ? argument("v", batch + keyHeads + "ije", type, "normal 1")->tensor
            : operand("v", Choice::LayoutV, 4, keyHeads, "je");
  }
  if (negative != kGivenScores)
    k = repeatHeads(k);
  v = repeatHeads(v);

  Ex x = negative == kGivenScores ? convert(argument("given", scoreAxes, type, "normal 1"), inner)
                                  : scores(q, k);
  Ex raw = x;
  int slot = 0;
  for (Choice choice : {Choice::Rule0, Choice::Rule1, Choice::Rule2})
    x = rule(c[choice], slot++, x);
  x = edited(Site::Score, x);
  x = edited(Site::Score, masked(x), Part::Masked);
  Weights weights = softmax(x);
  weights.weights = edited(Site::Probability, between(weights.weights));
  // Back to the type of the values.
  Elem product = c[Choice::Upcast] == kAtOnce ? Elem::F32 : type;
  Ex p = convert(weights.weights, product);
  if ((c[Choice::Returns] & 1) || random.percent(60))
    p = read(w.materialise(p, scoreAxes));

  std::string outAxes = batch + heads + "ie";
  if (random.percent(30))
    outAxes = orderOf(c[Choice::LayoutOut], heads, "ie");
  Ex values = convert(read(v), product);
  Tensor out;
  if (negative == kSumOverQueries) {
    // Each key gets the queries' vectors.
    Ex asked = convert(read(q), product);
    outAxes = batch + heads + "jd";
    out = w.contract(p, asked, outAxes, product, Writer::Product::Contract);
    std::replace(out.axes.begin(), out.axes.end(), 'd', 'e');
  } else if (negative == kMaximumOfValues) {
    out = w.reduce(arith("mul", p, values), outAxes, 'j', "maximum", -HUGE_VAL);
  } else {
    out = w.contract(p, values, outAxes, product,
                     static_cast<Writer::Product>(c[Choice::ValueProduct]));
  }
  if (weights.divisor || weights.inverse) {
    Ex y = weights.divisor ? arith("div", read(out), convert(weights.divisor, product))
                           : arith("mul", read(out), convert(weights.inverse, product));
    out = w.materialise(y, out.axes);
  }
  if (product != type)
    out = w.materialise(convert(read(out), type), out.axes);
  out = w.materialise(edited(Site::Output, read(out)), out.axes);
  if (c[Choice::Twice])
    out = secondAttention(out, k, v);
  if (negative == kSumOverQueries)
    w.result("output", out);
  else
    w.result("output", finish(out));
  if (c[Choice::Returns] & 1)
    w.result("weights", w.materialise(p, scoreAxes));
  if (c[Choice::Returns] & 2)
    w.result("scores", w.materialise(random.percent(50) ? raw : x, scoreAxes));
  // Squares of probabilities are an attention with a probability region.
  bool isNone = negative && negative != kSquaredWeights;
  program.fused = isNone ? 0 : c[Choice::Twice] ? 2 : 1;
  // Nothing is summed in a product of vectors of one element, and a softmax over one key is one:
  // whether that is still attention is a matter of taste.
  // Constant masks that take from each other may leave nothing.
  bool isConstant = (c[Choice::Static] & 6) == 6 && c[Choice::Join] == kAndNot;
  // The only query has no key before it.
  bool isHidden =
      w.isStatic('i') && w.sizeOf('i') == 1 &&
      (c[Choice::Mask0] == kStrict || c[Choice::Mask1] == kStrict || c[Choice::Mask2] == kStrict);
  // Weights that a mask is multiplied into behind the softmax are computed by themselves if they
  // are asked for; and the sum of weights times mask is an attention too, with the mask as its
  // values.
  bool isBeside = c[Choice::Apply] == kTimesWeights ||
                  (c[Choice::Apply] == kTimesExp && (c[Choice::Returns] & 1));
  // All keys lie in one block: whole rows are hidden, and no key of the others.
  bool isOneBlock =
      w.isStatic('j') && w.sizeOf('j') <= 4 &&
      (c[Choice::Mask0] == kBlocks || c[Choice::Mask1] == kBlocks || c[Choice::Mask2] == kBlocks);
  if (!isNone && (isConstant || isOneBlock || isHidden || isBeside || c[Choice::Depth] == 1 ||
                  (w.isStatic('j') && w.sizeOf('j') == 1)))
    program.fused = -1;
  // Of what is empty nothing is left to fuse.
  for (char axis : std::string("bijde"))
    if (isEmpty(axis) && (axis != 'b' || !batch.empty()) && w.isStatic(axis))
      program.fused = -1;
  if (!negative)
    expectMasks();
  program.text = w.finish();
  return std::move(program);
}

Program generate(const Choices &choices) { return Builder(choices).build(); }

} // namespace fovea::smith
