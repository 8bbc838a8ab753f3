// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.lang.System.Logger.Level;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;

/**
 * Hands notices of the machine to those who asked for them. Notices travel in a context of their
 * own, so that no receive of the program takes one, each request under a tag of its own. One thread
 * waits for them, by futures that it completes itself, and runs the callbacks one after the other;
 * one that throws is logged and does not keep the others from running.
 */
final class Watch implements AutoCloseable {
    private static final int TASK_EXIT = 1;
    private static final int HOST_DELETE = 2;
    private static final int HOST_ADD = 3;
    private static final int CANCEL = 256;
    private static final long PAUSE_NS = 50_000_000;
    private static final System.Logger LOG = System.getLogger("org.neopvm");

    /**
     * @param left how many notices can still come; negative is without end. The thread for events
     *     alone counts.
     */
    private record Request(int[] left, Consumer<Incoming> told) {
        /** True if this was the last notice. */
        boolean isLast() {
            return left[0] > 0 && --left[0] == 0;
        }
    }

    private final Engine engine;
    private final Map<Integer, Request> requests = new ConcurrentHashMap<>();
    private final AtomicInteger nextTag = new AtomicInteger(1);
    private ExecutorService thread;
    private int context;
    private volatile boolean closed;
    /** So that it is said once. The thread for events alone uses it. */
    private boolean failing;

    Watch(Engine engine) {
        this.engine = engine;
    }

    private synchronized void begin() {
        if (thread == null && !closed) {
            context = engine.newContext();
            thread = Executors.newSingleThreadExecutor(run -> {
                Thread made = new Thread(null, run, "pvm-events", 0, false);
                made.setDaemon(true);
                return made;
            });
            try {
                thread.execute(this::listen);
            } catch (RuntimeException | Error e) {
                // The next request tries again: nobody would listen otherwise.
                thread = null;
                throw e;
            }
        }
    }

    /**
     * Runs on the thread for events, which also completes the futures: none is complete while this
     * asks for one.
     */
    private void listen() {
        while (!closed) {
            try {
                for (Incoming notice = next(); notice != null; notice = next()) {
                    tell(notice);
                }
                engine.receiveAsync(Engine.ANY, Engine.ANY, context, thread).whenComplete(this::heard);
                return;
            } catch (Throwable e) {
                if (closed || engine.isLost()) {
                    return;
                }
                pause(e);
            }
        }
    }

    /**
     * A look for notices has failed, as where no memory is left for them. They stay where they are
     * until there is.
     */
    private void pause(Throwable why) {
        if (!failing) {
            failing = true;
            LOG.log(Level.WARNING, "notices wait, as they cannot be received", why);
        }
        LockSupport.parkNanos(PAUSE_NS);
    }

    private Incoming next() {
        return closed ? null : engine.poll(Engine.ANY, Engine.ANY, context);
    }

    private void heard(Incoming notice, Throwable failure) {
        if (closed) {
            if (notice != null) {
                notice.close();
            }
        } else if (notice != null) {
            tell(notice);
            listen();
        } else if (!engine.isLost()) {
            pause(failure);
            listen();
        }
    }

    private void tell(Incoming notice) {
        failing = false;
        try (notice) {
            int tag = notice.info().tag();
            Request request = requests.get(tag);
            if (request != null) {
                if (request.isLast()) {
                    requests.remove(tag);
                }
                request.told.accept(notice);
            }
        } catch (Throwable e) {
            LOG.log(Level.ERROR, "a callback for notices has failed", e);
        }
    }

    /** The number of requests that may still get a notice. */
    int open() {
        return requests.size();
    }

    private Subscription ask(int kind, int[] of, int count, Consumer<Incoming> told) {
        begin();
        int tag = nextTag.getAndIncrement();
        requests.put(tag, new Request(new int[] {of == null ? -1 : of.length}, told));
        try {
            engine.notify(kind, tag, context, of, count);
        } catch (RuntimeException | Error e) {
            requests.remove(tag);
            throw e;
        }
        return () -> {
            if (requests.remove(tag) != null) {
                try {
                    engine.notify(kind | CANCEL, tag, context, of, count);
                } catch (PvmException e) {
                    LOG.log(Level.DEBUG, "a request for notices was gone", e);
                }
            }
        };
    }

    Subscription exits(Collection<TaskId> tasks, Consumer<TaskExit> told) {
        return each(TASK_EXIT, tasks.stream().mapToInt(TaskId::number).distinct().toArray(),
                tid -> new TaskExit(new TaskId(tid)), told);
    }

    Subscription hostsGone(Collection<HostInfo> hosts, Consumer<HostGone> told) {
        Map<Integer, HostInfo> known = hosts.stream().collect(Collectors.toMap(HostInfo::tid, h -> h));
        return each(HOST_DELETE, hosts.stream().mapToInt(HostInfo::tid).toArray(),
                tid -> new HostGone(known.get(tid)), told);
    }

    private <T> Subscription each(int kind, int[] of, Function<Integer, T> event, Consumer<T> told) {
        if (of.length == 0) {
            return () -> {};
        }
        return ask(kind, of, of.length, notice -> told.accept(event.apply(notice.unpackInt(Kind.INT))));
    }

    Subscription hostsAdded(Consumer<HostsAdded> told) {
        return ask(HOST_ADD, null, -1, notice -> {
            int count = notice.unpackInt(Kind.INT);
            int[] tids = new int[Math.max(0, Math.min(count, 4096))];
            notice.unpack(Kind.INT, tids, 0, tids.length, 1);
            told.accept(new HostsAdded(engine.hosts().stream()
                    .filter(host -> Arrays.stream(tids).anyMatch(tid -> tid == host.tid())).toList()));
        });
    }

    /** Nothing is told any more; the context is free for others where this process stays a task. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            requests.clear();
            if (thread == null) {
                return;
            }
            thread.shutdown();
        }
        try {
            engine.freeContext(context);
        } catch (PvmException e) {
            LOG.log(Level.DEBUG, "the context of notices was gone", e);
        }
    }
}
