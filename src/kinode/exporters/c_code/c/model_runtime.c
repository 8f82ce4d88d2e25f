/* -- the functions of the model ----------------------------------------------------------------------------------- */

static double KN(absolute)(const KN(model) *m, double t)
{
    return t == m->run.step.t_end ? m->t_wanted : m->run.step.origin + t;
}

static void KN(note_arguments)(KN(model) *m)
{
    KN(copy)(m->p_seen, m->p, KN_SIZE(m->p));
    KN(copy)(m->inputs_seen, m->inputs, KN_SIZE(m->inputs));
}

static int KN(arguments_changed)(const KN(model) *m)
{
    return KN(differ)(m->p_seen, m->p, KN_SIZE(m->p)) || KN(differ)(m->inputs_seen, m->inputs, KN_SIZE(m->inputs));
}

static void KN(clear)(void *from, const void *end)
{
    for (unsigned char *p = (unsigned char *)from; p != (const unsigned char *)end; p++) *p = 0;
}

/* A time at a tick of the clocks gets the time of the tick, to the last bit; the result counts from the start. */
static double KN(align)(const KN(model) *m, double at, double margin)
{
    if (m->run.clocks.count) {
        const double tick = (double)m->run.clocks.numerator / (double)m->run.clocks.denominator;
        const double k = floor(at / tick + 0.5);
        const double time = k * (double)m->run.clocks.numerator / (double)m->run.clocks.denominator;
        if (fabs(at - time) <= fmin(margin, 1e-3 * tick))
            return m->run.clocks.base_time + (k - (double)m->run.clocks.base) * (double)m->run.clocks.numerator
                   / (double)m->run.clocks.denominator;
    }
    return at - m->run.step.origin;
}

/* The end of a step in the time of the loop.  A caller adds up his steps, with their rounding: a tick or a break that
   is this near is at the end, and belongs to the next step. */
static double KN(find_end)(const KN(model) *m, double t_end)
{
    const double near = 1e-9 * fmax(1.0, fabs(t_end));
    const double end = KN(align)(m, t_end, near);
#if KN_HAS_BREAKS
    for (int64_t k = 1; k < m->run.breaks.count; k++)
        if (end != m->run.breaks.times[k] && fabs(end - m->run.breaks.times[k]) <= near) return m->run.breaks.times[k];
#endif
    return end;
}

#if KN_HAS_BREAKS
/* The present time and the next breaks after it. */
static void KN(find_breaks)(KN(model) *m)
{
    const double now = m->run.step.origin + m->run.step.t;
    double at = now;
    int64_t n = 0;
    m->run.breaks.margin = 16.0 * 2.220446049250313e-16 * (fabs(now) + m->search.look);
    m->run.breaks.times[n++] = m->run.step.t;
    while (n < KN_N_BREAKS) {
        at = KN_NEXT_BREAK(&m->search, at, INFINITY);
        if (!(at < INFINITY)) break;
        const double since = KN(align)(m, at, m->run.breaks.margin);
        if (since > m->run.breaks.times[n - 1] + 2.0 * m->run.breaks.margin) m->run.breaks.times[n++] = since;
    }
    m->run.breaks.count = n;
    m->run.breaks.next = 0;
}
#endif

/* Set the time range of expressions anew where breaks were found anew. */
static void KN(refresh_breaks)(KN(model) *m)
{
#if KN_HAS_BREAKS
    KN(find_breaks)(m);
    KN_BEGIN_PIECE(&m->run);
#else
    (void)m;
#endif
}

/* The last break that is known, in the time of the loop; infinite where all are. */
static double KN(horizon)(const KN(model) *m)
{
#if KN_HAS_BREAKS
    if (m->run.breaks.count == KN_N_BREAKS) return m->run.breaks.times[KN_N_BREAKS - 1];
#endif
    (void)m;
    return INFINITY;
}

/* Make all changes of the present instant; a status other than 0 says why that is not possible. */
static int KN(make_changes)(KN(model) *m)
{
#if KN_EVENTFUL
    KN(loop_run_memory) *run = &m->run;
    while (run->events.present) {
        const int64_t code = KN_HANDLE_INSTANT(run);
        if (code == KN_EVENTS_FULL) {
            run->events.listed = 0;
            continue;
        }
        if (code != KN_DONE) return (int)code;
        run->counts.pending = KN_READY;
        if (run->step.t != run->clocks.time) return 0;
        run->counts.pending = KN_TICK;
    }
#endif
    return KN_START(&m->run) ? 0 : KN_NOT_FINITE;
}

void KN(defaults)(KN(model) *m)
{
    KN(clear)(m, m + 1);
    KN(copy)(m->p, KN(default_p), KN_SIZE(m->p));
    KN(copy)(m->inputs, KN(default_inputs), KN_SIZE(m->inputs));
    m->rtol = KN_RTOL;
    KN(lay_out)(m);
    KN(bind)(m);
}

