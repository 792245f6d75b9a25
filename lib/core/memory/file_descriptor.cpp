#include "lib/core/memory/file_descriptor.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace tutti {

FileDescriptor::FileDescriptor(int number) noexcept : number_(number) {
  if (!find(number_, file_)) number_ = -1;
}

bool FileDescriptor::find(int number, File& file) noexcept {
  struct stat facts {};
  if (number < 0 || ::fstat(number, &facts) != 0) return false;
  file = {facts.st_dev, facts.st_ino};
  return true;
}

bool FileDescriptor::is_there() const noexcept {
  File now;
  return find(number_, now) && now == file_;
}

void FileDescriptor::close() noexcept {
  if (is_there()) ::close(number_);
  number_ = -1;
}

}  // namespace tutti
