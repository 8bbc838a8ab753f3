// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exposed memory, of tasks of this host (0) and of the other one (1). */
class MemoryTest extends Connected {
    private static final int NUMBER = 7;
    private static final int READ_ONLY = 8;
    /** More than goes in one piece, and no multiple of one. */
    private static final int BYTES = 3_000_000;

    private TaskId start(int host, String... arguments) throws InterruptedException {
        Place place = Place.host(pvm.hosts().get(host).name());
        return pvm.spawn(Machine.program("memory"), List.of(arguments), place, 1).orThrow().tasks().get(0);
    }

    private TaskId owner(int host) throws InterruptedException {
        TaskId owner = start(host, "expose", "" + BYTES);
        Machine.receive(pvm, owner, 1).close();
        return owner;
    }

    private static String fails(Code code, Executable what) {
        PvmException e = assertThrows(PvmException.class, what);
        assertEquals(code, e.code(), e.getMessage());
        return e.getMessage();
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (i % 251);
        }
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void memoryOfAnotherTaskIsReadAndWrittenWithoutIt(int host) throws Exception {
        TaskId owner = owner(host);
        Memory memory = pvm.memory(owner, NUMBER);
        assertEquals(new MemoryInfo(BYTES, true), memory.info());
        assertEquals(new MemoryInfo(8, false), pvm.memory(owner, READ_ONLY).info());
        byte[] sent = bytes(BYTES - 5);
        memory.put(5, sent);
        byte[] got = new byte[BYTES];
        memory.get(0, got);
        assertArrayEquals(sent, java.util.Arrays.copyOfRange(got, 5, BYTES));
        assertArrayEquals(new byte[5], java.util.Arrays.copyOf(got, 5));
        memory.get(BYTES, new byte[0]);
        memory.putDouble(16, -2.5);
        memory.putInt(24, Integer.MIN_VALUE);
        memory.putLong(32, Long.MAX_VALUE);
        assertEquals(-2.5, memory.getDouble(16));
        assertEquals(Integer.MIN_VALUE, memory.getInt(24));
        assertEquals(Long.MAX_VALUE, memory.getLong(32));
        byte[] text = new byte[8];
        pvm.memory(owner, READ_ONLY).get(0, text);
        assertEquals("readable", new String(text, java.nio.charset.StandardCharsets.US_ASCII));
        pvm.message().to(owner, 9);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void buffersOfEveryKindGiveAndTakeWhatTheyHaveLeft(int host) throws Exception {
        TaskId owner = owner(host);
        Memory memory = pvm.memory(owner, NUMBER);
        byte[] data = bytes(100);
        for (ByteBuffer room : List.of(ByteBuffer.allocate(100), ByteBuffer.allocateDirect(100),
                ByteBuffer.allocate(120).position(10).slice().limit(100))) {
            memory.put(0, ByteBuffer.wrap(data).asReadOnlyBuffer());
            room.position(30).limit(70);
            memory.get(40, room);
            assertFalse(room.hasRemaining());
            room.position(30);
            byte[] got = new byte[40];
            room.get(got);
            assertArrayEquals(java.util.Arrays.copyOfRange(data, 40, 80), got);
            memory.put(200, room.position(30).limit(70));
            assertFalse(room.hasRemaining());
            byte[] back = new byte[40];
            memory.get(200, back);
            assertArrayEquals(got, back);
        }
        pvm.message().to(owner, 9);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void wordsAreChangedInOneStepAndTellTheirValueBefore(int host) throws Exception {
        TaskId owner = owner(host);
        Memory memory = pvm.memory(owner, NUMBER);
        assertEquals(0, memory.addLong(8, -1));
        assertEquals(-1, memory.addLong(8, 3));
        assertEquals(2, memory.exchangeLong(8, 5, 7));
        assertEquals(2, memory.exchangeLong(8, 2, Long.MIN_VALUE));
        assertEquals(Long.MIN_VALUE, memory.getLong(8));
        assertEquals(0, memory.addInt(20, Integer.MAX_VALUE));
        assertEquals(Integer.MAX_VALUE, memory.addInt(20, 1));
        assertEquals(Integer.MIN_VALUE, memory.exchangeInt(20, Integer.MIN_VALUE, -4));
        assertEquals(-4, memory.getInt(20));
        assertEquals(0, memory.getInt(16) | memory.getInt(24));
        pvm.message().to(owner, 9);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void whatIsRefusedSaysWhatAndWhere(int host) throws Exception {
        TaskId owner = owner(host);
        Memory memory = pvm.memory(owner, NUMBER);
        String place = "memory 7 of " + owner;
        assertTrue(fails(Code.BAD_PARAM, () -> memory.addLong(4, 1)).contains("changing 8 bytes from 4 on of " + place + ", no multiple"));
        assertTrue(fails(Code.BAD_PARAM, () -> memory.exchangeInt(2, 0, 1)).contains("no multiple"));
        assertTrue(fails(Code.BAD_PARAM, () -> memory.addLong(BYTES, 1)).contains(place + ", which has " + BYTES));
        assertTrue(fails(Code.BAD_PARAM, () -> memory.get(BYTES - 3, new byte[4]))
                .contains("reading 4 bytes from " + (BYTES - 3) + " on of " + place + ", which has " + BYTES));
        assertTrue(fails(Code.BAD_PARAM, () -> memory.put(Long.MAX_VALUE, new byte[2])).contains("writing 2 bytes"));
        assertTrue(fails(Code.BAD_PARAM, () -> memory.put(BYTES - 1, new byte[2 << 20])).contains("which has"));
        assertTrue(fails(Code.BAD_PARAM, () -> memory.get(-1, new byte[1])).contains("offset -1 of " + place));
        assertTrue(fails(Code.BAD_PARAM, () -> memory.get(0, ByteBuffer.allocate(4).asReadOnlyBuffer())).contains("only read"));
        fails(Code.BAD_PARAM, () -> pvm.transport().addMemory(owner.number(), NUMBER, 0, 2, 1));
        fails(Code.BAD_PARAM, () -> pvm.memory(TaskId.ANY, NUMBER).info());
        Memory readOnly = pvm.memory(owner, READ_ONLY);
        assertTrue(fails(Code.DENIED, () -> readOnly.put(0, new byte[1])).contains("memory 8 of " + owner));
        fails(Code.DENIED, () -> readOnly.addInt(0, 1));
        Memory none = pvm.memory(owner, -1);
        assertTrue(fails(Code.NOT_FOUND, () -> none.get(0, new byte[1])).contains("memory 4294967295 of " + owner));
        fails(Code.NOT_FOUND, none::info);
        fails(Code.NOT_FOUND, () -> none.addLong(0, 1));
        assertEquals(0, memory.getLong(0));
        pvm.message().to(owner, 9);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void theEndOfTheOwnerIsTold(int host) throws Exception {
        TaskId owner = owner(host);
        Memory memory = pvm.memory(owner, NUMBER);
        assertEquals(0, memory.addLong(0, 1));
        pvm.signal(owner, 9);
        Machine.until(() -> {
            try {
                return memory.getLong(0) != 1;
            } catch (PvmException e) {
                assertEquals(Code.NO_TASK, e.code(), e.getMessage());
                assertTrue(e.getMessage().contains("memory 7 of " + owner), e.getMessage());
                return true;
            }
        });
        fails(Code.NO_TASK, () -> memory.addLong(0, 1));
        fails(Code.NO_TASK, () -> memory.put(0, new byte[100]));
        fails(Code.NO_TASK, memory::info);
    }

    private static void count(Memory memory, int rounds, long[] had) {
        for (int i = 0; i < rounds; i++) {
            had[i] = memory.addLong(0, 1);
            long seen = memory.getLong(8);
            for (long before; (before = memory.exchangeLong(8, seen, seen + 1)) != seen; ) {
                seen = before;
            }
        }
    }

    /** Tasks in C on both hosts and threads of this one, at once. */
    private void allCount(Memory memory) throws Exception {
        int rounds = 300;
        List<TaskId> tasks = new ArrayList<>();
        for (int host : new int[] {0, 1, 0, 1}) {
            tasks.add(start(host, "count"));
        }
        tasks.forEach(task -> pvm.message().put(memory.owner().number()).put(memory.number()).put(rounds).to(task, 1));
        List<CompletableFuture<long[]>> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            threads.add(CompletableFuture.supplyAsync(() -> {
                long[] had = new long[rounds];
                count(memory, rounds, had);
                return had;
            }, work -> new Thread(work).start()));
        }
        List<long[]> had = new ArrayList<>();
        for (CompletableFuture<long[]> thread : threads) {
            had.add(thread.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS));
        }
        for (TaskId task : tasks) {
            try (Message message = Machine.receive(pvm, task, 2)) {
                had.add(message.getLongs(rounds));
            }
        }
        long all = (long) rounds * had.size();
        assertArrayEquals(LongStream.range(0, all).toArray(), had.stream().flatMapToLong(LongStream::of).sorted().toArray());
        assertEquals(all, memory.getLong(0));
        assertEquals(all, memory.getLong(8));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void noNumberOfACounterIsLost(int host) throws Exception {
        TaskId owner = owner(host);
        allCount(pvm.memory(owner, NUMBER));
        pvm.message().to(owner, 9);
    }

    @Test
    void virtualThreadsReachMemoryOfTheOtherHost() throws Exception {
        TaskId owner = owner(1);
        Memory memory = pvm.memory(owner, NUMBER);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            threads.add(Machine.virtual(() -> {
                memory.addLong(0, 1);
                byte[] part = new byte[2 << 20];
                memory.get(0, part);
                memory.addLong(8, part[0] > 0 ? 1 : 0);
            }));
        }
        for (Thread thread : threads) {
            thread.join(Machine.LONG.toMillis());
        }
        assertEquals(20, memory.getLong(0));
        assertEquals(20, memory.getLong(8));
        pvm.message().to(owner, 9);
    }

    private void needs(String engine) {
        Assumptions.assumeTrue(pvm.engine().equals(engine), "only with the engine " + engine);
    }

    @Test
    void aTaskWithoutSharedMemoryExposesNone() {
        needs("wire");
        String why = fails(Code.NOT_IMPL, () -> pvm.expose(3, 100, true));
        assertTrue(why.contains("memory 3") && why.contains("without shared memory") && why.contains("native"), why);
        fails(Code.BAD_PARAM, () -> pvm.expose(3, 0, true));
        fails(Code.NOT_FOUND, () -> pvm.memory(pvm.self(), 3).info());
    }

    @Test
    void theOwnerHasTheMemoryItself() throws Exception {
        needs("native");
        Exposed exposed = pvm.expose(3, 24, true);
        try (exposed) {
            assertEquals(24, exposed.bytes());
            assertTrue(exposed.isWritable());
            assertEquals("memory 3 of " + pvm.self() + " (24 bytes)", exposed.toString());
            assertTrue(fails(Code.ALREADY, () -> pvm.expose(3, 8, false)).contains("memory 3 of " + pvm.self()));
            ByteBuffer own = exposed.buffer();
            assertEquals(24, own.remaining());
            own.putLong(16, 77);
            assertEquals(77, exposed.memory().getLong(16));
            allCount(exposed.memory());
            assertEquals(2100, own.getLong(0));
            assertEquals(2100, exposed.buffer(8, 8).getLong(0));
            assertEquals(new MemoryInfo(24, true), exposed.memory().info());
            fails(Code.BAD_PARAM, () -> exposed.buffer(20, 8));
            fails(Code.BAD_PARAM, () -> exposed.buffer(-1, 8));
        }
        exposed.withdraw();
        fails(Code.NOT_FOUND, () -> exposed.memory().info());
        assertTrue(fails(Code.NOT_FOUND, exposed::buffer).contains("withdrawn"));
    }

    @Test
    void aViewOfMemoryThatWasWithdrawnIsRefusedAndHarmsNothing() throws Exception {
        needs("native");
        Exposed exposed = pvm.expose(4, 80, false);
        ByteBuffer buffer = exposed.buffer();
        buffer.putInt(0, 1);
        Object segment = Class.forName("org.neopvm.Segments").getMethod("of", Exposed.class).invoke(null, exposed);
        assertEquals(80L, Class.forName("java.lang.foreign.MemorySegment").getMethod("byteSize").invoke(segment));
        assertEquals(new MemoryInfo(80, false), exposed.memory().info());
        exposed.withdraw();
        assertThrows(IllegalStateException.class, () -> buffer.getInt(0));
        try (Exposed again = pvm.expose(4, 8, true)) {
            exposed.close();
            assertEquals(0, again.memory().getLong(0));
        }
    }
}
