// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/** Tuple spaces: values and types, waits and their ends, claims, and a partner in the shell. */
class SpaceTest {
    private static final Duration NOW = Duration.ZERO;

    private String name = Machine.name("space");
    private Pvm pvm;
    private Space space;

    record Job(int number, double weight, long[] data, String text) {}

    @BeforeEach
    void open() throws Exception {
        pvm = Machine.connect();
        space = pvm.space(name);
    }

    @AfterEach
    void close() throws Exception {
        pvm.deleteSpace(name);
        pvm.close();
    }

    @Test
    void valuesComeBackWithTheirTypes() throws Exception {
        space.out("text", 7, -2.5, 1L << 40, true, (short) -3, 'x', (byte) -1, 0.5f, new byte[] {1, 2});
        Row row = space.take(Machine.LONG, String.class, int.class, double.class, long.class, boolean.class, short.class,
                char.class, byte.class, float.class, byte[].class).orElseThrow();
        assertEquals(List.of("text", 7, -2.5, 1L << 40, true, (short) -3, 'x', (byte) -1, 0.5f), row.values().subList(0, 9));
        assertArrayEquals(new byte[] {1, 2}, (byte[]) row.get(9));
        assertEquals(FieldType.UNSIGNED_SHORT, row.types().get(6));
    }

    @Test
    void arraysComeBackWhateverTheirSize() throws Exception {
        for (int size : new int[] {0, 1, 1000, 300_000}) {
            double[] doubles = new double[size];
            java.util.Arrays.setAll(doubles, i -> i);
            space.out("array", doubles);
            assertArrayEquals(doubles, (double[]) space.take("array", double[].class).get(1));
        }
        space.out(new int[] {1, -2}, new long[] {3}, new short[] {4}, new char[] {5}, new float[] {6}, new boolean[] {true});
        Row row = space.take(int[].class, long[].class, short[].class, char[].class, float[].class, boolean[].class);
        assertArrayEquals(new int[] {1, -2}, (int[]) row.get(0));
        assertArrayEquals(new boolean[] {true}, (boolean[]) row.get(5));
    }

    @Test
    void typesOfCThatJavaLacksAreNamed() throws Exception {
        Object[][] values = {
            {FieldType.UNSIGNED_CHAR, (short) 255}, {FieldType.UNSIGNED_INT, 4294967295L},
            {FieldType.LONG_LONG, -1L}, {FieldType.UNSIGNED_LONG, -1L}, {FieldType.CHAR, (byte) 65},
        };
        for (Object[] one : values) {
            space.out("typed", Field.of((FieldType) one[0], one[1]));
            Row row = space.take("typed", Field.any((FieldType) one[0]));
            assertEquals(one[1], row.get(1));
            assertEquals(one[0], row.types().get(1));
        }
        space.out(Field.of(FieldType.STRUCT, new byte[24]), Field.of(FieldType.DOUBLE_COMPLEX, new double[] {1, -2}));
        Row row = space.take(Field.anyStruct(24), Field.any(FieldType.DOUBLE_COMPLEX));
        assertArrayEquals(new double[] {1, -2}, (double[]) row.get(1));
    }

    @Test
    void whatIsNoFieldIsRefused() {
        assertThrows(PvmException.class, () -> space.out(new Object()));
        assertThrows(PvmException.class, () -> space.out((Object) null));
        assertThrows(PvmException.class, () -> space.out());
        assertThrows(PvmException.class, () -> space.out(new Object[256]));
        assertThrows(PvmException.class, () -> space.out("formal", int.class));
        assertThrows(PvmException.class, () -> Field.of(FieldType.UNSIGNED_CHAR, 256));
        assertThrows(PvmException.class, () -> Field.of(FieldType.INT, 1L << 31));
        assertThrows(PvmException.class, () -> Field.of(FieldType.INT, 1.5));
        assertThrows(PvmException.class, () -> space.take(List.class));
    }

    @Test
    void recordsAreTuplesBehindTheirName() throws Exception {
        space.out(new Job(1, 0.5, new long[] {4, 5}, "text"));
        assertEquals(1, space.count("Job", int.class, double.class, long[].class, String.class));
        Job job = space.take(Job.class);
        assertEquals(1, job.number());
        assertArrayEquals(new long[] {4, 5}, job.data());
        assertTrue(space.take(NOW, Job.class).isEmpty());
    }

