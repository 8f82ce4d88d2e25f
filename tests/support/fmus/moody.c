/* x' = u - x, y = x + u; from times that are parameters on it asks for an event at the end of a step, asks for the end
   of the run, fails, or announces an event.  FMI 2.0 and 3.0, Model Exchange; written for these tests.  -DFMI=2 or 3. */
#include "shim.h"

enum { X, DER_X, U, Y, ASKS, ENDS, FAILS, EVENT, N_VALUES };

typedef struct {
  SHIM_HEAD
  double v[N_VALUES];
} Model;

#define MODEL_ASKS(m) ((m)->time >= (m)->v[ASKS])
#define MODEL_ENDS(m) ((m)->time >= (m)->v[ENDS])
static int model_fails(Model *m);
#define MODEL_FAILS(m) model_fails(m)

static void model_start(Model *m) {
  m->v[X] = 1.0;
  m->v[U] = 0.0;
  m->v[ASKS] = m->v[ENDS] = m->v[FAILS] = 1e9;
  m->v[EVENT] = -1.0;
}
static int model_fails(Model *m) {
  if (m->time < m->v[FAILS]) return 0;
  shim_log(m, "enough is enough");
  return 1;
}
static int model_check(Model *m) { return (void)m, 1; }
static void model_evaluate(Model *m) {
  m->v[DER_X] = m->v[U] - m->v[X];
  m->v[Y] = m->v[X] + m->v[U];
}
static int model_step(Model *m, double t, double h) { return (void)m, (void)t, (void)h, 0; }
static double *model_value(Model *m, unsigned reference) { return reference < N_VALUES ? &m->v[reference] : 0; }
static int model_states(Model *m, double **states, double **rates) {
  *states = &m->v[X];
  *rates = &m->v[DER_X];
  return 1;
}
static int model_indicators(Model *m, double *z) { return (void)m, (void)z, 0; }
static double model_event(Model *m, int *changed) { return *changed = 0, m->v[EVENT]; }

#include "shim_end.h"
