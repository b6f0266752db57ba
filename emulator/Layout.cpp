// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Basic blocks, their strongly connected components, and a topological order of these, each
// component ordered in the same way without the edges to its header.
#include "emulator/Layout.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace fovea::emulator {

namespace {
struct BasicBlock {
  uint32_t begin, end; // statements
  std::vector<uint32_t> next;
};

class Order {
public:
  explicit Order(const std::vector<BasicBlock> &blocks)
      : blocks(blocks), member(blocks.size()), number(blocks.size()), low(blocks.size()),
        component(blocks.size()) {}

  /// Appends `nodes` to `out`; edges to `header` do not count.
  void place(std::vector<uint32_t> nodes, uint32_t header, std::vector<uint32_t> &out,
             unsigned depth) {
    ++generation;
    for (uint32_t node : nodes) {
      member[node] = generation;
      number[node] = 0;
    }
    uint32_t mine = generation;
    auto inside = [&](uint32_t node) { return member[node] == mine && node != header; };
    std::vector<std::vector<uint32_t>> parts;
    components(nodes, inside, parts);

    // Kahn's order of the components, the earliest text first.
    std::vector<uint32_t> missing(parts.size(), 0);
    auto eachEdge = [&](uint32_t part, auto body) {
      for (uint32_t node : parts[part])
        for (uint32_t next : blocks[node].next)
          if (inside(next) && component[next] != part)
            body(component[next]);
    };
    for (uint32_t part = 0; part < parts.size(); ++part)
      eachEdge(part, [&](uint32_t other) { ++missing[other]; });
    using Entry = std::pair<uint32_t, uint32_t>; // text, part
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    auto push = [&](uint32_t part) {
      ready.emplace(*std::min_element(parts[part].begin(), parts[part].end()), part);
    };
    for (uint32_t part = 0; part < parts.size(); ++part)
      if (!missing[part])
        push(part);
    std::vector<uint32_t> order;
    while (!ready.empty()) {
      uint32_t part = ready.top().second;
      ready.pop();
      order.push_back(part);
      eachEdge(part, [&](uint32_t other) {
        if (!--missing[other])
          push(other);
      });
    }
    // The headers of loops must be known before the marks are used again.
    std::vector<uint32_t> headers(parts.size(), ~0u);
    for (uint32_t node : nodes)
      for (uint32_t next : blocks[node].next)
        if (inside(next) && component[next] != component[node])
          headers[component[next]] = std::min(headers[component[next]], next);
    for (uint32_t part : order) {
      std::vector<uint32_t> &group = parts[part];
      if (group.size() == 1) {
        out.push_back(group[0]);
        continue;
      }
      uint32_t loop = headers[part];
      if (loop == ~0u)
        loop = *std::min_element(group.begin(), group.end());
      if (depth > 200) { // nested beyond reason: any order is right, only slower
        std::sort(group.begin(), group.end());
        out.insert(out.end(), group.begin(), group.end());
        continue;
      }
      place(std::move(group), loop, out, depth + 1);
    }
  }

private:
  /// Tarjan's algorithm without recursion; sets `component`.
  template <typename Inside>
  void components(const std::vector<uint32_t> &nodes, Inside inside,
                  std::vector<std::vector<uint32_t>> &parts) {
    uint32_t counter = 0;
    std::vector<uint32_t> stack;
    std::vector<std::pair<uint32_t, size_t>> calls;
    for (uint32_t node : nodes)
      component[node] = ~0u;
    for (uint32_t root : nodes) {
      if (number[root])
        continue;
      calls.emplace_back(root, 0);
      while (!calls.empty()) {
        auto &[node, edge] = calls.back();
        if (edge == 0) {
          number[node] = low[node] = ++counter;
          stack.push_back(node);
        }
        bool deeper = false;
        while (edge < blocks[node].next.size()) {
          uint32_t next = blocks[node].next[edge++];
          if (!inside(next))
            continue;
          if (!number[next]) {
            calls.emplace_back(next, 0);
            deeper = true;
            break;
          }
          if (component[next] == ~0u)
            low[node] = std::min(low[node], number[next]);
        }
        if (deeper)
          continue;
        uint32_t done = node;
        if (low[done] == number[done]) {
          parts.emplace_back();
          uint32_t top;
          do {
            top = stack.back();
            stack.pop_back();
            component[top] = static_cast<uint32_t>(parts.size() - 1);
            parts.back().push_back(top);
          } while (top != done);
        }
        calls.pop_back();
        if (!calls.empty())
          low[calls.back().first] = std::min(low[calls.back().first], low[done]);
      }
    }
  }

  const std::vector<BasicBlock> &blocks;
  std::vector<uint32_t> member, number, low, component;
  uint32_t generation = 0;
};
} // namespace

std::vector<Placed> layOut(const std::vector<Flow> &flows) {
  uint32_t size = static_cast<uint32_t>(flows.size());
  std::vector<bool> leads(size + 1, false);
  leads[0] = true;
  for (uint32_t i = 0; i < size; ++i) {
    for (uint32_t target : flows[i].targets)
      leads[target] = true;
    if (!flows[i].targets.empty() || !flows[i].falls)
      leads[i + 1] = true;
  }
  std::vector<BasicBlock> blocks;
  std::vector<uint32_t> blockOf(size + 1, 0);
  for (uint32_t i = 0; i < size; ++i) {
    if (leads[i])
      blocks.push_back({i, i, {}});
    blockOf[i] = static_cast<uint32_t>(blocks.size() - 1);
    blocks.back().end = i + 1;
  }
  for (BasicBlock &block : blocks) {
    const Flow &flow = flows[block.end - 1];
    for (uint32_t target : flow.targets)
      if (target < size)
        block.next.push_back(blockOf[target]);
    if (flow.falls && block.end < size)
      block.next.push_back(blockOf[block.end]);
  }
  // What cannot be reached is left out.
  std::vector<bool> reached(blocks.size(), false);
  std::vector<uint32_t> nodes, work;
  if (!blocks.empty()) {
    work.push_back(0);
    reached[0] = true;
  }
  while (!work.empty()) {
    uint32_t node = work.back();
    work.pop_back();
    nodes.push_back(node);
    for (uint32_t next : blocks[node].next)
      if (!reached[next]) {
        reached[next] = true;
        work.push_back(next);
      }
  }
  std::sort(nodes.begin(), nodes.end());
  std::vector<uint32_t> order;
  // A first block that is itself a loop's header is entered from outside.
  if (!nodes.empty())
    Order(blocks).place(nodes, ~0u, order, 0);
  std::vector<Placed> out;
  for (size_t i = 0; i < order.size(); ++i) {
    const BasicBlock &block = blocks[order[i]];
    for (uint32_t statement = block.begin; statement < block.end; ++statement)
      out.push_back({statement, false, 0});
    if (flows[block.end - 1].falls &&
        !(i + 1 < order.size() && blocks[order[i + 1]].begin == block.end))
      out.push_back({block.end - 1, true, block.end});
  }
  if (out.empty())
    out.push_back({0, true, size});
  return out;
}

} // namespace fovea::emulator
