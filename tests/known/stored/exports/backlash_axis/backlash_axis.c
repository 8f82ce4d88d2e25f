/* backlash_axis: written by kinode. */
#include "backlash_axis.h"
#define KN(word) backlash_axis_##word
#define KN_N_STATES 16
#define KN_N_CONTINUOUS 5
#define KN_N_POSITIONS 2
#define KN_N_INPUTS 0
#define KN_N_OUTPUTS 2
#define KN_N_EVENTS 12
#define KN_N_EFFORTS 2
#define KN_EVENTFUL 1
#define KN_HAS_BREAKS 1
#define KN_HAS_JACOBIAN 0
#define KN_N_BREAKS 16
#define KN_MOST_STEPS INT64_C(100000000)
#define KN_FIXED_STEP 0.0
#define KN_FIXED 0
#define KN_RTOL 1e-08
#define KN_N_TOLERANCES 16
#define KN_EVALUATE 8
#define KN_ALONG 0
#define KN_SIZE(array) (int)(sizeof(array) / sizeof(array)[0])
#define KN_CLOSE_LOOPS(m) (void)0
#define KN_DONE 0
#define KN_PAUSED 1
#define KN_NOT_FINITE 3
#define KN_NEAR_SINGULAR 6
#define KN_EVENTS_FULL 8
#define KN_READY 0
#define KN_EVENT 3
#define KN_TICK 4
#define KN_MODES 5
#define KN_ADVANCE backlash_axis_loop_advance
#define KN_BEGIN_PLAIN backlash_axis_loop_begin_plain
#define KN_START backlash_axis_loop_start
#define KN_RATE backlash_axis_loop_rate
#define KN_RUN_KERNEL backlash_axis_loop_run_kernel
#define KN_LAW_TIME backlash_axis_loop_law_time
#define KN_PROJECT backlash_axis_loop_project
#define KN_BEGIN_PIECE backlash_axis_loop_begin_piece
#define KN_HANDLE_INSTANT backlash_axis_loop_handle_instant
#define KN_BEGIN backlash_axis_loop_begin
#define KN_PASS_BREAK backlash_axis_loop_pass_break
#define KN_EVALUATE_EVENTS backlash_axis_loop_evaluate
#define KN_IS_ACTIVE backlash_axis_loop_is_active
#define KN_FIND_ACTIVE backlash_axis_loop_find_active
#define KN_ARM backlash_axis_loop_arm
#define KN_MARK_TRIGGERED backlash_axis_loop_mark_triggered
#define KN_NEXT_BREAK backlash_axis_loop_next_break
#define KN_FIND_START backlash_axis_loop_find_start
static void backlash_axis_copy(double *to, const double *from, int n)
{
    for (int k = 0; k < n; k++) to[k] = from[k];
}
static void backlash_axis_copy_whole(backlash_axis_loop_int *to, const backlash_axis_loop_int *from, int n)
{
    for (int k = 0; k < n; k++) to[k] = from[k];
}
static int backlash_axis_differ(const double *a, const double *b, int n)
{
    for (int k = 0; k < n; k++)
        if (a[k] != b[k]) return 1;
    return 0;
}

static int64_t backlash_axis_loop_divide(int64_t a, int64_t b)
{
    const int64_t rest = b ? a % b : 0;
    return b ? a / b - (rest != 0 && (rest < 0) != (b < 0)) : 0;
}

static double backlash_axis_loop_least(double a, double b)
{
    return b < a ? b : a;
}

static int64_t backlash_axis_loop_least_int(int64_t a, int64_t b)
{
    return b < a ? b : a;
}

static double backlash_axis_loop_most(double a, double b)
{
    return b > a ? b : a;
}

static int64_t backlash_axis_loop_most_int(int64_t a, int64_t b)
{
    return b > a ? b : a;
}

static int64_t backlash_axis_loop_remainder(int64_t a, int64_t b)
{
    const int64_t rest = b ? a % b : 0;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double backlash_axis_loop_sign(double a)
{
    return (a > 0.0 ? 1.0 : 0.0) - (a < 0.0 ? 1.0 : 0.0);
}

static int64_t backlash_axis_loop_whole(double x)
{
    if (!(x == x)) return 0;
    return x >= 9223372036854775807.0 ? INT64_MAX : x <= -9223372036854775808.0 ? INT64_MIN : (int64_t)x;
}

static void backlash_axis_kernel_1_rate(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)inputs; (void)x; (void)work;
    {
    const double v0 = q[0];
    const double v1 = q[1];
    const double v2 = u[0];
    out[0] = v2;
    const double v3 = u[1];
    out[1] = v3;
    const double v4 = z[0];
    const double v5 = z[1];
    const double v6 = z[2];
    const double v15 = z[11];
    out[4] = ((z[3] - (v4 * 0.9)) - (v2 * 0.048)) * 2500.0;
    const double v42 = v15 * v15;
    const double v45 = (((v15 * p[1]) * 0.5) * v42) * 10000.0;
    const double v47 = 1.0 / p[0];
    const double v49 = (v42 * v47) * 10000.0;
    const double v54 = v42 * 10000.0;
    const double v60 = v42 * 10.0;
    const double v61 = v47 * v60;
    const double v88 = ((((v45 * v47) - (v0 * (v47 * v49))) + (v1 * (v47 * v54))) - (v2 * (v47 * v61))) + (v3 * v61);
    const double v101 = backlash_axis_loop_most(0.0, v2 * v5) * 0.5;
    const double v110 = backlash_axis_loop_most(0.0, v3 * v6) * 50.0;
    const double v121 = (((v4 * 0.048) - (v2 * 2e-05)) + v88) - (v5 * ((exp(-backlash_axis_loop_least(700.0, v101 * v101)) * 0.002) + 0.004));
    const double v124 = (v6 * ((exp(-backlash_axis_loop_least(700.0, v110 * v110)) * 0.3999999999999999) + 0.8)) + (v3 * 0.2);
    out[2] = v121 * ((v5 * v5) * 16666.666666666668);
    const double v136 = (((((v45 - (v0 * v49)) + (v1 * v54)) - (v2 * v61)) + (v3 * v60)) + v124) * ((v6 * v6) * 1.9323671497584543);
    out[3] = -v136;
    out[5] = 0.0;
    out[6] = 0.0;
    out[7] = 0.0;
    out[8] = 0.0;
    out[9] = 0.0;
    out[10] = 0.0;
    out[11] = 0.0;
    out[12] = 0.0;
    out[13] = 0.0;
    out[14] = 0.0;
    out[15] = 0.0;
    }
}

static void backlash_axis_kernel_2_roots(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)inputs; (void)x; (void)work;
    {
    const double v0 = q[0];
    const double v1 = q[1];
    const double v2 = u[0];
    const double v3 = u[1];
    const double v5 = z[1];
    const double v6 = z[2];
    const double v15 = z[11];
    const double v17 = p[1];
    const double v19 = v5 * v5;
    const double v21 = v6 * v6;
    const double v42 = v15 * v15;
    const double v45 = (((v15 * v17) * 0.5) * v42) * 10000.0;
    const double v47 = 1.0 / p[0];
    const double v49 = (v42 * v47) * 10000.0;
    const double v54 = v42 * 10000.0;
    const double v60 = v42 * 10.0;
    const double v61 = v47 * v60;
    const double v88 = ((((v45 * v47) - (v0 * (v47 * v49))) + (v1 * (v47 * v54))) - (v2 * (v47 * v61))) + (v3 * v61);
    const double v101 = backlash_axis_loop_most(0.0, v2 * v5) * 0.5;
    const double v107 = (exp(-backlash_axis_loop_least(700.0, v101 * v101)) * 0.002) + 0.004;
    const double v110 = backlash_axis_loop_most(0.0, v3 * v6) * 50.0;
    const double v116 = (exp(-backlash_axis_loop_least(700.0, v110 * v110)) * 0.3999999999999999) + 0.8;
    const double v121 = (((z[0] * 0.048) - (v2 * 2e-05)) + v88) - (v5 * v107);
    const double v126 = ((((v45 - (v0 * v49)) + (v1 * v54)) - (v2 * v61)) + (v3 * v60)) + ((v6 * v116) + (v3 * 0.2));
    const double v135 = v121 * (v19 * 16666.666666666668);
    const double v136 = v126 * (v21 * 1.9323671497584543);
    const double v138 = v2 * 100.0;
    out[0] = v138;
    const double v146 = (1.0 - v19) * (v121 - (v135 * 6e-05));
    const double v149 = (1.0 - v21) * (v126 - (v136 * 0.5175));
    const double v154 = 1.0 / ((v107 + fabs(v146)) + 1e-200);
    const double v157 = fabs(v138) < 1e-06 ? 1.0 : 0.0;
    const double v158 = -v138;
    out[2] = v158;
    out[1] = v157 != 0.0 ? ((v107 - v146) * v154) : v158;
    out[3] = v157 != 0.0 ? (v154 * (v107 + v146)) : v138;
    const double v163 = v3 * 100.0;
    out[4] = v163;
    const double v168 = 1.0 / ((v116 + fabs(v149)) + 1e-200);
    const double v171 = fabs(v163) < 1e-06 ? 1.0 : 0.0;
    const double v172 = -v163;
    out[6] = v172;
    out[5] = v171 != 0.0 ? ((v116 + v149) * v168) : v172;
    out[7] = v171 != 0.0 ? (v168 * (v116 - v149)) : v163;
    const double v179 = v1 - (v0 * v47);
    const double v181 = v17 * 0.5;
    const double v182 = v179 + v181;
    const double v185 = v3 - (v2 * v47);
    out[20] = v185;
    out[23] = v185;
    const double v186 = -v185;
    out[21] = v186;
    out[22] = v186;
    const double v187 = v185 * 0.001;
    const double v193 = backlash_axis_loop_least(-(v182 + v187), -v182) * 1000.0;
    out[9] = v193;
    out[8] = -v193;
    const double v195 = v179 - v181;
    const double v199 = backlash_axis_loop_least(v187 + v195, v195) * 1000.0;
    out[11] = v199;
    out[10] = -v199;
    const double v202 = fabs(v135) < 1e-09 ? 1.0 : 0.0;
    out[12] = v202 != 0.0 ? 0.0 : v135;
    out[14] = v202 != 0.0 ? 0.0 : (-v135);
    const double v207 = fabs(v136) < 1e-09 ? 1.0 : 0.0;
    out[16] = v207 != 0.0 ? 0.0 : (-v136);
    out[18] = v207 != 0.0 ? 0.0 : v136;
    out[13] = 1.0;
    out[15] = 1.0;
    out[17] = 1.0;
    out[19] = 1.0;
    }
}

static void backlash_axis_kernel_3_glance(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)z; (void)inputs; (void)x; (void)work;
    {
    const double v2 = u[0];
    const double v3 = u[1];
    const double v47 = 1.0 / p[0];
    const double v138 = v2 * 100.0;
    out[0] = v138;
    out[2] = -v138;
    const double v163 = v3 * 100.0;
    out[4] = v163;
    out[6] = -v163;
    const double v179 = q[1] - (q[0] * v47);
    const double v181 = p[1] * 0.5;
    const double v182 = v179 + v181;
    const double v187 = (v3 - (v2 * v47)) * 0.001;
    const double v193 = backlash_axis_loop_least(-(v182 + v187), -v182) * 1000.0;
    out[9] = v193;
    out[8] = -v193;
    const double v195 = v179 - v181;
    const double v199 = backlash_axis_loop_least(v187 + v195, v195) * 1000.0;
    out[11] = v199;
    out[10] = -v199;
    out[1] = 0.0;
    out[3] = 0.0;
    out[5] = 0.0;
    out[7] = 0.0;
    }
}

static void backlash_axis_kernel_4_jump(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)p; (void)inputs; (void)work;
    {
    out[0] = q[0];
    out[1] = q[1];
    const double v2 = u[0];
    const double v3 = u[1];
    out[4] = z[0];
    const double v5 = z[1];
    const double v6 = z[2];
    out[7] = z[3];
    out[8] = z[4];
    out[9] = z[5];
    out[10] = z[6];
    out[11] = z[7];
    out[12] = z[8];
    out[13] = z[9];
    out[14] = z[10];
    const double v138 = v2 * 100.0;
    const double v157 = fabs(v138) < 1e-06 ? 1.0 : 0.0;
    const double v163 = v3 * 100.0;
    const double v171 = fabs(v163) < 1e-06 ? 1.0 : 0.0;
    const double v210 = x[0];
    const double v211 = x[1];
    const double v212 = x[2];
    const double v213 = x[3];
    const double v214 = x[4];
    const double v215 = x[5];
    const double v216 = x[6];
    const double v217 = x[7];
    const double v225 = v213 != 0.0 ? (-1.0) : (v212 != 0.0 ? 0.0 : (v211 != 0.0 ? 1.0 : (v210 != 0.0 ? 0.0 : v5)));
    const double v229 = v217 != 0.0 ? (-1.0) : (v216 != 0.0 ? 0.0 : (v215 != 0.0 ? 1.0 : (v214 != 0.0 ? 0.0 : v6)));
    const double v233 = x[11] != 0.0 ? 0.0 : (x[10] != 0.0 ? (-1.0) : (x[9] != 0.0 ? 0.0 : (x[8] != 0.0 ? 1.0 : z[11])));
    out[15] = v233;
    const double v237 = v157 != 0.0 ? 0.0 : backlash_axis_loop_sign(v138);
    const double v243 = v213 != 0.0 ? (-1.0) : (v212 != 0.0 ? v237 : (v211 != 0.0 ? 1.0 : (v210 != 0.0 ? v237 : v5)));
    const double v246 = v213 + (v212 + (v210 + v211));
    out[5] = v246 != 0.0 ? v243 : v225;
    const double v252 = v171 != 0.0 ? 0.0 : backlash_axis_loop_sign(v163);
    const double v258 = v217 != 0.0 ? (-1.0) : (v216 != 0.0 ? v252 : (v215 != 0.0 ? 1.0 : (v214 != 0.0 ? v252 : v6)));
    const double v261 = v217 + (v216 + (v214 + v215));
    const double v262 = v261 != 0.0 ? v2 : (v246 != 0.0 ? ((v157 * v212) != 0.0 ? 0.0 : ((v157 * v210) != 0.0 ? 0.0 : v2)) : v2);
    out[2] = v262;
    out[3] = v261 != 0.0 ? ((v171 * v216) != 0.0 ? 0.0 : ((v171 * v214) != 0.0 ? 0.0 : v3)) : v3;
    out[6] = v261 != 0.0 ? v258 : v229;
    }
}

static void backlash_axis_kernel_5_sample(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)p; (void)inputs; (void)work;
    {
    out[0] = q[0];
    const double v1 = q[1];
    out[1] = v1;
    out[2] = u[0];
    out[3] = u[1];
    out[4] = z[0];
    out[5] = z[1];
    out[6] = z[2];
    const double v12 = z[8];
    const double v13 = z[9];
    const double v14 = z[10];
    out[15] = z[11];
    const double v210 = x[0];
    const double v268 = backlash_axis_loop_least(1.0, backlash_axis_loop_most(0.0, (t[0] + (-0.1)) * 1.6666666666666667));
    const double v273 = ((v268 * v268) * (3.0 - (v268 * 2.0))) * 0.8;
    const double v274 = v1 - v273;
    const double v283 = (((v14 + v274) * 8.0) - (v13 * 0.003)) * 250.0;
    const double v285 = v274 * 300.0;
    const double v288 = v285 - (v12 - v283);
    const double v289 = -v288;
    const double v291 = backlash_axis_loop_least(24.0, backlash_axis_loop_most(-24.0, v289));
    out[8] = v210 != 0.0 ? v273 : z[4];
    out[9] = v210 != 0.0 ? v1 : z[5];
    out[10] = v210 != 0.0 ? v289 : z[6];
    out[11] = v210 != 0.0 ? (-v285) : z[7];
    out[12] = v210 != 0.0 ? ((v12 - v274) + ((v288 + v291) * 0.0033333333333333335)) : v12;
    out[13] = v210 != 0.0 ? (-v283) : v13;
    out[14] = v210 != 0.0 ? (-v274) : v14;
    out[7] = v210 != 0.0 ? v291 : z[3];
    }
}

static void backlash_axis_kernel_6_bounds(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)q; (void)u; (void)z; (void)p; (void)inputs; (void)work;
    {
    out[0] = x[4];
    out[1] = x[5];
    out[2] = x[6];
    out[3] = x[7];
    out[8] = x[12];
    out[9] = x[13];
    out[10] = x[14];
    out[11] = x[15];
    const double v61 = backlash_axis_loop_least(x[1], x[0]) * 1000.0;
    out[5] = v61;
    const double v62 = backlash_axis_loop_least(x[9], x[8]) * 1000.0;
    out[13] = v62;
    out[4] = -v62;
    out[12] = -v61;
    const double v67 = backlash_axis_loop_least(x[3], x[2]) * 1000.0;
    out[7] = v67;
    const double v68 = backlash_axis_loop_least(x[11], x[10]) * 1000.0;
    out[15] = v68;
    out[6] = -v68;
    out[14] = -v67;
    }
}

static void backlash_axis_kernel_7_arguments(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)z; (void)inputs; (void)work;
    {
    const double v2 = x[2];
    const double v3 = x[3];
    const double v18 = u[0];
    const double v19 = u[1];
    const double v35 = v18 * 100.0;
    out[4] = v35;
    out[5] = -v35;
    const double v37 = v19 * 100.0;
    out[6] = v37;
    out[7] = -v37;
    const double v40 = p[1] * 0.5;
    const double v59 = 1.0 / p[0];
    const double v61 = q[1] - (q[0] * v59);
    const double v66 = v40 + v61;
    out[0] = -v66;
    const double v68 = (v19 - (v18 * v59)) * 0.001;
    out[1] = -(v66 + v68);
    const double v72 = v40 - v61;
    out[2] = -v72;
    out[3] = v68 - v72;
    const double v76 = v2 * 100.0;
    out[12] = v76;
    out[13] = -v76;
    const double v78 = v3 * 100.0;
    out[14] = v78;
    out[15] = -v78;
    const double v82 = x[1] - (x[0] * v59);
    out[10] = v82;
    out[8] = -v82;
    const double v88 = v82 + ((v3 - (v2 * v59)) * 0.001);
    out[11] = v88;
    out[9] = -v88;
    }
}

static void backlash_axis_kernel_8_evaluate(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)u; (void)z; (void)p; (void)inputs; (void)x; (void)work;
    {
    out[0] = q[0];
    out[1] = q[1];
    }
}

static void backlash_axis_kernel_9_breaks(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)q; (void)u; (void)z; (void)p; (void)inputs; (void)x; (void)work;
    {
    const double v2 = (t[0] + (-0.1)) * 1.6666666666666667;
    out[0] = v2;
    out[1] = backlash_axis_loop_most(0.0, v2) + (-1.0);
    }
}

static void backlash_axis_kernel_10_requested(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)q; (void)u; (void)z; (void)p; (void)inputs; (void)x; (void)work;
    {
    out[0] = 0.0;
    out[1] = 0.0;
    out[2] = 0.0;
    out[3] = 0.0;
    out[4] = 0.0;
    out[5] = 0.0;
    out[6] = 0.0;
    out[7] = 0.0;
    out[8] = 0.0;
    out[9] = 0.0;
    out[10] = 0.0;
    out[11] = 0.0;
    out[12] = 0.0;
    out[13] = 0.0;
    out[14] = 0.0;
    out[15] = 0.0;
    }
}

static void backlash_axis_kernel_11_net_kernel(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)t; (void)z; (void)inputs; (void)x; (void)work;
    {
    const double v32 = 1.0 / p[0];
    out[0] = -(q[1] - (q[0] * v32));
    out[1] = -(u[1] - (u[0] * v32));
    out[2] = 0.0;
    out[3] = 0.0;
    }
}

static void backlash_axis_kernel_12_following(const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *restrict work, double *restrict out)
{
    (void)z; (void)inputs; (void)x; (void)work;
    {
    const double v1 = q[1];
    const double v2 = u[0];
    const double v3 = u[1];
    out[0] = backlash_axis_loop_sign(v2);
    out[1] = backlash_axis_loop_sign(v3);
    const double v24 = backlash_axis_loop_least(1.0, backlash_axis_loop_most(0.0, (t[0] + (-0.1)) * 1.6666666666666667));
    out[2] = -(v1 - (((v24 * v24) * (3.0 - (v24 * 2.0))) * 0.8));
    const double v32 = 1.0 / p[0];
    const double v34 = v1 - (q[0] * v32);
    out[4] = -v34;
    const double v36 = p[1] * 0.5;
    out[3] = (0.0 < (-(v34 + v36)) ? 1.0 : 0.0) - (0.0 < (v34 - v36) ? 1.0 : 0.0);
    out[5] = -(v3 - (v2 * v32));
    }
}

static void backlash_axis_loop_call(int64_t kernel, const double *t, const double *q, const double *u, const double *z, const double *p, const double *inputs, const double *x, double *work, double *out)
{
    switch (kernel) {
    case 1: backlash_axis_kernel_1_rate(t, q, u, z, p, inputs, x, work, out); break;
    case 2: backlash_axis_kernel_2_roots(t, q, u, z, p, inputs, x, work, out); break;
    case 3: backlash_axis_kernel_3_glance(t, q, u, z, p, inputs, x, work, out); break;
    case 4: backlash_axis_kernel_4_jump(t, q, u, z, p, inputs, x, work, out); break;
    case 5: backlash_axis_kernel_5_sample(t, q, u, z, p, inputs, x, work, out); break;
    case 6: backlash_axis_kernel_6_bounds(t, q, u, z, p, inputs, x, work, out); break;
    case 7: backlash_axis_kernel_7_arguments(t, q, u, z, p, inputs, x, work, out); break;
    case 8: backlash_axis_kernel_8_evaluate(t, q, u, z, p, inputs, x, work, out); break;
    case 9: backlash_axis_kernel_9_breaks(t, q, u, z, p, inputs, x, work, out); break;
    case 10: backlash_axis_kernel_10_requested(t, q, u, z, p, inputs, x, work, out); break;
    case 11: backlash_axis_kernel_11_net_kernel(t, q, u, z, p, inputs, x, work, out); break;
    case 12: backlash_axis_kernel_12_following(t, q, u, z, p, inputs, x, work, out); break;
    default: break;
    }
}

