// verdicts THEME FIRST FILE - makes the checks of a theme, from that number on. Rank 0 appends to the file, for each, a
// line "begin NUMBER NAME" and one with what all ranks say. A check that takes too long says that it hangs, and ends
// the program.
#include "tests/interpose/verdicts/verdicts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace tutti::test {

std::string name_of(int code) {
  static const std::map<int, std::string> classes{{MPI_SUCCESS, "ok"},
                                                  {MPI_ERR_ARG, "ARG"},
                                                  {MPI_ERR_BUFFER, "BUFFER"},
                                                  {MPI_ERR_COMM, "COMM"},
                                                  {MPI_ERR_COUNT, "COUNT"},
                                                  {MPI_ERR_IN_STATUS, "IN_STATUS"},
                                                  {MPI_ERR_INTERN, "INTERN"},
                                                  {MPI_ERR_KEYVAL, "KEYVAL"},
                                                  {MPI_ERR_OP, "OP"},
                                                  {MPI_ERR_OTHER, "OTHER"},
                                                  {MPI_ERR_REQUEST, "REQUEST"},
                                                  {MPI_ERR_ROOT, "ROOT"},
                                                  {MPI_ERR_TOPOLOGY, "TOPOLOGY"},
                                                  {MPI_ERR_TRUNCATE, "TRUNCATE"},
                                                  {MPI_ERR_TYPE, "TYPE"}};
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  const auto found = classes.find(error_class);
  return found != classes.end() ? found->second : "class" + std::to_string(error_class);
}

Room::Room(std::uint32_t seed) : bytes_(before + behind) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::uint32_t state = seed * 2'654'435'761U + static_cast<std::uint32_t>(rank) * 40'503U + 1U;
  for (std::byte& byte : bytes_) {
    state = state * 1'664'525U + 1'013'904'223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
}

std::string Room::hash() const {
  std::uint32_t hash = 2'166'136'261U;
  for (const std::byte byte : bytes_)
    hash = (hash ^ static_cast<std::uint32_t>(byte)) * 16'777'619U;
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", hash);
  return text.data();
}

void Check::works(std::string_view what, MPI_Comm on) {
  int own_rank = 0, own_ranks = 1;
  MPI_Comm_rank(on, &own_rank);
  MPI_Comm_size(on, &own_ranks);
  const int given = 7 + own_rank, all = own_ranks * 7 + own_ranks * (own_ranks - 1) / 2;
  int sum = 0, value = own_rank == own_ranks - 1 ? 42 : 0;
  std::vector<int> gathered(static_cast<std::size_t>(own_ranks)), each(gathered.size(), given), exchanged(gathered);
  MPI_Request request = MPI_REQUEST_NULL;
  const std::array<std::pair<int, bool>, 4> calls{
      std::pair{MPI_Allreduce(&given, &sum, 1, MPI_INT, MPI_SUM, on), sum == all},
      {MPI_Bcast(&value, 1, MPI_INT, own_ranks - 1, on), value == 42},
      {MPI_Gather(&given, 1, MPI_INT, gathered.data(), 1, MPI_INT, 0, on),
       own_rank != 0 || gathered.back() == 6 + own_ranks},
      {MPI_Alltoall(each.data(), 1, MPI_INT, exchanged.data(), 1, MPI_INT, on), exchanged.back() == 6 + own_ranks}};
  const bool began = MPI_Iallreduce(&given, &sum, 1, MPI_INT, MPI_MAX, on, &request) == MPI_SUCCESS;
  const int last = began ? MPI_Wait(&request, MPI_STATUS_IGNORE) : MPI_ERR_OTHER;
  std::string found;
  for (const auto& [code, is_right] : calls)
    found += code != MPI_SUCCESS ? name_of(code) + "," : is_right ? "" : "wrong,";
  if (last != MPI_SUCCESS || sum != 6 + own_ranks) found += "wait:" + name_of(last) + ",";
  say(what, found.empty() ? "works" : found);
}

