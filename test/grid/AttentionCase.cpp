// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/grid/AttentionCase.h"
#include <cmath>
#include <cstring>
#include <set>
#include <sstream>

using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

/// A mask variant: its name, the ops that end in %m, and what these read.
namespace {
struct MaskVariant {
  const char *name, *text;
};
} // namespace

static const std::vector<MaskVariant> kMasks = {
    {"none", ""},
    {"causal", "%m = fovea.mask_causal\n"},
    {"window", "%m = fovea.mask_window left(5) right(2)\n"},
    {"window-left", "%m = fovea.mask_window left(16)\n"},
    {"strictly-before", "%m = fovea.mask_window right(-1)\n"},
    {"length", "%m = fovea.mask_length %lengths : tensor<?xi32>\n"},
    {"prefix", "%m = fovea.mask_prefix %lengths : tensor<?xi32>\n"},
    {"segment", "%m = fovea.mask_segment %qs, %ks : tensor<?x?xi32>, tensor<?x?xi32>\n"},
    {"global", "%m = fovea.mask_global tokens(3)\n"},
    {"dense", "%m = fovea.mask_dense %dense : tensor<?x1x?x?xi1>\n"},
    {"dense-row", "%m = fovea.mask_dense %row : tensor<?x1x1x?xi64>\n"},
    {"causal&length",
     "%ma = fovea.mask_causal\n%mb = fovea.mask_length %lengths : tensor<?xi32>\n%m "
     "= fovea.mask_and(%ma, %mb)\n"},
    {"window|global", "%ma = fovea.mask_window left(7) right(0)\n%mb = fovea.mask_global "
                      "tokens(2)\n%m = fovea.mask_or(%ma, %mb)\n"},
    {"causal&segment", "%ma = fovea.mask_causal\n%mb = fovea.mask_segment %qs, %ks : "
                       "tensor<?x?xi32>, tensor<?x?xi32>\n%m = fovea.mask_and(%ma, %mb)\n"},
    {"!causal", "%ma = fovea.mask_causal\n%m = fovea.mask_not %ma\n"},
    {"!(window|length)",
     "%ma = fovea.mask_window left(3) right(3)\n%mb = fovea.mask_length %lengths "
     ": tensor<?xi32>\n%mc = fovea.mask_or(%ma, %mb)\n%m = fovea.mask_not %mc\n"},
    {"length&(window|global|dense-row)",
     "%ma = fovea.mask_window left(4) right(4)\n%mb = fovea.mask_global tokens(1)\n%mc = "
     "fovea.mask_dense %row : tensor<?x1x1x?xi64>\n%md = fovea.mask_or(%ma, %mb, %mc)\n%me = "
     "fovea.mask_length %lengths : tensor<?xi32>\n%m = fovea.mask_and(%md, %me)\n"},
    {"nothing", "%m = fovea.mask_or()\n"},
};

static const std::vector<const char *> kScores = {"plain",   "bias", "alibi",
                                                  "softcap", "t5",   "temperature"};
static const std::vector<const char *> kProbabilities = {"plain", "cap", "dropout", "floor"};
static const std::vector<const char *> kFills = {"zero", "mean", "raw", "nan"};
static const std::vector<const char *> kMemories = {"", " cache", " cache of integers"};
static const std::vector<const char *> kPositions = {"index", "offset", "given"};
static const std::vector<const char *> kTypes = {"f32", "f64", "bf16", "f32/bf16", "f32/f16"};
static const int64_t kHeadSizes[] = {1, 8, 40, 64, 128};
/// Those past the fourth are no choices of a cover.
static const int64_t kGroups[] = {1, 2, 4, 8, 3, 13, 16, 17};

const std::array<int, Axes> mlir::fovea::kChoices = {
    5, 2, 4, static_cast<int>(kMasks.size()), 6, 4, 2, 4, 3, 3, 4, 5, 2};

