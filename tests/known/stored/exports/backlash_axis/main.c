/* Simulates backlash_axis and prints its outputs, separated by commas. */
#include <stdio.h>

#include "backlash_axis.h"

static backlash_axis_model model; /* about 8 bytes for each of its numbers: not for a small stack */

int main(void)
{
    double out[BACKLASH_AXIS_N_OUTPUTS > 0 ? BACKLASH_AXIS_N_OUTPUTS : 1];
    int status;
    backlash_axis_defaults(&model);
    status = backlash_axis_init(&model, 0.0);
    printf("t,shaft.q,elbow.q\n");
    for (int k = 0; status == 0 && k <= 100; ++k) {
        backlash_axis_outputs(&model, out);
        printf("%.17g", backlash_axis_time(&model));
        for (int i = 0; i < BACKLASH_AXIS_N_OUTPUTS; ++i) printf(",%.17g", out[i]);
        printf("\n");
        if (k < 100) status = backlash_axis_advance(&model, 0.0 + 0.04 * (k + 1));
    }
    if (status) fprintf(stderr, "t = %g s: %s\n", backlash_axis_time(&model), backlash_axis_status_text(status));
    return status;
}
