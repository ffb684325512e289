/* A disk that takes DISK_MBPS megabytes a second, for files that end in .mcap: LD_PRELOAD of scripts/bench_record.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What the system holds for a disk that is idle, in s: it makes up for wake-ups that come late. */
static const double HELD = 0.1;
/* Smaller writes are no data of a recording. */
static const size_t SMALL = 4096;
static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;
/* When the disk has written all that it was given, in s. */
static double done_at;

static int is_recording(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t len = readlink(link, path, sizeof path - 1);
    return len >= 5 && memcmp(path + len - 5, ".mcap", 5) == 0;
}

ssize_t write(int file, const void *bytes, size_t len) {
    static ssize_t (*next)(int, const void *, size_t);
    if (!next) next = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    const char *speed = len < SMALL ? NULL : getenv("DISK_MBPS");
    if (!speed || !is_recording(file)) return next(file, bytes, len);
    /* One disk: whoever writes meanwhile waits for its turn. */
    pthread_mutex_lock(&disk);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double at = now.tv_sec + 1e-9 * now.tv_nsec;
    ssize_t written = next(file, bytes, len);
    if (written > 0) {
        done_at = (done_at > at - HELD ? done_at : at - HELD) + written / (1e6 * atof(speed));
        struct timespec until = {(time_t)done_at, (long)(1e9 * (done_at - (time_t)done_at))};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    pthread_mutex_unlock(&disk);
    return written;
}
