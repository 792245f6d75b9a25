#include "tests/fake_cuda/driver/context.hpp"

#include "tests/fake_cuda/driver/settings.hpp"

namespace fake_cuda {

thread_local ContextStack current_contexts;

Contexts& Contexts::get() {
  static Contexts* const contexts = new Contexts;  // used by the destructors of libraries, too
  return *contexts;
}

bool Contexts::initialise() {
  const std::lock_guard lock{mutex_};
  if (is_initialised_) return true;
  if (settings().devices < 1) return false;
  for (int device = 0; device < settings().devices; ++device) {
    Context& context = primary_.emplace_back();
    context.device = device;
    context.is_primary = true;
  }
  is_initialised_ = true;
  return true;
}

CUresult state_of(const Context& context) {
  if (context.retained == 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  return context.lost;
}

Context* Contexts::create(int device, unsigned flags) {
  auto* const context = new Context;
  context->device = device;
  context->flags = flags;
  context->retained = 1;
  context->id = new_id();
  const std::lock_guard lock{mutex_};
  created_.push_back(context);
  return context;
}

void Contexts::retain(int device) {
  const std::lock_guard lock{mutex_};
  if (primary(device).retained++ == 0) primary(device).id = new_id();
}

bool Contexts::release(int device) {
  const std::lock_guard lock{mutex_};
  return --primary(device).retained == 0;
}

}  // namespace fake_cuda
