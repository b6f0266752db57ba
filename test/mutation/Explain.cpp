// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reasons why a changed statement does no harm. Each is a claim about the kernel that is tried out
// on it: the kernel is changed once more, so that it traps where the claim is wrong, or so that
// much more would have to go wrong than by the bug itself, and is run in all of its calls. What
// writes several registers, and what is done to memory, gets no reason but never being reached.
#include "test/mutation/Judge.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace fovea::mutation {

namespace {
/// How registers of a class are declared, and what may stand in them that is easily noticed.
struct Class {
  const char *type, *bits;
  std::vector<const char *> garbage;
};

const Class *classOf(const std::string &name) {
  static const Class half = {"b16", "b16", {"0x7fff", "0", "0x4bcd"}},
                     word = {"b32", "b32", {"0x7fffffff", "0", "0x7f7fffff", "0xc4d5e6f7"}},
                     wide = {"b64",
                             "b64",
                             {"0x7fffffffffffffff", "0", "0x7fefffffffffffff",
                              "0xc4d5e6f708192a3b"}},
                     condition = {"pred", "pred", {}};
  std::string kind = registerClass(name);
  return kind == "%p"    ? &condition
         : kind == "%rs" ? &half
         : kind == "%r"  ? &word
         : kind == "%rd" ? &wide
                         : nullptr;
}

/// What a statement writes, one register or a vector of one class; empty for anything else.
std::vector<std::string> resultsOf(const Statement &statement) {
  std::vector<std::string> names = statement.writes();
  if (statement.isEffect() || names.empty())
    return {};
  std::vector<std::string> written =
      statement.operands[0][0] == '{'
          ? splitOperands(statement.operands[0].substr(1, statement.operands[0].size() - 2))
          : std::vector<std::string>{statement.operands[0]};
  for (const std::string &name : names)
    if (registerClass(name) != registerClass(names[0]))
      return {};
  return written == names && classOf(names[0]) ? names : std::vector<std::string>{};
}

bool isCopy(const Statement &s) { return s.is("cp.async.ca") || s.is("cp.async.cg"); }
/// A copy of its thread alone, or what gathers such copies in groups and waits for these.
bool isOfGroups(const Statement &s) {
  return isCopy(s) || s.is("cp.async.commit_group") || s.is("cp.async.wait_group") ||
         s.is("cp.async.wait_all");
}
/// How many groups a wait leaves open; -1 if also none that is not committed.
int openBehind(const Statement &wait) {
  return wait.is("cp.async.wait_all") ? -1 : std::stoi(wait.operands.at(0));
}

std::optional<int64_t> numberOf(const std::string &operand) {
  bool isNumber = !operand.empty() && operand.size() < 10 &&
                  operand.find_first_not_of("0123456789") == std::string::npos;
  return isNumber ? std::optional<int64_t>(std::stoll(operand)) : std::nullopt;
}

/// What stands in place of statements.
using Edits = std::map<size_t, std::string>;

/// The PTX with these edits, and with `head` where the kernel begins.
std::string edited(const Ptx &ptx, const Edits &edits, const std::string &head) {
  const std::vector<Statement> &all = ptx.statements();
  std::string text = ptx.text();
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
    const Statement &s = all[edit->first];
    text.replace(s.begin, s.end - s.begin, edit->second);
  }
  return text.insert(text.rfind('{', all[0].begin) + 1, " " + head + " ");
}

