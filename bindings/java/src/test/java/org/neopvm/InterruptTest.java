// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A thread that is interrupted loses nothing: what it changes is known, or is not done. */
class InterruptTest extends Connected {
    @AfterEach
    @Override
    void close() {
        Thread.interrupted();
        super.close();
    }

    /** What a call gives in a thread that is interrupted before, and whether it is still interrupted behind it. */
    private static <T> T interrupted(boolean virtual, Callable<T> call) throws Exception {
        CompletableFuture<T> result = new CompletableFuture<>();
        Runnable run = () -> {
            Thread.currentThread().interrupt();
            try {
                T value = call.call();
                assertTrue(Thread.interrupted(), "the thread is interrupted behind the call");
                result.complete(value);
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        };
        if (virtual) {
            Machine.virtual(run);
        } else {
            new Thread(run).start();
        }
        return result.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS);
    }

    private void takes(boolean virtual) throws Exception {
        String name = Machine.name("taken");
        pvm.registry().put(name, pvm.message().put(5), 0);
        try (Message message = interrupted(virtual, () -> pvm.registry().take(name).orElseThrow())) {
            assertEquals(5, message.getInt());
        }
        assertTrue(pvm.registry().get(name).isEmpty());
    }

    @Test
    void aNamedMessageThatAnInterruptedThreadTakesIsTaken() throws Exception {
        takes(false);
    }

    @Test
    void aNamedMessageThatAnInterruptedVirtualThreadTakesIsTaken() throws Exception {
        takes(true);
    }

    private void spawnsNothing(boolean virtual) throws Exception {
        if (virtual) {
            Machine.virtual(() -> {}).join();
        }
        Throwable e = assertThrows(Exception.class, () -> interrupted(virtual,
                () -> pvm.spawn(Machine.program("partner"), List.of("silent"), Place.HERE, 2)));
        assertTrue(e.getCause() instanceof InterruptedException, e.toString());
        assertEquals(Set.of(), children());
    }

    /** The tasks that this one has spawned. Those of tests before may still be ending. */
    private Set<TaskId> children() {
        int self = pvm.self().number();
        return pvm.tasks().stream().filter(task -> task.parent() == self).map(task -> new TaskId(task.tid()))
                .collect(Collectors.toSet());
    }

    @Test
    void aThreadThatIsInterruptedAlreadyStartsNothing() throws Exception {
        spawnsNothing(false);
    }

    @Test
    void aVirtualThreadThatIsInterruptedAlreadyStartsNothing() throws Exception {
        spawnsNothing(true);
    }

    /** Interrupts that hit a spawn in every stage of it: all that run are known. */
    @Test
    void anInterruptWithinASpawnLeavesNoTaskThatNobodyKnows() throws Exception {
        Set<TaskId> known = new HashSet<>();
        for (int round = 0; round < 12; round++) {
            CompletableFuture<Team> team = new CompletableFuture<>();
            Thread spawning = new Thread(() -> {
                try {
                    team.complete(pvm.spawn(Machine.program("partner"), List.of("silent"), Place.HERE, 1));
                } catch (Throwable e) {
                    team.completeExceptionally(e);
                }
            });
            spawning.start();
            TimeUnit.MICROSECONDS.sleep(300L * round);
            spawning.interrupt();
            try {
                team.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS).orThrow().forEach(known::add);
            } catch (java.util.concurrent.ExecutionException e) {
                assertTrue(e.getCause() instanceof InterruptedException, e.toString());
            }
        }
        // A task that came behind the interrupt is ended.
        Machine.until(() -> children().equals(known));
        known.forEach(pvm::kill);
    }

    private void freezeIsLeft(boolean virtual) throws Exception {
        String name = Machine.name("thawed");
        try (Group group = pvm.join(name)) {
            CompletableFuture<Integer> frozen = new CompletableFuture<>();
            Runnable wait = () -> {
                try {
                    frozen.complete(group.freeze(2));
                } catch (Throwable e) {
                    frozen.completeExceptionally(e);
                }
            };
            Thread waiting = virtual ? Machine.virtual(wait) : new Thread(wait);
            if (!virtual) {
                waiting.start();
            }
            Thread.sleep(250);
            assertFalse(frozen.isDone());
            waiting.interrupt();
            Throwable e = assertThrows(java.util.concurrent.ExecutionException.class,
                    () -> frozen.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
            assertTrue(e.getCause() instanceof InterruptedException, e.toString());
            // Had it counted, one more would be another size.
            assertEquals(1, group.freeze(1));
        }
    }

    @Test
    void aFreezeThatIsInterruptedDoesNotCount() throws Exception {
        freezeIsLeft(false);
    }

    @Test
    void aFreezeInAVirtualThreadThatIsInterruptedDoesNotCount() throws Exception {
        freezeIsLeft(true);
    }

    private void barrierIsLeft(boolean virtual) throws Exception {
        String name = Machine.name("left");
        try (Group group = pvm.join(name)) {
            TaskId other = Machine.partner(pvm, "barriers", name, "2");
            CompletableFuture<Void> met = new CompletableFuture<>();
            Runnable wait = () -> {
                try {
                    group.barrier(2);
                    met.complete(null);
                } catch (Throwable e) {
                    met.completeExceptionally(e);
                }
            };
            Thread waiting = virtual ? Machine.virtual(wait) : new Thread(wait);
            if (!virtual) {
                waiting.start();
            }
            Thread.sleep(250);
            assertFalse(met.isDone());
            waiting.interrupt();
            Throwable e = assertThrows(java.util.concurrent.ExecutionException.class,
                    () -> met.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
            assertTrue(e.getCause() instanceof InterruptedException, e.toString());
            // Had it counted, the other one would be a round ahead.
            for (int round = 0; round < 2; round++) {
                assertTrue(pvm.poll(other, 2).isEmpty());
                pvm.message().to(other, 1);
                CompletableFuture.runAsync(() -> {
                    try {
                        group.barrier(2);
                    } catch (InterruptedException unexpected) {
                        throw new AssertionError(unexpected);
                    }
                }).get(Machine.LONG.toSeconds(), TimeUnit.SECONDS);
            }
            Machine.receive(pvm, other, 2).close();
        }
    }

    @Test
    void aBarrierThatIsInterruptedDoesNotCount() throws Exception {
        barrierIsLeft(false);
    }

    @Test
    void aBarrierInAVirtualThreadThatIsInterruptedDoesNotCount() throws Exception {
        barrierIsLeft(true);
    }

    private void waitForANameEnds(boolean virtual) throws Exception {
        String name = Machine.name("awaited");
        CompletableFuture<Message> found = new CompletableFuture<>();
        Runnable wait = () -> {
            try {
                found.complete(pvm.registry().await(name));
            } catch (Throwable e) {
                found.completeExceptionally(e);
            }
        };
        Thread waiting = virtual ? Machine.virtual(wait) : new Thread(wait);
        if (!virtual) {
            waiting.start();
        }
        Thread.sleep(50);
        waiting.interrupt();
        Throwable e = assertThrows(java.util.concurrent.ExecutionException.class,
                () -> found.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
        assertTrue(e.getCause() instanceof InterruptedException, e.toString());
        pvm.registry().put(name, pvm.message().put(6), 0);
        try (Message message = pvm.registry().take(name).orElseThrow()) {
            assertEquals(6, message.getInt());
        }
    }

    @Test
    void anInterruptEndsAWaitForANamedMessageWhichStays() throws Exception {
        waitForANameEnds(false);
    }

    @Test
    void anInterruptEndsAVirtualThreadsWaitForANamedMessageWhichStays() throws Exception {
        waitForANameEnds(true);
    }
}
