// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Tables.h. Refuses tables of more elements than any model of sound has.
#include "weights/Tables.h"

#include "mlir/IR/Diagnostics.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

static constexpr int64_t kMostElements = int64_t(1) << 24;

static std::vector<float> hannDft(int64_t bins, int64_t length) {
  std::vector<float> table(2 * bins * length);
  double step = 2 * M_PI / static_cast<double>(length);
  for (int64_t k = 0; k < bins; ++k)
    for (int64_t n = 0; n < length; ++n) {
      double window = (1 - std::cos(step * static_cast<double>(n))) / 2;
      // The angle within one turn, so that it loses no digits.
      double angle = step * static_cast<double>(k * n % length);
      table[k * length + n] = static_cast<float>(window * std::cos(angle));
      table[(bins + k) * length + n] = static_cast<float>(window * std::sin(angle));
    }
  return table;
}

static double toMel(double hertz) {
  return hertz < 1000 ? 3 * hertz / 200 : 15 + 27 * std::log(hertz / 1000) / std::log(6.4);
}

static double toHertz(double mel) {
  return mel < 15 ? 200 * mel / 3 : 1000 * std::exp(std::log(6.4) / 27 * (mel - 15));
}

static std::vector<float> slaneyMel(int64_t mels, int64_t bins, double rate, double highest) {
  std::vector<double> corners(mels + 2);
  for (int64_t i = 0; i < mels + 2; ++i)
    corners[i] = toHertz(toMel(highest) * static_cast<double>(i) / static_cast<double>(mels + 1));
  std::vector<float> table(mels * bins);
  for (int64_t m = 0; m < mels; ++m)
    for (int64_t k = 0; k < bins; ++k) {
      double f = rate / 2 * static_cast<double>(k) / static_cast<double>(bins - 1);
      double up = (f - corners[m]) / (corners[m + 1] - corners[m]);
      double down = (corners[m + 2] - f) / (corners[m + 2] - corners[m + 1]);
      double height = 2 / (corners[m + 2] - corners[m]);
      table[m * bins + k] = static_cast<float>(height * std::max(0.0, std::min(up, down)));
    }
  return table;
}

FailureOr<std::vector<float>> mlir::fovea::computeTable(StoredAttr table) {
  StringRef name = table.getTensor();
  RankedTensorType type = table.getType();
  Location loc = NameLoc::get(StringAttr::get(table.getContext(), name));
  if (type.getRank() != 2 || !type.getElementType().isF32() || type.getNumElements() < 1 ||
      type.getNumElements() > kMostElements)
    return emitError(loc) << "expects a table to be a matrix of f32 with 1 to " << kMostElements
                          << " elements, got " << type;
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  if (name == "hann_dft") {
    if (columns % 2 != 0 || rows != columns + 2)
      return emitError(loc) << "expects N even columns and N + 2 rows, got " << type;
    return hannDft(rows / 2, columns);
  }
  int64_t rate = 0, highest = 0;
  StringRef rest = name;
  if (rest.consume_front("slaney_mel:") && !rest.consumeInteger(10, rate) &&
      rest.consume_front(":") && !rest.consumeInteger(10, highest) && rest.empty() && rate > 0 &&
      highest > 0 && columns > 1)
    return slaneyMel(rows, columns, static_cast<double>(rate), static_cast<double>(highest));
  return emitError(loc) << "expects the table hann_dft or slaney_mel:RATE:HIGHEST, got '" << name
                        << "' of " << type;
}