/// The right statement, and beside it the changed one into `fovea_m...`; `fovea_q` is whether a
/// register differs, and `then`, in which `$D` is the register and `$M` what the bug makes of it,
/// is done for each. `isNumber`: zeros are equal whatever their sign. `between` comes before the
/// right statement, behind the other.
std::string compared(const Statement &before, Statement after, const std::string &then,
                     bool isNumber = false, const std::string &between = "") {
  std::vector<std::string> names = resultsOf(before), changed = resultsOf(after), own;
  const Class &kind = *classOf(names[0]);
  std::string text = "{ .reg .pred fovea_q; ";
  for (size_t i = 0; i < names.size(); ++i) {
    text += std::string(".reg .") + kind.type + " fovea_m" + std::to_string(i) + "; ";
    // Where a predicate keeps a statement from running, the register keeps its value.
    if (!before.predicate.empty() || !after.predicate.empty())
      text +=
          std::string("mov.") + kind.bits + " fovea_m" + std::to_string(i) + ", " + names[i] + "; ";
  }
  std::string target;
  for (const std::string &name : changed) {
    auto place = std::find(names.begin(), names.end(), name) - names.begin();
    target += (target.empty() ? "" : ", ") + ("fovea_m" + std::to_string(place));
  }
  after.operands[0] = after.operands[0][0] == '{' ? "{" + target + "}" : target;
  text += after.text() + " " + between + before.text() + " ";
  for (size_t i = 0; i < names.size(); ++i) {
    std::string own = "fovea_m" + std::to_string(i);
    text += std::string(kind.garbage.empty() ? "xor.pred"
                        : isNumber           ? "setp.neu.f32"
                                             : std::string("setp.ne.") + kind.bits) +
            " fovea_q, " + own + ", " + names[i] + "; ";
    for (size_t at = 0; at < then.size(); ++at)
      if (then.compare(at, 2, "$D") == 0)
        text += names[i], ++at;
      else if (then.compare(at, 2, "$M") == 0)
        text += own, ++at;
      else
        text += then[at];
    text += " ";
  }
  return text + "}";
}
} // namespace

/// Whether any run gets there.
bool Judge::isReached(size_t site) const {
  return find(parsed.replace(site, "trap;")).kind != Verdict::Survived;
}

/// Whether another wgmma.fence always comes before this one, and nothing between them touches a
/// register that a product sums in or reads.
bool Judge::isFencedBefore(size_t site) const {
  const std::vector<Statement> &all = parsed.statements();
  std::set<std::string> held;
  std::vector<std::vector<size_t>> previous(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j : parsed.successors(i))
      previous[j].push_back(i);
    if (all[i].is("wgmma.mma_async"))
      for (const std::string &operand : all[i].operands)
        if (operand.front() == '{')
          for (const std::string &name : splitOperands(operand.substr(1, operand.size() - 2)))
            held.insert(name);
  }
  std::set<size_t> seen;
  std::vector<size_t> open = previous[site];
  if (open.empty())
    return false;
  while (!open.empty()) {
    size_t i = open.back();
    open.pop_back();
    if (!seen.insert(i).second || all[i].is("wgmma.fence"))
      continue;
    if (previous[i].empty())
      return false;
    if (all[i].base() != "wgmma")
      for (const std::vector<std::string> &names : {all[i].reads(), all[i].writes()})
        for (const std::string &name : names)
          if (held.count(name))
            return false;
    open.insert(open.end(), previous[i].begin(), previous[i].end());
  }
  return true;
}

