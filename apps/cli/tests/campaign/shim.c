/* Preloaded into a process (LD_PRELOAD), this counts its changes of files below FAULT_FOLDER: files that are created or
 * cut, writes, renames, removals, syncs and new folders. At change number FAULT_AT it does what FAULT_KIND says:
 *
 *   kill    ends the process before the change, as `kill -9` does
 *   torn    writes the first half, if the change is a write, and then ends the process
 *   ENOSPC  fails the change with that error; EIO likewise
 *   full    fails this change and all later ones with ENOSPC
 *
 * With FAULT_KIND `foreign` it behaves as file systems do that are not the system's own: folders cannot be synced (EINVAL), and
 * there are no locks (ENOLCK).
 *
 * FAULT_COUNT names a file for the number of changes at the end of the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long changes;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_below(const char *path) {
    const char *folder = getenv("FAULT_FOLDER");
    return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_fd_below(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* 1 if the change is to fail, with errno set; 0 if it is to happen; 2 if it is to happen by half. */
static int change(void) {
    const char *at = getenv("FAULT_AT"), *kind = getenv("FAULT_KIND");
    long number = atomic_fetch_add(&changes, 1) + 1;
    if (!at || !kind) return 0;
    int due = number == atol(at), later = number > atol(at);
    if (due && !strcmp(kind, "kill")) raise(SIGKILL);
    if (due && !strcmp(kind, "torn")) return 2;
    if ((due && !strcmp(kind, "ENOSPC")) || ((due || later) && !strcmp(kind, "full"))) {
        errno = ENOSPC;
        return 1;
    }
    if (due && !strcmp(kind, "EIO")) {
        errno = EIO;
        return 1;
    }
    return 0;
}

static int fails(int below) {
    if (!below) return 0;
    int what = change();
    if (what == 2) raise(SIGKILL);
    return what;
}

__attribute__((destructor)) static void count(void) {
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", atomic_load(&changes));
        fclose(file);
    }
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (fd > 2 && is_fd_below(fd)) {
        int what = change();
        if (what == 1) return -1;
        if (what == 2) {
            REAL(write)(fd, bytes, length / 2);
            raise(SIGKILL);
        }
    }
    return REAL(write)(fd, bytes, length);
}

static int changes_file(int flags) { return flags & (O_CREAT | O_TRUNC); }

#define OPEN(name)                                                          \
    int name(const char *path, int flags, ...) {                            \
        va_list rest;                                                       \
        va_start(rest, flags);                                              \
        mode_t mode = va_arg(rest, mode_t);                                 \
        va_end(rest);                                                       \
        if (fails(changes_file(flags) && is_below(path))) return -1;        \
        return REAL(name)(path, flags, mode);                               \
    }
OPEN(open)
OPEN(open64)

int rename(const char *from, const char *to) { return fails(is_below(to)) ? -1 : REAL(rename)(from, to); }
int linkat(int at, const char *from, int other, const char *to, int flags) {
    return fails(is_below(to)) ? -1 : REAL(linkat)(at, from, other, to, flags);
}
int unlink(const char *path) { return fails(is_below(path)) ? -1 : REAL(unlink)(path); }
int mkdir(const char *path, mode_t mode) { return fails(is_below(path)) ? -1 : REAL(mkdir)(path, mode); }
int rmdir(const char *path) { return fails(is_below(path)) ? -1 : REAL(rmdir)(path); }

static int is_foreign(int fd) {
    const char *kind = getenv("FAULT_KIND");
    return kind && !strcmp(kind, "foreign") && is_fd_below(fd);
}

int fsync(int fd) {
    struct stat about;
    if (is_foreign(fd) && fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    return fails(is_fd_below(fd)) ? -1 : REAL(fsync)(fd);
}
int flock(int fd, int operation) {
    if (is_foreign(fd)) {
        errno = ENOLCK;
        return -1;
    }
    return REAL(flock)(fd, operation);
}
int fdatasync(int fd) { return fails(is_fd_below(fd)) ? -1 : REAL(fdatasync)(fd); }
int ftruncate64(int fd, off64_t length) { return fails(is_fd_below(fd)) ? -1 : REAL(ftruncate64)(fd, length); }
