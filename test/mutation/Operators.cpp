// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of mutation operators. What an operator's `apply` does not match it refuses with
// nullopt.
#include "test/mutation/Operators.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <set>

namespace fovea::mutation {

namespace {

using Result = std::optional<Edit>;
using Words = std::map<std::string, std::string>;

std::optional<int64_t> integerOf(const std::string &operand) {
  if (operand.empty() || operand.compare(0, 2, "0f") == 0 || operand.compare(0, 2, "0d") == 0)
    return std::nullopt;
  size_t end = 0;
  size_t digit = operand[0] == '-' ? 1 : 0;
  if (digit >= operand.size() || !std::isdigit(static_cast<unsigned char>(operand[digit])))
    return std::nullopt;
  try {
    int64_t value = std::stoll(operand, &end, 0);
    return end == operand.size() ? std::optional<int64_t>(value) : std::nullopt;
  } catch (const std::exception &) {
    return std::nullopt;
  }
}

Result written(const Statement &statement) { return Edit{statement.text(), std::nullopt}; }

/// The statement with operand `i` changed.
Result withOperand(Statement statement, size_t i, const std::string &by) {
  if (statement.operands[i] == by)
    return std::nullopt;
  statement.operands[i] = by;
  return written(statement);
}

/// The statement with one of its words replaced, by `words`.
Result withWord(Statement statement, const Words &words) {
  std::string out;
  bool done = false;
  for (size_t at = 0; at <= statement.opcode.size();) {
    size_t end = std::min(statement.opcode.find('.', at), statement.opcode.size());
    std::string word = statement.opcode.substr(at, end - at);
    auto found = words.find(word);
    if (!done && found != words.end()) {
      word = found->second;
      done = true;
    }
    if (!out.empty() && !word.empty())
      out += '.';
    out += word;
    at = end + 1;
  }
  if (!done)
    return std::nullopt;
  statement.opcode = out;
  return written(statement);
}

std::function<Result(const Ptx &, size_t, Random &)>
dropped(const std::function<bool(const Statement &)> &matches) {
  return [matches](const Ptx &ptx, size_t i, Random &) -> Result {
    return matches(ptx.statements()[i]) ? Result(Edit{"", std::nullopt}) : std::nullopt;
  };
}

std::function<Result(const Ptx &, size_t, Random &)>
changed(const std::function<Result(Statement, Random &)> &change) {
  return [change](const Ptx &ptx, size_t i, Random &random) {
    return change(ptx.statements()[i], random);
  };
}

bool isBarrier(const Statement &s) {
  return s.is("bar.sync") || s.is("barrier.sync") || s.is("barrier.cta.sync") ||
         s.is("bar.cta.sync");
}
bool isShared(const Statement &s) {
  return s.has("shared") || s.has("shared::cta") || s.has("shared::cluster");
}
bool touchesShared(const Statement &s) {
  return (s.base() == "ld" || s.base() == "st" || s.base() == "ldmatrix" ||
          s.base() == "stmatrix" || s.base() == "cp" || s.base() == "atom" || s.base() == "red") &&
         (isShared(s) || s.base() == "ldmatrix" || s.base() == "stmatrix");
}
bool isFloat(const Statement &s) {
  for (const char *type : {"f16", "bf16", "f16x2", "bf16x2", "f32", "f64"})
    if (s.has(type))
      return true;
  return false;
}
bool isInteger(const Statement &s) {
  for (const char *type : {"s16", "u16", "b16", "s32", "u32", "b32", "s64", "u64", "b64"})
    if (s.has(type))
      return !isFloat(s);
  return false;
}
int64_t accessBytes(const Statement &s) {
  int64_t bytes = 0;
  size_t at = s.opcode.rfind('.');
  if (at != std::string::npos)
    bytes = std::atoi(s.opcode.c_str() + at + 2) / 8;
  return std::max<int64_t>(bytes, 1) * (s.has("v2") ? 2 : s.has("v4") ? 4 : 1);
}

/// `[a+8]` with `more` bytes added.
std::optional<std::string> shifted(const std::string &address, int64_t more) {
  if (address.size() < 3 || address.front() != '[' || address.back() != ']' ||
      address.find(',') != std::string::npos)
    return std::nullopt;
  std::string inside = address.substr(1, address.size() - 2);
  size_t plus = inside.find('+');
  int64_t offset = 0;
  if (plus != std::string::npos) {
    auto number = integerOf(inside.substr(plus + 1));
    if (!number)
      return std::nullopt;
    offset = *number;
    inside = inside.substr(0, plus);
  }
  offset += more;
  return "[" + inside + (offset ? "+" + std::to_string(offset) : "") + "]";
}

/// The parts of `{a, b}`.
std::vector<std::string> partsOf(const std::string &vector) {
  if (vector.size() < 2 || vector.front() != '{')
    return {};
  return splitOperands(std::string_view(vector).substr(1, vector.size() - 2));
}
std::string join(const std::vector<std::string> &parts) {
  std::string out = "{";
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i ? ", " : "") + parts[i];
  return out + "}";
}

/// `vector` with two neighbours exchanged.
std::optional<std::string> turned(const std::string &vector, Random &random) {
  std::vector<std::string> parts = partsOf(vector);
  if (parts.size() < 2)
    return std::nullopt;
  size_t at = random.below(parts.size() - 1);
  if (parts[at] == parts[at + 1])
    return std::nullopt;
  std::swap(parts[at], parts[at + 1]);
  return join(parts);
}

/// Another register of the class of `name`, of those written last before statement `i`.
std::optional<std::string> stale(const Ptx &ptx, size_t i, const std::string &name,
                                 Random &random) {
  const std::vector<Statement> &all = ptx.statements();
  std::string kind = registerClass(name);
  if (kind.empty())
    return std::nullopt;
  std::vector<std::string> own = all[i].writes(), found;
  for (size_t j = i; j-- > 0 && found.size() < 4 && i - j < 60;) {
    if (all[j].base() == "ret")
      break;
    for (const std::string &other : all[j].writes())
      if (registerClass(other) == kind && other != name &&
          std::find(own.begin(), own.end(), other) == own.end() &&
          std::find(found.begin(), found.end(), other) == found.end())
        found.push_back(other);
  }
  if (found.empty())
    return std::nullopt;
  return found[random.below(found.size())];
}

Result barrierLate(const Ptx &ptx, size_t i, Random &) {
  const std::vector<Statement> &all = ptx.statements();
  if (!isBarrier(all[i]) || !all[i].predicate.empty())
    return std::nullopt;
  for (size_t j = i + 1; j < all.size() && !all[j].labelled; ++j) {
    if (isBarrier(all[j]) || all[j].base() == "bra" || all[j].base() == "ret")
      return std::nullopt;
    if (touchesShared(all[j]))
      return Edit{"", std::pair(j, all[j].text() + " " + all[i].text())};
  }
  return std::nullopt;
}

Result waitWeakened(Statement s, Random &) {
  bool group =
      s.is("cp.async.wait_group") || s.is("wgmma.wait_group") || s.is("cp.async.bulk.wait_group");
  if (group && s.operands.size() == 1)
    if (auto count = integerOf(s.operands[0]))
      return withOperand(s, 0, std::to_string(*count + 1));
  if (s.is("cp.async.wait_all"))
    return Edit{"cp.async.wait_group 1;", std::nullopt};
  return std::nullopt;
}

Result offsetOff(Statement s, Random &random) {
  if (s.base() != "ld" && s.base() != "st" && s.base() != "ldmatrix" && s.base() != "stmatrix" &&
      s.base() != "cp")
    return std::nullopt;
  if (s.has("param"))
    return std::nullopt;
  int64_t bytes = s.base() == "ld" || s.base() == "st" ? accessBytes(s) : 16;
  std::vector<Result> choices;
  for (size_t i = 0; i < s.operands.size(); ++i)
    for (int64_t more : {bytes, -bytes})
      if (auto address = shifted(s.operands[i], more))
        choices.push_back(withOperand(s, i, *address));
  return choices.empty() ? std::nullopt : choices[random.below(choices.size())];
}

/// A constant operand of integer arithmetic, one more or less.
Result indexOff(Statement s, Random &random) {
  static const std::set<std::string> names = {"add", "sub", "mul", "mad", "or"};
  // A division's magic number is no index: one more is the same quotient for all that memory holds.
  if (!names.count(s.base()) || !isInteger(s) || s.has("hi"))
    return std::nullopt;
  for (size_t i = 1; i < s.operands.size(); ++i)
    if (auto value = integerOf(s.operands[i]))
      return withOperand(s, i, std::to_string(*value + (random.below(2) ? 1 : -1)));
  return std::nullopt;
}

Result shiftOff(Statement s, Random &random) {
  if ((s.base() != "shl" && s.base() != "shr") || s.operands.size() != 3)
    return std::nullopt;
  auto value = integerOf(s.operands[2]);
  if (!value || *value < 1)
    return std::nullopt;
  return withOperand(s, 2, std::to_string(*value + (random.below(2) ? 1 : -1)));
}

Result bitFlipped(Statement s, Random &random) {
  if ((s.base() != "xor" && s.base() != "and") || s.has("pred"))
    return std::nullopt;
  for (size_t i = 1; i < s.operands.size(); ++i)
    if (auto value = integerOf(s.operands[i]); value && *value > 0) {
      // One of the bits that the constant has, or the one above; of masks that leave out low bits
      // alone, one that indices have.
      std::vector<int64_t> bits;
      for (int64_t bit = 1; bit <= std::min<int64_t>(*value, 1 << 15); bit <<= 1)
        if (*value & bit)
          bits.push_back(bit);
      if (bits.empty())
        return std::nullopt;
      if (s.base() == "xor" && bits.back() < (int64_t{1} << 20))
        bits.push_back(bits.back() << 1);
      return withOperand(s, i, std::to_string(*value ^ bits[random.below(bits.size())]));
    }
  return std::nullopt;
}

/// A swizzle of two registers: one bit of the result is flipped.
Result swizzleFlipped(Statement s, Random &random) {
  if (s.base() != "xor" || s.has("pred") || s.operands.size() != 3 || integerOf(s.operands[1]) ||
      integerOf(s.operands[2]))
    return std::nullopt;
  std::string bit = std::to_string(int64_t{16} << random.below(3));
  return Edit{s.text() + " " + s.opcode + " " + s.operands[0] + ", " + s.operands[0] + ", " + bit +
                  ";",
              std::nullopt};
}

Result boundOff(Statement s, Random &random) {
  if (s.base() != "setp" || !isInteger(s) || s.reads().empty())
    return std::nullopt;
  for (size_t i = 1; i < s.operands.size(); ++i)
    if (auto value = integerOf(s.operands[i]))
      return withOperand(s, i, std::to_string(*value + (random.below(2) ? 1 : -1)));
  return std::nullopt;
}

const Words &loosened() {
  static const Words words = {{"lt", "le"}, {"le", "lt"}, {"gt", "ge"}, {"ge", "gt"},
                              {"lo", "ls"}, {"ls", "lo"}, {"hi", "hs"}, {"hs", "hi"}};
  return words;
}
const Words &facingAway() {
  static const Words words = {{"lt", "gt"},   {"le", "ge"},   {"gt", "lt"},   {"ge", "le"},
                              {"eq", "ne"},   {"ne", "eq"},   {"ltu", "gtu"}, {"leu", "geu"},
                              {"gtu", "ltu"}, {"geu", "leu"}, {"equ", "neu"}, {"neu", "equ"}};
  return words;
}

Result shuffleChanged(Statement s, Random &random) {
  if (!s.is("shfl") || s.operands.size() < 4)
    return std::nullopt;
  auto distance = integerOf(s.operands[2]);
  if (!distance || *distance < 1 || *distance > 31)
    return std::nullopt;
  int64_t other = *distance == 1    ? 2
                  : *distance >= 16 ? *distance / 2
                  : random.below(2) ? *distance * 2
                                    : *distance / 2;
  return withOperand(s, 2, std::to_string(other));
}

/// One operand of arithmetic becomes another register.
Result operandStale(const Ptx &ptx, size_t i, Random &random) {
  static const std::set<std::string> names = {"add", "sub", "mul", "mad", "fma",  "div",  "rem",
                                              "min", "max", "and", "or",  "xor",  "shl",  "shr",
                                              "neg", "cvt", "ex2", "rcp", "sqrt", "selp", "setp"};
  const Statement &s = ptx.statements()[i];
  if (!names.count(s.base()) || s.operands.size() < 2)
    return std::nullopt;
  size_t first = random.below(s.operands.size() - 1);
  for (size_t k = 0; k + 1 < s.operands.size(); ++k) {
    size_t at = 1 + (first + k) % (s.operands.size() - 1);
    if (auto other = stale(ptx, i, s.operands[at], random))
      return withOperand(s, at, *other);
  }
  return std::nullopt;
}

Result loadStale(const Ptx &ptx, size_t i, Random &random) {
  const Statement &s = ptx.statements()[i];
  if (s.base() != "ld" || s.has("param") || s.operands.size() != 2)
    return std::nullopt;
  std::vector<std::string> parts = partsOf(s.operands[0]);
  std::string target = parts.empty() ? s.operands[0] : parts[random.below(parts.size())];
  auto other = stale(ptx, i, target, random);
  if (!other)
    return std::nullopt;
  std::string kind = registerClass(target);
  const char *type = kind == "%rd" || kind == "%fd" ? "b64" : kind == "%rs" ? "b16" : "b32";
  std::string move = (s.predicate.empty() ? "" : s.predicate + " ") + std::string("mov.") + type +
                     " " + target + ", " + *other + ";";
  // The other places of a vector are loaded.
  return Edit{parts.empty() ? move : s.text() + " " + move, std::nullopt};
}

Result storeStale(const Ptx &ptx, size_t i, Random &random) {
  const Statement &s = ptx.statements()[i];
  if (s.base() != "st" || s.operands.size() != 2)
    return std::nullopt;
  std::vector<std::string> parts = partsOf(s.operands[1]);
  if (parts.empty()) {
    auto other = stale(ptx, i, s.operands[1], random);
    return other ? withOperand(s, 1, *other) : std::nullopt;
  }
  size_t at = random.below(parts.size());
  auto other = stale(ptx, i, parts[at], random);
  if (!other)
    return std::nullopt;
  parts[at] = *other;
  return withOperand(s, 1, join(parts));
}

Result productTurned(Statement s, Random &) {
  if (s.base() != "fma" || s.operands.size() != 4 || s.operands[2] == s.operands[3])
    return std::nullopt;
  std::swap(s.operands[2], s.operands[3]);
  return written(s);
}

Result sumLost(Statement s, Random &) {
  if (s.base() != "fma" || s.operands.size() != 4)
    return std::nullopt;
  s.opcode.replace(0, 3, "mul");
  s.operands.pop_back();
  return written(s);
}

Result signChanged(Statement s, Random &) {
  if ((s.base() != "add" && s.base() != "sub") || !isFloat(s))
    return std::nullopt;
  s.opcode.replace(0, 3, s.base() == "add" ? "sub" : "add");
  return written(s);
}

/// A factor of two, or one for zero.
Result constantChanged(Statement s, Random &) {
  for (size_t i = 1; i < s.operands.size(); ++i) {
    std::string word = s.operands[i];
    if (word.size() != 10 || word.compare(0, 2, "0f") != 0)
      continue;
    uint32_t bits = static_cast<uint32_t>(std::stoul(word.substr(2), nullptr, 16));
    bits = (bits & 0x7fffffff) == 0 ? 0x3f800000 : bits ^ 0x00800000;
    char text[16];
    std::snprintf(text, sizeof(text), "0f%08X", bits);
    return withOperand(s, i, text);
  }
  return std::nullopt;
}

Result vectorTurned(Statement s, Random &random) {
  if (s.base() != "ld" && s.base() != "st" && s.base() != "ldmatrix" && s.base() != "stmatrix")
    return std::nullopt;
  for (size_t i = 0; i < s.operands.size(); ++i)
    if (auto other = turned(s.operands[i], random))
      return withOperand(s, i, *other);
  return std::nullopt;
}

Result roundingChanged(Statement s, Random &) {
  return s.base() == "cvt" && (s.has("f16") || s.has("bf16") || s.has("bf16x2") || s.has("f16x2"))
             ? withWord(s, {{"rn", "rz"}})
             : std::nullopt;
}

Result narrowTypeChanged(Statement s, Random &) {
  static const Words words = {
      {"bf16", "f16"}, {"f16", "bf16"}, {"bf16x2", "f16x2"}, {"f16x2", "bf16x2"}};
  return s.base() == "cvt" && (s.has("f32") || s.has("f64")) ? withWord(s, words) : std::nullopt;
}

Result fragmentTurned(Statement s, Random &random) {
  if (!s.is("mma.") || s.operands.size() < 4)
    return std::nullopt;
  size_t first = random.below(2);
  for (size_t k = 0; k < 2; ++k)
    if (auto other = turned(s.operands[1 + (first + k) % 2], random))
      return withOperand(s, 1 + (first + k) % 2, *other);
  return std::nullopt;
}

Result transposeToggled(Statement s, Random &) {
  if (s.is("ldmatrix") || s.is("stmatrix")) {
    if (s.has("trans"))
      return withWord(s, {{"trans", ""}});
    return withWord(s, {{"x1", "x1.trans"}, {"x2", "x2.trans"}, {"x4", "x4.trans"}});
  }
  if (s.is("wgmma.mma_async") && !s.operands.empty())
    if (auto value = integerOf(s.operands.back()); value && s.operands.size() >= 7)
      return withOperand(s, s.operands.size() - 1, *value ? "0" : "1");
  return std::nullopt;
}

/// The phase that a wait is for, the other one.
Result phaseFlipped(Statement s, Random &) {
  if ((!s.is("mbarrier.try_wait") && !s.is("mbarrier.test_wait")) || s.operands.size() < 3)
    return std::nullopt;
  if (auto value = integerOf(s.operands[2]))
    return withOperand(s, 2, *value ? "0" : "1");
  std::string flip = "xor.b32 " + s.operands[2] + ", " + s.operands[2] + ", 1;";
  return Edit{flip + " " + s.text() + " " + flip, std::nullopt};
}

Result waitRemoved(Statement s, Random &) {
  if ((!s.is("mbarrier.try_wait") && !s.is("mbarrier.test_wait")) || s.operands.empty())
    return std::nullopt;
  return Edit{"setp.eq.u32 " + s.operands[0] + ", 0, 0;", std::nullopt};
}

Result expectationOff(Statement s, Random &random) {
  if (!s.is("mbarrier") || !s.has("expect_tx") || s.operands.empty())
    return std::nullopt;
  std::string more = random.below(2) ? "16" : "-16";
  if (auto value = integerOf(s.operands.back()))
    return withOperand(s, s.operands.size() - 1, std::to_string(*value + std::stoll(more)));
  std::string name = s.operands.back();
  if (registerClass(name).empty())
    return std::nullopt;
  return Edit{"add.s32 " + name + ", " + name + ", " + more + "; " + s.text() + " sub.s32 " + name +
                  ", " + name + ", " + more + ";",
              std::nullopt};
}

Result countOff(Statement s, Random &random) {
  if (!s.is("mbarrier.init") || s.operands.size() != 2)
    return std::nullopt;
  auto value = integerOf(s.operands[1]);
  if (!value)
    return std::nullopt;
  return withOperand(s, 1, std::to_string(*value + (random.below(2) || *value == 1 ? 1 : -1)));
}

/// One coordinate of a tensor copy, one box element further.
Result coordinateOff(Statement s, Random &random) {
  if (!s.is("cp.async.bulk.tensor"))
    return std::nullopt;
  for (const std::string &operand : s.operands) {
    size_t open = operand.find('{'), close = operand.find('}');
    if (operand[0] != '[' || open == std::string::npos || close == std::string::npos)
      continue;
    std::vector<std::string> places = partsOf(operand.substr(open, close - open + 1));
    const std::string &place = places[random.below(places.size())];
    if (registerClass(place).empty())
      return std::nullopt;
    std::string step = " " + place + ", " + place + ", 1;";
    return Edit{"add.s32" + step + " " + s.text() + " sub.s32" + step, std::nullopt};
  }
  return std::nullopt;
}

/// A matrix in shared memory begins 16 bytes later.
Result descriptorOff(Statement s, Random &) {
  if (!s.is("wgmma.mma_async"))
    return std::nullopt;
  for (size_t i = 1; i < s.operands.size(); ++i) {
    const std::string &name = s.operands[i];
    if (registerClass(name) != "%rd")
      continue;
    std::string step = " " + name + ", " + name + ", 1;";
    return Edit{"add.s64" + step + " " + s.text() + " sub.s64" + step, std::nullopt};
  }
  return std::nullopt;
}

} // namespace

