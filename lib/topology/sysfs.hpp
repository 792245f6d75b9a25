#pragma once
// Facts about devices from Linux's tree of small files, /sys (or a tree like it, for tests).

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topology {

/// The first line; empty if the file is not there, or cannot be read.
[[nodiscard]] std::string first_line(const std::filesystem::path& file);
/// The number with which a line begins; `otherwise` if it does not.
[[nodiscard]] double number_of(std::string_view line, double otherwise);
/// The whole number with which a line begins, which an int can hold.
[[nodiscard]] int whole_number_of(std::string_view line, int otherwise);
/// The number with which the file begins; `otherwise` if it does not.
[[nodiscard]] double number_in(const std::filesystem::path& file, double otherwise);
/// The names in a folder, sorted; none if the folder is not there.
[[nodiscard]] std::vector<std::string> names_in(const std::filesystem::path& folder);

/// The PCI bridges above a device's folder, from the host's on, and the device itself: "pci0000:00", "0000:00:01.0",
/// ... Empty if it is no PCI device.
[[nodiscard]] std::vector<std::string> pci_path(const std::filesystem::path& device);
[[nodiscard]] int numa_of(const std::filesystem::path& device);

}  // namespace tutti::topology
