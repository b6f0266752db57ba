// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads PTX text (PTX ISA 9.0, "Directives") into a Module. Debug sections, .loc and .file are
// skipped; device functions are read, but cannot be called yet. What is not PTX is an error that
// names file, line, what was found and what was expected.
#include "emulator/Error.h"
#include "emulator/Lexer.h"
#include "emulator/Module.h"

#include <algorithm>
#include <cstring>

namespace fovea::emulator {

namespace {
constexpr uint64_t maxVariableBytes = uint64_t{1} << 34;
/// Of a module's .global and .const variables together: they are allocated when it is loaded.
constexpr uint64_t maxModuleBytes = uint64_t{1} << 26;
constexpr uint64_t maxRegisters = 1 << 20;
constexpr unsigned maxNesting = 200;

std::optional<Space> spaceNamed(std::string_view name) {
  for (Space space : {Space::Global, Space::Shared, Space::Local, Space::Param, Space::Const})
    if (name == nameOf(space))
      return space;
  return name == "shared::cta" ? std::optional(Space::Shared) : std::nullopt;
}
} // namespace

class Parser {
public:
  Parser(Module &module, std::vector<Token> tokens) : module(module), tokens(std::move(tokens)) {}

  void run() {
    while (peek().kind != Token::End)
      topLevel();
    if (module.targetName.empty())
      fail(module.fileName, ":1: expects a .target directive, got none");
  }

private:
  // --- tokens
  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(position + ahead, tokens.size() - 1)];
  }
  const Token &take() {
    const Token &token = peek();
    if (token.kind != Token::End)
      ++position;
    return token;
  }
  static std::string shown(const Token &token) {
    if (token.kind == Token::End)
      return "the end of the file";
    return text("'", token.kind == Token::Dot ? "." : "", token.text.substr(0, 60), "'");
  }
  template <typename... Parts> [[noreturn]] void wrong(const Token &token, const Parts &...parts) {
    fail(module.fileName, ":", token.line, ": ", parts...);
  }
  [[noreturn]] void expected(const std::string &what) {
    wrong(peek(), "expects ", what, ", got ", shown(peek()));
  }
  bool accept(char c) {
    if (!peek().is(c))
      return false;
    take();
    return true;
  }
  void expect(char c, const char *where) {
    if (!accept(c))
      expected(text("'", c, "' ", where));
  }
  bool acceptDot(std::string_view name) {
    if (peek().kind != Token::Dot || peek().text != name)
      return false;
    take();
    return true;
  }
  std::string name(const char *what) {
    if (peek().kind != Token::Name)
      expected(what);
    return std::string(take().text);
  }
  uint64_t integer(const char *what) {
    if (peek().kind != Token::Integer)
      expected(what);
    return take().bits;
  }
  uint32_t smallInteger(const char *what) {
    const Token &token = peek();
    uint64_t value = integer(what);
    if (value > 0xffffffffu)
      wrong(token, "expects ", what, " below 2^32, got ", value);
    return static_cast<uint32_t>(value);
  }
  void skipToSemicolon() {
    while (peek().kind != Token::End && !accept(';'))
      take();
  }
  /// Skips `{ ... }` with all inside.
  void skipBraces() {
    expect('{', "before a section");
    for (unsigned depth = 1; depth;) {
      if (peek().kind == Token::End)
        expected("'}'");
      const Token &token = take();
      depth += token.is('{');
      depth -= token.is('}');
    }
  }

  // --- outside of functions
  void topLevel() {
    bool external = false;
    while (true) {
      const Token &token = peek();
      if (token.kind != Token::Dot)
        expected("a directive");
      std::string_view word = token.text;
      if (word == "version") {
        take();
        return version();
      }
      if (word == "target") {
        take();
        return target();
      }
      if (word == "address_size") {
        take();
        const Token &size = peek();
        if (integer("the size of an address") != 64)
          wrong(size, "expects .address_size 64, got ", size.text);
        return;
      }
      if (word == "file")
        return skipLine(token.line);
      if (word == "section") {
        take();
        take();
        return skipBraces();
      }
      if (word == "pragma" || word == "alias")
        return skipToSemicolon();
      if (word == "extern" || word == "visible" || word == "weak" || word == "common") {
        external |= word == "extern";
        take();
        continue;
      }
      if (word == "entry" || word == "func") {
        take();
        return function(word == "entry", external);
      }
      if (auto space = spaceNamed(word)) {
        take();
        return variables(*space, external, module.allVariables, nullptr);
      }
      wrong(token, "expects a directive, got ", shown(token));
    }
  }

  void skipLine(uint32_t line) {
    while (peek().kind != Token::End && peek().line == line)
      take();
  }

  void version() {
    // "8.6" is lexed as a fraction, "8" as an integer.
    const Token &token = take();
    std::string number(token.text);
    if (token.kind != Token::Float64 ||
        std::sscanf(number.c_str(), "%u.%u", &module.major, &module.minor) != 2)
      wrong(token, "expects a version such as 8.6, got ", shown(token));
  }

  void target() {
    const Token &token = peek();
    std::string first = name("a target such as sm_90a");
    while (accept(','))
      name("a target option");
    if (first.compare(0, 3, "sm_") != 0 ||
        std::sscanf(first.c_str() + 3, "%u", &module.architectureNumber) != 1)
      wrong(token, "expects a target such as sm_90a, got '", first, "'");
    module.targetName = first;
  }

  Type type(const char *what) {
    if (peek().kind == Token::Dot)
      if (auto found = typeNamed(peek().text)) {
        take();
        return *found;
      }
    expected(what);
  }

  /// After a state space: attributes, type and one or more names.
  void variables(Space space, bool external, std::vector<Variable> &list, Scope *scope) {
    uint64_t alignment = 0;
    unsigned vector = 1;
    while (true) {
      if (acceptDot("align")) {
        const Token &token = peek();
        alignment = integer("an alignment");
        if (!alignment || (alignment & (alignment - 1)) || alignment > 1 << 20)
          wrong(token, "expects an alignment that is a power of two, got ", token.text);
      } else if (acceptDot("v2")) {
        vector = 2;
      } else if (acceptDot("v4")) {
        vector = 4;
      } else if (acceptDot("attribute")) {
        skipParentheses();
      } else {
        break;
      }
    }
    Type element = type("the type of a variable");
    do {
      Variable variable;
      variable.line = peek().line;
      variable.space = space;
      variable.type = element;
      variable.name = name("the name of a variable");
      variable.alignment = alignment ? alignment : uint64_t{bytesOf(element)} * vector;
      uint64_t count = vector;
      bool open = false, begins = false;
      while (accept('[')) {
        if (accept(']')) {
          open = true;
          continue;
        }
        const Token &token = peek();
        uint64_t extent = integer("the size of an array");
        if (extent > maxVariableBytes || (count *= extent) > maxVariableBytes)
          wrong(token, "expects an array of at most ", maxVariableBytes, " bytes, got ", extent,
                " elements");
        expect(']', "after the size of an array");
      }
      if ((begins = accept('=')))
        initializer(variable, element, open, count);
      else if (open && !(external && space == Space::Shared))
        wrong(peek(), "expects a size for ", variable.name,
              "[]: only .extern .shared arrays may be open");
      variable.external = open && !begins;
      variable.size = variable.external ? 0 : count * bytesOf(element);
      if (!scope && (space == Space::Global || space == Space::Const) &&
          (moduleBytes += variable.size) > maxModuleBytes)
        wrong(peek(), "expects at most ", maxModuleBytes, " bytes of .global and .const, got ",
              moduleBytes, " up to ", variable.name);
      if (scope && !scope->variables.emplace(variable.name, list.size()).second)
        wrong(peek(), "expects each variable once, got '", variable.name, "' again");
      list.push_back(std::move(variable));
    } while (accept(','));
    expect(';', "after a variable");
  }

  void skipParentheses() {
    expect('(', "after .attribute");
    while (peek().kind != Token::End && !accept(')'))
      take();
  }

  void initializer(Variable &variable, Type element, bool open, uint64_t &count) {
    std::vector<uint8_t> &bytes = variable.initial;
    auto one = [&] {
      bool negative = accept('-');
      const Token &token = take();
      uint64_t bits = token.bits;
      if (token.kind == Token::Float64 && element == Type::F32) {
        double wide;
        std::memcpy(&wide, &bits, 8);
        float narrow = static_cast<float>(negative ? -wide : wide);
        bits = 0;
        std::memcpy(&bits, &narrow, 4);
      } else if (token.kind == Token::Float64 && negative) {
        bits ^= uint64_t{1} << 63;
      } else if (token.kind == Token::Float32 && negative) {
        bits ^= 1u << 31;
      } else if (token.kind == Token::Integer) {
        if (isFloat(element))
          wrong(token, "expects a float to begin with, got ", shown(token));
        bits = negative ? -bits : bits;
      } else if (token.kind != Token::Float32 && token.kind != Token::Float64) {
        wrong(token, "expects a number to begin with (addresses are not supported), got ",
              shown(token));
      }
      // A .b128 is longer than what a number may be.
      uint8_t beyond = negative && token.kind == Token::Integer && bits ? 0xff : 0;
      for (unsigned i = 0; i < bytesOf(element); ++i)
        bytes.push_back(i < 8 ? static_cast<uint8_t>(bits >> (8 * i)) : beyond);
      if (bytes.size() > maxVariableBytes)
        wrong(token, "expects at most ", maxVariableBytes, " bytes to begin with");
    };
    if (peek().is('{')) {
      unsigned depth = 0;
      do {
        if (accept('{')) {
          if (++depth > maxNesting)
            expected("less deeply nested braces");
          if (accept('}'))
            --depth;
        } else if (accept('}')) {
          --depth;
        } else if (!accept(',')) {
          one();
        }
      } while (depth);
    } else {
      one();
    }
    uint64_t given = bytes.size() / bytesOf(element);
    if (open)
      count = given;
    else if (given > count)
      wrong(peek(), "expects at most ", count, " numbers for ", variable.name, ", got ", given);
  }

  // --- functions
  void function(bool isEntry, bool external) {
    Function result;
    result.isEntry = isEntry;
    result.line = peek().line;
    if (!isEntry && peek().is('('))
      parameters(nullptr);
    result.name = name("the name of a function");
    if (peek().is('('))
      parameters(isEntry ? &result : nullptr);
    while (peek().kind == Token::Dot) {
      std::string_view word = take().text;
      auto three = [&](uint32_t *values) {
        for (int i = 0; i < 3; ++i) {
          values[i] = i && !accept(',') ? 1 : smallInteger("a number of threads");
        }
      };
      uint32_t ignored[3];
      if (word == "maxntid")
        three(result.maxThreads);
      else if (word == "reqntid")
        three(result.requiredThreads);
      else if (word == "reqnctapercluster")
        three(ignored);
      else if (word == "maxnreg")
        result.maxRegisters = smallInteger("a number of registers");
      else if (word == "minnctapersm" || word == "maxnctapersm" || word == "maxclusterrank" ||
               word == "abi_preserve" || word == "abi_preserve_control")
        smallInteger("a number");
      else if (word == "pragma")
        skipToSemicolon();
      else if (word != "noreturn" && word != "explicitcluster" && word != "unified" &&
               word != "blocksareclusters")
        fail(module.fileName, ":", peek().line, ": expects a directive of a function, got '.", word,
             "'");
    }
    if (accept(';')) {
      result.isDeclaration = true;
    } else {
      if (external)
        expected("';' after an external function");
      function_ = &result;
      result.scopes.emplace_back();
      expect('{', "before the body of a function");
      body(0, 0);
      function_ = nullptr;
    }
    if (!result.isDeclaration)
      for (const Function &other : module.allFunctions)
        if (other.name == result.name && !other.isDeclaration)
          fail(module.fileName, ":", result.line, ": expects each function once, got '",
               result.name, "' again (first at line ", other.line, ")");
    module.allFunctions.push_back(std::move(result));
  }

  /// `( .param .u64 .ptr .global .align 16 name, ... )`; into `function` if it is one's.
  void parameters(Function *function) {
    expect('(', "before parameters");
    if (accept(')'))
      return;
    uint64_t offset = 0;
    do {
      Parameter parameter;
      if (!acceptDot("param") && !acceptDot("reg"))
        expected(".param");
      uint64_t alignment = 0;
      if (acceptDot("align"))
        alignment = integer("an alignment");
      parameter.type = type("the type of a parameter");
      while (peek().kind == Token::Dot) { // .ptr and what it says of its target
        bool isAlign = peek().text == "align";
        take();
        if (isAlign)
          integer("an alignment");
      }
      const Token &token = peek();
      parameter.name = name("the name of a parameter");
      uint64_t count = 1;
      if (accept('[')) {
        if (peek().is(']'))
          expected("the size of a parameter");
        count = integer("the size of a parameter");
        expect(']', "after the size of a parameter");
      }
      if (count > 32764)
        wrong(token, "expects a parameter of at most 32764 bytes, got ", count);
      parameter.alignment = alignment ? alignment : bytesOf(parameter.type);
      if (parameter.alignment & (parameter.alignment - 1) || parameter.alignment > 4096)
        wrong(token, "expects an alignment that is a power of two, got ", parameter.alignment);
      parameter.size = count * bytesOf(parameter.type);
      offset = (offset + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
      parameter.offset = offset;
      offset += parameter.size;
      if (function)
        function->parameters.push_back(std::move(parameter));
    } while (accept(','));
    expect(')', "after parameters");
    if (function)
      function->parameterBytes = offset;
  }

  void body(uint32_t scope, unsigned depth) {
    if (depth > maxNesting)
      expected("less deeply nested braces");
    while (!accept('}')) {
      const Token &token = peek();
      if (token.kind == Token::End)
        expected("'}' at the end of a function");
      if (accept(';'))
        continue;
      if (accept('{')) {
        uint32_t inner = static_cast<uint32_t>(function_->scopes.size());
        function_->scopes.emplace_back();
        function_->scopes.back().parent = static_cast<int32_t>(scope);
        body(inner, depth + 1);
      } else if (token.kind == Token::Dot) {
        directive(scope);
      } else if (token.kind == Token::Name && peek(1).is(':')) {
        label(scope);
      } else {
        statement(scope);
      }
    }
  }

  void label(uint32_t scope) {
    const Token &token = take();
    take();
    std::string name(token.text);
    if (acceptDot("branchtargets")) {
      auto &targets = function_->scopes[scope].targets[name];
      do
        targets.push_back(this->name("a label"));
      while (accept(','));
      return expect(';', "after .branchtargets");
    }
    if (peek().kind == Token::Dot &&
        (peek().text == "callprototype" || peek().text == "calltargets"))
      return skipToSemicolon();
    if (!function_->scopes[scope]
             .labels.emplace(name, static_cast<uint32_t>(function_->statements.size()))
             .second)
      wrong(token, "expects each label once in its braces, got '", name, "' again");
  }

  void directive(uint32_t scope) {
    const Token &token = take();
    std::string_view word = token.text;
    if (word == "reg")
      return registers(scope);
    if (word == "loc" || word == "file")
      return skipLine(token.line);
    if (word == "pragma")
      return skipToSemicolon();
    bool external = word == "extern";
    std::string_view space = external ? take().text : word;
    auto found = spaceNamed(space);
    if (!found)
      wrong(token, "expects an instruction or a declaration, got ", shown(token));
    if (*found == Space::Param) // arguments of a call, which is refused where it stands
      return skipToSemicolon();
    variables(*found, external, function_->variables, &function_->scopes[scope]);
  }

  void registers(uint32_t scope) {
    while (peek().kind == Token::Dot && (peek().text == "v2" || peek().text == "v4"))
      expected("scalar registers (vector registers are not supported)");
    Type element = type("the type of registers");
    do {
      const Token &token = peek();
      std::string base = name("the name of a register");
      if (accept('<')) {
        uint64_t count = integer("a number of registers");
        if (count > maxRegisters)
          wrong(token, "expects at most ", maxRegisters, " registers, got ", count);
        expect('>', "after a number of registers");
        for (uint64_t i = 0; i < count; ++i)
          addRegister(scope, base + std::to_string(i), element, token);
      } else {
        addRegister(scope, base, element, token);
      }
    } while (accept(','));
    expect(';', "after registers");
  }

  void addRegister(uint32_t scope, std::string name, Type type, const Token &token) {
    uint32_t index = static_cast<uint32_t>(function_->registers.size());
    if (index >= maxRegisters)
      wrong(token, "expects at most ", maxRegisters, " registers in a function");
    if (!function_->scopes[scope].registers.emplace(name, index).second)
      wrong(token, "expects each register once in its braces, got '", name, "' again");
    function_->registers.push_back({std::move(name), type});
  }

  void statement(uint32_t scope) {
    Statement result;
    const Token &first = peek();
    result.line = first.line;
    result.scope = scope;
    if (accept('@')) {
      result.predicated = true;
      result.predicateNegated = accept('!');
      result.predicate = name("a predicate register");
    }
    result.opcode = name("an instruction");
    while (peek().kind == Token::Dot)
      result.modifiers.emplace_back(take().text);
    if (!peek().is(';')) {
      if (peek().is('(')) // call's lists; the decoder refuses the instruction by name
        while (peek().kind != Token::End && !peek().is(';'))
          take();
      else
        do
          result.operands.push_back(operand(0));
        while (accept(','));
    }
    const char *begin = first.text.data(), *end = peek().text.data();
    expect(';', "after an instruction");
    result.source = joined({begin, static_cast<size_t>(end - begin)});
    function_->statements.push_back(std::move(result));
  }

  static std::string joined(std::string_view text) {
    std::string out;
    for (char c : text) {
      bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (blank && (out.empty() || out.back() == ' '))
        continue;
      out += blank ? ' ' : c;
      if (out.size() >= 160)
        return out + "...";
    }
    while (!out.empty() && out.back() == ' ')
      out.pop_back();
    return out;
  }

  Operand operand(unsigned depth) {
    if (depth > 8)
      expected("a less deeply nested operand");
    Operand result;
    if (accept('{')) {
      result.kind = Operand::Vector;
      do
        result.parts.push_back(operand(depth + 1));
      while (accept(','));
      expect('}', "after a vector");
      return result;
    }
    if (accept('[')) {
      result.kind = Operand::Address;
      result.parts.push_back(operand(depth + 1));
      result.offset = result.parts[0].offset;
      result.parts[0].offset = 0;
      while (accept(','))
        result.parts.push_back(operand(depth + 1));
      expect(']', "after an address");
      return result;
    }
    if (accept('!')) {
      result = operand(depth + 1);
      result.negated = true;
      return result;
    }
    if (peek().is('(')) { // (a constant)
      take();
      result = operand(depth + 1);
      expect(')', "after a constant");
      return result;
    }
    bool negative = accept('-');
    const Token &token = take();
    switch (token.kind) {
    case Token::Integer:
      result.kind = Operand::Integer;
      result.bits = negative ? -token.bits : token.bits;
      return result;
    case Token::Float32:
      result.kind = Operand::Float32;
      result.bits = negative ? token.bits ^ (1u << 31) : token.bits;
      return result;
    case Token::Float64:
      result.kind = Operand::Float64;
      result.bits = negative ? token.bits ^ (uint64_t{1} << 63) : token.bits;
      return result;
    case Token::Name:
      break;
    default:
      wrong(token, "expects an operand, got ", shown(token));
    }
    if (negative)
      wrong(token, "expects a number after '-', got ", shown(token));
    result.name = std::string(token.text);
    if (result.name[0] == '%')
      while (peek().kind == Token::Dot)
        result.name += "." + std::string(take().text);
    if (peek().is('+') || peek().is('-')) {
      bool minus = take().is('-') != accept('-');
      uint64_t offset = integer("an offset");
      result.offset = static_cast<int64_t>(minus ? -offset : offset);
    } else if (accept('|')) {
      Operand pair;
      pair.kind = Operand::Pair;
      pair.parts.push_back(std::move(result));
      pair.parts.push_back(operand(depth + 1));
      return pair;
    }
    return result;
  }

  Module &module;
  std::vector<Token> tokens;
  size_t position = 0;
  Function *function_ = nullptr;
  uint64_t moduleBytes = 0; ///< of .global and .const so far
};

std::shared_ptr<const Module> Module::parse(std::string source, std::string file) {
  auto module = std::make_shared<Module>();
  module->fileName = std::move(file);
  module->text = std::move(source);
  Parser(*module, lex(module->text, module->fileName)).run();
  return module;
}

} // namespace fovea::emulator
