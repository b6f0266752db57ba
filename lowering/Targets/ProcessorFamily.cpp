// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The families, and the features that a processor of each may lack.
#include "lowering/Targets/ProcessorFamily.h"

using namespace mlir::fovea;
using llvm::StringLiteral;

static constexpr StringLiteral kX86Asked[] = {
    "amx-bf16",     "amx-int8",     "amx-tile",    "avx",          "avx2",        "avx512bf16",
    "avx512bitalg", "avx512bw",     "avx512cd",    "avx512dq",     "avx512f",     "avx512fp16",
    "avx512ifma",   "avx512vbmi",   "avx512vbmi2", "avx512vl",     "avx512vnni",  "avx512vpopcntdq",
    "avxifma",      "avxneconvert", "avxvnni",     "avxvnniint16", "avxvnniint8", "bmi",
    "bmi2",         "f16c",         "fma",         "gfni",         "lzcnt",       "movbe",
    "popcnt",       "sse4.1",       "sse4.2",      "sse4a",        "vaes"};

static constexpr StringLiteral kAarch64Asked[] = {
    "altnzcv",   "bf16",     "complxnum", "cssc", "dotprod", "flagm", "fp16fml",
    "fptoint",   "fullfp16", "i8mm",      "lse",  "mops",    "neon",  "rcpc",
    "rcpc-immo", "rdm",      "sme",       "sve",  "sve2",    "sve2p1"};

const ProcessorFamily mlir::fovea::kX86 = {
    "x86-64",     "x86_64-unknown-linux-gnu", "x86-64", "portable",
    "elf_x86_64", "x86_64-linux-gnu-",        kX86Asked};

const ProcessorFamily mlir::fovea::kAarch64 = {
    "aarch64",      "aarch64-unknown-linux-gnu", "generic",    "aarch64-portable",
    "aarch64linux", "aarch64-linux-gnu-",        kAarch64Asked};

llvm::ArrayRef<const ProcessorFamily *> mlir::fovea::getFamilies() {
  static const ProcessorFamily *const families[] = {&kX86, &kAarch64};
  return families;
}

const ProcessorFamily &mlir::fovea::getHostFamily() {
#if defined(__aarch64__)
  return kAarch64;
#else
  return kX86;
#endif
}
