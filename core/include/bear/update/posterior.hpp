// bear+: a Gaussian for every weight, its mean in the cell and its precision in a counter. A
// minibatch is solved as a generalised linear model by coordinate ascent in its dual: each row in
// turn moves all its weights, each in proportion to its own variance, until that row's loss and the
// prior agree. First the selected, by themselves; then the cells, beside them.
//
// Weight j is N(w_j, V_j) with V_j = s / (1 + s I_j): s is the prior variance of all, I_j what rows
// have told of it. With z_ij = x_ij sqrt(V_j), rows centred on their mean zm (the intercept learns
// what they share), duals a_i and d = sum a_i z_i, A = sum a_i, B = sum c_i a_i, c_i = z_i.zm:
//
//   margin of row i   g_i = m_i + z_i.d + (v + mean c - c_i) A - B
//   its own problem   a = W (y - p(f + K a)),  K = z_i.z_i - 2 c_i + mean c + v,  f = g_i - K a_i
//   change            dw_j = sqrt(V_j) (d_j - zm_j A)
//
// A row of weight W is W equal rows: with a = W a' its problem is a' = y - p(f + K W a'), the same
// with W times the K.
#pragma once

#include "bear/update/update.hpp"

namespace bear {

// What outlives a minibatch beside weights and counters.
struct PosteriorState {
  double scale = 0.0;     // s; 0 until a value was met
  double followed = 0.0;  // s when the weights followed it last
  double unit = 0.0;      // information that one count stands for
  double squares = 0.0;   // of all values so far, and of how many rows
  double rows = 0.0;
  double bend = 0.0;   // of the loss along log s, so far
  double noise = 0.0;  // variance of numbers around what is predicted; of labels 1
  double known_selected = 0.0, known_cells = 0.0;  // information about both constants
  double selected_square = 0.0, cells_square = 0.0, product = 0.0;  // of both margins so far
  double doubt = 0.0;          // variance of the first of them, as a share of their noise
  std::vector<double> offset;  // what the constant of the selected is more than the intercept
};

}  // namespace bear
