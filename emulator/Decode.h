// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From statements to instructions. The decoder resolves names and checks operands; each family of
// instructions has a function for each opcode, which fills an Instruction. A modifier that no
// function asks for is an error: what is not understood is never ignored.
#ifndef FOVEA_EMULATOR_DECODE_H
#define FOVEA_EMULATOR_DECODE_H

#include "emulator/Alu.h"
#include "emulator/Error.h"
#include "emulator/Kernel.h"
#include "emulator/Layout.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace fovea::emulator {

/// Bytes of 32 lanes of `bits` each in a warp's storage; a predicate is a mask of lanes.
inline uint32_t lanesBytes(unsigned bits) {
  return bits == 1 ? 64 : bits <= 16 ? 64 : 32 * (bits / 8);
}

class Decoder {
public:
  Decoder(Kernel &kernel, const Symbols &symbols);
  void run();

  // --- the statement being decoded
  const Statement *statement = nullptr;
  Instruction in;
  template <typename... Parts> [[noreturn]] void wrong(const Parts &...parts) {
    fail(kernel.module->file(), ":", statement->line, ": ", parts..., "\n  ", statement->source);
  }
  [[noreturn]] void unsupported(const std::string &what = {});

  /// Takes the modifier `name` if it is there.
  bool take(std::string_view name);
  /// Takes the first of `names` that is there; its place, or -1.
  int takeOneOf(std::initializer_list<std::string_view> names);
  /// Takes the first (last) modifier that is a type.
  std::optional<Type> takeType();
  Type lastType();
  Type firstType();
  /// Takes a state space, Generic if none.
  Space takeSpace();
  /// Takes the modifiers of caches, coherence and prefetch, which change no result.
  void takeCacheHints();
  bool has(std::string_view name) const;
  void requireArchitecture(unsigned least);

  // --- operands
  size_t count() const { return statement->operands.size(); }
  const Operand &operand(size_t i);
  void requireCount(size_t least, size_t most);
  /// All operands: a destination of `bits`, and up to three sources of these types.
  void takeOperands(const std::vector<Type> &sources, unsigned bits);
  /// The same, all of one type.
  void takeAlike(Type type, unsigned sources) {
    takeOperands(std::vector<Type>(sources, type), bitsOf(type));
  }
  /// Offset of a register of `bits` that is written; zero, the sink, for `_`.
  uint32_t destination(const Operand &operand, unsigned bits);
  /// Offset of what holds the operand's value for each lane.
  uint32_t source(const Operand &operand, Type type);
  /// Offset of a predicate; `!p` sets `negated`, which must be wanted.
  uint32_t predicate(const Operand &operand, bool *negated = nullptr);
  /// The same; `!p` sets `flag` of the instruction.
  uint32_t predicate(const Operand &operand, uint8_t flag);
  /// The register called so, in bits, or nothing if it is none. Wider ones are fine for ld and st.
  std::optional<unsigned> registerBits(const Operand &operand);
  uint32_t registerOffset(const Operand &operand, bool written);
  int64_t integer(const Operand &operand, const char *what);
  bool isConstant(const Operand &operand) const { return operand.kind == Operand::Integer; }
  uint32_t constant(unsigned bits, uint64_t value);
  /// Of `[base + offset]`: offset of the base's lanes (64 bits each), the sum of what is constant.
  /// `wide` tells whether the base register has 64 bits.
  struct AddressForm {
    uint32_t base = 0;
    int64_t offset = 0;
    bool wide = true;
  };
  AddressForm address(const Operand &operand, Space space);
  /// The value of a symbol, as an address in its space.
  struct Symbol {
    Space space;
    uint64_t address;
    uint64_t size;
    bool isParameter = false;
  };
  std::optional<Symbol> symbol(const std::string &name);
  const Parameter *parameter(const std::string &name);
  const std::vector<std::string> *branchTargets(const std::string &name);
  /// Statement a label stands before.
  uint32_t label(const std::string &name);

  void setHandler(Handler handler) { in.run = handler; }
  void setAlu(const AluForm &form);
  template <typename D, typename... A> D &addDetails(A &&...arguments) {
    auto details = std::make_unique<D>(std::forward<A>(arguments)...);
    D &result = *details;
    in.details = &result;
    kernel.details.push_back(std::move(details));
    return result;
  }
  /// Says that the kernel accesses shared memory in pieces of `bytes`.
  void sharedAccess(Space space, uint64_t bytes);
  /// Registers an accumulator or operand of wgmma: others that touch it are watched.
  void watch(uint32_t offset) { watched.insert(offset); }
  /// This instruction watches for itself.
  void watchesItself() { touches.back().exempt = true; }

  Kernel &kernel;
  const Function &function;
  /// A predicate's offset, of the carry of add.cc.
  uint32_t carry = 0;

private:
  void allocate();
  void layOutShared();
  void decodeStatement();
  Flow flowOf(const Statement &statement, uint32_t index);
  /// What a name stands for in the statement's scopes, the innermost first; null if nothing.
  template <typename T>
  const T *findInScopes(std::unordered_map<std::string, T> Scope::*names,
                        const std::string &name) const;
  const uint32_t *findRegister(const std::string &name) const;
  std::optional<uint32_t> special(const std::string &name);
  void guardWatched();

  const Symbols &symbols;
  std::vector<bool> used;        // modifiers
  std::vector<uint32_t> offsets; // of registers
  std::map<std::pair<unsigned, uint64_t>, uint32_t> constants;
  std::unordered_map<std::string, Symbol> shared; // of the module
  std::vector<uint64_t> variableAddress;          // of the function
  uint32_t specialStart = 0;
  std::unordered_set<uint32_t> watched;
  struct Touch {
    bool exempt = false;
    std::vector<uint32_t> reads, writes;
  };
  std::vector<Touch> touches;    // by instruction
  std::vector<uint32_t> placeOf; // statement -> place
};

using DecodeFunction = void (*)(Decoder &);
using DecodeTable = std::unordered_map<std::string, DecodeFunction>;
void addArithmetic(DecodeTable &table);
void addConversion(DecodeTable &table);
void addControl(DecodeTable &table);
void addMemory(DecodeTable &table);
void addAtomics(DecodeTable &table);
void addWarpOps(DecodeTable &table);
void addMatrix(DecodeTable &table);
void addMatrixMoves(DecodeTable &table);
void addMemoryBarriers(DecodeTable &table);
void addAsync(DecodeTable &table);
void addProducts(DecodeTable &table);
/// Forms of cp.async that are no bulk copies.
void decodeCpAsync(Decoder &d);

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_DECODE_H
