// Trees at prediction time.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix_view.hpp"

namespace cgens {

// Many trees as arrays over their nodes. Tree j has the nodes begin[j] ... begin[j + 1] - 1, the root first; children
// count from begin[j] and come after their parent; x > threshold goes right; a node with feature -1 is a leaf.
struct TreeArrays {
    const std::int64_t* begin;
    std::size_t n_trees;
    const std::int32_t *features, *left, *right;
    const double* thresholds;
    const float* values;
};

// The same trees laid out for walks from the root: 16 bytes a node, the two children of a node side by side.
class TreeTables {
   public:
    explicit TreeTables(const TreeArrays& trees);

    // out[i, j] = h_j(x_i); row-major, X.n_rows x n_trees.
    template <class T>
    void respond(const MatrixView<T>& X, float* out, int n_threads) const;

    // out[i, t] += sum_j weights[j, t] * h_j(x_i), added in the order of the trees; weights and out are row-major.
    template <class T>
    void add_decision(const MatrixView<T>& X, const double* weights, std::size_t n_outputs, double* out,
                      int n_threads) const;

    std::size_t n_trees() const { return roots_.size(); }
    std::size_t n_inputs() const { return n_inputs_; }  // the least number of columns X must have

   private:
    struct Node {
        double threshold;      // of a leaf: its value
        std::int32_t feature;  // -1 for a leaf
        std::uint32_t child;   // the left one; the right one follows it
    };
    // Calls visit(row, tree, value) for all rows and trees: blocks of rows in parallel, and in a block tree by tree, so
    // that a tree's nodes stay in the cache.
    template <class T, class Visit>
    void visit_leaves(const MatrixView<T>& X, int n_threads, Visit visit) const;

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> roots_;
    std::size_t n_inputs_ = 0;
};

}  // namespace cgens
