#include "tests/fake_cuda/ptx/parser.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "tests/fake_cuda/ptx/decode.hpp"
#include "tests/fake_cuda/ptx/instruction.hpp"
#include "tests/fake_cuda/ptx/reader.hpp"

namespace fake_cuda::ptx {
namespace {

/// One kernel.
class KernelParser {
 public:
  KernelParser(Reader& reader, const std::map<std::string, std::uint64_t>& symbols)
      : reader_(reader), symbols_(symbols) {}

  Kernel kernel() {
    kernel_.name = reader_.word();
    if (reader_.take('(')) parameters();
    while (reader_.peek() != '{')  // .maxntid and the like
      if (reader_.word().empty()) reader_.skip();
    const std::size_t begin = reader_.position();
    try {
      block();
      for (const auto& [index, label] : jumps_) {
        if (!labels_.contains(label)) throw Error("there is no label " + label);
        code_->instructions[index].target = labels_[label];
      }
      kernel_.code = code_;
    } catch (const Error& error) {
      kernel_.error = error.what();
      reader_.go_back(begin);
      reader_.skip_block();
    }
    return std::move(kernel_);
  }

 private:
  void parameters() {
    while (!reader_.take(')')) {
      if (reader_.word() != ".param") reader_.fail("expected .param");
      const Variable made = variable(reader_);
      kernel_.parameter_bytes = (kernel_.parameter_bytes + made.alignment - 1) / made.alignment * made.alignment;
      parameters_[made.name] = kernel_.parameter_bytes;
      kernel_.parameters.push_back({kernel_.parameter_bytes, made.bytes});
      kernel_.parameter_bytes += made.bytes;
      reader_.take(',');
    }
  }

  void block() {
    reader_.expect('{');
    scopes_.emplace_back();
    for (char next = reader_.peek(); next != '}'; next = reader_.peek()) {
      if (next == '\0') reader_.fail("the text ends in a body");
      if (next == ';')
        reader_.skip();
      else if (next == '{')
        block();
      else if (next == '@')
        guard();
      else
        statement();
    }
    reader_.skip();
    scopes_.pop_back();
  }

  void guard() {
    reader_.skip();
    is_guard_inverted_ = reader_.take('!');
    guard_ = find_register(reader_.word());
    if (guard_ < 0) reader_.fail("a predicate that is not known");
  }

  void statement() {
    const std::string word = reader_.word();
    if (word.empty()) reader_.fail(std::string("unexpected '") + reader_.peek() + "'");
    if (reader_.take(':'))
      labels_[word] = static_cast<int>(code_->instructions.size());
    else if (word == ".reg")
      registers();
    else if (word == ".local")
      reserve(kernel_.local_bytes, local_window);
    else if (word == ".shared")
      reserve(kernel_.shared_bytes, shared_window);
    else if (word[0] == '.')
      reader_.skip_past(';');  // .pragma, .loc
    else
      instruction(word);
  }

  void registers() {
    reader_.word();  // the type: the instructions say it again
    do {
      const std::string name = reader_.word();
      if (!reader_.take('<')) {
        scopes_.back()[name] = kernel_.registers++;
        continue;
      }
      const int count = std::stoi(reader_.word());
      reader_.expect('>');
      for (int i = 0; i < count; ++i)
        scopes_.back()[name + std::to_string(i)] = kernel_.registers++;
    } while (reader_.take(','));
    reader_.expect(';');
  }

  void reserve(std::size_t& total, std::uint64_t window) {
    const Variable made = variable(reader_);
    total = (total + made.alignment - 1) / made.alignment * made.alignment;
    symbols_[made.name] = window + total;
    total += made.bytes;
    reader_.skip_past(';');
  }

  void instruction(const std::string& text) {
    const int line = reader_.line();
    Instruction made;
    try {
      made = decoded(text);
    } catch (const Error& error) {
      reader_.fail(error.what());
    }
    made.line = line;
    if (made.opcode == Opcode::bra)
      jumps_.emplace_back(code_->instructions.size(), reader_.word());
    else if (reader_.peek() != ';')
      operands(made);
    reader_.expect(';');
    made.guard = std::exchange(guard_, -1);
    made.is_guard_inverted = is_guard_inverted_;
    code_->instructions.push_back(std::move(made));
  }