/// No thread touches shared memory, or begins a copy to it or waits for one, on any way from the
/// barrier to the next one or the end, or on none from the one before (or the kernel's beginning)
/// to this.
bool Judge::isBarrierIdle(size_t site) const {
  const std::vector<Statement> &all = parsed.statements();
  for (const Statement &statement : all)
    if (statement.base() == "brx" || statement.base() == "call" ||
        (statement.base() == "cp" && !isOfGroups(statement)) || statement.base() == "mbarrier" ||
        statement.base() == "wgmma" || statement.base() == "atom" || statement.base() == "red")
      return false;
  std::vector<std::vector<size_t>> next(all.size()), previous(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j : parsed.successors(i)) {
      next[i].push_back(j);
      previous[j].push_back(i);
    }
  bool storesGlobal = false;
  auto isQuiet = [&](const std::vector<std::vector<size_t>> &edges) {
    std::set<size_t> seen;
    std::vector<size_t> open = edges[site];
    while (!open.empty()) {
      size_t i = open.back();
      open.pop_back();
      if (!seen.insert(i).second)
        continue;
      const Statement &s = all[i];
      bool isBarrier = s.is("bar.sync") || s.is("barrier.sync");
      if (isBarrier && s.predicate.empty())
        continue;
      if (s.base() == "cp") {
        if (!s.has("commit_group"))
          return false;
      } else if (s.has("global") || s.has("param") || s.has("local"))
        storesGlobal = storesGlobal || (s.has("global") && s.base() == "st");
      else if (s.base() == "ld" || s.base() == "st" || s.base() == "ldmatrix" ||
               s.base() == "stmatrix")
        return false;
      open.insert(open.end(), edges[i].begin(), edges[i].end());
    }
    return true;
  };
  if (!isQuiet(next) && !isQuiet(previous))
    return false;
  // Global memory is shared among a block's threads too.
  return !storesGlobal || readsOnlyOperands();
}

bool Judge::isSameForEachThread(const Mutant &mutant, const Statement &after) const {
  static const std::set<std::string> pure = {"mov", "add", "sub", "mul", "mad",  "and",  "or",
                                             "xor", "not", "shl", "shr", "setp", "selp", "cvt",
                                             "min", "max", "neg", "div", "rem",  "bfe",  "lop3"};
  const std::vector<Statement> &all = parsed.statements();
  std::set<size_t> kept;
  std::vector<std::string> open = all[mutant.site].reads();
  for (const std::string &name : after.reads())
    open.push_back(name);
  auto isPure = [](const Statement &s) {
    for (const std::string &operand : s.operands)
      if (operand.find("%ctaid") != std::string::npos ||
          operand.find("%nctaid") != std::string::npos ||
          operand.find("%clock") != std::string::npos ||
          operand.find("%globaltimer") != std::string::npos)
        return false;
    return pure.count(s.base()) != 0 && s.predicate.empty();
  };
  if (!isPure(all[mutant.site]) || !isPure(after))
    return false;
  std::set<std::string> seen;
  while (!open.empty()) {
    std::string name = open.back();
    open.pop_back();
    if (!seen.insert(name).second)
      continue;
    std::vector<size_t> writers;
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<std::string> names = all[i].writes();
      if (std::find(names.begin(), names.end(), name) != names.end())
        writers.push_back(i);
    }
    if (writers.size() != 1 || writers[0] >= mutant.site || !isPure(all[writers[0]]))
      return false;
    kept.insert(writers[0]);
    for (const std::string &more : all[writers[0]].reads())
      open.push_back(more);
  }
  // Only what the value is made of is left of the kernel, so every thread gets there.
  std::string text = parsed.text();
  for (size_t i = all.size(); i-- > 0;) {
    const Statement &s = all[i];
    std::string by = kept.count(i)         ? s.text()
                     : i == mutant.site    ? compared(s, after, "@fovea_q trap;")
                     : i + 1 == all.size() ? "ret;"
                                           : "";
    text.replace(s.begin, s.end - s.begin, by);
  }
  return run(text, right.calls[0], false, kEnough).fault.empty();
}

