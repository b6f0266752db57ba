// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that is forked off while a context is there: calls are refused, freeing returns, a
// context of its own works.
#include "test/unit/runtime/RuntimeTest.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace fovea;
using namespace fovea::test;

namespace {

class ForkTest : public RuntimeTest {
protected:
  /// What `child` returns in a process of its own, or "hangs", "is ended by signal N".
  static std::string inChild(const std::function<std::string()> &child) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_t process = ::fork();
    if (process == 0) {
      ::alarm(20);
      std::string said = child();
      ssize_t written = ::write(ends[1], said.data(), said.size());
      ::_exit(written == static_cast<ssize_t>(said.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said;
    char part[256];
    for (ssize_t count; (count = ::read(ends[0], part, sizeof(part))) > 0;)
      said.append(part, static_cast<size_t>(count));
    ::close(ends[0]);
    int status = 0;
    EXPECT_EQ(::waitpid(process, &status, 0), process);
    if (WIFSIGNALED(status))
      return WTERMSIG(status) == SIGALRM ? "hangs"
                                         : "is ended by signal " + std::to_string(WTERMSIG(status));
    return said;
  }

  std::string addThree(const CallPtr &add) {
    if (std::string wrong = set(add, "a", numbers, {1, 3}) + set(add, "b", numbers, {1, 3});
        !wrong.empty())
      return wrong;
    if (std::string wrong = run(add); !wrong.empty())
      return wrong;
    return result<float>(add, "sum") == std::vector<float>{2, 4, 6} ? "right" : "wrong numbers";
  }

  std::vector<float> numbers{1, 2, 3};
};

TEST_F(ForkTest, CallsOfSeveralThreadsAreRefused) {
  ContextPtr own = context(3);
  CallPtr add = call(own, "add");
  EXPECT_EQ(addThree(add), "right");
  EXPECT_EQ(inChild([&] { return addThree(add); }),
            "expects a context that was made after fork(), got one of process " +
                std::to_string(::getpid()) + ", whose 3 threads are not here");
  EXPECT_EQ(addThree(add), "right");
}

TEST_F(ForkTest, FreeingReturns) {
  ContextPtr own = context(3);
  CallPtr add = call(own, "add");
  EXPECT_EQ(addThree(add), "right");
  // Once while the threads look for work, once while they sleep.
  for (int pause : {0, 50}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    EXPECT_EQ(inChild([&]() -> std::string {
                add.reset();
                own.reset();
                module.reset();
                return "freed";
              }),
              "freed");
  }
  EXPECT_EQ(addThree(add), "right");
}

TEST_F(ForkTest, FreeingReturnsWhileAnotherThreadCalls) {
  ContextPtr own = context(3);
  CallPtr wave = call(own, "wave");
  std::vector<float> x(1000, 1);
  EXPECT_EQ(set(wave, "x", x, {1000}), "");
  std::atomic<bool> isEnding{false};
  std::thread caller([&] {
    while (!isEnding)
      EXPECT_EQ(run(wave), "");
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(inChild([&]() -> std::string {
                wave.reset();
                own.reset();
                return "freed";
              }),
              "freed");
  isEnding = true;
  caller.join();
}

TEST_F(ForkTest, AContextOfTheChildWorks) {
  ContextPtr several = context(3), one = context(1);
  CallPtr add = call(one, "add");
  EXPECT_EQ(inChild([&] { return addThree(add); }), "right"); // one thread is the caller's
  EXPECT_EQ(inChild([&]() -> std::string {
              ContextPtr child = context(2);
              return addThree(call(child, "add"));
            }),
            "right");
}

} // namespace
