// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Skips all tests where FOVEA_TEST_PROCESSOR names a processor that neither this machine nor qemu
// is.
#include "lowering/Targets/ProcessorFamily.h"
#include "lowering/Targets/Table.h"
#include "test/grid/NativeProgram.h"
#include "test/grid/RemoteProcess.h"
#include "llvm/TargetParser/Host.h"
#include <gtest/gtest.h>

using namespace mlir::fovea;

namespace {

class TestedProcessor : public testing::Environment {
  void SetUp() override {
    const Level *level = findProcessorLevel(getTestedLevel());
    ASSERT_TRUE(level) << "FOVEA_TEST_PROCESSOR: expects one of " << listProcessorLevels()
                       << "; got '" << getTestedLevel().str() << "'";
    if (level->family != &getHostFamily()) {
      if (!RemoteProcess::get())
        GTEST_SKIP() << "there is no qemu and fovea-grid-remote (scripts/setup --aarch64)";
      return;
    }
    llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    for (llvm::StringRef name : level->features)
      if (!features.lookup(name))
        GTEST_SKIP() << "this machine has no " << name.str();
  }
};

[[maybe_unused]] const auto *const kEnvironment =
    testing::AddGlobalTestEnvironment(new TestedProcessor);

} // namespace
