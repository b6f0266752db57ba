// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws, prints and simplifies descriptions. `settle` holds what cannot be combined, with reasons.
#include "test/smith/Choices.h"
#include "test/smith/Random.h"
#include <algorithm>
#include <sstream>

namespace fovea::smith {

namespace {
struct Info {
  const char *name;
  int limit; ///< values are below it
};
} // namespace

static constexpr Info kInfo[kChoices] = {
    {"type", 4},          {"upcast", 4},      {"batch", 3},          {"heads", 9},
    {"group", 5},         {"grouping", 4},    {"depth", 1025},       {"value-depth", 1025},
    {"self", 2},          {"static", 8},      {"batch-size", 9},     {"queries", 5001},
    {"keys", 5001},       {"layout-q", 8},    {"layout-k", 8},       {"layout-v", 8},
    {"layout-out", 8},    {"merge", 32},      {"copies", 2},         {"score-product", 4},
    {"value-product", 4}, {"score-order", 4}, {"scale", 8},          {"rule0", 16},
    {"rule1", 16},        {"rule2", 16},      {"mask0", 21},         {"mask1", 21},
    {"mask2", 21},        {"join", 4},        {"apply", 11},         {"mask-form", 4},
    {"softmax", 5},       {"shift", 4},       {"norm", 4},           {"guard", 3},
    {"sink", 4},          {"between", 4},     {"returns", 4},        {"style", 4},
    {"negative", 13},     {"twice", 2},       {"spelling", 1 << 30}, {"empty", 32},
};

static bool isHalfType(const Choices &c) {
  return c[Choice::Type] == kF16 || c[Choice::Type] == kBF16;
}

bool isTriangular(const Choices &c, int mask) {
  return mask == kCausal || mask == kTriangle || mask == kTriangleSlice ||
         (mask == kBottomRight && c[Choice::Self]);
}

/// Whether the first mask may allow nothing that the second does not, however many keys there are.
static bool implies(const Choices &c, int first, int second) {
  bool isBelow = isTriangular(c, first) || first == kCausalWindow || first == kStrict ||
                 first == kWindow; // that may end at the query
  bool hasAllBelow =
      isTriangular(c, second) || second == kPrefix || second == kOffset || second == kOffsets;
  auto isWindow = [](int mask) { return mask == kWindow || mask == kCausalWindow; };
  return first == second || (isBelow && hasAllBelow) || (isWindow(first) && isWindow(second));
}

/// Whether every row has a key that these masks allow, whatever the inputs.
static bool neverEmpty(const Choices &c) {
  bool first = true, diagonal = c[Choice::Self], any = false;
  for (Choice slot : {Choice::Mask0, Choice::Mask1, Choice::Mask2}) {
    // Rows see key 0, or their own place, with these masks.
    bool hasFirst = false, hasDiagonal = false;
    switch (c[slot]) {
    case kNoMask:
      continue;
    case kCausal:
    case kPrefix:
      hasFirst = hasDiagonal = true;
      break;
    case kBottomRight:
      hasFirst = hasDiagonal = c[Choice::Self];
      break;
    case kTriangle:
    case kTriangleSlice:
      hasFirst = hasDiagonal = true;
      break;
    case kOffset:
    case kOffsets:
      hasFirst = hasDiagonal = true; // offsets are not negative
      break;
    case kWindow:
    case kCausalWindow:
    case kSegment:
    case kBlocks:
    case kDilated:
      hasDiagonal = true;
      break;
    case kLength:
    case kOneLength:
    case kPadding:
    case kDense:
      hasFirst = true; // unless inputs may hide everything, which they do if nothing asks
      break;
    case kGlobal:
      hasFirst = true;
      break;
    default:
      break;
    }
    any = true;
    first &= hasFirst;
    diagonal &= hasDiagonal;
  }
  return !any || first || diagonal;
}

bool needsKeys(const Choices &c) {
  int apply = c[Choice::Apply];
  if (apply == kAddLow || apply == kAddSelected || apply == kBlend)
    return true;
  // So does what a logarithm of a sum adds to a number that replaces scores; of a sum of nothing it
  // is infinite, unless the maximum was subtracted.
  bool ofNothing = c[Choice::Softmax] == kLogSumExp ||
                   (c[Choice::Softmax] == kLogSoftmax && c[Choice::Shift] != kMaximum);
  if (ofNothing && (apply == kSelectLow || apply == kSelectLowest))
    return true;
  // The least number of all is infinite when it is multiplied for base two.
  if (c[Choice::Softmax] == kByExp2 && apply == kSelectLowest)
    return true;
  // A further term, beside the maximum over keys alone, is infinite times zero in an empty row;
  // fovea.attention's sinks take all of such a row.
  return (c[Choice::Sink] == kSinkTerm || c[Choice::Sink] == kOnePlus) &&
         c[Choice::Shift] == kMaximum;
}

void settle(Choices &c) {
  auto off = [&](Choice choice) { c[choice] = 0; };
  if (c[Choice::Depth] == 0)
    c[Choice::Depth] = 2; // 1 is a special case
  c[Choice::BatchSize] = std::max(c[Choice::BatchSize], 1);
  if (c[Choice::Queries] == 0)
    c[Choice::Queries] = 2;
  if (c[Choice::Keys] == 0)
    c[Choice::Keys] = 2;
  if (!isHalfType(c))
    off(Choice::Upcast);
  if (c[Choice::Heads] == 0) {
    off(Choice::Group);
    c[Choice::Merge] &= ~15; // nothing to merge with
  }
  if (c[Choice::Group] <= 1) {
    off(Choice::Group);
    off(Choice::Grouping);
  }
  if (c[Choice::Merge] & 16) {
    // One argument for all three: [b, s, 3 h d].
    c[Choice::Self] = 1;
    off(Choice::Group);
    off(Choice::Grouping);
    off(Choice::ValueDepth);
    c[Choice::Merge] = 16 | (c[Choice::Merge] & 8);
  }
  if (c[Choice::ValueDepth] == c[Choice::Depth])
    off(Choice::ValueDepth);
  if (c[Choice::Self]) {
    off(Choice::Keys);
    c[Choice::Keys] = c[Choice::Queries];
    bool isStatic = c[Choice::Static] & 2;
    c[Choice::Static] = (c[Choice::Static] & 1) | (isStatic ? 6 : 0);
  }
  if (c[Choice::Batch] == 0)
    c[Choice::Static] |= 1;

  // MLIR has no slice of an axis that is known to have no places.
  if ((c[Choice::Merge] & 16) || c[Choice::Mask0] == kTriangleSlice ||
      c[Choice::Mask1] == kTriangleSlice || c[Choice::Mask2] == kTriangleSlice)
    c[Choice::Empty] &= ~((c[Choice::Static] & 1) | (c[Choice::Static] & 6) | 24);

  // Where each key is seen by one query, weights over queries are those over keys.
  auto seeSeveral = [&] {
    for (Choice slot : {Choice::Mask0, Choice::Mask1, Choice::Mask2})
      if (c[slot] == kWindow || c[slot] == kCausalWindow)
        c[slot] = kCausal;
  };
  switch (c[Choice::Negative]) {
  case kPositive:
    break;
  case kGivenScores:
    off(Choice::Scale);
    off(Choice::Twice);
    break;
  case kOverQueries:
  case kNormalizedByKey:
    seeSeveral();
    // Keys that no query sees are like rows without keys.
    if (needsKeys(c))
      off(Choice::Apply);
    break;
  case kSquaredWeights:
    // Weights that are one or nothing are their own squares.
    off(Choice::Mask0);
    off(Choice::Mask1);
    off(Choice::Mask2);
    // By themselves, not inside an exponential.
    if (c[Choice::Softmax] >= kLogSoftmax)
      c[Choice::Softmax] = kByExp;
    break;
  case kSumOverQueries:
    seeSeveral();
    off(Choice::ValueDepth); // queries take the values' place
    break;
  case kOverHeads:
    // Keys that no head sees are like rows without keys.
    if (needsKeys(c))
      off(Choice::Apply);
    // A softmax over heads needs more than one, in one axis.
    if (c[Choice::Heads] < 2)
      c[Choice::Heads] = 2;
    off(Choice::Group);
    off(Choice::Grouping);
    break;
  case kValuesByQuery:
    // One query that has values is an attention.
    c[Choice::Queries] = std::max(c[Choice::Queries], 2);
    if (c[Choice::Self])
      c[Choice::Keys] = c[Choice::Queries];
    // Values for each query are no argument of the usual form.
    off(Choice::Merge);
    off(Choice::Group);
    off(Choice::Grouping);
    break;
  default:
    break;
  }
  if (c[Choice::Negative]) {
    // What stands around is kept plain, so that each is no attention for one reason.
    off(Choice::Twice);
    off(Choice::Sink);
    off(Choice::Guard);
    off(Choice::Norm);
    if (c[Choice::Apply] >= kTimesExp)
      off(Choice::Apply);
    // The row of all keys hidden is a matter of attention; elsewhere sums of nothing are 0/0.
    if (c[Choice::Negative] == kNoSoftmax || c[Choice::Negative] == kSigmoid ||
        c[Choice::Negative] == kRelu || c[Choice::Negative] == kNotNormalized) {
      off(Choice::Mask0);
      off(Choice::Mask1);
      off(Choice::Mask2);
      off(Choice::Softmax);
      off(Choice::Shift);
    }
    if (c[Choice::Negative] == kNormalizedByKey) {
      c[Choice::Softmax] = kByExp;
      c[Choice::Norm] = kDivide;
    }
  }
  // One more column, or a term, in a softmax that is written out.
  if (c[Choice::Sink] == kSinkTerm || c[Choice::Sink] == kOnePlus) {
    if (c[Choice::Softmax] == kNamed || c[Choice::Softmax] >= kLogSoftmax)
      c[Choice::Softmax] = kByExp;
    if (c[Choice::Shift] == kGuardedMaximum)
      c[Choice::Shift] = kMaximum;
    off(Choice::Guard);
  }
  if (c[Choice::Sink] && c[Choice::Apply] >= kTimesExp)
    off(Choice::Apply);
  if (c[Choice::Sink] == kSinkColumn && c[Choice::Norm] >= kLate)
    c[Choice::Norm] -= kLate; // the column is dropped before the division
  if (c[Choice::Softmax] == kNamed) {
    off(Choice::Shift);
    off(Choice::Norm);
    if (c[Choice::Guard] == kSumOrOne)
      off(Choice::Guard);
    if (c[Choice::Apply] == kTimesExp)
      c[Choice::Apply] = kTimesWeights;
  }
  if (c[Choice::Softmax] >= kLogSoftmax) {
    off(Choice::Norm);
    if (c[Choice::Guard] == kSumOrOne)
      off(Choice::Guard);
    if (c[Choice::Apply] >= kTimesExp)
      off(Choice::Apply);
  }
  // Both see exponentials of any size: keep scores small, and nothing to wrap up f16's range.
  if (c[Choice::Shift] == kNothing || c[Choice::Shift] == kConstant) {
    if (isHalfType(c) && c[Choice::Upcast] == kNoUpcast)
      c[Choice::Shift] = kMaximum;
  }
  if (c[Choice::Norm] >= kLate) {
    if (c[Choice::Returns] & 1)
      c[Choice::Returns] &= ~1; // there are no weights
    off(Choice::Between);
    if (c[Choice::Guard] == kNaNToZero)
      off(Choice::Guard);
    if (c[Choice::Apply] == kTimesWeights)
      off(Choice::Apply);
    c[Choice::Empty] &= ~4; // 0/0 over no keys at all, of which raising makes zero
  }
  // Masks.
  Choice slots[] = {Choice::Mask0, Choice::Mask1, Choice::Mask2};
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < 2; ++k)
      if (c[slots[k]] == kNoMask)
        std::swap(c[slots[k]], c[slots[k + 1]]);
  bool isStatic = (c[Choice::Static] & 6) == 6;
  for (Choice slot : slots) {
    if ((c[slot] == kTriangle || c[slot] == kRandomTable) &&
        (!isStatic || c[Choice::Queries] * c[Choice::Keys] > 400))
      c[slot] = kCausal;
    if (c[slot] == kTriangleSlice && (c[Choice::Queries] > 20 || c[Choice::Keys] > 20))
      c[slot] = kCausal;
    bool isPerRow = c[slot] == kLength || c[slot] == kLeftPadding || c[slot] == kPrefix ||
                    c[slot] == kPadding || c[slot] == kOffsets || c[slot] == kSegment;
    if (isPerRow && c[Choice::Batch] == 0)
      c[slot] = kOneLength;
    if (c[slot] == kSegment && !c[Choice::Self])
      c[slot] = kDense;
  }
  // Two queries have no key before them that is two places away.
  bool isDilated = false;
  for (Choice slot : slots)
    isDilated |= c[slot] == kDilated;
  if (isDilated && (c[Choice::Static] & 2) && c[Choice::Queries] <= 2)
    for (Choice slot : slots)
      if (c[slot] == kStrict)
        c[slot] = kCausal;
  // Of more queries than keys the first have no key up to their place, counted from the end; a
  // second mask may hide those of the others, and nothing is left to show that it is attention.
  if (isStatic && c[Choice::Queries] > c[Choice::Keys] && c[Choice::Mask1] != kNoMask)
    for (Choice slot : slots)
      if (c[slot] == kBottomRight)
        c[slot] = kCausal;
  if (c[Choice::Mask0] == kNoMask) {
    off(Choice::Apply);
    off(Choice::MaskForm);
  }
  if (c[Choice::Mask1] == kNoMask)
    off(Choice::Join);
  if (c[Choice::Join] >= kAndNot && needsKeys(c))
    c[Choice::Join] = kAnd;
  // What is allowed by a mask and not by the same, or one that allows more: nothing.
  if (c[Choice::Join] == kAndNot)
    for (int i : {1, 2})
      if (implies(c, c[slots[0]], c[slots[i]]))
        c[Choice::Join] = kAnd;
  // Masks that are applied one after the other, each with its own number, say nothing definite
  // about a row that they hide together.
  if (c[Choice::Join] == kSeparate && !neverEmpty(c))
    c[Choice::Apply] = kSelectInfinity;
  if (needsKeys(c) && !neverEmpty(c)) {
    c[Choice::Apply] = kSelectInfinity;
    if (needsKeys(c))
      off(Choice::Sink);
  }
  if (c[Choice::Join] == kSeparate && c[Choice::Apply] >= kTimesExp)
    c[Choice::Apply] = kSelectInfinity;
  // f16 has no number below -65504.
  if (isHalfType(c) && c[Choice::Apply] == kSelectLowest && c[Choice::Upcast] == kNoUpcast)
    c[Choice::Apply] = kSelectLow;
  if (c[Choice::Twice]) {
    // The result of the first is the query of the second.
    off(Choice::ValueDepth);
    off(Choice::Returns);
  }
}

