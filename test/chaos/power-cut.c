/*
 * LD_PRELOAD: writes down, in one order, what a process does to the files of one directory, and when it was told that
 * something is synced. Out of that, test/chaos/power-cut-trace.ts makes what a power cut at any moment would leave.
 *
 *   POWER_CUT_DIR    the directory, as realpath says it
 *   POWER_CUT_TRACE  where the trace goes
 *   POWER_CUT_FAIL   a file that does not exist at first. Once it does, the next sync of a file whose name ends in its
 *                    text fails with EIO, once, and it is removed
 *
 * The shared-memory index of a WAL (`-shm`) is left out: it is made anew after every crash. A process that maps any
 * other file to write to it, or renames one, does what is not followed here; the trace says so, and cannot be used.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { EXISTS = 1, CREATE, UNLINK, WRITE, TRUNCATE, SYNC, FAILED_SYNC, UNFOLLOWED };
/* Of a file descriptor: nothing of ours, the directory itself, or a file from 2 on. */
enum { NONE = 0, DIRECTORY = 1, FIRST_FILE = 2 };
enum { MAX_FDS = 1 << 16, MAX_NAMES = 64 };

/* What a record begins with; `length` bytes follow. `place` is an offset, a size, or for a sync how much of the trace it covers. */
struct header {
  uint32_t kind, file;
  uint64_t place, length;
};

