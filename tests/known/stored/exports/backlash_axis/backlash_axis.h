/* backlash_axis, as a library in C99; see the names and functions at the end. */
#ifndef BACKLASH_AXIS_H
#define BACKLASH_AXIS_H
#include <math.h>
#include <stdint.h>
#define BACKLASH_AXIS_N_STATES 16
#define BACKLASH_AXIS_N_CONTINUOUS 5
#define BACKLASH_AXIS_N_PARAMETERS 2
#define BACKLASH_AXIS_N_INPUTS 0
#define BACKLASH_AXIS_N_OUTPUTS 2
#define BACKLASH_AXIS_N_EVENTS 12
#if defined(__GNUC__)
typedef int64_t __attribute__((may_alias)) backlash_axis_loop_int;
#else
typedef int64_t backlash_axis_loop_int;
#endif
typedef struct backlash_axis_loop_law_breaks {
    int64_t count;
    double *times;
    double margin;
    int64_t next;
    double time;
    double earliest;
    double latest;
} backlash_axis_loop_law_breaks;

typedef struct backlash_axis_loop_model_kernels {
    int64_t rate;
    int64_t projection;
    int64_t completed;
    int64_t n;
    int64_t n_continuous;
    int64_t u_at;
    int64_t z_at;
    int64_t lanes;
    int64_t n_quaternions;
    backlash_axis_loop_int *quaternions;
    double *time;
    double *p;
    double *inputs;
    double *x;
    double *work;
    double *projected;
} backlash_axis_loop_model_kernels;

typedef struct backlash_axis_loop_method_table {
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
} backlash_axis_loop_method_table;

typedef struct backlash_axis_loop_state_rows {
    double *y;
    double *y_new;
    double *y_stage;
    double *between;
    double *slopes;
} backlash_axis_loop_state_rows;

typedef struct backlash_axis_loop_step_times {
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
} backlash_axis_loop_step_times;

typedef struct backlash_axis_loop_step_counts {
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
} backlash_axis_loop_step_counts;

typedef struct backlash_axis_loop_output_rows {
    int64_t sampled;
    int64_t n_times;
    double *times;
    int64_t next_time;
    int64_t room;
    int64_t written;
    double *t;
    double *y;
} backlash_axis_loop_output_rows;

typedef struct backlash_axis_loop_clock_ticks {
    int64_t count;
    int64_t sample;
    backlash_axis_loop_int *ticks;
    backlash_axis_loop_int *in_python;
    int64_t numerator;
    int64_t denominator;
    int64_t modes_depend;
    int64_t base;
    double base_time;
    int64_t first;
    int64_t due;
    double time;
} backlash_axis_loop_clock_ticks;

typedef struct backlash_axis_loop_event_functions {
    int64_t present;
    int64_t count;
    int64_t functions;
    int64_t cheap;
    int64_t reset;
    backlash_axis_loop_int *modes;
    double *values;
    backlash_axis_loop_int *of_state;
    double *g;
    double *g_before;
    double *g_half;
    backlash_axis_loop_int *armed;
    backlash_axis_loop_int *triggered;
    backlash_axis_loop_int *active;
    int64_t n_active;
    int64_t n_costly;
    double *mask;
    double *changed;
    int64_t blamed;
    int64_t consistent;
    int64_t room;
    int64_t listed;
    double *list_numbers;
    backlash_axis_loop_int *list_functions;
} backlash_axis_loop_event_functions;

typedef struct backlash_axis_loop_step_bounds {
    int64_t kernel;
    int64_t arguments;
    int64_t laws;
    int64_t n_arguments;
    int64_t count;
    int64_t n_laws;
    backlash_axis_loop_int *functions;
    backlash_axis_loop_int *covered;
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
} backlash_axis_loop_step_bounds;

typedef struct backlash_axis_loop_chatter_counts {
    int64_t cluster;
    double cluster_time;
    int64_t idle;
    double idle_time;
    int64_t stalled;
    double peak;
    double previous_peak;
} backlash_axis_loop_chatter_counts;

typedef struct backlash_axis_loop_singularity_monitor {
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
} backlash_axis_loop_singularity_monitor;

typedef struct backlash_axis_loop_jacobian_columns {
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
} backlash_axis_loop_jacobian_columns;