/// The register is written here alone, and whoever reads it makes the same of both values.
bool Judge::isLostOnReaders(const Mutant &mutant, const Statement &after) const {
  const std::vector<Statement> &all = parsed.statements();
  std::vector<std::string> names = resultsOf(all[mutant.site]);
  if (names.size() != 1)
    return false;
  const Class &kind = *classOf(names[0]);
  Edits edits;
  for (size_t i = 0; i < all.size(); ++i) {
    std::vector<std::string> reads = all[i].reads(), writes = all[i].writes();
    if (i != mutant.site && std::find(writes.begin(), writes.end(), names[0]) != writes.end())
      return false;
    if (std::find(reads.begin(), reads.end(), names[0]) == reads.end())
      continue;
    if (i == mutant.site || all[i].predicate.find(names[0]) != std::string::npos ||
        resultsOf(all[i]).empty())
      return false;
    Statement other = all[i];
    for (size_t k = 1; k < other.operands.size(); ++k)
      if (other.operands[k] == names[0])
        other.operands[k] = "fovea_d";
    // It stands inside of an address or a vector.
    std::vector<std::string> left = other.reads();
    if (std::find(left.begin(), left.end(), names[0]) != left.end())
      return false;
    edits[i] = compared(all[i], other, "@fovea_q trap;");
  }
  if (edits.empty())
    return false;
  Statement changed = after;
  changed.operands[0] = "fovea_d";
  edits[mutant.site] = changed.text() + " " + all[mutant.site].text();
  std::string text = edited(parsed, edits, std::string(".reg .") + kind.type + " fovea_d;");
  return find(text).kind == Verdict::Survived;
}

/// Whether a comparison may be with a number that is higher (lower for sign "-") by anything.
bool Judge::isBoundFree(size_t site, const std::string &sign) const {
  const Statement &before = parsed.statements()[site];
  bool isWide = before.has("s64") || before.has("u64") || before.has("b64");
  bool isWord = before.has("s32") || before.has("u32") || before.has("b32");
  if (before.base() != "setp" || before.operands.size() != 3 || (!isWide && !isWord))
    return false;
  const std::string type = isWide ? "64" : "32";
  for (const char *more : {"1", "5", "64", "1000"}) {
    Statement changed = before;
    changed.operands[2] = "fovea_m";
    if (find(parsed.replace(site, "{ .reg .b" + type + " fovea_m; mov.b" + type + " fovea_m, " +
                                      before.operands[2] + "; add.s" + type +
                                      " fovea_m, fovea_m, " + sign + more + "; " + changed.text() +
                                      " }"),
             true)
            .kind != Verdict::Survived)
      return false;
  }
  return true;
}

/// Of a statement that writes registers, and so does what it became.
std::string Judge::explainValue(const Mutant &mutant, const Statement &after) const {
  const Statement &before = parsed.statements()[mutant.site];
  const Class *kind = classOf(resultsOf(before)[0]);
  auto passes = [&](const std::string &then, bool exactly, bool isNumber = false) {
    return find(parsed.replace(mutant.site, compared(before, after, then, isNumber)), exactly)
               .kind == Verdict::Survived;
  };
  if (isSameForEachThread(mutant, after))
    return "the same value for each thread";
  if (passes("@fovea_q trap;", false))
    return "the same value in every run";
  if (isLostOnReaders(mutant, after))
    return "its readers' values are the same in every run";
  if (kind->garbage.empty()) {
    // Conditions: does it only ever turn to one side, and is that side always right?
    bool toTrue = !passes("and.pred fovea_q, fovea_q, $M; @fovea_q trap;", false);
    bool toFalse = !passes("not.pred $M, $M; and.pred fovea_q, fovea_q, $M; @fovea_q trap;", false);
    bool mayBeTrue = toTrue && passes("setp.eq.u32 $D, 0, 0;", true);
    bool mayBeFalse = toFalse && passes("setp.ne.u32 $D, 0, 0;", true);
    if (toTrue && toFalse)
      return mayBeTrue && mayBeFalse ? "either way is right" : "";
    if (mayBeTrue || mayBeFalse)
      return mayBeTrue ? "may always be true" : "may always be false";
    for (const char *sign : {"", "-"})
      if (isBoundFree(mutant.site, sign))
        return *sign ? "any lower bound is right too" : "any higher bound is right too";
    return "";
  }
  bool isFloat = before.has("f32") && std::string(kind->type) == "b32";
  if (isFloat && passes("@fovea_q trap;", true, /*isNumber=*/true))
    return "the same number in every run, but for the sign of zero";
  bool isFree = true;
  for (const char *garbage : kind->garbage)
    isFree =
        isFree && passes(std::string("@fovea_q mov.") + kind->bits + " $D, " + garbage + ";", true);
  if (isFree)
    return "the value does not matter";
  auto each = [&](std::initializer_list<const char *> values) {
    return std::all_of(values.begin(), values.end(), [&](const char *value) {
      return passes(std::string("@fovea_q mov.b32 $D, ") + value + ";", true);
    });
  };
  // Of the order of numbers that f16 holds too.
  if (isFloat && each({"0f3F800000", "0fC49A5123", "0f3DCCCCCD"}))
    return "any finite number is right";
  if (isFloat && each({"0fFF800000", "0fFF7FFFFF", "0fF149F2CA"}))
    return "any great negative number is right";
  if (std::string(kind->type) == "b16" || isFloat)
    return "";
  std::string number = std::string(kind->type) == "b32" ? "s32" : "s64";
  auto added = [&](const char *more) {
    return passes("add." + number + " $D, $D, " + more + ";", true);
  };
  if (passes("setp.lt." + number + " fovea_q, $M, $D; @fovea_q trap;", false) && added("1") &&
      added("5") && added("1000"))
    return "any larger value is right too";
  return "";
}