static void backlash_axis_loop_begin_piece(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_law_breaks *breaks = 0;
    double *times = 0;
    int64_t k = 0;
    breaks = &run->breaks;
    if (breaks->count == 0) {
        return;
    }
    times = breaks->times;
    k = breaks->next;
    while ((k < breaks->count) && (times[k] <= run->step.t)) {
        breaks->earliest = (times[k] + breaks->margin);
        k = (k + 1);
    }
    breaks->next = k;
    breaks->time = ((k < breaks->count) ? times[k] : INFINITY);
    breaks->latest = (breaks->time - breaks->margin);
}

static void backlash_axis_loop_copy_discrete(backlash_axis_loop_run_memory *run, double *out)
{
    double *y = 0;
    int64_t i = 0;
    y = run->state.y;
    for (int64_t i1 = run->model.n_continuous, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        out[i] = y[i];
    }
}

static double backlash_axis_loop_law_time(backlash_axis_loop_run_memory *run, double t)
{
    return (run->step.origin + backlash_axis_loop_least(backlash_axis_loop_most(t, run->breaks.earliest), run->breaks.latest));
}

static void backlash_axis_loop_follow_courses(backlash_axis_loop_course_memory *courses, double *time, int64_t lanes, double *inputs)
{
    backlash_axis_loop_int *entries = 0;
    backlash_axis_loop_int *starts = 0;
    backlash_axis_loop_int *at = 0;
    double *times = 0;
    double *values = 0;
    double *slopes = 0;
    int64_t c = 0;
    int64_t k = 0;
    int64_t first = 0;
    int64_t last = 0;
    int64_t lane = 0;
    double t = 0.0;
    entries = courses->entries;
    starts = courses->starts;
    at = courses->at;
    times = courses->times;
    values = courses->values;
    slopes = courses->slopes;
    for (int64_t i1 = 0, end1 = courses->count; i1 < end1; ++i1) {
        c = i1;
        k = at[c];
        first = starts[c];
        last = (starts[(c + 1)] - 1);
        for (int64_t i2 = 0, end2 = lanes; i2 < end2; ++i2) {
            lane = i2;
            t = time[lane];
            while ((k < last) && (times[(k + 1)] <= t)) {
                k = (k + 1);
            }
            while ((k > first) && (times[k] > t)) {
                k = (k - 1);
            }
            inputs[((entries[c] * lanes) + lane)] = (values[k] + (slopes[k] * backlash_axis_loop_most((t - times[k]), 0.0)));
        }
        at[c] = k;
    }
}

static void backlash_axis_loop_call_kernel(backlash_axis_loop_run_memory *run, int64_t kernel, double *y, double *x, double *out)
{
    backlash_axis_loop_model_kernels *model = 0;
    double *time = 0;
    model = &run->model;
    time = run->model.time;
    backlash_axis_loop_call(kernel, time, y, (y + model->u_at), (y + model->z_at), model->p, model->inputs, x, model->work, out);
}

static void backlash_axis_loop_run_kernel(backlash_axis_loop_run_memory *run, int64_t kernel, double t, double *y, double *x, double *out)
{
    backlash_axis_loop_model_kernels *model = 0;
    double *time = 0;
    int64_t i = 0;
    model = &run->model;
    time = model->time;
    for (int64_t i1 = 0, end1 = model->lanes; i1 < end1; ++i1) {
        i = i1;
        time[i] = t;
    }
    if (run->courses.count != 0) {
        backlash_axis_loop_follow_courses(&run->courses, time, model->lanes, model->inputs);
    }
    backlash_axis_loop_call_kernel(run, kernel, y, x, out);
}

static void backlash_axis_loop_rate(backlash_axis_loop_run_memory *run, double t, double *y, double *out)
{
    backlash_axis_loop_run_kernel(run, run->model.rate, backlash_axis_loop_law_time(run, t), y, (y + run->columns.n_state), out);
}

static int64_t backlash_axis_loop_any_not_finite(backlash_axis_loop_int *numbers, int64_t first, int64_t stop)
{
    int64_t flags = 0;
    int64_t i = 0;
    flags = 0;
    for (int64_t i1 = first, end1 = stop; i1 < end1; ++i1) {
        i = i1;
        flags = (flags | (((numbers[i] & INT64_C(4607182418800017408)) + INT64_C(4503599627370496)) & numbers[i]));
    }
    return (flags & INT64_C(4611686018427387904));
}

static int64_t backlash_axis_loop_not_finite(backlash_axis_loop_run_memory *run, double *row)
{
    return backlash_axis_loop_any_not_finite((backlash_axis_loop_int *)row, 0, run->model.n_continuous);
}

static int64_t backlash_axis_loop_first_not_finite(double *values, int64_t n)
{
    int64_t i = 0;
    for (int64_t i1 = 0, end1 = n; i1 < end1; ++i1) {
        i = i1;
        if (!(fabs(values[i]) < INFINITY)) {
            return i;
        }
    }
    return (-1);
}

static int backlash_axis_loop_start(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_model_kernels *model = 0;
    backlash_axis_loop_state_rows *state = 0;
    backlash_axis_loop_step_counts *counts = 0;
    double *y = 0;
    int64_t i = 0;
    model = &run->model;
    state = &run->state;
    counts = &run->counts;
    backlash_axis_loop_copy_discrete(run, state->y_new);
    backlash_axis_loop_copy_discrete(run, state->y_stage);
    backlash_axis_loop_copy_discrete(run, state->between);
    counts->failed = (-1);
    if (model->rate != 0) {
        backlash_axis_loop_rate(run, run->step.t, state->y, state->slopes);
        counts->evaluations = (counts->evaluations + 1);
        if (backlash_axis_loop_not_finite(run, state->slopes) != 0) {
            counts->failed = backlash_axis_loop_first_not_finite(state->slopes, model->n_continuous);
        }
    }
    if ((counts->failed < 0) && (backlash_axis_loop_any_not_finite((backlash_axis_loop_int *)(state->y), model->n_continuous, model->n) != 0)) {
        y = state->y;
        for (int64_t i1 = model->n_continuous, end1 = model->n; i1 < end1; ++i1) {
            i = i1;
            counts->failed = ((y[i] != y[i]) ? i : counts->failed);
        }
    }
    run->step.failed_time = run->step.t;
    run->bounds.known = 0;
    counts->started = 1;
    counts->restarted = 1;
    return (counts->failed < 0);
}

static void backlash_axis_loop_find_tick(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_clock_ticks *clocks = 0;
    int64_t due = 0;
    backlash_axis_loop_int *ticks = 0;
    int64_t s = 0;
    double since = 0.0;
    clocks = &run->clocks;
    due = (-1);
    ticks = clocks->ticks;
    for (int64_t i1 = 0, end1 = clocks->count; i1 < end1; ++i1) {
        s = i1;
        int64_t value2 = 0;
        if (due < 0) {
            value2 = ticks[((3 * s) + 2)];
        } else {
            value2 = backlash_axis_loop_least_int(due, ticks[((3 * s) + 2)]);
        }
        due = value2;
    }
    clocks->due = due;
    clocks->time = INFINITY;
    if (due >= 0) {
        since = ((double)((due - clocks->base) * clocks->numerator) / (double)(clocks->denominator));
        clocks->time = (clocks->base_time + since);
    }
}

static void backlash_axis_loop_begin_ticks(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_int *ticks = 0;
    int64_t s = 0;
    int64_t period = 0;
    int64_t phase = 0;
    int64_t late = 0;
    ticks = run->clocks.ticks;
    for (int64_t i1 = 0, end1 = run->clocks.count; i1 < end1; ++i1) {
        s = i1;
        period = ticks[(3 * s)];
        phase = ticks[((3 * s) + 1)];
        late = backlash_axis_loop_most_int(0, (run->clocks.first - phase));
        ticks[((3 * s) + 2)] = (phase + (backlash_axis_loop_divide(((late + period) - 1), period) * period));
    }
    backlash_axis_loop_find_tick(run);
}

static int backlash_axis_loop_begin(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_begin_piece(run);
    if (run->events.present == 0) {
        return backlash_axis_loop_start(run);
    }
    if (run->counts.pending == 0) {
        backlash_axis_loop_begin_ticks(run);
        run->counts.pending = 5;
    }
    return 1;
}

static int64_t backlash_axis_loop_write_slopes(backlash_axis_loop_run_memory *run, int64_t at)
{
    double *x = 0;
    backlash_axis_loop_course_memory *courses = 0;
    int64_t j = 0;
    int64_t c = 0;
    int64_t piece = 0;
    x = run->columns.x;
    courses = &run->courses;
    for (int64_t i1 = 0, end1 = run->columns.n_inputs; i1 < end1; ++i1) {
        j = i1;
        x[(at + j)] = 0.0;
    }
    for (int64_t i2 = 0, end2 = courses->count; i2 < end2; ++i2) {
        c = i2;
        piece = courses->at[c];
        if (run->model.time[0] >= courses->times[piece]) {
            x[(at + courses->entries[c])] = courses->slopes[piece];
        }
    }
    return (at + run->columns.n_inputs);
}

static void backlash_axis_loop_differentiate_functions(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_column_memory *columns = 0;
    double *y = 0;
    double *x = 0;
    int64_t m = 0;
    int64_t n = 0;
    int64_t k = 0;
    int64_t at = 0;
    int64_t i = 0;
    columns = &run->columns;
    y = run->state.y;
    x = run->columns.x;
    m = run->columns.count;
    n = run->columns.n_state;
    backlash_axis_loop_rate(run, run->step.t, y, columns->before);
    for (int64_t i1 = 0, end1 = m; i1 < end1; ++i1) {
        k = i1;
        x[k] = 0.0;
    }
    x[m] = 1.0;
    at = backlash_axis_loop_write_slopes(run, (m + 1));
    for (int64_t i2 = 0, end2 = (m * n); i2 < end2; ++i2) {
        i = i2;
        x[(at + i)] = y[(n + i)];
    }
    for (int64_t i3 = 0, end3 = n; i3 < end3; ++i3) {
        i = i3;
        x[((at + (m * n)) + i)] = columns->before[i];
    }
    backlash_axis_loop_run_kernel(run, columns->functions, backlash_axis_loop_law_time(run, run->step.t), y, x, columns->out);
}

static int backlash_axis_loop_is_active(backlash_axis_loop_run_memory *run, int64_t k, double *y)
{
    int64_t at = 0;
    at = run->events.modes[k];
    return ((at < 0) || (y[at] == run->events.values[k]));
}

static void backlash_axis_loop_lose(backlash_axis_loop_run_memory *run, int64_t why, int64_t k)
{
    backlash_axis_loop_column_memory *columns = 0;
    columns = &run->columns;
    if ((columns->count != 0) && (columns->lost == 0)) {
        const int64_t value1 = why;
        const double value2 = run->step.t;
        const int64_t value3 = k;
        columns->lost = value1;
        columns->lost_time = value2;
        columns->lost_function = value3;
    }
}

static int backlash_axis_loop_differs(backlash_axis_loop_run_memory *run, double one, double other)
{
    (void)run;
    double largest = 0.0;
    largest = backlash_axis_loop_most(fabs(one), fabs(other));
    return (fabs((one - other)) > (1e-09 * largest));
}

static void backlash_axis_loop_check_fixed(backlash_axis_loop_run_memory *run, double time)
{
    int64_t k = 0;
    if (run->step.t != time) {
        return;
    }
    for (int64_t i1 = 0, end1 = run->columns.count; i1 < end1; ++i1) {
        k = i1;
        if (run->columns.shifts[k] != 0.0) {
            backlash_axis_loop_lose(run, 2, run->events.blamed);
        }
    }
}

static void backlash_axis_loop_move_columns(backlash_axis_loop_run_memory *run, double *slope, double sign)
{
    double *y = 0;
    backlash_axis_loop_column_memory *columns = 0;
    int64_t n = 0;
    int64_t k = 0;
    double shift = 0.0;
    int64_t i = 0;
    y = run->state.y;
    columns = &run->columns;
    n = run->columns.n_state;
    for (int64_t i1 = 0, end1 = columns->count; i1 < end1; ++i1) {
        k = i1;
        shift = (sign * columns->shifts[k]);
        for (int64_t i2 = 0, end2 = n; i2 < end2; ++i2) {
            i = i2;
            y[((n + (k * n)) + i)] = (y[((n + (k * n)) + i)] + (shift * slope[i]));
        }
    }
}

static void backlash_axis_loop_shift_to_event(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_column_memory *columns = 0;
    double *y = 0;
    int64_t m = 0;
    int64_t count = 0;
    double *out = 0;
    int found = 0;
    int64_t j = 0;
    double falling = 0.0;
    double bend = 0.0;
    double span = 0.0;
    int grazes = 0;
    int64_t k = 0;
    double shift = 0.0;
    columns = &run->columns;
    y = run->state.y;
    m = run->columns.count;
    if (m == 0) {
        return;
    }
    count = run->events.count;
    out = columns->out;
    found = 0;
    backlash_axis_loop_differentiate_functions(run);
    for (int64_t i1 = 0, end1 = count; i1 < end1; ++i1) {
        j = i1;
        if ((run->events.triggered[j] == 0) || !(backlash_axis_loop_is_active(run, j, y))) {
            continue;
        }
        falling = out[(((2 * count) * (m + 1)) + j)];
        bend = out[((((2 * count) * (m + 1)) + count) + j)];
        span = (run->step.t_end - run->step.t_start);
        grazes = (!(((-falling) * span) > 1e-06) || (fabs((falling * out[(count + j)])) < ((2.0 * 1e-06) * fabs(bend))));
        if (grazes) {
            backlash_axis_loop_lose(run, 1, j);
        }
        for (int64_t i2 = 0, end2 = m; i2 < end2; ++i2) {
            k = i2;
            shift = (grazes ? 0.0 : ((-out[(((2 * count) * (k + 1)) + j)]) / falling));
            if (!found) {
                columns->shifts[k] = shift;
            } else {
                if (backlash_axis_loop_differs(run, shift, columns->shifts[k])) {
                    backlash_axis_loop_lose(run, 2, j);
                }
            }
        }
        found = 1;
    }
    columns->shifted = 1;
    backlash_axis_loop_check_fixed(run, run->clocks.time);
    if (columns->breaks_shift == 0) {
        backlash_axis_loop_check_fixed(run, run->breaks.time);
    } else {
        if (run->step.t == run->breaks.time) {
            backlash_axis_loop_lose(run, 2, run->events.blamed);
        }
    }
    backlash_axis_loop_move_columns(run, columns->before, 1.0);
}

static int64_t backlash_axis_loop_change_inputs(backlash_axis_loop_course_memory *courses, double seconds, double *inputs)
{
    backlash_axis_loop_int *entries = 0;
    backlash_axis_loop_int *at = 0;
    double *slopes = 0;
    int64_t changed = 0;
    int64_t c = 0;
    double slope = 0.0;
    entries = courses->entries;
    at = courses->at;
    slopes = courses->slopes;
    changed = 0;
    for (int64_t i1 = 0, end1 = courses->count; i1 < end1; ++i1) {
        c = i1;
        slope = slopes[at[c]];
        inputs[entries[c]] = (inputs[entries[c]] + (seconds * slope));
        changed = (changed + (int64_t)(slope != 0.0));
    }
    return changed;
}

static void backlash_axis_loop_add_input_rates(backlash_axis_loop_run_memory *run, double *y)
{
    backlash_axis_loop_course_memory *courses = 0;
    int64_t m = 0;
    double *g = 0;
    double *after = 0;
    int64_t k = 0;
    courses = &run->courses;
    m = run->events.count;
    g = run->events.g;
    after = run->courses.g;
    if (backlash_axis_loop_change_inputs(courses, courses->look, run->model.inputs) != 0) {
        backlash_axis_loop_call_kernel(run, run->events.functions, y, run->model.x, after);
        for (int64_t i1 = 0, end1 = m; i1 < end1; ++i1) {
            k = i1;
            g[(m + k)] = (g[(m + k)] + ((after[k] - g[k]) / courses->look));
        }
        backlash_axis_loop_follow_courses(courses, run->model.time, 1, run->model.inputs);
    }
}

static void backlash_axis_loop_evaluate(backlash_axis_loop_run_memory *run, double t, double *y)
{
    backlash_axis_loop_run_kernel(run, run->events.functions, backlash_axis_loop_law_time(run, t), y, run->model.x, run->events.g);
    if (run->courses.count != 0) {
        backlash_axis_loop_add_input_rates(run, y);
    }
}

static double *backlash_axis_loop_argument_of(backlash_axis_loop_run_memory *run, double *flags, int64_t n_flags)
{
    backlash_axis_loop_column_memory *columns = 0;
    double *y = 0;
    double *x = 0;
    int64_t at = 0;
    int64_t i = 0;
    int64_t k = 0;
    columns = &run->columns;
    if (columns->count == 0) {
        return flags;
    }
    y = run->state.y;
    x = columns->x;
    at = n_flags;
    for (int64_t i1 = 0, end1 = n_flags; i1 < end1; ++i1) {
        i = i1;
        x[i] = flags[i];
    }
    for (int64_t i2 = 0, end2 = columns->count; i2 < end2; ++i2) {
        k = i2;
        x[(at + k)] = columns->shifts[k];
    }
    at = backlash_axis_loop_write_slopes(run, (at + columns->count));
    for (int64_t i3 = 0, end3 = (columns->count * columns->n_state); i3 < end3; ++i3) {
        i = i3;
        x[(at + i)] = y[(columns->n_state + i)];
    }
    return x;
}

static void backlash_axis_loop_note_reset(backlash_axis_loop_run_memory *run)
{
    double *y = 0;
    double *changed = 0;
    backlash_axis_loop_chatter_counts *chatter = 0;
    int64_t i = 0;
    y = run->state.y;
    changed = run->events.changed;
    chatter = &run->chatter;
    for (int64_t i1 = 0, end1 = run->columns.n_measured; i1 < end1; ++i1) {
        i = i1;
        if (fabs((changed[i] - y[i])) > (1e-09 + (1e-06 * fabs(y[i])))) {
            chatter->idle = 0;
            chatter->stalled = 0;
        }
    }
}

static void backlash_axis_loop_list_event(backlash_axis_loop_run_memory *run, int64_t k)
{
    backlash_axis_loop_event_functions *events = 0;
    double *y = 0;
    double *changed = 0;
    int64_t at = 0;
    int is_event = 0;
    int64_t i = 0;
    double *numbers = 0;
    events = &run->events;
    y = run->state.y;
    changed = run->events.changed;
    at = run->events.modes[k];
    is_event = (run->counts.started != 0);
    for (int64_t i1 = 0, end1 = run->model.z_at; i1 < end1; ++i1) {
        i = i1;
        is_event = (is_event || (y[i] != changed[i]));
    }
    if (!is_event) {
        return;
    }
    numbers = (events->list_numbers + (3 * events->listed));
    const double value2 = run->step.t;
    const double value3 = 0.0;
    const double value4 = 0.0;
    numbers[0] = value2;
    numbers[1] = value3;
    numbers[2] = value4;
    if (at >= 0) {
        const double value5 = y[at];
        const double value6 = changed[at];
        numbers[1] = value5;
        numbers[2] = value6;
    }
    events->list_functions[events->listed] = k;
    events->listed = (events->listed + 1);
}

static void backlash_axis_loop_take_changed(backlash_axis_loop_run_memory *run)
{
    double *y = 0;
    double *changed = 0;
    int64_t i = 0;
    y = run->state.y;
    changed = run->events.changed;
    for (int64_t i1 = 0, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        y[i] = changed[i];
    }
}

static double backlash_axis_loop_newton(backlash_axis_loop_run_memory *run, double t, double *y)
{
    backlash_axis_loop_model_kernels *model = 0;
    double farthest = 0.0;
    double *projected = 0;
    int64_t i = 0;
    model = &run->model;
    farthest = 0.0;
    projected = model->projected;
    backlash_axis_loop_run_kernel(run, model->projection, backlash_axis_loop_law_time(run, t), y, (y + run->columns.n_state), projected);
    for (int64_t i1 = 0, end1 = model->u_at; i1 < end1; ++i1) {
        i = i1;
        farthest = backlash_axis_loop_most(farthest, fabs((projected[i] - y[i])));
    }
    for (int64_t i2 = 0, end2 = model->n; i2 < end2; ++i2) {
        i = i2;
        y[i] = projected[i];
    }
    return farthest;
}

static double backlash_axis_loop_length(double *y, int64_t start, int64_t lanes)
{
    double square = 0.0;
    int64_t i = 0;
    square = 0.0;
    for (int64_t i1 = 0, end1 = 4; i1 < end1; ++i1) {
        i = i1;
        square = (square + (y[(start + (i * lanes))] * y[(start + (i * lanes))]));
    }
    return sqrt(square);
}