std::vector<Choice> mlir::fovea::makePairwiseCover(unsigned seed) {
  using Pair = std::array<int, 4>;
  std::set<Pair> missing;
  for (int a = 0; a < Axes; ++a)
    for (int b = a + 1; b < Axes; ++b)
      for (int x = 0; x < kChoices[a]; ++x)
        for (int y = 0; y < kChoices[b]; ++y)
          missing.insert({a, x, b, y});
  std::mt19937 random(seed);
  std::vector<Choice> cover;
  while (!missing.empty()) {
    // Of a few random completions of a pair that is missing, the one that covers most.
    Pair wanted = *std::next(missing.begin(), random() % missing.size());
    Choice best{};
    int most = -1;
    for (int attempt = 0; attempt < 60; ++attempt) {
      Choice choice;
      for (int a = 0; a < Axes; ++a)
        choice[a] = random() % kChoices[a];
      choice[wanted[0]] = wanted[1];
      choice[wanted[2]] = wanted[3];
      int covered = 0;
      for (int a = 0; a < Axes; ++a)
        for (int b = a + 1; b < Axes; ++b)
          covered += missing.count({a, choice[a], b, choice[b]});
      if (covered > most) {
        most = covered;
        best = choice;
      }
    }
    for (int a = 0; a < Axes; ++a)
      for (int b = a + 1; b < Axes; ++b)
        missing.erase({a, best[a], b, best[b]});
    cover.push_back(best);
  }
  return cover;
}

Choice mlir::fovea::makeHalves(Choice choice) {
  choice[Types] = 2;
  return choice;
}

Choice mlir::fovea::makeSplittable(Choice choice) {
  choice[Probability] = 0;
  choice[Outputs] &= 1;
  return choice;
}

std::vector<Choice> mlir::fovea::getHeadCases() {
  std::vector<Choice> cases;
  for (int groups = 0; groups < static_cast<int>(std::size(kGroups)); ++groups)
    for (int headSize : {2, 3, 4})
      for (int types : {0, 2, 3}) {
        Choice choice{};
        choice[HeadSize] = headSize;
        choice[Groups] = groups;
        choice[Types] = types;
        cases.push_back(choice);
      }
  return cases;
}

const std::vector<Choice> &mlir::fovea::getAttentionCases() {
  static const std::vector<Choice> cases = makePairwiseCover(1);
  return cases;
}

const std::vector<Choice> &mlir::fovea::getScheduledAttentionCases() {
  static const std::vector<Choice> cases = makePairwiseCover(2);
  return cases;
}

std::vector<std::pair<int64_t, int64_t>> mlir::fovea::makeLengths(int number, How how) {
  int64_t count = 130;
  std::vector<std::pair<int64_t, int64_t>> lengths;
  if (isSplit(how)) {
    for (int64_t keys : {0, 31, 63, 64, 65, 96, 129})
      lengths.push_back({1 + (number + keys) % 18, keys});
    lengths.push_back({1 + number % 5, (7 * number + 3) % count});
  } else {
    lengths = {{(7 * number + 3) % count, (11 * number + 64) % count},
               {(13 * number + 1) % 34, (number + 129) % count},
               {(number + 97) % count, (5 * number) % 34},
               {1, number % count},
               {number % 18, number % 18}};
  }
  if (isByHeads(how))
    for (auto &length : lengths)
      length.first = 1;
  return lengths;
}

std::string mlir::fovea::compareTensors(const Tensor &got, const Tensor &expected, double tolerance,
                                        double least) {
  if (got.shape != expected.shape)
    return "shapes differ";
  double largest = 0;
  for (double x : expected.reals)
    if (std::isfinite(x))
      largest = std::max(largest, std::abs(x));
  double allowed = tolerance * (largest > 0 ? std::max(largest, least) : 0);
  for (int64_t i = 0; i < expected.size(); ++i) {
    double x = got.reals[i], y = expected.reals[i];
    bool same =
        std::isfinite(y) ? std::abs(x - y) <= allowed : (std::isnan(y) ? std::isnan(x) : x == y);
    if (!same)
      return "element " + std::to_string(i) + ": got " + std::to_string(x) + ", expected " +
             std::to_string(y) + " (largest " + std::to_string(largest) + ")";
  }
  return "";
}

