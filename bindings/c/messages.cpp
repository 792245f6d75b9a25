// Messages between two ranks, and batches of them, in C.
#include <cstddef>

#include "bindings/c/handles.hpp"

using namespace tutti::c;
using tutti::Count;
using tutti::Rank;
using tutti::Tag;

namespace {

tutti::Batch& batch_of(const Site& site, tutti_batch batch) {
  return object_of(site, "batch", batch, "a batch that has not been freed").batch;
}

// The two say the same in the same places.
static_assert(sizeof(tutti_message) == sizeof(tutti::Received) && sizeof(Rank) == sizeof(int) &&
              offsetof(tutti_message, tag) == offsetof(tutti::Received, tag) &&
              offsetof(tutti_message, count) == offsetof(tutti::Received, count));
tutti::Received* received_by(tutti_message* message) { return reinterpret_cast<tutti::Received*>(message); }

}  // namespace

tutti_status tutti_batch_create(tutti_comm comm, tutti_batch* batch) {
  return stored("batch", batch, [&](const Site& site) {
    return new tutti_batch_object{{}, tutti::Batch{communicator(site, comm)}};
  });
}

tutti_status tutti_batch_send(tutti_batch batch, const void* data, int64_t count, tutti_type type, int to) {
  return guarded([&](const Site& site) {
    batch_of(site, batch).send(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{to});
  });
}

tutti_status tutti_batch_recv(tutti_batch batch, void* data, int64_t count, tutti_type type, int from) {
  return guarded([&](const Site& site) {
    batch_of(site, batch).recv(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{from});
  });
}

tutti_status tutti_batch_run(tutti_batch batch) {
  return guarded([&](const Site& site) { batch_of(site, batch).run(); });
}

tutti_status tutti_batch_start(tutti_batch batch, tutti_request* request) {
  return stored_request(request, [&](const Site& site) { return batch_of(site, batch).start(); });
}

tutti_status tutti_batch_plan(tutti_batch batch, tutti_plan* plan) {
  return stored_plan(plan, [&](const Site& site) { return batch_of(site, batch).plan(); });
}

tutti_status tutti_batch_free(tutti_batch* batch) { return freed("batch", batch); }

tutti_status tutti_send(const void* data, int64_t count, tutti_type type, int to, tutti_comm comm) {
  return guarded([&](const Site& site) {
    tutti::send(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{to},
                communicator(site, comm));
  });
}
tutti_status tutti_send_async(const void* data, int64_t count, tutti_type type, int to, tutti_comm comm,
                              tutti_request* request) {
  return stored_request(request, [&](const Site& site) {
    return tutti::send_async(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{to},
                             communicator(site, comm));
  });
}
tutti_status tutti_plan_send(const void* data, int64_t count, tutti_type type, int to, tutti_comm comm,
                             tutti_plan* plan) {
  return stored_plan(plan, [&](const Site& site) {
    return tutti::plan_send(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{to},
                            communicator(site, comm));
  });
}

tutti_status tutti_recv(void* data, int64_t count, tutti_type type, int from, tutti_comm comm) {
  return guarded([&](const Site& site) {
    tutti::recv(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{from},
                communicator(site, comm));
  });
}
tutti_status tutti_recv_async(void* data, int64_t count, tutti_type type, int from, tutti_comm comm,
                              tutti_request* request) {
  return stored_request(request, [&](const Site& site) {
    return tutti::recv_async(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{from},
                             communicator(site, comm));
  });
}
tutti_status tutti_plan_recv(void* data, int64_t count, tutti_type type, int from, tutti_comm comm, tutti_plan* plan) {
  return stored_plan(plan, [&](const Site& site) {
    return tutti::plan_recv(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{from},
                            communicator(site, comm));
  });
}

tutti_status tutti_send_tagged(const void* data, int64_t count, tutti_type type, int to, int tag, tutti_comm comm) {
  return guarded([&](const Site& site) {
    tutti::send(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{to}, Tag{tag},
                communicator(site, comm));
  });
}
tutti_status tutti_send_tagged_async(const void* data, int64_t count, tutti_type type, int to, int tag, tutti_comm comm,
                                     tutti_request* request) {
  return stored_request(request, [&](const Site& site) {
    return tutti::send_async(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{to}, Tag{tag},
                             communicator(site, comm));
  });
}

tutti_status tutti_recv_tagged(void* data, int64_t count, tutti_type type, int from, int tag, tutti_comm comm,
                               tutti_message* message) {
  return guarded([&](const Site& site) {
    tutti::recv_async(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{from}, Tag{tag},
                      communicator(site, comm), received_by(message))
        .wait();
  });
}
tutti_status tutti_recv_tagged_async(void* data, int64_t count, tutti_type type, int from, int tag, tutti_comm comm,
                                     tutti_message* message, tutti_request* request) {
  return stored_request(request, [&](const Site& site) {
    return tutti::recv_async(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{from}, Tag{tag},
                             communicator(site, comm), received_by(message));
  });
}

tutti_status tutti_batch_send_tagged(tutti_batch batch, const void* data, int64_t count, tutti_type type, int to,
                                     int tag) {
  return guarded([&](const Site& site) {
    batch_of(site, batch)
        .send(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{to}, Tag{tag});
  });
}
tutti_status tutti_batch_recv_tagged(tutti_batch batch, void* data, int64_t count, tutti_type type, int from, int tag,
                                     tutti_message* message) {
  return guarded([&](const Site& site) {
    batch_of(site, batch)
        .recv(site.buffer("data", data), Count{count}, type_of(site, "type", type), Rank{from}, Tag{tag},
              received_by(message));
  });
}

tutti_status tutti_sendrecv(const void* out, int64_t out_count, int to, void* in, int64_t in_count, int from,
                            tutti_type type, tutti_comm comm) {
  return guarded([&](const Site& site) {
    tutti::sendrecv(site.buffer("out", out), Count{out_count}, Rank{to}, site.buffer("in", in), Count{in_count},
                    Rank{from}, type_of(site, "type", type), communicator(site, comm));
  });
}
tutti_status tutti_sendrecv_async(const void* out, int64_t out_count, int to, void* in, int64_t in_count, int from,
                                  tutti_type type, tutti_comm comm, tutti_request* request) {
  return stored_request(request, [&](const Site& site) {
    return tutti::sendrecv_async(site.buffer("out", out), Count{out_count}, Rank{to}, site.buffer("in", in),
                                 Count{in_count}, Rank{from}, type_of(site, "type", type), communicator(site, comm));
  });
}
tutti_status tutti_plan_sendrecv(const void* out, int64_t out_count, int to, void* in, int64_t in_count, int from,
                                 tutti_type type, tutti_comm comm, tutti_plan* plan) {
  return stored_plan(plan, [&](const Site& site) {
    return tutti::plan_sendrecv(site.buffer("out", out), Count{out_count}, Rank{to}, site.buffer("in", in),
                                Count{in_count}, Rank{from}, type_of(site, "type", type), communicator(site, comm));
  });
}
