// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_json/element_reader.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace dladvisor::rocprof_json {
namespace {

using nlohmann::json;

// What nlohmann's parser reads from.
class Bytes {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Bytes() = default;
  explicit Bytes(ByteSource& source) : buffer_(std::make_shared<Buffer>(source)) { Fill(); }

  char operator*() const { return buffer_->bytes[buffer_->at]; }
  Bytes& operator++() {
    if (++buffer_->at == buffer_->size) Fill();
    return *this;
  }
  Bytes operator++(int) {
    Bytes before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Bytes& other) const { return buffer_ == other.buffer_; }
  bool operator!=(const Bytes& other) const { return !(*this == other); }

 private:
  struct Buffer {
    explicit Buffer(ByteSource& of) : source(of) {}
    ByteSource& source;
    std::array<char, 64 * 1024> bytes{};
    size_t at = 0, size = 0;
  };

  void Fill() {
    buffer_->at = 0;
    buffer_->size = buffer_->source.Read(buffer_->bytes.data(), buffer_->bytes.size());
    if (buffer_->size == 0) buffer_.reset();  // the end
  }

  std::shared_ptr<Buffer> buffer_;
};

constexpr size_t kMostDepth = 64;
constexpr size_t kProcess = 3;  // containers to a process: the document, its list and this

// Builds the elements of lists, and the objects that hold no list of objects, and forgets them.
class Elements : public json::json_sax_t {
 public:
  explicit Elements(const Visit& visit) : visit_(visit) {}

  bool null() override { return Value(nullptr); }
  bool boolean(bool value) override { return Value(value); }
  bool number_integer(number_integer_t value) override { return Value(value); }
  bool number_unsigned(number_unsigned_t value) override { return Value(value); }
  bool number_float(number_float_t value, const string_t&) override { return Value(value); }
  bool string(string_t& value) override { return Value(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& name) override {
    if (open_.empty())
      key_ = std::move(name);
    else
      keys_.back() = std::move(name);
    return true;
  }
  bool start_object(std::size_t) override { return Open(json::object()); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(json::array()); }
  bool end_array() override { return Close(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  // Containers above elements: the document, its list, the process, its members, and of "strings",
  // "buffer_records" and "callback_records" the members of these.
  bool IsAbove(const json& container) const {
    if (above_ < kProcess) return true;
    if (above_ == kProcess) return container.is_array() || key_.ends_with("_records") || key_ == "strings";
    return above_ == kProcess + 1 && container.is_array() && path_.size() == 1 &&
           (path_[0].ends_with("_records") || path_[0] == "strings");
  }

  bool Open(json container) {
    if (open_.size() + above_ > kMostDepth) return false;
    if (open_.empty() && IsAbove(container)) {
      if (above_++ >= kProcess) path_.push_back(key_);
      return true;
    }
    open_.push_back(std::move(container));
    keys_.emplace_back();
    return true;
  }

  bool Close() {
    if (open_.empty()) {
      --above_;
      if (!path_.empty()) {
        key_.clear();
        path_.pop_back();
      }
      return true;
    }
    json closed = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return Value(std::move(closed));
  }

  bool Value(json value) {
    if (!open_.empty()) {
      if (open_.back().is_array())
        open_.back().push_back(std::move(value));
      else
        open_.back()[keys_.back()] = std::move(value);
      return true;
    }
    if (above_ < kProcess) return true;
    const bool is_member = path_.empty();
    if (is_member) path_.push_back(key_);
    visit_(path_, value);
    if (is_member) path_.pop_back();
    return true;
  }

  const Visit& visit_;
  size_t above_ = 0;
  std::string key_;                // in the container at hand that is above elements
  std::vector<std::string> path_;  // keys of those containers
  std::vector<json> open_;         // of the element at hand
  std::vector<std::string> keys_;
};

}  // namespace

bool ForEachElement(ByteSource& source, const Visit& visit) {
  Elements elements(visit);
  return json::sax_parse(Bytes(source), Bytes(), &elements);
}

}  // namespace dladvisor::rocprof_json
