// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of formulas that stand among the weights though no file stores them.
#ifndef FOVEA_WEIGHTS_TABLES_H
#define FOVEA_WEIGHTS_TABLES_H

#include "dialects/Fovea/Tables.h"

#include <vector>

namespace mlir::fovea {

/// The elements of a table, row-major, computed in f64 and rounded once:
///
/// * `hann_dft`, tensor<2BxNxf32> with B = N / 2 + 1, N even: rows of the discrete Fourier
/// transform
///   of N samples under a periodic Hann window, w(n) = (1 - cos(2 pi n / N)) / 2: row k has
///   w(n) cos(2 pi k n / N), row B + k has w(n) sin(2 pi k n / N).
/// * `slaney_mel:RATE:HIGHEST`, tensor<MxBxf32>: M triangles of equal width in mel over the
///   frequencies 0 to RATE / 2, B of them in equal steps, each of area one (Slaney 1998, Auditory
///   Toolbox). Corners are M + 2 places in equal steps of mel between 0 and HIGHEST Hz; mel is
///   3 f / 200 below 1000 Hz and 15 + 27 ln(f / 1000) / ln 6.4 above.
///
/// Failure follows a diagnostic: another name, or sizes that the formula has not.
FailureOr<std::vector<float>> computeTable(StoredAttr table);

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_TABLES_H
