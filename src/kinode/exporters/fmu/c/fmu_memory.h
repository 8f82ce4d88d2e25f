/* Memory for instances and saved states: the only place that allocates. */

#ifdef FMU_NO_HEADERS /* a Windows library that is linked without the headers' runtime */
void *calloc(size_t count, size_t size);
void free(void *memory);
#else
#include <stdlib.h>
#endif

static void *fmu_allocate(size_t size) { return calloc(1, size); }
static void fmu_free(void *memory) { free(memory); }
