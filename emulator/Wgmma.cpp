// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma: products of four warps, asynchronous (PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions"). Each warp computes its 16 rows. From issue to the wait for
// its group a product may read shared memory and its A registers and write its accumulators, all of
// which nobody else may touch; wgmma.fence must stand between other writes of these registers and
// the product. Dense forms on f16, bf16, tf32, e4m3, e5m2, s8, u8.
#include "emulator/Async.h"
#include "emulator/Float.h"
#include "emulator/Matrix.h"
#include "emulator/TensorMap.h"

namespace fovea::emulator {

namespace {
struct Product : Details {
  unsigned n = 8, k = 16;
  Type d, a, b;
  bool fromRegisters = false, saturate = false;
  bool negateA = false, negateB = false, transposeA = false, transposeB = false;
  std::vector<uint32_t> dOffsets, aOffsets;
  uint32_t aDescriptor = 0, bDescriptor = 0; // offsets of 64-bit lanes
  uint32_t scale = 0;                        // a predicate
  bool scaleNegated = false;
};

/// An operand in shared memory. Rows are M or N; a chunk is 16 bytes.
struct Descriptor {
  uint64_t start, leading, stride;
  uint32_t span; // of the swizzle, 0 for none

  /// (PTX ISA 9.0, "Matrix Descriptor Format".)
  Descriptor(uint64_t bits, Warp &warp)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4),
        stride((bits >> 32 & 0x3fff) << 4) {
    constexpr uint32_t spans[] = {0, 128, 64, 32};
    span = spans[bits >> 62];
    if (bits >> 49 & 7)
      warp.fault(0, "expects a descriptor with base offset 0, got ", bits >> 49 & 7);
    uint64_t pattern = span * 8; // the swizzle repeats after so many bytes
    if (span && (start & (pattern - 1) & ~uint64_t{127}))
      warp.fault(0, "expects an operand with a swizzle of ", span,
                 " bytes in the first row of its pattern, which begins at multiples of ", pattern,
                 ", got address ", hex(start));
  }
  /// Address of chunk `chunk` (0 or 1, along K) of row `row`, K contiguous ("Strides",
  /// "Canonical Layouts": K-major).
  uint64_t alongK(uint32_t row, uint32_t chunk) const {
    uint64_t address = start + row / 8 * stride;
    address += span ? row % 8 * span + chunk * 16 : row % 8 * 16 + chunk * leading;
    return swizzled(address, span);
  }
  /// Address of the chunk of rows 8 `group` to 8 `group` + 7 at `k`, rows contiguous (MN-major).
  uint64_t alongRows(uint32_t group, uint32_t k) const {
    uint64_t address = start;
    if (span) {
      uint32_t chunks = span / 16;
      address += group / chunks * leading + group % chunks * 16 + k / 8 * stride + k % 8 * span;
    } else {
      address += group * stride + k / 8 * leading + k % 8 * 16;
    }
    return swizzled(address, span);
  }
};

/// Calls `body(offset into shared memory, chunk number)` for each chunk of `rows` rows from
/// `first`, for `k` elements; chunks are numbered as `alongK` or `alongRows` count them.
template <typename Body>
void eachChunk(Warp &warp, const Descriptor &d, bool transposed, uint32_t first, uint32_t rows,
               uint32_t k, Body body) {
  uint64_t size = warp.block.shared.size();
  auto visit = [&](uint64_t address, uint32_t a, uint32_t b) {
    uint64_t offset = address - sharedStart;
    if (address < sharedStart || offset + 16 > size)
      warp.fault(0, "reads 16 bytes of an operand at shared address ", hex(address),
                 ": expects them inside the block's ", size, " bytes");
    body(offset, a, b);
  };
  if (!transposed) {
    for (uint32_t row = 0; row < rows; ++row)
      for (uint32_t chunk = 0; chunk < 2; ++chunk)
        visit(d.alongK(first + row, chunk), row, chunk);
  } else {
    for (uint32_t group = 0; group < rows / 8; ++group)
      for (uint32_t i = 0; i < k; ++i)
        visit(d.alongRows(first / 8 + group, i), group, i);
  }
}

void widenAny(Type type, const uint8_t *from, float *to, unsigned count) {
  widen(type, from, to, count);
}
void widenAny(Type type, const uint8_t *from, int32_t *to, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    to[i] = type == Type::S8 ? static_cast<int8_t>(from[i]) : from[i];
}

template <typename T>
void loadOperand(Warp &warp, const Descriptor &d, bool transposed, uint32_t first, uint32_t rows,
                 uint32_t k, Type type, T *to) {
  const uint8_t *data = warp.block.shared.data();
  unsigned each = 128 / elementBits(type);
  eachChunk(warp, d, transposed, first, rows, k, [&](uint64_t offset, uint32_t a, uint32_t b) {
    T values[16];
    widenAny(type, data + offset, values, each);
    if (!transposed)
      std::memcpy(to + a * k + b * each, values, each * sizeof(T));
    else
      for (unsigned i = 0; i < 8; ++i)
        to[(8 * a + i) * k + b] = values[i];
  });
}

void compute(Warp &warp, const Product &p, uint64_t aBits, uint64_t bBits, bool scaled,
             std::vector<float> a) {
  uint32_t first = warp.index % 4 * 16;
  Descriptor bAt(bBits, warp);
  std::vector<float> b(p.n * p.k);
  if (!p.fromRegisters) {
    a.resize(16 * p.k);
    loadOperand(warp, Descriptor(aBits, warp), p.transposeA, first, 16, p.k, p.a, a.data());
  }
  loadOperand(warp, bAt, p.transposeB, 0, p.n, p.k, p.b, b.data());
  if (p.negateA != p.negateB)
    for (float &x : a)
      x = -x;
  std::vector<float> acc(16 * p.n, 0.0f);
  if (scaled)
    readAccumulators(warp, p.dOffsets, p.d, p.n, acc.data());
  static const MultiplyF32 multiply = findMultiply();
  multiply(acc.data(), a.data(), b.data(), 16, p.n, p.k);
  writeAccumulators(warp, p.dOffsets, p.d, p.n, acc.data());
}

void computeIntegers(Warp &warp, const Product &p, uint64_t aBits, uint64_t bBits, bool scaled,
                     std::vector<int32_t> a) {
  std::vector<int32_t> b(p.n * p.k);
  if (!p.fromRegisters) {
    a.resize(16 * p.k);
    loadOperand(warp, Descriptor(aBits, warp), false, warp.index % 4 * 16, 16, p.k, p.a, a.data());
  }
  loadOperand(warp, Descriptor(bBits, warp), false, 0, p.n, p.k, p.b, b.data());
  for (unsigned i = 0; i < p.dOffsets.size(); ++i) {
    uint32_t *d = warp.lanes<uint32_t>(p.dOffsets[i]);
    for (unsigned lane = 0; lane < 32; ++lane) {
      const int32_t *row = a.data() + (lane / 4 + 8 * (i % 4 / 2)) * p.k;
      const int32_t *column = b.data() + (8 * (i / 4) + 2 * (lane % 4) + i % 2) * p.k;
      int64_t sum = scaled ? static_cast<int32_t>(d[lane]) : 0;
      for (unsigned j = 0; j < p.k; ++j)
        sum += int64_t{row[j]} * column[j];
      if (p.saturate)
        sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      d[lane] = static_cast<uint32_t>(sum);
    }
  }
}

uint64_t uniform(Warp &warp, const uint64_t *values, const char *what) {
  for (uint32_t lane = 1; lane < 32; ++lane)
    if (values[lane] != values[0])
      warp.fault(lane, "expects one ", what, " for all threads, got ", hex(values[0]), " and ",
                 hex(values[lane]));
  return values[0];
}

bool unfenced(const Warp &warp, const Warp::Pending &pending) {
  return pending.state == Warp::Pending::Dirty ||
         (pending.state == Warp::Pending::Moved && !warp.fencedSinceWait);
}

/// What a warp issues of a product, beside its registers.
struct Issue {
  uint64_t aBits, bBits; // descriptors; A's is zero if it lies in registers
  bool scaled;
};

Issue readIssue(Warp &warp, const Product &p) {
  Issue issue;
  issue.aBits =
      p.fromRegisters ? 0 : uniform(warp, warp.lanes<uint64_t>(p.aDescriptor), "descriptor of A");
  issue.bBits = uniform(warp, warp.lanes<uint64_t>(p.bDescriptor), "descriptor of B");
  uint32_t scaleMask = warp.predicate(p.scale) ^ (p.scaleNegated ? ~0u : 0u);
  if (scaleMask && scaleMask != ~0u)
    warp.fault(0, "expects one scale-d for all threads");
  issue.scaled = scaleMask != 0;
  return issue;
}

/// The four warps issue the same products in the same order.
void checkOrder(Warp &warp, const Issue &issue) {
  Block::ProductLog &log = warp.block.productLogs[warp.index / 4];
  uint64_t key = (uint64_t{warp.pc} * 0x9e3779b97f4a7c15 ^ issue.aBits) * 0xbf58476d1ce4e5b9 ^
                 issue.bBits ^ (issue.scaled ? 1 : 0);
  if (warp.productCount == log.keys.size())
    log.keys.push_back(key);
  else if (log.keys[warp.productCount] != key)
    warp.fault(0, "expects the four warps of a warpgroup to issue one product with the same "
                  "operands, got another than an earlier warp");
  ++warp.productCount;
}

void checkRegisters(Warp &warp, const Product &p) {
  for (uint32_t offset : p.dOffsets) {
    Warp::Pending &pending = warp.pendingRegisters[offset / 64];
    if (unfenced(warp, pending))
      warp.fault(0, "accumulates into registers that other instructions wrote; expects "
                    "wgmma.fence between them");
    if (pending.state == Warp::Pending::Read)
      warp.fault(0, "accumulates into registers that other instructions read; expects "
                    "wgmma.fence between them");
    if (pending.reads)
      warp.fault(0, "accumulates into a register while a wgmma that reads it is in flight");
  }
  for (uint32_t offset : p.aOffsets) {
    Warp::Pending &pending = warp.pendingRegisters[offset / 64];
    if (unfenced(warp, pending))
      warp.fault(0, "reads registers that other instructions wrote; expects wgmma.fence between "
                    "them");
    if (pending.writes)
      warp.fault(0, "reads a register while a wgmma that writes it is in flight");
  }
}

void checkShared(Warp &warp, const Product &p, const Issue &issue) {
  Block &block = warp.block;
  Access access = block.access(warp, manyLanes);
  access.agent = agentOf(Engine::Wgmma, warp.index);
  access.asynchronous = true;
  auto check = [&](uint64_t offset, uint32_t, uint32_t) {
    if (Conflict conflict = block.shared.read(offset, 16, access))
      block.report(warp, 0, conflict, "multiplies", 16, access);
  };
  if (!p.fromRegisters)
    eachChunk(warp, Descriptor(issue.aBits, warp), p.transposeA, warp.index % 4 * 16, 16, p.k,
              check);
  eachChunk(warp, Descriptor(issue.bBits, warp), p.transposeB, 0, p.n, p.k, check);
}

/// Notes in the open group which registers the product holds: writers first, then readers, with
/// their number between.
void holdRegisters(Warp &warp, const Product &p) {
  for (uint32_t offset : p.dOffsets)
    ++warp.pendingRegisters[offset / 64].writes;
  for (uint32_t offset : p.aOffsets)
    ++warp.pendingRegisters[offset / 64].reads;
  std::vector<uint32_t> &held = warp.products.open.registers;
  for (const std::vector<uint32_t> *offsets : {&p.dOffsets, &p.aOffsets}) {
    held.push_back(static_cast<uint32_t>(offsets->size()));
    held.insert(held.end(), offsets->begin(), offsets->end());
  }
}

/// The product with what A's registers hold now.
std::function<void()> makeWork(Warp &warp, const Product &p, const Issue &issue) {
  size_t size = p.fromRegisters ? 16 * p.k : 0;
  if (p.d == Type::S32) {
    std::vector<int32_t> a(size);
    if (p.fromRegisters)
      readFragmentA(warp, p.aOffsets, p.a, p.k, a.data());
    return [&warp, &p, issue, a] {
      computeIntegers(warp, p, issue.aBits, issue.bBits, issue.scaled, a);
    };
  }
  std::vector<float> a(size);
  if (p.fromRegisters)
    readFragmentA(warp, p.aOffsets, p.a, p.k, a.data());
  return [&warp, &p, issue, a] { compute(warp, p, issue.aBits, issue.bBits, issue.scaled, a); };
}

Step issue(Warp &warp, const Instruction &in, uint32_t mask) {
  const Product &p = *static_cast<const Product *>(in.details);
  Block &block = warp.block;
  requireWholeWarp(warp, in, mask);
  if (block.threadCount() % 128 && warp.index / 4 == block.threadCount() / 128)
    warp.fault(0, "expects four whole warps");
  Issue issue = readIssue(warp, p);
  checkOrder(warp, issue);
  checkRegisters(warp, p);
  checkShared(warp, p, issue);
  holdRegisters(warp, p);
  warp.products.open.lanes = mask;
  block.counters.tensorOperations += uint64_t{2} * 16 * p.n * p.k;
  std::function<void()> work = makeWork(warp, p, issue);
  if (isLate(warp))
    warp.products.open.writes.push_back(std::move(work));
  else
    work();
  return Step::Next;
}

Step fence(Warp &warp, const Instruction &in, uint32_t mask) {
  requireWholeWarp(warp, in, mask);
  for (Warp::Pending &pending : warp.pendingRegisters)
    pending.state = Warp::Pending::Clean;
  warp.fencedSinceWait = true;
  return Step::Next;
}
Step commit(Warp &warp, const Instruction &in, uint32_t mask) {
  requireWholeWarp(warp, in, mask);
  commitGroup(warp, warp.products, mask);
  return Step::Next;
}
Step wait(Warp &warp, const Instruction &in, uint32_t mask) {
  requireWholeWarp(warp, in, mask);
  std::vector<AsyncGroup> done =
      waitGroup(warp, in, warp.products, Engine::Wgmma, mask, static_cast<uint64_t>(in.immediate));
  warp.fencedSinceWait = false;
  for (const AsyncGroup &group : done)
    for (size_t i = 0; i < group.registers.size();) {
      for (uint32_t left = group.registers[i++]; left; --left)
        --warp.pendingRegisters[group.registers[i++] / 64].writes;
      for (uint32_t left = group.registers[i++]; left; --left)
        --warp.pendingRegisters[group.registers[i++] / 64].reads;
    }
  return Step::Next;
}

bool sign(Decoder &d, size_t i) {
  int64_t value = d.integer(d.operand(i), "scale");
  if (value != 1 && value != -1)
    d.wrong("expects a scale of 1 or -1, got ", value);
  return value < 0;
}
bool bit(Decoder &d, size_t i) {
  int64_t value = d.integer(d.operand(i), "transpose");
  if (value != 0 && value != 1)
    d.wrong("expects a transpose of 0 or 1, got ", value);
  return value != 0;
}

/// The modifiers and types of wgmma.mma_async.
void takeProduct(Decoder &d, Product &p) {
  unsigned m = 0;
  takeShape(d, m, p.n, p.k);
  p.saturate = d.take("satfinite");
  p.d = d.firstType();
  p.a = d.firstType();
  p.b = d.firstType();
  if (m != 64 || !fitsMultiplicands(p.a, p.b) || p.k != 256 / elementBits(p.a) || p.n % 8 ||
      p.n < 8 || p.n > 256)
    d.unsupported();
  bool toHalf = p.d == Type::F16 && (p.a == Type::F16 || elementBits(p.a) == 8);
  if (isByte(p.a) ? p.d != Type::S32 : (p.d != Type::F32 && !toHalf) || p.saturate)
    d.unsupported();
}

void takeOperands(Decoder &d, Product &p) {
  p.fromRegisters = d.operand(1).kind == Operand::Vector;
  size_t registers = p.d == Type::F16 ? p.n / 4 : p.n / 2;
  p.dOffsets = registerList(d, d.operand(0), registers, true);
  if (p.fromRegisters)
    p.aOffsets = registerList(d, d.operand(1), 4, false);
  else
    p.aDescriptor = d.source(d.operand(1), Type::B64);
  p.bDescriptor = d.source(d.operand(2), Type::B64);
  p.scale = d.predicate(d.operand(3), &p.scaleNegated);
  size_t next = 4;
  if (!isByte(p.a)) {
    p.negateA = sign(d, next++);
    p.negateB = sign(d, next++);
    if (elementBits(p.a) == 16) {
      if (!p.fromRegisters)
        p.transposeA = bit(d, next++);
      p.transposeB = bit(d, next++);
    }
  }
  d.requireCount(next, next);
}

void mmaAsync(Decoder &d) {
  Product &p = d.addDetails<Product>();
  takeProduct(d, p);
  takeOperands(d, p);
  for (uint32_t offset : p.dOffsets)
    d.watch(offset);
  for (uint32_t offset : p.aOffsets)
    d.watch(offset);
  d.watchesItself();
  d.kernel.usesWgmma = true;
  d.sharedAccess(Space::Shared, 16);
  d.setHandler(issue);
}

void wgmma(Decoder &d) {
  if (d.kernel.module->target() != "sm_90a")
    d.wrong("expects a target of sm_90a for wgmma, got ", d.kernel.module->target());
  auto takeSync = [&] {
    bool sync = d.take("sync");
    return d.take("aligned") && sync;
  };
  if (d.take("fence")) {
    takeSync();
    return d.setHandler(fence);
  }
  if (d.take("commit_group")) {
    takeSync();
    return d.setHandler(commit);
  }
  if (d.take("wait_group")) {
    takeSync();
    d.requireCount(1, 1);
    d.in.immediate = d.integer(d.operand(0), "number of groups");
    d.watchesItself();
    return d.setHandler(wait);
  }
  if (!d.take("mma_async") || !takeSync())
    d.unsupported();
  mmaAsync(d);
}
} // namespace

void addProducts(DecodeTable &table) { table["wgmma"] = wgmma; }

} // namespace fovea::emulator
