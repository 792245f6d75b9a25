#pragma once
// Elements whose arithmetic is long: one copy of it for each number of lanes, which the loops call. In line, fp8 alone
// would make the kernels twice as large. For the host only: the kernels of a device call no functions.
//
// The namespace is unnamed for the reason given in convert.hpp.

namespace tutti {
namespace {

template <class Element>
struct OutOfLine : Element {
  template <template <class> class Operation, class V>
  [[gnu::noinline]] static V combine(V a, V b) {
    return Element::template combine<Operation>(a, b);
  }
  template <template <class> class Operation, class V, class Argument>
  [[gnu::noinline]] static V transform(V value, Argument argument) {
    return Element::template transform<Operation>(value, argument);
  }
};

}  // namespace
}  // namespace tutti
