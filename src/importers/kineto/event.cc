// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/event.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "src/importers/kineto/json_tokens.h"

namespace dladvisor::kineto {
namespace {

// The content of a string token; any other token as it is.
std::string_view Unquote(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    return token.substr(1, token.size() - 2);
  return token;
}

// A number, or the digits of a string.
int64_t Integer(std::string_view token) {
  if (const int64_t number = WholeNumber(token); number >= 0) return number;
  token = Unquote(token);
  int64_t number = 0;
  const char* end = token.data() + token.size();
  const auto [stop, failed] = std::from_chars(token.data(), end, number);
  if (failed != std::errc()) return kUnknown;
  if (stop != end && (*stop == '.' || *stop == 'e' || *stop == 'E')) {
    double real = 0;
    if (std::from_chars(token.data(), end, real).ec != std::errc() || !(std::fabs(real) < 9e18))
      return kUnknown;
    return static_cast<int64_t>(real);
  }
  return number;
}

int64_t IntegerOr(std::string_view token, int64_t otherwise) {
  const int64_t number = Integer(token);
  return number == kUnknown ? otherwise : number;
}

double Real(std::string_view token) {
  token = Unquote(token);
  double real = 0;
  return std::from_chars(token.data(), token.data() + token.size(), real).ec == std::errc() &&
                 std::isfinite(real)
             ? real
             : -1;
}

double SignedReal(std::string_view token) {
  double real = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(token.data(), token.data() + token.size(), real);
  return real;
}

// "0x7f10": 0 where the text is no such number.
int64_t Hexadecimal(std::string_view text) {
  uint64_t number = 0;
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return static_cast<int64_t>(number);
}

// [x, y, z].
bool Triple(std::string_view list, std::array<int64_t, 3>& to) {
  if (!list.starts_with('[')) return false;
  for (int64_t& number : to) {  // behind a bracket or a comma
    const size_t end = std::min(list.find(',', 1), list.size() - 1);
    if (end == 0) return false;
    std::string_view element = list.substr(1, end - 1);
    while (!element.empty() && element.front() <= ' ') element.remove_prefix(1);
    while (!element.empty() && element.back() <= ' ') element.remove_suffix(1);
    number = IntegerOr(element, 0);
    list.remove_prefix(end);
  }
  return true;
}

// In parts that compilers compare without a call.
template <size_t kSize>
bool Same(const char* text, const char* other) {
  constexpr size_t kPart = std::min<size_t>(8, std::bit_floor(kSize));
  if (std::memcmp(text, other, kPart) != 0) return false;
  if constexpr (kSize > kPart) return Same<kSize - kPart>(text + kPart, other + kPart);
  return true;
}

template <size_t kSize>
bool Is(std::string_view text, const char (&other)[kSize]) {
  return text.size() == kSize - 1 && Same<kSize - 1>(text.data(), other);
}

void ReadArgument(std::string_view key, std::string_view value, Event& e) {
  const auto text = [&] { return Unquote(value); };
  const auto integer = [&] { return Integer(value); };
  switch (key.size()) {
    case 0:  // the only series of a counter
      if (const double number = SignedReal(value); std::isfinite(number)) e.counter = number;
      break;
    case 3:
      if (Is(key, "Seq"))
        e.collective_sequence = IntegerOr(value, -1);
      else if (Is(key, "pid"))
        e.calling_process = text();
      else if (Is(key, "tid"))
        e.calling_thread = text();
      break;
    case 4:
      if (Is(key, "grid"))
        e.has_shape = Triple(value, e.grid);
      else if (Is(key, "name"))
        e.value = text();
      else if (Is(key, "Addr"))
        e.address = IntegerOr(value, 0);
      else if (Is(key, "size"))
        e.requested = integer();
      else if (Is(key, "args"))
        e.call_arguments = text();
      break;
    case 5:
      if (Is(key, "block"))
        Triple(value, e.block);
      else if (Is(key, "bytes"))
        e.bytes = integer();
      else if (Is(key, "Bytes"))
        e.allocator_bytes = integer();
      else if (Is(key, "dtype"))
        e.dtype = text();
      else if (Is(key, "EndNs"))
        e.exact_end = integer();
      break;
    case 6:
      if (Is(key, "stream"))
        e.stream = integer();
      else if (Is(key, "device") || Is(key, "dev-id"))
        e.device = integer();
      break;
    case 7:
      if (Is(key, "BeginNs"))
        e.exact_start = integer();
      else if (Is(key, "op_name"))
        e.node_operator = text();
      break;
    case 8:
      if (Is(key, "src kind"))
        e.from = text();
      else if (Is(key, "Comms Id"))
        e.collective_operation = text();
      else if (Is(key, "dst kind"))
        e.to = text();
      else if (Is(key, "graph id"))
        e.graph = IntegerOr(value, 0);
      else if (Is(key, "step_num"))
        e.step_number = text();
      else if (Is(key, "provider"))
        e.node_provider = text();
      break;
    case 9:
      if (Is(key, "Device Id"))
        e.allocator_device = IntegerOr(value, 0);
      else if (Is(key, "copy kind"))
        e.copy_kind = text();
      else if (Is(key, "stream-id"))
        e.stream = integer();
      break;
    case 10:
      if (Is(key, "Input Dims") || Is(key, "Input dims"))
        e.shapes = value;
      else if (Is(key, "hlo_module"))
        e.hlo_module = text();
      else if (Is(key, "Input type"))
        e.types = value;
      else if (Is(key, "Call stack"))
        e.stack = text();
      else if (Is(key, "Group size"))
        e.group_size = IntegerOr(value, -1);
      else if (Is(key, "cuda event"))
        e.event_handle = Hexadecimal(text());
      else if (Is(key, "annotation"))
        e.annotation = text();
      break;
    case 11:
      if (Is(key, "correlation"))
        e.correlation = integer();
      else if (Is(key, "Device Type"))
        e.device_type = integer();
      else if (Is(key, "External id") || Is(key, "external id"))
        e.external = value;
      else if (Is(key, "memory kind"))
        e.memory = text();
      break;
    case 12:
      if (Is(key, "hlo_category")) e.hlo_category = text();
      break;
    case 13:
      if (Is(key, "shared memory"))
        e.shared_bytes = IntegerOr(value, 0);
      else if (Is(key, "blocks per SM"))
        e.blocks_per_sm = Real(value);
      else if (Is(key, "Input Strides"))
        e.strides = value;
      else if (Is(key, "Fwd thread id"))
        e.forward_thread = IntegerOr(value, 0);
      else if (Is(key, "In msg nelems"))
        e.in_elements = IntegerOr(value, -1);
      else if (Is(key, "graph node id"))
        e.graph_node = IntegerOr(value, 0);
      break;
    case 14:
      if (Is(key, "cuda_sync_kind"))
        e.sync_kind = text();
      else if (Is(key, "correlation_id"))
        e.correlation = integer();
      else if (Is(key, "kernel_details"))
        e.kernel_details = text();
      else if (Is(key, "memcpy_details"))
        e.memcpy_details = text();
      else if (Is(key, "memset_details"))
        e.memset_details = text();
      else if (Is(key, "Total Reserved"))
        e.reserved = integer();
      else if (Is(key, "Out msg nelems"))
        e.out_elements = IntegerOr(value, -1);
      break;
    case 15:
      if (Is(key, "Total Allocated"))
        e.allocated = integer();
      else if (Is(key, "Sequence number"))
        e.sequence = integer();
      else if (Is(key, "Collective name"))
        e.collective = text();
      else if (Is(key, "Concrete Inputs"))
        e.values = value;
      else if (Is(key, "original_stream"))
        e.original_stream = integer();
      break;
    case 16:
      if (Is(key, "Module Hierarchy")) e.module = text();
      break;
    case 18:
      if (Is(key, "Process Group Name"))
        e.group = text();
      else if (Is(key, "cuda_graph_node_id"))
        e.graph_node = IntegerOr(value, 0);
      break;
    case 19:
      if (Is(key, "Process Group Ranks")) e.group_ranks = text();
      break;
    case 20:
      if (Is(key, "registers per thread")) e.registers = IntegerOr(value, 0);
      break;
    case 23:
      if (Is(key, "memory bandwidth (GB/s)")) e.gigabytes_per_second = Real(value);
      break;
    case 25:
      if (Is(key, "est. achieved occupancy %")) e.occupancy = Real(value);
      break;
    case 33:
      if (Is(key, "wait_on_cuda_event_record_corr_id")) e.record_correlation = IntegerOr(value, -1);
      break;
    default:
      break;
  }
}

void ReadMember(std::string_view key, std::string_view value, Event& e) {
  if (Is(key, "ph")) {
    const std::string_view phase = Unquote(value);
    e.phase = phase.size() == 1 ? phase[0] : '\0';
  } else if (Is(key, "cat")) {
    e.category = Unquote(value);
  } else if (Is(key, "name")) {
    e.name = Unquote(value);
  } else if (Is(key, "ts")) {
    e.start = NanosecondsOf(Unquote(value));
  } else if (Is(key, "dur")) {
    e.duration = NanosecondsOf(Unquote(value));
  } else if (Is(key, "pid")) {
    e.pid = value;
  } else if (Is(key, "tid")) {
    e.tid = value;
  } else if (Is(key, "id")) {
    e.flow = Unquote(value);
  }
}

// `[[gnu::always_inline]]` keeps the cursor in registers.
[[gnu::always_inline]] inline bool ReadArguments(JsonCursor& at, Event& e) {
  if (!at.Take('{')) return false;
  if (at.Take('}')) return true;
  do {
    std::string_view key, value;
    if (!at.TakeKey(key) || !at.TakeValue(value)) return false;
    ReadArgument(key, value, e);
  } while (at.Take(','));
  return at.Take('}');
}

[[gnu::always_inline]] inline bool ReadEvent(JsonCursor& at, Event& e) {
  if (!at.Take('{')) return false;
  if (at.Take('}')) return true;
  do {
    std::string_view key, value;
    if (!at.TakeKey(key)) return false;
    if (at.Kind() == '{' && Is(key, "args")) {
      if (!ReadArguments(at, e)) return false;
    } else {
      if (!at.TakeValue(value)) return false;
      ReadMember(key, value, e);
    }
  } while (at.Take(','));
  return at.Take('}');
}

}  // namespace

struct EventParser::State {
  JsonTokens tokens;
  JsonCursor at;
  bool is_first = true, is_whole = false;
};

EventParser::EventParser() : state_(new State) {}
EventParser::~EventParser() { delete state_; }

bool EventParser::Begin(std::string_view list, size_t capacity) {
  State& s = *state_;
  s.is_first = true;
  s.is_whole = false;
  s.at = s.tokens.Find(list, capacity);
  return s.at.Take('[');
}

bool EventParser::Next(Event& event) {
  static const Event kNothing;
  JsonCursor at = state_->at;
  for (;;) {
    if (at.Take(']')) {
      state_->is_whole = at.AtEnd();
      return false;
    }
    if (!state_->is_first && !at.Take(',')) return false;
    state_->is_first = false;
    if (at.Kind() == '{') break;
    std::string_view other;
    if (!at.TakeValue(other)) return false;
  }
  event = kNothing;
  if (!ReadEvent(at, event)) return false;
  state_->at = at;
  return true;
}

bool EventParser::IsWhole() const { return state_->is_whole; }

Ns NanosecondsOf(std::string_view microseconds) {
  std::string_view rest = microseconds;
  const bool negative = rest.starts_with('-');
  if (negative) rest.remove_prefix(1);
  int64_t whole = 0;
  size_t i = 0;
  for (; i < rest.size() && rest[i] >= '0' && rest[i] <= '9'; ++i) {
    if (whole > 900'000'000'000'000) return kUnknown;  // beyond any clock
    whole = whole * 10 + (rest[i] - '0');
  }
  if (i == 0) return kUnknown;
  int64_t nanoseconds = whole * 1000;
  if (i < rest.size() && rest[i] == '.') {
    int64_t scale = 100;
    for (++i; i < rest.size() && rest[i] >= '0' && rest[i] <= '9'; ++i, scale /= 10) {
      nanoseconds += (rest[i] - '0') * scale;
      if (scale == 0) break;
    }
    while (i < rest.size() && rest[i] >= '0' && rest[i] <= '9') ++i;
  }
  if (i < rest.size()) {  // an exponent
    double real = 0;
    const char* end = microseconds.data() + microseconds.size();
    const auto [stop, failed] = std::from_chars(microseconds.data(), end, real);
    if (failed != std::errc() || stop != end || !(std::fabs(real) < 9e15)) return kUnknown;
    return static_cast<Ns>(std::llround(real * 1000));
  }
  return negative ? -nanoseconds : nanoseconds;
}

std::string_view Unescape(std::string_view text, std::string& buffer) {
  if (text.find('\\') == std::string_view::npos) return text;
  buffer.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      buffer += text[i];
      continue;
    }
    switch (const char c = text[++i]) {
      case 'n':
        buffer += '\n';
        break;
      case 't':
        buffer += '\t';
        break;
      case 'r':
      case 'b':
      case 'f':
        buffer += ' ';
        break;
      case '"':
      case '\\':
      case '/':
        buffer += c;
        break;
      case 'u': {
        uint32_t code = 0;
        if (i + 4 >= text.size() ||
            std::from_chars(&text[i + 1], &text[i + 5], code, 16).ptr != &text[i + 5]) {
          buffer += "\\u";
          break;
        }
        i += 4;
        if (code >= 0xD800 && code < 0xE000) code = 0xFFFD;  // halves of pairs are not characters
        if (code < 0x80) {
          buffer += static_cast<char>(code);
        } else if (code < 0x800) {
          buffer += static_cast<char>(0xC0 | (code >> 6));
          buffer += static_cast<char>(0x80 | (code & 0x3F));
        } else {
          buffer += static_cast<char>(0xE0 | (code >> 12));
          buffer += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
          buffer += static_cast<char>(0x80 | (code & 0x3F));
        }
        break;
      }
      default:  // paths of Windows, which some writers do not escape
        buffer += '\\';
        buffer += c;
    }
  }
  return buffer;
}

}  // namespace dladvisor::kineto
