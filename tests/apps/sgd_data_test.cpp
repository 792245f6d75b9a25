// Data sets: how they are read, how malformed files are refused, how they are split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <numeric>
#include <set>

#include "apps/files.hpp"
#include "apps/options.hpp"
#include "apps/sgd/data_set.hpp"
#include "apps/sgd/random.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tutti::sgd {
namespace {

using testing::HasSubstr;

template <class Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const apps::InputError& error) {
    return error.what();
  }
  return "nothing";
}

/// A line of digits: all pixels alike.
std::string csv_line(int pixel, const std::string& label) {
  std::string line;
  for (int column = 0; column < 64; ++column) {
    line += std::to_string(pixel) + ",";
  }
  return line + label;
}

/// Four bytes, the most significant first.
std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(value >> shift & 0xff);
  }
  return bytes;
}

class SgdFiles : public testing::Test {
 protected:
  std::string csv_refusal(const std::string& text) {
    return refusal([&] { (void)read_csv(folder_.write("data.csv", text)); });
  }
  std::string idx_refusal(const std::string& images, const std::string& labels) {
    return refusal([&] { (void)read_idx(folder_.write("images", images), folder_.write("labels", labels)); });
  }
  test::TemporaryFolder folder_;
};

TEST_F(SgdFiles, CsvIsRead) {
  const std::string text = csv_line(16, "3") + "\r\n" + csv_line(4, "9") + "\n";
  const DataSet data = read_csv(folder_.write("data.csv", text));
  EXPECT_EQ(data.size(), 2);
  EXPECT_EQ(data.features, 64);
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.labels[0], 3);
  EXPECT_EQ(data.labels[1], 9);
  EXPECT_EQ(data.height, 8);
  EXPECT_THAT(std::vector(data.pixels.begin() + 64, data.pixels.end()), testing::Each(4));
  EXPECT_EQ(data.scale<double>(), 1.0 / 16);
}

TEST_F(SgdFiles, CsvErrorsNameTheLineAndWhatWasExpected) {
  const std::string good = csv_line(1, "2") + "\n";
  EXPECT_THAT(csv_refusal(""), HasSubstr("the file is empty"));
  EXPECT_THAT(csv_refusal(good + "1,2,3\n"), HasSubstr("line 2: expected 65 values"));
  EXPECT_THAT(csv_refusal(good + "1,2,3\n"), HasSubstr("found 3"));
  EXPECT_THAT(csv_refusal(good + good + csv_line(1, "2,3")), HasSubstr("line 3: expected 65 values"));
  EXPECT_THAT(csv_refusal(csv_line(17, "2")), HasSubstr("line 1: expected a pixel from 0 to 16 in column 1"));
  EXPECT_THAT(csv_refusal(csv_line(-1, "2")), HasSubstr("found '-1'"));
  EXPECT_THAT(csv_refusal(good + csv_line(1, "10")), HasSubstr("line 2: expected a label from 0 to 9 in column 65"));
  EXPECT_THAT(csv_refusal(good + csv_line(1, "x")), HasSubstr("found 'x'"));
  EXPECT_THAT(csv_refusal(good + csv_line(1, "")), HasSubstr("found ''"));
  EXPECT_THAT(csv_refusal(good + csv_line(1, "1.5")), HasSubstr("found '1.5'"));
  EXPECT_THAT(csv_refusal(good + "\n" + good), HasSubstr("line 2"));
  EXPECT_THAT(csv_refusal("pixel,label\n" + good), HasSubstr("line 1"));
}

