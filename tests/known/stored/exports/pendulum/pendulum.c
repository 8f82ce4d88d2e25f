/* pendulum: written by kinode. */
#include "pendulum.h"
#define KN(word) pendulum_##word
#define KN_N_STATES 2
#define KN_N_CONTINUOUS 2
#define KN_N_POSITIONS 1
#define KN_N_INPUTS 0
#define KN_N_OUTPUTS 5
#define KN_N_EVENTS 0
#define KN_N_EFFORTS 1
#define KN_EVENTFUL 0
#define KN_HAS_BREAKS 0
#define KN_HAS_JACOBIAN 0
#define KN_N_BREAKS 16
#define KN_MOST_STEPS INT64_C(100000000)
#define KN_FIXED_STEP 0.0
#define KN_FIXED 0
#define KN_RTOL 1e-08
#define KN_N_TOLERANCES 2
#define KN_EVALUATE 2
#define KN_ALONG 0
#define KN_SIZE(array) (int)(sizeof(array) / sizeof(array)[0])
#define KN_CLOSE_LOOPS(m) (void)0
#define KN_DONE 0
#define KN_PAUSED 1
#define KN_NOT_FINITE 3
#define KN_NEAR_SINGULAR 6
#define KN_EVENTS_FULL 8
#define KN_READY 0
#define KN_EVENT 3
#define KN_TICK 4
#define KN_MODES 5
#define KN_ADVANCE pendulum_loop_advance
#define KN_BEGIN_PLAIN pendulum_loop_begin_plain
#define KN_START pendulum_loop_start
#define KN_RATE pendulum_loop_rate
#define KN_RUN_KERNEL pendulum_loop_run_kernel
#define KN_LAW_TIME pendulum_loop_law_time
#define KN_PROJECT pendulum_loop_project
#define KN_BEGIN_PIECE pendulum_loop_begin_piece
static void pendulum_copy(double *to, const double *from, int n)
{
    for (int k = 0; k < n; k++) to[k] = from[k];
}
static int pendulum_differ(const double *a, const double *b, int n)
{
    for (int k = 0; k < n; k++)
        if (a[k] != b[k]) return 1;
    return 0;
}

static double pendulum_loop_least(double a, double b)
{
    return b < a ? b : a;
}

static double pendulum_loop_most(double a, double b)
{
    return b > a ? b : a;
}

static int64_t pendulum_loop_most_int(int64_t a, int64_t b)
{
    return b > a ? b : a;
}

static int64_t pendulum_loop_remainder(int64_t a, int64_t b)
{
    const int64_t rest = b ? a % b : 0;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static int64_t pendulum_loop_whole(double x)
{
    if (!(x == x)) return 0;
    return x >= 9223372036854775807.0 ? INT64_MAX : x <= -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

static void pendulum_kernel_1_rate(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)z; (void)inputs; (void)x; (void)work;
    {
    out[0] = u[0];
    const double v2 = p[0];
    const double v4 = v2 * 0.5;
    out[1] = -((1.0 / (((v2 * v2) * 0.08333333333333333) + (v4 * v4))) * (v4 * (cos(q[0]) * 9.81)));
    }
}

static void pendulum_kernel_2_evaluate(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)z; (void)inputs; (void)x; (void)work;
    {
    const double v0 = q[0];
    out[0] = v0;
    const double v1 = u[0];
    out[1] = v1;
    const double v2 = p[0];
    const double v4 = v2 * 0.5;
    const double v10 = cos(v0);
    const double v11 = sin(v0);
    const double v20 = v10 * 9.81;
    const double v27 = v20 - (v4 * ((1.0 / (((v2 * v2) * 0.08333333333333333) + (v4 * v4))) * (v4 * v20)));
    const double v28 = (v1 * (v1 * v4)) - (v11 * 9.81);
    out[2] = -((v10 * v28) + (v11 * v27));
    out[3] = -((v11 * v28) - (v10 * v27));
    out[4] = 0.0;
    }
}

static void pendulum_loop_call(int64_t kernel, const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *work, double *out)
{
    switch (kernel) {
    case 1: pendulum_kernel_1_rate(t, q, u, z, p, inputs, x, work, out); break;
    case 2: pendulum_kernel_2_evaluate(t, q, u, z, p, inputs, x, work, out); break;
    default: break;
    }
}

static double pendulum_loop_law_time(pendulum_loop_run_memory *run, double t)
{
    return (run->step.origin + pendulum_loop_least(pendulum_loop_most(t, run->breaks.earliest), run->breaks.latest));
}

static void pendulum_loop_follow_courses(pendulum_loop_course_memory *courses, double *time, int64_t lanes, double *inputs)
{
    pendulum_loop_int *entries = 0;
    pendulum_loop_int *starts = 0;
    pendulum_loop_int *at = 0;
    double *times = 0;
    double *values = 0;
    double *slopes = 0;
    int64_t c = 0;
    int64_t k = 0;
    int64_t first = 0;
    int64_t last = 0;
    int64_t lane = 0;
    double t = 0.0;
    entries = courses->entries;
    starts = courses->starts;
    at = courses->at;
    times = courses->times;
    values = courses->values;
    slopes = courses->slopes;
    for (int64_t i1 = 0, end1 = courses->count; i1 < end1; ++i1) {
        c = i1;
        k = at[c];
        first = starts[c];
        last = (starts[(c + 1)] - 1);
        for (int64_t i2 = 0, end2 = lanes; i2 < end2; ++i2) {
            lane = i2;
            t = time[lane];
            while ((k < last) && (times[(k + 1)] <= t)) {
                k = (k + 1);
            }
            while ((k > first) && (times[k] > t)) {
                k = (k - 1);
            }
            inputs[((entries[c] * lanes) + lane)] = (values[k] + (slopes[k] * pendulum_loop_most((t - times[k]), 0.0)));
        }
        at[c] = k;
    }
}

static void pendulum_loop_call_kernel(pendulum_loop_run_memory *run, int64_t kernel, double *y, double *x, double *out)
{
    pendulum_loop_model_kernels *model = 0;
    double *time = 0;
    model = &run->model;
    time = run->model.time;
    pendulum_loop_call(kernel, time, y, (y + model->u_at), (y + model->z_at), model->p, model->inputs, x, model->work, out);
}

static void pendulum_loop_run_kernel(pendulum_loop_run_memory *run, int64_t kernel, double t, double *y, double *x, double *out)
{
    pendulum_loop_model_kernels *model = 0;
    double *time = 0;
    int64_t i = 0;
    model = &run->model;
    time = model->time;
    for (int64_t i1 = 0, end1 = model->lanes; i1 < end1; ++i1) {
        i = i1;
        time[i] = t;
    }
    if (run->courses.count != 0) {
        pendulum_loop_follow_courses(&run->courses, time, model->lanes, model->inputs);
    }
    pendulum_loop_call_kernel(run, kernel, y, x, out);
}

static void pendulum_loop_rate(pendulum_loop_run_memory *run, double t, double *y, double *out)
{
    pendulum_loop_run_kernel(run, run->model.rate, pendulum_loop_law_time(run, t), y, (y + run->columns.n_state), out);
}

static void pendulum_loop_lose(pendulum_loop_run_memory *run, int64_t why, int64_t k)
{
    pendulum_loop_column_memory *columns = 0;
    columns = &run->columns;
    if ((columns->count != 0) && (columns->lost == 0)) {
        const int64_t value1 = why;
        const double value2 = run->step.t;
        const int64_t value3 = k;
        columns->lost = value1;
        columns->lost_time = value2;
        columns->lost_function = value3;
    }
}

static void pendulum_loop_check_fixed(pendulum_loop_run_memory *run, double time)
{
    int64_t k = 0;
    if (run->step.t != time) {
        return;
    }
    for (int64_t i1 = 0, end1 = run->columns.count; i1 < end1; ++i1) {
        k = i1;
        if (run->columns.shifts[k] != 0.0) {
            pendulum_loop_lose(run, 2, run->events.blamed);
        }
    }
}

static void pendulum_loop_move_columns(pendulum_loop_run_memory *run, double *slope, double sign)
{
    double *y = 0;
    pendulum_loop_column_memory *columns = 0;
    int64_t n = 0;
    int64_t k = 0;
    double shift = 0.0;
    int64_t i = 0;
    y = run->state.y;
    columns = &run->columns;
    n = run->columns.n_state;
    for (int64_t i1 = 0, end1 = columns->count; i1 < end1; ++i1) {
        k = i1;
        shift = (sign * columns->shifts[k]);
        for (int64_t i2 = 0, end2 = n; i2 < end2; ++i2) {
            i = i2;
            y[((n + (k * n)) + i)] = (y[((n + (k * n)) + i)] + (shift * slope[i]));
        }
    }
}

static void pendulum_loop_shift_to_break(pendulum_loop_run_memory *run)
{
    pendulum_loop_column_memory *columns = 0;
    int64_t m = 0;
    int64_t k = 0;
    columns = &run->columns;
    m = run->columns.count;
    if ((m == 0) || (columns->breaks_shift == 0) || (run->counts.started == 0)) {
        return;
    }
    pendulum_loop_rate(run, run->step.t, run->state.y, columns->before);
    for (int64_t i1 = 0, end1 = m; i1 < end1; ++i1) {
        k = i1;
        columns->shifts[k] = columns->break_shifts[((run->breaks.next * m) + k)];
        if (columns->shifts[k] != columns->shifts[k]) {
            columns->shifts[k] = 0.0;
            pendulum_loop_lose(run, 2, 0);
        }
    }
    columns->shifted = 1;
    pendulum_loop_check_fixed(run, run->clocks.time);
    pendulum_loop_move_columns(run, columns->before, 1.0);
}

static void pendulum_loop_begin_piece(pendulum_loop_run_memory *run)
{
    pendulum_loop_law_breaks *breaks = 0;
    double *times = 0;
    int64_t k = 0;
    breaks = &run->breaks;
    if (breaks->count == 0) {
        return;
    }
    times = breaks->times;
    k = breaks->next;
    while ((k < breaks->count) && (times[k] <= run->step.t)) {
        breaks->earliest = (times[k] + breaks->margin);
        k = (k + 1);
    }
    breaks->next = k;
    breaks->time = ((k < breaks->count) ? times[k] : INFINITY);
    breaks->latest = (breaks->time - breaks->margin);
}

