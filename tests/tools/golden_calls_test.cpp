#include "tools/golden_calls.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

namespace onedim {
namespace {

// A file of the test's own, gone when it ends.
class TextFile {
 public:
  explicit TextFile(const std::string& text)
      : path_(testing::TempDir() + "calls_" + std::to_string(getpid())) {
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<std::vector<GoldenCall>> read(const std::string& text) {
  const TextFile file(text);
  return read_golden_calls(file.path());
}

// One call whose argument `x` is `value`.
Result<std::vector<GoldenCall>> read_argument(const std::string& value) {
  return read(R"({"calls":[{"op":"f","arguments":{"x":)" + value + R"(},"outputs":[]}]})");
}

std::string fault_of(const std::string& value) {
  const auto calls = read_argument(value);
  return calls.ok() ? "" : std::string(message_of(calls.status()));
}

TEST(GoldenCalls, ReadsScalarsListsAndDtypes) {
  const auto calls = read_argument(R"([1,2.5,true,null,"a",{"dtype":"bf16"}])");
  ASSERT_TRUE(calls.ok()) << calls.status();
  const Value& value = std::get<Value>((*calls)[0].arguments[0].second.data);
  const ValueList expected = {Value{int64_t{1}},       Value{2.5},         Value{true}, Value{},
                              Value{std::string("a")}, Value{DType::kBF16}};
  EXPECT_EQ(value, Value{expected});
}

TEST(GoldenCalls, ReadsTensorsOfEveryClass) {
  const auto calls = read_argument(
      R"([{"tensor":{"dtype":"f32","shape":[2,2],"data":[1,"nan","-inf",-0.0]}},null,)"
      R"({"tensor":{"dtype":"c64","shape":[1],"data":[[1.5,"inf"]]}},)"
      R"({"tensor":{"dtype":"bool","shape":[2],"data":[true,false]}},)"
      R"({"tensor":{"dtype":"i64","shape":[],"data":[-9223372036854775808]}},)"
      R"({"tensor":{"dtype":"f64","shape":[0,3],"data":[]}}])");
  ASSERT_TRUE(calls.ok()) << calls.status();
  const GoldenList& list = std::get<GoldenList>((*calls)[0].arguments[0].second.data);
  ASSERT_EQ(list.size(), 6u);
  const Tensor& real = std::get<Tensor>(list[0].data);
  EXPECT_EQ(real.shape(), (Dims{2, 2}));
  EXPECT_TRUE(std::isnan(load_real(DType::kF32, real.element(1))));
  EXPECT_EQ(load_real(DType::kF32, real.element(2)), -INFINITY);
  EXPECT_TRUE(std::signbit(load_real(DType::kF32, real.element(3))));
  EXPECT_TRUE(std::get<Value>(list[1].data).is_none());
  EXPECT_EQ(load_complex(DType::kC64, std::get<Tensor>(list[2].data).data()).imag(), INFINITY);
  EXPECT_EQ(load_integer(DType::kBool, std::get<Tensor>(list[3].data).data()), 1);
  EXPECT_EQ(load_integer(DType::kI64, std::get<Tensor>(list[4].data).data()), INT64_MIN);
  EXPECT_EQ(std::get<Tensor>(list[5].data).shape(), (Dims{0, 3}));
}

TEST(GoldenCalls, FaultsNameTheirPlace) {
  const std::string fault = fault_of(R"({"tensor":{"dtype":"f32","shape":[2],"data":[1]}})");
  EXPECT_NE(fault.find("calls[0]: arguments.x: \"data\" has 1 elements; the shape [2] needs 2"),
            std::string::npos)
      << fault;
}

TEST(GoldenCalls, RefusesMalformedValues) {
  EXPECT_NE(fault_of(R"({"tensor":{"dtype":"f33","shape":[],"data":[1]}})"), "");
  EXPECT_NE(fault_of(R"({"tensor":{"dtype":"f32","shape":[-1],"data":[]}})"), "");
  EXPECT_NE(fault_of(R"({"tensor":{"dtype":"f32","shape":[4294967296,4294967296],"data":[]}})"),
            "");
  EXPECT_NE(fault_of(R"({"tensor":{"dtype":"i64","shape":[1],"data":[0.5]}})"), "");
  EXPECT_NE(fault_of(R"({"tensor":{"dtype":"i64","shape":[1],"data":[true]}})"), "");
  EXPECT_NE(fault_of(R"({"tensor":{"dtype":"f32","shape":[1],"data":["infinity"]}})"), "");
  EXPECT_NE(fault_of(R"({"tensor":{"dtype":"c64","shape":[1],"data":[[1]]}})"), "");
  EXPECT_NE(fault_of(R"({"tensor":{"shape":[1],"data":[1]}})"), "");
  EXPECT_NE(fault_of(R"({"tensors":1})"), "");
  EXPECT_NE(fault_of("18446744073709551615"), "");
}

TEST(GoldenCalls, RefusesFilesThatAreSomethingElse) {
  for (const char* text :
       {"", "garbage", "[]", "{}", R"({"calls":1})", R"({"calls":[{}]})", R"({"calls":[1]})",
        R"({"format":"onedim.graph/1","calls":[]})", R"({"calls":[{"op":"f"}]})"}) {
    EXPECT_FALSE(read(text).ok()) << text;
  }
  EXPECT_FALSE(read_golden_calls("/no/such/file").ok());
  EXPECT_FALSE(read_golden_calls("/").ok());
}

}  // namespace
}  // namespace onedim
