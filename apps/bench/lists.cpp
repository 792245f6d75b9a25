#include "apps/bench/lists.hpp"

#include <algorithm>
#include <utility>

#include "apps/bench/repeaters.hpp"
#include "tutti/lists.hpp"

namespace tutti::bench {

namespace {

/// The list as Tutti takes it. The arrays last as long as the object, which does not move.
class OurList {
 public:
  OurList(const Call& call, Describe describe) {
    for (const Call& each : calls_of(call)) {
      const detail::Call described = describe(each);
      buffers_.push_back({described.in, described.out, described.count});
      call_ = {described.function, described.collective, {}, described.type, described.op, described.root};
    }
  }
  [[nodiscard]] detail::ListCall call() const {
    detail::ListCall call = call_;
    call.buffers = buffers_;
    return call;
  }

 private:
  std::vector<ListedBuffer> buffers_{};
  detail::ListCall call_{};
};

}  // namespace

Bytes step_in_list(Bytes of_a_buffer) {
  constexpr std::int64_t line = 64;
  return Bytes{(of_a_buffer.value() + 2 * line - 1) / line * line};
}

std::vector<Call> calls_of(const Call& call) {
  std::vector<Call> calls;
  for (int i = 0; i < std::max(1, call.list); ++i) {
    calls.push_back(call);
    calls.back().list = 0;
    calls.back().in += i * call.in_step.value();
    calls.back().out += i * call.out_step.value();
  }
  return calls;
}

std::unique_ptr<Repeater> our_list(const Call& call, Mode mode, Describe describe) {
  OurList list{call, describe};
  if (mode == Mode::blocking)
    return repeater([call, list = std::move(list)] { detail::run(list.call(), *call.comm, call.options()); });
  if (mode == Mode::nonblocking)
    return repeater([call, list = std::move(list)] {
      Request request = detail::start(list.call(), *call.comm, call.options());
      compute(call.computation);
      request.wait();
    });
  if (mode == Mode::stream)
    return repeater_in_stream([call, list = std::move(list), stream = cuda::stream()] {
      detail::run(list.call(), *call.comm,
                  {.algorithm = call.algorithm, .stream = stream, .accumulate = call.accumulate});
    });
  return repeater_of(detail::prepare(list.call(), *call.comm, call.options()), call.computation);
}

std::string list_explanation(const Call& call, Describe describe) {
  const OurList list{call, describe};
  const std::string text = detail::prepare(list.call(), *call.comm, {}).explain();
  // "100 buffers, packed: allreduce of 25600 elements ..."; one buffer has no such words before.
  return text.substr(text.find(" buffer") < text.find(": ") ? text.find(": ") + 2 : 0);
}

PeerCall in_turn(const Call& list, const std::function<PeerCall(const Call&)>& make) {
  class InTurn : public Repeater {
   public:
    InTurn(const Call& list, const std::function<PeerCall(const Call&)>& make) : calls_(calls_of(list)) {
      for (const Call& call : calls_)
        peers_.push_back(make(call));
    }
    void run(int calls) override {
      for (int i = 0; i < calls; ++i) {
        for (const PeerCall& peer : peers_)
          peer.repeater->run(1);
      }
    }
    [[nodiscard]] const PeerCall& first() const { return peers_.front(); }

   private:
    std::vector<Call> calls_;  ///< Outlive what was made of them.
    std::vector<PeerCall> peers_{};
  };
  auto all = std::make_unique<InTurn>(list, make);
  const auto [mode, algorithm] = std::pair{all->first().mode, all->first().algorithm};
  return {std::move(all), mode, algorithm};
}

}  // namespace tutti::bench
