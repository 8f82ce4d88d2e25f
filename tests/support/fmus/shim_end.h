/* The FMI functions over the functions of a model: model_start, model_check, model_evaluate, model_step ... */
#ifndef MODEL_ASKS /* of a completed step: whether it asks for an event, or for the end; of derivatives: whether it fails */
#define MODEL_ASKS(m) ((void)(m), 0)
#define MODEL_ENDS(m) ((void)(m), 0)
#define MODEL_FAILS(m) ((void)(m), 0)
#endif
enum { OK, WARNING, DISCARD, ERROR };

static int get_values(Model *m, const unsigned *references, size_t count, double *values) {
  size_t k;
  model_evaluate(m);
  for (k = 0; k < count; k++) {
    double *value = model_value(m, references[k]);
    if (!value) return ERROR;
    values[k] = *value;
  }
  return OK;
}
static int set_values(Model *m, const unsigned *references, size_t count, const double *values) {
  size_t k;
  for (k = 0; k < count; k++) {
    double *value = model_value(m, references[k]);
    if (!value) return ERROR;
    *value = values[k];
  }
  return OK;
}
static int copy_states(Model *m, double *x, const double *given, int rates) {
  double *states[8], *slopes[8];
  int k, n = model_states(m, states, slopes);
  model_evaluate(m);
  for (k = 0; k < n; k++) {
    if (given)
      *states[k] = given[k];
    else
      x[k] = rates ? *slopes[k] : *states[k];
  }
  return OK;
}
static int save(Model *m, void **state) {
  if (!*state) *state = malloc(sizeof(Model));
  if (!*state) return ERROR;
  memcpy(*state, m, sizeof(Model));
  return OK;
}
static int restore(Model *m, void *state) {
  memcpy(m, state, sizeof(Model));
  return OK;
}
static int release(void **state) {
  free(*state);
  *state = 0;
  return OK;
}

