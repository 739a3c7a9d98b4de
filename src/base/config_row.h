// SPDX-License-Identifier: Apache-2.0
// A configuration row at run time: what the macros of config_rows.h become, so that parsers,
// tables, pages and tests walk over all rows without knowing their types.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/config_text.h"

namespace mxnet {

struct Config;

enum class When : uint8_t { kStartup, kLive };

// Whether setting the row changes anything, and how one knows.
struct Effect {
  enum Kind : uint8_t { kActive, kPending, kInert };
  Kind kind;
  const char* note;
};
// `test`, "Suite.Name", shows the behaviour that the row changes; a test checks that it exists.
constexpr Effect active(const char* test) { return {Effect::kActive, test}; }
// The subsystem that will obey the row is not there yet.
constexpr Effect pending(const char* issue) { return {Effect::kPending, issue}; }
// Accepted so that scripts run, without effect here, because ...
constexpr Effect inert(const char* reason) { return {Effect::kInert, reason}; }

const char* to_string(When when);
const char* to_string(Effect::Kind kind);

// Everything that a row states, but for its type and its allowed values.
struct RowText {
  const char* section;  // "storage.cpu"
  const char* field;    // "page_size"
  When when;
  const char* name;      // "MXNET_CPU_MEM_POOL_PAGE_SIZE"
  const char* fallback;  // the default, as text; "=NAME": the value of that row
  Effect effect;
  const char* doc;
};

// Immutable once the table is built, hence safe to share between threads.
class Row : public RowText {
 public:
  virtual ~Row() = default;

  virtual const char* type() const = 0;
  virtual std::string allowed() const = 0;  // reads after "expected "
  virtual bool accepts(std::string_view text) const = 0;
  // REQUIRES: accepts(text).
  virtual void store(std::string_view text, Config& config) const = 0;
  virtual std::string print(const Config& config) const = 0;

  // Whose value is this row's default; empty if it is a text of its own.
  std::string_view default_source() const;
  size_t index() const { return index_; }    // in config_rows()
  size_t offset() const { return offset_; }  // of its field in a Config, in bytes

 protected:
  Row(const RowText& text, size_t index, size_t offset)
      : RowText(text), index_(index), offset_(offset) {}

 private:
  size_t index_, offset_;
};

// An old or alternative spelling. One `*` at the end of both stands for the same rest in both.
struct Alias {
  const char* spelling;
  const char* name;
};

struct Section {
  const char* name;   // "storage.cpu"
  const char* title;  // what its rows are about, for pages
};
const std::vector<Section>& config_sections();

// All rows, in the order of config_rows.h; built at the first call.
const std::vector<std::unique_ptr<Row>>& config_rows();

// The row called `name` or, through an alias, spelled so; null if there is none.
const Row* find_row(std::string_view name);

// The other spellings of `row`, wildcards expanded.
std::vector<std::string> spellings_of(const Row& row);

// The text that `name` has when nobody sets it, "=OTHER" followed. REQUIRES: a row's name.
std::string_view default_text(std::string_view name);

}  // namespace mxnet
