// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.neopvm.PvmException;

/**
 * Who waits for a message in Java. An engine calls {@link #look} after each arrival; each waiter gets the first message
 * that fits, the longest waiting one first. No message is lost to a wait that was given up: whether a future is given
 * up or gets its message is decided under one lock. Futures are completed by an executor, as their dependents are the
 * user's code; what only wakes a thread is completed at once.
 */
public final class Waiters {
    /** Takes a message without waiting; null if there is none. */
    @FunctionalInterface
    public interface Poll {
        /** As {@link Engine#poll}. */
        Incoming poll(int source, int tag, int context);
    }

    private static final System.Logger LOG = System.getLogger("org.neopvm");

    private final Poll poll;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Pending> pending = new LinkedHashSet<>();

    /** With a way to take messages. */
    public Waiters(Poll poll) {
        this.poll = poll;
    }

    /**
     * A future of the first message that fits.
     *
     * @param executor completes it; null where nothing depends on it but a thread that waits in {@link #await}
     */
    public CompletableFuture<Incoming> add(int source, int tag, int context, Executor executor) {
        Pending waiter = new Pending(source, tag, context, executor);
        lock.lock();
        try {
            // In the set first: whoever is told of an arrival from now on looks for this one, too.
            pending.add(waiter);
            if (waiter.look()) {
                pending.remove(waiter);
            }
        } finally {
            lock.unlock();
        }
        if (waiter.isOver()) {
            waiter.finish();
        }
        return waiter;
    }

    /** Looks for every waiter, after something has arrived or when nothing can arrive any more. */
    public void look() {
        // Chained, not listed: a list could find no memory when the message is taken already.
        Pending served = null;
        lock.lock();
        try {
            Pending last = null;
            for (Iterator<Pending> each = pending.iterator(); each.hasNext(); ) {
                Pending waiter = each.next();
                if (waiter.look()) {
                    each.remove();
                    if (last == null) {
                        served = waiter;
                    } else {
                        last.next = waiter;
                    }
                    last = waiter;
                }
            }
        } finally {
            lock.unlock();
        }
        for (; served != null; served = served.next) {
            served.finish();
        }
    }

    /** True if nobody waits. */
    public boolean isEmpty() {
        lock.lock();
        try {
            return pending.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for a future of {@link #add}.
     *
     * @param limitNs nanoseconds; negative waits for ever
     * @return null when the limit is over
     */
    public static Incoming await(CompletableFuture<Incoming> future, long limitNs) throws InterruptedException {
        try {
            return limitNs < 0 ? future.get() : future.get(limitNs, TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return future.cancel(false) ? null : future.join();
        } catch (InterruptedException e) {
            if (future.cancel(false)) {
                throw e;
            }
            // The message was ours already: it must not be lost.
            Thread.currentThread().interrupt();
            return future.join();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof PvmException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    private final class Pending extends Withdrawable<Incoming> {
        private final int source;
        private final int tag;
        private final int context;
        private Incoming found;
        private Throwable failure;
        private Pending next;

        Pending(int source, int tag, int context, Executor executor) {
            super(executor);
            this.source = source;
            this.tag = tag;
            this.context = context;
        }

        /** True if the wait is over. The lock is held. */
        boolean look() {
            try {
                found = poll.poll(source, tag, context);
            } catch (Throwable e) {
                // Of this wait alone, also where there was no memory for its message.
                failure = e;
            }
            return isOver();
        }

        boolean isOver() {
            return found != null || failure != null;
        }

        /** Has what {@link #look} found told. Whatever is wrong with it is nothing to the others. */
        void finish() {
            try {
                tell();
            } catch (Throwable e) {
                LOG.log(System.Logger.Level.ERROR, "a message could not be told", e);
            }
        }

        @Override
        protected void tellNow() {
            if (found != null) {
                fulfil(found);
            } else {
                fail(failure);
            }
        }

        @Override
        protected boolean withdraw() {
            lock.lock();
            try {
                return pending.remove(this);
            } finally {
                lock.unlock();
            }
        }
    }
}
