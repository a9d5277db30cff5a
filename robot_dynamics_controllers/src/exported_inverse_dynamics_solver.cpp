// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <stdexcept>
#include <string>

#include "inverse_dynamics_solver/inverse_dynamics_solver.h"
#include "library_path.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "robot_dynamics_controllers/closed_loops.hpp"
#include "robot_dynamics_controllers/dynamics_library.hpp"

namespace robot_dynamics_controllers
{

/// The dynamics of an exported library for users of inverse_dynamics_solver::InverseDynamicsSolver.
///
/// Parameter: NAMESPACE.library, the path of the library; payload and gravity are those of the export. Vectors are in the
/// order of the library's joints. Each call allocates the vectors that it returns. One thread at a time calls a solver of a
/// robot with closed loops; std::domain_error names a loop that cannot be closed.
class ExportedInverseDynamicsSolver : public inverse_dynamics_solver::InverseDynamicsSolver
{
  using Vector = Eigen::VectorXd;
  using Parameters = rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr;

public:
  void initialize(Parameters parameters, const std::string & name_space, const std::string &) override
  {
    const std::string name = name_space.empty() ? "library" : name_space + ".library";
    rclcpp::Parameter path;
    if (!parameters || !parameters->get_parameter(name, path)) {
      throw std::invalid_argument(name + ": state the path of the library that export_controller made");
    }
    library_ = DynamicsLibrary::open(library_path(path.as_string()));
    loops_.emplace(**library_);
    zeros_ = Vector::Zero(static_cast<Eigen::Index>(library_->joints()));
  }

  Eigen::MatrixXd getInertiaMatrix(const Vector & q) const override
  {
    // column j: M e_j = tau(q, 0, e_j) - g(q)
    const Vector gravity = getGravityVector(q);
    Eigen::MatrixXd inertia(gravity.size(), gravity.size());
    for (Eigen::Index j = 0; j < gravity.size(); ++j) {
      inertia.col(j) = getTorques(q, zeros_, Vector::Unit(gravity.size(), j)) - gravity;
    }
    return inertia;
  }

  Vector getCoriolisVector(const Vector & q, const Vector & qd) const override
  {
    return getTorques(q, qd, zeros_) - getGravityVector(q);
  }

  Vector getGravityVector(const Vector & q) const override {return getTorques(q, zeros_, zeros_);}

  Vector getTorques(const Vector & q, const Vector & qd, const Vector & qdd) const override
  {
    const robot_dynamics_library & library = checked({&q, &qd, &qdd});
    Vector tau = zeros_;
    if (!loops_->arrive(q.data())) {
      throw std::domain_error(loops_->text_of(loops_->fault()));
    }
    if (!library.inverse_dynamics(
        q.data(), qd.data(), qdd.data(), library.default_inputs, loops_->memory(), tau.data()))
    {
      throw std::domain_error("positions, velocities, accelerations or their torques are not finite");
    }
    return tau;
  }

  /// Friction that depends on the transmitted torque is that at zero torque, and that of joints without a motor is that at
  /// the position of the last call.
  Vector getFrictionVector(const Vector & qd) const override
  {
    const robot_dynamics_library & library = checked({&qd});
    Vector tau = zeros_;
    if (library.mechanism != nullptr && library.mechanism->add_passive_friction != nullptr) {
      library.mechanism->add_passive_friction(qd.data(), loops_->memory(), tau.data());
    }
    library.add_joint_friction(library.friction, qd.data(), zeros_.data(), tau.data());
    return tau;
  }

private:
  const robot_dynamics_library & checked(std::initializer_list<const Vector *> vectors) const
  {
    for (const Vector * vector : vectors) {
      if (!library_ || vector->size() != zeros_.size()) {
        throw std::invalid_argument("initialize first, then pass a number for each joint of the library");
      }
    }
    return **library_;
  }

  std::optional<DynamicsLibrary> library_;
  mutable std::optional<ClosedLoops> loops_;
  Vector zeros_;
};

}  // namespace robot_dynamics_controllers

PLUGINLIB_EXPORT_CLASS(
  robot_dynamics_controllers::ExportedInverseDynamicsSolver, inverse_dynamics_solver::InverseDynamicsSolver)
