// SPDX-License-Identifier: Apache-2.0
// Einstein summation: the text of subscripts becomes labels.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "op/matrix/labels.h"
#include "op/op_cost.h"
#include "op/run/portable_if.h"

namespace mxnet {
namespace {

struct EinsumParams {
  int32_t num_args;
  std::string subscripts;
  int32_t optimize;
  int32_t wrt;
};

constexpr int kEllipsis = -1;  // stands for any number of dimensions until shapes are known

// One term, letters as characters.
LabelList parse_term(std::string_view text) {
  LabelList term;
  bool ellipsis = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (text.substr(i, 3) == "..." && !ellipsis) {
      term.push_back(kEllipsis);
      ellipsis = true;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      term.push_back(c);
    } else {
      throw LabelError{
          fmt::format("given '{}' in subscripts, expected letters and at most one ellipsis", c)};
    }
  }
  return term;
}

std::vector<LabelList> parse_terms(std::string_view text) {
  std::vector<LabelList> terms;
  for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find(',');
    terms.push_back(parse_term(text.substr(0, end)));
    if (end == std::string_view::npos) break;
  }
  return terms;
}

// Letters that occur once, in alphabetical order, after the broadcast dimensions.
LabelList implied_output(const std::vector<LabelList>& terms) {
  std::array<int, 128> times{};
  LabelList out{kEllipsis};
  for (const auto& term : terms) {
    for (int c : term) {
      if (c != kEllipsis) ++times[static_cast<std::size_t>(c)];
    }
  }
  for (std::size_t c = 0; c < times.size(); ++c) {
    if (times[c] == 1) out.push_back(static_cast<int>(c));
  }
  return out;
}

// Letters become labels in order of appearance; ellipses those after, counted from the right.
class Numbering {
 public:
  explicit Numbering(const std::vector<LabelList>& terms) {
    for (const auto& term : terms) {
      for (int c : term) {
        if (c != kEllipsis && labels_[static_cast<std::size_t>(c)] == 0)
          labels_[static_cast<std::size_t>(c)] = ++letters_;
      }
    }
  }
  LabelList expand(const LabelList& term, int ellipsis_dims) const {
    LabelList labels;
    for (int c : term) {
      if (c == kEllipsis) {
        for (int i = ellipsis_dims; i-- > 0;) labels.push_back(letters_ + i);
      } else if (labels_[static_cast<std::size_t>(c)] > 0) {
        labels.push_back(labels_[static_cast<std::size_t>(c)] - 1);
      } else {
        throw LabelError{fmt::format("given '{}' in the result, expected letters of the arguments",
                                     static_cast<char>(c))};
      }
    }
    return labels;
  }

 private:
  std::array<int, 128> labels_{};
  int letters_ = 0;
};

LabelLists einsum_labels(const EinsumParams& params, std::span<const Shape> shapes) {
  const std::string_view text = params.subscripts;
  const std::size_t arrow = text.find("->");
  const auto terms = parse_terms(text.substr(0, arrow));
  if (terms.size() != shapes.size()) {
    throw LabelError{fmt::format("given subscripts '{}' for {} arrays, expected a term for each",
                                 text, shapes.size())};
  }
  const LabelList out =
      arrow == std::string_view::npos ? implied_output(terms) : parse_term(text.substr(arrow + 2));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (std::count(out.begin(), out.end(), out[i]) > 1)
      throw LabelError{
          fmt::format("given subscripts '{}', expected each letter of the result once", text)};
  }
  const Numbering numbering(terms);
  LabelLists lists;
  lists.broadcast_from = 0;
  int broadcast_dims = 0;
  for (std::size_t a = 0; a < terms.size(); ++a) {
    const bool ellipsis = std::count(terms[a].begin(), terms[a].end(), kEllipsis) > 0;
    const int named = static_cast<int>(terms[a].size()) - (ellipsis ? 1 : 0);
    const int rest = shapes[a].ndim() - named;
    if (rest < 0 || (rest > 0 && !ellipsis)) {
      throw LabelError{fmt::format("{}{} dimensions, as its subscripts in '{}'",
                                   ellipsis ? "at least " : "", named, text),
                       static_cast<int>(a)};
    }
    broadcast_dims = std::max(broadcast_dims, rest);
    lists.in.push_back(numbering.expand(terms[a], rest));
  }
  const bool kept = std::count(out.begin(), out.end(), kEllipsis) > 0;
  if (broadcast_dims > 0 && !kept)
    throw LabelError{
        fmt::format("given subscripts '{}', expected the ellipsis in the result", text)};
  lists.out = numbering.expand(out, broadcast_dims);
  return lists;
}

double one(const EinsumParams&) { return 1.0; }
using Einsum = Multilinear<EinsumParams, einsum_labels, one>;

// Whether GPUs have a product for it: of one array or two, of real numbers. Before the arrays come
// `others`.
template <std::size_t others>
bool on_gpu(const void*, const Signature& signature) {
  return signature.in.size() <= 2 + others && kFloating.contains(signature.in[0].dtype);
}

void einsum_params(OpBuilder<EinsumParams>& op) {
  op.param("num_args", &EinsumParams::num_args, "Number of arrays.")
      .param("subscripts", &EinsumParams::subscripts, "",
             "Subscripts of the arrays and of the result, as \"ij,jk->ik\".")
      .param("optimize", &EinsumParams::optimize, 0,
             "Accepted for compatibility: products always run as matrix products.");
}

[[maybe_unused]] const bool defined = [] {
  Einsum::forward_name = "_npi_einsum";
  Einsum::backward_name = "_backward_npi_einsum";
  OpBuilder<EinsumParams> forward("_npi_einsum");
  forward.doc("Einstein summation.")
      .inputs("data", "The arrays.", &EinsumParams::num_args, "num_args");
  einsum_params(forward);
  Einsum::finish(forward, kAllTypes);
  OpBuilder<EinsumParams> backward("_backward_npi_einsum");
  backward.doc("Gradient of one argument of _npi_einsum.")
      .inputs("data", "Gradient of the result, then the arrays.", &EinsumParams::num_args,
              "num_args");
  einsum_params(backward);
  Einsum::finish_backward(backward, kAllTypes);
  mark_portable_if("_npi_einsum", on_gpu<0>);
  mark_portable_if("_backward_npi_einsum", on_gpu<1>);
  return mark_products({"_npi_einsum"});
}();

}  // namespace
}  // namespace mxnet
