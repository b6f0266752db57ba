// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits the bodies of PTX functions into statements. Directives, and whatever stands in several
// functions of one file, are kept as they are.
#include "test/mutation/Ptx.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace fovea::mutation {

namespace {
bool isBlank(char c) { return std::isspace(static_cast<unsigned char>(c)); }
bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

std::string trim(std::string_view text) {
  while (!text.empty() && isBlank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back()))
    text.remove_suffix(1);
  return std::string(text);
}

/// All registers that stand in `text`.
void addRegisters(std::string_view text, std::vector<std::string> &out) {
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && isWord(text[end]))
      ++end;
    std::string word(text.substr(i, end - i));
    if (!registerClass(word).empty())
      out.push_back(word);
    i = std::max(end, i + 1);
  }
}
} // namespace

std::string registerClass(std::string_view operand) {
  size_t end = operand.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(operand[end - 1])))
    --end;
  bool all = operand.size() > 1 && operand[0] == '%' && end > 1 && end < operand.size();
  for (size_t i = 1; all && i < end; ++i)
    all = std::isalpha(static_cast<unsigned char>(operand[i]));
  return all ? std::string(operand.substr(0, end)) : "";
}

std::vector<std::string> splitOperands(std::string_view text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '{' || text[i] == '[' || text[i] == '('))
      ++depth;
    else if (i < text.size() && (text[i] == '}' || text[i] == ']' || text[i] == ')'))
      --depth;
    else if (i == text.size() || (text[i] == ',' && depth == 0)) {
      std::string part = trim(text.substr(begin, i - begin));
      if (i < text.size() || !part.empty())
        parts.push_back(part);
      begin = i + 1;
    }
  }
  return parts;
}

std::string Statement::base() const { return opcode.substr(0, opcode.find('.')); }

bool Statement::has(const std::string &word) const {
  for (size_t at = opcode.find('.'); at != std::string::npos;) {
    size_t end = opcode.find('.', at + 1);
    if (opcode.compare(at + 1, (end == std::string::npos ? end : end - at - 1), word) == 0)
      return true;
    at = end;
  }
  return false;
}

bool Statement::isEffect() const {
  static const std::set<std::string> names = {
      "st",   "bra",  "ret",     "exit",    "bar",       "barrier",  "red",        "fence",
      "call", "trap", "membar",  "cp",      "prefetch",  "stmatrix", "setmaxnreg", "griddepcontrol",
      "brx",  "nop",  "discard", "pmevent", "nanosleep", "prefetchu"};
  std::string name = base();
  if (name == "mbarrier")
    return operands.empty() || operands[0][0] == '[' || operands[0] == "_";
  if (name == "wgmma")
    return !is("wgmma.mma_async");
  return names.count(name) != 0;
}

std::vector<std::string> Statement::writes() const {
  std::vector<std::string> out;
  if (!isEffect() && !operands.empty())
    addRegisters(operands[0], out);
  return out;
}

std::vector<std::string> Statement::reads() const {
  std::vector<std::string> out;
  addRegisters(predicate, out);
  // Products add to what they write.
  bool first = isEffect() || base() == "wgmma";
  for (size_t i = first ? 0 : 1; i < operands.size(); ++i)
    addRegisters(operands[i], out);
  return out;
}

std::string Statement::text() const {
  std::string out = predicate.empty() ? opcode : predicate + " " + opcode;
  for (size_t i = 0; i < operands.size(); ++i)
    out += (i ? ", " : " ") + operands[i];
  return out + ";";
}

Ptx::Ptx(std::string text) : source(std::move(text)) {
  uint32_t line = 1;
  size_t at = 0;
  int depth = 0;
  bool labelled = false;
  auto skip = [&](size_t to) {
    for (to = std::min(to, source.size()); at < to; ++at)
      line += source[at] == '\n';
  };
  // What stands before a semicolon or brace, from `at`; comments count as blanks.
  while (at < source.size()) {
    if (isBlank(source[at])) {
      skip(at + 1);
    } else if (source.compare(at, 2, "//") == 0) {
      skip(source.find('\n', at));
    } else if (source.compare(at, 2, "/*") == 0) {
      skip(source.find("*/", at) == std::string::npos ? source.size() : source.find("*/", at) + 2);
    } else if (source[at] == '{' || source[at] == '}') {
      depth += source[at] == '{' ? 1 : -1;
      skip(at + 1);
    } else if (depth == 0) {
      // A directive or a function's head, up to its body.
      size_t end = source.find_first_of("{;\n", at);
      skip(end == std::string::npos ? source.size() : end + (source[end] != '{'));
    } else {
      size_t word = at;
      while (word < source.size() && isWord(source[word]))
        ++word;
      if (word > at && word < source.size() && source[word] == ':' && source[word + 1] != ':') {
        labels.emplace_back(source.substr(at, word - at), all.size());
        labelled = true;
        skip(word + 1);
        continue;
      }
      size_t end = source.find(';', at);
      if (source[at] == '.' || end == std::string::npos) {
        size_t newline = source.find('\n', at);
        skip(std::min(end == std::string::npos ? source.size() : end + 1, newline));
        continue;
      }
      Statement statement;
      statement.begin = at;
      statement.end = end + 1;
      statement.line = line;
      statement.labelled = labelled;
      labelled = false;
      std::string body = source.substr(at, end - at);
      std::replace_if(body.begin(), body.end(), isBlank, ' ');
      if (body[0] == '@') {
        size_t blank = body.find(' ');
        statement.predicate = body.substr(0, blank);
        body = trim(body.substr(std::min(blank, body.size())));
      }
      size_t blank = body.find(' ');
      statement.opcode = body.substr(0, blank);
      if (blank != std::string::npos)
        statement.operands = splitOperands(std::string_view(body).substr(blank));
      all.push_back(std::move(statement));
      skip(end + 1);
    }
  }
}

std::string Ptx::replace(size_t i, const std::string &by) const {
  const Statement &old = all[i];
  std::string lines(std::count(source.begin() + static_cast<std::ptrdiff_t>(old.begin),
                               source.begin() + static_cast<std::ptrdiff_t>(old.end), '\n'),
                    '\n');
  return source.substr(0, old.begin) + by + lines + source.substr(old.end);
}

std::string Ptx::replace(size_t i, const std::string &by, size_t j, const std::string &by2) const {
  const Statement &old = all[i];
  std::string lines(std::count(source.begin() + static_cast<std::ptrdiff_t>(old.begin),
                               source.begin() + static_cast<std::ptrdiff_t>(old.end), '\n'),
                    '\n');
  return source.substr(0, old.begin) + by + lines + replace(j, by2).substr(old.end);
}

std::vector<size_t> Ptx::successors(size_t i) const {
  const Statement &one = all[i];
  std::vector<size_t> out;
  bool always = one.predicate.empty();
  if (one.base() == "bra")
    for (const auto &[name, place] : labels)
      if (!one.operands.empty() && name == one.operands[0] && place < all.size())
        out.push_back(place);
  bool ends = one.base() == "bra" || one.base() == "ret" || one.base() == "exit";
  if ((!ends || !always) && i + 1 < all.size())
    out.push_back(i + 1);
  return out;
}

} // namespace fovea::mutation
