// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs calls that wait inside the library. A platform thread makes them itself. A virtual thread hands them to a
 * platform thread and waits in Java, so that its carrier serves others meanwhile.
 */
final class Offloaded {
    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();
    private static final int IDLE_S = 2;
    private static final ExecutorService THREADS = new ThreadPoolExecutor(0, Integer.MAX_VALUE, IDLE_S,
            TimeUnit.SECONDS, new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("pvm-call-", 0).inheritInheritableThreadLocals(false).factory());

    private Offloaded() {}

    /** For what changes something: it is not begun by a thread that is interrupted, and once begun it is not given up. */
    static <T> T callOnce(Callable<T> call, String what) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(what);
        }
        return callAtOnce(call);
    }

    /** A call that ends without effect once a word in memory is no longer 0; null is its result then. */
    @FunctionalInterface
    interface Patient<T> {
        T call(MemorySegment giveUp);
    }

    /** For waits that an interrupt ends: they are given up in the library, too, and what had come of them by then counts. */
    static <T> T callPatiently(Patient<T> call, String what) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException(what);
        }
        try (Arena arena = Arena.ofShared()) {
            MemorySegment giveUp = arena.allocate(ValueLayout.JAVA_INT);
            Future<T> future = THREADS.submit(() -> call.call(giveUp));
            try {
                return future.get();
            } catch (InterruptedException e) {
                WORD.setVolatile(giveUp, 0L, 1);
                int ignored = (int) Calls.WAKE.invokeExact();
                T result = join(future);
                if (result == null) {
                    throw e;
                }
                Thread.currentThread().interrupt();
                return result;
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (ExecutionException e) {
            throw Calls.unexpected(e.getCause());
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /** Waits whatever interrupts; the thread is interrupted then. */
    private static <T> T join(Future<T> future) {
        boolean interrupted = false;
        try {
            for (;;) {
                try {
                    return future.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw Calls.unexpected(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** For calls that no interrupt ends; the thread is interrupted then. */
    static <T> T callAtOnce(Callable<T> call) {
        if (Thread.currentThread().isVirtual()) {
            return join(THREADS.submit(call));
        }
        try {
            return call.call();
        } catch (Exception e) {
            throw Calls.unexpected(e);
        }
    }
}