typedef struct backlash_axis_loop_newton_memory {
    backlash_axis_loop_jacobian_columns columns;
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
    backlash_axis_loop_int *eliminated;
    backlash_axis_loop_int *row_starts;
    backlash_axis_loop_int *row_columns;
    backlash_axis_loop_int *part;
    backlash_axis_loop_int *parents;
    backlash_axis_loop_int *below_starts;
    backlash_axis_loop_int *below_ends;
    backlash_axis_loop_int *below_rows;
    backlash_axis_loop_int *below_many;
    int64_t n_colors;
    backlash_axis_loop_int *colors;
    int64_t n_blocks;
    backlash_axis_loop_int *kept;
    backlash_axis_loop_int *place;
    backlash_axis_loop_int *block_of;
    backlash_axis_loop_int *block_starts;
    backlash_axis_loop_int *block_entries;
    int64_t n_entries;
    backlash_axis_loop_int *is_sparse;
    backlash_axis_loop_int *order;
    backlash_axis_loop_int *rank;
    backlash_axis_loop_int *degree;
    backlash_axis_loop_int *fill_starts;
    backlash_axis_loop_int *fill_rows;
    backlash_axis_loop_int *across_starts;
    backlash_axis_loop_int *across_columns;
    backlash_axis_loop_int *across_entries;
    double *direct;
    double *through;
    double *factors;
    backlash_axis_loop_int *pivots;
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
} backlash_axis_loop_newton_memory;

typedef struct backlash_axis_loop_stiffness_watch {
    double limit;
    int64_t worth;
    int64_t wanted;
    int64_t suspected;
    int64_t clear;
    double since;
    double first;
    int64_t bound_steps;
} backlash_axis_loop_stiffness_watch;

typedef struct backlash_axis_loop_column_memory {
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
} backlash_axis_loop_column_memory;

typedef struct backlash_axis_loop_course_memory {
    int64_t count;
    backlash_axis_loop_int *entries;
    backlash_axis_loop_int *starts;
    backlash_axis_loop_int *at;
    double *times;
    double *values;
    double *slopes;
    double look;
    double *g;
} backlash_axis_loop_course_memory;

typedef struct backlash_axis_loop_run_memory {
    backlash_axis_loop_model_kernels model;
    backlash_axis_loop_method_table method;
    backlash_axis_loop_state_rows state;
    backlash_axis_loop_step_times step;
    backlash_axis_loop_step_counts counts;
    backlash_axis_loop_output_rows output;
    backlash_axis_loop_law_breaks breaks;
    backlash_axis_loop_clock_ticks clocks;
    backlash_axis_loop_event_functions events;
    backlash_axis_loop_step_bounds bounds;
    backlash_axis_loop_chatter_counts chatter;
    backlash_axis_loop_singularity_monitor monitor;
    backlash_axis_loop_newton_memory newton;
    backlash_axis_loop_stiffness_watch stiffness;
    backlash_axis_loop_column_memory columns;
    backlash_axis_loop_course_memory courses;
} backlash_axis_loop_run_memory;

typedef struct backlash_axis_loop_break_search {
    int64_t kernel;
    int64_t count;
    double *numbers;
    backlash_axis_loop_int *first_number;
    double *periods;
    backlash_axis_loop_int *first_rate;
    double look;
    double *time;
    double *p;
    double *inputs;
    double *empty;
    double *work;
    double *out;
} backlash_axis_loop_break_search;

typedef struct backlash_axis_loop_row_plan {
    int64_t n_rows;
    int64_t n_entries;
    int64_t n_free;
    int64_t n_turns;
    backlash_axis_loop_int *source;
    double *scale;
    double *asked;
    backlash_axis_loop_int *entry;
    backlash_axis_loop_int *entry_row;
    backlash_axis_loop_int *entry_column;
    backlash_axis_loop_int *free;
    double *weight;
    backlash_axis_loop_int *place;
    backlash_axis_loop_int *rotation;
} backlash_axis_loop_row_plan;

typedef struct backlash_axis_loop_warm_memory {
    int64_t poses;
    int64_t elements;
    int64_t advance;
    int64_t elements_at;
    int64_t n_state;
    int64_t n_q;
    int64_t n_u;
    int64_t steps;
    double near_;
    double closed;
    double closed_enough;
    double rank;
    double fit;
    int64_t n_open;
    double *time;
    double *x;
    double *still;
    double *z;
    double *p;
    double *inputs;
    double *work;
    double *out;
    double *cut_step;
    double *advanced;
    double *matrix;
    double *step;
    double *unit;
    double *residual;
    backlash_axis_loop_int *order;
    double *free_step;
    backlash_axis_loop_int *place;
    double *weight;
    double *wanted;
    double *before;
    double *slopes;
    double *curvature;
    double *tangents;
    backlash_axis_loop_row_plan positions;
    backlash_axis_loop_row_plan speeds;
    backlash_axis_loop_row_plan leaders;
} backlash_axis_loop_warm_memory;

