// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules on a device, and launches: arguments are checked against the entry, blocks are shared
// among host threads. A block that runs for very long is set aside so that others begin: blocks may
// wait for each other, as on a device that holds all of them.
#include "emulator/Launch.h"

#include "emulator/Block.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

namespace fovea::emulator {

namespace {
constexpr uint64_t turnInstructions = 1 << 23; // of a block before it is set aside
constexpr size_t maxBlocksAtOnce = 264;        // on a host thread

/// Blocks of a launch, handed out in order.
class Work {
public:
  Work(const LaunchShape &shape, bool backwards) : shape(shape), backwards(backwards) {
    total = shape.grid[0] * shape.grid[1] * shape.grid[2];
  }
  /// Starts the next block; false if there is none.
  bool begin(Block &block) {
    uint64_t index = next.fetch_add(1);
    if (index >= total || failed)
      return false;
    if (backwards)
      index = total - 1 - index;
    block.start(index % shape.grid[0], index / shape.grid[0] % shape.grid[1],
                index / shape.grid[0] / shape.grid[1]);
    return true;
  }
  bool stop() const { return failed; }
  void fault(const Error &error) {
    std::lock_guard<std::mutex> guard(mutex);
    if (!failed.exchange(true))
      message = error.what();
  }

  const LaunchShape &shape;
  bool backwards;
  uint64_t total = 0;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::string message;
  Counters counters;
};

void serve(Work &work, const LaunchContext &context) {
  std::deque<std::unique_ptr<Block>> running;
  std::vector<std::unique_ptr<Block>> idle;
  auto finish = [&](std::unique_ptr<Block> block) { idle.push_back(std::move(block)); };
  try {
    bool more = true;
    while (!work.stop()) {
      if (more && running.size() < maxBlocksAtOnce) {
        std::unique_ptr<Block> block;
        if (idle.empty()) {
          block = std::make_unique<Block>(context);
        } else {
          block = std::move(idle.back());
          idle.pop_back();
        }
        if (work.begin(*block)) {
          running.push_back(std::move(block));
        } else {
          more = false;
          finish(std::move(block));
        }
      }
      if (running.empty())
        break;
      // The newest first: most blocks end in their first turn.
      std::unique_ptr<Block> block = more ? std::move(running.back()) : std::move(running.front());
      if (more)
        running.pop_back();
      else
        running.pop_front();
      if (block->run(turnInstructions))
        finish(std::move(block));
      else if (more)
        running.push_front(std::move(block));
      else
        running.push_back(std::move(block));
    }
  } catch (const Error &error) {
    work.fault(error);
  } catch (const std::bad_alloc &) {
    work.fault(Error("out of memory"));
  } catch (const std::exception &error) {
    work.fault(Error(error.what()));
  }
  for (auto &block : idle)
    block->collect();
  std::lock_guard<std::mutex> guard(work.mutex);
  for (auto &block : idle)
    work.counters.add(block->counters);
}

void checkShape(const Kernel &kernel, const LaunchShape &shape, const LaunchOptions &options) {
  const std::string where = text(kernel.module->file(), ": ", kernel.function->name);
  const uint64_t gridLimit[3] = {0x7fffffff, 65535, 65535};
  const uint32_t blockLimit[3] = {1024, 1024, 64};
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    if (!shape.grid[i] || shape.grid[i] > gridLimit[i])
      fail(where, ": expects a grid of 1 to ", gridLimit[i], " blocks along axis ", i, ", got ",
           shape.grid[i]);
    if (!shape.block[i] || shape.block[i] > blockLimit[i])
      fail(where, ": expects a block of 1 to ", blockLimit[i], " threads along axis ", i, ", got ",
           shape.block[i]);
    threads *= shape.block[i];
  }
  if (threads > 1024)
    fail(where, ": expects a block of at most 1024 threads, got ", threads);
  const Function &function = *kernel.function;
  if (function.requiredThreads[0])
    for (int i = 0; i < 3; ++i)
      if (shape.block[i] != function.requiredThreads[i])
        fail(where, ": expects ", function.requiredThreads[i], " threads along axis ", i,
             " (.reqntid), got ", shape.block[i]);
  if (function.maxThreads[0]) {
    uint64_t most = 1;
    for (uint32_t extent : function.maxThreads)
      most *= extent;
    if (threads > most)
      fail(where, ": expects at most ", most, " threads (.maxntid), got ", threads);
  }
  if (shape.dynamicShared > options.sharedLimit ||
      kernel.dynamicShared + shape.dynamicShared > options.sharedLimit)
    fail(where, ": expects at most ", options.sharedLimit, " bytes of shared memory, got ",
         kernel.dynamicShared, " of its own and ", shape.dynamicShared, " of the launch");
}
} // namespace

