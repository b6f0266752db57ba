// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes protobuf messages as trees of fields, without knowing their schema: whatever parses as a
// message is taken for one.
#ifndef FOVEA_TEST_FUZZ_SUPPORT_WIRETREE_H
#define FOVEA_TEST_FUZZ_SUPPORT_WIRETREE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fovea::fuzz {

/// A mutator in libFuzzer's sense. `words` replace texts now and then. Bytes are changed where they
/// are no message, and now and then where they are.
size_t mutateWire(uint8_t *data, size_t size, size_t most, unsigned seed,
                  const std::vector<std::string> &words);

} // namespace fovea::fuzz

#endif // FOVEA_TEST_FUZZ_SUPPORT_WIRETREE_H
