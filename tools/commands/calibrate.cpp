#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/input_file.hpp"
#include "core/base/output_file.hpp"
#include "core/base/text.hpp"
#include "core/cost/calibration.hpp"
#include "tools/byte_size.hpp"
#include "tools/commands/commands.hpp"
#include "tools/flag_values.hpp"
#include "tools/mpi_measure/mpirun.hpp"
#include "tools/text_table.hpp"
#include "tools/trace_measurements.hpp"

namespace onedim {
namespace {

struct CalibrateOptions {
  std::vector<std::string> files;
  std::string base;  // empty: mpi where MPI is measured, else alpha_beta
  std::string collective;
  std::string nodes, ranks_per_node;  // empty: as the files say
  bool in_place = false;
  std::string out;
  std::string mpi_ranks;  // empty: MPI is not measured
  std::string mpirun = "mpirun";
  std::string largest = "16MiB";
  std::string deadline = "300";
  bool has_mpi_flags = false;  // that mean nothing without --mpi
  bool measures_mpi() const { return !mpi_ranks.empty(); }
  bool says_what_files_do_not() const {
    return !collective.empty() || !nodes.empty() || !ranks_per_node.empty();
  }
};

constexpr uint64_t kMostMpiRanks = 4096;
constexpr int64_t kMostMpiBytes = int64_t{1} << 32;

Result<MeasurementOptions> measurement_options(const CalibrateOptions& options,
                                               const Cluster& base) {
  constexpr uint64_t kMostRanks = 1 << 20;  // of a mesh
  MeasurementOptions result;
  result.node_capacity = base.ranks_per_node;
  result.in_place = options.in_place;
  if (options.nodes.empty() != options.ranks_per_node.empty())
    return invalid_argument("--nodes and --ranks-per-node are given together or not at all");
  if (!options.nodes.empty()) {
    const Result<uint64_t> nodes = parse_whole("--nodes", options.nodes, 1, kMostRanks);
    if (!nodes.ok()) return nodes.status();
    const Result<uint64_t> ranks =
        parse_whole("--ranks-per-node", options.ranks_per_node, 1, kMostRanks / *nodes);
    if (!ranks.ok()) return ranks.status();
    result.nodes = static_cast<int64_t>(*nodes);
    result.ranks_per_node = static_cast<int64_t>(*ranks);
  }
  if (options.collective.empty()) return result;
  result.collective = find_collective(options.collective);
  if (result.collective) return result;
  std::vector<std::string> names;
  for (int i = 0; i < kCollectiveCount; ++i) {
    names.emplace_back(collective_name(static_cast<Collective>(i)));
  }
  return invalid_argument("--collective: unknown collective {}, expected one of {}{}",
                          quoted_excerpt(options.collective), fmt::join(names, " "),
                          did_you_mean(options.collective, names));
}

Result<std::vector<Measurement>> read_measurements(const CalibrateOptions& options,
                                                   const Cluster& base) {
  const Result<MeasurementOptions> how = measurement_options(options, base);
  if (!how.ok()) return how.status();
  std::vector<Measurement> all;
  for (const std::string& file : options.files) {
    const Result<std::string> text = read_text_file(file);
    if (!text.ok()) return text.status();
    const Result<std::vector<Measurement>> some =
        is_trace(*text) ? parse_trace(*text, file, *how) : parse_measurements(*text, file, *how);
    if (!some.ok()) return some.status();
    all.insert(all.end(), some->begin(), some->end());
  }
  return all;
}

Result<MpirunOptions> mpirun_options(const CalibrateOptions& options) {
  const Result<uint64_t> ranks = parse_whole("--mpi", options.mpi_ranks, 2, kMostMpiRanks);
  if (!ranks.ok()) return ranks.status();
  const Result<double> deadline = parse_seconds("--deadline", options.deadline);
  if (!deadline.ok()) return deadline.status();
  const Result<int64_t> largest = parse_byte_size(options.largest);
  if (!largest.ok()) return annotate(largest.status(), "--largest");
  if (*largest < 1024 || *largest > kMostMpiBytes)
    return invalid_argument("--largest: {} bytes; expected 1 KiB to 4 GiB", *largest);
  MpirunOptions mpirun;
  mpirun.ranks = static_cast<int64_t>(*ranks);
  mpirun.mpirun = options.mpirun;
  mpirun.program = std::filesystem::path(own_executable()).replace_filename("onedim-mpi-measure");
  mpirun.largest_bytes = *largest;
  mpirun.deadline =
      std::chrono::ceil<std::chrono::seconds>(std::chrono::duration<double>(*deadline));
  return mpirun;
}

// What MPI measures here says all about itself: options for files do not touch it.
Result<std::vector<Measurement>> measure_mpi(Session& session, const CalibrateOptions& options) {
  const Result<MpirunOptions> mpirun = mpirun_options(options);
  if (!mpirun.ok()) return mpirun.status();
  session.progress("mpirun starts");
  const Result<std::string> text = measure_by_mpirun(*mpirun, [&](std::string_view line) {
    constexpr std::string_view kStart = "# Collective test starting: ";
    if (line.starts_with(kStart))
      session.progress(fmt::format("measuring: {}", line.substr(kStart.size())));
  });
  if (!text.ok()) return text.status();
  MeasurementOptions how;
  how.in_place = options.in_place;
  Result<std::vector<Measurement>> measured = parse_measurements(*text, "onedim-mpi-measure", how);
  if (measured.ok()) return measured;
  return absl::UnavailableError(measured.status().message());
}

std::string describe(const CalibrateOptions& options, const Cluster& base) {
  std::vector<std::string> names;
  if (options.measures_mpi()) names.push_back(fmt::format("{} ranks of MPI", options.mpi_ranks));
  for (const std::string& file : options.files) {
    names.push_back(std::filesystem::path(file).filename().string());
  }
  return fmt::format("{} fitted to {}", base.name, fmt::join(names, ", "));
}

struct ErrorSummary {
  double mean = 0;
  double worst = 0;
};

ErrorSummary summarize(const Calibration& fitted, double (CalibrationRow::*error)() const) {
  ErrorSummary summary;
  for (const CalibrationRow& row : fitted.rows) {
    const double size = std::abs((row.*error)());
    summary.mean += size / static_cast<double>(fitted.rows.size());
    summary.worst = std::max(summary.worst, size);
  }
  return summary;
}

std::string percent(double share) {
  // A rounding has no sign worth showing.
  return std::abs(share) < 0.0005 ? "0.0%" : fmt::format("{:+.1f}%", 100 * share);
}

std::string rows_text(const Calibration& fitted) {
  std::vector<TextRow> table = {
      {"collective", "nodes", "ranks a node", "bytes", "us", "links", "error", "model", "error"}};
  for (const CalibrationRow& row : fitted.rows) {
    const Measurement& measured = row.measured;
    table.push_back({std::string(collective_name(measured.collective)),
                     std::to_string(measured.group.nodes),
                     std::to_string(measured.group.ranks_per_node), std::to_string(measured.bytes),
                     fmt::format("{:.2f}", measured.us), fmt::format("{:.2f}", row.link_us),
                     percent(row.link_error()), fmt::format("{:.2f}", row.model_us),
                     percent(row.model_error())});
  }
  return format_table(table);
}

std::string summary_line(std::string_view name, const ErrorSummary& summary) {
  return fmt::format("{}: mean error {:.1f}%, worst {:.1f}%\n", name, 100 * summary.mean,
                     100 * summary.worst);
}

std::string link_line(std::string_view name, const ClusterLink& link) {
  return fmt::format("{}: {:.3f} us a step, {:.3f} GB/s\n", name, link.latency_us,
                     link.bandwidth_gbs);
}

std::string to_text(const Calibration& fitted) {
  std::string text = rows_text(fitted) + link_line("intra", fitted.cluster.intra) +
                     link_line("inter", fitted.cluster.inter) +
                     summary_line("links", summarize(fitted, &CalibrationRow::link_error)) +
                     summary_line("model", summarize(fitted, &CalibrationRow::model_error));
  for (const PropertyBreak& broken : fitted.breaks) {
    text += fmt::format("breaks {}: {} ({:.2f}x)\n", broken.property, broken.text, broken.factor);
  }
  return fitted.breaks.empty() ? text + "the measurements break no property\n" : text;
}

Json link_json(const ClusterLink& link) {
  return {{"latency_us", link.latency_us}, {"bandwidth_gbs", link.bandwidth_gbs}};
}

Json error_json(const ErrorSummary& summary) {
  return {{"mean", summary.mean}, {"worst", summary.worst}};
}

Json to_json(const Calibration& fitted, const std::string& toml) {
  Json rows = Json::array();
  for (const CalibrationRow& row : fitted.rows) {
    rows.push_back({{"collective", collective_name(row.measured.collective)},
                    {"nodes", row.measured.group.nodes},
                    {"ranks_per_node", row.measured.group.ranks_per_node},
                    {"bytes", row.measured.bytes},
                    {"us", row.measured.us},
                    {"link_us", row.link_us},
                    {"link_error", row.link_error()},
                    {"model_us", row.model_us},
                    {"model_error", row.model_error()}});
  }
  Json breaks = Json::array();
  for (const PropertyBreak& broken : fitted.breaks) {
    breaks.push_back(
        {{"property", broken.property}, {"text", broken.text}, {"factor", broken.factor}});
  }
  return {{"rows", std::move(rows)},
          {"intra", link_json(fitted.cluster.intra)},
          {"inter", link_json(fitted.cluster.inter)},
          {"errors",
           {{"links", error_json(summarize(fitted, &CalibrationRow::link_error))},
            {"model", error_json(summarize(fitted, &CalibrationRow::model_error))}}},
          {"breaks", std::move(breaks)},
          {"toml", toml}};
}

Result<ExitCode> run_calibrate(Session& session, const CalibrateOptions& options) {
  if (options.files.empty() && !options.measures_mpi())
    return invalid_argument("no files are given; name some, or measure MPI here with --mpi N");
  if (options.has_mpi_flags && !options.measures_mpi())
    return invalid_argument("--mpirun, --largest and --deadline mean nothing without --mpi N");
  if (options.files.empty() && options.says_what_files_do_not())
    return invalid_argument(
        "--collective, --nodes and --ranks-per-node say what a file does not; name the file");
  const std::string usual = options.measures_mpi() ? "mpi" : "alpha_beta";
  const Result<Cluster> base = load_cluster(options.base.empty() ? usual : options.base);
  if (!base.ok()) return base.status();
  Result<std::vector<Measurement>> measurements = read_measurements(options, *base);
  if (!measurements.ok()) return measurements.status();
  if (options.measures_mpi()) {
    const Result<std::vector<Measurement>> here = measure_mpi(session, options);
    if (!here.ok()) return here.status();
    measurements->insert(measurements->end(), here->begin(), here->end());
  }
  Result<Calibration> fitted = calibrate(*base, *std::move(measurements));
  if (!fitted.ok()) return fitted.status();
  fitted->cluster.description = describe(options, *base);
  const std::string toml = format_cluster(fitted->cluster);
  if (!options.out.empty()) {
    if (const Status status = write_text_file(options.out, toml); !status.ok())
      return annotate(status, "--out");
    session.note(fmt::format("wrote {}", options.out));
  }
  if (session.flags.json) {
    session.write_json(to_json(*fitted, toml));
  } else {
    session.write(to_text(*fitted));
  }
  return ExitCode::kFine;
}

void add_mpi_flags(CLI::App& command, CalibrateOptions& options) {
  command.add_option("--mpi", options.mpi_ranks, "Measure N ranks of MPI here")->type_name("N");
  command.add_option("--mpirun", options.mpirun, "What starts them: a name on the PATH, or a path")
      ->type_name("PROGRAM")
      ->capture_default_str();
  command.add_option("--largest", options.largest, "Largest message that they send")
      ->type_name("BYTES")
      ->capture_default_str();
  command.add_option("--deadline", options.deadline, "Seconds that they may take")
      ->type_name("SECONDS")
      ->capture_default_str();
}

bool has_mpi_flags(const CLI::App& command) {
  return command.count("--mpirun") + command.count("--largest") + command.count("--deadline") > 0;
}

}  // namespace

void add_calibrate(CLI::App& app, Session& session) {
  auto options = std::make_shared<CalibrateOptions>();
  CLI::App* command = app.add_subcommand("calibrate", "Fit a cluster file to measured collectives");
  command
      ->add_option(
          "files", options->files,
          "Output of nccl-tests, tables of collectives by size, or traces that run has written")
      ->type_name("FILE");
  add_mpi_flags(*command, *options);
  command
      ->add_option("--base", options->base,
                   "Cluster that gives all else (default: alpha_beta, with --mpi mpi)")
      ->type_name("CLUSTER");
  command
      ->add_option("--collective", options->collective,
                   "What nccl-tests measured, where the file does not say")
      ->type_name("NAME");
  command->add_option("--nodes", options->nodes, "Nodes, where the file does not say")
      ->type_name("N");
  command
      ->add_option("--ranks-per-node", options->ranks_per_node,
                   "Ranks on each node, where the file does not say")
      ->type_name("N");
  command->add_flag("--in-place", options->in_place, "Take the in-place times of nccl-tests");
  command->add_option("--out", options->out, "Write the cluster file here")->type_name("FILE");
  command->footer(
      "Errors compare prices with the measurements: of the fitted links alone, and of the\n"
      "cluster's default model, which takes measured curves and repairs them.\n"
      "Example: onedim calibrate all_reduce.txt all_gather.txt --base h100 --out mine.toml\n"
      "         onedim calibrate --mpi 2 --out mine.toml");
  command->callback([options, command, &session] {
    options->has_mpi_flags = has_mpi_flags(*command);
    session.choose([options, &session] { return run_calibrate(session, *options); });
  });
}

}  // namespace onedim
