#include "krohn/automata/cascades/trim.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>

#include "krohn/groups/record_set.h"

namespace krohn {
namespace {

/// Walks the layers from the first, carrying which contexts and readout nodes are still in use, by their old numbers.
class Trimmer {
 public:
  explicit Trimmer(const Cascade& cascade) : old_(cascade) {
    for (Letter letter = 0; letter < cascade.alphabet.size(); ++letter) contexts_.push_back(letter);
    nodes_.push_back(0);
  }

  Cascade run() {
    result_.alphabet = old_.alphabet;
    result_.method = old_.method;
    result_.has_start = old_.has_start;
    for (std::size_t k = 0; k < old_.layers.size(); ++k) {
      find_labels(k);
      if (labels_.size() == 1) {
        skip(k);
      } else {
        keep(k);
      }
    }
    if (result_.layers.empty()) keep_single_label();
    return std::move(result_);
  }

 private:
  /// The closure of the initial label under the actions of the contexts in use; in increasing order.
  void find_labels(std::size_t k) {
    const CascadeLayer& layer = old_.layers[k];
    std::vector<bool> used_action(layer.actions.size(), false);
    for (const Context c : contexts_)
      if (c != kNoContext) used_action[layer.wiring.action_of[c]] = true;
    std::vector<bool> reached(layer.width, !old_.has_start);
    std::vector<Label> queue{old_.initial[k]};
    if (!old_.has_start) {
      queue.resize(layer.width);
      std::iota(queue.begin(), queue.end(), Label{0});
    }
    reached[queue.front()] = true;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (Action a = 0; a < layer.actions.size(); ++a) {
        const Label to = layer.actions[a][queue[i]];
        if (!used_action[a] || reached[to]) continue;
        reached[to] = true;
        queue.push_back(to);
      }
    std::sort(queue.begin(), queue.end());
    labels_ = std::move(queue);
    new_label_.assign(layer.width, 0);
    for (Label label = 0; label < labels_.size(); ++label) new_label_[labels_[label]] = label;
  }

  static Context follow(const std::vector<Context>& next, Context from, Label width, Label label) {
    return next.empty() || from == kNoContext ? kNoContext : next[std::size_t{from} * width + label];
  }

  void skip(std::size_t k) {
    const CascadeLayer& layer = old_.layers[k];
    for (Context& c : contexts_) c = follow(layer.wiring.next, c, layer.width, labels_.front());
    for (Context& node : nodes_) node = follow(old_.readout.next[k], node, layer.width, labels_.front());
    relabel_last_level(k);
  }

  void keep(std::size_t k) {
    const CascadeLayer& layer = old_.layers[k];
    CascadeLayer kept;
    kept.width = static_cast<Label>(labels_.size());
    std::map<Transformation, Action> interned;
    for (const Context c : contexts_) {
      const auto [entry, fresh] = interned.try_emplace(restricted(layer, c), static_cast<Action>(interned.size()));
      if (fresh) kept.actions.push_back(entry->first);
      kept.wiring.action_of.push_back(entry->second);
    }
    kept.component = component_name(kept.actions);
    if (!layer.wiring.next.empty()) kept.wiring.next = advance(layer.wiring.next, layer.width, contexts_);
    result_.initial.push_back(new_label_[old_.initial[k]]);
    result_.layers.push_back(std::move(kept));
    result_.readout.next.push_back(advance(old_.readout.next[k], layer.width, nodes_));
    relabel_last_level(k);
  }

  Transformation restricted(const CascadeLayer& layer, Context c) const {
    if (c == kNoContext) return Transformation::identity(static_cast<Point>(labels_.size()));
    const Transformation& action = layer.actions[layer.wiring.action_of[c]];
    std::vector<Point> images;
    for (const Label label : labels_) images.push_back(new_label_[action[label]]);
    return Transformation::from_images(std::move(images));
  }

