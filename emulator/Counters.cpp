// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of counters, and their JSON.
#include "emulator/Counters.h"

#include <algorithm>
#include <sstream>
#include <vector>

namespace fovea::emulator {

void Counters::add(const Counters &other) {
  using Field = uint64_t Counters::*;
  for (Field field :
       {&Counters::blocks, &Counters::instructions, &Counters::threadInstructions,
        &Counters::divergentBranches, &Counters::barriers, &Counters::atomics,
        &Counters::tensorOperations, &Counters::globalLoadBytes, &Counters::globalStoreBytes,
        &Counters::globalLoadSectors, &Counters::globalStoreSectors, &Counters::sharedLoadBytes,
        &Counters::sharedStoreBytes, &Counters::cpAsyncBytes, &Counters::tmaLoadBytes,
        &Counters::tmaStoreBytes, &Counters::localBytes, &Counters::sharedPasses,
        &Counters::sharedIdealPasses})
    this->*field += other.*field;
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
  auto field = [&](const char *name, uint64_t value) {
    out << "  \"" << name << "\": " << value << ",\n";
  };
  out << "{\n";
  field("blocks", blocks);
  field("warp_instructions", instructions);
  field("thread_instructions", threadInstructions);
  field("divergent_branches", divergentBranches);
  field("barriers", barriers);
  field("atomics", atomics);
  field("tensor_operations", tensorOperations);
  field("global_load_bytes", globalLoadBytes);
  field("global_load_sectors", globalLoadSectors);
  field("global_store_bytes", globalStoreBytes);
  field("global_store_sectors", globalStoreSectors);
  field("shared_load_bytes", sharedLoadBytes);
  field("shared_store_bytes", sharedStoreBytes);
  field("cp_async_bytes", cpAsyncBytes);
  field("tma_load_bytes", tmaLoadBytes);
  field("tma_store_bytes", tmaStoreBytes);
  field("local_bytes", localBytes);
  field("shared_passes", sharedPasses);
  field("shared_bank_conflicts", bankConflicts());

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
