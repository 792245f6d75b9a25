#include "apps/sgd/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cstring>
#include <limits>
#include <type_traits>

#include "apps/options.hpp"

namespace tutti::sgd {

namespace {

// The format: magic, version, precision, model and optimizer (texts, their lengths first), parameters, seed, batch,
// accumulate, data; epochs, steps, scale, unscaled; weights, means and, for Adam, squares; CRC-32 of everything before.
// Integers and numbers as in memory; another byte order is another version.
constexpr std::string_view magic = "tuttiSGD";
constexpr std::uint32_t format_version = 2;
constexpr std::uint32_t longest_text = 10'000;

std::uint32_t checksum(std::string_view bytes) {
  boost::crc_32_type crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

template <class V>
void put(std::string& bytes, V value) {
  static_assert(std::is_trivially_copyable_v<V>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void put_all(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

void put_text(std::string& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += text;
}

[[noreturn]] void refuse(std::string_view name, std::string_view what) {
  throw apps::InputError(fmt::format("checkpoint '{}' {}; it was left as it is", name, what));
}

/// Takes values off the front of a checkpoint.
class Reader {
 public:
  Reader(std::string_view name, std::string_view bytes) : name_(name), rest_(bytes) {}

  template <class V>
  [[nodiscard]] V next() {
    return next_all<V>(1).front();
  }
  template <class V>
  [[nodiscard]] std::vector<V> next_all(std::size_t count) {
    if (rest_.size() / sizeof(V) < count) refuse(name_, "ends too early");
    std::vector<V> values(count);
    if (count > 0) std::memcpy(values.data(), rest_.data(), count * sizeof(V));
    rest_.remove_prefix(count * sizeof(V));
    return values;
  }
  [[nodiscard]] std::string next_text() {
    const auto size = next<std::uint32_t>();
    if (size > longest_text || size > rest_.size()) refuse(name_, "has a text that is too long");
    std::string text{rest_.substr(0, size)};
    rest_.remove_prefix(size);
    return text;
  }

 private:
  std::string_view name_, rest_;
};

/// Throws unless the bytes are those of a checkpoint, all of them. `size` is how many one of this training has.
void require_whole(std::string_view name, std::string_view bytes, std::size_t size) {
  if (!bytes.starts_with(magic)) {
    refuse(name, fmt::format("is no checkpoint of tutti-sgd: it does not start with '{}'", magic));
  }
  const std::size_t body = bytes.size() - sizeof(std::uint32_t);  // The magic number is longer: no wrap around.
  if (checksum(bytes.substr(0, body)) != Reader{name, bytes.substr(body)}.next<std::uint32_t>()) {
    refuse(name, fmt::format("is cut short or damaged: its checksum is wrong; it has {} bytes, one of this training {}",
                             bytes.size(), size));
  }
  const auto version = Reader{name, bytes.substr(magic.size())}.next<std::uint32_t>();
  if (version != format_version) {
    refuse(name, fmt::format("has format version {}, expected {}", version, format_version));
  }
}

Identity read_identity(Reader& reader) {
  Identity identity;
  identity.precision = reader.next_text();
  identity.model = reader.next_text();
  identity.optimizer = reader.next_text();
  identity.parameters = reader.next<std::uint64_t>();
  identity.seed = reader.next<std::uint64_t>();
  identity.batch = reader.next<std::uint64_t>();
  identity.accumulate = reader.next<std::uint64_t>();
  identity.data = reader.next<std::uint32_t>();
  return identity;
}

void require_same(std::string_view name, const Identity& expected, const Identity& found) {
  const auto compare = [name](std::string_view what, const auto& here, const auto& there) {
    if (here == there) return;
    refuse(name, fmt::format("belongs to another training: {} {} expected, {} found", what, here, there));
  };
  compare("--precision", expected.precision, found.precision);
  compare("model", expected.model, found.model);
  compare("--optimizer", expected.optimizer, found.optimizer);
  compare("--seed", expected.seed, found.seed);
  compare("--batch", expected.batch, found.batch);
  compare("--accumulate", expected.accumulate, found.accumulate);
  compare("parameters", expected.parameters, found.parameters);
  if (expected.data != found.data)
    refuse(name, "belongs to another training: other images, or another --test-fraction");
}

std::size_t arrays_of(const Identity& identity) { return identity.optimizer == "adam" ? 3 : 2; }

}  // namespace

template <class T>
std::string encode(const Identity& identity, const Progress<T>& progress) {
  std::string bytes{magic};
  put(bytes, format_version);
  put_text(bytes, identity.precision);
  put_text(bytes, identity.model);
  put_text(bytes, identity.optimizer);
  put(bytes, identity.parameters);
  put(bytes, identity.seed);
  put(bytes, identity.batch);
  put(bytes, identity.accumulate);
  put(bytes, identity.data);
  put(bytes, static_cast<std::uint32_t>(progress.epochs));
  put(bytes, progress.steps);
  put(bytes, progress.scale);
  put(bytes, progress.unscaled);
  put_all(bytes, progress.weights);
  put_all(bytes, progress.mean);
  put_all(bytes, progress.square);
  put(bytes, checksum(bytes));
  return bytes;
}

template <class T>
Progress<T> decode(std::string_view name, std::string_view bytes, const Identity& identity) {
  const std::size_t parameters = identity.parameters;
  const std::size_t size = encode(identity, Progress<T>{}).size() + arrays_of(identity) * parameters * sizeof(T);
  require_whole(name, bytes, size);
  Reader reader{name, bytes.substr(magic.size() + sizeof format_version)};
  require_same(name, identity, read_identity(reader));
  if (bytes.size() != size) refuse(name, fmt::format("has {} bytes, one of this training {}", bytes.size(), size));
  constexpr std::uint32_t most_epochs = std::numeric_limits<int>::max();
  const auto epochs = reader.next<std::uint32_t>();
  if (epochs > most_epochs) refuse(name, fmt::format("is after {} epochs, allowed: 0 to {}", epochs, most_epochs));
  Progress<T> progress;
  progress.epochs = static_cast<int>(epochs);
  progress.steps = reader.next<std::int64_t>();
  progress.scale = reader.next<double>();
  progress.unscaled = reader.next<std::int64_t>();
  if (progress.steps < 0 || progress.unscaled < 0 || !(progress.scale >= 1 && progress.scale <= 0x1p24))
    refuse(name, "has a number of steps or a scale that no training has");
  progress.weights = reader.next_all<T>(parameters);
  progress.mean = reader.next_all<T>(parameters);
  if (arrays_of(identity) == 3) progress.square = reader.next_all<T>(parameters);
  return progress;
}

template std::string encode<float>(const Identity&, const Progress<float>&);
template std::string encode<double>(const Identity&, const Progress<double>&);
template Progress<float> decode<float>(std::string_view, std::string_view, const Identity&);
template Progress<double> decode<double>(std::string_view, std::string_view, const Identity&);

}  // namespace tutti::sgd