static void backlash_axis_loop_normalize_column(double *y, int64_t start, int64_t at, double scale)
{
    double along = 0.0;
    int64_t i = 0;
    along = 0.0;
    for (int64_t i1 = 0, end1 = 4; i1 < end1; ++i1) {
        i = i1;
        along = (along + (y[(start + i)] * y[(at + i)]));
    }
    for (int64_t i2 = 0, end2 = 4; i2 < end2; ++i2) {
        i = i2;
        y[(at + i)] = (scale * (y[(at + i)] - (along * y[(start + i)])));
    }
}

static void backlash_axis_loop_normalize(backlash_axis_loop_run_memory *run, double *y)
{
    backlash_axis_loop_int *quaternions = 0;
    int64_t lanes = 0;
    int64_t b = 0;
    int64_t start = 0;
    double scale = 0.0;
    int64_t i = 0;
    int64_t k = 0;
    quaternions = run->model.quaternions;
    lanes = run->model.lanes;
    for (int64_t i1 = 0, end1 = run->model.n_quaternions; i1 < end1; ++i1) {
        b = i1;
        for (int64_t i2 = (quaternions[b] * lanes), end2 = ((quaternions[b] + 1) * lanes); i2 < end2; ++i2) {
            start = i2;
            scale = (1.0 / backlash_axis_loop_length(y, start, lanes));
            for (int64_t i3 = 0, end3 = 4; i3 < end3; ++i3) {
                i = i3;
                y[(start + (i * lanes))] = (y[(start + (i * lanes))] * scale);
            }
            for (int64_t i4 = 0, end4 = run->columns.count; i4 < end4; ++i4) {
                k = i4;
                backlash_axis_loop_normalize_column(y, start, (start + ((k + 1) * run->columns.n_state)), scale);
            }
        }
    }
}

static void backlash_axis_loop_project(backlash_axis_loop_run_memory *run, double t, double *y)
{
    if ((run->model.projection != 0) && (backlash_axis_loop_newton(run, t, y) > 1e-07)) {
        (void)backlash_axis_loop_newton(run, t, y);
    }
    backlash_axis_loop_normalize(run, y);
}

static void backlash_axis_loop_reset(backlash_axis_loop_run_memory *run, int64_t k)
{
    backlash_axis_loop_event_functions *events = 0;
    double *mask = 0;
    backlash_axis_loop_int *armed = 0;
    backlash_axis_loop_int *modes = 0;
    double *x = 0;
    int64_t i = 0;
    events = &run->events;
    mask = run->events.mask;
    armed = run->events.armed;
    modes = run->events.modes;
    mask[k] = 1.0;
    x = backlash_axis_loop_argument_of(run, mask, events->count);
    backlash_axis_loop_run_kernel(run, events->reset, backlash_axis_loop_law_time(run, run->step.t), run->state.y, x, events->changed);
    mask[k] = 0.0;
    backlash_axis_loop_note_reset(run);
    backlash_axis_loop_list_event(run, k);
    backlash_axis_loop_take_changed(run);
    for (int64_t i1 = 0, end1 = events->count; i1 < end1; ++i1) {
        i = i1;
        armed[i] = ((modes[i] == modes[k]) ? 0 : armed[i]);
    }
    backlash_axis_loop_project(run, run->step.t, run->state.y);
    events->blamed = k;
}

static int backlash_axis_loop_is_chatter(backlash_axis_loop_run_memory *run)
{
    double t = 0.0;
    backlash_axis_loop_chatter_counts *chatter = 0;
    int endless = 0;
    t = run->step.t;
    chatter = &run->chatter;
    if ((t - chatter->cluster_time) > 1e-09) {
        const double value1 = t;
        chatter->cluster_time = value1;
        chatter->cluster = 0;
    }
    chatter->cluster = (chatter->cluster + 1);
    if (chatter->idle == 0) {
        chatter->idle_time = t;
    }
    chatter->idle = (chatter->idle + 1);
    endless = 0;
    if (chatter->idle > 1000) {
        endless = ((t - chatter->idle_time) < (1e-06 * (run->step.t_end - run->step.t_start)));
        chatter->idle = 0;
    }
    int64_t value2 = 0;
    if (backlash_axis_loop_least(chatter->peak, chatter->previous_peak) < 1e-08) {
        value2 = (chatter->stalled + 1);
    } else {
        value2 = 0;
    }
    chatter->stalled = value2;
    return (endless || (chatter->cluster > 50) || (chatter->stalled > 1000));
}

static int64_t backlash_axis_loop_reset_all(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_event_functions *events = 0;
    int first = 0;
    int64_t k = 0;
    events = &run->events;
    first = 1;
    events->consistent = 0;
    for (int64_t i1 = 0, end1 = events->count; i1 < end1; ++i1) {
        k = i1;
        if (events->triggered[k] != 0) {
            backlash_axis_loop_evaluate(run, run->step.t, run->state.y);
            if (first || (events->triggered[k] == 2) || (backlash_axis_loop_is_active(run, k, run->state.y) && (events->g[k] < 0.0))) {
                backlash_axis_loop_reset(run, k);
            }
            first = 0;
        }
    }
    int64_t value2 = 0;
    if (backlash_axis_loop_is_chatter(run)) {
        value2 = 11;
    } else {
        value2 = 0;
    }
    return value2;
}

static double backlash_axis_loop_tick_time(backlash_axis_loop_run_memory *run)
{
    return ((double)(run->clocks.due * run->clocks.numerator) / (double)(run->clocks.denominator));
}

static int backlash_axis_loop_tick(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_clock_ticks *clocks = 0;
    double *mask = 0;
    backlash_axis_loop_int *ticks = 0;
    backlash_axis_loop_int *in_python = 0;
    int compiled = 0;
    int called = 0;
    int64_t s = 0;
    double *x = 0;
    clocks = &run->clocks;
    mask = run->events.mask;
    ticks = clocks->ticks;
    in_python = clocks->in_python;
    compiled = 0;
    called = 0;
    for (int64_t i1 = 0, end1 = clocks->count; i1 < end1; ++i1) {
        s = i1;
        mask[s] = 0.0;
        if (ticks[((3 * s) + 2)] == clocks->due) {
            ticks[((3 * s) + 2)] = (ticks[((3 * s) + 2)] + ticks[(3 * s)]);
            if (in_python[s] != 0) {
                called = 1;
            } else {
                mask[s] = 1.0;
                compiled = 1;
            }
        }
    }
    if (compiled) {
        x = backlash_axis_loop_argument_of(run, mask, clocks->count);
        backlash_axis_loop_run_kernel(run, clocks->sample, backlash_axis_loop_tick_time(run), run->state.y, x, run->events.changed);
        backlash_axis_loop_take_changed(run);
    }
    if (clocks->modes_depend != 0) {
        run->events.consistent = 0;
    }
    for (int64_t i2 = 0, end2 = clocks->count; i2 < end2; ++i2) {
        s = i2;
        mask[s] = 0.0;
    }
    clocks->first = (clocks->due + 1);
    backlash_axis_loop_find_tick(run);
    return called;
}

static void backlash_axis_loop_find_active(backlash_axis_loop_run_memory *run, double *y)
{
    backlash_axis_loop_event_functions *events = 0;
    backlash_axis_loop_int *active = 0;
    backlash_axis_loop_int *of_state = 0;
    int64_t n_active = 0;
    int64_t n_costly = 0;
    int64_t k = 0;
    events = &run->events;
    active = events->active;
    of_state = events->of_state;
    n_active = 0;
    n_costly = 0;
    for (int64_t i1 = 0, end1 = events->count; i1 < end1; ++i1) {
        k = i1;
        if (backlash_axis_loop_is_active(run, k, y)) {
            active[n_active] = k;
            n_active = (n_active + 1);
            n_costly = (n_costly + (int64_t)((events->cheap == 0) || (of_state[k] == 0)));
        }
    }
    run->bounds.functions_settled = 0;
    run->bounds.wait = 0;
    events->n_active = n_active;
    events->n_costly = n_costly;
}

static int backlash_axis_loop_is_clear(backlash_axis_loop_run_memory *run, double t, double *y)
{
    backlash_axis_loop_event_functions *events = 0;
    double *g = 0;
    backlash_axis_loop_int *armed = 0;
    backlash_axis_loop_int *active = 0;
    int64_t i = 0;
    events = &run->events;
    if (events->n_costly != 0) {
        return 0;
    }
    g = events->g;
    armed = events->armed;
    active = events->active;
    if (events->n_active != 0) {
        backlash_axis_loop_run_kernel(run, events->cheap, backlash_axis_loop_law_time(run, t), y, run->model.x, g);
    }
    for (int64_t i1 = 0, end1 = events->n_active; i1 < end1; ++i1) {
        i = i1;
        if (!(g[active[i]] > 1e-09)) {
            return 0;
        }
    }
    for (int64_t i2 = 0, end2 = events->n_active; i2 < end2; ++i2) {
        i = i2;
        armed[active[i]] = 1;
    }
    return 1;
}

static int64_t backlash_axis_loop_find_inconsistent(backlash_axis_loop_run_memory *run, int64_t tries)
{
    int64_t m = 0;
    double *g = 0;
    backlash_axis_loop_int *armed = 0;
    double *y = 0;
    int64_t worst_function = 0;
    double largest = 0.0;
    int64_t k = 0;
    double violation = 0.0;
    double falling = 0.0;
    m = run->events.count;
    g = run->events.g;
    armed = run->events.armed;
    y = run->state.y;
    worst_function = (-1);
    largest = 0.0;
    for (int64_t i1 = 0, end1 = m; i1 < end1; ++i1) {
        k = i1;
        violation = 0.0;
        falling = (-g[(m + k)]);
        if (g[k] < (-1e-09)) {
            violation = (-g[k]);
        } else {
            if ((g[k] <= 1e-09) && (falling > 0.0)) {
                violation = (1e-09 * ((falling < 1e+300) ? (falling / (1.0 + falling)) : 1.0));
            } else {
                if ((g[k] <= 1e-09) && (falling == 0.0) && (armed[k] != 0)) {
                    violation = 1e-300;
                }
            }
        }
        if ((violation > 0.0) && backlash_axis_loop_is_active(run, k, y) && ((worst_function < 0) || ((tries < 12) && (violation > largest)))) {
            worst_function = k;
            largest = violation;
        }
    }
    return worst_function;
}

static void backlash_axis_loop_arm(backlash_axis_loop_run_memory *run)
{
    double *g = 0;
    backlash_axis_loop_int *armed = 0;
    backlash_axis_loop_int *active = 0;
    int64_t i = 0;
    int64_t k = 0;
    g = run->events.g;
    armed = run->events.armed;
    active = run->events.active;
    for (int64_t i1 = 0, end1 = run->events.n_active; i1 < end1; ++i1) {
        i = i1;
        k = active[i];
        if (g[k] > 1e-09) {
            armed[k] = 1;
        }
    }
}

static void backlash_axis_loop_check_threshold(backlash_axis_loop_run_memory *run, int64_t j)
{
    int64_t count = 0;
    double *out = 0;
    int64_t k = 0;
    count = run->events.count;
    out = run->columns.out;
    for (int64_t i1 = 0, end1 = run->columns.count; i1 < end1; ++i1) {
        k = i1;
        if (fabs(out[(((2 * count) * (k + 1)) + j)]) > 1e-09) {
            backlash_axis_loop_lose(run, 3, j);
        }
    }
}

static void backlash_axis_loop_check_consequence(backlash_axis_loop_run_memory *run, int64_t k)
{
    if ((run->columns.count == 0) || (run->events.g[k] < (-1e-09))) {
        return;
    }
    if (run->counts.started != 0) {
        backlash_axis_loop_lose(run, 3, k);
        return;
    }
    backlash_axis_loop_differentiate_functions(run);
    backlash_axis_loop_check_threshold(run, k);
}

static int64_t backlash_axis_loop_iterate_modes(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_event_functions *events = 0;
    backlash_axis_loop_int *armed = 0;
    int64_t tries = 0;
    double t = 0.0;
    double *y = 0;
    int64_t k = 0;
    int64_t i = 0;
    events = &run->events;
    armed = run->events.armed;
    tries = 0;
    t = run->step.t;
    y = run->state.y;
    events->consistent = 1;
    while (events->count > 0) {
        backlash_axis_loop_find_active(run, y);
        if (backlash_axis_loop_is_clear(run, t, y)) {
            break;
        }
        backlash_axis_loop_evaluate(run, t, y);
        k = backlash_axis_loop_find_inconsistent(run, tries);
        if (k < 0) {
            for (int64_t i1 = 0, end1 = events->count; i1 < end1; ++i1) {
                i = i1;
                armed[i] = 0;
            }
            backlash_axis_loop_arm(run);
            break;
        }
        if (tries == 40) {
            events->blamed = k;
            return 10;
        }
        backlash_axis_loop_check_consequence(run, k);
        backlash_axis_loop_reset(run, k);
        tries = (tries + 1);
    }
    return 0;
}

static void backlash_axis_loop_check_start(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_column_memory *columns = 0;
    int64_t count = 0;
    double *out = 0;
    int64_t j = 0;
    columns = &run->columns;
    count = run->events.count;
    out = run->columns.out;
    if ((columns->count == 0) || (count == 0) || (run->counts.started != 0)) {
        return;
    }
    backlash_axis_loop_differentiate_functions(run);
    for (int64_t i1 = 0, end1 = count; i1 < end1; ++i1) {
        j = i1;
        if (backlash_axis_loop_is_active(run, j, run->state.y) && (fabs(out[j]) <= 1e-09)) {
            backlash_axis_loop_check_threshold(run, j);
        }
    }
}

static void backlash_axis_loop_shift_back(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_column_memory *columns = 0;
    int64_t k = 0;
    columns = &run->columns;
    if (columns->shifted == 0) {
        return;
    }
    backlash_axis_loop_move_columns(run, run->state.slopes, (-1.0));
    for (int64_t i1 = 0, end1 = columns->count; i1 < end1; ++i1) {
        k = i1;
        columns->shifts[k] = 0.0;
    }
    columns->shifted = 0;
    backlash_axis_loop_rate(run, run->step.t, run->state.y, run->state.slopes);
}

static int64_t backlash_axis_loop_handle_instant(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_counts *counts = 0;
    backlash_axis_loop_event_functions *events = 0;
    int64_t code = 0;
    counts = &run->counts;
    events = &run->events;
    while (counts->pending != 6) {
        if ((events->room - events->listed) < (40 + events->count)) {
            return 8;
        }
        if (counts->pending == 3) {
            counts->pending = 5;
            backlash_axis_loop_shift_to_event(run);
            if (backlash_axis_loop_reset_all(run) != 0) {
                return 11;
            }
        } else {
            if (counts->pending == 4) {
                counts->pending = 5;
                if (backlash_axis_loop_tick(run)) {
                    return 9;
                }
            } else {
                if (events->consistent == 0) {
                    code = backlash_axis_loop_iterate_modes(run);
                    if (code != 0) {
                        return code;
                    }
                }
                if ((run->step.t == run->clocks.time) && (counts->started == 0)) {
                    counts->pending = 4;
                } else {
                    backlash_axis_loop_check_start(run);
                    counts->pending = 6;
                    run->monitor.known = 0;
                    if (!(backlash_axis_loop_start(run))) {
                        return 3;
                    }
                    backlash_axis_loop_shift_back(run);
                }
            }
        }
    }
    return 0;
}

static double backlash_axis_loop_time_tolerance(backlash_axis_loop_run_memory *run, double t)
{
    if (run->method.stepping == 1) {
        return (1e-09 * run->step.h);
    }
    return (8.881784197001252e-16 * (fabs(run->step.origin) + fabs(t)));
}

static int backlash_axis_loop_is_written(backlash_axis_loop_run_memory *run, int64_t row)
{
    double *y = 0;
    double *out = 0;
    int same = 0;
    int64_t i = 0;
    double *const value1 = run->state.y;
    double *const value2 = (run->output.y + (row * run->model.n));
    y = value1;
    out = value2;
    same = 1;
    for (int64_t i3 = 0, end3 = run->model.n; i3 < end3; ++i3) {
        i = i3;
        same = (same && (y[i] == out[i]));
    }
    return same;
}

static void backlash_axis_loop_copy(backlash_axis_loop_run_memory *run, double *source, double *target)
{
    int64_t i = 0;
    for (int64_t i1 = 0, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        target[i] = source[i];
    }
}

static int backlash_axis_loop_write_after_instant(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_output_rows *output = 0;
    double t_now = 0.0;
    double tolerance = 0.0;
    double t = 0.0;
    int64_t row = 0;
    output = &run->output;
    t_now = run->step.t;
    tolerance = backlash_axis_loop_time_tolerance(run, t_now);
    for (;;) {
        t = t_now;
        row = output->written;
        if (output->sampled != 0) {
            if (output->next_time >= output->n_times) {
                return 1;
            }
            t = output->times[output->next_time];
            if (t > (t_now + tolerance)) {
                return 1;
            }
        } else {
            if ((row > 0) && backlash_axis_loop_is_written(run, (row - 1))) {
                return 1;
            }
        }
        if (row >= output->room) {
            return 0;
        }
        output->t[row] = t;
        backlash_axis_loop_copy(run, run->state.y, (output->y + (row * run->model.n)));
        output->written = (output->written + 1);
        output->next_time = (output->next_time + 1);
        if (output->sampled == 0) {
            return 1;
        }
    }
}

static void backlash_axis_loop_shift_to_break(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_column_memory *columns = 0;
    int64_t m = 0;
    int64_t k = 0;
    columns = &run->columns;
    m = run->columns.count;
    if ((m == 0) || (columns->breaks_shift == 0) || (run->counts.started == 0)) {
        return;
    }
    backlash_axis_loop_rate(run, run->step.t, run->state.y, columns->before);
    for (int64_t i1 = 0, end1 = m; i1 < end1; ++i1) {
        k = i1;
        columns->shifts[k] = columns->break_shifts[((run->breaks.next * m) + k)];
        if (columns->shifts[k] != columns->shifts[k]) {
            columns->shifts[k] = 0.0;
            backlash_axis_loop_lose(run, 2, 0);
        }
    }
    columns->shifted = 1;
    backlash_axis_loop_check_fixed(run, run->clocks.time);
    backlash_axis_loop_move_columns(run, columns->before, 1.0);
}

static int backlash_axis_loop_begin_plain(backlash_axis_loop_run_memory *run)
{
    int finite = 0;
    backlash_axis_loop_shift_to_break(run);
    backlash_axis_loop_begin_piece(run);
    finite = backlash_axis_loop_start(run);
    backlash_axis_loop_shift_back(run);
    return finite;
}

static int backlash_axis_loop_pass_break(backlash_axis_loop_run_memory *run)
{
    if (run->events.present == 0) {
        return backlash_axis_loop_begin_plain(run);
    }
    backlash_axis_loop_shift_to_break(run);
    backlash_axis_loop_begin_piece(run);
    run->events.consistent = 0;
    run->counts.pending = ((run->step.t == run->clocks.time) ? 4 : 5);
    return 1;
}

static double *backlash_axis_loop_slope(backlash_axis_loop_run_memory *run, int64_t stage)
{
    return (run->state.slopes + (stage * run->model.n));
}

static double backlash_axis_loop_first_step(backlash_axis_loop_run_memory *run)
{
    int64_t n = 0;
    double *atol = 0;
    double t = 0.0;
    double rtol = 0.0;
    double *y = 0;
    double *stage = 0;
    double *k = 0;
    double *k_next = 0;
    double sign = 0.0;
    double longest = 0.0;
    double d0 = 0.0;
    double d1 = 0.0;
    double d2 = 0.0;
    int64_t i = 0;
    double scale = 0.0;
    double h = 0.0;
    double change = 0.0;
    double steepest = 0.0;
    double suited = 0.0;
    n = run->model.n;
    atol = run->method.atol;
    t = run->step.t;
    rtol = run->method.rtol;
    double *const value1 = run->state.y;
    double *const value2 = run->state.y_stage;
    double *const value3 = run->state.slopes;
    double *const value4 = backlash_axis_loop_slope(run, 1);
    y = value1;
    stage = value2;
    k = value3;
    k_next = value4;
    sign = ((run->step.t_end >= t) ? 1.0 : (-1.0));
    longest = backlash_axis_loop_least(run->method.max_step, fabs((run->step.t_end - t)));
    d0 = 0.0;
    d1 = 0.0;
    d2 = 0.0;
    for (int64_t i5 = 0, end5 = n; i5 < end5; ++i5) {
        i = i5;
        scale = (1.0 / (atol[i] + (rtol * fabs(y[i]))));
        d0 = (d0 + ((y[i] * scale) * (y[i] * scale)));
        d1 = (d1 + ((k[i] * scale) * (k[i] * scale)));
    }
    const double value6 = sqrt((d0 / (double)(run->columns.n_measured)));
    const double value7 = sqrt((d1 / (double)(run->columns.n_measured)));
    d0 = value6;
    d1 = value7;
    h = backlash_axis_loop_least((((d0 < 1e-05) || (d1 < 1e-05)) ? 1e-06 : ((0.01 * d0) / d1)), longest);
    for (int64_t i8 = 0, end8 = n; i8 < end8; ++i8) {
        i = i8;
        stage[i] = (y[i] + ((sign * h) * k[i]));
    }
    backlash_axis_loop_rate(run, (t + (sign * h)), stage, k_next);
    run->counts.evaluations = (run->counts.evaluations + 1);
    for (int64_t i9 = 0, end9 = n; i9 < end9; ++i9) {
        i = i9;
        change = ((k_next[i] - k[i]) / (atol[i] + (rtol * fabs(y[i]))));
        d2 = (d2 + (change * change));
    }
    steepest = backlash_axis_loop_most(d1, (sqrt((d2 / (double)(run->columns.n_measured))) / h));
    if (!(fabs(steepest) < INFINITY)) {
        return ((sign * h) * 0.001);
    }
    if (steepest <= 1e-15) {
        return (sign * backlash_axis_loop_least(backlash_axis_loop_most(1e-06, (h * 0.001)), longest));
    }
    suited = pow((0.01 / steepest), (1.0 / (double)(run->method.order)));
    return (sign * backlash_axis_loop_least(backlash_axis_loop_least((100.0 * h), suited), longest));
}

