// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parsed PTX file: its target, variables and functions, with every statement still as written.
// Names are resolved when a kernel is decoded (Decode.h), not here.
#ifndef FOVEA_EMULATOR_MODULE_H
#define FOVEA_EMULATOR_MODULE_H

#include "emulator/Type.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace fovea::emulator {

/// What stands between two commas of an instruction.
struct Operand {
  enum Kind : uint8_t {
    Name,    ///< a register, special register, variable or label; `name`, perhaps with `offset`
    Integer, ///< `bits`
    Float32, ///< `bits` of an f32
    Float64, ///< `bits` of an f64
    Vector,  ///< `{...}`; `parts`
    Address, ///< `[...]`; `parts[0]` is the base, `offset` is added to it, then further parts
    Pair,    ///< `%r1|%p1`; two `parts`
  };
  Kind kind = Name;
  bool negated = false; ///< `!%p1`
  std::string name;
  uint64_t bits = 0;
  int64_t offset = 0;
  std::vector<Operand> parts;
};

/// One instruction. `opcode` is the first word, `modifiers` what follows its points.
struct Statement {
  uint32_t line = 0;
  uint32_t scope = 0; ///< index into Function::scopes
  bool predicated = false, predicateNegated = false;
  std::string predicate, opcode;
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
  std::string source; ///< its text, blanks joined, for messages

  std::string mnemonic() const; ///< opcode and modifiers
};

/// A variable of a state space.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint64_t size = 0; ///< in bytes
  uint64_t alignment = 1;
  bool external = false;        ///< `.extern .shared x[]`: as large as the launch says
  std::vector<uint8_t> initial; ///< at most `size` bytes; the rest is zero
  uint32_t line = 0;
};

/// A parameter of an entry; `offset` is its place in the block of all arguments.
struct Parameter {
  std::string name;
  Type type = Type::B8;
  uint64_t size = 0, alignment = 1, offset = 0;
};

struct Register {
  std::string name;
  Type type;
};

/// `{ ... }`: its registers, labels and variables hide those around it.
struct Scope {
  int32_t parent = -1;
  std::unordered_map<std::string, uint32_t> registers;               ///< into Function::registers
  std::unordered_map<std::string, uint32_t> labels;                  ///< into Function::statements
  std::unordered_map<std::string, uint32_t> variables;               ///< into Function::variables
  std::unordered_map<std::string, std::vector<std::string>> targets; ///< `.branchtargets`
};

struct Function {
  std::string name;
  bool isEntry = false, isDeclaration = false;
  std::vector<Parameter> parameters;
  uint64_t parameterBytes = 0;
  std::vector<Register> registers;
  std::vector<Variable> variables; ///< of .shared and .local that stand inside
  std::vector<Scope> scopes;       ///< the first is the function's body
  std::vector<Statement> statements;
  uint32_t maxThreads[3] = {0, 0, 0};      ///< .maxntid, zeros where not given
  uint32_t requiredThreads[3] = {0, 0, 0}; ///< .reqntid
  uint32_t maxRegisters = 0;               ///< .maxnreg
  uint32_t line = 0;

  /// Bytes of static shared memory that the body declares, without .extern.
  uint64_t sharedBytes() const;
};

/// A parsed file.
class Module {
public:
  /// Parses `source`; `file` is for messages. Throws Error at the first wrong place.
  static std::shared_ptr<const Module> parse(std::string source, std::string file);
  /// Reads and parses a file.
  static std::shared_ptr<const Module> load(const std::string &path);

  const std::string &file() const { return fileName; }
  /// The first word of .target: "sm_90a".
  const std::string &target() const { return targetName; }
  /// Architecture number of the target: 90 for sm_90a. `hasSuffix('a')` says whether it ends in a.
  unsigned architecture() const { return architectureNumber; }
  unsigned versionMajor() const { return major; }
  unsigned versionMinor() const { return minor; }
  const std::vector<Function> &functions() const { return allFunctions; }
  const std::vector<Variable> &variables() const { return allVariables; }
  /// The entry called `name`. Throws Error that lists what there is.
  const Function &entry(const std::string &name) const;
  std::vector<std::string> entryNames() const;

private:
  friend class Parser;
  std::string fileName, text, targetName;
  unsigned architectureNumber = 0, major = 0, minor = 0;
  std::vector<Function> allFunctions;
  std::vector<Variable> allVariables;
};

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_MODULE_H
