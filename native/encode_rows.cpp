#include "encode_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace cgens {

RowEncoder::RowEncoder(const EncodingArrays& arrays) : n_flags_(arrays.n_gaps + arrays.n_levels) {
    bool is_plain = !arrays.bent;
    for (std::size_t k = 0; k < arrays.n_numbers; ++k) {
        const auto column = static_cast<std::size_t>(arrays.numbers[k]);
        n_columns_ = std::max(n_columns_, column + 1);
        numbers_.push_back({column, arrays.fill[k], arrays.centre[k], arrays.scale[k], arrays.last_centre[k],
                            arrays.last_scale[k], 0, 0});
        add_knots(arrays, k);
        is_plain &= arrays.centre[k] == 0 && arrays.scale[k] == 1;
        is_plain &= arrays.last_centre[k] == 0 && arrays.last_scale[k] == 1;
    }
    scale_ = is_plain ? Scale::kNone : arrays.bent ? Scale::kBent : Scale::kShifted;
    if (!knots_.empty()) scale_ = Scale::kRanks;
    for (std::size_t g = 0; g < arrays.n_gaps; ++g) {
        const auto column = static_cast<std::size_t>(arrays.gaps[g]);
        n_columns_ = std::max(n_columns_, column + 1);
        sources_.push_back({column, false, static_cast<std::uint32_t>(g), 0, 0});
    }
    add_levels(arrays);
}

// Knots are followed by infinite ones to a power of two, so that all searches take the same number of steps.
void RowEncoder::add_knots(const EncodingArrays& arrays, std::size_t k) {
    const auto first = static_cast<std::size_t>(arrays.knot_begin[k]);
    const auto last = static_cast<std::size_t>(arrays.knot_begin[k + 1]);
    if (first == last) return;
    Number& number = numbers_[k];
    number.first_knot = knots_.size();
    for (number.n_knots = 1; number.n_knots < last - first;) number.n_knots *= 2;
    for (std::size_t e = first; e < last; ++e) {
        knots_.push_back(arrays.knots[e]);
        ranks_.push_back(arrays.ranks[e]);
        const bool is_last = e + 1 == last;
        slopes_.push_back(
            is_last ? 0.0 : (arrays.ranks[e + 1] - arrays.ranks[e]) / (arrays.knots[e + 1] - arrays.knots[e]));
    }
    knots_.resize(number.first_knot + number.n_knots, std::numeric_limits<double>::infinity());
    ranks_.resize(knots_.size(), 0.0);
    slopes_.resize(knots_.size(), 0.0);
}

void RowEncoder::add_levels(const EncodingArrays& arrays) {
    for (std::size_t h = 0; h < arrays.n_levels;) {
        const auto column = static_cast<std::size_t>(arrays.level_columns[h]);
        n_columns_ = std::max(n_columns_, column + 1);
        sources_.push_back({column, true, kNoFlag, level_flags_.size(), 0});
        Source& source = sources_.back();
        const auto add = [&](std::int64_t level, std::size_t flag) {
            const auto at = static_cast<std::size_t>(level);
            source.n_levels = std::max(source.n_levels, at + 1);
            level_flags_.resize(source.first_level + source.n_levels, kNoFlag);
            if (level_flags_[source.first_level + at] != kNoFlag)
                throw std::invalid_argument("RowEncoder: a level has two inputs");
            level_flags_[source.first_level + at] = static_cast<std::uint32_t>(flag);
        };
        for (; h < arrays.n_levels && static_cast<std::size_t>(arrays.level_columns[h]) == column; ++h) {
            const std::size_t flag = arrays.n_gaps + h;
            if (arrays.level_codes[h] >= 0)
                add(arrays.level_codes[h], flag);
            else
                for (std::int64_t e = arrays.rare_begin[h]; e < arrays.rare_begin[h + 1]; ++e)
                    add(arrays.rare[e], flag);
        }
    }
}

RowEncoder RowEncoder::select(const std::vector<bool>& is_used) const {
    RowEncoder own = *this;
    own.numbers_.clear();
    for (std::size_t k = 0; k < numbers_.size(); ++k)
        if (is_used[k]) own.numbers_.push_back(numbers_[k]);
    std::vector<std::uint32_t> renumbered(n_flags_, kNoFlag);
    own.n_flags_ = 0;
    for (std::size_t f = 0; f < n_flags_; ++f)
        if (is_used[numbers_.size() + f]) renumbered[f] = static_cast<std::uint32_t>(own.n_flags_++);
    const auto renumber = [&](std::uint32_t& flag) { flag = flag == kNoFlag ? kNoFlag : renumbered[flag]; };
    std::for_each(own.level_flags_.begin(), own.level_flags_.end(), renumber);
    own.sources_.clear();
    for (Source source : sources_) {
        renumber(source.gap_flag);
        const auto first = own.level_flags_.begin() + static_cast<std::ptrdiff_t>(source.first_level);
        const auto is_flag = [](std::uint32_t flag) { return flag != kNoFlag; };
        if (is_flag(source.gap_flag) ||
            std::any_of(first, first + static_cast<std::ptrdiff_t>(source.n_levels), is_flag))
            own.sources_.push_back(source);
    }
    return own;
}

