// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Interrupts, cancels and kills without order, all at once: each message is got once, each named message once, each task
 * that runs is known, and nothing is left. Some seconds; five minutes with {@code NEOPVM_LONG=1}.
 */
class StormTest {
    private static final int DATA = 71;
    private static final int ROUNDS_AHEAD = 500;

    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger sent = new AtomicInteger();
    private final AtomicInteger got = new AtomicInteger();
    private final BitSet seen = new BitSet();
    private final AtomicInteger put = new AtomicInteger();
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger started = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final List<Thread> victims = new ArrayList<>();

    /** A step that may be interrupted anywhere. */
    @FunctionalInterface
    private interface Step {
        void run() throws Exception;
    }

    private Thread repeat(boolean isVictim, Step step) {
        Thread thread = new Thread(() -> {
            while (!over.get()) {
                try {
                    step.run();
                } catch (InterruptedException e) {
                    // Given up, without effect.
                } catch (Throwable e) {
                    failures.add(e);
                    over.set(true);
                }
            }
        });
        thread.start();
        if (isVictim) {
            victims.add(thread);
        }
        return thread;
    }

    private void got(Message message) {
        try (message) {
            int number = message.getInt();
            synchronized (seen) {
                assertFalse(seen.get(number), number + " came twice");
                seen.set(number);
            }
            got.incrementAndGet();
        }
    }

    private void await(Pvm pvm) throws Exception {
        CompletableFuture<Message> future = pvm.receiveAsync(TaskId.ANY, DATA);
        if (ThreadLocalRandom.current().nextInt(3) == 0 && future.cancel(true)) {
            return;
        }
        try {
            got(future.get(5, TimeUnit.MILLISECONDS));
        } catch (java.util.concurrent.TimeoutException | InterruptedException e) {
            if (!future.cancel(false)) {
                got(future.join());
            }
        } catch (CancellationException | ExecutionException e) {
            throw new AssertionError(e);
        }
    }

    private void name(Pvm pvm, String name) throws InterruptedException {
        if (ThreadLocalRandom.current().nextBoolean()) {
            pvm.registry().put(name, pvm.message().put(1), Registry.MANY);
            put.incrementAndGet();
        } else {
            pvm.registry().take(name).ifPresent(message -> {
                message.close();
                taken.incrementAndGet();
            });
        }
    }

    private void spawn(Pvm pvm) throws InterruptedException {
        Team team = pvm.spawn(Machine.program("partner"), List.of("silent"), Place.HERE, 2);
        started.addAndGet(team.size());
        pvm.onExit(team, exit -> ended.incrementAndGet());
        for (TaskId task : team) {
            pvm.signal(task, ThreadLocalRandom.current().nextBoolean() ? 9 : 15);
        }
    }

    private void barrier(Group group) throws InterruptedException {
        group.barrier(2);
        throw new AssertionError("a barrier of two was met by one");
    }

    @Test
    void interruptsCancelsAndKillsLoseNothingAndLeaveNothing() throws Exception {
        long seconds = Long.getLong("pvm.storm.s", "1".equals(System.getenv("NEOPVM_LONG")) ? 300 : 4);
        String name = Machine.name("storm");
        try (Pvm pvm = Machine.connect(); Group group = pvm.join(name)) {
            List<Thread> threads = new ArrayList<>();
            threads.add(repeat(false, () -> {
                if (sent.get() - got.get() > ROUNDS_AHEAD) {
                    Thread.sleep(1);
                } else {
                    pvm.message().put(sent.getAndIncrement()).to(pvm.self(), DATA);
                }
            }));
            for (int i = 0; i < 2; i++) {
                threads.add(repeat(true, () -> pvm.receive(TaskId.ANY, DATA, Duration.ofMillis(5)).ifPresent(this::got)));
                threads.add(repeat(true, () -> await(pvm)));
            }
            threads.add(repeat(true, () -> pvm.poll(TaskId.ANY, DATA).ifPresent(this::got)));
            threads.add(repeat(true, () -> name(pvm, name)));
            threads.add(repeat(true, () -> spawn(pvm)));
            threads.add(repeat(true, () -> barrier(group)));
            threads.add(repeat(true, () -> pvm.registry().await(name + "-never").close()));
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            while (System.nanoTime() < end && failures.isEmpty()) {
                Thread.sleep(ThreadLocalRandom.current().nextInt(3));
                victims.get(ThreadLocalRandom.current().nextInt(victims.size())).interrupt();
            }
            over.set(true);
            for (Thread thread : threads) {
                for (int i = 0; thread.isAlive() && i < Machine.LONG.toSeconds(); i++) {
                    thread.interrupt();
                    thread.join(1000);
                }
                assertFalse(thread.isAlive(), "somebody waits for ever");
            }
            assertEquals(List.of(), List.copyOf(failures));
            settle(pvm, name);
        }
    }

    private void settle(Pvm pvm, String name) throws InterruptedException {
        while (got.get() < sent.get()) {
            got(pvm.receive(TaskId.ANY, DATA, Machine.LONG).orElseThrow(
                    () -> new AssertionError(got + " of " + sent + " messages")));
        }
        assertTrue(pvm.poll(TaskId.ANY, DATA).isEmpty());
        for (var rest = pvm.registry().take(name); rest.isPresent(); rest = pvm.registry().take(name)) {
            rest.get().close();
            taken.incrementAndGet();
        }
        assertEquals(put.get(), taken.get(), "named messages");
        for (int i = 0; ended.get() < started.get() && i < Machine.LONG.toSeconds(); i++) {
            Thread.sleep(1000);
        }
        assertEquals(started.get(), ended.get(), "ends of tasks");
        // The table may know one for a moment longer.
        for (int i = 0; children(pvm) > 0 && i < Machine.LONG.toSeconds(); i++) {
            Thread.sleep(1000);
        }
        assertEquals(0, children(pvm), "tasks that nobody knows");
        System.out.println("a storm of " + got + " messages, " + put + " names, " + started + " tasks");
    }

    private static long children(Pvm pvm) {
        return pvm.tasks().stream().filter(task -> task.parent() == pvm.self().number()).count();
    }
}