static struct {
  char name[NAME_MAX + 1];
  uint32_t file;
} names[MAX_NAMES];
static uint32_t files[MAX_FDS];
static uint32_t next_file = FIRST_FILE;
static char dir[PATH_MAX], fail[PATH_MAX];
static size_t dir_length;
static int trace = -1;
static uint64_t written;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void begin(void) {
  const char *where = getenv("POWER_CUT_DIR"), *to = getenv("POWER_CUT_TRACE"), *failing = getenv("POWER_CUT_FAIL");
  if (where == NULL || to == NULL) return;
  /* A test that is broken off leaves nothing behind. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  snprintf(dir, sizeof dir, "%s", where);
  dir_length = strlen(dir);
  if (failing != NULL) snprintf(fail, sizeof fail, "%s", failing);
  trace = REAL(open64)(to, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  struct stat found;
  if (trace < 0 || fstat(trace, &found) != 0) abort();
  written = found.st_size;
}

static void record(uint32_t kind, uint32_t file, uint64_t place, const void *bytes, size_t length) {
  struct header header = {kind, file, place, length};
  struct iovec parts[] = {{&header, sizeof header}, {(void *)bytes, length}};
  if (writev(trace, parts, 2) != (ssize_t)(sizeof header + length)) abort();
  written += sizeof header + length;
}

static void record_name(uint32_t kind, uint32_t file, const char *name) {
  record(kind, file, 0, name, strlen(name));
}

/* The name of a path below the directory, empty for the directory itself; NULL for any other and for a `-shm`. */
static const char *name_of(const char *path) {
  if (trace < 0 || strncmp(path, dir, dir_length) != 0) return NULL;
  if (path[dir_length] == '\0') return "";
  if (path[dir_length] != '/') return NULL;
  const char *name = path + dir_length + 1;
  size_t length = strlen(name);
  return length > 4 && strcmp(name + length - 4, "-shm") == 0 ? NULL : name;
}

static uint32_t file_of(int fd) { return fd >= 0 && fd < MAX_FDS ? files[fd] : NONE; }

static int slot_of(const char *name) {
  for (int i = 0; i < MAX_NAMES; i++)
    if (names[i].file != NONE && strcmp(names[i].name, name) == 0) return i;
  return -1;
}

static uint32_t known(const char *name, int existed) {
  int slot = slot_of(name);
  if (slot >= 0) return names[slot].file;
  for (slot = 0; slot < MAX_NAMES && names[slot].file != NONE; slot++)
    ;
  if (slot == MAX_NAMES || next_file == UINT32_MAX) abort();
  snprintf(names[slot].name, sizeof names[slot].name, "%s", name);
  names[slot].file = next_file++;
  record_name(existed ? EXISTS : CREATE, names[slot].file, name);
  return names[slot].file;
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const char *name = name_of(path);
  if (name == NULL) return REAL(open64)(path, flags, mode);
  pthread_mutex_lock(&mutex);
  int existed = access(path, F_OK) == 0;
  int fd = REAL(open64)(path, flags, mode);
  int error = errno;
  if (fd >= MAX_FDS) abort();
  if (fd >= 0) {
    files[fd] = *name == '\0' ? DIRECTORY : known(name, existed);
    if (flags & O_TRUNC && *name != '\0') record(TRUNCATE, files[fd], 0, NULL, 0);
  }
  pthread_mutex_unlock(&mutex);
  errno = error;
  return fd;
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open64(path, flags, mode);
}

int close(int fd) {
  if (file_of(fd) != NONE) files[fd] = NONE;
  return REAL(close)(fd);
}

/* It is written down first: what the trace has and the file has not was still in the cache when the process died. */
ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  uint32_t file = file_of(fd);
  if (file < FIRST_FILE) return REAL(pwrite64)(fd, bytes, length, offset);
  pthread_mutex_lock(&mutex);
  record(WRITE, file, offset, bytes, length);
  ssize_t done = REAL(pwrite64)(fd, bytes, length, offset);
  int error = errno;
  if (done != (ssize_t)length) record_name(UNFOLLOWED, file, "a write that was cut short");
  pthread_mutex_unlock(&mutex);
  errno = error;
  return done;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

ssize_t write(int fd, const void *bytes, size_t length) {
  uint32_t file = file_of(fd);
  if (file >= FIRST_FILE) {
    pthread_mutex_lock(&mutex);
    record_name(UNFOLLOWED, file, "a write without an offset");
    pthread_mutex_unlock(&mutex);
  }
  return REAL(write)(fd, bytes, length);
}

int ftruncate64(int fd, off64_t size) {
  uint32_t file = file_of(fd);
  if (file < FIRST_FILE) return REAL(ftruncate64)(fd, size);
  pthread_mutex_lock(&mutex);
  record(TRUNCATE, file, size, NULL, 0);
  int result = REAL(ftruncate64)(fd, size);
  pthread_mutex_unlock(&mutex);
  return result;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static int must_fail(uint32_t file) {
  char suffix[NAME_MAX + 1] = "";
  int fd = *fail == '\0' ? -1 : REAL(open64)(fail, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = read(fd, suffix, sizeof suffix - 1);
  REAL(close)(fd);
  if (length <= 0) return 0;
  for (int i = 0; i < MAX_NAMES; i++) {
    size_t whole = strlen(names[i].name);
    if (names[i].file != file || whole < (size_t)length || strcmp(names[i].name + whole - length, suffix) != 0) continue;
    return REAL(unlink)(fail) == 0;
  }
  return 0;
}

/* It covers what was written before it began. */
static int sync_with(int (*real)(int), int fd) {
  uint32_t file = file_of(fd);
  if (file == NONE) return real(fd);
  pthread_mutex_lock(&mutex);
  uint64_t covered = written;
  int failing = must_fail(file);
  if (failing) record(FAILED_SYNC, file, covered, NULL, 0);
  pthread_mutex_unlock(&mutex);
  if (failing) {
    errno = EIO;
    return -1;
  }
  int result = real(fd);
  if (result != 0) return result;
  pthread_mutex_lock(&mutex);
  record(SYNC, file, covered, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return 0;
}

int fsync(int fd) { return sync_with(REAL(fsync), fd); }

int fdatasync(int fd) { return sync_with(REAL(fdatasync), fd); }

int unlink(const char *path) {
  const char *name = name_of(path);
  if (name == NULL) return REAL(unlink)(path);
  pthread_mutex_lock(&mutex);
  int result = REAL(unlink)(path);
  int error = errno;
  int slot = slot_of(name);
  if (result == 0) record_name(UNLINK, slot < 0 ? NONE : names[slot].file, name);
  if (result == 0 && slot >= 0) names[slot].file = NONE;
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

static void unfollowed(const char *path, const char *what) {
  if (name_of(path) == NULL) return;
  pthread_mutex_lock(&mutex);
  record_name(UNFOLLOWED, NONE, what);
  pthread_mutex_unlock(&mutex);
}

int rename(const char *from, const char *to) {
  unfollowed(from, "a rename");
  unfollowed(to, "a rename");
  return REAL(rename)(from, to);
}

void *mmap64(void *address, size_t length, int protection, int flags, int fd, off64_t offset) {
  uint32_t file = fd < 0 ? NONE : file_of(fd);
  if (file >= FIRST_FILE && flags & MAP_SHARED && protection & PROT_WRITE) {
    pthread_mutex_lock(&mutex);
    record_name(UNFOLLOWED, file, "a file mapped for writing");
    pthread_mutex_unlock(&mutex);
  }
  return REAL(mmap64)(address, length, protection, flags, fd, offset);
}

void *mmap(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mmap64(address, length, protection, flags, fd, offset);
}
