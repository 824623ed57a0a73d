#include "tree_bins.hpp"

#include <algorithm>
#include <utility>

#include "threads.hpp"

namespace cgens {
namespace {

// The features of a dense group: their codes are one word, and histograms of 256 bins take 32 KB, a first-level cache.
constexpr std::size_t kWidth = 8;
constexpr std::size_t kRowBlock = 4096;  // packed by one thread
constexpr std::size_t kAhead = 16;       // rows prefetched: those of a node are scattered over the table

// Adds rows of kFeatures packed codes each; mark(k) is called for each bin.
template <std::size_t kFeatures, class Code, class Mark>
void add_packed(const Code* packed, const std::size_t* group_first, const RowSpan& span, Sums* histogram,
                const Mark& mark) {
    std::size_t first[kFeatures];
    std::copy(group_first, group_first + kFeatures, first);
    for (std::size_t k = 0; k < span.size; ++k) {
        const std::size_t ahead = span.rows[std::min(k + kAhead, span.size - 1)];
        __builtin_prefetch(packed + ahead * kWidth);
        __builtin_prefetch(span.sums + ahead);
        const Code* codes = packed + span.rows[k] * kWidth;
        const Sums own = span.sums[span.rows[k]];
        for (std::size_t f = 0; f < kFeatures; ++f) {
            const std::size_t at = first[f] + codes[f];
            histogram[at] += own;
            mark(at);
        }
    }
}

template <std::size_t kFeatures = kWidth, class Code, class Mark>
void add_packed_features(std::size_t n_features, const Code* packed, const std::size_t* first, const RowSpan& span,
                         Sums* histogram, const Mark& mark) {
    if constexpr (kFeatures > 0) {
        if (n_features == kFeatures) return add_packed<kFeatures>(packed, first, span, histogram, mark);
        add_packed_features<kFeatures - 1>(n_features, packed, first, span, histogram, mark);
    }
}

// Calls visit(k) for each marked k of begin ... end - 1, ascending, and removes the marks.
template <class Visit>
void take_marks(std::uint64_t* marks, std::size_t begin, std::size_t end, const Visit& visit) {
    for (std::size_t word = begin / 64; 64 * word < end; ++word) {
        std::uint64_t own = marks[word];
        if (64 * word < begin) own &= ~std::uint64_t{0} << begin % 64;
        if (64 * (word + 1) > end) own &= ~std::uint64_t{0} >> (64 - end % 64);
        marks[word] ^= own;
        for (; own != 0; own &= own - 1) visit(64 * word + static_cast<std::size_t>(__builtin_ctzll(own)));
    }
}

}  // namespace

TreeBins::TreeBins(std::shared_ptr<const StumpPool> pool, int n_threads) : pool_(std::move(pool)), n_threads_(n_threads) {
    std::size_t most_bins = 0;
    for (std::size_t f = 0; f < pool_->n_features(); ++f) most_bins = std::max(most_bins, pool_->feature(f).n_bins());
    if (most_bins > 65536) {
        packed_ = std::vector<std::uint32_t>();
    } else if (most_bins > 256) {
        packed_ = std::vector<std::uint16_t>();
    }
}

void TreeBins::begin_tree(const std::uint8_t* allowed) {
    groups_.clear();
    n_bins_ = 0;
    is_dense() ? add_dense_groups(allowed) : add_sparse_groups(allowed);
    for (FeatureGroup& group : groups_) {
        group.begin = n_bins_;
        n_bins_ += group.n_bins;
    }
    if (is_dense()) std::visit([this](auto& packed) { pack(packed); }, packed_);
}

// Splits the allowed features into groups of equal size, one for each thread at least.
void TreeBins::add_dense_groups(const std::uint8_t* allowed) {
    std::vector<std::uint32_t> features;
    for (std::size_t f = 0; f < pool_->n_features(); ++f)
        if (allowed[f] != 0) features.push_back(static_cast<std::uint32_t>(f));
    entries_per_row_ = static_cast<double>(features.size());
    const auto n_threads = static_cast<std::size_t>(std::max(n_threads_, 1));
    const std::size_t n_groups = std::min(features.size(), std::max((features.size() + kWidth - 1) / kWidth, n_threads));
    for (std::size_t g = 0; g < n_groups; ++g) {
        FeatureGroup group;
        for (std::size_t k = features.size() * g / n_groups; k < features.size() * (g + 1) / n_groups; ++k) {
            group.features.push_back(features[k]);
            group.first.push_back(group.n_bins);
            group.n_bins += pool_->feature(features[k]).n_bins();
        }
        groups_.push_back(std::move(group));
    }
}

void TreeBins::add_sparse_groups(const std::uint8_t* allowed) {
    double n_entries = 0.0;
    for (const FeatureBlock& block : pool_->blocks()) {
        FeatureGroup group;
        for (std::size_t f = 0; f < block.n_features; ++f) {
            if (allowed[block.first_feature + f] == 0) continue;
            group.features.push_back(static_cast<std::uint32_t>(block.first_feature + f));
            group.first.push_back(block.bin_offset[f]);
        }
        if (group.features.empty()) continue;
        group.n_bins = block.bin_offset.back();
        group.block = &block;
        n_entries += static_cast<double>(block.row_begin.back());
        groups_.push_back(std::move(group));
    }
    entries_per_row_ = n_entries / static_cast<double>(n_rows());
}

template <class Code>
void TreeBins::pack(std::vector<Code>& packed) const {
    packed.resize(groups_.size() * n_rows() * kWidth);
    const double work = static_cast<double>(packed.size()) / 2;
    for_blocks(n_rows(), kRowBlock, n_threads_, work, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t g = 0; g < groups_.size(); ++g)
            for (std::size_t k = 0; k < groups_[g].features.size(); ++k)
                pool_->column(groups_[g].features[k]).visit([&, out = packed.data() + g * n_rows() * kWidth + k](const auto* bins) {
                    for (std::size_t i = begin; i < end; ++i) out[i * kWidth] = static_cast<Code>(bins[i]);
                });
    });
}

