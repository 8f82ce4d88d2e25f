/* FMI 3.0: the functions of the standard as a thin face of fmu_core.h.  The declarations follow the text of the standard. */

#include "fmu_config.h"
#include "fmu_core.h"
#include "fmu_memory.h"

#include <stdbool.h>

#if defined(_WIN32)
#define FMI3_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI3_EXPORT __attribute__((visibility("default")))
#else
#define FMI3_EXPORT
#endif
#ifdef FMI3_FUNCTION_PREFIX /* static linking: the importer chooses the prefix */
#define FMI3_JOIN(a, b) a##b
#define FMI3_PASTE(a, b) FMI3_JOIN(a, b)
#define FMI3(name) FMI3_PASTE(FMI3_FUNCTION_PREFIX, fmi3##name)
#else
#define FMI3(name) fmi3##name
#endif

typedef void *fmi3Instance;
typedef void *fmi3FMUState;
typedef void *fmi3InstanceEnvironment;
typedef uint32_t fmi3ValueReference;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String text);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment, double t, bool set_requested, bool get_allowed,
                                               bool step_finished, bool can_return_early, bool *return_requested, double *return_time);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
typedef void (*fmi3PreemptionCallback)(void);

typedef struct {
    Fmu fmu;
    fmi3LogMessageCallback log;
    fmi3InstanceEnvironment environment;
} Instance3;

#define RUNNING (INITIALIZING | EVENTS | CONTINUOUS | STEPPING | TERMINATED)
#define ANY_TIME (INSTANTIATED | RUNNING)

static void write_log(void *whom, const char *text) {
    Instance3 *me = (Instance3 *)whom;
    if (me->log) me->log(me->environment, fmi3Error, "logStatusError", text);
}

static fmi3Status as_status(int code) { return code == FMU_OK ? fmi3OK : code == FMU_STOPPED ? fmi3Discard : fmi3Error; }

#define FMU_OF(c) (&((Instance3 *)(c))->fmu)
#define CHECK(c, modes, call) \
    if (!(c)) return fmi3Error; \
    if (!allowed(FMU_OF(c), (modes), (call))) return fmi3Error

FMI3_EXPORT const char *FMI3(GetVersion)(void) { return "3.0"; }

FMI3_EXPORT fmi3Status FMI3(SetDebugLogging)(fmi3Instance c, bool on, size_t n, const fmi3String names[]) {
    (void)on; (void)n; (void)names;
    return c ? fmi3OK : fmi3Error;
}

/* -- life -------------------------------------------------------------------------------------------------------- */
static fmi3Instance create(fmi3String token, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, int steps_itself) {
    if (!token || strcmp(token, FMU_GUID) != 0) {
        if (log) log(environment, fmi3Error, "logStatusError", "the instantiation token is not that of this FMU");
        return 0;
    }
    Instance3 *me = (Instance3 *)fmu_allocate(sizeof *me);
    if (!me) return 0;
    memset(me, 0, sizeof *me);
    me->log = log;
    me->environment = environment;
    me->fmu.say = write_log;
    me->fmu.whom = me;
    me->fmu.now.steps_itself = steps_itself;
    begin_anew(&me->fmu);
    return me;
}

FMI3_EXPORT fmi3Instance FMI3(InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources, bool visible,
                                                        bool logging, fmi3InstanceEnvironment environment,
                                                        fmi3LogMessageCallback log) {
    (void)name; (void)resources; (void)visible; (void)logging;
    return create(token, environment, log, 0);
}

FMI3_EXPORT fmi3Instance FMI3(InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources, bool visible,
                                                       bool logging, bool event_mode, bool early_return,
                                                       const fmi3ValueReference required[], size_t n_required,
                                                       fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                       fmi3IntermediateUpdateCallback update) {
    (void)name; (void)resources; (void)visible; (void)logging; (void)early_return; (void)required; (void)n_required; (void)update;
    if (event_mode) {
        if (log) log(environment, fmi3Error, "logStatusError", "this FMU has no event mode in co-simulation: events are inside");
        return 0;
    }
    return create(token, environment, log, 1);
}

