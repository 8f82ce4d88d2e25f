/* pendulum, as a library in C99; see the names and functions at the end. */
#ifndef PENDULUM_H
#define PENDULUM_H
#include <math.h>
#include <stdint.h>
#define PENDULUM_N_STATES 2
#define PENDULUM_N_CONTINUOUS 2
#define PENDULUM_N_PARAMETERS 1
#define PENDULUM_N_INPUTS 0
#define PENDULUM_N_OUTPUTS 5
#define PENDULUM_N_EVENTS 0
#if defined(__GNUC__)
typedef int64_t __attribute__((may_alias)) pendulum_loop_int;
#else
typedef int64_t pendulum_loop_int;
#endif
typedef struct pendulum_loop_model_kernels {
    int64_t rate;
    int64_t projection;
    int64_t completed;
    int64_t n;
    int64_t n_continuous;
    int64_t u_at;
    int64_t z_at;
    int64_t lanes;
    int64_t n_quaternions;
    pendulum_loop_int *quaternions;
    double *time;
    double *p;
    double *inputs;
    double *x;
    double *work;
    double *projected;
} pendulum_loop_model_kernels;

typedef struct pendulum_loop_method_table {
    int64_t stepping;
    int64_t classical;
    int64_t stages;
    int64_t last;
    int64_t powers;
    int64_t order;
    int64_t estimates;
    double *table;
    double *weights;
    double damping;
    double rtol;
    double *atol;
    double max_step;
    int64_t max_steps;
} pendulum_loop_method_table;

typedef struct pendulum_loop_state_rows {
    double *y;
    double *y_new;
    double *y_stage;
    double *between;
    double *slopes;
} pendulum_loop_state_rows;

typedef struct pendulum_loop_step_times {
    double origin;
    double least;
    double stall_time;
    double t;
    double t_new;
    double h_done;
    double h;
    double t_start;
    double t_end;
    double t_requested;
    double previous_error;
    double end_correction;
    double failed_time;
    double nonfinite_since;
} pendulum_loop_step_times;

typedef struct pendulum_loop_step_counts {
    int64_t budget;
    int64_t pending;
    int64_t started;
    int64_t restarted;
    int64_t dense_ready;
    int64_t steps;
    int64_t rejected;
    int64_t rejected_in_a_row;
    int64_t evaluations;
    int64_t cut;
    int64_t off_grid;
    int64_t failed;
    int64_t stall_steps;
    int64_t nonfinite_steps;
} pendulum_loop_step_counts;

typedef struct pendulum_loop_output_rows {
    int64_t sampled;
    int64_t n_times;
    double *times;
    int64_t next_time;
    int64_t room;
    int64_t written;
    double *t;
    double *y;
} pendulum_loop_output_rows;

typedef struct pendulum_loop_law_breaks {
    int64_t count;
    double *times;
    double margin;
    int64_t next;
    double time;
    double earliest;
    double latest;
} pendulum_loop_law_breaks;

typedef struct pendulum_loop_clock_ticks {
    int64_t count;
    int64_t sample;
    pendulum_loop_int *ticks;
    pendulum_loop_int *in_python;
    int64_t numerator;
    int64_t denominator;
    int64_t modes_depend;
    int64_t base;
    double base_time;
    int64_t first;
    int64_t due;
    double time;
} pendulum_loop_clock_ticks;

typedef struct pendulum_loop_event_functions {
    int64_t present;
    int64_t count;
    int64_t functions;
    int64_t cheap;
    int64_t reset;
    pendulum_loop_int *modes;
    double *values;
    pendulum_loop_int *of_state;
    double *g;
    double *g_before;
    double *g_half;
    pendulum_loop_int *armed;
    pendulum_loop_int *triggered;
    pendulum_loop_int *active;
    int64_t n_active;
    int64_t n_costly;
    double *mask;
    double *changed;
    int64_t blamed;
    int64_t consistent;
    int64_t room;
    int64_t listed;
    double *list_numbers;
    pendulum_loop_int *list_functions;
} pendulum_loop_event_functions;

typedef struct pendulum_loop_step_bounds {
    int64_t kernel;
    int64_t arguments;
    int64_t laws;
    int64_t n_arguments;
    int64_t count;
    int64_t n_laws;
    pendulum_loop_int *functions;
    pendulum_loop_int *covered;
    double *ranges;
    double *piece;
    double *out;
    double *before;
    double *after;
    double *laws_before;
    double *laws_after;
    int64_t laws_before_known;
    int64_t laws_after_known;
    double *least;
    double *most;
    int64_t known;
    double *widths;
    int64_t tame;
    double *box;
    double *box_out;
    int64_t laws_settled;
    int64_t functions_settled;
    double reach;
    int64_t wait;
    double left;
    double share;
} pendulum_loop_step_bounds;

