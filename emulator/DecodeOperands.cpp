// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and operands of a statement: registers, constants, special registers, symbols, addresses,
// labels. Sizes must fit the instruction's type.
#include "emulator/Decode.h"
#include "emulator/Float.h"

#include <cstring>

namespace fovea::emulator {

const Operand &Decoder::operand(size_t i) {
  if (i >= statement->operands.size())
    wrong("expects ", statement->opcode, " to have more operands than ",
          statement->operands.size());
  return statement->operands[i];
}
void Decoder::requireCount(size_t least, size_t most) {
  if (count() < least || count() > most)
    wrong("expects ", statement->opcode, " to have ", least,
          most != least ? text(" to ", most) : "", " operands, got ", count());
}
void Decoder::takeOperands(const std::vector<Type> &sources, unsigned bits) {
  requireCount(sources.size() + 1, sources.size() + 1);
  uint32_t *places[] = {&in.a, &in.b, &in.c};
  for (size_t i = 0; i < sources.size(); ++i)
    *places[i] = source(operand(i + 1), sources[i]);
  in.d = destination(operand(0), bits);
}
template <typename T>
const T *Decoder::findInScopes(std::unordered_map<std::string, T> Scope::*names,
                               const std::string &name) const {
  for (int32_t scope = static_cast<int32_t>(statement->scope); scope >= 0;
       scope = function.scopes[scope].parent) {
    const auto &here = function.scopes[scope].*names;
    if (auto found = here.find(name); found != here.end())
      return &found->second;
  }
  return nullptr;
}
const uint32_t *Decoder::findRegister(const std::string &name) const {
  return findInScopes(&Scope::registers, name);
}
std::optional<unsigned> Decoder::registerBits(const Operand &operand) {
  if (operand.kind != Operand::Name)
    return std::nullopt;
  if (auto found = findRegister(operand.name))
    return bitsOf(function.registers[*found].type);
  return std::nullopt;
}
uint32_t Decoder::registerOffset(const Operand &operand, bool written) {
  if (operand.kind == Operand::Name)
    if (auto found = findRegister(operand.name)) {
      (written ? touches.back().writes : touches.back().reads).push_back(offsets[*found]);
      return offsets[*found];
    }
  wrong("expects a register, got '", operand.name, "'");
}
uint32_t Decoder::destination(const Operand &operand, unsigned bits) {
  if (operand.kind == Operand::Name && operand.name == "_")
    return 0;
  const uint32_t *found = operand.kind == Operand::Name ? findRegister(operand.name) : nullptr;
  if (!found)
    wrong("expects a register to write to, got ",
          operand.kind == Operand::Name ? text("'", operand.name, "'") : "something else");
  unsigned has = bitsOf(function.registers[*found].type);
  if (has != bits && !(bits == 8 && has == 16))
    wrong("expects a register of ", bits, " bits, got ", operand.name, " of ", has);
  touches.back().writes.push_back(offsets[*found]);
  return offsets[*found];
}
uint32_t Decoder::predicate(const Operand &operand, bool *negated) {
  if (operand.negated && !negated)
    wrong("expects a predicate without '!', got '!", operand.name, "'");
  if (negated)
    *negated = operand.negated;
  const uint32_t *found = operand.kind == Operand::Name ? findRegister(operand.name) : nullptr;
  if (!found || function.registers[*found].type != Type::Pred)
    wrong("expects a predicate register, got '", operand.name, "'");
  return offsets[*found];
}
uint32_t Decoder::predicate(const Operand &operand, uint8_t flag) {
  bool negated = false;
  uint32_t offset = predicate(operand, &negated);
  in.flags |= negated ? flag : 0;
  return offset;
}
int64_t Decoder::integer(const Operand &operand, const char *what) {
  if (operand.kind != Operand::Integer)
    wrong("expects a constant ", what, ", got '", operand.name, "'");
  return static_cast<int64_t>(operand.bits);
}
uint32_t Decoder::constant(unsigned bits, uint64_t value) {
  if (bits > 64)
    wrong("expects a register of ", bits, " bits, got a constant");
  if (bits < 64)
    value &= (uint64_t{1} << bits) - 1;
  if (bits == 8)
    bits = 16;
  auto [place, fresh] = constants.try_emplace({bits, value}, 0);
  if (fresh) {
    uint32_t start = static_cast<uint32_t>(kernel.constants.size());
    place->second = kernel.constantOffset + start;
    kernel.constants.resize(start + lanesBytes(bits));
    for (unsigned lane = 0; lane < 32; ++lane)
      std::memcpy(kernel.constants.data() + start + lane * bits / 8, &value, bits / 8);
  }
  return place->second;
}
std::optional<uint32_t> Decoder::special(const std::string &name) {
  static const std::unordered_map<std::string, SpecialRegister> names = {
      {"%tid.x", TidX},
      {"%tid.y", TidY},
      {"%tid.z", TidZ},
      {"%ntid.x", NtidX},
      {"%ntid.y", NtidY},
      {"%ntid.z", NtidZ},
      {"%ctaid.x", CtaidX},
      {"%ctaid.y", CtaidY},
      {"%ctaid.z", CtaidZ},
      {"%nctaid.x", NctaidX},
      {"%nctaid.y", NctaidY},
      {"%nctaid.z", NctaidZ},
      {"%laneid", LaneId},
      {"%warpid", WarpId},
      {"%nwarpid", NwarpId},
      {"%lanemask_eq", LanemaskEq},
      {"%lanemask_le", LanemaskLe},
      {"%lanemask_lt", LanemaskLt},
      {"%lanemask_ge", LanemaskGe},
      {"%lanemask_gt", LanemaskGt},
      {"%dynamic_smem_size", DynamicSmemSize},
      {"%total_smem_size", TotalSmemSize},
      {"%smid", SmId},
      {"%nsmid", NsmId},
      {"%gridid", GridId64},
      // A cluster of one block.
      {"%clusterid.x", CtaidX},
      {"%clusterid.y", CtaidY},
      {"%clusterid.z", CtaidZ},
      {"%nclusterid.x", NctaidX},
      {"%nclusterid.y", NctaidY},
      {"%nclusterid.z", NctaidZ},
      {"%cluster_ctaid.x", Zero32},
      {"%cluster_ctaid.y", Zero32},
      {"%cluster_ctaid.z", Zero32},
      {"%cluster_nctaid.x", One32},
      {"%cluster_nctaid.y", One32},
      {"%cluster_nctaid.z", One32},
      {"%cluster_ctarank", Zero32},
      {"%cluster_nctarank", One32}};
  auto found = names.find(name);
  if (found == names.end())
    return std::nullopt;
  return kernel.specials[found->second] = specialStart + found->second * 256;
}
uint32_t Decoder::source(const Operand &operand, Type type) {
  unsigned bits = bitsOf(type);
  switch (operand.kind) {
  case Operand::Integer:
    if (isFloat(type) && bits > 16 && type != Type::F16x2 && type != Type::BF16x2)
      wrong("expects a float for .", nameOf(type), ", got an integer");
    return constant(bits, operand.bits);
  case Operand::Float32:
    if (bits == 64)
      return constant(64,
                      bitsAs<uint64_t>(double{bitsAs<float>(static_cast<uint32_t>(operand.bits))}));
    if (bits != 32)
      wrong("expects a constant of ", bits, " bits, got one of 32");
    return constant(32, operand.bits);
  case Operand::Float64:
    if (bits == 64)
      return constant(64, operand.bits);
    if (bits != 32)
      wrong("expects a constant of ", bits, " bits, got one of 64");
    return constant(32, bitsAs<uint32_t>(static_cast<float>(bitsAs<double>(operand.bits))));
  case Operand::Name:
    break;
  default:
    wrong("expects a register or a constant");
  }
  if (operand.negated)
    wrong("expects an operand without '!', got '!", operand.name, "'");
  if (auto found = findRegister(operand.name)) {
    unsigned has = bitsOf(function.registers[*found].type);
    if (has != bits && !(bits == 8 && has == 16))
      wrong("expects a register of ", bits, " bits for .", nameOf(type), ", got ", operand.name,
            " of ", has);
    touches.back().reads.push_back(offsets[*found]);
    return offsets[*found];
  }
  if (auto found = special(operand.name)) {
    unsigned has = operand.name == "%gridid" ? 64 : 32;
    if (bits != has)
      wrong("expects ", has, " bits for ", operand.name, ", got .", nameOf(type));
    return *found;
  }
  if (operand.name == "WARP_SZ")
    return constant(bits, 32);
  if (auto found = symbol(operand.name)) {
    if (bits < 32)
      wrong("expects at least 32 bits for the address of '", operand.name, "'");
    return constant(bits, found->address + static_cast<uint64_t>(operand.offset));
  }
  wrong("expects a register, variable or constant, got '", operand.name,
        "', which is not declared");
}
std::optional<Decoder::Symbol> Decoder::symbol(const std::string &name) {
  if (const uint32_t *found = findInScopes(&Scope::variables, name)) {
    const Variable &variable = function.variables[*found];
    return Symbol{variable.space, variableAddress[*found], variable.size};
  }
  if (auto found = shared.find(name); found != shared.end())
    return found->second;
  if (auto found = symbols.global.find(name); found != symbols.global.end())
    return Symbol{Space::Global, found->second, 0};
  if (const Parameter *found = parameter(name))
    return Symbol{Space::Param, found->offset, found->size, true};
  return std::nullopt;
}
const Parameter *Decoder::parameter(const std::string &name) {
  for (const Parameter &each : function.parameters)
    if (each.name == name)
      return &each;
  return nullptr;
}
const std::vector<std::string> *Decoder::branchTargets(const std::string &name) {
  return findInScopes(&Scope::targets, name);
}
uint32_t Decoder::label(const std::string &name) {
  if (const uint32_t *found = findInScopes(&Scope::labels, name))
    return placeOf.empty() ? *found : placeOf[*found];
  wrong("expects a label in these or outer braces, got '", name, "'");
}
Decoder::AddressForm Decoder::address(const Operand &operand, Space space) {
  if (operand.kind != Operand::Address)
    wrong("expects an address in [ ], got '", operand.name, "'");
  const Operand &base = operand.parts[0];
  AddressForm form;
  form.offset = operand.offset;
  if (base.kind == Operand::Integer) {
    form.base = constant(64, base.bits);
    return form;
  }
  if (auto bits = registerBits(base)) {
    if (*bits != 32 && *bits != 64)
      wrong("expects an address of 32 or 64 bits, got ", base.name, " of ", *bits);
    if (*bits == 32 && space != Space::Shared && space != Space::Local && space != Space::Param)
      wrong("expects an address of 64 bits, got ", base.name, " of 32");
    form.wide = *bits == 64;
    form.base = source(base, form.wide ? Type::B64 : Type::B32);
    return form;
  }
  if (base.kind == Operand::Name)
    if (auto found = symbol(base.name)) {
      if (space == Space::Generic && found->space != Space::Global)
        wrong("expects '", base.name, "' of .", nameOf(found->space),
              " to be accessed in its own space");
      if (space != Space::Generic && space != found->space &&
          !(space == Space::Const && found->space == Space::Global))
        wrong("expects a variable of .", nameOf(space), ", got '", base.name, "' of .",
              nameOf(found->space));
      form.base = constant(64, found->address);
      return form;
    }
  wrong("expects a register or variable in [ ], got '", base.name, "', which is not declared");
}
void Decoder::setAlu(const AluForm &form) {
  in.run = findAlu(form);
  if (!in.run)
    unsupported();
}

} // namespace fovea::emulator
