#include "tests/fake_cuda/ptx/reader.hpp"

#include <algorithm>
#include <cctype>

#include "tests/fake_cuda/ptx/format.hpp"
#include "tests/fake_cuda/ptx/module.hpp"

namespace fake_cuda::ptx {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.' || c == ':';
}

}  // namespace

std::string without_comments(const std::string& text) {
  std::string rest;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      rest += '\n';
    } else if (text.compare(i, 2, "/*") == 0) {
      i = text.find("*/", i) + 1;
    } else {
      rest += text[i];
    }
  }
  return rest;
}

int Reader::line() {
  if (at_ < counted_) counted_ = lines_ = 0;  // it went back
  for (; counted_ < at_; ++counted_)
    lines_ += text_[counted_] == '\n' ? 1 : 0;
  return 1 + static_cast<int>(lines_);
}

void Reader::fail(const std::string& why) { throw Error("PTX line " + std::to_string(line()) + ": " + why); }

char Reader::peek() {
  while (at_ < text_.size() && is_space(text_[at_]))
    ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Reader::take(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

void Reader::expect(char c) {
  if (!take(c)) fail(std::string("expected '") + c + "'");
}

std::string Reader::word() {
  peek();
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_word(text_[at_]))
    ++at_;
  while (at_ > begin && text_[at_ - 1] == ':')
    --at_;
  return text_.substr(begin, at_ - begin);
}

void Reader::skip() { at_ = std::min(at_ + 1, text_.size()); }
void Reader::skip_past(char c) { at_ = std::min(text_.find(c, at_), text_.size() - 1) + 1; }
char Reader::skip_to_either(char a, char b) {
  at_ = std::min(std::min(text_.find(a, at_), text_.find(b, at_)), text_.size());
  return at_ < text_.size() ? text_[at_] : '\0';
}

void Reader::skip_block() {
  int depth = 0;
  do {
    depth += text_[at_] == '{' ? 1 : text_[at_] == '}' ? -1 : 0;
    ++at_;
  } while (depth > 0 && at_ < text_.size());
}

Variable variable(Reader& reader) {
  Variable made;
  for (;;) {
    const std::string word = reader.word();
    if (word.empty()) reader.fail("a variable without a name");
    if (word == ".align") {
      made.alignment = std::stoul(reader.word());
    } else if (word[0] == '.') {
      if (const Type* const type = type_named(word.substr(1))) made.bytes = type->bits / 8U;
    } else {
      made.name = word;
      break;
    }
  }
  if (made.alignment == 0) made.alignment = std::max<std::size_t>(made.bytes, 1);
  while (reader.take('[')) {
    const std::string count = reader.word();
    made.bytes *= count.empty() ? 0 : std::stoul(count);
    reader.expect(']');
  }
  return made;
}

std::uint64_t number(const std::string& word, bool is_negative) {
  const bool is_float = word.size() > 2 && word[0] == '0' && std::string("fFdD").find(word[1]) != std::string::npos &&
                        (word.size() == 10 || word.size() == 18);
  if (is_float) return std::stoull(word.substr(2), nullptr, 16);
  const std::uint64_t value = std::stoull(word, nullptr, 0);
  return is_negative ? ~value + 1 : value;
}

}  // namespace fake_cuda::ptx
