/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Run-time libraries of compilers (libgfortran, libstdc++) refer to the thread functions weakly: in a
 * statically linked program they take them if one of them is there, and then call the others, too.
 * This library brings one, so it brings all; without this list such a program dies at its end.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

typedef void (*function)(void);

const function _neopvm_thread_functions[] = {
    (function)pthread_once,          (function)pthread_getspecific,
    (function)pthread_setspecific,   (function)pthread_create,
    (function)pthread_join,          (function)pthread_equal,
    (function)pthread_self,          (function)pthread_detach,
    (function)pthread_cancel,        (function)sched_yield,
    (function)pthread_mutex_lock,    (function)pthread_mutex_trylock,
    (function)pthread_mutex_timedlock, (function)pthread_mutex_unlock,
    (function)pthread_mutex_init,    (function)pthread_mutex_destroy,
    (function)pthread_cond_init,     (function)pthread_cond_broadcast,
    (function)pthread_cond_signal,   (function)pthread_cond_wait,
    (function)pthread_cond_timedwait, (function)pthread_cond_destroy,
    (function)pthread_key_create,    (function)pthread_key_delete,
    (function)pthread_mutexattr_init, (function)pthread_mutexattr_settype,
    (function)pthread_mutexattr_destroy, (function)pthread_rwlock_rdlock,
    (function)pthread_rwlock_wrlock, (function)pthread_rwlock_tryrdlock,
    (function)pthread_rwlock_trywrlock, (function)pthread_rwlock_unlock,
    (function)pthread_rwlock_init,   (function)pthread_rwlock_destroy,
};

/*
 * Where this thread's data are, nobody's before the first look. A library's own thread-local memory costs a
 * call of the loader's at each look; one word of the memory that all threads have from their start does not.
 */
extern const char _neopvm_nobody[] __attribute__((visibility("hidden")));
__thread const void *_neopvm_here_word __attribute__((tls_model("initial-exec"), visibility("hidden"))) = _neopvm_nobody;

const void *_neopvm_here(void)
{
    return _neopvm_here_word;
}

void _neopvm_set_here(const void *data)
{
    _neopvm_here_word = data;
}

/* glibc has it since 2.32. */
extern char __libc_single_threaded __attribute__((weak));

/* True where no other thread can be: for src/guard.rs. */
int _neopvm_has_one_thread(void)
{
    return &__libc_single_threaded != 0 && __libc_single_threaded != 0;
}
