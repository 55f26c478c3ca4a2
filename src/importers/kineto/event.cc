// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/event.h"

#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

namespace dladvisor::kineto {
namespace {

using namespace simdjson;

// The characters of a key, which has no escapes where anyone knows it.
std::string_view Text(ondemand::raw_json_string key) {
  const char* begin = key.raw();
  return {begin, static_cast<size_t>(static_cast<const char*>(std::strchr(begin, '"')) - begin)};
}

std::string_view Trim(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

std::string_view Token(ondemand::value& value) { return Trim(value.raw_json_token()); }

// The content of a string token; any other token as it is.
std::string_view Unquote(std::string_view token) {
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"')
    return token.substr(1, token.size() - 2);
  return token;
}

// A number, or the digits of a string.
int64_t Integer(std::string_view token) {
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

// The JSON text of a value, "" where it is broken.
std::string_view Raw(ondemand::value& value) {
  ondemand::json_type type{};
  if (value.type().get(type)) return {};
  std::string_view raw;
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    if (value.get_array().get(array) || array.raw_json().get(raw)) return {};
    return Trim(raw);
  }
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    if (value.get_object().get(object) || object.raw_json().get(raw)) return {};
    return Trim(raw);
  }
  return Token(value);
}

// [x, y, z].
bool Triple(ondemand::value& value, std::array<int64_t, 3>& to) {
  ondemand::array array;
  if (value.get_array().get(array)) return false;
  size_t i = 0;
  for (auto element : array) {
    ondemand::value number;
    if (element.get(number)) return false;
    if (i < to.size()) to[i++] = IntegerOr(Token(number), 0);
  }
  return i == to.size();
}

void ReadArgument(std::string_view key, ondemand::value& value, Event& e) {
  const auto text = [&] { return Unquote(Token(value)); };
  const auto integer = [&] { return Integer(Token(value)); };
  switch (key.size()) {
    case 0:  // the only series of a counter
      if (const double number = SignedReal(Token(value)); std::isfinite(number)) e.counter = number;
      break;
    case 3:
      if (key == "Seq")
        e.collective_sequence = IntegerOr(Token(value), -1);
      else if (key == "pid")
        e.calling_process = text();
      else if (key == "tid")
        e.calling_thread = text();
      break;
    case 4:
      if (key == "grid")
        e.has_shape = Triple(value, e.grid);
      else if (key == "name")
        e.value = text();
      else if (key == "Addr")
        e.address = IntegerOr(Token(value), 0);
      else if (key == "size")
        e.requested = integer();
      else if (key == "args")
        e.call_arguments = text();
      break;
    case 5:
      if (key == "block")
        Triple(value, e.block);
      else if (key == "bytes")
        e.bytes = integer();
      else if (key == "Bytes")
        e.allocator_bytes = integer();
      else if (key == "dtype")
        e.dtype = text();
      else if (key == "EndNs")
        e.exact_end = integer();
      break;
    case 6:
      if (key == "stream")
        e.stream = integer();
      else if (key == "device" || key == "dev-id")
        e.device = integer();
      break;
    case 7:
      if (key == "BeginNs") e.exact_start = integer();
      break;
    case 8:
      if (key == "src kind")
        e.from = text();
      else if (key == "Comms Id")
        e.collective_operation = text();
      else if (key == "dst kind")
        e.to = text();
      else if (key == "graph id")
        e.graph = IntegerOr(Token(value), 0);
      else if (key == "step_num")
        e.step_number = text();
      break;
    case 9:
      if (key == "Device Id")
        e.allocator_device = IntegerOr(Token(value), 0);
      else if (key == "copy kind")
        e.copy_kind = text();
      else if (key == "stream-id")
        e.stream = integer();
      break;
    case 10:
      if (key == "Input Dims" || key == "Input dims")
        e.shapes = Raw(value);
      else if (key == "hlo_module")
        e.hlo_module = text();
      else if (key == "Input type")
        e.types = Raw(value);
      else if (key == "Call stack")
        e.stack = text();
      else if (key == "Group size")
        e.group_size = IntegerOr(Token(value), -1);
      else if (key == "cuda event")
        e.event_handle = Hexadecimal(text());
      break;
    case 11:
      if (key == "correlation")
        e.correlation = integer();
      else if (key == "Device Type")
        e.device_type = integer();
      else if (key == "External id" || key == "external id")
        e.external = Token(value);
      else if (key == "memory kind")
        e.memory = text();
      break;
    case 12:
      if (key == "hlo_category") e.hlo_category = text();
      break;
    case 13:
      if (key == "shared memory")
        e.shared_bytes = IntegerOr(Token(value), 0);
      else if (key == "blocks per SM")
        e.blocks_per_sm = Real(Token(value));
      else if (key == "Input Strides")
        e.strides = Raw(value);
      else if (key == "Fwd thread id")
        e.forward_thread = IntegerOr(Token(value), 0);
      else if (key == "In msg nelems")
        e.in_elements = IntegerOr(Token(value), -1);
      else if (key == "graph node id")
        e.graph_node = IntegerOr(Token(value), 0);
      break;
    case 14:
      if (key == "cuda_sync_kind")
        e.sync_kind = text();
      else if (key == "correlation_id")
        e.correlation = integer();
      else if (key == "kernel_details")
        e.kernel_details = text();
      else if (key == "memcpy_details")
        e.memcpy_details = text();
      else if (key == "memset_details")
        e.memset_details = text();
      else if (key == "Total Reserved")
        e.reserved = integer();
      else if (key == "Out msg nelems")
        e.out_elements = IntegerOr(Token(value), -1);
      break;
    case 15:
      if (key == "Total Allocated")
        e.allocated = integer();
      else if (key == "Sequence number")
        e.sequence = integer();
      else if (key == "Collective name")
        e.collective = text();
      else if (key == "Concrete Inputs")
        e.values = Raw(value);
      else if (key == "original_stream")
        e.original_stream = integer();
      break;
    case 16:
      if (key == "Module Hierarchy") e.module = text();
      break;
    case 18:
      if (key == "Process Group Name")
        e.group = text();
      else if (key == "cuda_graph_node_id")
        e.graph_node = IntegerOr(Token(value), 0);
      break;
    case 19:
      if (key == "Process Group Ranks") e.group_ranks = text();
      break;
    case 20:
      if (key == "registers per thread") e.registers = IntegerOr(Token(value), 0);
      break;
    case 23:
      if (key == "memory bandwidth (GB/s)") e.gigabytes_per_second = Real(Token(value));
      break;
    case 25:
      if (key == "est. achieved occupancy %") e.occupancy = Real(Token(value));
      break;
    case 33:
      if (key == "wait_on_cuda_event_record_corr_id") e.record_correlation = IntegerOr(Token(value), -1);
      break;
    default:
      break;
  }
}

bool ReadArguments(ondemand::value& value, Event& e) {
  ondemand::object arguments;
  if (value.get_object().get(arguments)) return false;
  for (auto member : arguments) {
    ondemand::field field;
    if (std::move(member).get(field)) return false;
    ReadArgument(Text(field.key()), field.value(), e);
  }
  return true;
}

bool ReadMember(std::string_view key, ondemand::value& value, Event& e) {
  if (key == "ph") {
    const std::string_view phase = Unquote(Token(value));
    e.phase = phase.size() == 1 ? phase[0] : '\0';
  } else if (key == "cat") {
    e.category = Unquote(Token(value));
  } else if (key == "name") {
    e.name = Unquote(Token(value));
  } else if (key == "ts") {
    e.start = NanosecondsOf(Unquote(Token(value)));
  } else if (key == "dur") {
    e.duration = NanosecondsOf(Unquote(Token(value)));
  } else if (key == "pid") {
    e.pid = Token(value);
  } else if (key == "tid") {
    e.tid = Token(value);
  } else if (key == "id") {
    e.flow = Unquote(Token(value));
  } else if (key == "args") {
    ondemand::json_type type{};
    if (value.type().get(type)) return false;
    if (type == ondemand::json_type::object) return ReadArguments(value, e);
  }
  return true;
}

}  // namespace

struct EventParser::State {
  ondemand::parser parser;
  ondemand::document document;
  ondemand::array array;
  std::optional<ondemand::array_iterator> at, end;
  bool is_broken = false, is_first = true;
};

EventParser::EventParser() : state_(new State) {}
EventParser::~EventParser() { delete state_; }

bool EventParser::Begin(std::string_view list, size_t capacity) {
  State& s = *state_;
  s.is_broken = false;
  s.is_first = true;
  s.at.reset();
  if (s.parser.iterate(list, capacity).get(s.document) || s.document.get_array().get(s.array)) return false;
  ondemand::array_iterator begin, end;
  if (s.array.begin().get(begin) || s.array.end().get(end)) return false;
  s.at = begin;
  s.end = end;
  return true;
}

bool EventParser::Next(Event& event) {
  State& s = *state_;
  for (;;) {
    if (!s.is_first) ++*s.at;
    s.is_first = false;
    if (!(*s.at != *s.end)) return false;
    ondemand::value element;
    ondemand::json_type type{};
    if ((**s.at).get(element) || element.type().get(type)) {
      s.is_broken = true;
      return false;
    }
    if (type != ondemand::json_type::object) continue;
    ondemand::object object;
    event = Event();
    if (element.get_object().get(object)) {
      s.is_broken = true;
      return false;
    }
    for (auto member : object) {
      ondemand::field field;
      if (std::move(member).get(field) || !ReadMember(Text(field.key()), field.value(), event)) {
        s.is_broken = true;
        return false;
      }
    }
    return true;
  }
}

bool EventParser::IsWhole() const {
  const char* next = nullptr;
  return !state_->is_broken && state_->document.current_location().get(next) == OUT_OF_BOUNDS;
}

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