void KN(set_tolerance)(KN(model) *m, double rtol) { m->rtol = rtol; }

int KN(init)(KN(model) *m, double t0)
{
    KN(loop_run_memory) *run = &m->run;
    KN(clear)(&m->t_wanted, m + 1);
    KN(lay_out)(m);
    KN(bind)(m);
    run->step.origin = t0;
    m->t_wanted = t0;
    run->method.rtol = m->rtol;
    for (int k = 0; k < KN_N_TOLERANCES; k++) run->method.atol[k] *= m->rtol / KN_RTOL;
#if KN_EVENTFUL
    if (run->clocks.count) {
        const double tick = (double)run->clocks.numerator / (double)run->clocks.denominator;
        double k = ceil(t0 / tick);
        if (k < 0.0) k = 0.0;
        while (k > 0.0 && (k - 1.0) * (double)run->clocks.numerator / (double)run->clocks.denominator >= t0) k -= 1.0;
        run->clocks.base = run->clocks.first = (int64_t)k;
        run->clocks.base_time = k * (double)run->clocks.numerator / (double)run->clocks.denominator - t0;
    }
#endif
    run->step.t_end = 1.0;
    KN(note_arguments)(m);
#if KN_HAS_BREAKS
    KN(find_breaks)(m);
#endif
    const int found = KN(find_start)(m);
    if (found) return found;
#if KN_EVENTFUL
    if (!KN_BEGIN(run)) return KN_NOT_FINITE;
    if (run->events.present) return KN(make_changes)(m);
    return 0;
#else
    return KN_BEGIN_PLAIN(run) ? 0 : KN_NOT_FINITE;
#endif
}

double KN(time)(const KN(model) *m) { return KN(absolute)(m, m->run.step.t); }
double *KN(state)(KN(model) *m) { return m->run.state.y; }

void KN(rate)(KN(model) *m, double *rates)
{
    KN_RATE(&m->run, m->run.step.t, m->run.state.y, m->scratch);
    KN(copy)(rates, m->scratch, KN_N_CONTINUOUS);
}

void KN(outputs)(KN(model) *m, double *out)
{
#if KN_N_OUTPUTS
    KN_RUN_KERNEL(&m->run, KN_EVALUATE, KN_LAW_TIME(&m->run, m->run.step.t), m->run.state.y, m->run.model.x, out);
#else
    (void)m;
    (void)out;
#endif
}

void KN(project)(KN(model) *m)
{
    for (int k = 0; k < 20; k++) {
        double *y = m->run.state.y, moved = 0.0;
        KN(copy)(m->scratch, y, KN_SIZE(m->scratch));
        KN_PROJECT(&m->run, m->run.step.t, y);
        for (int i = 0; i < KN_N_POSITIONS; i++) moved = fmax(moved, fabs(y[i] - m->scratch[i]));
        if (!(moved > 1e-13)) break;
    }
}

double KN(drift)(KN(model) *m)
{
    double *y = m->run.state.y, moved = 0.0;
    KN(copy)(m->scratch, y, KN_SIZE(m->scratch));
    KN_PROJECT(&m->run, m->run.step.t, m->scratch);
    for (int i = 0; i < KN_N_CONTINUOUS; i++) {
        const double size = i < KN_N_POSITIONS ? 1.0 : fmax(1.0, fabs(y[i]));
        moved = fmax(moved, fabs(y[i] - m->scratch[i]) / size);
    }
    return moved;
}

int KN(advance)(KN(model) *m, double t_end)
{
    KN(loop_run_memory) *run = &m->run;
#if KN_N_STATES == 0
    run->step.t = run->step.t_end = t_end - run->step.origin;
    m->t_wanted = t_end;
    return 0;
#endif
    if (KN(arguments_changed)(m)) {
        KN(note_arguments)(m);
        KN(refresh_breaks)(m);
        KN_CLOSE_LOOPS(m);
#if KN_EVENTFUL
        if (!KN_PASS_BREAK(run)) return KN_NOT_FINITE;
#else
        if (!KN_BEGIN_PLAIN(run)) return KN_NOT_FINITE;
#endif
    }
    /* bounds on the number of steps hold for each call, which may be one of very many */
    run->method.max_steps = run->counts.steps + run->counts.rejected + KN_MOST_STEPS;
    run->step.t_start = run->step.stall_time = run->step.t;
    run->counts.stall_steps = run->counts.slow_windows = 0;
    for (;;) {
        const double limit = KN(horizon)(m), end = KN(find_end)(m, t_end);
        const int is_end = !(limit < end);
        run->step.t_end = is_end ? end : limit;
        m->t_wanted = is_end ? t_end : run->step.origin + limit;
        run->step.least = 8.673617379884035e-19 * fabs(run->step.t_end);
        run->counts.budget = KN_MOST_STEPS;
        if (!(run->step.t < run->step.t_end)) return 0;
#if KN_FIXED
        /* equal steps to the end, none longer than that of the method */
        run->method.max_steps = (int64_t)ceil((run->step.t_end - run->step.t) / KN_FIXED_STEP * (1.0 - 1e-10));
        if (run->method.max_steps < 1) run->method.max_steps = 1;
        run->step.t_start = run->step.t;
        run->step.h = (run->step.t_end - run->step.t) / (double)run->method.max_steps;
        run->counts.steps = run->counts.off_grid = 0;
#endif
        const int64_t code = KN_ADVANCE(run);
        if (code == KN_DONE && is_end) return 0;
        if (code == KN_EVENTS_FULL) run->events.listed = 0;
        else if (code == KN_DONE) {
#if KN_HAS_BREAKS
            KN(find_breaks)(m); /* the present break is the first of them, and is passed next */
#endif
        } else if (code != KN_PAUSED && code != KN_NEAR_SINGULAR) return (int)code;
    }
}

