// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/kernel_work.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <vector>

#include "src/analysis/work/moved_bytes.h"

namespace dladvisor {
namespace {

// Inductor's kernels by their names: pointwise, reductions with and without a loop. The last scalars are the
// numbers of elements, of which a kernel reads no more of any tensor.
Formula Inductor(WorkKind kind, size_t sizes) {
  return [=](const CallOfOperator& call) {
    const std::span<const Argument> all = call.arguments.all();
    const std::vector<const Tensor*> tensors = TensorsOf(call.arguments);
    if (tensors.empty()) return WorkResult::Unknown(why::kNoShapes);
    Count limit = 1;
    size_t known = 0;
    for (size_t i = all.size(); i-- > 0 && known < sizes;)
      if (const auto size = call.arguments.IntegerAt(i); size && all[i].tensors.empty()) {
        limit = limit * *size;
        ++known;
      }
    if (known < sizes || !limit.value()) return WorkResult::Unknown(why::kNoScalars);
    Count bytes = 0;
    for (const Tensor* tensor : tensors) {
      const auto stored = tensor->stored_elements().value();
      if (!stored || !tensor->type) return Moved(kind, Count::Unknown(), "");
      bytes = bytes + Count(std::min(*stored, *limit.value())) * tensor->type->bytes;
    }
    return Moved(kind, bytes, TypeName(*tensors.front()));
  };
}

// Reads or writes each of its tensors once, the results among them; those at `both` twice.
Formula Each(WorkKind kind, std::vector<size_t> both = {}) {
  return [=](const CallOfOperator& call) {
    const std::vector<const Tensor*> tensors = TensorsOf(call.arguments);
    if (tensors.empty()) return WorkResult::Unknown(why::kNoShapes);
    Count bytes = BytesOf(tensors);
    for (const size_t position : both) {
      const Tensor* tensor = call.arguments.TensorAt(position);
      if (!tensor) return WorkResult::Unknown(why::kNoShapes);
      bytes = bytes + tensor->bytes();
    }
    return Moved(kind, bytes, TypeName(*tensors.front()));
  };
}

// Positions, query, key, head_size, cosines and sines [positions, size]: query and key are replaced, and each
// token reads a row of the table.
WorkResult RotaryEmbedding(const CallOfOperator& call) {
  const Arguments& arguments = call.arguments;
  const Tensor *positions = arguments.TensorAt(0), *query = arguments.TensorAt(1),
               *key = arguments.TensorAt(2), *table = arguments.TensorAt(4);
  if (!positions || !query || !table) return WorkResult::Unknown(why::kNoShapes);
  if (table->rank() != 2) return WorkResult::Unknown(why::kOtherShapes);
  const Count rows =
      table->type ? positions->elements() * table->back() * table->type->bytes : Count::Unknown();
  const Count both = query->bytes() + (key ? key->bytes() : Count(0));
  return Moved(WorkKind::kElementWise, positions->bytes() + rows + both * 2, TypeName(*query));
}

// Keys and values are written to where the tensor at `slots` says, in a cache of any size.
Formula StoreCache(size_t slots) {
  return [=](const CallOfOperator& call) {
    const Tensor *key = call.arguments.TensorAt(0), *value = call.arguments.TensorAt(1),
                 *to = call.arguments.TensorAt(slots);
    if (!key || !value || !to) return WorkResult::Unknown(why::kNoShapes);
    return Moved(WorkKind::kCopy, (key->bytes() + value->bytes()) * 2 + to->bytes(), TypeName(*key));
  };
}

using Names = std::initializer_list<std::string_view>;

std::map<std::string_view, Formula> ServerFormulas() {
  std::map<std::string_view, Formula> of;
  const auto add = [&](const Formula& formula, Names names) {
    for (const std::string_view name : names) of[name] = formula;
  };
  const WorkKind norm = WorkKind::kNormalization, element_wise = WorkKind::kElementWise;
  // Result, input, weight; with a residual: result, input, residual in and out, weight.
  add(Each(norm), {"aiter::rmsnorm", "aiter::add_rmsnorm", "aiter::rmsnorm2d_fwd_with_add_ck", "_C::rms_norm",
                   "sgl_kernel::rmsnorm"});
  add(Like(norm, 0), {"aiter::rms_norm"});
  // Input and residual, both replaced, weight.
  add(Each(norm, {0, 1}), {"_C::fused_add_rms_norm", "sgl_kernel::fused_add_rmsnorm"});
  // Result, input; of quantisation its scale.
  add(Each(element_wise), {"_C::silu_and_mul", "sgl_kernel::silu_and_mul", "_C::gelu_and_mul",
                           "_C::gelu_tanh_and_mul", "sgl_kernel::gelu_and_mul", "_C::static_scaled_fp8_quant",
                           "_C::dynamic_scaled_fp8_quant", "_C::dynamic_per_token_scaled_fp8_quant"});
  add(RotaryEmbedding, {"_C::rotary_embedding", "sgl_kernel::rotary_embedding"});
  add(StoreCache(4), {"sglang::store_cache", "_C_cache_ops::reshape_and_cache_flash"});
  return of;
}

}  // namespace

Formula KernelFormula(std::string_view name) {
  static const std::map<std::string_view, Formula> servers = ServerFormulas();
  if (const auto known = servers.find(name); known != servers.end()) return known->second;
  if (name.starts_with("triton_poi_")) return Inductor(WorkKind::kElementWise, 1);
  if (name.starts_with("triton_red_") || name.starts_with("triton_per_"))
    return Inductor(WorkKind::kReduction, 2);
  return {};
}

}  // namespace dladvisor
