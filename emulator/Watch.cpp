// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Watches the registers of wgmma: instructions that touch them run through a handler that looks
// whether a product is in flight, and remembers what was read and written since the last
// wgmma.fence.
#include "emulator/Decode.h"
#include "emulator/Warp.h"

namespace fovea::emulator {

namespace {
struct Guard : Details {
  std::vector<uint32_t> reads, writes;
  bool copies = false; ///< a mov
};

/// Registers of a product in flight may be neither written nor, if it writes them, read. What is
/// written needs a wgmma.fence before a product uses it, what is read before one writes it.
/// Compilers bring values into a product's registers by mov behind the fence, and ptxas makes one
/// register of both; so a mov hands on the state of what it copies.
Step guarded(Warp &warp, const Instruction &in, uint32_t mask) {
  const Guard &guard = *static_cast<const Guard *>(in.guard);
  bool dirty = !guard.copies;
  for (uint32_t offset : guard.reads) {
    Warp::Pending &pending = warp.pendingRegisters[offset / 64];
    if (pending.writes)
      warp.fault(__builtin_ctz(mask), "reads a register while a wgmma that writes it is in flight; "
                                      "expects wgmma.wait_group before");
    dirty |= pending.state == Warp::Pending::Dirty;
    if (pending.state == Warp::Pending::Clean && !guard.copies)
      pending.state = Warp::Pending::Read;
  }
  for (uint32_t offset : guard.writes) {
    Warp::Pending &pending = warp.pendingRegisters[offset / 64];
    if (pending.writes || pending.reads)
      warp.fault(__builtin_ctz(mask), "writes a register while a wgmma that ",
                 pending.writes ? "writes" : "reads",
                 " it is in flight; expects wgmma.wait_group before");
    pending.state = dirty ? Warp::Pending::Dirty : Warp::Pending::Moved;
  }
  return in.guarded(warp, in, mask);
}
} // namespace

void Decoder::guardWatched() {
  if (watched.empty())
    return;
  auto isMov = [&](size_t i) { return kernel.statement(kernel.code[i]).opcode == "mov"; };
  // Where movs into a product's registers come from, in a few steps.
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < kernel.code.size(); ++i)
      if (!touches[i].writes.empty() && isMov(i))
        for (uint32_t offset : touches[i].writes)
          if (watched.count(offset))
            for (uint32_t from : touches[i].reads)
              if (from < kernel.registerBytes)
                more |= watched.insert(from).second;
  }
  for (size_t i = 0; i < kernel.code.size(); ++i) {
    if (touches[i].exempt)
      continue;
    Guard guard;
    for (uint32_t offset : touches[i].reads)
      if (watched.count(offset))
        guard.reads.push_back(offset);
    for (uint32_t offset : touches[i].writes)
      if (watched.count(offset))
        guard.writes.push_back(offset);
    if (guard.reads.empty() && guard.writes.empty())
      continue;
    guard.copies = isMov(i);
    Instruction &in = kernel.code[i];
    auto details = std::make_unique<Guard>(std::move(guard));
    in.guard = details.get();
    in.guarded = in.run;
    in.run = guarded;
    kernel.details.push_back(std::move(details));
  }
}

} // namespace fovea::emulator
