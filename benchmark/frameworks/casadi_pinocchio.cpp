// SPDX-License-Identifier: Apache-2.0
// Writes inverse_dynamics, forward_dynamics and mass_matrix of Pinocchio as functions of CasADi's SX, NAME.casadi each.
//
//   casadi_pinocchio ARM.urdf FOLDER ...
#include <string>

#include <pinocchio/fwd.hpp>

#include <casadi/casadi.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/parsers/urdf.hpp>

using casadi::SX;
using pinocchio::Convention;
using Vector = Eigen::Matrix<SX, Eigen::Dynamic, 1>;

struct Input
{
  SX symbol;
  Vector vector;
  Input(const char * name, int count) : symbol(SX::sym(name, count)), vector(count)
  {
    pinocchio::casadi::copy(symbol, vector);
  }
};

template <typename Result>
void save(const std::string & folder, const std::string & name, const std::vector<SX> & inputs, const Result & result)
{
  SX written(result.rows(), result.cols());
  pinocchio::casadi::copy(result, written);
  casadi::Function(name, inputs, {written}).save(folder + "/" + name + ".casadi");
}

void write(const std::string & urdf, const std::string & folder)
{
  pinocchio::Model arm;
  pinocchio::urdf::buildModel(urdf, arm);
  const pinocchio::ModelTpl<SX> model = arm.cast<SX>();
  const Input q("q", arm.nq), qd("qd", arm.nv), x("x", arm.nv);
  pinocchio::DataTpl<SX> motion(model), accelerations(model), matrix(model);
  pinocchio::rnea(model, motion, q.vector, qd.vector, x.vector);
  save(folder, "inverse_dynamics", {q.symbol, qd.symbol, x.symbol}, motion.tau);
  // of the two conventions of each, the one that is shorter
  pinocchio::aba(model, accelerations, q.vector, qd.vector, x.vector, Convention::WORLD);
  save(folder, "forward_dynamics", {q.symbol, qd.symbol, x.symbol}, accelerations.ddq);
  pinocchio::crba(model, matrix, q.vector, Convention::LOCAL);
  matrix.M.triangularView<Eigen::StrictlyLower>() = matrix.M.transpose().triangularView<Eigen::StrictlyLower>();
  save(folder, "mass_matrix", {q.symbol}, matrix.M);
}

int main(int count, char ** arguments)
{
  for (int k = 1; k + 1 < count; k += 2) {
    write(arguments[k], arguments[k + 1]);
  }
}
