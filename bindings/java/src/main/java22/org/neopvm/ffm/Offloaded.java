// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs calls that wait inside the library. A platform thread makes them itself. A virtual thread hands them to a
 * platform thread and waits in Java, so that its carrier serves others meanwhile.
 */
final class Offloaded {
    private static final ExecutorService THREADS = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("pvm-call-", 0).factory());

    private Offloaded() {}

    static <T> T call(Callable<T> call) throws InterruptedException {
        try {
            return Thread.currentThread().isVirtual() ? THREADS.submit(call).get() : call.call();
        } catch (ExecutionException e) {
            throw Calls.unexpected(e.getCause());
        } catch (InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw Calls.unexpected(e);
        }
    }

    /** For calls whose answer comes at once from the daemon, and which no interrupt needs to end. */
    static <T> T callAtOnce(Callable<T> call) {
        boolean interrupted = false;
        try {
            if (!Thread.currentThread().isVirtual()) {
                return call(call);
            }
            var future = THREADS.submit(call);
            for (;;) {
                try {
                    return future.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    throw Calls.unexpected(e.getCause());
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
