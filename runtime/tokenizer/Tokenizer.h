// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text to token ids and back, by interpreting tables that the compiler wrote
// (artifact/Tokenizer.fbs). The ids are those of the `tokenizers` package.
//
//   std::string error;
//   std::unique_ptr<Tokenizer> tokenizer = Tokenizer::open(data, size, error);
//   if (!tokenizer)
//     return fail(error);
//   std::vector<int32_t> ids = tokenizer->encode("First Citizen:", true);
//   StreamDecoder stream(*tokenizer, /*skipSpecial=*/true);
//   for (int32_t id : ids)
//     std::cout << stream.push(id);
//   std::cout << stream.finish();
#ifndef FOVEA_RUNTIME_TOKENIZER_TOKENIZER_H
#define FOVEA_RUNTIME_TOKENIZER_TOKENIZER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

class DecoderStage;

/// Immutable after `open`: all members may be called from many threads at once.
class Tokenizer {
public:
  struct Encoding {
    std::vector<int32_t> ids;
    std::vector<int32_t> typeIds; ///< As many; which sequence, as BERT counts them.
    std::vector<int32_t> texts;   ///< As many; which text a token is of, -1 if it was added.
  };
  /// How the source cuts a text that is too long; `encode` does not by itself.
  struct Truncation {
    size_t maxTokens = 0; ///< 0: the source says nothing.
  };

  /// Reads tables in place: `data`, aligned to 8 bytes, must outlive the
  /// tokenizer. Null with `error` if they are damaged; never trusts an index.
  static std::unique_ptr<Tokenizer> open(const uint8_t *data, size_t size, std::string &error);
  ~Tokenizer();

  /// Bytes that are no UTF-8 count as U+FFFD, one for each maximal invalid part.
  std::vector<int32_t> encode(std::string_view text, bool addSpecialTokens) const;
  /// With `maxTokens` other than 0, drops tokens of the text from its end until
  /// they and the special tokens are no more than that.
  Encoding encodeSingle(std::string_view text, bool addSpecialTokens, size_t maxTokens = 0) const;
  /// The same for two texts; the longer one is cut first.
  Encoding encodePair(std::string_view first, std::string_view second, bool addSpecialTokens,
                      size_t maxTokens = 0) const;

  /// Ids without a token are passed over. The result is valid UTF-8.
  std::string decode(const int32_t *ids, size_t count, bool skipSpecial) const;

  /// One past the largest id.
  size_t size() const;
  /// The id of a token, also an added one; -1 if there is none.
  int32_t find(std::string_view token) const;
  /// The text of a token as the vocabulary has it.
  std::optional<std::string> tokenText(int32_t id) const;
  bool isSpecial(int32_t id) const;

  /// Ids that tokenizer_config.json names; -1 if it names none.
  int32_t beginToken() const;
  int32_t endToken() const;
  int32_t unknownToken() const;
  int32_t padToken() const;
  Truncation truncation() const;

  struct ChatTemplate {
    std::string_view name, text, file;
  };
  /// As the checkpoint has them; not parsed yet.
  std::vector<ChatTemplate> chatTemplates() const;
  /// Tokens that chat templates know by name: {"bos_token", "<s>"}.
  std::vector<std::pair<std::string_view, std::string_view>> namedTokens() const;

private:
  friend class StreamDecoder;
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  std::vector<int32_t> encodeSequence(std::string_view text) const;
  /// The token of a language code ">>...<<" at the front of `text`; its size, 0 without one.
  size_t encodeLanguage(std::string_view text, std::vector<int32_t> &ids) const;
  std::unique_ptr<State> state;
};

/// Decodes ids one by one: what it gives out, joined, is what `decode` of all
/// ids gives, and each part is valid UTF-8. Gives text as soon as no later id
/// can change it. Refers to the tokenizer.
class StreamDecoder {
public:
  StreamDecoder(const Tokenizer &tokenizer, bool skipSpecial);
  ~StreamDecoder();
  StreamDecoder(StreamDecoder &&) noexcept;

  /// The text that became certain; often empty.
  std::string push(int32_t id);
  /// The rest, after the last id.
  std::string finish();

private:
  void run(size_t stage, std::string item, std::string &out);
  /// Bytes of all tokens, and bytes that stages were given: stages that feed each other multiply.
  size_t received = 0, passed = 0;
  const Tokenizer *tokenizer;
  bool skipSpecial;
  std::vector<std::unique_ptr<DecoderStage>> stages;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_TOKENIZER_H
