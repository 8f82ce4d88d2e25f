/* What the functions of FMI 2.0 and of FMI 3.0 have in common, over fmu_core.h.

   A face (fmi2.c, fmi3.c) declares its types and defines, before it includes this file:
   FACE(name), the name of a function; FACE_WORD, its beginning as a text; FACE_EXPORT, how it is exported;
   FACE_STATUS with FACE_OK, FACE_DISCARD, FACE_ERROR; FACE_BOOLEAN; FACE_BYTE, of serialized states; FACE_STATE(verb),
   FACE_DESERIALIZE and FACE_DERIVATIVES, names that differ.  Its instance is a structure that begins with an Fmu. */

#define FACE_JOIN_AS_THEY_ARE(a, b) a##b
#define FACE_JOIN(a, b) FACE_JOIN_AS_THEY_ARE(a, b)
#define FACE_TEXT_AS_IT_IS(word) #word
#define FACE_TEXT(word) FACE_TEXT_AS_IT_IS(word)

#define FMU_OF(c) ((Fmu *)(c))
#define RUNNING (INITIALIZING | EVENTS | CONTINUOUS | STEPPING | TERMINATED)
#define ANY_TIME (INSTANTIATED | RUNNING)
#define CHECK(c, modes, call) \
    if (!(c)) return FACE_ERROR; \
    if (!allowed(FMU_OF(c), (modes), FACE_WORD call)) return FACE_ERROR

static FACE_STATUS as_status(int code) { return code == FMU_OK ? FACE_OK : code == FMU_STOPPED ? FACE_DISCARD : FACE_ERROR; }

/* A call that this FMU has no use for. */
static FACE_STATUS decline(void *c, const char *why) { return c ? as_status(refuse(FMU_OF(c), why)) : FACE_ERROR; }

/* -- life -------------------------------------------------------------------------------------------------------- */
FACE_EXPORT FACE_STATUS FACE(SetDebugLogging)(void *c, FACE_BOOLEAN on, size_t n, const char *const names[]) {
    (void)on; (void)n; (void)names;
    return c ? FACE_OK : FACE_ERROR;
}

FACE_EXPORT FACE_STATUS FACE(ExitInitializationMode)(void *c) {
    CHECK(c, INITIALIZING, "ExitInitializationMode");
    return as_status(end_initialization(FMU_OF(c)));
}

