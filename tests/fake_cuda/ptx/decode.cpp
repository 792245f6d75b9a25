#include "tests/fake_cuda/ptx/decode.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "tests/fake_cuda/ptx/coverage.hpp"
#include "tests/fake_cuda/ptx/module.hpp"

namespace fake_cuda::ptx {
namespace {

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};

template <class Value, std::size_t count>
std::optional<Value> find(const std::array<Named<Value>, count>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named<Value>::name);
  return found == all.end() ? std::nullopt : std::optional{found->value};
}

constexpr auto opcodes = std::to_array<Named<Opcode>>(
    {{"mov", Opcode::mov},     {"add", Opcode::add},       {"sub", Opcode::sub},     {"mul", Opcode::mul},
     {"mul24", Opcode::mul},   {"mad", Opcode::mad},       {"fma", Opcode::mad},     {"div", Opcode::div},
     {"rem", Opcode::rem},     {"min", Opcode::min},       {"max", Opcode::max},     {"neg", Opcode::neg},
     {"abs", Opcode::abs},     {"setp", Opcode::setp},     {"set", Opcode::set},     {"selp", Opcode::selp},
     {"and", Opcode::bit_and}, {"or", Opcode::bit_or},     {"xor", Opcode::bit_xor}, {"not", Opcode::bit_not},
     {"shl", Opcode::shl},     {"shr", Opcode::shr},       {"prmt", Opcode::prmt},   {"cvt", Opcode::cvt},
     {"cvta", Opcode::cvta},   {"ld", Opcode::ld},         {"ldu", Opcode::ld},      {"st", Opcode::st},
     {"bra", Opcode::bra},     {"ret", Opcode::ret},       {"exit", Opcode::ret},    {"bar", Opcode::bar},
     {"barrier", Opcode::bar}, {"membar", Opcode::fence},  {"fence", Opcode::fence}, {"lop3", Opcode::lop3},
     {"shf", Opcode::shf},     {"bfe", Opcode::bfe},       {"bfi", Opcode::bfi},     {"popc", Opcode::popc},
     {"clz", Opcode::clz},     {"atom", Opcode::atom},     {"red", Opcode::red},     {"sqrt", Opcode::sqrt},
     {"rcp", Opcode::rcp},     {"nanosleep", Opcode::nop}, {"prefetch", Opcode::nop}});
constexpr auto halves = std::to_array<Named<Half>>({{"lo", Half::low}, {"hi", Half::high}, {"wide", Half::wide}});
constexpr auto roundings = std::to_array<Named<Rounding>>({{"rn", Rounding::nearest},
                                                           {"rz", Rounding::zero},
                                                           {"rm", Rounding::down},
                                                           {"rp", Rounding::up},
                                                           {"rni", Rounding::nearest},
                                                           {"rzi", Rounding::zero},
                                                           {"rmi", Rounding::down},
                                                           {"rpi", Rounding::up}});
constexpr auto spaces = std::to_array<Named<Space>>(
    {{"global", Space::global}, {"param", Space::param}, {"shared", Space::shared}, {"local", Space::local}});
constexpr auto comparisons = std::to_array<Named<Comparison>>({{"eq", Comparison::eq},
                                                               {"ne", Comparison::ne},
                                                               {"lt", Comparison::lt},
                                                               {"le", Comparison::le},
                                                               {"gt", Comparison::gt},
                                                               {"ge", Comparison::ge},
                                                               {"equ", Comparison::equ},
                                                               {"neu", Comparison::neu},
                                                               {"ltu", Comparison::ltu},
                                                               {"leu", Comparison::leu},
                                                               {"gtu", Comparison::gtu},
                                                               {"geu", Comparison::geu},
                                                               {"num", Comparison::num},
                                                               {"nan", Comparison::nan},
                                                               {"lo", Comparison::lt},
                                                               {"ls", Comparison::le},
                                                               {"hi", Comparison::gt},
                                                               {"hs", Comparison::ge}});
constexpr auto atomics = std::to_array<Named<Atomic>>({{"add", Atomic::add},
                                                       {"exch", Atomic::exch},
                                                       {"cas", Atomic::cas},
                                                       {"min", Atomic::min},
                                                       {"max", Atomic::max},
                                                       {"and", Atomic::bit_and},
                                                       {"or", Atomic::bit_or},
                                                       {"xor", Atomic::bit_xor}});
