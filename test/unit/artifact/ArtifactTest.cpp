// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writer and reader of artifacts: what is written is read back, the same input
// gives the same bytes, and no damaged or unwritable file passes.
#include "artifact/ArtifactReader.h"
#include "artifact/ArtifactWriter.h"
#include "artifact/ManifestCheck.h"
#include "artifact/Temporary.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace fovea;
using namespace fovea::artifact;
using manifest::ElementType;

namespace {

class ArtifactTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "fovea-artifact-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    path = (folder / "model.fovea").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  size_t filesInFolder() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  static std::unique_ptr<manifest::ValueT> tensor(std::string name, std::vector<int64_t> shape) {
    auto value = std::make_unique<manifest::ValueT>();
    value->name = std::move(name);
    value->element = ElementType::F32;
    value->shape = std::move(shape);
    return value;
  }

  static manifest::ManifestT makeManifest() {
    manifest::ManifestT manifest;
    manifest.compiler = "test";
    manifest.model = std::make_unique<manifest::ModelInfoT>();
    manifest.model->architecture = "none";
    manifest.model->end_tokens = {1, 2};
    auto kernel = std::make_unique<manifest::KernelT>();
    kernel->name = "add";
    manifest.kernels.push_back(std::move(kernel));
    auto entry = std::make_unique<manifest::EntryT>();
    entry->name = "forward";
    entry->arguments.push_back(tensor("a", {-1, 3}));
    entry->results.push_back(tensor("b", {-1, 3}));
    entry->locals = 3;
    entry->steps.push_back(std::make_unique<manifest::StepT>());
    entry->steps.back()->location = "here";
    manifest.entries.push_back(std::move(entry));
    return manifest;
  }

  /// Adds two better processors; `write` adds their code.
  static manifest::ManifestT withVariants(manifest::ManifestT manifest) {
    for (const char *name : {"best", "better"}) {
      auto variant = std::make_unique<manifest::VariantT>();
      variant->name = name;
      variant->cpu_features = {"avx2"};
      auto kernel = std::make_unique<manifest::KernelT>();
      kernel->name = std::string("add_") + name;
      variant->kernels.push_back(std::move(kernel));
      auto program = std::make_unique<manifest::ProgramT>();
      program->locals = 4;
      program->steps.push_back(std::make_unique<manifest::StepT>());
      variant->programs.push_back(std::move(program));
      manifest.variants.push_back(std::move(variant));
    }
    return manifest;
  }

  /// Adds two devices; `write` adds their code.
  static manifest::ManifestT withDevices(manifest::ManifestT manifest) {
    for (const char *chip : {"sm_80", "sm_90a"}) {
      auto device = std::make_unique<manifest::DeviceT>();
      device->chip = chip;
      auto kernel = std::make_unique<manifest::KernelT>();
      kernel->name = "add";
      kernel->threads = 128;
      kernel->shared_bytes = 1024;
      device->kernels.push_back(std::move(kernel));
      auto program = std::make_unique<manifest::ProgramT>();
      program->locals = 4;
      program->steps.push_back(std::make_unique<manifest::StepT>());
      device->programs.push_back(std::move(program));
      manifest.devices.push_back(std::move(device));
    }
    return manifest;
  }

  /// Two weights with a gap of 4 bytes between, code and tokenizer of a few bytes.
  bool write(const std::string &to, manifest::ManifestT manifest, std::string &error) {
    auto writer = ArtifactWriter::create(to, error);
    if (!writer)
      return false;
    std::vector<float> values(15);
    std::iota(values.begin(), values.end(), 1.0f);
    unsigned first = writer->addWeight("first", ElementType::F32, {3, 5}, {}, 60);
    unsigned second = writer->addWeight("second", ElementType::U8, {5}, {}, 5);
    if (!writer->appendWeight(second, "abcde", 5, error) ||
        !writer->appendWeight(first, values.data(), 20, error) ||
        !writer->appendWeight(first, values.data() + 5, 40, error))
      return false;
    writer->setCode({1, 2, 3});
    writer->setTokenizer({4, 5});
    for (const auto &device : manifest.devices)
      if (device && device->chip == "sm_80")
        writer->addDeviceCode(".version 8.0", {}, {6, 7, 8});
      else
        writer->addDeviceCode(".version 8.1", {9}, {10, 11});
    for (const auto &variant : manifest.variants)
      writer->addVariantCode({static_cast<uint8_t>(variant->name.size()), 7});
    return writer->finish(std::move(manifest), error);
  }

  static std::vector<char> readAll(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void writeAll(const std::string &path, const std::vector<char> &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  std::filesystem::path folder;
  std::string path;
};

TEST_F(ArtifactTest, ReadsBackWhatWasWritten) {
  std::string error;
  ASSERT_TRUE(write(path, makeManifest(), error)) << error;
  EXPECT_EQ(filesInFolder(), 1u);
  auto reader = ArtifactReader::open(path, error);
  ASSERT_TRUE(reader) << error;
  EXPECT_EQ(reader->manifest().entries[0]->name, "forward");
  EXPECT_EQ(reader->manifest().entries[0]->arguments[0]->shape, (std::vector<int64_t>{-1, 3}));
  ASSERT_EQ(reader->manifest().weights.size(), 2u);
  EXPECT_EQ(reinterpret_cast<const float *>(reader->weight(0).data)[14], 15.0f);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(reader->weight(1).data) % weightAlignment, 0u);
  EXPECT_EQ(
      std::string(reinterpret_cast<const char *>(reader->weight(1).data), reader->weight(1).size),
      "abcde");
  EXPECT_EQ(reader->code().size, 3u);
  EXPECT_EQ(reader->tokenizer().size, 2u);
  EXPECT_TRUE(reader->verifyAll(error)) << error;
}