    @Test
    void aTakeWithoutATupleEndsAtItsLimit() throws Exception {
        assertTrue(space.take(NOW, "none").isEmpty());
        assertTrue(space.read(Duration.ofMillis(50), "none").isEmpty());
        space.out("none");
        assertTrue(space.read(NOW, "none").isPresent());
        assertTrue(space.take(NOW, "none").isPresent());
    }

    @Test
    void bulkOperationsKeepTheOrder() throws Exception {
        space.outAll(List.of(Space.row("n", 1), Space.row("n", 2), Space.row("n", 3)));
        List<Integer> numbers = new ArrayList<>();
        space.copy("n", int.class).forEach(row -> numbers.add(row.getInt(1)));
        assertEquals(List.of(1, 2, 3), numbers);
        assertEquals(3, space.collect("n", int.class).size());
        assertEquals(0, space.count("n", int.class));
    }

    @Test
    void aClaimIsDoneWithItsPutsOrComesBack() throws Exception {
        space.out("task", 1);
        try (Claim claim = space.claim("task", int.class)) {
            assertEquals(0, claim.row().tries());
            assertEquals(0, space.count("task", int.class));
        }
        Claim again = space.claim(Machine.LONG, NOW, "task", int.class).orElseThrow();
        assertEquals(1, again.row().tries());
        again.done(Space.row("result", 1), Space.row("result", 2));
        assertEquals(2, space.count("result", int.class));
        assertEquals(Code.NO_TASK, assertThrows(PvmException.class, again::done).code());
    }

    @Test
    void aLeaseThatEndsFreesTheTuple() throws Exception {
        space.out("task", 1);
        Claim claim = space.claim(NOW, Duration.ofMillis(30), "task", int.class).orElseThrow();
        assertEquals(1, space.claim("task", int.class).row().tries());
        assertThrows(PvmException.class, claim::done);
    }

