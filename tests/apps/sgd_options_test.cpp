// Command lines: values, errors that say what is allowed, help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/options.hpp"
#include "apps/sgd/settings.hpp"

namespace tutti::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// The error that `action` throws, as text.
template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Numbers, AreWholeTextsInTheirRange) {
  EXPECT_EQ(parse_integer("12", 0, 12), 12);
  EXPECT_EQ(parse_integer("-3", -3, 0), -3);
  EXPECT_DOUBLE_EQ(parse_number("1e-3", 0, 1), 0.001);
  for (const auto* const text : {"", "13", "-1", "1x", " 1", "0x1", "1.5", "99999999999999999999", "+1"}) {
    EXPECT_EQ(refusal([&] { (void)parse_integer(text, 0, 12); }),
              std::string{"'"} + text + "' is not an integer from 0 to 12");
  }
  for (const auto* const text : {"", "nan", "inf", "-0.1", "1.1", "0.5x", "1e999"}) {
    EXPECT_THAT(refusal([&] { (void)parse_number(text, 0, 1); }), HasSubstr("is not a number from 0 to 1")) << text;
  }
}

TEST(Sizes, TakeBinaryMultiples) {
  EXPECT_EQ(parse_bytes("0"), Bytes{0});
  EXPECT_EQ(parse_bytes("8"), Bytes{8});
  EXPECT_EQ(parse_bytes("8B"), Bytes{8});
  EXPECT_EQ(parse_bytes("64K"), Bytes{65'536});
  EXPECT_EQ(parse_bytes("64kib"), Bytes{65'536});
  EXPECT_EQ(parse_bytes("3MB"), Bytes{3 << 20});
  EXPECT_EQ(parse_bytes("2G"), Bytes{std::int64_t{2} << 30});
  EXPECT_EQ(parse_bytes("8388607T"), Bytes{std::int64_t{8'388'607} << 40});
}

TEST(Sizes, RefuseWhatIsNone) {
  for (const auto* const text : {"", "K", "-8", "1.5K", "8X", "8KK", "8 K", "8388608T", "9223372036854775808"}) {
    EXPECT_THAT(refusal([&] { (void)parse_bytes(text); }), HasSubstr("is not a size: bytes, or with K, M, G or T"))
        << text;
  }
}

TEST(Lists, LoseTheirBlanks) {
  EXPECT_THAT(split_list("8, 64K,1M"), ElementsAre("8", "64K", "1M"));
  EXPECT_THAT(split_list("one"), ElementsAre("one"));
  for (const auto* const text : {"", ",", "1,", ",1", "1,,2", "1, ,2"}) {
    EXPECT_THAT(refusal([&] { (void)split_list(text); }), HasSubstr("empty item")) << text;
  }
}

/// One option of each kind.
class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    options_.flag("fast", fast_, "a flag")
        .text("file", file_, "FILE", "a text")
        .integer("count", count_, 1, 9, "an integer")
        .number("rate", rate_, 0, 1, "a number")
        .choice("color", color_, {"red", "green"}, "a choice")
        .integers("widths", widths_, 1, 9, "integers")
        .names("parts", parts_, {"head", "neck", "tail"}, "names");
  }
  std::string refused(const std::vector<std::string>& arguments) {
    return refusal([&] { (void)options_.parse(arguments); });
  }

  bool fast_ = false;
  std::string file_, color_ = "red";
  int count_ = 3;
  double rate_ = 0.5;
  std::vector<int> widths_{1, 2};
  std::vector<std::string> parts_{"head"};
  Options options_{"program", "Does nothing."};
};

TEST_F(OptionsTest, KeepTheirDefaults) {
  EXPECT_EQ(options_.parse({}), std::nullopt);
  EXPECT_FALSE(fast_);
  EXPECT_EQ(count_, 3);
  EXPECT_THAT(widths_, ElementsAre(1, 2));
}

TEST_F(OptionsTest, SetTheirVariables) {
  EXPECT_EQ(options_.parse({"--fast", "--file", "a b", "--count=9", "--rate", "0.25", "--color", "green", "--widths",
                            "7, 8", "--parts", "tail, neck"}),
            std::nullopt);
  EXPECT_TRUE(fast_);
  EXPECT_EQ(file_, "a b");
  EXPECT_EQ(count_, 9);
  EXPECT_EQ(rate_, 0.25);
  EXPECT_EQ(color_, "green");
  EXPECT_THAT(widths_, ElementsAre(7, 8));
  EXPECT_THAT(parts_, ElementsAre("tail", "neck"));
  EXPECT_EQ(options_.parse({"--parts", "all"}), std::nullopt);
  EXPECT_THAT(parts_, ElementsAre("head", "neck", "tail"));
}

TEST_F(OptionsTest, NameWhatIsWrong) {
  EXPECT_EQ(refused({"--count", "-1"}), "--count: '-1' is not an integer from 1 to 9");
  EXPECT_EQ(refused({"--rate", "2"}), "--rate: '2' is not a number from 0 to 1");
  EXPECT_EQ(refused({"--color", "blue"}), "--color: 'blue' is none of: red, green");
  EXPECT_EQ(refused({"--widths", "1,10"}), "--widths: '10' is not an integer from 1 to 9");
  EXPECT_EQ(refused({"--parts", "head,tial"}),
            "--parts: 'tial' is none of: all, head, neck, tail (did you mean tail?)");
  EXPECT_THAT(refused({"--wrong"}), HasSubstr("--wrong"));
  EXPECT_THAT(refused({"--cou", "1"}), HasSubstr("--cou"));
  EXPECT_THAT(refused({"--count"}), HasSubstr("--count"));
  EXPECT_THAT(refused({"--count", "1", "--count", "2"}), HasSubstr("more than once"));
  EXPECT_THAT(refused({"--fast=1"}), HasSubstr("--fast"));
  EXPECT_THAT(refused({"stray"}), HasSubstr("unexpected argument 'stray'"));
}

TEST_F(OptionsTest, HelpNamesEveryOptionWithItsDefault) {
  const std::string help = options_.parse({"--help"}).value();
  for (const auto* const text : {"Does nothing.", "--fast", "--file FILE", "[3]", "red, green", "[1,2]", "--version"}) {
    EXPECT_THAT(help, HasSubstr(text));
  }
}

TEST_F(OptionsTest, VersionNamesTheProgram) {
  EXPECT_THAT(options_.parse({"--version"}).value(), HasSubstr("program (Tutti "));
}

std::string refused_settings(const std::vector<std::string>& arguments) {
  return refusal([&] {
    sgd::Settings settings;
    Options options = sgd::command_line(settings);
    (void)options.parse(arguments);
    sgd::require_consistent(settings);
  });
}

TEST(SgdSettings, RefuseTheImpossible) {
  EXPECT_EQ(refused_settings({}), "nothing");
  EXPECT_THAT(refused_settings({"--algorithm", "magic"}), HasSubstr("ring"));
  EXPECT_THAT(refused_settings({"--epochs", "0"}), HasSubstr("--epochs: '0' is not an integer from 1"));
  EXPECT_THAT(refused_settings({"--hidden", "0"}), HasSubstr("--hidden"));
  EXPECT_THAT(refused_settings({"--test-fraction", "1"}), HasSubstr("--test-fraction"));
  EXPECT_THAT(refused_settings({"--precision", "half"}), HasSubstr("fp64, fp32, bf16, fp16"));
  EXPECT_EQ(refused_settings({"--images", "a"}), "--images needs --labels");
  EXPECT_EQ(refused_settings({"--labels", "a"}), "--labels needs --images");
  EXPECT_EQ(refused_settings({"--test-images", "a", "--test-labels", "b"}), "--test-images needs --images");
  EXPECT_EQ(refused_settings({"--images", "a", "--labels", "b", "--data", "c"}),
            "--data, --images and --synthetic exclude each other");
  EXPECT_EQ(refused_settings({"--synthetic", "9", "--data", "c"}),
            "--data, --images and --synthetic exclude each other");
  EXPECT_THAT(refused_settings({"--zero", "1", "--algorithm", "ring"}), HasSubstr("--zero 1 makes none"));
  EXPECT_THAT(refused_settings({"--zero", "2"}), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refused_settings({"--bucket", "0"}), HasSubstr("--bucket"));
  EXPECT_THAT(refused_settings({"--bucket", "many"}), HasSubstr("is not a size"));
  EXPECT_EQ(refused_settings({"--keep", "0.5"}), "--keep is that of --compress top_k");
  EXPECT_EQ(refused_settings({"--channels", "3"}), "--channels is that of --model cnn");
  EXPECT_EQ(refused_settings({"--optimizer", "adam", "--momentum", "0.5"}), "--momentum is that of --optimizer sgd");
  EXPECT_THAT(refused_settings({"--study", "--zero", "1"}), HasSubstr("by itself"));
  EXPECT_EQ(refused_settings({"--compress", "int8"}), "--compress needs --precision fp32");
  EXPECT_THAT(refused_settings({"--compress", "int8", "--precision", "fp32", "--zero", "1"}),
              HasSubstr("exclude each other"));
  EXPECT_EQ(refused_settings({"--channels", "1,2,3"}), "--channels: 1 or 2 numbers");
  EXPECT_THAT(refused_settings({"--json", "a", "--checkpoint", "a"}), HasSubstr("the same file"));
}

}  // namespace
}  // namespace tutti::apps