TEST_F(ArtifactTest, ReadsBackDeviceCode) {
  std::string error;
  ASSERT_TRUE(write(path, withDevices(makeManifest()), error)) << error;
  auto reader = ArtifactReader::open(path, error);
  ASSERT_TRUE(reader) << error;
  auto text = [&](const std::unique_ptr<manifest::Range> &range) {
    Bytes bytes = reader->otherCode(range.get());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes.data) % weightAlignment, 0u);
    return std::string(reinterpret_cast<const char *>(bytes.data), bytes.size);
  };
  ASSERT_EQ(reader->manifest().devices.size(), 2u);
  const manifest::DeviceT &first = *reader->manifest().devices[0],
                          &second = *reader->manifest().devices[1];
  EXPECT_EQ(first.chip, "sm_80");
  EXPECT_EQ(first.kernels[0]->threads, 128u);
  EXPECT_EQ(text(first.ptx), ".version 8.0");
  EXPECT_EQ(text(first.cubin), "");
  EXPECT_EQ(text(first.host), "\6\7\b");
  EXPECT_EQ(text(second.ptx), ".version 8.1");
  EXPECT_EQ(text(second.cubin), "\t");
  EXPECT_EQ(text(second.host), "\n\v");
}

TEST_F(ArtifactTest, AVariantTakesThePlaceOfTheCode) {
  std::string error;
  ASSERT_TRUE(write(path, withVariants(withDevices(makeManifest())), error)) << error;
  auto reader = ArtifactReader::open(path, error);
  ASSERT_TRUE(reader) << error;
  EXPECT_EQ(reader->code().size, 3u);
  uint32_t locals = reader->manifest().entries[0]->locals;
  reader->select(1);
  const manifest::ManifestT &manifest = reader->manifest();
  ASSERT_EQ(reader->code().size, 2u);
  EXPECT_EQ(reader->code().data[0], 6);
  EXPECT_EQ(manifest.target, "better");
  EXPECT_EQ(manifest.cpu_features, std::vector<std::string>{"avx2"});
  EXPECT_EQ(manifest.entries[0]->locals, 4u);
  EXPECT_EQ(manifest.entries[0]->steps.size(), 1u);
  ASSERT_EQ(manifest.kernels.size(), 1u);
  EXPECT_EQ(manifest.kernels[0]->name, "add_better");
  // What stood there before is the variant now.
  EXPECT_EQ(manifest.variants[1]->programs[0]->locals, locals);
  EXPECT_TRUE(reader->verifyAll(error)) << error;
}

TEST_F(ArtifactTest, SameInputGivesSameBytes) {
  std::string error, other = (folder / "other.fovea").string();
  ASSERT_TRUE(write(path, makeManifest(), error)) << error;
  ASSERT_TRUE(write(other, makeManifest(), error)) << error;
  EXPECT_EQ(readAll(path), readAll(other));
}

TEST_F(ArtifactTest, EveryChangedByteIsFound) {
  std::string error;
  ASSERT_TRUE(write(path, withVariants(withDevices(makeManifest())), error)) << error;
  std::vector<char> bytes = readAll(path);
  std::string damaged = (folder / "damaged.fovea").string();
  writeAll(damaged, bytes);
  int file = ::open(damaged.c_str(), O_WRONLY);
  ASSERT_GE(file, 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    // All bits, one bit, and one of another place: a value that happens to be
    // accepted would show.
    char changed = static_cast<char>(bytes[i] ^ (i % 3 == 0 ? 0xff : 1 << i % 8));
    ASSERT_EQ(::pwrite(file, &changed, 1, static_cast<off_t>(i)), 1);
    ASSERT_FALSE(ArtifactReader::open(damaged, error)) << "byte " << i;
    ASSERT_EQ(error.rfind(damaged + ": ", 0), 0u) << error;
    ASSERT_EQ(::pwrite(file, &bytes[i], 1, static_cast<off_t>(i)), 1);
  }
  ::close(file);
  EXPECT_TRUE(ArtifactReader::open(damaged, error)) << error;
}