typedef struct backlash_axis_loop_network_memory {
    int64_t kernel;
    int64_t n_given;
    int64_t n_zero;
    int64_t n_free;
    backlash_axis_loop_int *free;
    double *wanted;
    double *out;
    double *r;
    double *a;
    double *b;
    double *v;
    double *w;
    double *sizes;
    double *lengths;
    double *step;
} backlash_axis_loop_network_memory;

typedef struct backlash_axis_loop_start_memory {
    backlash_axis_loop_warm_memory warm;
    backlash_axis_loop_network_memory net;
    int64_t requested;
    int64_t following;
    int64_t n_q;
    int64_t n_u;
    int64_t n_z;
    int64_t n_x;
    int64_t n_all_u;
    int64_t n_p;
    int64_t n_led_q;
    int64_t n_led_u;
    int64_t n_followers;
    backlash_axis_loop_int *places;
    backlash_axis_loop_int *is_given;
    double *anchor;
    double *spans;
    double *p_own;
    double *p_given;
    double *before;
    double *request;
    double *values;
    double *y;
} backlash_axis_loop_start_memory;

typedef struct backlash_axis_model {
    double p[2]; /* parameters */
    double inputs[1];
    double rtol;
    double t_wanted; /* all that follows is the run itself */
    double p_seen[2];
    double inputs_seen[1];
    backlash_axis_loop_run_memory run;
    backlash_axis_loop_break_search search;
    double search_time[1];
    double search_out[2];
    double work[1];
    double scratch[16];
    backlash_axis_loop_int a_model_quaternions[1];
    double a_model_time[1];
    double a_model_x[1];
    double a_model_projected[17];
    double a_method_table[153];
    double a_method_weights[9];
    double a_method_atol[16];
    double a_state_y[16];
    double a_state_y_new[16];
    double a_state_y_stage[16];
    double a_state_between[16];
    double a_state_slopes[144];
    double a_output_times[1];
    double a_output_t[1];
    double a_output_y[16];
    double a_breaks_times[16];
    backlash_axis_loop_int a_clocks_ticks[3];
    backlash_axis_loop_int a_clocks_in_python[1];
    backlash_axis_loop_int a_events_modes[12];
    double a_events_values[12];
    backlash_axis_loop_int a_events_of_state[12];
    double a_events_g[24];
    double a_events_g_before[12];
    double a_events_g_half[12];
    backlash_axis_loop_int a_events_armed[12];
    backlash_axis_loop_int a_events_triggered[12];
    backlash_axis_loop_int a_events_active[12];
    double a_events_mask[13];
    double a_events_changed[16];
    double a_events_list_numbers[216];
    backlash_axis_loop_int a_events_list_functions[72];
    backlash_axis_loop_int a_bounds_functions[8];
    backlash_axis_loop_int a_bounds_covered[12];
    double a_bounds_ranges[16];
    double a_bounds_piece[16];
    double a_bounds_out[16];
    double a_bounds_before[16];
    double a_bounds_after[16];
    double a_bounds_laws_before[1];
    double a_bounds_laws_after[1];
    double a_bounds_least[1];
    double a_bounds_most[1];
    double a_bounds_widths[8];
    double a_bounds_box[16];
    double a_bounds_box_out[16];
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
    backlash_axis_loop_int a_newton_eliminated[1];
    backlash_axis_loop_int a_newton_row_starts[1];
    backlash_axis_loop_int a_newton_row_columns[1];
    backlash_axis_loop_int a_newton_part[1];
    backlash_axis_loop_int a_newton_parents[1];
    backlash_axis_loop_int a_newton_below_starts[1];
    backlash_axis_loop_int a_newton_below_ends[1];
    backlash_axis_loop_int a_newton_below_rows[1];
    backlash_axis_loop_int a_newton_below_many[1];
    backlash_axis_loop_int a_newton_colors[1];
    backlash_axis_loop_int a_newton_kept[1];
    backlash_axis_loop_int a_newton_place[1];
    backlash_axis_loop_int a_newton_block_of[1];
    backlash_axis_loop_int a_newton_block_starts[1];
    backlash_axis_loop_int a_newton_block_entries[1];
    backlash_axis_loop_int a_newton_is_sparse[1];
    backlash_axis_loop_int a_newton_order[1];
    backlash_axis_loop_int a_newton_rank[1];
    backlash_axis_loop_int a_newton_degree[1];
    backlash_axis_loop_int a_newton_fill_starts[1];
    backlash_axis_loop_int a_newton_fill_rows[1];
    backlash_axis_loop_int a_newton_across_starts[1];
    backlash_axis_loop_int a_newton_across_columns[1];
    backlash_axis_loop_int a_newton_across_entries[1];
    double a_newton_direct[1];
    double a_newton_through[1];
    double a_newton_factors[1];
    backlash_axis_loop_int a_newton_pivots[1];
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
    backlash_axis_loop_int a_courses_entries[1];
    backlash_axis_loop_int a_courses_starts[1];
    backlash_axis_loop_int a_courses_at[1];
    double a_courses_times[1];
    double a_courses_values[1];
    double a_courses_slopes[1];
    double a_courses_g[1];
    backlash_axis_loop_start_memory start;
    double a_warm_time[1];
    double a_warm_x[2];
    double a_warm_still[2];
    double a_warm_z[12];
    double a_warm_p[2];
    double a_warm_out[1];
    double a_warm_cut_step[1];
    double a_warm_advanced[1];
    double a_warm_matrix[1];
    double a_warm_step[2];
    double a_warm_unit[1];
    double a_warm_residual[1];
    backlash_axis_loop_int a_warm_order[1];
    double a_warm_free_step[1];
    backlash_axis_loop_int a_warm_place[1];
    double a_warm_weight[1];
    double a_warm_wanted[1];
    double a_warm_before[1];
    double a_warm_slopes[1];
    double a_warm_curvature[1];
    double a_warm_tangents[1];
    backlash_axis_loop_int a_warm_positions_source[1];
    double a_warm_positions_scale[1];
    double a_warm_positions_asked[1];
    backlash_axis_loop_int a_warm_positions_entry[1];
    backlash_axis_loop_int a_warm_positions_entry_row[1];
    backlash_axis_loop_int a_warm_positions_entry_column[1];
    backlash_axis_loop_int a_warm_positions_free[1];
    double a_warm_positions_weight[1];
    backlash_axis_loop_int a_warm_positions_place[1];
    backlash_axis_loop_int a_warm_positions_rotation[1];
    backlash_axis_loop_int a_warm_speeds_source[1];
    double a_warm_speeds_scale[1];
    double a_warm_speeds_asked[1];
    backlash_axis_loop_int a_warm_speeds_entry[1];
    backlash_axis_loop_int a_warm_speeds_entry_row[1];
    backlash_axis_loop_int a_warm_speeds_entry_column[1];
    backlash_axis_loop_int a_warm_speeds_free[1];
    double a_warm_speeds_weight[1];
    backlash_axis_loop_int a_warm_speeds_place[1];
    backlash_axis_loop_int a_warm_speeds_rotation[1];
    backlash_axis_loop_int a_warm_leaders_source[1];
    double a_warm_leaders_scale[1];
    double a_warm_leaders_asked[1];
    backlash_axis_loop_int a_warm_leaders_entry[1];
    backlash_axis_loop_int a_warm_leaders_entry_row[1];
    backlash_axis_loop_int a_warm_leaders_entry_column[1];
    backlash_axis_loop_int a_warm_leaders_free[1];
    double a_warm_leaders_weight[1];
    backlash_axis_loop_int a_warm_leaders_place[1];
    backlash_axis_loop_int a_warm_leaders_rotation[1];
    backlash_axis_loop_int a_net_free[1];
    double a_net_wanted[1];
    double a_net_out[4];
    double a_net_r[2];
    double a_net_a[1];
    double a_net_b[2];
    double a_net_v[1];
    double a_net_w[1];
    double a_net_sizes[1];
    double a_net_lengths[1];
    double a_net_step[1];
    backlash_axis_loop_int a_places[4];
    backlash_axis_loop_int a_is_given[2];
    double a_anchor[1];
    double a_spans[1];
    double a_p_own[2];
    double a_before[2];
    double a_request[16];
    double a_values[6];
} backlash_axis_model;
/* Parameters: m->p */
enum backlash_axis_parameters_index {
    BACKLASH_AXIS_P_RATIO, /* ratio; 80 */
    BACKLASH_AXIS_P_PLAY, /* play; 0.00523598776; of the gear, in all, seen at its output */
};