namespace {

const std::map<std::string_view, void (*)(Checks&)> themes{{"datatypes", add_datatypes},
                                                           {"overlaps", add_overlaps},
                                                           {"errors", add_errors},
                                                           {"truncation", add_truncation},
                                                           {"nonblocking", add_nonblocking},
                                                           {"persistent", add_persistent},
                                                           {"handles", add_handles},
                                                           {"operations", add_operations},
                                                           {"user_operations", add_user_operations},
                                                           {"communicators", add_communicators},
                                                           {"attributes", add_attributes},
                                                           {"neighbours", add_neighbours}};

constexpr unsigned time_limit = 10;  // seconds for a check that takes milliseconds
int file = -1;                       // on rank 0
std::string hanging;                 // what rank 0 says if the time is over

void write_line(const std::string& line) {
  if (file >= 0 && write(file, line.data(), line.size()) < 0) std::perror("verdicts");
}

void give_up(int /*signal*/) {
  write_line(hanging);
  _exit(1);
}

/// The words of all ranks, on rank 0: once if they are the same.
std::string words_of_all(const std::string& own, MPI_Comm comm, int rank, int ranks) {
  if (rank != 0) {
    PMPI_Send(own.data(), static_cast<int>(own.size()), MPI_CHAR, 0, 0, comm);
    return {};
  }
  std::string all = "0: " + own;
  std::set<std::string> different{own};
  for (int from = 1; from < ranks; ++from) {
    MPI_Status status;
    int length = 0;
    PMPI_Probe(from, 0, comm, &status);
    PMPI_Get_count(&status, MPI_CHAR, &length);
    std::string theirs(static_cast<std::size_t>(length), ' ');
    PMPI_Recv(theirs.data(), length, MPI_CHAR, from, 0, comm, MPI_STATUS_IGNORE);
    all.append("| ").append(std::to_string(from)).append(": ").append(theirs);
    different.insert(theirs);
  }
  return different.size() == 1 ? own : all;
}

void make(const Checks::One& one, MPI_Comm reports, int number) {
  Check check;
  PMPI_Comm_rank(MPI_COMM_WORLD, &check.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &check.ranks);
  if (check.ranks < one.least_ranks) return;
  write_line("begin " + std::to_string(number) + " " + one.name + "\n");
  hanging = one.name + ": hangs\n";
  alarm(check.rank == 0 ? time_limit : time_limit + 5);  // rank 0 says it before another ends the program
  MPI_Comm_dup(MPI_COMM_WORLD, &check.comm);
  MPI_Barrier(check.comm);  // so that nonblocking calls may be served, too
  MPI_Comm_set_errhandler(check.comm, MPI_ERRORS_RETURN);
  one.run(check);
  const std::string words = words_of_all(check.words, reports, check.rank, check.ranks);
  write_line(one.name + ": " + words + "\n");
  if (!check.keeps_comm && check.comm != MPI_COMM_NULL) MPI_Comm_free(&check.comm);
  PMPI_Barrier(reports);
  alarm(0);
}

int run(std::string_view theme, int first, const char* path) {
  const auto found = themes.find(theme);
  if (found == themes.end()) {
    std::fprintf(stderr, "verdicts: there is no theme '%s'\n", std::string{theme}.c_str());
    return 2;
  }
  Checks checks;
  MPI_Comm reports = MPI_COMM_NULL;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  std::signal(SIGALRM, give_up);
  PMPI_Comm_dup(MPI_COMM_WORLD, &reports);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  found->second(checks);
  const int count = static_cast<int>(checks.all().size());
  for (int i = first; i < count; ++i)
    if (why_left_out(theme, checks.all()[static_cast<std::size_t>(i)].name) == nullptr)
      make(checks.all()[static_cast<std::size_t>(i)], reports, i);
  PMPI_Comm_free(&reports);
  write_line("end\n");
  return 0;
}

}  // namespace
}  // namespace tutti::test

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: verdicts THEME FIRST FILE\n", stderr);
    return 2;
  }
  MPI_Init(&argc, &argv);
  const int status = tutti::test::run(argv[1], std::atoi(argv[2]), argv[3]);
  MPI_Finalize();
  return status;
}
