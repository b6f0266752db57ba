// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A worker is a forked process that writes two records for each program to a pipe: that it begins,
// and what came out. What is missing when the pipe ends crashed.
#include "test/smith/Workers.h"
#include "test/smith/Check.h"
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace fovea::smith {

/// Seconds of processor time for one program, however busy the machine is.
static constexpr unsigned kPatience = 60;
/// Seconds by the clock, for one that waits for something.
static constexpr unsigned kMostPatience = 900;
/// A context keeps every type and attribute it ever saw, so workers do not live for ever.
static constexpr uint64_t kProgramsPerWorker = 250;

namespace {
struct Record {
  uint64_t index;
  uint32_t isVerdict, length; ///< of the text that follows
};

struct Worker {
  pid_t process = -1;
  int pipe = -1, errors = -1;
  uint64_t current = 0;
  bool isBusy = false; ///< with `current`
  std::string buffer;
};

/// The next program that nobody has begun, for all processes.
class Queue {
public:
  Queue(uint64_t first, uint64_t end) : end(end) {
    void *shared =
        mmap(nullptr, sizeof(*next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
      std::perror("fovea-smith: cannot share memory with workers");
      std::exit(1);
    }
    next = new (shared) std::atomic<uint64_t>(first);
  }
  ~Queue() { munmap(next, sizeof(*next)); }
  Queue(const Queue &) = delete;
  Queue &operator=(const Queue &) = delete;
  bool isEmpty() const { return *next >= end; }
  bool take(uint64_t &number) { return (number = (*next)++) < end; }

private:
  std::atomic<uint64_t> *next;
  const uint64_t end;
};
} // namespace

static void writeAll(int file, const void *data, size_t size) {
  const char *at = static_cast<const char *>(data);
  while (size) {
    ssize_t done = write(file, at, size);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      _exit(1);
    at += done;
    size -= static_cast<size_t>(done);
  }
}

static void send(int pipe, uint64_t index, bool isVerdict, const std::string &text) {
  Record record{index, isVerdict, static_cast<uint32_t>(text.size())};
  writeAll(pipe, &record, sizeof record);
  writeAll(pipe, text.data(), text.size());
}

/// Ends this process by a signal when either time is over; zero is for ever.
static void setPatience(unsigned ofProcessor, unsigned byClock) {
  itimerval timer{};
  timer.it_value.tv_sec = ofProcessor;
  setitimer(ITIMER_PROF, &timer, nullptr);
  alarm(byClock);
}

/// In the child.
[[noreturn]] static void work(Queue &queue, int pipe, const Task &task) {
  Checker checker;
  uint64_t i = 0;
  for (uint64_t done = 0; done < kProgramsPerWorker && queue.take(i); ++done) {
    send(pipe, i, false, "");
    setPatience(kPatience, kMostPatience);
    std::string complaint = task(checker, i);
    setPatience(0, 0);
    send(pipe, i, true, complaint);
  }
  _exit(0);
}

static void start(Worker &worker, Queue &queue, const Task &task) {
  int ends[2];
  worker.errors = memfd_create("errors", MFD_CLOEXEC);
  if (worker.errors < 0 || pipe(ends) < 0) {
    std::perror("fovea-smith: cannot start a worker");
    std::exit(1);
  }
  std::fflush(nullptr);
  worker.process = fork();
  if (worker.process < 0) {
    std::perror("fovea-smith: cannot start a worker");
    std::exit(1);
  }
  if (worker.process == 0) {
    dup2(worker.errors, STDERR_FILENO);
    close(ends[0]);
    work(queue, ends[1], task);
  }
  close(ends[1]);
  worker.pipe = ends[0];
  worker.buffer.clear();
  worker.isBusy = false;
}

/// The first line that a worker that crashed left on its standard error.
static std::string lastWords(int errors) {
  char text[4096];
  ssize_t size = pread(errors, text, sizeof text, 0);
  std::string words(text, size > 0 ? static_cast<size_t>(size) : 0);
  return words.substr(0, words.find('\n'));
}

/// Takes whole records out of the buffer.
static void take(Worker &worker, const Verdicts &verdicts) {
  size_t at = 0;
  Record record;
  while (worker.buffer.size() - at >= sizeof record) {
    std::memcpy(&record, worker.buffer.data() + at, sizeof record);
    if (worker.buffer.size() - at < sizeof record + record.length)
      break;
    worker.isBusy = !record.isVerdict;
    worker.current = record.index;
    if (record.isVerdict)
      verdicts(record.index, worker.buffer.substr(at + sizeof record, record.length));
    at += sizeof record + record.length;
  }
  worker.buffer.erase(0, at);
}

/// The worker has ended. Another goes on with what is left.
static void bury(Worker &worker, Queue &queue, const Task &task, const Verdicts &verdicts) {
  int status = 0;
  while (waitpid(worker.process, &status, 0) < 0 && errno == EINTR)
    ;
  close(worker.pipe);
  worker.pipe = -1;
  if (worker.isBusy) {
    std::string words = lastWords(worker.errors);
    std::string complaint;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM))
      complaint = "time: takes more than " +
                  std::to_string(WTERMSIG(status) == SIGPROF ? kPatience : kMostPatience) + " s";
    else if (WIFSIGNALED(status))
      complaint = "crash: signal " + std::to_string(WTERMSIG(status)) + " (" +
                  strsignal(WTERMSIG(status)) + ")" + (words.empty() ? "" : ": " + words);
    else
      complaint = "crash: exit code " + std::to_string(WEXITSTATUS(status)) + ": " + words;
    verdicts(worker.current, complaint);
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    // It may have taken a program without telling.
    std::fprintf(stderr, "fovea-smith: a worker ended between two programs\n");
    std::exit(1);
  }
  close(worker.errors);
  if (!queue.isEmpty())
    start(worker, queue, task);
}

void checkAll(uint64_t first, uint64_t count, unsigned jobs, const Task &task,
              const Verdicts &verdicts) {
  Queue queue(first, first + count);
  std::vector<Worker> workers(std::min<uint64_t>(jobs, count));
  for (Worker &worker : workers)
    start(worker, queue, task);
  for (;;) {
    std::vector<pollfd> polls;
    std::vector<Worker *> owners;
    for (Worker &worker : workers)
      if (worker.pipe >= 0) {
        polls.push_back({worker.pipe, POLLIN, 0});
        owners.push_back(&worker);
      }
    if (polls.empty())
      return;
    if (poll(polls.data(), polls.size(), -1) < 0 && errno != EINTR)
      return;
    for (size_t i = 0; i < polls.size(); ++i) {
      if (!polls[i].revents)
        continue;
      char text[4096];
      ssize_t size = ::read(polls[i].fd, text, sizeof text);
      if (size > 0) {
        owners[i]->buffer.append(text, static_cast<size_t>(size));
        take(*owners[i], verdicts);
      } else if (size == 0) {
        bury(*owners[i], queue, task, verdicts);
      }
    }
  }
}

std::string checkOne(const std::function<std::string(Checker &checker)> &task) {
  std::string result;
  checkAll(
      0, 1, 1, [&](Checker &checker, uint64_t) { return task(checker); },
      [&](uint64_t, const std::string &verdict) { result = verdict; });
  return result;
}

} // namespace fovea::smith
