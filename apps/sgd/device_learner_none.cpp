// Built without what training on a device needs: TUTTI_SGD_MISSING names it.
#include "apps/sgd/device_learner.hpp"

namespace tutti::sgd {

std::string why_no_device() { return "--device: tutti-sgd was built without " TUTTI_SGD_MISSING; }

void use_device(int /*local_rank*/) { throw Error(why_no_device()); }

template <class T>
std::unique_ptr<Learner<T>> device_learner(const Shape&, const Split&, const Settings&, int, std::size_t) {
  throw Error(why_no_device());
}

template std::unique_ptr<Learner<float>> device_learner(const Shape&, const Split&, const Settings&, int, std::size_t);
template std::unique_ptr<Learner<double>> device_learner(const Shape&, const Split&, const Settings&, int, std::size_t);

}  // namespace tutti::sgd
