#include <gtest/gtest.h>

#include "tests/cuda/device_run.hpp"
#include "tests/random_seed.hpp"

namespace onedim {
namespace {

class CudaKernels : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    std::string reason;
    device_ = find_device(GetParam(), reason);
    if (device_ == nullptr) GTEST_SKIP() << "no CUDA device: " << reason;
  }
  // Each call on `draws` draws of values and strides.
  void compare(std::string_view op, std::initializer_list<std::string_view> calls, int draws = 6) {
    for (const std::string_view call : calls) {
      for (int draw = 0; draw < draws; ++draw)
        EXPECT_EQ(compare_whole(GetParam(), *device_, op, call, random_), "") << op << " " << call;
    }
  }
  void compare_on_mesh(std::string_view op, std::string_view call, std::string_view mesh,
                       std::string_view outputs, std::string_view inputs) {
    for (int draw = 0; draw < 3; ++draw)
      EXPECT_EQ(compare_ranks(GetParam(), *device_, op, call, mesh, outputs, inputs, random_), "")
          << op << " " << call << " " << outputs << " | " << inputs;
  }

  Device* device_ = nullptr;
  Random random_{random_seed()};
};

INSTANTIATE_TEST_SUITE_P(On, CudaKernels, testing::Values(DeviceKind::kEmulated, DeviceKind::kGpu),
                         [](const testing::TestParamInfo<DeviceKind>& kind) {
                           return kind.param == DeviceKind::kEmulated ? "emulation" : "gpu";
                         });

TEST_P(CudaKernels, Arithmetic) {
  for (const char* op : {"add.Tensor", "sub.Tensor", "mul.Tensor"}) {
    compare(op, {"f32[5,7]; f32[5,7]", "bf16[4,1]; bf16[1,6]", "f16[3,4]; f32[4]", "f64[7]; f64[7]",
                 "i64[5,3]; i64[3]", "i32[6]; i64[1]", "i8[9]; u8[9]", "c64[3,4]; c64[4]",
                 "f32[5]; i64[5]", "c64[2,3]; f32[2,3]", "f32[5,2]; f32[]", "f32[0,3]; f32[3]",
                 "f32[2,3,1,2,3,2,2,2,1]; f32[2,3,1,2,3,2,2,2,1]", "f32[600,3]; bf16[3]"});
  }
  compare("add.Tensor",
          {"f64[4,3]; f64[3]; alpha=-2", "i32[5]; i32[5]; alpha=3", "f32[5]; other=0.1; alpha=2.5",
           "f32[3,4]; other=1", "bool[5]; bool[5]", "c64[4]; c64[4]; alpha=2"});
  compare("sub.Tensor", {"f32[4]; f32[4]; alpha=0.5", "i64[4]; other=3"});
  compare("mul.Tensor",
          {"bool[7]; bool[7]", "bf16[3,5]; other=-1.5", "c64[1,5,1,3]; c64[2,5,4,3]"});
  compare("add.Scalar", {"f32[5,3]; other=1e-5", "i64[4]; other=7", "bf16[6]; other=2; alpha=3"});
  compare("sub.Scalar", {"f32[5]; other=0.25", "i32[4]; other=2; alpha=2"});
  compare("mul.Scalar",
          {"f32[5]; other=-0.5", "i64[4]; other=3", "i64[4]; other=0.5", "c64[3]; other=2"});
  compare("div.Tensor", {"f32[5,7]; f32[5,7]:nonzero", "i64[5]; i64[5]:nonzero", "bf16[4]; other=3",
                         "f64[4,1]; f64[3]:nonzero", "c64[3,4]; c64[4]:nonzero"});
  compare("div.Scalar", {"f32[3,4]; other=4096", "bool[5]; other=2", "f16[4]; other=-1.5"});
  compare("pow.Tensor_Scalar",
          {"f32[5,7]; exponent=2", "f32[4]; exponent=3", "f64[5]; exponent=1.0",
           "f32[5]:positive; exponent=-0.5", "f32[5]; exponent=0", "i64[5]; exponent=3",
           "bf16[6]; exponent=2", "f32[5]:nonzero; exponent=-1"});
  compare("pow.Tensor_Tensor", {"f32[5]:positive; f32[5]", "i64[5]; i64[5]:nonnegative"});
}

TEST_P(CudaKernels, Functions) {
  for (const char* op : {"exp", "sigmoid", "tanh"})
    compare(op, {"f32[5,7]", "bf16[4,1,6]", "f16[3]", "f64[5]", "i64[4]", "bool[3]", "f32[]"});
  for (const char* op : {"log", "sqrt", "rsqrt", "reciprocal"})
    compare(op, {"f32[5,7]:positive", "bf16[6]:positive", "f64[5]:positive", "i32[4]:positive"});
  compare("silu", {"f32[5,7]", "bf16[6]", "f64[3]"});
  compare("neg", {"f32[5,7]", "bf16[6]", "i64[4]", "u8[5]", "c64[3,2]", "f64[2,2]"});
}

