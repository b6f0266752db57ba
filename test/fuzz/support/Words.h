// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes programs as texts of words: words, numbers and lines are replaced, dropped, doubled and
// exchanged, so that most of what remains is still what a parser expects.
#ifndef FOVEA_TEST_FUZZ_SUPPORT_WORDS_H
#define FOVEA_TEST_FUZZ_SUPPORT_WORDS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fovea::fuzz {

/// A mutator in libFuzzer's sense. `words` replace others now and then.
size_t mutateWords(uint8_t *data, size_t size, size_t most, unsigned seed,
                   const std::vector<std::string> &words);

/// Operators and attributes of ONNX.
const std::vector<std::string> &onnxWords();
const std::vector<std::string> &ptxWords();
const std::vector<std::string> &mlirWords();
/// Tags, filters and values of chat templates.
const std::vector<std::string> &templateWords();

} // namespace fovea::fuzz

#endif // FOVEA_TEST_FUZZ_SUPPORT_WORDS_H
