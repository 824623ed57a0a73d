// Small trees grown on a vector r of duals, over the same bins as stumps.
//
// Let G be the sum of r over the rows of a node, and W their total weight. There are two kinds of leaves:
//   real: a leaf's value is its mean G / W. Each split maximizes the gain in the sum of G^2 / W, the squared price
//         sum_i r_i h(x_i) of the tree scaled to unit variance.
//   sign: a leaf's value is the sign of G. Each split maximizes the gain in the sum of |G|, the price itself.
// The leaf whose best split gains most is split next. Sums are exact integers: the same tree for any number of threads
// and any order of equal rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fixed_point.hpp"
#include "pool_stumps.hpp"

namespace cgens {

struct TreeNode {
    std::int32_t feature;      // -1 for a leaf
    std::int32_t left, right;  // x <= threshold goes left
    double threshold;
    double sum, weight;  // G and W
};

struct TreeOptions {
    std::size_t max_leaves;
    double min_weight;  // of a leaf
    bool real;
};

class TreeGrower {
   public:
    TreeGrower(std::shared_ptr<const StumpPool> pool, const std::vector<double>& weights, int n_threads);

    // Returns the tree for r = along, over the features with allowed[f] != 0. Nodes are in the order of creation, the
    // root first; leaf_of[i] is the leaf of row i.
    std::vector<TreeNode> grow(const double* along, const std::uint8_t* allowed, const TreeOptions& options,
                               std::int32_t* leaf_of);

    std::size_t n_rows() const { return pool_->n_rows(); }
    std::size_t n_features() const { return pool_->n_features(); }

   private:
    struct Sums {
        std::int64_t price = 0, weight = 0;
        Sums& operator+=(const Sums& other) {
            price += other.price;
            weight += other.weight;
            return *this;
        }
        friend Sums operator-(Sums a, const Sums& b) { return {a.price - b.price, a.weight - b.weight}; }
    };
    struct Split {
        double gain = 0.0;  // in the criterion, in units
        std::size_t feature = 0, bin = 0;
        Sums left;
    };
    struct Node {
        std::size_t begin, end;  // in rows_
        Sums sums;
        Split best;
        std::size_t position;  // in the tree
    };

    double gain(const Sums& left, const Sums& right, bool real) const;
    // Finds the best split of each node, in one pass over the blocks of features.
    void find_splits(std::vector<Node*> nodes, const std::uint8_t* allowed, bool real);
    void scan_block(const FeatureBlock& block, const Node& node, const std::uint8_t* allowed, bool real,
                    std::vector<Sums>& histogram, Split& best) const;
    void scan_feature(std::size_t f, const Sums* histogram, const Node& node, bool real, Split& best) const;
    // Reorders the node's rows so that those going left come first; returns where the others begin.
    std::size_t partition(const Node& node);

    std::shared_ptr<const StumpPool> pool_;
    int n_threads_;
    FixedPoint price_unit_, weight_unit_;
    std::vector<std::int64_t> weights_, prices_;
    std::int64_t least_weight_ = 1;  // of a leaf
    std::vector<std::uint32_t> rows_, scratch_;
};

}  // namespace cgens