static double backlash_axis_loop_distance(backlash_axis_loop_run_memory *run)
{
    return (1.0 / sqrt(run->model.projected[run->model.n]));
}

static void backlash_axis_loop_begin_monitor(backlash_axis_loop_run_memory *run)
{
    double *y = 0;
    double *stage = 0;
    backlash_axis_loop_singularity_monitor *monitor = 0;
    int64_t i = 0;
    y = run->state.y;
    stage = run->state.y_stage;
    monitor = &run->monitor;
    if ((run->model.projection == 0) || (monitor->known != 0)) {
        return;
    }
    for (int64_t i1 = 0, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        stage[i] = y[i];
    }
    backlash_axis_loop_project(run, run->step.t, stage);
    monitor->distance = backlash_axis_loop_distance(run);
    const double value2 = 0.0;
    const double value3 = 0.0;
    monitor->trend = value2;
    monitor->span = value3;
    monitor->farthest = backlash_axis_loop_most(monitor->farthest, monitor->distance);
    monitor->known = 1;
}

static double backlash_axis_loop_step_end(backlash_axis_loop_run_memory *run)
{
    return backlash_axis_loop_least(backlash_axis_loop_least(run->step.t_end, run->clocks.time), run->breaks.time);
}

static double *backlash_axis_loop_table_row(backlash_axis_loop_run_memory *run, int64_t row)
{
    return (run->method.table + (row * run->method.stages));
}

static int backlash_axis_loop_crosses(backlash_axis_loop_run_memory *run, double h)
{
    backlash_axis_loop_singularity_monitor *monitor = 0;
    monitor = &run->monitor;
    return ((monitor->distance + (monitor->trend * h)) < (0.3 * monitor->distance));
}

static void backlash_axis_loop_add(backlash_axis_loop_run_memory *run, double h, double *weights, int64_t first, int64_t count, double *out)
{
    int64_t n = 0;
    int64_t j = 0;
    double a = 0.0;
    double *ka = 0;
    double b = 0.0;
    double *kb = 0;
    int64_t i = 0;
    n = run->model.n_continuous;
    j = first;
    while (j < count) {
        const double value1 = (h * weights[j]);
        double *const value2 = backlash_axis_loop_slope(run, j);
        a = value1;
        ka = value2;
        j = (j + 1);
        if (a == 0.0) {
            continue;
        }
        if (j < count) {
            const double value3 = (h * weights[j]);
            double *const value4 = backlash_axis_loop_slope(run, j);
            b = value3;
            kb = value4;
            j = (j + 1);
            for (int64_t i5 = 0, end5 = n; i5 < end5; ++i5) {
                i = i5;
                out[i] = (out[i] + ((a * ka[i]) + (b * kb[i])));
            }
        } else {
            for (int64_t i6 = 0, end6 = n; i6 < end6; ++i6) {
                i = i6;
                out[i] = (out[i] + (a * ka[i]));
            }
        }
    }
}

static void backlash_axis_loop_combine(backlash_axis_loop_run_memory *run, double h, double *weights, int64_t count, double *out)
{
    double *y = 0;
    double a = 0.0;
    double *k = 0;
    int64_t i = 0;
    y = run->state.y;
    a = (h * weights[0]);
    k = run->state.slopes;
    for (int64_t i1 = 0, end1 = run->model.n_continuous; i1 < end1; ++i1) {
        i = i1;
        out[i] = (y[i] + (a * k[i]));
    }
    backlash_axis_loop_add(run, h, weights, 1, count, out);
}

static double backlash_axis_loop_close_end(backlash_axis_loop_run_memory *run, double t)
{
    double *y = 0;
    double *new = 0;
    double *atol = 0;
    double *open_end = 0;
    int64_t i = 0;
    double total = 0.0;
    backlash_axis_loop_singularity_monitor *monitor = 0;
    double moved = 0.0;
    double nearness = 0.0;
    double rounding = 0.0;
    y = run->state.y;
    new = run->state.y_new;
    atol = run->method.atol;
    open_end = run->state.y_stage;
    if (run->model.projection == 0) {
        backlash_axis_loop_normalize(run, new);
        return 0.0;
    }
    for (int64_t i1 = 0, end1 = run->model.n; i1 < end1; ++i1) {
        i = i1;
        open_end[i] = new[i];
    }
    backlash_axis_loop_project(run, t, new);
    total = 0.0;
    monitor = &run->monitor;
    for (int64_t i2 = 0, end2 = run->columns.n_state; i2 < end2; ++i2) {
        i = i2;
        moved = ((new[i] - open_end[i]) / (atol[i] + (run->method.rtol * backlash_axis_loop_most(fabs(y[i]), fabs(new[i])))));
        total = (total + (moved * moved));
    }
    monitor->distance_new = backlash_axis_loop_distance(run);
    nearness = (monitor->farthest / backlash_axis_loop_least(monitor->distance, monitor->distance_new));
    rounding = backlash_axis_loop_least(((7.105427357601002e-15 * nearness) * nearness), 0.001);
    return (sqrt((total / (double)(run->columns.n_measured))) / (10.0 + (rounding / run->method.rtol)));
}

static int backlash_axis_loop_attempt(backlash_axis_loop_run_memory *run, double h)
{
    backlash_axis_loop_method_table *method = 0;
    backlash_axis_loop_step_times *step = 0;
    backlash_axis_loop_step_counts *counts = 0;
    int64_t last = 0;
    double *nodes = 0;
    int by_constraints = 0;
    int closed = 0;
    int64_t s = 0;
    double *y = 0;
    double t = 0.0;
    double *k = 0;
    method = &run->method;
    step = &run->step;
    counts = &run->counts;
    const int64_t value1 = method->last;
    double *const value2 = backlash_axis_loop_table_row(run, method->stages);
    last = value1;
    nodes = value2;
    by_constraints = ((step->end_correction > 1.0) || backlash_axis_loop_crosses(run, (2.0 * h)));
    closed = ((run->model.projection != 0) && (counts->rejected_in_a_row > 0) && by_constraints);
    step->end_correction = INFINITY;
    for (int64_t i3 = 1, end3 = (last + 1); i3 < end3; ++i3) {
        s = i3;
        y = ((s == last) ? run->state.y_new : run->state.y_stage);
        const double value4 = (step->t + (nodes[s] * h));
        double *const value5 = backlash_axis_loop_slope(run, s);
        t = value4;
        k = value5;
        backlash_axis_loop_combine(run, h, backlash_axis_loop_table_row(run, s), s, y);
        if (s == last) {
            step->end_correction = backlash_axis_loop_close_end(run, t);
        } else {
            if (closed) {
                backlash_axis_loop_project(run, t, y);
            }
        }
        backlash_axis_loop_rate(run, t, y, k);
        counts->evaluations = (counts->evaluations + 1);
        if (backlash_axis_loop_not_finite(run, k) != 0) {
            counts->failed = backlash_axis_loop_first_not_finite(k, run->model.n_continuous);
            step->failed_time = t;
            return 0;
        }
    }
    return 1;
}

static double backlash_axis_loop_error_square(backlash_axis_loop_run_memory *run, double h, int64_t row)
{
    double *y = 0;
    double *new = 0;
    double *atol = 0;
    double *estimate = 0;
    double *weights = 0;
    double *k = 0;
    double rtol = 0.0;
    double a = 0.0;
    double total = 0.0;
    int64_t i = 0;
    y = run->state.y;
    new = run->state.y_new;
    atol = run->method.atol;
    estimate = run->state.y_stage;
    double *const value1 = backlash_axis_loop_table_row(run, row);
    double *const value2 = run->state.slopes;
    const double value3 = run->method.rtol;
    weights = value1;
    k = value2;
    rtol = value3;
    a = (h * weights[0]);
    total = 0.0;
    for (int64_t i4 = 0, end4 = run->model.n_continuous; i4 < end4; ++i4) {
        i = i4;
        estimate[i] = (a * k[i]);
    }
    backlash_axis_loop_add(run, h, weights, 1, (run->method.last + 1), estimate);
    for (int64_t i5 = 0, end5 = run->model.n_continuous; i5 < end5; ++i5) {
        i = i5;
        estimate[i] = (estimate[i] / (atol[i] + (rtol * backlash_axis_loop_most(fabs(y[i]), fabs(new[i])))));
    }
    for (int64_t i6 = 0, end6 = run->model.n_continuous; i6 < end6; ++i6) {
        i = i6;
        total = (total + (estimate[i] * estimate[i]));
    }
    return total;
}

static double backlash_axis_loop_error(backlash_axis_loop_run_memory *run, double h)
{
    double first = 0.0;
    double second = 0.0;
    first = backlash_axis_loop_error_square(run, h, (run->method.stages + 1));
    if ((run->method.estimates == 2) && (first != 0.0)) {
        second = backlash_axis_loop_error_square(run, h, (run->method.stages + 2));
        return (first / sqrt(((first + (0.01 * second)) * (double)(run->columns.n_measured))));
    }
    return sqrt((first / (double)(run->columns.n_measured)));
}

static double backlash_axis_loop_try_explicit(backlash_axis_loop_run_memory *run, double h)
{
    double value1 = 0;
    if (backlash_axis_loop_attempt(run, h)) {
        const double value2 = backlash_axis_loop_error(run, h);
        value1 = backlash_axis_loop_most(value2, run->step.end_correction);
    } else {
        value1 = NAN;
    }
    return value1;
}

static void backlash_axis_loop_accept(backlash_axis_loop_run_memory *run, double error, double h, int final)
{
    backlash_axis_loop_step_times *step = 0;
    backlash_axis_loop_step_counts *counts = 0;
    double damping = 0.0;
    double factor = 0.0;
    step = &run->step;
    counts = &run->counts;
    damping = run->method.damping;
    factor = ((0.9 * pow(backlash_axis_loop_most(error, 1e-10), ((0.75 * damping) - (1.0 / (double)(run->method.order))))) * pow(step->previous_error, damping));
    factor = backlash_axis_loop_least(10.0, backlash_axis_loop_most(0.2, factor));
    if ((1.0 < factor) && (factor < run->newton.hold)) {
        factor = 1.0;
    }
    if (counts->rejected_in_a_row > 0) {
        factor = backlash_axis_loop_least(factor, 1.0);
    }
    if (!final || (fabs((h * factor)) > fabs(step->h))) {
        step->h = (h * factor);
    }
    step->previous_error = backlash_axis_loop_most(error, 0.0001);
    double value1 = 0;
    if (final) {
        value1 = backlash_axis_loop_step_end(run);
    } else {
        value1 = (step->t + h);
    }
    step->t_new = value1;
    step->h_done = h;
    counts->rejected_in_a_row = 0;
    counts->failed = (-1);
    counts->steps = (counts->steps + 1);
}

static int backlash_axis_loop_reject(backlash_axis_loop_run_memory *run, double error, double h)
{
    backlash_axis_loop_step_times *step = 0;
    backlash_axis_loop_step_counts *counts = 0;
    int crossing = 0;
    double least = 0.0;
    step = &run->step;
    counts = &run->counts;
    counts->rejected = (counts->rejected + 1);
    counts->rejected_in_a_row = (counts->rejected_in_a_row + 1);
    crossing = ((run->model.projection != 0) && (counts->rejected_in_a_row <= 8) && backlash_axis_loop_crosses(run, h));
    least = (crossing ? 0.8 : 0.2);
    if (fabs(error) < INFINITY) {
        counts->failed = (-1);
        step->h = (h * backlash_axis_loop_most(least, (0.9 * pow(error, ((-1.0) / (double)(run->method.order))))));
        return 1;
    }
    step->h = (h * least);
    if (counts->failed < 0) {
        counts->failed = backlash_axis_loop_most_int(0, backlash_axis_loop_first_not_finite(run->state.y_new, run->model.n));
        step->failed_time = (step->t + h);
    }
    if (fabs((step->t - step->nonfinite_since)) > (1e-09 * fabs((step->t_end - step->t_start)))) {
        const double value1 = step->t;
        step->nonfinite_since = value1;
        counts->nonfinite_steps = 0;
    }
    counts->nonfinite_steps = (counts->nonfinite_steps + 1);
    return (counts->nonfinite_steps <= 1000);
}

static int64_t backlash_axis_loop_find_step(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_times *step = 0;
    backlash_axis_loop_step_counts *counts = 0;
    double max_step = 0.0;
    double t = 0.0;
    double end = 0.0;
    double sign = 0.0;
    double h = 0.0;
    double left = 0.0;
    int final = 0;
    double error = 0.0;
    step = &run->step;
    counts = &run->counts;
    max_step = run->method.max_step;
    const double value1 = step->t;
    const double value2 = backlash_axis_loop_step_end(run);
    t = value1;
    end = value2;
    sign = ((end >= t) ? 1.0 : (-1.0));
    for (;;) {
        h = (sign * backlash_axis_loop_least(fabs(step->h), max_step));
        left = fabs((end - t));
        final = ((left <= (1.01 * fabs(h))) && (left <= (1.000001 * max_step)));
        if (final) {
            h = (end - t);
        } else {
            if (fabs(h) <= backlash_axis_loop_most(((16.0 * 2.220446049250313e-16) * fabs(t)), step->least)) {
                return ((counts->failed >= 0) ? 3 : 4);
            }
        }
        if ((counts->steps + counts->rejected) >= run->method.max_steps) {
            return 5;
        }
        counts->failed = (-1);
        error = backlash_axis_loop_try_explicit(run, h);
        if (error <= 1.0) {
            backlash_axis_loop_accept(run, error, h, final);
            return 0;
        }
        if (!(backlash_axis_loop_reject(run, error, h))) {
            return 3;
        }
    }
}

static int backlash_axis_loop_find_ranges(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    int64_t n = 0;
    double third = 0.0;
    double *before = 0;
    double *after = 0;
    double *ranges = 0;
    double *box = 0;
    double *widths = 0;
    int64_t outside = 0;
    int64_t wide = 0;
    int64_t i = 0;
    double second = 0.0;
    double third_point = 0.0;
    double low = 0.0;
    double high = 0.0;
    bounds = &run->bounds;
    n = run->bounds.n_arguments;
    third = (run->step.h_done / 3.0);
    before = bounds->before;
    after = bounds->after;
    ranges = bounds->ranges;
    box = bounds->box;
    widths = bounds->widths;
    outside = 0;
    wide = 0;
    for (int64_t i1 = 0, end1 = n; i1 < end1; ++i1) {
        i = i1;
        second = (before[i] + (third * before[(n + i)]));
        third_point = (after[i] - (third * after[(n + i)]));
        low = backlash_axis_loop_least(backlash_axis_loop_least(before[i], after[i]), backlash_axis_loop_least(second, third_point));
        high = backlash_axis_loop_most(backlash_axis_loop_most(before[i], after[i]), backlash_axis_loop_most(second, third_point));
        outside = (outside + ((int64_t)(!(low >= box[i])) + (int64_t)(!(high <= box[(n + i)]))));
        wide = (wide + (int64_t)(!((high - low) <= widths[i])));
        ranges[i] = low;
        ranges[(n + i)] = high;
    }
    bounds->tame = (int64_t)(wide == 0);
    return (outside == 0);
}

static int backlash_axis_loop_laws_rest(backlash_axis_loop_run_memory *run, double *out)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    int rest = 0;
    int64_t j = 0;
    double low = 0.0;
    double high = 0.0;
    double least = 0.0;
    bounds = &run->bounds;
    rest = 1;
    for (int64_t i1 = 0, end1 = bounds->n_laws; i1 < end1; ++i1) {
        j = i1;
        low = out[j];
        high = out[(bounds->count + j)];
        least = backlash_axis_loop_most(0.0, backlash_axis_loop_most(low, (-high)));
        rest = (rest && ((high - low) <= (1e-09 + (0.001 * least))));
    }
    return rest;
}

static int64_t backlash_axis_loop_functions_stay(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    backlash_axis_loop_event_functions *events = 0;
    double *out = 0;
    backlash_axis_loop_int *covered = 0;
    backlash_axis_loop_int *active = 0;
    int64_t stay = 0;
    int64_t i = 0;
    int64_t at = 0;
    bounds = &run->bounds;
    events = &run->events;
    out = run->bounds.box_out;
    covered = bounds->covered;
    active = run->events.active;
    stay = 2;
    for (int64_t i1 = 0, end1 = events->n_active; i1 < end1; ++i1) {
        i = i1;
        at = covered[active[i]];
        if (at == 0) {
            stay = backlash_axis_loop_least_int(stay, 1);
        } else {
            if (!(out[((bounds->n_laws - 1) + at)] > 1e-09)) {
                stay = 0;
            }
        }
    }
    return stay;
}

static void backlash_axis_loop_settle(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    double *ranges = 0;
    double *box = 0;
    int64_t n = 0;
    int64_t i = 0;
    double reach = 0.0;
    bounds = &run->bounds;
    ranges = run->bounds.ranges;
    box = run->bounds.box;
    n = run->bounds.n_arguments;
    for (int64_t i1 = 0, end1 = n; i1 < end1; ++i1) {
        i = i1;
        reach = (bounds->reach * (ranges[(n + i)] - ranges[i]));
        box[i] = (ranges[i] - reach);
        box[(n + i)] = (ranges[(n + i)] + reach);
    }
    backlash_axis_loop_run_kernel(run, bounds->kernel, run->step.t, run->state.y, box, bounds->box_out);
    const int64_t value2 = (int64_t)(backlash_axis_loop_laws_rest(run, bounds->box_out));
    const int64_t value3 = backlash_axis_loop_functions_stay(run);
    bounds->laws_settled = value2;
    bounds->functions_settled = value3;
    if (((bounds->laws_settled == 0) && (bounds->tame == 0)) || (bounds->functions_settled == 0)) {
        bounds->wait = ((bounds->reach > 2.0) ? 0 : 16);
        bounds->reach = backlash_axis_loop_most(2.0, (0.25 * bounds->reach));
    } else {
        bounds->reach = backlash_axis_loop_least(64.0, (2.0 * bounds->reach));
    }
}

static void backlash_axis_loop_prepare_bounds(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    backlash_axis_loop_step_times *step = 0;
    double *last = 0;
    bounds = &run->bounds;
    step = &run->step;
    if (bounds->known == 0) {
        backlash_axis_loop_run_kernel(run, bounds->arguments, backlash_axis_loop_law_time(run, step->t), run->state.y, run->state.slopes, bounds->before);
        bounds->known = 1;
        bounds->laws_before_known = 0;
    }
    bounds->laws_after_known = 0;
    last = backlash_axis_loop_slope(run, run->method.last);
    backlash_axis_loop_run_kernel(run, bounds->arguments, backlash_axis_loop_law_time(run, step->t_new), run->state.y_new, last, bounds->after);
    if (!(backlash_axis_loop_find_ranges(run))) {
        const int64_t value1 = (int64_t)(bounds->n_laws == 0);
        bounds->laws_settled = value1;
        bounds->functions_settled = 0;
    }
    if (((bounds->laws_settled == 0) && (bounds->tame == 0)) || (bounds->functions_settled == 0)) {
        if (bounds->wait > 0) {
            bounds->wait = (bounds->wait - 1);
        } else {
            backlash_axis_loop_settle(run);
        }
    }
}

static void backlash_axis_loop_bound_step(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_run_kernel(run, run->bounds.kernel, run->step.t, run->state.y, run->bounds.ranges, run->bounds.out);
}

static void backlash_axis_loop_begin_range(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    double *least = 0;
    double *most = 0;
    double *before = 0;
    double *after = 0;
    int64_t j = 0;
    bounds = &run->bounds;
    least = run->bounds.least;
    most = run->bounds.most;
    before = bounds->laws_before;
    after = bounds->laws_after;
    if (bounds->laws_before_known == 0) {
        backlash_axis_loop_run_kernel(run, bounds->laws, run->step.t, run->state.y, bounds->before, before);
    }
    backlash_axis_loop_run_kernel(run, bounds->laws, run->step.t, run->state.y, bounds->after, after);
    bounds->laws_before_known = 1;
    bounds->laws_after_known = 1;
    for (int64_t i1 = 0, end1 = bounds->n_laws; i1 < end1; ++i1) {
        j = i1;
        least[j] = backlash_axis_loop_least(before[j], after[j]);
        most[j] = backlash_axis_loop_most(before[j], after[j]);
    }
}

static int backlash_axis_loop_any_exceeds(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    double *out = 0;
    double *least = 0;
    double *most = 0;
    int exceeds = 0;
    int64_t j = 0;
    double low = 0.0;
    double high = 0.0;
    double allowed = 0.0;
    int inside = 0;
    bounds = &run->bounds;
    out = run->bounds.out;
    least = run->bounds.least;
    most = run->bounds.most;
    exceeds = 0;
    for (int64_t i1 = 0, end1 = bounds->n_laws; i1 < end1; ++i1) {
        j = i1;
        low = least[j];
        high = most[j];
        allowed = (((0.5 * (high - low)) + 1e-09) + (0.001 * backlash_axis_loop_most(fabs(low), fabs(high))));
        inside = ((out[j] >= (low - allowed)) && (out[(bounds->count + j)] <= (high + allowed)));
        exceeds = (exceeds || !inside);
    }
    return exceeds;
}

