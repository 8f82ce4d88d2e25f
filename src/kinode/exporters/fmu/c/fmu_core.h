/* One instance of an FMU, for both versions of the interface: state machine, values by reference, events.

   The model itself is the C library that kinode writes; fmu_config.h names its parts.  All that changes during a
   simulation is in the record `Changing`, so that a saved state is a copy of it.  No function of this file allocates. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define FMU_UNUSED __attribute__((unused))
#else
#define FMU_UNUSED
#endif

#if defined(_WIN32)
#define FACE_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define FACE_EXPORT __attribute__((visibility("default")))
#else
#define FACE_EXPORT
#endif

enum { FMU_OK = 0, FMU_FAILED = 1, FMU_STOPPED = 2 }; /* stopped: the step was not completed, values are valid */

enum fmu_mode { INSTANTIATED = 1, INITIALIZING = 2, EVENTS = 4, CONTINUOUS = 8, STEPPING = 16, TERMINATED = 32, BROKEN = 64 };

#define AT_LEAST_ONE(n) ((n) > 0 ? (n) : 1)

typedef struct {
    MODEL model;
    double start_time;
    double given[AT_LEAST_ONE(N_CONTINUOUS)]; /* initial values that the importer has set */
    unsigned char is_given[AT_LEAST_ONE(N_CONTINUOUS)];
    int unsettled; /* the start is to be found anew */
    int drifted;   /* the importer was asked for an event, to project the state */
    int changed;   /* parameters or inputs have changed since the last event */
    int mode;
    int steps_itself; /* co-simulation */
} Changing;

typedef struct {
    Changing now;
    double rates[AT_LEAST_ONE(N_CONTINUOUS)];
    double outputs[AT_LEAST_ONE(N_OUTPUTS)];
    double indicators[AT_LEAST_ONE(N_EVENTS)];
#if HAS_JACOBIAN
    double jacobian[AT_LEAST_ONE((N_CONTINUOUS + N_OUTPUTS) * (N_CONTINUOUS + N_INPUTS))];
    int jacobian_known;
#endif
    int rates_known, outputs_known;
    void (*say)(void *whom, const char *text);
    void *whom;
    char text[512];
} Fmu;

/* -- words ------------------------------------------------------------------------------------------------------- */
static char *put_text(char *to, const char *end, const char *text) {
    while (*text && to < end) *to++ = *text++;
    *to = 0;
    return to;
}

/* A number in nine digits, without the C library's formatted output, which not every target has. */
static char *put_number(char *to, const char *end, double x) {
    char digits[24];
    int n = 0, power = 0;
    if (x != x) return put_text(to, end, "nan");
    if (x < 0.0) {
        to = put_text(to, end, "-");
        x = -x;
    }
    if (x > 1e300) return put_text(to, end, "inf");
    if (x != 0.0) {
        while (x >= 1e9) { x /= 10.0; power++; }
        while (x < 1e8) { x *= 10.0; power--; }
    }
    int64_t whole = (int64_t)(x + 0.5);
    while (whole && whole % 10 == 0) { whole /= 10; power++; }
    do { digits[n++] = (char)('0' + whole % 10); whole /= 10; } while (whole);
    int before = n + power; /* digits before the point */
    if (before > 15 || before < -5) before = 1;
    int exponent = n + power - before;
    if (before <= 0) {
        to = put_text(to, end, "0.");
        for (int k = before; k < 0; k++) to = put_text(to, end, "0");
    }
    for (int k = 0; k < n || k < before; k++) {
        char one[2] = {k < n ? digits[n - 1 - k] : '0', 0};
        if (k == before && k > 0) to = put_text(to, end, ".");
        to = put_text(to, end, one);
    }
    if (exponent) {
        to = put_text(to, end, "e");
        to = put_number(to, end, (double)exponent);
    }
    return to;
}

static void tell(Fmu *fmu, const char *text) {
    if (fmu->say) fmu->say(fmu->whom, text);
}