static void pendulum_loop_copy_discrete(pendulum_loop_run_memory *run, double *out)
{
    double *y = 0;
    int64_t i = 0;
    y = run->state.y;
    for (int64_t i1 = run->model.n_continuous, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        out[i] = y[i];
    }
}

static int64_t pendulum_loop_any_not_finite(pendulum_loop_int *numbers, int64_t first, int64_t stop)
{
    int64_t flags = 0;
    int64_t i = 0;
    flags = 0;
    for (int64_t i1 = first, end1 = stop; i1 < end1; ++i1) {
        i = i1;
        flags = (flags | (((numbers[i] & INT64_C(4607182418800017408)) + INT64_C(4503599627370496)) & numbers[i]));
    }
    return (flags & INT64_C(4611686018427387904));
}

static int64_t pendulum_loop_not_finite(pendulum_loop_run_memory *run, double *row)
{
    return pendulum_loop_any_not_finite((pendulum_loop_int *)row, 0, run->model.n_continuous);
}

static int64_t pendulum_loop_first_not_finite(double *values, int64_t n)
{
    int64_t i = 0;
    for (int64_t i1 = 0, end1 = n; i1 < end1; ++i1) {
        i = i1;
        if (!(fabs(values[i]) < INFINITY)) {
            return i;
        }
    }
    return (-1);
}

static int pendulum_loop_start(pendulum_loop_run_memory *run)
{
    pendulum_loop_model_kernels *model = 0;
    pendulum_loop_state_rows *state = 0;
    pendulum_loop_step_counts *counts = 0;
    double *y = 0;
    int64_t i = 0;
    model = &run->model;
    state = &run->state;
    counts = &run->counts;
    pendulum_loop_copy_discrete(run, state->y_new);
    pendulum_loop_copy_discrete(run, state->y_stage);
    pendulum_loop_copy_discrete(run, state->between);
    counts->failed = (-1);
    if (model->rate != 0) {
        pendulum_loop_rate(run, run->step.t, state->y, state->slopes);
        counts->evaluations = (counts->evaluations + 1);
        if (pendulum_loop_not_finite(run, state->slopes) != 0) {
            counts->failed = pendulum_loop_first_not_finite(state->slopes, model->n_continuous);
        }
    }
    if ((counts->failed < 0) && (pendulum_loop_any_not_finite((pendulum_loop_int *)(state->y), model->n_continuous, model->n) != 0)) {
        y = state->y;
        for (int64_t i1 = model->n_continuous, end1 = model->n; i1 < end1; ++i1) {
            i = i1;
            counts->failed = ((y[i] != y[i]) ? i : counts->failed);
        }
    }
    run->step.failed_time = run->step.t;
    run->bounds.known = 0;
    counts->started = 1;
    counts->restarted = 1;
    return (counts->failed < 0);
}

static void pendulum_loop_shift_back(pendulum_loop_run_memory *run)
{
    pendulum_loop_column_memory *columns = 0;
    int64_t k = 0;
    columns = &run->columns;
    if (columns->shifted == 0) {
        return;
    }
    pendulum_loop_move_columns(run, run->state.slopes, (-1.0));
    for (int64_t i1 = 0, end1 = columns->count; i1 < end1; ++i1) {
        k = i1;
        columns->shifts[k] = 0.0;
    }
    columns->shifted = 0;
    pendulum_loop_rate(run, run->step.t, run->state.y, run->state.slopes);
}

static int pendulum_loop_begin_plain(pendulum_loop_run_memory *run)
{
    int finite = 0;
    pendulum_loop_shift_to_break(run);
    pendulum_loop_begin_piece(run);
    finite = pendulum_loop_start(run);
    pendulum_loop_shift_back(run);
    return finite;
}

static double *pendulum_loop_slope(pendulum_loop_run_memory *run, int64_t stage)
{
    return (run->state.slopes + (stage * run->model.n));
}

static double pendulum_loop_first_step(pendulum_loop_run_memory *run)
{
    int64_t n = 0;
    double *atol = 0;
    double t = 0.0;
    double rtol = 0.0;
    double *y = 0;
    double *stage = 0;
    double *k = 0;
    double *k_next = 0;
    double sign = 0.0;
    double longest = 0.0;
    double d0 = 0.0;
    double d1 = 0.0;
    double d2 = 0.0;
    int64_t i = 0;
    double scale = 0.0;
    double h = 0.0;
    double change = 0.0;
    double steepest = 0.0;
    double suited = 0.0;
    n = run->model.n;
    atol = run->method.atol;
    t = run->step.t;
    rtol = run->method.rtol;
    double *const value1 = run->state.y;
    double *const value2 = run->state.y_stage;
    double *const value3 = run->state.slopes;
    double *const value4 = pendulum_loop_slope(run, 1);
    y = value1;
    stage = value2;
    k = value3;
    k_next = value4;
    sign = ((run->step.t_end >= t) ? 1.0 : (-1.0));
    longest = pendulum_loop_least(run->method.max_step, fabs((run->step.t_end - t)));
    d0 = 0.0;
    d1 = 0.0;
    d2 = 0.0;
    for (int64_t i5 = 0, end5 = n; i5 < end5; ++i5) {
        i = i5;
        scale = (1.0 / (atol[i] + (rtol * fabs(y[i]))));
        d0 = (d0 + ((y[i] * scale) * (y[i] * scale)));
        d1 = (d1 + ((k[i] * scale) * (k[i] * scale)));
    }
    const double value6 = sqrt((d0 / (double)(run->columns.n_measured)));
    const double value7 = sqrt((d1 / (double)(run->columns.n_measured)));
    d0 = value6;
    d1 = value7;
    h = pendulum_loop_least((((d0 < 1e-05) || (d1 < 1e-05)) ? 1e-06 : ((0.01 * d0) / d1)), longest);
    for (int64_t i8 = 0, end8 = n; i8 < end8; ++i8) {
        i = i8;
        stage[i] = (y[i] + ((sign * h) * k[i]));
    }
    pendulum_loop_rate(run, (t + (sign * h)), stage, k_next);
    run->counts.evaluations = (run->counts.evaluations + 1);
    for (int64_t i9 = 0, end9 = n; i9 < end9; ++i9) {
        i = i9;
        change = ((k_next[i] - k[i]) / (atol[i] + (rtol * fabs(y[i]))));
        d2 = (d2 + (change * change));
    }
    steepest = pendulum_loop_most(d1, (sqrt((d2 / (double)(run->columns.n_measured))) / h));
    if (!(fabs(steepest) < INFINITY)) {
        return ((sign * h) * 0.001);
    }
    if (steepest <= 1e-15) {
        return (sign * pendulum_loop_least(pendulum_loop_most(1e-06, (h * 0.001)), longest));
    }
    suited = pow((0.01 / steepest), (1.0 / (double)(run->method.order)));
    return (sign * pendulum_loop_least(pendulum_loop_least((100.0 * h), suited), longest));
}

static double pendulum_loop_newton(pendulum_loop_run_memory *run, double t, double *y)
{
    pendulum_loop_model_kernels *model = 0;
    double farthest = 0.0;
    double *projected = 0;
    int64_t i = 0;
    model = &run->model;
    farthest = 0.0;
    projected = model->projected;
    pendulum_loop_run_kernel(run, model->projection, pendulum_loop_law_time(run, t), y, (y + run->columns.n_state), projected);
    for (int64_t i1 = 0, end1 = model->u_at; i1 < end1; ++i1) {
        i = i1;
        farthest = pendulum_loop_most(farthest, fabs((projected[i] - y[i])));
    }
    for (int64_t i2 = 0, end2 = model->n; i2 < end2; ++i2) {
        i = i2;
        y[i] = projected[i];
    }
    return farthest;
}

static double pendulum_loop_length(double *y, int64_t start, int64_t lanes)
{
    double square = 0.0;
    int64_t i = 0;
    square = 0.0;
    for (int64_t i1 = 0, end1 = 4; i1 < end1; ++i1) {
        i = i1;
        square = (square + (y[(start + (i * lanes))] * y[(start + (i * lanes))]));
    }
    return sqrt(square);
}

static void pendulum_loop_normalize_column(double *y, int64_t start, int64_t at, double scale)
{
    double along = 0.0;
    int64_t i = 0;
    along = 0.0;
    for (int64_t i1 = 0, end1 = 4; i1 < end1; ++i1) {
        i = i1;
        along = (along + (y[(start + i)] * y[(at + i)]));
    }
    for (int64_t i2 = 0, end2 = 4; i2 < end2; ++i2) {
        i = i2;
        y[(at + i)] = (scale * (y[(at + i)] - (along * y[(start + i)])));
    }
}

static void pendulum_loop_normalize(pendulum_loop_run_memory *run, double *y)
{
    pendulum_loop_int *quaternions = 0;
    int64_t lanes = 0;
    int64_t b = 0;
    int64_t start = 0;
    double scale = 0.0;
    int64_t i = 0;
    int64_t k = 0;
    quaternions = run->model.quaternions;
    lanes = run->model.lanes;
    for (int64_t i1 = 0, end1 = run->model.n_quaternions; i1 < end1; ++i1) {
        b = i1;
        for (int64_t i2 = (quaternions[b] * lanes), end2 = ((quaternions[b] + 1) * lanes); i2 < end2; ++i2) {
            start = i2;
            scale = (1.0 / pendulum_loop_length(y, start, lanes));
            for (int64_t i3 = 0, end3 = 4; i3 < end3; ++i3) {
                i = i3;
                y[(start + (i * lanes))] = (y[(start + (i * lanes))] * scale);
            }
            for (int64_t i4 = 0, end4 = run->columns.count; i4 < end4; ++i4) {
                k = i4;
                pendulum_loop_normalize_column(y, start, (start + ((k + 1) * run->columns.n_state)), scale);
            }
        }
    }
}

