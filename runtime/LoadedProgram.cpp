// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoadedProgram.h. What host code says of a launch is checked before the device sees it.
#include "runtime/LoadedProgram.h"

#include "runtime/Repack.h"
#include "runtime/ThreadPool.h"
#include "runtime/status/Status.h"

#include <algorithm>

namespace fovea {

static std::string_view text(artifact::Bytes bytes) {
  return {reinterpret_cast<const char *>(bytes.data), bytes.size};
}

/// The code that suits the device best. Throws Failure that says what to do if there is none.
static const manifest::DeviceT &choose(const Module &module, const Device &device) {
  const manifest::DeviceT *best = nullptr;
  int bestRank = -1;
  std::string found;
  for (const auto &code : module.manifest().devices) {
    found += (found.empty() ? "" : ", ") + code->chip;
    if (int rank = device.rank(code->chip); rank > bestRank) {
      best = code.get();
      bestRank = rank;
    }
  }
  if (!best)
    failInvalid(module.path() + ": holds no code for " + device.name() + ", only for the CPU" +
                (found.empty() ? "" : " and " + found) +
                "; make it by: fovea compile MODEL --gpu=sm_80 -o FILE");
  return *best;
}

LoadedProgram::Weights::~Weights() {
  for (uint64_t address : addresses)
    device.release(address);
}

LoadedProgram::LoadedProgram(std::shared_ptr<const Module> owner, std::unique_ptr<Device> device,
                             int threads)
    : module(std::move(owner)), theDevice(std::move(device)) {
  code = &choose(*module, *theDevice);
  artifact::Bytes elf = module->otherCode(code->host.get());
  host = std::make_unique<Code>(module->path(), elf.data, elf.size);
  for (size_t i = 0; i < code->programs.size(); ++i) {
    std::string prefix = "fovea_" + module->manifest().entries[i]->name;
    entries.push_back({code->programs[i].get(),
                       reinterpret_cast<fovea_plan_fn>(host->find(prefix + "_plan")),
                       reinterpret_cast<fovea_launch_fn>(host->find(prefix + "_launch"))});
  }
  DeviceCode image;
  image.where = module->path();
  image.chip = code->chip;
  image.ptx = text(module->otherCode(code->ptx.get()));
  image.cubin = text(module->otherCode(code->cubin.get()));
  for (const auto &kernel : code->kernels)
    image.kernels.push_back({kernel->name, kernel->threads, kernel->shared_bytes});
  kernels = theDevice->load(image);

  upload(threads);
}

/// Lays a weight out on the device, some MiB of panels at a time.
static void copyRepacked(const Repacking &repacking, const void *data, Device &device, uint64_t to,
                         ThreadPool &pool) {
  constexpr uint64_t kChunkBytes = uint64_t(16) << 20;
  uint64_t bytes = std::max<uint64_t>(repacking.panelBytes(), 1);
  struct Chunk {
    const Repacking &repacking;
    const void *data;
    int64_t first, count;
    std::vector<char> out;
  } chunk{repacking, data, 0, 0, {}};
  auto most = static_cast<int64_t>(std::max<uint64_t>(kChunkBytes / bytes, 1));
  chunk.out.resize(static_cast<size_t>(std::min(most, repacking.panels())) * bytes);
  auto run = [](void *of, int64_t, int64_t part, int64_t parts, int32_t) {
    Chunk &c = *static_cast<Chunk *>(of);
    for (int64_t i = part * c.count / parts; i < (part + 1) * c.count / parts; ++i)
      repackPanel(c.repacking, c.data, c.first + i,
                  c.out.data() + static_cast<uint64_t>(i) * c.repacking.panelBytes());
  };
  for (; chunk.first < repacking.panels(); chunk.first += chunk.count) {
    chunk.count = std::min(most, repacking.panels() - chunk.first);
    pool.run({run, nullptr, nullptr, &chunk, 0, 1});
    device.copyIn(to + static_cast<uint64_t>(chunk.first) * bytes, chunk.out.data(),
                  static_cast<uint64_t>(chunk.count) * bytes);
  }
}

void LoadedProgram::upload(int threads) {
  uploaded = std::make_unique<Weights>(*theDevice);
  std::unique_ptr<ThreadPool> pool;
  const auto &weights = module->manifest().weights;
  for (size_t i = 0; i < weights.size(); ++i) {
    const manifest::WeightT &weight = *weights[i];
    std::string what = "weight '" + weight.name + "'";
    // An address of its own for a weight of nothing too.
    static const char nothing = 0;
    const void *data = weight.bytes ? module->weights()[i] : &nothing;
    bool isStored = code->layouts.empty() || code->layouts[i] == weight.panels;
    if (isStored || weight.bytes == 0) {
      uploaded->addresses.push_back(
          theDevice->upload(data, std::max<uint64_t>(weight.bytes, 1), what));
    } else {
      // The manifest is checked: both are panels of this matrix.
      Repacking repacking{weight.shape[0], artifact::storedInputs(weight.element, weight.shape[1]),
                          artifact::elementBytes(weight.element), weight.panels, code->layouts[i]};
      if (!pool)
        pool = std::make_unique<ThreadPool>(threads);
      uint64_t bytes = static_cast<uint64_t>(repacking.panels()) * repacking.panelBytes();
      uploaded->addresses.push_back(theDevice->allocate(bytes, what));
      copyRepacked(repacking, data, *theDevice, uploaded->addresses.back(), *pool);
    }
    // Of the device's memory.
    weightAddresses.push_back(reinterpret_cast<const void *>( // NOLINT(performance-no-int-to-ptr)
        uploaded->addresses.back()));
  }
}

int64_t LoadedProgram::launch(size_t entry, int64_t step, const fovea_frame &frame,
                              DeviceGraph *graph) {
  current.count = current.map_count = -1;
  entries[entry].launch(&frame, step, &current);
  if (current.fault != 0)
    return current.fault;
  if (current.blocks < 0 || current.count < 0 || current.count > FOVEA_MAX_LAUNCH_WORDS ||
      current.map_count < 0 || current.map_count > FOVEA_MAX_LAUNCH_MAPS)
    failInternal(module->path() + ": step " + std::to_string(step) + " of entry '" +
                 module->manifest().entries[entry]->name + "' describes a launch of " +
                 std::to_string(current.blocks) + " blocks with " + std::to_string(current.count) +
                 " parameters and " + std::to_string(current.map_count) + " tensor maps");
  if (current.blocks == 0)
    return 0;
  size_t number = entries[entry].description->steps[static_cast<size_t>(step)]->kernel;
  // A launch has no more blocks than 32 bits count, and persistent kernels count so themselves.
  if (current.blocks > INT32_MAX)
    failInvalid(module->path() + ": kernel '" + kernel(number).name + "' expects up to " +
                std::to_string(INT32_MAX) + " blocks, got " + std::to_string(current.blocks));
  if (kernel(number).persistent)
    current.blocks = std::min(current.blocks, theDevice->multiprocessors());
  const DeviceLaunch what{number,        current.blocks, current.words,
                          current.count, current.maps,   current.map_count};
  if (graph)
    graph->add(what);
  else
    kernels->launch(what);
  return 0;
}

} // namespace fovea