int KN(step)(KN(model) *m, double dt) { return KN(advance)(m, KN(time)(m) + dt); }

void KN(set_time)(KN(model) *m, double t)
{
    m->run.step.t = t - m->run.step.origin;
    m->run.step.t_end = m->run.step.t;
    m->t_wanted = t;
}

void KN(indicators)(KN(model) *m, double *g)
{
#if KN_N_EVENTS
    KN(loop_run_memory) *run = &m->run;
    KN_EVALUATE_EVENTS(run, run->step.t, run->state.y);
    for (int64_t k = 0; k < KN_N_EVENTS; k++)
        g[k] = KN_IS_ACTIVE(run, k, run->state.y) ? run->events.g[k] + (run->events.armed[k] ? 0.0 : 1e-9) : 1.0;
#else
    (void)m;
    (void)g;
#endif
}

void KN(arm)(KN(model) *m)
{
#if KN_N_EVENTS
    KN_EVALUATE_EVENTS(&m->run, m->run.step.t, m->run.state.y);
    KN_FIND_ACTIVE(&m->run, m->run.state.y);
    KN_ARM(&m->run);
#else
    (void)m;
#endif
}

int KN(update)(KN(model) *m)
{
    KN(loop_run_memory) *run = &m->run;
    const double near = 1e-9 * fmax(1.0, fabs(run->step.origin + run->step.t));
    int broken = 0;
    if (fabs(run->step.t - run->clocks.time) <= near) run->step.t = run->clocks.time;
    if (fabs(run->step.t - run->breaks.time) <= near) {
        if (run->step.t != run->clocks.time) run->step.t = run->breaks.time;
        broken = 1;
    }
    if (KN(arguments_changed)(m)) {
        KN(note_arguments)(m);
        KN_CLOSE_LOOPS(m);
        broken = 1;
    }
    if (broken) KN(refresh_breaks)(m);
#if KN_EVENTFUL
    if (run->events.present) {
        int64_t any = 0;
        run->events.consistent = 0;
        run->counts.pending = run->step.t == run->clocks.time ? KN_TICK : KN_MODES;
#if KN_N_EVENTS
        KN_EVALUATE_EVENTS(run, run->step.t, run->state.y);
        KN_MARK_TRIGGERED(run, run->state.y);
        for (int64_t k = 0; k < KN_N_EVENTS; k++) any |= run->events.triggered[k];
#endif
        if (any) run->counts.pending = KN_EVENT;
    }
#endif
    return KN(make_changes)(m);
}

double KN(next_time)(KN(model) *m, double until)
{
    const double next = fmin(m->run.clocks.time, m->run.breaks.time) + m->run.step.origin;
    return next <= until ? next : INFINITY;
}

#if KN_HAS_JACOBIAN
void KN(jacobian)(KN(model) *m, double *J)
{
    const int columns = KN_N_CONTINUOUS + KN_N_INPUTS;
    for (int c = 0; c < columns; c++) {
        const int at = KN_N_EFFORTS + (c < KN_N_CONTINUOUS ? c : KN_N_STATES + c - KN_N_CONTINUOUS);
        m->direction[at] = 1.0;
        KN_RUN_KERNEL(&m->run, KN_ALONG, KN_LAW_TIME(&m->run, m->run.step.t), m->run.state.y, m->direction, m->along);
        m->direction[at] = 0.0;
        for (int r = 0; r < KN_N_CONTINUOUS; r++) J[r * columns + c] = m->along[r];
        for (int r = 0; r < KN_N_OUTPUTS; r++) J[(KN_N_CONTINUOUS + r) * columns + c] = m->along[KN_N_STATES + r];
    }
}
#endif

const char *KN(status_text)(int status)
{
    switch (status) {
/* STATUS CASES */
    default: return "an unknown status";
    }
}
