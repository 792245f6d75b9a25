// Communicators in C.
#include <fmt/format.h>

#include "bindings/c/handles.hpp"
#include "lib/core/transport/mpi/dialect.hpp"

using namespace tutti::c;

namespace {

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view{} : text; }

tutti_comm made(const Site& site, MPI_Comm mpi_comm, const tutti_comm_options* given) {
  // A pointer in some MPIs, where it must not be followed.
  if (mpi_comm == MPI_Comm{}) site.refuse("mpi_comm", "no handle of MPI", "a communicator of MPI");
  tutti::CommunicatorOptions options;
  if (site.sized("options", given, "= TUTTI_COMM_OPTIONS_INIT") != nullptr)
    options = {text_of(given->algorithms), text_of(given->transport), text_of(given->buffers),
               given->forms_match != 0,    text_of(given->rules),     bits_of(site, given->bits)};
  return new tutti_comm_object{tutti::Communicator{mpi_comm, options}};
}

/// The body of a function that stores one number.
template <class Number, class Ask>
tutti_status asked(tutti_comm comm, std::string_view argument, Number* place, const Ask& ask,
                   const char* function = __builtin_FUNCTION()) noexcept {
  return guarded(
      [&](const Site& site) {
        Number& number = site.pointed(argument, place);
        number = ask(site, communicator(site, comm));
      },
      function);
}

tutti_status listed(tutti_comm comm, tutti_group* group, std::vector<int> tutti_comm_object::*kept,
                    const tutti::Group& (tutti::Communicator::*ask)() const,
                    const char* function = __builtin_FUNCTION()) noexcept {
  return guarded(
      [&](const Site& site) {
        tutti_group& place = site.pointed("group", group);
        const tutti::Group& its = (communicator(site, comm).*ask)();
        std::vector<int>& ranks = comm->*kept;
        ranks.clear();
        for (const tutti::Rank rank : its.ranks)
          ranks.push_back(rank.value());
        place = {ranks.data(), static_cast<int>(ranks.size()), its.me};
      },
      function);
}

}  // namespace

tutti_status tutti_comm_create(MPI_Comm mpi_comm, const tutti_comm_options* options, tutti_comm* comm) {
  return stored("comm", comm, [&](const Site& site) { return made(site, mpi_comm, options); });
}

tutti_status tutti_comm_create_f(int mpi_comm, const tutti_comm_options* options, tutti_comm* comm) {
  return stored("comm", comm,
                [&](const Site& site) { return made(site, tutti::mpi::communicator_of_fortran(mpi_comm), options); });
}

tutti_status tutti_comm_close(tutti_comm comm) {
  return guarded([&](const Site& site) { communicator(site, comm).close(); });
}

tutti_status tutti_comm_abort(tutti_comm comm, const char* why) {
  return guarded([&](const Site& site) { communicator(site, comm).abort(text_of(why)); });
}

tutti_status tutti_comm_free(tutti_comm* comm) { return freed("comm", comm); }

tutti_status tutti_comm_is_open(tutti_comm comm, int* is_open) {
  return asked(comm, "is_open", is_open, [](const Site&, const auto& its) { return its.is_open() ? 1 : 0; });
}

tutti_status tutti_comm_rank(tutti_comm comm, int* rank) {
  return asked(comm, "rank", rank, [](const Site&, const auto& its) { return its.rank().value(); });
}

tutti_status tutti_comm_size(tutti_comm comm, int* size) {
  return asked(comm, "size", size, [](const Site&, const auto& its) { return its.size(); });
}

tutti_status tutti_comm_node_count(tutti_comm comm, int* count) {
  return asked(comm, "count", count, [](const Site&, const auto& its) { return its.node_count(); });
}

tutti_status tutti_comm_node_of(tutti_comm comm, int rank, int* node) {
  return asked(comm, "node", node, [&](const Site&, const auto& its) { return its.node_of(tutti::Rank{rank}); });
}

tutti_status tutti_comm_node(tutti_comm comm, tutti_group* group) {
  return listed(comm, group, &tutti_comm_object::node, &tutti::Communicator::node);
}

tutti_status tutti_comm_leaders(tutti_comm comm, tutti_group* group) {
  return listed(comm, group, &tutti_comm_object::leaders, &tutti::Communicator::leaders);
}

tutti_status tutti_comm_status(tutti_comm comm, const char** text) {
  return asked(comm, "text", text, [&](const Site&, const auto& its) {
    comm->status = its.status();
    return comm->status.c_str();
  });
}

tutti_status tutti_comm_messages(tutti_comm comm, int transport, tutti_messages* messages) {
  return asked(comm, "messages", messages, [&](const Site& site, const auto& its) {
    const tutti::MessageCounters all = its.message_counters();
    const auto counted = [](const auto& its_own) {
      return tutti_messages{its_own.sent, its_own.received, its_own.sent_bytes, its_own.received_bytes};
    };
    if (transport == TUTTI_TRANSPORT_SHM) return counted(all.shm);
    if (transport == TUTTI_TRANSPORT_MPI) return counted(all.mpi);
    if (transport == TUTTI_TRANSPORT_NETWORK) return counted(all.network);
    site.refuse("transport", std::to_string(transport), "a value of enum tutti_transports, 0 to 2");
  });
}

tutti_status tutti_comm_counters(tutti_comm comm, const tutti_counter** counters, int* count) {
  return guarded([&](const Site& site) {
    const tutti_counter*& place = site.pointed("counters", counters);
    int& number = site.pointed("count", count);
    comm->counters = communicator(site, comm).counters();
    comm->listed.clear();
    for (const auto& [name, value] : comm->counters)
      comm->listed.push_back({name.c_str(), value});
    place = comm->listed.data();
    number = static_cast<int>(comm->listed.size());
  });
}

tutti_status tutti_comm_counter(tutti_comm comm, const char* name, uint64_t* value) {
  return asked(comm, "value", value, [&](const Site& site, const auto& its) {
    const tutti::Counters all = its.counters();
    const auto found = all.find(std::string_view{&site.pointed("name", name)});
    if (found == all.end()) site.refuse("name", fmt::format("'{}'", name), "a name that tutti_comm_counters lists");
    return found->second;
  });
}
