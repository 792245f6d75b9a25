// MSCCL's algorithms: read, turned into schedules and proved; written, and read again; and files with a fault.
#include "apps/tutti/msccl.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>

#include "apps/options.hpp"

namespace tutti::tool {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// The algorithm, settled: asking the least of calls.
ScheduleFile imported(const std::string& xml, Rank root = Rank{0}) {
  ScheduleFile file = schedules_of(read_msccl(xml, "F"), root);
  settle(file);
  return file;
}

std::string fault_of(const ScheduleFile& file, std::int64_t count) {
  return FiledScene{file, Count{count}, false, Unproved::shown}.scene().verdict.fault;
}

std::string refusal_of(const std::string& xml) {
  try {
    (void)imported(xml);
  } catch (const apps::InputError& error) {
    return error.what();
  }
  return "";
}

std::string step(int number, std::string_view type, std::string_view src, std::string_view dst, int count = 1,
                 int block = -1, int after = -1) {
  const auto part = [](std::string_view region) { return region.substr(1); };
  return fmt::format(
      "<step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" "
      "deps=\"{}\" hasdep=\"0\"/>\n",
      number, type, src[0], part(src), dst[0], part(dst), count, block, after);
}

std::string block(int id, int send, int recv, const std::string& steps, int channel = 0) {
  return fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n{}</tb>\n", id, send, recv, channel, steps);
}

std::string gpu(int id, int input, int output, int scratch, const std::string& blocks) {
  return fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n{}</gpu>\n", id, input, output,
                     scratch, blocks);
}

struct Form {
  std::string_view collective = "allreduce";
  int gpus = 2, chunks = 1, in_place = 1, channels = 1;
  std::string_view more = "";
};
std::string algorithm(const Form& form, const std::string& gpus) {
  return fmt::format(
      "<!-- a comment -->\n<algo name=\"test\" proto=\"LL\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
      "coll=\"{}\" inplace=\"{}\" {}>\n{}</algo>\n",
      form.channels, form.chunks, form.gpus, form.collective, form.in_place, form.more, gpus);
}

/// Each of two GPUs sends its operand, and adds the other's.
std::string exchange() {
  const auto one = [](int me) {
    return gpu(
        me, 1, 1, 1,
        block(0, 1 - me, 1 - me, step(0, "s", "i0", "s0") + step(1, "r", "i0", "s0") + step(2, "re", "s0", "i0")));
  };
  return algorithm({}, one(0) + one(1));
}

/// The text with the first `before` replaced.
std::string changed(std::string text, std::string_view before, std::string_view after) {
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return at == std::string::npos ? text : text.replace(at, before.size(), after);
}

TEST(MscclImport, ExchangesAndReduces) {
  const ScheduleFile file = imported(exchange());
  EXPECT_TRUE(file.is_in_place);
  EXPECT_FALSE(file.is_commutative) << "operands can be put into the order of ranks";
  EXPECT_NE(file.bits, Bits::differ);
  for (const int count : {1, 7, 100})
    EXPECT_EQ(fault_of(file, count), "");
}

/// A ring of three with all that a threadblock can do with what it receives: rrs, rrcs, rcs and r.
TEST(MscclImport, KnowsWhatReceivesAndSends) {
  std::string gpus;
  for (int me = 0; me < 3; ++me) {
    const auto chunk = [&](int distance) { return fmt::format("i{}", (me + 3 - distance) % 3); };
    gpus += gpu(
        me, 3, 0, 0,
        block(0, (me + 1) % 3, (me + 2) % 3,
              step(0, "s", chunk(0), "i0") + step(1, "rrs", chunk(1), chunk(1)) + step(2, "rrcs", chunk(2), chunk(2)) +
                  step(3, "rcs", "i0", chunk(0)) + step(4, "r", "i0", chunk(1))));
  }
  const ScheduleFile file = imported(algorithm({.gpus = 3, .chunks = 3}, gpus));
  EXPECT_EQ(file.chunks, 3);
  EXPECT_TRUE(file.is_commutative) << "the sums begin with different ranks";
  for (const int count : {3, 10, 1})
    EXPECT_EQ(fault_of(file, count), "");
}

/// Receive and reduce into the output, which is separate; and a copy.
TEST(MscclImport, ReducesAndCopiesFromASeparateInput) {
  const std::string xml = algorithm(
      {.collective = "reduce", .in_place = 0},
      gpu(0, 1, 1, 1,
          block(0, -1, 1, step(0, "rrc", "i0", "s0")) + block(1, -1, -1, step(0, "cpy", "s0", "o0", 1, 0, 0))) +
          gpu(1, 1, 0, 0, block(0, 0, -1, step(0, "s", "i0", "s0"))));
  const ScheduleFile file = imported(xml);
  EXPECT_FALSE(file.is_in_place);
  EXPECT_EQ(file.collective, Collective::reduce);
  EXPECT_EQ(fault_of(file, 5), "");
  EXPECT_THROW((void)imported(xml, Rank{1}), apps::InputError) << "GPU 0 has no output then";
}

