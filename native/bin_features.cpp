#include "bin_features.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

#include "encode_numbers.hpp"
#include "find_edges.hpp"
#include "sample_rows.hpp"
#include "threads.hpp"

namespace cgens {
namespace {

constexpr std::size_t kGathered = 8;        // features whose values are gathered in one pass over the rows
constexpr std::size_t kTileRows = 8192;     // rows that are encoded together,
constexpr std::size_t kTileFeatures = 128;  // of so many features: 4 MB of float32
constexpr double kDenseShare = 0.25;        // of entries outside the common bins, from which on a table is dense
constexpr std::chrono::milliseconds kPollInterval{50};

[[noreturn]] void throw_infinite() { throw std::invalid_argument("stumps and trees need finite values: X has infinity"); }

// Copies values of some features for the canonical rows [first, last), feature by feature.
template <class T>
void gather(const MatrixView<T>& X, const std::int64_t* rows, std::size_t first, std::size_t last, FeatureRange features,
            T* values) {
    constexpr std::size_t kAhead = 8;  // prefetched: canonical rows are scattered over X
    const std::size_t n = last - first;
    T zero_or_nan = 0;  // NaN once a value is not finite
    const bool by_rows = std::abs(X.column_stride) <= std::abs(X.row_stride);
    for (std::size_t i = 0; by_rows && i < n; ++i) {
        if (first + i + kAhead < last) {
            const auto ahead = static_cast<std::size_t>(rows[first + i + kAhead]);
            __builtin_prefetch(&X(ahead, features.first));
            __builtin_prefetch(&X(ahead, features.last - 1));
        }
        const auto row = static_cast<std::size_t>(rows[first + i]);
        for (std::size_t f = 0; f < features.size(); ++f) {
            const T value = X(row, features.first + f);
            zero_or_nan += 0 * value;
            values[f * n + i] = value;
        }
    }
    for (std::size_t f = 0; !by_rows && f < features.size(); ++f)
        for (std::size_t i = 0; i < n; ++i) {
            if (first + i + kAhead < last)
                __builtin_prefetch(&X(static_cast<std::size_t>(rows[first + i + kAhead]), features.first + f));
            const T value = X(static_cast<std::size_t>(rows[first + i]), features.first + f);
            zero_or_nan += 0 * value;
            values[f * n + i] = value;
        }
    if (zero_or_nan != 0 && std::any_of(values, values + n * features.size(), [](T value) { return std::isinf(value); }))
        throw_infinite();
}

// Bins a dense matrix: of many rows, edges are those of a sample of the rows.
template <class T, class Poll>
class DenseBinner {
   public:
    DenseBinner(const MatrixView<T>& X, const std::int64_t* rows, const double* weights, BinnedTable& table,
                const BinningOptions& options, const Poll& poll)
        : X_(X), rows_(rows), weights_(weights), table_(table), options_(options), poll_(poll) {
        table.columns.resize(X.n_columns);
    }

    void bin_all() {
        if (table_.n_rows > kSampledRows && options_.max_bins <= kMaxSampledBins) return bin_by_sample();
        const std::vector<FeatureRange> ranges = ranges_of(kGathered);
        auto binners = make_binners(weights_, table_.n_rows);
        for_tasks(ranges.size(), options_.n_threads, 10 * size(), [&](std::size_t r, std::size_t thread) {
            bin_range(ranges[r], binners[thread]);
        });
    }

   private:
    double size() const { return static_cast<double>(table_.n_rows * X_.n_columns); }
    bool is_category(std::size_t f) const { return options_.is_category != nullptr && options_.is_category[f] != 0; }

    std::vector<FeatureRange> ranges_of(std::size_t width) const {
        // With few features, ranges are smaller, so that there is work for several threads.
        return split_features(X_.n_columns, std::min(width, X_.n_columns / 4 + 1));
    }
    std::vector<FeatureBinner<T>> make_binners(const double* weights, std::size_t n_rows) const {
        const FeatureBinner<T> binner(weights, n_rows, options_.max_bins, options_.min_level_weight);
        return std::vector<FeatureBinner<T>>(static_cast<std::size_t>(std::max(options_.n_threads, 1)), binner);
    }

    void store(std::size_t f, const std::vector<std::uint32_t>& bins) {
        table_.columns[f] = BinColumn(bins.size(), table_.features[f].n_bins());
        table_.columns[f].fill([&](auto* to) { std::copy(bins.begin(), bins.end(), to); });
    }

    // Bins features by the values of all rows.
    void bin_range(FeatureRange range, FeatureBinner<T>& binner) {
        const std::size_t n = table_.n_rows;
        std::vector<T> values(n * range.size());
        gather(X_, rows_, 0, n, range, values.data());
        std::vector<std::uint32_t> bins(n);
        for (std::size_t f = range.first; f < range.last; ++f) {
            poll_();
            const Entries<T> entries{values.data() + (f - range.first) * n, nullptr, n, 0};
            table_.features[f] = binner.bin(entries, is_category(f), bins.data());
            store(f, bins);
        }
    }

