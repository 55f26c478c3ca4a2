// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/attention_work.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dladvisor {
namespace {

// How the dimensions of query, key and value are ordered: [batch, heads, sequence, size], [batch, sequence,
// heads, size], or [tokens of all sequences, heads, size].
enum class Layout { kHeadsFirst, kSequenceFirst };

// Which keys a query of a causal attention sees where their numbers differ: sequences are aligned at their
// first or at their last position.
enum class Diagonal { kFirst, kLast };

struct AttentionPositions {
  Layout layout = Layout::kHeadsFirst;
  size_t query = 0;             // key and value follow
  size_t causal = kNoPosition;  // a flag, or xFormers' number of the mask's kind
  size_t query_ends = kNoPosition, key_ends = kNoPosition, longest_query = kNoPosition,
         longest_key = kNoPosition;
  size_t window = kNoPosition;  // left, right follows
  Diagonal diagonal = Diagonal::kLast;
  bool backward = false;
  std::vector<size_t> lengths;  // tensors that say how much of the keys counts
  bool mask_number = false;     // `causal`: 0 none, 1 aligned at the first position, 2 at the last
};

struct Lengths {
  Count batch = 0;
  int64_t query = 0, key = 0;
};

// Twice the number of pairs of a query and a key that it sees, so that halves of squares are whole numbers.
Count TwicePairs(int64_t query, int64_t key, bool causal, Diagonal diagonal) {
  if (!causal) return Count(query) * key * 2;
  // As the authors of flash attention count it: half of the square.
  if (query == key) return Count(query) * key;
  const auto triangle = [](int64_t side) { return Count(side) * (Count(side) + 1); };
  if (diagonal == Diagonal::kFirst)
    return query < key ? triangle(query) : triangle(key) + (Count(query) - key) * key * 2;
  return query < key ? Count(query) * (Count(key) - query) * 2 + triangle(query) : triangle(key);
}

WorkResult AttentionResult(Count twice_pairs, int64_t query_size, int64_t value_size, Count bytes,
                           bool backward, const Tensor& query) {
  WorkResult result;
  Work& work = result.work.emplace();
  work.kind = WorkKind::kAttention;
  const Count scores = twice_pairs * query_size, values = twice_pairs * value_size;
  // Gradients: of the values and of the probabilities, of the queries and of the keys; flash attention
  // computes the scores again.
  work.model_flops = (backward ? (scores + values) * 2 : scores + values).value();
  work.flops = (backward ? scores * 3 + values * 2 : scores + values).value();
  if (!work.flops || !work.model_flops) return WorkResult::Unknown(why::kTooLarge);
  if (query.type) work.data_type = query.type->name;
  work.bytes = bytes.value();
  if (!work.bytes) work.bytes_unknown = why::kNoTypes;
  return result;
}

// Sequences of different lengths stand one after the other. Their lengths are known where all are the
// longest, or where there is only one.
std::optional<Lengths> PackedLengths(const Arguments& arguments, const AttentionPositions& at,
                                     int64_t query_tokens, int64_t key_tokens) {
  const Tensor* ends = at.query_ends == kNoPosition ? nullptr : arguments.TensorAt(at.query_ends);
  if (!ends || ends->rank() != 1 || ends->shape[0] < 2) return std::nullopt;
  const int64_t batch = ends->shape[0] - 1;
  if (batch == 1) return Lengths{1, query_tokens, key_tokens};
  const auto longest_query = arguments.IntegerAt(at.longest_query);
  const auto longest_key = arguments.IntegerAt(at.longest_key);
  if (!longest_query || !longest_key || *longest_query < 0 || *longest_key < 0 ||
      (Count(batch) * *longest_query).value() != query_tokens ||
      (Count(batch) * *longest_key).value() != key_tokens)
    return std::nullopt;
  return Lengths{batch, *longest_query, *longest_key};
}

WorkResult Attention(const CallOfOperator& call, const AttentionPositions& at, bool backward) {
  const Arguments& arguments = call.arguments;
  const Tensor *q = arguments.TensorAt(at.query), *k = arguments.TensorAt(at.query + 1),
               *v = arguments.TensorAt(at.query + 2);
  if (!q || !k || !v) return WorkResult::Unknown(why::kNoShapes);
  if (q->rank() < 3 || q->rank() > 4 || k->rank() != q->rank() || v->rank() != q->rank() ||
      q->back() != k->back())
    return WorkResult::Unknown(why::kOtherShapes);
  for (const size_t position : at.lengths)
    if (arguments.TensorAt(position)) return WorkResult::Unknown(why::kNoLengths);
  const bool packed = (q->rank() == 3 && at.layout == Layout::kSequenceFirst) ||
                      (at.query_ends != kNoPosition && arguments.TensorAt(at.query_ends));
  const size_t heads_at = at.layout == Layout::kHeadsFirst ? 2 : 1;  // from the end
  const size_t sequence_at = at.layout == Layout::kHeadsFirst ? 1 : 2;
  const int64_t heads = q->back(heads_at);
  if (k->back(heads_at) == 0 || heads % k->back(heads_at) != 0 ||
      v->back(sequence_at) != k->back(sequence_at))
    return WorkResult::Unknown(why::kOtherShapes);
  Lengths lengths{q->rank() == 4 ? q->shape[0] : 1, q->back(sequence_at), k->back(sequence_at)};
  if (packed) {
    const auto found = PackedLengths(arguments, at, q->back(sequence_at), k->back(sequence_at));
    if (!found) return WorkResult::Unknown(why::kNoLengths);
    lengths = *found;
  } else if (q->rank() == 4 && k->shape[0] != q->shape[0]) {
    return WorkResult::Unknown(why::kOtherShapes);
  }
  if (at.window != kNoPosition) {
    const auto left = arguments.IntegerAt(at.window), right = arguments.IntegerAt(at.window + 1);
    if ((left && *left >= 0 && *left < lengths.key) || (right && *right > 0))
      return WorkResult::Unknown(why::kWindow);
  }
  bool causal = false;
  Diagonal diagonal = at.diagonal;
  const bool recorded = !arguments.ValueAt(at.causal).empty();
  if (recorded) {
    if (at.mask_number) {
      const auto number = arguments.IntegerAt(at.causal);
      if (!number) return WorkResult::Unknown(why::kNoScalars);
      causal = *number != 0;
      diagonal = *number == 1 ? Diagonal::kFirst : Diagonal::kLast;
    } else {
      const auto flag = arguments.FlagAt(at.causal);
      if (!flag) return WorkResult::Unknown(why::kNoScalars);
      causal = *flag;
    }
  }
  const Count pairs = TwicePairs(lengths.query, lengths.key, causal, diagonal) * lengths.batch * heads;
  Count bytes = Count::Unknown();
  if (q->type && k->type && v->type) {
    // FP8 gives BF16.
    const int64_t element = std::max<int64_t>(q->type->bytes, 2);
    const Count out = q->elements() / std::max<int64_t>(q->back(), 1) * v->back() * element;
    const Count inputs = q->bytes() + k->bytes() + v->bytes();
    // Backward: the output and its gradient are read besides, the gradients of the three inputs written.
    bytes = backward ? inputs * 2 + out * 2 : inputs + out;
  }
  WorkResult result = AttentionResult(pairs, q->back(), v->back(), bytes, backward, *q);
  if (result.work && !recorded) result.work->assumed = why::kNotCausal;
  return result;
}

// Paged attention: query [tokens, heads, size], key [.., heads, size]; the range around the call gives the
// lengths of the batch.
Formula Paged(size_t query) {
  return [=](const CallOfOperator& call) {
    const Tensor *q = call.arguments.TensorAt(query), *k = call.arguments.TensorAt(query + 1),
                 *v = call.arguments.TensorAt(query + 2);
    if (!q || !k || !v) return WorkResult::Unknown(why::kNoShapes);
    if (!call.batch) return WorkResult::Unknown(why::kNoLengths);
    const BatchLengths &context = call.batch->context, &generation = call.batch->generation;
    if (q->rank() != 3 || k->rank() < 3 || v->rank() < 3) return WorkResult::Unknown(why::kOtherShapes);
    const int64_t heads = q->shape[1];
    if (q->shape[0] < context.query + generation.query) return WorkResult::Unknown(why::kNoLengths);
    const Count pairs = Count(context.query_key) * 2 - context.query_query + Count(generation.query_key) * 2;
    Count bytes = Count::Unknown();
    if (q->type && k->type && v->type) {
      const Count read =
          (Count(context.key) + generation.key) *
          (Count(k->back(1)) * k->back() * k->type->bytes + Count(v->back(1)) * v->back() * v->type->bytes);
      bytes = read + q->bytes() + Count(q->shape[0]) * heads * v->back() * q->type->bytes;
    }
    return AttentionResult(pairs * heads, q->back(), v->back(), bytes, false, *q);
  };
}

// By operator: ATen/native/native_functions.yaml, flash_attn/flash_attn_interface.py, aiter/ops/mha.py,
// xformers/ops/fmha.
const std::map<std::string_view, AttentionPositions>& Operators() {
  static const std::map<std::string_view, AttentionPositions> operators = [] {
    const auto dense = [](size_t causal, size_t query = 0) {
      AttentionPositions at;
      at.query = query;
      at.causal = causal;
      at.diagonal = Diagonal::kFirst;
      at.backward = query > 0;
      return at;
    };
    const auto flash = [](size_t causal, size_t query = 0, size_t ends = kNoPosition,
                          size_t window = kNoPosition) {
      AttentionPositions at;
      at.layout = Layout::kSequenceFirst;
      at.query = query;
      at.causal = causal;
      at.window = window;
      at.backward = query > 0;
      if (ends != kNoPosition) {
        at.query_ends = ends;
        at.key_ends = ends + 1;
        at.longest_query = ends + 2;
        at.longest_key = ends + 3;
      }
      return at;
    };
    const auto numbered = [](AttentionPositions at) {
      at.mask_number = true;
      return at;
    };
    std::map<std::string_view, AttentionPositions> of;
    of["aten::scaled_dot_product_attention"] = dense(5);
    of["aten::_scaled_dot_product_attention_math"] = dense(5);
    of["aten::_scaled_dot_product_flash_attention"] = dense(4);
    of["aten::_scaled_dot_product_efficient_attention"] = dense(6);
    of["aten::_scaled_dot_product_cudnn_attention"] = dense(6);
    of["aten::_scaled_dot_product_fused_attention_overrideable"] = dense(5);
    of["aten::_scaled_dot_product_flash_attention_backward"] = dense(11, 1);
    of["aten::_scaled_dot_product_efficient_attention_backward"] = dense(11, 1);
    of["aten::_scaled_dot_product_cudnn_attention_backward"] = dense(14, 1);
    of["aten::_flash_attention_forward"] = flash(8, 0, 3);
    of["aten::_flash_attention_backward"] = flash(11, 1, 6);
    of["aten::_efficient_attention_forward"] = numbered(flash(9, 0, 4));
    of["aten::_efficient_attention_backward"] = numbered(flash(14, 1, 6));
    of["flash_attn::_flash_attn_forward"] = flash(5, 0, kNoPosition, 6);
    of["flash_attn::_flash_attn_backward"] = flash(11, 1, kNoPosition, 12);
    of["flash_attn::_flash_attn_varlen_forward"] = flash(9, 0, 3, 10);
    of["flash_attn::_flash_attn_varlen_backward"] = flash(15, 1, 9, 16);
    of["FlashAttnFunc"] = flash(5);
    of["FlashAttnVarlenFunc"] = flash(9, 0, 3);
    of["aiter::_flash_attn_forward"] = of["aiter::fmha_v3_fwd"] = of["aiter::mha_fwd"] =
        of["aiter::wrapper_fmha_v3_fwd"] = flash(5, 0, kNoPosition, 6);
    of["aiter::fmha_v3_bwd"] = of["aiter::mha_bwd"] = of["aiter::wrapper_fmha_v3_bwd"] =
        flash(8, 1, kNoPosition, 9);
    of["aiter::_flash_attn_backward"] = flash(12, 1, kNoPosition, 13);
    of["aiter::mha_varlen_fwd"] = flash(12, 0, 3, 13);
    of["xformers::efficient_attention_forward_cutlass"] = numbered(flash(9, 0, 4));
    of["xformers::efficient_attention_backward_cutlass"] = numbered(flash(14, 1, 5));
    AttentionPositions at = flash(10, 0, 3, 11);
    at.longest_query = 6;
    at.longest_key = 7;
    at.lengths = {5};
    of["xformers_flash::flash_fwd"] = at;
    // New keys and values, lengths of what is used, and pages stand between.
    at = flash(24, 0, 7, 25);
    at.longest_query = 12;
    at.longest_key = 13;
    at.lengths = {3, 10, 11, 14};
    of["flash_attn_3::_flash_attn_forward"] = of["flash_attn_3::fwd"] = at;
    at = flash(16, 1, 6, 17);
    at.longest_query = 10;
    at.longest_key = 11;
    at.lengths = {8, 9};
    of["flash_attn_3::_flash_attn_backward"] = at;
    return of;
  }();
  return operators;
}

// The position of the query; keys and values, or their cache, follow.
const std::map<std::string_view, size_t>& PagedOperators() {
  static const std::map<std::string_view, size_t> operators = {
      {"vllm::unified_attention", 0},
      {"vllm::unified_attention_with_output", 0},
      {"aiter::mha_batch_prefill", 0},
      {"sglang_profiler::attention_paged_attention_ragged", 2},
  };
  return operators;
}

}  // namespace

bool IsPagedAttention(std::string_view name) { return PagedOperators().contains(name); }

Formula AttentionFormula(std::string_view name) {
  if (const auto at = Operators().find(name); at != Operators().end())
    return [positions = at->second](const CallOfOperator& call) {
      return Attention(call, positions, positions.backward);
    };
  if (const auto at = PagedOperators().find(name); at != PagedOperators().end()) return Paged(at->second);
  return {};
}

Formula AttentionBackwardFormula(std::string_view forward) {
  const auto at = Operators().find(forward);
  if (at == Operators().end() || at->second.backward) return {};
  return [positions = at->second](const CallOfOperator& call) { return Attention(call, positions, true); };
}

}  // namespace dladvisor
