#include "core/tensor/value.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/random_seed.hpp"

namespace onedim {
namespace {

using Complex = std::complex<double>;

std::string error_of(std::string_view text) {
  return std::string(message_of(parse_value(text).status()));
}

template <typename T>
void expect(std::string_view text, const T& value) {
  const Result<Value> parsed = parse_value(text);
  ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status();
  ASSERT_NE(parsed->get_if<T>(), nullptr) << text << " is of another kind";
  EXPECT_EQ(*parsed->get_if<T>(), value) << text;
}

TEST(Value, Words) {
  EXPECT_TRUE(parse_value("null")->is_none());
  expect("true", true);
  expect("false", false);
  expect("bf16", DType::kBF16);
  expect("bool", DType::kBool);
  expect("mean", std::string("mean"));
  expect("torch.contiguous_format", std::string("torch.contiguous_format"));
  expect("ij->ji", std::string("ij->ji"));
  expect("info", std::string("info"));
  expect("j", std::string("j"));
}

TEST(Value, Integers) {
  expect("0", int64_t{0});
  expect(" -2 ", int64_t{-2});
  expect("-9223372036854775808", INT64_MIN);
  EXPECT_EQ(error_of("9223372036854775808"),
            "the integer does not fit in 64 bits, write it with a point for a float at column 1 of "
            "\"9223372036854775808\"");
}

TEST(Value, APointOrAnExponentMakesAFloat) {
  expect("2.0", 2.0);
  expect("1e3", 1000.0);
  expect("-1E-2", -0.01);
  expect("inf", std::numeric_limits<double>::infinity());
  expect("-inf", -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*parse_value("nan")->get_if<double>()));
  expect("1e-400", 0.0);
  expect("5e-324", 5e-324);
  EXPECT_EQ(error_of("1e400"),
            "the number does not fit in a float, expected at most 1.8e308 or inf at column 1 of "
            "\"1e400\"");
}

TEST(Value, Complex) {
  expect("1+2j", Complex(1, 2));
  expect("-1.5e-3-2.5E+2j", Complex(-1.5e-3, -250));
  expect("2j", Complex(0, 2));
  expect("-infj", Complex(0, -std::numeric_limits<double>::infinity()));
  expect("inf-1j", Complex(std::numeric_limits<double>::infinity(), -1));
}

TEST(Value, Strings) {
  expect("\"a b\"", std::string("a b"));
  expect("\"bf16\"", std::string("bf16"));
  expect("\"\"", std::string());
  expect(R"("ij,jk->ik")", std::string("ij,jk->ik"));
}

TEST(Value, Lists) {
  expect("[]", ValueList{});
  expect("[1, -2]", ValueList{Value{int64_t{1}}, Value{int64_t{-2}}});
  expect("[[1.5],[null,true],mean,\"]\"]",
         ValueList{Value{ValueList{Value{1.5}}}, Value{ValueList{Value{}, Value{true}}},
                   Value{std::string("mean")}, Value{std::string("]")}});
}

TEST(Value, WrongTextIsRefused) {
  EXPECT_EQ(error_of(""), "expected a value at column 1 of \"\"");
  EXPECT_EQ(error_of("[1,"), "expected a value at column 4 of \"[1,\"");
  EXPECT_EQ(error_of("[1"), "expected \",\" or \"]\" in a list at column 3 of \"[1\"");
  EXPECT_EQ(error_of("1,2"),
            "unexpected text behind the value, put text in double quotes and lists in [] at column "
            "2 of \"1,2\"");
  EXPECT_EQ(error_of("a b"),
            "unexpected text behind the value, put text in double quotes and lists in [] at column "
            "3 of \"a b\"");
  EXPECT_EQ(error_of("1x"), "\"1x\" is not a number at column 1 of \"1x\"");
  EXPECT_EQ(error_of("+1"), "a number has no leading \"+\" at column 1 of \"+1\"");
  EXPECT_EQ(error_of("--1"), "\"--1\" is not a number at column 1 of \"--1\"");
  EXPECT_EQ(error_of("{\"a\":1}"),
            "expected a number, a word, a list or a string in double quotes at column 1 of "
            "\"{\"a\":1}\"");
  for (const char* text :
       {"[1,,2]", "[,]", "]", "\"a", "1+j2", "+-1j", "1.2.3", "'a'", "[1]]", "é"}) {
    EXPECT_FALSE(parse_value(text).ok()) << text;
  }
}

TEST(Value, NestingIsBounded) {
  EXPECT_TRUE(parse_value(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_FALSE(parse_value(std::string(100000, '[')).ok());
}

TEST(Value, Format) {
  const auto formatted = [](auto data) { return format_value(Value{data}); };
  EXPECT_EQ(format_value(Value{}), "null");
  EXPECT_EQ(formatted(true), "true");
  EXPECT_EQ(formatted(int64_t{-3}), "-3");
  EXPECT_EQ(formatted(2.0), "2.0");
  EXPECT_EQ(formatted(0.1), "0.1");
  EXPECT_EQ(formatted(1e300), "1e+300");
  EXPECT_EQ(formatted(-0.0), "-0.0");
  EXPECT_EQ(formatted(-std::nan("")), "nan");
  EXPECT_EQ(formatted(Complex(1, 2)), "1+2j");
  EXPECT_EQ(formatted(Complex(0.5, -0.0)), "0.5-0j");
  EXPECT_EQ(formatted(DType::kBF16), "bf16");
  EXPECT_EQ(formatted(std::string("mean")), "mean");
  EXPECT_EQ(formatted(std::string("a b")), "\"a b\"");
  EXPECT_EQ(formatted(ValueList{Value{int64_t{1}}, Value{ValueList{}}}), "[1,[]]");
}

TEST(Value, StringsThatLookLikeOtherValuesAreQuoted) {
  for (const char* text :
       {"true", "null", "f32", "inf", "nan", "nanj", "infj", "", "1", "-", "a,b", "a\"b", "[1]"}) {
    const Value value{std::string(text)};
    EXPECT_EQ(format_value(value).front(), '"') << text;
    EXPECT_EQ(*parse_value(format_value(value)), value) << text;
  }
}

Value random_value(std::mt19937_64& random, int depth) {
  const auto draw = [&](int64_t high) {
    return std::uniform_int_distribution<int64_t>(0, high)(random);
  };
  const auto real = [&] {
    const double value = std::bit_cast<double>(random());
    return std::isnan(value) ? 0.25 : value;
  };
  switch (draw(depth < 3 ? 7 : 6)) {
    case 0:
      return {};
    case 1:
      return Value{draw(1) == 1};
    case 2:
      return Value{static_cast<int64_t>(random())};
    case 3:
      return Value{real()};
    case 4:
      return Value{Complex(real(), real())};
    case 5:
      return Value{static_cast<DType>(draw(kDTypeCount - 1))};
    case 6: {
      std::string text;
      for (int64_t i = draw(6); i > 0; --i) text += static_cast<char>(draw(126) + 1);
      return Value{text};
    }
    default:
      break;
  }
  ValueList items;
  for (int64_t i = draw(4); i > 0; --i) items.push_back(random_value(random, depth + 1));
  return Value{items};
}

TEST(Value, RandomValuesRoundTrip) {
  std::mt19937_64 random(random_seed());
  for (int round = 0; round < 5000; ++round) {
    const Value value = random_value(random, 0);
    const std::string text = format_value(value);
    const Result<Value> parsed = parse_value(text);
    ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status();
    ASSERT_EQ(*parsed, value) << text;
  }
}

TEST(Value, RandomBytesNeverCrash) {
  std::mt19937_64 random(random_seed());
  const std::string_view alphabet = "[],\"\\u0aj+-. e1infan\t{}";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (uint64_t i = random() % 12; i > 0; --i) text += alphabet[random() % alphabet.size()];
    const Result<Value> parsed = parse_value(text);
    if (parsed.ok()) {
      EXPECT_TRUE(parse_value(format_value(*parsed)).ok()) << text;
    }
  }
}

}  // namespace
}  // namespace onedim
