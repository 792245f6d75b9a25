// The report of a training: its tables, its JSON, its page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/json.hpp"
#include "apps/options.hpp"
#include "apps/sgd/drawing.hpp"
#include "apps/sgd/page.hpp"

namespace tutti::sgd {
namespace {

using testing::HasSubstr;
using testing::Not;

class SgdReport : public testing::Test {
 protected:
  SgdReport() {
    data_.train = made_up(12, 1);
    data_.test = made_up(3, 2);
    for (int epoch = 1; epoch <= 3; ++epoch) {
      const StepTimes step{0.2, 0.4, 0.1 * epoch, 0.05, 0.1, 1.0};
      epochs_.push_back({.epoch = epoch,
                         .loss = 1.0 / epoch,
                         .train_accuracy = 0.5,
                         .test_accuracy = 0.25 * epoch,
                         .samples_per_s = 1000.0 * epoch,
                         .step = step,
                         .steps = 7});
    }
  }
  [[nodiscard]] RunDescription run() const {
    return {settings_,
            data_,
            "784-64-10",
            50'890,
            4,
            "by OpenBLAS",
            "ring",
            3,
            std::size_t{1} << 20,
            {8 << 20, 4 << 20, 2 << 20, 0, 1 << 20}};
  }
  [[nodiscard]] std::string page(const std::vector<ShownRun>& others = {}) const {
    return page_text(run(), epochs_,
                     {{Timeline::Row::computing, "forward", 0, 0.3},
                      {Timeline::Row::computing, "backward, layer 1", 0.3, 0.6},
                      {Timeline::Row::communication, "sum of bucket 0", 0.4, 0.8},
                      {Timeline::Row::communication, "sum of bucket 1", 0.6, 0.9}},
                     others);
  }
  Settings settings_{.precision = "fp32", .bucket = 4096, .overlap = true, .zero = 1};
  Split data_;
  std::vector<EpochReport> epochs_;
};

TEST_F(SgdReport, TablesSayHowTheWorkIsShared) {
  EXPECT_THAT(header_text(run()), HasSubstr("ZeRO-1 in 3 buckets, beside the backward pass"));
  EXPECT_THAT(header_text(run()), HasSubstr("Products  by OpenBLAS\n"));
  EXPECT_THAT(row_text(settings_, epochs_[1]), HasSubstr("20.0 %"));
  const std::string step = step_text(run(), epochs_);
  EXPECT_THAT(step,
              HasSubstr("forward 20.0 %, backward 40.0 %, exposed communication 20.0 %, optimizer 10.0 %; hidden"));
  EXPECT_THAT(step, HasSubstr("Bytes     1.00 MiB a step"));
  EXPECT_THAT(step, HasSubstr("parameters 8.00 MiB, gradients 4.00 MiB, optimizer 2.00 MiB"));
}

/// There, nobody waits to measure.
TEST_F(SgdReport, OverlapOnADeviceHasNoShares) {
  settings_.device = true;
  EXPECT_THAT(row_text(settings_, epochs_[1]), HasSubstr("overlaps"));
  EXPECT_THAT(step_text(run(), epochs_), HasSubstr("nobody waits"));
  EXPECT_FALSE(apps::Json::parse(json_text(run(), epochs_)).at("epochs").items()[0].find("comm_share"));
}

TEST_F(SgdReport, PagesHaveCurvesAStepAndTables) {
  const std::string text = page();
  for (const auto* const part : {"<!DOCTYPE html>", "loss", "test accuracy, %", "images per second",
                                 "One step on rank 0", "sum of bucket 0", "Memory", "</html>"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(text, Not(HasSubstr("Beside other runs")));
  for (const auto* const outside : {"http://www.example", "<script", "src=", "href="})
    EXPECT_THAT(text, Not(HasSubstr(outside)));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST_F(SgdReport, PagesCompareRuns) {
  const ShownRun other = shown_run("<other>.json", json_text(run(), epochs_));
  EXPECT_EQ(other.loss.size(), 3U);
  EXPECT_EQ(other.exposed.size(), 3U);
  EXPECT_EQ(other.samples_per_s[2], 3000);
  const std::string text = page({other});
  EXPECT_THAT(text, HasSubstr("Beside other runs"));
  EXPECT_THAT(text, HasSubstr("&lt;other&gt;.json: 4 ranks, fp32, ZeRO-1, overlap"));
  EXPECT_THAT(text, HasSubstr("1.00 times this run"));
  EXPECT_THAT(text, Not(HasSubstr("<other>")));
}

/// A training that was resumed has its epochs behind those of the other run.
TEST_F(SgdReport, PagesKnowTheNumbersOfEpochs) {
  const std::string before = page();
  for (EpochReport& epoch : epochs_)
    epoch.epoch += 2;
  EXPECT_EQ(shown_run("file", json_text(run(), epochs_)).first, 3);
  EXPECT_THAT(page(), HasSubstr(">5</text>"));
  EXPECT_THAT(before, Not(HasSubstr(">5</text>")));
}

TEST_F(SgdReport, OtherFilesAreNoRuns) {
  for (const auto* const json : {"", "{", "[]", "{\"program\": \"tutti-bench\"}", "{\"program\": \"tutti-sgd\"}"})
    EXPECT_THROW(static_cast<void>(shown_run("file", json)), apps::InputError) << json;
}

TEST(SgdDrawing, CurvesOfAnyValuesAreDrawn) {
  for (const auto& values : std::vector<std::vector<double>>{{}, {0}, {1}, {1, 1}, {1e-9, 1e9}, {0, 5}, {3, 0, 2}}) {
    for (const bool is_logarithmic : {false, true}) {
      const std::string svg = svg_of(Curves{"title", "epoch", is_logarithmic, {{"a", values}}});
      EXPECT_THAT(svg, Not(HasSubstr("nan")));
      EXPECT_THAT(svg, Not(HasSubstr("inf")));
    }
  }
}

}  // namespace
}  // namespace tutti::sgd
