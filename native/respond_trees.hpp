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
//
// A step from a node to its child has no branch that could be mispredicted, and several walks advance together: eight
// rows in one tree or, for what is left over, one row in eight trees. Walks that have ended stay at their leaf, whose
// left child is the leaf itself and whose threshold is infinite. Categories and gaps need no branch either: each split
// also has a set of codes that go right, which is empty for an ordinary split of numbers.
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
    std::size_t n_inputs() const { return n_features_; }  // the minimum number of columns of X

   private:
    static constexpr std::size_t kWalks = 8;      // that advance together
    static constexpr std::size_t kTileRows = 64;  // of 30 features they take 15 KB, and a tree of 127 leaves takes 4 KB

    struct Node {
        double threshold;
        std::uint32_t tile_begin;  // of its input
        std::uint32_t child;       // the left one; the right one is next to it
    };
    // A feature that some tree uses. A number has the code 1 if it is a gap, else 0. A category has the number 0; its
    // code is the level if it is below n_levels, n_levels for other levels, and n_levels + 1 for a gap.
    struct Input {
        std::size_t feature;
        bool is_category;
        std::uint32_t n_levels;
        std::size_t n_words() const { return is_category ? (n_levels + 2 + 63) / 64 : 1; }
    };
    // The inputs of some rows, input by input.
    struct Tile {
        std::vector<double> numbers;
        std::vector<std::uint32_t> codes;
        bool has_codes = false;  // other than 0
    };

    void find_inputs(const TreeArrays& trees);
    std::uint32_t add_set(const TreeArrays& trees, std::size_t at, const Input& input);

    template <class T>
    void fill(Tile& tile, const MatrixView<T>& X, std::size_t first, std::size_t n) const;
    template <bool kWithSets, bool kOneRow>
    void descend(const Tile& tile, std::size_t row, std::uint32_t (&at)[kWalks]) const;

    // Calls visit(row, tree, leaf) for all rows and trees: in parallel over blocks of rows, and for each row in the
    // order of the trees.
    template <class T, class Visit>
    void visit_leaves(const MatrixView<T>& X, int n_threads, const Visit& visit) const;
    template <bool kWithSets, class Visit>
    void visit_tile(const Tile& tile, std::size_t n, const Visit& visit) const;

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> sets_;     // of each node: its first word in words_
    std::vector<double> values_;          // of each node that is a leaf
    std::vector<std::uint32_t> roots_;
    std::vector<Input> inputs_;
    std::vector<std::uint32_t> input_of_number_, input_of_category_;  // of each feature that is used as one
    std::vector<std::uint64_t> words_;  // of each set: whether a code goes right; the empty set is first
    std::uint32_t gap_set_ = 0;         // the set of the code 1
    std::size_t n_features_ = 0;
};

}  // namespace cgens
