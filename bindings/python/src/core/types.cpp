#include "types.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace tutti::python {
namespace {

struct Known {
  const char* name;
  char format;  // 'b' or 'u' for integers, whose letters depend on the platform; 0: the buffer protocol has none
  DLDataType dlpack;
};
// By tutti_type.
constexpr std::array<Known, 17> known{{
    {"int8", 'i', {kDLInt, 8, 1}},
    {"int16", 'i', {kDLInt, 16, 1}},
    {"int32", 'i', {kDLInt, 32, 1}},
    {"int64", 'i', {kDLInt, 64, 1}},
    {"uint8", 'u', {kDLUInt, 8, 1}},
    {"uint16", 'u', {kDLUInt, 16, 1}},
    {"uint32", 'u', {kDLUInt, 32, 1}},
    {"uint64", 'u', {kDLUInt, 64, 1}},
    {"float8_e4m3fn", 0, {kDLFloat8_e4m3fn, 8, 1}},
    {"float8_e5m2", 0, {kDLFloat8_e5m2, 8, 1}},
    {"float16", 'f', {kDLFloat, 16, 1}},
    {"bfloat16", 0, {kDLBfloat, 16, 1}},
    {"float32", 'f', {kDLFloat, 32, 1}},
    {"float64", 'f', {kDLFloat, 64, 1}},
    {"complex64", 'c', {kDLComplex, 64, 1}},
    {"complex128", 'c', {kDLComplex, 128, 1}},
    {"bool", 'b', {kDLBool, 8, 1}},
}};

template <class Predicate>
tutti_type find(const Predicate& predicate) {
  const auto* const found = std::find_if(known.begin(), known.end(), predicate);
  return found == known.end() ? no_type : static_cast<tutti_type>(found - known.begin());
}

tutti_type find(char format, Py_ssize_t size) {
  return find([&](const Known& type) { return type.format == format && type.dlpack.bits == size * 8; });
}

}  // namespace

tutti_type type_of_name(std::string_view name) {
  return find([&](const Known& type) { return name == type.name; });
}

const char* name_of_type(tutti_type type) { return known.at(static_cast<std::size_t>(type)).name; }
DLDataType dlpack_of_type(tutti_type type) { return known.at(static_cast<std::size_t>(type)).dlpack; }
int64_t size_of_type(tutti_type type) { return dlpack_of_type(type).bits / 8; }

tutti_type type_of_format(const char* format, Py_ssize_t size) {
  if (format == nullptr) return TUTTI_UINT8;
  std::string_view text{format};
  const bool is_little = std::endian::native == std::endian::little;
  if (!text.empty() && std::string_view{"@=<>!"}.find(text[0]) != std::string_view::npos) {
    if ((text[0] == '>' || text[0] == '!') && is_little && size > 1) return no_type;
    text.remove_prefix(1);
  }
  if (text == "Zf" || text == "Zd") return find('c', size);
  if (text.size() != 1) return no_type;
  switch (text[0]) {
    case '?':
      return bool_type;
    case 'e':
    case 'f':
    case 'd':
      return find('f', size);
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return find('i', size);
    case 'B':
    case 'c':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return find('u', size);
    default:
      return no_type;
  }
}

tutti_type type_of_dlpack(DLDataType type) {
  return find([&](const Known& other) {
    return other.dlpack.code == type.code && other.dlpack.bits == type.bits && type.lanes == 1;
  });
}

tutti_type type_of_typestr(std::string_view typestr) {
  if (typestr.size() < 3 || (typestr[0] == '>' && typestr.substr(2) != "1")) return no_type;
  return find(typestr[1], std::atoi(std::string{typestr.substr(2)}.c_str()));
}

std::string typestr_of_type(tutti_type type) {
  const Known& found = known.at(static_cast<std::size_t>(type));
  std::string text{found.dlpack.bits == 8 || found.format == 0 ? '|' : '<'};
  text += found.format == 0 ? 'V' : found.format;
  return text.append(std::to_string(found.dlpack.bits / 8));
}

void refuse_type(const char* function, const char* argument, const std::string& elements) {
  std::string names;
  for (const Known& type : known)
    names += (names.empty() ? "" : ", ") + std::string{type.name};
  raise("TypeArgumentError",
        std::string{function} + ": " + argument + " has elements of " + elements + "; Tutti takes " + names);
}

}  // namespace tutti::python
