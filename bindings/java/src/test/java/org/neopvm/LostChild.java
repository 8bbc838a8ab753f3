// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Has a machine of its own ended by the hard way, and another one begin ({@link SessionTest}). */
final class LostChild {
    private LostChild() {}

    public static void main(String[] arguments) throws Exception {
        pvm("up");
        Pvm old = Pvm.connect();
        check(old.isOpen(), "it is open");
        CompletableFuture<Message> waiting = old.receiveAsync(TaskId.ANY, 1);
        killDaemons();
        long end = System.nanoTime() + 60_000_000_000L;
        while (old.isOpen()) {
            check(System.nanoTime() < end, "isOpen sees that the daemon is lost");
            Thread.sleep(10);
        }
        try {
            waiting.get(60, TimeUnit.SECONDS);
            check(false, "nothing can come");
        } catch (java.util.concurrent.ExecutionException e) {
            check(e.getCause() instanceof PvmException, e.toString());
        }
        pvm("up");
        try (Pvm pvm = Pvm.connect()) {
            check(pvm.isOpen() && !old.isOpen(), "the new one is open, the old one is not");
            old.close();
            check(pvm.isOpen(), "the old one's end is not the new one's");
            pvm.message().put(7).to(pvm.self(), 1);
            try (Message message = pvm.receive(pvm.self(), 1)) {
                check(message.getInt() == 7, "a message of the new one");
            }
            check(pvm.hosts().size() == 1 && pvm.isAlive(pvm.self()), "a task of the new machine");
        }
        pvm("halt");
        System.out.println("all is well");
    }

    private static void pvm(String command) throws Exception {
        String program = System.getenv("PVM_ROOT") + "/bin/pvm";
        Process process = new ProcessBuilder(List.of(program, command)).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT).start();
        check(process.waitFor() == 0, "pvm " + command);
    }

    /** All of the machine's processes but its tasks, this one's proxy among them. */
    private static void killDaemons() {
        String place = "PVM_TMP=" + System.getenv("PVM_TMP");
        ProcessHandle.allProcesses()
                .filter(process -> process.info().command().orElse("").endsWith("/pvmd"))
                .filter(process -> environment(process.pid()).contains(place))
                .forEach(ProcessHandle::destroyForcibly);
    }

    private static List<String> environment(long pid) {
        try {
            return List.of(Files.readString(Path.of("/proc", String.valueOf(pid), "environ")).split("\0"));
        } catch (IOException e) {
            return List.of();
        }
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