TEST_F(SgdFiles, MissingFilesAreNamed) {
  EXPECT_THAT(refusal([&] { (void)read_csv(folder_.file("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(refusal([&] { (void)read_csv(folder_.file("")); }), HasSubstr("it is a folder"));
  EXPECT_THAT(refusal([&] { (void)read_idx(folder_.file("none"), folder_.file("none")); }), HasSubstr("No such file"));
}

const std::string three_images = big_endian(0x803) + big_endian(3) + big_endian(2) + big_endian(2) + "abcdefghijk\xff";
const std::string three_labels = big_endian(0x801) + big_endian(3) + std::string{"\0\2\1", 3};

TEST_F(SgdFiles, IdxIsRead) {
  const DataSet data = read_idx(folder_.write("images", three_images), folder_.write("labels", three_labels));
  EXPECT_EQ(data.size(), 3);
  EXPECT_EQ(data.features, 4);
  EXPECT_EQ(data.classes, 3);
  EXPECT_EQ(data.labels[1], 2);
  EXPECT_EQ(data.height, 2);
  EXPECT_EQ(data.pixels[8], 'i');
  EXPECT_EQ(data.scale<float>(), 1 / 255.0F);
}

TEST_F(SgdFiles, IdxErrorsNameTheOffsetAndWhatWasExpected) {
  const auto with_images = [&](const std::string& images) { return idx_refusal(images, three_labels); };
  EXPECT_THAT(with_images(""), HasSubstr("byte 0: expected the magic number 0x00000803 of images, found the end"));
  EXPECT_THAT(with_images(three_labels), HasSubstr("found 0x00000801"));
  EXPECT_THAT(with_images("\x1f\x8b\x08"), HasSubstr("gzip"));
  EXPECT_THAT(with_images(three_images.substr(0, 14)), HasSubstr("byte 14: expected a number of columns"));
  EXPECT_THAT(with_images(big_endian(0x803) + big_endian(0)), HasSubstr("byte 4: expected a number of images from 1"));
  EXPECT_THAT(with_images(big_endian(0x803) + big_endian(3) + big_endian(5000)),
              HasSubstr("byte 8: expected a number of rows from 1 to 4096, found 5000"));
  EXPECT_THAT(with_images(three_images.substr(0, 20)), HasSubstr("byte 20: expected 12 bytes after the header"));
  EXPECT_THAT(with_images(three_images + "more"), HasSubstr("byte 28: expected 12 bytes after the header, found 16"));
  EXPECT_THAT(idx_refusal(three_images, three_images), HasSubstr("expected the magic number 0x00000801 of labels"));
  EXPECT_THAT(idx_refusal(three_images, three_labels.substr(0, 9)), HasSubstr("byte 9: expected 3 bytes"));
  EXPECT_THAT(idx_refusal(three_images, big_endian(0x801) + big_endian(2) + "\1\2"), HasSubstr("has 2 labels"));
}

DataSet numbered(int images) {
  DataSet data{"numbered", 1, 1, 10, 255, {}, {}};
  for (int image = 0; image < images; ++image) {
    data.pixels.push_back(static_cast<std::uint8_t>(image));
    data.labels.push_back(static_cast<std::uint8_t>(image % 10));
  }
  return data;
}

TEST(SgdSplit, TakesEveryImageOnceWithItsLabel) {
  const Split data = split(numbered(101), 0.2, 7);
  EXPECT_EQ(data.test.size(), 20);
  EXPECT_EQ(data.train.size(), 81);
  std::set<int> seen;
  for (const DataSet* part : {&data.train, &data.test}) {
    for (std::size_t image = 0; image < part->pixels.size(); ++image) {
      EXPECT_EQ(part->pixels[image] % 10, part->labels[image]);
      seen.insert(part->pixels[image]);
    }
  }
  EXPECT_EQ(seen.size(), 101U);
}

TEST(SgdSplit, FollowsTheSeed) {
  EXPECT_EQ(fingerprint(split(numbered(50), 0.2, 7)), fingerprint(split(numbered(50), 0.2, 7)));
  EXPECT_NE(fingerprint(split(numbered(50), 0.2, 7)), fingerprint(split(numbered(50), 0.2, 8)));
}

TEST(SgdSplit, NeedsImagesToTrainWith) {
  EXPECT_EQ(split(numbered(2), 0.01, 1).test.size(), 1);
  EXPECT_THAT(refusal([] { (void)split(numbered(1), 0.2, 1); }), HasSubstr("none of 1 images is left"));
}

TEST(SgdRandom, IsTheSameEverywhere) {
  // Computed once: a change would change all that users have trained.
  Random random{1, Random::Purpose::order, 3};
  EXPECT_EQ(random.below(1'000'000), 739'035U);
  EXPECT_EQ(random.below(1'000'000), 827'088U);
  EXPECT_NEAR(random.uniform(-1, 1), -0.152219, 1e-6);
}

TEST(SgdRandom, ShufflesEvenly) {
  std::vector<int> hits(9);
  Random random{5, Random::Purpose::order};
  for (int round = 0; round < 30'000; ++round) {
    std::vector<int> items{0, 1, 2};
    random.shuffle(std::span{items});
    for (std::size_t place = 0; place < 3; ++place) {
      ++hits[3 * place + static_cast<std::size_t>(items[place])];
    }
  }
  EXPECT_THAT(hits, testing::Each(testing::AllOf(testing::Gt(9'600), testing::Lt(10'400))));
}

TEST_F(SgdFiles, ReplacingAFileLeavesNothingElse) {
  const std::string path = folder_.write("file", "old");
  apps::replace_file(path, "new");
  EXPECT_EQ(folder_.read("file"), "new");
  EXPECT_EQ(folder_.file_count(), 1);
  EXPECT_THROW(apps::replace_file(folder_.file("no/file"), "new"), std::runtime_error);
  EXPECT_THAT(refusal([&] { apps::require_writable(folder_.file("no/file")); }), HasSubstr("there is no folder"));
  EXPECT_THAT(refusal([&] { apps::require_writable(folder_.file("")); }), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal([] { apps::require_writable("/dev/null"); }), HasSubstr("not a regular file"));
  apps::require_writable(path);
}

TEST_F(SgdFiles, AWriteThatFailsLeavesTheOldFile) {
  const std::string path = folder_.write("file", "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1000, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);  // Else too large a write ends the process instead of failing.
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(apps::replace_file(path, std::string(10'000, 'x')), std::runtime_error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(folder_.read("file"), "old");
  EXPECT_EQ(folder_.file_count(), 1);
}

TEST(SgdData, MadeUpImagesFollowFromTheSeed) {
  const DataSet data = made_up(50, 3), again = made_up(50, 3), other = made_up(50, 4);
  EXPECT_EQ(data.size(), 50);
  EXPECT_EQ(data.features, 28 * 28);
  EXPECT_EQ(data.height, 28);
  EXPECT_EQ(data.pixels.size(), 50U * 28 * 28);
  EXPECT_EQ(data.classes, 10);
  EXPECT_THAT(data.labels, testing::Each(testing::Lt(10)));
  EXPECT_EQ(data.pixels, again.pixels);
  EXPECT_EQ(data.labels, again.labels);
  EXPECT_NE(data.pixels, other.pixels);
}

}  // namespace
}  // namespace tutti::sgd
