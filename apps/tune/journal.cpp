#include "apps/tune/journal.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "apps/files.hpp"
#include "apps/json.hpp"
#include "apps/options.hpp"
#include "apps/root.hpp"
#include "lib/core/memory/file_limit.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::tune {
namespace {

using apps::InputError;
using apps::Json;

std::string line_of(const std::string& context, const Point& point) {
  Json ways = Json::array();
  for (const Timed& way : point.ways)
    ways.push_back({{"use", way.use},
                    {"us", way.us},
                    {"lower", way.lower},
                    {"upper", way.upper},
                    {"fastest", way.fastest},
                    {"runs", way.runs}});
  const Json line{{"context", context},
                  {"bytes", fmt::to_string(point.bytes)},
                  {"builtin", point.builtin},
                  {"use", point.use},
                  {"ways", std::move(ways)}};
  return line.text(-1) + "\n";
}

std::pair<std::string, Point> read_line(const std::string& text) {
  const Json line = Json::parse(text);
  Point point{.bytes = apps::parse_integer(line.at("bytes").as_text(), 0, std::int64_t{1} << 50),
              .builtin = line.at("builtin").as_text(),
              .use = line.at("use").as_text()};
  for (const Json& way : line.at("ways").items())
    point.ways.push_back({.use = way.at("use").as_text(),
                          .us = way.at("us").as_number(),
                          .lower = way.at("lower").as_number(),
                          .upper = way.at("upper").as_number(),
                          .fastest = way.at("fastest").as_number(),
                          .runs = way.at("runs").as_int()});
  if (point.find(point.builtin) == nullptr || point.find(point.use) == nullptr)
    throw InputError("a line without the times of the algorithm that it names");
  for (const Timed& way : point.ways)
    for (const double us : {way.us, way.lower, way.upper, way.fastest})
      if (!(us > 0) || !std::isfinite(us) || way.runs < 1) throw InputError("a time that is none");
  return {line.at("context").as_text(), std::move(point)};
}

/// The lines but the last, if it was cut off.
std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end = text.find('\n'); end != std::string::npos; at = end + 1, end = text.find('\n', at))
    lines.push_back(text.substr(at, end - at));
  return lines;
}

}  // namespace

Journal::Journal(const std::string& path, const std::string& head, bool resumes) : path_(path) {
  std::string earlier;
  apps::on_root(MPI_COMM_WORLD, [&] {
    if (resumes) earlier = apps::read_file(path);
    std::vector<std::string> lines = whole_lines(earlier);
    if (resumes && (lines.empty() || lines.front() != head))
      throw InputError(fmt::format("--resume: {} is of another run: it begins with '{}', and this one with '{}'", path,
                                   lines.empty() ? "" : lines.front(), head));
    if (!resumes) lines = {head};
    std::string whole;
    for (const std::string& line : lines)
      whole += line + "\n";
    apps::replace_file(path, whole);  // a line that was cut off is gone
    file_ = std::fopen(path.c_str(), "ae");
    if (file_ == nullptr) throw InputError(fmt::format("{}: {}", path, std::strerror(errno)));
    earlier = whole;
  });
  apps::broadcast(MPI_COMM_WORLD, earlier);
  std::vector<std::string> lines = whole_lines(earlier);
  std::string fault;
  for (std::size_t i = 1; i < lines.size() && fault.empty(); ++i) {
    try {
      auto [context, point] = read_line(lines[i]);
      earlier_[context].push_back(std::move(point));
    } catch (const std::exception& error) {
      fault = fmt::format("--resume: {}:{}: {}", path, i + 1, error.what());
    }
  }
  apps::refuse_if_any(MPI_COMM_WORLD, fault);
}

Journal::~Journal() {
  if (file_ != nullptr) std::fclose(file_);
}

void Journal::add(const std::string& context, const Point& point) {
  if (file_ == nullptr) return;
  const std::string line = line_of(context, point);
  const FileLimitIsAnError scope;
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_) != 0 ||
      fdatasync(fileno(file_)) != 0)
    throw InputError(fmt::format("{}: {}", path_, std::strerror(errno)));
}

void Journal::remove() {
  if (mpi::rank_in(MPI_COMM_WORLD) == 0) std::remove(path_.c_str());
}

}  // namespace tutti::tune
