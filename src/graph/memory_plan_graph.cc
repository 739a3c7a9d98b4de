// SPDX-License-Identifier: Apache-2.0
// Lifetimes of values, the chains of values that pass one piece of memory on (in-place), and values
// that are computed where they will be joined.
#include "graph/memory_plan_graph.h"

#include <algorithm>

#include "base/error.h"
#include "op/create/constant.h"
#include "op/op_def.h"

namespace mxnet {
namespace {

std::size_t type_bytes(const ArrayType& type) {
  return static_cast<std::size_t>(type.shape.size()) * dtype_size(type.dtype);
}

constexpr int kNever = -1;

class Planner {
 public:
  Planner(const IndexedGraph& graph, const std::vector<ArrayType>& types,
          const std::vector<int>& schedule, const GraphMemoryOptions& options, bool inplace)
      : graph_(graph),
        types_(types),
        schedule_(schedule),
        options_(options),
        inplace_(inplace),
        last_use_(static_cast<std::size_t>(graph.num_entries()), kNever),
        output_of_(static_cast<std::size_t>(graph.num_entries()), kNever),
        piece_of_(static_cast<std::size_t>(graph.num_entries()), kNever),
        turns_of_(static_cast<std::size_t>(graph.num_entries())),
        part_of_(static_cast<std::size_t>(graph.num_entries())) {}

  // How long each piece of memory is used. Once, first.
  void find_pieces() {
    find_last_uses();
    for (const Turns& turns : options_.turns) take_turns(turns);
    find_outputs();
    for (const int n : schedule_)
      if (!options_.joins.empty() && options_.joins[static_cast<std::size_t>(n)]) join(n);
    for (std::size_t step = 0; step < schedule_.size(); ++step)
      assign(static_cast<int>(step), schedule_[step]);
  }

  // No packing of the pieces can be smaller.
  std::size_t least_bytes() {
    std::size_t bytes = 0;
    for (const std::vector<int>& arena : arenas()) bytes += most_live_bytes(intervals(arena));
    return bytes;
  }

  // Once, last.
  GraphMemory settle() {
    GraphMemory memory;
    memory.deliveries = std::move(deliveries_);
    memory.colors = options_.colors;
    for (const Piece& piece : pieces_)
      if (piece.output != kNever) memory.output_bytes += piece.bytes;
    std::vector<std::size_t> offsets = pack(&memory);
    for (int entry = 0; entry < graph_.num_entries(); ++entry) {
      Place place;
      const int piece = at(piece_of_, entry), n = graph_.node_of(entry);
      if (graph_.node(n).is_variable()) {
        place = {Place::Kind::kVariable, n};
      } else if (is_constant(graph_.node(n))) {
        place = {Place::Kind::kConstant, n};
      } else if (is_kept(n)) {
        place = {Place::Kind::kKept, static_cast<int>(memory.kept.size())};
        memory.kept.push_back(entry);
        memory.kept_bytes += bytes(entry);
      } else if (piece != kNever) {
        memory.unshared_bytes += bytes(entry);
        const int output = at(pieces_, piece).output;
        if (output != kNever) {
          place = {Place::Kind::kOutput, output};
        } else {
          place = {Place::Kind::kArena, at(pieces_, piece).arena,
                   at(offsets, piece) + outermost(entry).offset};
        }
      }
      place.part = at(turns_of_, entry) != nullptr;
      memory.places.push_back(place);
    }
    return memory;
  }

 private:
  // A piece of memory that a chain of values uses, one after the other.
  struct Piece {
    std::size_t bytes;
    int first, last;
    int output;  // it is this array of the caller; kNever = in an arena
    int arena;
  };
  // A value lies in the memory of another, so many bytes from its start.
  struct Part {
    int whole = kNever;
    std::size_t offset = 0;
  };

  template <class T>
  static T& at(std::vector<T>& all, int i) {
    return all[static_cast<std::size_t>(i)];
  }
  std::size_t bytes(int entry) const {
    const auto e = static_cast<std::size_t>(entry);
    std::size_t bytes = type_bytes(types_[e]);
    if (!options_.layout_bytes.empty() && options_.layout_bytes[e] > 0)
      bytes = options_.layout_bytes[e];
    return turns_of_[e] == nullptr ? bytes : bytes / static_cast<std::size_t>(turns_of_[e]->parts);
  }

  bool is_kept(int n) const {
    return !options_.kept.empty() && options_.kept[static_cast<std::size_t>(n)];
  }
  int color(int n) const {
    return options_.colors.empty() ? 0 : options_.colors[static_cast<std::size_t>(n)];
  }

  void find_last_uses() {
    for (std::size_t s = 0; s < schedule_.size(); ++s) {
      const int n = schedule_[s];
      at(step_of_, n) = static_cast<int>(s);
      const std::span<const int> inputs = graph_.inputs(n);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!graph_.node(n).op->type_only(static_cast<int>(i)))
          at(last_use_, inputs[i]) = static_cast<int>(s);
    }
  }

