// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whose fault a failure is, and what is left behind.
#include "mlir/Parser/Parser.h"
#include "tools/compile/CompileModule.h"
#include "tools/compile/Source.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::compile::Log;
using ::fovea::compile::Options;
using ::fovea::compile::Outcome;

namespace {

/// Legal IR that no group can hold.
const char *const kSideEffect = R"(
func.func @forward(%m: memref<2xf32>) -> (tensor<2xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %t = bufferization.to_tensor %m restrict : memref<2xf32> to tensor<2xf32>
  return %t : tensor<2xf32>
})";

struct Compiling : ::testing::Test {
  Compiling() {
    folder = std::filesystem::temp_directory_path() /
             ("fovea-compile-" + std::to_string(::getpid()) + "-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder);
    options.output = folder / "out.fovea";
    options.commandLine = "fovea compile the-model";
    log.message = [this](Log::Severity severity, const std::string &text) {
      (severity == Log::Severity::Error ? errors : notes).push_back(text);
    };
  }
  ~Compiling() override { std::filesystem::remove_all(folder); }

  Outcome compile(const char *ir, const std::string &model) {
    CompilerContext context(1);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(ir, &*context);
    options.model = model;
    return compileModule(*module, options, log);
  }

  std::filesystem::path folder;
  Options options;
  Log log;
  std::vector<std::string> errors, notes;
};

TEST_F(Compiling, AFailureOnAModelIsOurFaultAndLeavesAReproducer) {
  EXPECT_EQ(compile(kSideEffect, "the-model"), Outcome::OurFault);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("expects no side effects"), std::string::npos) << errors[0];
  ASSERT_FALSE(notes.empty());
  std::string word = "a reproducer is in ";
  size_t at = notes.back().find(word);
  ASSERT_NE(at, std::string::npos) << notes.back();
  std::string path = notes.back().substr(at + word.size());
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text.find("// fovea compile the-model\n"), 0u) << text;
  EXPECT_NE(text.find("bufferization.to_tensor"), std::string::npos);
  EXPECT_NE(text.find("fovea-form-groups"), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(Compiling, AFailureOnIrIsTheInputsFault) {
  EXPECT_EQ(compile(kSideEffect, "by-hand.mlir"), Outcome::InputFault);
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(Compiling, AModuleWithoutEntriesIsRefused) {
  EXPECT_EQ(compile("module {}", "empty.mlir"), Outcome::InputFault);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("expects at least one function with 'fovea.entry'"), std::string::npos)
      << errors[0];
}

TEST_F(Compiling, OneErrorForManyFaults) {
  const char *ir = R"(
func.func @forward(%m: memref<2xf32>) -> (tensor<2xf32> {fovea.name = "y"}, tensor<2xf32> {fovea.name = "z"}) attributes {fovea.entry} {
  %t = bufferization.to_tensor %m restrict : memref<2xf32> to tensor<2xf32>
  %u = bufferization.to_tensor %m restrict : memref<2xf32> to tensor<2xf32>
  return %t, %u : tensor<2xf32>, tensor<2xf32>
})";
  EXPECT_EQ(compile(ir, "by-hand.mlir"), Outcome::InputFault);
  EXPECT_EQ(errors.size(), 1u);
}

} // namespace
