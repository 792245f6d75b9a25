#pragma once
// Instructions of PTX, decoded.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fake_cuda/ptx/format.hpp"

namespace fake_cuda::ptx {

enum class Opcode : std::uint8_t {
  mov,
  add,
  sub,
  mul,
  mad,
  div,
  rem,
  min,
  max,
  neg,
  abs,
  setp,
  set,
  selp,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shl,
  shr,
  prmt,
  cvt,
  cvta,
  ld,
  st,
  bra,
  ret,
  bar,
  fence,
  lop3,
  shf,
  bfe,
  bfi,
  popc,
  clz,
  atom,
  red,
  sqrt,
  rcp,
  nop
};
enum class Half : std::uint8_t { full, low, high, wide };  ///< Which half of the product of integers.
enum class Space : std::uint8_t { generic, global, param, shared, local };
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Atomic : std::uint8_t { none, add, exch, cas, min, max, bit_and, bit_or, bit_xor };
/// Combines a comparison with a predicate.
enum class Combination : std::uint8_t { none, bit_and, bit_or, bit_xor };

/// Special registers, in the order of Machine::special().
inline constexpr std::string_view specials[] = {"%tid.x",    "%tid.y",    "%tid.z",   "%ntid.x",  "%ntid.y",
                                                "%ntid.z",   "%ctaid.x",  "%ctaid.y", "%ctaid.z", "%nctaid.x",
                                                "%nctaid.y", "%nctaid.z", "%laneid",  "%warpid",  "%clock64"};

struct Operand {
  enum Kind : std::uint8_t { in_register, immediate, special, address, parameter, sink } kind = immediate;
  bool is_inverted = false;
  int number = -1;          ///< The register's; the base of an address, -1: none.
  std::uint64_t value = 0;  ///< Immediate; the offset of an address.
};

struct Instruction {
  Opcode opcode = Opcode::nop;
  Type type{}, from{};  ///< `from`: the type of the source, of cvt, set and setp.
  Half half = Half::full;
  Rounding rounding = Rounding::none;
  Space space = Space::generic;
  Comparison comparison = Comparison::eq;
  Atomic atomic = Atomic::none;
  Combination combination = Combination::none;
  bool saturates = false, flushes = false, to_integer = false, keeps_nan = false;
  bool is_left = false;     ///< shf: to the left.
  bool wraps = false;       ///< shf: the count modulo 32.
  bool has_second = false;  ///< setp with two predicates.
  bool is_packing = false;  ///< mov from a vector of registers.
  int width = 1;            ///< Elements of a vector.
  int guard = -1;           ///< The predicate; -1: always.
  bool is_guard_inverted = false;
  int target = -1;  ///< Where a branch goes.
  int line = 0;
  std::atomic<bool>* executed = nullptr;  ///< See coverage.hpp.
  std::vector<Operand> operands{};
};

struct Code {
  std::vector<Instruction> instructions;
};

// Generic addresses of the small spaces.
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << 60, local_window = std::uint64_t{2} << 60,
                               windows = std::uint64_t{15} << 60;

}  // namespace fake_cuda::ptx