typedef struct pendulum_loop_chatter_counts {
    int64_t cluster;
    double cluster_time;
    int64_t idle;
    double idle_time;
    int64_t stalled;
    double peak;
    double previous_peak;
} pendulum_loop_chatter_counts;

typedef struct pendulum_loop_singularity_monitor {
    int64_t known;
    double distance;
    double distance_new;
    double farthest;
    double trend;
    double steepest;
    double slope;
    double span;
    double near_time;
    double near_share;
} pendulum_loop_singularity_monitor;

typedef struct pendulum_loop_jacobian_columns {
    int64_t kernel;
    int64_t form;
    int64_t lanes;
    int64_t n_q;
    int64_t n_u;
    double *time;
    double *y;
    double *p;
    double *inputs;
    double *x;
    double *work;
    double *out;
} pendulum_loop_jacobian_columns;

typedef struct pendulum_loop_newton_memory {
    pendulum_loop_jacobian_columns columns;
    int64_t stages;
    int64_t pairs;
    double *change;
    double *change_back;
    double *slopes;
    double *eigenvalues;
    double hold;
    double slow;
    double ease;
    double *jacobian;
    double *pattern;
    int64_t n_eliminated;
    pendulum_loop_int *eliminated;
    pendulum_loop_int *row_starts;
    pendulum_loop_int *row_columns;
    pendulum_loop_int *part;
    pendulum_loop_int *parents;
    pendulum_loop_int *below_starts;
    pendulum_loop_int *below_ends;
    pendulum_loop_int *below_rows;
    pendulum_loop_int *below_many;
    int64_t n_colors;
    pendulum_loop_int *colors;
    int64_t n_blocks;
    pendulum_loop_int *kept;
    pendulum_loop_int *place;
    pendulum_loop_int *block_of;
    pendulum_loop_int *block_starts;
    pendulum_loop_int *block_entries;
    int64_t n_entries;
    pendulum_loop_int *is_sparse;
    pendulum_loop_int *order;
    pendulum_loop_int *rank;
    pendulum_loop_int *degree;
    pendulum_loop_int *fill_starts;
    pendulum_loop_int *fill_rows;
    pendulum_loop_int *across_starts;
    pendulum_loop_int *across_columns;
    pendulum_loop_int *across_entries;
    double *direct;
    double *through;
    double *factors;
    pendulum_loop_int *pivots;
    double *x;
    double *z;
    double *w;
    double *f;
    double *change_of_w;
    double *scale;
    double *inverse_scale;
    double *squares;
    double *extension;
    double extended_from;
    double extended_by;
    double *rounding;
    double *noise;
    double jacobian_time;
    double jacobian_failed;
    int64_t jacobian_wanted;
    double factored;
    double contraction;
    double left_over;
    double step_time;
    double *slope_before;
    int64_t slope_known;
    double jump_time;
    double path_time;
    double path_span;
    int64_t jacobians;
    int64_t factorizations;
    int64_t iterations;
} pendulum_loop_newton_memory;

typedef struct pendulum_loop_stiffness_watch {
    double limit;
    int64_t worth;
    int64_t wanted;
    int64_t suspected;
    int64_t clear;
    double since;
    double first;
    int64_t bound_steps;
} pendulum_loop_stiffness_watch;

typedef struct pendulum_loop_column_memory {
    int64_t n_state;
    int64_t n_measured;
    int64_t count;
    int64_t n_inputs;
    int64_t functions;
    double *x;
    double *out;
    double *before;
    double *shifts;
    double *break_shifts;
    int64_t breaks_shift;
    int64_t shifted;
    int64_t lost;
    double lost_time;
    int64_t lost_function;
} pendulum_loop_column_memory;

typedef struct pendulum_loop_course_memory {
    int64_t count;
    pendulum_loop_int *entries;
    pendulum_loop_int *starts;
    pendulum_loop_int *at;
    double *times;
    double *values;
    double *slopes;
    double look;
    double *g;
} pendulum_loop_course_memory;