/// The last threadblock waits for two others: for one by a nop.
TEST(MscclImport, WaitsForSeveral) {
  const auto one = [](int me) {
    std::string blocks;
    for (int other = 0, id = 0; other < 3; ++other)
      if (other != me) {
        blocks += block(id, other, other, step(0, "s", "i0", "s0") + step(1, "r", "i0", fmt::format("s{}", id)));
        ++id;
      }
    return gpu(me, 1, 0, 2,
               blocks + block(2, -1, -1,
                              step(0, "nop", "i-1", "o-1", 0, 0, 1) + step(1, "re", "s0", "i0", 1, 1, 1) +
                                  step(2, "re", "s1", "i0")));
  };
  const std::string xml = algorithm({.gpus = 3}, one(0) + one(1) + one(2));
  const ScheduleFile file = imported(xml);
  EXPECT_EQ(fault_of(file, 4), "");
  EXPECT_EQ(file.bits, Bits::differ) << "each GPU begins with its own operand";
  // Without the wait, nobody knows what is in s0.
  EXPECT_THAT(
      refusal_of(changed(
          xml, "type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" cnt=\"0\" depid=\"0\" deps=\"1\"",
          "type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" cnt=\"0\" depid=\"-1\" deps=\"-1\"")),
      HasSubstr(
          "gpu 0, tb 2, step 1: touches the same chunk as gpu 0, tb 0, step 0, and nothing says which comes first"));
}

/// Two messages of a pair on two channels, received in the other order than they are sent in.
TEST(MscclImport, NumbersMessagesOfSeveralChannels) {
  const std::string xml = algorithm(
      {.collective = "broadcast", .chunks = 2, .in_place = 0, .channels = 2},
      gpu(0, 2, 2, 0,
          block(0, 1, -1, step(0, "s", "i0", "o0")) + block(1, 1, -1, step(0, "s", "i1", "o1", 1, 0, 0), 1) +
              block(2, -1, -1, step(0, "cpy", "i0", "o0", 2))) +
          gpu(1, 0, 2, 0,
              block(0, -1, 0, step(0, "r", "i0", "o0", 1, 1, 0)) + block(1, -1, 0, step(0, "r", "i1", "o1"), 1)));
  const ScheduleFile file = imported(xml);
  for (const int count : {2, 9})
    EXPECT_EQ(fault_of(file, count), "");
}

TEST(MscclImport, KeepsNameAndBytes) {
  const ScheduleFile file = imported(changed(exchange(), "coll=", "minBytes=\"64\" maxBytes=\"4096\" coll="));
  EXPECT_EQ(file.algorithm, "test");
  EXPECT_EQ(file.least_bytes, 64);
  EXPECT_EQ(file.most_bytes, 4096);
  const std::string text = to_json(FiledScene{file, Count{1}, false, Unproved::shown}.scene(), -1);
  const ScheduleFile again = read_schedule_file(text, "F");
  EXPECT_EQ(again.most_bytes, 4096);
  EXPECT_EQ(again.least_bytes, 64);
}

