/* FMI 2.0: the functions of the standard as a thin face of fmu_core.h.  The declarations follow the text of the standard. */

#include "fmu_config.h"
#include "fmu_core.h"
#include "fmu_memory.h"

#if defined(_WIN32)
#define FMI2_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI2_EXPORT __attribute__((visibility("default")))
#else
#define FMI2_EXPORT
#endif
#ifdef FMI2_FUNCTION_PREFIX /* static linking: the importer chooses the prefix */
#define FMI2_JOIN(a, b) a##b
#define FMI2_PASTE(a, b) FMI2_JOIN(a, b)
#define FMI2(name) FMI2_PASTE(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define FMI2(name) fmi2##name
#endif

typedef void *fmi2Component;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef int fmi2Boolean;
typedef const char *fmi2String;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef struct {
    void (*logger)(void *environment, fmi2String instance, fmi2Status status, fmi2String category, fmi2String text, ...);
    void *(*allocateMemory)(size_t count, size_t size);
    void (*freeMemory)(void *memory);
    void (*stepFinished)(void *environment, fmi2Status status);
    void *environment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    double nextEventTime;
} fmi2EventInfo;

typedef struct {
    Fmu fmu;
    fmi2CallbackFunctions calls;
    char *name;
} Instance2;

#define RUNNING (INITIALIZING | EVENTS | CONTINUOUS | STEPPING | TERMINATED)
#define ANY_TIME (INSTANTIATED | RUNNING)

static void write_log(void *whom, const char *text) {
    Instance2 *me = (Instance2 *)whom;
    if (me->calls.logger) me->calls.logger(me->calls.environment, me->name, fmi2Error, "logStatusError", text);
}

static fmi2Status as_status(int code) { return code == FMU_OK ? fmi2OK : code == FMU_STOPPED ? fmi2Discard : fmi2Error; }

#define FMU_OF(c) (&((Instance2 *)(c))->fmu)
#define CHECK(c, modes, call) \
    if (!(c)) return fmi2Error; \
    if (!allowed(FMU_OF(c), (modes), (call))) return fmi2Error

FMI2_EXPORT const char *FMI2(GetTypesPlatform)(void) { return "default"; }
FMI2_EXPORT const char *FMI2(GetVersion)(void) { return "2.0"; }

FMI2_EXPORT fmi2Component FMI2(Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                            const fmi2CallbackFunctions *calls, fmi2Boolean visible, fmi2Boolean logging) {
    (void)resources; (void)visible; (void)logging;
    if (!calls || !name) return 0;
    if (!guid || strcmp(guid, FMU_GUID) != 0) {
        if (calls->logger)
            calls->logger(calls->environment, name, fmi2Error, "logStatusError", "the GUID is not that of this FMU");
        return 0;
    }
    Instance2 *me = (Instance2 *)fmu_allocate(sizeof *me);
    if (!me) return 0;
    memset(me, 0, sizeof *me);
    me->calls = *calls;
    me->name = (char *)fmu_allocate(strlen(name) + 1);
    if (!me->name) {
        fmu_free(me);
        return 0;
    }
    memcpy(me->name, name, strlen(name) + 1);
    me->fmu.say = write_log;
    me->fmu.whom = me;
    me->fmu.now.steps_itself = type == fmi2CoSimulation;
    begin_anew(&me->fmu);
    return me;
}

FMI2_EXPORT void FMI2(FreeInstance)(fmi2Component c) {
    if (!c) return;
    fmu_free(((Instance2 *)c)->name);
    fmu_free(c);
}

FMI2_EXPORT fmi2Status FMI2(SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String names[]) {
    (void)on; (void)n; (void)names;
    return c ? fmi2OK : fmi2Error;
}

/* -- initialization ---------------------------------------------------------------------------------------------- */
FMI2_EXPORT fmi2Status FMI2(SetupExperiment)(fmi2Component c, fmi2Boolean with_tolerance, double tolerance, double start,
                                             fmi2Boolean with_stop, double stop) {
    CHECK(c, INSTANTIATED, "fmi2SetupExperiment");
    (void)with_stop; (void)stop;
    return as_status(set_up(FMU_OF(c), start, with_tolerance, tolerance));
}

