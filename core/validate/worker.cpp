#include "core/validate/worker.hpp"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/validate/in_flight.hpp"

namespace onedim {
namespace {

using Json = nlohmann::ordered_json;

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) return false;
    text.remove_prefix(written);
  }
  return true;
}

// The next line of stdin without its end; false at the end of the stream.
bool read_line(std::string& line) {
  line.clear();
  for (int c = std::fgetc(stdin); c != EOF; c = std::fgetc(stdin)) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
  }
  return false;
}

OpReport answer(std::string_view line, const Registry& registry, const ValidateOptions& options) {
  OpReport report;
  Result<OpRequest> request = parse_request_line(line);
  if (!request.ok()) {
    report.errors.emplace_back(message_of(request.status()));
    return report;
  }
  const Op* op = registry.find(request->op);
  if (op != nullptr) return validate_op(*op, *request, registry, options);
  report.op = request->op;
  report.errors.push_back(
      fmt::format("no pack that this process loaded has the op {}", request->op));
  return report;
}

}  // namespace

std::string request_line(const OpRequest& request) {
  Json json{{"op", request.op}, {"claims", request.claims}};
  if (request.call) json["call"] = *request.call;
  if (request.strategy) {
    const StrategyText& strategy = *request.strategy;
    json["strategy"] = {
        {"mesh", strategy.mesh}, {"rules", strategy.rules}, {"order", strategy.order}};
  }
  return json.dump();
}

Result<OpRequest> parse_request_line(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    OpRequest request{json.at("op"), std::nullopt,
                      json.at("claims").get<std::vector<std::string>>(), std::nullopt};
    if (json.contains("call")) request.call = json.at("call").get<std::string>();
    if (json.contains("strategy")) {
      const Json& strategy = json.at("strategy");
      request.strategy =
          StrategyText{strategy.at("mesh"), strategy.at("rules").get<std::vector<std::string>>(),
                       strategy.at("order")};
    }
    return request;
  } catch (const nlohmann::json::exception& error) {
    return invalid_argument("not a request to a worker: {}", error.what());
  }
}

std::string options_text(const ValidateOptions& options) {
  const CaseOptions& cases = options.cases;
  std::vector<std::string> meshes;
  for (const Mesh& mesh : options.meshes) meshes.push_back(mesh.format());
  return Json{{"worlds", cases.worlds},
              {"seed", cases.seed},
              {"draws", cases.draws},
              {"redraw_sizes", cases.redraw_sizes},
              {"limit", cases.combination_limit},
              {"threads", options.threads},
              {"mutate", options.mutate},
              {"nonfinite", options.nonfinite},
              {"strategies", options.strategies},
              {"meshes", meshes}}
      .dump();
}

Result<ValidateOptions> parse_options_text(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    ValidateOptions options;
    options.cases.worlds = json.at("worlds").get<std::vector<int64_t>>();
    options.cases.seed = json.at("seed");
    options.cases.draws = json.at("draws");
    options.cases.redraw_sizes = json.at("redraw_sizes");
    options.cases.combination_limit = json.at("limit");
    options.threads = json.at("threads");
    options.mutate = json.at("mutate");
    options.nonfinite = json.at("nonfinite");
    options.strategies = json.at("strategies");
    options.meshes.clear();
    for (const Json& item : json.at("meshes")) {
      Result<Mesh> mesh = parse_judged_mesh(item.get<std::string>());
      if (!mesh.ok()) return mesh.status();
      options.meshes.push_back(*std::move(mesh));
    }
    return options;
  } catch (const nlohmann::json::exception& error) {
    return invalid_argument("not the options of a worker: {}", error.what());
  }
}

int worker_main(const Registry& registry, const ValidateOptions& options) {
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 3;
  report_in_flight(answers);
  for (std::string line; read_line(line);) {
    const OpReport report = answer(line, registry, options);
    const std::string text = to_json(report).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!write_all(answers, text + "\n")) return 3;
  }
  return 0;
}

}  // namespace onedim