static void backlash_axis_loop_bound(backlash_axis_loop_run_memory *run, double a, double b)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    int64_t n = 0;
    double h = 0.0;
    double *before = 0;
    double *after = 0;
    double *piece = 0;
    double third = 0.0;
    int64_t i = 0;
    double linear = 0.0;
    double change = 0.0;
    double cubic = 0.0;
    double square = 0.0;
    double first = 0.0;
    double last = 0.0;
    double second = 0.0;
    double third_point = 0.0;
    bounds = &run->bounds;
    n = run->bounds.n_arguments;
    h = run->step.h_done;
    before = bounds->before;
    after = bounds->after;
    piece = bounds->piece;
    third = ((b - a) / 3.0);
    for (int64_t i1 = 0, end1 = n; i1 < end1; ++i1) {
        i = i1;
        linear = (h * before[(n + i)]);
        change = (after[i] - before[i]);
        cubic = ((linear + (h * after[(n + i)])) - (2.0 * change));
        square = ((change - linear) - cubic);
        first = (before[i] + (a * (linear + (a * (square + (a * cubic))))));
        last = (before[i] + (b * (linear + (b * (square + (b * cubic))))));
        second = (first + (third * (linear + (a * ((2.0 * square) + ((3.0 * a) * cubic))))));
        third_point = (last - (third * (linear + (b * ((2.0 * square) + ((3.0 * b) * cubic))))));
        piece[i] = backlash_axis_loop_least(backlash_axis_loop_least(first, last), backlash_axis_loop_least(second, third_point));
        piece[(n + i)] = backlash_axis_loop_most(backlash_axis_loop_most(first, last), backlash_axis_loop_most(second, third_point));
    }
    backlash_axis_loop_run_kernel(run, bounds->kernel, run->step.t, run->state.y, piece, bounds->out);
}

static void backlash_axis_loop_widen(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    double *out = 0;
    double *least = 0;
    double *most = 0;
    int64_t j = 0;
    bounds = &run->bounds;
    out = run->bounds.out;
    least = run->bounds.least;
    most = run->bounds.most;
    for (int64_t i1 = 0, end1 = bounds->n_laws; i1 < end1; ++i1) {
        j = i1;
        least[j] = backlash_axis_loop_least(least[j], out[j]);
        most[j] = backlash_axis_loop_most(most[j], out[(bounds->count + j)]);
    }
}

static double backlash_axis_loop_search_laws(backlash_axis_loop_run_memory *run)
{
    int64_t depth = 0;
    int64_t index = 0;
    double length = 0.0;
    int64_t pieces = 0;
    double middle = 0.0;
    depth = 0;
    index = 0;
    length = 1.0;
    pieces = 0;
    while (!((depth == 0) && (index == 1))) {
        pieces = (pieces + 1);
        backlash_axis_loop_bound(run, ((double)index * length), ((double)(index + 1) * length));
        if ((pieces < 256) && (depth < 40) && backlash_axis_loop_any_exceeds(run)) {
            middle = (((double)index + 0.5) * length);
            backlash_axis_loop_bound(run, middle, middle);
            if (backlash_axis_loop_any_exceeds(run)) {
                return middle;
            }
            depth = (depth + 1);
            index = (2 * index);
            length = (0.5 * length);
        } else {
            index = (index + 1);
            while ((depth > 0) && (backlash_axis_loop_remainder(index, 2) == 0)) {
                depth = (depth - 1);
                index = backlash_axis_loop_divide(index, 2);
                length = (2.0 * length);
            }
        }
    }
    return 0.0;
}

static double backlash_axis_loop_find_hidden(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    double at = 0.0;
    double *nodes = 0;
    double *errors = 0;
    int64_t s = 0;
    bounds = &run->bounds;
    if ((bounds->laws_settled != 0) || (bounds->tame != 0)) {
        return 0.0;
    }
    backlash_axis_loop_bound_step(run);
    if (backlash_axis_loop_laws_rest(run, bounds->out)) {
        return 0.0;
    }
    backlash_axis_loop_begin_range(run);
    at = 0.0;
    if (backlash_axis_loop_any_exceeds(run)) {
        double *const value1 = backlash_axis_loop_table_row(run, run->method.stages);
        double *const value2 = backlash_axis_loop_table_row(run, (run->method.stages + 1));
        nodes = value1;
        errors = value2;
        for (int64_t i3 = 1, end3 = run->method.last; i3 < end3; ++i3) {
            s = i3;
            if (errors[s] != 0.0) {
                backlash_axis_loop_bound(run, nodes[s], nodes[s]);
                backlash_axis_loop_widen(run);
            }
        }
        at = backlash_axis_loop_search_laws(run);
    }
    return at;
}

static void backlash_axis_loop_find_middle(backlash_axis_loop_run_memory *run)
{
    double *y = 0;
    double *new = 0;
    double *middle = 0;
    double *k = 0;
    double *k_last = 0;
    double eighth = 0.0;
    int64_t i = 0;
    y = run->state.y;
    new = run->state.y_new;
    middle = run->state.between;
    double *const value1 = run->state.slopes;
    double *const value2 = backlash_axis_loop_slope(run, run->method.last);
    const double value3 = (0.125 * run->step.h_done);
    k = value1;
    k_last = value2;
    eighth = value3;
    for (int64_t i4 = 0, end4 = run->model.n_continuous; i4 < end4; ++i4) {
        i = i4;
        middle[i] = ((0.5 * (y[i] + new[i])) + (eighth * (k[i] - k_last[i])));
    }
}

static int backlash_axis_loop_stays_clear(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_event_functions *events = 0;
    backlash_axis_loop_int *covered = 0;
    backlash_axis_loop_int *active = 0;
    int64_t settled = 0;
    int64_t first = 0;
    double *out = 0;
    int64_t i = 0;
    int64_t at = 0;
    double *g = 0;
    backlash_axis_loop_int *armed = 0;
    events = &run->events;
    covered = run->bounds.covered;
    active = run->events.active;
    settled = run->bounds.functions_settled;
    first = (run->bounds.n_laws - 1);
    if ((events->n_costly != 0) || (run->bounds.count == run->bounds.n_laws)) {
        return 0;
    }
    out = ((settled == 2) ? run->bounds.box_out : run->bounds.out);
    if (settled != 2) {
        backlash_axis_loop_bound_step(run);
        for (int64_t i1 = 0, end1 = events->n_active; i1 < end1; ++i1) {
            i = i1;
            at = covered[active[i]];
            if ((at == 0) || !(out[(first + at)] > 1e-09)) {
                return 0;
            }
        }
    }
    g = events->g;
    armed = events->armed;
    for (int64_t i2 = 0, end2 = events->n_active; i2 < end2; ++i2) {
        i = i2;
        g[active[i]] = out[(first + covered[active[i]])];
        armed[active[i]] = 1;
    }
    return 1;
}

static void backlash_axis_loop_store_values(backlash_axis_loop_run_memory *run, double *values)
{
    double *g = 0;
    int64_t k = 0;
    g = run->events.g;
    for (int64_t i1 = 0, end1 = run->events.count; i1 < end1; ++i1) {
        k = i1;
        values[k] = g[k];
    }
}

static int backlash_axis_loop_is_below(backlash_axis_loop_run_memory *run, int64_t k)
{
    double *g = 0;
    int at_zero = 0;
    g = run->events.g;
    at_zero = ((run->events.armed[k] != 0) || (g[(run->events.count + k)] < 0.0));
    return (g[k] < (at_zero ? 0.0 : (-1e-09)));
}

static int backlash_axis_loop_any_triggers(backlash_axis_loop_run_memory *run)
{
    double *g = 0;
    backlash_axis_loop_int *active = 0;
    int below = 0;
    int64_t i = 0;
    g = run->events.g;
    active = run->events.active;
    below = 0;
    for (int64_t i1 = 0, end1 = run->events.n_active; i1 < end1; ++i1) {
        i = i1;
        below = (below || ((g[active[i]] < 0.0) && backlash_axis_loop_is_below(run, active[i])));
    }
    return below;
}

static void backlash_axis_loop_end_slope(backlash_axis_loop_run_memory *run)
{
    if (run->counts.dense_ready == 0) {
        backlash_axis_loop_rate(run, run->step.t_new, run->state.y_new, backlash_axis_loop_slope(run, run->method.last));
        run->counts.evaluations = (run->counts.evaluations + 1);
        run->counts.dense_ready = 1;
    }
}

static void backlash_axis_loop_find_weights(backlash_axis_loop_run_memory *run, double theta)
{
    backlash_axis_loop_method_table *method = 0;
    int64_t stages = 0;
    double *weights = 0;
    double *dense = 0;
    int64_t top = 0;
    double *highest = 0;
    int64_t j = 0;
    int64_t k = 0;
    double *numbers = 0;
    double factor = 0.0;
    method = &run->method;
    stages = run->method.stages;
    double *const value1 = method->weights;
    double *const value2 = backlash_axis_loop_table_row(run, (stages + 3));
    const int64_t value3 = (method->powers - 1);
    weights = value1;
    dense = value2;
    top = value3;
    highest = (dense + (top * stages));
    for (int64_t i4 = 0, end4 = stages; i4 < end4; ++i4) {
        j = i4;
        weights[j] = highest[j];
    }
    for (int64_t i5 = (top - 1), end5 = (-1); i5 > end5; --i5) {
        k = i5;
        double *const value6 = (dense + (k * stages));
        const double value7 = ((backlash_axis_loop_remainder(k, 2) == 0) ? (1.0 - theta) : theta);
        numbers = value6;
        factor = value7;
        for (int64_t i8 = 0, end8 = stages; i8 < end8; ++i8) {
            j = i8;
            weights[j] = (numbers[j] + (weights[j] * factor));
        }
    }
    for (int64_t i9 = 0, end9 = stages; i9 < end9; ++i9) {
        j = i9;
        weights[j] = (weights[j] * theta);
    }
}

static void backlash_axis_loop_sample(backlash_axis_loop_run_memory *run, double t, double *out)
{
    backlash_axis_loop_method_table *method = 0;
    backlash_axis_loop_step_times *step = 0;
    backlash_axis_loop_step_counts *counts = 0;
    double h = 0.0;
    int64_t stages = 0;
    double *nodes = 0;
    int64_t s = 0;
    method = &run->method;
    step = &run->step;
    counts = &run->counts;
    h = step->h_done;
    stages = method->stages;
    if (method->stepping == 1) {
        backlash_axis_loop_end_slope(run);
    }
    if (counts->dense_ready == 0) {
        nodes = backlash_axis_loop_table_row(run, stages);
        for (int64_t i1 = (method->last + 1), end1 = stages; i1 < end1; ++i1) {
            s = i1;
            backlash_axis_loop_combine(run, h, backlash_axis_loop_table_row(run, s), s, run->state.y_stage);
            backlash_axis_loop_rate(run, (step->t + (nodes[s] * h)), run->state.y_stage, backlash_axis_loop_slope(run, s));
            counts->evaluations = (counts->evaluations + 1);
        }
        counts->dense_ready = 1;
    }
    backlash_axis_loop_find_weights(run, ((t - step->t) / h));
    backlash_axis_loop_combine(run, h, method->weights, stages, out);
    backlash_axis_loop_copy_discrete(run, out);
}

static int backlash_axis_loop_triggers_at(backlash_axis_loop_run_memory *run, double t)
{
    double *between = 0;
    between = run->state.between;
    backlash_axis_loop_sample(run, t, between);
    backlash_axis_loop_project(run, t, between);
    backlash_axis_loop_evaluate(run, t, between);
    if (backlash_axis_loop_any_triggers(run)) {
        return 1;
    }
    backlash_axis_loop_arm(run);
    return 0;
}

static int backlash_axis_loop_triggers(backlash_axis_loop_run_memory *run, int64_t k, double *y)
{
    return (backlash_axis_loop_is_below(run, k) && backlash_axis_loop_is_active(run, k, y));
}

static int64_t backlash_axis_loop_first_triggering(backlash_axis_loop_run_memory *run, double *y)
{
    int64_t k = 0;
    for (int64_t i1 = 0, end1 = run->events.count; i1 < end1; ++i1) {
        k = i1;
        if (backlash_axis_loop_triggers(run, k, y)) {
            return k;
        }
    }
    return 0;
}

static double backlash_axis_loop_next_guess(double before, double after, double high, double low, int64_t iterations)
{
    double middle = 0.0;
    double least = 0.0;
    double guess = 0.0;
    const double value1 = (0.5 * (before + after));
    const double value2 = (pow(2.0, (double)(-52)) * fabs(after));
    middle = value1;
    least = value2;
    if ((backlash_axis_loop_remainder(iterations, 3) == 2) || !(high > low)) {
        return middle;
    }
    guess = (before + ((after - before) * (high / (high - low))));
    if ((guess - before) < least) {
        guess = (before + least);
    } else {
        if ((after - guess) < least) {
            guess = (after - least);
        }
    }
    return (((before < guess) && (guess < after)) ? guess : middle);
}

static void backlash_axis_loop_mark_triggered(backlash_axis_loop_run_memory *run, double *y)
{
    backlash_axis_loop_int *triggered = 0;
    int64_t k = 0;
    triggered = run->events.triggered;
    for (int64_t i1 = 0, end1 = run->events.count; i1 < end1; ++i1) {
        k = i1;
        triggered[k] = (int64_t)(backlash_axis_loop_triggers(run, k, y));
    }
}

static void backlash_axis_loop_note_peak(backlash_axis_loop_run_memory *run, double peak)
{
    run->chatter.previous_peak = run->chatter.peak;
    run->chatter.peak = peak;
}

static void backlash_axis_loop_cut(backlash_axis_loop_run_memory *run, double before, double after)
{
    double *g = 0;
    double *between = 0;
    int64_t iterations = 0;
    int64_t side = 0;
    int64_t k = 0;
    double low = 0.0;
    double peak = 0.0;
    double high = 0.0;
    double at = 0.0;
    double *new = 0;
    int64_t i = 0;
    g = run->events.g;
    between = run->state.between;
    iterations = 0;
    side = 0;
    k = backlash_axis_loop_first_triggering(run, ((after == run->step.t_new) ? run->state.y_new : between));
    low = g[k];
    peak = 0.0;
    high = (-low);
    while (((before < (0.5 * (before + after))) && ((0.5 * (before + after)) < after)) && ((after - before) > run->step.least)) {
        at = backlash_axis_loop_next_guess(before, after, high, low, iterations);
        iterations = (iterations + 1);
        if (backlash_axis_loop_triggers_at(run, at)) {
            int64_t value1 = 0;
            if (backlash_axis_loop_triggers(run, k, between)) {
                value1 = k;
            } else {
                value1 = backlash_axis_loop_first_triggering(run, between);
            }
            k = value1;
            after = at;
            low = g[k];
            high = ((side == 1) ? (0.5 * high) : high);
            side = 1;
        } else {
            const double value2 = at;
            const double value3 = backlash_axis_loop_most(g[k], 0.0);
            before = value2;
            high = value3;
            peak = backlash_axis_loop_most(peak, high);
            low = ((side == 2) ? (0.5 * low) : low);
            side = 2;
        }
    }
    if (after == run->step.t_new) {
        backlash_axis_loop_evaluate(run, after, run->state.y_new);
        backlash_axis_loop_mark_triggered(run, run->state.y_new);
    } else {
        (void)backlash_axis_loop_triggers_at(run, after);
        backlash_axis_loop_mark_triggered(run, between);
        new = run->state.y_new;
        for (int64_t i4 = 0, end4 = run->model.n; i4 < end4; ++i4) {
            i = i4;
            new[i] = between[i];
        }
    }
    run->step.t_new = after;
    backlash_axis_loop_note_peak(run, peak);
    run->counts.cut = (run->counts.cut + 1);
}

static double backlash_axis_loop_lowest_bound(backlash_axis_loop_run_memory *run, double a, double b)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    double *out = 0;
    backlash_axis_loop_int *functions = 0;
    backlash_axis_loop_int *armed = 0;
    double *before = 0;
    double lowest = 0.0;
    int64_t j = 0;
    int64_t k = 0;
    bounds = &run->bounds;
    out = run->bounds.out;
    functions = run->bounds.functions;
    armed = run->events.armed;
    before = run->events.g_before;
    lowest = 1.0;
    if ((b - a) == 1.0) {
        backlash_axis_loop_bound_step(run);
    } else {
        backlash_axis_loop_bound(run, a, b);
    }
    for (int64_t i1 = bounds->n_laws, end1 = bounds->count; i1 < end1; ++i1) {
        j = i1;
        if (!(out[j] > 0.0)) {
            k = functions[(j - bounds->n_laws)];
            if ((armed[k] != 0) && (before[k] > 1e-09) && backlash_axis_loop_is_active(run, k, run->state.y)) {
                lowest = backlash_axis_loop_least(lowest, ((out[j] != out[j]) ? (-1.0) : out[j]));
            }
        }
    }
    return lowest;
}

static int backlash_axis_loop_search_functions(backlash_axis_loop_run_memory *run)
{
    int64_t depth = 0;
    int64_t index = 0;
    double length = 0.0;
    int64_t pieces = 0;
    int settled = 0;
    double middle = 0.0;
    depth = 0;
    index = 0;
    length = 1.0;
    pieces = 0;
    if (run->bounds.functions_settled != 0) {
        return 0;
    }
    while (!((depth == 0) && (index == 1))) {
        pieces = (pieces + 1);
        settled = ((pieces >= 256) || (depth >= 40));
        if (!settled && (backlash_axis_loop_lowest_bound(run, ((double)index * length), ((double)(index + 1) * length)) <= 0.0)) {
            middle = (((double)index + 0.5) * length);
            if (backlash_axis_loop_lowest_bound(run, middle, middle) < 0.0) {
                const double value1 = ((double)index * length);
                const double value2 = middle;
                run->bounds.left = value1;
                run->bounds.share = value2;
                return 1;
            }
            depth = (depth + 1);
            index = (2 * index);
            length = (0.5 * length);
        } else {
            index = (index + 1);
            while ((depth > 0) && (backlash_axis_loop_remainder(index, 2) == 0)) {
                depth = (depth - 1);
                index = backlash_axis_loop_divide(index, 2);
                length = (2.0 * length);
            }
        }
    }
    return 0;
}

static int backlash_axis_loop_find_dip(backlash_axis_loop_run_memory *run)
{
    double t = 0.0;
    double end = 0.0;
    double before = 0.0;
    int64_t i = 0;
    double at = 0.0;
    t = run->step.t;
    end = run->step.t_new;
    before = run->step.t;
    for (int64_t i1 = 1, end1 = 16; i1 < end1; ++i1) {
        i = i1;
        at = (t + (((end - t) * (double)i) / (double)16));
        if ((before < at) && backlash_axis_loop_triggers_at(run, at)) {
            backlash_axis_loop_cut(run, before, at);
            return 1;
        }
        before = at;
    }
    backlash_axis_loop_evaluate(run, end, run->state.y_new);
    return 0;
}

static int backlash_axis_loop_find_covered_dip(backlash_axis_loop_run_memory *run)
{
    double t = 0.0;
    double h = 0.0;
    if (!(backlash_axis_loop_search_functions(run))) {
        return 0;
    }
    t = run->step.t;
    h = run->step.h_done;
    if (backlash_axis_loop_triggers_at(run, (t + (run->bounds.share * h)))) {
        backlash_axis_loop_cut(run, (t + (run->bounds.left * h)), (t + (run->bounds.share * h)));
        return 1;
    }
    return backlash_axis_loop_find_dip(run);
}

static int backlash_axis_loop_may_dip(backlash_axis_loop_run_memory *run)
{
    double *before = 0;
    double *half = 0;
    double *g = 0;
    backlash_axis_loop_int *active = 0;
    backlash_axis_loop_int *covered = 0;
    int dips = 0;
    int64_t i = 0;
    int64_t k = 0;
    double slope = 0.0;
    double bend = 0.0;
    double lowest = 0.0;
    before = run->events.g_before;
    half = run->events.g_half;
    g = run->events.g;
    active = run->events.active;
    covered = run->bounds.covered;
    dips = 0;
    for (int64_t i1 = 0, end1 = run->events.n_active; i1 < end1; ++i1) {
        i = i1;
        k = active[i];
        if (covered[k] != 0) {
            continue;
        }
        slope = (((4.0 * half[k]) - (3.0 * before[k])) - g[k]);
        if (slope < 0.0) {
            bend = (2.0 * ((before[k] - (2.0 * half[k])) + g[k]));
            if ((-slope) < (2.0 * bend)) {
                lowest = (before[k] - (((0.25 * slope) * slope) / bend));
                dips = (dips || (lowest < (0.5 * backlash_axis_loop_least(backlash_axis_loop_least(before[k], half[k]), g[k]))));
            }
        }
    }
    return dips;
}

static int backlash_axis_loop_find_event(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_event_functions *events = 0;
    double t = 0.0;
    double end = 0.0;
    double half = 0.0;
    events = &run->events;
    t = run->step.t;
    end = run->step.t_new;
    if (backlash_axis_loop_stays_clear(run)) {
        run->chatter.stalled = 0;
        return 0;
    }
    backlash_axis_loop_store_values(run, events->g_before);
    half = (t + (0.5 * run->step.h_done));
    if (!(backlash_axis_loop_is_clear(run, half, run->state.between))) {
        backlash_axis_loop_evaluate(run, half, run->state.between);
        if (backlash_axis_loop_any_triggers(run) && backlash_axis_loop_triggers_at(run, half)) {
            backlash_axis_loop_cut(run, t, half);
            return 1;
        }
        backlash_axis_loop_arm(run);
    }
    backlash_axis_loop_store_values(run, events->g_half);
    if (!(backlash_axis_loop_is_clear(run, end, run->state.y_new))) {
        backlash_axis_loop_evaluate(run, end, run->state.y_new);
        if (backlash_axis_loop_any_triggers(run)) {
            if (backlash_axis_loop_triggers_at(run, half)) {
                backlash_axis_loop_cut(run, t, half);
            } else {
                backlash_axis_loop_evaluate(run, end, run->state.y_new);
                backlash_axis_loop_cut(run, half, end);
            }
            return 1;
        }
        backlash_axis_loop_arm(run);
    }
    if (((run->bounds.count > run->bounds.n_laws) && backlash_axis_loop_find_covered_dip(run)) || (backlash_axis_loop_may_dip(run) && backlash_axis_loop_find_dip(run))) {
        return 1;
    }
    run->chatter.stalled = 0;
    return 0;
}