  // What a later turn reads may not be overwritten in an earlier one, and what an earlier one has
  // made for steps behind the last turn not in a later one.
  void take_turns(const Turns& turns) {
    for (int step = turns.first; step <= turns.last; ++step) {
      const int n = schedule_[static_cast<std::size_t>(step)];
      at(whole_turns_, n) = &turns;
      for (const int entry : graph_.inputs(n)) {
        const int maker = graph_.node_of(entry);
        if (graph_.node(maker).is_variable() || at(step_of_, maker) < turns.first)
          at(last_use_, entry) = std::max(at(last_use_, entry), turns.last);
      }
      for (int o = 0; o < graph_.num_outputs(n); ++o) {
        const int entry = graph_.first_entry(n) + o;
        if (at(last_use_, entry) <= turns.last) at(turns_of_, entry) = &turns;
      }
    }
  }
  // The first step at which a value that is made at `step` may not be overwritten.
  int first_step(int entry, int step) const {
    const Turns* turns = whole_turns_[static_cast<std::size_t>(graph_.node_of(entry))];
    return turns == nullptr || turns_of_[static_cast<std::size_t>(entry)] != nullptr ? step
                                                                                     : turns->first;
  }
  // Whether node n reads and makes both values in the same turns, or neither in any.
  bool turns_alike(int n, int a, int b) const {
    const Turns* turns = whole_turns_[static_cast<std::size_t>(n)];
    return turns_of_[static_cast<std::size_t>(a)] == turns &&
           turns_of_[static_cast<std::size_t>(b)] == turns;
  }

  // The array that a value is computed into; other outputs that want the same value, and those that
  // are added to, get copies.
  void find_outputs() {
    const std::span<const int> outputs = graph_.outputs();
    const int end = static_cast<int>(schedule_.size());
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      const int entry = outputs[o], output = static_cast<int>(o);
      const bool backward = output >= options_.backward_output;
      if (const ir::Node& node = graph_.node(graph_.node_of(entry));
          node.is_variable() || is_constant(node)) {
        deliveries_.push_back({output, backward ? end : std::min(end, options_.backward_step)});
        continue;
      }
      const int made = at(step_of_, graph_.node_of(entry));
      const bool made_backward = made >= options_.backward_step;
      if (options_.direct_outputs[o] && made_backward == backward &&
          at(output_of_, entry) == kNever) {
        at(output_of_, entry) = output;
        continue;
      }
      const int step = backward && !made_backward ? options_.backward_step : made + 1;
      deliveries_.push_back({output, step});
      int& last = at(last_use_, entry);
      last = std::max(last, backward && !made_backward ? step : made);
    }
    std::stable_sort(deliveries_.begin(), deliveries_.end(),
                     [](const Delivery& a, const Delivery& b) { return a.step < b.step; });
  }

