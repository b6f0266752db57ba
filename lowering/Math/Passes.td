// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_MATH_PASSES_TD
#define FOVEA_LOWERING_MATH_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandMathPass : Pass<"fovea-expand-math", "::mlir::func::FuncOp"> {
  let summary = "Expand math functions of f32 into polynomials";
  let description = [{
    Ops of the `math` dialect on `vector<Nxf32>`, N a multiple of 4, become straight-line arithmetic without branches and calls;
    so does `tanh` on vectors of f64 with AVX and on aarch64, as on GPUs (below). All else (scalars, f64, other shapes, functions not listed)
    stays and becomes an instruction or a call of the C library later; only what the conversions after this pass do not know,
    `sincos`, `clampf`, `isinf` and `isnormal`, is rewritten for every type.

    With target `avx512`, `exp` and `exp2` of 4, 8 or 16 lanes use VREDUCEPS and VSCALEFPS. A product and a sum are fused where the
    processor can; on `sse` both round, and where that is told apart the bound in parentheses holds there.

    | op | largest error | elsewhere |
    |---|---|---|
    | `exp` | 2e-7 relative on [-87, 88] | below, where a result is no normal number, off by less than 6e-39; exactly 0 and infinity beyond -104 and 88.73 |
    | `exp2` | 1.1e-7 relative on [-126, 128) | the same; exactly 0 from -150, without AVX-512 from -127, and infinity from 128 |
    | `expm1` | 4e-7 relative | -1 below, infinity from 88.73 |
    | `log` | 2e-7 relative, of all positive numbers | -infinity at 0, NaN below |
    | `log1p` | 4e-7 relative | -infinity at -1, NaN below |
    | `tanh` | 3e-7 (4e-7), 1e-6 relative | constant from 9.02 |
    | `erf` | 2e-7 (2.5e-7), 4e-7 relative | constant from 3.92 |
    | `sin`, `cos` | 2e-7 for arguments up to 1e6 | within [-1, 1]; digits are lost from 1e9 on |
    | `rsqrt` | 1.2e-7 relative | as `1 / sqrt` |

    Measured on a Sapphire Rapids, in cycles of the time stamp counter per 16 numbers in L1 (arguments from -20 to 0), with AVX-512:
    `exp2` 2.3, `exp` 4.0, `tanh` 4.3, `erf` 8.3, `log` 9.6, `sin` 10.3; with AVX2 `exp2` 7.3 and `exp` 10. Calls of the C library
    take 68 for `exp` and for `exp2`.

    With a GPU's target (`sm_80`, ...) ops on scalars become the same arithmetic, since there is no library to call: f32 as
    above, but for two that use the instruction ex2.approx.ftz; f16 and bf16 by way of f32; integer powers as loops. What
    PTX has as rounded instructions (square roots, roundings, fused products) stays, and any other op is an error.

    | op on a GPU | largest error | elsewhere |
    |---|---|---|
    | `exp2` | 2.4e-7 relative on [-126, 128) | 0 below -126, infinity from 128 |
    | `exp` | 4e-7 relative on [-87, 88.72] | 0 where the result is no normal number, infinity beyond 88.73 |
    | `exp`, `exp2`, `log`, `log2`, `log10` of f64 | 1e-15 relative | 0, infinity and NaN as in C; subnormal results are rounded twice |
    | `sin`, `cos` of f64 | 4e-16 for arguments up to 1e6 | digits are lost beyond |
    | `tan`, `tanh` of f64 | 2e-15 relative where the cosine is above 0.1; 2e-13 relative | |
    | `powf` of f64 | 5e-13 relative | 0, 1, infinity and NaN as in C |
    | `powf`, `log2`, `log10`, `tan` of f32 | 6.1e-8 relative, by way of f64 | |

    NaN gives NaN everywhere. Sine and cosine of one operand share their reduction and both polynomials after CSE.
    The numbers come from scripts/fit-math and are measured by test/grid/MathTest.cpp.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"",
                        "sse, avx2, avx512, aarch64 or a GPU's chip; empty: the module's fovea.target, or sse">];
  let statistics = [Statistic<"expanded", "ops-expanded", "Ops written as arithmetic">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // FOVEA_LOWERING_MATH_PASSES_TD
