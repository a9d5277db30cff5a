// SPDX-License-Identifier: Apache-2.0
#ifndef ROBOT_DYNAMICS_CONTROLLERS__DYNAMICS_LIBRARY_H_
#define ROBOT_DYNAMICS_CONTROLLERS__DYNAMICS_LIBRARY_H_

/* The binary interface between exported dynamics of one robot and the controllers of this package, in C99.
 *
 * An exported shared library defines robot_dynamics_exported_library. SI units; arrays of joint quantities are in the
 * order of joint_names, n = velocities entries each: those of the joints that a controller commands, which others may follow. All of it is constant and lives as long as the library is loaded.
 * The functions compute one state, allocate nothing and may be called by several threads at a time. */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with the layout of the structures below. */
#define ROBOT_DYNAMICS_LIBRARY_VERSION 12u

/* Entries of the run-time inputs: gravity in the base frame (3, m/s^2); ten inertial parameters of the last link with
 * its payload: m (kg), m c (3, kg m) and J about the origin of the link's frame (xx, xy, xz, yy, yz, zz; kg m^2); wrench
 * on the last link in its own frame, at its origin: moment, force (6; N m, N). */
enum {
  ROBOT_DYNAMICS_GRAVITY = 0,
  ROBOT_DYNAMICS_LAST_LINK_INERTIA = 3,
  ROBOT_DYNAMICS_LAST_LINK_WRENCH = 13,
  ROBOT_DYNAMICS_INPUTS = 19
};

/* Rows of the friction parameters, each n; kernels/friction.py of robot_dynamics_ros has the equation. */
enum {
  ROBOT_DYNAMICS_VISCOUS,
  ROBOT_DYNAMICS_COULOMB,
  ROBOT_DYNAMICS_OFFSET,
  ROBOT_DYNAMICS_TRANSITION,
  ROBOT_DYNAMICS_STRIBECK,
  ROBOT_DYNAMICS_STRIBECK_VELOCITY,
  ROBOT_DYNAMICS_LOAD_DEPENDENT,
  ROBOT_DYNAMICS_QUADRATIC,
  ROBOT_DYNAMICS_FRICTION_ROWS
};

/* A frame that is fixed to the last link: x_link = rotation x_frame + position. */
typedef struct robot_dynamics_frame {
  const char * name;
  double rotation[9]; /* row by row */
  double position[3]; /* m */
} robot_dynamics_frame;

/* A kind of robot, by what it compensates itself and which commands it accepts. */
typedef struct robot_dynamics_preset {
  const char * name;
  bool compensates[4]; /* gravity, Coriolis, inertia, friction */
  bool takes_commands;
  bool motor_pd;       /* its motors add a PD to the torque */
  double fade_in_time; /* s, where none is stated */
} robot_dynamics_preset;

/* What messages may change of a law of a frame. Arrays have rotation first; the last six are places in its memory. */
typedef struct robot_dynamics_frame_commands {
  const char * axes;              /* name of the link whose axes the stiffness has */
  const double * stiffness;       /* 6, N m/rad and N/m: the largest and the first one */
  const double * least_stiffness; /* 6, likewise: the smallest one */
  bool may_soften;                /* whether the limit of sampling holds for each softer stiffness, too */
  const double * largest_wrench;  /* 2, N m and N: moment and force */
  double wrench_age;              /* s for which a wrench counts */
  uint32_t wanted_stiffness;      /* 6: the stiffness to follow */
  uint32_t stiffness_in_force;    /* 6 x 6, row by row */
  uint32_t tank;                  /* 2, J: the energy that the stiffness may still add, and the largest */
  uint32_t wanted_wrench;         /* 2 x 6, N m and N: the wrench to follow in the axes of the base, and in the frame's */
  uint32_t until;                 /* 1, s: the time until which it counts */
  uint32_t wrench_in_force;       /* 2 x 6, as wanted_wrench */
} robot_dynamics_frame_commands;

/* A law that leads a frame to where the desired positions of the joints put it, and the joints in its null space. Its gains
 * are constants of the export. */