const std::vector<Operator> &operators() {
  static const std::vector<Operator> table = {
      // Order
      {"barrier removed", "bar.sync", "nothing", dropped(isBarrier)},
      {"barrier late", "bar.sync", "it behind the next access to shared memory", barrierLate},
      {"warp barrier removed", "bar.warp.sync", "nothing",
       dropped([](const Statement &s) { return s.is("bar.warp.sync"); })},
      {"wait weakened", "cp.async.wait_group, wgmma.wait_group, ...", "one group more may be open",
       changed(waitWeakened)},
      {"commit dropped", "cp.async.commit_group, wgmma.commit_group, ...", "nothing",
       dropped([](const Statement &s) { return s.has("commit_group"); })},
      {"fence dropped", "fence, membar, wgmma.fence", "nothing", dropped([](const Statement &s) {
         return s.base() == "fence" || s.base() == "membar" || s.is("wgmma.fence");
       })},
      {"mbarrier wait removed", "mbarrier.try_wait", "done at once", changed(waitRemoved)},
      {"phase flipped", "mbarrier.try_wait.parity", "the other phase", changed(phaseFlipped)},
      {"arrival dropped", "mbarrier.arrive", "nothing",
       dropped([](const Statement &s) { return s.is("mbarrier.arrive") && s.isEffect(); })},
      {"expectation off", "mbarrier...expect_tx", "16 bytes more or less", changed(expectationOff)},
      {"arrivals off", "mbarrier.init", "one arrival more or less", changed(countOff)},
      // Places
      {"offset off", "[a+8] of ld, st, ldmatrix, cp.async", "one access further or before",
       changed(offsetOff)},
      {"index off", "add, sub, mul, mad, or with a constant", "the constant one more or less",
       changed(indexOff)},
      {"shift off", "shl, shr by a constant", "one bit more or less", changed(shiftOff)},
      {"bit flipped", "and, xor with a constant", "a bit of it flipped", changed(bitFlipped)},
      {"swizzle flipped", "xor of registers", "a bit of the result flipped",
       changed(swizzleFlipped)},
      {"coordinate off", "cp.async.bulk.tensor", "one element further", changed(coordinateOff)},
      {"descriptor off", "wgmma's matrices", "16 bytes further", changed(descriptorOff)},
      // Bounds
      {"bound off", "setp with a constant", "the constant one more or less", changed(boundOff)},
      {"bound shifted", "setp.lt, .le, .gt, .ge of integers", "lt for le, ...",
       changed([](Statement s, Random &) -> Result {
         return s.base() == "setp" && isInteger(s) ? withWord(s, loosened()) : std::nullopt;
       })},
      {"comparison turned", "setp", "lt for gt, eq for ne, ...",
       changed([](Statement s, Random &) -> Result {
         return s.base() == "setp" ? withWord(s, facingAway()) : std::nullopt;
       })},
      {"predicate negated", "@p", "@!p", changed([](Statement s, Random &) -> Result {
         if (s.predicate.empty())
           return std::nullopt;
         s.predicate =
             s.predicate[1] == '!' ? "@" + s.predicate.substr(2) : "@!" + s.predicate.substr(1);
         return written(s);
       })},
      {"conditions joined", "and.pred, or.pred", "the other",
       changed([](Statement s, Random &) -> Result {
         return s.has("pred") ? withWord(s, {{"and", "or"}, {"or", "and"}}) : std::nullopt;
       })},
      {"choice turned", "selp", "the other value", changed([](Statement s, Random &) -> Result {
         if (s.base() != "selp" || s.operands.size() != 4 || s.operands[1] == s.operands[2])
           return std::nullopt;
         std::swap(s.operands[1], s.operands[2]);
         return written(s);
       })},
      {"extreme turned", "min, max", "the other", changed([](Statement s, Random &) -> Result {
         return s.base() == "min" || s.base() == "max"
                    ? withWord(s, {{"min", "max"}, {"max", "min"}})
                    : std::nullopt;
       })},
      // Values
      {"shuffle changed", "shfl by a constant", "half or twice the distance",
       changed(shuffleChanged)},
      {"shuffle dropped", "shfl", "one's own value", changed([](Statement s, Random &) -> Result {
         if (!s.is("shfl") || s.operands.size() < 4)
           return std::nullopt;
         std::string to = s.operands[0].substr(0, s.operands[0].find('|'));
         return Edit{"mov.b32 " + to + ", " + s.operands[1] + ";", std::nullopt};
       })},
      {"operand stale", "arithmetic", "a register written shortly before", operandStale},
      {"product turned", "fma a b c", "fma a c b", changed(productTurned)},
      {"sum lost", "fma a b c", "mul a b", changed(sumLost)},
      {"sign changed", "add, sub of floats", "the other", changed(signChanged)},
      {"constant changed", "a float constant", "twice or half of it, one for zero",
       changed(constantChanged)},
      {"rounding changed", "cvt.rn to 16 bits", "cvt.rz", changed(roundingChanged)},
      {"16-bit type changed", "cvt of bf16, f16", "the other", changed(narrowTypeChanged)},
      {"fragment turned", "mma", "two registers of an operand exchanged", changed(fragmentTurned)},
      {"transposition toggled", "ldmatrix, stmatrix, wgmma", "the other",
       changed(transposeToggled)},
      // Memory
      {"load stale", "ld", "a register written shortly before", loadStale},
      {"store dropped", "st, cp.async", "nothing", dropped([](const Statement &s) {
         return (s.base() == "st" && !s.has("param")) || s.base() == "stmatrix" ||
                (s.base() == "cp" && !s.has("commit_group") && !s.has("wait_group") &&
                 !s.has("wait_all"));
       })},
      {"store stale", "st", "a register written shortly before", storeStale},
      {"vector turned", "ld.v, st.v, ldmatrix", "two neighbours exchanged", changed(vectorTurned)},
  };
  return table;
}

std::vector<size_t> sitesOf(const Operator &op, const Ptx &ptx) {
  std::vector<size_t> sites;
  Random random(0);
  for (size_t i = 0; i < ptx.statements().size(); ++i)
    if (op.apply(ptx, i, random))
      sites.push_back(i);
  return sites;
}

Mutant mutate(const Operator &op, const Ptx &ptx, size_t site, Random &random) {
  Mutant mutant;
  mutant.op = &op;
  mutant.site = site;
  mutant.before = ptx.statements()[site].text();
  mutant.line = ptx.statements()[site].line;
  // A draw may choose what does not apply (equal neighbours); another will.
  for (int attempt = 0; attempt < 64; ++attempt)
    if (auto edit = op.apply(ptx, site, random)) {
      mutant.after = edit->by.empty() ? "(nothing)" : edit->by;
      if (edit->other)
        mutant.after = "(moved) " + edit->other->second;
      mutant.text = edit->other
                        ? ptx.replace(site, edit->by, edit->other->first, edit->other->second)
                        : ptx.replace(site, edit->by);
      break;
    }
  return mutant;
}

} // namespace fovea::mutation
