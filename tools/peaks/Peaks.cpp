// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Peaks.h. The loops are written for each level, so that the compiler's own
// target does not matter.
#include "tools/peaks/Peaks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <new>
#include <sched.h>
#include <sys/mman.h>
#include <thread>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fovea {

namespace {

/// More than the caches of any machine for which a share of bandwidth says something.
constexpr size_t memoryBytes = size_t(256) << 20;
constexpr int streams = 8;
constexpr size_t line = 64;
/// Lines of a stream that are asked for before they are needed.
constexpr size_t ahead = 16;

//===-- Multiply-adds in registers -------------------------------------------------------===//

// Enough independent sums to hide four cycles of latency at two instructions a
// cycle, few enough for 16 registers at the levels that have 16.
constexpr int64_t rounds = 1000000;

#define FOVEA_SUMS12(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)

#if defined(__x86_64__)

constexpr int sums = 12;

/// Returns something that depends on all sums.
__attribute__((target("avx512f"))) float spin512() {
  __m512 v[12], x = _mm512_set1_ps(0.5f), y = _mm512_set1_ps(0.25f);
  for (__m512 &each : v)
    each = x;
  for (int64_t i = 0; i < rounds; ++i) {
#define FOVEA_STEP(j) v[j] = _mm512_fmadd_ps(v[j], x, y);
    FOVEA_SUMS12(FOVEA_STEP)
#undef FOVEA_STEP
#define FOVEA_KEEP(j) __asm__ volatile("" : "+v"(v[j]));
    FOVEA_SUMS12(FOVEA_KEEP)
#undef FOVEA_KEEP
  }
  for (int j = 1; j < 12; ++j)
    v[0] = _mm512_add_ps(v[0], v[j]);
  return _mm512_cvtss_f32(v[0]);
}

__attribute__((target("avx2,fma"))) float spin256() {
  __m256 v[12], x = _mm256_set1_ps(0.5f), y = _mm256_set1_ps(0.25f);
  for (__m256 &each : v)
    each = x;
  for (int64_t i = 0; i < rounds; ++i) {
#define FOVEA_STEP(j) v[j] = _mm256_fmadd_ps(v[j], x, y);
    FOVEA_SUMS12(FOVEA_STEP)
#undef FOVEA_STEP
#define FOVEA_KEEP(j) __asm__ volatile("" : "+x"(v[j]));
    FOVEA_SUMS12(FOVEA_KEEP)
#undef FOVEA_KEEP
  }
  for (int j = 1; j < 12; ++j)
    v[0] = _mm256_add_ps(v[0], v[j]);
  return _mm256_cvtss_f32(v[0]);
}

float spin128() {
  __m128 v[12], x = _mm_set1_ps(0.5f), y = _mm_set1_ps(0.25f);
  for (__m128 &each : v)
    each = x;
  for (int64_t i = 0; i < rounds; ++i) {
#define FOVEA_STEP(j) v[j] = _mm_add_ps(_mm_mul_ps(v[j], x), y);
    FOVEA_SUMS12(FOVEA_STEP)
#undef FOVEA_STEP
#define FOVEA_KEEP(j) __asm__ volatile("" : "+x"(v[j]));
    FOVEA_SUMS12(FOVEA_KEEP)
#undef FOVEA_KEEP
  }
  for (int j = 1; j < 12; ++j)
    v[0] = _mm_add_ps(v[0], v[j]);
  return _mm_cvtss_f32(v[0]);
}

#else

/// Of 32 registers, for four instructions a cycle.
constexpr int sums = 24;
typedef float Vector __attribute__((vector_size(16)));

float spin() {
  Vector v[sums], x = Vector{} + 0.5f, y = Vector{} + 0.25f;
  for (Vector &each : v)
    each = x;
  for (int64_t i = 0; i < rounds; ++i) {
#define FOVEA_STEP(j)                                                                              \
  v[j] = v[j] * x + y;                                                                             \
  v[j + 12] = v[j + 12] * x + y;
    FOVEA_SUMS12(FOVEA_STEP)
#undef FOVEA_STEP
#define FOVEA_KEEP(j) __asm__ volatile("" : "+w"(v[j]), "+w"(v[j + 12]));
    FOVEA_SUMS12(FOVEA_KEEP)
#undef FOVEA_KEEP
  }
  for (int j = 1; j < sums; ++j)
    v[0] += v[j];
  return v[0][0];
}

#endif

//===-- Reading --------------------------------------------------------------------------===//

/// What one of the streams reads. Streams that begin a multiple of a page apart would share a few
/// lines of the nearest cache, so each begins nine lines further into its page than the one before.
size_t streamBytes(size_t bytes) {
  constexpr size_t page = 4096;
  return bytes / streams / page * page - page + 9 * line;
}

#if defined(__x86_64__)

/// Eight streams, each a line at a time; the result depends on every byte.
__attribute__((target("avx512f"))) float read512(const char *data, size_t bytes) {
  size_t each = streamBytes(bytes);
  __m512i v[streams];
  for (__m512i &sum : v)
    sum = _mm512_setzero_si512();
  for (size_t i = 0; i < each; i += line)
    for (int j = 0; j < streams; ++j) {
      const char *at = data + static_cast<size_t>(j) * each + i;
      _mm_prefetch(at + ahead * line, _MM_HINT_T0);
      v[j] = _mm512_or_si512(v[j], _mm512_load_si512(at));
    }
  for (int j = 1; j < streams; ++j)
    v[0] = _mm512_or_si512(v[0], v[j]);
  return _mm512_cvtss_f32(_mm512_castsi512_ps(v[0]));
}

float read128(const char *data, size_t bytes) {
  size_t each = streamBytes(bytes);
  __m128i v[streams];
  for (__m128i &sum : v)
    sum = _mm_setzero_si128();
  for (size_t i = 0; i < each; i += line)
    for (int j = 0; j < streams; ++j) {
      const char *at = data + static_cast<size_t>(j) * each + i;
      _mm_prefetch(at + ahead * line, _MM_HINT_T0);
      const auto *lane = reinterpret_cast<const __m128i *>(at);
      for (int k = 0; k < 4; ++k)
        v[j] = _mm_or_si128(v[j], _mm_load_si128(lane + k));
    }
  for (int j = 1; j < streams; ++j)
    v[0] = _mm_or_si128(v[0], v[j]);
  return _mm_cvtss_f32(_mm_castsi128_ps(v[0]));
}

#else

/// Eight streams, each a line at a time; the result depends on every byte.
float read(const char *data, size_t bytes) {
  typedef uint32_t Words __attribute__((vector_size(16)));
  size_t each = streamBytes(bytes);
  Words v[streams] = {};
  for (size_t i = 0; i < each; i += line)
    for (int j = 0; j < streams; ++j) {
      const char *at = data + static_cast<size_t>(j) * each + i;
      __builtin_prefetch(at + ahead * line);
      const auto *lane = reinterpret_cast<const Words *>(at);
      for (int k = 0; k < 4; ++k)
        v[j] |= lane[k];
    }
  for (int j = 1; j < streams; ++j)
    v[0] |= v[j];
  return static_cast<float>(v[0][0]);
}

#endif

//===-- Threads --------------------------------------------------------------------------===//

volatile float sink;

/// Keeps the calling thread on one of the processors that it may use, while it lives: threads
/// that were just started share one for a whole sample otherwise.
class Pinned {
public:
  explicit Pinned(int index) {
    known = ::sched_getaffinity(0, sizeof(before), &before) == 0;
    int count = known ? CPU_COUNT(&before) : 0;
    for (int cpu = 0, seen = 0; count && cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &before) && seen++ == index % count) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ::sched_setaffinity(0, sizeof(one), &one);
      }
  }
  ~Pinned() {
    if (known)
      ::sched_setaffinity(0, sizeof(before), &before);
  }
  Pinned(const Pinned &) = delete;
  Pinned &operator=(const Pinned &) = delete;

