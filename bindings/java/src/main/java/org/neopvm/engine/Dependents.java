// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * Where futures of messages are completed, so that what depends on them runs here: never on the thread that receives for
 * all, as it may itself wait for a message, and never inside of the call that asked, as a loop of futures would then go one
 * level deeper with every message that is here already.
 *
 * <p>While something waits to be run there is always a thread that is free to run it, whatever the others wait for; and
 * only then one more is started, so that a burst of short tasks needs a few threads. They end when nothing came for a
 * second, but the last one stays while a task of the machine may need it: at the moment at which a message has been taken
 * no thread could be had, perhaps.
 */
public final class Dependents implements Executor {
    /** The executor if the program has named none. */
    public static final Dependents DEFAULT = new Dependents();

    private static final System.Logger LOG = System.getLogger("org.neopvm");
    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition more = lock.newCondition();
    /** What waits to be run; chained, as a list could find no memory when a message is taken already. */
    private Task first;
    private Task last;
    private int threads;
    /** Threads that are not inside of a task: they will look at what waits. */
    private int free;
    /** Tasks of the machine that this class's loader is. */
    private int users;

    private Dependents() {}

    /** Something to be run, with its place among the others that wait. It is in one queue at a time. */
    abstract static class Task implements Runnable {
        Task next;
    }

    /** Has a task run by an executor of the program's; by this one if that refuses. */
    static void run(Executor executor, Runnable task) {
        try {
            executor.execute(task);
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.DEBUG, "an executor has refused what depends on a message", e);
            DEFAULT.execute(task);
        }
    }

    /** A task of the machine begins: a thread stays from its first future on. */
    void use() {
        lock.lock();
        users++;
        lock.unlock();
    }

    /** A task of the machine has left. */
    void leave() {
        lock.lock();
        users--;
        more.signalAll();
        lock.unlock();
    }

    /** Before something is asked for whose answer needs a thread here: there is one, or nothing is asked. */
    void begin() {
        lock.lock();
        try {
            if (threads == 0) {
                start();
            }
        } catch (OutOfMemoryError e) {
            throw new PvmException(Code.NO_MEM, "a thread for what depends on messages", e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void execute(Runnable task) {
        add(new Task() {
            @Override
            public void run() {
                task.run();
            }
        });
    }

    /** Needs no memory where a thread is free. */
    void add(Task task) {
        lock.lock();
        try {
            if (last == null) {
                first = task;
            } else {
                last.next = task;
            }
            last = task;
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
        try {
            start();
        } catch (Throwable e) {
            // Those that run now come back and look.
            LOG.log(System.Logger.Level.ERROR, "no further thread for what depends on messages", e);
        }
    }

    /** The lock is held. */
    private void start() {
        Thread thread = new Thread(null, this::serve, "pvm-dependents", 0, false);
        thread.setDaemon(true);
        thread.start();
        threads++;
        free++;
    }

    private void serve() {
        for (Task task = next(); task != null; task = next()) {
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
    private Task next() {
        lock.lock();
        try {
            long rest = IDLE_NS;
            while (first == null) {
                boolean isNeeded = free == 1 && users > 0;
                if (rest <= 0 && !isNeeded) {
                    free--;
                    threads--;
                    return null;
                }
                rest = awaitMore(rest > 0 ? rest : Long.MAX_VALUE);
            }
            free--;
            return remove();
        } finally {
            lock.unlock();
        }
    }

    /** The lock is held. */
    private Task remove() {
        Task task = first;
        first = task.next;
        task.next = null;
        if (first == null) {
            last = null;
        } else {
            haveOneFree();
        }
        return task;
    }

    private long awaitMore(long rest) {
        try {
            // Who has waited without a limit was told that its task has left.
            return Math.min(more.awaitNanos(rest), IDLE_NS);
        } catch (InterruptedException e) {
            // A task's own interrupt: nobody else has a reason to interrupt a thread of the library's.
            return rest;
        }
    }
}
