// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.neopvm.engine.Kind;

/** What is too large, too short, too clever or no name at all is refused alone, and by both engines alike. */
class LimitsTest extends Connected {
    private static String fails(Code code, Executable what) {
        PvmException e = assertThrows(PvmException.class, what);
        assertEquals(code, e.code(), e.getMessage());
        return e.getMessage();
    }

    private Message own(Draft draft) throws InterruptedException {
        draft.to(pvm.self(), 18);
        return Machine.receive(pvm, pvm.self(), 18);
    }

    @Test
    void aMessageThatIsTooLargeFailsAloneAndStays() throws Exception {
        Assumptions.assumeTrue(pvm.engine().equals("wire"), "messages of the native engine are not in Java's memory");
        String told = Machine.java(LargeChild.class, List.of("-Xmx48m"), Map.of());
        assertTrue(told.contains("refused twice, 100000000 bytes"), told);
        assertTrue(told.contains("all is well"), told);
    }

    @Test
    void forgottenMessagesAreClosedBeforeMemoryRunsOut() throws Exception {
        Assumptions.assumeTrue(pvm.engine().equals("native"), "messages of the wire engine are in Java's memory");
        String told = Machine.java(ForgetChild.class, List.of("-Dpvm.messages.max=" + (32 << 20)), Map.of());
        assertTrue(told.contains("all is well"), told);
    }

    @Test
    void behindATooLargeReadAMessageIsAtItsEnd() throws Exception {
        for (int count : new int[] {4, 1000, Integer.MAX_VALUE}) {
            try (Message message = own(pvm.message().put(new int[] {1, 2, 3}))) {
                fails(Code.NO_DATA, () -> message.getInts(count));
                assertEquals(0, message.left());
                fails(Code.NO_DATA, message::getInt);
                message.rewind();
                assertEquals(1, message.getInt());
            }
        }
        try (Message message = own(pvm.message().put(new int[300_000]))) {
            fails(Code.NO_DATA, () -> message.into(Kind.INT, new int[400_000], 0, 400_000, 1));
            assertEquals(0, message.left());
            message.rewind();
            assertEquals(300_000, message.getInts(300_000).length);
        }
        try (Message message = own(pvm.message().put(new long[] {1, 2}))) {
            fails(Code.NO_DATA, () -> message.getLongs(100));
            assertEquals(0, message.left());
        }
    }

    @Test
    void aViewOfMoreThanIsThereReadsNothing() throws Exception {
        try (Message message = own(pvm.message().put(new int[300_000]))) {
            fails(Code.NO_DATA, () -> message.view(Kind.INT, 300_001));
            fails(Code.NOT_IMPL, () -> message.view(Kind.INT, Integer.MAX_VALUE));
            assertEquals(1_200_000, message.left());
            assertEquals(300_000, message.viewInts(300_000).remaining());
        }
    }

    @Test
    void aTextThatIsNoTextIsRefused() {
        try (Draft draft = pvm.message()) {
            for (String text : List.of("a\0b", "a\ud800b", "\udc00", "?\ud800")) {
                fails(Code.BAD_PARAM, () -> draft.put(text));
            }
            draft.put("what? \ud83d\ude00 \ufffd");
        }
    }

    @Test
    void aNameThatCWouldCutIsRefused() {
        for (String bad : List.of("a\0b", "\ud800")) {
            fails(Code.BAD_PARAM, () -> pvm.registry().put(bad, pvm.message(), 0));
            fails(Code.BAD_PARAM, () -> pvm.registry().get(bad));
            fails(Code.BAD_PARAM, () -> pvm.registry().remove(bad, 0));
            fails(Code.BAD_PARAM, () -> pvm.join(bad));
            fails(Code.BAD_PARAM, () -> pvm.spawn(bad, 1));
            fails(Code.BAD_PARAM, () -> pvm.spawn("/bin/true", List.of("x", bad), Place.ANYWHERE, 1));
            fails(Code.BAD_PARAM, () -> pvm.spawn("/bin/true", List.of(), Place.host(bad), 1));
            fails(Code.BAD_PARAM, () -> pvm.addHosts(List.of(bad)));
            fails(Code.BAD_PARAM, () -> pvm.deleteHosts(List.of(bad)));
        }
    }

