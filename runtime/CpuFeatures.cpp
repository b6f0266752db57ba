// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CPU features by CPUID and XGETBV (Intel SDM volume 2, CPUID; AMD APM volume 3,
// appendix E). A vector feature counts only if the system saves its registers. On
// aarch64 by what Linux says of the processor (Documentation/arch/arm64/elf_hwcaps.rst).
#include "runtime/CpuFeatures.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace fovea {

#if defined(__x86_64__)

namespace {

enum Register : uint8_t { EAX, EBX, ECX, EDX };

/// Bits of XCR0 that must be set.
constexpr uint64_t anySystem = 0, avxState = 0x6, avx512State = 0xe6, amxState = 0x60000;

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  uint64_t state;
};

constexpr Feature features[] = {
    {"cx8", 1, 0, EDX, 8, anySystem},
    {"cmov", 1, 0, EDX, 15, anySystem},
    {"mmx", 1, 0, EDX, 23, anySystem},
    {"fxsr", 1, 0, EDX, 24, anySystem},
    {"sse", 1, 0, EDX, 25, anySystem},
    {"sse2", 1, 0, EDX, 26, anySystem},
    {"sse3", 1, 0, ECX, 0, anySystem},
    {"pclmul", 1, 0, ECX, 1, anySystem},
    {"ssse3", 1, 0, ECX, 9, anySystem},
    {"fma", 1, 0, ECX, 12, avxState},
    {"cx16", 1, 0, ECX, 13, anySystem},
    {"sse4.1", 1, 0, ECX, 19, anySystem},
    {"sse4.2", 1, 0, ECX, 20, anySystem},
    {"crc32", 1, 0, ECX, 20, anySystem},
    {"movbe", 1, 0, ECX, 22, anySystem},
    {"popcnt", 1, 0, ECX, 23, anySystem},
    {"aes", 1, 0, ECX, 25, anySystem},
    {"xsave", 1, 0, ECX, 26, anySystem},
    {"avx", 1, 0, ECX, 28, avxState},
    {"f16c", 1, 0, ECX, 29, avxState},
    {"rdrnd", 1, 0, ECX, 30, anySystem},
    {"fsgsbase", 7, 0, EBX, 0, anySystem},
    {"bmi", 7, 0, EBX, 3, anySystem},
    {"avx2", 7, 0, EBX, 5, avxState},
    {"bmi2", 7, 0, EBX, 8, anySystem},
    {"avx512f", 7, 0, EBX, 16, avx512State},
    {"avx512dq", 7, 0, EBX, 17, avx512State},
    {"rdseed", 7, 0, EBX, 18, anySystem},
    {"adx", 7, 0, EBX, 19, anySystem},
    {"avx512ifma", 7, 0, EBX, 21, avx512State},
    {"clflushopt", 7, 0, EBX, 23, anySystem},
    {"clwb", 7, 0, EBX, 24, anySystem},
    {"avx512cd", 7, 0, EBX, 28, avx512State},
    {"sha", 7, 0, EBX, 29, anySystem},
    {"avx512bw", 7, 0, EBX, 30, avx512State},
    {"avx512vl", 7, 0, EBX, 31, avx512State},
    {"avx512vbmi", 7, 0, ECX, 1, avx512State},
    {"avx512vbmi2", 7, 0, ECX, 6, avx512State},
    {"gfni", 7, 0, ECX, 8, anySystem},
    {"vaes", 7, 0, ECX, 9, avxState},
    {"vpclmulqdq", 7, 0, ECX, 10, avxState},
    {"avx512vnni", 7, 0, ECX, 11, avx512State},
    {"avx512bitalg", 7, 0, ECX, 12, avx512State},
    {"avx512vpopcntdq", 7, 0, ECX, 14, avx512State},
    {"avx512vp2intersect", 7, 0, EDX, 8, avx512State},
    {"amx-bf16", 7, 0, EDX, 22, amxState},
    {"avx512fp16", 7, 0, EDX, 23, avx512State},
    {"amx-tile", 7, 0, EDX, 24, amxState},
    {"amx-int8", 7, 0, EDX, 25, amxState},
    {"avxvnni", 7, 1, EAX, 4, avxState},
    {"avx512bf16", 7, 1, EAX, 5, avx512State},
    {"amx-fp16", 7, 1, EAX, 21, amxState},
    {"avxifma", 7, 1, EAX, 23, avxState},
    {"avxvnniint8", 7, 1, EDX, 4, avxState},
    {"avxneconvert", 7, 1, EDX, 5, avxState},
    {"avxvnniint16", 7, 1, EDX, 10, avxState},
    {"xsaveopt", 13, 1, EAX, 0, anySystem},
    {"xsavec", 13, 1, EAX, 1, anySystem},
    {"xsaves", 13, 1, EAX, 3, anySystem},
    {"sahf", 0x80000001, 0, ECX, 0, anySystem},
    {"lzcnt", 0x80000001, 0, ECX, 5, anySystem},
    {"sse4a", 0x80000001, 0, ECX, 6, anySystem},
    {"prfchw", 0x80000001, 0, ECX, 8, anySystem},
    {"64bit", 0x80000001, 0, EDX, 29, anySystem},
};