/* States: backlash_axis_state, with their start */
enum backlash_axis_states_index {
    BACKLASH_AXIS_Y_SHAFT_Q, /* shaft.q in rad; 0 */
    BACKLASH_AXIS_Y_ELBOW_Q, /* elbow.q in rad; 0 */
    BACKLASH_AXIS_Y_SHAFT_U, /* shaft.u in rad/s; 0 */
    BACKLASH_AXIS_Y_ELBOW_U, /* elbow.u in rad/s; 0 */
    BACKLASH_AXIS_Y_MOTOR_CURRENT, /* motor.current in A; 0 */
    BACKLASH_AXIS_Y_SHAFT_FRICTION_MODE, /* shaft.friction.mode */
    BACKLASH_AXIS_Y_ELBOW_FRICTION_MODE, /* elbow.friction.mode */
    BACKLASH_AXIS_Y_CONTROLLER_OUTPUT, /* controller.output */
    BACKLASH_AXIS_Y_CONTROLLER_TARGET, /* controller.target */
    BACKLASH_AXIS_Y_CONTROLLER_MEASURED, /* controller.measured */
    BACKLASH_AXIS_Y_CONTROLLER_UNLIMITED, /* controller.unlimited */
    BACKLASH_AXIS_Y_CONTROLLER_PROPORTIONAL, /* controller.proportional */
    BACKLASH_AXIS_Y_CONTROLLER_INTEGRAL, /* controller.integral */
    BACKLASH_AXIS_Y_CONTROLLER_DERIVATIVE, /* controller.derivative */
    BACKLASH_AXIS_Y_CONTROLLER_PREVIOUS, /* controller.previous */
    BACKLASH_AXIS_Y_GEAR_MODE, /* gear.mode */
};