uint64_t Program::variable(const std::string &name) const {
  auto found = symbols.global.find(name);
  if (found == symbols.global.end())
    fail(parsed->file(), ": expects a .global or .const variable, got '", name, "'");
  return found->second;
}

std::shared_ptr<Program> Device::load(std::shared_ptr<const Module> module) {
  auto program = std::make_shared<Program>();
  for (const Variable &variable : module->variables()) {
    if (variable.space != Space::Global && variable.space != Space::Const)
      continue;
    uint64_t address = deviceMemory.allocate(variable.size, variable.name, variable.alignment);
    // What has no value begins as zero (PTX ISA, "Initializers").
    deviceMemory.fill(address, 0, variable.size);
    deviceMemory.write(address, variable.initial.data(), variable.initial.size());
    program->symbols.global[variable.name] = address;
  }
  program->parsed = std::move(module);
  return program;
}

std::shared_ptr<const Kernel> Device::kernel(Program &program, const std::string &entry) {
  std::lock_guard<std::mutex> guard(program.mutex);
  auto &kernel = program.kernels[entry];
  if (!kernel)
    kernel = decode(program.parsed, program.parsed->entry(entry), program.symbols);
  return kernel;
}

LaunchResult Device::launch(Program &program, const std::string &entry, const LaunchShape &shape,
                            const Arguments &arguments, const LaunchOptions &options) {
  std::shared_ptr<const Kernel> kernel = this->kernel(program, entry);
  checkShape(*kernel, shape, options);
  const Function &function = *kernel->function;
  const std::string where = text(kernel->module->file(), ": ", function.name);
  LaunchContext context;
  context.kernel = kernel.get();
  context.memory = &deviceMemory;
  context.shape = shape;
  context.options = options;
  context.arguments.resize(function.parameterBytes);
  if (arguments.all().size() != function.parameters.size())
    fail(where, ": expects ", function.parameters.size(), " arguments, got ",
         arguments.all().size());
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const Parameter &parameter = function.parameters[i];
    const std::vector<uint8_t> &value = arguments.all()[i];
    if (value.size() != parameter.size)
      fail(where, ": expects ", parameter.size, " bytes for argument ", i, " (", parameter.name,
           "), got ", value.size());
    std::copy(value.begin(), value.end(),
              context.arguments.begin() + static_cast<ptrdiff_t>(parameter.offset));
  }

  auto begin = std::chrono::steady_clock::now();
  if (options.checkBlocks && options.threads != 1)
    fail(where, ": expects one thread where blocks are compared, got ", options.threads);
  if (options.checkBlocks)
    deviceMemory.forgetWriters();
  Work work(shape, options.checkBlocks && options.schedule == LaunchOptions::Schedule::Late);
  uint64_t workers =
      options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  workers = std::min<uint64_t>({workers, work.total, 256});
  std::vector<std::thread> threads;
  for (uint64_t i = 1; i < workers; ++i)
    threads.emplace_back([&] { serve(work, context); });
  serve(work, context);
  for (std::thread &thread : threads)
    thread.join();
  if (work.failed)
    throw Error(work.message);
  LaunchResult result;
  result.counters = std::move(work.counters);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

} // namespace fovea::emulator
