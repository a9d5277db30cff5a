// SPDX-License-Identifier: Apache-2.0
#include "inertial_parameters.hpp"

#include <algorithm>
#include <cmath>

namespace robot_dynamics_controllers
{
namespace
{

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

Matrix inertia_of(const Body & body)
{
  const auto & [xx, yy, zz, xy, xz, yz] = body.inertia;
  return {{{xx, xy, xz}, {xy, yy, yz}, {xz, yz, zz}}};
}

Matrix symmetric(const Row & row)
{
  return {{{row[4], row[5], row[6]}, {row[5], row[7], row[8]}, {row[6], row[8], row[9]}}};
}

Row row_of(double mass, const Vector & h, const Matrix & J)
{
  return {mass, h[0], h[1], h[2], J[0][0], J[0][1], J[0][2], J[1][1], J[1][2], J[2][2]};
}

/// x . x 1 - x x'
Matrix of_point(const Vector & x)
{
  const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  Matrix result;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      result[i][j] = square * (i == j ? 1.0 : 0.0) - x[i] * x[j];
    }
  }
  return result;
}

double trace(const Matrix & matrix)
{
  return matrix[0][0] + matrix[1][1] + matrix[2][2];
}

/// scale 1 - matrix
Matrix identity_minus(double scale, const Matrix & matrix)
{
  Matrix result;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      result[i][j] = scale * (i == j ? 1.0 : 0.0) - matrix[i][j];
    }
  }
  return result;
}

Matrix product(const Matrix & a, const Matrix & b)
{
  Matrix result;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      result[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j] + 0.0;
    }
  }
  return result;
}

Vector product(const Matrix & a, const Vector & x)
{
  Vector result;
  for (std::size_t i = 0; i < 3; ++i) {
    result[i] = a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2] + 0.0;
  }
  return result;
}

Matrix transposed(const Matrix & a)
{
  return {{{a[0][0], a[1][0], a[2][0]}, {a[0][1], a[1][1], a[2][1]}, {a[0][2], a[1][2], a[2][2]}}};
}

}  // namespace

Row ten_parameters(const Body & body)
{
  const Vector & c = body.com;
  const Matrix point = of_point(c);
  Matrix J = inertia_of(body);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      J[i][j] = J[i][j] + body.mass * point[i][j];
    }
  }
  return row_of(body.mass, {body.mass * c[0], body.mass * c[1], body.mass * c[2]}, J);
}

Body central_parameters(const Row & row)
{
  Body body;
  body.mass = row[0];
  for (std::size_t i = 0; i < 3; ++i) {
    body.com[i] = body.mass != 0.0 ? row[1 + i] / body.mass : 0.0;
  }
  const Matrix point = of_point(body.com);
  Matrix J = symmetric(row);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      J[i][j] = J[i][j] - body.mass * point[i][j];
    }
  }
  body.inertia = {J[0][0], J[1][1], J[2][2], J[0][1], J[0][2], J[1][2]};
  return body;
}

Row moved(const Row & row, const robot_dynamics_frame & frame)
{
  Matrix R;
  for (std::size_t i = 0; i < 9; ++i) {
    R[i / 3][i % 3] = frame.rotation[i];
  }
  const double * p = frame.position;
  const double m = row[0];
  const Vector h = product(R, Vector{row[1], row[2], row[3]});
  // second moments: tr(J)/2 1 - J
  const Matrix J = symmetric(row);
  const Matrix turned = product(product(R, identity_minus(0.5 * trace(J), J)), transposed(R));
  // x = R x' + p in P, the sum of m x x'
  Matrix P;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      P[i][j] = turned[i][j] + h[i] * p[j] + h[j] * p[i] + m * (p[i] * p[j]);
    }
  }
  return row_of(
    m, {h[0] + m * p[0], h[1] + m * p[1], h[2] + m * p[2]}, identity_minus(trace(P), P));
}

double moments_excess(const Body & body)
{
  // Jacobi's rotations; a matrix of three rows needs few
  Matrix A = inertia_of(body);
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (const auto & [p, q] : {std::array<std::size_t, 2>{0, 1}, {0, 2}, {1, 2}}) {
      if (A[p][q] == 0.0) {
        continue;
      }
      const double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
      const double t = (theta >= 0.0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
      const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
      Matrix G{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
      G[p][p] = G[q][q] = c;
      G[p][q] = s;
      G[q][p] = -s;
      A = product(product(transposed(G), A), G);
      A[p][q] = A[q][p] = 0.0;
    }
  }
  const double largest = std::max({A[0][0], A[1][1], A[2][2]});
  return 2.0 * largest - trace(A);
}

}  // namespace robot_dynamics_controllers
