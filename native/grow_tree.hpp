// Small trees grown on a vector r of duals, over the same bins as stumps.
//
// Let G be the sum of r over the rows of a node, and W their total weight. There are two kinds of leaves:
//   real: a leaf's value is its mean G / W. Each split maximizes the gain in the sum of G^2 / W, the squared price
//         sum_i r_i h(x_i) of the tree scaled to unit variance.
//   sign: a leaf's value is the sign of G. Each split maximizes the gain in the sum of |G|, the price itself.
// The leaf whose best split gains most is split next; see scan_splits.hpp for the splits of one feature. Sums are exact
// integers: the same tree for any number of threads, any order of equal rows, and however histograms are made: those of
// large nodes are stored, so that one of two children is the difference between the parent and the other.
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
#include "scan_splits.hpp"
#include "stored_histograms.hpp"
#include "tree_bins.hpp"

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
    // Stores histograms of at most `max_stored` bytes: by default, those of 128 leaves for 140 features of 256 bins.
    static constexpr std::size_t kMaxStored = std::size_t{1} << 26;
    TreeGrower(std::shared_ptr<const StumpPool> pool, const std::vector<double>& weights, int n_threads,
               std::size_t max_stored);

    // Returns the tree for r = along, over the features with allowed[f] != 0 and the rows with drawn[i] != 0, or all if
    // that is null. Nodes are in the order of creation, the root first; leaf_of[i] is the leaf of row i, drawn or not.
    std::vector<TreeNode> grow(const double* along, const std::uint8_t* allowed, const std::uint8_t* drawn,
                               const TreeOptions& options, std::int32_t* leaf_of);

    std::size_t n_rows() const { return pool_->n_rows(); }
    std::size_t n_features() const { return pool_->n_features(); }

   private:
    struct Range {
        std::size_t begin, end;  // in rows_
        std::size_t size() const { return end - begin; }
    };
    struct Node {
        Range drawn, others;
        NodeSums sums;
        NodeSplit best;
        Sums* histogram;  // stored, or null
    };
    // What a thread needs to scan a node. Histogram and marks are empty between uses.
    struct Scratch {
        std::vector<Sums> histogram;
        std::vector<std::uint64_t> marks;
        std::vector<OccupiedBin> bins;
    };
    // A node whose splits are searched.
    struct Search {
        Node* node;
        bool is_summed;  // whether its histogram is complete
        Sums* sibling;   // the stored histogram of both children, from which this one's is subtracted; or null
    };

    // Sets the rows' sums and their order: drawn rows first. Returns the number of these and their sums.
    std::size_t begin_rows(const double* along, const std::uint8_t* drawn, Sums& total);
    void begin_scratch(const std::uint8_t* allowed);
    // Whether there are fewer entries than bins: only bins that have one are then visited.
    bool has_few(const Node& node) const;
    // Finds the best split of the root; of both children, given the stored histogram of their parent or null.
    void split_root(Node& root);
    void split_children(Node& left, Node& right, Sums* histogram);
    void search(const std::vector<Search>& searches);
    void search_group(const FeatureGroup& group, const Search& search, Scratch& scratch, NodeSplit& best) const;
    double sum_squares(const Range& range) const;
    void describe(const Node& parent, const std::vector<std::uint8_t>& goes_right, TreeNode& node) const;
    std::vector<std::uint8_t> right_bins(const NodeSplit& split) const;  // for each bin whether it goes right
    // Reorders rows so that those going left come first; returns where the others begin.
    template <class IsRight>
    std::size_t partition(const Range& range, const IsRight& is_right);

    std::shared_ptr<const StumpPool> pool_;
    int n_threads_;
    TreeBins bins_;
    StoredHistograms<Sums> stored_;
    FixedPoint price_unit_, weight_unit_;
    std::vector<Sums> sums_;  // of each row
    bool has_categories_ = false;
    SplitScan scan_;
    std::vector<std::uint32_t> rows_, moved_;
    // Kept only for their memory.
    std::vector<Scratch> scratch_;  // of each thread
    std::vector<NodeSplit> found_;  // by each group of features, for each search
    std::vector<std::size_t> left_end_;  // where the left rows of each block of rows end
};

}  // namespace cgens
