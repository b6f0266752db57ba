// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes programs and inputs of a plan. Inputs are tried one after the other: of several sizes, some
// elements or rows of them rare, or all.
#include "test/smith/NearMiss.h"
#include "test/smith/Builder.h"
#include <algorithm>
#include <cmath>
#include <sstream>

namespace fovea::smith {

//===-- Inputs -------------------------------------------------------------------------------===//

static constexpr int kAttempts = 8;

static std::string printMagnitude(const Magnitude &m, int attempt) {
  static constexpr double kFactors[kAttempts] = {1.4, 2.5, 0.8, 5, 1.7, 0.4, 12, 0.15};
  static constexpr const char *kForms[kAttempts] = {"some", "rows", "all",  "some",
                                                    "rows", "all",  "some", "rows"};
  std::ostringstream text;
  double factor = m.rare * (m.isSmall ? 1 : kFactors[attempt]);
  std::string form = kForms[attempt];
  text << "normal ";
  if (m.rare == 1)
    text << m.usual;
  else if (form == "all" && factor != 0)
    text << m.usual * factor;
  else
    text << m.usual << " " << (form == "all" ? "rows" : form) << " " << factor << " percent "
         << (attempt % 2 ? 40 : 15);
  return text.str();
}

/// Of queries and keys, whose products are scores of some size.
static std::string printFactor(bool isOfQueries, double scores, int attempt) {
  static constexpr double kFactors[kAttempts] = {1.4, 0.8, 3, 2, 0.4, 6, 0.15, 12};
  double size = scores * kFactors[attempt];
  std::ostringstream text;
  bool isByRows = scores == 0 || attempt % 4 == 1, areKeysAlike = attempt % 4 == 3;
  text << "normal ";
  if (isByRows && isOfQueries)
    text << "1 rows " << size << " percent 40";
  else if (isByRows)
    text << "1";
  else if (areKeysAlike && isOfQueries)
    text << size;
  else if (areKeysAlike) // so that a query's scores are large together
    text << "0.2 plus 1";
  else
    text << std::sqrt(size);
  return text.str();
}

static std::string recipe(const Plan &plan, const std::string &name, const std::string &usual,
                          int attempt) {
  if (name == "q" || name == "k")
    return printFactor(name == "q", plan.scores, attempt);
  if (name == "v")
    return printMagnitude(plan.values, attempt);
  if (name == "x")
    return printMagnitude(plan.input, attempt);
  if (name.rfind("bias", 0) == 0 || name.rfind("table", 0) == 0)
    return printMagnitude(plan.bias, attempt);
  // Lengths beyond the limit, now and then alone.
  if (name.rfind("length", 0) == 0 && plan.edit.site == Site::Mask && usual.rfind("upto", 0) == 0 &&
      attempt % 2) {
    std::string most = usual.substr(0, usual.rfind(' ') + 1);
    return most + std::to_string(std::max(1, static_cast<int>(plan.edit.limit) - 1));
  }
  if (name == "positions")
    return "below " + std::to_string(std::max(8, 2 * plan.layer.moreRows));
  return usual;
}

static std::map<std::string, std::pair<int, int>> sizesOf(const Plan &plan, const Program &program,
                                                          int attempt) {
  auto all = program.sizes;
  for (auto &[name, sizes] : all) {
    bool isQueries = name == "queries" || name == "length", isKeys = name == "keys";
    if (isQueries && plan.queries)
      sizes.second = plan.queries;
    if (isKeys && plan.keys)
      sizes.second = plan.keys;
    // More keys make probabilities small and sums large.
    if (isKeys && attempt >= 4 && plan.edit.rarity == Rarity::Value)
      sizes.second = std::max(sizes.second, 12 * (attempt - 2));
  }
  return all;
}

//===-- Near misses --------------------------------------------------------------------------===//

static Program generateWith(const Plan &plan, const Edit &edit, bool &isDone) {
  Editor editor(edit);
  Program program =
      plan.isAttention ? Builder(plan.choices, &editor).build() : generate(plan.layer, editor);
  isDone = editor.isDone();
  return program;
}

static std::string describe(const Edit &edit) {
  std::ostringstream text;
  text << nameOf(edit.site) << " " << nameOf(edit.kind) << " " << nameOf(edit.rarity);
  if (edit.rarity != Rarity::Never)
    text << " " << edit.limit;
  return text.str();
}

bool build(const Plan &plan, NearMiss &miss) {
  bool isDone = false;
  miss = {};
  miss.plan = plan;
  miss.program = generateWith(plan, plan.edit, isDone);
  if (!isDone)
    return false;
  Edit none = plan.edit, up = plan.edit, down = plan.edit;
  none.kind = EditKind::None;
  up.nudge = 1e-4;
  down.nudge = -1e-4;
  miss.base = generateWith(plan, none, isDone).text;
  miss.up = generateWith(plan, up, isDone).text;
  miss.down = generateWith(plan, down, isDone).text;
  miss.program.fused = -1;
  miss.program.masks.clear();
  miss.program.nearMiss = describe(plan.edit);
  for (int i = 0; i < kAttempts; ++i) {
    Attempt attempt{i, sizesOf(plan, miss.program, i), {}};
    for (const auto &[name, usual] : miss.program.inputs)
      attempt.inputs.push_back({name, recipe(plan, name, usual, i)});
    miss.attempts.push_back(std::move(attempt));
  }
  return true;
}

std::vector<NearMiss> simplify(const NearMiss &miss) {
  std::vector<NearMiss> simpler;
  auto add = [&](const Plan &plan) {
    NearMiss next;
    if (build(plan, next))
      simpler.push_back(std::move(next));
  };
  Plan plan = miss.plan;
  if (plan.isAttention)
    for (const Choices &choices : simplify(miss.plan.choices)) {
      plan.choices = choices;
      add(plan);
    }
  return simpler;
}

NearMiss makeNearMiss(const Program &program) {
  NearMiss miss;
  miss.program = program;
  miss.attempts.push_back({program.seed, program.sizes, program.inputs});
  return miss;
}

} // namespace fovea::smith
