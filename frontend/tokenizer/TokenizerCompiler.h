// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a Hugging Face `tokenizer.json`, a SentencePiece model, or the vocabulary of a GGUF file
// into the tables of artifact/Tokenizer.fbs. What could change token ids and is not understood is
// an error that names file, place, found and expected.
#ifndef FOVEA_FRONTEND_TOKENIZER_TOKENIZERCOMPILER_H
#define FOVEA_FRONTEND_TOKENIZER_TOKENIZERCOMPILER_H

#include "artifact/FileView.h"
#include "frontend/Problem.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

/// Compiles `path`, a tokenizer.json, a SentencePiece model (.model, .spm), a .gguf file, or the
/// folder that holds one; reads tokenizer_config.json beside it if there is one. The same input
/// gives the same bytes. On failure `problems` says why and `tables` is left alone. `access` is how
/// a .gguf file, which is large, is read.
bool compileTokenizer(const std::string &path, std::vector<uint8_t> &tables, Problems &problems,
                      artifact::FileAccess access = artifact::FileAccess::Mapped);

/// The same with the first error as text.
bool compileTokenizer(const std::string &path, std::vector<uint8_t> &tables, std::string &error);

} // namespace fovea

#endif // FOVEA_FRONTEND_TOKENIZER_TOKENIZERCOMPILER_H
