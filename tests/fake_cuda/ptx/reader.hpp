#pragma once
// PTX text, a word at a time.

#include <cstddef>
#include <cstdint>
#include <string>

namespace fake_cuda::ptx {

std::string without_comments(const std::string& text);

class Reader {
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] int line();
  /// Throws Error with the line.
  [[noreturn]] void fail(const std::string& why);
  /// The next character that is no space; 0: there is none.
  char peek();
  bool take(char c);
  void expect(char c);
  /// A word; a colon at its end is left.
  std::string word();
  void skip();
  void skip_past(char c);
  /// To the first of the two, which is returned; 0: there is none.
  char skip_to_either(char a, char b);
  /// From a brace on, behind the one that closes it.
  void skip_block();
  [[nodiscard]] std::size_t position() const { return at_; }
  void go_back(std::size_t position) { at_ = position; }

 private:
  std::string text_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0, lines_ = 0;  ///< So many lines end in the first so many characters.
};

/// `.align 8 .b8 name[80]`, after its space.
struct Variable {
  std::string name{};
  std::size_t bytes = 0, alignment = 0;
};
Variable variable(Reader& reader);

/// An integer, or the bits of a float as "0f3F800000".
std::uint64_t number(const std::string& word, bool is_negative);

}  // namespace fake_cuda::ptx
