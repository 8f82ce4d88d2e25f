/* FMI 2.0: the functions of the standard as a thin face of fmu_core.h.  The declarations follow the text of the standard. */

#include "fmu_config.h"
#include "fmu_core.h"
#include "fmu_memory.h"

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

static void write_log(void *whom, const char *text) {
    Instance2 *me = (Instance2 *)whom;
    if (me->calls.logger) me->calls.logger(me->calls.environment, me->name, fmi2Error, "logStatusError", text);
}

#ifdef FMI2_FUNCTION_PREFIX /* static linking: the importer chooses the prefix */
#define FACE(name) FACE_JOIN(FACE_JOIN(FMI2_FUNCTION_PREFIX, fmi2), name)
#else
#define FACE(name) FACE_JOIN(fmi2, name)
#endif
#define FACE_WORD "fmi2"
#define FACE_STATUS fmi2Status
#define FACE_OK fmi2OK
#define FACE_DISCARD fmi2Discard
#define FACE_ERROR fmi2Error
#define FACE_BOOLEAN fmi2Boolean
#define FACE_BYTE char
#define FACE_STATE(verb) FACE_JOIN(verb, FMUstate)
#define FACE_DESERIALIZE DeSerialize
#define FACE_DERIVATIVES GetDerivatives
#include "fmu_face.h"

FACE_EXPORT const char *FACE(GetTypesPlatform)(void) { return "default"; }
FACE_EXPORT const char *FACE(GetVersion)(void) { return "2.0"; }

FACE_EXPORT fmi2Component FACE(Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
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

FACE_EXPORT void FACE(FreeInstance)(fmi2Component c) {
    if (!c) return;
    fmu_free(((Instance2 *)c)->name);
    fmu_free(c);
}

/* -- initialization ---------------------------------------------------------------------------------------------- */
FACE_EXPORT fmi2Status FACE(SetupExperiment)(fmi2Component c, fmi2Boolean with_tolerance, double tolerance, double start,
                                             fmi2Boolean with_stop, double stop) {
    CHECK(c, INSTANTIATED, "SetupExperiment");
    (void)with_stop; (void)stop;
    return as_status(set_up(FMU_OF(c), start, with_tolerance, tolerance));
}

FACE_EXPORT fmi2Status FACE(EnterInitializationMode)(fmi2Component c) {
    CHECK(c, INSTANTIATED, "EnterInitializationMode");
    FMU_OF(c)->now.mode = INITIALIZING;
    return fmi2OK;
}

/* -- values ------------------------------------------------------------------------------------------------------ */
FACE_EXPORT fmi2Status FACE(GetReal)(fmi2Component c, const fmi2ValueReference refs[], size_t n, double values[]) {
    CHECK(c, ANY_TIME, "GetReal");
    return get_values(c, refs, n, values);
}

FACE_EXPORT fmi2Status FACE(SetReal)(fmi2Component c, const fmi2ValueReference refs[], size_t n, const double values[]) {
    CHECK(c, ANY_TIME, "SetReal");
    return set_values(c, refs, n, values);
}

FACE_EXPORT fmi2Status FACE(GetInteger)(fmi2Component c, const fmi2ValueReference r[], size_t n, int v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi2Status FACE(GetBoolean)(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Boolean v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi2Status FACE(GetString)(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2String v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi2Status FACE(SetInteger)(fmi2Component c, const fmi2ValueReference r[], size_t n, const int v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi2Status FACE(SetBoolean)(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Boolean v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}
FACE_EXPORT fmi2Status FACE(SetString)(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2String v[]) {
    (void)r; (void)v;
    return none_of(c, n);
}

FACE_EXPORT fmi2Status FACE(GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                                      const fmi2ValueReference known[], size_t n_known,
                                                      const double seed[], double result[]) {
    CHECK(c, RUNNING, "GetDirectionalDerivative");
    return sum_partials(c, unknown, n_unknown, known, n_known, seed, result, 0);
}

/* -- model exchange ---------------------------------------------------------------------------------------------- */
FACE_EXPORT fmi2Status FACE(NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info) {
    CHECK(c, EVENTS, "NewDiscreteStates");
    int changed = 0;
    double next = HUGE_VAL;
    if (update_events(FMU_OF(c), &changed, &next)) return fmi2Error;
    memset(info, 0, sizeof *info);
    info->valuesOfContinuousStatesChanged = changed;
    info->nextEventTimeDefined = next < HUGE_VAL;
    info->nextEventTime = next < HUGE_VAL ? next : 0.0;
    return fmi2OK;
}

/* -- co-simulation ----------------------------------------------------------------------------------------------- */
FACE_EXPORT fmi2Status FACE(DoStep)(fmi2Component c, double from, double length, fmi2Boolean no_return) {
    CHECK(c, STEPPING, "DoStep");
    (void)no_return;
    return as_status(do_step(FMU_OF(c), from, length));
}

FACE_EXPORT fmi2Status FACE(CancelStep)(fmi2Component c) {
    return decline(c, "steps of this FMU end before the call returns");
}

FACE_EXPORT fmi2Status FACE(SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference r[], size_t n, const int order[],
                                                     const double v[]) {
    (void)r; (void)n; (void)order; (void)v;
    return decline(c, "inputs are held during a step; their derivatives are not used");
}

FACE_EXPORT fmi2Status FACE(GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference r[], size_t n, const int order[],
                                                      double v[]) {
    (void)r; (void)n; (void)order; (void)v;
    return decline(c, "derivatives of outputs are not provided");
}

FACE_EXPORT fmi2Status FACE(GetStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Status *value) {
    (void)kind; (void)value;
    return c ? fmi2Discard : fmi2Error;
}

FACE_EXPORT fmi2Status FACE(GetRealStatus)(fmi2Component c, fmi2StatusKind kind, double *value) {
    if (!c || kind != fmi2LastSuccessfulTime) return c ? fmi2Discard : fmi2Error;
    *value = NAME(time)(&FMU_OF(c)->now.model);
    return fmi2OK;
}

FACE_EXPORT fmi2Status FACE(GetIntegerStatus)(fmi2Component c, fmi2StatusKind kind, int *value) {
    (void)kind; (void)value;
    return c ? fmi2Discard : fmi2Error;
}

FACE_EXPORT fmi2Status FACE(GetBooleanStatus)(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value) {
    if (!c || kind != fmi2Terminated) return c ? fmi2Discard : fmi2Error;
    *value = 0;
    return fmi2OK;
}

FACE_EXPORT fmi2Status FACE(GetStringStatus)(fmi2Component c, fmi2StatusKind kind, fmi2String *value) {
    (void)kind; (void)value;
    return c ? fmi2Discard : fmi2Error;
}
