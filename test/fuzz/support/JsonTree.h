// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes JSON as a tree: values are replaced, removed, copied to other places, and changed a
// little; so most inputs parse, and reach what reads the tree.
#ifndef FOVEA_TEST_FUZZ_SUPPORT_JSONTREE_H
#define FOVEA_TEST_FUZZ_SUPPORT_JSONTREE_H

#include <cstddef>
#include <cstdint>

namespace fovea::fuzz {

/// A mutator in libFuzzer's sense. Bytes are changed where the text is no JSON, and now and then
/// where it is.
size_t mutateJson(uint8_t *data, size_t size, size_t most, unsigned seed);

} // namespace fovea::fuzz

#endif // FOVEA_TEST_FUZZ_SUPPORT_JSONTREE_H
