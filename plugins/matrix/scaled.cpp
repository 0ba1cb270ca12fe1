// _scaled_mm: a product of two matrices of 8-bit floats, each times its scales.
//
//   out[m,n] = result (sum_k a[m,k] A[m,k] b[k,n] B[k,n] + bias[n])
//
// A [M,K] and B [K,N] are the scales stretched over the operands: one for all ([] or [1]), one a
// row of self or column of mat2 ([M,1] and [1,N]), one a block of 128 along k, and maybe of 128
// rows or columns too ([M,K/128] or [M/128,K/128], [K/128,N] or [K/128,N/128], rounded up), or, in
// f8e8m0, one a row and 32 along k, as a vector of tiles (see mx_index).
//   self f8 [5,256], mat2 f8 [256,3], scale_a [5,2], scale_b [2,1]: block 1 of k has scales
//   scale_a[m,1] and scale_b[1,0]
//
// Scales are looked up by global index, so that they may be whole beside a sharded operand; where
// they are sharded like it, the cut must not go through a block. The product is linear in self,
// mat2 and each scale alone: a partial operand meets replicated scales.

#include <limits>

#include "families.hpp"
#include "product.hpp"

namespace matrix {
namespace {

constexpr std::string_view kScaledEquation = "mk,kn->mn";
constexpr int64_t kBlock = 128, kMxBlock = 32, kMxRows = 128, kMxColumns = 4;

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Place of (row, block along k) in a vector of tiles of 128 rows and 4 blocks: the layout in which
// tensor cores read them, 32 rows apart within 16 bytes.
int64_t mx_index(int64_t row, int64_t block, int64_t blocks) {
  const int64_t tile = row / kMxRows * ceil_divide(blocks, kMxColumns) + block / kMxColumns;
  const int64_t within = row % kMxRows;
  return (tile * 32 + within % 32) * 16 + within / 32 * 4 + block % kMxColumns;
}

// The scales of one operand, seen with rows of the summed length: self, or mat2 transposed.
struct Scales {
  int slot = 0, data_slot = 0;
  bool is_transposed = false, is_vector = false;
  int64_t rows = 0, length = 0;             // of the whole operand
  int64_t row_block = 0, length_block = 0;  // 0: one scale for all of them

  int row_dim() const { return is_transposed ? 1 : 0; }
  int length_dim() const { return 1 - row_dim(); }
};

Shape global_shape(const Call& call, int slot) {
  Shape shape;
  for (int dim = 0; dim < call.input(slot).ndim(); ++dim)
    shape.push_back(call.global_size(false, slot, dim));
  return shape;
}

bool is_single(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](int64_t size) { return size == 1; });
}

void bind_vector(Scales& s, const Shape& shape) {
  const int64_t blocks = ceil_divide(s.length, kMxBlock);
  const int64_t count =
      ceil_divide(s.rows, kMxRows) * kMxRows * ceil_divide(blocks, kMxColumns) * kMxColumns;
  if (shape != Shape{count})
    fail("f8e8m0 scales of shape " + format_shape(shape) + ", expected a vector of " +
         std::to_string(count));
  s.is_vector = true;
  s.row_block = 1;
  s.length_block = kMxBlock;
}

void bind_matrix(Scales& s, const Shape& shape) {
  const bool is_matrix = shape.size() == 2;
  const int64_t rows = is_matrix ? shape[s.is_transposed ? 1 : 0] : 0;
  const int64_t blocks = is_matrix ? shape[s.is_transposed ? 0 : 1] : 0;
  if (rows == s.rows)
    s.row_block = 1;
  else if (rows == ceil_divide(s.rows, kBlock))
    s.row_block = rows == 1 ? 0 : kBlock;
  const bool fits_rows = rows == s.rows || rows == ceil_divide(s.rows, kBlock);
  const bool fits_blocks = blocks == 1 || blocks == ceil_divide(s.length, kBlock);
  if (!fits_rows || !fits_blocks)
    fail("scales of shape " + format_shape(shape) +
         ", expected one element, one a row or column, or one a block of 128");
  s.length_block = blocks == 1 ? 0 : kBlock;
}

Scales scales_of(const Call& call, bool is_right) {
  Scales s;
  s.data_slot = call.slot(is_right ? "mat2" : "self");
  s.slot = call.slot(is_right ? "scale_b" : "scale_a");
  s.is_transposed = is_right;
  s.rows = call.global_size(false, s.data_slot, s.row_dim());
  s.length = call.global_size(false, s.data_slot, s.length_dim());
  const Shape shape = global_shape(call, s.slot);
  const DType dtype = call.input(s.slot).dtype();
  require(dtype == DType::kF32 || dtype == DType::kF8E8M0, "scales must be f32 or f8e8m0");
  if (dtype == DType::kF8E8M0)
    bind_vector(s, shape);
  else if (!is_single(shape))
    bind_matrix(s, shape);
  return s;
}

