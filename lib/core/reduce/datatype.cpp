#include "tutti/datatype.hpp"

#include <array>
#include <string>

#include "lib/core/reduce/convert.hpp"
#include "lib/core/reduce/convert_fp8.hpp"
#include "lib/core/reduce/wide_type.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

struct TypeFacts {
  std::string_view name;
  int size;
};

// In the order of Type.
constexpr std::array<TypeFacts, type_count> facts{{
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"fp8_e4m3", 1},
    {"fp8_e5m2", 1},
    {"fp16", 2},
    {"bf16", 2},
    {"fp32", 4},
    {"fp64", 8},
    {"complex_fp32", 8},
    {"complex_fp64", 16},
    {"bool", 1},
}};

constexpr TypeFacts wide_facts{"wide", 32};

const TypeFacts& facts_of(Type type, const char* function) {
  if (type == detail::wide_type) return wide_facts;
  if (!is_type(type))
    throw ArgumentError(std::string{"tutti::"} + function + ": argument 'type' is " +
                        std::to_string(static_cast<int>(type)) + ", which is no Type; allowed: a value of enum Type");
  return facts[static_cast<std::size_t>(type)];
}

}  // namespace

Float8E4M3::Float8E4M3(float value) : bits_(static_cast<std::uint8_t>(float_to_fp8<E4m3>(value))) {}
Float8E4M3::operator float() const { return fp8_to_float<E4m3>(std::uint32_t{bits_}); }
Float8E5M2::Float8E5M2(float value) : bits_(static_cast<std::uint8_t>(float_to_fp8<E5m2>(value))) {}
Float8E5M2::operator float() const { return fp8_to_float<E5m2>(std::uint32_t{bits_}); }
Half::Half(float value) : bits_(static_cast<std::uint16_t>(float_to_half(value))) {}
Half::operator float() const { return half_to_float(std::uint32_t{bits_}); }
BFloat16::BFloat16(float value) : bits_(static_cast<std::uint16_t>(float_to_bfloat(value))) {}

std::string_view to_string(Type type) { return facts_of(type, "to_string").name; }
Bytes size_of(Type type) { return Bytes{facts_of(type, "size_of").size}; }

}  // namespace tutti
