#include "apps/soak/user_op.hpp"

#include <array>

namespace tutti::soak {
namespace {

/// The bytes of an element, by type: a function's context points to one of them.
std::array<std::int64_t, type_count> make_sizes() {
  std::array<std::int64_t, type_count> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    sizes[i] = size_of(static_cast<Type>(i)).value();
  return sizes;
}
std::array<std::int64_t, type_count> element_sizes = make_sizes();

template <Commutative commutative>
void combine(const void* lhs, const void* rhs, void* into, Count count, void* context) {
  const auto* const a = static_cast<const unsigned char*>(lhs);
  const auto* const b = static_cast<const unsigned char*>(rhs);
  auto* const result = static_cast<unsigned char*>(into);
  const std::int64_t bytes = count.value() * *static_cast<const std::int64_t*>(context);
  for (std::int64_t i = 0; i < bytes; ++i)
    result[i] = soak::combined(commutative, a[i], b[i]);
}

}  // namespace

Op user_op(Commutative commutative, Type type) {
  void* const size = &element_sizes[static_cast<std::size_t>(type)];
  return Op::user(commutative == Commutative::yes ? combine<Commutative::yes> : combine<Commutative::no>, commutative,
                  size);
}

}  // namespace tutti::soak
