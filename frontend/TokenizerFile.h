// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which file of a folder says how text becomes token ids.
#ifndef FOVEA_FRONTEND_TOKENIZERFILE_H
#define FOVEA_FRONTEND_TOKENIZERFILE_H

#include <string>

namespace fovea {

/// The name of a folder's tokenizer: tokenizer.json, or else Marian's source.spm with vocab.json
/// beside it, or else SentencePiece's model under one of its usual names; empty without any.
std::string findTokenizerFile(const std::string &folder);

} // namespace fovea

#endif // FOVEA_FRONTEND_TOKENIZERFILE_H
