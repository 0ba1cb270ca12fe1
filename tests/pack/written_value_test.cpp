#include "core/pack/written_value.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace onedim {
namespace {

Value read(std::string_view type, Value value) {
  const Result<Schema> schema = parse_schema(fmt::format("f({} x) -> ()", type));
  EXPECT_TRUE(schema.ok()) << schema.status();
  return read_written(schema->arguments[0], std::move(value));
}
Value text(std::string_view word) { return Value{std::string(word)}; }

TEST(WrittenValue, NumbersThatJsonCannotWrite) {
  EXPECT_EQ(read("float", text("inf")), Value{INFINITY});
  EXPECT_EQ(read("Scalar", text("-inf")), Value{-INFINITY});
  EXPECT_TRUE(std::isnan(*read("Tensor", text("nan")).get_if<double>()));
  EXPECT_EQ(read("Scalar", Value{ValueList{Value{1.5}, text("inf")}}),
            (Value{std::complex<double>(1.5, INFINITY)}));
  EXPECT_EQ(read("float[]", Value{ValueList{text("inf"), Value{int64_t{2}}}}),
            (Value{ValueList{Value{INFINITY}, Value{int64_t{2}}}}));
}

TEST(WrittenValue, DTypesByName) {
  EXPECT_EQ(read("ScalarType", text("bf16")), Value{DType::kBF16});
  EXPECT_EQ(read("ScalarType?", Value{}), Value{});
}

TEST(WrittenValue, WhatIsNotMeantSoStays) {
  EXPECT_EQ(read("str", text("inf")), text("inf"));
  EXPECT_EQ(read("str", text("bf16")), text("bf16"));
  EXPECT_EQ(read("ScalarType", text("bf61")), text("bf61"));
  EXPECT_EQ(read("float", text("infinite")), text("infinite"));
  EXPECT_EQ(read("int[]", Value{ValueList{Value{int64_t{1}}, Value{int64_t{2}}}}),
            (Value{ValueList{Value{int64_t{1}}, Value{int64_t{2}}}}));
  EXPECT_EQ(read("Scalar", Value{ValueList{Value{1.5}}}), (Value{ValueList{Value{1.5}}}));
}

}  // namespace
}  // namespace onedim
