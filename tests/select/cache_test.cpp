// The cache of decisions: what shares one and what does not, threads, memory.

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "allocation_count.hpp"
#include "core/select/selector.hpp"
#include "joint_pack.hpp"
#include "select_case.hpp"
#include "tests/redistribute/test_model.hpp"
#include "tests/shipped_registry.hpp"

namespace onedim {
namespace {

ClusterCompute test_compute() {
  ClusterCompute compute{1, 0.5, 1, {}};
  compute.peak_tflops.fill(1);
  return compute;
}

struct Cache {
  explicit Cache(const char* text, size_t capacity = Selector::kCapacity,
                 const Registry& packs = shipped_registry())
      : registry(packs),
        mesh(*Mesh::parse(text)),
        planner(test_model(text)),
        selector(packs, planner, capacity, Roofline(test_compute())) {}

  SelectCase make(std::string_view op, std::string_view call,
                  const std::vector<std::string>& layouts) const {
    return make_case(registry, op, call, mesh, layouts);
  }
  std::shared_ptr<const Decision> ask(SelectCase& c) {
    const auto decision = selector.select(c.request());
    EXPECT_TRUE(decision.ok()) << c.text(mesh) << ": " << decision.status();
    return decision.value_or(nullptr);
  }
  // Both are decided, each as without a cache, and both are kept.
  void expect_apart(SelectCase a, SelectCase b);
  // The second is looked up, by the whole key or by what it means.
  void expect_shared(SelectCase a, SelectCase b);