#if FMI == 2
typedef struct {
  int again, ends, nominals, changed, timed;
  double next;
} EventInfo;
#define F(name) EXPORT int fmi2##name
EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT void *fmi2Instantiate(const char *name, int kind, const char *token, const char *place, const Callbacks *c,
                             Bool visible, Bool logging) {
  Model *m = calloc(1, sizeof(Model));
  (void)name, (void)kind, (void)place, (void)visible, (void)logging;
  if (!m) return 0;
  m->callbacks = c;
  if (strcmp(token, "{kinode-test}") != 0) {
    shim_log(m, "wrong token");
    free(m);
    return 0;
  }
  model_start(m);
  return m;
}
EXPORT void fmi2FreeInstance(void *m) { free(m); }
F(SetDebugLogging)(void *m, Bool on, size_t n, const char **categories) { return (void)m, (void)on, (void)n, (void)categories, OK; }
F(SetupExperiment)(void *m, Bool a, double tolerance, double t, Bool b, double stop) {
  return (void)a, (void)tolerance, (void)b, (void)stop, ((Model *)m)->time = t, OK;
}
F(EnterInitializationMode)(void *m) { return model_check(m) ? OK : ERROR; }
F(ExitInitializationMode)(void *m) { return model_check(m) ? OK : ERROR; }
F(Terminate)(void *m) { return (void)m, OK; }
F(Reset)(void *m) { return model_start(m), OK; }
F(GetReal)(void *m, const unsigned *r, size_t n, double *v) { return get_values(m, r, n, v); }
F(SetReal)(void *m, const unsigned *r, size_t n, const double *v) { return set_values(m, r, n, v); }
F(GetInteger)(void *m, const unsigned *r, size_t n, int *v) {
  size_t k;
  double x;
  for (k = 0; k < n; k++) {
    if (get_values(m, r + k, 1, &x)) return ERROR;
    v[k] = (int)x;
  }
  return OK;
}
F(SetInteger)(void *m, const unsigned *r, size_t n, const int *v) {
  size_t k;
  double x;
  for (k = 0; k < n; k++) {
    x = v[k];
    if (set_values(m, r + k, 1, &x)) return ERROR;
  }
  return OK;
}
F(GetBoolean)(void *m, const unsigned *r, size_t n, int *v) { return fmi2GetInteger(m, r, n, v); }
F(SetBoolean)(void *m, const unsigned *r, size_t n, const int *v) { return fmi2SetInteger(m, r, n, v); }
F(GetString)(void *m, const unsigned *r, size_t n, const char **v) { return (void)m, (void)r, (void)n, (void)v, ERROR; }
F(SetString)(void *m, const unsigned *r, size_t n, const char *const *v) { return (void)m, (void)r, (void)n, (void)v, ERROR; }
F(GetFMUstate)(void *m, void **s) { return save(m, s); }
F(SetFMUstate)(void *m, void *s) { return restore(m, s); }
F(FreeFMUstate)(void *m, void **s) { return (void)m, release(s); }
F(SerializedFMUstateSize)(void *m, void *s, size_t *n) { return (void)m, (void)s, *n = sizeof(Model), OK; }
F(SerializeFMUstate)(void *m, void *s, char *v, size_t n) { return (void)m, memcpy(v, s, n), OK; }
F(DeSerializeFMUstate)(void *m, const char *v, size_t n, void **s) { return save(m, s), memcpy(*s, v, n), OK; }
F(GetDirectionalDerivative)(void *m, const unsigned *u, size_t nu, const unsigned *k, size_t nk, const double *d, double *v) {
  return (void)m, (void)u, (void)nu, (void)k, (void)nk, (void)d, (void)v, ERROR;
}
F(EnterEventMode)(void *m) { return (void)m, OK; }
F(NewDiscreteStates)(void *m, EventInfo *info) {
  memset(info, 0, sizeof(*info));
  info->next = model_event(m, &info->changed);
  info->timed = info->next >= 0.0;
  return OK;
}
F(EnterContinuousTimeMode)(void *m) { return (void)m, OK; }
F(CompletedIntegratorStep)(void *m, Bool prior, Bool *event, Bool *ends) {
  return (void)prior, *event = MODEL_ASKS((Model *)m), *ends = MODEL_ENDS((Model *)m), OK;
}
F(SetTime)(void *m, double t) { return ((Model *)m)->time = t, OK; }
F(SetContinuousStates)(void *m, const double *x, size_t n) { return (void)n, copy_states(m, 0, x, 0); }
F(GetDerivatives)(void *m, double *x, size_t n) { return (void)n, MODEL_FAILS((Model *)m) ? ERROR : copy_states(m, x, 0, 1); }
F(GetEventIndicators)(void *m, double *z, size_t n) { return (void)n, model_indicators(m, z), OK; }
F(GetContinuousStates)(void *m, double *x, size_t n) { return (void)n, copy_states(m, x, 0, 0); }
F(GetNominalsOfContinuousStates)(void *m, double *x, size_t n) {
  size_t k;
  (void)m;
  for (k = 0; k < n; k++) x[k] = 1.0;
  return OK;
}
F(SetRealInputDerivatives)(void *m, const unsigned *r, size_t n, const int *o, const double *v) { return (void)m, (void)r, (void)n, (void)o, (void)v, ERROR; }
F(GetRealOutputDerivatives)(void *m, const unsigned *r, size_t n, const int *o, double *v) { return (void)m, (void)r, (void)n, (void)o, (void)v, ERROR; }
F(DoStep)(void *m, double t, double h, Bool prior) { return (void)prior, model_step(m, t, h) ? OK : ERROR; }
F(CancelStep)(void *m) { return (void)m, ERROR; }
F(GetStatus)(void *m, int k, int *v) { return (void)m, (void)k, (void)v, DISCARD; }
F(GetRealStatus)(void *m, int k, double *v) { return (void)m, (void)k, (void)v, DISCARD; }
F(GetIntegerStatus)(void *m, int k, int *v) { return (void)m, (void)k, (void)v, DISCARD; }
F(GetBooleanStatus)(void *m, int k, int *v) { return (void)m, (void)k, (void)v, DISCARD; }
F(GetStringStatus)(void *m, int k, const char **v) { return (void)m, (void)k, (void)v, DISCARD; }
#else
#define F(name) EXPORT int fmi3##name
static void *make(const char *token, void *environment, LogMessage log) {
  Model *m = calloc(1, sizeof(Model));
  if (!m) return 0;
  m->log = log;
  m->environment = environment;
  if (strcmp(token, "{kinode-test}") != 0) {
    shim_log(m, "wrong token");
    free(m);
    return 0;
  }
  model_start(m);
  return m;
}
EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT void *fmi3InstantiateModelExchange(const char *name, const char *token, const char *place, Bool visible,
                                          Bool logging, void *environment, LogMessage log) {
  return (void)name, (void)place, (void)visible, (void)logging, make(token, environment, log);
}
EXPORT void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *place, Bool visible,
                                         Bool logging, Bool events, Bool early, const unsigned *between, size_t n,
                                         void *environment, LogMessage log, void *update) {
  return (void)name, (void)place, (void)visible, (void)logging, (void)events, (void)early, (void)between, (void)n,
         (void)update, make(token, environment, log);
}
EXPORT void fmi3FreeInstance(void *m) { free(m); }
F(SetDebugLogging)(void *m, Bool on, size_t n, const char **c) { return (void)m, (void)on, (void)n, (void)c, OK; }
F(EnterInitializationMode)(void *m, Bool a, double tolerance, double t, Bool b, double stop) {
  (void)a, (void)tolerance, (void)b, (void)stop;
  ((Model *)m)->time = t;
  return model_check(m) ? OK : ERROR;
}
F(ExitInitializationMode)(void *m) { return model_check(m) ? OK : ERROR; }
F(Terminate)(void *m) { return (void)m, OK; }
F(Reset)(void *m) { return model_start(m), OK; }
F(GetFloat64)(void *m, const unsigned *r, size_t n, double *v, size_t nv) { return (void)nv, get_values(m, r, n, v); }
F(SetFloat64)(void *m, const unsigned *r, size_t n, const double *v, size_t nv) { return (void)nv, set_values(m, r, n, v); }
F(GetInt32)(void *m, const unsigned *r, size_t n, int32_t *v, size_t nv) {
  double x;
  (void)n, (void)nv;
  if (get_values(m, r, 1, &x)) return ERROR;
  v[0] = (int32_t)x;
  return OK;
}
F(GetBoolean)(void *m, const unsigned *r, size_t n, bool *v, size_t nv) {
  double x;
  (void)n, (void)nv;
  if (get_values(m, r, 1, &x)) return ERROR;
  v[0] = x != 0.0;
  return OK;
}
F(SetBoolean)(void *m, const unsigned *r, size_t n, const bool *v, size_t nv) {
  double x = v[0] ? 1.0 : 0.0;
  (void)n, (void)nv;
  return set_values(m, r, 1, &x);
}
F(GetFMUState)(void *m, void **s) { return save(m, s); }
F(SetFMUState)(void *m, void *s) { return restore(m, s); }
F(FreeFMUState)(void *m, void **s) { return (void)m, release(s); }
F(EnterEventMode)(void *m) { return (void)m, OK; }
F(UpdateDiscreteStates)(void *m, Bool *again, Bool *ends, Bool *nominals, Bool *changed, Bool *timed, double *next) {
  int new_values = 0;
  *again = *ends = *nominals = 0;
  *next = model_event(m, &new_values);
  *changed = new_values != 0;
  *timed = *next >= 0.0;
  return OK;
}
F(EnterContinuousTimeMode)(void *m) { return (void)m, OK; }
F(CompletedIntegratorStep)(void *m, Bool prior, Bool *event, Bool *ends) {
  return (void)prior, *event = MODEL_ASKS((Model *)m), *ends = MODEL_ENDS((Model *)m), OK;
}
F(SetTime)(void *m, double t) { return ((Model *)m)->time = t, OK; }
F(SetContinuousStates)(void *m, const double *x, size_t n) { return (void)n, copy_states(m, 0, x, 0); }
F(GetContinuousStateDerivatives)(void *m, double *x, size_t n) { return (void)n, MODEL_FAILS((Model *)m) ? ERROR : copy_states(m, x, 0, 1); }
F(GetEventIndicators)(void *m, double *z, size_t n) { return (void)n, model_indicators(m, z), OK; }
F(GetContinuousStates)(void *m, double *x, size_t n) { return (void)n, copy_states(m, x, 0, 0); }
F(DoStep)(void *m, double t, double h, Bool prior, Bool *event, Bool *ends, Bool *early, double *last) {
  (void)prior;
  *event = *ends = *early = 0;
  *last = t + h;
  return model_step(m, t, h) ? OK : ERROR;
}
/* Functions that these models do not have. */
#define NONE(name) EXPORT int fmi3##name(void) { return ERROR; }
NONE(ActivateModelPartition) NONE(DeserializeFMUState) NONE(EnterConfigurationMode) NONE(EnterStepMode)
NONE(EvaluateDiscreteStates) NONE(ExitConfigurationMode) NONE(GetAdjointDerivative) NONE(GetBinary) NONE(GetClock)
NONE(GetDirectionalDerivative) NONE(GetFloat32) NONE(GetInt16) NONE(GetInt64) NONE(GetInt8) NONE(GetIntervalDecimal)
NONE(GetIntervalFraction) NONE(GetNominalsOfContinuousStates) NONE(GetNumberOfContinuousStates)
NONE(GetNumberOfEventIndicators) NONE(GetNumberOfVariableDependencies) NONE(GetOutputDerivatives)
NONE(GetShiftDecimal) NONE(GetShiftFraction) NONE(GetString) NONE(GetUInt16) NONE(GetUInt32) NONE(GetUInt64)
NONE(GetUInt8) NONE(GetVariableDependencies) NONE(InstantiateScheduledExecution) NONE(SerializeFMUState)
NONE(SerializedFMUStateSize) NONE(SetBinary) NONE(SetClock) NONE(SetFloat32) NONE(SetInt16) NONE(SetInt32)
NONE(SetInt64) NONE(SetInt8) NONE(SetIntervalDecimal) NONE(SetIntervalFraction) NONE(SetShiftDecimal)
NONE(SetShiftFraction) NONE(SetString) NONE(SetUInt16) NONE(SetUInt32) NONE(SetUInt64) NONE(SetUInt8)
#endif
