// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interpreter's rounding to narrow floats against LLVM's: all numbers of 16 bits, what lies
// around and between them, and others drawn by their bits.
#include "interpreter/Value.h"
#include "llvm/ADT/APFloat.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace mlir::fovea;

namespace {

class Rounding : public testing::TestWithParam<llvm::APFloat::Semantics> {
protected:
  void expectRounded(double value) const {
    const llvm::fltSemantics &semantics = llvm::APFloat::EnumToSemantics(GetParam());
    llvm::APFloat number(value);
    bool losesInfo;
    number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    double expected = number.convertToDouble();
    double got = interpreter::roundToSemantics(value, semantics);
    EXPECT_TRUE(std::isnan(expected)
                    ? std::isnan(got)
                    : got == expected && std::signbit(got) == std::signbit(expected))
        << llvm::APFloat::SemanticsToEnum(semantics) << ": " << value << " gives " << got
        << ", expected " << expected;
  }
};

TEST_P(Rounding, isThatOfLLVM) {
  for (auto narrow : {llvm::APFloat::S_IEEEhalf, llvm::APFloat::S_BFloat})
    for (unsigned bits = 0; bits <= 0xffff; ++bits) {
      const llvm::fltSemantics &semantics = llvm::APFloat::EnumToSemantics(narrow);
      double value = llvm::APFloat(semantics, llvm::APInt(16, bits)).convertToDouble();
      double next =
          llvm::APFloat(semantics, llvm::APInt(16, (bits + 1) & 0xffff)).convertToDouble();
      double middle = value + (next - value) / 2;
      for (double number :
           {value, middle, std::nextafter(middle, value), std::nextafter(middle, next)})
        expectRounded(number);
    }
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    expectRounded(llvm::bit_cast<double>(random()));
    expectRounded(std::ldexp(1 + static_cast<double>(random() >> 12) * 0x1p-52,
                             static_cast<int>(random() % 280) - 150));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Rounding,
                         testing::Values(llvm::APFloat::S_IEEEhalf, llvm::APFloat::S_BFloat,
                                         llvm::APFloat::S_IEEEsingle, llvm::APFloat::S_IEEEdouble,
                                         llvm::APFloat::S_Float8E4M3FN, llvm::APFloat::S_Float8E5M2,
                                         llvm::APFloat::S_Float8E4M3FNUZ));

} // namespace
