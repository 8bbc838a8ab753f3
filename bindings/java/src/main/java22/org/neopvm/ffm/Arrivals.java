// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.LockSupport;
import org.neopvm.engine.Waiters;

/**
 * The one platform thread that waits in the library on behalf of all who wait in Java. It begins with the first of
 * them and rests while there are none, so that threads which wait in the library themselves have it to themselves. It ends
 * with its engine.
 */
final class Arrivals implements Runnable {
    /** One wait in the library, so that it rests soon after the last one who waits has gone. */
    private static final long LIMIT_NS = 200_000_000;
    /** Between two looks where one has failed: there may be memory by then. */
    private static final long PAUSE_NS = 10_000_000;
    private static final System.Logger LOG = System.getLogger("org.neopvm");

    private final Waiters waiters;
    private Thread thread;
    private volatile boolean over;

    Arrivals(Waiters waiters) {
        this.waiters = waiters;
    }

    /** Somebody waits. */
    void watch() {
        Thread awake;
        synchronized (this) {
            if (thread == null && !over) {
                thread = Thread.ofPlatform().daemon().name("pvm-arrivals").inheritInheritableThreadLocals(false)
                        .start(this);
            }
            awake = thread;
        }
        LockSupport.unpark(awake);
        if (over) {
            // The thread may have looked for the last time before.
            waiters.look();
        }
    }

    /** The task has left: who waits is told, and the thread ends. */
    void end() {
        over = true;
        waiters.look();
        synchronized (this) {
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void run() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment seen = arena.allocate(ValueLayout.JAVA_INT);
            boolean failed = false;
            while (!isOver(failed)) {
                try {
                    // An unpark that comes between the two is remembered.
                    while (!over && waiters.isEmpty()) {
                        LockSupport.park(this);
                    }
                    failed = (int) Calls.WAIT.invokeExact(seen, LIMIT_NS) < 0;
                    Forgotten.makeRoomSometimes();
                    waiters.look();
                } catch (Throwable e) {
                    LOG.log(System.Logger.Level.ERROR, "a look for messages has failed, and is tried again", e);
                    LockSupport.parkNanos(PAUSE_NS);
                }
            }
        }
    }

    /** The task has left, or the daemon is gone; the look has told all who waited. */
    private synchronized boolean isOver(boolean failed) {
        boolean ends = over || failed && waiters.isEmpty();
        if (ends) {
            thread = null;
        }
        return ends;
    }
}
