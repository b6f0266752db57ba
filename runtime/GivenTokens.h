// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text that a caller gives as characters or as token ids, as what writes further text reads it.
// Refuses one that is empty or longer than the context, and token ids outside the vocabulary.
#ifndef FOVEA_RUNTIME_GIVENTOKENS_H
#define FOVEA_RUNTIME_GIVENTOKENS_H

#include "runtime/Context.h"

#include <chrono>

namespace fovea {

struct GivenTokens {
  const char *what;        ///< In messages: "prompt".
  const char *whenNothing; ///< Why it may be empty.
  const char *text;        ///< Read if there are no ids.
  size_t textSize;
  const int64_t *ids;
  size_t idCount;
};

/// Of text the ids with the tokenizer's special tokens, ids as they are. Throws Failure.
std::vector<int64_t> takeTokens(const Context &context, const GivenTokens &given);

inline double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace fovea

#endif // FOVEA_RUNTIME_GIVENTOKENS_H
