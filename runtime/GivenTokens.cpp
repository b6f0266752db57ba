// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See GivenTokens.h.
#include "runtime/GivenTokens.h"

#include "runtime/status/Status.h"

namespace fovea {

/// What stands behind a length that is too much for the context.
static std::string modelLimit(const Context &context) {
  int64_t longest = context.module().manifest().model->max_positions;
  return longest > context.capacity() ? ", the model was made for up to " + std::to_string(longest)
                                      : "";
}

std::vector<int64_t> takeTokens(const Context &context, const GivenTokens &given) {
  const Module &module = context.module();
  const std::string what = given.what;
  std::vector<int64_t> tokens;
  if (given.ids) {
    tokens.assign(given.ids, given.ids + given.idCount);
  } else {
    if (!given.text)
      failInvalid("neither a " + what + " nor " + what + " ids are given");
    for (int32_t id : module.requireTokenizer().encode({given.text, given.textSize}, true))
      tokens.push_back(id);
  }
  if (tokens.empty())
    failInvalid("the " + what + " is empty, and " + given.whenNothing);
  if (static_cast<int64_t>(tokens.size()) > context.capacity())
    failInvalid("the " + what + " has " + std::to_string(tokens.size()) +
                " tokens; the context has room for " + std::to_string(context.capacity()) +
                modelLimit(context));
  int64_t words = module.manifest().model->vocabulary_size;
  for (int64_t id : tokens)
    if (id < 0 || id > INT32_MAX || (words > 0 && id >= words))
      failInvalid("the " + what + " holds token id " + std::to_string(id) +
                  "; expects ids from 0 to " + std::to_string(words - 1));
  return tokens;
}

} // namespace fovea
