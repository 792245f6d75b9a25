// Messages between two ranks, and batches of them.

#include <nanobind/stl/string.h>

#include "call.hpp"
#include "process.hpp"

namespace tutti::python {
namespace {

/// What a tagged receive has met. It is written when the operation completes, and read then.
class Message {
 public:
  [[nodiscard]] int source() const { return message_->source; }
  [[nodiscard]] int tag() const { return message_->tag; }
  [[nodiscard]] int64_t count() const { return message_->count; }
  [[nodiscard]] tutti_message* address() const { return message_.get(); }

 private:
  std::unique_ptr<tutti_message> message_ = std::make_unique<tutti_message>();
};

/// A message before it is posted.
struct Envelope {
  Communicator& communicator;
  const char* function;
  Form form;
  Kept kept;
  Communicator::Use use;

  Envelope(Communicator& of, const char* called, Form as) : communicator(of), function(called), form(as), use(of) {}
  [[nodiscard]] int number(nb::handle given, const char* name) const { return int_of(given, function, name); }
  tutti_comm comm() { return communicator.handle(function); }
  Argument argument(const char* name, bool writes) const { return {function, name, writes, form != Form::persistent}; }

  /// start(tutti_request*) for the first two forms, prepare(tutti_plan*) for the third.
  template <class Start, class Prepare>
  nb::object run(const Start& start, const Prepare& prepare) {
    tutti_status status = TUTTI_SUCCESS;
    if (form == Form::persistent) {
      tutti_plan plan = nullptr;
      {
        const nb::gil_scoped_release released;
        status = prepare(&plan);
      }
      check(status);
      kept.communicator = nb::find(communicator);
      return nb::cast(new Plan(plan, std::move(kept)), nb::rv_policy::take_ownership);
    }
    tutti_request request = nullptr;
    int is_complete = 0;
    {
      const nb::gil_scoped_release released;
      status = start(&request);
      if (form == Form::blocking && status == TUTTI_SUCCESS)
        status = tutti_request_wait_for(&request, slice, &is_complete);
    }
    if (form == Form::blocking) return complete(communicator, request, status, is_complete != 0, kept, function);
    check(status);
    kept.communicator = nb::find(communicator);
    return nb::cast(new Request(request, std::move(kept)), nb::rv_policy::take_ownership);
  }
};

[[noreturn]] void no_tagged_plans(const char* function) {
  refuse(std::string{function} + ": plans have no tags; start the message anew each time, alone or in a Batch");
}

nb::object send(Communicator& self, Form form, nb::handle x, nb::handle rank, nb::handle tag) {
  Envelope message{self, "send", form};
  tutti_comm comm = message.comm();
  const int to = message.number(rank, "to");
  message.kept.in = take(x, message.argument("x", false));
  message.kept.returned = nb::none();
  const Buffer& data = message.kept.in;
  if (tag.is_none())
    return message.run(
        [&](tutti_request* r) { return tutti_send_async(data.data, data.count, data.type, to, comm, r); },
        [&](tutti_plan* p) { return tutti_plan_send(data.data, data.count, data.type, to, comm, p); });
  if (form == Form::persistent) no_tagged_plans("plan_send");
  const int number = message.number(tag, "tag");
  return message.run(
      [&](tutti_request* r) { return tutti_send_tagged_async(data.data, data.count, data.type, to, number, comm, r); },
      [](tutti_plan*) { return TUTTI_SUCCESS; });
}

nb::object recv(Communicator& self, Form form, nb::handle out, nb::handle rank, nb::handle tag) {
  Envelope message{self, "recv", form};
  tutti_comm comm = message.comm();
  const int source = message.number(rank, "source");
  message.kept.out = take(out, message.argument("out", true));
  const Buffer& data = message.kept.out;
  if (tag.is_none()) {
    message.kept.returned = nb::borrow(out);
    return message.run(
        [&](tutti_request* r) { return tutti_recv_async(data.data, data.count, data.type, source, comm, r); },
        [&](tutti_plan* p) { return tutti_plan_recv(data.data, data.count, data.type, source, comm, p); });
  }
  if (form == Form::persistent) no_tagged_plans("plan_recv");
  message.kept.returned = nb::cast(Message{});
  tutti_message* const met = nb::cast<Message&>(message.kept.returned).address();
  const int number = message.number(tag, "tag");
  return message.run(
      [&](tutti_request* r) {
        return tutti_recv_tagged_async(data.data, data.count, data.type, source, number, comm, met, r);
      },
      [](tutti_plan*) { return TUTTI_SUCCESS; });
}

nb::object sendrecv(Communicator& self, Form form, nb::handle x, nb::handle to_rank, nb::handle out,
                    nb::handle from_rank) {
  Envelope message{self, "sendrecv", form};
  tutti_comm comm = message.comm();
  const int to = message.number(to_rank, "to");
  const int source = message.number(from_rank, "source");
  message.kept.in = take(x, message.argument("x", false));
  message.kept.out = take(out, message.argument("out", true));
  message.kept.returned = nb::borrow(out);
  const Buffer& in = message.kept.in;
  const Buffer& into = message.kept.out;
  if (in.type != into.type)
    refuse(std::string{"sendrecv: out has elements of "} + name_of_type(into.type) + ", and x of " +
           name_of_type(in.type));
  return message.run(
      [&](tutti_request* r) {
        return tutti_sendrecv_async(in.data, in.count, to, into.data, into.count, source, in.type, comm, r);
      },
      [&](tutti_plan* p) {
        return tutti_plan_sendrecv(in.data, in.count, to, into.data, into.count, source, in.type, comm, p);
      });
}

/// The arrays are kept as long as the batch and what runs it.
class Batch {
 public:
  explicit Batch(Communicator& communicator) : communicator_(nb::find(communicator)) {
    check(tutti_batch_create(communicator.handle("Batch"), &handle_));
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  ~Batch() {
    if (!is_child_of_fork()) tutti_batch_free(&handle_);
  }

  void send(nb::handle x, nb::handle rank, nb::handle tag) {
    const Communicator::Use use{nb::cast<Communicator&>(communicator_)};
    const int to = int_of(rank, "Batch.send", "to");
    const int number = tag.is_none() ? 0 : int_of(tag, "Batch.send", "tag");
    const Buffer& data = keep(take(x, {"Batch.send", "x", false, false}));
    if (tag.is_none()) return check(tutti_batch_send(handle_, data.data, data.count, data.type, to));
    check(tutti_batch_send_tagged(handle_, data.data, data.count, data.type, to, number));
  }
  nb::object recv(nb::handle out, nb::handle rank, nb::handle tag) {
    const Communicator::Use use{nb::cast<Communicator&>(communicator_)};
    const int source = int_of(rank, "Batch.recv", "source");
    const int number = tag.is_none() ? 0 : int_of(tag, "Batch.recv", "tag");
    const Buffer& data = keep(take(out, {"Batch.recv", "out", true, false}));
    if (tag.is_none()) {
      check(tutti_batch_recv(handle_, data.data, data.count, data.type, source));
      return nb::none();
    }
    const nb::object met = nb::cast(Message{});
    check(tutti_batch_recv_tagged(handle_, data.data, data.count, data.type, source, number,
                                  nb::cast<Message&>(met).address()));
    messages_.push_back(met);
    return met;
  }
  int visit(visitproc visit, void* arg) const {
    Py_VISIT(communicator_.ptr());
    for (const nb::object& message : messages_)
      Py_VISIT(message.ptr());
    for (const Buffer& buffer : buffers_)
      if (const int stop = buffer.visit(visit, arg); stop != 0) return stop;
    return 0;
  }
  /// What it sends and receives stays with what runs it.
  void clear() {
    tutti_batch_free(&handle_);
    buffers_.clear();
    messages_.clear();
  }
  nb::object run(nb::handle self, Form form, const char* function) {
    Envelope envelope{nb::cast<Communicator&>(communicator_), function, form};
    static_cast<void>(envelope.comm());
    envelope.kept.returned = nb::none();
    envelope.kept.more = nb::borrow(self);
    return envelope.run([this](tutti_request* request) { return tutti_batch_start(handle_, request); },
                        [this](tutti_plan* plan) { return tutti_batch_plan(handle_, plan); });
  }

 private:
  const Buffer& keep(Buffer buffer) {
    buffers_.push_back(std::move(buffer));
    return buffers_.back();
  }
  tutti_batch handle_ = nullptr;
  nb::object communicator_;
  std::vector<Buffer> buffers_;
  std::vector<nb::object> messages_;
};

template <auto Function, class... Extra>
void define(CommunicatorClass& communicator, const char* name, Form form, const char* doc, const Extra&... extra) {
  const auto bound = [&]<class... Arguments>(nb::object (*)(Communicator&, Form, Arguments...)) {
    communicator.def(
        name, [form](Communicator& self, Arguments... arguments) { return Function(self, form, arguments...); },
        extra..., doc);
  };
  bound(Function);
}

}  // namespace

void bind_messages(nb::module_& module, CommunicatorClass& communicator) {
  const auto to = nb::arg("to").none();
  const auto source = nb::arg("source").none();
  const auto tag = nb::arg("tag") = nb::none();
  // Values of an enum in some MPIs.
  module.attr("ANY_SOURCE") = int{MPI_ANY_SOURCE};
  module.attr("ANY_TAG") = int{MPI_ANY_TAG};
  module.attr("NO_RANK") = int{MPI_PROC_NULL};
  nb::class_<Message>(module, "Message", "What a receive with a tag has met.")
      .def_prop_ro("source", &Message::source)
      .def_prop_ro("tag", &Message::tag)
      .def_prop_ro("count", &Message::count, "Elements.")
      .def("__repr__", [](const Message& self) {
        return "<tutti.Message of " + std::to_string(self.count()) + " elements from rank " +
               std::to_string(self.source()) + " with tag " + std::to_string(self.tag()) + ">";
      });
  define<send>(
      communicator, "send", Form::blocking,
      "Sends x to rank `to`. Between two ranks, the k-th message sent is the k-th received, in any call or batch. "
      "With a tag,\nit is met by receives with tags only.",
      nb::arg("x"), to, tag);
  define<send>(communicator, "send_async", Form::nonblocking, "Starts send(), and returns a Request.", nb::arg("x"), to,
               tag);
  define<send>(communicator, "plan_send", Form::persistent, "Prepares send() on this array, and returns a Plan.",
               nb::arg("x"), to, tag);
  define<recv>(
      communicator, "recv", Form::blocking,
      "Receives into out, which has as many elements as are sent, and returns it. With a tag (or ANY_TAG), source may "
      "be\nANY_SOURCE and the message shorter, and a Message is returned, which says what was received.",
      nb::arg("out"), source, tag);
  define<recv>(communicator, "recv_async", Form::nonblocking, "Starts recv(), and returns a Request.", nb::arg("out"),
               source, tag);
  define<recv>(communicator, "plan_recv", Form::persistent, "Prepares recv() into this array, and returns a Plan.",
               nb::arg("out"), source, tag);
  define<sendrecv>(communicator, "sendrecv", Form::blocking,
                   "Sends x to rank `to` and receives out from rank `source`, at once; returns out.", nb::arg("x"), to,
                   nb::arg("out"), source);
  define<sendrecv>(communicator, "sendrecv_async", Form::nonblocking, "Starts sendrecv(), and returns a Request.",
                   nb::arg("x"), to, nb::arg("out"), source);
  define<sendrecv>(communicator, "plan_sendrecv", Form::persistent,
                   "Prepares sendrecv() on these arrays, and returns a Plan.", nb::arg("x"), to, nb::arg("out"),
                   source);

  nb::class_<Batch>(
      module, "Batch",
      "Sends and receives that run as one, all at once, in any order of adding: none waits for another.\n\n"
      "    batch = tutti.Batch(comm)\n    batch.send(mine, right)\n    batch.recv(theirs, left)\n"
      "    batch.run()\n\nArrays must be contiguous, and are kept. A batch may be run again.",
      in_cycles<Batch>())
      .def(nb::init<Communicator&>(), nb::arg("comm"))
      .def("send", &Batch::send, nb::arg("x"), to, tag)
      .def("recv", &Batch::recv, nb::arg("out"), source, tag,
           "With a tag: returns a Message, which says what was received once the batch has run.")
      .def(
          "run", [](nb::handle self) { return nb::cast<Batch&>(self).run(self, Form::blocking, "Batch.run"); },
          "Sends and receives all, and returns when that is done.")
      .def(
          "start", [](nb::handle self) { return nb::cast<Batch&>(self).run(self, Form::nonblocking, "Batch.start"); },
          "The same as a Request.")
      .def(
          "plan", [](nb::handle self) { return nb::cast<Batch&>(self).run(self, Form::persistent, "Batch.plan"); },
          "The same as a Plan.");
}

}  // namespace tutti::python
