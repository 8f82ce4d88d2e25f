/* FMI 3.0: the functions of the standard as a thin face of fmu_core.h.  The declarations follow the text of the standard. */

#include "fmu_config.h"
#include "fmu_core.h"
#include "fmu_memory.h"

#include <stdbool.h>

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

static void write_log(void *whom, const char *text) {
    Instance3 *me = (Instance3 *)whom;
    if (me->log) me->log(me->environment, fmi3Error, "logStatusError", text);
}

#ifdef FMI3_FUNCTION_PREFIX /* static linking: the importer chooses the prefix */
#define FACE(name) FACE_JOIN(FACE_JOIN(FMI3_FUNCTION_PREFIX, fmi3), name)
#else
#define FACE(name) FACE_JOIN(fmi3, name)
#endif
#define FACE_WORD "fmi3"
#define FACE_STATUS fmi3Status
#define FACE_OK fmi3OK
#define FACE_DISCARD fmi3Discard
#define FACE_ERROR fmi3Error
#define FACE_BOOLEAN bool
#define FACE_BYTE fmi3Byte
#define FACE_STATE(verb) FACE_JOIN(verb, FMUState)
#define FACE_DESERIALIZE Deserialize
#define FACE_DERIVATIVES GetContinuousStateDerivatives
#include "fmu_face.h"

FACE_EXPORT const char *FACE(GetVersion)(void) { return "3.0"; }

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

FACE_EXPORT fmi3Instance FACE(InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources, bool visible,
                                                        bool logging, fmi3InstanceEnvironment environment,
                                                        fmi3LogMessageCallback log) {
    (void)name; (void)resources; (void)visible; (void)logging;
    return create(token, environment, log, 0);
}

FACE_EXPORT fmi3Instance FACE(InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources, bool visible,
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

FACE_EXPORT fmi3Instance FACE(InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources, bool visible,
                                                             bool logging, fmi3InstanceEnvironment environment,
                                                             fmi3LogMessageCallback log, fmi3ClockUpdateCallback clocks,
                                                             fmi3PreemptionCallback lock, fmi3PreemptionCallback unlock) {
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)clocks; (void)lock; (void)unlock;
    if (log) log(environment, fmi3Error, "logStatusError", "this FMU has no scheduled execution");
    return 0;
}

FACE_EXPORT void FACE(FreeInstance)(fmi3Instance c) { fmu_free(c); }

FACE_EXPORT fmi3Status FACE(EnterInitializationMode)(fmi3Instance c, bool with_tolerance, double tolerance, double start, bool with_stop,
                                                     double stop) {
    CHECK(c, INSTANTIATED, "EnterInitializationMode");
    (void)with_stop; (void)stop;
    if (set_up(FMU_OF(c), start, with_tolerance, tolerance)) return fmi3Error;
    FMU_OF(c)->now.mode = INITIALIZING;
    return fmi3OK;
}

FACE_EXPORT fmi3Status FACE(EnterConfigurationMode)(fmi3Instance c) {
    return decline(c, "this FMU has no structural parameters");
}

FACE_EXPORT fmi3Status FACE(ExitConfigurationMode)(fmi3Instance c) {
    return decline(c, "this FMU has no structural parameters");
}

/* -- values ------------------------------------------------------------------------------------------------------ */
FACE_EXPORT fmi3Status FACE(GetFloat64)(fmi3Instance c, const fmi3ValueReference refs[], size_t n, double values[], size_t n_values) {
    CHECK(c, ANY_TIME, "GetFloat64");
    if (n != n_values) return as_status(refuse(FMU_OF(c), "all variables are scalars: one value for each reference"));
    return get_values(c, refs, n, values);
}

FACE_EXPORT fmi3Status FACE(SetFloat64)(fmi3Instance c, const fmi3ValueReference refs[], size_t n, const double values[],
                                        size_t n_values) {
    CHECK(c, ANY_TIME, "SetFloat64");
    if (n != n_values) return as_status(refuse(FMU_OF(c), "all variables are scalars: one value for each reference"));
    return set_values(c, refs, n, values);
}

