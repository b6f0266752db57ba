// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coefficients of ExpandMath.cpp, lowest power first; found and written by scripts/fit-math.
#ifndef FOVEA_LOWERING_MATH_MATHCOEFFICIENTS_H
#define FOVEA_LOWERING_MATH_MATHCOEFFICIENTS_H

namespace mlir::fovea {

/// 2^f on [-1/2, 1/2], powers 0 to 6. Relative error of exact evaluation 3.0e-09.
constexpr float kExp2Centre[] = {1.f,
                                 0.693147182f,
                                 0.240226477f,
                                 0.0555035993f,
                                 0.00961850584f,
                                 0.00133908063f,
                                 0.000153264627f};

/// 2^f on [0, 1], powers 0 to 6. Relative error of exact evaluation 2.1e-09.
constexpr float kExp2Floor[] = {1.f,
                                0.693147063f,
                                0.240229085f,
                                0.0554861836f,
                                0.00967377517f,
                                0.00124822895f,
                                0.000215659718f};

/// e^r on [-ln(2)/2, ln(2)/2], powers 0 to 6. Relative error of exact evaluation 3.1e-09.
constexpr float kExp[] = {
    1.f, 1.f, 0.49999994f, 0.166665211f, 0.0416682623f, 0.00836867467f, 0.00138210552f};

/// (sin(r) - r) / r^3 on [-pi/4, pi/4], powers of r^2. Relative error of exact evaluation 4.0e-09.
constexpr float kSin[] = {-0.166666552f, 0.00833218917f, -0.000195182831f};

/// (cos(r) - 1 + r^2/2) / r^4 on [-pi/4, pi/4], powers of r^2. Relative error of exact
/// evaluation 1.2e-10.
constexpr float kCos[] = {0.0416666456f, -0.00138873095f, 2.44323273e-05f};

/// (log(1 + f) - f + f^2/2) / f^3 on [sqrt(1/2) - 1, sqrt(2) - 1]. Relative error of exact
/// evaluation 5.8e-09.
constexpr float kLog[] = {0.333333313f, -0.250008196f, 0.200012416f, -0.166234091f,
                          0.1420158f,   -0.131596103f, 0.127622172f, -0.0763643906f};

/// Where tanh is one in f32.
constexpr float kTanhEnd = 9.02f;

/// tanh(x) = x P(x^2) / Q(x^2) on [-9.02, 9.02]: P. Relative error of exact evaluation 2.1e-08.
constexpr float kTanhTop[] = {1.f, 0.133797199f, 0.00349403638f, 2.05835076e-05f, 1.33191058e-08f};

/// Q of the same.
constexpr float kTanhBottom[] = {1.f, 0.467130333f, 0.0258710794f, 0.000328309572f,
                                 7.76203422e-07f};

/// Where erf is one in f32.
constexpr float kErfEnd = 3.92f;

/// erf(x) / x on [-3.92, 3.92], powers of u = 2 x^2 / 3.92^2 - 1. Relative error of exact
/// evaluation 2.5e-08.
constexpr float kErf[] = {0.360736811f,   -0.180108628f,   0.134084555f,   -0.109179226f,
                          0.0905969711f,  -0.0740198127f,  0.0583960017f,  -0.0434368875f,
                          0.029697549f,   -0.0199949619f,  0.0142099809f,  -0.00766062015f,
                          0.00191994767f, -0.00139447391f, 0.00209876605f, -0.000843945988f};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_MATH_MATHCOEFFICIENTS_H
