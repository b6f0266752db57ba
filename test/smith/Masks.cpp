// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks: where keys are allowed, how that is joined and applied, and which kinds a report should
// name for it.
#include "test/smith/Builder.h"
#include <cmath>
#include <set>

namespace fovea::smith {

/// i and j as numbers of some type; floats too, as old programs compare them.
static void places(Random &random, Ex &i, Ex &j, bool mayBeReal) {
  static constexpr Elem kElems[] = {Elem::Index, Elem::I32, Elem::I64, Elem::F32};
  Elem elem = kElems[random.below(mayBeReal ? 4 : 3)];
  i = convert(place('i'), elem);
  j = convert(place('j'), elem);
}

/// a <= b in one of its spellings.
static Ex notAfter(Random &random, Ex a, Ex b) {
  bool isFloat = isReal(a->elem);
  auto name = [&](const char *integer, const char *real) { return isFloat ? real : integer; };
  switch (random.below(isFloat ? 3 : 5)) {
  case 0:
    return compare(name("sle", "ole"), a, b);
  case 1:
    return compare(name("sge", "oge"), b, a);
  case 2:
    return negate(compare(name("sgt", "ogt"), a, b));
  case 3:
    return compare("sge", arith("sub", b, a), number(0, a->elem));
  default:
    return compare("slt", a, arith("add", b, number(1, a->elem)));
  }
}

Ex Builder::mask(int kind, int slot) {
  Random random(c[Choice::Spelling] + static_cast<unsigned>(slot), "mask");
  std::string suffix = std::to_string(slot);
  std::string first = asksForKeys ? " first" : "";
  Ex i, j;
  places(random, i, j, kind <= kCausal);
  i = edited(Site::Mask, i, Part::QueryPlace);
  j = edited(Site::Mask, j, Part::KeyPlace);
  Elem elem = j->elem;
  auto plus = [&](Ex a, int64_t b) {
    return b == 0 ? a : arith("add", std::move(a), number(static_cast<double>(b), elem));
  };
  /// A number for each batch row, or for all.
  auto lengths = [&](const std::string &axes, const std::string &recipe) {
    Elem stored = random.percent(60) ? Elem::I64 : Elem::I32;
    Ex length = argument("length" + suffix, axes, stored, recipe);
    return convert(edited(Site::Mask, length, Part::Length), elem);
  };
  std::string keys =
      w.isStatic('j') ? std::to_string(w.sizeOf('j')) : (c[Choice::Self] ? "length" : "keys");
  // Windows then begin before the query.
  bool isStrict = false;
  for (Choice choice : {Choice::Mask0, Choice::Mask1, Choice::Mask2})
    isStrict |= c[choice] == kStrict;
  std::string upto = "upto " + keys + (asksForKeys ? " 1" : " 0");
  switch (kind) {
  case kCausal:
    return notAfter(random, j, i);
  case kBottomRight: {
    Ex offset = arith("sub", w.sizeValue('j'), w.sizeValue('i'));
    return notAfter(random, place('j'), arith("add", place('i'), offset));
  }
  case kOffset:
    return notAfter(random, j, arith("add", i, lengths(random.percent(50) ? "" : "1", "below 6")));
  case kOffsets:
    return notAfter(random, j, arith("add", i, lengths("b", "below 6")));
  case kWindow: {
    int left = std::max(random.below(5), isStrict ? 1 : 0), right = random.below(4);
    if (random.percent(30) && elem != Elem::Index)
      return compare("sle", apply("math.absi", {arith("sub", i, j)}, elem), number(left, elem));
    Ex a = notAfter(random, i, plus(j, left)), b = notAfter(random, j, plus(i, right));
    return arith("and", a, b);
  }
  case kCausalWindow: {
    int left = std::max(1 + random.below(5), isStrict ? 2 : 1);
    return arith("and", notAfter(random, j, i), compare("sgt", plus(j, left), i));
  }
  case kStrict:
    return compare("slt", j, i);
  case kLength:
    return compare("slt", j, lengths("b", upto));
  case kLeftPadding:
    return compare("sge", j, lengths("b", "below " + keys));
  case kOneLength:
    return compare("slt", j, lengths(random.percent(50) ? "" : "1", upto));
  case kPrefix:
    return arith("or", notAfter(random, j, i),
                 compare("slt", j, lengths("b", "upto " + keys + " 0")));
  case kSegment: {
    Elem stored = random.percent(70) ? Elem::I64 : Elem::I32;
    Tensor ids = argument("segment" + suffix, "bi", stored, "documents 3")->tensor;
    Tensor keyIds = ids;
    keyIds.axes = "bj";
    return compare("eq", read(ids), read(keyIds));
  }
  case kGlobal: {
    int tokens = 1 + random.below(3);
    return arith("or", compare("slt", j, number(tokens, elem)),
                 compare("slt", i, number(tokens, elem)));
  }
  case kPadding:
  case kDense: {
    std::string axes = kind == kPadding ? "bj" : someAxes(random, false);
    // Without j a mask hides whole rows or nothing.
    if (axes.find('j') == std::string::npos)
      axes += "j";
    if (random.percent(50)) {
      std::string padded;
      for (char axis : batch + heads + "ij")
        padded += axes.find(axis) != std::string::npos ? axis : '1';
      axes = padded;
    }
    static constexpr Elem kStored[] = {Elem::I1, Elem::I1, Elem::I64, Elem::I32};
    Elem stored = random.percent(20) ? type : kStored[random.below(4)];
    Ex keep = argument("mask" + suffix, axes, stored, "keep 65" + first);
    if (stored == Elem::I1)
      return keep;
    if (isReal(stored))
      return compare(random.percent(50) ? "ogt" : "une", keep, number(0, stored));
    return random.percent(60) ? compare("ne", keep, number(0, stored))
                              : negate(compare("eq", keep, number(0, stored)));
  }
  case kTriangle:
  case kRandomTable: {
    bool isTriangle = kind == kTriangle;
    std::vector<double> elements;
    for (int64_t a = 0; a < w.sizeOf('i'); ++a)
      for (int64_t b = 0; b < w.sizeOf('j'); ++b)
        elements.push_back(isTriangle ? b <= a : random.percent(60) || b == 0);
    Elem stored = random.percent(50) ? Elem::I1 : random.percent(50) ? type : Elem::I64;
    Ex table = read(w.constant("ij", stored, elements));
    return stored == Elem::I1 ? table
                              : compare(isReal(stored) ? "une" : "ne", table, number(0, stored));
  }
  case kTriangleSlice: {
    // A buffer for the longest sequence, of which the program takes what it needs.
    char rows = static_cast<char>('l' + 2 * slot), columns = static_cast<char>(rows + 1);
    w.declareAxis(rows, 28, "");
    w.declareAxis(columns, 28, "");
    std::vector<double> elements;
    for (int a = 0; a < 28; ++a)
      for (int b = 0; b < 28; ++b)
        elements.push_back(b <= a);
    Elem stored = random.percent(50) ? Elem::I1 : type;
    Tensor buffer = w.constant({rows, columns}, stored, elements);
    Ex table = read(w.slice(w.slice(buffer, rows, 0, 'i'), columns, 0, 'j'));
    return stored == Elem::I1 ? table : compare("une", table, number(0, stored));
  }
  case kBlocks: {
    Elem blocks = elem == Elem::Index ? Elem::I64 : elem;
    Ex size = number(2 + random.below(3), blocks);
    return compare("eq", arith("divsi", convert(i, blocks), size),
                   arith("divsi", convert(j, blocks), size));
  }
  case kDilated: {
    Elem whole = elem == Elem::Index ? Elem::I64 : elem;
    Ex apart = arith("sub", convert(i, whole), convert(j, whole));
    return compare("eq", arith("remsi", apart, number(2, whole)), number(0, whole));
  }
  default:
    return number(1, Elem::I1);
  }
}

/// A predicate that other code gets to see as a tensor.
Ex Builder::inForm(Ex condition) {
  std::string axes;
  for (char axis : batch + heads + "ij")
    if (condition->free.find(axis) != std::string::npos)
      axes += axis;
  if (axes.empty())
    return condition;
  switch (c[Choice::MaskForm]) {
  case kAsBooleans:
    return read(w.materialise(condition, axes));
  case kAsFloats: {
    Ex ones = read(w.materialise(convert(condition, inner), axes));
    return compare("ogt", ones, number(0.5, inner));
  }
  case kAsIntegers: {
    Ex ones = read(w.materialise(convert(condition, Elem::I64), axes));
    return compare("ne", ones, number(0, Elem::I64));
  }
  default:
    return condition;
  }
}

/// A number that no score is near, of the softmax's type.
double Builder::low() const { return inner == Elem::F16 ? -6e4 : -1e9; }

Ex Builder::masked(Ex x, Ex allowed, int apply) {
  allowed = inForm(edited(Site::Mask, allowed, Part::Condition));
  auto added = [&](Ex number) { return edited(Site::Mask, std::move(number), Part::Number); };
  auto real = [&](double value) { return number(value, inner); };
  auto kept = [&] { return convert(allowed, inner); };
  auto hidden = [&] { return arith("sub", real(1), kept()); };
  switch (apply) {
  case kSelectInfinity:
    return c[Choice::Spelling] & 1 ? select(allowed, x, real(-HUGE_VAL))
                                   : select(negate(allowed), real(-HUGE_VAL), x);
  case kSelectLow:
    return select(allowed, x, real(low()));
  case kSelectLowest:
    return select(negate(allowed), real(-3.4028234e38), x);
  case kAddLow:
    return arith("add", x,
                 added(arith("mul", hidden(), real(c[Choice::Spelling] & 2 ? -1e4 : low()))));
  case kAddInfinity:
    return arith("add", x, added(select(allowed, real(0), real(-HUGE_VAL))));
  case kAddSelected:
    return arith("add", added(select(allowed, real(0), real(low()))), x);
  case kAddLog:
    return arith("add", x, math("log", kept()));
  case kBlend: {
    Ex k = kept();
    return arith("add", arith("mul", x, k), arith("mul", arith("sub", real(1), k), real(low())));
  }
  case kMinimumOf:
    return arith("minimum", x, select(allowed, real(HUGE_VAL), real(-HUGE_VAL)));
  default:
    weightMask = kept();
    return x;
  }
}

Ex Builder::masked(Ex x) {
  std::vector<Ex> masks;
  int slot = 0;
  for (Choice choice : {Choice::Mask0, Choice::Mask1, Choice::Mask2}) {
    if (c[choice] != kNoMask)
      masks.push_back(mask(c[choice], slot));
    ++slot;
  }
  if (masks.empty())
    return x;
  int join = c[Choice::Join];
  if (join == kSeparate) {
    int apply = c[Choice::Apply];
    for (const Ex &one : masks) {
      x = masked(x, one, apply);
      apply = apply == kSelectInfinity ? kAddInfinity : apply;
    }
    return x;
  }
  Ex all = masks[0];
  for (size_t i = 1; i < masks.size(); ++i)
    all = join == kAndNot ? arith("and", all, negate(masks[i]))
                          : arith(join == kOr ? "or" : "and", all, masks[i]);
  return masked(x, all, c[Choice::Apply]);
}

void Builder::expectMasks() {
  std::multiset<int> kinds;
  for (Choice choice : {Choice::Mask0, Choice::Mask1, Choice::Mask2})
    if (c[choice] != kNoMask)
      kinds.insert(c[choice]);
  // A guard makes a mask of what callers add to scores, which may be minus infinity.
  bool mayHide =
      (c[Choice::Guard] || c[Choice::Norm]) &&
      (c[Choice::Rule0] != kNoRule || c[Choice::Rule1] != kNoRule || c[Choice::Rule2] != kNoRule);
  if (kinds.empty()) {
    if (mayHide)
      program.masks = {"dense?"};
    return;
  }
  // Constant sizes decide some predicates, and joined ones mean other masks.
  bool isStatic = (c[Choice::Static] & 6) != 0;
  if (isStatic || c[Choice::Join] == kOr || c[Choice::Join] == kAndNot || c[Choice::Twice]) {
    program.masks = {"*"};
    return;
  }
  bool isSingle = kinds.size() == 1;
  // The diagonal of the others is moved, or not: all bands of an attention see the same positions,
  // so there is one diagonal that sizes move. The others' bands are dense masks.
  bool isMoved = kinds.count(kBottomRight) && !c[Choice::Self];
  std::string orDense = isMoved && !isSingle ? "|dense" : "";
  // One band within another is one band, and a prefix sees what its triangle does.
  bool isTriangle = false, isStrict = kinds.count(kStrict) > 0;
  for (int kind : kinds)
    isTriangle |= isTriangular(c, kind) || kind == kCausalWindow;
  std::set<std::string> expected;
  for (int kind : kinds) {
    switch (kind) {
    case kCausal:
    case kTriangle:
    case kTriangleSlice:
    case kBottomRight:
      expected.insert((isSingle ? "causal" : "causal|window") + orDense);
      break;
    case kOffset:
    case kOffsets:
      expected.insert("causal|dense");
      break;
    case kWindow:
      expected.insert("window" + orDense);
      expected.insert("causal?"); // if it ends at the query
      break;
    case kCausalWindow:
      expected.insert("window" + orDense);
      expected.insert(isStrict ? "causal?" : "causal" + orDense);
      break;
    case kStrict:
      expected.insert("window" + orDense);
      break;
    case kLength:
    case kOneLength:
      expected.insert("length");
      break;
    case kLeftPadding:
      expected.insert("length");
      break;
    case kPrefix:
      expected.insert(isMoved                  ? "length|dense|prefix"
                      : isTriangle || isStrict ? "prefix?"
                                               : "prefix");
      break;
    case kSegment:
      expected.insert("segment");
      break;
    case kGlobal:
      // Its tokens are counted from the first position too.
      expected.insert("global" + orDense);
      if (isMoved)
        expected.insert("length?");
      break;
    case kBlocks:
    case kDilated:
      expected.insert("dense|segment");
      break;
    default:
      expected.insert("dense");
      break;
    }
  }
  if (isMoved && !isSingle)
    for (const char *kind : {"causal?", "window?", "dense?"})
      expected.insert(kind);
  if (mayHide)
    expected.insert("dense?");
  program.masks.assign(expected.begin(), expected.end());
}

} // namespace fovea::smith
