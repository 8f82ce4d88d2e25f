/* The part of the FMI functions that needs no model: types of versions 2.0 and 3.0, the head of an instance, its log. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#if FMI == 2
typedef int Bool;
typedef struct {
  void (*logger)(void *, const char *, int, const char *, const char *, ...);
  void *(*allocate)(size_t, size_t);
  void (*release)(void *);
  void *finished;
  void *environment;
} Callbacks;
#define SHIM_HEAD                                                                                                     \
  const Callbacks *callbacks;                                                                                         \
  double time;
#define shim_log(m, text)                                                                                             \
  if ((m)->callbacks && (m)->callbacks->logger)                                                                       \
  (m)->callbacks->logger((m)->callbacks->environment, "instance", 3, "error", text)
#else
typedef bool Bool;
typedef void (*LogMessage)(void *, int, const char *, const char *);
#define SHIM_HEAD                                                                                                     \
  LogMessage log;                                                                                                     \
  void *environment;                                                                                                  \
  double time;
#define shim_log(m, text)                                                                                             \
  if ((m)->log) (m)->log((m)->environment, 3, "error", text)
#endif