    void bin_by_sample() {
        const SampledRows sample = sample_rows(rows_, weights_, table_.n_rows);
        const std::vector<FeatureRange> ranges = ranges_of(kGathered);
        auto of_sample = make_binners(sample.weights.data(), sample.rows.size());
        auto of_all = make_binners(weights_, table_.n_rows);
        std::vector<std::uint8_t> is_encoded(X_.n_columns);
        const double work = 10 * size();
        for_tasks(ranges.size(), options_.n_threads, work, [&](std::size_t r, std::size_t thread) {
            find_edges(ranges[r], sample, of_sample[thread], is_encoded.data());
            // Categories, and numbers of few distinct values, are counted over all rows.
            for (std::size_t f = ranges[r].first; f < ranges[r].last; ++f)
                if (is_encoded[f] == 0) is_encoded[f] = !bin_few_values(f, of_all[thread]);
        });
        encode_all(is_encoded);
    }

    void find_edges(FeatureRange range, const SampledRows& sample, FeatureBinner<T>& binner, std::uint8_t* is_encoded) {
        const std::size_t n = sample.rows.size();
        std::vector<T> values(n * range.size());
        gather(X_, sample.rows.data(), 0, n, range, values.data());
        std::vector<std::uint32_t> bins(n);
        for (std::size_t f = range.first; f < range.last; ++f) {
            poll_();
            if (is_category(f)) continue;
            const Entries<T> entries{values.data() + (f - range.first) * n, nullptr, n, 0};
            table_.features[f] = binner.bin(entries, false, bins.data());
            is_encoded[f] = binner.had_many_values();
        }
    }

    // Bins a feature by its values in all rows. Returns false if it is a number with many of them, which the sample
    // did not have.
    bool bin_few_values(std::size_t f, FeatureBinner<T>& binner) {
        const std::size_t n = table_.n_rows;
        std::vector<T> values(n);
        std::vector<std::uint32_t> bins(n);
        gather(X_, rows_, 0, n, {f, f + 1}, values.data());
        poll_();
        const Entries<T> entries{values.data(), nullptr, n, 0};
        if (is_category(f)) {
            table_.features[f] = binner.bin(entries, true, bins.data());
        } else {
            BinnedFeature feature;
            if (!binner.bin_few_values(entries, feature, bins.data())) return false;
            table_.features[f] = std::move(feature);
        }
        store(f, bins);
        return true;
    }

    // Looks up the bins of all rows by the edges of the sample. That may have missed gaps: they add a bin, and the feature
    // is encoded again.
    void encode_all(const std::vector<std::uint8_t>& is_encoded) {
        std::vector<std::uint8_t> left = is_encoded;
        while (std::find(left.begin(), left.end(), 1) != left.end()) left = encode(left);
        for_tasks(X_.n_columns, options_.n_threads, size(), [&](std::size_t f, std::size_t) {
            if (is_encoded[f] == 0) return;
            BinnedFeature& feature = table_.features[f];
            std::vector<std::size_t> counts(feature.n_bins());
            table_.columns[f].visit([&](const auto* bins) {
                for (std::size_t i = 0; i < table_.n_rows; ++i) ++counts[bins[i]];
            });
            feature.common_bin =
                static_cast<std::uint32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
        });
    }

    // Encodes the chosen features, and returns which of them have gaps without a bin, which they now have.
    std::vector<std::uint8_t> encode(const std::vector<std::uint8_t>& chosen) {
        std::vector<NumberEncoder> encoders(X_.n_columns);
        for (std::size_t f = 0; f < X_.n_columns; ++f) {
            if (chosen[f] == 0) continue;
            encoders[f] = NumberEncoder(table_.features[f]);
            table_.columns[f] = BinColumn(table_.n_rows, table_.features[f].n_bins());
        }
        std::vector<std::uint8_t> missed(X_.n_columns, 0);
        std::mutex mutex;
        visit_tiles([&](std::size_t first, std::size_t last, FeatureRange range, const T* values) {
            for (std::size_t f = range.first; f < range.last; ++f) {
                if (chosen[f] == 0) continue;
                const T* own = values + (f - range.first) * (last - first);
                table_.columns[f].fill([&](auto* to) { encoders[f].encode(own, last - first, to + first); });
                bool has_gaps = false;
                for (std::size_t i = 0; i < last - first; ++i) has_gaps |= own[i] != own[i];
                if (!has_gaps || table_.features[f].has_gaps) continue;
                const std::lock_guard<std::mutex> lock(mutex);
                missed[f] = 1;
            }
        });
        for (std::size_t f = 0; f < X_.n_columns; ++f) {
            if (missed[f] == 0) continue;
            table_.features[f].has_gaps = true;
            table_.features[f].thresholds.push_back(std::numeric_limits<double>::infinity());
        }
        return missed;
    }

