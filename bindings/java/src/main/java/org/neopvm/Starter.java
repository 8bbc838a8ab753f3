// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * Starts a machine by the {@code pvm} program: that of {@code PVM_ROOT}, else the one on the path.
 */
final class Starter {
    private static final int LIMIT_S = 60;

    private Starter() {}

    /**
     * Not begun by a thread that is interrupted; once begun it goes on to its end, and the thread
     * is interrupted then.
     */
    static void start() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("starting a machine");
        }
        String root = System.getenv("PVM_ROOT");
        Path installed = root == null ? null : Path.of(root, "bin", "pvm");
        String program = installed != null && Files.isExecutable(installed) ? installed.toString() : "pvm";
        try {
            Process up = new ProcessBuilder(program, "up").redirectInput(ProcessBuilder.Redirect.from(
                    Path.of("/dev/null").toFile())).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            if (!hasEnded(up)) {
                up.destroy();
                throw new PvmException(Code.CANT_START, program + " up has not ended after " + LIMIT_S + " s");
            }
            if (up.exitValue() != 0) {
                throw new PvmException(Code.CANT_START, program + " up has ended with " + up.exitValue());
            }
        } catch (IOException e) {
            throw new PvmException(Code.CANT_START, program + " up", e);
        }
    }

    private static boolean hasEnded(Process process) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
        boolean interrupted = false;
        try {
            for (;;) {
                try {
                    return process.waitFor(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
