// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More threads than cores: some are without one all the time.
#include "runtime/DirectedYield.h"
#include "runtime/Signal.h"

#include <gtest/gtest.h>

#include <chrono>
#include <sched.h>
#include <thread>
#include <vector>

using namespace fovea;

namespace {

cpu_set_t ownCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(::sched_getaffinity(0, sizeof(cores), &cores), 0);
  return cores;
}

/// As many threads as there are cores, and one more, that do nothing but use them.
class Neighbours {
public:
  Neighbours() {
    for (int i = 0; i <= availableCores(); ++i)
      threads.emplace_back([this] {
        while (!isOver)
          ;
      });
  }
  ~Neighbours() {
    isOver = true;
    for (std::thread &thread : threads)
      thread.join();
  }

private:
  std::atomic<bool> isOver{false};
  std::vector<std::thread> threads;
};

/// Thread 1, whose work is to count.
class Counting {
public:
  Counting(DirectedYield &yield, bool isBusy)
      : thread([this, &yield, isBusy] {
          yield.enter(1);
          if (isBusy)
            yield.begin(1);
          for (; !isOver; ++count)
            if (count == 0)
              before = ownCores();
          yield.end(1);
          after = ownCores();
        }) {
    while (count == 0)
      std::this_thread::yield();
  }
  void join() {
    isOver = true;
    thread.join();
  }

  std::atomic<int64_t> count{0};
  cpu_set_t before, after;

private:
  std::atomic<bool> isOver{false};
  std::thread thread;
};

/// Asks until a thread has been brought or `time` is over.
int bringWithin(DirectedYield &yield, std::chrono::seconds time) {
  auto end = std::chrono::steady_clock::now() + time;
  int core = -1;
  while (core < 0 && std::chrono::steady_clock::now() < end)
    core = yield.bringWaiting(0);
  return core;
}

TEST(DirectedYield, BringsAThreadThatHasNoCore) {
  if (availableCores() < 2)
    GTEST_SKIP() << "there is one core";
  DirectedYield yield(2);
  Neighbours neighbours;
  Counting counting(yield, /*isBusy=*/true);
  yield.enter(0);
  cpu_set_t mine = ownCores();
  int core = bringWithin(yield, std::chrono::seconds(60));
  ASSERT_GE(core, 0);
  EXPECT_TRUE(CPU_ISSET(core, &mine));
  // It goes on; on a busy machine not at once.
  int64_t before = counting.count;
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (counting.count == before && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(counting.count, before);
  DirectedYield::leave(core);
  counting.join();
  // Both may run where they could before.
  cpu_set_t now = ownCores();
  EXPECT_TRUE(CPU_EQUAL(&mine, &now));
  EXPECT_TRUE(CPU_EQUAL(&counting.before, &counting.after));
}

TEST(DirectedYield, LeavesThreadsAloneForWhichNobodyWaits) {
  DirectedYield yield(2);
  Neighbours neighbours;
  Counting counting(yield, /*isBusy=*/false);
  yield.enter(0);
  EXPECT_EQ(bringWithin(yield, std::chrono::seconds(1)), -1);
  counting.join();
}

/// Nor is one that was never there.
TEST(DirectedYield, BringsNoUnknownThread) {
  DirectedYield yield(3);
  yield.enter(0);
  yield.begin(1);
  EXPECT_EQ(yield.bringWaiting(0), -1);
}

TEST(DirectedYield, LeavesACoreWhereItMay) {
  cpu_set_t mine = ownCores();
  int core = ::sched_getcpu();
  DirectedYield::leave(core);
  cpu_set_t now = ownCores();
  EXPECT_TRUE(CPU_EQUAL(&mine, &now));
  // A thread that may run on one core stays.
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
    DirectedYield::leave(core);
    cpu_set_t still = ownCores();
    EXPECT_TRUE(CPU_EQUAL(&one, &still));
  }).join();
}

} // namespace