static std::vector<std::string> storedBy(const Statement &store) {
  const std::string &value = store.operands[1];
  return value[0] == '{' ? splitOperands(value.substr(1, value.size() - 2))
                         : std::vector<std::string>{value};
}

bool Judge::isStoreSame(size_t site, const Statement &after) const {
  const Statement &before = parsed.statements()[site];
  if (before.base() != "st" || after.opcode != before.opcode || after.operands.size() != 2 ||
      before.operands.size() != 2 || after.operands[0] != before.operands[0] ||
      after.predicate != before.predicate || !before.predicate.empty())
    return false;
  std::vector<std::string> values = storedBy(before), others = storedBy(after);
  std::string text = "{ .reg .pred fovea_q; ";
  for (size_t i = 0; i < values.size(); ++i) {
    const Class *kind = classOf(values[i]);
    if (!kind || kind->garbage.empty() || classOf(others[i]) != kind)
      return false;
    text += std::string("setp.ne.") + kind->bits + " fovea_q, " + values[i] + ", " + others[i] +
            "; @fovea_q trap; ";
  }
  return find(parsed.replace(site, text + before.text() + " }")).kind == Verdict::Survived;
}

bool Judge::isNear(const std::string &text) const {
  for (size_t i = 0; i < right.calls.size(); ++i) {
    const Call &call = right.calls[i];
    Run one = run(text, call, false, 20 * baselines[i].instructions + 100000);
    if (!call.isNear || !one.fault.empty() || !call.isNear(one.results, baselines[i].results))
      return false;
  }
  return true;
}

bool Judge::isStoreIdle(size_t site) const {
  Statement store = parsed.statements()[site];
  if (store.base() != "st" || store.operands.size() != 2)
    return false;
  const Class *kind = nullptr;
  std::vector<std::string> names = storedBy(store);
  for (const std::string &name : names)
    if (!(kind = classOf(name)) || kind->garbage.empty())
      return false;
  store.operands[1] =
      names.size() == 1
          ? "fovea_m"
          : "{fovea_m" + std::string(names.size() == 2 ? "" : ", fovea_m, fovea_m") + ", fovea_m}";
  for (const char *garbage : kind->garbage)
    if (find(parsed.replace(site, std::string("{ .reg .") + kind->type + " fovea_m; mov." +
                                      kind->bits + " fovea_m, " + garbage + "; " + store.text() +
                                      " }"),
             true)
            .kind != Verdict::Survived)
      return false;
  return true;
}

bool Judge::readsOnlyOperands() const {
  for (size_t i = 0; i < right.calls.size(); ++i)
    for (bool late : {false, true})
      if (!run(right.ptx, right.calls[i], late, kEnough, &baselines[i].results).fault.empty())
        return false;
  return true;
}

