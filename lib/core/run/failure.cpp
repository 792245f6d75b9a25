#include "lib/core/run/failure.hpp"

#include <fmt/format.h>

#include <string>

#include "lib/watch/records/mpi_names.hpp"
#include "lib/watch/records/situation.hpp"
#include "lib/watch/records/text.hpp"

namespace tutti::detail {
namespace {

using records::FailureKind;

/// An operation that fails, in words.
struct Failing {
  Workspace& workspace;
  const records::Signature& call;
  std::string_view name;

  /// "allreduce (ring), operation 7 on rank 3: ..."; of a program that called MPI, which cuts the texts of errors, the
  /// cause comes first.
  [[nodiscard]] std::string because(std::string_view cause) const {
    const int rank = workspace.rank().value();
    return records::is_mpis(call) ? fmt::format("{}; in {} on rank {}", cause, records::name_in_words(call), rank)
                                  : fmt::format("{} on rank {}: {}", name, rank, cause);
  }
  /// Others have not heard of it: they are told.
  [[nodiscard]] std::exception_ptr told(std::string_view cause, FailureKind kind) const {
    const std::string why = because(cause);
    workspace.fail(kind, why);
    return error(why, kind);
  }
  /// Others have heard of it.
  [[nodiscard]] std::exception_ptr known(std::string_view cause, FailureKind kind) const {
    const std::string why = because(cause);
    workspace.poison(why);
    return error(why, kind);
  }
  [[nodiscard]] std::exception_ptr by_peer(FailureKind kind, std::string_view why) const {
    return known(fmt::format("another rank cannot go on: {}", why), kind);
  }

 private:
  static std::exception_ptr error(const std::string& why, FailureKind kind) {
    return kind == FailureKind::mismatch ? std::make_exception_ptr(MismatchError{"tutti: " + why})
                                         : std::make_exception_ptr(Error{"tutti: " + why});
  }
};

}  // namespace

std::exception_ptr failure_in_flight(Workspace& workspace, const records::Signature& call, std::string_view name) {
  const Failing failing{workspace, call, name};
  try {
    throw;
  } catch (const WrongMessage& error) {
    return failing.told(workspace.peers().explained(call, error), FailureKind::mismatch);
  } catch (const ComparedError& error) {
    return failing.known(error.what(), FailureKind::mismatch);
  } catch (const MismatchError& error) {
    return failing.told(error.what(), FailureKind::mismatch);
  } catch (const PeerError& error) {  // the text of the rank that found out names both sides
    return error.told() == PeerError::Told::no ? failing.told(error.what(), error.kind())
                                               : failing.by_peer(error.kind(), error.what());
  } catch (const LostPeer& error) {
    // It may have ended because of a failure, of which it told others before.
    if (const auto cause = workspace.peers().listen()) return failing.by_peer(cause->kind, cause->why);
    return failing.told(error.what(), FailureKind::death);
  } catch (const std::exception& error) {
    return failing.told(error.what(), FailureKind::error);
  } catch (...) {  // only a user's operation could throw that, though it must not
    return failing.told("a user's operation threw", FailureKind::error);
  }
}

}  // namespace tutti::detail
