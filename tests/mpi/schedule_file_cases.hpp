#pragma once
// Files of schedules, which rank 0 writes and all ranks call.

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "apps/tutti/scene.hpp"
#include "tests/mpi/collective_cases.hpp"

namespace tutti::test {

/// A file that rank 0 alone has; the others know its name.
class FileOfRank0 {
 public:
  explicit FileOfRank0(const std::string& text) {
    std::array<char, 256> name{};
    if (world_rank() == 0) {
      const std::string pattern = (std::filesystem::temp_directory_path() / "tutti_schedules_XXXXXX").string();
      std::copy(pattern.begin(), pattern.end(), name.begin());
      close(mkstemp(name.data()));
      write(name.data(), text);
    }
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    path_ = name.data();
  }
  FileOfRank0(const FileOfRank0&) = delete;
  FileOfRank0& operator=(const FileOfRank0&) = delete;
  ~FileOfRank0() {
    if (world_rank() == 0) std::filesystem::remove(path_);
  }
  void replace(const std::string& text) const {
    if (world_rank() == 0) write(path_, text);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string name() const { return "file:" + path_; }

 private:
  static void write(const std::string& path, const std::string& text) { std::ofstream{path} << text; }
  std::string path_;
};

/// The schedules of an algorithm for the ranks of the world, as a file has them.
inline std::string schedules_of(const Algorithm& algorithm, Count chunks, int root, const std::vector<int>& nodes,
                                bool is_in_place = false) {
  checker::Case what{.size = world_size(), .count = chunks, .root = Rank{root}};
  if (algorithm.collective == Collective::barrier) what.count = Count{0};
  what.parameter = algorithm.parameter.fallback;
  if (algorithm.levels != Levels::ranks) what.nodes = nodes;
  if (is_in_place) what.placement = checker::Placement::in_place;
  return tool::to_json(tool::Scene{{&algorithm, what.parameter}, what}, -1);
}

/// The node of each rank of a communicator, as in Problem; empty: there is one.
inline std::vector<int> nodes_of(const Communicator& comm) {
  std::vector<int> nodes;
  for (int rank = 0; comm.node_count() > 1 && rank < comm.size(); ++rank)
    nodes.push_back(comm.node_of(Rank{rank}));
  return nodes;
}

/// Whether ranks of one node follow each other, as they have to for files.
inline bool is_consecutive(const Communicator& comm) {
  const std::vector<int> nodes = nodes_of(comm);
  return std::ranges::is_sorted(nodes);
}

}  // namespace tutti::test