    // Calls visit(first, last, features, values) for rows [first, last), with the values feature by feature.
    template <class Visit>
    void visit_tiles(const Visit& visit) {
        const std::vector<FeatureRange> ranges = ranges_of(kTileFeatures);
        const std::size_t n_tiles = (table_.n_rows + kTileRows - 1) / kTileRows;
        std::vector<std::vector<T>> values(static_cast<std::size_t>(std::max(options_.n_threads, 1)));
        for_tasks(n_tiles * ranges.size(), options_.n_threads, 10 * size(), [&](std::size_t task, std::size_t thread) {
            poll_();
            const std::size_t first = task / ranges.size() * kTileRows, last = std::min(first + kTileRows, table_.n_rows);
            const FeatureRange range = ranges[task % ranges.size()];
            values[thread].resize((last - first) * range.size());
            gather(X_, rows_, first, last, range, values[thread].data());
            visit(first, last, range, values[thread].data());
        });
    }

    const MatrixView<T>& X_;
    const std::int64_t* rows_;
    const double* weights_;
    BinnedTable& table_;
    const BinningOptions& options_;
    const Poll& poll_;
};

// What the blocks of compressed columns need: position[r] is the canonical row that row r of X represents, or -1.
struct SparseRows {
    std::vector<std::int64_t> position;
    SparseRows(const std::int64_t* rows, std::size_t n_rows, std::size_t n_all) : position(n_all, -1) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            std::int64_t& own = position[static_cast<std::size_t>(rows[i])];
            if (own >= 0) throw std::invalid_argument("StumpPool: the rows of a sparse table must be distinct");
            own = static_cast<std::int64_t>(i);
        }
    }
};

template <class T, class Poll>
void bin_block(const SparseView<T>& X, const SparseRows& rows, FeatureBinner<T>& binner, BinnedTable& table,
               FeatureBlock& block, const Poll& poll) {
    struct Stored {
        std::uint32_t row, code;
    };
    const std::size_t n_rows = table.n_rows;
    std::vector<Stored> stored;
    std::vector<std::uint32_t> entry_rows, bins, code_of_row(n_rows);
    std::vector<T> values;
    std::size_t offset = 0;
    for (std::size_t f = 0; f < block.n_features; ++f) {
        poll();
        const std::size_t number = block.first_feature + f;
        values.clear();
        entry_rows.clear();
        for (std::int64_t k = X.begin[number]; k < X.begin[number + 1]; ++k) {
            const std::int64_t row = rows.position[static_cast<std::size_t>(X.indices[k])];
            if (row < 0) continue;
            if (std::isinf(X.data[k])) throw_infinite();
            values.push_back(X.data[k]);
            entry_rows.push_back(static_cast<std::uint32_t>(row));
        }
        bins.resize(values.size());
        const Entries<T> entries{values.data(), entry_rows.data(), values.size(), n_rows - values.size()};
        BinnedFeature& feature = table.features[number];
        feature = binner.bin(entries, false, bins.data());
        const std::uint32_t zero = feature.encode(0.0);
        if (zero == feature.common_bin || entries.n_zeros == 0) {
            for (std::size_t k = 0; k < bins.size(); ++k)
                if (bins[k] != feature.common_bin)
                    stored.push_back({entry_rows[k], static_cast<std::uint32_t>(offset + bins[k])});
        } else {  // mostly another value: rows without an entry are stored
            std::fill(code_of_row.begin(), code_of_row.end(), zero);
            for (std::size_t k = 0; k < bins.size(); ++k) code_of_row[entry_rows[k]] = bins[k];
            for (std::size_t i = 0; i < n_rows; ++i)
                if (code_of_row[i] != feature.common_bin)
                    stored.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(offset + code_of_row[i])});
        }
        offset += feature.n_bins();
    }
    block.bin_offset.assign(1, 0);
    for (std::size_t f = 0; f < block.n_features; ++f)
        block.bin_offset.push_back(block.bin_offset.back() + table.features[block.first_feature + f].n_bins());
    block.row_begin.assign(n_rows + 1, 0);
    for (const Stored& entry : stored) ++block.row_begin[entry.row + 1];
    std::partial_sum(block.row_begin.begin(), block.row_begin.end(), block.row_begin.begin());
    std::vector<std::uint32_t> next(block.row_begin.begin(), block.row_begin.end() - 1);
    const auto store = [&](auto& codes) {  // in the order of the features: codes ascend within a row
        codes.resize(stored.size());
        for (const Stored& entry : stored)
            codes[next[entry.row]++] = static_cast<std::remove_reference_t<decltype(codes[0])>>(entry.code);
    };
    offset <= 65536 ? store(block.codes) : store(block.wide_codes);
}