// Which scales go together: one for all on both sides, one a row with one a column, blocks with
// blocks, vectors with vectors.
void require_pair(const Call& call, const Scales& a, const Scales& b) {
  require(a.is_vector == b.is_vector, "f8e8m0 scales are needed on both sides or on none");
  require(a.row_block != kBlock || b.row_block != kBlock,
          "blocks of 128 x 128 on both sides are not supported");
  require(a.length_block == b.length_block, "scales by blocks are needed on both sides or on none");
  const auto is_for_all = [&](const Scales& s) { return global_shape(call, s.slot).size() < 2; };
  const auto has_many = [&](const Scales& s) { return !is_single(global_shape(call, s.slot)); };
  require(!(is_for_all(a) && has_many(b)) || a.is_vector,
          "one scale for all of self needs one for all of mat2");
  require(!(is_for_all(b) && has_many(a)) || b.is_vector,
          "one scale for all of mat2 needs one for all of self");
}

std::vector<int64_t> global_indices(const Call& call, int slot, int dim) {
  std::vector<int64_t> indices(static_cast<size_t>(call.input(slot).size(dim)));
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = call.global_index(false, slot, dim, static_cast<int64_t>(i));
  return indices;
}

// The local index of each global index of a dim; -1: on another rank.
std::vector<int64_t> local_indices(const Call& call, int slot, int dim) {
  std::vector<int64_t> local(static_cast<size_t>(call.global_size(false, slot, dim)), -1);
  const std::vector<int64_t> global = global_indices(call, slot, dim);
  for (size_t i = 0; i < global.size(); ++i)
    local[static_cast<size_t>(global[i])] = static_cast<int64_t>(i);
  return local;
}

int64_t found(const std::vector<int64_t>& local, int64_t global) {
  const int64_t index = local[static_cast<size_t>(global)];
  require(index >= 0, "an element's scale lies on another rank");
  return index;
}

// Local index in the scale's dim of each local index of the operand's, by way of their global ones.
std::vector<int64_t> lookup(const Call& call, const Scales& s, int dim, int64_t block) {
  std::vector<int64_t> indices = global_indices(call, s.data_slot, dim);
  if (block == 0) return std::vector<int64_t>(indices.size(), 0);
  const std::vector<int64_t> local = local_indices(call, s.slot, dim);
  for (int64_t& index : indices) index = found(local, index / block);
  return indices;
}

void scale_by_matrix(const Call& call, const Scales& s, const std::vector<double>& scales,
                     std::vector<double>& values) {
  const TensorView scale = call.input(s.slot);
  const int64_t columns = scale.ndim() == 2 ? scale.size(1) : 1;
  const auto row_of = lookup(call, s, 0, s.is_transposed ? s.length_block : s.row_block);
  const auto column_of = lookup(call, s, 1, s.is_transposed ? s.row_block : s.length_block);
  auto value = values.begin();
  for (const int64_t row : row_of) {
    for (const int64_t column : column_of)
      *value++ *= scales[static_cast<size_t>(row * columns + column)];
  }
}

void scale_by_vector(const Call& call, const Scales& s, const std::vector<double>& scales,
                     std::vector<double>& values) {
  const int64_t blocks = ceil_divide(s.length, kMxBlock);
  const std::vector<int64_t> local = local_indices(call, s.slot, 0);
  const std::vector<int64_t> first = global_indices(call, s.data_slot, 0);
  const std::vector<int64_t> second = global_indices(call, s.data_slot, 1);
  auto value = values.begin();
  for (const int64_t i : first) {
    for (const int64_t j : second) {
      const int64_t row = s.is_transposed ? j : i, k = s.is_transposed ? i : j;
      const int64_t at = found(local, mx_index(row, k / kMxBlock, blocks));
      *value++ *= scales[static_cast<size_t>(at)];
    }
  }
}

// Each element's scale must lie on the element's rank.
void require_scales(const Call& call, const Scales& s) {
  if (!s.is_vector) {
    lookup(call, s, 0, s.is_transposed ? s.length_block : s.row_block);
    lookup(call, s, 1, s.is_transposed ? s.row_block : s.length_block);
    return;
  }
  const int64_t blocks = ceil_divide(s.length, kMxBlock);
  const std::vector<int64_t> local = local_indices(call, s.slot, 0);
  const std::vector<int64_t> rows = global_indices(call, s.data_slot, s.is_transposed ? 1 : 0);
  std::vector<int64_t> along = global_indices(call, s.data_slot, s.is_transposed ? 0 : 1);
  for (int64_t& k : along) k /= kMxBlock;
  along.erase(std::unique(along.begin(), along.end()), along.end());
  for (const int64_t row : rows) {
    for (const int64_t block : along) found(local, mx_index(row, block, blocks));
  }
}