TEST(MscclImport, RefusesWithPlaceAndReason) {
  const auto after = [](std::string_view before, std::string_view with) {
    return refusal_of(changed(exchange(), before, with));
  };
  EXPECT_THAT(refusal_of(""), StartsWith("F:1: no XML"));
  EXPECT_THAT(refusal_of("<algo"), StartsWith("F:1: no XML"));
  EXPECT_THAT(refusal_of("<tree/>"), HasSubstr("the element is 'tree'; allowed: algo"));
  EXPECT_THAT(refusal_of(exchange() + "<algo/>"), HasSubstr("something stands behind </algo>"));
  EXPECT_THAT(after("allreduce", "alltoallv"), HasSubstr("coll is 'alltoallv'; allowed:"));
  EXPECT_THAT(after("allreduce", "custom"), StartsWith("F:2: coll is 'custom'"));
  EXPECT_THAT(after("ngpus=\"2\"", "ngpus=\"3\""), HasSubstr("there are 2 elements 'gpu'; ngpus is 3"));
  EXPECT_THAT(after("ngpus=\"2\"", "ngpus=\"99999999999999999999\""), HasSubstr("allowed: 1 to 4096"));
  EXPECT_THAT(after("nchunksperloop=\"1\"", ""), HasSubstr("'algo' has no attribute 'nchunksperloop'"));
  EXPECT_THAT(after("type=\"r\"", "type=\"ra\""),
              StartsWith("F:6: gpu 0, tb 0, step 1: type is 'ra'; allowed: nop, s, r, rcs, rrs, rrc, rrcs, cpy, re"));
  EXPECT_THAT(after("srcbuf=\"i\"", "srcbuf=\"x\""), HasSubstr("srcbuf is 'x'; allowed: i, o, s"));
  EXPECT_THAT(after("send=\"1\"", "send=\"2\""), HasSubstr("gpu 0, tb 0: send is '2'; allowed: -1 to 1"));
  EXPECT_THAT(after("send=\"1\"", "send=\"0\""), HasSubstr("send is the GPU itself"));
  EXPECT_THAT(after("send=\"1\"", "send=\"-1\""), HasSubstr("no peer to send to"));
  EXPECT_THAT(after("chan=\"0\"", "chan=\"1\""), HasSubstr("chan is '1'; allowed: 0 to 0"));
  EXPECT_THAT(after("<gpu id=\"1\"", "<gpu id=\"0\""), HasSubstr("gpu 0 comes twice"));
  EXPECT_THAT(after("<step s=\"2\"", "<step s=\"1\""), HasSubstr("step 1 comes twice"));
  EXPECT_THAT(after("depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"9\""),
              HasSubstr("waits for tb 0, step 9, which does not exist"));
  EXPECT_THAT(after("depid=\"-1\" deps=\"-1\"", "depid=\"0\" deps=\"2\""),
              HasSubstr("gpu 0, tb 0, step 0: never ends"));
  EXPECT_THAT(after("cnt=\"1\"", "cnt=\"0\""), HasSubstr("cnt is '0'"));
  EXPECT_THAT(after("cnt=\"1\"", "cnt=\"2\""), HasSubstr("chunks 0 to 1 of 'i', which has 1 here"));
  EXPECT_THAT(after("dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n<step s=\"2\"",
                    "dstoff=\"7\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n<step s=\"2\""),
              HasSubstr("chunks 7 to 7 of 's'"));
  EXPECT_THAT(after("inplace=\"1\"", "inplace=\"0\""), HasSubstr("writes i, the input"));
  EXPECT_THAT(after("<step s=\"0\"", "<steb s=\"0\""), HasSubstr("'steb' inside 'tb'; allowed: step"));
  EXPECT_THAT(
      refusal_of(algorithm({.collective = "allgather", .chunks = 3}, gpu(0, 1, 2, 0, "") + gpu(1, 1, 2, 0, ""))),
      HasSubstr("nchunksperloop is 3, which 2 GPUs do not divide"));
  EXPECT_THAT(
      refusal_of(algorithm({.collective = "reducescatter", .chunks = 2}, gpu(0, 2, 1, 0, "") + gpu(1, 2, 1, 0, ""))),
      HasSubstr("coll is reduce_scatter, in place"));
}

TEST(MscclImport, ExpandsNoEntities) {
  const std::string bomb = "<!DOCTYPE algo [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>\n";
  const ScheduleFile file = imported(bomb + changed(exchange(), "name=\"test\"", "name=\"&b;\""));
  EXPECT_EQ(file.algorithm, "&b;");
}

/// What is received but never sent, sent but never received, and of another length.
TEST(MscclImport, RefusesMessagesThatDoNotMatch) {
  const auto pair = [](const std::string& first, const std::string& second) {
    return refusal_of(
        algorithm({.chunks = 2}, gpu(0, 2, 0, 2, block(0, 1, 1, first)) + gpu(1, 2, 0, 2, block(0, 0, 0, second))));
  };
  const std::string send = step(0, "s", "i0", "s0"), recv = step(0, "r", "i0", "s0");
  EXPECT_THAT(pair(recv, recv), HasSubstr("gpu 0, tb 0, step 0: never ends"));
  EXPECT_THAT(pair(send, send), HasSubstr("gpu 0, tb 0, step 0: sends to gpu 1, which does not receive it"));
  EXPECT_THAT(pair(send, step(0, "r", "i0", "s0", 2)), HasSubstr("receives 2 chunks, but gpu 0, tb 0, step 0 sends 1"));
}

class EveryAlgorithmOfMsccl : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithmOfMsccl, testing::Range(2, 10));