  void operands(Instruction& made) {
    do {
      if (reader_.take('{')) {
        made.is_packing = made.opcode == Opcode::mov && !made.operands.empty();
        made.width = 0;
        do {
          made.operands.push_back(operand());
          ++made.width;
        } while (reader_.take(','));
        reader_.expect('}');
      } else {
        made.operands.push_back(operand());
      }
      if (reader_.take('|')) {
        made.operands.push_back(operand());
        made.has_second = true;
      }
    } while (reader_.take(','));
  }

  Operand operand() {
    if (reader_.take('[')) return address();
    Operand made;
    made.is_inverted = reader_.take('!');
    const bool is_negative = reader_.take('-');
    const std::string word = reader_.word();
    if (word.empty()) reader_.fail("an operand is missing");
    if (word == "_") return {.kind = Operand::sink};
    if (const int found = find_register(word); found >= 0) {
      made.kind = Operand::in_register;
      made.number = found;
    } else if (const auto* const special = std::ranges::find(specials, word); special != std::end(specials)) {
      made.kind = Operand::special;
      made.value = static_cast<std::uint64_t>(special - std::begin(specials));
    } else if (symbols_.contains(word) || parameters_.contains(word)) {
      made.value = symbols_.contains(word) ? symbols_[word] : parameters_[word];
    } else if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      made.value = number(word, is_negative);
    } else {
      reader_.fail("the interpreter does not know the name " + word);
    }
    return made;
  }

  Operand address() {
    Operand made{.kind = Operand::address};
    const std::string word = reader_.word();
    if (const int found = find_register(word); found >= 0) {
      made.number = found;
    } else if (parameters_.contains(word)) {
      made.kind = Operand::parameter;
      made.value = parameters_[word];
    } else if (symbols_.contains(word)) {
      made.value = symbols_[word];
    } else if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      made.value = number(word, false);
    } else {
      reader_.fail("the interpreter does not know the symbol " + word);
    }
    if (reader_.take('+')) {
      const bool is_negative = reader_.take('-');
      made.value += number(reader_.word(), is_negative);
    } else if (reader_.take('-')) {
      made.value += number(reader_.word(), true);
    }
    reader_.expect(']');
    return made;
  }

  [[nodiscard]] int find_register(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find(name); found != scope->end()) return found->second;
    return -1;
  }

  Reader& reader_;
  Kernel kernel_;
  std::shared_ptr<Code> code_ = std::make_shared<Code>();
  std::vector<std::map<std::string, int>> scopes_;
  std::map<std::string, std::uint64_t> symbols_, parameters_;
  std::map<std::string, int> labels_;
  std::vector<std::pair<std::size_t, std::string>> jumps_;
  int guard_ = -1;
  bool is_guard_inverted_ = false;
};

}  // namespace

Module parsed(const std::string& text) {
  Reader reader{without_comments(text)};
  Module module;
  std::map<std::string, std::uint64_t> symbols;
  while (reader.peek() != '\0') {
    const std::string word = reader.word();
    if (word == ".entry") {
      module.kernels.push_back(KernelParser{reader, symbols}.kernel());
    } else if (word == ".func") {
      if (reader.skip_to_either(';', '{') == '{') reader.skip_block();
    } else if (word == ".version" || word == ".target" || word == ".address_size") {
      reader.skip_past('\n');
    } else if (word == ".shared") {  // `.extern .shared`: the dynamic part
      symbols[variable(reader).name] = shared_window;
      reader.skip_past(';');
    } else if (word == ".global" || word == ".const") {
      reader.skip_past(';');  // a kernel that uses it does not know its name
    } else if (word.empty()) {
      reader.skip();
    }
  }
  return module;
}

}  // namespace fake_cuda::ptx