EncodedRows RowEncoder::make_rows() const {
    EncodedRows rows;
    rows.numbers.reset(new double[kEncodedRows * numbers_.size()]);
    rows.flags.reset(new std::uint32_t[kEncodedRows * sources_.size()]);
    rows.n_sources = sources_.size();
    return rows;
}

inline std::uint32_t RowEncoder::flag_of(const Source& source, double x) const {
    if (!source.is_category) return x != x ? source.gap_flag : kNoFlag;
    if (!(x >= 0 && x < static_cast<double>(source.n_levels))) return kNoFlag;
    const auto level = static_cast<std::size_t>(x);
    return static_cast<double>(level) == x ? level_flags_[source.first_level + level] : kNoFlag;
}

void RowEncoder::scale_number(const Number& number, double* values, std::size_t n) const {
    const double centre = number.centre, scale = number.scale, last = number.last_centre, divisor = number.last_scale;
    if (scale_ == Scale::kShifted) {
        for (std::size_t i = 0; i < n; ++i) values[i] = ((values[i] - centre) / scale - last) / divisor;
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        double z = (values[i] - centre) / scale;
        z = z < kLargest ? z : kLargest;
        z = z > -kLargest ? z : -kLargest;
        const double part = z / kBend;
        values[i] = (z / std::sqrt(1 + part * part) - last) / divisor;
    }
}

void RowEncoder::rank_number(const Number& number, double* values, std::size_t n) const {
    const double *knots = knots_.data() + number.first_knot, *ranks = ranks_.data() + number.first_knot;
    const double* slopes = slopes_.data() + number.first_knot;
    std::size_t at[kEncodedRows] = {};  // the last knot that does not exceed the value, or the first knot
    for (std::size_t half = number.n_knots / 2; half > 0; half /= 2)
        for (std::size_t i = 0; i < n; ++i) at[i] += knots[at[i] + half] <= values[i] ? half : 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double distance = values[i] - knots[at[i]];
        // Elsewhere the distance may be infinite, and at a knot the slope, if two knots are nearly the same.
        const bool is_between = distance > 0 && slopes[at[i]] > 0;
        const double rank = is_between ? slopes[at[i]] * distance + ranks[at[i]] : ranks[at[i]];
        values[i] = (rank - number.last_centre) / number.last_scale;
    }
}

template <class T>
void RowEncoder::encode(const MatrixView<T>& X, std::size_t first, std::size_t n, EncodedRows& out) const {
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
        const Number& number = numbers_[k];
        double* values = out.numbers.get() + k * kEncodedRows;
        for (std::size_t i = 0; i < n; ++i) {
            const auto x = static_cast<double>(X(first + i, number.column));
            values[i] = x == x ? x : number.fill;
        }
        if (scale_ == Scale::kRanks)
            rank_number(number, values, n);
        else if (scale_ != Scale::kNone)
            scale_number(number, values, n);
    }
    std::fill(out.n_flags, out.n_flags + n, 0);
    for (const Source& source : sources_) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t flag = flag_of(source, static_cast<double>(X(first + i, source.column)));
            out.flags[i * out.n_sources + out.n_flags[i]] = flag;
            out.n_flags[i] += flag != kNoFlag ? 1 : 0;
        }
    }
}

template <class T>
void RowEncoder::transform(const MatrixView<T>& X, double* out) const {
    EncodedRows rows = make_rows();
    for (std::size_t first = 0; first < X.n_rows; first += kEncodedRows) {
        const std::size_t n = std::min(kEncodedRows, X.n_rows - first);
        encode(X, first, n, rows);
        for (std::size_t i = 0; i < n; ++i) {
            double* own = out + (first + i) * n_inputs();
            for (std::size_t k = 0; k < n_numbers(); ++k) own[k] = rows.numbers[k * kEncodedRows + i];
            std::fill(own + n_numbers(), own + n_inputs(), 0.0);
            const std::uint32_t* flags = rows.flags.get() + i * rows.n_sources;
            for (std::size_t f = 0; f < rows.n_flags[i]; ++f) own[n_numbers() + flags[f]] = 1.0;
        }
    }
}

template void RowEncoder::encode(const MatrixView<float>&, std::size_t, std::size_t, EncodedRows&) const;
template void RowEncoder::encode(const MatrixView<double>&, std::size_t, std::size_t, EncodedRows&) const;
template void RowEncoder::transform(const MatrixView<float>&, double*) const;
template void RowEncoder::transform(const MatrixView<double>&, double*) const;

}  // namespace cgens