    @Test
    void bothEnginesAnswerNonsenseAlike() throws Exception {
        assertEquals(List.of(Code.NO_FILE), pvm.spawn("", 1).failures());
        fails(Code.BAD_PARAM, () -> pvm.spawn("partner", 0));
        assertEquals(List.of(), pvm.addHosts(List.of()));
        assertEquals(List.of(), pvm.deleteHosts(List.of()));
        fails(Code.BAD_PARAM, () -> pvm.message().to(TaskId.ANY, 1));
        fails(Code.BAD_PARAM, () -> pvm.message().to(new TaskId(0), 1));
        fails(Code.BAD_PARAM, () -> pvm.message().to(pvm.self(), -1));
        fails(Code.BAD_PARAM, () -> pvm.message().toAll(List.of(pvm.self(), TaskId.ANY), 1));
        fails(Code.NULL_GROUP, () -> pvm.join(""));
        fails(Code.BAD_PARAM, () -> pvm.registry().get(""));
        assertEquals(false, pvm.discard(TaskId.ANY, 19));
        pvm.message().put(1).to(pvm.self(), 19);
        assertEquals(true, pvm.discard(TaskId.ANY, 19));
        assertTrue(pvm.poll(TaskId.ANY, 19).isEmpty());
    }

    /** Sets of sets: each level is hashed once for each place that it stands in. */
    private static HashSet<Object> bomb(int depth) {
        HashSet<Object> set = new HashSet<>();
        HashSet<Object> inner = depth == 0 ? null : bomb(depth - 1);
        for (int i = 0; depth > 0 && i < 4; i++) {
            HashSet<Object> each = new HashSet<>(inner);
            each.add(i + 10 * depth);
            set.add(each);
        }
        set.add("level " + depth);
        return set;
    }

    record Job(String name, List<String> files) implements java.io.Serializable {}

    record Table(Map<String, String> entries) implements java.io.Serializable {}

    @Test
    void anObjectIsMadeOfNothingThatWasNotAskedFor() throws Exception {
        HashSet<Object> bomb = bomb(4);
        ArrayList<Object> list = new ArrayList<>(List.of(bomb));
        for (java.io.Serializable object : List.of(bomb, list, new HashMap<>(Map.of("a", bomb)), new Object[] {bomb})) {
            try (Message message = own(pvm.message().putObject(object).putObject(object).putObject(object))) {
                fails(Code.DENIED, () -> message.getObject(String.class));
                fails(Code.DENIED, () -> message.getObject(ArrayList.class));
                fails(Code.DENIED, () -> message.getObject(Object.class));
            }
        }
        try (Message message = own(pvm.message().putObject((java.io.Serializable) Set.of("a"))
                .putObject(new Table(Map.of("a", "b"))).putObject(new Table(new HashMap<>())))) {
            fails(Code.DENIED, () -> message.getObject(List.class));
            fails(Code.DENIED, () -> message.getObject(Table.class));
            fails(Code.DENIED, () -> message.getObject(Table.class));
        }
    }

    @Test
    void whatWasAskedForComes() throws Exception {
        Job job = new Job("a", List.of("b", "c"));
        try (Message message = own(pvm.message().putObject("text").putObject(new int[][] {{1}, {2, 3}}).putObject(7)
                .putObject(new String[] {"x"}).putObject(job).putObject(new ArrayList<>(List.of(job, job)))
                .putObject(new HashMap<>(Map.of("k", List.of(1)))).putObject(java.time.LocalDate.EPOCH)
                .putObject((java.io.Serializable) List.of(List.of(), List.of(1, 2, 3)))
                .putObject(new java.util.TreeMap<>(Map.of("a", 1))).putObject(java.util.EnumSet.of(Kind.INT)))) {
            assertEquals("text", message.getObject(String.class));
            assertEquals(3, message.getObject(int[][].class)[1][1]);
            assertEquals(7, message.getObject(Integer.class));
            assertEquals("x", message.getObject(String[].class)[0]);
            assertEquals(job, message.getObject(Job.class));
            assertEquals(Code.DENIED, assertThrows(PvmException.class, () -> message.getObject(ArrayList.class)).code(),
                    "of another package");
            assertEquals(Map.of("k", List.of(1)), message.getObject(HashMap.class));
            assertEquals(java.time.LocalDate.EPOCH, message.getObject(java.time.LocalDate.class));
            assertEquals(List.of(List.of(), List.of(1, 2, 3)), message.getObject(List.class));
            assertEquals(Map.of("a", 1), message.getObject(java.util.TreeMap.class));
            fails(Code.DENIED, () -> message.getObject(java.util.EnumSet.class));
        }
    }

