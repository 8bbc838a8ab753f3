// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Where futures of messages are completed, so that what depends on them runs here: never on the thread that receives for
 * all, as it may itself wait for a message, and never inside of the call that asked, as a loop of futures would then go one
 * level deeper with every message that is here already.
 *
 * <p>While something waits to be run there is always a thread that is free to run it, whatever the others wait for; and
 * only then one more is started, so that a burst of short tasks needs a few threads. They end when nothing came for a
 * second.
 */
public final class Dependents implements Executor {
    /** What is used where the program has named no executor. */
    public static final Executor DEFAULT = new Dependents();

    private static final System.Logger LOG = System.getLogger("org.neopvm");
    private static final long IDLE_S = 1;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    /** Threads that are not inside of a task: they will look at what waits. */
    private int free;

    private Dependents() {}

    /** Has a task run by an executor of the program's; by this one if that refuses, so that no message is lost. */
    public static void run(Executor executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "an executor has refused to complete a future", e);
            DEFAULT.execute(task);
        }
    }

    @Override
    public void execute(Runnable task) {
        lock.lock();
        try {
            waiting.add(task);
            more.signal();
            haveOneFree();
        } finally {
            lock.unlock();
        }
    }

    /** The lock is held. */
    private void haveOneFree() {
        if (free > 0) {
            return;
        }
        free++;
        try {
            Thread thread = new Thread(null, this::serve, "pvm-dependents", 0, false);
            thread.setDaemon(true);
            thread.start();
        } catch (Throwable e) {
            // Those that run now come back and look.
            free--;
            LOG.log(System.Logger.Level.ERROR, "no thread for what depends on a message", e);
        }
    }

    private void serve() {
        for (Runnable task = next(); task != null; task = next()) {
            try {
                task.run();
            } catch (Throwable e) {
                LOG.log(System.Logger.Level.ERROR, "what depends on a message has failed", e);
            }
            lock.lock();
            free++;
            lock.unlock();
        }
    }

    /** The next task; null when this thread is not needed any more. */
    private Runnable next() {
        lock.lock();
        try {
            long rest = TimeUnit.SECONDS.toNanos(IDLE_S);
            while (waiting.isEmpty()) {
                if (rest <= 0) {
                    free--;
                    return null;
                }
                rest = awaitMore(rest);
            }
            free--;
            Runnable task = waiting.remove();
            if (!waiting.isEmpty()) {
                haveOneFree();
            }
            return task;
        } finally {
            lock.unlock();
        }
    }

    private long awaitMore(long rest) {
        try {
            return more.awaitNanos(rest);
        } catch (InterruptedException e) {
            // A task's own interrupt: nobody else has a reason to interrupt a thread of the library's.
            return rest;
        }
    }
}
