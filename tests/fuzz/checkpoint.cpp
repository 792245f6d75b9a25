// Checkpoints of tutti-sgd: an input is a checkpoint without its magic number and checksum, which only chance would
// find. The first byte chooses the type.
#include <boost/crc.hpp>
#include <cstring>

#include "apps/options.hpp"
#include "apps/sgd/checkpoint.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

template <class T>
void decode(const std::string& bytes, const std::string& precision) {
  const sgd::Identity identity{precision, "2-3-2", "adam", 17, 7, 32, 1, 0xabcdef01};
  is_taken<apps::InputError>([&] {
    const sgd::Progress<T> progress = sgd::decode<T>("file", bytes, identity);
    require(progress.epochs >= 0, "a number of epochs is negative");
    require(sgd::encode(identity, progress) == bytes, "a checkpoint is not what would be written");
  });
}

std::string with_checksum(std::string bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  const std::uint32_t checksum = crc.checksum();
  return bytes.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

void run(Input input) {
  Source source{input};
  const bool is_double = source.next<std::uint8_t>() % 2 == 0;
  const std::string bytes = with_checksum("tuttiSGD" + std::string{source.text()});
  if (is_double)
    decode<double>(bytes, "fp64");
  else
    decode<float>(bytes, "fp32");
  decode<double>(std::string{source.text()}, "fp64");
}

const Registration registration{{"checkpoint", run}};

}  // namespace
}  // namespace tutti::fuzz