int64_t AttentionCase::headSize() const { return kHeadSizes[choice[HeadSize]]; }
int64_t AttentionCase::valueSize() const { return choice[ValueSize] == 0 ? headSize() : 24; }
int64_t AttentionCase::keyHeads() const { return kGroups[choice[Groups]] >= 4 ? 1 : 2; }
int64_t AttentionCase::queryHeads() const { return keyHeads() * kGroups[choice[Groups]]; }
std::string AttentionCase::accumulationType() const { return choice[Types] == 1 ? "f64" : "f32"; }
std::string AttentionCase::queryType() const {
  return choice[Types] == 1 ? "f64" : choice[Types] == 2 ? "bf16" : "f32";
}
std::string AttentionCase::keyType() const {
  static const char *types[] = {"f32", "f64", "bf16", "bf16", "f16"};
  return types[choice[Types]];
}

std::string AttentionCase::describe() const {
  std::ostringstream out;
  out << "D" << headSize() << " Dv" << valueSize() << " heads" << queryHeads() << "/" << keyHeads()
      << " mask:" << kMasks[choice[Mask]].name << " score:" << kScores[choice[Score]]
      << " probability:" << kProbabilities[choice[Probability]] << (choice[Sinks] ? " sinks" : "")
      << " fill:" << kFills[choice[Fill]] << " positions:" << kPositions[choice[Positions]]
      << kMemories[choice[Memory]] << " outputs:" << choice[Outputs]
      << " types:" << kTypes[choice[Types]] << (choice[Form] ? " additive" : "")
      << (oneQuery ? " one query" : "");
  return out.str();
}

std::vector<AttentionCase::Argument> AttentionCase::getArguments() const {
  std::string mask = kMasks[choice[Mask]].text;
  std::string h = std::to_string(queryHeads()), g = std::to_string(keyHeads()),
              d = std::to_string(headSize()), dv = std::to_string(valueSize()),
              length = oneQuery ? "1" : "?";
  std::vector<Argument> arguments = {
      {"q",
       "tensor<?x" + length + "x" + h + "x" + d + "x" + queryType() + ">",
       Argument::Real,
       {-1, -2, queryHeads(), headSize()}},
      {"k",
       "tensor<?x?x" + g + "x" + d + "x" + keyType() + ">",
       Argument::Real,
       {-1, -3, keyHeads(), headSize()}},
      {"v",
       "tensor<?x?x" + g + "x" + dv + "x" + keyType() + ">",
       Argument::Real,
       {-1, -3, keyHeads(), valueSize()}}};
  auto reads = [&](const char *name) { return mask.find(name) != std::string::npos; };
  if (reads("%lengths"))
    arguments.push_back({"lengths", "tensor<?xi32>", Argument::Length, {-1}});
  if (reads("%qs")) {
    arguments.push_back({"qs", "tensor<?x?xi32>", Argument::Segment, {-1, -2}});
    arguments.push_back({"ks", "tensor<?x?xi32>", Argument::KeySegment, {-1, -3}});
  }
  if (reads("%dense"))
    arguments.push_back({"dense", "tensor<?x1x?x?xi1>", Argument::Dense, {-1, 1, -2, -3}});
  if (reads("%row"))
    arguments.push_back({"row", "tensor<?x1x1x?xi64>", Argument::DenseRow, {-1, 1, 1, -3}});
  if (choice[Positions] == 1)
    arguments.push_back({"qp", "tensor<1x?xi32>", Argument::Position, {1, -2}});
  if (choice[Positions] == 2) {
    arguments.push_back({"qp", "tensor<?x?xi32>", Argument::Position, {-1, -2}});
    arguments.push_back({"kp", "tensor<?x?xi32>", Argument::KeyPosition, {-1, -3}});
  }
  std::string type = accumulationType();
  if (choice[Sinks])
    arguments.push_back({"sinks", "tensor<" + h + "xf32>", Argument::Real, {queryHeads()}});
  if (choice[Form])
    arguments.push_back({"additive", "tensor<" + d + "xf32>", Argument::Real, {headSize()}});
  if (choice[Score] == 1)
    arguments.push_back(
        {"bias", "tensor<" + h + "x?x?x" + type + ">", Argument::Real, {queryHeads(), -2, -3}});
  if (choice[Score] == 4)
    arguments.push_back(
        {"table", "tensor<16x" + h + "x" + type + ">", Argument::Real, {16, queryHeads()}});
  if (choice[Score] == 5)
    arguments.push_back(
        {"temperature", "tensor<" + h + "x?x" + type + ">", Argument::Real, {queryHeads(), -1}});
  if (choice[Probability] == 2)
    arguments.push_back(
        {"drop", "tensor<?x?x" + h + "x" + type + ">", Argument::Real, {-2, -3, queryHeads()}});
  return arguments;
}

