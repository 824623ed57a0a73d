#include "respond_trees.hpp"

#include <algorithm>
#include <cmath>

#include "threads.hpp"

namespace cgens {

TreeTables::TreeTables(const TreeArrays& trees) {
    const auto n_nodes = static_cast<std::size_t>(trees.begin[trees.n_trees]);
    nodes_.reserve(n_nodes);
    std::vector<std::size_t> sources;  // where the nodes of the current tree are in the arrays
    for (std::size_t j = 0; j < trees.n_trees; ++j) {
        const auto begin = static_cast<std::size_t>(trees.begin[j]);
        const std::size_t root = nodes_.size();
        roots_.push_back(static_cast<std::uint32_t>(root));
        sources.assign(1, begin);
        nodes_.emplace_back();
        for (std::size_t k = 0; k < sources.size(); ++k) {
            const std::size_t at = sources[k];
            Node& node = nodes_[root + k];
            node.feature = trees.features[at];
            if (node.feature < 0) {
                node.threshold = static_cast<double>(trees.values[at]);
                continue;
            }
            n_inputs_ = std::max(n_inputs_, static_cast<std::size_t>(node.feature) + 1);
            node.child = static_cast<std::uint32_t>(nodes_.size()) & 0x7fffffffu;
            node.gaps_right = trees.gaps_right[at] != 0;
            node.threshold = trees.thresholds[at];
            if (std::isnan(node.threshold))
                set_levels(node, trees.levels + trees.level_begin[at], trees.levels + trees.level_begin[at + 1]);
            sources.push_back(begin + static_cast<std::size_t>(trees.left[at]));
            sources.push_back(begin + static_cast<std::size_t>(trees.right[at]));
            nodes_.resize(nodes_.size() + 2);  // invalidates `node`
        }
    }
}

void TreeTables::set_levels(Node& node, const std::uint32_t* first, const std::uint32_t* last) {
    node.feature += kCategory;
    const std::uint32_t n_words = first == last ? 0 : last[-1] / 64 + 1;  // levels ascend
    node.levels = {static_cast<std::uint32_t>(level_bits_.size()), n_words};
    level_bits_.resize(level_bits_.size() + n_words, 0);
    for (const std::uint32_t* level = first; level != last; ++level)
        level_bits_[node.levels.first_word + *level / 64] |= std::uint64_t{1} << *level % 64;
}

inline bool TreeTables::has_level(const Levels& set, double x) const {
    if (!(x >= 0 && x < 64.0 * set.n_words)) return false;
    const auto level = static_cast<std::uint32_t>(x);
    return (level_bits_[set.first_word + level / 64] >> level % 64 & 1) != 0;
}

template <class T, class Visit>
void TreeTables::visit_leaves(const MatrixView<T>& X, int n_threads, Visit visit) const {
    const bool with_categories = std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
        return node.feature >= kCategory;
    });
    with_categories ? visit_leaves_of<true>(X, n_threads, visit) : visit_leaves_of<false>(X, n_threads, visit);
}

template <bool kWithCategories, class T, class Visit>
void TreeTables::visit_leaves_of(const MatrixView<T>& X, int n_threads, Visit visit) const {
    const double work = 10 * static_cast<double>(X.n_rows * roots_.size());
    const Node* nodes = nodes_.data();
    for_blocks(X.n_rows, 64, n_threads, work, [=](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t j = 0; j < roots_.size(); ++j) {
            for (std::size_t i = first; i < last; ++i) {
                const Node* node = nodes + roots_[j];
                while (node->feature >= 0) {
                    const bool is_category = kWithCategories && node->feature >= kCategory;
                    const std::int32_t feature = is_category ? node->feature - kCategory : node->feature;
                    const double x = static_cast<double>(X(i, static_cast<std::size_t>(feature)));
                    bool right = is_category ? has_level(node->levels, x) : x > node->threshold;
                    right |= x != x && node->gaps_right != 0;
                    node = nodes + node->child + (right ? 1 : 0);
                }
                visit(i, j, node->threshold);
            }
        }
    });
}

template <class T>
void TreeTables::respond(const MatrixView<T>& X, float* out, int n_threads) const {
    visit_leaves(X, n_threads, [=](std::size_t i, std::size_t j, double value) {
        out[i * roots_.size() + j] = static_cast<float>(value);
    });
}

template <class T>
void TreeTables::add_decision(const MatrixView<T>& X, const double* weights, std::size_t n_outputs, double* out,
                              int n_threads) const {
    visit_leaves(X, n_threads, [=](std::size_t i, std::size_t j, double value) {
        for (std::size_t t = 0; t < n_outputs; ++t) out[i * n_outputs + t] += value * weights[j * n_outputs + t];
    });
}

template void TreeTables::respond(const MatrixView<float>&, float*, int) const;
template void TreeTables::respond(const MatrixView<double>&, float*, int) const;
template void TreeTables::add_decision(const MatrixView<float>&, const double*, std::size_t, double*, int) const;
template void TreeTables::add_decision(const MatrixView<double>&, const double*, std::size_t, double*, int) const;

}  // namespace cgens