typedef struct pendulum_loop_run_memory {
    pendulum_loop_model_kernels model;
    pendulum_loop_method_table method;
    pendulum_loop_state_rows state;
    pendulum_loop_step_times step;
    pendulum_loop_step_counts counts;
    pendulum_loop_output_rows output;
    pendulum_loop_law_breaks breaks;
    pendulum_loop_clock_ticks clocks;
    pendulum_loop_event_functions events;
    pendulum_loop_step_bounds bounds;
    pendulum_loop_chatter_counts chatter;
    pendulum_loop_singularity_monitor monitor;
    pendulum_loop_newton_memory newton;
    pendulum_loop_stiffness_watch stiffness;
    pendulum_loop_column_memory columns;
    pendulum_loop_course_memory courses;
} pendulum_loop_run_memory;

typedef struct pendulum_model {
    double p[1]; /* parameters */
    double inputs[1];
    double rtol;
    double t_wanted; /* all that follows is the run itself */
    double p_seen[1];
    double inputs_seen[1];
    pendulum_loop_run_memory run;
    double work[1];
    double scratch[2];
    pendulum_loop_int a_model_quaternions[1];
    double a_model_time[1];
    double a_model_x[1];
    double a_model_projected[3];
    double a_method_table[153];
    double a_method_weights[9];
    double a_method_atol[2];
    double a_state_y[2];
    double a_state_y_new[2];
    double a_state_y_stage[2];
    double a_state_between[2];
    double a_state_slopes[18];
    double a_output_times[1];
    double a_output_t[1];
    double a_output_y[2];
    double a_breaks_times[1];
    pendulum_loop_int a_clocks_ticks[1];
    pendulum_loop_int a_clocks_in_python[1];
    pendulum_loop_int a_events_modes[1];
    double a_events_values[1];
    pendulum_loop_int a_events_of_state[1];
    double a_events_g[1];
    double a_events_g_before[1];
    double a_events_g_half[1];
    pendulum_loop_int a_events_armed[1];
    pendulum_loop_int a_events_triggered[1];
    pendulum_loop_int a_events_active[1];
    double a_events_mask[1];
    double a_events_changed[1];
    double a_events_list_numbers[144];
    pendulum_loop_int a_events_list_functions[48];
    pendulum_loop_int a_bounds_functions[1];
    pendulum_loop_int a_bounds_covered[1];
    double a_bounds_ranges[1];
    double a_bounds_piece[1];
    double a_bounds_out[1];
    double a_bounds_before[1];
    double a_bounds_after[1];
    double a_bounds_laws_before[1];
    double a_bounds_laws_after[1];
    double a_bounds_least[1];
    double a_bounds_most[1];
    double a_bounds_widths[1];
    double a_bounds_box[1];
    double a_bounds_box_out[1];
    double a_newton_columns_time[1];
    double a_newton_columns_y[1];
    double a_newton_columns_x[1];
    double a_newton_columns_out[1];
    double a_newton_change[1];
    double a_newton_change_back[1];
    double a_newton_slopes[1];
    double a_newton_eigenvalues[1];
    double a_newton_jacobian[1];
    double a_newton_pattern[1];
    pendulum_loop_int a_newton_eliminated[1];
    pendulum_loop_int a_newton_row_starts[1];
    pendulum_loop_int a_newton_row_columns[1];
    pendulum_loop_int a_newton_part[1];
    pendulum_loop_int a_newton_parents[1];
    pendulum_loop_int a_newton_below_starts[1];
    pendulum_loop_int a_newton_below_ends[1];
    pendulum_loop_int a_newton_below_rows[1];
    pendulum_loop_int a_newton_below_many[1];
    pendulum_loop_int a_newton_colors[1];
    pendulum_loop_int a_newton_kept[1];
    pendulum_loop_int a_newton_place[1];
    pendulum_loop_int a_newton_block_of[1];
    pendulum_loop_int a_newton_block_starts[1];
    pendulum_loop_int a_newton_block_entries[1];
    pendulum_loop_int a_newton_is_sparse[1];
    pendulum_loop_int a_newton_order[1];
    pendulum_loop_int a_newton_rank[1];
    pendulum_loop_int a_newton_degree[1];
    pendulum_loop_int a_newton_fill_starts[1];
    pendulum_loop_int a_newton_fill_rows[1];
    pendulum_loop_int a_newton_across_starts[1];
    pendulum_loop_int a_newton_across_columns[1];
    pendulum_loop_int a_newton_across_entries[1];
    double a_newton_direct[1];
    double a_newton_through[1];
    double a_newton_factors[1];
    pendulum_loop_int a_newton_pivots[1];
    double a_newton_x[1];
    double a_newton_z[1];
    double a_newton_w[1];
    double a_newton_f[1];
    double a_newton_change_of_w[1];
    double a_newton_scale[1];
    double a_newton_inverse_scale[1];
    double a_newton_squares[1];
    double a_newton_extension[1];
    double a_newton_rounding[1];
    double a_newton_noise[1];
    double a_newton_slope_before[1];
    double a_columns_x[1];
    double a_columns_out[1];
    double a_columns_before[1];
    double a_columns_shifts[1];
    double a_columns_break_shifts[1];
    pendulum_loop_int a_courses_entries[1];
    pendulum_loop_int a_courses_starts[1];
    pendulum_loop_int a_courses_at[1];
    double a_courses_times[1];
    double a_courses_values[1];
    double a_courses_slopes[1];
    double a_courses_g[1];
} pendulum_model;
/* Parameters: m->p */
enum pendulum_parameters_index {
    PENDULUM_P_L, /* L in m; 1 */
};