/// The clause with the score region, given the block's common arguments.
static std::string getScore(int kind, const std::string &type, const std::string &heads) {
  std::string head = "^bb0(%x: " + type, tail = ", %b: index, %h: index, %i: i32, %j: i32):\n",
              yield = "fovea.yield %y : " + type + "\n}";
  switch (kind) {
  case 1:
    return "score(%bias : tensor<" + heads + "x?x?x" + type +
           "> by (b, h, i, j) -> (h, i, j)) {\n" + head + ", %bv: " + type + tail +
           "%y = arith.addf %x, %bv : " + type + "\n" + yield;
  case 2: // ALiBi: slopes by head, times the distance
    return "score(%slopes : tensor<" + heads + "x" + type + "> by (b, h, i, j) -> (h)) {\n" + head +
           ", %s: " + type + tail + "%n = arith.subi %j, %i : i32\n%f = arith.sitofp %n : i32 to " +
           type + "\n%t = arith.mulf %s, %f : " + type + "\n%y = arith.addf %x, %t : " + type +
           "\n" + yield;
  case 3:
    return "score {\n" + head + tail + "%c = arith.constant 5.0 : " + type +
           "\n%r = arith.divf %x, %c : " + type + "\n%t = math.tanh %r : " + type +
           "\n%y = arith.mulf %t, %c : " + type + "\n" + yield;
  case 4:
    return "score(%table : tensor<16x" + heads + "x" + type + "> by (b, h, i, j) -> ()) {\n" +
           head + ", %t: tensor<16x" + heads + "x" + type + ">" + tail +
           "%r = fovea.relative_bias %t[%h] at(%i, %j) {bidirectional, buckets = 16 : i64, "
           "max_distance = 40 : i64} : tensor<16x" +
           heads + "x" + type + "> -> " + type + "\n%y = arith.addf %x, %r : " + type + "\n" +
           yield;
  case 5: // operand axes in another order, and of the batch
    return "score(%temperature : tensor<" + heads + "x?x" + type +
           "> by (b, h, i, j) -> (h, b)) {\n" + head + ", %t: " + type + tail +
           "%y = arith.mulf %x, %t : " + type + "\n" + yield;
  default:
    return "";
  }
}

/// The clause with the probability region.
static std::string getProbability(int kind, const std::string &type, const std::string &heads) {
  std::string head = "^bb0(%p: " + type, tail = ", %b: index, %h: index, %i: i32, %j: i32):\n",
              yield = "fovea.yield %w : " + type + "\n}";
  switch (kind) {
  case 1:
    return "probability {\n" + head + tail + "%c = arith.constant 0.3 : " + type +
           "\n%w = arith.minimumf %p, %c : " + type + "\n" + yield;
  case 2:
    return "probability(%drop : tensor<?x?x" + heads + "x" + type +
           "> by (b, h, i, j) -> (i, j, h)) {\n" + head + ", %d: " + type + tail +
           "%w = arith.mulf %p, %d : " + type + "\n" + yield;
  case 3: // weight for allowed keys of no probability, by place
    return "probability {\n" + head + tail + "%c = arith.constant 0.01 : " + type +
           "\n%least = arith.maximumf %p, %c : " + type +
           "\n%far = arith.cmpi sgt, %j, %i : i32\n%w = arith.select %far, %least, %p : " + type +
           "\n" + yield;
  default:
    return "";
  }
}

