// SPDX-License-Identifier: Apache-2.0
// From the macros of config_rows.h to the table of rows and the
// default constructors of the sections.
#include "base/config_row.h"

#include <fmt/format.h>

#include "base/config.h"
#include "base/config_allowed.h"
#include "base/error.h"
#include "base/leaked.h"

namespace mxnet {
namespace {

// The typed half of a row. T: the field's value type. A: what is allowed (config_allowed.h).
template <class T, class A, When kWhen>
class TypedRow final : public Row {
 public:
  TypedRow(const RowText& text, size_t index, size_t offset, A allowed)
      : Row(text, index, offset), allowed_(allowed) {}

  const char* type() const override { return ConfigText<T>::kType; }
  std::string allowed() const override { return allowed_.text(ConfigText<T>::syntax()); }
  bool accepts(std::string_view text) const override {
    const auto value = ConfigText<T>::parse(text);
    return value && accepts_value(*value);
  }
  void store(std::string_view text, Config& config) const override {
    *reinterpret_cast<Field*>(reinterpret_cast<char*>(&config) + offset()) =
        std::move(ConfigText<T>::parse(text)).value();
  }
  std::string print(const Config& config) const override {
    const T& value =
        *reinterpret_cast<const Field*>(reinterpret_cast<const char*>(&config) + offset());
    return ConfigText<T>::print(value);
  }

 private:
  using Field = std::conditional_t<kWhen == When::kLive, Live<T>, T>;

  template <class V>
  bool accepts_value(const std::optional<V>& value) const {
    return !value || allowed_.accepts(*value);
  }
  template <class V>
  bool accepts_value(const V& value) const {
    return allowed_.accepts(value);
  }

