/* A ball that bounces on the ground, with an impact at h = 0 and a push of its own every second: state event and time
   event.  FMI 2.0 and 3.0, Model Exchange. */
#include "shim.h"

enum { H, DER_H, V, DER_V, G, E, PUSH, N_VALUES };

typedef struct {
  SHIM_HEAD
  double v[N_VALUES];
  double next;
  int bounces;
} Model;

static void model_start(Model *m) {
  m->v[H] = 1.0;
  m->v[V] = 0.0;
  m->v[G] = -9.81;
  m->v[E] = 0.7;
  m->v[PUSH] = 0.0;
  m->next = 1.0;
  m->bounces = 0;
}
static int model_check(Model *m) {
  (void)m;
  return 1;
}
static void model_evaluate(Model *m) {
  m->v[DER_H] = m->v[V];
  m->v[DER_V] = m->v[G];
}
static int model_step(Model *m, double t, double h) {
  (void)m;
  (void)t;
  (void)h;
  return 0;
}
static double *model_value(Model *m, unsigned reference) { return reference < N_VALUES ? &m->v[reference] : 0; }
static int model_states(Model *m, double **states, double **rates) {
  states[0] = &m->v[H];
  states[1] = &m->v[V];
  rates[0] = &m->v[DER_H];
  rates[1] = &m->v[DER_V];
  return 2;
}
static int model_indicators(Model *m, double *z) {
  z[0] = m->v[H];
  return 1;
}
static double model_event(Model *m, int *changed) {
  *changed = 0;
  if (m->v[H] <= 0.0 && m->v[V] < 0.0) {
    m->v[H] = 0.0;
    m->v[V] = -m->v[E] * m->v[V];
    m->bounces += 1;
    *changed = 1;
  }
  if (m->time >= m->next) {
    m->v[V] += m->v[PUSH];
    m->next += 1.0;
    *changed = 1;
  }
  return m->next;
}

#include "shim_end.h"
