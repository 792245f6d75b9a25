#pragma once
// Element types of array libraries as those of Tutti.

#include "dlpack.hpp"
#include "errors.hpp"

namespace tutti::python {

constexpr tutti_type no_type = -1;
constexpr tutti_type bool_type = 16;

/// "float32" or "bfloat16", as NumPy and ml_dtypes call it.
[[nodiscard]] tutti_type type_of_name(std::string_view name);
[[nodiscard]] const char* name_of_type(tutti_type type);
/// The type of a format of the buffer protocol: "d", "<i". No type: there is none, or its byte order is another.
[[nodiscard]] tutti_type type_of_format(const char* format, Py_ssize_t size);
[[nodiscard]] tutti_type type_of_dlpack(DLDataType type);
[[nodiscard]] DLDataType dlpack_of_type(tutti_type type);
[[nodiscard]] int64_t size_of_type(tutti_type type);
/// The type of a typestr of __cuda_array_interface__: "<f4".
[[nodiscard]] tutti_type type_of_typestr(std::string_view typestr);
[[nodiscard]] std::string typestr_of_type(tutti_type type);

/// Raises TypeArgumentError: no such elements.
[[noreturn]] void refuse_type(const char* function, const char* argument, const std::string& elements);

}  // namespace tutti::python