    /** A comparator of comparators, each of which asks the one below it twice. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static java.util.Comparator<Object> deep(int depth) {
        java.util.Comparator below = depth == 0 ? java.util.Comparator.naturalOrder() : deep(depth - 1);
        return java.util.Collections.reverseOrder(below.thenComparing(below));
    }

    @Test
    void anObjectRunsNothingThatTheMessageBrings() throws Exception {
        java.util.PriorityQueue<Object> queue = new java.util.PriorityQueue<>(2, deep(3));
        queue.add("a");
        queue.add("b");
        java.util.regex.Pattern pattern = java.util.regex.Pattern.compile("a", java.util.regex.Pattern.CANON_EQ);
        for (java.io.Serializable object : List.of(queue, (java.io.Serializable) deep(1), pattern)) {
            try (Message message = own(pvm.message().putObject(new Object[] {object}).putObject(object)
                    .putObject(object).putObject(object))) {
                fails(Code.DENIED, () -> message.getObject(Object[].class));
                fails(Code.DENIED, () -> message.getObject(Object.class));
                fails(Code.DENIED, () -> message.getObject(Job.class));
                fails(Code.DENIED, () -> message.getObject(ArrayList.class));
            }
        }
        try (Message message = own(pvm.message().putObject(queue).putObject(queue))) {
            fails(Code.DENIED, () -> message.getObject(java.util.PriorityQueue.class));
            String told = fails(Code.DENIED, () -> message.getObject(Object.class));
            assertTrue(told.contains("holds a java.util.PriorityQueue"), told);
        }
    }

    @Test
    void anArrayOfOnesOwnAndWhatOnlyHoldsComes() throws Exception {
        Job job = new Job("a", List.of("b"));
        try (Message message = own(pvm.message().putObject(new Job[] {job}).putObject(new Job[][] {{job}})
                .putObject(new java.util.concurrent.ConcurrentHashMap<>(Map.of("k", 1)))
                .putObject(new java.util.concurrent.LinkedBlockingQueue<>(List.of(1)))
                .putObject(new IllegalStateException("what", new java.io.IOException("why")))
                .putObject(new java.util.PriorityQueue<>(List.of(2, 1))))) {
            assertEquals(job, message.getObject(Job[].class)[0]);
            assertEquals(job, message.getObject(Job[][].class)[0][0]);
            assertEquals(Map.of("k", 1), message.getObject(java.util.concurrent.ConcurrentHashMap.class));
            assertEquals(1, message.getObject(java.util.concurrent.LinkedBlockingQueue.class).peek());
            assertEquals("why", message.getObject(Exception.class).getCause().getMessage());
            assertEquals(1, message.getObject(java.util.PriorityQueue.class).peek());
        }
    }

    @Test
    void anObjectOfMoreThanTheLimitIsRefusedWhateverItIs() throws Exception {
        try (Message message = own(pvm.message().putObject("x".repeat(17 << 20)))) {
            fails(Code.DENIED, () -> message.getObject(String.class));
        }
    }

    @Test
    void whatIsTooLargeForTheDaemonIsRefusedAndEndsNothing() throws Exception {
        String large = "x".repeat(5 << 20);
        fails(Code.OVERFLOW, () -> pvm.spawn("/bin/true", List.of(large), Place.ANYWHERE, 1));
        fails(Code.OVERFLOW, () -> pvm.join(large));
        fails(Code.OVERFLOW, () -> pvm.registry().get(large));
        fails(Code.OVERFLOW, () -> pvm.addHosts(List.of(large)));
        try (Draft draft = pvm.message().put(new byte[17 << 20])) {
            fails(Code.OVERFLOW, () -> pvm.registry().put(Machine.name("large"), draft, 0));
        }
        assertTrue(pvm.isAlive(pvm.self()));
    }

    @Test
    void aClosedDraftIsSentToNobodyEither() {
        Draft draft = pvm.message().put(1);
        draft.close();
        fails(Code.NO_SUCH_BUF, () -> draft.sendAll(List.of(), 1));
        fails(Code.BAD_PARAM, () -> pvm.transport().notify(3, 1, 0, null, -5));
    }
}
