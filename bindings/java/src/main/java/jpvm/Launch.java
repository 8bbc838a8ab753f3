// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.neopvm.Code;
import org.neopvm.engine.Engine;

/** Starts classes as tasks, each in a Java of its own with the class path of this one. */
final class Launch {
    /** With a newer Java the native engine runs without a warning only if it is allowed. */
    private static final int ALLOWED_SINCE = 22;

    private final String name;
    private final int self;

    private Launch(String name, int self) {
        this.name = name;
        this.self = self;
    }

    /**
     * Starts a class.
     *
     * @param near a package in which a class without a package is looked for, too
     * @return ids first, then the negative results of those that did not start
     */
    static int[] spawn(String className, String near, int count) {
        return Link.call(engine -> {
            Launch launch = new Launch(find(className.replace('/', '.'), near), engine.tid());
            int[] outcomes = engine.spawn(java(), launch.arguments(true), 0, null, count);
            return launch.elsewhere(engine, outcomes);
        });
    }

    /** The name under which this process has the class. Nobody asks the other hosts, as they get this class path. */
    private static String find(String name, String near) {
        String inPackage = near.isEmpty() || name.contains(".") ? name : near + "." + name;
        for (String candidate : List.of(name, inPackage)) {
            if (exists(candidate)) {
                return candidate;
            }
        }
        throw new jpvmException(Code.NO_FILE, "pvm_spawn of the class " + name + ", which is not in the class path "
                + classPath());
    }

    private static boolean exists(String name) {
        ClassLoader own = Thread.currentThread().getContextClassLoader();
        try {
            Class.forName(name, false, own == null ? ClassLoader.getSystemClassLoader() : own);
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    private static String java() {
        return System.getProperty("jpvm.java", Path.of(System.getProperty("java.home"), "bin", "java").toString());
    }

    /** A host that has no Java in the same place is asked for the one on its daemon's path. */
    private int[] elsewhere(Engine engine, int[] outcomes) throws InterruptedException {
        int missing = (int) Arrays.stream(outcomes).filter(result -> result == Code.NO_FILE.number()).count();
        if (missing == 0) {
            return outcomes;
        }
        List<String> command = new ArrayList<>(List.of("java"));
        command.addAll(arguments(false));
        int[] more = engine.spawn("/usr/bin/env", command, 0, null, missing);
        int[] all = new int[outcomes.length];
        int started = 0;
        for (int[] part : List.of(outcomes, more)) {
            for (int tid : part) {
                if (tid > 0) {
                    all[started++] = tid;
                }
            }
        }
        Arrays.fill(all, started, all.length, Code.NO_FILE.number());
        return all;
    }

    /** Another Java than this one may not have this one's engine and chooses its own. */
    private List<String> arguments(boolean sameJava) {
        List<String> arguments = new ArrayList<>(List.of("-cp", classPath(), "-Djpvm.taskname=" + name,
                "-Djpvm.parhost=" + Link.hostOf(self), "-Djpvm.parport=" + self));
        String engine = System.getProperty("pvm.engine", "");
        if (sameJava && !engine.isEmpty()) {
            arguments.add("-Dpvm.engine=" + engine);
        }
        if (Runtime.version().feature() >= ALLOWED_SINCE) {
            arguments.add("--enable-native-access=ALL-UNNAMED");
        }
        arguments.add(name);
        return arguments;
    }

    /** This Java's, which does not depend on the folder, and this library in any case. */
    private static String classPath() {
        String own = System.getProperty("java.class.path", "");
        List<String> entries = Arrays.stream(own.split(File.pathSeparator))
                .map(entry -> Path.of(entry).toAbsolutePath().normalize().toString())
                .collect(Collectors.toCollection(ArrayList::new));
        String library = library();
        if (!library.isEmpty() && !entries.contains(library)) {
            entries.add(library);
        }
        return String.join(File.pathSeparator, entries);
    }

    private static String library() {
        CodeSource source = Launch.class.getProtectionDomain().getCodeSource();
        try {
            return source == null ? "" : Path.of(source.getLocation().toURI()).toString();
        } catch (URISyntaxException | IllegalArgumentException | java.nio.file.FileSystemNotFoundException e) {
            return "";
        }
    }
}