std::string AttentionCase::getText() const {
  std::ostringstream out;
  std::string h = std::to_string(queryHeads()), g = std::to_string(keyHeads()),
              d = std::to_string(headSize()), dv = std::to_string(valueSize()),
              type = accumulationType(), length = oneQuery ? "1" : "?";
  std::vector<Argument> arguments = getArguments();
  out << "func.func @attend(";
  for (size_t i = 0; i < arguments.size(); ++i)
    out << (i ? ", " : "") << "%" << arguments[i].name << ": " << arguments[i].type
        << " {fovea.name = \"" << arguments[i].name << "\"}";
  std::string outputType = "tensor<?x" + length + "x" + h + "x" + dv + "x" + queryType() + ">";
  bool lse = choice[Outputs] & 1, weights = choice[Outputs] & 2;
  std::string lseType = "tensor<?x" + h + "x" + length + "x" + type + ">",
              weightsType = "tensor<?x" + h + "x" + length + "x?x" + queryType() + ">";
  std::string results =
      outputType + (lse ? ", " + lseType : "") + (weights ? ", " + weightsType : "");
  out << ") -> (" << outputType << " {fovea.name = \"output\"}"
      << (lse ? ", " + lseType + " {fovea.name = \"lse\"}" : "")
      << (weights ? ", " + weightsType + " {fovea.name = \"weights\"}" : "")
      << ") attributes {fovea.entry} {\n";
  std::string key = arguments[1].type, value = arguments[2].type, k = "%k", v = "%v";
  std::string keyScales = "!fovea.cache<key, " + g + "x1xf32>",
              valueScales = "!fovea.cache<value, " + g + "x1xf32>";
  if (choice[Memory]) {
    std::string element = isOfIntegers() ? "i8" : keyType();
    key = "!fovea.cache<key, " + g + "x" + d + "x" + element + ">";
    value = "!fovea.cache<value, " + g + "x" + dv + "x" + element + ">";
    out << "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c3 = arith.constant 3 "
           ": index\n"
        << "%B = tensor.dim %k, %c0 : " << arguments[1].type
        << "\n%S = tensor.dim %k, %c1 : " << arguments[1].type
        << "\n%room = arith.addi %S, %c3 : index\n%ek = fovea.cache_create %B, %room : " << key
        << "\n%ev = fovea.cache_create %B, %room : " << value << "\n";
    if (isOfIntegers())
      out << "%es = fovea.cache_create %B, %room : " << keyScales << "\n%et = "
          << "fovea.cache_create %B, %room : " << valueScales << "\n";
    out << "%ck" << (isOfIntegers() ? ", %cs" : "") << " = fovea.cache_append %ek, %k "
        << (isOfIntegers() ? "scales(%es : " + keyScales + ") " : "") << ": " << key << ", "
        << arguments[1].type << "\n%cv" << (isOfIntegers() ? ", %ct" : "")
        << " = fovea.cache_append %ev, %v "
        << (isOfIntegers() ? "scales(%et : " + valueScales + ") " : "") << ": " << value << ", "
        << arguments[2].type << "\n";
    k = "%ck";
    v = "%cv";
  }
  if (choice[Score] == 2)
    out << "%slopes = fovea.alibi_slopes : tensor<" << h << "x" << type << ">\n";
  out << kMasks[choice[Mask]].text;
  out << "%o" << (lse ? ", %l" : "") << (weights ? ", %p" : "") << " = fovea.attention %q, " << k
      << ", " << v;
  for (const Argument &argument : arguments) {
    if (argument.name == "qp")
      out << " q_pos(%qp : " << argument.type << ")";
    if (argument.name == "kp")
      out << " k_pos(%kp : " << argument.type << ")";
  }
  if (choice[Mask])
    out << " mask(%m)";
  if (choice[Sinks])
    out << " sinks(%sinks : tensor<" << h << "xf32>)";
  if (choice[Form])
    out << " additive(%additive : tensor<" << d << "xf32>)";
  if (isOfIntegers())
    out << " scales(%cs, %ct : " << keyScales << ", " << valueScales << ")";
  out << " scale(" << (headSize() == 1 ? "1.0" : "0.25") << ") fill(" << kFills[choice[Fill]]
      << ")\n"
      << getScore(choice[Score], type, h) << " " << getProbability(choice[Probability], type, h)
      << " : " << arguments[0].type << ", " << key << ", " << value << " -> " << outputType;
  if (lse)
    out << " lse " << lseType;
  if (weights)
    out << " weights " << weightsType;
  out << "\nreturn %o" << (lse ? ", %l" : "") << (weights ? ", %p" : "") << " : " << results
      << "\n}\n";
  return out.str();
}

