// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `fovea inspect` tells of the fusion report. A report that is no such JSON
// says nothing.
#include "tools/fovea/Inspect.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fovea {

void printNotRaised(const std::string &report) {
  auto json = nlohmann::json::parse(report, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("not-raised") || !json["not-raised"].is_array())
    return;
  std::printf("\n");
  for (const auto &entry : json["not-raised"])
    std::printf("not raised  %s  %s: %s\n", entry.value("location", "-").c_str(),
                entry.value("kind", "").c_str(), entry.value("reason", "").c_str());
}

void printFusion(const std::string &report) {
  auto json = nlohmann::json::parse(report, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json["attention"].is_array() || json["attention"].empty()) {
    std::printf("\nno softmax, so nothing to fuse\n");
    return;
  }
  struct Row {
    std::string status, location, masks, score, note;
  };
  std::vector<Row> rows{{"fusion", "softmax of", "masks", "score", ""}};
  for (const auto &entry : json["attention"]) {
    auto text = [&](const char *key) {
      return entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>()
                                                           : std::string();
    };
    Row row{text("status"), text("location"), "", text("score"), text("reason")};
    if (std::string weight = text("weight"); !weight.empty() && weight != "p")
      row.note = "values are multiplied with " + weight + ", p the probability" +
                 (row.note.empty() ? "" : "; ") + row.note;
    if (entry.contains("masks"))
      for (const auto &mask : entry["masks"])
        row.masks += (row.masks.empty() ? "" : ", ") + mask.get<std::string>();
    if (std::string change = text("change"); !change.empty())
      row.note += (row.note.empty() ? "to " : "; to ") +
                  std::string(row.status == "fused" ? "skip keys, " : "fuse it, ") + change;
    for (std::string *cell : {&row.location, &row.masks, &row.score})
      if (cell->empty())
        *cell = "-";
    rows.push_back(std::move(row));
  }
  size_t location = 0, masks = 0;
  for (const Row &row : rows) {
    location = std::max(location, row.location.size());
    masks = std::max(masks, row.masks.size());
  }
  std::printf("\n");
  for (const Row &row : rows) {
    std::printf("%-9s  %-*s  %-*s  %s\n", row.status.c_str(), static_cast<int>(location),
                row.location.c_str(), static_cast<int>(masks), row.masks.c_str(),
                row.score.c_str());
    if (!row.note.empty())
      std::printf("           %s\n", row.note.c_str());
  }
}

} // namespace fovea
