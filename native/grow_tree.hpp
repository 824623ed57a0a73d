// Small trees grown on a vector r of duals, over the same bins as stumps.
//
// Let G be the sum of r over the rows of a node, and W their total weight. There are two kinds of leaves:
//   real: a leaf's value is its mean G / W. Each split maximizes the gain in the sum of G^2 / W, the squared price
//         sum_i r_i h(x_i) of the tree scaled to unit variance.
//   sign: a leaf's value is the sign of G. Each split maximizes the gain in the sum of |G|, the price itself.
// Numbers are split at thresholds, with gaps on the better side. Levels of a category are put in the order of their means
// and split there. Because that order is chosen for the same rows, the means are shrunk to that of the node first, by as
// much as their scatter suggests (see level_shrinkage): many levels without an effect then gain nothing. The leaf whose
// best split gains most is split next. Sums are exact integers: the same tree for any number of threads
// and any order of equal rows.
//
// A tree may be grown on some of the rows, and from random splits: then each feature offers one random split to each node
// instead of its best one. It is chosen by a hash of seed, node and feature, so that threads do not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fixed_point.hpp"
#include "pool_stumps.hpp"

namespace cgens {

struct TreeNode {
    std::int32_t feature;               // -1 for a leaf
    std::int32_t left, right;           // rows above the split go right
    double threshold;                   // of numbers; NaN for categories
    double sum, weight;                 // G and W
    std::uint8_t gaps_right;            // where no row of the node has a gap: the side with more weight
    std::vector<std::uint32_t> levels;  // of categories, those that go right, ascending
};

struct TreeOptions {
    std::size_t max_leaves;
    double min_weight;  // of a leaf
    bool real;
    bool random;  // random splits
    std::uint64_t seed;
};

class TreeGrower {
   public:
    TreeGrower(std::shared_ptr<const StumpPool> pool, const std::vector<double>& weights, int n_threads);

    // Returns the tree for r = along, over the features with allowed[f] != 0 and the rows with drawn[i] != 0, or all if
    // that is null. Nodes are in the order of creation, the root first; leaf_of[i] is the leaf of row i, drawn or not.
    std::vector<TreeNode> grow(const double* along, const std::uint8_t* allowed, const std::uint8_t* drawn,
                               const TreeOptions& options, std::int32_t* leaf_of);

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
        bool empty() const { return price == 0 && weight == 0; }  // the weight of a row may round to 0
    };
    struct Split {
        double gain = 0.0;  // in the criterion, in units
        std::size_t feature = 0;
        std::size_t bin = 0;  // numbers: the last one that goes left
        bool gaps_right = true;
        std::vector<std::uint32_t> right_bins;  // categories
        Sums left;
    };
    struct Node {
        std::size_t begin, end;  // in rows_
        Sums sums;
        double squares;  // sum of r_i^2 / w_i over the rows, in units
        Split best;
        std::size_t position;  // in the tree
    };

    double gain(const Sums& left, const Sums& right) const;
    double gain_of(double left, std::int64_t left_weight, double right, std::int64_t right_weight) const;
    // Finds the best split of each node, in one pass over the blocks of features.
    void find_splits(std::vector<Node*> nodes, const std::uint8_t* allowed);
    void scan_block(const FeatureBlock& block, const Node& node, const std::uint8_t* allowed,
                    std::vector<Sums>& histogram, Split& best) const;
    // The sums of all bins of a feature are complete, that of the common bin included.
    void scan_thresholds(std::size_t f, const Sums* bins, const Node& node, Split& best) const;
    void scan_levels(std::size_t f, const Sums* bins, const Node& node, Split& best) const;
    // Which of n_splits a feature offers to a node.
    std::size_t random_split(const Node& node, std::size_t f, std::size_t n_splits) const;
    // How much weight, in units, a level must have for its mean to count by half against the mean of the node.
    double level_shrinkage(const BinnedFeature& feature, const Sums* bins, const Node& node) const;
    double sum_squares(std::size_t begin, std::size_t end) const;
    void describe(const Node& parent, const std::vector<std::uint8_t>& goes_right, TreeNode& node) const;
    std::vector<std::uint8_t> right_bins(const Split& split) const;  // for each bin whether it goes right
    // Reorders the node's rows so that those going left come first; returns where the others begin.
    std::size_t partition(const Node& node, const std::vector<std::uint8_t>& goes_right);

    std::shared_ptr<const StumpPool> pool_;
    int n_threads_;
    FixedPoint price_unit_, weight_unit_;
    std::vector<std::int64_t> weights_, prices_;  // of the drawn rows; 0 for the others
    std::vector<std::int64_t> all_weights_;
    std::int64_t least_weight_ = 1;  // of a leaf
    double row_weight_ = 1.0;        // of a single row: 1 if weights are numbers of copies, less if they are shares
    bool has_categories_ = false;
    bool real_ = true, random_ = false;
    std::uint64_t seed_ = 0;
    std::vector<std::uint32_t> rows_, scratch_;
};

}  // namespace cgens
