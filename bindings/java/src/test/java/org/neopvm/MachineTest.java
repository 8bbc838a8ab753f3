// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Hosts, tasks, named messages, groups, and the farm. */
class MachineTest extends Connected {
    @Test
    void theMachineShowsItsHostsAndTasks() throws Exception {
        List<HostInfo> hosts = pvm.hosts();
        assertEquals(2, hosts.size());
        assertTrue(hosts.stream().allMatch(host -> !host.name().isEmpty() && !host.arch().isEmpty() && host.tid() != 0));
        assertTrue(pvm.parent().isEmpty());
        HostInfo far = hosts.get(1);
        Team team = pvm.spawn(Machine.program("partner"), List.of("silent"), Place.host(far.name()), 2).orThrow();
        assertEquals(2, team.size());
        for (TaskId task : team) {
            TaskInfo info = pvm.tasks().stream().filter(t -> t.tid() == task.number()).findFirst().orElseThrow();
            assertEquals(far.tid(), info.host());
            assertEquals(pvm.self().number(), info.parent());
            assertTrue(info.program().endsWith("partner"), info.program());
            assertTrue(pvm.isAlive(task));
            pvm.kill(task);
        }
    }

    @Test
    void whatCannotBeStartedSaysWhy() throws Exception {
        Team none = pvm.spawn("/no/such/program", 2);
        assertEquals(List.of(Code.NO_FILE, Code.NO_FILE), none.failures());
        assertEquals(Code.NO_FILE, assertThrows(PvmException.class, none::orThrow).code());
        Throwable e = assertThrows(PvmException.class, () -> {
            Team nowhere = pvm.spawn(Machine.program("partner"), List.of(), Place.host("no-such-host"), 1);
            nowhere.orThrow();
        });
        assertTrue(e.getMessage().contains("PvmNoHost"), e.getMessage());
    }

    @Test
    void messagesGoToTheOtherHostAndBack() throws Exception {
        HostInfo far = pvm.hosts().get(1);
        Team team = pvm.spawn(Machine.program("partner"), List.of("square"), Place.host(far.name()), 1).orThrow();
        TaskId task = team.tasks().get(0);
        for (int i = 0; i < 50; i++) {
            pvm.message().put(i).to(task, 1);
        }
        for (int i = 0; i < 50; i++) {
            try (Message message = Machine.receive(pvm, task, 2)) {
                assertEquals(i * i, message.getInt());
            }
        }
        pvm.message().to(task, 99);
    }

    @Test
    void theExitOfATaskIsAnEvent() throws Exception {
        TaskId task = Machine.partner(pvm, "silent");
        CountDownLatch told = new CountDownLatch(1);
        try (Subscription all = pvm.onExit(List.of(task), exit -> {
            throw new IllegalStateException("a callback that fails, on purpose");
        }); Subscription mine = pvm.onExit(List.of(task), exit -> told.countDown())) {
            pvm.kill(task);
            assertTrue(told.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
        }
        CountDownLatch late = new CountDownLatch(1);
        pvm.onExit(List.of(task), exit -> late.countDown());
        assertTrue(late.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS), "of one that is gone already");
    }

    @Test
    void aMessageUnderANameIsFoundByIt() throws Exception {
        String name = Machine.name("named");
        Registry registry = pvm.registry();
        assertTrue(registry.get(name).isEmpty());
        registry.put(name, pvm.message().put("value"), 0);
        try (Message message = registry.get(name).orElseThrow()) {
            assertEquals("value", message.getString());
        }
        try (Message message = registry.await(name)) {
            assertEquals("value", message.getString());
        }
        registry.take(name).orElseThrow().close();
        assertEquals(Code.NOT_FOUND,
                assertThrows(PvmException.class, () -> registry.remove(name, 0)).code());
    }

    @Test
    void aGroupWithAMemberInCWorksTogether() throws Exception {
        String name = Machine.name("group");
        try (Group group = pvm.join(name)) {
            assertEquals(0, group.instance());
            assertEquals(1, group.size());
            group.barrier(1);
            TaskId other = Machine.partner(pvm, "group", name);
            group.barrier(2);
            assertEquals(List.of(pvm.self(), other), group.members());
            int[] mine = {1, 2, 3};
            group.reduce(mine, Operation.SUM, 11, 0);
            assertArrayEquals(new int[] {21, 23, 25}, mine);
            group.reduce(new double[] {0.25, 9.5}, Operation.MAX, 12, 1);
            assertArrayEquals(new int[] {7, 8, 9, 20, 21, 22}, group.gather(new int[] {7, 8, 9}, 13, 0));
            assertArrayEquals(new int[] {1, 2}, group.scatterInts(new int[] {1, 2, 3, 4}, 2, 14, 0));
            try (Message message = Machine.receive(pvm, other, 15)) {
                assertArrayEquals(new int[] {3, 4}, message.getInts(2));
                assertArrayEquals(new double[] {0.5, 9.5}, message.getDoubles(2));
            }
            group.barrier(2);
        }
    }

