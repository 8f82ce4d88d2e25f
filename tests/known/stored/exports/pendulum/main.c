/* Simulates pendulum and prints its outputs, separated by commas. */
#include <stdio.h>

#include "pendulum.h"

static pendulum_model model; /* about 8 bytes for each of its numbers: not for a small stack */

int main(void)
{
    double out[PENDULUM_N_OUTPUTS > 0 ? PENDULUM_N_OUTPUTS : 1];
    int status;
    pendulum_defaults(&model);
    status = pendulum_init(&model, 0.0);
    printf("t,pivot.q,pivot.u,pivot.reaction.force.x,pivot.reaction.force.y,pivot.reaction.force.z\n");
    for (int k = 0; status == 0 && k <= 100; ++k) {
        pendulum_outputs(&model, out);
        printf("%.17g", pendulum_time(&model));
        for (int i = 0; i < PENDULUM_N_OUTPUTS; ++i) printf(",%.17g", out[i]);
        printf("\n");
        if (k < 100) status = pendulum_advance(&model, 0.0 + 0.1 * (k + 1));
    }
    if (status) fprintf(stderr, "t = %g s: %s\n", pendulum_time(&model), pendulum_status_text(status));
    return status;
}
