// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts what became of near misses, by kind, site and rarity.
#ifndef FOVEA_TEST_SMITH_TALLY_H
#define FOVEA_TEST_SMITH_TALLY_H

#include "test/smith/Edit.h"
#include <map>
#include <string>

namespace fovea::smith {

class Tally {
public:
  /// `outcome` is one of `kOutcomes`; anything else is wrong.
  void add(const Edit &edit, const std::string &outcome);
  /// Three tables of counts, and the share that is refused by site and kind.
  std::string print() const;

private:
  struct Counts {
    std::map<std::string, int> of;
    int all = 0;
  };
  using Table = std::map<int, Counts>;
  template <typename NameOf>
  static std::string print(const char *title, const Table &table, NameOf name);

  Table kinds, sites, rarities;
  std::map<std::pair<int, int>, Counts> cells;
};

} // namespace fovea::smith

#endif // FOVEA_TEST_SMITH_TALLY_H
