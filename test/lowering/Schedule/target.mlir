// RUN: fovea-opt %s --fovea-schedule=target=avx512 | FileCheck %s --check-prefix=AVX512
// RUN: fovea-opt %s --fovea-schedule=target=amx | FileCheck %s --check-prefix=AMX
// RUN: fovea-opt %s --fovea-schedule=target=avx512bf16 | FileCheck %s --check-prefix=PAIRS
// RUN: fovea-opt %s --fovea-schedule=target=avxvnni | FileCheck %s --check-prefix=AVXVNNI
// RUN: fovea-opt %s --fovea-to-scheduled=target=avx2 | FileCheck %s --check-prefix=AVX2
// RUN: fovea-opt %s --fovea-schedule=target=aarch64-i8mm | FileCheck %s --check-prefix=I8MM
// RUN: fovea-opt %s --fovea-schedule=target=sse | FileCheck %s --check-prefix=SSE
// RUN: fovea-opt %s --fovea-schedule | FileCheck %s --check-prefix=HOST
// RUN: fovea-opt %s --fovea-schedule=target=sse --fovea-schedule | FileCheck %s --check-prefix=SSE
// RUN: fovea-opt %s --fovea-schedule=target=sse --fovea-schedule=target=avx2 | FileCheck %s --check-prefix=AVX2
// RUN: not fovea-opt %s --fovea-schedule=target=neon 2>&1 | FileCheck %s --check-prefix=WRONG

// AVX512: fovea.target = #fovea.target<"avx512", lanes = 16, registers = 32>
// AMX: fovea.target = #fovea.target<"amx", lanes = 16, registers = 32>
// PAIRS: fovea.target = #fovea.target<"avx512bf16", lanes = 16, registers = 32>
// AVXVNNI: fovea.target = #fovea.target<"avxvnni", lanes = 8, registers = 16>
// AVX2: fovea.target = #fovea.target<"avx2", lanes = 8, registers = 16>
// I8MM: fovea.target = #fovea.target<"aarch64-i8mm", lanes = 4, registers = 32>
// SSE: fovea.target = #fovea.target<"sse", lanes = 4, registers = 16>
// HOST: fovea.target = #fovea.target<"{{(amx|avx512bf16|avx512vnni|avx512|avxvnni|avx2|sse)}}"
// WRONG: error: expects a target level of aarch64-i8mm, aarch64-dotprod, aarch64, amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2, sse, sm_80, sm_90a, got 'neon'
module {}
