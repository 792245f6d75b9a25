// Element types, collectives and algorithms by number and name, in C.
#include <fmt/format.h>

#include <array>

#include "bindings/c/handles.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::c {

static_assert(TUTTI_INT8 == static_cast<int>(Type::int8) && TUTTI_INT16 == static_cast<int>(Type::int16));
static_assert(TUTTI_INT32 == static_cast<int>(Type::int32) && TUTTI_INT64 == static_cast<int>(Type::int64));
static_assert(TUTTI_UINT8 == static_cast<int>(Type::uint8) && TUTTI_UINT16 == static_cast<int>(Type::uint16));
static_assert(TUTTI_UINT32 == static_cast<int>(Type::uint32) && TUTTI_UINT64 == static_cast<int>(Type::uint64));
static_assert(TUTTI_FP8_E4M3 == static_cast<int>(Type::fp8_e4m3) && TUTTI_FP8_E5M2 == static_cast<int>(Type::fp8_e5m2));
static_assert(TUTTI_FP16 == static_cast<int>(Type::fp16) && TUTTI_BF16 == static_cast<int>(Type::bf16));
static_assert(TUTTI_FP32 == static_cast<int>(Type::fp32) && TUTTI_FP64 == static_cast<int>(Type::fp64));
static_assert(TUTTI_COMPLEX_FP32 == static_cast<int>(Type::complex_fp32));
static_assert(TUTTI_COMPLEX_FP64 == static_cast<int>(Type::complex_fp64));
static_assert(TUTTI_BOOL == static_cast<int>(Type::boolean) && TUTTI_BOOL + 1 == type_count);

Type type_of(const Site& site, std::string_view argument, tutti_type type) {
  if (type < 0 || type >= type_count)
    site.refuse(argument, std::to_string(type), fmt::format("a value of enum tutti_types, 0 to {}", type_count - 1));
  return static_cast<Type>(type);
}

namespace {

/// Calls `use` with a value of the type's class in C++.
template <class Use>
void with_small_float(const Site& site, tutti_type type, const Use& use) {
  switch (type_of(site, "type", type)) {
    case Type::fp8_e4m3:
      return use(Float8E4M3{});
    case Type::fp8_e5m2:
      return use(Float8E5M2{});
    case Type::fp16:
      return use(Half{});
    case Type::bf16:
      return use(BFloat16{});
    default:
      site.refuse("type", to_string(static_cast<Type>(type)), "fp8_e4m3, fp8_e5m2, fp16, bf16");
  }
}

void require_elements(const Site& site, const void* in, const void* out, int64_t count) {
  if (count < 0) site.refuse("count", std::to_string(count), "0 and more");
  if (count > 0 && in == nullptr) site.refuse("in", "NULL", fmt::format("{} elements", count));
  if (count > 0 && out == nullptr) site.refuse("out", "NULL", fmt::format("{} elements", count));
}

}  // namespace
}  // namespace tutti::c

using namespace tutti::c;

void* tutti_in_place() { return TUTTI_IN_PLACE; }

void* tutti_not_contiguous() {
  static char mark = 0;  // no buffer of a program
  return &mark;
}

tutti_status tutti_type_size(tutti_type type, int64_t* bytes) {
  return guarded(
      [&](const Site& site) { site.pointed("bytes", bytes) = size_of(type_of(site, "type", type)).value(); });
}

// The names in C++ are literals, so that they end with a zero.
tutti_status tutti_type_name(tutti_type type, const char** name) {
  return guarded([&](const Site& site) { site.pointed("name", name) = to_string(type_of(site, "type", type)).data(); });
}

tutti_status tutti_collective_name(tutti_collective collective, const char** name) {
  return guarded(
      [&](const Site& site) { site.pointed("name", name) = to_string(collective_of(site, collective)).data(); });
}

tutti_status tutti_algorithm_names(tutti_collective collective, const char** names) {
  return guarded([&](const Site& site) {
    static const auto& texts = *new auto{[] {  // never destroyed, as callers keep pointers
      std::array<std::string, tutti::collective_count> all;
      for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = tutti::algorithm_names(static_cast<tutti::Collective>(i));
      return all;
    }()};
    site.pointed("names", names) = texts[static_cast<std::size_t>(collective_of(site, collective))].c_str();
  });
}

tutti_status tutti_from_float(const float* in, void* out, int64_t count, tutti_type type) {
  return guarded([&](const Site& site) {
    require_elements(site, in, out, count);
    with_small_float(site, type, [&](auto small) {
      for (int64_t i = 0; i < count; ++i)
        static_cast<decltype(small)*>(out)[i] = decltype(small){in[i]};
    });
  });
}

tutti_status tutti_to_float(const void* in, float* out, int64_t count, tutti_type type) {
  return guarded([&](const Site& site) {
    require_elements(site, in, out, count);
    with_small_float(site, type, [&](auto small) {
      for (int64_t i = 0; i < count; ++i)
        out[i] = static_cast<float>(static_cast<const decltype(small)*>(in)[i]);
    });
  });
}
