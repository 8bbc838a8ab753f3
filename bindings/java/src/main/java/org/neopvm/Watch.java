// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;

/**
 * Hands notices of the machine to those who asked for them. Notices travel in a context of their own, so that no
 * receive of the program takes one, each request under a tag of its own. Callbacks run one after the other on one
 * thread; one that throws is logged and does not keep the others from running.
 */
final class Watch implements AutoCloseable {
    private static final int TASK_EXIT = 1;
    private static final int HOST_DELETE = 2;
    private static final int HOST_ADD = 3;
    private static final int CANCEL = 256;
    private static final System.Logger LOG = System.getLogger("org.neopvm");

    private record Request(int kind, int[] of, Consumer<Incoming> told) {}

    private final Engine engine;
    private final Map<Integer, Request> requests = new ConcurrentHashMap<>();
    private final AtomicInteger nextTag = new AtomicInteger(1);
    private ExecutorService thread;
    private int context;

    Watch(Engine engine) {
        this.engine = engine;
    }

    private synchronized void begin() {
        if (thread == null) {
            context = engine.newContext();
            thread = Executors.newSingleThreadExecutor(run -> {
                Thread made = new Thread(run, "pvm-events");
                made.setDaemon(true);
                return made;
            });
            listen();
        }
    }

    private void listen() {
        engine.receiveAsync(Engine.ANY, Engine.ANY, context).whenComplete((notice, failure) -> {
            if (notice == null) {
                return; // left the machine
            }
            try {
                thread.execute(() -> tell(notice));
            } catch (RejectedExecutionException e) {
                notice.close();
                return;
            }
            try {
                listen();
            } catch (PvmException e) {
                LOG.log(System.Logger.Level.DEBUG, "no more notices", e);
            }
        });
    }

    private void tell(Incoming notice) {
        try (notice) {
            Request request = requests.get(notice.info().tag());
            if (request != null) {
                request.told.accept(notice);
            }
        } catch (RuntimeException e) {
            LOG.log(System.Logger.Level.ERROR, "a callback for notices has failed", e);
        }
    }

    private Subscription ask(int kind, int[] of, int count, Consumer<Incoming> told) {
        begin();
        int tag = nextTag.getAndIncrement();
        requests.put(tag, new Request(kind, of, told));
        try {
            engine.notify(kind, tag, context, of, count);
        } catch (PvmException e) {
            requests.remove(tag);
            throw e;
        }
        return () -> {
            if (requests.remove(tag) != null) {
                try {
                    engine.notify(kind | CANCEL, tag, context, of, count);
                } catch (PvmException e) {
                    LOG.log(System.Logger.Level.DEBUG, "a request for notices was gone", e);
                }
            }
        };
    }

    Subscription exits(Collection<TaskId> tasks, Consumer<TaskExit> told) {
        return each(TASK_EXIT, tasks.stream().mapToInt(TaskId::number).toArray(),
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

    @Override
    public synchronized void close() {
        requests.clear();
        if (thread != null) {
            thread.shutdown();
        }
    }
}