    @Test
    void anInterruptedTakeHasTakenNothing() throws Exception {
        CompletableFuture<Throwable> ended = new CompletableFuture<>();
        Thread waiting = new Thread(() -> {
            try {
                space.take("late");
                ended.complete(null);
            } catch (Throwable e) {
                ended.complete(e);
            }
        });
        waiting.start();
        Thread.sleep(100);
        waiting.interrupt();
        assertEquals(InterruptedException.class, ended.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS).getClass());
        space.out("late");
        assertEquals(1, space.count("late"));
    }

    @Test
    void aFutureTakesATupleOrGivesItUp() throws Exception {
        CompletableFuture<Row> coming = space.takeAsync("n", int.class);
        Thread.sleep(50);
        assertFalse(coming.isDone());
        space.out("n", 1);
        assertEquals(1, coming.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS).getInt(1));
        CompletableFuture<Row> cancelled = space.takeAsync("n", int.class);
        Thread.sleep(50);
        cancelled.cancel(true);
        assertThrows(CancellationException.class, cancelled::join);
        space.out("n", 2);
        Machine.until(() -> space.count("n", int.class) == 1);
    }

    @Test
    void manyThreadsTakeEachTupleOnce() throws Exception {
        int threads = 8;
        int each = 50;
        List<CompletableFuture<Integer>> sums = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            sums.add(CompletableFuture.supplyAsync(() -> {
                try {
                    int sum = 0;
                    for (int j = 0; j < each; j++) {
                        sum += space.take("n", int.class).getInt(1);
                    }
                    return sum;
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }, task -> new Thread(task).start()));
        }
        for (int i = 0; i < threads * each; i++) {
            space.out("n", i);
        }
        int sum = 0;
        for (CompletableFuture<Integer> one : sums) {
            sum += one.get(Machine.LONG.toSeconds(), TimeUnit.SECONDS);
        }
        assertEquals(threads * each * (threads * each - 1) / 2, sum);
    }

    /** All virtual threads of the tests have one carrier: the one that puts runs only if no wait holds it. */
    @Test
    void waitingTakesHoldNoCarrierOfVirtualThreads() throws Exception {
        int waiting = 20;
        CountDownLatch taken = new CountDownLatch(waiting);
        AtomicInteger sum = new AtomicInteger();
        for (int i = 0; i < waiting; i++) {
            Machine.virtual(() -> {
                sum.addAndGet(number());
                taken.countDown();
            });
        }
        Machine.virtual(() -> put(waiting));
        assertTrue(taken.await(Machine.LONG.toSeconds(), TimeUnit.SECONDS), taken.getCount() + " still wait");
        assertEquals(waiting * (waiting - 1) / 2, sum.get());
    }

    private void put(int count) {
        try {
            for (int i = 0; i < count; i++) {
                space.out("n", i);
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private int number() {
        try {
            return space.take("n", int.class).getInt(1);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void spacesThatAreFullOrGoneAreTold() throws Exception {
        String small = Machine.name("small");
        Space full = pvm.createSpace(small, Space.Options.DEFAULT.withLimitBytes(1000).withWhenFull(Space.WhenFull.ERROR));
        assertEquals(Code.EXISTS,
                assertThrows(PvmException.class, () -> pvm.createSpace(small, Space.Options.DEFAULT)).code());
        assertEquals(Code.OVERFLOW, assertThrows(PvmException.class, () -> full.out(new byte[1000])).code());
        full.out(new byte[500]);
        assertEquals(Code.OUT_OF_RES, assertThrows(PvmException.class, () -> full.out(new byte[500])).code());
        pvm.deleteSpace(small);
        assertEquals(Code.NOT_FOUND, assertThrows(PvmException.class, () -> full.out(1)).code());
        assertEquals(Code.NOT_FOUND, assertThrows(PvmException.class, () -> pvm.openSpace(small)).code());
    }

    @Test
    void whatHasNoRoomGoesToAFileAndComesBackInItsTurn() throws Exception {
        String small = Machine.name("spilling");
        Space.Options options = Space.Options.DEFAULT.withLimitBytes(1000).withWhenFull(Space.WhenFull.SPILL);
        Space spilling = pvm.createSpace(small, options);
        for (int i = 0; i < 20; i++) {
            spilling.out(i, new byte[500]);
        }
        for (int i = 0; i < 20; i++) {
            assertEquals(i, spilling.take(NOW, int.class, byte[].class).orElseThrow().getInt(0));
        }
        pvm.deleteSpace(small);
    }

    @Test
    void optionsThatNoSpaceCanHaveAreRefused() {
        Space.Options options = Space.Options.DEFAULT;
        Space.Options durable = options.withDurable(Path.of("/tmp"));
        List<Executable> wrong = List.of(
                () -> options.withCopies(3),
                () -> options.withCopies(-1),
                () -> options.withLimitBytes(0),
                () -> options.withSyncEvery(Duration.ofSeconds(1)),
                () -> durable.withSyncEvery(Duration.ofMillis(9)),
                () -> durable.withSyncEvery(Duration.ofSeconds(61)),
                () -> durable.withSyncEvery(Duration.ofSeconds(-1)),
                () -> pvm.createSpace("", options),
                () -> pvm.createSpace("x".repeat(129), options));
        for (Executable each : wrong) {
            assertEquals(Code.BAD_PARAM, assertThrows(PvmException.class, each).code());
        }
    }

    @Test
    void aDurableSpaceBeginsWithWhatWasPutBefore(@TempDir Path folder) throws Exception {
        for (Duration window : List.of(Duration.ZERO, Duration.ofMillis(50))) {
            String kept = Machine.name("kept");
            Space.Options options = Space.Options.DEFAULT.withDurable(folder).withSyncEvery(window);
            Space space = pvm.createSpace(kept, options);
            assertEquals("", space.note());
            space.out("n", 1);
            serverOf(kept).destroyForcibly();
            assertEquals(Code.HOST_FAIL, assertThrows(PvmException.class, () -> space.take("never")).code());
            // Its file would bring the tuples back.
            assertEquals(Code.HOST_FAIL, assertThrows(PvmException.class, () -> pvm.deleteSpace(kept)).code());
            Path file = onlyFile(folder, kept);
            Files.write(file, new byte[7], StandardOpenOption.APPEND);
            Space again = pvm.createSpace(kept, options);
            assertTrue(again.note().contains("7 bytes"), again.note());
            assertEquals(1, again.take(NOW, "n", int.class).orElseThrow().getInt(1));
            pvm.deleteSpace(kept);
            assertFalse(Files.exists(file));
        }
        name = Machine.name("space");
        pvm.space(name);
    }

    @Test
    void aDeletionThatTheServerRefusedWasTakenForDone(@TempDir Path folder) throws Exception {
        String kept = Machine.name("kept");
        pvm.createSpace(kept, Space.Options.DEFAULT.withDurable(folder)).out("n", 1);
        // A server does not remove a directory that has taken the place of its file.
        Path file = onlyFile(folder, kept);
        Files.delete(file);
        Files.createDirectories(file.resolve("full"));
        assertEquals(Code.NO_BUF, assertThrows(PvmException.class, () -> pvm.deleteSpace(kept)).code());
    }

    @Test
    void aSpaceWhoseServerHadDiedCouldNotBeDeleted() throws Exception {
        String lost = Machine.name("lost");
        pvm.space(lost).out("n", 1);
        serverOf(lost).destroyForcibly();
        pvm.deleteSpace(lost);
        assertEquals(0, pvm.space(lost).count("n", int.class));
        pvm.deleteSpace(lost);
        name = Machine.name("space");
        pvm.space(name);
    }

    @Test
    void aSpaceWhosePrimaryHadDiedWasNotDeleted() throws Exception {
        String moved = Machine.name("moved");
        Space space = pvm.createSpace(moved, Space.Options.DEFAULT.withCopies(1));
        while (!row(moved).matches("(?s).*\"copies\":\\s*\\[\\s*\"t.*")) {
            Thread.sleep(10);
        }
        serverOf(moved).destroyForcibly();
        pvm.deleteSpace(moved);
        assertEquals(Code.NOT_FOUND, assertThrows(PvmException.class, () -> pvm.openSpace(moved)).code());
        assertEquals(Code.NOT_FOUND, assertThrows(PvmException.class, () -> space.out(1)).code());
        name = Machine.name("space");
        pvm.space(name);
    }

    @Test
    void aKilledClientLeavesNoHalfStepNoLostTupleAndNoWaiter() throws Exception {
        for (int i = 0; i < 3; i++) {
            space.out("job", i);
        }
        for (int turn = 0; turn < 4; turn++) {
            long begun = space.count("left", int.class);
            Process child = Machine.begin(KilledChild.class, name);
            Machine.until(() -> space.count("left", int.class) >= begun + 10 && waiting() > 0);
            Thread.sleep(turn);
            child.destroyForcibly().waitFor();
            Machine.until(() -> waiting() == 0 && space.count("job", int.class) >= 3);
            assertEquals(3, space.count("job", int.class));
            assertEquals(space.count("left", int.class), space.count("right", int.class));
        }
    }

    private long waiting() throws Exception {
        return Pattern.compile("\"operation\"").matcher(shell("space", "why", name, "--json")).results().count();
    }

    @Test
    void aClaimWhoseEndWasRefusedKeptItsTuple() throws Exception {
        space.out("task", 1);
        assertThrows(PvmException.class, () -> {
            try (Claim claim = space.claim("task", int.class)) {
                claim.done(Space.row(new Object()));
            }
        });
        assertEquals(1, space.take(NOW, "task", int.class).orElseThrow().tries());
    }

    @Test
    void aTupleHasUpTo255Fields() throws Exception {
        Object[] values = new Object[255];
        Object[] template = new Object[255];
        for (int i = 0; i < values.length; i++) {
            values[i] = i;
            template[i] = int.class;
        }
        space.out(values);
        assertEquals(List.of(values), space.take(template).values());
        PvmException refused = assertThrows(PvmException.class, () -> space.out(new Object[256]));
        assertEquals(Code.BAD_PARAM, refused.code());
        assertThrows(PvmException.class, () -> space.out());
    }

    /** What the shell says of a space, as JSON. */
    private static String row(String name) throws Exception {
        Matcher row = Pattern.compile("\\{[^{}]*\"name\":\\s*\"" + Pattern.quote(name) + "\"[^{}]*\\}")
                .matcher(shell("space", "list", "--json"));
        assertTrue(row.find(), name);
        return row.group();
    }

    /** The process that keeps a space. */
    private ProcessHandle serverOf(String name) throws Exception {
        Matcher server = Pattern.compile("\"server\":\\s*\"t([0-9a-f]+)\"").matcher(row(name));
        assertTrue(server.find(), name);
        int tid = Integer.parseInt(server.group(1), 16);
        TaskInfo info = pvm.tasks().stream().filter(task -> task.tid() == tid).findFirst().orElseThrow();
        return ProcessHandle.of(info.pid()).orElseThrow();
    }

    private static Path onlyFile(Path folder, String name) throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".tuples") && file.toString().contains(name + "."))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void theShellTakesWhatJavaHasPut() throws Exception {
        space.out("task", 7, 2.5);
        assertEquals("task\t7\t2.5", shell("take", name, "task", "?int", "?double"));
        shell("out", name, "result", "long:7", "double[]:1,2");
        Row row = space.take("result", long.class, double[].class);
        assertEquals(7L, row.getLong(1));
        assertArrayEquals(new double[] {1, 2}, (double[]) row.get(2));
    }

    private static String shell(String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getenv("PVM_ROOT"), "bin", "pvm").toString()));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor());
        return text.strip();
    }
}