FMI3_EXPORT fmi3Instance FMI3(InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources, bool visible,
                                                             bool logging, fmi3InstanceEnvironment environment,
                                                             fmi3LogMessageCallback log, fmi3ClockUpdateCallback clocks,
                                                             fmi3PreemptionCallback lock, fmi3PreemptionCallback unlock) {
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)clocks; (void)lock; (void)unlock;
    if (log) log(environment, fmi3Error, "logStatusError", "this FMU has no scheduled execution");
    return 0;
}

FMI3_EXPORT void FMI3(FreeInstance)(fmi3Instance c) { fmu_free(c); }

FMI3_EXPORT fmi3Status FMI3(EnterInitializationMode)(fmi3Instance c, bool with_tolerance, double tolerance, double start, bool with_stop,
                                                     double stop) {
    CHECK(c, INSTANTIATED, "fmi3EnterInitializationMode");
    (void)with_stop; (void)stop;
    if (set_up(FMU_OF(c), start, with_tolerance, tolerance)) return fmi3Error;
    FMU_OF(c)->now.mode = INITIALIZING;
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(ExitInitializationMode)(fmi3Instance c) {
    CHECK(c, INITIALIZING, "fmi3ExitInitializationMode");
    return as_status(end_initialization(FMU_OF(c)));
}

FMI3_EXPORT fmi3Status FMI3(EnterEventMode)(fmi3Instance c) {
    CHECK(c, CONTINUOUS | EVENTS, "fmi3EnterEventMode");
    FMU_OF(c)->now.mode = EVENTS;
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(Terminate)(fmi3Instance c) {
    CHECK(c, EVENTS | CONTINUOUS | STEPPING, "fmi3Terminate");
    FMU_OF(c)->now.mode = TERMINATED;
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(Reset)(fmi3Instance c) {
    if (!c) return fmi3Error;
    begin_anew(FMU_OF(c));
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(EnterConfigurationMode)(fmi3Instance c) {
    return c ? as_status(refuse(FMU_OF(c), "this FMU has no structural parameters")) : fmi3Error;
}

FMI3_EXPORT fmi3Status FMI3(ExitConfigurationMode)(fmi3Instance c) {
    return c ? as_status(refuse(FMU_OF(c), "this FMU has no structural parameters")) : fmi3Error;
}

/* -- values ------------------------------------------------------------------------------------------------------ */
FMI3_EXPORT fmi3Status FMI3(GetFloat64)(fmi3Instance c, const fmi3ValueReference refs[], size_t n, double values[], size_t n_values) {
    CHECK(c, ANY_TIME, "fmi3GetFloat64");
    if (n != n_values) return as_status(refuse(FMU_OF(c), "all variables are scalars: one value for each reference"));
    int code = FMU_OK;
    for (size_t k = 0; k < n && !code; k++) code = get_value(FMU_OF(c), refs[k], &values[k]);
    return as_status(code);
}

FMI3_EXPORT fmi3Status FMI3(SetFloat64)(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const double values[],
                                        size_t n_values) {
    CHECK(c, ANY_TIME, "fmi3SetFloat64");
    if (n != n_values) return as_status(refuse(FMU_OF(c), "all variables are scalars: one value for each reference"));
    int code = FMU_OK;
    for (size_t k = 0; k < n && !code; k++) code = set_value(FMU_OF(c), refs[k], values[k]);
    return as_status(code);
}

static fmi3Status none_of(fmi3Instance c, size_t n) {
    if (!c) return fmi3Error;
    return n ? as_status(refuse(FMU_OF(c), "all variables of this FMU are numbers of type Float64")) : fmi3OK;
}

#define NO_VARIABLES_OF(type, name) \
    FMI3_EXPORT fmi3Status FMI3(Get##name)(fmi3Instance c, const fmi3ValueReference r[], size_t n, type v[], size_t m) { \
        (void)r; (void)v; (void)m; \
        return none_of(c, n); \
    } \
    FMI3_EXPORT fmi3Status FMI3(Set##name)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const type v[], size_t m) { \
        (void)r; (void)v; (void)m; \
        return none_of(c, n); \
    }
NO_VARIABLES_OF(float, Float32)
NO_VARIABLES_OF(int8_t, Int8)
NO_VARIABLES_OF(uint8_t, UInt8)
NO_VARIABLES_OF(int16_t, Int16)
NO_VARIABLES_OF(uint16_t, UInt16)
NO_VARIABLES_OF(int32_t, Int32)
NO_VARIABLES_OF(uint32_t, UInt32)
NO_VARIABLES_OF(int64_t, Int64)
NO_VARIABLES_OF(uint64_t, UInt64)
NO_VARIABLES_OF(bool, Boolean)
NO_VARIABLES_OF(fmi3String, String)

FMI3_EXPORT fmi3Status FMI3(GetBinary)(fmi3Instance c, const fmi3ValueReference r[], size_t n, size_t s[], fmi3Binary v[], size_t m) {
    (void)r; (void)s; (void)v; (void)m;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(SetBinary)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const size_t s[], const fmi3Binary v[],
                                       size_t m) {
    (void)r; (void)s; (void)v; (void)m;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(GetClock)(fmi3Instance c, const fmi3ValueReference r[], size_t n, bool v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(SetClock)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const bool v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(GetIntervalDecimal)(fmi3Instance c, const fmi3ValueReference r[], size_t n, double v[],
                                                fmi3IntervalQualifier q[]) {
    (void)r; (void)v; (void)q;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(GetIntervalFraction)(fmi3Instance c, const fmi3ValueReference r[], size_t n, uint64_t k[], uint64_t s[],
                                                 fmi3IntervalQualifier q[]) {
    (void)r; (void)k; (void)s; (void)q;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(GetShiftDecimal)(fmi3Instance c, const fmi3ValueReference r[], size_t n, double v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(GetShiftFraction)(fmi3Instance c, const fmi3ValueReference r[], size_t n, uint64_t k[], uint64_t s[]) {
    (void)r; (void)k; (void)s;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(SetIntervalDecimal)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const double v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(SetIntervalFraction)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const uint64_t k[],
                                                 const uint64_t s[]) {
    (void)r; (void)k; (void)s;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(SetShiftDecimal)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const double v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(SetShiftFraction)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const uint64_t k[],
                                              const uint64_t s[]) {
    (void)r; (void)k; (void)s;
    return none_of(c, n);
}
FMI3_EXPORT fmi3Status FMI3(ActivateModelPartition)(fmi3Instance c, fmi3ValueReference clock, double t) {
    (void)clock; (void)t;
    return none_of(c, 1);
}

FMI3_EXPORT fmi3Status FMI3(GetNumberOfVariableDependencies)(fmi3Instance c, fmi3ValueReference r, size_t *n) {
    (void)r; (void)n;
    return c ? as_status(refuse(FMU_OF(c), "dependencies of single elements are not provided")) : fmi3Error;
}

FMI3_EXPORT fmi3Status FMI3(GetVariableDependencies)(fmi3Instance c, fmi3ValueReference r, size_t at[], fmi3ValueReference by[],
                                                     size_t by_at[], fmi3DependencyKind kinds[], size_t n) {
    (void)r; (void)at; (void)by; (void)by_at; (void)kinds; (void)n;
    return c ? as_status(refuse(FMU_OF(c), "dependencies of single elements are not provided")) : fmi3Error;
}

/* Sums of partial derivatives: along a direction of the knowns, or of the unknowns. */
static fmi3Status sum_partials(fmi3Instance c, const fmi3ValueReference unknown[], size_t n_unknown, const fmi3ValueReference known[],
                               size_t n_known, const double seed[], double result[], int adjoint) {
    for (size_t k = 0; k < (adjoint ? n_known : n_unknown); k++) result[k] = 0.0;
    for (size_t i = 0; i < n_unknown; i++)
        for (size_t k = 0; k < n_known; k++) {
            double partial = 0.0;
            if (find_partial(FMU_OF(c), unknown[i], known[k], &partial)) return fmi3Error;
            if (adjoint) result[k] += partial * seed[i];
            else result[i] += partial * seed[k];
        }
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(GetDirectionalDerivative)(fmi3Instance c, const fmi3ValueReference unknown[], size_t n_unknown,
                                                      const fmi3ValueReference known[], size_t n_known, const double seed[],
                                                      size_t n_seed, double result[], size_t n_result) {
    CHECK(c, RUNNING, "fmi3GetDirectionalDerivative");
    if (n_seed != n_known || n_result != n_unknown) return as_status(refuse(FMU_OF(c), "the length of an array is wrong"));
    return sum_partials(c, unknown, n_unknown, known, n_known, seed, result, 0);
}

FMI3_EXPORT fmi3Status FMI3(GetAdjointDerivative)(fmi3Instance c, const fmi3ValueReference unknown[], size_t n_unknown,
                                                  const fmi3ValueReference known[], size_t n_known, const double seed[],
                                                  size_t n_seed, double result[], size_t n_result) {
    CHECK(c, RUNNING, "fmi3GetAdjointDerivative");
    if (n_seed != n_unknown || n_result != n_known) return as_status(refuse(FMU_OF(c), "the length of an array is wrong"));
    return sum_partials(c, unknown, n_unknown, known, n_known, seed, result, 1);
}

/* -- saved states ------------------------------------------------------------------------------------------------ */
FMI3_EXPORT fmi3Status FMI3(GetFMUState)(fmi3Instance c, fmi3FMUState *state) {
    if (!c || !state) return fmi3Error;
    if (!*state) *state = fmu_allocate(sizeof(Changing));
    if (!*state) return as_status(refuse(FMU_OF(c), "no memory for a saved state"));
    save_state(FMU_OF(c), *state);
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(SetFMUState)(fmi3Instance c, fmi3FMUState state) {
    if (!c || !state) return fmi3Error;
    restore_state(FMU_OF(c), state);
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(FreeFMUState)(fmi3Instance c, fmi3FMUState *state) {
    if (!c || !state) return fmi3Error;
    fmu_free(*state);
    *state = 0;
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(SerializedFMUStateSize)(fmi3Instance c, fmi3FMUState state, size_t *size) {
    (void)state;
    if (!c || !size) return fmi3Error;
    *size = sizeof(Changing);
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(SerializeFMUState)(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
    if (!c || !state || size < sizeof(Changing)) return fmi3Error;
    memcpy(bytes, state, sizeof(Changing));
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(DeserializeFMUState)(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
    if (!c || !state) return fmi3Error;
    if (size != sizeof(Changing)) return as_status(refuse(FMU_OF(c), "a serialized state of another size"));
    if (!*state) *state = fmu_allocate(sizeof(Changing));
    if (!*state) return as_status(refuse(FMU_OF(c), "no memory for a saved state"));
    memcpy(*state, bytes, sizeof(Changing));
    return fmi3OK;
}

/* -- model exchange ---------------------------------------------------------------------------------------------- */
FMI3_EXPORT fmi3Status FMI3(EvaluateDiscreteStates)(fmi3Instance c) { return c ? fmi3OK : fmi3Error; }

FMI3_EXPORT fmi3Status FMI3(UpdateDiscreteStates)(fmi3Instance c, bool *needs_update, bool *terminate, bool *nominals_changed,
                                                  bool *states_changed, bool *has_next, double *next_time) {
    CHECK(c, EVENTS, "fmi3UpdateDiscreteStates");
    int changed = 0;
    double next = HUGE_VAL;
    if (update_events(FMU_OF(c), &changed, &next)) return fmi3Error;
    *needs_update = *terminate = *nominals_changed = false;
    *states_changed = changed != 0;
    *has_next = next < HUGE_VAL;
    *next_time = next < HUGE_VAL ? next : 0.0;
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(EnterContinuousTimeMode)(fmi3Instance c) {
    CHECK(c, EVENTS, "fmi3EnterContinuousTimeMode");
    FMU_OF(c)->now.mode = CONTINUOUS;
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(CompletedIntegratorStep)(fmi3Instance c, bool no_return, bool *enter_event_mode, bool *terminate) {
    CHECK(c, CONTINUOUS, "fmi3CompletedIntegratorStep");
    (void)no_return;
    *enter_event_mode = completed_step(FMU_OF(c)) != 0;
    *terminate = false;
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(SetTime)(fmi3Instance c, double t) {
    CHECK(c, EVENTS | CONTINUOUS, "fmi3SetTime");
    set_time(FMU_OF(c), t);
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(SetContinuousStates)(fmi3Instance c, const double x[], size_t n) {
    CHECK(c, EVENTS | CONTINUOUS, "fmi3SetContinuousStates");
    return as_status(set_states(FMU_OF(c), x, n));
}

static fmi3Status copy_out(Fmu *fmu, const double *from, size_t expected, double *to, size_t n) {
    if (n != expected) return as_status(refuse(fmu, "the length of an array is wrong"));
    if (n) memcpy(to, from, n * sizeof(double));
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(GetContinuousStateDerivatives)(fmi3Instance c, double rates[], size_t n) {
    CHECK(c, RUNNING, "fmi3GetContinuousStateDerivatives");
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return fmi3Error;
    return copy_out(FMU_OF(c), find_rates(FMU_OF(c)), N_CONTINUOUS, rates, n);
}

FMI3_EXPORT fmi3Status FMI3(GetEventIndicators)(fmi3Instance c, double indicators[], size_t n) {
    CHECK(c, RUNNING, "fmi3GetEventIndicators");
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return fmi3Error;
    return copy_out(FMU_OF(c), find_indicators(FMU_OF(c)), N_EVENTS, indicators, n);
}

FMI3_EXPORT fmi3Status FMI3(GetContinuousStates)(fmi3Instance c, double x[], size_t n) {
    CHECK(c, RUNNING, "fmi3GetContinuousStates");
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return fmi3Error;
    return copy_out(FMU_OF(c), NAME(state)(&FMU_OF(c)->now.model), N_CONTINUOUS, x, n);
}

FMI3_EXPORT fmi3Status FMI3(GetNominalsOfContinuousStates)(fmi3Instance c, double x[], size_t n) {
    CHECK(c, ANY_TIME, "fmi3GetNominalsOfContinuousStates");
    static const double nominals[] = FMU_NOMINALS;
    return copy_out(FMU_OF(c), nominals, N_CONTINUOUS, x, n);
}

FMI3_EXPORT fmi3Status FMI3(GetNumberOfContinuousStates)(fmi3Instance c, size_t *n) {
    if (!c || !n) return fmi3Error;
    *n = N_CONTINUOUS;
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(GetNumberOfEventIndicators)(fmi3Instance c, size_t *n) {
    if (!c || !n) return fmi3Error;
    *n = N_EVENTS;
    return fmi3OK;
}

/* -- co-simulation ----------------------------------------------------------------------------------------------- */
FMI3_EXPORT fmi3Status FMI3(EnterStepMode)(fmi3Instance c) {
    CHECK(c, STEPPING, "fmi3EnterStepMode");
    return fmi3OK;
}

FMI3_EXPORT fmi3Status FMI3(GetOutputDerivatives)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const int32_t order[],
                                                  double v[], size_t m) {
    (void)r; (void)n; (void)order; (void)v; (void)m;
    return c ? as_status(refuse(FMU_OF(c), "derivatives of outputs are not provided")) : fmi3Error;
}

FMI3_EXPORT fmi3Status FMI3(DoStep)(fmi3Instance c, double from, double length, bool no_return, bool *event_needed, bool *terminate,
                                    bool *returned_early, double *last_time) {
    CHECK(c, STEPPING, "fmi3DoStep");
    (void)no_return;
    *event_needed = *terminate = *returned_early = false;
    int code = do_step(FMU_OF(c), from, length);
    *last_time = NAME(time)(&FMU_OF(c)->now.model);
    return as_status(code);
}
