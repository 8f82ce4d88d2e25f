/* Loads model.dll (FMI 2.0) on Windows, simulates it by co-simulation, and writes the states after each step to states.bin.

   GUID, N_STATES, STEPS and STEP_LENGTH are defined by the test.  Only kernel32 is used, so that no C runtime is linked. */

#include <stddef.h>

#define KERNEL __declspec(dllimport) __stdcall
void *KERNEL LoadLibraryA(const char *name);
void *KERNEL GetProcAddress(void *library, const char *name);
void *KERNEL CreateFileA(const char *name, unsigned access, unsigned share, void *security, unsigned how, unsigned flags, void *like);
int KERNEL WriteFile(void *file, const void *bytes, unsigned n, unsigned *written, void *overlapped);
int KERNEL CloseHandle(void *file);
void KERNEL ExitProcess(unsigned code);

typedef struct {
    void *logger, *allocate, *release, *finished, *environment;
} Calls;

#define FIND(type, name) \
    type name = (type)GetProcAddress(library, "fmi2" #name); \
    if (!name) ExitProcess(3)

typedef void *(*InstantiateF)(const char *, int, const char *, const char *, const Calls *, int, int);
typedef int (*SetupF)(void *, int, double, double, int, double);
typedef int (*PlainF)(void *);
typedef int (*StepF)(void *, double, double, int);
typedef int (*GetF)(void *, const unsigned *, size_t, double *);

int _fltused = 0;

void start(void) {
    Calls calls = {0, 0, 0, 0, 0};
    void *library = LoadLibraryA("model.dll");
    if (!library) ExitProcess(2);
    FIND(InstantiateF, Instantiate);
    FIND(SetupF, SetupExperiment);
    FIND(PlainF, EnterInitializationMode);
    FIND(PlainF, ExitInitializationMode);
    FIND(StepF, DoStep);
    FIND(GetF, GetReal);
    FIND(PlainF, Terminate);
    void *model = Instantiate("model", 1, GUID, "", &calls, 0, 0);
    if (!model) ExitProcess(4);
    if (SetupExperiment(model, 0, 0.0, 0.0, 0, 0.0)) ExitProcess(5);
    if (EnterInitializationMode(model) || ExitInitializationMode(model)) ExitProcess(6);
    void *file = CreateFileA("states.bin", 0x40000000u, 0, 0, 2, 0x80, 0);
    for (int step = 0; step < STEPS; step++) {
        unsigned references[N_STATES], written;
        double values[N_STATES];
        for (unsigned k = 0; k < N_STATES; k++) references[k] = 1 + k;
        if (DoStep(model, step * STEP_LENGTH, STEP_LENGTH, 1)) ExitProcess(7);
        if (GetReal(model, references, N_STATES, values)) ExitProcess(8);
        if (!WriteFile(file, values, sizeof values, &written, 0)) ExitProcess(9);
    }
    CloseHandle(file);
    ExitProcess(Terminate(model) ? 10 : 0);
}
