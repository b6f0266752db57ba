// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work sharing under load, by a pool and by threads of a host; the thread sanitizer runs this too.
#include "runtime/ThreadPool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

using namespace fovea;

namespace {

constexpr int64_t kSteps = 40;

/// Steps of 1 to 20 parts, plain memory: each part adds what all parts of the step before wrote, so
/// that the order of steps alone keeps it right.
struct Sums {
  std::vector<std::vector<int64_t>> written{kSteps};
  std::vector<int> done = std::vector<int>(kSteps);
  std::atomic<int> wrongThreads{0};
  int threads = 1;

  static int64_t partsOf(void * /*data*/, int64_t step) { return 1 + step * 7 % 20; }

  static void run(void *data, int64_t step, int64_t part, int64_t parts, int32_t thread) {
    Sums &sums = *static_cast<Sums *>(data);
    auto &mine = sums.written[static_cast<size_t>(step)];
    if (thread < 0 || thread >= sums.threads || static_cast<size_t>(parts) > mine.size())
      ++sums.wrongThreads;
    int64_t sum = 1;
    if (step > 0)
      for (int64_t value : sums.written[static_cast<size_t>(step - 1)])
        sum += value;
    mine[static_cast<size_t>(part)] += sum % 1000;
  }

  static void stepDone(void *data, int64_t step) {
    ++static_cast<Sums *>(data)->done[static_cast<size_t>(step)];
  }

  explicit Sums(int threads = 1) : threads(threads) {
    for (int64_t i = 0; i < kSteps; ++i)
      written[static_cast<size_t>(i)].resize(static_cast<size_t>(partsOf(nullptr, i)));
  }
  Work work() { return {run, partsOf, stepDone, this, 0, kSteps}; }
};

/// What one thread alone writes.
std::vector<std::vector<int64_t>> makeExpected() {
  Sums sums;
  for (int64_t step = 0; step < kSteps; ++step)
    for (int64_t part = 0, parts = Sums::partsOf(nullptr, step); part < parts; ++part)
      Sums::run(&sums, step, part, parts, 0);
  return std::move(sums.written);
}

void expectRight(const Sums &sums) {
  static const std::vector<std::vector<int64_t>> expected = makeExpected();
  EXPECT_EQ(sums.written, expected);
  EXPECT_EQ(sums.done, std::vector<int>(kSteps, 1));
  EXPECT_EQ(sums.wrongThreads, 0);
}

TEST(ThreadPool, RunsEachPartOnceBehindTheStepBefore) {
  for (int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 200; ++round) {
      Sums sums(threads);
      pool.run(sums.work());
      expectRight(sums);
    }
  }
}

TEST(ThreadPool, RunsARangeOfSteps) {
  ThreadPool pool(2);
  Sums sums(2);
  Work work = sums.work();
  work.first = 7;
  work.end = 9;
  pool.run(work);
  std::vector<int> done(kSteps);
  done[7] = done[8] = 1;
  EXPECT_EQ(sums.done, done);
  work.first = work.end;
  pool.run(work);
  EXPECT_EQ(sums.done, done);
}

/// A thread that is held up in one part keeps no other from running, of its own range neither.
TEST(ThreadPool, AThreadHoldsUpOnlyThePartItRuns) {
  struct Held {
    std::atomic<int64_t> others{0};
    bool late = false;
  };
  for (int64_t held : {0, 5, 15}) {
    ThreadPool pool(2);
    struct Data : Held {
      int64_t held;
    } data;
    data.held = held;
    auto run = [](void *of, int64_t, int64_t part, int64_t parts, int32_t) {
      Data &data = *static_cast<Data *>(of);
      if (part != data.held) {
        ++data.others;
        return;
      }
      auto begin = std::chrono::steady_clock::now();
      while (data.others < parts - 1 && !data.late) {
        std::this_thread::yield();
        data.late = std::chrono::steady_clock::now() - begin > std::chrono::seconds(60);
      }
    };
    pool.run({run, nullptr, nullptr, &data, 0, 1});
    EXPECT_FALSE(data.late);
    EXPECT_EQ(data.others, 2 * kPartsPerThread - 1);
  }
}

/// Steps of one part are handed to nobody; one thread splits nothing.
void expectWholeSteps(int threads, int64_t split) {
  ThreadPool pool(threads);
  struct Data {
    int64_t split;
    std::thread::id caller = std::this_thread::get_id();
    int runs = 0, elsewhere = 0;
  } data{split};
  auto run = [](void *of, int64_t, int64_t, int64_t parts, int32_t thread) {
    Data &data = *static_cast<Data *>(of);
    ++data.runs;
    data.elsewhere += std::this_thread::get_id() != data.caller || thread != 0 || parts != 1;
  };
  auto parts = [](void *of, int64_t) { return static_cast<const Data *>(of)->split; };
  pool.run({run, parts, nullptr, &data, 0, 1000});
  EXPECT_EQ(data.runs, 1000);
  EXPECT_EQ(data.elsewhere, 0);
}

TEST(ThreadPool, StepsOfOnePartStayOnTheirThread) { expectWholeSteps(4, 1); }
TEST(ThreadPool, OneThreadRunsWholeSteps) { expectWholeSteps(1, 5); }

TEST(ThreadPool, WakesAfterSleeping) {
  ThreadPool pool(3);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Sums sums(3);
    pool.run(sums.work());
    expectRight(sums);
  }
}

TEST(ThreadPool, MayBeMadeAndGoWithoutWork) {
  for (int i = 0; i < 50; ++i)
    ThreadPool pool(4);
}

/// A host may be late with its threads, or run what should be side by side one behind the other.
TEST(WorkSharing, AnyThreadThatComesTakesPart) {
  WorkSharing sharing(3);
  for (const std::vector<int32_t> &order : {std::vector<int32_t>{0, 1, 2}, {2, 1, 0}, {1}}) {
    Sums sums(3);
    Work work = sums.work();
    EXPECT_TRUE(sharing.begin(work, 0));
    for (int32_t thread : order)
      sharing.finish(thread);
    expectRight(sums);
  }
  for (int round = 0; round < 100; ++round) {
    Sums sums(3);
    Work work = sums.work();
    EXPECT_TRUE(sharing.begin(work, 0));
    std::thread other([&] { sharing.finish(2); });
    sharing.finish(1);
    other.join();
    expectRight(sums);
  }
}

TEST(WorkSharing, TellsWhenNothingIsLeft) {
  WorkSharing sharing(2);
  Sums sums(2);
  Work work = sums.work();
  work.end = 1; // one part
  EXPECT_FALSE(sharing.begin(work, 0));
  EXPECT_EQ(sums.done[0], 1);
}

TEST(Signal, IsSeenBySpinningAndBySleepingThreads) {
  for (int threads : {1, 1000}) { // of which each, or not each, has a core
    Signal signal(threads);
    std::atomic<int> seen{0};
    std::thread waiting([&] {
      for (uint32_t i = 0; i < 200; ++i) {
        if (!signal.spinWhile(i))
          signal.sleepWhile(i);
        ++seen;
      }
    });
    for (int i = 0; i < 200; ++i) {
      if (i % 50 == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      signal.notify();
      while (seen <= i)
        std::this_thread::yield();
    }
    waiting.join();
    EXPECT_EQ(signal.get(), 200u);
  }
}

TEST(Signal, CountsAtLeastOneCore) { EXPECT_GE(availableCores(), 1); }

} // namespace