/// Exported, imported and proved for other counts; operands that were in the order of ranks are so again.
TEST_P(EveryAlgorithmOfMsccl, ComesBackFromItsXml) {
  int files = 0, refused = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (msccl_name(algorithm->collective).empty()) continue;
    for (const auto placement : {checker::Placement::separate, checker::Placement::in_place}) {
      checker::Case what{.size = GetParam(), .count = Count{4 * GetParam()}, .placement = placement};
      what.parameter = algorithm->parameter.fallback;
      if (algorithm->levels != Levels::ranks)
        for (int rank = 0; rank < what.size; ++rank)
          what.nodes.push_back(rank < (what.size + 1) / 2 ? 0 : 1);
      const Scene scene{{algorithm, what.parameter}, what};
      try {
        const std::string xml = to_xml(msccl_of(scene));
        const ScheduleFile file = imported(xml);
        EXPECT_EQ(fault_of(file, file.chunks), "") << scene.title();
        EXPECT_EQ(fault_of(file, 3 * file.chunks), "") << scene.title();
        EXPECT_NE(file.bits, Bits::differ) << scene.title();
        const bool needs_commutative = order_on(what.nodes, *algorithm) == Order::any;
        EXPECT_LE(file.is_commutative, reduces(algorithm->collective) && needs_commutative) << scene.title();
        // Again, from the file.
        const FiledScene filed{file, Count{file.chunks}, false, Unproved::shown};
        EXPECT_EQ(fault_of(imported(to_xml(msccl_of(filed.scene()))), file.chunks), "") << scene.title();
        ++files;
      } catch (const apps::InputError& error) {
        ++refused;
        EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("a message without data"), HasSubstr("lies elsewhere")));
      }
    }
  }
  EXPECT_GT(files, 100);
  EXPECT_LT(refused, files / 3);
}

Scene scene_of(Collective collective, std::string_view name, const checker::Case& what) {
  return Scene{{find_algorithm(collective, name)}, what};
}

std::string refusal_of(const Scene& scene) {
  try {
    (void)msccl_of(scene);
  } catch (const apps::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(MscclExport, RefusesWhatMscclCannotSay) {
  const auto refusal = [](Collective collective, std::string_view name, const checker::Case& what) {
    return refusal_of(scene_of(collective, name, what));
  };
  EXPECT_THAT(refusal(Collective::scan, "linear", {.size = 3, .count = Count{3}}), HasSubstr("MSCCL has no scan"));
  EXPECT_THAT(refusal(Collective::barrier, "dissemination", {.size = 3}), HasSubstr("MSCCL has no barrier"));
  EXPECT_THAT(refusal(Collective::broadcast, "knomial", {.size = 3, .count = Count{3}, .root = Rank{1}}),
              HasSubstr("no word for a root"));
  EXPECT_THAT(refusal(Collective::allreduce, "ring", {.size = 3, .count = Count{0}}), HasSubstr("no elements"));
  EXPECT_THAT(refusal(Collective::reduce_scatter, "ring",
                      {.size = 3, .count = Count{3}, .placement = checker::Placement::in_place}),
              HasSubstr("lies elsewhere"));
  EXPECT_THAT(refusal(Collective::allreduce, "ring", {.size = 8, .count = Count{20001}}), HasSubstr("MSCCL takes 256"));
}

/// The messages of a pair that are too many for a threadblock.
TEST(MscclExport, SpreadsManyMessagesOverChannels) {
  const Algorithm* const chain = find_algorithm(Collective::broadcast, "chain");
  const checker::Case what{.size = 3, .count = Count{200}, .segment = Count{1}};
  const MscclAlgorithm algorithm = msccl_of(Scene{{chain, 0, 1}, what});
  EXPECT_EQ(algorithm.channels, 4);
  for (const MscclGpu& gpu : algorithm.gpus)
    for (const MscclBlock& block : gpu.blocks)
      EXPECT_LE(block.steps.size(), 256U);
  EXPECT_EQ(fault_of(imported(to_xml(algorithm)), 200), "");
}

/// Many peers are spread over channels, alike on both sides; large regions are cut.
TEST(MscclExport, KeepsToTheLimitsOfMsccl) {
  const MscclAlgorithm algorithm =
      msccl_of(scene_of(Collective::alltoall, "pairwise", {.size = 40, .count = Count{1}}));
  EXPECT_EQ(algorithm.channels, 3);
  for (const MscclGpu& gpu : algorithm.gpus)
    for (int channel = 0; channel < 3; ++channel)
      EXPECT_LE(std::ranges::count(gpu.blocks, channel, &MscclBlock::channel), 32);
  EXPECT_EQ(fault_of(imported(to_xml(algorithm)), 2), "");
  const Scene scene = scene_of(Collective::allreduce, "ring", {.size = 2, .count = Count{201}});
  const MscclAlgorithm cut = msccl_of(scene);
  for (const MscclStep& step : cut.gpus[0].blocks[0].steps)
    EXPECT_LT(step.src.count, Count{72});
  EXPECT_EQ(fault_of(imported(to_xml(cut)), 402), "");
}

}  // namespace
}  // namespace tutti::tool
