// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BenchReport.h.
#include "tools/verbs/BenchReport.h"

#include "tools/verbs/Common.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace fovea::verbs {

namespace {

/// "12.3" or, where it is not known, "-".
std::string cell(bool known, double value, const char *format = "%.1f") {
  if (!known)
    return "-";
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

/// Sums over kernels; -1 if one is not known.
KernelTime total(const Phase &phase) {
  KernelTime sum;
  for (const KernelTime &kernel : phase.kernels) {
    sum.seconds += kernel.seconds;
    sum.calls += kernel.calls;
    sum.flops = sum.flops < 0 || kernel.flops < 0 ? -1 : sum.flops + kernel.flops;
    sum.bytes = sum.bytes < 0 || kernel.bytes < 0 ? -1 : sum.bytes + kernel.bytes;
  }
  return sum;
}

/// GFLOP/s, share of the peak, GB/s, share of the bandwidth.
std::string rates(double flops, double bytes, double seconds, const Limits &limits) {
  bool flopsKnown = flops > 0 && seconds > 0, bytesKnown = bytes > 0 && seconds > 0;
  char text[160];
  std::snprintf(
      text, sizeof(text), "%9s %7s %9s %7s", cell(flopsKnown, flops / seconds / 1e9).c_str(),
      cell(flopsKnown && limits.flops > 0, 100 * flops / seconds / limits.flops).c_str(),
      cell(bytesKnown, bytes / seconds / 1e9, "%.2f").c_str(),
      cell(bytesKnown && limits.bandwidth > 0, 100 * bytes / seconds / limits.bandwidth).c_str());
  return text;
}

} // namespace

std::string reportAsText(const std::vector<Phase> &phases, const Limits &limits, int threads) {
  std::string text =
      limits.processor + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  if (limits.flops > 0)
    text += ", measured: " + grouped(limits.flops / 1e9, 4) + " GFLOP/s of " + limits.level +
            " multiply-adds, " + number(limits.bandwidth / 1e9, 4) + " GB/s read";
  else if (limits.bandwidth > 0)
    text += ", measured: " + number(limits.bandwidth / 1e9, 4) + " GB/s copied";
  text += "\n";
  for (const Phase &phase : phases) {
    text += "\n" + phase.entry + ": ";
    if (phase.tokens > 0) {
      double each = phase.seconds / static_cast<double>(phase.tokens);
      text += std::to_string(phase.tokens) + " tokens in " + number(phase.seconds * 1e3, 4) +
              " ms, " + number(each * 1e3, 4) + " ms/token, " + grouped(1 / each, 4) +
              " tokens/s\n";
    } else {
      text += number(phase.seconds * 1e3, 4) + " ms\n";
    }
    char line[200];
    std::snprintf(line, sizeof(line), "  %10s %6s %6s %9s %7s %9s %7s  %s\n", "ms", "share",
                  "calls", "GFLOP/s", "% peak", "GB/s", "% read", "kernel");
    text += line;
    KernelTime sum = total(phase);
    auto add = [&](const KernelTime &kernel, double seconds, const std::string &what) {
      std::snprintf(line, sizeof(line), "  %10.4f %5.1f%% %6.0f ", seconds * 1e3,
                    sum.seconds > 0 ? 100 * kernel.seconds / sum.seconds : 0, kernel.calls);
      text += line + rates(kernel.flops, kernel.bytes, seconds, limits) + "  " + what + "\n";
    };
    // The whole is measured around the call: what lies between kernels counts.
    add(sum, phase.seconds, "whole");
    for (const KernelTime &kernel : phase.kernels)
      add(kernel, kernel.seconds,
          kernel.name + (kernel.computes.empty() ? "" : ": " + kernel.computes) +
              (kernel.schedule.empty() ? "" : ", " + kernel.schedule) +
              (kernel.fallback ? " FALLBACK" : ""));
  }
  return text;
}

std::string reportAsJson(const std::vector<Phase> &phases, const Limits &limits, int threads) {
  nlohmann::ordered_json record;
  record["processor"] = limits.processor;
  record["threads"] = threads;
  if (limits.flops > 0)
    record["peaks"] = {{"vectors", limits.level},
                       {"flops_per_second", limits.flops},
                       {"bytes_per_second", limits.bandwidth}};
  else if (limits.bandwidth > 0)
    record["peaks"] = {{"bytes_per_second", limits.bandwidth}};
  auto put = [&](nlohmann::ordered_json &row, double flops, double bytes, double seconds) {
    row["seconds"] = seconds;
    for (auto [name, share, amount, limit] :
         {std::make_tuple("flops", "share_of_peak", flops, limits.flops),
          std::make_tuple("bytes", "share_of_bandwidth", bytes, limits.bandwidth)}) {
      if (amount < 0)
        continue;
      row[name] = amount;
      if (limit > 0 && seconds > 0)
        row[share] = amount / seconds / limit;
    }
  };
  for (const Phase &phase : phases) {
    nlohmann::ordered_json row;
    KernelTime sum = total(phase);
    row["tokens"] = phase.tokens;
    put(row, sum.flops, sum.bytes, phase.seconds);
    row["fastest_seconds"] = phase.fastest;
    for (const KernelTime &kernel : phase.kernels) {
      nlohmann::ordered_json &inner = row["kernels"][kernel.name];
      inner["computes"] = kernel.computes;
      inner["schedule"] = kernel.schedule;
      inner["fallback"] = kernel.fallback;
      inner["calls"] = kernel.calls;
      put(inner, kernel.flops, kernel.bytes, kernel.seconds);
    }
    record[phase.entry] = row;
  }
  return record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace fovea::verbs
