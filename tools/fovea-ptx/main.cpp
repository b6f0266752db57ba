// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fovea-ptx: looks into PTX files and runs their kernels on the emulator.
#include "tools/fovea-ptx/Arguments.h"

#include "emulator/Float.h"

#include <cstdio>
#include <iostream>

using namespace fovea;
using namespace fovea::emulator;

namespace {
const char *const help =
    R"(usage: fovea-ptx FILE.ptx                            list entries, their parameters and memory
       fovea-ptx FILE.ptx ENTRY [option]... [ARGUMENT]...   run an entry on the emulator

The emulator checks every access: bounds, alignment, bytes that nobody wrote, races in shared memory,
asynchronous work that is not waited for, barriers. A fault is one message with block, thread and
line; the exit code is then 1.

options:
  --grid=X[,Y[,Z]]    blocks (1)
  --block=X[,Y[,Z]]   threads of a block (1)
  --shared=BYTES      dynamic shared memory (0)
  --schedule=WHEN     early, late or both (early): when asynchronous work completes. A right kernel
                      gives the same bits both ways; `both` runs twice and compares
  --threads=N         host threads; 0 for one on each processor (0)
  --print=N           show the first N elements of each buffer afterwards (8)
  --save=FILE.npz     write all buffers afterwards
  --counters          show what was done as JSON: bank conflicts, sectors, bytes by engine, ...
  --loose             do not check for unwritten bytes and races

arguments, in the order of the parameters:
  f32:0.5  u32:7  s64:-1           numbers (s8 to s64, u8 to u64, f16, bf16, f32, f64)
  new:f32:COUNT                    memory that nobody has written, for results
  zeros:f32:COUNT  range:u32:COUNT  random:bf16:COUNT[:SEED]
  npz:FILE:NAME                    an array of a .npz file
  map:1:bf16:512x128:64x64:128     a tensor map by value: of argument 1, a buffer of 512x128 elements, boxes
                                   of 64x64 with a swizzle of 128 bytes

example: scale 1000 numbers, 128 threads a block
  fovea-ptx scale.ptx scale --grid=8 --block=128 new:f32:1000 range:f32:1000 f32:0.5 u32:1000
)";

struct Options {
  LaunchShape shape;
  LaunchOptions launch;
  bool both = false, counters = false;
  uint64_t print = 8;
  std::string save;
};

uint64_t parse(const std::string &text, const std::string &whole) {
  char *end = nullptr;
  uint64_t value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end || text[0] == '-' || text.size() > 15)
    fail("expects a number in '", whole, "'");
  return value;
}

template <typename T> void three(const std::string &text, const std::string &whole, T *values) {
  size_t start = 0;
  for (int i = 0; i < 3; ++i) {
    size_t comma = text.find(',', start);
    values[i] = static_cast<T>(
        std::min<uint64_t>(parse(text.substr(start, comma - start), whole), 0xffffffff));
    if (comma == std::string::npos)
      return;
    start = comma + 1;
  }
  fail("expects at most three numbers in '", whole, "'");
}

void option(const std::string &text, Options &options) {
  size_t equals = text.find('=');
  std::string name = text.substr(0, equals),
              value = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (name == "--grid")
    three(value, text, options.shape.grid);
  else if (name == "--block")
    three(value, text, options.shape.block);
  else if (name == "--shared")
    options.shape.dynamicShared = parse(value, text);
  else if (name == "--threads")
    options.launch.threads = static_cast<unsigned>(std::min<uint64_t>(parse(value, text), 256));
  else if (name == "--print")
    options.print = parse(value, text);
  else if (name == "--save" && !value.empty())
    options.save = value;
  else if (text == "--counters")
    options.counters = true;
  else if (text == "--loose")
    options.launch.checkShared = options.launch.checkUnwritten = false;
  else if (name == "--schedule" && (value == "early" || value == "late" || value == "both")) {
    options.both = value == "both";
    options.launch.schedule =
        value == "late" ? LaunchOptions::Schedule::Late : LaunchOptions::Schedule::Early;
  } else
    fail("does not know the option '", text, "'; --help lists them");
}

