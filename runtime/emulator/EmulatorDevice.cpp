// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator as a device of the runtime. Each launch runs to its end, with every check; a fault
// of a kernel is ours, for the compiler wrote it.
#include "emulator/Launch.h"
#include "runtime/EmulatorLibrary.h"
#include "runtime/emulator/EncodeTensorMap.h"
#include "runtime/status/Status.h"

#include <atomic>
#include <cstring>

namespace fovea {

namespace {

/// Runs `body`; the emulator's errors become failures.
template <typename Body> auto translated(fovea_code code, Body body) {
  try {
    return body();
  } catch (const emulator::Error &error) {
    throw Failure{code, error.what()};
  }
}

class EmulatorModule : public DeviceModule {
public:
  EmulatorModule(emulator::Device &device, const DeviceCode &code, emulator::LaunchOptions options)
      : device(device), kernels(code.kernels), options(options) {
    translated(FOVEA_INTERNAL, [&] {
      program = device.load(
          emulator::Module::parse(std::string(code.ptx), code.where + ", PTX for " + code.chip));
    });
    // Ampere's blocks have less than Hopper's.
    if (program->module().architecture() < 90)
      this->options.sharedLimit = 163 * 1024;
  }

  void launch(const DeviceLaunch &what) override {
    const DeviceKernel &kernel = kernels.at(what.kernel);
    emulator::LaunchShape shape;
    shape.grid[0] = static_cast<uint64_t>(what.blocks);
    shape.block[0] = kernel.threads;
    shape.dynamicShared = kernel.sharedBytes;
    translated(FOVEA_INTERNAL, [&] {
      emulator::Arguments arguments;
      for (int64_t i = 0; i < what.wordCount; ++i)
        arguments.add(what.words[i]);
      for (int64_t i = 0; i < what.mapCount; ++i)
        arguments.add(
            encodeForEmulator(what.maps[i], tensorMapPlace("the emulator", kernel.name, i)));
      device.launch(*program, kernel.name, shape, arguments, options);
    });
  }

private:
  emulator::Device &device;
  std::shared_ptr<emulator::Program> program;
  std::vector<DeviceKernel> kernels;
  emulator::LaunchOptions options;
};

class EmulatorDevice : public Device {
public:
  EmulatorDevice(bool late, int threads) : Device("the emulator", {FOVEA_EMULATOR, nextId()}) {
    options.schedule =
        late ? emulator::LaunchOptions::Schedule::Late : emulator::LaunchOptions::Schedule::Early;
    options.threads = static_cast<unsigned>(threads);
    options.count = false;
  }

  /// Everything, and the newest best.
  int rank(const std::string &chip) const override {
    if (chip.compare(0, 3, "sm_") != 0)
      return -1;
    return static_cast<int>(std::strtol(chip.c_str() + 3, nullptr, 10));
  }

  /// Few, so that each block of a persistent kernel has several things to do.
  int64_t multiprocessors() const override { return 4; }

  uint64_t allocate(uint64_t bytes, const std::string &what) override {
    try {
      return memory().allocate(bytes, what);
    } catch (const std::bad_alloc &) {
      throw Failure{FOVEA_OUT_OF_MEMORY, "the emulator has no memory of " + std::to_string(bytes) +
                                             " bytes for " + what};
    }
  }
  void release(uint64_t address) noexcept override {
    try {
      memory().free(address);
    } catch (const emulator::Error &) {
    }
  }
  /// Without a copy, and a kernel that writes there is found.
  uint64_t upload(const void *data, uint64_t bytes, const std::string &what) override {
    return memory().map(data, bytes, what);
  }
  void forget(uint64_t address) override { memory().forget(address); }
  std::string objection(uint64_t address, uint64_t bytes, bool writes) override {
    const emulator::Allocation *found = memory().find(address);
    if (!found)
      return "is " + memory().describe(address);
    const uint64_t offset = address - found->address;
    if (bytes > found->size - offset)
      return "is " + memory().describe(address);
    if (writes && found->readOnly)
      return "is in '" + found->name + "', which nobody writes";
    const void *unwritten =
        writes || !found->written ? nullptr : std::memchr(found->written + offset, 0, bytes);
    return unwritten
               ? "holds bytes that nobody wrote: " +
                     memory().describe(found->address +
                                       (static_cast<const uint8_t *>(unwritten) - found->written))
               : "";
  }
  void copyIn(uint64_t to, const void *from, uint64_t bytes) override {
    translated(FOVEA_INTERNAL, [&] { memory().write(to, from, bytes); });
  }
  void copyOut(void *to, uint64_t from, uint64_t bytes) override {
    translated(FOVEA_INTERNAL, [&] { memory().read(from, to, bytes); });
  }
  void copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    std::vector<char> between(bytes);
    copyOut(between.data(), from, bytes);
    copyIn(to, between.data(), bytes);
  }
  void fill(uint64_t to, uint8_t value, uint64_t bytes) override {
    translated(FOVEA_INTERNAL, [&] { memory().fill(to, value, bytes); });
  }

  std::unique_ptr<DeviceModule> load(const DeviceCode &code) override {
    return std::make_unique<EmulatorModule>(device, code, options);
  }
  void synchronize() override {}
  std::unique_ptr<DeviceEvent> makeEvent() override { return std::make_unique<HostEvent>(); }
  bool findsFaults() const override { return true; }

private:
  /// Memory is each device's own: so is the number that tensors name.
  static int32_t nextId() {
    static std::atomic<int32_t> next{0};
    return next++;
  }
  emulator::GlobalMemory &memory() { return device.memory(); }

  emulator::Device device;
  emulator::LaunchOptions options;
};

} // namespace
} // namespace fovea

extern "C" fovea::Device *fovea_emulator_create(const char *version, bool late, int threads) {
  if (std::strcmp(version, FOVEA_VERSION) != 0)
    return nullptr;
  return new fovea::EmulatorDevice(late, threads);
}
