#include "problem.hpp"

namespace grouped_mm {
namespace {

size_t find(const std::string& letters, char letter) { return letters.find(letter); }

void require_dtypes(const Call& call, const TensorView& self, const TensorView& mat2) {
  require(is_floating(self.dtype()) && size_of(self.dtype()) > 1,
          "self must be f64, f32, bf16 or f16");
  require(mat2.dtype() == self.dtype(), "self and mat2 must have one dtype");
  const auto out_dtype = call.attribute<std::optional<DType>>("out_dtype");
  require(!out_dtype || *out_dtype == self.dtype(), "out_dtype must be the dtype of self");
  require(!call.has_tensor("bias"), "a bias is not supported, expected none");
}

std::string_view letters_of(int dims, const char* matrix, const char* batch) {
  if (dims != 2 && dims != 3)
    fail("self and mat2 must have two or three dims, not " + std::to_string(dims));
  return dims == 2 ? matrix : batch;
}

void require_same(int64_t a, int64_t b, const char* what) {
  if (a == b) return;
  fail(std::string(what) + " of self and mat2 differ: " + std::to_string(a) + " and " +
       std::to_string(b));
}

}  // namespace

Problem::Problem(const Call& call)
    : self(call.tensor("self")),
      mat2(call.tensor("mat2")),
      offs(call.tensor("offs")),
      self_letters(letters_of(self.ndim(), "mk", "gmk")),
      mat2_letters(letters_of(mat2.ndim(), "kn", "gkn")),
      call_(&call) {
  require_dtypes(call, self, mat2);
  const bool is_2d = self.ndim() == 2, is_2d_too = mat2.ndim() == 2;
  ragged = is_2d ? (is_2d_too ? 'k' : 'm') : (is_2d_too ? 'n' : '\0');
  out_letters = has_experts() ? "mn" : "gmn";
  check();
}

void Problem::check() const {
  require(offs.present() == (ragged != 0),
          "offs are needed with a matrix among the operands, and must be absent with two batches");
  require_same(self.size(self.ndim() - 1), mat2.size(mat2.ndim() - 2), "the summed sizes");
  if (ragged == 0) return require_same(self.size(0), mat2.size(0), "the batch sizes");
  require(offs.dtype() == DType::kI32 && offs.ndim() == 1, "offs must be a vector of i32");
  const int64_t groups = call_->global_size(false, call_->slot("offs"), 0);
  require(offs.size(0) == groups, "offs must be whole on every rank");
  if (!has_experts()) return;
  const int64_t experts =
      call_->global_size(false, call_->slot(ragged == 'm' ? "mat2" : "self"), 0);
  if (experts != groups)
    fail("offs has " + std::to_string(groups) + " ends, expected one for each of " +
         std::to_string(experts) + " matrices");
}

int64_t Problem::size(char letter) const {
  if (const size_t dim = find(self_letters, letter); dim != std::string::npos)
    return self.size(static_cast<int>(dim));
  if (const size_t dim = find(mat2_letters, letter); dim != std::string::npos)
    return mat2.size(static_cast<int>(dim));
  return offs.size(0);
}

Shape Problem::out_shape() const {
  Shape shape;
  for (const char letter : out_letters) shape.push_back(size(letter));
  return shape;
}

void require_aligned(const Problem& problem) {
  const auto check = [](const TensorView& tensor, const char* name) {
    const int rows = tensor.ndim() - 2, columns = tensor.ndim() - 1;
    const bool is_column_major = tensor.stride(rows) == 1 &&
                                 tensor.stride(columns) >= std::max<int64_t>(1, tensor.size(rows));
    const bool is_row_major = tensor.stride(columns) == 1 &&
                              tensor.stride(rows) >= std::max<int64_t>(1, tensor.size(columns));
    if (!is_column_major && !is_row_major)
      fail(std::string(name) + " is neither row- nor column-major");
    const int64_t bytes = tensor.stride(is_column_major ? columns : rows) * size_of(tensor.dtype());
    if (bytes % 16 != 0)
      fail("the leading stride of " + std::string(name) + " is " + std::to_string(bytes) +
           " bytes, expected a multiple of 16");
  };
  check(problem.self, "self");
  check(problem.mat2, "mat2");
}

Groups::Groups(const Call& call, const Problem& problem) {
  if (problem.ragged == 0) return;
  const bool in_self = problem.ragged != 'n';
  const int slot = call.slot(in_self ? "self" : "mat2");
  const int dim =
      static_cast<int>(find(in_self ? problem.self_letters : problem.mat2_letters, problem.ragged));
  const int64_t length = problem.size(problem.ragged), total = call.global_size(false, slot, dim);
  const std::vector<int64_t> ends = load_dense<int64_t>(problem.offs);
  int64_t begin = 0;
  for (size_t group = 0; group < ends.size(); begin = ends[group++]) {
    if (ends[group] < 0 || ends[group] > total)
      fail("offs has " + std::to_string(ends[group]) + ", expected ends from 0 to " +
           std::to_string(total));
    const auto is_inside = [&](int64_t local) {
      const int64_t at = call.global_index(false, slot, dim, local);
      return at >= begin && at < ends[group];
    };
    for (int64_t first = 0; first < length; ++first) {
      if (!is_inside(first)) continue;
      int64_t end = first + 1;
      while (end < length && is_inside(end)) ++end;
      runs.push_back({static_cast<int64_t>(group), first, end});
      first = end;
    }
  }
  if (!problem.has_experts()) return;
  const int experts = call.slot(in_self ? "mat2" : "self");
  expert.assign(ends.size(), -1);
  for (int64_t local = 0; local < call.input(experts).size(0); ++local)
    expert[static_cast<size_t>(call.global_index(false, experts, 0, local))] = local;
}

}  // namespace grouped_mm