/// Groups of copies that the weaker wait leaves open have no copies, or an earlier wait was for
/// them: each thread counts.
bool Judge::isWaitIdle(size_t site, const Statement &after) const {
  const std::vector<Statement> &all = parsed.statements();
  if ((!all[site].is("cp.async.wait_group") && !all[site].is("cp.async.wait_all")) ||
      !after.is("cp.async.wait_group") || after.predicate != all[site].predicate)
    return false;
  int before = openBehind(all[site]), groups = openBehind(after);
  if (groups <= before || groups > 8)
    return false;
  // Copies of the group that is not committed yet, and of each one before, the newest first.
  std::vector<std::string> counts;
  for (int i = -1; i < groups; ++i)
    counts.push_back("fovea_g" + std::to_string(i + 1));
  Edits edits;
  for (size_t i = 0; i < all.size(); ++i) {
    const Statement &s = all[i];
    if (!isOfGroups(s))
      continue;
    std::string text, with = s.predicate.empty() ? "" : s.predicate + " ";
    if (isCopy(s))
      text = with + "add.u32 fovea_g0, fovea_g0, 1; ";
    else if (s.is("cp.async.commit_group")) {
      for (size_t k = counts.size(); k-- > 1;)
        text += with + "mov.b32 " + counts[k] + ", " + counts[k - 1] + "; ";
      text += with + "mov.b32 fovea_g0, 0; ";
    } else {
      for (size_t k = static_cast<size_t>(openBehind(s) + 1); k < counts.size(); ++k)
        text += i == site ? "{ .reg .pred fovea_q; setp.ne.u32 fovea_q, " + counts[k] +
                                ", 0; @fovea_q trap; } "
                          : with + "mov.b32 " + counts[k] + ", 0; ";
    }
    edits[i] = text + s.text();
  }
  std::string head;
  for (const std::string &count : counts)
    head += ".reg .b32 " + count + "; mov.b32 " + count + ", 0; ";
  return find(edited(parsed, edits, head)).kind == Verdict::Survived;
}

/// A condition on bits of the thread's number, of which threads that hold the same one does what
/// follows: whichever it is, alone, it leaves what the right kernel leaves.
bool Judge::isForAnyCopy(const Mutant &mutant, const Statement &after) const {
  const std::vector<Statement> &all = parsed.statements();
  auto writerOf = [&](const std::string &name) {
    std::optional<size_t> writer;
    for (size_t i = 0; i < all.size(); ++i)
      for (const std::string &other : all[i].writes())
        if (other == name) {
          if (writer)
            return std::optional<size_t>();
          writer = i;
        }
    return writer;
  };
  std::optional<size_t> condition = mutant.site;
  const Statement &before = all[mutant.site];
  if (before.base() == "bra" && after.base() == "bra" && !before.predicate.empty() &&
      after.operands == before.operands) {
    std::string name = before.predicate.substr(before.predicate[1] == '!' ? 2 : 1);
    size_t readers = 0;
    for (const Statement &s : all)
      for (const std::string &read : s.reads())
        readers += read == name;
    condition = readers == 1 ? writerOf(name) : std::nullopt;
  } else if (after.base() != "setp" || after.operands != before.operands) {
    return false;
  }
  if (!condition || all[*condition].base() != "setp" || all[*condition].operands.size() != 3)
    return false;
  Statement compare = all[*condition];
  if ((!compare.is("setp.eq.b32") && !compare.is("setp.ne.b32")) || compare.operands[2] != "0" ||
      !compare.predicate.empty())
    return false;
  std::optional<size_t> masking = writerOf(compare.operands[1]);
  if (!masking || all[*masking].opcode != "and.b32" || !all[*masking].predicate.empty())
    return false;
  std::optional<int64_t> mask = numberOf(all[*masking].operands.at(2));
  std::optional<size_t> number = writerOf(all[*masking].operands[1]);
  if (!mask || *mask == 0 || *mask >= 1024 || !number || all[*number].operands.size() != 2 ||
      all[*number].operands[1] != "%tid.x")
    return false;
  for (int64_t copy = *mask;; copy = (copy - 1) & *mask) {
    compare.operands[2] = std::to_string(copy);
    if (find(parsed.replace(*condition, compare.text()), true).kind != Verdict::Survived)
      return false;
    if (copy == 0)
      return find(mutant.text, true).kind == Verdict::Survived;
  }
}

