// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guesses of the next tokens, which a model then checks all at once (Leviathan et al. 2023): of a
// smaller model, or of the text itself (prompt lookup decoding, Saxena 2023).
#ifndef FOVEA_RUNTIME_DRAFT_H
#define FOVEA_RUNTIME_DRAFT_H

#include "runtime/Call.h"

#include <optional>

namespace fovea {

class Draft {
public:
  virtual ~Draft() = default;
  /// Up to `most` tokens that may follow `tokens`; perhaps none.
  virtual std::vector<int64_t> guess(const std::vector<int64_t> &tokens, size_t most) = 0;
};

/// What followed the last three tokens, or else the last two, where they stood last before.
class LookupDraft : public Draft {
public:
  std::vector<int64_t> guess(const std::vector<int64_t> &tokens, size_t most) override;
};

/// What another decoder finds likeliest. Its caches follow the text.
class ModelDraft : public Draft {
public:
  /// Throws Failure if `draft` writes no text, or with another vocabulary than `module`.
  ModelDraft(Context &draft, const Module &module);
  std::vector<int64_t> guess(const std::vector<int64_t> &tokens, size_t most) override;

private:
  Call makeCall(manifest::EntryKind kind) const;
  int64_t next(Call &call, const int64_t *ids, size_t count);

  Context &context;
  Call prefill, decode;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_DRAFT_H