/* Outputs: backlash_axis_outputs */
enum backlash_axis_outputs_index {
    BACKLASH_AXIS_O_SHAFT_Q, /* shaft.q in rad */
    BACKLASH_AXIS_O_ELBOW_Q, /* elbow.q in rad */
};


/* -- Use: defaults, set parameters and inputs, init, then step or advance again and again. ------------------------

   A status of 0 means that all went well; backlash_axis_status_text tells what another one means.
   All that changes is in the model: a copy of the structure is a copy of the simulation.
   Units are SI; angles are in rad. */

/* Lay out a model, with the parameters and inputs of the file it was exported from.  Comes first. */
void backlash_axis_defaults(backlash_axis_model *m);
/* Relative tolerance of the integration; acts at the next backlash_axis_init. */
void backlash_axis_set_tolerance(backlash_axis_model *m, double rtol);
/* Begin at a time in s, with the parameters m->p and the inputs m->inputs: a consistent start.  Returns a status. */
int backlash_axis_init(backlash_axis_model *m, double t0);
/* Integrate to a time in s, with all events on the way; parameters and inputs may be changed before each call. */
int backlash_axis_advance(backlash_axis_model *m, double t_end);
/* The same for a length of time in s. */
int backlash_axis_step(backlash_axis_model *m, double dt);
/* The present time in s. */
double backlash_axis_time(const backlash_axis_model *m);
/* The present state; the discrete states come last. */
double *backlash_axis_state(backlash_axis_model *m);
/* Time derivatives of the continuous states at the present time and state. */
void backlash_axis_rate(backlash_axis_model *m, double *rates);
/* The outputs at the present time and state. */
void backlash_axis_outputs(backlash_axis_model *m, double *out);
/* Call this on a model that was copied to another place, before anything else. */
void backlash_axis_bind(backlash_axis_model *m);
/* What a status means. */
const char *backlash_axis_status_text(int status);

/* -- For a solver of your own: set the time and the continuous states, then ask. ---------------------------------- */

/* Set the time in s. */
void backlash_axis_set_time(backlash_axis_model *m, double t);
/* Event functions: an event happens where one falls below zero. */
void backlash_axis_indicators(backlash_axis_model *m, double *g);
/* After each accepted step: event functions that are clearly positive may trigger from now on. */
void backlash_axis_arm(backlash_axis_model *m);
/* Make all changes of the present instant: resets, ticks of clocks, modes.  Returns a status. */
int backlash_axis_update(backlash_axis_model *m);
/* The next time in s at which a clock ticks or a law jumps; infinite if there is none until a time. */
double backlash_axis_next_time(backlash_axis_model *m, double until);
/* How far loops and quaternions are from closed: the largest change that backlash_axis_project would make. */
double backlash_axis_drift(backlash_axis_model *m);
/* Close loops and normalize quaternions. */
void backlash_axis_project(backlash_axis_model *m);

#endif