/// A branch around what ends in a store to shared memory: what stands there behind the next barrier
/// is the same. A thread that stores in vain finds its value there in the right kernel, and one
/// that does not store finds it in the changed one.
bool Judge::isStoredByOthers(const Mutant &mutant, const Statement &after) const {
  const std::vector<Statement> &all = parsed.statements();
  const Statement &before = all[mutant.site];
  if (before.base() != "bra" || after.base() != "bra" || before.predicate.empty() ||
      after.predicate.empty() || after.operands != before.operands)
    return false;
  std::vector<size_t> ways = parsed.successors(mutant.site);
  if (ways.size() != 2 || ways[0] < ways[1] + 1)
    return false;
  size_t first = ways[1], last = ways[0] - 1;
  const Statement &store = all[last];
  if (store.base() != "st" || !store.has("shared") || !store.predicate.empty() ||
      store.operands.size() != 2)
    return false;
  // What else stands there is for the store alone.
  for (size_t i = first; i < last; ++i) {
    for (size_t next : parsed.successors(i))
      if (next < first || next > last + 1)
        return false;
    if (all[i].isEffect() && all[i].base() != "bra")
      return false;
    for (const std::string &name : all[i].writes())
      for (size_t k = 0; k < all.size(); ++k) {
        std::vector<std::string> reads = all[k].reads();
        if ((k < first || k > last) && std::find(reads.begin(), reads.end(), name) != reads.end())
          return false;
      }
  }
  const std::string &value = store.operands[1];
  const Class *kind = classOf(value);
  std::vector<std::string> base = store.reads();
  if (!kind || kind->garbage.empty() || base.size() != 2 || registerClass(base[0]) != "%rd")
    return false;
  std::string place = store.operands[0];
  place.replace(place.find(base[0]), base[0].size(), "fovea_a");
  std::string move = std::string("mov.") + kind->bits + " ", type = std::string(".") + kind->type;
  auto jumping = [](const std::string &predicate, const std::string &to) {
    bool isNot = predicate[1] == '!';
    return (isNot ? "not.pred " : "mov.pred ") + to + ", " + predicate.substr(isNot ? 2 : 1) + "; ";
  };
  // `fovea_f` is 1 where a thread goes on that jumps in this run and does not in the other one, and
  // 2 when it has kept in mind what it would have stored where.
  auto isThere = [&](const Statement &run, const Statement &other) {
    Edits edits;
    edits[mutant.site] = jumping(run.predicate, "fovea_q") + jumping(other.predicate, "fovea_s") +
                         "and.pred fovea_s, fovea_s, fovea_q; @fovea_s bra " + run.operands[0] +
                         "; setp.ne.u32 fovea_s, fovea_f, 0; and.pred fovea_s, fovea_s, fovea_q; "
                         "@fovea_s trap; @fovea_q mov.b32 fovea_f, 1;";
    Statement stored = store;
    stored.predicate = "@!fovea_q";
    edits[last] = "setp.eq.u32 fovea_q, fovea_f, 1; @fovea_q mov.b32 fovea_f, 2; @fovea_q mov.b64 "
                  "fovea_a, " +
                  base[0] + "; @fovea_q " + move + "fovea_v, " + value + "; " + stored.text();
    for (size_t i = 0; i < all.size(); ++i) {
      if (all[i].is("bar.sync") || all[i].is("barrier.sync"))
        edits[i] = all[i].text() + " setp.eq.u32 fovea_q, fovea_f, 2; @fovea_q ld.shared" + type +
                   " fovea_o, " + place + "; mov.b32 fovea_f, 0; setp.ne." + kind->bits +
                   " fovea_q, fovea_o, fovea_v; @fovea_q trap;";
      else if (all[i].base() == "ret" || all[i].base() == "exit")
        edits[i] = "setp.eq.u32 fovea_q, fovea_f, 2; @fovea_q trap; " + all[i].text();
    }
    std::string head = ".reg .pred fovea_q, fovea_s; .reg .b32 fovea_f; mov.b32 fovea_f, 0; .reg "
                       ".b64 fovea_a; .reg " +
                       type + " fovea_v, fovea_o; " + move + "fovea_v, 0; " + move + "fovea_o, 0;";
    return find(edited(parsed, edits, head)).kind == Verdict::Survived;
  };
  return isThere(before, after) && isThere(after, before);
}