uint64_t savedState() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1))
    return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool has(const Feature &feature, uint64_t state) {
  uint32_t registers[4];
  if (!__get_cpuid_count(feature.leaf, feature.subleaf, &registers[EAX], &registers[EBX],
                         &registers[ECX], &registers[EDX]))
    return false;
  return (registers[feature.reg] >> feature.bit & 1) && (state & feature.state) == feature.state;
}

/// Linux gives a process its tile registers on request only (arch_prctl
/// ARCH_REQ_XCOMP_PERM for XTILEDATA, Linux 5.16).
bool requestTiles() {
  static const bool granted = ::syscall(SYS_arch_prctl, 0x1023, 18) == 0;
  return granted;
}

} // namespace

std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &names) {
  uint64_t state = savedState();
  std::vector<std::string> missing;
  for (const std::string &name : names) {
    bool found = false;
    for (const Feature &feature : features)
      if (name == feature.name)
        found = has(feature, state) && (feature.state != amxState || requestTiles());
    if (!found)
      missing.push_back(name);
  }
  return missing;
}

#elif defined(__aarch64__)

namespace {

/// Bits of AT_HWCAP and AT_HWCAP2, by number: headers of older systems lack names.
struct Feature {
  const char *name;
  uint64_t first, second;
};

constexpr uint64_t bit(int number) { return uint64_t(1) << number; }

constexpr Feature features[] = {
    {"altnzcv", 0, bit(7)},       {"bf16", 0, bit(14)},    {"complxnum", bit(14), 0},
    {"cssc", 0, bit(34)},         {"dotprod", bit(20), 0}, {"flagm", bit(27), 0},
    {"fp16fml", bit(23), 0},      {"fptoint", 0, bit(8)},  {"fullfp16", bit(9) | bit(10), 0},
    {"i8mm", 0, bit(13)},         {"lse", bit(8), 0},      {"mops", 0, bit(43)},
    {"neon", bit(0) | bit(1), 0}, {"rcpc", bit(15), 0},    {"rcpc-immo", bit(26), 0},
    {"rdm", bit(12), 0},          {"sme", 0, bit(23)},     {"sve", bit(22), 0},
    {"sve2", 0, bit(1)},          {"sve2p1", 0, bit(36)},
};

} // namespace

std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &names) {
  uint64_t first = ::getauxval(AT_HWCAP), second = ::getauxval(AT_HWCAP2);
  std::vector<std::string> missing;
  for (const std::string &name : names) {
    bool found = false;
    for (const Feature &feature : features)
      if (name == feature.name)
        found =
            (first & feature.first) == feature.first && (second & feature.second) == feature.second;
    if (!found)
      missing.push_back(name);
  }
  return missing;
}

#else

std::vector<std::string> missingCpuFeatures(const std::vector<std::string> &names) { return names; }

#endif

} // namespace fovea