  // The inputs of a join become parts of its output, if all of them may.
  void join(int n) {
    const int whole = graph_.first_entry(n);
    if (at(output_of_, whole) != kNever) return;
    const std::span<const int> inputs = graph_.inputs(n);
    std::size_t offset = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const int entry = inputs[i];
      const ir::Node& maker = graph_.node(graph_.node_of(entry));
      if (maker.is_variable() || is_constant(maker) || at(output_of_, entry) != kNever ||
          at(part_of_, entry).whole != kNever || offset % kArenaAlignment != 0 ||
          std::ranges::find(inputs.first(i), entry) != inputs.begin() + i ||
          !turns_alike(n, entry, whole))
        return;
      offset += bytes(entry);
    }
    MX_ASSERT(offset == bytes(whole));
    offset = 0;
    for (const int entry : inputs) {
      at(part_of_, entry) = {whole, offset};
      offset += bytes(entry);
    }
  }

  // What an entry is a part of in the end, itself if of nothing, and where in it.
  Part outermost(int entry) const {
    Part part{entry, 0};
    for (Part outer = part_of_[static_cast<std::size_t>(entry)]; outer.whole != kNever;
         outer = part_of_[static_cast<std::size_t>(part.whole)])
      part = {outer.whole, part.offset + outer.offset};
    return part;
  }

  void assign(int step, int n) {
    if (is_kept(n)) return;
    for (int o = 0; o < graph_.num_outputs(n); ++o) {
      const int entry = graph_.first_entry(n) + o;
      const int output = at(output_of_, entry);
      const int last = std::max(at(last_use_, entry), step);
      const int whole = outermost(entry).whole;
      const bool joined = whole != entry || at(piece_of_, entry) != kNever;
      int piece = at(piece_of_, whole);
      if (!joined && inplace_) piece = inherited(step, n, o, output);
      if (piece == kNever) {
        piece = static_cast<int>(pieces_.size());
        pieces_.push_back({bytes(whole), first_step(entry, step), last, output, color(n)});
        at(piece_of_, whole) = piece;
      }
      Piece& mine = at(pieces_, piece);
      mine.last = std::max(mine.last, last);
      if (output != kNever) mine.output = output;
      at(piece_of_, entry) = piece;
    }
  }

  // The piece of an input that ends here and that the operator may overwrite.
  int inherited(int step, int n, int o, int output) {
    const ir::Node& node = graph_.node(n);
    const std::span<const int> inputs = graph_.inputs(n);
    const int entry = graph_.first_entry(n) + o;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const int piece = at(piece_of_, inputs[i]);
      if (piece == kNever || !node.op->may_share(static_cast<int>(i), o)) continue;
      const Piece& candidate = at(pieces_, piece);
      if (candidate.last != step || candidate.bytes != bytes(entry) || candidate.output != kNever ||
          candidate.arena != color(n))
        continue;
      if (bytes(inputs[i]) != candidate.bytes) continue;  // a part of it
      if (!turns_alike(n, inputs[i], entry)) continue;
      // The caller's array may not be touched before its own part of the run.
      if (output != kNever &&
          (candidate.first >= options_.backward_step) != (step >= options_.backward_step))
        continue;
      if (is_free(n, inputs, piece, o)) return piece;
    }
    return kNever;
  }

  // No other input or output of the node uses the piece in a way that forbids writing output o.
  bool is_free(int n, std::span<const int> inputs, int piece, int o) {
    const ir::Node& node = graph_.node(n);
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      if (at(piece_of_, inputs[j]) == piece && !node.op->type_only(static_cast<int>(j)) &&
          !node.op->may_share(static_cast<int>(j), o))
        return false;
    }
    for (int other = 0; other < o; ++other)
      if (at(piece_of_, graph_.first_entry(n) + other) == piece) return false;
    const std::span<const int> mutated = graph_.mutated(n);
    return std::none_of(mutated.begin(), mutated.end(),
                        [&](int entry) { return at(piece_of_, entry) == piece; });
  }

  // Pieces of each arena.
  std::vector<std::vector<int>> arenas() {
    const std::vector<int>& colors = options_.colors;
    std::vector<std::vector<int>> arenas(
        1 + static_cast<std::size_t>(colors.empty() ? 0 : std::ranges::max(colors)));
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      if (pieces_[p].output == kNever) at(arenas, pieces_[p].arena).push_back(static_cast<int>(p));
    return arenas;
  }

  std::vector<MemoryInterval> intervals(const std::vector<int>& arena) {
    std::vector<MemoryInterval> intervals;
    for (int p : arena) {
      const Piece& piece = at(pieces_, p);
      intervals.push_back({piece.bytes, piece.first, piece.last});
    }
    return intervals;
  }

  // Offsets by piece.
  std::vector<std::size_t> pack(GraphMemory* memory) {
    std::vector<std::size_t> offsets(pieces_.size());
    for (const std::vector<int>& arena : arenas()) {
      const Packing packing = pack_intervals(intervals(arena), options_.packing);
      for (std::size_t i = 0; i < arena.size(); ++i) at(offsets, arena[i]) = packing.offsets[i];
      memory->arenas.push_back(packing.bytes);
      memory->arena_bytes += packing.bytes;
    }
    return offsets;
  }

  const IndexedGraph& graph_;
  const std::vector<ArrayType>& types_;
  const std::vector<int>& schedule_;
  const GraphMemoryOptions& options_;
  const bool inplace_;
  std::vector<int> step_of_ =
      std::vector<int>(static_cast<std::size_t>(graph_.num_nodes()), kNever);
  std::vector<int> last_use_, output_of_, piece_of_;  // per entry
  std::vector<const Turns*> turns_of_;      // per entry: null where it has the bytes of all parts
  std::vector<const Turns*> whole_turns_ =  // per node: null where it takes no turns
      std::vector<const Turns*>(static_cast<std::size_t>(graph_.num_nodes()));
  std::vector<Part> part_of_;  // per entry
  std::vector<Delivery> deliveries_;
  std::vector<Piece> pieces_;
};

}  // namespace

GraphMemory plan_memory(const IndexedGraph& graph, const std::vector<ArrayType>& types,
                        const std::vector<int>& schedule, const GraphMemoryOptions& options) {
  MX_ASSERT(options.direct_outputs.size() == graph.outputs().size());
  Planner planner(graph, types, schedule, options, options.inplace);
  planner.find_pieces();
  GraphMemory memory = planner.settle();
  if (!options.inplace) return memory;
  // What is passed on is needed for longer, which now and then packs worse than copies.
  Planner apart(graph, types, schedule, options, /*inplace=*/false);
  apart.find_pieces();
  if (apart.least_bytes() >= memory.arena_bytes) return memory;
  GraphMemory other = apart.settle();
  return other.arena_bytes < memory.arena_bytes ? other : memory;
}

}  // namespace mxnet
