// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Fuzz.h. Files are written without looking at what came before, since targets write
// thousands a second.
#include "test/fuzz/support/Fuzz.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

namespace fovea::fuzz {

void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
  std::abort();
}

void touch(const void *data, size_t size) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  unsigned sum = size ? bytes[size - 1] : 0;
  for (size_t i = 0; i < size; i += 4096)
    sum += bytes[i];
  static volatile unsigned sink = 0;
  sink = sink + sum;
}

void checkProblems(const Problems &problems, bool isMade) {
  for (const Problem &problem : problems)
    (void)problem.text();
  require(isMade || hasErrors(problems), "what is refused has an error");
}

//===-- Random changes -----------------------------------------------------------------------===//

uint64_t Random::next() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t oddNumber(Random &random) {
  static constexpr uint64_t numbers[] = {
      0,          1,           2,          3,         7,          8,          16,
      63,         64,          65,         127,       128,        255,        256,
      1000,       4095,        4096,       4097,      8191,       8192,       65535,
      65536,      1u << 20,    1u << 24,   1u << 30,  0x7fffffff, 0x80000000, 0xffffffff,
      1ull << 32, 1ull << 40,  1ull << 62, INT64_MAX, 1ull << 63, ~0ull,      ~0ull - 1,
      ~0ull - 63, ~0ull - 4095};
  return random.of(numbers);
}

uint64_t changedNumber(uint64_t number, Random &random) {
  switch (random.below(5)) {
  case 0:
    return number + 1;
  case 1:
    return number - 1;
  case 2:
    return random.oneIn(2) ? number * 2 : number / 2;
  case 3:
    return random.below(256);
  default:
    return oddNumber(random);
  }
}

void changeText(std::string &text, Random &random) {
  size_t before = std::min<size_t>(text.size(), 4096);
  text.resize(before + 16);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(text.data()), before, text.size()));
}

size_t give(std::string_view bytes, uint8_t *data, size_t size, size_t most) {
  if (bytes.size() > most)
    return size;
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

//===-- Files --------------------------------------------------------------------------------===//

static void writeAll(int descriptor, std::string_view content) {
  size_t done = 0;
  while (done < content.size()) {
    ssize_t count = ::pwrite(descriptor, content.data() + done, content.size() - done,
                             static_cast<off_t>(done));
    if (count < 0 && errno == EINTR)
      continue;
    require(count > 0, "a temporary file can be written");
    done += static_cast<size_t>(count);
  }
}

MemoryFile::MemoryFile(std::string_view content)
    : descriptor(::memfd_create("fovea-fuzz", MFD_CLOEXEC)) {
  require(descriptor >= 0, "a file in memory can be made");
  set(content);
}

MemoryFile::~MemoryFile() { ::close(descriptor); }

void MemoryFile::set(std::string_view content) {
  if (content.size() != size)
    require(::ftruncate(descriptor, static_cast<off_t>(content.size())) == 0,
            "a file in memory can be cut");
  size = content.size();
  writeAll(descriptor, content);
}

Folder::Folder() {
  root = (std::filesystem::temp_directory_path() / "fovea-fuzz-XXXXXX").string();
  require(::mkdtemp(root.data()) != nullptr, "a temporary folder can be made");
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(root, ignored);
}

void Folder::write(const std::string &name, std::string_view content) const {
  std::string path = file(name);
  int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0 && errno == ENOENT) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  }
  require(descriptor >= 0, "a temporary file can be made");
  writeAll(descriptor, content);
  ::close(descriptor);
}

void Folder::remove(const std::string &name) const { ::unlink(file(name).c_str()); }

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), "a kept file can be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string readKept(const std::string &pathFromRoot) {
  return readFile(std::string(FOVEA_SOURCE_DIR) + "/" + pathFromRoot);
}

} // namespace fovea::fuzz