static int refuse(Fmu *fmu, const char *text) {
    tell(fmu, text);
    return FMU_FAILED;
}

/* Say why the model could not go on, and more where there is more to say. */
static int fail_at(Fmu *fmu, const char *doing, int status, const char *more) {
    char *to = fmu->text;
    const char *end = fmu->text + sizeof fmu->text - 1;
    to = put_text(to, end, doing);
    to = put_text(to, end, " at t = ");
    to = put_number(to, end, NAME(time)(&fmu->now.model));
    to = put_text(to, end, " s: ");
    to = put_text(to, end, NAME(status_text)(status));
    put_text(to, end, more);
    tell(fmu, fmu->text);
    return FMU_FAILED;
}

/* -- life -------------------------------------------------------------------------------------------------------- */
static void forget(Fmu *fmu) {
    fmu->rates_known = fmu->outputs_known = 0;
#if HAS_JACOBIAN
    fmu->jacobian_known = 0;
#endif
}

static void begin_anew(Fmu *fmu) {
    int steps_itself = fmu->now.steps_itself;
    memset(&fmu->now, 0, sizeof fmu->now);
    fmu->now.steps_itself = steps_itself;
    fmu->now.mode = INSTANTIATED;
    fmu->now.unsettled = 1;
    NAME(defaults)(&fmu->now.model);
    forget(fmu);
}

/* Whether a call is allowed now; a few words say what was called if it is not. */
static int allowed(Fmu *fmu, int modes, const char *call) {
    if (fmu->now.mode & modes) return 1;
    char *to = put_text(fmu->text, fmu->text + sizeof fmu->text - 1, call);
    put_text(to, fmu->text + sizeof fmu->text - 1,
             fmu->now.mode == BROKEN ? ": an error before ended this instance; reset it" : ": not allowed in this state");
    tell(fmu, fmu->text);
    return 0;
}

/* Find the start that follows from parameters, inputs and initial values, if one of them has changed. */
static int settle(Fmu *fmu) {
    Changing *now = &fmu->now;
    if (!now->unsettled) return FMU_OK;
    int status = NAME(init)(&now->model, now->start_time), given = 0;
    if (status) return fail_at(fmu, "the start cannot be found", status, "");
    double *y = NAME(state)(&now->model);
    for (int k = 0; k < N_CONTINUOUS; k++)
        if (now->is_given[k]) {
            y[k] = now->given[k];
            given = 1;
        }
    if (given) {
        NAME(project)(&now->model);
        status = NAME(update)(&now->model);
        if (status) return fail_at(fmu, "no modes fit the initial values", status, "");
    }
    now->unsettled = now->changed = now->drifted = 0;
    forget(fmu);
    return FMU_OK;
}

static int set_up(Fmu *fmu, double start_time, int with_tolerance, double tolerance) {
    if (!(start_time - start_time == 0.0)) return refuse(fmu, "the start time is not a finite number");
    fmu->now.start_time = start_time;
    fmu->now.unsettled = 1;
    if (with_tolerance) {
        if (!(tolerance > 0.0 && tolerance < 1.0)) return refuse(fmu, "the tolerance is not between 0 and 1");
        NAME(set_tolerance)(&fmu->now.model, tolerance);
    }
    return FMU_OK;
}

static int end_initialization(Fmu *fmu) {
    if (settle(fmu)) return FMU_FAILED;
    fmu->now.mode = fmu->now.steps_itself ? STEPPING : EVENTS;
    return FMU_OK;
}

/* -- values ------------------------------------------------------------------------------------------------------ */
static int is_starting(const Fmu *fmu) { return (fmu->now.mode & (INSTANTIATED | INITIALIZING)) != 0; }

static const double *find_rates(Fmu *fmu) {
    if (!fmu->rates_known) NAME(rate)(&fmu->now.model, fmu->rates);
    fmu->rates_known = 1;
    return fmu->rates;
}

static const double *find_outputs(Fmu *fmu) {
    if (!fmu->outputs_known) NAME(outputs)(&fmu->now.model, fmu->outputs);
    fmu->outputs_known = 1;
    return fmu->outputs;
}

