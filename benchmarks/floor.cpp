// What the arithmetic of one member costs on one core, with all its sizes known and nothing else.
//
//   floor INPUT REPETITIONS
//
// INPUT holds, as raw 32-bit numbers: the rows x, the targets y, the weights of the rows, the
// initial parameters (hidden weights, hidden biases, output weights, output biases), and for every
// epoch the order of the rows. Each repetition trains from the initial parameters. Printed as JSON:
// microseconds per optimiser step in the fastest repetition, and the loss of every epoch.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

// The sizes of the workload come from the command line of the compiler.
constexpr int kRows = N_ROWS, kInputs = N_INPUTS, kHidden = N_HIDDEN, kBatch = BATCH_SIZE;
constexpr int kEpochs = EPOCHS, kOutputs = 2;
constexpr float kLearningRate = LEARNING_RATE, kVarianceFloor = VARIANCE_FLOOR;

constexpr int kSteps = (kRows + kBatch - 1) / kBatch;
constexpr int kLanes = 16;  // floats in a vector register
constexpr int kVectors = 2 * ((kHidden + 2 * kLanes - 1) / (2 * kLanes));  // of hidden units
constexpr int kBlock = 4;  // rows that share the hidden weights while these are in registers
static_assert(kBatch % kBlock == 0);

typedef float Vector __attribute__((vector_size(sizeof(float) * kLanes)));

// Hidden units beyond kHidden have weight zero, and so has their gradient: they stay dead. The
// biases are the weights of one more input, which is always one.
struct Parameters {
  Vector hidden[kInputs + 1][kVectors];
  Vector output[kOutputs][kVectors];
  Vector output_bias;
};
constexpr int kParameters = sizeof(Parameters) / sizeof(float);

struct Input {
  float x[kRows][kInputs], y[kRows], weight[kRows];
  float hidden[kInputs][kHidden], hidden_bias[kHidden];
  float output[kHidden][kOutputs], output_bias[kOutputs];
  int order[kEpochs][kRows];
};

struct Batch {
  alignas(64) float x[kBatch][kInputs + 1];
  alignas(64) float y[kBatch], weight[kBatch];
  float rows;
};

static float sum(Vector v) {
  float total = 0;
  for (int i = 0; i < kLanes; i++) total += v[i];
  return total;
}

static Vector positive_part(Vector v) { return v > 0 ? v : Vector{}; }

static void gather(const Input& input, const int* order, int first, Batch& batch) {
  const int rows = std::min(kBatch, kRows - first);
  for (int r = 0; r < kBatch; r++) {
    const int row = order[first + std::min(r, rows - 1)];
    for (int d = 0; d < kInputs; d++) batch.x[r][d] = input.x[row][d];
    batch.x[r][kInputs] = 1;
    batch.y[r] = input.y[row];
    batch.weight[r] = r < rows ? input.weight[row] : 0;
  }
  batch.rows = rows;
}

static void forward(const Parameters& p, const Batch& batch, Vector (*hidden)[kVectors],
                    float (*outputs)[kBatch]) {
  for (int first = 0; first < kBatch; first += kBlock) {
    Vector total[kBlock][kVectors] = {};
    for (int d = 0; d <= kInputs; d++)
      for (int r = 0; r < kBlock; r++)
        for (int v = 0; v < kVectors; v++) total[r][v] += batch.x[first + r][d] * p.hidden[d][v];
    for (int r = 0; r < kBlock; r++) {
      Vector mean{}, raw{};
      for (int v = 0; v < kVectors; v++) {
        const Vector unit = hidden[first + r][v] = positive_part(total[r][v]);
        mean += unit * p.output[0][v];
        raw += unit * p.output[1][v];
      }
      outputs[0][first + r] = sum(mean) + p.output_bias[0];
      outputs[1][first + r] = sum(raw) + p.output_bias[1];
    }
  }
}

// Gradients by the two outputs; returns the weighted sum of the losses.
static float gaussian_loss(const Batch& batch, const float (*outputs)[kBatch],
                           float (*slopes)[kBatch]) {
  const float log_two_pi = std::log(2 * float(M_PI));
  float total = 0;
  for (int r = 0; r < kBatch; r++) {
    const float raw = outputs[1][r], decay = std::exp(-std::fabs(raw));
    const float variance = std::max(raw, 0.0f) + std::log1p(decay) + kVarianceFloor;
    const float sigmoid = (raw > 0 ? 1 : decay) / (1 + decay);
    const float residual = batch.y[r] - outputs[0][r], precision = 1 / variance;
    const float square = residual * residual * precision, share = batch.weight[r] / batch.rows;
    total += batch.weight[r] * 0.5f * (log_two_pi + std::log(variance) + square);
    slopes[0][r] = -share * residual * precision;
    slopes[1][r] = share * 0.5f * (1 - square) * precision * sigmoid;
  }
  return total;
}