TEST_F(ArtifactTest, EveryTruncationIsFound) {
  std::string error;
  ASSERT_TRUE(write(path, withVariants(withDevices(makeManifest())), error)) << error;
  for (size_t size = std::filesystem::file_size(path); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    ASSERT_FALSE(ArtifactReader::open(path, error)) << "size " << size;
    ASSERT_FALSE(error.empty());
  }
}

TEST_F(ArtifactTest, BytesAfterTheEndAreFound) {
  std::string error;
  ASSERT_TRUE(write(path, makeManifest(), error)) << error;
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + 1);
  EXPECT_FALSE(ArtifactReader::open(path, error));
  EXPECT_NE(error.find("bytes after its end"), std::string::npos) << error;
}

TEST_F(ArtifactTest, ADamagedWeightIsNamed) {
  std::string error;
  ASSERT_TRUE(write(path, makeManifest(), error)) << error;
  std::vector<char> bytes = readAll(path);
  bytes[pageSize + 64] ^= 1;
  writeAll(path, bytes);
  EXPECT_FALSE(ArtifactReader::open(path, error));
  EXPECT_NE(error.find("weight 'second'"), std::string::npos) << error;
}

TEST_F(ArtifactTest, OtherFilesAreRefused) {
  std::string error;
  EXPECT_FALSE(ArtifactReader::open((folder / "none").string(), error));
  EXPECT_NE(error.find("No such file"), std::string::npos) << error;
  EXPECT_FALSE(ArtifactReader::open(folder.string(), error));
  EXPECT_NE(error.find("expects a regular file, got a folder"), std::string::npos) << error;
  writeAll(path, std::vector<char>(10000, 'x'));
  EXPECT_FALSE(ArtifactReader::open(path, error));
  EXPECT_NE(error.find("not a Fovea artifact"), std::string::npos) << error;
}

TEST_F(ArtifactTest, LargeWeightsAreCheckedOnRequest) {
  std::string error;
  uint64_t size = ArtifactReader::weightsCheckedOnOpening + 1;
  {
    auto writer = ArtifactWriter::create(path, error);
    ASSERT_TRUE(writer) << error;
    unsigned weight =
        writer->addWeight("big", ElementType::U8, {static_cast<int64_t>(size)}, {}, size);
    std::vector<char> chunk(1 << 20, 3);
    for (uint64_t at = 0; at < size; at += chunk.size())
      ASSERT_TRUE(writer->appendWeight(weight, chunk.data(),
                                       std::min<uint64_t>(chunk.size(), size - at), error))
          << error;
    writer->setCode({1});
    ASSERT_TRUE(writer->finish(makeManifest(), error)) << error;
  }
  int file = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(file, "x", 1, 5000), 1);
  ::close(file);
  auto reader = ArtifactReader::open(path, error);
  ASSERT_TRUE(reader) << error;
  EXPECT_FALSE(reader->verifyAll(error));
  EXPECT_NE(error.find("weight 'big'"), std::string::npos) << error;
}

TEST_F(ArtifactTest, ACopyOutlivesItsFile) {
  std::string error;
  ASSERT_TRUE(write(path, makeManifest(), error)) << error;
  auto reader = ArtifactReader::open(path, error, FileAccess::Copied);
  ASSERT_TRUE(reader) << error;
  const uint8_t *weight = reader->weight(0).data;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weight) % weightAlignment, 0u);
  EXPECT_EQ(findMappedFile(weight), nullptr);
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(reinterpret_cast<const float *>(weight)[14], 15.0f);
  EXPECT_TRUE(reader->verifyAll(error)) << error;
}

TEST_F(ArtifactTest, MappedFilesAreFoundByAddress) {
  std::string error, other = (folder / std::string(200, 'x')).string();
  ASSERT_TRUE(write(path, makeManifest(), error) && write(other, makeManifest(), error)) << error;
  auto first = ArtifactReader::open(path, error), second = ArtifactReader::open(other, error);
  ASSERT_TRUE(first && second) << error;
  const uint8_t *weight = first->weight(1).data;
  EXPECT_STREQ(findMappedFile(weight + 4), path.c_str());
  EXPECT_STREQ(findMappedFile(second->weight(0).data), other.c_str());
  EXPECT_EQ(findMappedFile(&error), nullptr);
  EXPECT_EQ(findMappedFile(nullptr), nullptr);
  first.reset();
  EXPECT_EQ(findMappedFile(weight + 4), nullptr);
}

