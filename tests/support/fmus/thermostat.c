/* A room that is heated until it is warm, and again when it is cold: x' = heat u - x + keeps (kept - x), with an event
   indicator that is positive as long as the heating stays as it is.  After the first completed step from the time "asks"
   on it asks for an event, and is a degree warmer behind it.  "kept" is x at the last completed step: with keeps it
   remembers more than its state.  FMI 2.0 and 3.0, Model Exchange; written for these tests.  -DFMI=2 or 3. */
#include "shim.h"

enum { X, DER_X, U, HEATS, SWITCHES, HIGH, LOW, ASKS, KEEPS, N_VALUES };

typedef struct {
  SHIM_HEAD
  double v[N_VALUES];
  double kept;
  int asked;
} Model;

static int model_asks(Model *m) {
  m->kept = m->v[X];
  return !m->asked && m->time >= m->v[ASKS];
}
#define MODEL_ASKS(m) model_asks(m)
#define MODEL_ENDS(m) ((void)(m), 0)
#define MODEL_FAILS(m) ((void)(m), 0)

static void model_start(Model *m) {
  m->v[X] = m->kept = 0.0;
  m->v[U] = 2.0;
  m->v[HEATS] = 1.0;
  m->v[SWITCHES] = 0.0;
  m->v[HIGH] = 1.0;
  m->v[LOW] = 0.5;
  m->v[ASKS] = 1e9;
  m->v[KEEPS] = 0.0;
  m->asked = 0;
}
static int model_check(Model *m) { return (void)m, 1; }
static void model_evaluate(Model *m) {
  m->v[DER_X] = m->v[HEATS] * m->v[U] - m->v[X] + m->v[KEEPS] * (m->kept - m->v[X]);
}
static int model_step(Model *m, double t, double h) { return (void)m, (void)t, (void)h, 0; }
static double *model_value(Model *m, unsigned reference) { return reference < N_VALUES ? &m->v[reference] : 0; }
static int model_states(Model *m, double **states, double **rates) {
  *states = &m->v[X];
  *rates = &m->v[DER_X];
  return 1;
}
static int model_indicators(Model *m, double *z) {
  z[0] = m->v[HEATS] > 0.0 ? m->v[HIGH] - m->v[X] : m->v[X] - m->v[LOW];
  return 1;
}
static double model_event(Model *m, int *changed) {
  double z;
  *changed = 0;
  model_indicators(m, &z);
  if (!m->asked && m->time >= m->v[ASKS]) {
    m->asked = *changed = 1;
    m->v[X] += 1.0;
  } else if (z <= 0.0) {
    m->v[HEATS] = 1.0 - m->v[HEATS];
    m->v[SWITCHES] += 1.0;
  }
  return -1.0;
}

#include "shim_end.h"