/// Makes each row multiples of a power of two up to 127 of them, which are its greatest: integers
/// and a scale hold it exactly.
static void fitIntegers(std::vector<double> &rows, int64_t size, std::mt19937_64 &random) {
  for (size_t at = 0; at < rows.size(); at += size) {
    int exponent = static_cast<int>(random() % 3) - 6;
    for (int64_t i = 0; i < size; ++i)
      rows[at + i] = std::ldexp(std::clamp(std::ldexp(rows[at + i], 5), -127.0, 127.0), exponent);
    rows[at + random() % size] = std::ldexp(random() % 2 ? 127 : -127, exponent);
  }
}

std::vector<RuntimeValue> AttentionCase::makeInputs(int64_t batch, int64_t queries, int64_t keys,
                                                    std::mt19937_64 &random) const {
  std::vector<RuntimeValue> inputs;
  std::normal_distribution<double> normal;
  for (const Argument &argument : getArguments()) {
    llvm::SmallVector<int64_t> shape;
    int64_t count = 1;
    for (int64_t size : argument.shape) {
      shape.push_back(size == -1 ? batch : size == -2 ? queries : size == -3 ? keys : size);
      count *= shape.back();
    }
    if (argument.kind == Argument::Real) {
      std::vector<double> reals(count);
      // Few bits: exact in every element type, so that both sides start from equal numbers.
      for (double &x : reals)
        x = std::ldexp(std::round(std::ldexp(normal(random), 5)), -5);
      if (isOfIntegers() && (argument.name == "k" || argument.name == "v"))
        fitIntegers(reals, shape.back(), random);
      inputs.push_back(makeReals(shape, std::move(reals)));
      continue;
    }
    std::vector<int64_t> integers(count);
    int64_t row = 0;
    for (int64_t i = 0; i < count; ++i) {
      int64_t length = shape.back(), place = length ? i % length : 0;
      if (place == 0)
        row = random() % 7;
      switch (argument.kind) {
      case Argument::Length:
        integers[i] = random() % (keys + 2); // also none and all
        break;
      case Argument::Segment:
      case Argument::KeySegment:
        integers[i] = place / 9 + (random() % 11 == 0 ? 5 : 0);
        break;
      case Argument::Dense:
        integers[i] = row != 0 && random() % 3 != 0; // some rows empty
        break;
      case Argument::DenseRow:
        integers[i] = random() % 4 == 0 ? 0 : 1 + random() % 3;
        break;
      case Argument::Position:
        integers[i] = choice[Positions] == 1 ? place + keys - queries
                                             : static_cast<int64_t>(random() % (keys + 3));
        break;
      case Argument::KeyPosition:
        integers[i] = random() % (keys + 3);
        break;
      case Argument::Real:
        break;
      }
    }
    inputs.push_back(makeIntegers(shape, std::move(integers)));
  }
  return inputs;
}

double AttentionCase::getTolerance() const {
  // The promise is for f32; an f64 attention is held to f64, a bf16 result is rounded to 8 bits.
  return choice[Types] == 1 ? 1e-12 : choice[Types] == 2 ? 8e-3 : 2e-5;
}

bool mlir::fovea::haveEqualBits(const Tensor &x, const Tensor &y) {
  return x.reals.size() == y.reals.size() &&
         std::memcmp(x.reals.data(), y.reals.data(), sizeof(double) * y.reals.size()) == 0;
}