FMI2_EXPORT fmi2Status FMI2(EnterInitializationMode)(fmi2Component c) {
    CHECK(c, INSTANTIATED, "fmi2EnterInitializationMode");
    FMU_OF(c)->now.mode = INITIALIZING;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(ExitInitializationMode)(fmi2Component c) {
    CHECK(c, INITIALIZING, "fmi2ExitInitializationMode");
    return as_status(end_initialization(FMU_OF(c)));
}

FMI2_EXPORT fmi2Status FMI2(Terminate)(fmi2Component c) {
    CHECK(c, EVENTS | CONTINUOUS | STEPPING, "fmi2Terminate");
    FMU_OF(c)->now.mode = TERMINATED;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(Reset)(fmi2Component c) {
    if (!c) return fmi2Error;
    begin_anew(FMU_OF(c));
    return fmi2OK;
}

/* -- values ------------------------------------------------------------------------------------------------------ */
FMI2_EXPORT fmi2Status FMI2(GetReal)(fmi2Component c, const fmi2ValueReference refs[], size_t n, double values[]) {
    CHECK(c, ANY_TIME, "fmi2GetReal");
    int code = FMU_OK;
    for (size_t k = 0; k < n && !code; k++) code = get_value(FMU_OF(c), refs[k], &values[k]);
    return as_status(code);
}

FMI2_EXPORT fmi2Status FMI2(SetReal)(fmi2Component c, const fmi2ValueReference refs[], size_t n, const double values[]) {
    CHECK(c, ANY_TIME, "fmi2SetReal");
    int code = FMU_OK;
    for (size_t k = 0; k < n && !code; k++) code = set_value(FMU_OF(c), refs[k], values[k]);
    return as_status(code);
}

static fmi2Status none_of(fmi2Component c, size_t n) {
    if (!c) return fmi2Error;
    return n ? as_status(refuse(FMU_OF(c), "all variables of this FMU are real numbers")) : fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(GetInteger)(fmi2Component c, const fmi2ValueReference r[], size_t n, int v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI2_EXPORT fmi2Status FMI2(GetBoolean)(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Boolean v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI2_EXPORT fmi2Status FMI2(GetString)(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2String v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI2_EXPORT fmi2Status FMI2(SetInteger)(fmi2Component c, const fmi2ValueReference r[], size_t n, const int v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI2_EXPORT fmi2Status FMI2(SetBoolean)(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Boolean v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FMI2_EXPORT fmi2Status FMI2(SetString)(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2String v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}

FMI2_EXPORT fmi2Status FMI2(GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                                      const fmi2ValueReference known[], size_t n_known,
                                                      const double seed[], double result[]) {
    CHECK(c, RUNNING, "fmi2GetDirectionalDerivative");
    for (size_t i = 0; i < n_unknown; i++) {
        result[i] = 0.0;
        for (size_t k = 0; k < n_known; k++) {
            double partial = 0.0;
            if (find_partial(FMU_OF(c), unknown[i], known[k], &partial)) return fmi2Error;
            result[i] += partial * seed[k];
        }
    }
    return fmi2OK;
}

/* -- saved states ------------------------------------------------------------------------------------------------ */
FMI2_EXPORT fmi2Status FMI2(GetFMUstate)(fmi2Component c, fmi2FMUstate *state) {
    if (!c || !state) return fmi2Error;
    if (!*state) *state = fmu_allocate(sizeof(Changing));
    if (!*state) return as_status(refuse(FMU_OF(c), "no memory for a saved state"));
    save_state(FMU_OF(c), *state);
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(SetFMUstate)(fmi2Component c, fmi2FMUstate state) {
    if (!c || !state) return fmi2Error;
    restore_state(FMU_OF(c), state);
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(FreeFMUstate)(fmi2Component c, fmi2FMUstate *state) {
    if (!c || !state) return fmi2Error;
    fmu_free(*state);
    *state = 0;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size) {
    (void)state;
    if (!c || !size) return fmi2Error;
    *size = sizeof(Changing);
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, char bytes[], size_t size) {
    if (!c || !state || size < sizeof(Changing)) return fmi2Error;
    memcpy(bytes, state, sizeof(Changing));
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(DeSerializeFMUstate)(fmi2Component c, const char bytes[], size_t size, fmi2FMUstate *state) {
    if (!c || !state) return fmi2Error;
    if (size != sizeof(Changing)) return as_status(refuse(FMU_OF(c), "a serialized state of another size"));
    if (!*state) *state = fmu_allocate(sizeof(Changing));
    if (!*state) return as_status(refuse(FMU_OF(c), "no memory for a saved state"));
    memcpy(*state, bytes, sizeof(Changing));
    return fmi2OK;
}

/* -- model exchange ---------------------------------------------------------------------------------------------- */
FMI2_EXPORT fmi2Status FMI2(EnterEventMode)(fmi2Component c) {
    CHECK(c, CONTINUOUS | EVENTS, "fmi2EnterEventMode");
    FMU_OF(c)->now.mode = EVENTS;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info) {
    CHECK(c, EVENTS, "fmi2NewDiscreteStates");
    int changed = 0;
    double next = HUGE_VAL;
    if (update_events(FMU_OF(c), &changed, &next)) return fmi2Error;
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = changed;
    info->nextEventTimeDefined = next < HUGE_VAL;
    info->nextEventTime = next < HUGE_VAL ? next : 0.0;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(EnterContinuousTimeMode)(fmi2Component c) {
    CHECK(c, EVENTS, "fmi2EnterContinuousTimeMode");
    FMU_OF(c)->now.mode = CONTINUOUS;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(CompletedIntegratorStep)(fmi2Component c, fmi2Boolean no_return, fmi2Boolean *enter_event_mode,
                                                     fmi2Boolean *terminate) {
    CHECK(c, CONTINUOUS, "fmi2CompletedIntegratorStep");
    (void)no_return;
    *enter_event_mode = completed_step(FMU_OF(c));
    *terminate = 0;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(SetTime)(fmi2Component c, double t) {
    CHECK(c, EVENTS | CONTINUOUS, "fmi2SetTime");
    set_time(FMU_OF(c), t);
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(SetContinuousStates)(fmi2Component c, const double x[], size_t n) {
    CHECK(c, EVENTS | CONTINUOUS, "fmi2SetContinuousStates");
    return as_status(set_states(FMU_OF(c), x, n));
}

static fmi2Status copy_out(Fmu *fmu, const double *from, size_t expected, double *to, size_t n) {
    if (n != expected) return as_status(refuse(fmu, "the length of an array is wrong"));
    if (n) memcpy(to, from, n * sizeof(double));
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(GetDerivatives)(fmi2Component c, double rates[], size_t n) {
    CHECK(c, RUNNING, "fmi2GetDerivatives");
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return fmi2Error;
    return copy_out(FMU_OF(c), find_rates(FMU_OF(c)), N_CONTINUOUS, rates, n);
}

FMI2_EXPORT fmi2Status FMI2(GetEventIndicators)(fmi2Component c, double indicators[], size_t n) {
    CHECK(c, RUNNING, "fmi2GetEventIndicators");
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return fmi2Error;
    return copy_out(FMU_OF(c), find_indicators(FMU_OF(c)), N_EVENTS, indicators, n);
}

FMI2_EXPORT fmi2Status FMI2(GetContinuousStates)(fmi2Component c, double x[], size_t n) {
    CHECK(c, RUNNING, "fmi2GetContinuousStates");
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return fmi2Error;
    return copy_out(FMU_OF(c), NAME(state)(&FMU_OF(c)->now.model), N_CONTINUOUS, x, n);
}

FMI2_EXPORT fmi2Status FMI2(GetNominalsOfContinuousStates)(fmi2Component c, double x[], size_t n) {
    CHECK(c, ANY_TIME, "fmi2GetNominalsOfContinuousStates");
    static const double nominals[] = FMU_NOMINALS;
    return copy_out(FMU_OF(c), nominals, N_CONTINUOUS, x, n);
}

/* -- co-simulation ----------------------------------------------------------------------------------------------- */
FMI2_EXPORT fmi2Status FMI2(DoStep)(fmi2Component c, double from, double length, fmi2Boolean no_return) {
    CHECK(c, STEPPING, "fmi2DoStep");
    (void)no_return;
    return as_status(do_step(FMU_OF(c), from, length));
}

FMI2_EXPORT fmi2Status FMI2(CancelStep)(fmi2Component c) {
    return c ? as_status(refuse(FMU_OF(c), "steps of this FMU end before the call returns")) : fmi2Error;
}

FMI2_EXPORT fmi2Status FMI2(SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference r[], size_t n, const int order[],
                                                     const double v[]) {
    (void)r; (void)n; (void)order; (void)v;
    return c ? as_status(refuse(FMU_OF(c), "inputs are held during a step; their derivatives are not used")) : fmi2Error;
}

FMI2_EXPORT fmi2Status FMI2(GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference r[], size_t n, const int order[],
                                                      double v[]) {
    (void)r; (void)n; (void)order; (void)v;
    return c ? as_status(refuse(FMU_OF(c), "derivatives of outputs are not provided")) : fmi2Error;
}

FMI2_EXPORT fmi2Status FMI2(GetStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Status *value) {
    (void)kind; (void)value;
    return c ? fmi2Discard : fmi2Error;
}

FMI2_EXPORT fmi2Status FMI2(GetRealStatus)(fmi2Component c, fmi2StatusKind kind, double *value) {
    if (!c || kind != fmi2LastSuccessfulTime) return c ? fmi2Discard : fmi2Error;
    *value = NAME(time)(&FMU_OF(c)->now.model);
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(GetIntegerStatus)(fmi2Component c, fmi2StatusKind kind, int *value) {
    (void)kind; (void)value;
    return c ? fmi2Discard : fmi2Error;
}

FMI2_EXPORT fmi2Status FMI2(GetBooleanStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value) {
    if (!c || kind != fmi2Terminated) return c ? fmi2Discard : fmi2Error;
    *value = 0;
    return fmi2OK;
}

FMI2_EXPORT fmi2Status FMI2(GetStringStatus)(fmi2Component c, fmi2StatusKind kind, fmi2String *value) {
    (void)kind; (void)value;
    return c ? fmi2Discard : fmi2Error;
}