std::vector<double> scaled_values(const Call& call, const Scales& s) {
  std::vector<double> values = load_dense<double>(call.input(s.data_slot));
  const std::vector<double> scales = load_dense<double>(call.input(s.slot));
  (s.is_vector ? scale_by_vector : scale_by_matrix)(call, s, scales, values);
  return values;
}

void infer_scaled(const Call& call, OutputSink& outputs) {
  const TensorView self = call.tensor("self"), mat2 = call.tensor("mat2");
  const auto is_small = [](DType dtype) {
    return dtype == DType::kF8E4M3FN || dtype == DType::kF8E5M2;
  };
  require(is_small(self.dtype()) && is_small(mat2.dtype()),
          "self and mat2 must be f8e4m3fn or f8e5m2");
  require(self.dtype() == DType::kF8E4M3FN || mat2.dtype() == DType::kF8E4M3FN,
          "a product of two f8e5m2 matrices is not supported");
  const Shape shape = product_shape(call, kScaledEquation);
  require_pair(call, scales_of(call, false), scales_of(call, true));
  if (const TensorView bias = call.tensor("bias"); bias.present()) {
    require(is_floating(bias.dtype()) && size_of(bias.dtype()) > 1,
            "the bias must be a wider float");
    if (shape_of(bias) != Shape{shape[1]})
      fail("the bias has shape " + format_shape(bias.shape()) + ", expected [" +
           std::to_string(shape[1]) + "]");
  }
  if (const TensorView result = call.tensor("scale_result"); result.present())
    require(result.dtype() == DType::kF32 && result.element_count() == 1,
            "scale_result must be one f32 element");
  const DType dtype = call.attribute<std::optional<DType>>("out_dtype").value_or(self.dtype());
  require(is_floating(dtype) && dtype != DType::kF8E8M0, "out_dtype must be a float");
  outputs.add(dtype, shape);
}

void compute_scaled(const Call& call, const onedim_execution_t& execution) {
  const std::vector<double> a = scaled_values(call, scales_of(call, false));
  const std::vector<double> b = scaled_values(call, scales_of(call, true));
  const TensorView out = call.output(), bias = call.tensor("bias");
  const int64_t m = out.size(0), n = out.size(1);
  std::vector<double> product(static_cast<size_t>(m * n));
  multiply(a.data(), b.data(), product.data(), 1, m, n, call.tensor("self").size(1),
           execution.thread_count);
  const std::vector<double> added = bias.present() ? load_dense<double>(bias) : std::vector(n, 0.0);
  const TensorView result = call.tensor("scale_result");
  const double factor = result.present() ? load_dense<double>(result).at(0) : 1;
  for (size_t i = 0; i < product.size(); ++i)
    product[i] = factor * (product[i] + added[i % static_cast<size_t>(n)]);
  store_dense(product.data(), out);
}

// Emits rules with every placement of the scales that a cut leaves them.
class ScaledRules {
 public:
  ScaledRules(const Call& call, RuleSink& sink)
      : call_(call), sink_(sink), a_(scales_of(call, false)), b_(scales_of(call, true)) {}

  void emit() {
    cut_rows(a_, 0);
    cut_rows(b_, 1);
    cut_length();
    for (const std::string_view kind : {"sum", "avg"}) {
      for (const int slot : {a_.data_slot, b_.data_slot, a_.slot, b_.slot}) {
        std::vector<Placement> inputs = replicated();
        inputs[static_cast<size_t>(slot)] = partial(kind);
        add(partial(kind), place(std::move(inputs), "bias", partial(kind)));
      }
      if (call_.has_tensor("scale_result"))
        add(partial(kind), place(replicated(), "scale_result", partial(kind)));
    }
    if (call_.has_tensor("bias") && !call_.has_tensor("scale_result")) {
      for (const std::string_view kind : {"max", "min"})
        add(partial(kind), place(replicated(), "bias", partial(kind)));
    }
    if (a_.length == 1 && !call_.has_tensor("bias")) emit_product();
  }

 private:
  std::vector<Placement> replicated() const {
    std::vector<Placement> inputs;
    for (int slot = 0; slot < call_.input_count(); ++slot)
      inputs.push_back(call_.input(slot).present() ? replicate() : absent());
    return inputs;
  }
  std::vector<Placement> place(std::vector<Placement> inputs, std::string_view name,
                               const Placement& placement) const {
    if (call_.has_tensor(name)) inputs[static_cast<size_t>(call_.slot(name))] = placement;
    return inputs;
  }
  void add(const Placement& out, const std::vector<Placement>& inputs,
           const RuleOptions& options = {}) {
    sink_.add(std::span(&out, 1), inputs, options);
  }