  A allowed_;
};

// clang-format off
#define MX_ADD_STARTUP(field, type, name, fallback, allowed, effect, doc) \
  add<type, When::kStartup>(s.field, {section, #field, When::kStartup, name, fallback, effect, doc}, allowed);
#define MX_ADD_LIVE(field, type, name, fallback, allowed, effect, doc) \
  add<type, When::kLive>(s.field, {section, #field, When::kLive, name, fallback, effect, doc}, allowed);
#define MX_ADD_SECTION(member, Struct, ROWS, title)       \
  {                                                       \
    const Struct& s = prototype.member;                   \
    const char* const section = #member;                  \
    sections.push_back({section, title});                 \
    ROWS(MX_ADD_STARTUP, MX_ADD_LIVE)                     \
  }
#define MX_ADD_POOL(member, KIND, title)                  \
  {                                                       \
    const PoolConfig& s = prototype.member;               \
    const char* const section = #member;                  \
    sections.push_back({section, title});                 \
    MX_CONFIG_POOL(MX_ADD_STARTUP, MX_ADD_LIVE, KIND)     \
  }
// clang-format on

// The table; a prototype Config tells where each field lies.
struct Table {
  const Config prototype;
  std::vector<std::unique_ptr<Row>> rows;
  std::vector<Section> sections;

  Table() {
    MX_CONFIG_SECTIONS(MX_ADD_SECTION)
    MX_ADD_SECTION(storage, StorageConfig, MX_CONFIG_STORAGE, MX_CONFIG_STORAGE_TITLE)
    MX_CONFIG_POOLS(MX_ADD_POOL)
  }

  template <class T, When kWhen, class F, class A>
  void add(const F& field, const RowText& text, A allowed) {
    const auto offset = static_cast<size_t>(reinterpret_cast<const char*>(&field) -
                                            reinterpret_cast<const char*>(&prototype));
    rows.push_back(std::make_unique<TypedRow<T, A, kWhen>>(text, rows.size(), offset, allowed));
  }
};

const Table& table() {
  static Leaked<Table> t;
  return *t;
}

struct Default {
  const char* name;
  const char* text;
};

// clang-format off
#define MX_DEFAULT(field, type, name, fallback, ...) {name, fallback},
#define MX_SECTION_DEFAULTS(member, Struct, ROWS, title) ROWS(MX_DEFAULT, MX_DEFAULT)
#define MX_POOL_DEFAULTS(member, KIND, title) MX_CONFIG_POOL(MX_DEFAULT, MX_DEFAULT, KIND)
constexpr Default kDefaults[] = {
    MX_CONFIG_SECTIONS(MX_SECTION_DEFAULTS)
    MX_CONFIG_STORAGE(MX_DEFAULT, MX_DEFAULT)
    MX_CONFIG_POOLS(MX_POOL_DEFAULTS)};
// clang-format on

// The text that a default stands for: "=NAME" is the default of that row.
std::string_view follow(std::string_view fallback) {
  return fallback.starts_with('=') ? default_text(fallback.substr(1)) : fallback;
}

constexpr Alias kAliases[] = {MX_CONFIG_ALIASES};

// What `spelling` means under `alias`, or an empty text.
std::string apply(const Alias& alias, std::string_view spelling) {
  const std::string_view from = alias.spelling, to = alias.name;
  if (!from.ends_with('*')) return spelling == from ? std::string(to) : std::string();
  const std::string_view head = from.substr(0, from.size() - 1);
  if (!spelling.starts_with(head)) return {};
  return std::string(to.substr(0, to.size() - 1)) + std::string(spelling.substr(head.size()));
}

const Row* row_named(std::string_view name) {
  for (const auto& row : config_rows()) {
    if (row->name == name) return row.get();
  }
  return nullptr;
}

template <class T>
T default_value(std::string_view fallback) {
  const auto value = ConfigText<T>::parse(follow(fallback));
  MX_ASSERT(value.has_value());
  return *value;
}

}  // namespace

// clang-format off
#define MX_INIT(field, type, name, fallback, ...) field = default_value<type>(fallback);
#define MX_SECTION_CONSTRUCTOR(member, Struct, ROWS, title) Struct::Struct() { ROWS(MX_INIT, MX_INIT) }
MX_CONFIG_SECTIONS(MX_SECTION_CONSTRUCTOR)
StorageConfig::StorageConfig() { MX_CONFIG_STORAGE(MX_INIT, MX_INIT) }
PoolConfig::PoolConfig() { MX_CONFIG_POOL(MX_INIT, MX_INIT, "CPU") }  // all kinds have the same defaults
// clang-format on

const char* to_string(When when) { return when == When::kLive ? "live" : "startup"; }

const char* to_string(Effect::Kind kind) {
  switch (kind) {
    case Effect::kActive:
      return "active";
    case Effect::kPending:
      return "pending";
    case Effect::kInert:
      return "inert";
  }
  return "unknown";
}

std::string_view Row::default_source() const {
  return fallback[0] == '=' ? std::string_view(fallback + 1) : std::string_view();
}

const std::vector<std::unique_ptr<Row>>& config_rows() { return table().rows; }
const std::vector<Section>& config_sections() { return table().sections; }

const Row* find_row(std::string_view name) {
  if (const Row* row = row_named(name)) return row;
  for (const Alias& alias : kAliases) {
    const std::string target = apply(alias, name);
    if (!target.empty()) return row_named(target);
  }
  return nullptr;
}

std::vector<std::string> spellings_of(const Row& row) {
  std::vector<std::string> spellings;
  for (const Alias& alias : kAliases) {
    const Alias reversed{alias.name, alias.spelling};
    std::string spelling = apply(reversed, row.name);
    if (!spelling.empty()) spellings.push_back(std::move(spelling));
  }
  return spellings;
}

std::string_view default_text(std::string_view name) {
  for (const Default& row : kDefaults) {
    if (row.name == name) return follow(row.text);
  }
  MX_ASSERT(!"a row's name");
  return {};
}

}  // namespace mxnet