template <class Mark>
void TreeBins::add(const FeatureGroup& group, const RowSpan& span, Sums* histogram, const Mark& mark) const {
    if (span.size == 0) return;
    if (group.block == nullptr) {
        const std::size_t begin = static_cast<std::size_t>(&group - groups_.data()) * n_rows() * kWidth;
        const auto add_all = [&](const auto* packed) {
            add_packed_features(group.features.size(), packed, group.first.data(), span, histogram, mark);
        };
        return std::visit([&](const auto& packed) { add_all(packed.data() + begin); }, packed_);
    }
    for (std::size_t k = 0; k < span.size; ++k) {
        const Sums own = span.sums[span.rows[k]];
        visit_row(*group.block, span.rows[k], [&](std::size_t at) {
            histogram[at] += own;
            mark(at);
        });
    }
}

void TreeBins::add_rows(const FeatureGroup& group, const RowSpan& span, Sums* histogram) const {
    add(group, span, histogram, [](std::size_t) {});
}

void TreeBins::add_few_rows(const FeatureGroup& group, const RowSpan& span, Sums* histogram, std::uint64_t* marks) const {
    add(group, span, histogram, [marks](std::size_t at) { marks[at / 64] |= std::uint64_t{1} << at % 64; });
}

void TreeBins::complete(const FeatureGroup& group, const Sums& total, Sums* histogram) const {
    if (group.block == nullptr) return;
    for (std::size_t k = 0; k < group.features.size(); ++k) {
        const BinnedFeature& feature = pool_->feature(group.features[k]);
        Sums* bins = histogram + group.first[k];
        Sums common = total;
        for (std::size_t bin = 0; bin < feature.n_bins(); ++bin) common -= bins[bin];  // its own entry is 0
        bins[feature.common_bin] = common;
    }
}

std::size_t TreeBins::list(const FeatureGroup& group, std::size_t k, const Sums* histogram, OccupiedBin* out) const {
    const std::size_t n_bins = pool_->feature(group.features[k]).n_bins();
    std::size_t n = 0;
    for (std::size_t bin = 0; bin < n_bins; ++bin) {  // without branches
        const Sums& sums = histogram[group.first[k] + bin];
        out[n] = {sums, static_cast<std::uint32_t>(bin)};
        n += !sums.empty();
    }
    return n;
}

std::size_t TreeBins::take(const FeatureGroup& group, std::size_t k, const Sums& total, Sums* histogram,
                           std::uint64_t* marks, OccupiedBin* out) const {
    const BinnedFeature& feature = pool_->feature(group.features[k]);
    const std::size_t first = group.first[k];
    std::size_t n = 0;
    take_marks(marks, first, first + feature.n_bins(), [&](std::size_t at) {
        const Sums own = histogram[at];
        histogram[at] = {};
        out[n] = {own, static_cast<std::uint32_t>(at - first)};
        n += !own.empty();
    });
    if (group.block == nullptr) return n;
    Sums common = total;
    for (std::size_t place = 0; place < n; ++place) common -= out[place].sums;
    if (common.empty()) return n;
    std::size_t place = n++;
    for (; place > 0 && out[place - 1].bin > feature.common_bin; --place) out[place] = out[place - 1];
    out[place] = {common, feature.common_bin};
    return n;
}

void TreeBins::empty(const FeatureGroup& group, Sums* histogram, std::uint64_t* marks) const {
    take_marks(marks, 0, group.n_bins, [&](std::size_t at) { histogram[at] = {}; });
}

}  // namespace cgens