static double backlash_axis_loop_find_growth(backlash_axis_loop_run_memory *run)
{
    double *before = 0;
    double *half = 0;
    double *g = 0;
    backlash_axis_loop_int *of_state = 0;
    backlash_axis_loop_int *active = 0;
    double growth = 0.0;
    int64_t i = 0;
    int64_t k = 0;
    double bend = 0.0;
    double size = 0.0;
    double at_most = 0.0;
    before = run->events.g_before;
    half = run->events.g_half;
    g = run->events.g;
    of_state = run->events.of_state;
    active = run->events.active;
    growth = INFINITY;
    for (int64_t i1 = 0, end1 = run->events.n_active; i1 < end1; ++i1) {
        i = i1;
        k = active[i];
        if (of_state[k] == 0) {
            const double value2 = fabs(((before[k] - (2.0 * half[k])) + g[k]));
            const double value3 = backlash_axis_loop_most(backlash_axis_loop_most(backlash_axis_loop_most(fabs(before[k]), fabs(half[k])), fabs(g[k])), 0.01);
            bend = value2;
            size = value3;
            at_most = ((bend > (0.25 * size)) ? 1.0 : 2.0);
            growth = backlash_axis_loop_least(growth, ((bend > ((2.0 * 0.25) * size)) ? 0.5 : at_most));
        }
    }
    return growth;
}

static void backlash_axis_loop_restore_values(backlash_axis_loop_run_memory *run)
{
    double *g = 0;
    double *values = 0;
    int64_t k = 0;
    g = run->events.g;
    values = run->events.g_before;
    for (int64_t i1 = 0, end1 = run->events.count; i1 < end1; ++i1) {
        k = i1;
        g[k] = values[k];
    }
}

static int64_t backlash_axis_loop_step_to_event(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_times *step = 0;
    backlash_axis_loop_step_counts *counts = 0;
    int64_t refused = 0;
    double tried = 0.0;
    int64_t code = 0;
    double share = 0.0;
    double growth = 0.0;
    step = &run->step;
    counts = &run->counts;
    refused = 0;
    for (;;) {
        tried = step->h;
        code = backlash_axis_loop_find_step(run);
        if (code != 0) {
            return code;
        }
        counts->pending = 1;
        counts->dense_ready = 0;
        share = 0.0;
        if (run->bounds.count != 0) {
            backlash_axis_loop_prepare_bounds(run);
            share = backlash_axis_loop_find_hidden(run);
        }
        if (share == 0.0) {
            if (run->events.count == 0) {
                return 0;
            }
            backlash_axis_loop_find_middle(run);
            if (backlash_axis_loop_find_event(run)) {
                counts->pending = 2;
                return 0;
            }
            growth = backlash_axis_loop_find_growth(run);
            if ((growth >= 1.0) || (refused == 8)) {
                step->h = backlash_axis_loop_least(step->h, (backlash_axis_loop_most(1.0, growth) * backlash_axis_loop_most(tried, step->h_done)));
                return 0;
            }
            refused = (refused + 1);
            share = 0.25;
            backlash_axis_loop_restore_values(run);
        }
        step->h = (share * step->h_done);
        counts->pending = 0;
        counts->steps = (counts->steps - 1);
        counts->rejected = (counts->rejected + 1);
    }
}

static double backlash_axis_loop_find_stiffness(backlash_axis_loop_run_memory *run)
{
    int64_t n = 0;
    int64_t last = 0;
    double *y = 0;
    double *new = 0;
    double *stage = 0;
    double *k = 0;
    double *k_last = 0;
    double h = 0.0;
    double *atol = 0;
    double rtol = 0.0;
    double of_slopes = 0.0;
    double of_states = 0.0;
    int64_t i = 0;
    double scale = 0.0;
    double slopes = 0.0;
    double states = 0.0;
    n = run->model.n_continuous;
    last = run->method.last;
    y = run->state.y;
    new = run->state.y_new;
    double *const value1 = run->state.y_stage;
    double *const value2 = backlash_axis_loop_slope(run, (last - 1));
    double *const value3 = backlash_axis_loop_slope(run, last);
    stage = value1;
    k = value2;
    k_last = value3;
    h = run->step.h_done;
    atol = run->method.atol;
    rtol = run->method.rtol;
    of_slopes = 0.0;
    of_states = 0.0;
    backlash_axis_loop_combine(run, h, backlash_axis_loop_table_row(run, (last - 1)), (last - 1), stage);
    for (int64_t i4 = 0, end4 = n; i4 < end4; ++i4) {
        i = i4;
        scale = (1.0 / (atol[i] + (rtol * backlash_axis_loop_most(fabs(y[i]), fabs(new[i])))));
        slopes = ((k_last[i] - k[i]) * scale);
        states = ((new[i] - stage[i]) * scale);
        of_slopes = (of_slopes + (slopes * slopes));
        of_states = (of_states + (states * states));
    }
    if (of_states <= ((0.001 * 0.001) * (double)n)) {
        return 0.0;
    }
    return (fabs(h) * sqrt((of_slopes / of_states)));
}

static void backlash_axis_loop_watch_stiffness(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_stiffness_watch *watch = 0;
    backlash_axis_loop_step_times *step = 0;
    int worth = 0;
    watch = &run->stiffness;
    step = &run->step;
    if ((watch->limit == 0.0) || (run->counts.pending != 1)) {
        return;
    }
    if ((watch->suspected == 0) && (backlash_axis_loop_remainder(run->counts.steps, 64) != 0)) {
        return;
    }
    const double value1 = backlash_axis_loop_find_stiffness(run);
    if (value1 > watch->limit) {
        if (watch->suspected == 0) {
            watch->since = step->t;
        }
        watch->clear = 0;
        watch->suspected = (watch->suspected + 1);
        if (watch->suspected >= 30) {
            watch->bound_steps = (watch->bound_steps + ((watch->suspected == 30) ? 30 : 1));
            if (watch->bound_steps == 30) {
                watch->first = watch->since;
            }
            worth = ((watch->worth != 0) && (fabs((step->t_end - step->t_new)) > ((double)(watch->worth) * fabs(step->h_done))));
            watch->wanted = (int64_t)worth;
        }
    } else {
        if (watch->suspected > 0) {
            watch->clear = (watch->clear + 1);
            if (watch->clear == 6) {
                watch->suspected = 0;
                watch->clear = 0;
            }
        }
    }
}

static void backlash_axis_loop_finish_bounds(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_bounds *bounds = 0;
    double *before = 0;
    double *after = 0;
    int64_t i = 0;
    double *laws_before = 0;
    double *laws_after = 0;
    int64_t j = 0;
    bounds = &run->bounds;
    before = run->bounds.before;
    after = run->bounds.after;
    for (int64_t i1 = 0, end1 = (2 * bounds->n_arguments); i1 < end1; ++i1) {
        i = i1;
        before[i] = after[i];
    }
    laws_before = bounds->laws_before;
    laws_after = bounds->laws_after;
    bounds->laws_before_known = bounds->laws_after_known;
    if (bounds->laws_after_known != 0) {
        for (int64_t i2 = 0, end2 = bounds->n_laws; i2 < end2; ++i2) {
            j = i2;
            laws_before[j] = laws_after[j];
        }
    }
}

static int backlash_axis_loop_stalls(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_times *step = 0;
    backlash_axis_loop_step_counts *counts = 0;
    double advance = 0.0;
    step = &run->step;
    counts = &run->counts;
    counts->stall_steps = (counts->stall_steps + 1);
    if (counts->stall_steps < 200000) {
        return 0;
    }
    counts->stall_steps = 0;
    const double value1 = fabs((step->t_new - step->stall_time));
    const double value2 = step->t_new;
    advance = value1;
    step->stall_time = value2;
    return (advance < (1e-06 * fabs((step->t_end - step->t_start))));
}

static double backlash_axis_loop_largest_change(backlash_axis_loop_run_memory *run)
{
    double *y = 0;
    double *new = 0;
    double farthest = 0.0;
    int64_t i = 0;
    y = run->state.y;
    new = run->state.y_new;
    farthest = 0.0;
    for (int64_t i1 = 0, end1 = run->model.u_at; i1 < end1; ++i1) {
        i = i1;
        farthest = backlash_axis_loop_most(farthest, fabs((new[i] - y[i])));
    }
    return farthest;
}

static double backlash_axis_loop_distance_at(backlash_axis_loop_run_memory *run, double fraction)
{
    double t = 0.0;
    int64_t _ = 0;
    (void)_;
    double value = 0.0;
    t = (run->step.t + (fraction * run->step.h_done));
    backlash_axis_loop_sample(run, t, run->state.y_stage);
    for (int64_t i1 = 0, end1 = 2; i1 < end1; ++i1) {
        _ = i1;
        backlash_axis_loop_project(run, t, run->state.y_stage);
    }
    value = backlash_axis_loop_distance(run);
    double value2 = 0;
    if (fabs(value) < INFINITY) {
        value2 = value;
    } else {
        value2 = 0.0;
    }
    return value2;
}

static double backlash_axis_loop_find_smallest_in(backlash_axis_loop_run_memory *run, double start, double size, double before, double after)
{
    backlash_axis_loop_singularity_monitor *monitor = 0;
    double low = 0.0;
    double high = 0.0;
    double f_low = 0.0;
    double f_high = 0.0;
    double best = 0.0;
    double smallest = 0.0;
    double far_ = 0.0;
    int64_t _ = 0;
    (void)_;
    double left = 0.0;
    double right = 0.0;
    double bend = 0.0;
    double fraction = 0.0;
    double square = 0.0;
    monitor = &run->monitor;
    low = start;
    high = (start + size);
    f_low = (before * before);
    f_high = (after * after);
    best = (start + ((size * before) / (before + after)));
    smallest = pow(backlash_axis_loop_distance_at(run, best), (double)2);
    far_ = (monitor->farthest * monitor->farthest);
    for (int64_t i1 = 0, end1 = 8; i1 < end1; ++i1) {
        _ = i1;
        left = ((f_low - smallest) / (best - low));
        right = ((f_high - smallest) / (high - best));
        bend = ((left + right) / (high - low));
        if ((smallest < ((((0.01 * 0.001) * 0.01) * 0.001) * far_)) || !(bend > 0.0)) {
            break;
        }
        fraction = ((0.5 * (low + best)) + ((0.5 * left) / bend));
        if (!((low < fraction) && (fraction < high)) || (fabs((fraction - best)) < 1e-09) || ((smallest - (bend * pow((fraction - best), (double)2))) > ((0.1 * 0.1) * far_))) {
            break;
        }
        square = pow(backlash_axis_loop_distance_at(run, fraction), (double)2);
        if ((square < smallest) && (fraction < best)) {
            high = best;
            f_high = smallest;
            best = fraction;
            smallest = square;
        } else {
            if (square < smallest) {
                low = best;
                f_low = smallest;
                best = fraction;
                smallest = square;
            } else {
                if (fraction < best) {
                    low = fraction;
                    f_low = square;
                } else {
                    high = fraction;
                    f_high = square;
                }
            }
        }
    }
    if (sqrt(smallest) >= (monitor->near_share * monitor->farthest)) {
        return (-1.0);
    }
    monitor->near_share = (sqrt(smallest) / monitor->farthest);
    return best;
}

static void backlash_axis_loop_find_smallest(backlash_axis_loop_run_memory *run, double before, double reach, int64_t pieces)
{
    backlash_axis_loop_singularity_monitor *monitor = 0;
    double left = 0.0;
    double best = 0.0;
    int64_t k = 0;
    double right = 0.0;
    double fraction = 0.0;
    monitor = &run->monitor;
    left = before;
    best = (-1.0);
    for (int64_t i1 = 0, end1 = pieces; i1 < end1; ++i1) {
        k = i1;
        double value2 = 0;
        if (k == (pieces - 1)) {
            value2 = monitor->distance_new;
        } else {
            value2 = backlash_axis_loop_distance_at(run, (((double)k + 1.0) / (double)pieces));
        }
        right = value2;
        if ((left + right) < (reach / (double)pieces)) {
            fraction = backlash_axis_loop_find_smallest_in(run, ((double)k / (double)pieces), (1.0 / (double)pieces), left, right);
            best = ((fraction >= 0.0) ? fraction : best);
        }
        left = right;
    }
    if (best >= 0.0) {
        const double value3 = backlash_axis_loop_distance_at(run, best);
        monitor->near_share = (value3 / monitor->farthest);
        monitor->near_time = (run->step.t + (best * run->step.h_done));
    }
}

static int backlash_axis_loop_monitor_step(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_singularity_monitor *monitor = 0;
    double before = 0.0;
    double after = 0.0;
    double h = 0.0;
    double turned = 0.0;
    double slope = 0.0;
    double steepest = 0.0;
    double reach = 0.0;
    int near_ = 0;
    double bend = 0.0;
    monitor = &run->monitor;
    before = monitor->distance;
    after = monitor->distance_new;
    const double value1 = run->step.h_done;
    const double value2 = backlash_axis_loop_largest_change(run);
    h = value1;
    turned = value2;
    slope = ((after - before) / h);
    monitor->farthest = backlash_axis_loop_most(monitor->farthest, after);
    monitor->distance = after;
    const double value3 = run->step.t_new;
    const double value4 = (after / monitor->farthest);
    monitor->near_time = value3;
    monitor->near_share = value4;
    steepest = backlash_axis_loop_most(backlash_axis_loop_most(monitor->steepest, fabs(slope)), fabs(monitor->trend));
    reach = backlash_axis_loop_most(((1.5 * steepest) * fabs(h)), ((2.0 * turned) * monitor->farthest));
    if ((before + after) < reach) {
        backlash_axis_loop_find_smallest(run, before, reach, (backlash_axis_loop_whole((turned / 0.4)) + 1));
    }
    near_ = (monitor->near_share < 0.001);
    if (near_ && (monitor->near_time != run->step.t_new)) {
        slope = ((after + before) / h);
    }
    monitor->steepest = backlash_axis_loop_most(monitor->steepest, fabs(slope));
    bend = ((monitor->span != 0.0) ? ((slope - monitor->slope) / (h + monitor->span)) : 0.0);
    monitor->trend = (slope + (bend * h));
    const double value5 = slope;
    const double value6 = h;
    monitor->slope = value5;
    monitor->span = value6;
    return near_;
}

static int64_t backlash_axis_loop_take_step(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_times *step = 0;
    int64_t code = 0;
    double first = 0.0;
    step = &run->step;
    if (run->stiffness.wanted != 0) {
        return 15;
    }
    if (step->h == 0.0) {
        step->h = backlash_axis_loop_first_step(run);
    }
    backlash_axis_loop_begin_monitor(run);
    code = backlash_axis_loop_step_to_event(run);
    if (code != 0) {
        return code;
    }
    backlash_axis_loop_watch_stiffness(run);
    if (1 && (run->bounds.count != 0)) {
        backlash_axis_loop_finish_bounds(run);
    }
    if (backlash_axis_loop_stalls(run)) {
        return 14;
    }
    if (1 && (run->counts.pending == 2)) {
        first = backlash_axis_loop_most(backlash_axis_loop_most((10.0 * (step->t_new - step->t)), (1e-12 * fabs(step->t))), (2.0 * step->least));
        step->h = backlash_axis_loop_least(step->h, backlash_axis_loop_most(first, (step->h / (10.0 * 10.0))));
    } else {
        if ((run->model.projection != 0) && backlash_axis_loop_monitor_step(run)) {
            return 6;
        }
    }
    return 0;
}

static int64_t backlash_axis_loop_write_row(backlash_axis_loop_run_memory *run, double t, int at_end)
{
    backlash_axis_loop_output_rows *output = 0;
    backlash_axis_loop_step_times *step = 0;
    double *row = 0;
    output = &run->output;
    step = &run->step;
    if (output->written >= output->room) {
        return 2;
    }
    row = (output->y + (output->written * run->model.n));
    if (at_end) {
        backlash_axis_loop_copy(run, run->state.y_new, row);
    } else {
        if (run->method.stepping != 2) {
            backlash_axis_loop_sample(run, t, row);
            backlash_axis_loop_project(run, t, row);
        } else {
            if (step->t_requested == t) {
                backlash_axis_loop_copy(run, run->state.between, row);
            } else {
                step->t_requested = t;
                return 13;
            }
        }
    }
    output->t[output->written] = t;
    output->written = (output->written + 1);
    output->next_time = (output->next_time + 1);
    return 0;
}

static int backlash_axis_loop_is_instant(backlash_axis_loop_run_memory *run)
{
    double end = 0.0;
    int due = 0;
    end = run->step.t_new;
    due = ((end == run->clocks.time) || ((run->events.present != 0) && (end == run->breaks.time)));
    return ((run->counts.pending == 2) || (due && (end != run->step.t_end)));
}

