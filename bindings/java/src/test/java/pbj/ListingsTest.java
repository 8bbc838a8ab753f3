// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.neopvm.Place;
import org.neopvm.Pvm;
import org.neopvm.TaskId;

/**
 * The programs of the PBJ document: they compile as they are printed, and run. What runs is the same text with fewer and
 * shorter loops, as the printed ones are for an hour.
 */
class ListingsTest {
    private static final Path EXAMPLES = Path.of(System.getProperty("test.examples"));
    private static final Path PROGRAMS = Path.of(System.getProperty("test.programs"));
    private static final String JAR = System.getProperty("test.jar");
    private static final int LONG_S = 120;
    /** As check.sh compiles the C partner. */
    private static final int LOOPS = 20;

    @TempDir
    static Path classes;

    @BeforeAll
    static void compile() throws IOException {
        Path printed = Files.createDirectory(classes.resolve("printed"));
        List<Path> sources;
        try (Stream<Path> files = Files.walk(EXAMPLES)) {
            sources = files.filter(file -> file.toString().endsWith(".java")).toList();
        }
        compile(printed, sources);
        Path timing = EXAMPLES.resolve("samples/timing/TimingTask.java");
        String text = Files.readString(timing);
        String shorter = text.replace("LOOP = 1000000000;", "LOOP = " + LOOPS + ";");
        assertFalse(text.equals(shorter));
        Path source = Files.createDirectories(classes.resolve("source/samples/timing")).resolve("TimingTask.java");
        Files.writeString(source, shorter);
        compile(classes, List.of(source));
    }

    private static void compile(Path to, List<Path> sources) {
        List<String> arguments = new ArrayList<>(List.of("-cp", JAR, "-d", to.toString(), "-proc:none"));
        sources.forEach(source -> arguments.add(source.toString()));
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(new String[0])));
    }

    private static List<String> java(String where, String main) {
        List<String> command = new ArrayList<>(List.of("-cp", JAR + ":" + where,
                "-Dpvm.engine=" + System.getProperty("pvm.engine"), "-Djava.awt.headless=true"));
        if (Runtime.version().feature() >= 22) {
            command.add("--enable-native-access=ALL-UNNAMED");
        }
        command.add(main);
        return command;
    }

    private static String javaProgram() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static List<String> output(Process process, Path file) throws Exception {
        if (!process.waitFor(LONG_S, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("no end: " + Files.readString(file));
        }
        assertEquals(0, process.exitValue(), () -> {
            try {
                return Files.readString(file);
            } catch (IOException e) {
                return e.toString();
            }
        });
        return Files.readAllLines(file);
    }

    @ParameterizedTest
    @CsvSource({"java, java", "java, c", "c, java", "c, c"})
    void theTimingProgramRunsInAllPairings(String sender, String receiver) throws Exception {
        Path out = Files.createTempFile(classes, "timing", ".out");
        try (Pvm pvm = Pvm.connect()) {
            List<String> asTask = java(classes.toString(), "samples.timing.TimingTask");
            TaskId echo = receiver.equals("java")
                    ? pvm.spawn(javaProgram(), asTask, Place.HERE, 1).orThrow().tasks().get(0)
                    : pvm.spawn(PROGRAMS.resolve("timing_task").toString(), 1).orThrow().tasks().get(0);
            List<String> command = new ArrayList<>();
            if (sender.equals("java")) {
                command.add(javaProgram());
                command.addAll(asTask);
            } else {
                command.add(PROGRAMS.resolve("timing_task").toString());
            }
            command.add(String.valueOf(echo.number()));
            List<String> lines = output(new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(out.toFile()).start(), out);
            assertEquals(LOOPS, lines.stream().filter(line -> line.matches("\\d+,\\d+,\\d+,\\d+,\\d+")).count(),
                    lines.toString());
            assertTrue(lines.stream().noneMatch(line -> line.contains("mismatch")), lines.toString());
        }
    }

    private static Process mandelbrot(Path png, String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(javaProgram()));
        command.addAll(java(classes.resolve("printed").toString(), "samples.mandlebrot.Mandelbrot"));
        command.addAll(List.of("--size", "300x240", "--max", "3000", "--workers", "3", "--png", png.toString(),
                "--worker", PROGRAMS.resolve("mandelbrot_worker").toString()));
        command.addAll(List.of(more));
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(Path.of(png + ".out").toFile()).start();
    }

    @Test
    void theMandelbrotMasterDrawsTheSamePictureInEveryWayAndReplacesLostWorkers() throws Exception {
        Path[] pictures = new Path[3];
        String[] modes = {"sequential", "threads", "pvm"};
        for (int i = 0; i < modes.length; i++) {
            pictures[i] = classes.resolve(modes[i] + ".png");
            Process drawing = mandelbrot(pictures[i], "--mode", modes[i]);
            if (modes[i].equals("pvm")) {
                killOne(drawing);
            }
            List<String> lines = output(drawing, Path.of(pictures[i] + ".out"));
            if (modes[i].equals("pvm")) {
                assertTrue(lines.stream().anyMatch(line -> line.contains("work units")), lines.toString());
            }
        }
        for (Path picture : pictures) {
            assertEquals(-1, Files.mismatch(pictures[0], picture), picture.toString());
        }
    }

    /** Kills the first worker that is seen, unless the picture is ready before. */
    private static void killOne(Process drawing) throws InterruptedException {
        try (Pvm pvm = Pvm.connect()) {
            while (drawing.isAlive()) {
                TaskId worker = pvm.tasks().stream().filter(task -> task.program().endsWith("mandelbrot_worker"))
                        .map(task -> new TaskId(task.tid())).findFirst().orElse(null);
                if (worker != null) {
                    pvm.signal(worker, 9);
                    return;
                }
                Thread.sleep(5);
            }
        }
    }
}