  // Where blocks must stay whole, only plain shards of whole blocks will do.
  static Placement cut(int dim, bool is_whole) { return is_whole ? shard(dim) : any_shard(dim); }
  static bool has_whole_blocks(int64_t length, int64_t block) {
    return block == 1 || (length > block && length % block == 0);
  }
  static void require_blocks(const Scales& s, int dim, int64_t block, RuleOptions& options) {
    if (block > 1) options.requirements.push_back({0, s.data_slot, dim, 0, block});
  }

  void cut_rows(const Scales& s, int out_dim) {
    const int64_t block = s.is_vector ? kMxRows : s.row_block;
    const bool can_cut_scales = s.row_block > 0 && has_whole_blocks(s.rows, block);
    for (const bool is_scale_cut : {false, true}) {
      if (is_scale_cut && !can_cut_scales) continue;
      const bool is_whole = is_scale_cut && block > 1;
      RuleOptions options;
      if (is_scale_cut) require_blocks(s, s.row_dim(), block, options);
      std::vector<Placement> inputs = replicated();
      inputs[static_cast<size_t>(s.data_slot)] = cut(s.row_dim(), is_whole);
      if (is_scale_cut)
        inputs[static_cast<size_t>(s.slot)] = cut(s.is_vector ? 0 : s.row_dim(), is_whole);
      if (out_dim == 1) inputs = place(std::move(inputs), "bias", cut(0, is_whole));
      add(cut(out_dim, is_whole), inputs, options);
    }
  }

  void cut_length() {
    const bool can_cut_scales =
        a_.length_block > 0 && !a_.is_vector && has_whole_blocks(a_.length, kBlock);
    for (const bool is_a_cut : {false, true}) {
      for (const bool is_b_cut : {false, true}) {
        const bool is_whole = is_a_cut || is_b_cut;
        if (is_whole && !can_cut_scales) continue;
        RuleOptions options;
        if (is_whole) require_blocks(a_, 1, kBlock, options);
        std::vector<Placement> inputs = replicated();
        inputs[static_cast<size_t>(a_.data_slot)] = cut(1, is_whole);
        inputs[static_cast<size_t>(b_.data_slot)] = cut(0, is_whole);
        if (is_a_cut) inputs[static_cast<size_t>(a_.slot)] = cut(1, is_whole);
        if (is_b_cut) inputs[static_cast<size_t>(b_.slot)] = cut(0, is_whole);
        add(partial("sum"), place(std::move(inputs), "bias", partial("sum")), options);
      }
    }
  }

  // Without a sum, all factors together.
  void emit_product() {
    std::vector<Placement> inputs = replicated();
    for (Placement& input : inputs) {
      if (is_replicate(input)) input = partial("product");
    }
    add(partial("product"), inputs);
  }

  const Call& call_;
  RuleSink& sink_;
  Scales a_, b_;
};

}  // namespace

void declare_scaled(Registrar& r) {
  r.op("_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
       "Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> "
       "Tensor")
      .summary("product of two matrices of 8-bit floats, each times its scales, plus bias")
      .position_aware()
      .infer(infer_scaled)
      .rules([](const Call& call, RuleSink& rules) { ScaledRules(call, rules).emit(); })
      .accept_local([](const Call& call) {
        require_scales(call, scales_of(call, false));
        require_scales(call, scales_of(call, true));
      })
      .compute(dtype_mask<float, double>(), compute_scaled)
      .cost([](const Call& call, onedim_cost_t& cost) {
        einsum_cost(call, bind_einsum(kScaledEquation, call), cost);
      })
      .samples(
          {"f8e4m3fn[5,4]; f8e4m3fn[4,3]; f32[1]; f32[]; -; -; out_dtype=bf16",
           "f8e4m3fn[5,4]; f8e5m2[4,3]; f32[5,1]; f32[1,3]; -; -; out_dtype=bf16",
           "f8e4m3fn[1,4]; f8e4m3fn[4,3]; f32[]; f32[]; bf16[3]; -; out_dtype=bf16",
           "f8e5m2[1,6]; f8e4m3fn[6,3]; f32[]; f32[1]; -; f32[]",
           "f8e4m3fn[5,1]; f8e4m3fn[1,3]; f32[5,1]; f32[1,3]; -; -; out_dtype=f32",
           "f8e4m3fn[3,256]; f8e4m3fn[256,2]; f32[3,2]; f32[2,2]; -; -; out_dtype=f32",
           "f8e4m3fn[2,256]; f8e4m3fn[256,3]; f32[2,2]; f32[2,1]; -; -; out_dtype=f32",
           "f8e4m3fn[256,34]; f8e4m3fn[34,2]; f8e8m0[1024]; f8e8m0[512]; -; -; out_dtype=f32"});
}

}  // namespace matrix
