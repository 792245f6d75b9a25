#include "lib/core/reduce/user_function.hpp"

#include "tutti/error.hpp"

namespace tutti {

void UserFunctionRun::refuse() {
  state = State::has_called;
  throw StateError(
      "tutti: a user's operation called Tutti from inside its function; it may start nothing, wait for nothing, and "
      "neither make nor close communicators");
}

}  // namespace tutti
