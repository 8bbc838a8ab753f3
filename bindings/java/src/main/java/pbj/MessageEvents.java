// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.neopvm.Message;
import org.neopvm.TaskId;

/**
 * Waits for what listeners look for and hands it to them. Each listener has one wait at a time; the
 * thread sleeps until one is over. Whatever a wait has taken is handed over, also when events are
 * disabled at that moment.
 */
final class MessageEvents {
    private static final System.Logger LOG = System.getLogger("pbj");
    private static final long PAUSE_MS = 50;

    private final List<PVMMessageBufferListener> listeners = new CopyOnWriteArrayList<>();
    private volatile Thread running;
    /** Waits that are over; an empty one among them only ends the thread's sleep. */
    private LinkedBlockingQueue<Optional<Wait>> over;

    /** One wait of one listener. */
    private static final class Wait {
        final PVMMessageBufferListener listener;
        final int tid;
        final int tag;
        CompletableFuture<Message> coming;

        Wait(PVMMessageBufferListener listener) {
            this.listener = listener;
            this.tid = listener.lookingForTID();
            this.tag = listener.lookingForMessageTag();
        }

        boolean isStale() {
            return listener.lookingForTID() != tid || listener.lookingForMessageTag() != tag;
        }
    }

    void add(PVMMessageBufferListener listener) {
        listeners.add(listener);
    }

    void remove(PVMMessageBufferListener listener) {
        listeners.remove(listener);
    }

    synchronized void enable(int milliseconds) {
        if (running == null) {
            LinkedBlockingQueue<Optional<Wait>> queue = new LinkedBlockingQueue<>();
            over = queue;
            Thread thread = new Thread(() -> run(Math.max(1, milliseconds), queue), "pbj-events");
            running = thread;
            thread.start();
        }
    }

    synchronized void disable() {
        if (running != null) {
            running = null;
            over.add(Optional.empty());
        }
    }

    private boolean isRunning() {
        return running == Thread.currentThread();
    }

    private void run(int milliseconds, LinkedBlockingQueue<Optional<Wait>> queue) {
        List<Wait> waits = new ArrayList<>();
        try {
            while (isRunning() && goOn(milliseconds, waits, queue)) {
                // until the task has left
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            for (Wait wait : waits) {
                if (!wait.coming.cancel(false)) {
                    hand(wait);
                }
            }
            synchronized (this) {
                if (isRunning()) {
                    running = null;
                }
            }
        }
    }

    /**
     * One message at most; false where no more will come. What fails for a moment, or in a
     * listener, is tried again.
     */
    private boolean goOn(int milliseconds, List<Wait> waits, LinkedBlockingQueue<Optional<Wait>> queue)
            throws InterruptedException {
        try {
            begin(waits, queue);
            Optional<Wait> next = queue.poll(milliseconds, TimeUnit.MILLISECONDS);
            if (next != null && next.isPresent() && waits.remove(next.get())) {
                hand(next.get());
            }
            waits.removeIf(each -> (each.isStale() || !listeners.contains(each.listener))
                    && each.coming.cancel(false));
            return true;
        } catch (InterruptedException e) {
            throw e;
        } catch (Throwable e) {
            boolean isOver = e instanceof PVMException failure && failure.getReason() == PVMConstants.PvmSysErr;
            LOG.log(System.Logger.Level.ERROR, isOver ? "message events have ended" : "message events have failed", e);
            Thread.sleep(PAUSE_MS);
            return !isOver;
        }
    }

    /** A wait for each listener that has none. */
    private void begin(List<Wait> waits, LinkedBlockingQueue<Optional<Wait>> queue) throws PVMException {
        for (PVMMessageBufferListener listener : listeners) {
            if (waits.stream().noneMatch(wait -> wait.listener == listener)) {
                Wait wait = new Wait(listener);
                wait.coming = PVMObject.call(pvm -> pvm.receiveAsync(new TaskId(wait.tid), wait.tag));
                waits.add(wait);
                wait.coming.whenComplete((message, failure) -> queue.add(Optional.of(wait)));
            }
        }
    }

    private void hand(Wait wait) {
        Message message = wait.coming.handle((found, failure) -> found).join();
        if (message == null) {
            // The task has left, or there is no memory for the message, which stays.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MS));
            return;
        }
        try {
            wait.listener.receivedPVMMessageBuffer(new PVMMessageBuffer(message));
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "a message listener has failed", e);
        }
    }
}
