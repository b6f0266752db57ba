// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The edits. Continuous ones and such that jump: of the latter what is compared or rounded can be
// moved a little, so that inputs near a border are seen.
#include "test/smith/Edit.h"
#include <cmath>

namespace fovea::smith {

const char *nameOf(Site site) {
  static constexpr const char *kNames[] = {
      "score",        "exponential",  "sum",         "probability",      "output",
      "norm-input",   "norm-divisor", "norm-output", "activation-input", "activation-output",
      "rotary-angle", "mask",         "bias"};
  return kNames[static_cast<int>(site)];
}

const char *nameOf(EditKind kind) {
  static constexpr const char *kNames[] = {"none",  "select", "min",     "max",
                                           "clamp", "floor",  "round",   "absolute",
                                           "power", "place",  "convert", "remainder"};
  return kNames[static_cast<int>(kind)];
}

const char *nameOf(Rarity rarity) {
  static constexpr const char *kNames[] = {"value", "size", "place", "never"};
  return kNames[static_cast<int>(rarity)];
}

bool hasNaturalForm(EditKind kind, Side side, bool isPositive) {
  bool isFar = side == Side::Above || side == Side::Below || side == Side::Outside;
  switch (kind) {
  case EditKind::Minimum:
    return side == Side::Above;
  case EditKind::Maximum:
    return side == Side::Below || side == Side::Under;
  case EditKind::Clamp:
    return side == Side::Outside || (isPositive && side == Side::Above);
  case EditKind::Absolute:
    return side == Side::Above || side == Side::Below;
  case EditKind::Floor:
  case EditKind::Round:
  case EditKind::Convert:
  case EditKind::Power:
  case EditKind::Remainder:
    return isFar;
  default:
    return false;
  }
}

static Ex real(double value, const Ex &like) { return number(value, like->elem); }
static Ex absolute(const Ex &x) { return apply("math.absf", {x}, x->elem); }
static Ex powerOf(const Ex &x, double exponent) {
  return apply("math.powf", {x, real(exponent, x)}, x->elem);
}
static Ex toInteger(const Ex &x, Elem elem) { return apply("arith.fptosi", {x}, elem); }
static Ex integer(double value, const Ex &like) { return number(value, like->elem); }

Ex Editor::at(Writer &w, Site site, Part part, Ex x) {
  if (done || site != edit.site || part != edit.part)
    return x;
  done = true;
  if (edit.kind == EditKind::None)
    return x;
  if (x->elem == Elem::I1)
    return onCondition(w, x);
  return isReal(x->elem) ? onReal(w, x) : onInteger(w, x);
}

//===-- Where it is rare ---------------------------------------------------------------------===//

Ex Editor::moved(const Ex &x, double by) {
  if (edit.nudge == 0)
    return x;
  double n = edit.nudge * by;
  Ex y = arith("mul", x, real(1 + n, x));
  return edit.isPositive ? y : arith("add", y, real(n * 0.01 * edit.unit, x));
}

Ex Editor::more(const Ex &a, double limit) {
  bool isFloat = isReal(a->elem);
  Ex b = number(limit, a->elem);
  switch (random.below(3)) {
  case 0:
    return compare(isFloat ? "ogt" : "sgt", a, b);
  case 1:
    return compare(isFloat ? "olt" : "slt", b, a);
  default:
    return negate(compare(isFloat ? "ole" : "sle", a, b));
  }
}

Ex Editor::rareBySize(Writer &w) {
  Ex size = w.sizeValue(edit.axis);
  if (edit.other)
    size = arith("add", size, w.sizeValue(edit.other));
  return more(size, edit.limit);
}

Ex Editor::rareByPlace() {
  Ex at = place(edit.axis);
  if (edit.other) {
    // The distance, of one sign or both.
    Ex apart = arith("sub", convert(at, Elem::I64), convert(place(edit.other), Elem::I64));
    return more(apart, edit.limit);
  }
  Ex limit = number(edit.limit, Elem::Index);
  switch (random.below(5)) {
  case 0:
    return compare("eq", at, limit);
  case 1:
    return compare("sgt", arith("divsi", at, limit), number(0, Elem::Index));
  case 2:
    // Each limit-th place but the first ones.
    return compare("eq", arith("remsi", at, limit), number(edit.limit - 1, Elem::Index));
  case 3:
    return compare("sge", at, limit);
  default:
    return more(at, edit.limit - 1);
  }
}

Ex Editor::rare(Writer &w, const Ex &x) {
  if (edit.rarity == Rarity::Size)
    return rareBySize(w);
  if (edit.rarity == Rarity::Place || x->elem == Elem::I1)
    return rareByPlace();
  if (!isReal(x->elem))
    return more(x, edit.limit);
  Ex y = moved(x);
  switch (edit.side) {
  case Side::Above:
    return more(y, edit.limit);
  case Side::Below:
    return compare("olt", y, real(-edit.limit, x));
  case Side::Outside:
    return random.percent(60) ? more(absolute(y), edit.limit)
                              : more(arith("mul", y, y), edit.limit * edit.limit);
  case Side::Near:
    return compare("olt", absolute(y), real(edit.limit, x));
  default:
    return random.percent(50) ? compare("olt", y, real(edit.limit, x))
                              : compare("ogt", real(edit.limit, x), y);
  }
}

Ex Editor::choose(const Ex &condition, const Ex &yes, const Ex &no) {
  // By arithmetic, but for infinite numbers.
  if (random.percent(25) && isReal(yes->elem) && edit.part != Part::Number) {
    Ex one = convert(condition, yes->elem);
    return arith("add", no, arith("mul", one, arith("sub", yes, no)));
  }
  return random.percent(70) ? select(condition, yes, no) : select(negate(condition), no, yes);
}

Ex Editor::placeAsReal(Elem elem) { return convert(place(edit.along), elem); }

//===-- Floats -------------------------------------------------------------------------------===//

Ex Editor::natural(const Ex &x) {
  double c = edit.limit;
  auto steps = [&](const char *op, double by) {
    return arith("mul", math(op, arith("mul", moved(x, 0.1), real(1 / by, x))), real(c, x));
  };
  switch (edit.kind) {
  case EditKind::Minimum:
    return arith("minimum", x, real(c, x));
  case EditKind::Maximum:
    return arith("maximum", x, real(edit.side == Side::Below ? -c : c, x));
  case EditKind::Clamp:
    return arith("minimum", arith("maximum", x, real(edit.isPositive ? 0 : -c, x)), real(c, x));
  case EditKind::Floor:
    if (random.percent(40))
      return arith("add", x, steps("trunc", c));
    return arith("add", x,
                 arith("mul", math("floor", arith("mul", absolute(moved(x, 0.1)), real(1 / c, x))),
                       real(c, x)));
  case EditKind::Round:
    return arith("add", x, steps(random.percent(50) ? "roundeven" : "round", 2 * c));
  case EditKind::Absolute:
    if (edit.side == Side::Below)
      return arith("sub", absolute(arith("add", x, real(c, x))), real(c, x));
    return arith("sub", real(c, x), absolute(arith("sub", real(c, x), x)));
  case EditKind::Power: {
    // Smooth, and nothing where x is small.
    Ex square = arith("mul", arith("mul", x, x), real(1 / (c * c), x));
    return arith("add", x, arith("mul", powerOf(square, 6), real(c, x)));
  }
  case EditKind::Convert: {
    Ex whole = toInteger(arith("mul", moved(x, 0.1), real(1 / c, x)), Elem::I64);
    return arith("add", x, arith("mul", convert(whole, x->elem), real(c, x)));
  }
  default:
    if (edit.nudge == 0)
      return arith("remf", x, real(c, x));
    return arith("sub", x, steps("trunc", c));
  }
}

bool Editor::ignoresFactors() const {
  bool isOfRows = edit.rarity == Rarity::Size || (edit.rarity == Rarity::Place && edit.axis == 'i');
  return edit.site == Site::NormInput || (edit.site == Site::Exponential && isOfRows);
}

Ex Editor::factor(const Ex &count) {
  double c = edit.limit;
  Ex n = convert(count, Elem::F32);
  auto whole = [&](double value) { return number(value, count->elem); };
  auto by = [&](double d) { return arith("div", n, real(d, n)); };
  auto more = [&](const Ex &y) { return arith("add", real(1, n), y); };
  switch (edit.kind) {
  case EditKind::Minimum:
    return arith(
        "div", real(1, n),
        arith("minimum", arith("div", real(c, n), arith("maximum", n, real(1, n))), real(1, n)));
  case EditKind::Maximum:
    return arith("maximum", by(c), real(1, n));
  case EditKind::Clamp:
    return arith("minimum", arith("maximum", by(c), real(1, n)), real(2, n));
  case EditKind::Floor:
    return more(random.percent(50) ? math("floor", by(c + 1))
                                   : convert(arith("divsi", count, whole(c + 1)), Elem::F32));
  case EditKind::Round:
    return more(math("round", by(2 * (c + 1))));
  case EditKind::Absolute:
    return arith("mul",
                 arith("add", absolute(arith("sub", n, real(c, n))), arith("add", n, real(c, n))),
                 real(0.5 / c, n));
  case EditKind::Power:
    return more(powerOf(by(0.9 * c), 8));
  case EditKind::Convert:
    return more(convert(toInteger(by(c + 1), Elem::I32), Elem::F32));
  default:
    return more(convert(arith("sub", count, arith("remsi", count, whole(c + 1))), Elem::F32));
  }
}

Ex Editor::bent(Writer &w, const Ex &x) {
  bool isOfSizes = edit.rarity == Rarity::Size;
  Ex count = convert(isOfSizes ? w.sizeValue(edit.axis) : place(edit.axis), Elem::I64);
  if (edit.other) {
    Ex other = isOfSizes ? w.sizeValue(edit.other) : place(edit.other);
    count = arith(isOfSizes ? "add" : "sub", count, convert(other, Elem::I64));
    count = arith("maxsi", count, number(0, Elem::I64));
  }
  Ex by = convert(factor(count), x->elem);
  if (!ignoresFactors())
    return arith("mul", x, by);
  return arith("add", x, arith("mul", arith("sub", by, real(1, x)), real(edit.unit, x)));
}

Ex Editor::another(const Ex &x) {
  double u = edit.unit;
  bool takesFactors = ignoresFactors();
  // A number that hides keys is large; one that is added the other way round hides all others.
  if (edit.part == Part::Number)
    return real(random.percent(50) ? 0 : -edit.limit, x);
  auto square = [&] { return arith("mul", arith("mul", x, x), real(0.7 / u, x)); };
  switch (random.below(5)) {
  case 0:
    return square();
  case 1:
    return edit.isPositive ? math("sqrt", arith("mul", x, real(3 * u, x)))
                           : apply("arith.negf", {x}, x->elem);
  case 2:
    return takesFactors ? square() : arith("mul", x, real(2, x));
  case 3:
    return takesFactors ? square() : real(0.25 * u, x);
  default:
    return takesFactors || isDivisor() || edit.side == Side::Near || edit.side == Side::Under
               ? math("tanh", x)
               : real(0, x);
  }
}

Ex Editor::change(Writer &, Ex x) {
  double u = edit.unit;
  // What is nothing on the rare side is moved to where the ops show.
  bool isSmall = edit.side == Side::Near || edit.side == Side::Under;
  if (edit.rarity == Rarity::Value && isSmall)
    x = arith("add", x, real(1.3 * u, x));
  // What is divided by is not zero.
  auto lifted = [&](const Ex &y) { return isDivisor() ? arith("add", y, real(0.25 * u, y)) : y; };
  auto inSteps = [&](double step, auto &&round) {
    return lifted(
        arith("mul", round(arith("mul", moved(x, 0.1), real(1 / step, x))), real(step, x)));
  };
  auto counted = [&](double from) { return arith("add", placeAsReal(x->elem), real(from, x)); };
  switch (edit.kind) {
  case EditKind::Select:
    return another(x);
  case EditKind::Minimum:
    return arith("minimum", x, real(0.3 * u, x));
  case EditKind::Maximum: {
    bool isLarge = edit.isPositive || edit.rarity == Rarity::Value;
    return arith("maximum", x, real(isLarge ? 2.5 * u : 0.4 * u, x));
  }
  case EditKind::Clamp: {
    Ex least = real(edit.isPositive ? 0.1 * u : -0.3 * u, x);
    return arith("maximum", arith("minimum", x, real(0.4 * u, x)), least);
  }
  case EditKind::Floor: {
    static constexpr const char *kOps[] = {"floor", "ceil", "trunc"};
    const char *op = kOps[random.below(3)];
    return inSteps(0.75 * u, [&](Ex y) { return math(op, std::move(y)); });
  }
  case EditKind::Round: {
    const char *op = random.percent(50) ? "round" : "roundeven";
    return inSteps(std::ldexp(1, std::ilogb(u)), [&](Ex y) { return math(op, std::move(y)); });
  }
  case EditKind::Absolute:
    // Squares have no sign.
    return random.percent(50) && !edit.isPositive && edit.part != Part::Squares
               ? absolute(x)
               : lifted(absolute(arith("sub", x, real(1.5 * u, x))));
  case EditKind::Power: {
    Ex base = absolute(arith("mul", x, real(1 / u, x)));
    return arith("mul", powerOf(base, random.percent(50) ? 1.5 : 0.5), real(u, x));
  }
  case EditKind::Place:
    if (random.percent(50) || isDivisor())
      return arith("mul", x, arith("mul", counted(10), real(0.125, x)));
    return arith("sub", x, arith("mul", counted(1), real(0.125 * u, x)));
  case EditKind::Convert: {
    Elem whole = random.percent(50) ? Elem::I64 : Elem::I32;
    return inSteps(0.75 * u, [&](Ex y) { return convert(toInteger(y, whole), y->elem); });
  }
  default:
    if (edit.nudge == 0)
      return lifted(arith("remf", x, real(0.4 * u, x)));
    return lifted(arith("sub", x,
                        arith("mul", math("trunc", arith("mul", moved(x, 0.1), real(2.5 / u, x))),
                              real(0.4 * u, x))));
  }
}

Ex Editor::harmless(Writer &w, const Ex &x) {
  auto none = [&] { return real(edit.isPositive ? 0 : -3.0e38, x); };
  auto most = [&] { return real(edit.isBounded ? 1.5 : 3.0e38, x); };
  Ex usual = random.percent(50) ? real(0.5, x) : arith("mul", x, x);
  switch (edit.kind) {
  case EditKind::Minimum:
    return arith("minimum", x, most());
  case EditKind::Maximum:
    return arith("maximum", x, none());
  case EditKind::Clamp:
    return arith("minimum", arith("maximum", x, none()), most());
  case EditKind::Floor:
  case EditKind::Round:
  case EditKind::Convert:
    if (edit.isBounded && edit.isPositive) {
      Ex part = arith("mul", x, real(0.375, x));
      Ex whole = edit.kind == EditKind::Floor   ? math("floor", part)
                 : edit.kind == EditKind::Round ? math("roundeven", part)
                                                : convert(toInteger(part, Elem::I32), x->elem);
      return arith("add", x, whole);
    }
    break;
  case EditKind::Absolute:
    if (edit.isPositive)
      return absolute(x);
    break;
  case EditKind::Power:
    return powerOf(x, 1);
  case EditKind::Remainder:
    if (edit.isBounded && edit.isPositive)
      return arith("remf", x, real(4, x));
    break;
  case EditKind::Place:
    return select(compare("slt", place(edit.along), number(0, Elem::Index)), usual, x);
  default:
    break;
  }
  switch (random.below(3)) {
  case 0:
    return select(compare("slt", w.sizeValue(edit.axis), number(0, Elem::Index)), usual, x);
  case 1:
    if (edit.isPositive)
      return select(compare("olt", x, real(0, x)), usual, x);
    [[fallthrough]];
  default:
    return select(compare("uno", x, x), real(0.5, x), x);
  }
}

Ex Editor::onReal(Writer &w, const Ex &x) {
  if (edit.rarity == Rarity::Never)
    return harmless(w, x);
  // Places as floats: between two of them.
  if (edit.part == Part::QueryPlace || edit.part == Part::KeyPlace)
    edit.limit += 0.5;
  if (edit.isNatural)
    return edit.rarity == Rarity::Value ? natural(x) : bent(w, x);
  Ex condition = rare(w, x);
  return choose(condition, change(w, x), x);
}

//===-- Integers: places, lengths, distances
//---------------------------------------------------===//

static Ex shifted(const char *op, const Ex &x, double by) {
  return apply(op, {x, number(by, x->elem)}, x->elem);
}

Ex Editor::naturalInteger(const Ex &x) {
  double c = edit.limit;
  auto parts = [&] { return arith("divsi", x, integer(c, x)); };
  switch (edit.kind) {
  case EditKind::Minimum:
    return arith("minsi", x, integer(c, x));
  case EditKind::Clamp:
    return arith("minsi", arith("maxsi", x, integer(-c, x)), integer(c, x));
  case EditKind::Floor:
  case EditKind::Round:
    return arith("add", x, random.percent(50) ? parts() : arith("mul", parts(), integer(3, x)));
  case EditKind::Absolute:
    return arith("sub", integer(c, x),
                 apply("math.absi", {arith("sub", integer(c, x), x)}, x->elem));
  case EditKind::Power: {
    Ex y = parts();
    return arith("sub", x, arith("mul", y, y));
  }
  case EditKind::Convert: {
    // As eight bits.
    Elem wide = x->elem == Elem::I32 ? Elem::I32 : Elem::I64;
    double by = wide == Elem::I32 ? 24 : 56;
    Ex y = shifted("arith.shrsi", shifted("arith.shli", convert(x, wide), by), by);
    return convert(y, x->elem);
  }
  case EditKind::Remainder:
    return arith("remsi", x, integer(c, x));
  default:
    return nullptr;
  }
}

Ex Editor::changeInteger(Writer &, const Ex &x) {
  switch (edit.kind) {
  case EditKind::Minimum:
    return arith("minsi", x, integer(2, x));
  case EditKind::Maximum:
    return arith("maxsi", x, integer(edit.limit + 3, x));
  case EditKind::Floor:
  case EditKind::Round:
    return arith("mul", arith("divsi", x, integer(4, x)), integer(4, x));
  case EditKind::Absolute:
    return apply("math.absi", {arith("sub", x, integer(4, x))}, x->elem);
  case EditKind::Remainder:
    return arith("remsi", x, integer(3, x));
  case EditKind::Power:
    return arith("mul", x, x);
  case EditKind::Place:
    return arith("sub", x,
                 convert(arith("remsi", place(edit.along), number(3, Elem::Index)), x->elem));
  default:
    // A constant for all keys changes no softmax.
    if (edit.part == Part::Distance)
      return arith(random.percent(50) ? "mul" : "divsi", x, integer(2, x));
    return arith(random.percent(50) ? "sub" : "add", x, integer(1 + random.below(3), x));
  }
}

Ex Editor::harmlessInteger(const Ex &x) {
  switch (edit.kind) {
  case EditKind::Minimum:
  case EditKind::Clamp:
    return arith("minsi", x, integer(1 << 30, x));
  case EditKind::Maximum:
    return arith("maxsi", x, integer(-(1 << 30), x));
  case EditKind::Remainder:
    return arith("remsi", x, integer(1 << 30, x));
  default:
    return select(compare("slt", place(edit.along), number(0, Elem::Index)), integer(1, x), x);
  }
}

Ex Editor::onInteger(Writer &w, const Ex &x) {
  if (edit.rarity == Rarity::Never)
    return harmlessInteger(x);
  if (edit.isNatural && edit.rarity == Rarity::Value)
    if (Ex y = naturalInteger(x))
      return y;
  Ex condition = rare(w, x);
  return select(condition, changeInteger(w, x), x);
}

//===-- Conditions ---------------------------------------------------------------------------===//

Ex Editor::onCondition(Writer &w, const Ex &x) {
  Ex yes = number(1, Elem::I1);
  if (edit.rarity == Rarity::Never) {
    Ex never = compare("slt", place(edit.along), number(0, Elem::Index));
    return random.percent(50) ? arith("or", x, never) : select(never, negate(x), x);
  }
  Ex condition = rare(w, x);
  switch (edit.kind) {
  case EditKind::Minimum:
    return arith("and", x, negate(condition));
  case EditKind::Maximum:
    return arith("or", x, condition);
  case EditKind::Absolute:
    return arith("xor", x, condition);
  case EditKind::Clamp:
    return select(condition, compare("eq", place(edit.along), number(0, Elem::Index)), x);
  case EditKind::Place:
    return select(condition,
                  compare("eq", arith("remsi", place(edit.along), number(2, Elem::Index)),
                          number(0, Elem::Index)),
                  x);
  default:
    return select(condition, random.percent(20) ? yes : negate(x), x);
  }
}

} // namespace fovea::smith