private:
  cpu_set_t before;
  bool known;
};

/// Seconds from the moment when all threads are there to the last one's end.
template <typename Body> double timeTogether(int threads, Body body) {
  using Clock = std::chrono::steady_clock;
  std::atomic<int> there{0};
  std::vector<std::pair<Clock::time_point, Clock::time_point>> times(threads);
  auto work = [&](int index) {
    Pinned pinned(index);
    ++there;
    while (there.load(std::memory_order_acquire) < threads)
      std::this_thread::yield();
    times[index].first = Clock::now();
    float result = body(index);
    times[index].second = Clock::now();
    sink = result;
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back(work, i);
  work(0);
  for (std::thread &thread : others)
    thread.join();
  auto [first, last] = times[0];
  for (auto [begin, end] : times) {
    first = std::min(first, begin);
    last = std::max(last, end);
  }
  return std::chrono::duration<double>(last - first).count();
}

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

//===-- Levels ---------------------------------------------------------------------------===//

#if defined(__x86_64__)

enum class Level { Sse, Avx2, Avx512 };

Level findLevel() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f"))
    return Level::Avx512;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Level::Avx2 : Level::Sse;
}

int64_t countLanes() {
  Level level = findLevel();
  return level == Level::Avx512 ? 16 : level == Level::Avx2 ? 8 : 4;
}

