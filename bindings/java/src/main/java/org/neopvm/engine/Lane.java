// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The way to one executor of the program's. What is told to it is handed over in its order, by a thread of {@link
 * Dependents} and never by the one that receives for all: an executor may run what it gets in its caller, as
 * {@code Runnable::run} and {@code CallerRunsPolicy} do, or make its caller wait.
 */
final class Lane extends Dependents.Task {
    private static final System.Logger LOG = System.getLogger("org.neopvm");
    /** Executors of whom somebody knows. Those that are equal share a lane, which is no harm. */
    private static final Map<Executor, Lane> LANES = Collections.synchronizedMap(new WeakHashMap<>());

    private final ReentrantLock lock = new ReentrantLock();
    private Item first;
    private Item last;
    /** It waits for a thread, or one is handing over. */
    private boolean busy;
    private Thread handing;

    private Lane() {}

    static Lane of(Executor executor) {
        return LANES.computeIfAbsent(executor, any -> new Lane());
    }

    /** What is to be run, once, by an executor. Made before there is anything to tell, as then there may be no memory. */
    static final class Item extends Dependents.Task {
        private final Lane lane;
        private final Executor executor;
        private final AtomicBoolean begun = new AtomicBoolean();
        private Withdrawable<?> future;

        Item(Executor executor) {
            this.lane = executor == Dependents.DEFAULT ? null : of(executor);
            this.executor = executor;
        }

        /** Has it run; the caller does not wait. */
        void tell(Withdrawable<?> of) {
            future = of;
            if (lane == null) {
                Dependents.DEFAULT.add(this);
            } else {
                lane.add(this);
            }
        }

        @Override
        public void run() {
            if (!begun.getAndSet(true)) {
                if (lane != null) {
                    lane.leave();
                }
                future.tellNow();
            }
        }

        /** By the executor; here, if that refuses in whatever way, so that no message is lost. */
        private void hand() {
            try {
                executor.execute(this);
            } catch (Throwable e) {
                runHere(e);
            }
        }

        private void runHere(Throwable why) {
            try {
                run();
                LOG.log(System.Logger.Level.DEBUG, "an executor has refused to complete a future", why);
            } catch (Throwable e) {
                LOG.log(System.Logger.Level.ERROR, "what depends on a message has failed", e);
            }
        }
    }

    private void add(Item item) {
        lock.lock();
        try {
            if (last == null) {
                first = item;
            } else {
                last.next = item;
            }
            last = item;
            if (!busy) {
                busy = true;
                Dependents.DEFAULT.add(this);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void run() {
        lock.lock();
        handing = Thread.currentThread();
        lock.unlock();
        for (Item item = take(); item != null; item = take()) {
            item.hand();
        }
    }

    /** The next one to be handed over; null where there is none, or another thread does it by now. */
    private Item take() {
        lock.lock();
        try {
            if (handing != Thread.currentThread()) {
                return null;
            }
            Item item = first;
            if (item == null) {
                handing = null;
                busy = false;
                return null;
            }
            first = (Item) item.next;
            item.next = null;
            if (first == null) {
                last = null;
            }
            return item;
        } finally {
            lock.unlock();
        }
    }

    /** The executor runs an item. Where it does so in its caller, another thread hands over what comes behind it. */
    private void leave() {
        lock.lock();
        try {
            if (handing == Thread.currentThread()) {
                handing = null;
                busy = first != null;
                if (busy) {
                    Dependents.DEFAULT.add(this);
                }
            }
        } finally {
            lock.unlock();
        }
    }
}
