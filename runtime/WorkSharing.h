// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of work, one behind the other, whose parts threads claim: a thread that the system takes
// away, or a slow core, holds up the part that it has claimed and no other.
#ifndef FOVEA_RUNTIME_WORKSHARING_H
#define FOVEA_RUNTIME_WORKSHARING_H

#include "runtime/DirectedYield.h"
#include "runtime/Signal.h"

#include <memory>

namespace fovea {

/// Into how many parts a long step is split for each thread: what is left to wait for when a thread
/// loses its core is an eighth of its share at most.
inline constexpr int kPartsPerThread = 8;

/// Steps [first, end).
struct Work {
  /// Part `part` of `parts` of a step, on thread `thread`.
  void (*run)(void *data, int64_t step, int64_t part, int64_t parts, int32_t thread);
  /// Into how many parts to split a step, at least 1. One is run by a thread that is at hand, and
  /// where there is one thread, it runs whole steps. Null: kPartsPerThread for each thread.
  int64_t (*parts)(void *data, int64_t step);
  /// Called behind all parts of a step and before those of the next; may be null.
  void (*done)(void *data, int64_t step);
  void *data;
  int64_t first, end;
};

/// Each thread has a range of a step's parts, of which it claims one after the other; then it
/// claims from the ranges of others. Whoever ends a step's last part publishes the next step: there
/// is no barrier. What a part has written, all parts of later steps see.
class WorkSharing {
public:
  explicit WorkSharing(int threads);

  int threads() const { return count; }
  /// Begins work; any thread, if the work before has ended. `work` is there until it ends. Returns
  /// whether something is left to do for finish().
  bool begin(const Work &work, int32_t thread);
  /// Takes part in work that has begun until it ends. Need not be called by every thread.
  void finish(int32_t thread);
  /// Takes part in whatever begins, until stop().
  void serve(int32_t thread);
  /// From any thread, if no work is under way.
  void stop();

private:
  /// The next part to claim and the end of the range, in one word, so that a claim tells whether it
  /// holds: only then the current step stays what it is until the part has been run.
  struct alignas(64) Range {
    std::atomic<uint64_t> next{0};
  };

  void takePart(int32_t thread, uint32_t seen);
  bool help(int32_t thread);
  int64_t runParts(int32_t thread);
  bool advance(int32_t thread);
  void publish();

  const int count;
  std::unique_ptr<Range[]> ranges;
  /// Of the current step, that are not yet done.
  alignas(64) std::atomic<int64_t> left{0};
  // Written before a step's ranges, by the only thread that may.
  const Work *work = nullptr;
  int64_t step = 0, parts = 0;
  /// Changes with each step, at the end of work and with stop(); the other one at the end of work.
  alignas(64) Signal changed;
  Signal ended;
  DirectedYield yield;
  std::atomic<bool> isUnderWay{false}, isStopping{false};
};

} // namespace fovea

#endif // FOVEA_RUNTIME_WORKSHARING_H