void append_block(BinnedTable& table, std::size_t first, std::size_t n_features) {
    FeatureBlock block;
    block.first_feature = first;
    block.n_features = n_features;
    table.blocks.push_back(std::move(block));
}

// Calls bin(poll), where poll() throws if the caller's thread is to stop.
template <class Bin>
void with_poll(const BinningOptions& options, const Bin& bin) {
    const std::thread::id caller = std::this_thread::get_id();
    auto asked = std::chrono::steady_clock::now();
    bin([&] {
        const auto now = std::chrono::steady_clock::now();
        if (!options.interrupted || std::this_thread::get_id() != caller || now - asked <= kPollInterval) return;
        asked = now;
        if (options.interrupted()) throw Interrupted();
    });
}

BinnedTable empty_table(std::size_t n_rows, std::size_t n_features) {
    if (n_rows > std::numeric_limits<std::uint32_t>::max() / kBlockFeatures)
        throw std::length_error("stumps and trees take at most 134217727 rows");
    BinnedTable table;
    table.n_rows = n_rows;
    table.features.resize(n_features);
    return table;
}

// The share of entries outside the common bins.
double stored_share(const BinnedTable& table, int n_threads) {
    std::vector<std::size_t> stored(table.features.size());
    const double size = static_cast<double>(table.n_rows * stored.size());
    for_tasks(stored.size(), n_threads, size, [&](std::size_t f, std::size_t) {
        const std::uint32_t common = table.features[f].common_bin;
        table.columns[f].visit([&](const auto* bins) {
            for (std::size_t i = 0; i < table.n_rows; ++i) stored[f] += bins[i] != common;
        });
    });
    return std::accumulate(stored.begin(), stored.end(), 0.0) / size;
}

}  // namespace

template <class T>
BinnedTable bin_features(const MatrixView<T>& X, const std::int64_t* rows, const double* weights, std::size_t n_rows,
                         const BinningOptions& options) {
    BinnedTable table = empty_table(n_rows, X.n_columns);
    with_poll(options, [&](const auto& poll) { DenseBinner(X, rows, weights, table, options, poll).bin_all(); });
    if (stored_share(table, options.n_threads) >= kDenseShare) return table;
    return without_common_bins(std::move(table), options.n_threads);
}

template <class T>
BinnedTable bin_features(const SparseView<T>& X, const std::int64_t* rows, const double* weights, std::size_t n_rows,
                         const BinningOptions& options) {
    BinnedTable table = empty_table(n_rows, X.n_columns);
    // A block has codes of 16 bits if possible, and not so many entries that there is no work for several threads.
    const auto n_entries = static_cast<std::size_t>(X.begin[X.n_columns]);
    const std::size_t max_entries = std::max(n_rows, n_entries / 16);
    std::size_t first = 0, n_bins = 0, entries = 0;
    for (std::size_t f = 0; f < X.n_columns; ++f) {
        const auto own = static_cast<std::size_t>(X.begin[f + 1] - X.begin[f]);
        const std::size_t own_bins = std::min(options.max_bins, own + 1) + 1;
        if (f > first && (n_bins + own_bins > 65536 || entries + own > max_entries)) {
            append_block(table, first, f - first);
            first = f;
            n_bins = entries = 0;
        }
        n_bins += own_bins;
        entries += own;
    }
    append_block(table, first, X.n_columns - first);
    const SparseRows positions(rows, n_rows, X.n_rows);
    const double work = 20 * static_cast<double>(n_entries);
    std::vector<FeatureBinner<T>> binners(
        static_cast<std::size_t>(std::max(options.n_threads, 1)),
        FeatureBinner<T>(weights, n_rows, options.max_bins, options.min_level_weight));
    with_poll(options, [&](const auto& poll) {
        for_tasks(table.blocks.size(), options.n_threads, work, [&](std::size_t b, std::size_t thread) {
            bin_block(X, positions, binners[thread], table, table.blocks[b], poll);
        });
    });
    return table;
}

template BinnedTable bin_features(const MatrixView<float>&, const std::int64_t*, const double*, std::size_t,
                                  const BinningOptions&);
template BinnedTable bin_features(const MatrixView<double>&, const std::int64_t*, const double*, std::size_t,
                                  const BinningOptions&);
template BinnedTable bin_features(const SparseView<float>&, const std::int64_t*, const double*, std::size_t,
                                  const BinningOptions&);
template BinnedTable bin_features(const SparseView<double>&, const std::int64_t*, const double*, std::size_t,
                                  const BinningOptions&);

}  // namespace cgens
