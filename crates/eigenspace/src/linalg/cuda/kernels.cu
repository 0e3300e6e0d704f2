// The kernels beside cuBLAS and cuSOLVER. kernels.ptx is compiled from this file; see docs/GPU.md.
//
// Matrices are row-major, and `columns` is the number of columns. Sums are in the order of the code for the CPU, and
// products are not fused with additions, so the sums of `differences`, `center` and `accumulate` are the same to the bit.

#define SUMMED_ROWS 32
#define THREADS 256

typedef unsigned long long size;

// part[p][j] = sum over the rows i of piece p of weight[i] ((x[i][j] - high[j]) - low[j])
extern "C" __global__ void differences(const double *x, size rows, size columns, const double *high, const double *low,
                                       const double *weights, double *part) {
    size j = (size)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    size first = (size)blockIdx.y * SUMMED_ROWS;
    size end = first + SUMMED_ROWS < rows ? first + SUMMED_ROWS : rows;
    double h = high[j], l = low[j], sum = 0.0;
    for (size i = first; i < end; i++) {
        double difference = (x[i * columns + j] - h) - l;
        sum += weights ? weights[i] * difference : difference;
    }
    part[(size)blockIdx.y * columns + j] = sum;
}

// x[i][j] = root[i] ((x[i][j] - high[j]) - low[j]), and part[p][j] = the sum of their squares
extern "C" __global__ void center(double *x, size rows, size columns, const double *high, const double *low,
                                  const double *roots, double *part) {
    size j = (size)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    size first = (size)blockIdx.y * SUMMED_ROWS;
    size end = first + SUMMED_ROWS < rows ? first + SUMMED_ROWS : rows;
    double h = high[j], l = low[j], sum = 0.0;
    for (size i = first; i < end; i++) {
        double difference = (x[i * columns + j] - h) - l;
        if (roots) difference = roots[i] * difference;
        sum += difference * difference;
        x[i * columns + j] = difference;
    }
    part[(size)blockIdx.y * columns + j] = sum;
}

// sum[j] = part[0][j] + part[1][j] + ... in this order
extern "C" __global__ void total(const double *part, size pieces, size columns, double *sum) {
    size j = (size)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= columns) return;
    double all = 0.0;
    for (size p = 0; p < pieces; p++) all += part[p * columns + j];
    sum[j] = all;
}

// out[i][j] = scale[i] in[size - 1 - i][j]: the rows of a square matrix from the last one on
extern "C" __global__ void last_rows(const double *in, size order, size keep, const double *scale, double *out) {
    size j = (size)blockIdx.x * blockDim.x + threadIdx.x;
    size i = blockIdx.y;
    if (j >= order || i >= keep) return;
    out[i * order + j] = scale[i] * in[(order - 1 - i) * order + j];
}

// The squared length of each row, and whether any |x[i][j]| > limit[j]. One block per row.
extern "C" __global__ void lengths(const double *x, size columns, const double *limit, double *squared, double *above) {
    __shared__ double sums[THREADS];
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    const double *row = x + (size)blockIdx.x * columns;
    double sum = 0.0;
    bool any = false;
    for (size j = threadIdx.x; j < columns; j += THREADS) {
        sum += row[j] * row[j];
        if (limit && fabs(row[j]) > limit[j]) any = true;
    }
    if (any) found = 1;
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        squared[blockIdx.x] = sums[0];
        above[blockIdx.x] = found;
    }
}

// gram[i][i] = squared[i] in a row-major square matrix
extern "C" __global__ void set_diagonal(double *gram, size order, const double *squared, size rows) {
    size i = (size)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) gram[i * order + i] = squared[i];
}

// m + low += more in the lower triangle, where low holds the rounding errors of m
extern "C" __global__ void accumulate(double *m, double *low, const double *more, size order) {
    size j = (size)blockIdx.x * blockDim.x + threadIdx.x;
    size i = blockIdx.y;
    if (j > i || i >= order) return;
    size at = i * order + j;
    double a = m[at], b = more[at];
    double sum = a + b;
    double b_part = sum - a;
    m[at] = sum;
    low[at] += (a - (sum - b_part)) + (b - b_part);
}

// x = (double) narrow
extern "C" __global__ void widen(const float *narrow, double *x, size cells) {
    size step = (size)gridDim.x * blockDim.x;
    for (size at = (size)blockIdx.x * blockDim.x + threadIdx.x; at < cells; at += step) x[at] = narrow[at];
}

// x = wide
extern "C" __global__ void copy(const double *wide, double *x, size cells) {
    size step = (size)gridDim.x * blockDim.x;
    for (size at = (size)blockIdx.x * blockDim.x + threadIdx.x; at < cells; at += step) x[at] = wide[at];
}

// beyond = 1 if any |x| is above the limit or not a number
extern "C" __global__ void check(const double *x, size cells, double limit, int *beyond) {
    size step = (size)gridDim.x * blockDim.x;
    bool any = false;
    for (size at = (size)blockIdx.x * blockDim.x + threadIdx.x; at < cells; at += step) any |= !(fabs(x[at]) <= limit);
    if (any) *beyond = 1;
}

// The upper triangle of a symmetric matrix, from its lower triangle
extern "C" __global__ void mirror(double *m, size order) {
    size j = (size)blockIdx.x * blockDim.x + threadIdx.x;
    size i = blockIdx.y;
    if (j >= order || j <= i) return;
    m[i * order + j] = m[j * order + i];
}

// out = factor in + shift I for square matrices
extern "C" __global__ void affine(const double *in, size order, double factor, double shift, double *out) {
    size j = (size)blockIdx.x * blockDim.x + threadIdx.x;
    size i = blockIdx.y;
    if (j >= order) return;
    out[i * order + j] = factor * in[i * order + j] + (i == j ? shift : 0.0);
}

// out[i] = in[i][i]
extern "C" __global__ void diagonal(const double *in, size order, double *out) {
    size i = (size)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < order) out[i] = in[i * order + i];
}

// x = numbers between -0.5 and 0.5, the same in every call: the outputs of SplitMix64
extern "C" __global__ void random(double *x, size cells) {
    size step = (size)gridDim.x * blockDim.x;
    for (size at = (size)blockIdx.x * blockDim.x + threadIdx.x; at < cells; at += step) {
        size z = (at + 1) * 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        x[at] = (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 - 0.5;
    }
}
