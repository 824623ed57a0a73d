// The responses and weighted sums of trees on new rows.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix_view.hpp"

namespace cgens {

// Trees as arrays over their nodes. Tree j has the nodes begin[j] ... begin[j + 1] - 1, the root first. Children are
// counted from begin[j] and come after their parent; x > threshold goes right; a node with feature -1 is a leaf.
struct TreeArrays {
    const std::int64_t* begin;
    std::size_t n_trees;
    const std::int32_t *features, *left, *right;
    const double* thresholds;
    const float* values;
};

// The same trees laid out for prediction: 16 bytes per node, with the two children of a node next to each other.
class TreeTables {
   public:
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
    struct Node {
        double threshold;      // the value of a leaf
        std::int32_t feature;  // -1 for a leaf
        std::uint32_t child;   // the left one; the right one is next to it
    };
    // Calls visit(row, tree, value) for all rows and trees: in parallel over blocks of rows, and within a block tree by
    // tree, so that the nodes of a tree stay in the cache.
    template <class T, class Visit>
    void visit_leaves(const MatrixView<T>& X, int n_threads, Visit visit) const;

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> roots_;
    std::size_t n_inputs_ = 0;
};

}  // namespace cgens
