// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands become the words of a launch; buffers are allocated apart, so that an access beside one
// is found.
#include "test/threads/emulated/EmulatedLaunch.h"
#include "emulator/Launch.h"
#include "runtime/Device.h"
#include "runtime/emulator/EncodeTensorMap.h"
#include "runtime/status/Status.h"

#include <cstdlib>

namespace emulator = fovea::emulator;

std::string fovea::test::deviceName() {
  const char *name = std::getenv("FOVEA_TEST_DEVICE");
  return name ? name : "";
}

/// Kept to the end: a driver may go before what is static does.
static fovea::Device &device() {
  static fovea::Device *const made = fovea::makeDevice(fovea::test::deviceName(), 0).release();
  return *made;
}

bool fovea::test::runsOn(const std::string &chip) {
  try {
    return onEmulator() || device().rank(chip) >= 0;
  } catch (const Failure &) {
    return true;
  }
}

/// The architecture that a text of PTX is for.
static std::string chipOf(const std::string &ptx) {
  size_t begin = ptx.find("sm_", ptx.find(".target"));
  return ptx.substr(begin, ptx.find_first_of(" ,\n", begin) - begin);
}

static std::string launchOnDevice(const std::string &ptx, const std::string &kernel,
                                  const fovea::test::Shape &shape,
                                  std::vector<fovea::test::Operand> &operands) {
  std::vector<uint64_t> addresses;
  std::string message;
  try {
    fovea::DeviceCode code{"kernel.ptx", chipOf(ptx), ptx, {}, {}};
    code.kernels.push_back({kernel, shape.threads, static_cast<uint32_t>(shape.sharedBytes)});
    auto module = device().load(code);
    std::vector<int64_t> words;
    std::vector<fovea_tensor_map> maps;
    std::vector<uint64_t> of; // by operand
    for (const fovea::test::Operand &operand : operands) {
      uint64_t word = operand.number;
      if (operand.isBuffer) {
        word = device().allocate(operand.bytes.size(), "an operand");
        addresses.push_back(word);
        device().copyIn(word, operand.bytes.data(), operand.bytes.size());
      }
      of.push_back(word);
      if (operand.isMap) {
        maps.push_back(operand.map);
        maps.back().address = static_cast<int64_t>(of[operand.buffer]);
        continue;
      }
      words.push_back(static_cast<int64_t>(word));
      words.insert(words.end(), operand.behind.begin(), operand.behind.end());
    }
    module->launch({0, static_cast<int64_t>(shape.blocks), words.data(),
                    static_cast<int64_t>(words.size()), maps.data(),
                    static_cast<int64_t>(maps.size())});
    size_t place = 0;
    for (fovea::test::Operand &operand : operands)
      if (operand.isBuffer)
        device().copyOut(operand.bytes.data(), addresses[place++], operand.bytes.size());
    device().synchronize();
  } catch (const fovea::Failure &failure) {
    message = failure.message;
  }
  for (uint64_t address : addresses)
    device().release(address);
  return message;
}

std::string fovea::test::launch(const std::string &ptx, const std::string &kernel,
                                const Shape &shape, std::vector<Operand> &operands, bool late,
                                Counts *counts) {
  if (!onEmulator())
    return launchOnDevice(ptx, kernel, shape, operands);
  try {
    emulator::Device device;
    auto program = device.load(emulator::Module::parse(ptx, "kernel.ptx"));
    emulator::Arguments words;
    std::vector<uint64_t> addresses;
    for (const Operand &operand : operands) {
      uint64_t word = operand.number;
      if (operand.isBuffer) {
        word = device.memory().allocate(operand.bytes.size(),
                                        "operand " + std::to_string(addresses.size()));
        device.memory().write(word, operand.bytes.data(), operand.bytes.size());
      }
      addresses.push_back(word);
      if (operand.isMap) {
        fovea_tensor_map map = operand.map;
        map.address = static_cast<int64_t>(addresses[operand.buffer]);
        words.add(encodeForEmulator(map, "a tensor map"));
        continue;
      }
      words.add(word);
      for (uint64_t more : operand.behind)
        words.add(more);
    }
    emulator::LaunchShape grid;
    grid.grid[0] = shape.blocks;
    grid.block[0] = shape.threads;
    grid.dynamicShared = shape.sharedBytes;
    emulator::LaunchOptions options;
    options.schedule =
        late ? emulator::LaunchOptions::Schedule::Late : emulator::LaunchOptions::Schedule::Early;
    options.checkBlocks = !shape.blocksShare;
    emulator::LaunchResult result = device.launch(*program, kernel, grid, words, options);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].isBuffer)
        device.memory().read(addresses[i], operands[i].bytes.data(), operands[i].bytes.size());
    if (counts)
      *counts = {result.counters.sharedPasses, result.counters.sharedIdealPasses,
                 result.counters.globalLoadSectors, result.counters.instructions};
    return "";
  } catch (const std::exception &error) {
    return error.what();
  }
}