static void pendulum_loop_project(pendulum_loop_run_memory *run, double t, double *y)
{
    if ((run->model.projection != 0) && (pendulum_loop_newton(run, t, y) > 1e-07)) {
        (void)pendulum_loop_newton(run, t, y);
    }
    pendulum_loop_normalize(run, y);
}

static double pendulum_loop_distance(pendulum_loop_run_memory *run)
{
    return (1.0 / sqrt(run->model.projected[run->model.n]));
}

static void pendulum_loop_begin_monitor(pendulum_loop_run_memory *run)
{
    double *y = 0;
    double *stage = 0;
    pendulum_loop_singularity_monitor *monitor = 0;
    int64_t i = 0;
    y = run->state.y;
    stage = run->state.y_stage;
    monitor = &run->monitor;
    if ((run->model.projection == 0) || (monitor->known != 0)) {
        return;
    }
    for (int64_t i1 = 0, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        stage[i] = y[i];
    }
    pendulum_loop_project(run, run->step.t, stage);
    monitor->distance = pendulum_loop_distance(run);
    const double value2 = 0.0;
    const double value3 = 0.0;
    monitor->trend = value2;
    monitor->span = value3;
    monitor->farthest = pendulum_loop_most(monitor->farthest, monitor->distance);
    monitor->known = 1;
}

static double pendulum_loop_step_end(pendulum_loop_run_memory *run)
{
    return pendulum_loop_least(pendulum_loop_least(run->step.t_end, run->clocks.time), run->breaks.time);
}

static double *pendulum_loop_table_row(pendulum_loop_run_memory *run, int64_t row)
{
    return (run->method.table + (row * run->method.stages));
}

static int pendulum_loop_crosses(pendulum_loop_run_memory *run, double h)
{
    pendulum_loop_singularity_monitor *monitor = 0;
    monitor = &run->monitor;
    return ((monitor->distance + (monitor->trend * h)) < (0.3 * monitor->distance));
}

static void pendulum_loop_add(pendulum_loop_run_memory *run, double h, double *weights, int64_t first, int64_t count, double *out)
{
    int64_t n = 0;
    int64_t j = 0;
    double a = 0.0;
    double *ka = 0;
    double b = 0.0;
    double *kb = 0;
    int64_t i = 0;
    n = run->model.n_continuous;
    j = first;
    while (j < count) {
        const double value1 = (h * weights[j]);
        double *const value2 = pendulum_loop_slope(run, j);
        a = value1;
        ka = value2;
        j = (j + 1);
        if (a == 0.0) {
            continue;
        }
        if (j < count) {
            const double value3 = (h * weights[j]);
            double *const value4 = pendulum_loop_slope(run, j);
            b = value3;
            kb = value4;
            j = (j + 1);
            for (int64_t i5 = 0, end5 = n; i5 < end5; ++i5) {
                i = i5;
                out[i] = (out[i] + ((a * ka[i]) + (b * kb[i])));
            }
        } else {
            for (int64_t i6 = 0, end6 = n; i6 < end6; ++i6) {
                i = i6;
                out[i] = (out[i] + (a * ka[i]));
            }
        }
    }
}

static void pendulum_loop_combine(pendulum_loop_run_memory *run, double h, double *weights, int64_t count, double *out)
{
    double *y = 0;
    double a = 0.0;
    double *k = 0;
    int64_t i = 0;
    y = run->state.y;
    a = (h * weights[0]);
    k = run->state.slopes;
    for (int64_t i1 = 0, end1 = run->model.n_continuous; i1 < end1; ++i1) {
        i = i1;
        out[i] = (y[i] + (a * k[i]));
    }
    pendulum_loop_add(run, h, weights, 1, count, out);
}

static double pendulum_loop_close_end(pendulum_loop_run_memory *run, double t)
{
    double *y = 0;
    double *new = 0;
    double *atol = 0;
    double *open_end = 0;
    int64_t i = 0;
    double total = 0.0;
    pendulum_loop_singularity_monitor *monitor = 0;
    double moved = 0.0;
    double nearness = 0.0;
    double rounding = 0.0;
    y = run->state.y;
    new = run->state.y_new;
    atol = run->method.atol;
    open_end = run->state.y_stage;
    if (run->model.projection == 0) {
        pendulum_loop_normalize(run, new);
        return 0.0;
    }
    for (int64_t i1 = 0, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        open_end[i] = new[i];
    }
    pendulum_loop_project(run, t, new);
    total = 0.0;
    monitor = &run->monitor;
    for (int64_t i2 = 0, end2 = run->columns.n_state; i2 < end2; ++i2) {
        i = i2;
        moved = ((new[i] - open_end[i]) / (atol[i] + (run->method.rtol * pendulum_loop_most(fabs(y[i]), fabs(new[i])))));
        total = (total + (moved * moved));
    }
    monitor->distance_new = pendulum_loop_distance(run);
    nearness = (monitor->farthest / pendulum_loop_least(monitor->distance, monitor->distance_new));
    rounding = pendulum_loop_least(((7.105427357601002e-15 * nearness) * nearness), 0.001);
    return (sqrt((total / (double)(run->columns.n_measured))) / (10.0 + (rounding / run->method.rtol)));
}

static int pendulum_loop_attempt(pendulum_loop_run_memory *run, double h)
{
    pendulum_loop_method_table *method = 0;
    pendulum_loop_step_times *step = 0;
    pendulum_loop_step_counts *counts = 0;
    int64_t last = 0;
    double *nodes = 0;
    int by_constraints = 0;
    int closed = 0;
    int64_t s = 0;
    double *y = 0;
    double t = 0.0;
    double *k = 0;
    method = &run->method;
    step = &run->step;
    counts = &run->counts;
    const int64_t value1 = method->last;
    double *const value2 = pendulum_loop_table_row(run, method->stages);
    last = value1;
    nodes = value2;
    by_constraints = ((step->end_correction > 1.0) || pendulum_loop_crosses(run, (2.0 * h)));
    closed = ((run->model.projection != 0) && (counts->rejected_in_a_row > 0) && by_constraints);
    step->end_correction = INFINITY;
    for (int64_t i3 = 1, end3 = (last + 1); i3 < end3; ++i3) {
        s = i3;
        y = ((s == last) ? run->state.y_new : run->state.y_stage);
        const double value4 = (step->t + (nodes[s] * h));
        double *const value5 = pendulum_loop_slope(run, s);
        t = value4;
        k = value5;
        pendulum_loop_combine(run, h, pendulum_loop_table_row(run, s), s, y);
        if (s == last) {
            step->end_correction = pendulum_loop_close_end(run, t);
        } else {
            if (closed) {
                pendulum_loop_project(run, t, y);
            }
        }
        pendulum_loop_rate(run, t, y, k);
        counts->evaluations = (counts->evaluations + 1);
        if (pendulum_loop_not_finite(run, k) != 0) {
            counts->failed = pendulum_loop_first_not_finite(k, run->model.n_continuous);
            step->failed_time = t;
            return 0;
        }
    }
    return 1;
}

static double pendulum_loop_error_square(pendulum_loop_run_memory *run, double h, int64_t row)
{
    double *y = 0;
    double *new = 0;
    double *atol = 0;
    double *estimate = 0;
    double *weights = 0;
    double *k = 0;
    double rtol = 0.0;
    double a = 0.0;
    double total = 0.0;
    int64_t i = 0;
    y = run->state.y;
    new = run->state.y_new;
    atol = run->method.atol;
    estimate = run->state.y_stage;
    double *const value1 = pendulum_loop_table_row(run, row);
    double *const value2 = run->state.slopes;
    const double value3 = run->method.rtol;
    weights = value1;
    k = value2;
    rtol = value3;
    a = (h * weights[0]);
    total = 0.0;
    for (int64_t i4 = 0, end4 = run->model.n_continuous; i4 < end4; ++i4) {
        i = i4;
        estimate[i] = (a * k[i]);
    }
    pendulum_loop_add(run, h, weights, 1, (run->method.last + 1), estimate);
    for (int64_t i5 = 0, end5 = run->model.n_continuous; i5 < end5; ++i5) {
        i = i5;
        estimate[i] = (estimate[i] / (atol[i] + (rtol * pendulum_loop_most(fabs(y[i]), fabs(new[i])))));
    }
    for (int64_t i6 = 0, end6 = run->model.n_continuous; i6 < end6; ++i6) {
        i = i6;
        total = (total + (estimate[i] * estimate[i]));
    }
    return total;
}

static double pendulum_loop_error(pendulum_loop_run_memory *run, double h)
{
    double first = 0.0;
    double second = 0.0;
    first = pendulum_loop_error_square(run, h, (run->method.stages + 1));
    if ((run->method.estimates == 2) && (first != 0.0)) {
        second = pendulum_loop_error_square(run, h, (run->method.stages + 2));
        return (first / sqrt(((first + (0.01 * second)) * (double)(run->columns.n_measured))));
    }
    return sqrt((first / (double)(run->columns.n_measured)));
}

static double pendulum_loop_try_explicit(pendulum_loop_run_memory *run, double h)
{
    double value1 = 0;
    if (pendulum_loop_attempt(run, h)) {
        const double value2 = pendulum_loop_error(run, h);
        value1 = pendulum_loop_most(value2, run->step.end_correction);
    } else {
        value1 = NAN;
    }
    return value1;
}

static void pendulum_loop_accept(pendulum_loop_run_memory *run, double error, double h, int final)
{
    pendulum_loop_step_times *step = 0;
    pendulum_loop_step_counts *counts = 0;
    double damping = 0.0;
    double factor = 0.0;
    step = &run->step;
    counts = &run->counts;
    damping = run->method.damping;
    factor = ((0.9 * pow(pendulum_loop_most(error, 1e-10), ((0.75 * damping) - (1.0 / (double)(run->method.order))))) * pow(step->previous_error, damping));
    factor = pendulum_loop_least(10.0, pendulum_loop_most(0.2, factor));
    if ((1.0 < factor) && (factor < run->newton.hold)) {
        factor = 1.0;
    }
    if (counts->rejected_in_a_row > 0) {
        factor = pendulum_loop_least(factor, 1.0);
    }
    if (!final || (fabs((h * factor)) > fabs(step->h))) {
        step->h = (h * factor);
    }
    step->previous_error = pendulum_loop_most(error, 0.0001);
    double value1 = 0;
    if (final) {
        value1 = pendulum_loop_step_end(run);
    } else {
        value1 = (step->t + h);
    }
    step->t_new = value1;
    step->h_done = h;
    counts->rejected_in_a_row = 0;
    counts->failed = (-1);
    counts->steps = (counts->steps + 1);
}

