#include "lib/topology/sysfs.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>

#include "lib/topology/topology.hpp"

namespace tutti::topology {
namespace {

namespace fs = std::filesystem;

/// "0000:3b:00.0", or "pci0000:3a" of a host's bridge.
bool is_pci(std::string_view name) {
  if (name.substr(0, 3) == "pci") name.remove_prefix(3);
  const bool has_domain = name.size() > 4 && name[4] == ':';
  return has_domain && std::all_of(name.begin(), name.end(), [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
         });
}

}  // namespace

std::string first_line(const fs::path& file) {
  std::ifstream stream{file};
  std::string line;
  std::getline(stream, line);
  return line;
}

namespace {

template <class Number>
Number read(std::string_view line, Number otherwise) {
  Number number{};
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  return error == std::errc{} ? number : otherwise;
}

}  // namespace

double number_of(std::string_view line, double otherwise) { return read(line, otherwise); }

int whole_number_of(std::string_view line, int otherwise) { return read(line, otherwise); }

double number_in(const fs::path& file, double otherwise) { return number_of(first_line(file), otherwise); }

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> pci_path(const fs::path& device) {
  std::error_code error;
  const fs::path real = fs::canonical(device, error);
  std::vector<std::string> path;
  if (error) return path;
  for (const fs::path& part : real)
    if (is_pci(part.string())) path.push_back(part);
  return path;
}

int numa_of(const fs::path& device) { return whole_number_of(first_line(device / "numa_node"), unknown_numa); }

}  // namespace tutti::topology