static const double *find_indicators(Fmu *fmu) {
#if N_EVENTS
    NAME(indicators)(&fmu->now.model, fmu->indicators);
#endif
    return fmu->indicators;
}

static int say_reference(Fmu *fmu, const char *what, uint32_t reference, const char *why) {
    char *to = fmu->text;
    const char *end = fmu->text + sizeof fmu->text - 1;
    to = put_text(to, end, what);
    to = put_number(to, end, (double)reference);
    put_text(to, end, why);
    tell(fmu, fmu->text);
    return FMU_FAILED;
}

static int get_value(Fmu *fmu, uint32_t r, double *value) {
    MODEL *model = &fmu->now.model;
    if (r >= REF_PARAMETER && r < REF_INPUT) *value = model->p[r - REF_PARAMETER];
    else if (r >= REF_INPUT && r < REF_OUTPUT) *value = model->inputs[r - REF_INPUT];
    else if (r >= REF_END) return say_reference(fmu, "value reference ", r, " does not exist");
    else {
        if (is_starting(fmu) && settle(fmu)) return FMU_FAILED;
        if (r == 0) *value = NAME(time)(model);
        else if (r < REF_DERIVATIVE) *value = NAME(state)(model)[r - REF_STATE];
        else if (r < REF_DISCRETE) *value = find_rates(fmu)[r - REF_DERIVATIVE];
        else if (r < REF_PARAMETER) *value = NAME(state)(model)[N_CONTINUOUS + r - REF_DISCRETE];
        else if (r < REF_INDICATOR) *value = find_outputs(fmu)[r - REF_OUTPUT];
        else *value = find_indicators(fmu)[r - REF_INDICATOR];
    }
    return FMU_OK;
}

static int set_value(Fmu *fmu, uint32_t r, double value) {
    Changing *now = &fmu->now;
    if (!(value - value == 0.0)) return say_reference(fmu, "value reference ", r, " is set to a value that is not finite");
    if (r >= REF_INPUT && r < REF_OUTPUT) {
        if (now->model.inputs[r - REF_INPUT] != value) now->changed = 1;
        now->model.inputs[r - REF_INPUT] = value;
    } else if (r >= REF_PARAMETER && r < REF_INPUT) {
        if (IS_FIXED(r - REF_PARAMETER) && !is_starting(fmu))
            return say_reference(fmu, "value reference ", r, " is a fixed parameter: it is set before or during initialization");
        if (now->model.p[r - REF_PARAMETER] != value) now->changed = 1;
        now->model.p[r - REF_PARAMETER] = value;
    } else if (r >= REF_STATE && r < REF_DERIVATIVE && is_starting(fmu)) {
        now->given[r - REF_STATE] = value;
        now->is_given[r - REF_STATE] = 1;
    } else if (r >= REF_STATE && r < REF_DERIVATIVE && now->mode == CONTINUOUS) {
        NAME(state)(&now->model)[r - REF_STATE] = value;
    } else {
        return say_reference(fmu, "value reference ", r, " cannot be set now");
    }
    if (is_starting(fmu)) now->unsettled = 1;
    forget(fmu);
    return FMU_OK;
}

/* The derivative of one variable by another: of derivatives and outputs by states and inputs. */
static int find_row_of(uint32_t r) {
    if (r >= REF_DERIVATIVE && r < REF_DISCRETE) return (int)(r - REF_DERIVATIVE);
    if (r >= REF_OUTPUT && r < REF_INDICATOR) return (int)(N_CONTINUOUS + r - REF_OUTPUT);
    return -1;
}

static int find_column_of(uint32_t r) {
    if (r >= REF_STATE && r < REF_DERIVATIVE) return (int)(r - REF_STATE);
    if (r >= REF_INPUT && r < REF_OUTPUT) return (int)(N_CONTINUOUS + r - REF_INPUT);
    return -1;
}