static int pendulum_loop_reject(pendulum_loop_run_memory *run, double error, double h)
{
    pendulum_loop_step_times *step = 0;
    pendulum_loop_step_counts *counts = 0;
    int crossing = 0;
    double least = 0.0;
    step = &run->step;
    counts = &run->counts;
    counts->rejected = (counts->rejected + 1);
    counts->rejected_in_a_row = (counts->rejected_in_a_row + 1);
    crossing = ((run->model.projection != 0) && (counts->rejected_in_a_row <= 8) && pendulum_loop_crosses(run, h));
    least = (crossing ? 0.8 : 0.2);
    if (fabs(error) < INFINITY) {
        counts->failed = (-1);
        step->h = (h * pendulum_loop_most(least, (0.9 * pow(error, ((-1.0) / (double)(run->method.order))))));
        return 1;
    }
    step->h = (h * least);
    if (counts->failed < 0) {
        counts->failed = pendulum_loop_most_int(0, pendulum_loop_first_not_finite(run->state.y_new, run->model.n));
        step->failed_time = (step->t + h);
    }
    if (fabs((step->t - step->nonfinite_since)) > (1e-09 * fabs((step->t_end - step->t_start)))) {
        const double value1 = step->t;
        step->nonfinite_since = value1;
        counts->nonfinite_steps = 0;
    }
    counts->nonfinite_steps = (counts->nonfinite_steps + 1);
    return (counts->nonfinite_steps <= 1000);
}

static int64_t pendulum_loop_find_step(pendulum_loop_run_memory *run)
{
    pendulum_loop_step_times *step = 0;
    pendulum_loop_step_counts *counts = 0;
    double max_step = 0.0;
    double t = 0.0;
    double end = 0.0;
    double sign = 0.0;
    double h = 0.0;
    double left = 0.0;
    int final = 0;
    double error = 0.0;
    step = &run->step;
    counts = &run->counts;
    max_step = run->method.max_step;
    const double value1 = step->t;
    const double value2 = pendulum_loop_step_end(run);
    t = value1;
    end = value2;
    sign = ((end >= t) ? 1.0 : (-1.0));
    for (;;) {
        h = (sign * pendulum_loop_least(fabs(step->h), max_step));
        left = fabs((end - t));
        final = ((left <= (1.01 * fabs(h))) && (left <= (1.000001 * max_step)));
        if (final) {
            h = (end - t);
        } else {
            if (fabs(h) <= pendulum_loop_most(((16.0 * 2.220446049250313e-16) * fabs(t)), step->least)) {
                return ((counts->failed >= 0) ? 3 : 4);
            }
        }
        if ((counts->steps + counts->rejected) >= run->method.max_steps) {
            return 5;
        }
        counts->failed = (-1);
        error = pendulum_loop_try_explicit(run, h);
        if (error <= 1.0) {
            pendulum_loop_accept(run, error, h, final);
            return 0;
        }
        if (!(pendulum_loop_reject(run, error, h))) {
            return 3;
        }
    }
}

static int64_t pendulum_loop_step_plainly(pendulum_loop_run_memory *run)
{
    int64_t code = 0;
    code = pendulum_loop_find_step(run);
    if (code == 0) {
        run->counts.pending = 1;
        run->counts.dense_ready = 0;
    }
    return code;
}

static double pendulum_loop_find_stiffness(pendulum_loop_run_memory *run)
{
    int64_t n = 0;
    int64_t last = 0;
    double *y = 0;
    double *new = 0;
    double *stage = 0;
    double *k = 0;
    double *k_last = 0;
    double h = 0.0;
    double *atol = 0;
    double rtol = 0.0;
    double of_slopes = 0.0;
    double of_states = 0.0;
    int64_t i = 0;
    double scale = 0.0;
    double slopes = 0.0;
    double states = 0.0;
    n = run->model.n_continuous;
    last = run->method.last;
    y = run->state.y;
    new = run->state.y_new;
    double *const value1 = run->state.y_stage;
    double *const value2 = pendulum_loop_slope(run, (last - 1));
    double *const value3 = pendulum_loop_slope(run, last);
    stage = value1;
    k = value2;
    k_last = value3;
    h = run->step.h_done;
    atol = run->method.atol;
    rtol = run->method.rtol;
    of_slopes = 0.0;
    of_states = 0.0;
    pendulum_loop_combine(run, h, pendulum_loop_table_row(run, (last - 1)), (last - 1), stage);
    for (int64_t i4 = 0, end4 = n; i4 < end4; ++i4) {
        i = i4;
        scale = (1.0 / (atol[i] + (rtol * pendulum_loop_most(fabs(y[i]), fabs(new[i])))));
        slopes = ((k_last[i] - k[i]) * scale);
        states = ((new[i] - stage[i]) * scale);
        of_slopes = (of_slopes + (slopes * slopes));
        of_states = (of_states + (states * states));
    }
    if (of_states <= ((0.001 * 0.001) * (double)n)) {
        return 0.0;
    }
    return (fabs(h) * sqrt((of_slopes / of_states)));
}

static void pendulum_loop_watch_stiffness(pendulum_loop_run_memory *run)
{
    pendulum_loop_stiffness_watch *watch = 0;
    pendulum_loop_step_times *step = 0;
    int worth = 0;
    watch = &run->stiffness;
    step = &run->step;
    if ((watch->limit == 0.0) || (run->counts.pending != 1)) {
        return;
    }
    if ((watch->suspected == 0) && (pendulum_loop_remainder(run->counts.steps, 64) != 0)) {
        return;
    }
    const double value1 = pendulum_loop_find_stiffness(run);
    if (value1 > watch->limit) {
        if (watch->suspected == 0) {
            watch->since = step->t;
        }
        watch->clear = 0;
        watch->suspected = (watch->suspected + 1);
        if (watch->suspected >= 30) {
            watch->bound_steps = (watch->bound_steps + ((watch->suspected == 30) ? 30 : 1));
            if (watch->bound_steps == 30) {
                watch->first = watch->since;
            }
            worth = ((watch->worth != 0) && (fabs((step->t_end - step->t_new)) > ((double)(watch->worth) * fabs(step->h_done))));
            watch->wanted = (int64_t)worth;
        }
    } else {
        if (watch->suspected > 0) {
            watch->clear = (watch->clear + 1);
            if (watch->clear == 6) {
                watch->suspected = 0;
                watch->clear = 0;
            }
        }
    }
}

static int pendulum_loop_stalls(pendulum_loop_run_memory *run)
{
    pendulum_loop_step_times *step = 0;
    pendulum_loop_step_counts *counts = 0;
    double advance = 0.0;
    step = &run->step;
    counts = &run->counts;
    counts->stall_steps = (counts->stall_steps + 1);
    if (counts->stall_steps < 200000) {
        return 0;
    }
    counts->stall_steps = 0;
    const double value1 = fabs((step->t_new - step->stall_time));
    const double value2 = step->t_new;
    advance = value1;
    step->stall_time = value2;
    return (advance < (1e-06 * fabs((step->t_end - step->t_start))));
}

static double pendulum_loop_largest_change(pendulum_loop_run_memory *run)
{
    double *y = 0;
    double *new = 0;
    double farthest = 0.0;
    int64_t i = 0;
    y = run->state.y;
    new = run->state.y_new;
    farthest = 0.0;
    for (int64_t i1 = 0, end1 = run->model.u_at; i1 < end1; ++i1) {
        i = i1;
        farthest = pendulum_loop_most(farthest, fabs((new[i] - y[i])));
    }
    return farthest;
}

static void pendulum_loop_end_slope(pendulum_loop_run_memory *run)
{
    if (run->counts.dense_ready == 0) {
        pendulum_loop_rate(run, run->step.t_new, run->state.y_new, pendulum_loop_slope(run, run->method.last));
        run->counts.evaluations = (run->counts.evaluations + 1);
        run->counts.dense_ready = 1;
    }
}

static void pendulum_loop_find_weights(pendulum_loop_run_memory *run, double theta)
{
    pendulum_loop_method_table *method = 0;
    int64_t stages = 0;
    double *weights = 0;
    double *dense = 0;
    int64_t top = 0;
    double *highest = 0;
    int64_t j = 0;
    int64_t k = 0;
    double *numbers = 0;
    double factor = 0.0;
    method = &run->method;
    stages = run->method.stages;
    double *const value1 = method->weights;
    double *const value2 = pendulum_loop_table_row(run, (stages + 3));
    const int64_t value3 = (method->powers - 1);
    weights = value1;
    dense = value2;
    top = value3;
    highest = (dense + (top * stages));
    for (int64_t i4 = 0, end4 = stages; i4 < end4; ++i4) {
        j = i4;
        weights[j] = highest[j];
    }
    for (int64_t i5 = (top - 1), end5 = (-1); i5 > end5; --i5) {
        k = i5;
        double *const value6 = (dense + (k * stages));
        const double value7 = ((pendulum_loop_remainder(k, 2) == 0) ? (1.0 - theta) : theta);
        numbers = value6;
        factor = value7;
        for (int64_t i8 = 0, end8 = stages; i8 < end8; ++i8) {
            j = i8;
            weights[j] = (numbers[j] + (weights[j] * factor));
        }
    }
    for (int64_t i9 = 0, end9 = stages; i9 < end9; ++i9) {
        j = i9;
        weights[j] = (weights[j] * theta);
    }
}

