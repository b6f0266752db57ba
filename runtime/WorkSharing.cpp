// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WorkSharing.h.
#include "runtime/WorkSharing.h"

namespace fovea {

/// A range [next, end) in one word, so that adding 1 claims `next`.
static uint64_t rangeOf(int64_t next, int64_t end) {
  return static_cast<uint64_t>(end) << 32 | static_cast<uint64_t>(next);
}
static uint64_t nextOf(uint64_t range) { return range & UINT32_MAX; }
static uint64_t endOf(uint64_t range) { return range >> 32; }

WorkSharing::WorkSharing(int threads)
    : count(threads), ranges(std::make_unique<Range[]>(static_cast<size_t>(threads))),
      changed(threads), ended(threads), yield(threads) {}

bool WorkSharing::begin(const Work &theWork, int32_t thread) {
  work = &theWork;
  step = theWork.first - 1;
  isUnderWay.store(true, std::memory_order_relaxed);
  yield.enter(thread);
  yield.begin(thread);
  const bool isLeft = advance(thread);
  yield.end(thread);
  return isLeft;
}

/// Ends the current step and publishes the next. Steps of one part are run here. Returns whether
/// there was one to publish.
bool WorkSharing::advance(int32_t thread) {
  const Work &now = *work;
  for (;;) {
    if (step >= now.first && now.done)
      now.done(now.data, step);
    if (++step == now.end) {
      // The thread that waits for this may take `now` away.
      isUnderWay.store(false, std::memory_order_release);
      ended.notify();
      changed.notify();
      return false;
    }
    parts = now.parts ? now.parts(now.data, step) : kPartsPerThread * count;
    if (parts > 1 && count > 1) {
      publish();
      return true;
    }
    now.run(now.data, step, 0, 1, thread);
  }
}

void WorkSharing::publish() {
  left.store(parts, std::memory_order_relaxed);
  // A step ends when all its parts are done: not before the last range is written.
  const int64_t all = parts;
  for (int i = 0; i < count; ++i)
    ranges[static_cast<size_t>(i)].next.store(rangeOf(i * all / count, (i + 1) * all / count),
                                              std::memory_order_release);
  changed.notify();
}

/// Runs what this thread can claim. Returns how many parts.
int64_t WorkSharing::runParts(int32_t thread) {
  int64_t mine = 0;
  for (int i = 0; i < count; ++i) {
    std::atomic<uint64_t> &range = ranges[static_cast<size_t>((thread + i) % count)].next;
    for (;;) {
      uint64_t claim = range.load(std::memory_order_acquire);
      if (nextOf(claim) >= endOf(claim))
        break;
      claim = range.fetch_add(1, std::memory_order_acq_rel);
      if (nextOf(claim) >= endOf(claim))
        break;
      if (mine == 0)
        yield.begin(thread);
      work->run(work->data, step, static_cast<int64_t>(nextOf(claim)), parts, thread);
      ++mine;
    }
  }
  return mine;
}

/// If the system has taken a thread off its core that others wait for, gives it this one. The other
/// program keeps that thread's core for some time. Returns whether there was such a thread.
bool WorkSharing::help(int32_t thread) {
  constexpr std::chrono::milliseconds kTimeOfNeighbours(4);
  const uint32_t seen = ended.get();
  if (!isUnderWay.load(std::memory_order_acquire))
    return false;
  const int core = yield.bringWaiting(thread);
  if (core < 0)
    return false;
  ended.sleepFor(kTimeOfNeighbours, seen);
  DirectedYield::leave(core);
  return true;
}

/// Runs parts or waits. `seen`: of `changed`, before it was seen that there is reason to go on.
void WorkSharing::takePart(int32_t thread, uint32_t seen) {
  const int64_t mine = runParts(thread);
  const bool isLast = mine > 0 && left.fetch_sub(mine, std::memory_order_acq_rel) == mine;
  if (isLast)
    advance(thread);
  yield.end(thread);
  // Between works there is nothing to learn from how long it takes.
  const bool adapts = isUnderWay.load(std::memory_order_relaxed);
  if (!isLast && !changed.spinWhile(seen, adapts) && !help(thread))
    changed.sleepWhile(seen, adapts);
}

void WorkSharing::finish(int32_t thread) {
  yield.enter(thread);
  for (;;) {
    uint32_t seen = changed.get();
    if (!isUnderWay.load(std::memory_order_acquire))
      return;
    takePart(thread, seen);
  }
}

void WorkSharing::serve(int32_t thread) {
  yield.enter(thread);
  for (;;) {
    uint32_t seen = changed.get();
    if (isStopping.load(std::memory_order_acquire))
      return;
    takePart(thread, seen);
  }
}

void WorkSharing::stop() {
  isStopping.store(true, std::memory_order_release);
  changed.notify();
}

} // namespace fovea