float spin() {
  Level level = findLevel();
  return level == Level::Avx512 ? spin512() : level == Level::Avx2 ? spin256() : spin128();
}

float read(const char *data, size_t bytes) {
  return findLevel() == Level::Avx512 ? read512(data, bytes) : read128(data, bytes);
}

#else

int64_t countLanes() { return 4; }

#endif

} // namespace

/// Pages of zeros that differ, so that each has memory of its own.
struct Peaks::Memory {
  char *data;
  Memory() {
    void *found = ::mmap(nullptr, memoryBytes + ahead * line, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (found == MAP_FAILED)
      throw std::bad_alloc();
    data = static_cast<char *>(found);
    ::madvise(data, memoryBytes, MADV_HUGEPAGE);
    std::memset(data, 1, memoryBytes);
  }
  ~Memory() { ::munmap(data, memoryBytes + ahead * line); }
};

Peaks::Peaks(int threads) : threads(std::max(threads, 1)), memory(std::make_unique<Memory>()) {}
Peaks::~Peaks() = default;

Peaks::Sample Peaks::sample() {
  double seconds = timeTogether(threads, [](int) { return spin(); });
  double lanes = static_cast<double>(countLanes());
  flopSamples.push_back(2.0 * sums * lanes * rounds * threads / seconds);
  size_t part = memoryBytes / static_cast<size_t>(threads) / (streams * line) * (streams * line);
  seconds = timeTogether(threads, [&](int index) {
    return read(memory->data + part * static_cast<size_t>(index), part);
  });
  byteSamples.push_back(static_cast<double>(part) * threads / seconds);
  return {flopSamples.back(), byteSamples.back()};
}

double Peaks::flops() const { return median(flopSamples); }
double Peaks::bandwidth() const { return median(byteSamples); }

const char *Peaks::level() {
#if defined(__x86_64__)
  Level level = findLevel();
  return level == Level::Avx512 ? "avx512" : level == Level::Avx2 ? "avx2" : "sse";
#else
  return "neon";
#endif
}

std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string text; std::getline(file, text);)
    if (text.rfind("model name", 0) == 0)
      if (size_t colon = text.find(": "); colon != std::string::npos)
        return text.substr(colon + 2);
  return "unknown processor";
}

} // namespace fovea
