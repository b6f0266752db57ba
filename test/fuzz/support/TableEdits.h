// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes what an artifact's tables say, as objects: any number, text or list of a manifest, or of
// a tokenizer's tables. The result is well-formed FlatBuffers with another meaning.
#ifndef FOVEA_TEST_FUZZ_SUPPORT_TABLEEDITS_H
#define FOVEA_TEST_FUZZ_SUPPORT_TABLEEDITS_H

#include "artifact/Manifest_generated.h"
#include "artifact/Tokenizer_generated.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::fuzz {

class Random;

/// Changes one place.
void changeTable(manifest::ManifestT &table, Random &random);
void changeTable(tables::TokenizerT &table, Random &random);

/// The object that well-formed bytes describe; null for others.
std::unique_ptr<manifest::ManifestT> unpackManifest(std::string_view bytes);
std::unique_ptr<tables::TokenizerT> unpackTokenizer(std::string_view bytes);
/// Empty if a table lacks what its schema requires.
std::string pack(const manifest::ManifestT &table);
std::string pack(const tables::TokenizerT &table);

/// Mutators in libFuzzer's sense. Bytes are changed where they are no tables, and now and then
/// where they are.
size_t mutateManifest(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t mutateTokenizer(uint8_t *data, size_t size, size_t most, unsigned seed);

} // namespace fovea::fuzz

#endif // FOVEA_TEST_FUZZ_SUPPORT_TABLEEDITS_H
