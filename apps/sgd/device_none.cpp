// Built without what training on a device needs: TUTTI_SGD_MISSING names it.
#include "apps/sgd/device.hpp"
#include "tutti/error.hpp"

namespace tutti::sgd {

std::string why_no_device() { return "--device: tutti-sgd was built without " TUTTI_SGD_MISSING; }
void use_device(int /*local_rank*/) { throw Error(why_no_device()); }
std::unique_ptr<Device> open_device(int /*local_rank*/) { throw Error(why_no_device()); }

}  // namespace tutti::sgd