  /// The table `next` for the entries and labels in use, renumbered by first appearance; `in_use` moves on to what it
  /// leads to.
  std::vector<Context> advance(const std::vector<Context>& next, Label width, std::vector<Context>& in_use) const {
    std::unordered_map<Context, Context> number;
    std::vector<Context> table, following;
    for (const Context from : in_use)
      for (const Label label : labels_) {
        const Context to = follow(next, from, width, label);
        if (to == kNoContext) {
          table.push_back(kNoContext);
          continue;
        }
        const auto [entry, fresh] = number.try_emplace(to, static_cast<Context>(following.size()));
        if (fresh) following.push_back(to);
        table.push_back(entry->second);
      }
    in_use = std::move(following);
    return table;
  }

  /// After the last old layer the readout's nodes are states, whose numbers must stay, and no layer reads contexts.
  void relabel_last_level(std::size_t k) {
    if (k + 1 != old_.layers.size() || result_.layers.empty()) return;
    for (Context& node : result_.readout.next.back())
      if (node != kNoContext) node = nodes_[node];
    result_.layers.back().wiring.next.clear();
  }

  /// Every layer was constant: one layer of one label says which state it is.
  void keep_single_label() {
    CascadeLayer layer;
    layer.width = 1;
    layer.actions.push_back(Transformation::identity(1));
    layer.wiring.action_of.assign(old_.alphabet.size(), 0);
    layer.component = "trivial";
    result_.layers.push_back(std::move(layer));
    result_.initial.push_back(0);
    result_.readout.next.push_back({nodes_.front()});
  }

  const Cascade& old_;
  Cascade result_;
  std::vector<Context> contexts_, nodes_;
  std::vector<Label> labels_, new_label_;
};

/// Rows of a table, each with a number before it, and which of them are alike.
struct Alike {
  std::vector<std::uint32_t> class_of;  ///< row ↦ class, in the order of first appearance
  std::vector<std::size_t> first;       ///< class ↦ its first row
};

Alike alike_rows(std::span<const std::uint32_t> heads, std::span<const Context> table, std::size_t rows) {
  const std::size_t width = rows == 0 ? 0 : table.size() / rows;  // without letters there are no contexts
  Alike alike;
  RecordSet classes(width + 1);
  std::vector<std::uint32_t> record(width + 1);
  for (std::size_t row = 0; row < rows; ++row) {
    record[0] = heads.empty() ? 0 : heads[row];
    std::ranges::copy(table.subspan(row * width, width), record.begin() + 1);
    const RecordSet::Insertion inserted = classes.insert(record);
    if (inserted.fresh) alike.first.push_back(row);
    alike.class_of.push_back(inserted.index);
  }
  return alike;
}

void keep_first_rows(const Alike& alike, std::size_t width, std::vector<Context>& table) {
  for (std::size_t kept = 0; kept < alike.first.size(); ++kept)
    std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(alike.first[kept] * width), width,
                table.begin() + static_cast<std::ptrdiff_t>(kept * width));
  table.resize(alike.first.size() * width);
}

void renumber(const Alike& alike, std::vector<Context>& table) {
  for (Context& to : table)
    if (to != kNoContext) to = alike.class_of[to];
}

}  // namespace

Cascade merge_contexts(Cascade cascade) {
  for (std::size_t k = cascade.layers.size(); k-- > 1;) {
    CascadeLayer& layer = cascade.layers[k];
    Wiring& wiring = layer.wiring;
    const Alike contexts = alike_rows(wiring.action_of, wiring.next, wiring.action_of.size());
    keep_first_rows(contexts, 1, wiring.action_of);
    if (!wiring.next.empty()) keep_first_rows(contexts, layer.width, wiring.next);
    renumber(contexts, cascade.layers[k - 1].wiring.next);
    std::vector<Context>& readout = cascade.readout.next[k];
    const Alike nodes = alike_rows({}, readout, readout.size() / layer.width);
    keep_first_rows(nodes, layer.width, readout);
    renumber(nodes, cascade.readout.next[k - 1]);
  }
  return cascade;
}

Cascade trim(const Cascade& cascade) { return merge_contexts(Trimmer(cascade).run()); }

}  // namespace krohn