static void pendulum_loop_sample(pendulum_loop_run_memory *run, double t, double *out)
{
    pendulum_loop_method_table *method = 0;
    pendulum_loop_step_times *step = 0;
    pendulum_loop_step_counts *counts = 0;
    double h = 0.0;
    int64_t stages = 0;
    double *nodes = 0;
    int64_t s = 0;
    method = &run->method;
    step = &run->step;
    counts = &run->counts;
    h = step->h_done;
    stages = method->stages;
    if (method->stepping == 1) {
        pendulum_loop_end_slope(run);
    }
    if (counts->dense_ready == 0) {
        nodes = pendulum_loop_table_row(run, stages);
        for (int64_t i1 = (method->last + 1), end1 = stages; i1 < end1; ++i1) {
            s = i1;
            pendulum_loop_combine(run, h, pendulum_loop_table_row(run, s), s, run->state.y_stage);
            pendulum_loop_rate(run, (step->t + (nodes[s] * h)), run->state.y_stage, pendulum_loop_slope(run, s));
            counts->evaluations = (counts->evaluations + 1);
        }
        counts->dense_ready = 1;
    }
    pendulum_loop_find_weights(run, ((t - step->t) / h));
    pendulum_loop_combine(run, h, method->weights, stages, out);
    pendulum_loop_copy_discrete(run, out);
}

static double pendulum_loop_distance_at(pendulum_loop_run_memory *run, double fraction)
{
    double t = 0.0;
    int64_t _ = 0;
    (void)_;
    double value = 0.0;
    t = (run->step.t + (fraction * run->step.h_done));
    pendulum_loop_sample(run, t, run->state.y_stage);
    for (int64_t i1 = 0, end1 = 2; i1 < end1; ++i1) {
        _ = i1;
        pendulum_loop_project(run, t, run->state.y_stage);
    }
    value = pendulum_loop_distance(run);
    double value2 = 0;
    if (fabs(value) < INFINITY) {
        value2 = value;
    } else {
        value2 = 0.0;
    }
    return value2;
}

static double pendulum_loop_find_smallest_in(pendulum_loop_run_memory *run, double start, double size, double before, double after)
{
    pendulum_loop_singularity_monitor *monitor = 0;
    double low = 0.0;
    double high = 0.0;
    double f_low = 0.0;
    double f_high = 0.0;
    double best = 0.0;
    double smallest = 0.0;
    double far_ = 0.0;
    int64_t _ = 0;
    (void)_;
    double left = 0.0;
    double right = 0.0;
    double bend = 0.0;
    double fraction = 0.0;
    double square = 0.0;
    monitor = &run->monitor;
    low = start;
    high = (start + size);
    f_low = (before * before);
    f_high = (after * after);
    best = (start + ((size * before) / (before + after)));
    smallest = pow(pendulum_loop_distance_at(run, best), (double)2);
    far_ = (monitor->farthest * monitor->farthest);
    for (int64_t i1 = 0, end1 = 8; i1 < end1; ++i1) {
        _ = i1;
        left = ((f_low - smallest) / (best - low));
        right = ((f_high - smallest) / (high - best));
        bend = ((left + right) / (high - low));
        if ((smallest < ((((0.01 * 0.001) * 0.01) * 0.001) * far_)) || !(bend > 0.0)) {
            break;
        }
        fraction = ((0.5 * (low + best)) + ((0.5 * left) / bend));
        if (!((low < fraction) && (fraction < high)) || (fabs((fraction - best)) < 1e-09) || ((smallest - (bend * pow((fraction - best), (double)2))) > ((0.1 * 0.1) * far_))) {
            break;
        }
        square = pow(pendulum_loop_distance_at(run, fraction), (double)2);
        if ((square < smallest) && (fraction < best)) {
            high = best;
            f_high = smallest;
            best = fraction;
            smallest = square;
        } else {
            if (square < smallest) {
                low = best;
                f_low = smallest;
                best = fraction;
                smallest = square;
            } else {
                if (fraction < best) {
                    low = fraction;
                    f_low = square;
                } else {
                    high = fraction;
                    f_high = square;
                }
            }
        }
    }
    if (sqrt(smallest) >= (monitor->near_share * monitor->farthest)) {
        return (-1.0);
    }
    monitor->near_share = (sqrt(smallest) / monitor->farthest);
    return best;
}

static void pendulum_loop_find_smallest(pendulum_loop_run_memory *run, double before, double reach, int64_t pieces)
{
    pendulum_loop_singularity_monitor *monitor = 0;
    double left = 0.0;
    double best = 0.0;
    int64_t k = 0;
    double right = 0.0;
    double fraction = 0.0;
    monitor = &run->monitor;
    left = before;
    best = (-1.0);
    for (int64_t i1 = 0, end1 = pieces; i1 < end1; ++i1) {
        k = i1;
        double value2 = 0;
        if (k == (pieces - 1)) {
            value2 = monitor->distance_new;
        } else {
            value2 = pendulum_loop_distance_at(run, (((double)k + 1.0) / (double)pieces));
        }
        right = value2;
        if ((left + right) < (reach / (double)pieces)) {
            fraction = pendulum_loop_find_smallest_in(run, ((double)k / (double)pieces), (1.0 / (double)pieces), left, right);
            best = ((fraction >= 0.0) ? fraction : best);
        }
        left = right;
    }
    if (best >= 0.0) {
        const double value3 = pendulum_loop_distance_at(run, best);
        monitor->near_share = (value3 / monitor->farthest);
        monitor->near_time = (run->step.t + (best * run->step.h_done));
    }
}

static int pendulum_loop_monitor_step(pendulum_loop_run_memory *run)
{
    pendulum_loop_singularity_monitor *monitor = 0;
    double before = 0.0;
    double after = 0.0;
    double h = 0.0;
    double turned = 0.0;
    double slope = 0.0;
    double steepest = 0.0;
    double reach = 0.0;
    int near_ = 0;
    double bend = 0.0;
    monitor = &run->monitor;
    before = monitor->distance;
    after = monitor->distance_new;
    const double value1 = run->step.h_done;
    const double value2 = pendulum_loop_largest_change(run);
    h = value1;
    turned = value2;
    slope = ((after - before) / h);
    monitor->farthest = pendulum_loop_most(monitor->farthest, after);
    monitor->distance = after;
    const double value3 = run->step.t_new;
    const double value4 = (after / monitor->farthest);
    monitor->near_time = value3;
    monitor->near_share = value4;
    steepest = pendulum_loop_most(pendulum_loop_most(monitor->steepest, fabs(slope)), fabs(monitor->trend));
    reach = pendulum_loop_most(((1.5 * steepest) * fabs(h)), ((2.0 * turned) * monitor->farthest));
    if ((before + after) < reach) {
        pendulum_loop_find_smallest(run, before, reach, (pendulum_loop_whole((turned / 0.4)) + 1));
    }
    near_ = (monitor->near_share < 0.001);
    if (near_ && (monitor->near_time != run->step.t_new)) {
        slope = ((after + before) / h);
    }
    monitor->steepest = pendulum_loop_most(monitor->steepest, fabs(slope));
    bend = ((monitor->span != 0.0) ? ((slope - monitor->slope) / (h + monitor->span)) : 0.0);
    monitor->trend = (slope + (bend * h));
    const double value5 = slope;
    const double value6 = h;
    monitor->slope = value5;
    monitor->span = value6;
    return near_;
}

static int64_t pendulum_loop_take_step(pendulum_loop_run_memory *run)
{
    pendulum_loop_step_times *step = 0;
    int64_t code = 0;
    step = &run->step;
    if (run->stiffness.wanted != 0) {
        return 15;
    }
    if (step->h == 0.0) {
        step->h = pendulum_loop_first_step(run);
    }
    pendulum_loop_begin_monitor(run);
    code = pendulum_loop_step_plainly(run);
    if (code != 0) {
        return code;
    }
    pendulum_loop_watch_stiffness(run);
    if (pendulum_loop_stalls(run)) {
        return 14;
    }
    if ((run->model.projection != 0) && pendulum_loop_monitor_step(run)) {
        return 6;
    }
    return 0;
}

static void pendulum_loop_copy(pendulum_loop_run_memory *run, double *source, double *target)
{
    int64_t i = 0;
    for (int64_t i1 = 0, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        target[i] = source[i];
    }
}

static int64_t pendulum_loop_write_row(pendulum_loop_run_memory *run, double t, int at_end)
{
    pendulum_loop_output_rows *output = 0;
    pendulum_loop_step_times *step = 0;
    double *row = 0;
    output = &run->output;
    step = &run->step;
    if (output->written >= output->room) {
        return 2;
    }
    row = (output->y + (output->written * run->model.n));
    if (at_end) {
        pendulum_loop_copy(run, run->state.y_new, row);
    } else {
        if (run->method.stepping != 2) {
            pendulum_loop_sample(run, t, row);
            pendulum_loop_project(run, t, row);
        } else {
            if (step->t_requested == t) {
                pendulum_loop_copy(run, run->state.between, row);
            } else {
                step->t_requested = t;
                return 13;
            }
        }
    }
    output->t[output->written] = t;
    output->written = (output->written + 1);
    output->next_time = (output->next_time + 1);
    return 0;
}

static int pendulum_loop_is_instant(pendulum_loop_run_memory *run)
{
    double end = 0.0;
    int due = 0;
    end = run->step.t_new;
    due = ((end == run->clocks.time) || ((run->events.present != 0) && (end == run->breaks.time)));
    return ((run->counts.pending == 2) || (due && (end != run->step.t_end)));
}

static double pendulum_loop_time_tolerance(pendulum_loop_run_memory *run, double t)
{
    if (run->method.stepping == 1) {
        return (1e-09 * run->step.h);
    }
    return (8.881784197001252e-16 * (fabs(run->step.origin) + fabs(t)));
}

