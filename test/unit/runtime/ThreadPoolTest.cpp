// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pool and its barrier under load; the thread sanitizer runs this too.
#include "runtime/ThreadPool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>

using namespace fovea;

namespace {

TEST(ThreadPool, RunsEachBodyOnceAllAtTheSameTime) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    Barrier barrier(threads, spinsFor(threads));
    struct Data {
      Barrier *barrier;
      std::vector<int> counts;
    } data{&barrier, std::vector<int>(static_cast<size_t>(threads))};
    for (int round = 0; round < 300; ++round)
      pool.run(
          [](void *user, int32_t index) {
            Data &data = *static_cast<Data *>(user);
            data.barrier->wait(); // Hangs unless all run.
            ++data.counts[static_cast<size_t>(index)];
          },
          &data);
    EXPECT_EQ(data.counts, std::vector<int>(static_cast<size_t>(threads), 300));
  }
}

/// Each round, each thread reads what all others wrote in the round before; plain
/// memory, so the barrier alone keeps it in order.
TEST(Barrier, OrdersWhatIsWrittenAroundIt) {
  constexpr int threads = 4, rounds = 2000;
  ThreadPool pool(threads);
  for (int spins : {0, 3, 2000}) {
    Barrier barrier(threads, spins);
    struct Data {
      Barrier *barrier;
      long values[2][threads] = {};
      bool wrong[threads] = {};
    } data{&barrier};
    pool.run(
        [](void *user, int32_t index) {
          Data &data = *static_cast<Data *>(user);
          for (int round = 0; round < rounds; ++round) {
            long *from = data.values[round % 2], *to = data.values[1 - round % 2];
            long sum = std::accumulate(from, from + threads, 0L);
            if (sum != static_cast<long>(threads) * round)
              data.wrong[index] = true;
            to[index] = round + 1;
            data.barrier->wait();
          }
        },
        &data);
    for (bool wrong : data.wrong)
      EXPECT_FALSE(wrong);
  }
}

TEST(ThreadPool, WakesAfterSleeping) {
  ThreadPool pool(3);
  std::atomic<int> count{0};
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool.run([](void *user, int32_t) { ++*static_cast<std::atomic<int> *>(user); }, &count);
  }
  EXPECT_EQ(count, 15);
}

TEST(ThreadPool, MayBeMadeAndGoWithoutWork) {
  for (int i = 0; i < 50; ++i)
    ThreadPool pool(4);
}

TEST(ThreadPool, CountsAtLeastOneCore) { EXPECT_GE(availableCores(), 1); }

} // namespace