TEST_F(ArtifactTest, AFileThatIsCutBeforeItIsCopiedIsRefused) {
  std::ofstream(path) << "four";
  int file = ::open(path.c_str(), O_RDONLY);
  std::string error;
  auto view = FileView::open(file, 4, path, FileAccess::Copied, error);
  ASSERT_TRUE(view) << error;
  EXPECT_EQ(std::memcmp(view->data(), "four", 4), 0);
  EXPECT_FALSE(FileView::open(file, 9, path, FileAccess::Copied, error));
  EXPECT_NE(error.find("expects 9 bytes, got 4"), std::string::npos) << error;
  ::close(file);
}

TEST_F(ArtifactTest, WeightsMayBeWrittenInParallel) {
  std::string error, sequential = (folder / "sequential").string();
  constexpr unsigned count = 40;
  auto make = [&](const std::string &to, unsigned threads) {
    auto writer = ArtifactWriter::create(to, error);
    ASSERT_TRUE(writer) << error;
    for (unsigned i = 0; i < count; ++i)
      writer->addWeight("w" + std::to_string(i), ElementType::U8, {100 + i}, {}, 100 + i);
    std::vector<std::thread> workers;
    for (unsigned t = 0; t < threads; ++t)
      workers.emplace_back([&, t] {
        std::string own;
        for (unsigned i = t; i < count; i += threads)
          for (unsigned done = 0; done < 100 + i; ++done)
            if (char byte = static_cast<char>(i * done); !writer->appendWeight(i, &byte, 1, own))
              ADD_FAILURE() << own;
      });
    for (std::thread &worker : workers)
      worker.join();
    writer->setCode({1});
    ASSERT_TRUE(writer->finish(makeManifest(), error)) << error;
  };
  make(path, 4);
  make(sequential, 1);
  EXPECT_EQ(readAll(path), readAll(sequential));
}

