// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `bench` measured, and how it is told.
#ifndef FOVEA_TOOLS_VERBS_BENCHREPORT_H
#define FOVEA_TOOLS_VERBS_BENCHREPORT_H

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::verbs {

/// What one repetition spent in one kernel.
struct KernelTime {
  std::string name, computes, schedule;
  bool fallback = false;
  double calls = 0;
  double seconds = 0;
  /// -1 where they are not known; see fovea_call_get_step_cost.
  double flops = 0, bytes = 0;
};

/// One row of the report: an entry, its tokens and time, its kernels.
struct Phase {
  std::string entry;
  int64_t tokens = 0;              ///< of all batch rows; 0: it does not speak of tokens
  double seconds = 0;              ///< of one repetition, the median
  double fastest = 0;              ///< of one repetition, the least
  std::vector<KernelTime> kernels; ///< by time, the longest first
};

/// What the machine can do; zeros if that was not measured.
struct Limits {
  std::string processor, level;
  double flops = 0, bandwidth = 0;
};

/// A table, or one line of JSON.
std::string reportAsText(const std::vector<Phase> &phases, const Limits &limits, int threads);
std::string reportAsJson(const std::vector<Phase> &phases, const Limits &limits, int threads);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_BENCHREPORT_H
