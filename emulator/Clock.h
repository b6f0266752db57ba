// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks: who is known to have done what. The time of a block is one counter, its tick,
// which grows at every release. An agent is a warp or one of the engines that work for it; lanes
// of a warp are told apart as far as elected lanes need it. Where two partial releases of one
// agent meet, the union is taken: orders are then claimed that may not hold, so that a report is
// never false (a race may go unseen).
#ifndef FOVEA_EMULATOR_CLOCK_H
#define FOVEA_EMULATOR_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fovea::emulator {

constexpr uint8_t manyLanes = 0xff;

/// What is known of one agent: all its accesses up to `base`, those of `lanes` up to `tick`.
struct Mark {
  uint32_t base = 0, lanes = 0, tick = 0;

  bool covers(uint8_t lane, uint32_t stamp) const {
    return stamp <= base || (stamp <= tick && lane < 32 && (lanes >> lane & 1));
  }
  void join(const Mark &other) {
    base = std::max(base, other.base);
    if (other.tick > base) {
      lanes = tick > base ? lanes | other.lanes : other.lanes;
      tick = std::max(tick, other.tick);
    } else if (tick <= base) {
      lanes = 0;
    }
  }
};

class Clock {
public:
  const Mark &operator[](uint32_t agent) const {
    static const Mark nothing;
    return agent < marks.size() ? marks[agent] : nothing;
  }
  Mark &at(uint32_t agent) {
    if (agent >= marks.size())
      marks.resize(agent + 1);
    return marks[agent];
  }
  void join(const Clock &other) {
    if (other.marks.size() > marks.size())
      marks.resize(other.marks.size());
    for (size_t i = 0; i < other.marks.size(); ++i)
      marks[i].join(other.marks[i]);
  }
  void clear() { marks.clear(); }
  bool empty() const { return marks.empty(); }

private:
  std::vector<Mark> marks;
};

/// What a release hands over and an acquire takes: what happened before, and of that what a proxy
/// fence has made visible to the asynchronous proxy.
struct Knowledge {
  Clock happened, fenced;
  void join(const Knowledge &other) {
    happened.join(other.happened);
    fenced.join(other.fenced);
  }
  void clear() {
    happened.clear();
    fenced.clear();
  }
};

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_CLOCK_H
