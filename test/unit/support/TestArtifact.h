// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the artifact whose code is TestCode.c, for tests of the runtime and of
// the verbs.
#ifndef FOVEA_TEST_UNIT_SUPPORT_TESTARTIFACT_H
#define FOVEA_TEST_UNIT_SUPPORT_TESTARTIFACT_H

#include "artifact/Format.h"

#include <filesystem>
#include <functional>
#include <string>

namespace fovea::test {

/// A new folder that goes with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string file(const std::string &name) const { return (path / name).string(); }
  std::filesystem::path path;
};

/// Writes the artifact to `path`; `change` may alter its manifest, and add variants, which have the
/// same code. Its tokenizer
/// has the 30 words "a" to "z", " ", ".", "!", "?" as ids 2 to 31, begin token 0
/// and end token 1; without it only ids can be used. With `givesTokens`, prefill and
/// decode have the result next_token: one more than the likeliest token. Throws
/// std::runtime_error.
void writeTestArtifact(const std::string &path,
                       const std::function<void(manifest::ManifestT &)> &change = {},
                       bool withTokenizer = true, bool givesTokens = false);

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_SUPPORT_TESTARTIFACT_H
