// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Skips all tests where FOVEA_TEST_PROCESSOR names a processor that neither this machine nor qemu
// is.
#include "lowering/Targets/Table.h"
#include "test/grid/NativeProgram.h"
#include <gtest/gtest.h>

using namespace mlir::fovea;

namespace {

class TestedProcessor : public testing::Environment {
  void SetUp() override {
    ASSERT_TRUE(findProcessorLevel(getTestedLevel()))
        << "FOVEA_TEST_PROCESSOR: expects one of " << listProcessorLevels() << "; got '"
        << getTestedLevel().str() << "'";
    if (std::string lacking = findLacking(getTestedLevel()); !lacking.empty())
      GTEST_SKIP() << "this machine has no " << lacking;
  }
};

[[maybe_unused]] const auto *const kEnvironment =
    testing::AddGlobalTestEnvironment(new TestedProcessor);

} // namespace