TEST_P(CudaKernels, CopiesAndCasts) {
  compare("clone", {"f32[5,7]", "bf16[2,3,4]", "c64[4]", "bool[6]", "i16[5]",
                    "f32[2,3,4]; memory_format=contiguous_format"});
  compare("_conj", {"c64[4,3]", "c64[]"});
  for (const char* from :
       {"f64", "f32", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool", "c64"}) {
    for (const char* to :
         {"f64", "f32", "bf16", "f16", "i64", "i32", "i16", "i8", "u8", "bool", "c64"}) {
      const std::string call = fmt::format("{}[5,3]; dtype={}", from, to);
      compare("prims.convert_element_type", {call}, 2);
    }
  }
  compare("_to_copy", {"f32[5,3]; dtype=bf16", "i64[4]; dtype=f32", "f32[3,4]",
                       "f32[9]:nonfinite; dtype=i32", "f64[9]:nonfinite; dtype=bf16",
                       "f32[9]:nonfinite; dtype=f16", "f32[9]:nonfinite; dtype=u8"});
  compare("to.dtype", {"f32[5]; dtype=f64"});
}

TEST_P(CudaKernels, Reductions) {
  for (const char* op : {"sum.dim_IntList", "mean.dim"}) {
    compare(op, {"f32[5,7]; dim=[1]", "f32[5,7]; dim=[0]", "f64[4,1,6]; dim=[0,-1]",
                 "bf16[3,40,5]; dim=[1]; keepdim=true", "f16[7,4]; dim=[1]", "c64[3,5]; dim=[1]",
                 "f32[2,3,4,5]; dim=[1,3]", "f32[3,700]; dim=[1]", "f32[700,3]; dim=[0]",
                 "f32[40,50]; dim=[0]", "f32[5,6]; dim=[]", "f32[0,3]; dim=[1]",
                 "f32[4]; dim=[0]; dtype=f64", "f32[5,4]; dim=[0]; dtype=bf16"});
  }
  compare("sum.dim_IntList", {"i64[5,3]; dim=[0]", "bool[4,5]; dim=[-1]", "i32[7,2]; dim=[0]",
                              "f32[5,6]; dim=[0]; dtype=i64", "f32[0,3]; dim=[0]",
                              "f32[5,4]; dim=[1]; dtype=bool", "c64[3,4]; dim=[0]; dtype=bool"});
  compare("sum", {"f32[5,7]", "bf16[300]", "i8[6]", "f64[]"});
  compare("mean", {"f32[5,7]", "bf16[30,3]", "c64[4]"});
  compare_on_mesh("mean.dim", "f32[5,4]; dim=[0]", "x=3", "P(avg)", "S(0)");
  compare_on_mesh("mean.dim", "f32[5,4]; dim=[0]", "x=2,y=2", "P(avg),P(sum)", "S(0),S(0)");
  compare_on_mesh("mean.dim", "f32[5,4]; dim=[0]", "x=3", "P(avg)", "P(avg)");
}

TEST_P(CudaKernels, RowsOfATable) {
  compare("embedding", {"f32[6,4]; i64[4,6]:index(6)", "bf16[7,5]; i64[5,3]:index(7)",
                        "f64[3,4]; i64[]:index(3)", "u8[4,3]; i32[2,1,3]:index(4)",
                        "c64[5,2]; i64[6]:index(5)", "f32[6,4]; i64[0]:index(6)"});
  compare_on_mesh("embedding", "f32[7,5]; i64[4,3]:index(7)", "x=3", "P(sum)", "S(0); R");
  compare_on_mesh("embedding", "f32[7,5]; i64[4,3]:index(7)", "x=3", "S(0)", "R; S(0)");
  compare_on_mesh("embedding", "f32[7,5]; i64[4,3]:index(7)", "x=2,y=2", "S(2),P(sum)",
                  "S(1),SS(0,2); R,R");
  compare_on_mesh("embedding", "bf16[7,5]; i64[4,3]:index(7)", "x=2", "SS(0,2)", "R; SS(0,2)");
  const char* grad = "embedding_dense_backward";
  compare(grad, {"f32[4,6,3]; i64[4,6]:index(5); num_weights=5; padding_idx=-1; "
                 "scale_grad_by_freq=false",
                 "bf16[300,3]; i64[300]:index(5); num_weights=5; padding_idx=3; "
                 "scale_grad_by_freq=false",
                 "f64[6,4]; i32[6]:index(3); num_weights=4; padding_idx=-1; "
                 "scale_grad_by_freq=true",
                 "f16[4]; i64[]:index(3); num_weights=3; padding_idx=-1; scale_grad_by_freq=false",
                 "f32[3,2100]; i64[3]:index(2); num_weights=2; padding_idx=-1; "
                 "scale_grad_by_freq=false"});
  const char* call =
      "f32[4,3,5]; i64[4,3]:index(6); num_weights=6; padding_idx=2; scale_grad_by_freq=false";
  compare_on_mesh(grad, call, "x=3", "S(0)", "R; R");
  compare_on_mesh(grad, call, "x=3", "P(sum)", "S(0); S(0)");
  compare_on_mesh(grad, call, "x=3", "P(sum)", "S(1); R");
  compare_on_mesh(grad, call, "x=2,y=2", "S(1),SS(0,2)", "S(2),R; R,R");
}

TEST_P(CudaKernels, Products) {
  compare("mm",
          {"f32[5,7]; f32[7,3]", "bf16[4,6]; bf16[6,5]", "f64[5,1]; f64[1,4]", "c64[3,5]; c64[5,2]",
           "f16[1,5]; f16[5,1]", "f32[3,0]; f32[0,4]", "f32[0,3]; f32[3,2]"},
          12);
  compare("bmm", {"f32[3,4,5]; f32[3,5,2]", "bf16[1,4,5]; bf16[1,5,3]", "c64[2,3,5]; c64[2,5,2]"},
          12);
  compare("addmm",
          {"f32[5,3]; f32[5,7]; f32[7,3]", "bf16[3]; bf16[4,5]; bf16[5,3]",
           "f64[4,1]; f64[4,3]; f64[3,5]; beta=-1; alpha=2", "f32[4,5]; f32[4,3]; f32[3,5]; beta=0",
           "f32[]; f32[4,5]; f32[5,3]; beta=2", "c64[3,4]; c64[3,2]; c64[2,4]; beta=2; alpha=-1",
           "f32[4,5]; f32[4,3]; f32[3,5]; alpha=0"},
          12);
  compare("baddbmm",
          {"f32[3,4,2]; f32[3,4,5]; f32[3,5,2]", "f64[3]; f64[4,2,5]; f64[4,5,3]; beta=-2"});
  compare("linear", {"f32[5,7]; f32[3,7]; f32[3]", "bf16[2,3,5]; bf16[4,5]; -",
                     "f32[7]; f32[5,7]; f32[5]", "f64[4,5]; f64[5]; -"});
  compare(
      "einsum",
      {R"([f32[2,3,5]; f32[5,4]]; equation="abk,kn->abn")",
       R"([bf16[2,3,4]; bf16[2,3,5]]; equation="abn,abk->kn")",
       R"([f64[2,3,5]; f64[4,5]]; equation="...k,nk->...n")",
       R"([f32[4,2,3]; f32[4,3,5]]; equation="bij, bjk")",
       R"([f32[4,3]; f32[4,3]]; equation="ij,ij->")",
       R"([f32[4,3]; f32[4,3]]; equation="ij,ij->ij")", R"([f32[5]; f32[4]]; equation="i,j->ij")",
       R"([f64[4,1]; f64[4,5]]; equation="ij,ij->j")",
       R"([f64[3,1,4]; f64[2,4]]; equation="...i,...i->...")",
       R"([f32[3,3,2]; f32[2,4]]; equation="iik,kn->in")",
       R"([f32[3,4]; f32[5,6]]; equation="ij,kl->ik")",
       R"([c64[2,3,4]; c64[4,3,5]]; equation="abc,cbd->dab")"},
      12);
}

TEST_P(CudaKernels, AttentionForward) {
  const char* cpu = "_scaled_dot_product_flash_attention_for_cpu";
  compare(cpu,
          {"f32[2,3,5,4]; f32[2,3,7,4]; f32[2,3,7,6]; -",
           "f32[1,4,40,8]; f32[1,2,70,8]; f32[1,2,70,5]; -; is_causal=true",
           "bf16[1,2,33,40]; bf16[1,2,33,40]; bf16[1,2,33,40]; -; is_causal=true",
           "f64[1,2,3,140]; f64[1,2,4,140]; f64[1,2,4,70]; -; scale=0.1",
           "f32[1,2,5,3]; f32[1,2,5,3]; f32[1,2,5,130]; f32[1,2,5,5]; scale=0.5",
           "f32[2,1,3,2]; f32[2,1,4,2]; f32[2,1,4,3]; bool[2,1,1,4]",
           "f64[2,1,3,2]; f64[2,1,0,2]; f64[2,1,0,3]; -"},
          3);
  compare("_scaled_dot_product_flash_attention",
          {"f32[2,4,5,4]; f32[2,2,7,4]; f32[2,2,7,6]; is_causal=true",
           "f64[1,2,7,4]; f64[1,2,5,4]; f64[1,2,5,6]; is_causal=true",
           "f32[2,2,5,4]; f32[2,2,40,4]; f32[2,2,40,6]; dropout_p=0.5",
           "f16[1,1,3,2]; f16[1,1,3,2]; f16[1,1,3,2]; scale=2"},
          3);
  const char* call = "f32[2,4,6,3]; f32[2,2,6,3]; f32[2,2,6,5]; -; is_causal=true";
  compare_on_mesh(cpu, call, "x=3", "S(2); S(2)", "S(2); R; R; R");
  compare_on_mesh(cpu, call, "x=2", "SS(2,2); SS(2,2)", "SS(2,2); R; R; R");
  compare_on_mesh(cpu, call, "x=2", "S(1); S(1)", "S(1); S(1); S(1); R");
  compare_on_mesh(cpu, call, "x=2,y=2", "S(0),S(1); S(0),S(1)",
                  "S(0),S(1); S(0),S(1); S(0),S(1); R,R");
  compare_on_mesh("_scaled_dot_product_flash_attention",
                  "f32[2,4,6,3]; f32[2,2,8,3]; f32[2,2,8,5]; is_causal=true; dropout_p=0.25", "x=2",
                  "S(2); S(2); -; -; -; -; R; R; -", "S(2); R; R");
  compare_on_mesh(
      "_scaled_dot_product_flash_attention",
      "f64[2,4,5,3]; f64[2,2,7,3]; f64[2,2,7,5]; dropout_p=0.25", "x=2,y=2",
      "S(0),P(attention.softmax#0); S(0),P(attention.softmax#1); -; -; -; -; R,R; R,R; -",
      "S(0),R; S(0),SS(2,2); S(0),SS(2,2)");
}

// The logsumexp drawn belongs to no query and key, so weights are exp(score - logsumexp) of any
// size. The scale keeps each |score| below 32 for the largest queries, keys and biases that a draw
// may hold (8, in bf16 4): weights and sums of their products then stay finite in f32.
TEST_P(CudaKernels, AttentionBackward) {
  const char* cpu = "_scaled_dot_product_flash_attention_for_cpu_backward";
  const std::string rest = "; -; dropout_p=0.0; is_causal=";
  compare(cpu,
          {"f32[2,3,5,6]; f32[2,3,5,4]; f32[2,3,7,4]; f32[2,3,7,6]; f32[2,3,5,6]; "
           "f32[2,3,5]:positive" +
               rest + "false; scale=0.0625",
           "f64[1,4,40,5]; f64[1,4,40,8]; f64[1,2,70,8]; f64[1,2,70,5]; f64[1,4,40,5]; "
           "f64[1,4,40]:positive" +
               rest + "true; scale=0.0625",
           "bf16[1,2,33,40]; bf16[1,2,33,40]; bf16[1,2,33,40]; bf16[1,2,33,40]; "
           "bf16[1,2,33,40]; f32[1,2,33]:positive" +
               rest + "true; scale=0.05",
           "f32[1,1,3,3]; f32[1,1,3,140]; f32[1,1,4,140]; f32[1,1,4,3]; f32[1,1,3,3]; "
           "f32[1,1,3]:positive; f32[3,4]; dropout_p=0.0; is_causal=false; scale=0.0025"},
          3);
  compare("_scaled_dot_product_flash_attention_backward",
          {"f32[2,4,5,6]; f32[2,4,5,4]; f32[2,2,7,4]; f32[2,2,7,6]; f32[2,4,5,6]; "
           "f32[2,4,5]:positive; -; -; i64[2]; i64[]; max_q=5; max_k=7; dropout_p=0.5; "
           "is_causal=true; scale=0.0625",
           "f64[1,1,3,2]; f64[1,1,3,2]; f64[1,1,4,2]; f64[1,1,4,2]; f64[1,1,3,2]; "
           "f64[1,1,3]:positive; -; -; i64[]; i64[]; max_q=3; max_k=4; dropout_p=0.25; "
           "is_causal=false; scale=0.25"},
          3);
  const std::string call =
      "f32[2,4,6,5]; f32[2,4,6,3]; f32[2,2,6,3]; f32[2,2,6,5]; f32[2,4,6,5]; "
      "f32[2,4,6]:positive" +
      rest + "true; scale=0.125";
  compare_on_mesh(cpu, call, "x=3", "S(2); P(sum); P(sum)", "S(2); S(2); R; R; S(2); S(2); R");
  compare_on_mesh(cpu, call, "x=2", "P(sum); SS(2,2); SS(2,2)", "R; R; SS(2,2); SS(2,2); R; R; R");
  compare_on_mesh(cpu, call, "x=2", "S(1); S(1); S(1)", "S(1); S(1); S(1); S(1); S(1); S(1); R");
}

}  // namespace
}  // namespace onedim
