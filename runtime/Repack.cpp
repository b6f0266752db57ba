// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Repack.h. What stays together is a unit: the inputs that the stored panels interleave.
#include "runtime/Repack.h"

#include <algorithm>
#include <cstring>

namespace fovea {

/// Units have `size` bytes. Outputs past the matrix and units past its inputs are left.
template <int64_t size>
static void moveUnits(const Repacking &r, const char *in, int64_t number, char *out) {
  int64_t units = r.from.depth(r.inputs) / r.from.interleave;
  int64_t group = r.to.interleave / r.from.interleave;
  int64_t first = number * r.to.width, end = std::min(first + r.to.width, r.outputs);
  for (int64_t unit = 0; unit < units; ++unit)
    for (int64_t row = first; row < end;) {
      // As many as lie in one stored panel.
      int64_t place = row % r.from.width, count = std::min(end - row, r.from.width - place);
      const char *source = in + ((row / r.from.width * units + unit) * r.from.width + place) * size;
      char *target =
          out + ((unit / group * r.to.width + row - first) * group + unit % group) * size;
      for (int64_t i = 0; i < count; ++i)
        std::memcpy(target + i * group * size, source + i * size, size);
      row += count;
    }
}

void repackPanel(const Repacking &r, const void *in, int64_t number, void *out) {
  bool isWhole =
      (number + 1) * r.to.width <= r.outputs && r.from.depth(r.inputs) == r.to.depth(r.inputs);
  if (!isWhole)
    std::memset(out, 0, r.panelBytes());
  const char *source = static_cast<const char *>(in);
  char *target = static_cast<char *>(out);
  switch (static_cast<uint64_t>(r.from.interleave) * r.elementBytes) {
  case 1:
    return moveUnits<1>(r, source, number, target);
  case 2:
    return moveUnits<2>(r, source, number, target);
  case 4:
    return moveUnits<4>(r, source, number, target);
  case 8:
    return moveUnits<8>(r, source, number, target);
  case 16:
    return moveUnits<16>(r, source, number, target);
  case 32:
    return moveUnits<32>(r, source, number, target);
  case 64:
    return moveUnits<64>(r, source, number, target);
  }
}

} // namespace fovea
