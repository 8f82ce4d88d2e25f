/* A lag of first order: tau x' = gain u - x, y = x; and a sampled controller beside it.  FMI 2.0 and 3.0, Model Exchange
   and Co-Simulation; written for these tests from the standard's text.  -DFMI=2 or 3. */
#include "shim.h"

enum { X, DER_X, U, Y, TAU, GAIN, COUNT, SWITCH, N_VALUES };

typedef struct {
  SHIM_HEAD
  double v[N_VALUES];
} Model;

static void model_start(Model *m) {
  m->v[X] = 0.25;
  m->v[U] = 0.0;
  m->v[TAU] = 0.5;
  m->v[GAIN] = 1.0;
  m->v[COUNT] = 0.0;
  m->v[SWITCH] = 0.0;
}

static int model_check(Model *m) {
  if (m->v[TAU] <= 0.0) {
    shim_log(m, "the time constant must be positive");
    return 0;
  }
  return 1;
}

static void model_evaluate(Model *m) {
  m->v[DER_X] = (m->v[GAIN] * m->v[U] - m->v[X]) / m->v[TAU];
  m->v[Y] = m->v[SWITCH] != 0.0 ? -m->v[X] : m->v[X];
}

static int model_step(Model *m, double t, double h) {
  int k, n = 100;
  (void)t;
  if (m->v[U] > 1e3) {
    shim_log(m, "the input is beyond 1000");
    return 0;
  }
  for (k = 0; k < n; k++) {
    double e = m->v[GAIN] * m->v[U];
    m->v[X] = e + (m->v[X] - e) * (1.0 - 0.5 * h / n / m->v[TAU]) / (1.0 + 0.5 * h / n / m->v[TAU]);
  }
  m->v[COUNT] += 1.0;
  return 1;
}

static double *model_value(Model *m, unsigned reference) { return reference < N_VALUES ? &m->v[reference] : 0; }
static int model_states(Model *m, double **states, double **rates) {
  *states = &m->v[X];
  *rates = &m->v[DER_X];
  return 1;
}
static int model_indicators(Model *m, double *z) {
  (void)m;
  (void)z;
  return 0;
}
static double model_event(Model *m, int *changed) {
  (void)m;
  *changed = 0;
  return -1.0;
}

#include "shim_end.h"
