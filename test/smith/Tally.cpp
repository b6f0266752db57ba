// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/smith/Tally.h"
#include "test/smith/Check.h"
#include <cstdarg>
#include <cstdio>

namespace fovea::smith {

static std::string format(const char *form, ...) {
  char text[128];
  va_list values;
  va_start(values, form);
  std::vsnprintf(text, sizeof text, form, values);
  va_end(values);
  return text;
}

void Tally::add(const Edit &edit, const std::string &outcome) {
  std::string word = isOutcome(outcome) ? outcome : "wrong";
  bool isNever = edit.rarity == Rarity::Never;
  int site = static_cast<int>(edit.site), kind = static_cast<int>(edit.kind);
  auto count = [&](Counts &counts) {
    ++counts.of[word];
    ++counts.all;
  };
  count(sites[site]);
  count(rarities[static_cast<int>(edit.rarity)]);
  // What never shows is told by its rarity: it may well be refused, but need not.
  if (isNever)
    return;
  count(kinds[kind]);
  count(cells[{site, kind}]);
}

static int countOf(const std::map<std::string, int> &counts, const char *word) {
  auto it = counts.find(word);
  return it == counts.end() ? 0 : it->second;
}

/// In percent.
static int shareOf(const std::map<std::string, int> &counts, const char *word, int all) {
  return all ? (100 * countOf(counts, word) + all / 2) / all : 0;
}

template <typename NameOf>
std::string Tally::print(const char *title, const Table &table, NameOf name) {
  std::string text = format("%-18s %7s", title, "all");
  for (const char *outcome : kOutcomes)
    text += format(" %9s", outcome);
  text += format(" %9s %10s\n", "wrong", "refused");
  for (const auto &[key, counts] : table) {
    text += format("%-18s %7d", name(key), counts.all);
    for (const char *outcome : kOutcomes)
      text += format(" %9d", countOf(counts.of, outcome));
    text += format(" %9d %8d %%\n", countOf(counts.of, "wrong"),
                   shareOf(counts.of, "refused", counts.all));
  }
  return text + "\n";
}

std::string Tally::print() const {
  auto siteOf = [](int site) { return nameOf(static_cast<Site>(site)); };
  auto kindOf = [](int kind) { return nameOf(static_cast<EditKind>(kind)); };
  std::string text =
      print("kind", kinds, kindOf) + print("site", sites, siteOf) +
      print("rare by", rarities, [](int rarity) { return nameOf(static_cast<Rarity>(rarity)); });
  text += format("%-18s", "refused, %");
  for (const auto &[kind, counts] : kinds)
    text += format(" %9s", kindOf(kind));
  for (const auto &[site, all] : sites) {
    text += format("\n%-18s", siteOf(site));
    for (const auto &[kind, counts] : kinds) {
      auto cell = cells.find({site, kind});
      text += cell == cells.end()
                  ? format(" %9s", "-")
                  : format(" %9d", shareOf(cell->second.of, "refused", cell->second.all));
    }
  }
  return text + "\n";
}

} // namespace fovea::smith