typedef struct robot_dynamics_frame_law {
  const char * name;             /* that of torque_controller's control_law */
  const char * frame;
  double longest_period;         /* s: sampling periods below this one are within the limit of its gains */
  bool counts_friction;          /* whether it is for joints whose friction the controller compensates */
  uint32_t memory;               /* numbers that last from update to update */
  uint32_t anew;                 /* as many of the first of them begin anew whenever the arm is held anew */
  const double * initial_memory; /* memory */
  const robot_dynamics_frame_commands * commands; /* a null pointer: messages change nothing */
  double largest_mass;           /* kg: a direction of the frame with more is heavy, as near a singular position */
  uint32_t directions;           /* how many the frame has that are not, at most positions; 0: not counted */
  uint32_t light;                /* where the memory has how many there are at the last torque */
  /* Lets a time pass since the last torque, up to now on the clock of the arm; pause is the time without any torque. All
   * are in s. It comes once before the torques of an update. */
  void (*elapse)(double time, double now, double pause, double * memory);
  /* Adds its torque at q and qd to tau, the model's terms (n). holds: the arm is held at q_desired, not led there; loops is
   * the memory of the mechanism, a null pointer without one. Returns as the functions below; after false its own memory is as
   * before. */
  bool (*torque)(
    const double * q, const double * qd, const double * q_desired, const double * qd_desired, bool holds,
    const double * inputs, void * loops, double * memory, double * tau);
} robot_dynamics_frame_law;

/* Why a position of a mechanism has no torque. */
typedef enum robot_dynamics_fault {
  ROBOT_DYNAMICS_CLOSED,     /* none: its loops are closed */
  ROBOT_DYNAMICS_NOT_FINITE, /* a number is not finite, or far too large */
  ROBOT_DYNAMICS_FAR,        /* farther from a known position than a call goes: later calls begin nearer, and arrive */
  ROBOT_DYNAMICS_FAST,       /* a measured joint has jumped and not come back, or moved far in one call */
  ROBOT_DYNAMICS_OPEN,       /* a loop cannot be closed */
  ROBOT_DYNAMICS_SINGULAR,   /* the joints do not fix the others at this position, or near it */
  ROBOT_DYNAMICS_PASSED      /* a measured position was singular, or beyond, or can have been in a pause */
} robot_dynamics_fault;

/* Closed loops, which fix the other joints of the robot. Calls with one memory come one after the other. */
typedef struct robot_dynamics_mechanism {
  uint32_t memory;             /* bytes of the memory of the functions below, aligned as a double */
  uint32_t constraints;
  const void * initial_memory; /* memory: what it is at first */
  const double * home;         /* n: where the loops are closed at first */
  const char * const * loops;  /* constraints: the loop of each; UTF-8 */
  /* Begins at measured positions (n), time (s) after the call before, INFINITY at an activation. Returns whether the loops
   * are closed there; otherwise torques at this position must not be sent. */
  bool (*measure)(const double * q, double time, void * memory);
  /* The fault of the last call, and its constraint. */
  robot_dynamics_fault (*fault)(const void * memory, uint32_t * constraint);
  /* Adds the friction that joints without a motor have at velocities qd (n) to tau (n), at the position of the last
   * torque. A null pointer: they have none. */
  void (*add_passive_friction)(const double * qd, const void * memory, double * tau);
} robot_dynamics_mechanism;