static int64_t backlash_axis_loop_write_step(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_output_rows *output = 0;
    double end = 0.0;
    double *times = 0;
    int instant = 0;
    int fixed = 0;
    double t = 0.0;
    int at_end = 0;
    double beyond = 0.0;
    int64_t code = 0;
    output = &run->output;
    end = run->step.t_new;
    if (output->sampled == 0) {
        return backlash_axis_loop_write_row(run, end, 1);
    }
    double *const value1 = output->times;
    const int value2 = backlash_axis_loop_is_instant(run);
    times = value1;
    instant = value2;
    fixed = (run->method.stepping == 1);
    while (output->next_time < output->n_times) {
        t = times[output->next_time];
        at_end = (t == end);
        if (fixed) {
            beyond = ((t - end) / run->step.h);
            if (beyond > (instant ? (-1e-09) : 1e-09)) {
                return 0;
            }
            at_end = !(beyond < (-1e-09));
        } else {
            if ((((t - end) * run->step.h_done) > 0.0) || (instant && (t >= (end - backlash_axis_loop_time_tolerance(run, t))))) {
                return 0;
            }
        }
        code = backlash_axis_loop_write_row(run, t, at_end);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

static void backlash_axis_loop_finish_step(backlash_axis_loop_run_memory *run)
{
    double *y = 0;
    double *new = 0;
    double *k = 0;
    double *k_last = 0;
    int64_t i = 0;
    double *const value1 = run->state.y;
    double *const value2 = run->state.y_new;
    double *const value3 = run->state.slopes;
    double *const value4 = backlash_axis_loop_slope(run, run->method.last);
    y = value1;
    new = value2;
    k = value3;
    k_last = value4;
    if ((run->method.stepping == 1) && !(backlash_axis_loop_is_instant(run))) {
        backlash_axis_loop_end_slope(run);
    }
    for (int64_t i5 = 0, end5 = run->model.n_continuous; i5 < end5; ++i5) {
        i = i5;
        y[i] = new[i];
        k[i] = k_last[i];
    }
    run->step.t = run->step.t_new;
    run->counts.pending = ((run->counts.pending == 2) ? 3 : 0);
}

static int backlash_axis_loop_tell_parts(backlash_axis_loop_run_memory *run)
{
    double *out = 0;
    int64_t k = 0;
    out = run->state.y_stage;
    backlash_axis_loop_run_kernel(run, run->model.completed, backlash_axis_loop_law_time(run, run->step.t), run->state.y, run->model.x, out);
    if (out[0] == 0.0) {
        return 1;
    }
    if (out[0] < 0.0) {
        if (run->counts.pending == 0) {
            for (int64_t i1 = 0, end1 = run->events.count; i1 < end1; ++i1) {
                k = i1;
                run->events.triggered[k] = 0;
            }
            run->counts.pending = 3;
        }
        run->events.triggered[(backlash_axis_loop_whole((-out[0])) - 1)] = 2;
        return 1;
    }
    int64_t value2 = 0;
    if (out[0] == out[0]) {
        value2 = backlash_axis_loop_whole(out[0]);
    } else {
        value2 = 0;
    }
    run->counts.failed = value2;
    return 0;
}

static int64_t backlash_axis_loop_advance(backlash_axis_loop_run_memory *run)
{
    backlash_axis_loop_step_counts *counts = 0;
    backlash_axis_loop_step_times *step = 0;
    int64_t budget = 0;
    int64_t code = 0;
    counts = &run->counts;
    step = &run->step;
    budget = run->counts.budget;
    if ((counts->started == 0) && !(backlash_axis_loop_begin(run))) {
        return 3;
    }
    for (;;) {
        if (1 && (counts->pending >= 3)) {
            code = backlash_axis_loop_handle_instant(run);
            if (code != 0) {
                return code;
            }
            if (!(backlash_axis_loop_write_after_instant(run))) {
                return 2;
            }
            counts->pending = 0;
        }
        if (counts->pending == 0) {
            if (step->t == step->t_end) {
                return 0;
            }
            if (budget <= 0) {
                return 1;
            }
            if (step->t == run->breaks.time) {
                if (!(backlash_axis_loop_pass_break(run))) {
                    return 3;
                }
                continue;
            }
            if (1 && (step->t == run->clocks.time)) {
                counts->pending = 4;
                continue;
            }
            budget = (budget - 1);
            code = backlash_axis_loop_take_step(run);
            if (code != 0) {
                return code;
            }
        }
        code = backlash_axis_loop_write_step(run);
        if (code != 0) {
            return code;
        }
        backlash_axis_loop_finish_step(run);
        if ((run->model.completed != 0) && !(backlash_axis_loop_tell_parts(run))) {
            return 16;
        }
    }
}

static void backlash_axis_loop_evaluate_arguments(backlash_axis_loop_break_search *search, double t)
{
    search->time[0] = t;
    backlash_axis_loop_call(search->kernel, search->time, search->empty, search->empty, search->empty, search->p, search->inputs, search->empty, search->work, search->out);
}

static double backlash_axis_loop_argument_at(backlash_axis_loop_break_search *search, int64_t k, double t)
{
    backlash_axis_loop_evaluate_arguments(search, t);
    return search->out[k];
}

static double backlash_axis_loop_fastest_sine(backlash_axis_loop_break_search *search, int64_t k, double t, double end)
{
    double fastest = 0.0;
    int64_t i = 0;
    int64_t j = 0;
    fastest = 0.0;
    for (int64_t i1 = 0, end1 = 9; i1 < end1; ++i1) {
        i = i1;
        backlash_axis_loop_evaluate_arguments(search, (t + (((end - t) * (double)i) / (double)(9 - 1))));
        for (int64_t i2 = search->first_rate[k], end2 = search->first_rate[(k + 1)]; i2 < end2; ++i2) {
            j = i2;
            fastest = backlash_axis_loop_most(fastest, fabs(search->out[j]));
        }
    }
    return fastest;
}

static double backlash_axis_loop_level_beyond(backlash_axis_loop_break_search *search, int64_t k, double value, int upward)
{
    int64_t first = 0;
    int64_t stop = 0;
    double period = 0.0;
    double *numbers = 0;
    double best = 0.0;
    double shift = 0.0;
    int64_t turn = 0;
    double offset = 0.0;
    int64_t j = 0;
    double level = 0.0;
    first = search->first_number[k];
    stop = search->first_number[(k + 1)];
    period = search->periods[k];
    numbers = search->numbers;
    best = (upward ? INFINITY : (-INFINITY));
    shift = 0.0;
    if ((fabs(period) < INFINITY) && (stop > first)) {
        shift = (period * (double)(backlash_axis_loop_whole(floor(((value - numbers[first]) / period)))));
    }
    for (int64_t i1 = (-1), end1 = 2; i1 < end1; ++i1) {
        turn = i1;
        double value2 = 0;
        if (fabs(period) < INFINITY) {
            value2 = (shift + ((double)turn * period));
        } else {
            value2 = 0.0;
        }
        offset = value2;
        for (int64_t i3 = first, end3 = stop; i3 < end3; ++i3) {
            j = i3;
            level = (numbers[j] + offset);
            if (upward && (level > value)) {
                best = backlash_axis_loop_least(best, level);
            }
            if (!upward && (level < value)) {
                best = backlash_axis_loop_most(best, level);
            }
        }
    }
    return best;
}

static double backlash_axis_loop_bisect_crossing(backlash_axis_loop_break_search *search, int64_t k, double before, double after, double level, int rises)
{
    int64_t _ = 0;
    (void)_;
    double middle = 0.0;
    double value = 0.0;
    int beyond = 0;
    for (int64_t i1 = 0, end1 = 60; i1 < end1; ++i1) {
        _ = i1;
        middle = (0.5 * (before + after));
        value = backlash_axis_loop_argument_at(search, k, middle);
        beyond = (rises ? (value >= level) : (value <= level));
        if (beyond) {
            after = middle;
        } else {
            before = middle;
        }
    }
    return after;
}

static double backlash_axis_loop_cross_curved(backlash_axis_loop_break_search *search, int64_t k, double t, double end)
{
    double wanted = 0.0;
    int64_t cells = 0;
    double length = 0.0;
    double before = 0.0;
    double value = 0.0;
    int64_t i = 0;
    double after = 0.0;
    double next_value = 0.0;
    int rises = 0;
    double level = 0.0;
    int inside = 0;
    wanted = backlash_axis_loop_most((double)64, (((16.0 * (end - t)) * backlash_axis_loop_fastest_sine(search, k, t, end)) / (2.0 * 3.141592653589793)));
    cells = (backlash_axis_loop_whole(backlash_axis_loop_least(wanted, (double)100000)) + 1);
    length = (end - t);
    before = (t + (1e-12 * length));
    value = backlash_axis_loop_argument_at(search, k, before);
    for (int64_t i1 = 1, end1 = (cells + 1); i1 < end1; ++i1) {
        i = i1;
        double value2 = 0;
        if (i < cells) {
            value2 = ((double)i / (double)cells);
        } else {
            value2 = (1.0 - 1e-12);
        }
        after = (t + (length * value2));
        next_value = backlash_axis_loop_argument_at(search, k, after);
        rises = (next_value > value);
        level = backlash_axis_loop_level_beyond(search, k, value, rises);
        inside = ((fabs(level) < INFINITY) && (rises ? (level <= next_value) : (level >= next_value)));
        if ((next_value != value) && inside) {
            return backlash_axis_loop_bisect_crossing(search, k, before, after, level, rises);
        }
        before = after;
        value = next_value;
    }
    return INFINITY;
}

static double backlash_axis_loop_cross_linear(backlash_axis_loop_break_search *search, int64_t k, double t, double end, double value, double rate)
{
    double margin = 0.0;
    double at = 0.0;
    double level = 0.0;
    margin = (3.552713678800501e-15 * backlash_axis_loop_most(fabs(t), fabs(end)));
    at = t;
    level = value;
    for (;;) {
        level = backlash_axis_loop_level_beyond(search, k, level, (rate > 0.0));
        if (!(fabs(level) < INFINITY)) {
            return INFINITY;
        }
        at = (t + ((level - value) / rate));
        if (at > (t + margin)) {
            return at;
        }
    }
}

static double backlash_axis_loop_first_crossing(backlash_axis_loop_break_search *search, int64_t k, double t, double end)
{
    double length = 0.0;
    double first = 0.0;
    double second = 0.0;
    double middle = 0.0;
    double last = 0.0;
    double slope = 0.0;
    double tolerance = 0.0;
    double bent = 0.0;
    double rate = 0.0;
    length = (end - t);
    const double value1 = backlash_axis_loop_argument_at(search, k, (t + (0.113 * length)));
    const double value2 = backlash_axis_loop_argument_at(search, k, (t + (0.371 * length)));
    first = value1;
    second = value2;
    const double value3 = backlash_axis_loop_argument_at(search, k, (t + (0.5 * length)));
    const double value4 = backlash_axis_loop_argument_at(search, k, (t + (0.929 * length)));
    middle = value3;
    last = value4;
    if (!(fabs((((first + second) + middle) + last)) < INFINITY)) {
        return INFINITY;
    }
    slope = ((last - first) / (0.929 - 0.113));
    tolerance = ((1e-09 * fabs(slope)) + ((4.0 * 3.552713678800501e-15) * backlash_axis_loop_most(fabs(first), fabs(last))));
    bent = backlash_axis_loop_most(fabs(((second - first) - ((0.371 - 0.113) * slope))), fabs(((middle - first) - ((0.5 - 0.113) * slope))));
    if (bent > tolerance) {
        return backlash_axis_loop_cross_curved(search, k, t, end);
    }
    rate = (slope / length);
    if (rate == 0.0) {
        return INFINITY;
    }
    return backlash_axis_loop_cross_linear(search, k, t, end, (middle - (0.5 * slope)), rate);
}

static double backlash_axis_loop_next_break(backlash_axis_loop_break_search *search, double t, double until)
{
    double begin = 0.0;
    double end = 0.0;
    int64_t k = 0;
    double at = 0.0;
    if (search->count == 0) {
        return INFINITY;
    }
    begin = t;
    while (begin < until) {
        end = backlash_axis_loop_least(until, (begin + search->look));
        for (int64_t i1 = 0, end1 = search->count; i1 < end1; ++i1) {
            k = i1;
            at = backlash_axis_loop_first_crossing(search, k, begin, end);
            if ((begin < at) && (at < end)) {
                end = at;
            }
        }
        if ((end < backlash_axis_loop_least(until, (begin + search->look))) || !(fabs(until) < INFINITY)) {
            return end;
        }
        begin = end;
    }
    return INFINITY;
}

static void backlash_axis_loop_set_share(backlash_axis_loop_start_memory *start, double share)
{
    backlash_axis_loop_warm_memory *warm = 0;
    double *p = 0;
    double *own = 0;
    double *given = 0;
    int64_t i = 0;
    backlash_axis_loop_row_plan *places = 0;
    backlash_axis_loop_row_plan *speeds = 0;
    int64_t first = 0;
    warm = &start->warm;
    p = start->warm.p;
    own = start->p_own;
    given = start->p_given;
    for (int64_t i1 = 0, end1 = start->n_p; i1 < end1; ++i1) {
        i = i1;
        p[i] = ((share == 1.0) ? given[i] : (own[i] + (share * (given[i] - own[i]))));
    }
    backlash_axis_loop_call(start->requested, warm->time, warm->x, warm->still, warm->z, p, warm->inputs, warm->x, warm->work, start->request);
    places = &warm->positions;
    speeds = &warm->speeds;
    first = (((start->n_x + start->n_all_u) + start->n_z) + start->net.n_given);
    for (int64_t i2 = 0, end2 = start->n_led_q; i2 < end2; ++i2) {
        i = i2;
        places->asked[((places->n_rows - start->n_led_q) + i)] = start->request[(first + i)];
    }
    for (int64_t i3 = 0, end3 = start->n_led_u; i3 < end3; ++i3) {
        i = i3;
        speeds->asked[((speeds->n_rows - start->n_led_u) + i)] = start->request[((first + start->n_led_q) + i)];
    }
}

static void backlash_axis_loop_follow_states(backlash_axis_loop_start_memory *start)
{
    backlash_axis_loop_warm_memory *warm = 0;
    double *z = 0;
    int64_t _ = 0;
    (void)_;
    int changed = 0;
    int64_t k = 0;
    int64_t at = 0;
    backlash_axis_loop_warm_memory *const value1 = &start->warm;
    double *const value2 = (start->y + (start->n_q + start->n_u));
    warm = value1;
    z = value2;
    for (int64_t i3 = 0, end3 = 50; i3 < end3; ++i3) {
        _ = i3;
        backlash_axis_loop_call(start->following, warm->time, start->y, (start->y + start->n_q), z, warm->p, warm->inputs, warm->x, warm->work, start->values);
        changed = 0;
        for (int64_t i4 = 0, end4 = start->n_followers; i4 < end4; ++i4) {
            k = i4;
            at = start->places[k];
            if ((at >= 0) && (z[at] != start->values[k])) {
                z[at] = start->values[k];
                changed = 1;
            }
        }
        if (!changed) {
            return;
        }
    }
}

static void backlash_axis_loop_turn_columns(double *a, int64_t m, int64_t n, int64_t j, int64_t k, double cosine, double sine)
{
    int64_t i = 0;
    double x = 0.0;
    double y = 0.0;
    for (int64_t i1 = 0, end1 = m; i1 < end1; ++i1) {
        i = i1;
        x = a[((i * n) + j)];
        y = a[((i * n) + k)];
        a[((i * n) + j)] = ((cosine * x) - (sine * y));
        a[((i * n) + k)] = ((sine * x) + (cosine * y));
    }
}

static int backlash_axis_loop_rotate_pair(double *a, double *v, int64_t m, int64_t n, int64_t j, int64_t k)
{
    double first = 0.0;
    double second = 0.0;
    double both = 0.0;
    int64_t i = 0;
    double ratio = 0.0;
    double tangent = 0.0;
    double cosine = 0.0;
    first = 0.0;
    second = 0.0;
    both = 0.0;
    for (int64_t i1 = 0, end1 = m; i1 < end1; ++i1) {
        i = i1;
        first = (first + (a[((i * n) + j)] * a[((i * n) + j)]));
        second = (second + (a[((i * n) + k)] * a[((i * n) + k)]));
        both = (both + (a[((i * n) + j)] * a[((i * n) + k)]));
    }
    if (!(fabs(both) > (1e-15 * sqrt((first * second))))) {
        return 0;
    }
    ratio = ((second - first) / (2.0 * both));
    tangent = (1.0 / (fabs(ratio) + sqrt((1.0 + (ratio * ratio)))));
    if (ratio < 0.0) {
        tangent = (-tangent);
    }
    cosine = (1.0 / sqrt((1.0 + (tangent * tangent))));
    backlash_axis_loop_turn_columns(a, m, n, j, k, cosine, (cosine * tangent));
    backlash_axis_loop_turn_columns(v, n, n, j, k, cosine, (cosine * tangent));
    return 1;
}

static double backlash_axis_loop_rotate_columns(double *a, double *v, double *sizes, int64_t m, int64_t n)
{
    int64_t i = 0;
    int64_t j = 0;
    int64_t _ = 0;
    (void)_;
    int turned = 0;
    int64_t k = 0;
    double largest = 0.0;
    double total = 0.0;
    for (int64_t i1 = 0, end1 = n; i1 < end1; ++i1) {
        i = i1;
        for (int64_t i2 = 0, end2 = n; i2 < end2; ++i2) {
            j = i2;
            v[((i * n) + j)] = ((i == j) ? 1.0 : 0.0);
        }
    }
    for (int64_t i3 = 0, end3 = 40; i3 < end3; ++i3) {
        _ = i3;
        turned = 0;
        for (int64_t i4 = 0, end4 = n; i4 < end4; ++i4) {
            j = i4;
            for (int64_t i5 = (j + 1), end5 = n; i5 < end5; ++i5) {
                k = i5;
                turned = (backlash_axis_loop_rotate_pair(a, v, m, n, j, k) || turned);
            }
        }
        if (!turned) {
            break;
        }
    }
    largest = 0.0;
    for (int64_t i6 = 0, end6 = n; i6 < end6; ++i6) {
        j = i6;
        total = 0.0;
        for (int64_t i7 = 0, end7 = m; i7 < end7; ++i7) {
            i = i7;
            total = (total + (a[((i * n) + j)] * a[((i * n) + j)]));
        }
        sizes[j] = sqrt(total);
        largest = backlash_axis_loop_most(largest, sizes[j]);
    }
    return largest;
}

static double backlash_axis_loop_rotate_given(backlash_axis_loop_network_memory *net)
{
    int64_t m = 0;
    int64_t n = 0;
    int64_t first = 0;
    int64_t i = 0;
    m = net->n_given;
    n = net->n_free;
    first = (m + net->n_zero);
    for (int64_t i1 = 0, end1 = (m * n); i1 < end1; ++i1) {
        i = i1;
        net->a[i] = net->out[(first + i)];
    }
    return backlash_axis_loop_rotate_columns(net->a, net->v, net->sizes, m, n);
}

static void backlash_axis_loop_solve_shortest(double *a, double *v, double *sizes, double least, double *r, double *step, int64_t m, int64_t n)
{
    int64_t i = 0;
    int64_t j = 0;
    double total = 0.0;
    for (int64_t i1 = 0, end1 = n; i1 < end1; ++i1) {
        i = i1;
        step[i] = 0.0;
    }
    for (int64_t i2 = 0, end2 = n; i2 < end2; ++i2) {
        j = i2;
        if (sizes[j] > least) {
            total = 0.0;
            for (int64_t i3 = 0, end3 = m; i3 < end3; ++i3) {
                i = i3;
                total = (total - (a[((i * n) + j)] * r[i]));
            }
            total = (total / (sizes[j] * sizes[j]));
            for (int64_t i4 = 0, end4 = n; i4 < end4; ++i4) {
                i = i4;
                step[i] = (step[i] + (v[((i * n) + j)] * total));
            }
        }
    }
}

static void backlash_axis_loop_release(backlash_axis_loop_network_memory *net, double *z)
{
    int64_t m = 0;
    int64_t n = 0;
    int64_t n_zero = 0;
    double *out = 0;
    int moves = 0;
    int64_t i = 0;
    double least = 0.0;
    int64_t slopes = 0;
    int64_t j = 0;
    double total = 0.0;
    int64_t k = 0;
    double largest = 0.0;
    m = net->n_given;
    n = net->n_free;
    n_zero = net->n_zero;
    out = net->out;
    moves = 0;
    for (int64_t i1 = 0, end1 = n_zero; i1 < end1; ++i1) {
        i = i1;
        net->r[i] = out[(m + i)];
        moves = (moves || (out[(m + i)] != 0.0));
    }
    if (!moves) {
        return;
    }
    least = (1e-10 * backlash_axis_loop_rotate_given(net));
    slopes = ((m + n_zero) + (m * n));
    for (int64_t i2 = 0, end2 = n_zero; i2 < end2; ++i2) {
        i = i2;
        for (int64_t i3 = 0, end3 = n; i3 < end3; ++i3) {
            j = i3;
            total = 0.0;
            for (int64_t i4 = 0, end4 = n; i4 < end4; ++i4) {
                k = i4;
                total = (total + (out[((slopes + (i * n)) + k)] * net->v[((k * n) + j)]));
            }
            net->b[((i * n) + j)] = ((net->sizes[j] > least) ? 0.0 : total);
        }
    }
    largest = backlash_axis_loop_rotate_columns(net->b, net->w, net->lengths, n_zero, n);
    backlash_axis_loop_solve_shortest(net->b, net->w, net->lengths, (1e-10 * largest), net->r, net->step, n_zero, n);
    for (int64_t i5 = 0, end5 = n; i5 < end5; ++i5) {
        i = i5;
        total = 0.0;
        for (int64_t i6 = 0, end6 = n; i6 < end6; ++i6) {
            j = i6;
            if (!(net->sizes[j] > least)) {
                total = (total + (net->v[((i * n) + j)] * net->step[j]));
            }
        }
        z[net->free[i]] = (z[net->free[i]] + total);
    }
}

static int backlash_axis_loop_start_network_there(backlash_axis_loop_network_memory *net, double *time, double *q, double *u, double *z, double *p, double *inputs, double *work)
{
    int64_t m = 0;
    int64_t n = 0;
    double *out = 0;
    double *r = 0;
    int64_t tries = 0;
    int holds = 0;
    int64_t i = 0;
    double largest = 0.0;
    int64_t j = 0;
    m = net->n_given;
    n = net->n_free;
    out = net->out;
    r = net->r;
    tries = 0;
    for (;;) {
        backlash_axis_loop_call(net->kernel, time, q, u, z, p, inputs, q, work, out);
        holds = 1;
        for (int64_t i1 = 0, end1 = m; i1 < end1; ++i1) {
            i = i1;
            r[i] = (out[i] - net->wanted[i]);
            holds = (holds && (fabs(r[i]) <= (1e-09 * (1.0 + fabs(net->wanted[i])))));
        }
        if (holds) {
            break;
        }
        if ((n == 0) || (tries == 10)) {
            return 0;
        }
        largest = backlash_axis_loop_rotate_given(net);
        backlash_axis_loop_solve_shortest(net->a, net->v, net->sizes, (1e-10 * largest), r, net->step, m, n);
        for (int64_t i2 = 0, end2 = n; i2 < end2; ++i2) {
            j = i2;
            z[net->free[j]] = (z[net->free[j]] + net->step[j]);
        }
        tries = (tries + 1);
    }
    if ((n > 0) && (net->n_zero > 0)) {
        backlash_axis_loop_release(net, z);
    }
    return 1;
}

static int backlash_axis_loop_start_network(backlash_axis_loop_start_memory *start)
{
    backlash_axis_loop_warm_memory *warm = 0;
    double *y = 0;
    int64_t first = 0;
    int64_t i = 0;
    double *u = 0;
    double *z = 0;
    warm = &start->warm;
    y = start->y;
    first = ((start->n_x + start->n_all_u) + start->n_z);
    for (int64_t i1 = 0, end1 = start->net.n_given; i1 < end1; ++i1) {
        i = i1;
        start->net.wanted[i] = start->request[(first + i)];
    }
    double *const value2 = (y + start->n_q);
    double *const value3 = (y + (start->n_q + start->n_u));
    u = value2;
    z = value3;
    return backlash_axis_loop_start_network_there(&start->net, warm->time, y, u, z, warm->p, warm->inputs, warm->work);
}

static int64_t backlash_axis_loop_find_start(backlash_axis_loop_start_memory *start)
{
    double *y = 0;
    double *request = 0;
    double *x = 0;
    double *u = 0;
    int64_t i = 0;
    y = start->y;
    request = start->request;
    x = start->warm.x;
    u = start->warm.step;
    backlash_axis_loop_set_share(start, 1.0);
    for (int64_t i1 = 0, end1 = start->n_x; i1 < end1; ++i1) {
        i = i1;
        x[i] = request[i];
    }
    for (int64_t i2 = 0, end2 = start->n_all_u; i2 < end2; ++i2) {
        i = i2;
        u[i] = request[(start->n_x + i)];
    }
    for (int64_t i3 = 0, end3 = start->n_q; i3 < end3; ++i3) {
        i = i3;
        y[i] = x[i];
    }
    for (int64_t i4 = 0, end4 = start->n_u; i4 < end4; ++i4) {
        i = i4;
        y[(start->n_q + i)] = u[i];
    }
    for (int64_t i5 = 0, end5 = start->n_z; i5 < end5; ++i5) {
        i = i5;
        y[((start->n_q + start->n_u) + i)] = request[((start->n_x + start->n_all_u) + i)];
    }
    if (start->following != 0) {
        backlash_axis_loop_follow_states(start);
    }
    if (1 && !(backlash_axis_loop_start_network(start))) {
        return 2;
    }
    return 0;
}

static const double backlash_axis_a_method_table[] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.075, 0.225, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.9777777777777777, -3.7333333333333334, 3.5555555555555554, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.0, 2.9525986892242035, -11.595793324188385, 9.822892851699436, -0.2908093278463649, 0.0, 0.0, 0.0, 0.0,
    0.0, 2.8462752525252526, -10.757575757575758, 8.906422717743473, 0.2784090909090909, -0.2735313036020583, 0.0,
    0.0, 0.0, 0.0, 0.09114583333333333, 0.0, 0.44923629829290207, 0.6510416666666666, -0.322376179245283,
    0.13095238095238096, 0.0, 0.0, 0.0, 0.1152251356731428, 0.0, 0.2650422655122475, -0.11083056522238172,
    0.09145252361484196, -0.054572017228193215, 0.04368265765034256, 0.0, 0.0, 0.0867602919231428, 0.0,
    0.46113390971709933, 0.17334912227761828, -0.049264678625724145, 0.002588697057521086, -0.024567342349657448,
    0.0, 0.0, 0.0, 0.2, 0.3, 0.8, 0.8888888888888888, 1.0, 1.0, 0.35, 0.65, 0.0012326388888888888, 0.0,
    -0.0042527702905061394, 0.03697916666666667, -0.05086379716981132, 0.0419047619047619, -0.025, 0.0, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.09114583333333333, 0.0, 0.44923629829290207, 0.6510416666666666,
    -0.322376179245283, 0.13095238095238096, 0.0, 0.0, 0.0, 0.9088541666666666, 0.0, -0.44923629829290207,
    -0.6510416666666666, 0.322376179245283, -0.13095238095238096, 0.0, 0.0, 0.0, -0.8177083333333334, 0.0,
    0.8984725965858041, 1.3020833333333333, -0.644752358490566, 0.2619047619047619, -1.0, 0.0, 0.0,
    -2.0273476523476526, 0.0, 9.801519235481505, 14.204545454545464, -7.033662092624359, 2.857142857142859,
    -1.8181818181818197, -4.329004329004335, -11.655011655011661, 1.8568931068931076, 0.0, -19.60303847096301,
    -28.409090909090924, 14.067324185248719, -5.714285714285717, 5.834165834165837, 15.984015984015993,
    15.984015984015993,
};
static const double backlash_axis_a_method_atol[] = {
    1e-10, 1e-10, 1e-10, 1e-10, 1e-10, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY,
    INFINITY, INFINITY, INFINITY, INFINITY,
};
static const backlash_axis_loop_int backlash_axis_a_clocks_ticks[] = {
    1, 0, 0,
};
static const backlash_axis_loop_int backlash_axis_a_events_modes[] = {
    5, 5, 5, 5, 6, 6, 6, 6, 15, 15, 15, 15,
};
static const double backlash_axis_a_events_values[] = {
    1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0,
};
static const backlash_axis_loop_int backlash_axis_a_events_of_state[] = {
    1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1,
};
static const backlash_axis_loop_int backlash_axis_a_bounds_functions[] = {
    0, 2, 4, 6, 8, 9, 10, 11,
};
static const backlash_axis_loop_int backlash_axis_a_bounds_covered[] = {
    1, 0, 2, 0, 3, 0, 4, 0, 5, 6, 7, 8,
};
static const double backlash_axis_a_bounds_widths[] = {
    INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY,
};
static const double backlash_axis_default_p[] = {
    80.0, 0.005235987755982989,
};
static const double backlash_axis_default_inputs[] = {
    0.0,
};
static const double backlash_axis_start[] = {
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
};
static const double backlash_axis_break_numbers[] = {
    0.0, 0.0,
};
static const double backlash_axis_break_periods[] = {
    INFINITY, INFINITY,
};
static const backlash_axis_loop_int backlash_axis_break_first_number[] = {
    0, 1, 2,
};
static const backlash_axis_loop_int backlash_axis_break_first_rate[] = {
    2, 2, 2,
};
static const backlash_axis_loop_int backlash_axis_a_places[] = {
    1, 2, 10, 11,
};
static const backlash_axis_loop_int backlash_axis_a_is_given[] = {
    1, 1,
};
static const double backlash_axis_a_p_own[] = {
    80.0, 0.005235987755982989,
};
static void backlash_axis_lay_out(backlash_axis_model *m)
{
    m->run.model.rate = 1;
    m->run.model.n = 16;
    m->run.model.n_continuous = 5;
    m->run.model.u_at = 2;
    m->run.model.z_at = 4;
    m->run.model.lanes = 1;
    m->run.method.stages = 9;
    m->run.method.last = 6;
    m->run.method.powers = 5;
    m->run.method.order = 5;
    m->run.method.estimates = 1;
    m->run.method.damping = 0.04;
    m->run.method.rtol = 1e-08;
    m->run.method.max_step = INFINITY;
    m->run.method.max_steps = 100000000;
    m->run.step.least = 8.673617379884035e-19;
    m->run.step.t_end = 1.0;
    m->run.step.t_requested = NAN;
    m->run.step.previous_error = 0.0001;
    m->run.counts.failed = -1;
    m->run.output.sampled = 1;
    m->run.output.room = 1;
    m->run.breaks.time = INFINITY;
    m->run.breaks.earliest = -INFINITY;
    m->run.breaks.latest = INFINITY;
    m->run.clocks.count = 1;
    m->run.clocks.sample = 5;
    m->run.clocks.numerator = 1;
    m->run.clocks.denominator = 1000;
    m->run.clocks.time = INFINITY;
    m->run.events.present = 1;
    m->run.events.count = 12;
    m->run.events.functions = 2;
    m->run.events.cheap = 3;
    m->run.events.reset = 4;
    m->run.events.room = 72;
    m->run.bounds.kernel = 6;
    m->run.bounds.arguments = 7;
    m->run.bounds.n_arguments = 8;
    m->run.bounds.count = 8;
    m->run.bounds.reach = 64.0;
    m->run.chatter.cluster_time = -INFINITY;
    m->run.stiffness.limit = 3.25;
    m->run.columns.n_state = 16;
    m->run.columns.n_measured = 5;
    backlash_axis_copy(m->a_method_table, backlash_axis_a_method_table, 153);
    backlash_axis_copy(m->a_method_atol, backlash_axis_a_method_atol, 16);
    backlash_axis_copy_whole(m->a_clocks_ticks, backlash_axis_a_clocks_ticks, 3);
    backlash_axis_copy_whole(m->a_events_modes, backlash_axis_a_events_modes, 12);
    backlash_axis_copy(m->a_events_values, backlash_axis_a_events_values, 12);
    backlash_axis_copy_whole(m->a_events_of_state, backlash_axis_a_events_of_state, 12);
    backlash_axis_copy_whole(m->a_bounds_functions, backlash_axis_a_bounds_functions, 8);
    backlash_axis_copy_whole(m->a_bounds_covered, backlash_axis_a_bounds_covered, 12);
    backlash_axis_copy(m->a_bounds_widths, backlash_axis_a_bounds_widths, 8);
    m->search.kernel = 9;
    m->search.count = 2;
    m->search.look = 4.0;
    m->start.net.n_zero = 2;
    m->start.net.n_free = 1;
    m->start.n_q = 2;
    m->start.n_u = 2;
    m->start.n_z = 12;
    m->start.n_x = 2;
    m->start.n_all_u = 2;
    m->start.n_p = 2;
    m->start.n_followers = 4;
    backlash_axis_copy_whole(m->a_places, backlash_axis_a_places, 4);
    backlash_axis_copy_whole(m->a_is_given, backlash_axis_a_is_given, 2);
    backlash_axis_copy(m->a_p_own, backlash_axis_a_p_own, 2);
    m->start.requested = 10;
    m->start.net.kernel = 11;
    m->start.following = 12;
}

void backlash_axis_bind(backlash_axis_model *m)
{
    m->run.model.quaternions = m->a_model_quaternions;
    m->run.model.time = m->a_model_time;
    m->run.model.x = m->a_model_x;
    m->run.model.projected = m->a_model_projected;
    m->run.method.table = m->a_method_table;
    m->run.method.weights = m->a_method_weights;
    m->run.method.atol = m->a_method_atol;
    m->run.state.y = m->a_state_y;
    m->run.state.y_new = m->a_state_y_new;
    m->run.state.y_stage = m->a_state_y_stage;
    m->run.state.between = m->a_state_between;
    m->run.state.slopes = m->a_state_slopes;
    m->run.output.times = m->a_output_times;
    m->run.output.t = m->a_output_t;
    m->run.output.y = m->a_output_y;
    m->run.breaks.times = m->a_breaks_times;
    m->run.clocks.ticks = m->a_clocks_ticks;
    m->run.clocks.in_python = m->a_clocks_in_python;
    m->run.events.modes = m->a_events_modes;
    m->run.events.values = m->a_events_values;
    m->run.events.of_state = m->a_events_of_state;
    m->run.events.g = m->a_events_g;
    m->run.events.g_before = m->a_events_g_before;
    m->run.events.g_half = m->a_events_g_half;
    m->run.events.armed = m->a_events_armed;
    m->run.events.triggered = m->a_events_triggered;
    m->run.events.active = m->a_events_active;
    m->run.events.mask = m->a_events_mask;
    m->run.events.changed = m->a_events_changed;
    m->run.events.list_numbers = m->a_events_list_numbers;
    m->run.events.list_functions = m->a_events_list_functions;
    m->run.bounds.functions = m->a_bounds_functions;
    m->run.bounds.covered = m->a_bounds_covered;
    m->run.bounds.ranges = m->a_bounds_ranges;
    m->run.bounds.piece = m->a_bounds_piece;
    m->run.bounds.out = m->a_bounds_out;
    m->run.bounds.before = m->a_bounds_before;
    m->run.bounds.after = m->a_bounds_after;
    m->run.bounds.laws_before = m->a_bounds_laws_before;
    m->run.bounds.laws_after = m->a_bounds_laws_after;
    m->run.bounds.least = m->a_bounds_least;
    m->run.bounds.most = m->a_bounds_most;
    m->run.bounds.widths = m->a_bounds_widths;
    m->run.bounds.box = m->a_bounds_box;
    m->run.bounds.box_out = m->a_bounds_box_out;
    m->run.newton.columns.time = m->a_newton_columns_time;
    m->run.newton.columns.y = m->a_newton_columns_y;
    m->run.newton.columns.x = m->a_newton_columns_x;
    m->run.newton.columns.out = m->a_newton_columns_out;
    m->run.newton.change = m->a_newton_change;
    m->run.newton.change_back = m->a_newton_change_back;
    m->run.newton.slopes = m->a_newton_slopes;
    m->run.newton.eigenvalues = m->a_newton_eigenvalues;
    m->run.newton.jacobian = m->a_newton_jacobian;
    m->run.newton.pattern = m->a_newton_pattern;
    m->run.newton.eliminated = m->a_newton_eliminated;
    m->run.newton.row_starts = m->a_newton_row_starts;
    m->run.newton.row_columns = m->a_newton_row_columns;
    m->run.newton.part = m->a_newton_part;
    m->run.newton.parents = m->a_newton_parents;
    m->run.newton.below_starts = m->a_newton_below_starts;
    m->run.newton.below_ends = m->a_newton_below_ends;
    m->run.newton.below_rows = m->a_newton_below_rows;
    m->run.newton.below_many = m->a_newton_below_many;
    m->run.newton.colors = m->a_newton_colors;
    m->run.newton.kept = m->a_newton_kept;
    m->run.newton.place = m->a_newton_place;
    m->run.newton.block_of = m->a_newton_block_of;
    m->run.newton.block_starts = m->a_newton_block_starts;
    m->run.newton.block_entries = m->a_newton_block_entries;
    m->run.newton.is_sparse = m->a_newton_is_sparse;
    m->run.newton.order = m->a_newton_order;
    m->run.newton.rank = m->a_newton_rank;
    m->run.newton.degree = m->a_newton_degree;
    m->run.newton.fill_starts = m->a_newton_fill_starts;
    m->run.newton.fill_rows = m->a_newton_fill_rows;
    m->run.newton.across_starts = m->a_newton_across_starts;
    m->run.newton.across_columns = m->a_newton_across_columns;
    m->run.newton.across_entries = m->a_newton_across_entries;
    m->run.newton.direct = m->a_newton_direct;
    m->run.newton.through = m->a_newton_through;
    m->run.newton.factors = m->a_newton_factors;
    m->run.newton.pivots = m->a_newton_pivots;
    m->run.newton.x = m->a_newton_x;
    m->run.newton.z = m->a_newton_z;
    m->run.newton.w = m->a_newton_w;
    m->run.newton.f = m->a_newton_f;
    m->run.newton.change_of_w = m->a_newton_change_of_w;
    m->run.newton.scale = m->a_newton_scale;
    m->run.newton.inverse_scale = m->a_newton_inverse_scale;
    m->run.newton.squares = m->a_newton_squares;
    m->run.newton.extension = m->a_newton_extension;
    m->run.newton.rounding = m->a_newton_rounding;
    m->run.newton.noise = m->a_newton_noise;
    m->run.newton.slope_before = m->a_newton_slope_before;
    m->run.columns.x = m->a_columns_x;
    m->run.columns.out = m->a_columns_out;
    m->run.columns.before = m->a_columns_before;
    m->run.columns.shifts = m->a_columns_shifts;
    m->run.columns.break_shifts = m->a_columns_break_shifts;
    m->run.courses.entries = m->a_courses_entries;
    m->run.courses.starts = m->a_courses_starts;
    m->run.courses.at = m->a_courses_at;
    m->run.courses.times = m->a_courses_times;
    m->run.courses.values = m->a_courses_values;
    m->run.courses.slopes = m->a_courses_slopes;
    m->run.courses.g = m->a_courses_g;
    m->run.model.p = m->p;
    m->run.model.inputs = m->inputs;
    m->run.model.work = m->work;
    m->run.newton.columns.p = m->p;
    m->run.newton.columns.inputs = m->inputs;
    m->run.newton.columns.work = m->work;
    m->search.numbers = (double *)backlash_axis_break_numbers;
    m->search.periods = (double *)backlash_axis_break_periods;
    m->search.first_number = (backlash_axis_loop_int *)backlash_axis_break_first_number;
    m->search.first_rate = (backlash_axis_loop_int *)backlash_axis_break_first_rate;
    m->search.time = m->search_time;
    m->search.p = m->p;
    m->search.inputs = m->inputs;
    m->search.empty = m->search_time;
    m->search.work = m->work;
    m->search.out = m->search_out;
    m->start.warm.time = m->a_warm_time;
    m->start.warm.x = m->a_warm_x;
    m->start.warm.still = m->a_warm_still;
    m->start.warm.z = m->a_warm_z;
    m->start.warm.p = m->a_warm_p;
    m->start.warm.out = m->a_warm_out;
    m->start.warm.cut_step = m->a_warm_cut_step;
    m->start.warm.advanced = m->a_warm_advanced;
    m->start.warm.matrix = m->a_warm_matrix;
    m->start.warm.step = m->a_warm_step;
    m->start.warm.unit = m->a_warm_unit;
    m->start.warm.residual = m->a_warm_residual;
    m->start.warm.order = m->a_warm_order;
    m->start.warm.free_step = m->a_warm_free_step;
    m->start.warm.place = m->a_warm_place;
    m->start.warm.weight = m->a_warm_weight;
    m->start.warm.wanted = m->a_warm_wanted;
    m->start.warm.before = m->a_warm_before;
    m->start.warm.slopes = m->a_warm_slopes;
    m->start.warm.curvature = m->a_warm_curvature;
    m->start.warm.tangents = m->a_warm_tangents;
    m->start.warm.positions.source = m->a_warm_positions_source;
    m->start.warm.positions.scale = m->a_warm_positions_scale;
    m->start.warm.positions.asked = m->a_warm_positions_asked;
    m->start.warm.positions.entry = m->a_warm_positions_entry;
    m->start.warm.positions.entry_row = m->a_warm_positions_entry_row;
    m->start.warm.positions.entry_column = m->a_warm_positions_entry_column;
    m->start.warm.positions.free = m->a_warm_positions_free;
    m->start.warm.positions.weight = m->a_warm_positions_weight;
    m->start.warm.positions.place = m->a_warm_positions_place;
    m->start.warm.positions.rotation = m->a_warm_positions_rotation;
    m->start.warm.speeds.source = m->a_warm_speeds_source;
    m->start.warm.speeds.scale = m->a_warm_speeds_scale;
    m->start.warm.speeds.asked = m->a_warm_speeds_asked;
    m->start.warm.speeds.entry = m->a_warm_speeds_entry;
    m->start.warm.speeds.entry_row = m->a_warm_speeds_entry_row;
    m->start.warm.speeds.entry_column = m->a_warm_speeds_entry_column;
    m->start.warm.speeds.free = m->a_warm_speeds_free;
    m->start.warm.speeds.weight = m->a_warm_speeds_weight;
    m->start.warm.speeds.place = m->a_warm_speeds_place;
    m->start.warm.speeds.rotation = m->a_warm_speeds_rotation;
    m->start.warm.leaders.source = m->a_warm_leaders_source;
    m->start.warm.leaders.scale = m->a_warm_leaders_scale;
    m->start.warm.leaders.asked = m->a_warm_leaders_asked;
    m->start.warm.leaders.entry = m->a_warm_leaders_entry;
    m->start.warm.leaders.entry_row = m->a_warm_leaders_entry_row;
    m->start.warm.leaders.entry_column = m->a_warm_leaders_entry_column;
    m->start.warm.leaders.free = m->a_warm_leaders_free;
    m->start.warm.leaders.weight = m->a_warm_leaders_weight;
    m->start.warm.leaders.place = m->a_warm_leaders_place;
    m->start.warm.leaders.rotation = m->a_warm_leaders_rotation;
    m->start.net.free = m->a_net_free;
    m->start.net.wanted = m->a_net_wanted;
    m->start.net.out = m->a_net_out;
    m->start.net.r = m->a_net_r;
    m->start.net.a = m->a_net_a;
    m->start.net.b = m->a_net_b;
    m->start.net.v = m->a_net_v;
    m->start.net.w = m->a_net_w;
    m->start.net.sizes = m->a_net_sizes;
    m->start.net.lengths = m->a_net_lengths;
    m->start.net.step = m->a_net_step;
    m->start.places = m->a_places;
    m->start.is_given = m->a_is_given;
    m->start.anchor = m->a_anchor;
    m->start.spans = m->a_spans;
    m->start.p_own = m->a_p_own;
    m->start.before = m->a_before;
    m->start.request = m->a_request;
    m->start.values = m->a_values;
    m->start.warm.inputs = m->inputs;
    m->start.warm.work = m->work;
    m->start.p_given = m->p;
    m->start.y = m->run.state.y;
}

static int backlash_axis_find_start(backlash_axis_model *m)
{
    int changed = backlash_axis_differ(m->inputs, backlash_axis_default_inputs, KN_SIZE(m->inputs));
    if (m->run.step.origin != 0.0) changed = 1;
    backlash_axis_copy(m->run.state.y, backlash_axis_start, 16);
    if (m->p[0] != backlash_axis_default_p[0]) changed = 1;
    if (m->p[1] != backlash_axis_default_p[1]) changed = 1;
    if (changed) {
        m->start.warm.time[0] = m->run.step.origin;
        const int64_t failed = KN_FIND_START(&m->start);
        if (failed) return 29 + (int)failed;
    }
    return 0;
}

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
    run->counts.stall_steps = 0;
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
    case 0: return "all is well";
    case 3: return "a value is not finite: a law divides by zero or leaves its range";
    case 4: return "the step became too small: the motion is too abrupt to be followed";
    case 5: return "too many steps";
    case 7: return "a step of fixed length ended too far from the constraints";
    case 10: return "no modes are consistent: components change without end";
    case 11: return "events follow each other without end";
    case 14: return "the simulation stalls: very many steps hardly advance it";
    case 15: return "stability bounds the steps; export with the method for stiff systems";
    case 31: return "with these parameters the initial values of the network contradict each other";
    case 30: return "with these parameters the loops do not close near the start of the model";
    case 32: return "with these parameters the given speeds would tear the loops: leave one of them free";
    default: return "an unknown status";
    }
}

