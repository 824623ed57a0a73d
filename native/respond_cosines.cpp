#include "respond_cosines.hpp"

#include <algorithm>
#include <memory>

#include "threads.hpp"
#include "vector_ops.hpp"

namespace cgens {
namespace {

constexpr std::size_t kTogether = 128;  // numbers whose thetas, 16 KB of a panel, stay in the first-level cache

std::vector<bool> used_inputs(const double* thetas, std::size_t n_cosines, std::size_t n_inputs) {
    std::vector<bool> is_used(n_inputs, false);
    for (std::size_t j = 0; j < n_cosines; ++j)
        for (std::size_t k = 0; k < n_inputs; ++k)
            if (thetas[j * n_inputs + k] != 0) is_used[k] = true;
    return is_used;
}

}  // namespace

CosineTables::CosineTables(const RowEncoder& encoder, const double* thetas, const double* kappas, std::size_t n_cosines)
    : encoder_(encoder.select(used_inputs(thetas, n_cosines, encoder.n_inputs()))),
      n_cosines_(n_cosines),
      n_columns_(encoder.n_columns()) {
    const std::vector<bool> is_used = used_inputs(thetas, n_cosines, encoder.n_inputs());
    const std::size_t width = padded(n_cosines), n_numbers = encoder_.n_numbers(), n_flags = encoder_.n_flags();
    starts_.assign(width, 0.0);
    number_thetas_.assign(width * n_numbers, 0.0);
    flag_thetas_.assign(width * n_flags, 0.0);
    for (std::size_t j = 0; j < n_cosines; ++j) {
        const std::size_t panel = j / kLanes, lane = j % kLanes;
        starts_[j] = -kappas[j];
        double* number = number_thetas_.data() + panel * n_numbers * kLanes + lane;
        double* flag = flag_thetas_.data() + panel * n_flags * kLanes + lane;
        for (std::size_t k = 0; k < encoder.n_inputs(); ++k) {
            if (!is_used[k]) continue;
            double*& next = k < encoder.n_numbers() ? number : flag;
            *next = thetas[j * encoder.n_inputs() + k];
            next += kLanes;
        }
    }
}

void CosineTables::take_panel(const EncodedRows& rows, std::size_t n, std::size_t panel, float* responses) const {
    const VectorOps& ops = vector_ops();
    const std::size_t n_numbers = encoder_.n_numbers(), width = padded(n_cosines_);
    const double* number_thetas = number_thetas_.data() + panel * n_numbers * kLanes;
    double phases[kEncodedRows * kLanes];
    float cosines[kEncodedRows * kLanes];
    ops.start_phases(starts_.data() + panel * kLanes, flag_thetas_.data() + panel * encoder_.n_flags() * kLanes,
                     rows.flags.get(), rows.n_sources, rows.n_flags, n, phases);
    for (std::size_t k = 0; k < n_numbers; k += kTogether)
        ops.add_phases(rows.numbers.get() + k * kEncodedRows, kEncodedRows, std::min(kTogether, n_numbers - k),
                       number_thetas + k * kLanes, n, phases);
    ops.cosines(phases, cosines, n * kLanes);
    for (std::size_t i = 0; i < n; ++i)
        std::copy_n(cosines + i * kLanes, kLanes, responses + i * width + panel * kLanes);
}

template <class T, class Visit>
void CosineTables::visit_blocks(const MatrixView<T>& X, int n_threads, const Visit& visit) const {
    const std::size_t width = padded(n_cosines_);
    const double work = static_cast<double>(X.n_rows * width) * (1 + 0.1 * static_cast<double>(encoder_.n_numbers()));
    for_blocks(X.n_rows, kEncodedRows, n_threads, work, [&](std::size_t, std::size_t first, std::size_t last) {
        EncodedRows rows = encoder_.make_rows();
        const std::unique_ptr<float[]> responses(new float[(last - first) * width]);
        encoder_.encode(X, first, last - first, rows);
        for (std::size_t panel = 0; panel < width / kLanes; ++panel)
            take_panel(rows, last - first, panel, responses.get());
        visit(first, last - first, responses.get());
    });
}

template <class T>
void CosineTables::respond(const MatrixView<T>& X, float* out, int n_threads) const {
    const std::size_t width = padded(n_cosines_);
    visit_blocks(X, n_threads, [&](std::size_t first, std::size_t n, const float* responses) {
        for (std::size_t i = 0; i < n; ++i)
            std::copy_n(responses + i * width, n_cosines_, out + (first + i) * n_cosines_);
    });
}

template <class T>
void CosineTables::decide(const MatrixView<T>& X, const double* weights, std::size_t n_outputs, double* out,
                          int n_threads) const {
    const std::size_t width = padded(n_cosines_);
    std::vector<double> own(n_outputs * width, 0.0);  // output by output
    for (std::size_t j = 0; j < n_cosines_; ++j)
        for (std::size_t t = 0; t < n_outputs; ++t) own[t * width + j] = weights[j * n_outputs + t];
    const VectorOps& ops = vector_ops();
    visit_blocks(X, n_threads, [&](std::size_t first, std::size_t n, const float* responses) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t t = 0; t < n_outputs; ++t)
                out[(first + i) * n_outputs + t] = ops.dot(responses + i * width, own.data() + t * width, width);
    });
}

template void CosineTables::respond(const MatrixView<float>&, float*, int) const;
template void CosineTables::respond(const MatrixView<double>&, float*, int) const;
template void CosineTables::decide(const MatrixView<float>&, const double*, std::size_t, double*, int) const;
template void CosineTables::decide(const MatrixView<double>&, const double*, std::size_t, double*, int) const;

}  // namespace cgens