    @Test
    void aUsersFunctionReducesAndGroupErrorsAreTold() throws Exception {
        String name = Machine.name("alone");
        Group group = pvm.join(name);
        long[] items = {5, 6};
        group.reduce(items, (a, b) -> a - b, 1, 0);
        assertArrayEquals(new long[] {5, 6}, items);
        assertArrayEquals(new byte[] {1}, group.gather(new byte[] {1}, 1, 0));
        assertEquals(Code.NO_INST, assertThrows(PvmException.class, () -> group.gather(items, 1, 5)).code());
        assertEquals(Code.BAD_PARAM,
                assertThrows(PvmException.class, () -> group.scatterLongs(items, 1, 1, 0)).code());
        assertEquals(Code.DUP_GROUP, assertThrows(PvmException.class, () -> pvm.join(name)).code());
        group.close();
        group.close();
        assertThrows(PvmException.class, () -> group.barrier(1));
        assertEquals(Code.NULL_GROUP, assertThrows(PvmException.class, () -> pvm.join("")).code());
    }

    @Test
    void aMemberThatDiesEndsTheReduce() throws Exception {
        String name = Machine.name("dying");
        try (Group group = pvm.join(name)) {
            TaskId other = Machine.partner(pvm, "group", name);
            group.barrier(2);
            // It hands in what is asked of it and then waits for its part of the scatter.
            group.reduce(new int[3], Operation.SUM, 11, 0);
            group.reduce(new double[2], Operation.MAX, 12, 1);
            group.gather(new int[3], 13, 0);
            pvm.signal(other, 9);
            PvmException e = assertThrows(PvmException.class, () -> {
                // Until its death has reached the group.
                for (;;) {
                    group.reduce(new int[3], Operation.SUM, 77, 0);
                    if (group.size() == 1) {
                        throw new PvmException(Code.NO_TASK, "gone before it was asked");
                    }
                }
            });
            assertEquals(Code.NO_TASK, e.code());
        }
    }

    @Test
    void aFarmDoesAllTheWork() throws Exception {
        List<Integer> inputs = java.util.stream.IntStream.range(0, 200).boxed().toList();
        List<Integer> results = pvm.farm(Machine.program("partner"), 3).arguments(List.of("square")).ending(99)
                .run(inputs, 1, Draft::put, 2, Message::getInt);
        assertEquals(inputs.stream().map(i -> i * i).toList(), results);
    }

    @Test
    void aFarmRedoesTheWorkOfLostWorkers() throws Exception {
        List<Integer> inputs = java.util.stream.IntStream.range(0, 60).boxed().toList();
        Set<TaskId> before = java.util.Set.copyOf(pvm.tasks().stream().map(t -> new TaskId(t.tid())).toList());
        Set<Integer> struck = new java.util.HashSet<>();
        List<Integer> results = pvm.farm(Machine.program("partner"), 3).arguments(List.of("square")).replacing(3)
                .run(inputs, 1, (message, number) -> {
                    // Once each: a piece that is done again must not end its worker again.
                    if (number % 25 == 10 && struck.add(number)) {
                        // Somebody kills a worker while others work.
                        pvm.tasks().stream().map(t -> new TaskId(t.tid()))
                                .filter(t -> !before.contains(t)).findFirst().ifPresent(t -> pvm.signal(t, 9));
                    }
                    message.put(number);
                }, 2, Message::getInt);
        assertEquals(inputs.stream().map(i -> i * i).toList(), results);
    }

    @Test
    void workThatEndsEveryWorkerEndsTheFarm() {
        PvmException e = assertThrows(PvmException.class,
                () -> pvm.farm(Machine.program("partner"), 2).arguments(List.of("square", "7")).replacing(10)
                        .run(List.of(1, 7, 2), 1, Draft::put, 2, Message::getInt));
        assertEquals(Code.NO_TASK, e.code());
        assertTrue(e.getMessage().contains("piece 1"), e.getMessage());
        PvmException all = assertThrows(PvmException.class,
                () -> pvm.farm(Machine.program("partner"), 1).arguments(List.of("square", "7"))
                        .run(List.of(7, 2), 1, Draft::put, 2, Message::getInt));
        assertEquals(Code.NO_TASK, all.code());
    }

    @Test
    void twoFarmsWithOneTagDropNothingOfEachOtherOrOfTheProgram() throws Exception {
        List<Integer> inputs = java.util.stream.IntStream.range(0, 100).boxed().toList();
        List<CompletableFuture<List<Integer>>> farms = new java.util.ArrayList<>();
        pvm.message().put(7).to(pvm.self(), 2);
        for (int i = 0; i < 2; i++) {
            CompletableFuture<List<Integer>> results = new CompletableFuture<>();
            farms.add(results);
            new Thread(() -> {
                try {
                    results.complete(pvm.farm(Machine.program("partner"), 2).arguments(List.of("square")).ending(99)
                            .run(inputs, 1, Draft::put, 2, Message::getInt));
                } catch (Throwable e) {
                    results.completeExceptionally(e);
                }
            }).start();
        }
        for (CompletableFuture<List<Integer>> each : farms) {
            assertEquals(inputs.stream().map(i -> i * i).toList(), each.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
        }
        try (Message own = Machine.receive(pvm, pvm.self(), 2)) {
            assertEquals(7, own.getInt());
        }
    }
}
