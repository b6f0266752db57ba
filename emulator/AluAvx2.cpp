// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes for processors with AVX2 and FMA. Only the functions of this file are built for them: what
// it shares with others through headers is not.
#if defined(__x86_64__) && defined(__clang__)
#include "emulator/Alu.h"
#include "emulator/Float.h"
#include "emulator/Warp.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#pragma clang attribute push(__attribute__((target("avx2,fma,bmi2,lzcnt,popcnt"))),                \
                             apply_to = function)
#define VARIANT avx2
#include "emulator/AluLanes.inc"
#pragma clang attribute pop
#endif
