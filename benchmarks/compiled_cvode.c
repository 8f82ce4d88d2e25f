/* The right side, the Jacobian and the event functions of CVODE, from kinode's kernels: no Python runs within a step. */
#include <string.h>

typedef void (*Kernel)(double *, double *, double *, double *, double *, double *, double *, double *, double *);

typedef struct {
    Kernel rate, jacobian, functions;
    double *(*data)(void *);     /* N_VGetArrayPointer */
    double **(*columns)(void *); /* SUNDenseMatrix_Cols */
    double *y, *p, *inputs, *x, *work, *out, *matrix, *g, *values;
    long *modes;
    double earliest, latest; /* times between which laws are evaluated */
    long n, n_continuous, n_q, n_u, n_functions, evaluations, jacobians;
} Model;

static void call(Model *model, Kernel kernel, double t, void *y, double *out) {
    double time = t < model->earliest ? model->earliest : t > model->latest ? model->latest : t, *all = model->y;
    memcpy(all, model->data(y), model->n_continuous * sizeof(double)); /* discrete states follow them */
    kernel(&time, all, all + model->n_q, all + model->n_q + model->n_u, model->p, model->inputs, model->x, model->work,
           out);
}

int cvode_rate(double t, void *y, void *y_dot, void *given) {
    Model *model = given;
    model->evaluations++;
    call(model, model->rate, t, y, model->out);
    memcpy(model->data(y_dot), model->out, model->n_continuous * sizeof(double));
    return 0;
}

int cvode_jacobian(double t, void *y, void *y_dot, void *jacobian, void *given, void *a, void *b, void *c) {
    Model *model = given;
    double **columns = model->columns(jacobian);
    model->jacobians++;
    call(model, model->jacobian, t, y, model->matrix);
    for (long j = 0; j < model->n_continuous; j++)
        for (long i = 0; i < model->n_continuous; i++) columns[j][i] = model->matrix[i * model->n + j];
    return 0;
}

int cvode_functions(double t, void *y, double *out, void *given) {
    Model *model = given;
    call(model, model->functions, t, y, model->g);
    for (long k = 0; k < model->n_functions; k++) {
        long mode = model->modes[k];
        out[k] = mode < 0 || model->y[mode] == model->values[k] ? model->g[k] : 1.0;
    }
    return 0;
}

void cvode_reset(Model *model, Kernel reset, double time) {
    double *all = model->y;
    reset(&time, all, all + model->n_q, all + model->n_q + model->n_u, model->p, model->inputs, model->x, model->work,
          model->out);
    memcpy(all, model->out, model->n * sizeof(double));
}
