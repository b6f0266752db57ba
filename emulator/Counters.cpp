// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of counters, and their JSON.
#include "emulator/Counters.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace fovea::emulator {

/// The sums, by their names in the JSON.
static constexpr std::pair<const char *, uint64_t Counters::*> fields[] = {
    {"blocks", &Counters::blocks},
    {"warp_instructions", &Counters::instructions},
    {"thread_instructions", &Counters::threadInstructions},
    {"divergent_branches", &Counters::divergentBranches},
    {"barriers", &Counters::barriers},
    {"atomics", &Counters::atomics},
    {"tensor_operations", &Counters::tensorOperations},
    {"global_load_bytes", &Counters::globalLoadBytes},
    {"global_load_sectors", &Counters::globalLoadSectors},
    {"global_store_bytes", &Counters::globalStoreBytes},
    {"global_store_sectors", &Counters::globalStoreSectors},
    {"shared_load_bytes", &Counters::sharedLoadBytes},
    {"shared_store_bytes", &Counters::sharedStoreBytes},
    {"cp_async_bytes", &Counters::cpAsyncBytes},
    {"tma_load_bytes", &Counters::tmaLoadBytes},
    {"tma_store_bytes", &Counters::tmaStoreBytes},
    {"local_bytes", &Counters::localBytes},
    {"shared_passes", &Counters::sharedPasses},
};

void Counters::add(const Counters &other) {
  for (auto [name, field] : fields)
    this->*field += other.*field;
  sharedIdealPasses += other.sharedIdealPasses;
  for (const auto &[line, more] : other.lines) {
    Line &mine = lines[line];
    mine.accesses += more.accesses;
    mine.passes += more.passes;
    mine.ideal += more.ideal;
    mine.sectors += more.sectors;
    mine.idealSectors += more.idealSectors;
  }
  for (const auto &[line, more] : other.waits) {
    Wait &mine = waits[line];
    mine.count += more.count;
    mine.instructions += more.instructions;
    mine.fewest = std::min(mine.fewest, more.fewest);
  }
}

std::string Counters::json(unsigned worst) const {
  std::ostringstream out;
  out << "{\n";
  for (auto [name, field] : fields)
    out << "  \"" << name << "\": " << this->*field << ",\n";
  out << "  \"shared_bank_conflicts\": " << bankConflicts() << ",\n";

  // The lines that cost most, by what they take beyond the least.
  auto table = [&](const char *name, auto excess, auto print) {
    std::vector<std::pair<uint64_t, uint32_t>> order;
    for (const auto &[number, line] : lines)
      if (uint64_t more = excess(line))
        order.emplace_back(more, number);
    std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    order.resize(std::min<size_t>(order.size(), worst));
    out << "  \"" << name << "\": [";
    for (size_t i = 0; i < order.size(); ++i) {
      out << (i ? ", " : "") << "{\"line\": " << order[i].second << ", ";
      print(lines.at(order[i].second));
      out << "}";
    }
    out << "],\n";
  };
  table(
      "bank_conflict_lines", [](const Line &line) { return line.passes - line.ideal; },
      [&](const Line &line) {
        out << "\"accesses\": " << line.accesses << ", \"passes\": " << line.passes
            << ", \"fewest_passes\": " << line.ideal;
      });
  table(
      "uncoalesced_lines", [](const Line &line) { return line.sectors - line.idealSectors; },
      [&](const Line &line) {
        out << "\"sectors\": " << line.sectors << ", \"fewest_sectors\": " << line.idealSectors;
      });
  out << "  \"waits\": [";
  bool first = true;
  for (const auto &[line, wait] : waits) {
    out << (first ? "" : ", ") << "{\"line\": " << line << ", \"count\": " << wait.count
        << ", \"instructions_since_commit\": " << wait.instructions
        << ", \"fewest\": " << wait.fewest << "}";
    first = false;
  }
  out << "]\n}\n";
  return out.str();
}

} // namespace fovea::emulator