static void backward(const Parameters& p, const Batch& batch, const float (*slopes)[kBatch],
                     Vector (*hidden)[kVectors], Parameters& gradient) {
  // Two registers of hidden units at a time, so that all of their sums stay in registers.
  for (int v = 0; v < kVectors; v += 2) {
    Vector by_hidden[kInputs + 1][2] = {};
    Vector by_output[kOutputs][2] = {};
    for (int r = 0; r < kBatch; r++) {
      Vector slope[2];
      for (int i = 0; i < 2; i++) {
        const Vector unit = hidden[r][v + i];
        by_output[0][i] += slopes[0][r] * unit;
        by_output[1][i] += slopes[1][r] * unit;
        const Vector all = slopes[0][r] * p.output[0][v + i] + slopes[1][r] * p.output[1][v + i];
        slope[i] = unit > 0 ? all : Vector{};
      }
      for (int d = 0; d <= kInputs; d++)
        for (int i = 0; i < 2; i++) by_hidden[d][i] += batch.x[r][d] * slope[i];
    }
    for (int i = 0; i < 2; i++) {
      for (int d = 0; d <= kInputs; d++) gradient.hidden[d][v + i] = by_hidden[d][i];
      for (int o = 0; o < kOutputs; o++) gradient.output[o][v + i] = by_output[o][i];
    }
  }
  gradient.output_bias = Vector{};
  for (int r = 0; r < kBatch; r++)
    for (int o = 0; o < kOutputs; o++) gradient.output_bias[o] += slopes[o][r];
}

struct Adam {
  Parameters first{}, second{};
  float first_power = 1, second_power = 1;

  void step(Parameters& parameters, const Parameters& gradient) {
    first_power *= 0.9f, second_power *= 0.999f;
    const float first_scale = 1 / (1 - first_power), second_scale = 1 / (1 - second_power);
    auto p = reinterpret_cast<float*>(&parameters);
    auto m = reinterpret_cast<float*>(&first), s = reinterpret_cast<float*>(&second);
    auto g = reinterpret_cast<const float*>(&gradient);
    for (int i = 0; i < kParameters; i++) {
      m[i] = 0.9f * m[i] + 0.1f * g[i];
      s[i] = 0.999f * s[i] + 0.001f * g[i] * g[i];
      p[i] -= kLearningRate * (m[i] * first_scale) / (std::sqrt(s[i] * second_scale) + 1e-8f);
    }
  }
};

static Parameters initial(const Input& input) {
  Parameters p{};
  auto entry = [](Vector* row, int unit) -> float& {
    return reinterpret_cast<float*>(row)[unit];
  };
  for (int h = 0; h < kHidden; h++) {
    for (int d = 0; d < kInputs; d++) entry(p.hidden[d], h) = input.hidden[d][h];
    entry(p.hidden[kInputs], h) = input.hidden_bias[h];
    for (int o = 0; o < kOutputs; o++) entry(p.output[o], h) = input.output[h][o];
  }
  for (int o = 0; o < kOutputs; o++) p.output_bias[o] = input.output_bias[o];
  return p;
}

static void train(const Input& input, Parameters& parameters, float* losses) {
  Adam adam;
  Batch batch;
  Parameters gradient;
  Vector hidden[kBatch][kVectors];
  alignas(64) float outputs[kOutputs][kBatch], slopes[kOutputs][kBatch];
  for (int epoch = 0; epoch < kEpochs; epoch++) {
    float total = 0;
    for (int step = 0; step < kSteps; step++) {
      gather(input, input.order[epoch], step * kBatch, batch);
      forward(parameters, batch, hidden, outputs);
      total += gaussian_loss(batch, outputs, slopes);
      backward(parameters, batch, slopes, hidden, gradient);
      adam.step(parameters, gradient);
    }
    losses[epoch] = total / kRows;
  }
}

int main(int, char** arguments) {
  std::vector<Input> input(1);
  std::ifstream file(arguments[1], std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(input.data()), sizeof(Input))) return EXIT_FAILURE;
  float losses[kEpochs];
  double fastest = INFINITY;
  for (int repetition = std::atoi(arguments[2]); repetition > 0; repetition--) {
    Parameters parameters = initial(input[0]);
    const auto start = std::chrono::steady_clock::now();
    train(input[0], parameters, losses);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    fastest = std::min(fastest, took.count() / (kEpochs * kSteps));
  }
  std::printf("{\"microseconds\": %.4f, \"losses\": [", fastest);
  for (int epoch = 0; epoch < kEpochs; epoch++)
    std::printf("%s%.6g", epoch ? ", " : "", losses[epoch]);
  std::printf("]}\n");
}