typedef struct robot_dynamics_library {
  uint32_t version; /* ROBOT_DYNAMICS_LIBRARY_VERSION */
  uint32_t size;    /* sizeof(robot_dynamics_library) */
  const char * robot;
  const char * model_digest; /* 16 hexadecimal digits: hash of all model parameters except gravity and payload */
  const char * base_link;
  const char * last_link;
  uint32_t joints;
  uint32_t coordinates; /* entries of q */
  uint32_t velocities;  /* entries of qd, qdd and tau */
  uint32_t frames;
  const char * const * joint_names;    /* joints; UTF-8 */
  const bool * continuous;             /* joints: whether positions count modulo a turn */
  const double * effort_limits;        /* n, N m (prismatic joints: N); 0: unknown */
  const double * velocity_limits;      /* n, rad/s (m/s); 0: unknown */
  const double * search_range;         /* 2 x n: the positions over which gains are judged, rad (m) */
  uint32_t samples, starts;            /* of this search, see next_positions */
  uint32_t most_values;                /* that it compares beside those of the samples */
  const double * friction;             /* ROBOT_DYNAMICS_FRICTION_ROWS x n */
  const double * default_inputs;       /* ROBOT_DYNAMICS_INPUTS: of the robot when it was exported, without payload */
  uint32_t presets;
  const robot_dynamics_preset * preset; /* presets: the first one, without a name, is that of other robots */
  const robot_dynamics_frame * frame;  /* frames: the last link first, under its own name */
  /* Each returns whether all numbers of joint vectors and result are finite, all angles below 2^40 rad, and the loops of a
   * mechanism closed. memory is that of the mechanism, a null pointer without one. */
  bool (*gravity_torque)(const double * q, const double * inputs, void * memory, double * tau);
  bool (*inverse_dynamics)(
    const double * q, const double * qd, const double * qdd, const double * inputs, void * memory, double * tau);
  bool (*mass_matrix)(const double * q, void * memory, double * M); /* n x n, without payload */
  /* Laws and guards over joint vectors (n), which write arrays of the caller's in place; kernels/ of robot_dynamics_ros has
   * them under the same names. friction is ROBOT_DYNAMICS_FRICTION_ROWS x n; progress (2, s) of a change is the time that has
   * passed, below 0 before its first torque, and the whole time; elapsed (s) is the time since the last torque; limited (n) is 0, or 1 for what was beyond the effort limit, 2 beyond the rate limit, 4 not finite; the largest of them is returned. */
  void (*add_joint_friction)(const double * friction, const double * qd, const double * tau, double * torque);
  void (*joint_feedback)(
    const double * stiffness, const double * damping, const double * turn, const double * q, const double * qd,
    const double * q_desired, const double * qd_desired, const double * term, double * torque);
  void (*corner_weights)(double payload_share, double gravity_share, double * weights); /* 4 */
  void (*add_share)(double weight, const double * term, double * torque);
  void (*fade_in)(const double * last, double * progress, double * torque, double elapsed);
  void (*begin_transition)(
    const double * last, const double * torque, double duration, double * difference, double * progress);
  void (*transition)(const double * difference, double * progress, double * torque, double elapsed);
  double (*ramp_to_zero)(const double * initial, double * progress, double * torque, double elapsed);
  double (*limit_effort)(const double * effort_limit, double * limited, double * torque);
  double (*limit_rate)(
    const double * rate_limit, double * last, double * limited, double * torque, double elapsed);
  /* Inertial parameters: a body is m (kg), its centre c (3, m) and xx, yy, zz, xy, xz, yz about c (kg m^2), a row the ten of
   * the run-time inputs; P (9) is scratch. is_inertia: no principal moment exceeds the others by more than rounding. */
  void (*write_row)(const double * body, double * row);
  void (*write_body)(const double * row, double * body);
  void (*write_moved_row)(
    const double * row, const double * rotation, const double * origin, double * P, double * moved_row);
  bool (*is_inertia)(const double * body, double rounding);
  /* Numbers (count) that change linearly, as ten parameters of frames or gravity do: their value at a share of the change;
   * and whether a change, whose own value is now, continues another one, which is held now, without a step, or is_asked_for
   * and begins there. So large shares of them are made within what may be late. */
  void (*write_between)(int count, const double * before, const double * after, double share, double * result);
  bool (*continues)(
    int count, const double * before, const double * after, const double * own, double late, const double * held_before,
    const double * held_after, const double * held, double held_late, bool is_asked_for);
  /* Limits of gains (algorithms/ of robot_dynamics_ros). write_largest_eigenvalue writes that of M^-1 D in 1/s, for damping
   * (n), the diagonal of D, and M (n x n), where it is above the value (1) of before; below 0: M is singular. none (n) is
   * zero; L (n x n) and x (n) are scratch. counted_period (s) is as which a period counts whose torques act late by delay,
   * delayed_period (s) the longest one with a delay, from that without. */
  void (*write_largest_eigenvalue)(
    const double * damping, const double * none, double * L, const double * M, double * value);
  double (*most_damped_joint)(const double * damping, const double * none, double * L, double * x, const double * M);
  double (*counted_period)(double period, double delay);
  double (*delayed_period)(double period, double delay);
  /* A search for the positions with the largest values: writes those whose values are wanted next (rows x n), and returns
   * rows. values (rows) are those of the last positions, and become bounds, below which they need not be computed; rows is
   * what the last call has returned, 0 at first. At the end it returns 0, and the largest values are found (starts) at the
   * positions starts (starts x n). step (starts) and left (1) last from call to call. There is room for the larger one of
   * samples and 2 n starts rows. */
  double (*next_positions)(
    int samples, int most_values, const double * lower, const double * upper, double * positions, double * values,
    double * starts, double * found, double * step, double * left, int rows);
  const robot_dynamics_frame_law * frame_law; /* a null pointer: exported without one */
  const robot_dynamics_mechanism * mechanism; /* a null pointer: without closed loops */
} robot_dynamics_library;

/* A null pointer: the library is compiled for another processor. */
typedef const robot_dynamics_library * (*robot_dynamics_library_function)(void);

/* The name under which dlsym finds the function, of type robot_dynamics_library_function. */
#define ROBOT_DYNAMICS_LIBRARY_SYMBOL "robot_dynamics_exported_library"

#ifdef __cplusplus
}
#endif

#endif  // ROBOT_DYNAMICS_CONTROLLERS__DYNAMICS_LIBRARY_H_