constexpr auto combinations = std::to_array<Named<Combination>>(
    {{"and", Combination::bit_and}, {"or", Combination::bit_or}, {"xor", Combination::bit_xor}});
/// Words about caches, the order and the scope of accesses: on x86 and one block at a time they change nothing.
constexpr std::string_view without_effect[] = {"nc",
                                               "ca",
                                               "cg",
                                               "cs",
                                               "cv",
                                               "wb",
                                               "wt",
                                               "lu",
                                               "relaxed",
                                               "acquire",
                                               "release",
                                               "acq_rel",
                                               "sc",
                                               "sys",
                                               "gpu",
                                               "cta",
                                               "cluster",
                                               "weak",
                                               "uni",
                                               "sync",
                                               "aligned",
                                               "to",
                                               "volatile",
                                               "full",
                                               "L2",
                                               "level",
                                               "L1",
                                               "evict_first",
                                               "L1::no_allocate",
                                               "L1::evict_last",
                                               "gl",
                                               "approx"};

/// Whether the modifier is one of those that belong to this instruction alone.
bool take_own(Instruction& instruction, std::string_view part) {
  switch (instruction.opcode) {
    case Opcode::setp:
    case Opcode::set:
      if (const auto comparison = find(comparisons, part)) {
        instruction.comparison = *comparison;
        return true;
      }
      if (const auto combination = find(combinations, part)) {
        instruction.combination = *combination;
        return true;
      }
      return false;
    case Opcode::atom:
    case Opcode::red:
      if (const auto atomic = find(atomics, part)) {
        instruction.atomic = *atomic;
        return true;
      }
      return false;
    case Opcode::shf:
      instruction.is_left |= part == "l";
      instruction.wraps |= part == "wrap";
      return part == "l" || part == "r" || part == "wrap" || part == "clamp";
    default:
      return false;
  }
}

bool take(Instruction& instruction, std::string_view part) {
  if (take_own(instruction, part)) return true;
  if (const auto half = find(halves, part)) return instruction.half = *half, true;
  if (const auto space = find(spaces, part)) return instruction.space = *space, true;
  if (const auto rounding = find(roundings, part)) {
    instruction.rounding = *rounding;
    instruction.to_integer = part.size() == 3;
    return true;
  }
  if (part == "sat" || part == "satfinite") return instruction.saturates = true;
  if (part == "ftz") return instruction.flushes = true;
  if (part == "NaN") return instruction.keeps_nan = true;
  if (part == "v2" || part == "v4" || part == "v8") return instruction.width = part[1] - '0', true;
  return std::ranges::find(without_effect, part) != std::end(without_effect);
}

/// A half or an approximation that has no one value.
bool is_exact(const Instruction& instruction, std::string_view text) {
  return text.find(".approx") == std::string_view::npos && text.find(".full") == std::string_view::npos &&
         (instruction.opcode != Opcode::div || text.find(".cc") == std::string_view::npos);
}

/// Saturation is modelled of conversions and of floats, directed rounding of conversions and of at most 32 bits.
bool is_modelled(const Instruction& instruction) {
  if (instruction.opcode == Opcode::cvt) return true;
  const bool is_directed = instruction.rounding != Rounding::none && instruction.rounding != Rounding::nearest;
  return is_floating(instruction.type) ? !(is_directed && instruction.type.bits == 64) : !instruction.saturates;
}

}  // namespace

Instruction decoded(const std::string& text) {
  std::vector<std::string_view> parts;
  const std::string_view whole = text;
  for (std::size_t begin = 0; begin <= whole.size();) {
    const std::size_t end = std::min(whole.find('.', begin), whole.size());
    parts.push_back(whole.substr(begin, end - begin));
    begin = end + 1;
  }
  Instruction instruction;
  const auto opcode = find(opcodes, parts[0]);
  if (!opcode) throw Error("the interpreter has no instruction " + text);
  instruction.opcode = *opcode;
  instruction.executed = &executed(text);
  int types = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (const Type* const type = type_named(parts[i]))
      (types++ == 0 ? instruction.type : instruction.from) = *type;
    else if (!take(instruction, parts[i]))
      throw Error("the interpreter does not know ." + std::string{parts[i]} + " of " + text);
  }
  if (is_floating(instruction.type) && !is_exact(instruction, text))
    throw Error("the interpreter has no approximate arithmetic: " + text);
  if (!is_modelled(instruction)) throw Error("the interpreter does not round or saturate as " + text);
  return instruction;
}

}  // namespace fake_cuda::ptx