void list(const Module &module) {
  std::cout << module.file() << ": PTX " << module.versionMajor() << "." << module.versionMinor()
            << " for " << module.target() << "\n";
  Device device;
  auto program = device.load(Module::load(module.file()));
  for (const std::string &name : module.entryNames()) {
    const Function &entry = module.entry(name);
    std::cout << "entry " << name << "\n";
    for (const Parameter &parameter : entry.parameters)
      std::cout << "  parameter " << parameter.name << ": ." << nameOf(parameter.type)
                << (parameter.size > bytesOf(parameter.type) ? text("[", parameter.size, "]") : "")
                << " at byte " << parameter.offset << "\n";
    const uint32_t *threads = entry.requiredThreads[0] ? entry.requiredThreads : entry.maxThreads;
    if (threads[0])
      std::cout << "  " << (entry.requiredThreads[0] ? "exactly " : "at most ") << threads[0]
                << " x " << threads[1] << " x " << threads[2] << " threads\n";
    auto kernel = device.kernel(*program, name);
    std::cout << "  " << kernel->staticShared << " bytes of shared memory"
              << (kernel->localBytes ? text(", ", kernel->localBytes, " of local memory a thread")
                                     : "")
              << ", " << entry.statements.size() << " instructions\n";
  }
}

double valueOf(const verbs::Array &array, uint64_t i) {
  uint64_t bits = 0;
  unsigned width = array.dtype.bits / 8;
  std::memcpy(&bits, array.data.data() + i * width, width);
  if (array.dtype.code == 4)
    return fromBf16(static_cast<uint16_t>(bits));
  if (array.dtype.code == 2)
    return width == 2   ? fromF16(static_cast<uint16_t>(bits))
           : width == 4 ? bitsAs<float>(static_cast<uint32_t>(bits))
                        : bitsAs<double>(bits);
  if (array.dtype.code == 0)
    return static_cast<double>(static_cast<int64_t>(bits << (64 - 8 * width)) >> (64 - 8 * width));
  return static_cast<double>(bits);
}

/// Runs once on a new device; returns the buffers with their data.
std::vector<Buffer> run(std::shared_ptr<const Module> module, const std::string &entry,
                        const std::vector<std::string> &texts, const Options &options,
                        LaunchResult &result) {
  Device device;
  auto program = device.load(std::move(module));
  Arguments arguments;
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < texts.size(); ++i)
    addArgument(texts[i], i, device, arguments, buffers);
  result = device.launch(*program, entry, options.shape, arguments, options.launch);
  for (Buffer &buffer : buffers) {
    uint64_t bytes = buffer.array.dtype.bits / 8;
    for (int64_t extent : buffer.array.shape)
      bytes *= static_cast<uint64_t>(extent);
    buffer.array.data.resize(bytes);
    device.memory().read(buffer.address, buffer.array.data.data(), bytes, true);
  }
  return buffers;
}

void runAndShow(std::shared_ptr<const Module> module, const std::string &entry,
                const std::vector<std::string> &texts, Options options) {
  LaunchResult result;
  std::vector<Buffer> buffers = run(module, entry, texts, options, result);
  if (options.both) {
    LaunchResult other;
    options.launch.schedule = LaunchOptions::Schedule::Late;
    std::vector<Buffer> late = run(module, entry, texts, options, other);
    for (size_t i = 0; i < buffers.size(); ++i)
      if (buffers[i].array.data != late[i].array.data)
        fail(module->file(), ": ", entry, ": early and late runs differ in ", buffers[i].name,
             ": asynchronous work is not waited for");
  }
  std::cout << result.counters.instructions << " warp instructions in " << result.seconds << " s\n";
  for (const Buffer &buffer : buffers) {
    std::cout << buffer.name << ":";
    uint64_t count = buffer.array.data.size() / (buffer.array.dtype.bits / 8);
    for (uint64_t i = 0; i < std::min(count, options.print); ++i)
      std::cout << " " << valueOf(buffer.array, i);
    std::cout << (count > options.print ? " ...\n" : "\n");
  }
  if (options.counters)
    std::cout << result.counters.json();
  if (!options.save.empty()) {
    std::vector<verbs::Array> arrays;
    for (Buffer &buffer : buffers)
      arrays.push_back(std::move(buffer.array));
    std::string error;
    if (!verbs::writeNpz(options.save, arrays, error))
      fail(error);
  }
}
} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc), positional;
  try {
    Options options;
    options.launch.threads = 0;
    for (const std::string &word : words) {
      if (word == "--help" || word == "-h") {
        std::cout << help;
        return 0;
      }
      if (word.compare(0, 2, "--") == 0)
        option(word, options);
      else
        positional.push_back(word);
    }
    if (positional.empty()) {
      std::cerr << help;
      return 2;
    }
    auto module = Module::load(positional[0]);
    if (positional.size() == 1)
      list(*module);
    else
      runAndShow(module, positional[1], {positional.begin() + 2, positional.end()}, options);
    return 0;
  } catch (const Error &error) {
    std::cerr << "fovea-ptx: " << error.what() << "\n";
  } catch (const std::bad_alloc &) {
    std::cerr << "fovea-ptx: out of memory\n";
  }
  return 1;
}