Choices draw(uint64_t seed, uint64_t index, bool isLarge) {
  Random r(seed * 0x9e3779b97f4a7c15ull + index, "choices");
  Choices c;
  auto pick = [&](std::initializer_list<int> values) {
    return *(values.begin() + r.below(static_cast<int>(values.size())));
  };
  c[Choice::Type] = pick({kF32, kF32, kF32, kF32, kF16, kF16, kBF16, kF64});
  c[Choice::Upcast] = pick({kNoUpcast, kInProduct, kBehindProduct, kBehindProduct, kAtOnce});
  c[Choice::Batch] = pick({0, 1, 1, 1, 1, 1, 1, 2});
  c[Choice::Heads] = pick({0, 1, 2, 2, 2, 3, 3, 4});
  c[Choice::Group] = pick({1, 1, 1, 2, 3, 4});
  c[Choice::Grouping] = r.below(4);
  c[Choice::Depth] = pick({1, 2, 3, 4, 4, 5, 7, 8, 8, 8, 12, 16, 16, 20, 32});
  c[Choice::ValueDepth] = r.percent(30) ? pick({1, 2, 3, 4, 6, 8, 10, 16}) : 0;
  c[Choice::Self] = r.percent(45);
  c[Choice::Static] = r.percent(50) ? 0 : r.percent(40) ? 7 : r.below(8);
  c[Choice::BatchSize] = pick({1, 1, 2, 2, 3});
  c[Choice::Queries] = 1 + r.below(9);
  c[Choice::Keys] = 2 + r.below(11);
  if (int size = r.below(100); size < 6) {
    // More than a tile of queries and keys.
    c[Choice::Queries] = 30 + r.below(60);
    c[Choice::Keys] = 30 + r.below(120);
    c[Choice::BatchSize] = 1;
    c[Choice::Heads] = std::min(c[Choice::Heads], 2);
    c[Choice::Depth] = std::min(c[Choice::Depth], 8);
  } else if (size < 9) {
    // One step of decoding, over parts of the keys.
    c[Choice::Queries] = 1 + r.below(3);
    c[Choice::Keys] = 300 + r.below(1200);
    c[Choice::BatchSize] = 1;
    c[Choice::Self] = 0;
    c[Choice::Heads] = std::min(c[Choice::Heads], 2);
    c[Choice::Depth] = std::min(c[Choice::Depth], 8);
  } else if (size < 12) {
    c[Choice::Depth] = pick({40, 48, 64, 64, 80, 96, 128});
  }
  if (isLarge) {
    c[Choice::Type] = pick({kF32, kF16, kF16, kBF16, kBF16});
    c[Choice::Depth] = pick({16, 32, 40, 64, 64, 64, 72, 80, 96, 128, 128, 192, 256});
    if (c[Choice::ValueDepth])
      c[Choice::ValueDepth] = pick({16, 64, 96, 128});
    c[Choice::Queries] = pick({1, 2, 64, 65, 96, 129});
    c[Choice::Keys] = pick({64, 127, 128, 129, 192, 300});
    c[Choice::Batch] = pick({0, 0, 0, 1});
    c[Choice::BatchSize] = 1;
    c[Choice::Heads] = std::min(c[Choice::Heads], 2);
    c[Choice::Group] = std::min(c[Choice::Group], 3);
  }
  for (Choice layout : {Choice::LayoutQ, Choice::LayoutK, Choice::LayoutV, Choice::LayoutOut})
    c[layout] = pick({0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7});
  if (r.percent(50))
    c[Choice::LayoutK] = c[Choice::LayoutV] = c[Choice::LayoutOut] = c[Choice::LayoutQ];
  c[Choice::Merge] = pick({0, 0, 0, 0, 15, 15, 16, 24, r.below(32)});
  c[Choice::Copies] = r.below(2);
  c[Choice::ScoreProduct] = r.below(4);
  c[Choice::ValueProduct] = r.below(4);
  c[Choice::ScoreOrder] = pick({0, 0, 0, 1, 2, 3});
  c[Choice::Scale] = r.below(8);
  for (Choice rule : {Choice::Rule0, Choice::Rule1, Choice::Rule2})
    c[rule] = r.percent(rule == Choice::Rule0 ? 50 : 25) ? r.below(15) : 0;
  for (Choice mask : {Choice::Mask0, Choice::Mask1, Choice::Mask2})
    c[mask] = r.percent(mask == Choice::Mask0   ? 75
                        : mask == Choice::Mask1 ? 35
                                                : 12)
                  ? r.below(21)
                  : 0;
  c[Choice::Join] = pick({kAnd, kAnd, kAnd, kOr, kAndNot, kSeparate});
  c[Choice::Apply] = pick({0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  c[Choice::MaskForm] = r.below(4);
  c[Choice::Softmax] =
      pick({kNamed, kNamed, kByExp, kByExp, kByExp, kByExp2, kLogSoftmax, kLogSumExp});
  c[Choice::Shift] = pick({kMaximum, kMaximum, kMaximum, kNothing, kConstant, kGuardedMaximum});
  c[Choice::Norm] = pick({kDivide, kDivide, kReciprocal, kLate, kLateReciprocal});
  c[Choice::Guard] = pick({0, 0, 0, 0, kNaNToZero, kSumOrOne});
  c[Choice::Sink] = r.percent(12) ? 1 + r.below(3) : 0;
  c[Choice::Between] = r.percent(25) ? 1 + r.below(3) : 0;
  c[Choice::Returns] = pick({0, 0, 0, 0, 0, 0, 1, 1, 2, 3});
  c[Choice::Style] = r.below(4);
  c[Choice::Negative] = r.percent(10) ? 1 + r.below(12) : 0;
  c[Choice::Twice] = r.percent(5);
  c[Choice::Spelling] = r.below(1 << 30);
  c[Choice::Empty] = r.percent(6) ? pick({1, 2, 4, 4, 8, 16, 24, r.below(32)}) : 0;
  settle(c);
  return c;
}

std::string print(const Choices &choices) {
  std::string text;
  for (int i = 0; i < kChoices; ++i)
    if (choices.values[i])
      text += (text.empty() ? "" : " ") + std::string(kInfo[i].name) + "=" +
              std::to_string(choices.values[i]);
  return text;
}

bool parse(const std::string &text, Choices &choices, std::string &error) {
  choices = {};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    size_t sign = word.find('=');
    std::string name = word.substr(0, sign);
    auto info = std::find_if(std::begin(kInfo), std::end(kInfo),
                             [&](const Info &one) { return name == one.name; });
    if (sign == std::string::npos || info == std::end(kInfo)) {
      error = "expects NAME=NUMBER with the name of a choice, got '" + word + "'";
      return false;
    }
    std::string digits = word.substr(sign + 1);
    bool isNumber = !digits.empty() && digits.size() < 10 &&
                    digits.find_first_not_of("0123456789") == std::string::npos;
    if (!isNumber || std::stol(digits) >= info->limit) {
      error = "expects a number below " + std::to_string(info->limit) + " for " + name + ", got '" +
              digits + "'";
      return false;
    }
    choices.values[info - kInfo] = static_cast<int>(std::stol(digits));
  }
  settle(choices);
  return true;
}

std::vector<Choices> simplify(const Choices &choices) {
  std::vector<Choices> simpler;
  auto add = [&](Choices next) {
    settle(next);
    if (!(next == choices) && std::find(simpler.begin(), simpler.end(), next) == simpler.end())
      simpler.push_back(next);
  };
  std::vector<int> on;
  for (int i = 0; i < kChoices; ++i)
    if (choices.values[i])
      on.push_back(i);
  // Half of them, a quarter, ... one.
  for (size_t size = (on.size() + 1) / 2; size > 0; size /= 2)
    for (size_t first = 0; first < on.size(); first += size) {
      Choices next = choices;
      for (size_t i = first; i < std::min(first + size, on.size()); ++i)
        next.values[on[i]] = 0;
      add(next);
    }
  for (int i = 0; i < kChoices; ++i) {
    if (choices.values[i] < 2)
      continue;
    for (int value : {1, choices.values[i] / 2, choices.values[i] - 1}) {
      Choices next = choices;
      next.values[i] = value;
      add(next);
    }
  }
  return simpler;
}

} // namespace fovea::smith
