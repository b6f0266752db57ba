// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module on a device: its code there, the host's code that plans and describes launches, and its
// weights. Belongs to one context.
#ifndef FOVEA_RUNTIME_LOADEDPROGRAM_H
#define FOVEA_RUNTIME_LOADEDPROGRAM_H

#include "runtime/Device.h"
#include "runtime/Module.h"

#include <memory>
#include <vector>

namespace fovea {

class LoadedProgram {
public:
  /// Chooses the code that suits `device` best, loads it and uploads the weights, laid out as that
  /// code reads them by `threads` threads of this machine. Throws Failure if there is none.
  LoadedProgram(std::shared_ptr<const Module> module, std::unique_ptr<Device> device, int threads);

  struct Entry {
    const manifest::ProgramT *description;
    fovea_plan_fn plan;
    fovea_launch_fn launch;
  };

  Device &device() const { return *theDevice; }
  const Entry &entry(size_t index) const { return entries[index]; }
  const manifest::KernelT &kernel(size_t index) const { return *code->kernels[index]; }
  /// Addresses on the device, in the manifest's order.
  const void *const *weights() const { return weightAddresses.data(); }

  std::unique_ptr<DeviceGraph> makeGraph() { return kernels->makeGraph(); }

  /// Describes step `step` and launches it, or adds it to `graph` if that is not null. Returns 0,
  /// or what a fault word would be if the sizes of its operands do not fit. `frame` is the host's
  /// memory, what it points to the device's, but for its locals.
  int64_t launch(size_t entry, int64_t step, const fovea_frame &frame,
                 DeviceGraph *graph = nullptr);

private:
  std::shared_ptr<const Module> module;
  std::unique_ptr<Device> theDevice;
  const manifest::DeviceT *code = nullptr;
  std::unique_ptr<Code> host;
  std::vector<Entry> entries;
  std::vector<const void *> weightAddresses;
  /// Released when this goes, before the device.
  struct Weights {
    explicit Weights(Device &device) : device(device) {}
    ~Weights();
    Device &device;
    std::vector<uint64_t> addresses;
  };
  std::unique_ptr<Weights> uploaded;
  void upload(int threads);
  std::unique_ptr<DeviceModule> kernels;
  fovea_launch current;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_LOADEDPROGRAM_H
