#pragma once
// Files that one process writes, and no other.

#include <cstddef>
#include <string>

namespace tutti {

/// Opens the file for writing, and makes it and its folder if need be. Another process cannot open it so until its
/// descriptor is closed, where the file system has locks. Throws Error.
[[nodiscard]] int open_exclusively(const std::string& path);

/// Writes all bytes; returns how many were written, and says in errno why not all.
[[nodiscard]] std::size_t write_all(int file, const void* data, std::size_t bytes) noexcept;

}  // namespace tutti
