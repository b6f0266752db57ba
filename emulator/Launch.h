// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator's outside: a device with memory, to which PTX is given and on which kernels run.
//
//   Device device;
//   uint64_t x = device.memory().allocate(4096, "x");
//   device.memory().write(x, data, 4096);
//   auto program = device.load(Module::load("kernel.ptx"));
//   LaunchResult result = device.launch(*program, "scale", shape, Arguments().add(x).add(2.0f));
//
// A fault of the kernel is thrown as Error: what happened, in which block and thread, at which
// line of the PTX, and for a race the other side too.
#ifndef FOVEA_EMULATOR_LAUNCH_H
#define FOVEA_EMULATOR_LAUNCH_H

#include "emulator/Counters.h"
#include "emulator/Error.h"
#include "emulator/GlobalMemory.h"
#include "emulator/Kernel.h"
#include "emulator/Module.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

namespace fovea::emulator {

struct LaunchShape {
  uint64_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint64_t dynamicShared = 0; ///< bytes for `.extern .shared`
};

struct LaunchOptions {
  /// When asynchronous work is done: at once, or as late as waits and barriers allow. A right
  /// kernel gives the same result both ways.
  enum class Schedule { Early, Late } schedule = Schedule::Early;
  bool checkShared = true;    ///< races and unwritten bytes of shared memory
  bool checkUnwritten = true; ///< unwritten bytes of global memory
  /// Bytes of global memory that one block writes and another reads or writes, for kernels whose
  /// blocks do not work together; atomics may. Late launches then begin the last block first. Needs
  /// one thread.
  bool checkBlocks = false;
  bool count = true; ///< bank conflicts and sectors
  /// Host threads; 0 for one on each processor.
  unsigned threads = 1;
  /// Faults when a block's warps have executed more than this.
  uint64_t maxInstructions = uint64_t{1} << 33;
  /// Shared memory that a block may have: Hopper's 227 KiB.
  uint64_t sharedLimit = 227 * 1024;
};

/// The values of an entry's parameters, in order.
class Arguments {
public:
  template <typename T> Arguments &add(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<uint8_t> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    values.push_back(std::move(bytes));
    return *this;
  }
  Arguments &addBytes(std::vector<uint8_t> bytes) {
    values.push_back(std::move(bytes));
    return *this;
  }
  const std::vector<std::vector<uint8_t>> &all() const { return values; }

private:
  std::vector<std::vector<uint8_t>> values;
};

struct LaunchResult {
  Counters counters;
  double seconds = 0;
};

/// A module on a device: its variables have addresses.
class Program {
public:
  const Module &module() const { return *parsed; }
  /// Address of a .global or .const variable. Throws Error if there is none.
  uint64_t variable(const std::string &name) const;

private:
  friend class Device;
  std::shared_ptr<const Module> parsed;
  Symbols symbols;
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const Kernel>> kernels;
};

class Device {
public:
  GlobalMemory &memory() { return deviceMemory; }
  /// Places the module's variables in memory.
  std::shared_ptr<Program> load(std::shared_ptr<const Module> module);
  /// The decoded entry; launches decode once.
  std::shared_ptr<const Kernel> kernel(Program &program, const std::string &entry);
  /// Runs an entry to its end. Throws Error for wrong arguments and for the kernel's first fault.
  LaunchResult launch(Program &program, const std::string &entry, const LaunchShape &shape,
                      const Arguments &arguments, const LaunchOptions &options = {});

private:
  GlobalMemory deviceMemory;
};

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_LAUNCH_H