#undef KN
#undef KN_N_STATES
#undef KN_N_CONTINUOUS
#undef KN_N_POSITIONS
#undef KN_N_INPUTS
#undef KN_N_OUTPUTS
#undef KN_N_EVENTS
#undef KN_N_EFFORTS
#undef KN_EVENTFUL
#undef KN_HAS_BREAKS
#undef KN_HAS_JACOBIAN
#undef KN_N_BREAKS
#undef KN_MOST_STEPS
#undef KN_FIXED_STEP
#undef KN_FIXED
#undef KN_RTOL
#undef KN_N_TOLERANCES
#undef KN_EVALUATE
#undef KN_ALONG
#undef KN_SIZE
#undef KN_CLOSE_LOOPS
#undef KN_DONE
#undef KN_PAUSED
#undef KN_NOT_FINITE
#undef KN_NEAR_SINGULAR
#undef KN_EVENTS_FULL
#undef KN_READY
#undef KN_EVENT
#undef KN_TICK
#undef KN_MODES
#undef KN_ADVANCE
#undef KN_BEGIN_PLAIN
#undef KN_START
#undef KN_RATE
#undef KN_RUN_KERNEL
#undef KN_LAW_TIME
#undef KN_PROJECT
#undef KN_BEGIN_PIECE
#undef KN_HANDLE_INSTANT
#undef KN_BEGIN
#undef KN_PASS_BREAK
#undef KN_EVALUATE_EVENTS
#undef KN_IS_ACTIVE
#undef KN_FIND_ACTIVE
#undef KN_ARM
#undef KN_MARK_TRIGGERED
#undef KN_NEXT_BREAK
#undef KN_FIND_START