TEST_F(ArtifactTest, UnfinishedLeavesNothing) {
  std::string error;
  {
    auto writer = ArtifactWriter::create(path, error);
    ASSERT_TRUE(writer) << error;
    writer->addWeight("w", ElementType::U8, {4}, {}, 4);
    EXPECT_EQ(filesInFolder(), 1u);
    EXPECT_FALSE(writer->finish(makeManifest(), error));
    EXPECT_NE(error.find("weight 'w' expects 4 bytes, got 0"), std::string::npos) << error;
  }
  EXPECT_EQ(filesInFolder(), 0u);
  {
    auto writer = ArtifactWriter::create(path, error);
    unsigned weight = writer->addWeight("w", ElementType::U8, {4}, {}, 4);
    EXPECT_FALSE(writer->appendWeight(weight, "12345", 5, error));
    writer->setCode({1});
    EXPECT_FALSE(writer->finish(makeManifest(), error));
  }
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(ArtifactTest, AFailedWriteKeepsTheOldFile) {
  std::string error;
  ASSERT_TRUE(write(path, makeManifest(), error)) << error;
  std::vector<char> before = readAll(path);
  manifest::ManifestT wrong = makeManifest();
  wrong.entries[0]->steps[0]->kernel = 9;
  EXPECT_FALSE(write(path, std::move(wrong), error));
  EXPECT_NE(error.find("step 0 names kernel 9; expects one of 1"), std::string::npos) << error;
  EXPECT_EQ(readAll(path), before);
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(ArtifactTest, AnUnwritableFolderIsNamed) {
  std::string error;
  EXPECT_FALSE(ArtifactWriter::create((folder / "none" / "x.fovea").string(), error));
  EXPECT_NE(error.find("No such file or directory"), std::string::npos) << error;
  EXPECT_FALSE(ArtifactWriter::create(folder.string(), error));
  EXPECT_NE(error.find("is a directory"), std::string::npos) << error;
  EXPECT_FALSE(ArtifactWriter::create("/proc/x.fovea", error));
  EXPECT_NE(error.find("/proc"), std::string::npos) << error;
}

/// A limit on the file's size stands in for a full disk: both make write() fail
/// half way.
TEST_F(ArtifactTest, AFullDiskLeavesNothing) {
  pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {8192, 8192};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::string error;
    bool ok;
    {
      auto writer = ArtifactWriter::create(path, error);
      unsigned weight = writer->addWeight("w", ElementType::U8, {20000}, {}, 20000);
      std::vector<char> bytes(20000, 1);
      ok = !writer->appendWeight(weight, bytes.data(), bytes.size(), error) &&
           error.find(path + ": cannot write") == 0;
      writer->setCode({1});
      ok = ok && !writer->finish(makeManifest(), error) && error.find(path + ": cannot write") == 0;
    }
    ::_exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(ArtifactTest, AFileWithoutANameIsWrittenInPlace) {
  int file = ::memfd_create("artifact", 0);
  std::string name = "/proc/self/fd/" + std::to_string(file), error;
  ASSERT_TRUE(write(path, makeManifest(), error)) << error;
  ASSERT_TRUE(write(name, makeManifest(), error)) << error;
  EXPECT_EQ(readAll(name), readAll(path));
  EXPECT_TRUE(ArtifactReader::open(name, error)) << error;
  ::close(file);
  EXPECT_EQ(filesInFolder(), 1u);
}

TEST_F(ArtifactTest, ATemporaryFileIsThereWholeOrNotAtAll) {
  auto text = [&](const std::string &of) {
    std::vector<char> bytes = readAll(of);
    return std::string(bytes.begin(), bytes.end());
  };
  {
    TemporaryFile file(path);
    ASSERT_TRUE(file.good() && file.write("before"));
    EXPECT_FALSE(std::filesystem::exists(path));
    ASSERT_TRUE(std::filesystem::exists(file.getName()));
  }
  EXPECT_EQ(filesInFolder(), 0u);
  TemporaryFile first(path), second(path);
  EXPECT_NE(first.getName(), second.getName());
  ASSERT_TRUE(second.write("one") && second.keep());
  EXPECT_EQ(second.getName(), "");
  EXPECT_EQ(text(path), "one");
  // At any place, over what there is; a link stays one.
  std::string link = (folder / "link").string();
  std::filesystem::create_symlink(path, link);
  TemporaryFile third(link);
  ASSERT_TRUE(third.writeAt(2, "34", 2) && third.writeAt(0, "12", 2) && third.keep());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(text(path), "1234");
  mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666 & ~mask);
  EXPECT_EQ(filesInFolder(), 3u) << "the target, a link, and what `first` still writes";
}

TEST_F(ArtifactTest, ATemporaryFileRemovesWhatIsAbandoned) {
  // A process that is killed while it writes: its lock goes, its file stays.
  int made[2];
  ASSERT_EQ(::pipe(made), 0);
  pid_t child = ::fork();
  if (child == 0) {
    TemporaryFile file(path);
    if (file.write("half") && ::write(made[1], "x", 1) == 1)
      ::pause();
    ::_exit(1);
  }
  char byte;
  ASSERT_EQ(::read(made[0], &byte, 1), 1);
  {
    TemporaryFile other(path);
  }
  EXPECT_EQ(filesInFolder(), 1u) << "its maker lives";
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(filesInFolder(), 1u);
  {
    TemporaryFile other(path);
  }
  EXPECT_EQ(filesInFolder(), 0u);
  ::close(made[0]);
  ::close(made[1]);
}

TEST_F(ArtifactTest, ATemporaryFileThatCannotBeMadeSaysWhy) {
  TemporaryFile none((folder / "none" / "x").string());
  EXPECT_FALSE(none.good());
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(none.getName(), "");
  TemporaryFile directory(folder.string());
  EXPECT_FALSE(directory.good());
  EXPECT_EQ(errno, EISDIR);
  TemporaryFile full("/dev/full");
  EXPECT_TRUE(full.good());
  EXPECT_FALSE(full.write("x"));
  EXPECT_EQ(errno, ENOSPC);
  TemporaryFile null("/dev/null");
  EXPECT_TRUE(null.write("x") && null.keep());
}

static void addPromptToken(manifest::ManifestT &manifest, int64_t token,
                           std::vector<std::string> values, std::vector<int64_t> tokens) {
  auto one = std::make_unique<manifest::PromptTokenT>();
  one->token = token;
  one->values = std::move(values);
  one->tokens = std::move(tokens);
  manifest.model->prompt.push_back(std::move(one));
}

/// Each entry: how to spoil a sound manifest, and what the message says.
TEST_F(ArtifactTest, ManifestsThatReferToNothingAreRefused) {
  struct Case {
    void (*spoil)(manifest::ManifestT &);
    const char *message;
  };
  const Case cases[] = {
      {[](manifest::ManifestT &m) { m.model.reset(); }, "no model"},
      {[](manifest::ManifestT &m) { m.model->end_tokens = {-3}; }, "end token -3"},
      {[](manifest::ManifestT &m) { m.model->suppressed_tokens = {-3}; }, "suppressed token -3"},
      {[](manifest::ManifestT &m) { addPromptToken(m, -1, {}, {}); }, "token of the prompt"},
      {[](manifest::ManifestT &m) { addPromptToken(m, 3, {"a", "b"}, {1}); },
       "token of the prompt"},
      {[](manifest::ManifestT &m) { m.model->sampling_rate = -1; }, "sampling_rate"},
      {[](manifest::ManifestT &m) { m.model->vocabulary_size = -1; }, "vocabulary_size"},
      {[](manifest::ManifestT &m) { m.model->forced_end_token = -2; }, "forced token"},
      {[](manifest::ManifestT &m) { m.model->no_repeat_ngram = -1; }, "no_repeat_ngram"},
      {[](manifest::ManifestT &m) { m.model->score_function = manifest::ScoreFunction(3); },
       "unknown score function 3"},
      {[](manifest::ManifestT &m) { m.entries.clear(); }, "no entry"},
      {[](manifest::ManifestT &m) { m.entries[0]->name = "a/b"; }, "entry 'a/b'"},
      {[](manifest::ManifestT &m) { m.entries[0]->locals = 2; }, "between 3 and"},
      {[](manifest::ManifestT &m) { m.entries[0]->locals = 1u << 30; }, "between 3 and"},
      {[](manifest::ManifestT &m) { m.entries[0]->steps[0]->bytes = 3; }, "cost at local 3 of 3"},
      {[](manifest::ManifestT &m) { m.entries[0]->arguments[0]->shape = {-2, 3}; }, "size -2"},
      {[](manifest::ManifestT &m) { m.entries[0]->arguments[0]->element = ElementType::None; },
       "unknown element type"},
      {[](manifest::ManifestT &m) { m.entries[0]->arguments[0]->dims = {"x"}; },
       "a dimension name for each of 2"},
      {[](manifest::ManifestT &m) { m.entries[0]->arguments[0]->shape.resize(17, 1); }, "rank 17"},
      {[](manifest::ManifestT &m) { m.entries[0]->arguments.push_back(tensor("a", {})); },
       "argument 'a' has no name or is there twice"},
      {[](manifest::ManifestT &m) { m.entries[0]->results[0]->continues = 0; },
       "is a tensor and continues"},
      {[](manifest::ManifestT &m) {
         auto cache = tensor("c", {});
         cache->kind = manifest::ValueKind::Cache;
         m.entries[0]->arguments.push_back(std::move(cache));
       },
       "heads and size from 1"},
      {[](manifest::ManifestT &m) {
         auto cache = tensor("c", {});
         cache->kind = manifest::ValueKind::Cache;
         cache->heads = cache->size = 2;
         cache->continues = 0;
         m.entries[0]->locals = 8;
         m.entries[0]->results.push_back(std::move(cache));
       },
       "which is no cache of its kind"},
      {[](manifest::ManifestT &m) { m.kernels.push_back(std::make_unique<manifest::KernelT>()); },
       "kernels: ''"},
      {[](manifest::ManifestT &m) { m.devices[1]->chip = "sm_80"; }, "device 'sm_80'"},
      {[](manifest::ManifestT &m) { m.devices[0]->chip = "../x"; }, "device '../x'"},
      {[](manifest::ManifestT &m) { m.devices[0]->kernels[0]->threads = 0; }, "1 to 1024 threads"},
      {[](manifest::ManifestT &m) { m.devices[0]->kernels[0]->threads = 1025; },
       "1 to 1024 threads"},
      {[](manifest::ManifestT &m) { m.devices[0]->kernels[0]->shared_bytes = 1u << 30; },
       "bytes of shared memory"},
      {[](manifest::ManifestT &m) { m.devices[1]->programs.clear(); },
       "device 'sm_90a': expects a program for each of 1 entries, got 0"},
      {[](manifest::ManifestT &m) { m.devices[1]->programs[0]->locals = 2; }, "between 3 and"},
      {[](manifest::ManifestT &m) { m.devices[1]->programs[0]->steps[0]->kernel = 1; },
       "step 0 names kernel 1; expects one of 1"},
      {[](manifest::ManifestT &m) { m.devices[0]->programs[0]->steps[0]->flops = 4; },
       "cost at local 4 of 4"},
      {[](manifest::ManifestT &m) { m.variants[0]->kernels[0]->name = ""; },
       "variant 'best': kernels: ''"},
      {[](manifest::ManifestT &m) { m.variants[1]->programs.clear(); },
       "variant 'better': expects a program for each of 1 entries, got 0"},
      {[](manifest::ManifestT &m) { m.variants[1]->programs[0]->locals = 0; },
       "variant 'better': entry"},
  };
  for (const Case &each : cases) {
    std::string error;
    manifest::ManifestT manifest = withVariants(withDevices(makeManifest()));
    each.spoil(manifest);
    EXPECT_FALSE(write(path, std::move(manifest), error)) << each.message;
    EXPECT_NE(error.find(each.message), std::string::npos) << error;
  }
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(ArtifactTest, NumbersBetweenTwoWordsAreRefused) {
  flatbuffers::FlatBufferBuilder builder;
  manifest::ManifestT contents = makeManifest();
  builder.Finish(manifest::Manifest::Pack(builder, &contents));
  size_t size = builder.GetSize();
  std::vector<uint64_t> words(size / 8 + 2);
  auto *bytes = reinterpret_cast<uint8_t *>(words.data());
  std::memcpy(bytes, builder.GetBufferPointer(), size);
  EXPECT_TRUE(isWellFormed(bytes, size));

  // All that the root refers to, four bytes further.
  std::memmove(bytes + 8, bytes + 4, size - 4);
  std::memset(bytes + 4, 0, 4);
  bytes[0] += 4;
  flatbuffers::Verifier verifier(bytes, size + 4);
  EXPECT_TRUE(manifest::VerifyManifestBuffer(verifier)) << "FlatBuffers see it: drop isWellFormed";
  EXPECT_FALSE(isWellFormed(bytes, size + 4));
}

/// Places of other code that no writer gives.
TEST_F(ArtifactTest, RangesOutsideOfTheSectionAreRefused) {
  using manifest::Range;
  struct Case {
    Range ptx, host;
    uint64_t size;
    const char *message;
  };
  const Case cases[] = {
      {{0, 5}, {64, 3}, 67, ""},
      {{0, 5}, {64, 3}, 68, "ends at 67 of 68"},
      {{0, 5}, {64, 3}, 66, "host code has 3 bytes at 64 of 66"},
      {{0, 0}, {0, 3}, 3, "ptx has 0 bytes"},
      {{64, 5}, {128, 3}, 131, "ptx has 5 bytes at 64"},
      {{0, 5}, {0, 3}, 5, "host code has 3 bytes at 0"},
      {{0, ~uint64_t{0}}, {64, 3}, 67, "ptx has 18446744073709551615 bytes"},
      {{0, 5}, {64, ~uint64_t{0} - 10}, 67, "host code has"},
  };
  for (const Case &each : cases) {
    manifest::ManifestT manifest = withDevices(makeManifest());
    manifest.devices.pop_back();
    manifest.devices[0]->ptx = std::make_unique<Range>(each.ptx);
    manifest.devices[0]->host = std::make_unique<Range>(each.host);
    std::string error;
    EXPECT_EQ(checkManifest(manifest, 0, each.size, error), !*each.message) << error;
    EXPECT_NE(error.find(each.message), std::string::npos) << error;
  }
}

TEST_F(ArtifactTest, RolesAndKindsAreChecked) {
  auto refuse = [](const std::function<void(manifest::ManifestT &)> &spoil) {
    manifest::ManifestT manifest = makeManifest();
    spoil(manifest);
    std::string error;
    EXPECT_FALSE(checkManifest(manifest, 0, 0, error));
    return error;
  };
  EXPECT_EQ(refuse([](auto &m) { m.entries[0]->kind = static_cast<manifest::EntryKind>(6); }),
            "entry 'forward': unknown kind 6");
  EXPECT_EQ(refuse([](auto &m) {
              auto other = std::make_unique<manifest::EntryT>();
              other->name = "other";
              other->locals = 1;
              other->kind = m.entries[0]->kind = manifest::EntryKind::Prefill;
              m.entries.push_back(std::move(other));
            }),
            "entry 'other': another entry is of its kind, Prefill");
  EXPECT_EQ(
      refuse([](auto &m) { m.entries[0]->results[0]->role = static_cast<manifest::Role>(9); }),
      "entry 'forward': result 'b': unknown role 9");
  EXPECT_EQ(refuse([](auto &m) {
              manifest::ValueT &value = *m.entries[0]->arguments[0];
              value.kind = manifest::ValueKind::Cache;
              value.heads = value.size = 1;
              value.shape.clear();
              value.role = manifest::Role::TokenIds;
            }),
            "entry 'forward': argument 'a': a cache has no shape, no role and at most the name of "
            "its batch");
}

TEST_F(ArtifactTest, LayoutsHaveNames) {
  EXPECT_EQ(layoutName({}), "row-major");
  EXPECT_EQ(layoutName({16, 1}), "fovea.panels<16>");
  EXPECT_EQ(layoutName({1024, 8}), "fovea.panels<1024, interleave = 8>");
}

/// Layouts that no kernel knows, and those that a device wants and that nobody can make.
TEST_F(ArtifactTest, LayoutsThatCannotBeMadeAreRefused) {
  struct Case {
    std::vector<int64_t> shape;
    Panels stored;
    uint64_t bytes;
    std::vector<Panels> layouts;
    const char *message;
  };
  const Panels wanted = {32, 8}, rowMajor;
  const Case cases[] = {
      {{17, 5}, {16, 2}, 384, {}, ""},
      {{17, 5}, {16, 2}, 384, {wanted}, ""},
      {{17, 5}, {16, 1}, 320, {{16, 1}}, ""},
      {{17, 5}, rowMajor, 170, {rowMajor}, ""},
      {{17, 5}, {16, 1}, 320, {wanted, wanted}, "a layout for each of 1 weights, got 2"},
      {{17, 5}, rowMajor, 170, {wanted}, "weight 'w': row-major cannot be laid out as fovea.pan"},
      {{17, 5}, {16, 1}, 320, {rowMajor}, "fovea.panels<16> cannot be laid out as row-major"},
      {{17, 5}, {16, 1}, 320, {{9, 1}}, "1, 2, 4, 8 or 16 inputs, got 9 and 1"},
      {{17, 5}, {16, 1}, 320, {{-16, 1}}, "16 inputs, got -16 and 1"},
      {{17, 5}, {16, 1}, 320, {{1032, 1}}, "16 inputs, got 1032 and 1"},
      {{17, 5}, {16, 3}, 320, {}, "weight 'w': expects panels of a width that is a multiple of 8"},
      {{17, 5}, {0, 0}, 170, {}, "16 inputs, got 0 and 0"},
      {{17, 5}, {1, 2}, 170, {}, "16 inputs, got 1 and 2"},
      {{17, 5},
       {16, 4},
       512,
       {{16, 1}},
       "fovea.panels<16, interleave = 4> cannot be laid out as fovea.panels<16>"},
      {{17, 5}, {16, 1}, 170, {}, "expects 320 bytes for its shape in fovea.panels<16>, got 170"},
      {{85}, {16, 1}, 320, {}, "type 4 and 1 sizes in fovea.panels<16>"},
  };
  for (const Case &each : cases) {
    manifest::ManifestT manifest = withDevices(makeManifest());
    manifest.devices.pop_back();
    manifest.devices[0]->ptx = std::make_unique<manifest::Range>(0, 5);
    manifest.devices[0]->host = std::make_unique<manifest::Range>(64, 3);
    manifest.devices[0]->layouts = each.layouts;
    auto weight = std::make_unique<manifest::WeightT>();
    weight->name = "w";
    weight->element = ElementType::BF16;
    weight->shape = each.shape;
    weight->panels = each.stored;
    weight->bytes = each.bytes;
    manifest.weights.push_back(std::move(weight));
    std::string error;
    EXPECT_EQ(checkManifest(manifest, each.bytes, 67, error), !*each.message) << error;
    EXPECT_NE(error.find(each.message), std::string::npos) << error;
  }
}

/// Two of i4 share a byte, of weights alone.
TEST_F(ArtifactTest, ElementsOfFourBits) {
  uint64_t bytes = 0;
  ASSERT_TRUE(tensorBytes(ElementType::I4, {17, 6}, bytes));
  EXPECT_EQ(bytes, 51u);
  ASSERT_TRUE(tensorBytes(ElementType::I4, {3, 5}, bytes));
  EXPECT_EQ(bytes, 9u);
  ASSERT_TRUE(weightBytes(ElementType::I4, {17, 6}, {16, 1}, bytes));
  EXPECT_EQ(bytes, 2u * 16 * 3);
  ASSERT_TRUE(weightBytes(ElementType::I4, {17, 18}, {32, 8}, bytes));
  EXPECT_EQ(bytes, 1u * 2 * 32 * 8);
  EXPECT_STREQ(elementName(ElementType::I4), "i4");

  for (uint64_t stored : {51, 102}) {
    manifest::ManifestT manifest = makeManifest();
    auto weight = std::make_unique<manifest::WeightT>();
    weight->name = "w";
    weight->element = ElementType::I4;
    weight->shape = {17, 6};
    weight->bytes = stored;
    manifest.weights.push_back(std::move(weight));
    std::string error;
    EXPECT_EQ(checkManifest(manifest, stored, 0, error), stored == 51) << error;
    EXPECT_EQ(error, stored == 51 ? "" : "weight 'w': expects 51 bytes for its shape, got 102");
  }
  manifest::ManifestT manifest = makeManifest();
  manifest.entries[0]->arguments[0]->element = ElementType::I4;
  std::string error;
  EXPECT_FALSE(checkManifest(manifest, 0, 0, error));
  EXPECT_NE(error.find("unknown element type"), std::string::npos) << error;
}

} // namespace
