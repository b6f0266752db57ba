// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regular expressions of tokenizers are Oniguruma's; ours are PCRE2's.
#ifndef FOVEA_FRONTEND_TOKENIZER_REGEXTRANSLATOR_H
#define FOVEA_FRONTEND_TOKENIZER_REGEXTRANSLATOR_H

#include <optional>
#include <string>
#include <string_view>

namespace fovea {

/// A PCRE2 pattern that matches what Oniguruma (its default syntax, UTF-8)
/// matches with `pattern`, for code points of every Unicode version alike.
/// Nothing with `error` ("... at byte N") for what is malformed or has no known
/// equal: backreferences, conditionals, absence operators, class intersections,
/// options other than i and m, and case-blind text that folds to a text of
/// another length.
std::optional<std::string> translateRegex(std::string_view pattern, std::string &error);

} // namespace fovea

#endif // FOVEA_FRONTEND_TOKENIZER_REGEXTRANSLATOR_H