static int find_partial(Fmu *fmu, uint32_t unknown, uint32_t known, double *value) {
    int row = find_row_of(unknown), column = find_column_of(known);
    if (column < 0) return say_reference(fmu, "derivatives by value reference ", known, " are not known");
    if (unknown >= REF_STATE && unknown < REF_DERIVATIVE) {
        *value = unknown == known;
        return FMU_OK;
    }
    if (unknown >= REF_DISCRETE && unknown < REF_PARAMETER) {
        *value = 0.0;
        return FMU_OK;
    }
    if (row < 0) return say_reference(fmu, "derivatives of value reference ", unknown, " are not known");
#if HAS_JACOBIAN
    if (is_starting(fmu) && settle(fmu)) return FMU_FAILED;
    if (!fmu->jacobian_known) NAME(jacobian)(&fmu->now.model, fmu->jacobian);
    fmu->jacobian_known = 1;
    *value = fmu->jacobian[row * (N_CONTINUOUS + N_INPUTS) + column];
    return FMU_OK;
#else
    *value = 0.0;
    return refuse(fmu, "this FMU provides no directional derivatives");
#endif
}

/* -- model exchange ---------------------------------------------------------------------------------------------- */
static void set_time(Fmu *fmu, double t) {
    NAME(set_time)(&fmu->now.model, t);
    forget(fmu);
}

static int set_states(Fmu *fmu, const double *x, size_t n) {
    if (n != N_CONTINUOUS) return refuse(fmu, "the number of continuous states is wrong");
    if (N_CONTINUOUS) memcpy(NAME(state)(&fmu->now.model), x, n * sizeof(double));
    forget(fmu);
    return FMU_OK;
}

/* The largest drift of loops and quaternions, in rad or m, that is left to the next event. */
static int completed_step(Fmu *fmu) {
#if N_EVENTS
    NAME(arm)(&fmu->now.model);
#endif
    fmu->now.drifted = HAS_DRIFT && NAME(drift)(&fmu->now.model) > DRIFT_BOUND;
    return fmu->now.drifted;
}

/* All changes of an event; tells whether continuous states have changed, and the next time event (infinite for none). */
static int update_events(Fmu *fmu, int *states_changed, double *next_time) {
    Changing *now = &fmu->now;
    double *y = NAME(state)(&now->model), before[AT_LEAST_ONE(N_CONTINUOUS)];
    for (int k = 0; k < N_CONTINUOUS; k++) before[k] = y[k];
    if (now->drifted) NAME(project)(&now->model);
    now->drifted = now->changed = 0;
    int status = NAME(update)(&now->model);
    forget(fmu);
    if (status) return fail_at(fmu, "the changes of an event cannot be found", status, "");
    *states_changed = 0;
    for (int k = 0; k < N_CONTINUOUS; k++) *states_changed |= before[k] != y[k];
    *next_time = NAME(next_time)(&now->model, HUGE_VAL);
    return FMU_OK;
}

/* -- co-simulation ----------------------------------------------------------------------------------------------- */
static int do_step(Fmu *fmu, double from, double length) {
    double t = NAME(time)(&fmu->now.model), far = fabs(t) + fabs(length);
    if (!(fabs(from - t) <= 1e-9 * far)) return refuse(fmu, "the communication point is not where the last step ended");
    if (!(length > 0.0)) return refuse(fmu, "the length of a step is not positive");
    int status = NAME(advance)(&fmu->now.model, from + length);
    fmu->now.changed = 0;
    forget(fmu);
    if (status) {
        fail_at(fmu, "the simulation cannot go on", status, LOOP_HINT);
        return FMU_STOPPED;
    }
    return FMU_OK;
}

/* -- saved states ------------------------------------------------------------------------------------------------ */
static void save_state(const Fmu *fmu, void *to) { memcpy(to, &fmu->now, sizeof fmu->now); }

static void restore_state(Fmu *fmu, const void *from) {
    memcpy(&fmu->now, from, sizeof fmu->now);
    NAME(bind)(&fmu->now.model);
    forget(fmu);
}
