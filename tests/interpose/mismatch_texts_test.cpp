// What programs are told of calls that do not match, and of calls that wait for long: in MPI's names and units, and
// what differs first, as MPI cuts the texts of errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

using testing::HasSubstr;
using testing::Not;

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

class MismatchTexts : public testing::Test {
 protected:
  void SetUp() override {
    if (library_is("MPICH")) GTEST_SKIP() << "it gives no texts to codes of its own classes";
    if (size_of() == 1) GTEST_SKIP() << "one rank alone always matches itself";
  }
  static bool is_last() { return rank_in() == size_of() - 1; }
  static std::string on_last() { return "on rank " + std::to_string(size_of() - 1); }
  /// With TUTTI_CHECK all ranks are told; without it, some may have done their part before.
  static void expect_told(int code, const std::vector<std::string>& parts) {
    if (code == MPI_SUCCESS) {
      EXPECT_FALSE(is_set("TUTTI_CHECK") || is_last()) << "is not told";
      return;
    }
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(code, text.data(), &length);
    const std::string told = text.data();
    constexpr std::size_t first = 128;
    EXPECT_THAT(told.substr(0, first), HasSubstr(parts.front())) << told;
    for (const std::string& part : parts)
      EXPECT_THAT(told, HasSubstr(part));
    for (const char* const name : {"uint8", "int32", "fp64", "broadcast"})
      EXPECT_THAT(told.substr(0, first), Not(HasSubstr(name))) << told;
  }
  std::array<int, 64> in_{}, out_{};
  ReturningComm comm_;
};

TEST_F(MismatchTexts, OfCounts) {
  const int code = MPI_Bcast(out_.data(), is_last() ? 16 : 32, MPI_INT, 0, comm_.get());
  expect_told(code, {"16 MPI_INT " + on_last(), "32 MPI_INT on", "called MPI_Bcast #1 of 32 MPI_INT from rank 0"});
}

TEST_F(MismatchTexts, OfCountsOfReductions) {
  const int code = MPI_Allreduce(in_.data(), out_.data(), is_last() ? 8 : 16, MPI_DOUBLE, MPI_SUM, comm_.get());
  expect_told(code, {"8 MPI_DOUBLE " + on_last(), "16 MPI_DOUBLE on", "called MPI_Allreduce #1 of "});
}

TEST_F(MismatchTexts, OfNonblockingCalls) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Iallreduce(in_.data(), out_.data(), is_last() ? 16 : 32, MPI_INT, MPI_MAX, comm_.get(), &request);
  if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_told(code, {"16 MPI_INT " + on_last(), "called MPI_Iallreduce #1 of "});
}

TEST_F(MismatchTexts, OfOperations) {
  const int code = MPI_Allreduce(in_.data(), out_.data(), 32, MPI_INT, is_last() ? MPI_MAX : MPI_SUM, comm_.get());
  expect_told(code, {"MPI_MAX " + on_last(), "operation ", "MPI_SUM on"});
}

TEST_F(MismatchTexts, OfFunctions) {
  const int code =
      is_last() ? MPI_Barrier(comm_.get()) : MPI_Allreduce(in_.data(), out_.data(), 32, MPI_INT, MPI_SUM, comm_.get());
  expect_told(code, {"MPI_Barrier " + on_last(), "call ", "MPI_Allreduce on"});
}

TEST_F(MismatchTexts, OfLists) {
  if (!is_set("TUTTI_CHECK")) GTEST_SKIP() << "only TUTTI_CHECK compares lists";
  const auto size = static_cast<std::size_t>(size_of());
  std::vector<int> sent(size, 4), received(size, 4), places(size);
  for (std::size_t i = 0; i < size; ++i)
    places[i] = static_cast<int>(8 * i);
  if (is_last()) sent[0] = 5;
  const int code = MPI_Alltoallv(in_.data(), sent.data(), places.data(), MPI_INT, out_.data(), received.data(),
                                 places.data(), MPI_INT, comm_.get());
  expect_told(code, {"rank " + std::to_string(size_of() - 1) + " sends 5 MPI_INT to rank 0, which expects 4 MPI_INT"});
}

/// What goes to stderr meanwhile.
class StderrInFile {
 public:
  StderrInFile() : kept_(::dup(2)), file_(::mkstemp(path_.data())) { ::dup2(file_, 2); }
  StderrInFile(const StderrInFile&) = delete;
  StderrInFile& operator=(const StderrInFile&) = delete;
  ~StderrInFile() {
    ::dup2(kept_, 2);
    ::unlink(path_.data());
  }
  [[nodiscard]] const std::array<char, 32>& path() const { return path_; }

 private:
  std::array<char, 32> path_{"/tmp/tutti_texts_XXXXXX"};
  int kept_, file_;
};

std::string contents(const char* path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

/// The last rank comes when the first has reported that it waits.
TEST(HangReport, NamesTheCallAndTheCommunicator) {
  if (!is_set("TUTTI_HANG_SECONDS")) GTEST_SKIP() << "hangs are reported after a minute only";
  if (size_of() == 1) GTEST_SKIP() << "one rank waits for nobody";
  MPI_Comm water = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &water);
  MPI_Comm_set_name(water, "water");
  MPI_Barrier(water);
  std::array<int, 30> data{};
  std::array<char, 32> path{};
  const int last = size_of() - 1, length = static_cast<int>(path.size());
  const auto call = [&] {
    MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_INT, last, water);
    MPI_Barrier(MPI_COMM_WORLD);  // the report is read before it goes
  };
  if (rank_in() == 0) {
    const StderrInFile errors;
    path = errors.path();
    MPI_Send(path.data(), length, MPI_CHAR, last, 0, MPI_COMM_WORLD);
    call();
  } else if (rank_in() == last) {
    MPI_Recv(path.data(), length, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (contents(path.data()).find("rank 0 waits for") == std::string::npos)
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    const std::string report = contents(path.data());
    EXPECT_THAT(report, HasSubstr(" in MPI_Bcast #1 of 30 MPI_INT from rank " + std::to_string(last)));
    EXPECT_THAT(report, HasSubstr(" on communicator water ("));
    EXPECT_THAT(report, HasSubstr("its last call was MPI_Barrier #0"));
    call();
  } else {
    call();
  }
  MPI_Comm_free(&water);
}

}  // namespace
}  // namespace tutti::test
