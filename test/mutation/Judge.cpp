// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Judge.h.
#include "test/mutation/Judge.h"

#include "emulator/Launch.h"
#include "runtime/emulator/EncodeTensorMap.h"

#include <algorithm>

namespace fovea::mutation {

Judge::Run Judge::run(const std::string &text, const Call &call, bool late, uint64_t most,
                      const Results *blank) const {
  Run out;
  emulator::Device device;
  std::shared_ptr<emulator::Program> program;
  try {
    program = device.load(emulator::Module::parse(text, "kernel.ptx"));
    device.kernel(*program, right.entry);
  } catch (const std::exception &error) {
    out.invalid = true;
    out.fault = error.what();
    return out;
  }
  try {
    emulator::Arguments words;
    std::vector<uint64_t> addresses;
    size_t buffers = 0;
    for (const Argument &argument : call.arguments) {
      uint64_t word = argument.number;
      if (argument.kind == Argument::Buffer) {
        word = device.memory().allocate(argument.bytes.size(),
                                        "operand " + std::to_string(addresses.size()));
        size_t buffer = buffers++;
        if (!blank || (*blank)[buffer] == argument.bytes)
          device.memory().write(word, argument.bytes.data(), argument.bytes.size());
      } else if (argument.kind == Argument::Map) {
        emulator::TensorMap map;
        map.rank = 2;
        map.address = addresses[argument.buffer];
        for (int i = 0; i < 2; ++i) {
          map.sizes[i] = argument.sizes[i];
          map.box[i] = static_cast<uint32_t>(argument.box[i]);
        }
        map.strides[0] = argument.sizes[0] * 2;
        map.swizzle = emulator::TensorMap::Swizzle::B128;
        auto encoded = map.encode();
        word = device.memory().allocate(encoded.size(), "map");
        device.memory().write(word, encoded.data(), encoded.size());
      }
      addresses.push_back(word);
      if (argument.kind == Argument::Box) {
        fovea_tensor_map map = argument.map;
        map.address = static_cast<int64_t>(addresses[argument.buffer]);
        words.add(encodeForEmulator(map, "a tensor map"));
        continue;
      }
      if (argument.hidden)
        continue;
      words.add(word);
      for (uint64_t more : argument.behind)
        words.add(more);
    }
    emulator::LaunchShape shape;
    // Blocks past the grid's end must do nothing; without them none does the work of others.
    shape.grid[0] = call.grid[0] + (call.padded && late ? 3 : 0);
    shape.grid[1] = call.grid[1];
    shape.block[0] = call.threads;
    shape.dynamicShared = call.sharedBytes;
    emulator::LaunchOptions options;
    options.schedule =
        late ? emulator::LaunchOptions::Schedule::Late : emulator::LaunchOptions::Schedule::Early;
    options.maxInstructions = most;
    options.count = false;
    options.checkBlocks = true;
    out.instructions =
        device.launch(*program, right.entry, shape, words, options).counters.instructions;
    for (size_t i = 0; i < call.arguments.size(); ++i)
      if (call.arguments[i].kind == Argument::Buffer) {
        std::vector<char> &bytes = out.results.emplace_back(call.arguments[i].bytes.size());
        device.memory().read(addresses[i], bytes.data(), bytes.size(), blank != nullptr);
      }
  } catch (const std::exception &error) {
    out.fault = error.what();
  }
  return out;
}

/// Which check it was, by a telling part of its message.
static std::string nameOf(const std::string &message) {
  static const std::pair<const char *, const char *> parts[] = {
      {"race on", "race"},
      {"each other's results", "blocks"},
      {"in flight", "in flight"},
      {"multiple of", "alignment"},
      {"past the end", "bounds"},
      {"before '", "bounds"},
      {"near no allocation", "bounds"},
      {"expects them inside", "bounds"},
      {"freed", "bounds"},
      {"at shared address", "bounds"},
      {"nobody has written", "unwritten"},
      {"has not written", "unwritten"},
      {"deadlock", "deadlock"},
      {"expects to end within", "endless"},
      {"all threads of the warp", "divergence"},
      {"predicated off", "divergence"},
      {"more threads of the warp", "divergence"},
      {"does not take part", "divergence"},
      {"fence", "fence"},
      {"mbarrier", "mbarrier"},
      {"barrier", "barrier"},
      {"trapped", "trap"},
  };
  for (const auto &[part, name] : parts)
    if (message.find(part) != std::string::npos)
      return name;
  return "other check";
}

Judge::Judge(Kernel kernel) : right(std::move(kernel)), parsed(right.ptx) {
  for (Call &call : right.calls) {
    if (call.padded)
      call.grid[0] = countBlocks(call);
    Run early = run(right.ptx, call, false, kEnough), late = run(right.ptx, call, true, kEnough);
    for (const Run &one : {early, late}) {
      if (!one.fault.empty())
        wrong = one.fault;
      else if (std::string what = call.check(one.results); !what.empty())
        wrong = what;
    }
    if (wrong.empty() && early.results != late.results)
      wrong = "early and late differ";
    if (!wrong.empty())
      return;
    baselines.push_back({std::move(early.results), early.instructions});
  }
}

/// The fewest blocks that do all of a call's work.
uint64_t Judge::countBlocks(const Call &call) const {
  Call tried = call;
  tried.padded = false;
  Results all = run(right.ptx, tried, false, kEnough).results;
  auto suffice = [&](uint64_t blocks) {
    tried.grid[0] = blocks;
    return run(right.ptx, tried, false, kEnough).results == all;
  };
  uint64_t few = 0, enough = 1; // `few` do not suffice
  while (enough < call.grid[0] && !suffice(enough)) {
    few = enough;
    enough *= 2;
  }
  while (enough - few > 1) {
    uint64_t middle = (few + enough) / 2;
    (suffice(middle) ? enough : few) = middle;
  }
  return enough;
}

Verdict Judge::find(const std::string &text, bool exactly) const {
  // The last calls are the largest, and find most.
  for (size_t i = right.calls.size(); i-- > 0;) {
    const Call &call = right.calls[i];
    Run runs[2];
    for (bool late : {false, true}) {
      Run &one = runs[late];
      one = run(text, call, late, 20 * baselines[i].instructions + 100000);
      if (one.invalid)
        return {Verdict::Invalid, "invalid", one.fault};
      if (!one.fault.empty())
        return {Verdict::Check, nameOf(one.fault), one.fault};
      if (std::string what = call.check(one.results); !what.empty())
        return {Verdict::Result, "wrong result", what};
      if (exactly && one.results != baselines[i].results)
        return {Verdict::Result, "other bits", ""};
    }
    if (runs[0].results != runs[1].results)
      return {Verdict::Result, "early and late differ", ""};
  }
  return {Verdict::Survived, "", ""};
}

Verdict Judge::judge(const Mutant &mutant) {
  Verdict verdict = find(mutant.text);
  if (verdict.kind != Verdict::Survived)
    return verdict;
  if (std::string reason = explain(mutant); !reason.empty())
    return {Verdict::Harmless, reason, ""};
  return verdict;
}

} // namespace fovea::mutation