/* States: pendulum_state, with their start */
enum pendulum_states_index {
    PENDULUM_Y_PIVOT_Q, /* pivot.q in rad; 0 */
    PENDULUM_Y_PIVOT_U, /* pivot.u in rad/s; 0 */
};

/* Outputs: pendulum_outputs */
enum pendulum_outputs_index {
    PENDULUM_O_PIVOT_Q, /* pivot.q in rad */
    PENDULUM_O_PIVOT_U, /* pivot.u in rad/s */
    PENDULUM_O_PIVOT_REACTION_FORCE_X, /* pivot.reaction.force.x in N */
    PENDULUM_O_PIVOT_REACTION_FORCE_Y, /* pivot.reaction.force.y in N */
    PENDULUM_O_PIVOT_REACTION_FORCE_Z, /* pivot.reaction.force.z in N */
};


/* -- Use: defaults, set parameters and inputs, init, then step or advance again and again. ------------------------

   A status of 0 means that all went well; pendulum_status_text tells what another one means.
   All that changes is in the model: a copy of the structure is a copy of the simulation.
   Units are SI; angles are in rad. */

/* Lay out a model, with the parameters and inputs of the file it was exported from.  Comes first. */
void pendulum_defaults(pendulum_model *m);
/* Relative tolerance of the integration; acts at the next pendulum_init. */
void pendulum_set_tolerance(pendulum_model *m, double rtol);
/* Begin at a time in s, with the parameters m->p and the inputs m->inputs: a consistent start.  Returns a status. */
int pendulum_init(pendulum_model *m, double t0);
/* Integrate to a time in s, with all events on the way; parameters and inputs may be changed before each call. */
int pendulum_advance(pendulum_model *m, double t_end);
/* The same for a length of time in s. */
int pendulum_step(pendulum_model *m, double dt);
/* The present time in s. */
double pendulum_time(const pendulum_model *m);
/* The present state; the discrete states come last. */
double *pendulum_state(pendulum_model *m);
/* Time derivatives of the continuous states at the present time and state. */
void pendulum_rate(pendulum_model *m, double *rates);
/* The outputs at the present time and state. */
void pendulum_outputs(pendulum_model *m, double *out);
/* Call this on a model that was copied to another place, before anything else. */
void pendulum_bind(pendulum_model *m);
/* What a status means. */
const char *pendulum_status_text(int status);

/* -- For a solver of your own: set the time and the continuous states, then ask. ---------------------------------- */

/* Set the time in s. */
void pendulum_set_time(pendulum_model *m, double t);
/* Event functions: an event happens where one falls below zero. */
void pendulum_indicators(pendulum_model *m, double *g);
/* After each accepted step: event functions that are clearly positive may trigger from now on. */
void pendulum_arm(pendulum_model *m);
/* Make all changes of the present instant: resets, ticks of clocks, modes.  Returns a status. */
int pendulum_update(pendulum_model *m);
/* The next time in s at which a clock ticks or a law jumps; infinite if there is none until a time. */
double pendulum_next_time(pendulum_model *m, double until);
/* How far loops and quaternions are from closed: the largest change that pendulum_project would make. */
double pendulum_drift(pendulum_model *m);
/* Close loops and normalize quaternions. */
void pendulum_project(pendulum_model *m);

#endif
