// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.LockSupport;
import org.neopvm.engine.Waiters;

/**
 * The one platform thread that waits in the library on behalf of all who wait in Java. It begins with the first of
 * them and rests while there are none, so that threads which wait in the library themselves have it to themselves.
 */
final class Arrivals implements Runnable {
    /** One wait in the library, so that it rests soon after the last one who waits has gone. */
    private static final long LIMIT_NS = 200_000_000;

    private final Waiters waiters;
    private Thread thread;

    Arrivals(Waiters waiters) {
        this.waiters = waiters;
    }

    /** Somebody waits. */
    void watch() {
        Thread awake;
        synchronized (this) {
            if (thread == null) {
                thread = Thread.ofPlatform().daemon().name("pvm-arrivals").start(this);
            }
            awake = thread;
        }
        LockSupport.unpark(awake);
    }

    @Override
    public void run() {
        // Not given back: it is needed until the process ends.
        MemorySegment seen = Arena.global().allocate(ValueLayout.JAVA_INT);
        for (;;) {
            // An unpark that comes between the two is remembered.
            while (waiters.isEmpty()) {
                LockSupport.park(this);
            }
            int status;
            try {
                status = (int) Calls.WAIT.invokeExact(seen, LIMIT_NS);
            } catch (Throwable e) {
                throw Calls.unexpected(e);
            }
            waiters.look();
            if (status < 0) {
                // The task has left or the daemon is gone: the look has told all who waited.
                synchronized (this) {
                    if (waiters.isEmpty()) {
                        thread = null;
                        return;
                    }
                }
            }
        }
    }
}
