#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/base/shell_text.hpp"
#include "tools/commands/commands.hpp"
#include "tools/pack_template.hpp"

namespace onedim {
namespace {

struct NewPackOptions {
  std::string name;
  std::string parent = ".";
};

std::string next_steps(const NewPack& pack, const std::string& name) {
  const std::string folder = shell_word(pack.folder.string());
  const std::string build = shell_word((pack.folder / "build").string());
  return fmt::format(
      "wrote {}: {}\n"
      "build and prove it:\n"
      "  cmake -S {} -B {} && cmake --build {}\n"
      "  onedim -p {} validate '{}.*'\n",
      folder, fmt::join(pack.files, " "), folder, build, build, build, name);
}

Result<ExitCode> run_new_pack(Session& session, const NewPackOptions& options) {
  const Result<NewPack> pack = write_new_pack(options.name, options.parent);
  if (!pack.ok()) return pack.status();
  if (session.flags.json) {
    session.write_json(
        {{"name", options.name}, {"path", pack->folder.string()}, {"files", pack->files}});
  } else {
    session.write(next_steps(*pack, options.name));
  }
  return ExitCode::kFine;
}

}  // namespace

void add_new_pack(CLI::App& app, Session& session) {
  auto options = std::make_shared<NewPackOptions>();
  CLI::App* command =
      app.add_subcommand("new-pack", "Write a pack that builds and validates as it stands");
  command->add_option("name", options->name, "Name of the pack, such as my_ops")
      ->type_name("NAME")
      ->required();
  command->add_option("--in", options->parent, "Folder to write it in (default: the current one)")
      ->type_name("DIR");
  command->footer("Example: onedim new-pack my_ops");
  command->callback([options, &session] {
    session.choose([options, &session] { return run_new_pack(session, *options); });
  });
}

}  // namespace onedim
