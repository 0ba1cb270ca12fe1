#include "core/validate/worker_pool.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/validate/worker.hpp"

namespace onedim {
namespace {

using namespace std::chrono_literals;

// A worker in the shell: answers every request with a clean report of its op, but for some ops it
// misbehaves.
PoolOptions shell_workers(int workers) {
  OpReport report;
  report.op = "NAME";
  const std::string answer = to_json(report).dump();
  const std::string script = R"sh(while IFS= read -r line; do
  name=$(printf %s "$line" | sed 's/.*"op":"\([^"]*\)".*/\1/')
  case $name in
    tell) printf '%s\n' '{"in_flight":"\"f64[4]\" in world 2: onedim validate tell --worlds 2"}'
          kill -SEGV $$ ;;
    crash) kill -SEGV $$ ;;
    leave) exit 7 ;;
    hang) sleep 60 ;;
    spin) while :; do :; done ;;
    starve) for i in 1 2 3 4 5 6 7 8; do sleep 0.05; j=0; while [ $j -lt 999 ]; do j=$((j+1)); done; done ;;
    babble) echo 'this is no report'; continue ;;
  esac
  printf '%s\n' ')sh" + answer +
                             R"sh(' | sed "s/NAME/$name/"
done)sh";
  return {{"/bin/sh", "-c", script}, workers, 60s, {}};
}

std::vector<OpRequest> requests_of(const std::vector<std::string>& names) {
  std::vector<OpRequest> requests;
  for (const std::string& name : names) requests.push_back({name, std::nullopt, {}});
  return requests;
}

TEST(WorkerPool, ReportsComeInTheOrderOfTheRequests) {
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("op" + std::to_string(i));
  for (const int workers : {1, 3, 20}) {
    const auto reports = run_in_workers(requests_of(names), shell_workers(workers));
    ASSERT_TRUE(reports.ok()) << reports.status();
    for (size_t i = 0; i < names.size(); ++i) EXPECT_EQ((*reports)[i].op, names[i]);
  }
}

TEST(WorkerPool, ADeadWorkerCostsItsOpOnly) {
  const auto reports =
      run_in_workers(requests_of({"a", "crash", "b", "leave", "c"}), shell_workers(1));
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_TRUE((*reports)[1].crashed);
  EXPECT_EQ((*reports)[1].errors[0],
            "the process that judged it was ended by signal 11 (Segmentation fault)");
  EXPECT_TRUE((*reports)[3].crashed);
  EXPECT_EQ((*reports)[3].errors[0], "the process that judged it ended with code 7");
  for (const int i : {0, 2, 4}) EXPECT_TRUE((*reports)[i].is_clean()) << i;
}

TEST(WorkerPool, TheCallInFlightIsTold) {
  const auto reports = run_in_workers(requests_of({"a", "tell", "b"}), shell_workers(1));
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ((*reports)[1].errors[0],
            "the process that judged it was ended by signal 11 (Segmentation fault), at \"f64[4]\" "
            "in world 2: onedim validate tell --worlds 2");
  EXPECT_TRUE((*reports)[0].is_clean() && (*reports)[2].is_clean());
}

TEST(WorkerPool, AHangEndsAtTheDeadline) {
  PoolOptions options = shell_workers(2);
  options.deadline = 300ms;
  const auto reports = run_in_workers(requests_of({"hang", "a", "b"}), options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_TRUE((*reports)[0].crashed);
  EXPECT_EQ((*reports)[0].errors[0], "the process that judged it ran past the deadline of 0.3 s");
  EXPECT_TRUE((*reports)[1].is_clean() && (*reports)[2].is_clean());
}

TEST(WorkerPool, WhatComputesEndsWithTheDeadlineOfComputing) {
  PoolOptions options = shell_workers(2);
  options.deadline = 200ms;
  const auto reports = run_in_workers(requests_of({"spin", "starve"}), options);
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ((*reports)[0].errors[0], "the process that judged it ran past the deadline of 0.2 s");
  EXPECT_TRUE((*reports)[1].is_clean()) << "it got little of a processor, and went on";
}

TEST(WorkerPool, NonsenseIsACrash) {
  const auto reports = run_in_workers(requests_of({"babble", "a"}), shell_workers(1));
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_TRUE((*reports)[0].crashed);
  EXPECT_EQ((*reports)[0].errors[0],
            "the process that judged it gave an answer that cannot be read: it is not JSON");
  EXPECT_TRUE((*reports)[1].is_clean());
}

TEST(WorkerPool, WorkersThatCannotStartAreAnError) {
  EXPECT_FALSE(run_in_workers(requests_of({"a"}), {{"/no/such/program"}, 1, 60s, {}}).ok());
  EXPECT_FALSE(
      run_in_workers(requests_of({"a", "b", "c", "d", "e"}), {{"/bin/false"}, 1, 60s, {}}).ok());
}

TEST(WorkerPool, ProgressIsTold) {
  PoolOptions options = shell_workers(1);
  std::vector<std::string> begun;
  options.progress = [&](size_t, size_t total, const std::string& op) {
    EXPECT_EQ(total, 2u);
    begun.push_back(op);
  };
  ASSERT_TRUE(run_in_workers(requests_of({"a", "b"}), options).ok());
  EXPECT_EQ(begun, (std::vector<std::string>{"a", "b"}));
}

TEST(WorkerPool, NothingToDoIsDone) { EXPECT_TRUE(run_in_workers({}, shell_workers(1))->empty()); }

TEST(Worker, LinesAreReadBack) {
  const OpRequest request{"add.Tensor", "f64[4]; f64[4]; alpha=2", {"P(sum) | P(sum), P(sum)"}};
  const Result<OpRequest> copy = parse_request_line(request_line(request));
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->op, request.op);
  EXPECT_EQ(copy->call, request.call);
  EXPECT_EQ(copy->claims, request.claims);
  EXPECT_FALSE(copy->strategy.has_value());
  OpRequest strategy{"mm", "f64[4,4]; f64[4,4]", {}, {}};
  strategy.strategy = StrategyText{"a=2,b=2", {"R | R, R", "P(sum) | S(1), S(0)"}, "b,a"};
  EXPECT_EQ(parse_request_line(request_line(strategy))->strategy, strategy.strategy);
  ValidateOptions options;
  options.strategies = 30;
  options.meshes = {*Mesh::parse("x=2,y=4")};
  options.cases.worlds = {2, 5};
  options.cases.seed = 9;
  options.mutate = true;
  EXPECT_EQ(options_text(*parse_options_text(options_text(options))), options_text(options));
  EXPECT_EQ(parse_options_text(options_text(options))->meshes, options.meshes);
  EXPECT_EQ(parse_options_text(options_text(options))->strategies, 30);
  EXPECT_FALSE(parse_request_line("{").ok());
  EXPECT_FALSE(parse_options_text("[]").ok());
}

}  // namespace
}  // namespace onedim
