// What other libraries and programs say of themselves: MPI's version and kinds of memory, UCX's transports, launchers.
// An input is a command line, an argument in each line, an empty one, then the text.
#include "apps/options.hpp"
#include "apps/tutti/launcher.hpp"
#include "lib/core/transport/mpi/library_text.hpp"
#include "tests/fuzz/target.hpp"
#include "ucx/resources.hpp"

namespace tutti::fuzz {
namespace {

void launch(const std::vector<std::string>& command, std::string_view version) {
  const tool::Launcher launcher = tool::launcher_of(command.front(), version);
  const std::vector<tool::Variable> variables{{"LD_PRELOAD", "a.so"}, {"TUTTI_LOG", "info"}};
  is_taken<apps::InputError>([&] {
    const std::vector<std::string> line = tool::with_variables(launcher, command, variables);
    require(line.size() > command.size(), "the variables are lost");
  });
  static_cast<void>(tool::objection(launcher, command.front(), mpi::name_in(version)));
}

void run(Input input) {
  Source source{input};
  std::vector<std::string> command{"mpirun"};
  for (std::string_view argument = source.text_to('\n'); !argument.empty(); argument = source.text_to('\n'))
    command.emplace_back(argument);
  if (command.size() > 1) command.erase(command.begin());
  const std::string_view text = source.text();
  launch(command, text);
  require(!mpi::name_in(text).empty(), "an MPI has no name");
  static_cast<void>(mpi::abi_of(text, command.front()));
  static_cast<void>(mpi::has_cuda_device(text));
  const ucx::Resources resources = ucx::resources_in(std::string{text});
  require(resources.transports.empty() == resources.devices.empty(), "a transport has no device");
}

const Registration registration{{"libraries", run}};

}  // namespace
}  // namespace tutti::fuzz