/// A barrier behind the load that it stood before: each thread loads the same before and behind it.
bool Judge::isLoadSame(size_t site, const Ptx &changed) const {
  const std::vector<Statement> &all = parsed.statements();
  size_t load = site;
  while (load < all.size() && changed.statements()[load].opcode != all[site].opcode)
    ++load;
  // What stood from behind the barrier to the load moved up by one.
  if (load == site || load >= all.size() || resultsOf(all[load]).empty() ||
      (all[load].base() != "ld" && all[load].base() != "ldmatrix"))
    return false;
  for (size_t i = site; i < load; ++i)
    if (changed.statements()[i].text() != all[i + 1].text())
      return false;
  std::string text = compared(all[load], all[load], "@fovea_q trap;", /*isNumber=*/false,
                              /*between=*/all[site].text() + " ");
  return find(parsed.replace(site, "", load, text)).kind == Verdict::Survived;
}

std::string Judge::explain(const Mutant &mutant) const {
  const Statement &before = parsed.statements()[mutant.site];
  if (!isReached(mutant.site))
    return "never reached";
  Ptx changed(mutant.text);
  bool isSameLength = changed.statements().size() == parsed.statements().size();
  if (before.is("bar.sync") || before.is("barrier.sync")) {
    if (isBarrierIdle(mutant.site))
      return "no shared access between barriers";
    return isSameLength && isLoadSame(mutant.site, changed) ? "the load is the same before it" : "";
  }
  if (before.is("wgmma.fence") && isFencedBefore(mutant.site))
    return "the fence before it is enough";
  if (isStoreIdle(mutant.site))
    return "what is stored does not matter";
  if (!isSameLength)
    return "";
  const Statement &after = changed.statements()[mutant.site];
  if (isWaitIdle(mutant.site, after))
    return "only groups without copies stay open";
  if (isForAnyCopy(mutant, after))
    return "each thread that holds a copy may do it";
  if (isStoredByOthers(mutant, after))
    return "other threads store the same there";
  if (isStoreSame(mutant.site, after))
    return "the same is stored in every run";
  if (mutant.op && std::string(mutant.op->name) == "rounding changed" && isNear(mutant.text))
    return "off by a rounding";
  std::vector<std::string> results = resultsOf(before), others = resultsOf(after);
  if (!results.empty() &&
      std::is_permutation(results.begin(), results.end(), others.begin(), others.end()))
    return explainValue(mutant, after);
  if (before.base() == "bra" && !before.predicate.empty() && after.base() == "bra") {
    // The two ways of a branch that goes one way only: does it ever matter which?
    std::string to = before.operands[0];
    bool jumps =
        find(parsed.replace(mutant.site, "bra.uni " + to + ";"), true).kind == Verdict::Survived;
    bool falls = find(parsed.replace(mutant.site, ""), true).kind == Verdict::Survived;
    if (jumps && falls)
      return "both ways are right";
  }
  return "";
}

} // namespace fovea::mutation
