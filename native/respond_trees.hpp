// The responses and weighted sums of trees on new rows.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix_view.hpp"

namespace cgens {

// Trees as arrays over their nodes. Tree j has the nodes begin[j] ... begin[j + 1] - 1, the root first. Children are
// counted from begin[j] and come after their parent; a node with feature -1 is a leaf. Rows above a split go right:
// x > threshold or, if that is NaN, x among levels[k] for level_begin[node] <= k < level_begin[node + 1].
struct TreeArrays {
    const std::int64_t* begin;
    std::size_t n_trees;
    const std::int32_t *features, *left, *right;
    const double* thresholds;
    const float* values;
    const std::uint8_t* gaps_right;
    const std::int64_t* level_begin;
    const std::uint32_t* levels;
};

// The same trees laid out for prediction: 16 bytes per node, with the two children of a node next to each other.
class TreeTables {
   public:
    static constexpr std::int32_t kMaxFeatures = 1 << 30;

    explicit TreeTables(const TreeArrays& trees);

    // out[i, j] = h_j(x_i); row-major, X.n_rows x n_trees.
    template <class T>
    void respond(const MatrixView<T>& X, float* out, int n_threads) const;

    // out[i, t] += sum_j weights[j, t] * h_j(x_i), summed in the order of the trees; weights and out are row-major.
    template <class T>
    void add_decision(const MatrixView<T>& X, const double* weights, std::size_t n_outputs, double* out,
                      int n_threads) const;

    std::size_t n_trees() const { return roots_.size(); }
    std::size_t n_inputs() const { return n_inputs_; }  // the minimum number of columns of X

   private:
    struct Levels {
        std::uint32_t first_word, n_words;  // in level_bits_
    };
    struct Node {
        union {
            double threshold;  // the value of a leaf
            Levels levels;     // of a category
        };
        std::int32_t feature;        // -1 for a leaf; kCategory is added for a category
        std::uint32_t child : 31;    // the left one; the right one is next to it
        std::uint32_t gaps_right : 1;
    };
    static constexpr std::int32_t kCategory = kMaxFeatures;
    void set_levels(Node& node, const std::uint32_t* first, const std::uint32_t* last);
    bool has_level(const Levels& set, double x) const;

    // Calls visit(row, tree, value) for all rows and trees: in parallel over blocks of rows, and within a block tree by
    // tree, so that the nodes of a tree stay in the cache.
    template <bool kWithCategories, class T, class Visit>
    void visit_leaves_of(const MatrixView<T>& X, int n_threads, Visit visit) const;
    template <class T, class Visit>
    void visit_leaves(const MatrixView<T>& X, int n_threads, Visit visit) const;

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> roots_;
    std::vector<std::uint64_t> level_bits_;  // of each category split: whether a level goes right
    std::size_t n_inputs_ = 0;
};

}  // namespace cgens