#define NO_VARIABLES_OF(type, name) \
    FACE_EXPORT fmi3Status FACE(Get##name)(fmi3Instance c, const fmi3ValueReference r[], size_t n, type v[], size_t m) { \
        (void)r; (void)v; (void)m; \
        return none_of(c, n); \
    } \
    FACE_EXPORT fmi3Status FACE(Set##name)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const type v[], size_t m) { \
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

FACE_EXPORT fmi3Status FACE(GetBinary)(fmi3Instance c, const fmi3ValueReference r[], size_t n, size_t s[], fmi3Binary v[], size_t m) {
    (void)r; (void)s; (void)v; (void)m;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(SetBinary)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const size_t s[], const fmi3Binary v[],
                                       size_t m) {
    (void)r; (void)s; (void)v; (void)m;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(GetClock)(fmi3Instance c, const fmi3ValueReference r[], size_t n, bool v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(SetClock)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const bool v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(GetIntervalDecimal)(fmi3Instance c, const fmi3ValueReference r[], size_t n, double v[],
                                                fmi3IntervalQualifier q[]) {
    (void)r; (void)v; (void)q;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(GetIntervalFraction)(fmi3Instance c, const fmi3ValueReference r[], size_t n, uint64_t k[], uint64_t s[],
                                                 fmi3IntervalQualifier q[]) {
    (void)r; (void)k; (void)s; (void)q;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(GetShiftDecimal)(fmi3Instance c, const fmi3ValueReference r[], size_t n, double v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(GetShiftFraction)(fmi3Instance c, const fmi3ValueReference r[], size_t n, uint64_t k[], uint64_t s[]) {
    (void)r; (void)k; (void)s;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(SetIntervalDecimal)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const double v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(SetIntervalFraction)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const uint64_t k[],
                                                 const uint64_t s[]) {
    (void)r; (void)k; (void)s;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(SetShiftDecimal)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const double v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(SetShiftFraction)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const uint64_t k[],
                                              const uint64_t s[]) {
    (void)r; (void)k; (void)s;
    return none_of(c, n);
}
FACE_EXPORT fmi3Status FACE(ActivateModelPartition)(fmi3Instance c, fmi3ValueReference clock, double t) {
    (void)clock; (void)t;
    return none_of(c, 1);
}

FACE_EXPORT fmi3Status FACE(GetNumberOfVariableDependencies)(fmi3Instance c, fmi3ValueReference r, size_t *n) {
    (void)r; (void)n;
    return decline(c, "dependencies of single elements are not provided");
}

FACE_EXPORT fmi3Status FACE(GetVariableDependencies)(fmi3Instance c, fmi3ValueReference r, size_t at[], fmi3ValueReference by[],
                                                     size_t by_at[], fmi3DependencyKind kinds[], size_t n) {
    (void)r; (void)at; (void)by; (void)by_at; (void)kinds; (void)n;
    return decline(c, "dependencies of single elements are not provided");
}

FACE_EXPORT fmi3Status FACE(GetDirectionalDerivative)(fmi3Instance c, const fmi3ValueReference unknown[], size_t n_unknown,
                                                      const fmi3ValueReference known[], size_t n_known, const double seed[],
                                                      size_t n_seed, double result[], size_t n_result) {
    CHECK(c, RUNNING, "GetDirectionalDerivative");
    if (n_seed != n_known || n_result != n_unknown) return as_status(refuse(FMU_OF(c), "the length of an array is wrong"));
    return sum_partials(c, unknown, n_unknown, known, n_known, seed, result, 0);
}

FACE_EXPORT fmi3Status FACE(GetAdjointDerivative)(fmi3Instance c, const fmi3ValueReference unknown[], size_t n_unknown,
                                                  const fmi3ValueReference known[], size_t n_known, const double seed[],
                                                  size_t n_seed, double result[], size_t n_result) {
    CHECK(c, RUNNING, "GetAdjointDerivative");
    if (n_seed != n_unknown || n_result != n_known) return as_status(refuse(FMU_OF(c), "the length of an array is wrong"));
    return sum_partials(c, unknown, n_unknown, known, n_known, seed, result, 1);
}

/* -- model exchange ---------------------------------------------------------------------------------------------- */
FACE_EXPORT fmi3Status FACE(EvaluateDiscreteStates)(fmi3Instance c) { return c ? fmi3OK : fmi3Error; }

FACE_EXPORT fmi3Status FACE(UpdateDiscreteStates)(fmi3Instance c, bool *needs_update, bool *terminate, bool *nominals_changed,
                                                  bool *states_changed, bool *has_next, double *next_time) {
    CHECK(c, EVENTS, "UpdateDiscreteStates");
    int changed = 0;
    double next = HUGE_VAL;
    if (update_events(FMU_OF(c), &changed, &next)) return fmi3Error;
    *needs_update = *terminate = *nominals_changed = false;
    *states_changed = changed != 0;
    *has_next = next < HUGE_VAL;
    *next_time = next < HUGE_VAL ? next : 0.0;
    return fmi3OK;
}

FACE_EXPORT fmi3Status FACE(GetNumberOfContinuousStates)(fmi3Instance c, size_t *n) {
    if (!c || !n) return fmi3Error;
    *n = N_CONTINUOUS;
    return fmi3OK;
}

FACE_EXPORT fmi3Status FACE(GetNumberOfEventIndicators)(fmi3Instance c, size_t *n) {
    if (!c || !n) return fmi3Error;
    *n = N_EVENTS;
    return fmi3OK;
}

/* -- co-simulation ----------------------------------------------------------------------------------------------- */
FACE_EXPORT fmi3Status FACE(EnterStepMode)(fmi3Instance c) {
    CHECK(c, STEPPING, "EnterStepMode");
    return fmi3OK;
}

FACE_EXPORT fmi3Status FACE(GetOutputDerivatives)(fmi3Instance c, const fmi3ValueReference r[], size_t n, const int32_t order[],
                                                  double v[], size_t m) {
    (void)r; (void)n; (void)order; (void)v; (void)m;
    return decline(c, "derivatives of outputs are not provided");
}

FACE_EXPORT fmi3Status FACE(DoStep)(fmi3Instance c, double from, double length, bool no_return, bool *event_needed, bool *terminate,
                                    bool *returned_early, double *last_time) {
    CHECK(c, STEPPING, "DoStep");
    (void)no_return;
    *event_needed = *terminate = *returned_early = false;
    int code = do_step(FMU_OF(c), from, length);
    *last_time = NAME(time)(&FMU_OF(c)->now.model);
    return as_status(code);
}
