// Compression in memory of a device before MPI_Init and after MPI_Finalize.
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/device_memory.hpp"
#include "tests/support/program_checks.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Compression;
using tutti::DeviceSpan;
using tutti::test::DeviceArray;

constexpr std::size_t count = 100;

struct Alive {
  DeviceArray gradient{count * sizeof(float)};
  tutti::Communicator comm{MPI_COMM_WORLD};
  tutti::CompressedAllreduce sums = tutti::CompressedAllreduce::on_device(tutti::Count{count}, Compression::bf16, comm);
  [[nodiscard]] DeviceSpan<float> span() const { return {reinterpret_cast<float*>(gradient.data()), count}; }
};

void compress(const DeviceArray& from, const DeviceArray& into) {
  tutti::compress(Compression::bf16, DeviceSpan<const float>{reinterpret_cast<float*>(from.data()), count}, {},
                  DeviceSpan{reinterpret_cast<std::uint8_t*>(into.data()), 2 * count});
}

}  // namespace

int main(int argc, char** argv) {
  tutti::test::Checks checks;
  tutti::test::TestDevices::get().use(0);
  {
    const DeviceArray floats{count * sizeof(float)}, bytes{2 * count};
    checks.expect_state_error([&] { compress(floats, bytes); }, "MPI_Init", "compress before MPI_Init");
    MPI_Init(&argc, &argv);
    compress(floats, bytes);
    std::optional<Alive> alive{std::in_place};
    const std::vector<float> ones(count, 1.0F);
    tutti::test::TestDevices::get().copy(alive->gradient.data(), ones.data(), count * sizeof(float));
    alive->sums.run(alive->span());

    MPI_Finalize();
    checks.expect_state_error([&] { compress(floats, bytes); }, "MPI_Finalize", "compress after MPI_Finalize");
    checks.expect_state_error([&] { alive->sums.run(alive->span()); }, "MPI_Finalize", "run after MPI_Finalize");
    checks.expect_state_error([&] { alive->sums.reset(); }, "MPI_Finalize", "reset after MPI_Finalize");
    checks.expect(alive->sums.device_error().size() == count, "the errors are still there");
    alive.reset();  // destructors do no harm
  }
  return checks.exit_status();
}
