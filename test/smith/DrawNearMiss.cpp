// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws near misses: which edit where, how long axes and how large inputs must be for it to show.
#include "test/smith/NearMiss.h"
#include "test/smith/Random.h"
#include <algorithm>
#include <cmath>

namespace fovea::smith {

namespace {

class Drawer {
public:
  explicit Drawer(uint64_t seed) : r(seed, "near miss") {}
  Plan draw();

private:
  template <typename T> T pick(std::initializer_list<T> values) {
    return *(values.begin() + r.below(static_cast<int>(values.size())));
  }
  void drawEdit();
  void drawAttention();
  void drawMask();
  void drawMaskKind();
  void drawBias();
  void drawLayer();
  /// The limit, and inputs that reach it.
  void drawRange();
  void beyond(std::initializer_list<double> limits, bool isPositive);
  void below(std::initializer_list<double> limits, bool isPositive);
  void scoreRange();
  void exponentialRange();
  void sumRange();
  void probabilityRange();
  void outputRange();
  void maskRange();
  void biasRange();
  void normRange();
  void activationRange();
  void angleRange();
  void drawPlaces();
  void drawSizes();
  void setLength(char axis, int size);
  void drawForm();
  void settleSizes();

  Random r;
  Plan plan;
  Edit &e = plan.edit;
  Choices &c = plan.choices;
  LayerChoices &l = plan.layer;
};

bool isOfAttention(Site site) {
  return site <= Site::Output || site == Site::Mask || site == Site::Bias;
}

} // namespace

//===-- The edit -----------------------------------------------------------------------------===//

void Drawer::drawEdit() {
  constexpr int kKinds = static_cast<int>(EditKind::Count) - 1; // but for None
  e.site = static_cast<Site>(r.below(static_cast<int>(Site::Count)));
  e.kind = static_cast<EditKind>(1 + r.below(kKinds));
  e.rarity =
      r.percent(15) ? Rarity::Never : static_cast<Rarity>(r.below(static_cast<int>(Rarity::Never)));
  if (r.percent(3)) {
    e.kind = EditKind::None;
    e.rarity = Rarity::Never;
  }
  e.spelling = r.next();
  plan.isAttention = isOfAttention(e.site);
}

void Drawer::beyond(std::initializer_list<double> limits, bool isPositive) {
  e.limit = pick(limits);
  e.side = isPositive ? Side::Above : pick({Side::Above, Side::Below, Side::Outside});
  // The op itself is one side or the other.
  if (!isPositive && e.kind == EditKind::Minimum)
    e.side = Side::Above;
  if (!isPositive && e.kind == EditKind::Maximum)
    e.side = Side::Below;
  e.unit = e.limit;
}

void Drawer::below(std::initializer_list<double> limits, bool isPositive) {
  e.limit = pick(limits);
  e.side = isPositive ? Side::Under : Side::Near;
}

void Drawer::scoreRange() {
  plan.scores = 1.5;
  if (e.rarity != Rarity::Value)
    return;
  if (r.percent(20)) {
    below({1e-2, 1e-3, 1e-4}, false);
    plan.scores = 0;
  } else {
    beyond({6, 10, 20, 30, 60}, false);
    plan.scores = e.limit;
  }
}

void Drawer::exponentialRange() {
  bool isShifted = c[Choice::Shift] == kMaximum || c[Choice::Shift] == kGuardedMaximum;
  e.isPositive = true;
  e.isBounded = isShifted;
  e.unit = isShifted ? 0.4 : 1;
  plan.scores = 1.5;
  if (e.rarity != Rarity::Value)
    return;
  if (isShifted || r.percent(40))
    below({1e-2, 1e-3, 1e-5}, true);
  else
    beyond({50, 1e3, 1e6}, true);
  plan.scores = std::fabs(std::log(e.limit)) * 1.2;
}

void Drawer::sumRange() {
  bool isShifted = c[Choice::Shift] == kMaximum || c[Choice::Shift] == kGuardedMaximum;
  e.isPositive = true;
  e.unit = 2;
  plan.scores = 1.5;
  if (e.rarity != Rarity::Value)
    return;
  if (isShifted && r.percent(50)) {
    // A sum of many.
    beyond({12, 25, 60}, true);
    plan.keys = static_cast<int>(e.limit * 2);
    plan.queries = 2;
    plan.scores = 0.3;
  } else if (isShifted) {
    below({1.01, 1.001}, true);
    plan.scores = 15;
  } else if (r.percent(60)) {
    beyond({100, 1e4, 1e6}, true);
    plan.scores = std::log(e.limit);
  } else {
    below({0.5, 0.1}, true);
    plan.scores = 6;
  }
}

void Drawer::biasRange() {
  e.unit = 1.03;
  if (e.part == Part::Distance) {
    e.limit = c[Choice::Rule0] == kBuckets ? pick({3., 5., 9., 12.}) : pick({6., 9., 17., 33.});
    plan.queries = 2 + r.below(3);
    plan.keys = static_cast<int>(e.limit) + 4 + r.below(6);
    if (r.percent(50))
      std::swap(plan.queries, plan.keys);
    return;
  }
  if (e.rarity != Rarity::Value)
    return;
  int rule = c[Choice::Rule0];
  if (rule == kSlopes || rule == kDistance) {
    beyond({1.1, 2.1, 4.1}, rule == kDistance);
    e.isPositive = rule == kDistance;
    // As far as the least slope asks for.
    plan.keys = static_cast<int>(e.limit * (rule == kSlopes ? 4 : 8)) + 6;
    plan.queries = 2 + r.below(3);
    if (r.percent(50))
      std::swap(plan.queries, plan.keys);
    return;
  }
  if (r.percent(20)) {
    below({1e-2, 1e-4}, false);
    plan.bias = {1, 0, true};
    return;
  }
  beyond({3, 6, 12}, false);
  plan.bias = {1, e.limit, false};
}

void Drawer::normRange() {
  double n = l.width;
  double bound = l.layer == Layer::L2Norm      ? 1
                 : l.layer == Layer::LayerNorm ? (n - 1) / std::sqrt(n)
                                               : std::sqrt(n);
  bool isSmall = r.percent(25), isDivisor = e.site == Site::NormDivisor;
  e.isPositive = isDivisor;
  e.unit = e.site == Site::NormOutput ? 0.4 * bound : 1;
  if (e.rarity != Rarity::Value)
    return;
  if (isSmall) {
    isDivisor ? below({0.05, 1e-2}, true) : below({1e-2, 1e-3, 1e-4}, false);
    plan.input = {1, isDivisor ? 0.1 * e.limit : 0, true};
  } else if (e.site == Site::NormOutput) {
    // Near the bound if one element outweighs the others.
    beyond({0.9, 0.97}, false);
    e.limit *= bound;
    e.unit = e.limit;
    plan.input = {1, 100};
  } else {
    isDivisor ? beyond({6, 20, 100}, true) : beyond({6, 10, 30, 100}, false);
    plan.input = {1, 1.5 * e.limit};
  }
}

void Drawer::activationRange() {
  bool isSigmoid = l.layer == Layer::Sigmoid, isTanh = l.layer == Layer::Tanh;
  bool isRelu = l.layer == Layer::Relu || l.layer == Layer::ReluSquared;
  bool isOutput = e.site == Site::ActivationOutput;
  e.isPositive = isOutput && (isSigmoid || isRelu);
  e.isBounded = isOutput && (isSigmoid || isTanh);
  if (e.rarity != Rarity::Value)
    return;
  if (r.percent(25)) {
    below({1e-2, 1e-3, 1e-4}, e.isPositive);
    plan.input = isOutput && isSigmoid ? Magnitude{1, 12} : Magnitude{1, 0, true};
  } else if (e.isBounded) {
    beyond({0.99, 0.9999}, e.isPositive);
    plan.input = {1, 8};
  } else {
    isSigmoid || isTanh ? beyond({4, 6}, false) : beyond({6, 8, 12, 20, 40}, e.isPositive);
    // Large negative values are nothing, before and behind most.
    if (e.side == Side::Below)
      e.side = Side::Above;
    plan.input = {1, isOutput && l.layer == Layer::ReluSquared ? std::sqrt(e.limit) : e.limit};
  }
}

void Drawer::angleRange() {
  e.isPositive = true;
  e.unit = 3.1;
  if (e.rarity != Rarity::Value && e.part != Part::Distance)
    return;
  // Between two places.
  e.part == Part::Distance ? beyond({9, 20, 60, 130}, true)
                           : beyond({9.5, 20.5, 60.5, 130.5}, true);
  l.moreRows = static_cast<int>(e.limit) + 3 + r.below(6);
}

void Drawer::probabilityRange() {
  e.isPositive = e.isBounded = true;
  e.unit = 0.3;
  plan.scores = 1.5;
  if (e.rarity != Rarity::Value)
    return;
  if (r.percent(50)) {
    beyond({0.9, 0.97, 0.999}, true);
    plan.scores = 10;
  } else {
    below({1e-2, 1e-3, 1e-4, 1e-6}, true);
    plan.scores = std::fabs(std::log(e.limit)) * 1.2;
  }
}

void Drawer::outputRange() {
  e.unit = 0.7;
  if (e.rarity != Rarity::Value)
    return;
  if (r.percent(20)) {
    below({1e-2, 1e-3}, false);
    plan.values = {0.1 * e.limit};
  } else {
    beyond({4, 8, 30, 100}, false);
    plan.values = {1, 1.5 * e.limit};
  }
}

void Drawer::maskRange() {
  if (e.part == Part::Number) {
    e.side = Side::Below;
    e.limit = pick({4., 10., 20.});
    e.unit = e.limit;
    plan.scores = 1.5 * e.limit;
    return;
  }
  e.isPositive = true;
  e.limit = pick({6., 9., 17., 33.});
  e.unit = 4;
  plan.queries = static_cast<int>(e.limit) + 4 + r.below(6);
  plan.keys = plan.queries + r.below(4);
  // A mask by length is the same for all queries.
  if (e.part == Part::Length)
    plan.queries = 4;
}

void Drawer::drawRange() {
  switch (e.site) {
  case Site::Score:
    return scoreRange();
  case Site::Exponential:
    return exponentialRange();
  case Site::Sum:
    return sumRange();
  case Site::Probability:
    return probabilityRange();
  case Site::Output:
    return outputRange();
  case Site::Mask:
    return maskRange();
  case Site::Bias:
    return biasRange();
  case Site::Angle:
    return angleRange();
  case Site::ActivationInput:
  case Site::ActivationOutput:
    return activationRange();
  default:
    return normRange();
  }
}

//===-- Places and sizes ---------------------------------------------------------------------===//

void Drawer::drawPlaces() {
  bool hasKeys = e.site == Site::Score || e.site == Site::Exponential ||
                 e.site == Site::Probability || e.site == Site::Mask;
  bool hasChannels = !plan.isAttention && e.site != Site::NormDivisor && e.site != Site::Angle;
  if (e.site == Site::Bias)
    e.axis = 'j'; // what differs by queries alone changes no softmax
  else if (hasKeys)
    e.axis = r.percent(60) ? 'j' : 'i';
  else if (hasChannels)
    e.axis = r.percent(50) ? 'd' : 'i';
  else if (e.site == Site::Output)
    e.axis = r.percent(40) ? 'e' : 'i';
  // A factor for each row changes no norm.
  e.along = e.site == Site::NormInput ? 'd' : e.axis;
  // The number that a condition goes by is how far query and key are apart.
  if (e.part == Part::Condition && e.rarity == Rarity::Value)
    e.other = e.axis == 'i' ? 'j' : 'i';
  if (e.rarity != Rarity::Place)
    return;
  if (e.axis == 'd' || e.axis == 'e') {
    e.limit = pick({3., 5., 9., 17.});
    (plan.isAttention ? c[Choice::ValueDepth] : l.width) =
        static_cast<int>(e.limit) + 2 + r.below(4);
    return;
  }
  e.limit = pick({6., 9., 17., 33., 64., 130.});
  if ((hasKeys || e.site == Site::Bias) && r.percent(25))
    e.other = e.axis == 'i' ? 'j' : 'i';
  setLength(e.axis, static_cast<int>(e.limit) + 2 + r.below(5));
}

void Drawer::drawSizes() {
  if (e.rarity != Rarity::Size)
    return;
  e.axis = plan.isAttention && r.percent(60) ? 'j' : 'i';
  e.limit = pick({6., 20., 40., 64., 128., 300.});
  if (plan.isAttention && r.percent(20))
    e.other = e.axis == 'i' ? 'j' : 'i';
  setLength(e.axis, static_cast<int>(e.limit) + 1 + r.below(6));
  l.isStatic = false;
  c[Choice::Static] &= ~6;
  if (e.site == Site::Sum && e.axis == 'j')
    e.unit = std::max(2., e.limit / 3);
}

/// Of queries or keys, or of rows.
void Drawer::setLength(char axis, int size) {
  // The interpreter takes its time.
  if (size > 60) {
    l.hasBatch = false;
    c[Choice::BatchSize] = 1;
    c[Choice::Heads] = std::min(c[Choice::Heads], 1);
    c[Choice::Group] = 1;
  }
  bool isRope = l.layer == Layer::Rope;
  if (!plan.isAttention) {
    l.moreRows = size;
    if (size > 60 && !isRope)
      l.width = std::min(l.width, 5);
    return;
  }
  bool isOfMask = e.site == Site::Mask;
  if (isOfMask && size > 40) {
    e.limit -= size - 40;
    size = 40;
  }
  // Masks that compare places show where both are long.
  int other = isOfMask && e.rarity == Rarity::Place ? size : (isOfMask ? 6 : 2) + r.below(3);
  plan.queries = axis == 'i' ? size : other;
  plan.keys = axis == 'i' ? other : size;
}

//===-- The programs -------------------------------------------------------------------------===//

/// A part that the kind has an op for, and a mask that has the part.
void Drawer::drawMask() {
  bool isLogical = e.kind == EditKind::Select || e.kind == EditKind::Minimum ||
                   e.kind == EditKind::Maximum || e.kind == EditKind::Clamp ||
                   e.kind == EditKind::Absolute || e.kind == EditKind::Place ||
                   e.kind == EditKind::None;
  bool isOfNumbers = e.kind == EditKind::Select || e.kind == EditKind::Maximum ||
                     e.kind == EditKind::Clamp || e.kind == EditKind::Remainder;
  int which = r.below(100);
  if (isOfNumbers && which < 25) {
    e.part = Part::Number;
    // The remainder of an infinite number is NaN.
    c[Choice::Apply] = e.kind == EditKind::Remainder ? pick({kAddLow, kAddSelected})
                                                     : pick({kAddLow, kAddSelected, kAddInfinity});
    return drawMaskKind();
  }
  // An edit may hide all keys of a row; of numbers that are added rounding then decides.
  if (r.percent(60))
    c[Choice::Apply] = pick({kSelectLow, kSelectLow, kSelectLowest});
  if (isLogical && which < 55)
    e.part = Part::Condition;
  else
    e.part = pick({Part::QueryPlace, Part::QueryPlace, Part::KeyPlace, Part::Length});
  drawMaskKind();
}

void Drawer::drawMaskKind() {
  c[Choice::Mask0] = pick({kCausal, kCausal, kWindow, kCausalWindow, kStrict, kPrefix, kGlobal,
                           kLength, kOneLength, kPadding, kDense, kBlocks});
  if (e.part == Part::QueryPlace)
    c[Choice::Mask0] = pick({kCausal, kCausal, kWindow, kCausalWindow, kPrefix, kGlobal, kBlocks});
  if (e.part == Part::KeyPlace)
    c[Choice::Mask0] = pick({kCausal, kWindow, kCausalWindow, kLength, kOneLength, kLeftPadding});
  if (e.part == Part::Length)
    c[Choice::Mask0] = pick({kLength, kOneLength, kLeftPadding, kPrefix});
}

void Drawer::drawBias() {
  c[Choice::Rule0] = pick({kBias, kBias, kSlopes, kDistance, kTable, kBuckets, kBuckets});
  // A table that ends at a near distance hides what is done to far ones.
  bool hasDistance = c[Choice::Rule0] != kBias && c[Choice::Rule0] != kTable;
  if (hasDistance && r.percent(40))
    e.part = Part::Distance;
}

void Drawer::drawAttention() {
  c = fovea::smith::draw(r.next(), 0);
  for (Choice choice : {Choice::Type, Choice::Upcast, Choice::Rule0, Choice::Rule1, Choice::Rule2,
                        Choice::Mask1, Choice::Mask2, Choice::Join, Choice::Sink, Choice::Negative,
                        Choice::Twice, Choice::Returns})
    c[choice] = 0;
  c[Choice::Batch] = std::min(c[Choice::Batch], 1);
  c[Choice::BatchSize] = 1 + r.below(2);
  c[Choice::Heads] = std::min(c[Choice::Heads], 2);
  c[Choice::Group] = r.percent(15) ? 2 : 1;
  c[Choice::Depth] = pick({2, 3, 4});
  c[Choice::ValueDepth] = pick({0, 0, 2, 3});
  c[Choice::Merge] &= 15;
  c[Choice::Queries] = 2 + r.below(4);
  c[Choice::Keys] = 3 + r.below(5);
  if (r.percent(30))
    c[Choice::Mask0] = pick({kCausal, kCausal, kWindow, kLength, kDense, kBottomRight});
  else
    c[Choice::Mask0] = kNoMask;
  // A mask hides far keys from most queries.
  bool isFar = e.rarity == Rarity::Place || e.site == Site::Sum;
  if (isFar && c[Choice::Mask0] != kDense)
    c[Choice::Mask0] = kNoMask;
  c[Choice::Returns] = r.percent(6) ? 1 : 0;
  c[Choice::Sink] = r.percent(4) && e.site != Site::Sum ? 1 + r.below(3) : 0;
  if (e.site == Site::Exponential || e.site == Site::Sum) {
    c[Choice::Softmax] =
        e.site == Site::Sum && r.percent(25) ? kLogSumExp : pick({kByExp, kByExp, kByExp2});
    c[Choice::Shift] = pick({kMaximum, kMaximum, kNothing, kConstant, kGuardedMaximum});
  }
  if (e.site == Site::Probability && c[Choice::Norm] >= kLate)
    c[Choice::Norm] -= kLate;
  if (e.site == Site::Mask)
    drawMask();
  else if (e.site == Site::Bias)
    drawBias();
  else if (r.percent(15) && e.rarity == Rarity::Value)
    c[Choice::Rule0] = pick({kBias, kSoftCap, kSlopes, kDistance});
  bool isMasked = c[Choice::Mask0] != kNoMask;
  if (e.site == Site::Score && isMasked && r.percent(25) &&
      (e.kind == EditKind::Select || e.kind == EditKind::Maximum || e.kind == EditKind::Clamp))
    e.part = Part::Masked;
}

void Drawer::drawLayer() {
  e.part = Part::Value;
  l.width = pick({4, 5, 8, 8, 12});
  l.rows = 1 + r.below(3);
  l.moreRows = 3 + r.below(4);
  l.isStatic = r.percent(35);
  l.hasBatch = r.percent(50);
  l.style = r.below(4);
  l.spelling = r.next();
  if (e.site == Site::Angle) {
    l.layer = Layer::Rope;
    l.width = pick({2, 4, 4, 8});
    l.hasPositions = r.percent(30);
    l.isInterleaved = r.percent(40);
    e.part = r.percent(40) ? Part::Distance : Part::Value;
  } else if (e.site == Site::ActivationInput || e.site == Site::ActivationOutput) {
    int first = static_cast<int>(Layer::Gelu), last = static_cast<int>(Layer::ReluSquared);
    l.layer = static_cast<Layer>(first + r.below(last - first + 1));
    l.isGated = r.percent(30);
  } else {
    l.layer = static_cast<Layer>(r.below(3));
    if (e.site == Site::NormInput && r.percent(35))
      e.part = Part::Squares;
  }
}

/// An op that does nothing on the usual side, or one behind a condition.
void Drawer::drawForm() {
  bool isInteger = e.part == Part::QueryPlace || e.part == Part::KeyPlace ||
                   e.part == Part::Length || e.part == Part::Distance;
  bool hasNatural = isInteger ? e.kind != EditKind::Select && e.kind != EditKind::Place
                              : hasNaturalForm(e.kind, e.side, e.isPositive);
  e.isNatural = e.rarity == Rarity::Value && hasNatural && r.percent(50);
  bool hasOps = e.kind != EditKind::Select && e.kind != EditKind::Place;
  bool isOfMany = e.rarity == Rarity::Size || e.rarity == Rarity::Place;
  if (!isInteger && isOfMany && hasOps && e.part != Part::Number && r.percent(35))
    e.isNatural = true;
  if (!isInteger || !e.isNatural || e.kind != EditKind::Convert)
    return;
  // What eight bits cannot hold.
  e.limit = 128;
  l.moreRows = 134;
  (e.part == Part::QueryPlace ? plan.queries : plan.keys) = 134;
  (e.part == Part::QueryPlace ? plan.keys : plan.queries) = 6;
}

/// Sizes of static axes; those of the others stand beside the text.
void Drawer::settleSizes() {
  int most = std::max(plan.queries, plan.keys), least = std::min(plan.queries, plan.keys);
  // Both are one axis.
  if (most > 40 || (least && most > 3 * least))
    c[Choice::Self] = 0;
  settle(c);
  if (c[Choice::Self])
    plan.queries = plan.keys = most;
  if (plan.queries && (c[Choice::Static] & 2))
    c[Choice::Queries] = plan.queries;
  if (plan.keys && (c[Choice::Static] & 4))
    c[Choice::Keys] = plan.keys;
  settle(c);
}

Plan Drawer::draw() {
  drawEdit();
  plan.isAttention ? drawAttention() : drawLayer();
  drawRange();
  drawPlaces();
  drawSizes();
  drawForm();
  if (plan.isAttention)
    settleSizes();
  return plan;
}

NearMiss drawNearMiss(uint64_t seed, uint64_t index) {
  Random streams(seed * 0x9e3779b97f4a7c15ull + index, "near misses");
  NearMiss miss;
  while (!build(Drawer(streams.next()).draw(), miss))
    ;
  return miss;
}

} // namespace fovea::smith