static int64_t pendulum_loop_write_step(pendulum_loop_run_memory *run)
{
    pendulum_loop_output_rows *output = 0;
    double end = 0.0;
    double *times = 0;
    int instant = 0;
    int fixed = 0;
    double t = 0.0;
    int at_end = 0;
    double beyond = 0.0;
    int64_t code = 0;
    output = &run->output;
    end = run->step.t_new;
    if (output->sampled == 0) {
        return pendulum_loop_write_row(run, end, 1);
    }
    double *const value1 = output->times;
    const int value2 = pendulum_loop_is_instant(run);
    times = value1;
    instant = value2;
    fixed = (run->method.stepping == 1);
    while (output->next_time < output->n_times) {
        t = times[output->next_time];
        at_end = (t == end);
        if (fixed) {
            beyond = ((t - end) / run->step.h);
            if (beyond > (instant ? (-1e-09) : 1e-09)) {
                return 0;
            }
            at_end = !(beyond < (-1e-09));
        } else {
            if ((((t - end) * run->step.h_done) > 0.0) || (instant && (t >= (end - pendulum_loop_time_tolerance(run, t))))) {
                return 0;
            }
        }
        code = pendulum_loop_write_row(run, t, at_end);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

static void pendulum_loop_finish_step(pendulum_loop_run_memory *run)
{
    double *y = 0;
    double *new = 0;
    double *k = 0;
    double *k_last = 0;
    int64_t i = 0;
    double *const value1 = run->state.y;
    double *const value2 = run->state.y_new;
    double *const value3 = run->state.slopes;
    double *const value4 = pendulum_loop_slope(run, run->method.last);
    y = value1;
    new = value2;
    k = value3;
    k_last = value4;
    if ((run->method.stepping == 1) && !(pendulum_loop_is_instant(run))) {
        pendulum_loop_end_slope(run);
    }
    for (int64_t i5 = 0, end5 = run->model.n_continuous; i5 < end5; ++i5) {
        i = i5;
        y[i] = new[i];
        k[i] = k_last[i];
    }
    run->step.t = run->step.t_new;
    run->counts.pending = ((run->counts.pending == 2) ? 3 : 0);
}

static int pendulum_loop_tell_parts(pendulum_loop_run_memory *run)
{
    double *out = 0;
    int64_t k = 0;
    out = run->state.y_stage;
    pendulum_loop_run_kernel(run, run->model.completed, pendulum_loop_law_time(run, run->step.t), run->state.y, run->model.x, out);
    if (out[0] == 0.0) {
        return 1;
    }
    if (out[0] < 0.0) {
        if (run->counts.pending == 0) {
            for (int64_t i1 = 0, end1 = run->events.count; i1 < end1; ++i1) {
                k = i1;
                run->events.triggered[k] = 0;
            }
            run->counts.pending = 3;
        }
        run->events.triggered[(pendulum_loop_whole((-out[0])) - 1)] = 2;
        return 1;
    }
    int64_t value2 = 0;
    if (out[0] == out[0]) {
        value2 = pendulum_loop_whole(out[0]);
    } else {
        value2 = 0;
    }
    run->counts.failed = value2;
    return 0;
}

static int64_t pendulum_loop_advance(pendulum_loop_run_memory *run)
{
    pendulum_loop_step_counts *counts = 0;
    pendulum_loop_step_times *step = 0;
    int64_t budget = 0;
    int64_t code = 0;
    counts = &run->counts;
    step = &run->step;
    budget = run->counts.budget;
    if ((counts->started == 0) && !(pendulum_loop_begin_plain(run))) {
        return 3;
    }
    for (;;) {
        if (counts->pending == 0) {
            if (step->t == step->t_end) {
                return 0;
            }
            if (budget <= 0) {
                return 1;
            }
            if (step->t == run->breaks.time) {
                if (!(pendulum_loop_begin_plain(run))) {
                    return 3;
                }
                continue;
            }
            budget = (budget - 1);
            code = pendulum_loop_take_step(run);
            if (code != 0) {
                return code;
            }
        }
        code = pendulum_loop_write_step(run);
        if (code != 0) {
            return code;
        }
        pendulum_loop_finish_step(run);
        if ((run->model.completed != 0) && !(pendulum_loop_tell_parts(run))) {
            return 16;
        }
    }
}

static const double pendulum_a_method_table[] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.075, 0.225, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.9777777777777777, -3.7333333333333334, 3.5555555555555554, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.0, 2.9525986892242035, -11.595793324188385, 9.822892851699436, -0.2908093278463649, 0.0, 0.0, 0.0, 0.0,
    0.0, 2.8462752525252526, -10.757575757575758, 8.906422717743473, 0.2784090909090909, -0.2735313036020583, 0.0,
    0.0, 0.0, 0.0, 0.09114583333333333, 0.0, 0.44923629829290207, 0.6510416666666666, -0.322376179245283,
    0.13095238095238096, 0.0, 0.0, 0.0, 0.1152251356731428, 0.0, 0.2650422655122475, -0.11083056522238172,
    0.09145252361484196, -0.054572017228193215, 0.04368265765034256, 0.0, 0.0, 0.0867602919231428, 0.0,
    0.46113390971709933, 0.17334912227761828, -0.049264678625724145, 0.002588697057521086, -0.024567342349657448,
    0.0, 0.0, 0.0, 0.2, 0.3, 0.8, 0.8888888888888888, 1.0, 1.0, 0.35, 0.65, 0.0012326388888888888, 0.0,
    -0.0042527702905061394, 0.03697916666666667, -0.05086379716981132, 0.0419047619047619, -0.025, 0.0, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.09114583333333333, 0.0, 0.44923629829290207, 0.6510416666666666,
    -0.322376179245283, 0.13095238095238096, 0.0, 0.0, 0.0, 0.9088541666666666, 0.0, -0.44923629829290207,
    -0.6510416666666666, 0.322376179245283, -0.13095238095238096, 0.0, 0.0, 0.0, -0.8177083333333334, 0.0,
    0.8984725965858041, 1.3020833333333333, -0.644752358490566, 0.2619047619047619, -1.0, 0.0, 0.0,
    -2.0273476523476526, 0.0, 9.801519235481505, 14.204545454545464, -7.033662092624359, 2.857142857142859,
    -1.8181818181818197, -4.329004329004335, -11.655011655011661, 1.8568931068931076, 0.0, -19.60303847096301,
    -28.409090909090924, 14.067324185248719, -5.714285714285717, 5.834165834165837, 15.984015984015993,
    15.984015984015993,
};
static const double pendulum_a_method_atol[] = {
    1e-10, 1e-10,
};
static const double pendulum_default_p[] = {
    1.0,
};
static const double pendulum_default_inputs[] = {
    0.0,
};
static const double pendulum_start[] = {
    0.0, 0.0,
};
static void pendulum_lay_out(pendulum_model *m)
{
    m->run.model.rate = 1;
    m->run.model.n = 2;
    m->run.model.n_continuous = 2;
    m->run.model.u_at = 1;
    m->run.model.z_at = 2;
    m->run.model.lanes = 1;
    m->run.method.stages = 9;
    m->run.method.last = 6;
    m->run.method.powers = 5;
    m->run.method.order = 5;
    m->run.method.estimates = 1;
    m->run.method.damping = 0.04;
    m->run.method.rtol = 1e-08;
    m->run.method.max_step = INFINITY;
    m->run.method.max_steps = 100000000;
    m->run.step.least = 8.673617379884035e-19;
    m->run.step.t_end = 1.0;
    m->run.step.t_requested = NAN;
    m->run.step.previous_error = 0.0001;
    m->run.counts.failed = -1;
    m->run.output.sampled = 1;
    m->run.output.room = 1;
    m->run.breaks.time = INFINITY;
    m->run.breaks.earliest = -INFINITY;
    m->run.breaks.latest = INFINITY;
    m->run.clocks.time = INFINITY;
    m->run.stiffness.limit = 3.25;
    m->run.columns.n_state = 2;
    m->run.columns.n_measured = 2;
    pendulum_copy(m->a_method_table, pendulum_a_method_table, 153);
    pendulum_copy(m->a_method_atol, pendulum_a_method_atol, 2);
}

void pendulum_bind(pendulum_model *m)
{
    m->run.model.quaternions = m->a_model_quaternions;
    m->run.model.time = m->a_model_time;
    m->run.model.x = m->a_model_x;
    m->run.model.projected = m->a_model_projected;
    m->run.method.table = m->a_method_table;
    m->run.method.weights = m->a_method_weights;
    m->run.method.atol = m->a_method_atol;
    m->run.state.y = m->a_state_y;
    m->run.state.y_new = m->a_state_y_new;
    m->run.state.y_stage = m->a_state_y_stage;
    m->run.state.between = m->a_state_between;
    m->run.state.slopes = m->a_state_slopes;
    m->run.output.times = m->a_output_times;
    m->run.output.t = m->a_output_t;
    m->run.output.y = m->a_output_y;
    m->run.breaks.times = m->a_breaks_times;
    m->run.clocks.ticks = m->a_clocks_ticks;
    m->run.clocks.in_python = m->a_clocks_in_python;
    m->run.events.modes = m->a_events_modes;
    m->run.events.values = m->a_events_values;
    m->run.events.of_state = m->a_events_of_state;
    m->run.events.g = m->a_events_g;
    m->run.events.g_before = m->a_events_g_before;
    m->run.events.g_half = m->a_events_g_half;
    m->run.events.armed = m->a_events_armed;
    m->run.events.triggered = m->a_events_triggered;
    m->run.events.active = m->a_events_active;
    m->run.events.mask = m->a_events_mask;
    m->run.events.changed = m->a_events_changed;
    m->run.events.list_numbers = m->a_events_list_numbers;
    m->run.events.list_functions = m->a_events_list_functions;
    m->run.bounds.functions = m->a_bounds_functions;
    m->run.bounds.covered = m->a_bounds_covered;
    m->run.bounds.ranges = m->a_bounds_ranges;
    m->run.bounds.piece = m->a_bounds_piece;
    m->run.bounds.out = m->a_bounds_out;
    m->run.bounds.before = m->a_bounds_before;
    m->run.bounds.after = m->a_bounds_after;
    m->run.bounds.laws_before = m->a_bounds_laws_before;
    m->run.bounds.laws_after = m->a_bounds_laws_after;
    m->run.bounds.least = m->a_bounds_least;
    m->run.bounds.most = m->a_bounds_most;
    m->run.bounds.widths = m->a_bounds_widths;
    m->run.bounds.box = m->a_bounds_box;
    m->run.bounds.box_out = m->a_bounds_box_out;
    m->run.newton.columns.time = m->a_newton_columns_time;
    m->run.newton.columns.y = m->a_newton_columns_y;
    m->run.newton.columns.x = m->a_newton_columns_x;
    m->run.newton.columns.out = m->a_newton_columns_out;
    m->run.newton.change = m->a_newton_change;
    m->run.newton.change_back = m->a_newton_change_back;
    m->run.newton.slopes = m->a_newton_slopes;
    m->run.newton.eigenvalues = m->a_newton_eigenvalues;
    m->run.newton.jacobian = m->a_newton_jacobian;
    m->run.newton.pattern = m->a_newton_pattern;
    m->run.newton.eliminated = m->a_newton_eliminated;
    m->run.newton.row_starts = m->a_newton_row_starts;
    m->run.newton.row_columns = m->a_newton_row_columns;
    m->run.newton.part = m->a_newton_part;
    m->run.newton.parents = m->a_newton_parents;
    m->run.newton.below_starts = m->a_newton_below_starts;
    m->run.newton.below_ends = m->a_newton_below_ends;
    m->run.newton.below_rows = m->a_newton_below_rows;
    m->run.newton.below_many = m->a_newton_below_many;
    m->run.newton.colors = m->a_newton_colors;
    m->run.newton.kept = m->a_newton_kept;
    m->run.newton.place = m->a_newton_place;
    m->run.newton.block_of = m->a_newton_block_of;
    m->run.newton.block_starts = m->a_newton_block_starts;
    m->run.newton.block_entries = m->a_newton_block_entries;
    m->run.newton.is_sparse = m->a_newton_is_sparse;
    m->run.newton.order = m->a_newton_order;
    m->run.newton.rank = m->a_newton_rank;
    m->run.newton.degree = m->a_newton_degree;
    m->run.newton.fill_starts = m->a_newton_fill_starts;
    m->run.newton.fill_rows = m->a_newton_fill_rows;
    m->run.newton.across_starts = m->a_newton_across_starts;
    m->run.newton.across_columns = m->a_newton_across_columns;
    m->run.newton.across_entries = m->a_newton_across_entries;
    m->run.newton.direct = m->a_newton_direct;
    m->run.newton.through = m->a_newton_through;
    m->run.newton.factors = m->a_newton_factors;
    m->run.newton.pivots = m->a_newton_pivots;
    m->run.newton.x = m->a_newton_x;
    m->run.newton.z = m->a_newton_z;
    m->run.newton.w = m->a_newton_w;
    m->run.newton.f = m->a_newton_f;
    m->run.newton.change_of_w = m->a_newton_change_of_w;
    m->run.newton.scale = m->a_newton_scale;
    m->run.newton.inverse_scale = m->a_newton_inverse_scale;
    m->run.newton.squares = m->a_newton_squares;
    m->run.newton.extension = m->a_newton_extension;
    m->run.newton.rounding = m->a_newton_rounding;
    m->run.newton.noise = m->a_newton_noise;
    m->run.newton.slope_before = m->a_newton_slope_before;
    m->run.columns.x = m->a_columns_x;
    m->run.columns.out = m->a_columns_out;
    m->run.columns.before = m->a_columns_before;
    m->run.columns.shifts = m->a_columns_shifts;
    m->run.columns.break_shifts = m->a_columns_break_shifts;
    m->run.courses.entries = m->a_courses_entries;
    m->run.courses.starts = m->a_courses_starts;
    m->run.courses.at = m->a_courses_at;
    m->run.courses.times = m->a_courses_times;
    m->run.courses.values = m->a_courses_values;
    m->run.courses.slopes = m->a_courses_slopes;
    m->run.courses.g = m->a_courses_g;
    m->run.model.p = m->p;
    m->run.model.inputs = m->inputs;
    m->run.model.work = m->work;
    m->run.newton.columns.p = m->p;
    m->run.newton.columns.inputs = m->inputs;
    m->run.newton.columns.work = m->work;
}

static int pendulum_find_start(pendulum_model *m)
{
    int changed = pendulum_differ(m->inputs, pendulum_default_inputs, KN_SIZE(m->inputs));
    if (m->run.step.origin != 0.0) changed = 1;
    pendulum_copy(m->run.state.y, pendulum_start, 2);
    if (changed) {
        KN_CLOSE_LOOPS(m);
    }
    return 0;
}

/* -- the functions of the model ----------------------------------------------------------------------------------- */

static double KN(absolute)(const KN(model) *m, double t)
{
    return t == m->run.step.t_end ? m->t_wanted : m->run.step.origin + t;
}

static void KN(note_arguments)(KN(model) *m)
{
    KN(copy)(m->p_seen, m->p, KN_SIZE(m->p));
    KN(copy)(m->inputs_seen, m->inputs, KN_SIZE(m->inputs));
}

static int KN(arguments_changed)(const KN(model) *m)
{
    return KN(differ)(m->p_seen, m->p, KN_SIZE(m->p)) || KN(differ)(m->inputs_seen, m->inputs, KN_SIZE(m->inputs));
}

static void KN(clear)(void *from, const void *end)
{
    for (unsigned char *p = (unsigned char *)from; p != (const unsigned char *)end; p++) *p = 0;
}

/* A time at a tick of the clocks gets the time of the tick, to the last bit; the result counts from the start. */
static double KN(align)(const KN(model) *m, double at, double margin)
{
    if (m->run.clocks.count) {
        const double tick = (double)m->run.clocks.numerator / (double)m->run.clocks.denominator;
        const double k = floor(at / tick + 0.5);
        const double time = k * (double)m->run.clocks.numerator / (double)m->run.clocks.denominator;
        if (fabs(at - time) <= fmin(margin, 1e-3 * tick))
            return m->run.clocks.base_time + (k - (double)m->run.clocks.base) * (double)m->run.clocks.numerator
                   / (double)m->run.clocks.denominator;
    }
    return at - m->run.step.origin;
}

/* The end of a step in the time of the loop.  A caller adds up his steps, with their rounding: a tick or a break that
   is this near is at the end, and belongs to the next step. */
static double KN(find_end)(const KN(model) *m, double t_end)
{
    const double near = 1e-9 * fmax(1.0, fabs(t_end));
    const double end = KN(align)(m, t_end, near);
#if KN_HAS_BREAKS
    for (int64_t k = 1; k < m->run.breaks.count; k++)
        if (end != m->run.breaks.times[k] && fabs(end - m->run.breaks.times[k]) <= near) return m->run.breaks.times[k];
#endif
    return end;
}

#if KN_HAS_BREAKS
/* The present time and the next breaks after it. */
static void KN(find_breaks)(KN(model) *m)
{
    const double now = m->run.step.origin + m->run.step.t;
    double at = now;
    int64_t n = 0;
    m->run.breaks.margin = 16.0 * 2.220446049250313e-16 * (fabs(now) + m->search.look);
    m->run.breaks.times[n++] = m->run.step.t;
    while (n < KN_N_BREAKS) {
        at = KN_NEXT_BREAK(&m->search, at, INFINITY);
        if (!(at < INFINITY)) break;
        const double since = KN(align)(m, at, m->run.breaks.margin);
        if (since > m->run.breaks.times[n - 1] + 2.0 * m->run.breaks.margin) m->run.breaks.times[n++] = since;
    }
    m->run.breaks.count = n;
    m->run.breaks.next = 0;
}
#endif

/* Set the time range of expressions anew where breaks were found anew. */
static void KN(refresh_breaks)(KN(model) *m)
{
#if KN_HAS_BREAKS
    KN(find_breaks)(m);
    KN_BEGIN_PIECE(&m->run);
#else
    (void)m;
#endif
}

/* The last break that is known, in the time of the loop; infinite where all are. */
static double KN(horizon)(const KN(model) *m)
{
#if KN_HAS_BREAKS
    if (m->run.breaks.count == KN_N_BREAKS) return m->run.breaks.times[KN_N_BREAKS - 1];
#endif
    (void)m;
    return INFINITY;
}

/* Make all changes of the present instant; a status other than 0 says why that is not possible. */
static int KN(make_changes)(KN(model) *m)
{
#if KN_EVENTFUL
    KN(loop_run_memory) *run = &m->run;
    while (run->events.present) {
        const int64_t code = KN_HANDLE_INSTANT(run);
        if (code == KN_EVENTS_FULL) {
            run->events.listed = 0;
            continue;
        }
        if (code != KN_DONE) return (int)code;
        run->counts.pending = KN_READY;
        if (run->step.t != run->clocks.time) return 0;
        run->counts.pending = KN_TICK;
    }
#endif
    return KN_START(&m->run) ? 0 : KN_NOT_FINITE;
}

void KN(defaults)(KN(model) *m)
{
    KN(clear)(m, m + 1);
    KN(copy)(m->p, KN(default_p), KN_SIZE(m->p));
    KN(copy)(m->inputs, KN(default_inputs), KN_SIZE(m->inputs));
    m->rtol = KN_RTOL;
    KN(lay_out)(m);
    KN(bind)(m);
}

void KN(set_tolerance)(KN(model) *m, double rtol) { m->rtol = rtol; }

int KN(init)(KN(model) *m, double t0)
{
    KN(loop_run_memory) *run = &m->run;
    KN(clear)(&m->t_wanted, m + 1);
    KN(lay_out)(m);
    KN(bind)(m);
    run->step.origin = t0;
    m->t_wanted = t0;
    run->method.rtol = m->rtol;
    for (int k = 0; k < KN_N_TOLERANCES; k++) run->method.atol[k] *= m->rtol / KN_RTOL;
#if KN_EVENTFUL
    if (run->clocks.count) {
        const double tick = (double)run->clocks.numerator / (double)run->clocks.denominator;
        double k = ceil(t0 / tick);
        if (k < 0.0) k = 0.0;
        while (k > 0.0 && (k - 1.0) * (double)run->clocks.numerator / (double)run->clocks.denominator >= t0) k -= 1.0;
        run->clocks.base = run->clocks.first = (int64_t)k;
        run->clocks.base_time = k * (double)run->clocks.numerator / (double)run->clocks.denominator - t0;
    }
#endif
    run->step.t_end = 1.0;
    KN(note_arguments)(m);
#if KN_HAS_BREAKS
    KN(find_breaks)(m);
#endif
    const int found = KN(find_start)(m);
    if (found) return found;
#if KN_EVENTFUL
    if (!KN_BEGIN(run)) return KN_NOT_FINITE;
    if (run->events.present) return KN(make_changes)(m);
    return 0;
#else
    return KN_BEGIN_PLAIN(run) ? 0 : KN_NOT_FINITE;
#endif
}

double KN(time)(const KN(model) *m) { return KN(absolute)(m, m->run.step.t); }
double *KN(state)(KN(model) *m) { return m->run.state.y; }

void KN(rate)(KN(model) *m, double *rates)
{
    KN_RATE(&m->run, m->run.step.t, m->run.state.y, m->scratch);
    KN(copy)(rates, m->scratch, KN_N_CONTINUOUS);
}

void KN(outputs)(KN(model) *m, double *out)
{
#if KN_N_OUTPUTS
    KN_RUN_KERNEL(&m->run, KN_EVALUATE, KN_LAW_TIME(&m->run, m->run.step.t), m->run.state.y, m->run.model.x, out);
#else
    (void)m;
    (void)out;
#endif
}

void KN(project)(KN(model) *m)
{
    for (int k = 0; k < 20; k++) {
        double *y = m->run.state.y, moved = 0.0;
        KN(copy)(m->scratch, y, KN_SIZE(m->scratch));
        KN_PROJECT(&m->run, m->run.step.t, y);
        for (int i = 0; i < KN_N_POSITIONS; i++) moved = fmax(moved, fabs(y[i] - m->scratch[i]));
        if (!(moved > 1e-13)) break;
    }
}

double KN(drift)(KN(model) *m)
{
    double *y = m->run.state.y, moved = 0.0;
    KN(copy)(m->scratch, y, KN_SIZE(m->scratch));
    KN_PROJECT(&m->run, m->run.step.t, m->scratch);
    for (int i = 0; i < KN_N_CONTINUOUS; i++) {
        const double size = i < KN_N_POSITIONS ? 1.0 : fmax(1.0, fabs(y[i]));
        moved = fmax(moved, fabs(y[i] - m->scratch[i]) / size);
    }
    return moved;
}

int KN(advance)(KN(model) *m, double t_end)
{
    KN(loop_run_memory) *run = &m->run;
#if KN_N_STATES == 0
    run->step.t = run->step.t_end = t_end - run->step.origin;
    m->t_wanted = t_end;
    return 0;
#endif
    if (KN(arguments_changed)(m)) {
        KN(note_arguments)(m);
        KN(refresh_breaks)(m);
        KN_CLOSE_LOOPS(m);
#if KN_EVENTFUL
        if (!KN_PASS_BREAK(run)) return KN_NOT_FINITE;
#else
        if (!KN_BEGIN_PLAIN(run)) return KN_NOT_FINITE;
#endif
    }
    /* bounds on the number of steps hold for each call, which may be one of very many */
    run->method.max_steps = run->counts.steps + run->counts.rejected + KN_MOST_STEPS;
    run->step.t_start = run->step.stall_time = run->step.t;
    run->counts.stall_steps = 0;
    for (;;) {
        const double limit = KN(horizon)(m), end = KN(find_end)(m, t_end);
        const int is_end = !(limit < end);
        run->step.t_end = is_end ? end : limit;
        m->t_wanted = is_end ? t_end : run->step.origin + limit;
        run->step.least = 8.673617379884035e-19 * fabs(run->step.t_end);
        run->counts.budget = KN_MOST_STEPS;
        if (!(run->step.t < run->step.t_end)) return 0;
#if KN_FIXED
        /* equal steps to the end, none longer than that of the method */
        run->method.max_steps = (int64_t)ceil((run->step.t_end - run->step.t) / KN_FIXED_STEP * (1.0 - 1e-10));
        if (run->method.max_steps < 1) run->method.max_steps = 1;
        run->step.t_start = run->step.t;
        run->step.h = (run->step.t_end - run->step.t) / (double)run->method.max_steps;
        run->counts.steps = run->counts.off_grid = 0;
#endif
        const int64_t code = KN_ADVANCE(run);
        if (code == KN_DONE && is_end) return 0;
        if (code == KN_EVENTS_FULL) run->events.listed = 0;
        else if (code == KN_DONE) {
#if KN_HAS_BREAKS
            KN(find_breaks)(m); /* the present break is the first of them, and is passed next */
#endif
        } else if (code != KN_PAUSED && code != KN_NEAR_SINGULAR) return (int)code;
    }
}

int KN(step)(KN(model) *m, double dt) { return KN(advance)(m, KN(time)(m) + dt); }

void KN(set_time)(KN(model) *m, double t)
{
    m->run.step.t = t - m->run.step.origin;
    m->run.step.t_end = m->run.step.t;
    m->t_wanted = t;
}

void KN(indicators)(KN(model) *m, double *g)
{
#if KN_N_EVENTS
    KN(loop_run_memory) *run = &m->run;
    KN_EVALUATE_EVENTS(run, run->step.t, run->state.y);
    for (int64_t k = 0; k < KN_N_EVENTS; k++)
        g[k] = KN_IS_ACTIVE(run, k, run->state.y) ? run->events.g[k] + (run->events.armed[k] ? 0.0 : 1e-9) : 1.0;
#else
    (void)m;
    (void)g;
#endif
}

void KN(arm)(KN(model) *m)
{
#if KN_N_EVENTS
    KN_EVALUATE_EVENTS(&m->run, m->run.step.t, m->run.state.y);
    KN_FIND_ACTIVE(&m->run, m->run.state.y);
    KN_ARM(&m->run);
#else
    (void)m;
#endif
}

int KN(update)(KN(model) *m)
{
    KN(loop_run_memory) *run = &m->run;
    const double near = 1e-9 * fmax(1.0, fabs(run->step.origin + run->step.t));
    int broken = 0;
    if (fabs(run->step.t - run->clocks.time) <= near) run->step.t = run->clocks.time;
    if (fabs(run->step.t - run->breaks.time) <= near) {
        if (run->step.t != run->clocks.time) run->step.t = run->breaks.time;
        broken = 1;
    }
    if (KN(arguments_changed)(m)) {
        KN(note_arguments)(m);
        KN_CLOSE_LOOPS(m);
        broken = 1;
    }
    if (broken) KN(refresh_breaks)(m);
#if KN_EVENTFUL
    if (run->events.present) {
        int64_t any = 0;
        run->events.consistent = 0;
        run->counts.pending = run->step.t == run->clocks.time ? KN_TICK : KN_MODES;
#if KN_N_EVENTS
        KN_EVALUATE_EVENTS(run, run->step.t, run->state.y);
        KN_MARK_TRIGGERED(run, run->state.y);
        for (int64_t k = 0; k < KN_N_EVENTS; k++) any |= run->events.triggered[k];
#endif
        if (any) run->counts.pending = KN_EVENT;
    }
#endif
    return KN(make_changes)(m);
}

double KN(next_time)(KN(model) *m, double until)
{
    const double next = fmin(m->run.clocks.time, m->run.breaks.time) + m->run.step.origin;
    return next <= until ? next : INFINITY;
}

#if KN_HAS_JACOBIAN
void KN(jacobian)(KN(model) *m, double *J)
{
    const int columns = KN_N_CONTINUOUS + KN_N_INPUTS;
    for (int c = 0; c < columns; c++) {
        const int at = KN_N_EFFORTS + (c < KN_N_CONTINUOUS ? c : KN_N_STATES + c - KN_N_CONTINUOUS);
        m->direction[at] = 1.0;
        KN_RUN_KERNEL(&m->run, KN_ALONG, KN_LAW_TIME(&m->run, m->run.step.t), m->run.state.y, m->direction, m->along);
        m->direction[at] = 0.0;
        for (int r = 0; r < KN_N_CONTINUOUS; r++) J[r * columns + c] = m->along[r];
        for (int r = 0; r < KN_N_OUTPUTS; r++) J[(KN_N_CONTINUOUS + r) * columns + c] = m->along[KN_N_STATES + r];
    }
}
#endif

const char *KN(status_text)(int status)
{
    switch (status) {
    case 0: return "all is well";
    case 3: return "a value is not finite: a law divides by zero or leaves its range";
    case 4: return "the step became too small: the motion is too abrupt to be followed";
    case 5: return "too many steps";
    case 7: return "a step of fixed length ended too far from the constraints";
    case 10: return "no modes are consistent: components change without end";
    case 11: return "events follow each other without end";
    case 14: return "the simulation stalls: very many steps hardly advance it";
    case 15: return "stability bounds the steps; export with the method for stiff systems";
    case 31: return "with these parameters the initial values of the network contradict each other";
    case 30: return "with these parameters the loops do not close near the start of the model";
    case 32: return "with these parameters the given speeds would tear the loops: leave one of them free";
    default: return "an unknown status";
    }
}

#undef KN
#undef KN_N_STATES
#undef KN_N_CONTINUOUS
#undef KN_N_POSITIONS
#undef KN_N_INPUTS
#undef KN_N_OUTPUTS
#undef KN_N_EVENTS
#undef KN_N_EFFORTS
#undef KN_EVENTFUL
#undef KN_HAS_BREAKS
#undef KN_HAS_JACOBIAN
#undef KN_N_BREAKS
#undef KN_MOST_STEPS
#undef KN_FIXED_STEP
#undef KN_FIXED
#undef KN_RTOL
#undef KN_N_TOLERANCES
#undef KN_EVALUATE
#undef KN_ALONG
#undef KN_SIZE
#undef KN_CLOSE_LOOPS
#undef KN_DONE
#undef KN_PAUSED
#undef KN_NOT_FINITE
#undef KN_NEAR_SINGULAR
#undef KN_EVENTS_FULL
#undef KN_READY
#undef KN_EVENT
#undef KN_TICK
#undef KN_MODES
#undef KN_ADVANCE
#undef KN_BEGIN_PLAIN
#undef KN_START
#undef KN_RATE
#undef KN_RUN_KERNEL
#undef KN_LAW_TIME
#undef KN_PROJECT
#undef KN_BEGIN_PIECE
