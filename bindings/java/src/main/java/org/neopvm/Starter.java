// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Starts a machine by the {@code pvm} program: that of {@code PVM_ROOT}, else the one on the path. */
final class Starter {
    private static final int LIMIT_S = 60;

    private Starter() {}

    static void start() throws InterruptedException {
        String root = System.getenv("PVM_ROOT");
        Path installed = root == null ? null : Path.of(root, "bin", "pvm");
        String program = installed != null && Files.isExecutable(installed) ? installed.toString() : "pvm";
        try {
            Process up = new ProcessBuilder(program, "up").redirectInput(ProcessBuilder.Redirect.from(
                    Path.of("/dev/null").toFile())).redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            if (!up.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
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
}
