// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

/** The JPVM programs of the examples, as a user compiles and starts them. */
class ProgramsTest {
    private static final Path EXAMPLES = Path.of(System.getProperty("test.examples"), "jpvm");
    private static final String JAR = System.getProperty("test.jar");
    private static final int LONG_S = Integer.getInteger("test.long", 120);

    @TempDir
    static Path classes;

    @BeforeAll
    static void compile() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-cp", JAR, "-d", classes.toString(), "-proc:none",
                // A host's own Java, which may be the oldest, runs them, too.
                "--release", "17"));
        try (Stream<Path> files = Files.walk(EXAMPLES)) {
            files.filter(file -> file.toString().endsWith(".java")).forEach(file -> arguments.add(file.toString()));
        }
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(new String[0])));
    }

    /** Runs a program in the folder of its classes, which its class path names relatively; what it printed. */
    private static List<String> run(List<String> options, String... command) throws Exception {
        return run(Path.of("/dev/null"), options, command);
    }

    /** What the console tells of commands. */
    private static List<String> console(String... commands) throws Exception {
        Path input = Files.createTempFile("console", ".in");
        try {
            Files.write(input, List.of(commands));
            return run(input, List.of(), "jpvm.jpvmConsole");
        } finally {
            Files.delete(input);
        }
    }

    private static List<String> run(Path input, List<String> options, String... command) throws Exception {
        List<String> all = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", ".:" + JAR,
                "-Dpvm.engine=" + System.getProperty("pvm.engine")));
        if (Runtime.version().feature() >= 22) {
            all.add("--enable-native-access=ALL-UNNAMED");
        }
        all.addAll(options);
        all.addAll(List.of(command));
        Path out = Files.createTempFile("program", ".out");
        Process process = new ProcessBuilder(all).directory(classes.toFile()).redirectErrorStream(true)
                .redirectInput(input.toFile()).redirectOutput(out.toFile()).start();
        boolean ended = process.waitFor(LONG_S, TimeUnit.SECONDS);
        process.destroyForcibly();
        List<String> lines = Files.readAllLines(out);
        Files.delete(out);
        assertTrue(ended, "no end: " + lines);
        assertEquals(0, process.exitValue(), lines.toString());
        return lines;
    }

    @Test
    void hello() throws Exception {
        assertEquals(List.of("hello from a worker, tag 12", "hello from a worker, tag 12", "hello from a worker, tag 12"),
                run(List.of(), "JpvmHello", "3"));
    }

    @Test
    void matrixProduct() throws Exception {
        assertEquals(List.of("workers 3, product right"), run(List.of(), "samples.MatrixProduct", "37", "3"));
    }

    @Test
    void successiveOverRelaxation() throws Exception {
        assertEquals(List.of("workers 3, grid right"), run(List.of(), "samples.Sor", "31", "20", "3"));
    }

    @Test
    void timing() throws Exception {
        List<String> lines = run(List.of(), "samples.Timing", "5");
        assertEquals(5, lines.size(), lines.toString());
        assertTrue(lines.stream().allMatch(line -> line.matches("\\d+ bytes, \\d+\\.\\d\\d us, whole")), lines.toString());
    }

    @Test
    void deadSlavesAreReplaced() throws Exception {
        assertEquals(List.of("sum 2870, replaced 2"), run(List.of(), "samples.Slaves", "20", "3", "2"));
    }

    @Test
    void aHostWithoutJavaInThePlaceOfTheParentsUsesTheOneOnItsPath() throws Exception {
        assertEquals(List.of("hello from a worker, tag 12"),
                run(List.of("-Djpvm.java=/nowhere/bin/java"), "JpvmHello", "1"));
    }

    @Test
    void theConsoleAndTheDaemonRun() throws Exception {
        List<String> daemon = run(List.of(), "jpvm.jpvmDaemon");
        assertTrue(daemon.get(0).contains(" is one of 2 hosts of a machine"), daemon.toString());
        List<String> told = console("conf", "ps", "nonsense", "add", "no-such-host.invalid", "help", "quit", "conf");
        assertTrue(told.contains("jpvm> 2 hosts:"), told.toString());
        assertTrue(told.stream().anyMatch(line -> line.startsWith("\t(jpvm console)\tt")), told.toString());
        assertTrue(told.contains("jpvm> unknown command nonsense; try: help"), told.toString());
        assertTrue(told.stream().anyMatch(line -> line.startsWith("jpvm> Host name: add: ")), told.toString());
        assertEquals("jpvm> ", told.get(told.size() - 1));
        assertEquals(1, told.stream().filter(line -> line.endsWith("hosts:")).count(), told.toString());
    }
}
