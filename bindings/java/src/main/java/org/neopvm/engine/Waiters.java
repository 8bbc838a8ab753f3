// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.neopvm.PvmException;

/**
 * Who waits for a message in Java. An engine calls {@link #look} after each arrival; each waiter gets the first message
 * that fits, the longest waiting one first. No message is lost to a wait that was given up: whether a future is given
 * up or gets its message is decided under one lock. Futures are completed outside of it, as their dependents are the
 * user's code.
 */
public final class Waiters {
    /** How a message is taken without waiting; null if there is none. */
    @FunctionalInterface
    public interface Poll {
        /** As {@link Engine#poll}. */
        Incoming poll(int source, int tag, int context);
    }

    private final Poll poll;
    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Pending> pending = new LinkedHashSet<>();

    /** With a way to take messages. */
    public Waiters(Poll poll) {
        this.poll = poll;
    }

    /** A future of the first message that fits. */
    public CompletableFuture<Incoming> add(int source, int tag, int context) {
        Pending waiter = new Pending(source, tag, context);
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
        waiter.finish();
        return waiter;
    }

    /** Looks for every waiter, after something has arrived or when nothing can arrive any more. */
    public void look() {
        List<Pending> served = new ArrayList<>();
        lock.lock();
        try {
            for (Iterator<Pending> each = pending.iterator(); each.hasNext(); ) {
                Pending waiter = each.next();
                if (waiter.look()) {
                    each.remove();
                    served.add(waiter);
                }
            }
        } finally {
            lock.unlock();
        }
        served.forEach(Pending::finish);
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

    private final class Pending extends CompletableFuture<Incoming> {
        private final int source;
        private final int tag;
        private final int context;
        private Incoming found;
        private PvmException failure;

        Pending(int source, int tag, int context) {
            this.source = source;
            this.tag = tag;
            this.context = context;
        }

        /** True if the wait is over. The lock is held. */
        boolean look() {
            try {
                found = poll.poll(source, tag, context);
            } catch (PvmException e) {
                failure = e;
            }
            return found != null || failure != null;
        }

        /** Tells what {@link #look} found, if it did. */
        void finish() {
            if (found != null) {
                super.complete(found);
            } else if (failure != null) {
                super.completeExceptionally(failure);
            }
        }

        /** True if no message was taken for it, and none will be. */
        private boolean withdraw() {
            lock.lock();
            try {
                return pending.remove(this);
            } finally {
                lock.unlock();
            }
        }

        @Override
        public boolean cancel(boolean interrupt) {
            return withdraw() && super.cancel(interrupt);
        }

        @Override
        public boolean complete(Incoming value) {
            return withdraw() && super.complete(value);
        }

        @Override
        public boolean completeExceptionally(Throwable reason) {
            return withdraw() && super.completeExceptionally(reason);
        }

        @Override
        public <U> CompletableFuture<U> newIncompleteFuture() {
            return new CompletableFuture<>();
        }
    }
}
