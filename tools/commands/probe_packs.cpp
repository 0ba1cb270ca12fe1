#include "tools/commands/commands.hpp"

namespace onedim {

void add_probe_packs(CLI::App& app, Session& session) {
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command =
      app.add_subcommand("probe-packs", "Open pack files and report on each (for the loader)");
  command->group("");
  command->add_option("file", *files)->required();
  command->callback([files, &session] {
    session.choose(
        [files]() -> Result<ExitCode> { return static_cast<ExitCode>(probe_main(*files)); });
  });
}

}  // namespace onedim