  const Registry& registry;
  Mesh mesh;
  Planner planner;
  Selector selector;
};

void expect_same(const Decision& a, const Decision& b) {
  EXPECT_EQ(a.rules, b.rules);
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  EXPECT_EQ(a.cost_us, b.cost_us);
  EXPECT_EQ(a.compute_us, b.compute_us);
}

void Cache::expect_apart(SelectCase a, SelectCase b) {
  SCOPED_TRACE(a.text(mesh) + " and " + b.text(mesh));
  selector.clear();
  const SelectCounters before = selector.counters();
  const auto first = ask(a), second = ask(b);
  EXPECT_EQ(selector.counters().misses, before.misses + 2);
  EXPECT_EQ(ask(a), first);
  EXPECT_EQ(ask(b), second);
  EXPECT_EQ(selector.counters().hits, before.hits + 2);
  expect_same(*first, **selector.decide(a.request()));
  expect_same(*second, **selector.decide(b.request()));
}

void Cache::expect_shared(SelectCase a, SelectCase b) {
  SCOPED_TRACE(a.text(mesh) + " and " + b.text(mesh));
  selector.clear();
  const SelectCounters before = selector.counters();
  const auto first = ask(a);
  EXPECT_EQ(ask(b), first);
  EXPECT_EQ(selector.counters().misses, before.misses + 1);
  expect_same(*first, **selector.decide(b.request()));
}

TEST(DecisionCache, AttributesThatChangeRulesOrShapesKeepApart) {
  Cache cache("a=2,b=2");
  const std::vector<std::string> layouts = {"S(0),R"};
  const auto sum = [&](const char* call) { return cache.make("sum.dim_IntList", call, layouts); };
  cache.expect_apart(sum("f32[4,6]; dim=[0]"), sum("f32[4,6]; dim=[1]"));
  cache.expect_apart(sum("f32[4,6]; dim=[0]"), sum("f32[4,6]; dim=[0,1]"));
  cache.expect_apart(sum("f32[4,6]; dim=[0]"), sum("f32[4,6]; dim=[0]; keepdim=true"));
  cache.expect_apart(sum("f32[4,6]; dim=[0]"), sum("f32[4,6]; dim=[0]; dtype=f64"));
  // The sign of alpha changes the rules.
  const std::vector<std::string> two = {"P(max),R", "R,R"};
  cache.expect_apart(cache.make("add.Tensor", "f32[8]; f32[8]; alpha=2", two),
                     cache.make("add.Tensor", "f32[8]; f32[8]; alpha=-2", two));
}

TEST(DecisionCache, TensorsAndTheirLayoutsKeepApart) {
  Cache cache("a=2,b=2");
  const auto relu = [&](const char* call, const char* layout) {
    return cache.make("relu", call, {layout});
  };
  const SelectCase plain = relu("f32[8,8]", "S(0),S(0)");
  cache.expect_apart(plain, relu("f64[8,8]", "S(0),S(0)"));
  cache.expect_apart(plain, relu("f32[16,8]", "S(0),S(0)"));
  cache.expect_apart(plain, relu("f32[8,8,1]", "S(0),S(0)"));
  cache.expect_apart(plain, relu("f32[8,8]", "S(0)[b,a],S(0)"));
  cache.expect_apart(plain, relu("f32[8,8]", "S(0),S(1)"));
  cache.expect_apart(plain, relu("f32[8,8]", "SS(0,2),S(0)"));
  cache.expect_apart(relu("f32[8,8]", "SS(0,2),S(0)"), relu("f32[8,8]", "SS(0,4),S(0)"));
  cache.expect_apart(relu("f32[8,8]", "P(sum),R"), relu("f32[8,8]", "P(avg),R"));
  cache.expect_apart(relu("f32[8,8]", "P(max),R"), relu("f32[8,8]", "R,P(max)"));
  SelectCase transposed = plain;
  transposed.call.call.inputs[0]->strides = {1, 8};
  cache.expect_apart(plain, transposed);
  cache.expect_apart(cache.make("clamp.Tensor", "f32[8]; -; f32[8]", {"S(0),R", "R,R"}),
                     cache.make("clamp.Tensor", "f32[8]; f32[8]; -", {"S(0),R", "R,R"}));
  // Sizes that take more than half a word, and that would swap their halves.
  cache.expect_apart(relu("i8[8589934592,2]", "R,R"), relu("i8[2,8589934592]", "R,R"));
}

TEST(DecisionCache, OptionsKeepApart) {
  Cache cache("a=2,b=2");
  const SelectCase plain = cache.make("mm", "f32[8,8]; f32[8,8]", {"S(0),R", "R,S(1)"});
  const auto with = [&](const std::function<void(SelectOptions&)>& change) {
    SelectCase changed = plain;
    change(changed.options);
    return changed;
  };
  cache.expect_apart(plain, with([](SelectOptions& o) { o.policy = Policy::kEven; }));
  cache.expect_apart(plain, with([](SelectOptions& o) { o.memory_bytes = 1 << 20; }));
  cache.expect_apart(with([](SelectOptions& o) { o.memory_bytes = 1 << 21; }),
                     with([](SelectOptions& o) { o.memory_bytes = 1 << 20; }));
  cache.expect_apart(plain, with([](SelectOptions& o) { o.allow_shard_to_partial = true; }));
  cache.expect_apart(plain, with([](SelectOptions& o) { o.forbid_moves = true; }));
  cache.expect_apart(plain, with([](SelectOptions& o) { o.with_compute = true; }));
}

TEST(DecisionCache, ExactRulesKeepApartWhereSomeHoldOnlyToRounding) {
  Cache cache("a=2", Selector::kCapacity, joint_registry());
  const SelectCase cast = cache.make("joint.cast", "f64[8]", {"P(sum)"});
  SelectCase exact = cast;
  exact.options.exact_rules = true;
  cache.expect_apart(cast, exact);
}

TEST(DecisionCache, RequiredOutputsKeepApart) {
  Cache cache("a=2,b=2");
  const SelectCase plain = cache.make("mm", "f32[8,8]; f32[8,8]", {"R,R", "R,R"});
  const auto requiring = [&](const char* layout) {
    SelectCase c = plain;
    c.required = {*parse_layout(layout, cache.mesh, 2)};
    return c;
  };
  cache.expect_apart(plain, requiring("R,R"));
  cache.expect_apart(requiring("R,S(0)"), requiring("S(0),R"));
  cache.expect_apart(requiring("S(0),S(0)"), requiring("S(0)[b,a],S(0)"));
  SelectCase any = plain;
  any.required = {std::nullopt};
  cache.expect_shared(plain, any);
}

TEST(DecisionCache, MeshesHaveSelectorsOfTheirOwn) {
  Cache two("a=2"), four("a=4");
  SelectCase c = two.make("relu", "f32[8]", {"P(sum)"});
  const double two_us = two.ask(c)->cost_us;
  EXPECT_NE(four.ask(c)->cost_us, two_us);
  EXPECT_EQ(four.selector.counters().misses, 1);
}

TEST(DecisionCache, WhatChangesNothingIsShared) {
  Cache cache("a=2,b=2");
  const auto add = [&](const char* call) {
    return cache.make("add.Tensor", call, {"P(max),R", "R,R"});
  };
  cache.expect_shared(add("f32[8]; f32[8]; alpha=2"), add("f32[8]; f32[8]; alpha=3"));
  EXPECT_EQ(cache.selector.counters().shared_hits, 1);
  cache.expect_shared(cache.make("add.Scalar", "f32[8]; other=1", {"R,S(0)"}),
                      cache.make("add.Scalar", "f32[8]; other=2.5", {"R,S(0)"}));
  // None of its rules holds only to rounding.
  SelectCase exact = add("f32[8]; f32[8]");
  exact.options.exact_rules = true;
  cache.expect_shared(add("f32[8]; f32[8]"), exact);
  SelectCase again = add("f32[8]; f32[8]; alpha=2");
  again.call.call.seed = 7;
  again.call.call.call_id = 8;
  const int64_t hits = cache.selector.counters().hits;
  cache.expect_shared(add("f32[8]; f32[8]; alpha=2"), again);
  EXPECT_EQ(cache.selector.counters().hits, hits + 1);
}

TEST(DecisionCache, RefusalsAreNotKept) {
  Cache cache("a=2");
  SelectCase c = cache.make("mm", "f32[8,8]; f32[8,8]", {"S(0)", "S(0)"});
  c.options.forbid_moves = true;
  EXPECT_FALSE(cache.selector.select(c.request()).ok());
  EXPECT_FALSE(cache.selector.select(c.request()).ok());
  EXPECT_EQ(cache.selector.counters().hits, 0);
  EXPECT_EQ(cache.selector.counters().misses, 2);
}

TEST(DecisionCache, ForgetsWhenFull) {
  Cache cache("a=2", 32);
  for (int length = 2; length < 200; ++length) {
    SelectCase c = cache.make("relu", fmt::format("f32[{}]", length), {"R"});
    cache.ask(c);
  }
  // Of both caches together at most 2 x 32 are kept; what is forgotten is counted.
  const SelectCounters counters = cache.selector.counters();
  EXPECT_EQ(counters.misses, 198);
  EXPECT_GE(counters.evictions, 2 * (198 - 32));
  EXPECT_LE(counters.evictions, 2 * 198);
}

TEST(DecisionCache, ServesManyThreads) {
  constexpr int kThreads = 8, kRounds = 400, kCases = 48;
  Cache cache("a=2,b=2", 32);  // so that decisions are forgotten and made again meanwhile
  std::vector<SelectCase> cases;
  std::vector<std::shared_ptr<const Decision>> expected;
  for (int i = 0; i < kCases; ++i) {
    SelectCase& c = cases.emplace_back(
        cache.make("mm", fmt::format("f32[{},8]; f32[8,16]", 8 + 4 * i), {"S(0),R", "R,S(0)"}));
    expected.push_back(*cache.selector.decide(c.request()));
  }
  std::vector<int64_t> wrong(kThreads, 0);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<SelectCase> own = cases;
      for (int round = 0; round < kRounds; ++round) {
        const int i = (round * (thread + 1) + thread) % kCases;
        const auto decision = cache.selector.select(own[i].request());
        const bool is_right = decision.ok() && (*decision)->rules == expected[i]->rules &&
                              (*decision)->inputs == expected[i]->inputs &&
                              (*decision)->cost_us == expected[i]->cost_us;
        wrong[thread] += !is_right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int64_t>(kThreads, 0));
  const SelectCounters counters = cache.selector.counters();
  EXPECT_EQ(counters.hits + counters.shared_hits + counters.misses, kThreads * kRounds);
  EXPECT_GT(counters.hits, 0);
  EXPECT_GT(counters.evictions, 0);
}

// After the first look-up of a thread, whose key may have to grow.
void expect_no_allocation(Cache& cache, SelectCase c) {
  const SelectRequest request = c.request();
  ASSERT_TRUE(cache.selector.select(request).ok()) << c.text(cache.mesh);
  ASSERT_TRUE(cache.selector.select(request).ok());
  const int64_t hits = cache.selector.counters().hits, before = allocation_count();
  for (int i = 0; i < 10; ++i) {
    if (!cache.selector.select(request).ok()) break;
  }
  EXPECT_EQ(allocation_count(), before) << c.text(cache.mesh);
  EXPECT_EQ(cache.selector.counters().hits, hits + 10);
}

TEST(DecisionCache, HitsAllocateNothing) {
  if (!kCountsAllocations) GTEST_SKIP() << "operator new is AddressSanitizer's, which counts not";
  const int64_t before = allocation_count();
  const auto made = std::make_unique<int>(1);
  ASSERT_EQ(allocation_count(), before + 1) << *made;
  Cache cache("a=2,b=2,c=2");
  expect_no_allocation(cache, cache.make("relu", "f32[8]", {"S(0),R,R"}));
  expect_no_allocation(cache, cache.make("addmm", "f32[8]; f32[8,16]; f32[16,8]",
                                         {"R,R,S(0)", "S(0)[b,a],S(0),R", "P(sum),R,S(1)"}));
  expect_no_allocation(cache, cache.make("sum.dim_IntList", "f32[2,2,2,2]; dim=[0,1,2]; dtype=f64",
                                         {"S(0),S(1),S(2)"}));
  expect_no_allocation(cache, cache.make("relu", "f32[16,8]", {"SS(0,2),P(avg),S(1)"}));
  SelectCase partial = cache.make("relu", "f64[16,8]", {"P(custom.max_sumexp),R,R"});
  partial.states = {{*parse_meta("f64[16,8]"), *parse_meta("f64[16,8]")}};
  expect_no_allocation(cache, partial);
  expect_no_allocation(cache, cache.make("einsum", "[f64[4,2]; f64[2,4]]; equation=\"ij,jk->ik\"",
                                         {"S(0),R,R", "R,R,R"}));
  SelectCase required = cache.make("mm", "f32[8,8]; f32[8,8]", {"R,R,R", "R,R,R"});
  required.required = {*parse_layout("S(0),R,R", cache.mesh, 2)};
  required.options.memory_bytes = 1 << 20;
  expect_no_allocation(cache, required);
}

}  // namespace
}  // namespace onedim
