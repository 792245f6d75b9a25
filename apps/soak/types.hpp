#pragma once
// From a Type to a C++ type.

#include <complex>
#include <cstdint>

#include "tutti/datatype.hpp"

namespace tutti::soak {

/// The types that rounds draw: all but bool, whose operations are those of bytes under other names.
inline constexpr int drawn_types = static_cast<int>(Type::boolean);

/// Returns visit.operator()<T>() with the C++ type of `type`.
template <class Visit>
auto with_type(Type type, Visit visit) {
  switch (type) {
    case Type::int8:
      return visit.template operator()<std::int8_t>();
    case Type::int16:
      return visit.template operator()<std::int16_t>();
    case Type::int32:
      return visit.template operator()<std::int32_t>();
    case Type::int64:
      return visit.template operator()<std::int64_t>();
    case Type::uint8:
      return visit.template operator()<std::uint8_t>();
    case Type::uint16:
      return visit.template operator()<std::uint16_t>();
    case Type::uint32:
      return visit.template operator()<std::uint32_t>();
    case Type::uint64:
      return visit.template operator()<std::uint64_t>();
    case Type::fp8_e4m3:
      return visit.template operator()<Float8E4M3>();
    case Type::fp8_e5m2:
      return visit.template operator()<Float8E5M2>();
    case Type::fp16:
      return visit.template operator()<Half>();
    case Type::bf16:
      return visit.template operator()<BFloat16>();
    case Type::fp32:
      return visit.template operator()<float>();
    case Type::fp64:
      return visit.template operator()<double>();
    case Type::complex_fp32:
      return visit.template operator()<std::complex<float>>();
    default:
      return visit.template operator()<std::complex<double>>();
  }
}

}  // namespace tutti::soak
