// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * Messages that the program has forgotten, and how much the open ones hold outside of Java. The garbage collector sees
 * some fifty bytes of a message of a megabyte, so it has no reason to run: at the limit it is asked to, as
 * {@code ByteBuffer.allocateDirect} does, and what then is still held is refused to grow.
 */
final class Forgotten {
    static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();

    /** What open messages may hold before one more is refused. */
    private static final long LIMIT = limit();
    private static final AtomicLong HELD = new AtomicLong();
    /** Messages that are no larger come beyond the limit, too: notices are among them. */
    static final int SMALL = 64;
    private static final long BEYOND = LIMIT + LIMIT / 16;
    private static final long PAUSE_NS = 5_000_000_000L;
    /** The collector is waited for in steps of 1, 2, 4 ... ms, so often: half a second together. */
    private static final int STEPS = 9;
    /** The thread ends after this if the task has left: it would keep the classes of its loader from being unloaded. */
    private static final long IDLE_MS = 1000;

    private static volatile long lookedInVain = System.nanoTime() - PAUSE_NS - 1;
    private static Thread thread;
    private static int engines;

    private Forgotten() {}

    private static long limit() {
        Long given = Long.getLong("pvm.messages.max");
        return given != null && given > 0 ? given : Runtime.getRuntime().maxMemory();
    }

    /** An open message holds so many bytes more, or less. */
    static void count(long bytes) {
        HELD.addAndGet(bytes);
    }

    /** What open messages hold. */
    static long held() {
        return HELD.get();
    }

    /**
     * Throws {@link Code#NO_MEM} if open messages hold too much. Asked before a message is taken, so that none is lost.
     *
     * @param patiently the collector is asked for forgotten ones, and waited for
     */
    static void check(String what, boolean patiently) {
        freeSome();
        if (isFull() && !(patiently && hasMadeRoom())) {
            throw new PvmException(Code.NO_MEM, what + " while open messages hold " + HELD.get() + " of " + LIMIT
                    + " bytes (close messages, or set -Dpvm.messages.max=BYTES)");
        }
    }

    /** True if nothing more may be held. */
    static boolean isFull() {
        return HELD.get() > LIMIT;
    }

    /** True if not even a small message may be held. */
    static boolean isOverfull() {
        return HELD.get() > BEYOND;
    }

    /**
     * Has forgotten messages found if open ones hold too much: for those who cannot wait themselves. Some time passes
     * between two looks where the first has found too little, so that those who need no room get on.
     */
    static void makeRoomSometimes() {
        if (isFull() && System.nanoTime() - lookedInVain > PAUSE_NS && !hasMadeRoom()) {
            lookedInVain = System.nanoTime();
        }
    }

    private static boolean hasMadeRoom() {
        System.gc();
        for (int step = 0; step < STEPS; step++) {
            freeSome();
            if (!isFull()) {
                return true;
            }
            LockSupport.parkNanos(1_000_000L << step);
        }
        return false;
    }

    private static void freeSome() {
        for (Reference<?> gone = QUEUE.poll(); gone != null; gone = QUEUE.poll()) {
            free((Handle) gone);
        }
    }

    private static void free(Handle handle) {
        try {
            handle.free();
        } catch (IllegalStateException e) {
            // What another thread uses inside a call at this moment stays.
        }
    }

    /** An engine begins: what is forgotten from now on is given back by a thread. */
    static synchronized void begin() {
        engines++;
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name("pvm-forgotten").inheritInheritableThreadLocals(false)
                    .unstarted(Forgotten::serve);
            thread.start();
        }
    }

    static synchronized void end() {
        engines--;
    }

    private static void serve() {
        while (!isOver()) {
            try {
                Reference<?> gone = QUEUE.remove(IDLE_MS);
                if (gone != null) {
                    free((Handle) gone);
                }
            } catch (InterruptedException e) {
                // Nobody has a reason to interrupt.
            } catch (Throwable e) {
                System.getLogger("org.neopvm").log(System.Logger.Level.ERROR, "giving a message back", e);
            }
        }
    }

    private static synchronized boolean isOver() {
        if (engines > 0) {
            return false;
        }
        thread = null;
        return true;
    }
}
