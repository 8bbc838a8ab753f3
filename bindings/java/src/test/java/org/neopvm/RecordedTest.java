// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a recorded Java program has in its trace: its calls by name, its messages, and what it says of itself. */
class RecordedTest {
    private static final String ENGINE = System.getProperty("pvm.engine", "");

    @TempDir
    private Path folder;

    @Test
    void aRecordedProgramHasItsCallsMessagesAndMarksInItsTrace() throws Exception {
        Path trace = folder.resolve("run.trace");
        List<String> run = new ArrayList<>(List.of("run", "--quiet", "--trace", trace.toString()));
        run.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        if (Runtime.version().feature() >= 22) {
            run.add("--enable-native-access=ALL-UNNAMED");
        }
        run.addAll(List.of("-Dpvm.engine=" + ENGINE, "-cp", classPath(), RecordedChild.class.getName()));
        pvm(run);
        List<String> events = pvm(List.of("trace", "show", "--events", trace.toString()));
        assertEquals(RecordedChild.ROUNDS, count(events, "neopvm_send"), String.join("\n", events));
        assertEquals(RecordedChild.ROUNDS, received(events), String.join("\n", events));
        List<String> states = of(events, "neopvm_state");
        assertTrue(states.size() == 2 && states.get(0).contains("\"asking\""), states.toString());
        List<String> progress = of(events, "neopvm_progress");
        assertEquals(RecordedChild.ROUNDS, progress.size());
        assertTrue(progress.get(RecordedChild.ROUNDS - 1).endsWith("5 of 5"), progress.toString());
        List<String> marks = of(events, "neopvm_mark");
        assertTrue(marks.size() == 1 && marks.get(0).contains("\"done\"") && marks.get(0).contains("-7"), marks.toString());
    }

    private static String classPath() throws Exception {
        Path classes = Path.of(RecordedChild.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        return System.getProperty("test.jar") + ":" + classes;
    }

    private static List<String> of(List<String> events, String function) {
        return events.stream().filter(line -> line.contains(function)).toList();
    }

    private static int count(List<String> events, String function) {
        return of(events, function).size();
    }

    /** Messages that were taken, by whichever function the engine takes them. */
    private static long received(List<String> events) {
        return events.stream().filter(line -> line.contains("receive") && line.contains(" from ")).count();
    }

    private static List<String> pvm(List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(System.getProperty("test.pvm")));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(Machine.LONG.toSeconds(), TimeUnit.SECONDS), text);
        assertEquals(0, process.exitValue(), text);
        return text.lines().toList();
    }
}