FACE_EXPORT FACE_STATUS FACE(Terminate)(void *c) {
    CHECK(c, EVENTS | CONTINUOUS | STEPPING, "Terminate");
    FMU_OF(c)->now.mode = TERMINATED;
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(Reset)(void *c) {
    if (!c) return FACE_ERROR;
    begin_anew(FMU_OF(c));
    return FACE_OK;
}

/* -- values ------------------------------------------------------------------------------------------------------ */
static FACE_STATUS get_values(void *c, const uint32_t refs[], size_t n, double values[]) {
    int code = FMU_OK;
    for (size_t k = 0; k < n && !code; k++) code = get_value(FMU_OF(c), refs[k], &values[k]);
    return as_status(code);
}

static FACE_STATUS set_values(void *c, const uint32_t refs[], size_t n, const double values[]) {
    int code = FMU_OK;
    for (size_t k = 0; k < n && !code; k++) code = set_value(FMU_OF(c), refs[k], values[k]);
    return as_status(code);
}

static FACE_STATUS none_of(void *c, size_t n) {
    if (!c) return FACE_ERROR;
    return n ? as_status(refuse(FMU_OF(c), "all variables of this FMU are real numbers of double precision")) : FACE_OK;
}

/* Sums of partial derivatives: along a direction of the knowns, or of the unknowns. */
static FACE_STATUS sum_partials(void *c, const uint32_t unknown[], size_t n_unknown, const uint32_t known[], size_t n_known,
                                const double seed[], double result[], int adjoint) {
    for (size_t k = 0; k < (adjoint ? n_known : n_unknown); k++) result[k] = 0.0;
    for (size_t i = 0; i < n_unknown; i++)
        for (size_t k = 0; k < n_known; k++) {
            double partial = 0.0;
            if (find_partial(FMU_OF(c), unknown[i], known[k], &partial)) return FACE_ERROR;
            if (adjoint) result[k] += partial * seed[i];
            else result[i] += partial * seed[k];
        }
    return FACE_OK;
}

/* -- saved states ------------------------------------------------------------------------------------------------ */
FACE_EXPORT FACE_STATUS FACE(FACE_STATE(Get))(void *c, void **state) {
    if (!c || !state) return FACE_ERROR;
    if (!*state) *state = fmu_allocate(sizeof(Changing));
    if (!*state) return as_status(refuse(FMU_OF(c), "no memory for a saved state"));
    save_state(FMU_OF(c), *state);
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(FACE_STATE(Set))(void *c, void *state) {
    if (!c || !state) return FACE_ERROR;
    restore_state(FMU_OF(c), state);
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(FACE_STATE(Free))(void *c, void **state) {
    if (!c || !state) return FACE_ERROR;
    fmu_free(*state);
    *state = 0;
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(FACE_JOIN(FACE_STATE(Serialized), Size))(void *c, void *state, size_t *size) {
    (void)state;
    if (!c || !size) return FACE_ERROR;
    *size = sizeof(Changing);
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(FACE_STATE(Serialize))(void *c, void *state, FACE_BYTE bytes[], size_t size) {
    if (!c || !state || size < sizeof(Changing)) return FACE_ERROR;
    memcpy(bytes, state, sizeof(Changing));
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(FACE_STATE(FACE_DESERIALIZE))(void *c, const FACE_BYTE bytes[], size_t size, void **state) {
    if (!c || !state) return FACE_ERROR;
    if (size != sizeof(Changing)) return as_status(refuse(FMU_OF(c), "a serialized state of another size"));
    if (!*state) *state = fmu_allocate(sizeof(Changing));
    if (!*state) return as_status(refuse(FMU_OF(c), "no memory for a saved state"));
    memcpy(*state, bytes, sizeof(Changing));
    return FACE_OK;
}

/* -- model exchange ---------------------------------------------------------------------------------------------- */
FACE_EXPORT FACE_STATUS FACE(EnterEventMode)(void *c) {
    CHECK(c, CONTINUOUS | EVENTS, "EnterEventMode");
    FMU_OF(c)->now.mode = EVENTS;
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(EnterContinuousTimeMode)(void *c) {
    CHECK(c, EVENTS, "EnterContinuousTimeMode");
    FMU_OF(c)->now.mode = CONTINUOUS;
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(CompletedIntegratorStep)(void *c, FACE_BOOLEAN no_return, FACE_BOOLEAN *enter_event_mode,
                                                      FACE_BOOLEAN *terminate) {
    CHECK(c, CONTINUOUS, "CompletedIntegratorStep");
    (void)no_return;
    *enter_event_mode = completed_step(FMU_OF(c)) != 0;
    *terminate = 0;
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(SetTime)(void *c, double t) {
    CHECK(c, EVENTS | CONTINUOUS, "SetTime");
    set_time(FMU_OF(c), t);
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(SetContinuousStates)(void *c, const double x[], size_t n) {
    CHECK(c, EVENTS | CONTINUOUS, "SetContinuousStates");
    return as_status(set_states(FMU_OF(c), x, n));
}

static FACE_STATUS copy_out(void *c, const double *from, size_t expected, double *to, size_t n) {
    if (n != expected) return as_status(refuse(FMU_OF(c), "the length of an array is wrong"));
    if (n) memcpy(to, from, n * sizeof(double));
    return FACE_OK;
}

FACE_EXPORT FACE_STATUS FACE(FACE_DERIVATIVES)(void *c, double rates[], size_t n) {
    CHECK(c, RUNNING, FACE_TEXT(FACE_DERIVATIVES));
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return FACE_ERROR;
    return copy_out(c, find_rates(FMU_OF(c)), N_CONTINUOUS, rates, n);
}

FACE_EXPORT FACE_STATUS FACE(GetEventIndicators)(void *c, double indicators[], size_t n) {
    CHECK(c, RUNNING, "GetEventIndicators");
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return FACE_ERROR;
    return copy_out(c, find_indicators(FMU_OF(c)), N_EVENTS, indicators, n);
}

FACE_EXPORT FACE_STATUS FACE(GetContinuousStates)(void *c, double x[], size_t n) {
    CHECK(c, RUNNING, "GetContinuousStates");
    if (is_starting(FMU_OF(c)) && settle(FMU_OF(c))) return FACE_ERROR;
    return copy_out(c, NAME(state)(&FMU_OF(c)->now.model), N_CONTINUOUS, x, n);
}

FACE_EXPORT FACE_STATUS FACE(GetNominalsOfContinuousStates)(void *c, double x[], size_t n) {
    CHECK(c, ANY_TIME, "GetNominalsOfContinuousStates");
    static const double nominals[] = FMU_NOMINALS;
    return copy_out(c, nominals, N_CONTINUOUS, x, n);
}
